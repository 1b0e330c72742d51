//! How full the cluster was, and whether much happened in it at the same time.

use super::Told;
use crate::answers::episodes::EpisodesAnswer;
use crate::answers::load::{self, LoadAnswer, WholeFrom, averaged};
use crate::answers::sentences::{Capacity, capital, percent};
use crate::digits::{grouped, grouped_decimal, lasting, six_digits};
use crate::results::envelope::Envelope;
use crate::schema::Source;

/// The shares of the CPU capacity that running tasks requested and used, and the largest share
/// requested in one interval.
pub(super) fn load(stored: &Envelope) -> Option<Told> {
    let answer: &LoadAnswer = stored.found()?;
    let Some(requested) = answer.totals.cpu_allocated_of_capacity_share.map(percent) else {
        return no_capacity(answer);
    };
    // If a log is selected by time of end, the time before the first end would lower the average.
    let whole = answer.whole_from.as_ref();
    let whole = whole.and_then(|whole| Some((whole, whole.cpu_allocated_of_capacity_share?)));
    let used = answer.totals.cpu_used_of_capacity_share.filter(|_| whole.is_none());
    let used = used.map_or_else(String::new, |used| format!(" and used {}", percent(used)));
    let shares = answer.rows.iter().filter_map(|row| row.cpu_allocated_share);
    let fullest = shares.fold(0.0, f64::max);
    let capacity = Capacity::of(&stored.inputs);
    let inferred = match capacity {
        Capacity::Recorded => "",
        Capacity::FromUse => " (the log does not record the capacity)",
    };
    let totals = &answer.totals;
    let memory = totals.memory_allocated_of_capacity_share.filter(|_| whole.is_none());
    let memory = memory.map_or_else(String::new, |share| {
        format!("; of the memory, {} on average", percent(share))
    });
    let is_used = totals.cpu_used_of_capacity_share.is_some();
    let over = match (1.0 < fullest, is_used) {
        (false, _) => "",
        (true, true) => OVER,
        (true, false) => OVER_UNUSED,
    };
    let averaged = averaged(&stored.inputs);
    let waits = waited_longest(answer, stored).unwrap_or_default();
    let quiet = answer.quiet_end().map_or_else(String::new, |said| format!(". {}", capital(&said)));
    let (requested, from, cut) = match whole {
        Some((whole, share)) => {
            let from = format!(" from {} on", whole.averaged_from());
            let cut = format!(
                ". Before {}, the log seems to hold only jobs that ended later",
                whole.when
            );
            (percent(share), from, cut)
        }
        None => (requested, String::new(), String::new()),
    };
    let of = of_capacity(answer, capacity);
    let interval = interval(answer.interval_s);
    let queue = longest_queue(answer, &interval, whole.is_none()).unwrap_or_default();
    // If the request had two levels, the mean is neither of them, so both levels follow.
    let levels = answer.level.as_ref().map_or_else(String::new, |level| {
        let lacks_open = answer.whole_from.as_ref().is_some_and(WholeFrom::lacks_open);
        let is_lower = level.after_share < level.before_share;
        format!(
            ". The request was {} until {}, and {} from then on{}",
            percent(level.before_share),
            level.when,
            percent(level.after_share),
            if lacks_open && is_lower { LACKS_RUNNING } else { "" }
        )
    });
    Some(Told::Shown(format!(
        "On average{from}, running tasks requested {requested}{used} of {of}; in the fullest {interval} they \
        requested {}{inferred}{memory}{queue}{levels}{over}{cut}{averaged}{waits}{quiet}",
        percent(fullest),
    )))
}

/// An episode with at least half of all events of its kind, if there is one.
pub(super) fn episode(stored: &Envelope) -> Option<Told> {
    let said = stored.found::<EpisodesAnswer>()?.striking()?;
    Some(Told::Shown(format!("Yes: {said}")))
}

