//! The step of `sweep` in an analysis: all rules, and the rule that is chosen on the first half of
//! the history.

use crate::answers::condition::LIMITS;
use crate::answers::spread::Errand;
use crate::answers::study::{Open, Step, Verdict, Work};
use crate::answers::sweep::closeup;
use crate::answers::sweep::plan::{SweepPlan, asked, rules_of};
use crate::answers::sweep::{
    KIND, answer, check_sides, put_details, selection_line, selection_table, sweep_all, table_of,
};
use crate::answers::words::Setting;
use crate::facts::tasks::records_requested_time;
use crate::facts::window::first_event_us;
use crate::faults::Result;
use crate::results::store;
use crate::schema::Table;
use crate::studies::rules::Rule;
use crate::units::MICROS_PER_DAY;

/// The step.
pub(crate) const STEP: Step =
    Step::of::<SweepPlan>(run, &["cpu", "classes", "window-end", "open-attempts"])
        .settled(settle, &[])
        .spread(|work| Ok(Errand::Sweep(work.section.clone(), None)));

/// The number of resamplings of jobs for the intervals.
const BOOTSTRAP_ROUNDS: &str = "200";

/// The number of rows that are shown; the results have all rows.
const ROWS_SHOWN: usize = 5;

fn settle(open: &mut Open<'_>) {
    let mut rules = Rule::USUAL.map(|rule| rule.name().to_owned()).to_vec();
    // Time limits are swept, too, if jobs have limits. If the lake cannot be read, the step reports
    // the error.
    rules.extend(records_requested_time(open.lake).unwrap_or(false).then(|| LIMITS.to_owned()));
    open.default_to("rules", Setting::Many(rules));
    open.default_to("bootstrap", BOOTSTRAP_ROUNDS);
    // The rule is chosen on the first half of the tasks' history and tested on the second.
    let end_us = open.windows.job_end_us.min(open.windows.task_end_us);
    #[expect(clippy::cast_precision_loss, reason = "a time, rounded all the same")]
    let half = (end_us - first_event_us(open.lake)).max(0) as f64 / 2.0 / MICROS_PER_DAY as f64;
    open.default_to("train-until", format!("{half:.4}").as_str());
}

fn run(work: &Work<'_>) -> Result<Option<Verdict>> {
    if work.is_missing(Table::TaskEvents, KIND)? {
        return Ok(None);
    }
    let plan: SweepPlan = work.plan()?;
    let asked = asked(&plan, work.lake)?;
    let study = work.outcomes(&asked)?;
    let mut swept = sweep_all(&study, plan.price);
    if let Err(error) = check_sides(&study) {
        work.note(format!("skipped: the rule chosen on earlier jobs ({error})"));
        swept.selection = None;
    }
    let table = table_of(swept.shown(), study.unit());
    let answer = answer(&plan, work.windows, &study, &swept, &table);
    let selected = swept
        .selection
        .as_ref()
        .map(|found| (found, selection_table(found, &swept.sweeps, study.unit())));
    let mut files = work.files(answer.kind.name)?;
    put_details(&study, &swept, selected.as_ref().map(|found| &found.1), &mut files)?;
    work.publish(&answer, files)?;
    closeup::put(work, &rules_of(&plan), &swept)?;
    if answer.json[store::NOTHING].is_string() {
        work.show("killing tasks", &answer)?;
        return Ok(None);
    }
    let table = table_of(&swept.sweeps[..1], study.unit());
    let first = table.slice(0, table.num_rows().min(ROWS_SHOWN));
    work.screen.show(&format!("killing tasks by {}", swept.sweeps[0].rule), &first)?;
    if let Some((selection, table)) = &selected {
        work.screen.show("the rule chosen on earlier jobs", table)?;
        work.note(selection_line(selection));
    }
    Ok(None)
}
