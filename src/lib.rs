//! jobfate: the outcome of every job in a cluster trace, its cost, and what would have happened
//! under another policy.
//!
//! A raw trace is ingested once into a *lake*, a folder of Parquet tables. A question about the
//! lake is a builder: its calls follow the order of the question. `use jobfate::prelude::*` imports
//! everything that most programs need; the programs in `examples/` are a good start.
//!
//! ```text
//!  raw trace ─► lake ─► facts per job, task, attempt ─► answers
//!  Ingest       Lake    TaskView                        Ledger, Sweep,
//!               batches                                 DetectOutcome, Series
//! ```
//!
//! | To know | Call | Get |
//! |---|---|---|
//! | the outcomes of jobs, and their cost | [`Lake::study`](prelude::Lake::study)`().ledger()` | [`Ledger`](prelude::Ledger) |
//! | what kill rules would have saved and harmed | `lake.study().rule(..).sweeps()` | [`Sweep`](prelude::Sweep)s |
//! | how accurate straggler detectors are | [`Lake::detect`](prelude::Lake::detect)`([..]).run()` | [`DetectOutcome`](prelude::DetectOutcome) |
//! | the usage of each user over time | [`Usage::of`](prelude::Usage::of)`(&lake).gather()` | [`Gathered`](prelude::Gathered) |
//! | how fair that was | `gathered.evaluate(&mut index)` | [`Series`](prelude::Series) |
//! | what would have happened under another policy | [`replay`](prelude::replay)`(&plan)` | [`Outcome`](prelude::Outcome) |
//! | a fact of every job, as SQL defines it | [`Query::run`](prelude::Query::run)`(&lake, ..)` | a record batch of [`arrow`] |
//! | the rows themselves | [`Lake::batches`](prelude::Lake::batches)`(table).columns([..])` | record batches |
//! | a lake of a raw trace | [`Ingest::of`](prelude::Ingest::of)`(trace).into(lake).run()` | [`Ingested`](prelude::Ingested) |
//!
//! [`decisions`] gives the reasons behind the design. Items that are not on these pages serve the
//! `jobfate` program, and may change with any version.
//!
//! # The outcomes of jobs, and their cost
//!
//! ```
//! use jobfate::prelude::*;
//!
//! let lake = Sample::lake()?; // Or `Lake::open("lake")?`.
//! let ledger = lake.study().cpu(Cpu::BestAvailable).ledger()?;
//! for row in &ledger.rows {
//!     println!("{}: {:?} jobs, {:?} {}", row.outcome, row.jobs, row.amount, ledger.unit);
//! }
//! assert_eq!(ledger.rows[0].outcome, "finished");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A custom kill rule
//!
//! It is swept together with the other rules, and refused if it uses later events.
//!
//! ```
//! use jobfate::prelude::*;
//!
//! let evicted = KillRule::own("evicted", [1, 2, 3], |task: &TaskView<'_>, count: i64| {
//!     task.nth_within(EventType::Evict, usize::try_from(count).ok()?, HOUR)
//! });
//! let lake = Sample::lake()?;
//! let sweeps = lake.study().rule(evicted).rule("events".parse()?).sweeps()?;
//! assert_eq!(sweeps[0].rows.len(), 3);
//! assert!(sweeps[0].rows[0].harmed_jobs >= sweeps[0].rows[2].harmed_jobs);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A custom detector
//!
//! ```
//! use jobfate::prelude::*;
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
//! // Scored on recorded history, together with another:
//! let own = DetectorPlan::own("too-long", TooLong(150.0)).parameter("seconds", 150);
//! let lake = Sample::lake()?;
//! let found = lake.detect([own.clone(), "late".parse()?]).run()?;
//! assert_eq!(found.rows[0].detector, "too-long:seconds=150");
//!
//! // At work in a simulated cluster with one slow machine, on tasks of 100 s:
//! let (cluster, _) = Cluster::of_speeds(vec![1.0, 1.0, 0.1]).check()?;
//! let workload = Workload::plain(3, Column::Same(100_000_000)).check()?;
//! let nothing: PolicyPlan = "fifo".parse()?;
//! let copies = nothing.clone().with_detector(own, 10.0)?;
//! let outcome = |policy| replay(&ReplayPlan::new(&cluster, &workload, policy));
//! assert_eq!(outcome(&nothing)?.makespan_us, Some(1_000_000_000));
//! assert_eq!(outcome(&copies)?.makespan_us, Some(260_000_000)); // flagged at 160 s
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Usage, and an index of fairness
//!
//! `examples/own_index.rs` has a custom index; its errors keep their cause
//! ([`FairnessError::own`](prelude::FairnessError::own)).
//!
//! ```
//! use jobfate::prelude::*;
//!
//! let lake = Sample::lake()?;
//! let usage = Usage::of(&lake).every(HOUR).cpu(Cpu::Requested).gather()?;
//! println!("the heaviest: {:?}", usage.users().first().map(|user| &user.user));
//! let condor = usage.evaluate(&mut *BuiltInIndex::Condor.with([("half_life_s", 86_400)])?)?;
//! assert_eq!(condor.people, usage.history.people.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # An ingest with progress, and a way to stop
//!
//! If you stop a call, complete work is kept: in an ingest, every stored part.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use jobfate::prelude::*;
//!
//! let trace = Sample::trace()?;
//! let half = |progress: Progress| {
//!     if progress.share() < 0.5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
//! };
//! let first = Ingest::of(&trace)?.into(trace.join("lake")).on_progress(half).run()?;
//! let second = Ingest::of(&trace)?.into(trace.join("lake")).run()?;
//! assert!(first.is_cancelled && !second.is_cancelled);
//! assert_eq!(second.skipped, first.stored.len());
//! # std::fs::remove_dir_all(trace)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A custom order of waiting tasks
//!
//! ```
//! use jobfate::prelude::*;
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
//! }
//!
//! let lifo = "fifo".parse::<PolicyPlan>()?.with_order("lifo", Stack::default());
//! let (cluster, _) = Cluster::of_speeds(vec![1.0]).check()?;
//! let workload = Workload::plain(3, Column::Same(1_000_000)).check()?;
//! let outcome = replay(&ReplayPlan::new(&cluster, &workload, &lifo))?;
//! assert_eq!(outcome.first_start_us, [Some(2_000_000), Some(1_000_000), Some(0)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Adding to the program itself
//!
//! Help, errors, completions, the portal and the property tests follow from lists. Golden texts,
//! `python/jobfate/_commands.py` and the outputs on pages are written by commands
//! (`CONTRIBUTING.md`) and do not count as files here. Put the test of each next to it, in the same
//! file.
//!
//! - **An index** `foo`: 2 files.
//!   1. `src/fairness/indices/foo.rs`: a function of each user's usage divided by their share, for a
//!      measure of equality with one number for all users (such as `hoover.rs`). Any other index
//!      implements `Index` and reads its own parameters (such as `metered.rs`, or `max_min.rs` for
//!      one over a window).
//!   2. `mod.rs` there: `mod foo;`, and its entry in `built_in!`, with its group in forms and its
//!      meaning in words. A measure of equality ends with `{ measure foo::foo_index }`.
//! - **A detector** `foo`: 2 files. `cubed.rs`, which uses only ages, is a short example;
//!   `ytsaurus.rs` uses progress and has a limit on copies.
//!   1. `src/replay/detectors/foo.rs`: its `KIND` (name, a line for the help, curve, family in the
//!      charts, variants that tests try), its `Plan` (parameters), its [`Detector`](prelude::Detector)
//!      and, as a test, an example worked out by hand. Name the source and its version; say what is
//!      left out and what you chose.
//!   2. `mod.rs` there: `mod foo;`, and `foo::KIND` at the end of `KINDS`. Tests then check that
//!      neither the future nor the numbering of tasks changes a flag, that hanging attempts are
//!      flagged (`suite.rs`), that skipped heartbeats miss no flag (`promises.rs`), and that a task
//!      of thirty thousand years takes no time (`shortcuts.rs`; if a detector is never quiet, that
//!      test never returns). `detect` and `analyze` compare every detector by default, so tables on
//!      pages get a line.
//!
//!   A second computation is welcome: a few lines of Python in `tests/scripts/detect_crosscheck.py`.
//! - **A policy** `foo`: 2 files.
//!   1. `src/replay/policies/foo.rs`: its `KIND`, its plan, and an order or a rule about running
//!      tasks.
//!   2. `mod.rs` there: `mod foo;`, and `foo::KIND` in `KINDS`. `properties.rs` then tests it.
//! - **A source** `foo`: 6 files.
//!   1. `src/schema/source.rs`: its entry in `sources!`, with its name, its units, its defaults (by
//!      its family), and what the help of `ingest` says about it.
//!   2. `src/schema/records.rs`: its additional columns, if it has any.
//!   3. `src/sources/foo.rs`: a parser, and whether a text is of this format.
//!   4. `src/sources/mod.rs`: `mod foo;`, and its arm in `format_of` with both, and a line in words.
//!   5. `fuzz/corpus/foo.txt`: at least five inputs (`fuzz/pack`). The fuzzer and the tests of
//!      `src/fuzzing` then check that no line is lost.
//!   6. `reports/sessions/traces.md`: a session with a real file.
//!
//!   A format of several files that belong together (such as tasks and instances) also needs its
//!   layout in `src/sources/trace.rs`.
//! - **A study** `foo`: 6 files.
//!   1. `src/studies/foo.rs`: the sums, from facts to plain structs.
//!   2. `src/studies/mod.rs`: `mod foo;`.
//!   3. `src/answers/foo.rs`: `FooPlan` (its doc comments are the help of the flags), which
//!      implements `Plan`; `KIND`, with the caption, the tables that it is made of and the sentence
//!      of a report; `answer`, with the columns and charts; `STEP`, for `analyze`.
//!   4. `src/answers/mod.rs`: `mod foo;`, and its row in `STUDIES`. The step, the section and the
//!      help of `analyze`, the page of a report, the captions, and its row in the README (which
//!      `UPDATE_GOLDEN=1` writes) follow from it.
//!   5. `src/cli/foo.rs`: `FooArgs` and `run`, which opens the lake and gives the answer.
//!   6. `src/cli/mod.rs`: `mod foo;`, and its line in `commands!`.
//!
//!   A command that does not answer a question about a lake needs only the last two, and a row in
//!   the README.
//!
//! # Glossary
//!
//! | Word | Meaning |
//! |---|---|
//! | job, task | a job consists of tasks; (job, index) identifies a task |
//! | event | a row of `job_events` or `task_events` |
//! | event sequence | the event types of a job or task in (time, `row_id`) order, as digits |
//! | attempt | from SCHEDULE to the next terminal event (or SCHEDULE) of a task |
//! | outcome | how a job ended, or its state: finished, failed, killed, running, ... |
//! | condemned | a task that a kill rule would have killed; harmed: a finished job with one |
//! | log | a trace that is not from Google, usually one file: SWF, GWF, Rumen, Slurm |
//! | remark | an assumption about something that a log does not record, counted in the manifest |
//! | window | a row of `task_usage`; also the span of time that a trace covers |
//! | part, segment | a file of the raw trace; consecutive parts that share a file in the lake |
//! | stretch | the rows of a bucket in a file of the lake |
//! | bucket | the jobs whose ids have the same hash value |
//! | group | the tasks of a job, or of a phase of it if the trace records phases |
//! | straggler | a task that took longer than a limit derived from its group; flag: a detector's statement that a task is one |
//! | copy, restart | a second attempt that runs next to a flagged one, or replaces it |
//! | index | a number per user that decides who is served next, or one number for all users that says how equal they are |
//! | reject | a line of a raw file that gave no row, kept with its reason |
//! | left-censored, censored | began before the window; had not ended at its end |

