//! Runs `fairness`, for the command and as a step of an analysis: gathers usage, computes the
//! indices, and gives the answer.

use crate::answers::Said;
use crate::answers::fairness::gathered::{Buckets, Ends, gather_all, gathering};
use crate::answers::fairness::plan::{FairnessPlan, Until};
use crate::answers::fairness::{
    KIND, answer, kind_of, notes, origin, put_series, table, unknown, warning,
};
use crate::answers::spread::Errand;
use crate::answers::study::{Open, Screen, Step, Verdict, Work};
use crate::answers::words::Setting;
use crate::defaults;
use crate::fairness::gather::Cluster;
use crate::faults::{Result, Usage};
use crate::results::store::Files;
use crate::schema::Table;

/// The step.
pub(crate) const STEP: Step = Step {
    has_folder: true,
    ..Step::of::<FairnessPlan>(run, &["cpu", "window-end", "open-attempts"])
        .settled(settle, &["accrual", "interval"])
        .spread(errand)
};

/// Sets the length of intervals (an hour, or a day if the trace is long), the accrual, and the
/// indices that are computed in addition to the rule of a site.
fn settle(open: &mut Open<'_>) {
    // If days are chosen, the interval follows from their number instead.
    let events = open.lake.manifest.table(Table::TaskEvents);
    if let Some(events) = events.filter(|_| !open.has("days")) {
        let first = events.parts.iter().filter_map(|part| part.min_time_us).min().unwrap_or(0);
        let interval = defaults::interval_s(open.windows.task_end_us.saturating_sub(first));
        open.default_to("interval", interval.to_string().as_str());
    }
    open.default_to("accrual", defaults::accrual_name(open.usual.accrual));
    // With only the rule, the page would not show use over time.
    if open.has("slurm-conf") {
        open.default_to("index", Setting::Many(["metered", "condor"].map(str::to_owned).into()));
    }
}

fn run(work: &Work<'_>) -> Result<Option<Verdict>> {
    if work.is_missing(Table::TaskEvents, KIND)? {
        return Ok(None);
    }
    work.screen.line("\nheaviest users")?;
    let (plan, until) = asked(work)?;
    let files = work.own_files_of(kind_of(plan.resource).name)?;
    let buckets = match (work.folded.usage(work.study.name), work.parts) {
        (Some(usage), _) => Buckets::Gathered(Box::new(usage)),
        (None, Some(parts)) => Buckets::OfWorkers(parts),
        (None, None) => Buckets::Unread,
    };
    give(&plan, until, Some(files), (buckets, work.screen))?;
    Ok(None)
}

/// The work that the workers of a cluster do.
fn errand(work: &Work<'_>) -> Result<Errand> {
    let (plan, until) = asked(work)?;
    let (Cluster { name, shift_us, .. }, plan) = gathering(&plan, until)?;
    Ok(Errand::Usage { plan, name, shift_us })
}

/// The plan for the lake of an analysis.
fn asked(work: &Work<'_>) -> Result<(FairnessPlan, Until)> {
    let path = &work.lake.path;
    let text = path.to_str().ok_or_else(|| Usage(format!("`{}` is not text", path.display())))?;
    let plan = FairnessPlan { lake: vec![text.to_owned()], ..work.plan()? };
    let (window_end_us, open_attempts) =
        (work.definitions.window_end, work.definitions.open_attempts);
    Ok((plan, Until { window_end_us, open_attempts }))
}

/// Gathers the usage of all users, computes every index, and gives the answer.
///
/// # Errors
/// The plan is not valid, a lake or file cannot be read, or the answer cannot be stored.
pub fn give(
    plan: &FairnessPlan,
    until: Until,
    mut files: Option<Files>,
    (buckets, screen): (Buckets<'_>, &dyn Screen),
) -> Result<()> {
    let say = |said: &Said| screen.say(said);
    let bar = screen.follow("usage", "rows");
    let gathered = gather_all(plan, until, Ends::AsIndicesRead, buckets, &say)?;
    drop(bar);
    let bar = screen.follow("indices", "intervals");
    let found = gathered.evaluate(&say)?;
    drop(bar);
    let wanted = plan.wanted();
    let table = table(&found, &wanted);
    let table = if unknown(&found).is_some() { table.slice(0, 0) } else { table };
    let notes = notes(&found, &wanted).into_iter().map(Said::Note);
    let said: Vec<Said> = notes.chain(warning(&found).map(Said::warning)).collect();
    screen.say_all(&said);
    let (answer, origin) = (answer(&found, &table, &wanted), origin(&found));
    if let Some(files) = &mut files {
        files.are_made_from(&origin, &answer.settings);
        put_series(&found, files)?;
    }
    screen.give(&answer, files, &origin)
}
