//! jobfate: what became of every job in a cluster trace, what it cost, and what another policy
//! would have made of it.
//!
//! ```text
//!  raw trace files      lake               facts               answers              pages
//!  csv.gz, swf, json ─► Parquet tables ─►  one row per job, ─► tables, sentences ─► report, charts
//!                       + manifest         task, attempt       kept as results
//!      sources            lake               facts          studies fairness replay   charts
//!                                                           answers results           report
//! ```
//!
//! One way, left to right: a layer uses only those before it; `units`, `faults` and `schema` come
//! first, [`synth`] stands by itself, and only the command line (`src/cli`, part of the program and
//! not of this library) knows them all and prints. A test holds the order. A study is computed in `studies`, `fairness` or `replay`; its plan (what it asks, as flags
//! say it) and its answer (table, JSON, charts, what is said beside them) are in `answers`; `results`
//! stores answers and reads them back.
//!
//! # Glossary
//!
//! | Word | Meaning |
//! |---|---|
//! | job, task | a job is made of tasks; (job, index) names a task |
//! | event | a row of `job_events` or `task_events` |
//! | event sequence | the event types of a job or task in (time, `row_id`) order, as digits |
//! | attempt | from SCHEDULE to the next terminal event (or SCHEDULE) of a task |
//! | outcome | what became of a job: finished, failed, killed, running, ... |
//! | condemned | a task that a kill rule would have killed; harmed: a finished job with one |
//! | log | a trace of another kind than Google's, which is one file: SWF, GWF, Rumen |
//! | remark | an assumption that a log left open, counted in the manifest |
//! | window | a row of `task_usage`; also the span of time that a trace covers |
//! | part, segment | a file of the raw trace; consecutive parts that share a file in the lake |
//! | stretch | the rows of a bucket in a file of the lake |
//! | bucket | the share of the jobs that a hash of their id gives |
//! | group | the tasks of a job, or of a phase of it where the trace knows phases |
//! | straggler | a task that took longer than a line drawn by its group; flag: a detector's word that one is |
//! | copy, restart | a second attempt beside a flagged one, or in its place |
//! | index | a number per user that says who may come next, or one for all that says how equal they are |
//! | reject | a line of a raw file that gave no row, kept with its reason |
//! | left-censored, censored | begun before the window; not ended at its end |
//!
//! # A look at a lake
//!
//! ```no_run
//! use std::path::Path;
//!
//! use jobfate::facts::window::Windows;
//! use jobfate::lake::Lake;
//! use jobfate::studies::fold::{Asked, fold};
//! use jobfate::studies::ledger::ledger;
//!
//! let lake = Lake::open(Path::new("lake"))?;
//! let study = fold(&lake, Windows::of(&lake, None), &Asked::default())?;
//! for row in ledger(&study).rows {
//!     assert!(row.amount.is_none_or(|cpu| 0.0 <= cpu), "{} {:?}", row.outcome, row.amount);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A detector of one's own
//!
//! [`DetectPlan::of`](replay::detect::DetectPlan::of) scores it over the history of a lake, beside the
//! others; here it is put to work in a simulated cluster with one slow machine.
//!
//! ```
//! use jobfate::replay::cluster::Cluster;
//! use jobfate::replay::detectors::{Detector, DetectorPlan, Flag, GroupInfo, Plan, Scene};
//! use jobfate::replay::engine::{Plan as Replay, replay};
//! use jobfate::replay::policies::PolicyPlan;
//! use jobfate::replay::workload::{Column, Workload};
//!
//! /// Flags what has run for longer than so many seconds.
//! #[derive(Clone, Debug)]
//! struct TooLong(f64);
//!
//! impl Detector for TooLong {
//!     fn judge(&mut self, scene: &Scene<'_>, flags: &mut Vec<Flag>) {
//!         for (position, running) in scene.running.iter().enumerate() {
//!             if self.0 < running.age_s(scene.now_us) && !running.was_copied {
//!                 flags.push(Flag::copy(position));
//!             }
//!         }
//!     }
//! }
//!
//! impl Plan for TooLong {
//!     fn build(&self, _: &GroupInfo<'_>) -> Box<dyn Detector> {
//!         Box::new(self.clone())
//!     }
//!     fn parameters(&self) -> Vec<(&'static str, String)> {
//!         vec![("seconds", self.0.to_string())]
//!     }
//! }
//!
//! let (cluster, _) = Cluster::of_speeds(vec![1.0, 1.0, 0.1]).check()?;
//! let workload = Workload::plain(3, Column::Same(100_000_000)).check()?; // 100 s of work each
//! let nothing: PolicyPlan = "fifo".parse()?;
//! let own = DetectorPlan::built("too-long", TooLong(150.0));
//! let copies = nothing.clone().with_detector(own, 10.0);
//! let makespan = |policy| replay(&Replay::new(&cluster, &workload, policy)).makespan_us;
//! assert_eq!(makespan(&nothing), Some(1_000_000_000));
//! assert_eq!(makespan(&copies), Some(260_000_000)); // flagged at 160 s, done 100 s later
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A policy of one's own
//!
//! ```
//! use jobfate::replay::policies::{Order, OrderPlan, PolicyPlan};
//! use jobfate::replay::state::{Phase, State};
//!
//! /// Last come, first served.
//! #[derive(Debug, Default)]
//! struct Stack(Vec<u32>);
//!
//! impl Order for Stack {
//!     fn push(&mut self, _: &State<'_>, task: u32) {
//!         self.0.push(task);
//!     }
//!     fn push_front(&mut self, state: &State<'_>, task: u32) {
//!         self.push(state, task);
//!     }
//!     fn peek(&mut self, state: &State<'_>) -> Option<u32> {
//!         let waits = |task: u32| state.tasks.phase[task as usize] == Phase::Waiting;
//!         while self.0.last().is_some_and(|&task| !waits(task)) {
//!             self.0.pop();
//!         }
//!         self.0.last().copied()
//!     }
//!     fn pop(&mut self) {
//!         self.0.pop();
//!     }
//! }
//!
//! impl OrderPlan for Stack {
//!     fn build(&self, _: &State<'_>, _seed: u64) -> Box<dyn Order> {
//!         Box::new(Stack::default())
//!     }
//!     fn parameters(&self) -> Vec<(&'static str, String)> {
//!         Vec::new()
//!     }
//! }
//!
//! # use jobfate::replay::cluster::Cluster;
//! # use jobfate::replay::engine::{Plan as Replay, replay};
//! # use jobfate::replay::workload::{Column, Workload};
//! let lifo = "fifo".parse::<PolicyPlan>()?.with_order("lifo", Stack::default());
//! let (cluster, _) = Cluster::of_speeds(vec![1.0]).check()?;
//! let workload = Workload::plain(3, Column::Same(1_000_000)).check()?;
//! let outcome = replay(&Replay::new(&cluster, &workload, &lifo));
//! assert_eq!(outcome.first_start_us, [Some(2_000_000), Some(1_000_000), Some(0)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Decisions
//!
//! **CPU time is added up in whole numbers.** [`units::CpuTime`] holds 2^-64 CPU-microseconds in
//! 128 bits. A rate is an `f32` and a length a whole number of microseconds, so every sum is exact
//! and the same for any number of threads, order of parts and number of buckets. Rejected:
//! compensated `f64` sums, which are close but not equal, and no quicker.
//!
//! **One file per segment, bucket by bucket.** Rows are spread over buckets by job, so that whatever
//! is keyed by job is answered bucket by bucket in bounded memory. Consecutive parts of at most
//! 32 MiB, or one larger part, are a segment and share a file: 64 parts of usage of 128 buckets
//! were 17,000 files of 10,000 rows, and are 64. The cut depends on the raw folder alone, so an
//! ingest that was killed and run again writes the same bytes.
//!
//! ```text
//!  PAR1 │ PAR1 bucket 0 footer PAR1 │ PAR1 bucket 1 footer PAR1 │ ... │ footer of all │ PAR1
//!       └ a stretch: a whole Parquet stream of one or more row groups
//! ```
//!
//! A file is Parquet streams one after the other, a stretch for each bucket and run, and a footer
//! that lists the row groups of all. Other programs read that footer and never notice; a column
//! `bucket`, constant in each row group, lets them skip the others by its statistics. We read a
//! bucket by the place and length of its stretches, which the manifest records with rows and
//! CRC-32: a small footer and the asked-for columns, in a few ranged reads each, and nothing that
//! grows with the file. `verify` compares the two kinds of footers. Rejected: one footer with the
//! buckets by row group, which holds 2,700 column chunks in a lake of 128 buckets and is parsed for
//! every bucket anew or kept in memory for every file; larger row groups made of the pages of
//! several runs, which no dictionary survives; a sort by spilling, which writes everything twice.
//!
//! A thread holds the rows of a run (0.8 to 1.0 million) in columns by bucket and writes them bucket
//! by bucket, so memory is bounded however large a part is. Within a bucket of a file rows are in
//! the order of time: a run that begins before the last row of its bucket begins another file
//! (`part-A-B-1.parquet`), and so does the seventeenth run.
//!
//! **A journal beside the manifest.** A segment is recorded by a line with its own checksum in
//! `manifest.journal`, synced; the end of the run, or the start of the next, stores the whole
//! manifest by renaming and removes the journal. Readers take the journal first and then the
//! manifest, so that no fold in between hides a part. Writing the manifest for every segment cost
//! the square of their number.
//!
//! **Encodings.** Whole numbers as `DELTA_BINARY_PACKED`, quantities as `BYTE_STREAM_SPLIT`, names
//! with a dictionary, all under LZ4. Dictionaries of quantities cost a hash per value and save
//! little: a column of the usage table has more distinct values than a dictionary page holds.
//!
//! **One lake for every kind of trace.** A format brings a [`schema::Source`], its columns, and a
//! parser of text to rows; everything after that asks the same tables. Columns that only some logs
//! have follow the common ones and stand only in lakes of those logs, so that a lake of the Google
//! trace is what it was before there were others. A file that fills several tables is read once
//! for each: that keeps a part of a table the unit of storing, resuming and sharding, and logs are
//! small.
//!
//! **What a log leaves open is assumed only where there would be no event at all**, and counted
//! (remarks). Neither large log at hand has a single wait or status; without a start and an end
//! there would be nothing to ask. What is made up by the rule stays recognisable: the columns that
//! hold the log's own words (`wait_us`, `status`) are empty there.
//!
//! **Results share a folder, a report has its own.** The folder of `--out` may hold results of
//! several commands and files of the user. So files get their places one by one, and a list of them
//! is written first: the next run finishes what a kill has cut short, and checksums reveal the mix
//! until then. A report is one thing: it is written beside and takes the place of the earlier one
//! in one step. Neither overwrites what this program has not written there. Rejected: replacing the
//! whole folder of results, which would move a lake and the user's files with it.
//!
//! **An analysis is known by a checksum** of its resolved `analysis.toml` and of what it reads.
//! Steps that are done stay done when another step's options change; their JSON then gets the new
//! checksum, and no digit of their numbers changes. A report shows results of one checksum.
//!
//! **Facts are SQL, studies fold.** Each fact is defined by a file of `queries/`. The studies fold
//! over the same rows in Rust ([`facts::tasks`], [`studies::fold`]) in one pass for all thresholds
//! and rules, which no query can; tests compare the two, fact by fact.
//!
//! **One scene for all detectors.** A detector is told the same of its group whether history is walked
//! ([`replay::detect`]) or a cluster is simulated ([`replay::engine`]), so that one implementation is
//! both scored and put to work. What several would keep for themselves (order statistics of finished
//! tasks) is kept once beside them.
//!
//! **Sequences in SQL are put together by position.** The engines spell the aggregate that joins
//! strings in a stated order in three ways; sixteen conditional maxima and three more steps for
//! long sequences are plain SQL in all of them.

#[doc(hidden)]
pub mod answers;
pub mod cells;
pub mod charts;
pub mod claims;
pub mod defaults;
pub mod digits;
pub mod facts;
pub mod fairness;
pub mod faults;
#[doc(hidden)]
pub mod files;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod lake;
pub mod notation;
pub mod prelude;
pub mod progress;
pub mod replay;
pub mod report;
pub mod results;
pub mod schema;
pub mod sources;
pub mod studies;
pub mod synth;
pub mod units;

/// Name and version of this program, as stored in what it writes.
pub const PROGRAM: &str = concat!("jobfate ", env!("CARGO_PKG_VERSION"));