#![forbid(unsafe_code)]

pub use arrow;

#[doc(hidden)]
pub mod answers;
#[doc(hidden)]
pub mod cells;
#[doc(hidden)]
pub mod charts;
#[doc(hidden)]
pub mod claims;
pub mod decisions;
#[doc(hidden)]
pub mod defaults;
#[doc(hidden)]
pub mod digits;
#[doc(hidden)]
pub mod export;
#[doc(hidden)]
pub mod facts;
#[doc(hidden)]
pub mod fairness;
#[doc(hidden)]
pub mod faults;
#[doc(hidden)]
pub mod files;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
#[doc(hidden)]
pub mod lake;
#[doc(hidden)]
pub mod notation;
pub mod prelude;
#[doc(hidden)]
pub mod progress;
#[doc(hidden)]
pub mod replay;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod results;
#[doc(hidden)]
pub mod schema;
#[cfg(feature = "serve")]
#[doc(hidden)]
pub mod serve;
#[doc(hidden)]
pub mod sources;
#[doc(hidden)]
pub mod studies;
#[doc(hidden)]
pub mod synth;
#[doc(hidden)]
pub mod units;

/// Name and version of this program, as stored in what it writes.
pub const PROGRAM: &str = concat!("jobfate ", env!("CARGO_PKG_VERSION"));
