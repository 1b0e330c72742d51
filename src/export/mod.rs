//! Ways out: the tasks of a lake, or of a replay, in the formats that simulators read.
//!
//! In: a lake, the form that is wanted, and perhaps the journal of a replay. Out: files of that
//! form, in an order that depends on nothing but the lake, and a count of everything that the form
//! cannot hold. Tasks go through a file on disk, so that one bucket of the lake is in memory at a
//! time. Nothing is invented: what the lake does not know has the form's own sign for unknown.
//!
//! | Form | Files | Written by |
//! |---|---|---|
//! | SWF 2.2 | `log.swf`, `names.csv`, `numbers.csv` | [`swf`] |
//! | WTA 1.0 | tables of workflows, tasks and resources, a summary | [`wta`] |
//! | OpenDC | `tasks.parquet`, `fragments.parquet`, `topology.json` | [`opendc`] |
//! | Batsim 5, 4 | `workload.json`, `platform.xml`, `numbers.csv` | [`batsim`] |

use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Value, json};

use crate::faults::{Context, Result};
use crate::files::FolderLock;
use crate::lake::Lake;
use crate::results::frame::Frame;
use crate::results::kind::Kind;
use crate::results::store::{Answer, Files, Origin, RESULT, could_not_write};
use crate::schema::{Source, Table};

mod batsim;
mod cells;
mod fleet;
mod gather;
mod items;
mod names;
mod opendc;
mod replayed;
mod sheet;
mod spill;
mod stats;
mod swf;
mod wta;

use self::fleet::Fleet;
use self::gather::{Counts, Gathered, Visit, gather};
use self::replayed::Replayed;
use self::spill::Spill;
use crate::facts::tasks::{TaskView, Usage as Reads};

/// The kind of result that an export is.
pub const KIND: Kind<'static> = Kind::called("export", "What an export could not hold");

/// A form that simulators read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Standard workload format 2.2 of the Parallel Workloads Archive
    Swf,
    /// Workflow Trace Archive 1.0: Parquet tables of workflows, tasks and resources
    Wta,
    /// OpenDC: tasks.parquet, fragments.parquet and a topology
    Opendc,
    /// Batsim 5: jobs and delay profiles as JSON, the platform as XML
    Batsim,
    /// The same as Batsim 4 has it
    #[cfg_attr(feature = "cli", value(name = "batsim-4"))]
    #[serde(rename = "batsim-4")]
    Batsim4,
}

/// What is to be written.
#[derive(Clone, Debug)]
pub struct ExportPlan {
    /// In which form.
    pub form: Form,
    /// The journal of a replay of the lake, whose times and ends are written.
    pub journal: Option<PathBuf>,
    /// Processors that the largest machine has, where the lake knows shares of it only.
    pub cores: u32,
    /// Whether times are rounded to whole seconds.
    pub whole_seconds: bool,
}

/// What was written.
#[derive(Clone, Debug)]
pub struct Exported {
    /// Tasks.
    pub tasks: u64,
    /// What the form could not hold, and how often.
    pub not_held: Vec<(String, u64)>,
    /// The JSON that says all of it.
    pub json: PathBuf,
}

/// What every form needs to know of the lake besides its tasks.
struct Scene<'a> {
    lake: &'a Lake,
    plan: &'a ExportPlan,
    fleet: Fleet,
    /// Processors for one of the lake's units of CPU.
    processors_per_unit: f64,
    /// MiB for one of the lake's units of memory; `None` where these are shares.
    mib_per_unit: Option<f64>,
}

/// Writes the tasks of a lake into a folder, as [`Files`] of the result `export`.
///
/// # Errors
/// The lake or the journal does not read, or a file cannot be written.
pub fn export(
    lake: &Lake,
    plan: &ExportPlan,
    lock: &std::sync::Arc<FolderLock>,
) -> Result<Exported> {
    let mut files = Files::within(lock, KIND.name)?;
    let replayed = plan.journal.as_deref().map(Replayed::read).transpose()?;
    let scene = Scene::of(lake, plan)?;
    let (tasks, counts) = match plan.form {
        Form::Swf => {
            let all = scene.gather(&files, Reads::Skip, replayed.as_ref(), &mut |_, _| Ok(()))?;
            swf::write(&scene, all, &mut files)?
        }
        Form::Wta => {
            let all = scene.gather(&files, Reads::Skip, replayed.as_ref(), &mut |_, _| Ok(()))?;
            wta::write(&scene, all, &mut files)?
        }
        Form::Opendc => {
            let mut fragments = opendc::Fragments::new(&scene, &files)?;
            let mut visit = |task: &TaskView<'_>, item: &items::Item| fragments.add(task, item);
            let all = scene.gather(&files, Reads::Read, replayed.as_ref(), &mut visit)?;
            opendc::write(&scene, all, fragments, &mut files)?
        }
        Form::Batsim | Form::Batsim4 => {
            let all = scene.gather(&files, Reads::Skip, replayed.as_ref(), &mut |_, _| Ok(()))?;
            batsim::write(&scene, all, &mut files)?
        }
    };
    let not_held: Vec<(String, u64)> =
        counts.0.iter().map(|(wording, count)| ((*wording).to_owned(), *count)).collect();
    let table = Frame::default()
        .text("not_held", not_held.iter().map(|(wording, _)| wording))
        .int("count", not_held.iter().map(|(_, count)| i64::try_from(*count).unwrap_or(i64::MAX)))
        .batch();
    let answer = Answer {
        kind: KIND,
        table: &table,
        json: json!({"form": plan.form, "tasks": tasks, "not_held": counts.0}),
        settings: scene.settings(),
        charts: Vec::new(),
    };
    let json = files.publish(RESULT, &answer, &Origin::of(lake))?;
    Ok(Exported { tasks, not_held, json })
}