/// The whole to which shares refer, with the number of processors if it never changes.
fn of_capacity(answer: &LoadAnswer, capacity: Capacity) -> String {
    let mut capacities = answer.rows.iter().filter_map(|row| row.cpu_capacity);
    let first = capacities.next().filter(|_| answer.unit == "processor");
    let always = first.filter(|first| capacities.all(|own| own == *first)).map(six_digits);
    match (capacity, always) {
        (Capacity::Recorded, Some(count)) => format!("the {count} processors"),
        (_, Some(count)) => format!("{} ({count})", capacity.or_used("")),
        _ => capacity.or_used("the CPU of the machines").to_owned(),
    }
}

/// The mean and the largest number of waiting tasks, as a further clause, and what was requested at
/// the time of the largest. No mean of a log that lacks earlier jobs. `None` if no wait is known,
/// or if no task waited.
#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 intervals")]
fn longest_queue(answer: &LoadAnswer, interval: &str, is_whole: bool) -> Option<String> {
    let known = || answer.rows.iter().filter_map(|row| Some((row.pending_tasks?, row)));
    let (most, row) = known().max_by(|one, other| one.0.total_cmp(&other.0))?;
    if most < 1.0 {
        return None;
    }
    let mean = known().map(|(waiting, _)| waiting).sum::<f64>() / known().count() as f64;
    let tasks = if most < 1.5 { "task" } else { "tasks" };
    let most = grouped_decimal(most, 0);
    let waited = if is_whole && 1.0 <= mean {
        let mean = grouped_decimal(mean, 0);
        format!("{mean} tasks waited on average and at most {most} (mean per {interval})")
    } else {
        format!("at most {most} {tasks} waited (mean per {interval})")
    };
    let then = row.cpu_allocated_share.map_or_else(String::new, |share| {
        format!(", when running tasks requested {}", percent(share))
    });
    Some(format!("; {waited}{then}"))
}

/// The size of the jobs with the longest waits, as a further sentence. `None` if these waits are
/// shorter than a minute.
fn waited_longest(answer: &LoadAnswer, stored: &Envelope) -> Option<String> {
    const FROM_S: f64 = 60.0;
    let (wait_s, longest) = load::longest_wait(&answer.sizes)?;
    let source = stored.source.as_deref().and_then(|name| name.parse::<Source>().ok());
    let size = if source.is_some_and(Source::is_log) { "processor" } else { "task" };
    let plural = if longest.size == "1" { "" } else { "s" };
    (FROM_S <= wait_s).then(|| {
        format!(
            ". Jobs of {} {size}{plural} waited longest: {} in the median, {} jobs{} (of sizes with {} \
            jobs or more)",
            longest.size,
            lasting(wait_s),
            grouped(longest.jobs_with_wait),
            longest.mostly_of().unwrap_or_default(),
            load::WAITS_MIN
        )
    })
}

/// Why a log that was selected by time of end shows too low a request at its end.
const LACKS_RUNNING: &str = " (too low: jobs that still ran at the end seem to be missing)";

/// The reason why shares of the capacity can be above 100 %.
const OVER: &str = ". A request is not use: the cluster accepts requests for more than it has";

/// The same reason if no table records the use.
const OVER_UNUSED: &str = ". A request is not use: the cluster accepts requests for more than it has, and how \
    much of it was used is not in the loaded tables";

/// The largest request, for clusters with unknown capacity.
fn no_capacity(answer: &LoadAnswer) -> Option<Told> {
    let most = answer.rows.iter().filter_map(|row| row.cpu_allocated).reduce(f64::max)?;
    let unit = &answer.unit;
    let plural = if *unit == "NCU" { "" } else { "s" };
    Some(Told::Unknown(format!(
        "The capacity of the cluster is not known: running tasks requested at most {} {unit}{plural} \
        (mean per {})",
        six_digits(most),
        interval(answer.interval_s),
    )))
}

/// The length of an interval in words.
fn interval(seconds: f64) -> String {
    match seconds {
        60.0 => "minute".to_owned(),
        300.0 => "five minutes".to_owned(),
        900.0 => "quarter of an hour".to_owned(),
        3600.0 => "hour".to_owned(),
        21_600.0 => "six hours".to_owned(),
        86_400.0 => "day".to_owned(),
        other => format!("{} s", six_digits(other)),
    }
}
