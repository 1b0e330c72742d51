//! Exports the tasks of a lake, or of a replay, in formats that simulators read.
//!
//! In: a lake, the format, and optionally the journal of a replay. Out: files of that format, in an
//! order that depends only on the lake, and counts of everything that the format cannot hold. Tasks
//! go through a file on disk, so one bucket of the lake is in memory at a time. Nothing is
//! invented: unknown values are marked as the format requires.
//!
//! | Form | Files | Written by |
//! |---|---|---|
//! | SWF 2.2 | `log.swf`, `names.csv`, `numbers.csv` | `swf` |
//! | WTA 1.0 | tables of workflows, tasks and resources, a summary | `wta` |
//! | OpenDC | `tasks.parquet`, `fragments.parquet`, `topology.json` | `opendc` |
//! | Batsim 5, 4 | `workload.json`, `platform.xml`, `numbers.csv` | `batsim` |

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use crate::facts::tasks::{TaskView, Usage as Use};
use crate::faults::{Result, Usage};
use crate::files::FolderLock;
use crate::lake::Lake;
use crate::results::frame::Frame;
use crate::results::kind::Kind;
use crate::results::store::{Answer, Files, Origin, RESULT};

mod batsim;
mod cells;
mod fleet;
mod gather;
mod items;
mod links;
mod names;
mod opendc;
mod replayed;
mod scene;
mod sheet;
mod spill;
mod stats;
mod swf;
mod wta;

use self::replayed::Replayed;
use self::scene::Scene;
pub use self::scene::{ExportPlan, Form};

/// The kind of result of an export.
pub const KIND: Kind<'static> = Kind::called("export", "What an export could not hold");

/// The result of an export.
#[derive(Clone, Debug)]
pub struct Exported {
    /// Number of tasks.
    pub tasks: u64,
    /// Data that the format could not hold, with counts.
    pub not_held: Vec<(String, u64)>,
    /// The JSON file with these results.
    pub json: PathBuf,
}

/// Writes the tasks of a lake into a folder, as [`Files`] of the result `export`.
///
/// # Errors
/// The lake or the journal cannot be read, they have no common task, or a file cannot be written.
pub fn export(lake: &Lake, plan: &ExportPlan, lock: &Arc<FolderLock>) -> Result<Exported> {
    let mut files = Files::within(lock, KIND.name)?;
    let replayed = plan.journal.as_deref().map(Replayed::read).transpose()?;
    let scene = Scene::of(lake, plan)?;
    let (tasks, counts) = match plan.form {
        Form::Swf => {
            let all = scene.gather(&files, Use::Skip, replayed.as_ref(), &mut |_, _| Ok(()))?;
            swf::write(&scene, all, &mut files)?
        }
        Form::Wta => {
            let all = scene.gather(&files, Use::Skip, replayed.as_ref(), &mut |_, _| Ok(()))?;
            wta::write(&scene, all, &mut files)?
        }
        Form::Opendc => {
            let mut fragments = opendc::Fragments::new(&scene, &files)?;
            let mut visit = |task: &TaskView<'_>, item: &items::Item| fragments.add(task, item);
            let all = scene.gather(&files, Use::Read, replayed.as_ref(), &mut visit)?;
            opendc::write(&scene, all, fragments, &mut files)?
        }
        Form::Batsim | Form::Batsim4 => {
            let all = scene.gather(&files, Use::Skip, replayed.as_ref(), &mut |_, _| Ok(()))?;
            batsim::write(&scene, all, &mut files)?
        }
    };
    if let Some(journal) = plan.journal.as_deref().filter(|_| tasks == 0) {
        let text = format!(
            "`{}` is not the journal of a replay of this lake: it has none of its tasks",
            journal.display()
        );
        return Err(Usage(text).into());
    }
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