impl<'a> Scene<'a> {
    fn of(lake: &'a Lake, plan: &'a ExportPlan) -> Result<Self> {
        let unit = |name: &str| unit_of(lake, name);
        let is_share = |unit: &str| matches!(unit, "NCU" | "share");
        let per_unit = if is_share(unit("cpu_request")) { f64::from(plan.cores) } else { 1.0 };
        let mib_per_unit = match unit("memory_request") {
            "B" => Some(1.0 / f64::from(1 << 20)),
            "KiB" => Some(1.0 / 1024.0),
            "MiB" => Some(1.0),
            "GiB" => Some(1024.0),
            _ => None,
        };
        let fleet = Fleet::read(lake)?;
        Ok(Self { lake, plan, fleet, processors_per_unit: per_unit, mib_per_unit })
    }

    /// Reads the tasks, and counts what no form holds of this lake.
    fn gather(
        &self,
        files: &Files,
        usage: Reads,
        replayed: Option<&Replayed>,
        visit: &mut Visit<'_>,
    ) -> Result<Gathered> {
        let folder = files.work_folder();
        let items = Spill::within(&folder).with_context(|| could_not_write(&folder))?;
        let mut all = gather(self.lake, usage, replayed, items, visit)?;
        let rows = |table| self.lake.manifest.table(table).map_or(0, |entry| entry.rows());
        if usage == Reads::Skip {
            all.counts.add("usage windows: left out", rows(Table::TaskUsage));
        }
        all.counts.add("placement constraints: left out", rows(Table::TaskConstraints));
        all.counts.add("attributes of machines: left out", rows(Table::MachineAttributes));
        all.counts.add("machines that left, returned or changed: left out", self.fleet.changes);
        Ok(all)
    }

    /// The unit of an amount in the lake.
    fn unit(&self, column: &str) -> &'static str {
        unit_of(self.lake, column)
    }

    /// The CPU that a task asks for, in processors; 1 where it is not known.
    fn cpus(&self, item: &items::Item) -> f64 {
        item.cpu.map_or(1.0, |cpu| crate::digits::shortest(cpu) * self.processors_per_unit)
    }

    /// The processors that a task used on average as its log says, or else asked for.
    #[expect(clippy::cast_precision_loss, reason = "times are far below 2^53 µs")]
    fn logged_cpus(&self, item: &items::Item, run_us: Option<i64>) -> f64 {
        let used = item.log.cpu_time_us.zip(run_us).filter(|(_, run_us)| 0 < *run_us);
        let share = used.map(|(used_us, run_us)| used_us as f64 / run_us as f64);
        self.cpus(item) * share.unwrap_or(1.0)
    }

    /// Whether tasks ask for shares of the largest machine.
    fn is_of_shares(&self) -> bool {
        self.processors_per_unit != 1.0
    }

    /// How many processors a task has, rounded up to whole ones: those that it had or else asked
    /// for.
    fn processors(&self, item: &items::Item, counts: &mut Counts) -> Option<i64> {
        let logged = item.log.processors.filter(|&count| 0 < count);
        let logged = logged.or(item.log.requested_processors.filter(|&count| 0 < count));
        if logged.is_some() {
            return logged;
        }
        let cpu = f64::from(item.cpu?) * self.processors_per_unit;
        // 0.1 as 32 bits times 100 is a little more than 10.
        let whole = (cpu - 1e-4).ceil().max(1.0);
        counts.see(1e-4 < (whole - cpu).abs(), "CPU requests of no whole processors: rounded up");
        #[expect(clippy::cast_possible_truncation, reason = "a conversion saturates")]
        Some(whole as i64)
    }

    /// The memory that a task asks for, MiB; `None` where it is not known, or a share.
    fn memory_mib(&self, item: &items::Item) -> Option<f64> {
        Some(crate::digits::shortest(item.memory?) * self.mib_per_unit?)
    }

    /// The processors of the whole cluster, where the lake knows its machines.
    fn all_processors(&self) -> Option<i64> {
        #[expect(clippy::cast_possible_truncation, reason = "a conversion saturates")]
        let whole = (self.fleet.cpu * self.processors_per_unit - 1e-4).ceil() as i64;
        Some(whole).filter(|&whole| 0 < whole)
    }

    /// What is added to times so that they count from 1970, where they do in the lake, s: the
    /// first submit then has time 0.
    fn unix_start_s(&self, first_us: Option<i64>) -> i64 {
        // Nothing else has its first job 20 years after its start.
        const FIRST_S: i64 = 631_152_000;
        let first_s = first_us.unwrap_or(0).div_euclid(crate::units::MICROS_PER_SECOND);
        let is_own = matches!(self.lake.source(), Source::Swf | Source::Gwf);
        if FIRST_S <= first_s && !is_own { first_s } else { 0 }
    }

    fn settings(&self) -> Value {
        json!({
            "as": self.plan.form,
            "journal": self.plan.journal,
            "cores": self.is_of_shares().then_some(self.plan.cores),
            "whole_seconds": self.plan.whole_seconds,
        })
    }
}

/// The unit of an amount of `task_events`.
fn unit_of(lake: &Lake, name: &str) -> &'static str {
    let columns = Table::TaskEvents.columns(lake.source());
    columns.iter().find(|column| column.name == name).map_or("", |column| column.unit)
}
