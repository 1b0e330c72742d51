//! The step of `machines` in an analysis.

use super::{KIND, MachinesPlan, closeup, study};
use crate::answers::spread::Errand;
use crate::answers::study::{Step, Verdict, Work};
use crate::facts::machines::MachineEvents;
use crate::faults::Result;
use crate::schema::Table;

/// The step.
pub(crate) const STEP: Step = Step::of::<MachinesPlan>(run, &["window-end", "open-attempts"])
    .spread(|_| Ok(Errand::Machines));

fn run(work: &Work<'_>) -> Result<Option<Verdict>> {
    if work.is_missing(Table::MachineEvents, KIND)? {
        return Ok(None);
    }
    if MachineEvents::read(work.lake)?.events.iter().all(|event| event.time_us == 0) {
        let why = "the log does not record when machines fail or return, so there are no outages to \
            study";
        work.leave_out(KIND, why)?;
        return Ok(None);
    }
    let plan: MachinesPlan = work.plan()?;
    let ran = work.folded.machines(work.study.name);
    let studied = study(work.lake, work.windows, &plan, ran)?;
    closeup::put(work, &studied)?;
    work.study("machines", KIND, || Ok(studied))
}
