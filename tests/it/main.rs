//! The integration tests: whole runs of the program, and calls of the library if a run does not
//! show enough.
//!
//! ```text
//!  sessions   runs that go well: exit code, stdout and stderr, and the files that they leave
//!  bad_folders  folders and parts that cannot be ingested, and the run that repairs the lake
//!  bad_lakes  lakes that are missing, damaged or in use: an error with a hint
//!  bad_disks  folders that cannot be written, disks that are full
//!  wrong_use  exit code 2, a message about the mistake, and no file written
//!  analysis   a whole analysis as one file, and one that continues where it was stopped
//!  bad_input  broken files: a reject with its line, or an error
//!  corrupt    flipped bits in parts, lake and manifest: an error, a reject, or a checksum
//!  recognised the source of a trace, the effects of a refused ingest, and warnings
//!  tampered   changed lakes with new checksums: an answer, or an error with file and column
//!  memory     memory of every command, also for small inputs that would take much of it
//!  whole      whole commands on mutated input of 2019 and of grids
//!  resume     steps, shards and threads give the same lake
//!  concurrent two programs on one lake: one of them exits, or both add up to one run
//!  ways_in    every source: threads, steps, compression, damage and kills
//!  traps      the traps of each kind of log, one per row, and the messages about them
//!  faults     kills, signals, failing calls, full disks: files are complete, a second run repairs
//!  publish    the promises of --out, also for two runs at the same time and for killed runs
//!  regression faults that were fixed
//!  accounting  accounting logs: charged amounts, unknown amounts, refused questions
//!  suspended  every study counts suspended jobs with the time that they ran
//!  export     exports: ingested again, and compared with the raw events
//!  logs       SWF, GWF and Rumen: small logs, real logs, random bytes
//!  mapped     tables read with a map: the answers of the same log as SWF, wrong maps, proposals
//!  google_2019  both formats of an export, alloc sets, the same studies as for 2011
//!  properties the rows of a lake are those of the trace, for any trace
//!  queries    golden answers on a small trace drawn in tests/golden/README.md
//!  spread     studies folded in parts, as on the workers of a cluster, equal the whole
//!  studies    account and sweep give the sums of the queries
//!  load       the cluster over time: sums of the ledger, counts of random events and of raw files
//!  episodes   unusual intervals of random traces and real ones, compared with a count
//!  machines   outages of random machines, the attempts on them, and the real table
//!  timelines  the outcome study on small traces with a timeline, worked out by hand
//!  mandai     the study of 2017: a row for each claim, and its figures
//!  papers     the stored pages of the five papers; two runs of all of them
//!  truth      synthetic traces: the analysis finds the ground truth
//!  detect     detectors over history: stored results, refusals, an independent replay
//!  real       the real trace, if it is next to this repository
//!  engines    Python readers of the lake, and the page for notebooks
//!  report     pages: links with a target, names that never act as markup, the pages in a browser
//!  attempts   an attempt never outlasts its job; gaps between parts are reported
//!  drawn      sweeps, waits and shares of random traces, compared with sums of the raw events
//!  edges      jobs that begin before the window or end after it are counted and reported
//!  trust      intervals of a sweep, and rules that are chosen from the past
//!  replay     policies on a hand-made history, and experiments without a trace
//!  formats    the same table in CSV, JSON and Parquet, and tables that fit a terminal
//!  easy       backfilling never delays the first waiting job; the rule by its definition
//!  causality  values of fairness at a time do not depend on later events
//!  fairness   usage per user, compared with the ledger, an independent script, and hand-made logs
//!  fairness_use  wrong or empty input of `fairness`: an error with its place, or an empty answer
//!  indices    custom and built-in indices, orders, shares, suggestions
//!  shares     each share names its denominator, and has it
//!  security   names that look like markup, formulas, paths or SQL; programs of others
//!  serve      the portal: answers of the commands, no access without permission, no data lost
//!  spark      the queries and studies on a Spark cluster of a master and two workers
//!  gpus       GPUs as a resource: charged amounts, their unit, lakes without GPUs
//!  help       the help texts
//!  options    every option of every command refuses invalid values
//!  layering   a layer uses only those before it
//!  shipping   the parts of a release agree, and the files of the package
//!  circles    no two files import each other
//!  tidy       dependencies of tests do not change other dependencies; no leftovers in the sources
//! ```
//!
//! A test that cannot run prints a line that starts with `SKIPPED:` on stderr, and counts as
//! skipped in the last line of `.ci/tests`.

#[cfg(test)]
mod accounting;
#[cfg(test)]
mod analysis;
#[cfg(test)]
mod anonymous;
#[cfg(test)]
mod attempts;
#[cfg(test)]
mod bad_disks;
#[cfg(test)]
mod bad_folders;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod bad_lakes;
#[cfg(test)]
mod causality;
#[cfg(test)]
mod circles;
#[cfg(test)]
mod claims;
#[cfg(test)]
mod concurrent;
#[cfg(test)]
mod corrupt;
#[cfg(test)]
mod detect;
#[cfg(test)]
mod drawn;
#[cfg(test)]
mod easy;
#[cfg(test)]
mod edges;
#[cfg(test)]
mod engines;
#[cfg(test)]
mod episodes;
#[cfg(test)]
mod export;
mod exported;
#[cfg(test)]
mod fairness;
#[cfg(test)]
mod fairness_use;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod google_2019;
#[cfg(test)]
mod gpus;
#[cfg(test)]
mod help;
#[cfg(test)]
mod indices;
#[cfg(test)]
mod joined;
#[cfg(test)]
mod layering;
#[cfg(test)]
mod library;
mod list;
#[cfg(test)]
mod load;
#[cfg(test)]
mod logs;
#[cfg(test)]
mod machines;
#[cfg(test)]
mod mandai;
#[cfg(test)]
mod mapped;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod monthly;
#[cfg(test)]
mod options;
#[cfg(test)]
mod papers;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod publish;
#[cfg(test)]
mod queries;
#[cfg(test)]
mod real;
#[cfg(test)]
mod recognised;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod regression;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod report;
#[cfg(test)]
mod resume;
#[cfg(test)]
mod security;
#[cfg(feature = "serve")]
#[cfg(test)]
mod serve;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod shares;
#[cfg(test)]
mod shipping;
#[cfg(test)]
mod site;
#[cfg(test)]
mod spark;
#[cfg(test)]
mod spread;
#[cfg(test)]
mod studies;
#[cfg(test)]
mod support;
#[cfg(test)]
mod suspended;
#[cfg(test)]
mod tampered;
#[cfg(test)]
mod tidy;
#[cfg(test)]
mod timelines;
#[cfg(test)]
mod traps;
#[cfg(test)]
mod trust;
#[cfg(test)]
mod truth;
#[cfg(test)]
mod unrecorded;
#[cfg(test)]
mod ways_in;
#[cfg(test)]
mod whole;
#[cfg(test)]
mod whole_use;
#[cfg(test)]
mod wrong_use;
