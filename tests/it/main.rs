//! The integration tests: whole runs of the program, and calls of the library where a run shows too
//! little.
//!
//! ```text
//!  sessions   runs that go well: exit code, stdout and stderr, and the files that they leave
//!  bad_folders  folders and parts that cannot be ingested, and the run that repairs
//!  bad_lakes  lakes that are missing, damaged or in use: an error with its way out
//!  bad_disks  folders that cannot be written, disks that are full
//!  wrong_use  exit code 2, what was wrong, and nothing written
//!  analysis   a whole analysis as one file, and one that goes on where it was stopped
//!  bad_input  what a broken file gives: a reject with its line, or an error
//!  corrupt    flipped bits in parts, lake and manifest: an error, a reject, or a checksum
//!  recognised which source a trace has, what a refused ingest leaves behind, what is warned of
//!  tampered   lakes that were changed and sealed anew: answered, or refused by file and column
//!  memory     small inputs that would take much memory
//!  whole      mutated input of 2019 and of grids through whole commands
//!  resume     steps, shards and threads leave the same lake
//!  concurrent two programs at one lake: one of them leaves, or both add up to one
//!  ways_in    every source: threads, steps, packing, damage and kills
//!  traps      the traps of each kind of log, one a row, and what is said of them
//!  faults     kills, signals, failing calls, full disks: what is there is whole, and the rest comes later
//!  publish    what --out promises, also to two at once and to those who are killed
//!  regression faults that were found once
//!  accounting  what accounting logs are charged, what is unknown of them, what is refused
//!  suspended  jobs that were suspended count with the time that they ran, in every study
//!  export     ways out: read again, and against the raw events
//!  logs       SWF, GWF and Rumen: small ones, the real ones, odd bytes
//!  mapped     any table by a map: answers of the same log as SWF, wrong maps, proposals
//!  google_2019  both forms of an export, alloc sets, the same studies as of 2011
//!  properties any trace comes out of a lake as it went in
//!  queries    golden answers on a small trace drawn in tests/golden/README.md
//!  spread     studies folded in parts, as the workers of a cluster do, are the whole
//!  studies    account and sweep give the sums of the queries
//!  load       the cluster over time: sums of the ledger, counts of drawn events and of raw files
//!  episodes   what stands out of drawn traces, the real trace and a real log, as a count finds it
//!  machines   outages of drawn machines, what ran on them, and the real table
//!  timelines  the outcome study on drawn traces, worked out by hand
//!  mandai     the study of 2017: a row for each claim, and its figures
//!  papers     the kept pages of the five papers; two runs of all of them
//!  truth      synthetic traces: the analysis finds what was planted
//!  detect     detectors over history: what is stored, refused, and replayed independently
//!  real       the real trace, where it lies beside this repository
//!  engines    Python readers of the lake and the page for notebooks, where a Python has them
//!  report     pages: ways that lead somewhere, names that are no markup, what a browser makes of them
//!  attempts   an attempt never outlasts its job; gaps between parts are said
//!  drawn      sweeps, waits and shares of drawn traces, against sums of the raw events
//!  edges      what begins before the window or ends after it is counted, and said
//!  trust      intervals of a sweep, and rules that the past chooses
//!  replay     policies on a history drawn by hand, and experiments without a trace
//!  formats    the same table in CSV, JSON and Parquet, and lines that fit a terminal
//!  easy       backfilling delays nobody: the rule as it is defined, and the first job left alone
//!  causality  what fairness says of a time depends on nothing after it
//!  fairness   usage per user: against the ledger, an independent script, and drawn by hand
//!  fairness_use  wrong or empty input of `fairness`: refused with its place, or an empty answer
//!  indices    custom indices beside the built-in ones, orders, shares, suggestions
//!  shares     each share names what it is of, and is that
//!  security   names that would be markup, formulas, paths or statements; programs of others
//!  serve      the portal: answers of the commands, nobody who should not get in, nothing lost
//!  spark      the queries and studies on a cluster of a master and two workers
//!  gpus       GPUs as a resource: what is charged, its unit, which lakes have none
//!  help       the help texts, and what every flag must say
//!  options    every option of every command refuses what it cannot mean
//!  layering   a layer uses only those before it
//!  shipping   what a release says of itself agrees, and the files of the package
//!  circles    no two files need each other
//!  tidy       the dependencies of tests change no other; no leftovers in the sources
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
