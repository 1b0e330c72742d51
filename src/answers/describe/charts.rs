//! The charts of `describe`.

use crate::answers::describe::plan::Question;
use crate::answers::describe::{Part, edges_of};
use crate::answers::edges;
use crate::answers::sentences::{MOST, percent};
use crate::charts::{
    AtRisk, Bar, BarChart, Line, LineChart, Scale, Stroke, Tone, outcome_tone, round_times,
};
use crate::digits;
use crate::studies::censoring::Censoring;
use crate::studies::counted::{Counted, Value};
use crate::studies::distributions::{
    Chance, at_risk, cumulative, every_end, kaplan_meier, summarize,
};
use crate::studies::ledger::{GroupBy, UNMATCHED};
use crate::studies::samples::{OutcomeOf, What};
use crate::units::micros_to_seconds;

/// The title of the chart.
pub(crate) const fn title(what: What) -> &'static str {
    match what {
        What::JobDurations => "How long jobs last",
        What::TasksPerJob => "How many tasks jobs have",
        What::EventsPerTask => "How many events tasks have",
        What::Waiting => "How long tasks wait for their first attempt",
        What::Attempts => "How many attempts tasks take",
        What::JobSurvival => "How many jobs last longer than a given time",
        What::Estimates => "How much of the requested time attempts take",
        What::FinishGivenEvents => "The chance that a task's job finishes",
    }
}

/// The curves with their name, values and colour: each outcome or, if values are split, the groups
/// with the most values.
fn shown<'a>(
    parts: &[&'a (Part, Counted)],
    question: Question,
) -> Vec<(&'a str, &'a Counted, Tone)> {
    let what = question.what;
    if question.group_by.is_none() {
        let is_shown = |outcome: &str| {
            // All running jobs last until the end of the window, so their durations are not a
            // distribution.
            outcome != UNMATCHED && !(outcome == "running" && what == What::JobDurations)
        };
        let all = total(parts);
        let shown = parts.iter().filter(|(part, values)| {
            !values.is_empty() && is_shown(part.outcome) && !is_too_few(part, values, (all, what))
        });
        return shown
            .map(|(part, values)| (part.outcome, values, outcome_tone(part.outcome)))
            .collect();
    }
    let mut groups: Vec<&(Part, Counted)> = parts[1..]
        .iter()
        .copied()
        .filter(|(part, _)| part.outcome == "all" && part.group.is_some())
        .collect();
    groups.sort_by_key(|(_, values)| std::cmp::Reverse(values.count(|_| true)));
    groups.truncate(Tone::SERIES.len());
    let named = groups
        .into_iter()
        .zip(Tone::SERIES)
        .map(|((part, values), tone)| (part.group.as_deref().unwrap_or_default(), values, tone));
    named.collect()
}

/// The fewest values for a curve. Curves with fewer values would draw attention and say little.
const DRAWN_FROM: u64 = 30;

/// The fewest values for a curve with a band, because the band of fewer would be wide.
const BANDS_FROM: u64 = 100;

/// The fewest values for a curve of this kind.
fn drawn_from(what: What) -> u64 {
    if what == What::JobSurvival { BANDS_FROM } else { DRAWN_FROM }
}

/// The number of all values.
fn total(parts: &[&(Part, Counted)]) -> u64 {
    parts.first().map_or(0, |(_, values)| values.count(|_| true))
}

/// Whether an outcome has too few of `all` values for a curve. In a small trace, every outcome has
/// a curve.
fn is_too_few(part: &Part, values: &Counted, (all, what): (u64, What)) -> bool {
    let least = drawn_from(what);
    let is_small = 10 * least <= all && values.count(|_| true) < least;
    is_small && part.outcome != "all"
}

/// A line for each curve.
pub(crate) fn lines(parts: &[&(Part, Counted)], question: Question) -> Vec<Line> {
    let shown = shown(parts, question).into_iter();
    let shown = shown.filter(|(_, values, _)| is_drawn(values, question.what));
    shown.map(|(name, values, tone)| line(name, values, question.what, tone)).collect()
}

/// Whether a curve falls or rises. If no job ends, a survival curve stays at 1 and shows nothing.
fn is_drawn(values: &Counted, what: What) -> bool {
    what != What::JobSurvival || kaplan_meier(values).iter().any(|point| point.share < 1.0)
}

/// A sentence about the outcomes with too few values for a curve; empty if there are none.
fn too_few(parts: &[&(Part, Counted)], question: Question) -> String {
    let all = total(parts);
    let few = parts.iter().filter(|(part, values)| {
        !values.is_empty()
            && part.outcome != UNMATCHED
            && is_too_few(part, values, (all, question.what))
    });
    let few: Vec<&str> = few.map(|(part, _)| part.outcome).collect();
    if question.group_by.is_some() || few.is_empty() {
        return String::new();
    }
    let of = question.what.of();
    let least = drawn_from(question.what);
    format!(" Outcomes of fewer than {least} {of} have no curve: {}.", few.join(", "))
}

/// The smallest share of values at 0 that is mentioned.
const AT_ZERO_FROM: f64 = 0.005;

/// A sentence about values of 0, which a logarithmic axis puts at its left edge; empty if there are
/// few.
fn at_zero(parts: &[&(Part, Counted)], question: Question) -> String {
    #[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
    let share = |values: &Counted| {
        values.count(|value| value.amount() == 0) as f64 / values.count(|_| true) as f64
    };
    let known = shown(parts, question).into_iter().map(|(name, values, _)| (name, share(values)));
    let known = known.filter(|(_, share)| AT_ZERO_FROM <= *share);
    let said = known.map(|(name, share)| format!("{} {}", shortened(name), percent(share)));
    let said: Vec<String> = said.collect();
    if said.is_empty() || question.what == What::JobSurvival {
        return String::new();
    }
    format!(" At 0, which is the left edge of the axis: {}.", said.join(", "))
}

/// A sentence about outcomes that are in the table but not in the chart; empty if all are drawn.
fn not_drawn(parts: &[&(Part, Counted)], question: Question) -> String {
    let what = question.what;
    let is_lacking = |(part, values): &&&(Part, Counted)| {
        let is_cut = part.outcome == "running" && !values.is_empty();
        is_cut && (what == What::JobDurations || !is_drawn(values, what))
    };
    if question.group_by.is_none() && parts.iter().any(|part| is_lacking(&part)) {
        " Running jobs have no curve of their own: all last to the end of the window.".to_owned()
    } else {
        String::new()
    }
}

/// The number of jobs of each curve that are still followed (at risk) at round times.
pub(crate) fn numbers_at_risk(parts: &[&(Part, Counted)], question: Question) -> Vec<AtRisk> {
    const FIRST_S: f64 = 1e-3;
    let longest = parts.iter().filter_map(|(_, values)| values.largest()).map(Value::amount).max();
    let times = round_times(FIRST_S, micros_to_seconds(longest.unwrap_or(0)));
    let row = |(name, values, tone): (&str, &Counted, Tone)| AtRisk {
        name: shortened(name),
        tone,
        counts: times.iter().copied().zip(at_risk(values, &times)).collect(),
    };
    shown(parts, question).into_iter().map(row).collect()
}

/// Whether values are counts. Most counts are small, so bars show them better than a logarithmic
/// axis.
pub(crate) fn are_counts(question: Question) -> bool {
    let what = question.what;
    question.group_by.is_none() && !what.is_time() && what != What::Estimates
}

/// The first count of each bar; the last bar has no upper limit.
const BINS: [i64; 8] = [0, 1, 2, 3, 4, 11, 101, 1001];

/// The share of all values in each range of counts, without empty ranges at both ends.
#[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
pub(crate) fn count_bars(parts: &[&(Part, Counted)], question: Question, edges: &str) -> BarChart {
    let (what, values, all) = (question.what, &parts[0].1, total(parts));
    let bin = |place: usize| {
        let (from, next) = (BINS[place], BINS.get(place + 1).copied());
        let is_in =
            |value: Value| from <= value.amount() && next.is_none_or(|next| value.amount() < next);
        let whole = |count: i64| digits::grouped(count.unsigned_abs());
        let label = match next {
            Some(next) if next == from + 1 => whole(from),
            Some(next) => format!("{} to {}", whole(from), whole(next - 1)),
            None => format!("more than {}", whole(from - 1)),
        };
        let count = values.count(is_in);
        let share = count as f64 / all.max(1) as f64;
        let note = format!("{}, {}", percent(share), digits::grouped(count));
        Bar { label, value: 100.0 * share, note, tone: Tone::Blue, part: None }
    };
    let bars: Vec<Bar> = (0..BINS.len()).map(bin).collect();
    let is_drawn = |bar: &Bar| 0.0 < bar.value;
    let first = bars.iter().position(is_drawn).unwrap_or(0);
    let end = bars.iter().rposition(is_drawn).map_or(0, |last| last + 1);
    BarChart {
        title: title(what).to_owned(),
        caption: format!(
            "{}{} {}, of all outcomes together; the tables have each outcome.{edges}",
            medians(parts, question),
            digits::grouped(all),
            what.of(),
        ),
        value_axis: format!("share of the {}, by number of {} (%)", what.of(), what.unit()),
        bars: bars.get(first..end).unwrap_or_default().to_vec(),
    }
}

pub(crate) fn line(name: &str, values: &Counted, what: What, tone: Tone) -> Line {
    let (points, band) = if what == What::JobSurvival {
        let curve = kaplan_meier(values);
        (
            curve.iter().map(|point| (point.time_s, point.share)).collect(),
            curve.iter().map(|point| (point.time_s, point.share_low, point.share_high)).collect(),
        )
    } else {
        (cumulative(values, what.per_unit()), Vec::new())
    };
    Line { name: shortened(name), points, band, tone, stroke: Stroke::Steps }
}

/// A name cut to fit a legend; users are hashes of 44 letters.
pub(crate) fn shortened(name: &str) -> String {
    const LONGEST: usize = 16;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

pub(crate) fn by_group(group_by: Option<GroupBy>) -> String {
    group_by.map_or_else(String::new, |group| {
        let most = Tone::SERIES.len();
        format!(", by {} (the largest {most} at most)", group.name().replace('_', " "))
    })
}

/// The median of values. For survival, it is the time after which at most half of the jobs are
/// left.
fn median_of(name: &str, values: &Counted, what: What) -> Option<f64> {
    if what == What::JobSurvival {
        return every_end(values).find(|point| point.share <= 0.5).map(|point| point.time_s);
    }
    summarize(name, values, what.per_unit()).median
}

/// The median of each curve except `all`: `Medians: finished 6.97 min, failed 0 s. `. Empty with
/// fewer than two curves.
fn medians(parts: &[&(Part, Counted)], question: Question) -> String {
    let what = question.what;
    let said = |(name, values, _): (&str, &Counted, Tone)| {
        let median = median_of(name, values, what)?;
        let amount = match what.unit() {
            "s" => digits::lasting(median),
            "%" => format!("{} %", digits::three_digits(median)),
            _ => digits::three_digits(median),
        };
        (name != "all").then(|| format!("{} {amount}", shortened(name)))
    };
    let all: Vec<String> = shown(parts, question).into_iter().filter_map(said).collect();
    let amount = |said: &String| said.rsplit(' ').next().map(str::to_owned);
    match all.as_slice() {
        [] | [_] => String::new(),
        // All are the same count, without a unit.
        [first, rest @ ..]
            if !matches!(what.unit(), "s" | "%")
                && rest.iter().all(|said| amount(said) == amount(first)) =>
        {
            let same = first.rsplit_once(' ').map_or("", |(_, same)| same);
            format!("All medians are {same}. ")
        }
        _ => format!("Medians: {}. ", all.join(", ")),
    }
}

pub(crate) fn chart(
    (question, ends_known): (Question, bool),
    censoring: &Censoring,
    parts: &[&(Part, Counted)],
    lines: Vec<Line>,
) -> LineChart {
    let Question { what, classes, outcome_of, group_by, .. } = question;
    let how = match what {
        What::JobSurvival if censoring.censored == Some(0) => {
            " No job is open at the end: one minus the distribution, with Greenwood's 95 % band; below, \
             the jobs that last at least so long."
        }
        What::JobSurvival => {
            " Kaplan-Meier with Greenwood's 95 % band, unended jobs censored; below, the \
             jobs that are still followed just before each time."
        }
        What::JobDurations => " Jobs that never started are not among them.",
        _ => "",
    };
    let spread = match (group_by, outcome_of) {
        (None, _) if !ends_known => "; the log does not record how jobs ended".to_owned(),
        (None, OutcomeOf::Job) => format!(" by outcome of the job (classified by {classes})"),
        (None, OutcomeOf::Task) => " by the last event of the task itself".to_owned(),
        (Some(_), _) => by_group(group_by),
    };
    LineChart {
        title: title(what).to_owned(),
        caption: format!(
            "{}{} {}{spread}.{how}{}{}{}{}",
            // Without censored jobs, these medians are those of the durations, except for
            // interpolation.
            if what == What::JobSurvival && censoring.censored == Some(0) {
                String::new()
            } else {
                medians(parts, question)
            },
            digits::grouped(parts[0].1.count(|_| true)),
            what.of(),
            at_zero(parts, question),
            too_few(parts, question),
            not_drawn(parts, question),
            edges::ending(&edges_of(what, censoring))
        ),
        x_axis: match what.name().replace('-', " ") {
            _ if what == What::JobSurvival => "time since the first start (s)".to_owned(),
            _ if what == What::JobDurations => "time from first start to end (s)".to_owned(),
            _ if what == What::Waiting => "wait (s)".to_owned(),
            name if name.split(' ').next() == Some(what.unit()) => name,
            name => format!("{name} ({})", what.unit()),
        },
        y_axis: if what == What::JobSurvival {
            "share that lasts longer"
        } else {
            "share at or below"
        }
        .to_owned(),
        x_scale: Scale::Log,
        y_from: 0.0,
        lines,
    }
}

/// The shares of the largest group at the first and at the last number of events that is drawn: `Of
/// 900 tasks with at least 2 events, 50.0 % belong to a job that finished; of 120 with at least 30,
/// 3.1 %. `
pub(crate) fn from_first_to_last(
    rows: &[Chance],
    sizes: &[(u64, String)],
    tasks_min: u64,
) -> String {
    let Some((_, group)) = sizes.first() else { return String::new() };
    let own: Vec<&Chance> =
        rows.iter().filter(|row| row.group == *group && tasks_min <= row.tasks).collect();
    let (Some(first), Some(last)) = (own.first(), own.last()) else { return String::new() };
    let of = if group == "all" { String::new() } else { format!(" of {}", shortened(group)) };
    let rest = if first.events == last.events {
        String::new()
    } else {
        format!(
            "; of {} with at least {}, {}",
            digits::grouped(last.tasks),
            digits::grouped(last.events),
            percent(last.chance)
        )
    };
    format!(
        "Of {}{of} with at least {}, {} belong to a job that finished{rest}. ",
        digits::counted(first.tasks, "task"),
        digits::counted(first.events, "event"),
        percent(first.chance)
    )
}

/// A curve falls if it ends at least this much lower and never rises by this much on its way. A
/// curve that rises is defined in the same way.
const WAVE: f64 = 0.01;

/// Sentences that say whether the share of the largest group falls or rises with the number of
/// events, and from which number on one job makes the curve.
pub(crate) fn trend(rows: &[Chance], sizes: &[(u64, String)], tasks_min: u64) -> String {
    let Some((_, group)) = sizes.first() else { return String::new() };
    let is_drawn = |row: &&Chance| row.group == *group && tasks_min <= row.tasks;
    let drawn: Vec<&Chance> = rows.iter().filter(is_drawn).collect();
    let of_many = drawn.iter().rposition(|row| row.of_one_job().is_some_and(|share| share < MOST));
    let (many, few) = drawn.split_at(of_many.map_or(0, |last| last + 1));
    let lowest = few.iter().filter_map(|row| row.of_one_job()).reduce(f64::min);
    let (Some(lowest), Some(row)) = (lowest, few.first()) else {
        return way_of(&drawn).to_owned();
    };
    format!(
        "{}Of those with at least {}, one job has {} of the tasks that count as finished, so the \
        curve is that of this job. ",
        way_of(many),
        digits::counted(row.events, "event"),
        if lowest < 1.0 { format!("at least {}", percent(lowest)) } else { "all".to_owned() },
    )
}

/// A sentence about the way of a curve. Empty with fewer than two points.
fn way_of(rows: &[&Chance]) -> &'static str {
    let all: Vec<f64> = rows.iter().map(|row| row.chance).collect();
    let [Some(first), Some(last)] = [all.first(), all.last()] else { return "" };
    // The largest step back from the highest (or lowest) share so far.
    let back = |sign: f64| {
        let mut most = f64::NEG_INFINITY;
        let steps = all.iter().map(|share| {
            most = most.max(sign * share);
            most - sign * share
        });
        steps.fold(0.0, f64::max)
    };
    if all.len() < 2 {
        ""
    } else if back(-1.0) < WAVE && WAVE <= first - last {
        "The share falls with events. "
    } else if back(1.0) < WAVE && WAVE <= last - first {
        "The share rises with events. "
    } else if back(1.0) < WAVE && back(-1.0) < WAVE {
        "The share hardly changes with events. "
    } else {
        "The share goes up and down with events. "
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::counted::Edges;

    #[test]
    fn outcomes_of_few_values_have_no_curve_and_values_of_zero_are_reported() {
        let part = |outcome: &'static str, zeros: usize, others: usize| {
            let value = |amount: i64| Value::new(amount, Edges::default());
            let values = vec![value(0); zeros].into_iter().chain(vec![value(9); others]);
            (Part { group: None, outcome }, Counted::from(values.collect::<Vec<Value>>()))
        };
        let question = Question::plain(What::Attempts);
        let own = [part("all", 80, 320), part("failed", 0, 371), part("other", 0, 29)];
        let parts: Vec<&(Part, Counted)> = own.iter().collect();
        let names = |parts: &[&(Part, Counted)]| -> Vec<String> {
            lines(parts, question).into_iter().map(|line| line.name).collect()
        };
        assert_eq!(names(&parts), ["all", "failed"]);
        assert_eq!(
            at_zero(&parts, question),
            " At 0, which is the left edge of the axis: all 20.0 %."
        );
        let said = " Outcomes of fewer than 30 tasks have no curve: other.";
        assert_eq!(too_few(&parts, question), said);
        // In a small trace, every outcome has a curve.
        let own = [part("all", 0, 40), part("failed", 0, 36), part("other", 0, 4)];
        let parts: Vec<&(Part, Counted)> = own.iter().collect();
        assert_eq!(names(&parts), ["all", "failed", "other"]);
        assert_eq!((too_few(&parts, question), at_zero(&parts, question)), Default::default());
    }

    #[test]
    fn counts_are_bars_of_ranges() {
        let counts = [1, 1, 1, 2, 7, 40, 5_000, 5_001];
        let values: Vec<Value> =
            counts.into_iter().map(|count| Value::new(count, Edges::default())).collect();
        let own = [(Part { group: None, outcome: "all" }, Counted::from(values))];
        let parts: Vec<&(Part, Counted)> = own.iter().collect();
        let question = Question::plain(What::TasksPerJob);
        assert!(are_counts(question) && !are_counts(Question::plain(What::Waiting)));
        let bars = count_bars(&parts, question, "").bars;
        let said: Vec<String> =
            bars.iter().map(|bar| format!("{}: {}", bar.label, bar.note)).collect();
        let want = [
            "1: 37.5 %, 3",
            "2: 12.5 %, 1",
            "3: 0 %, 0",
            "4 to 10: 12.5 %, 1",
            "11 to 100: 12.5 %, 1",
            "101 to 1,000: 0 %, 0",
            "more than 1,000: 25.0 %, 2",
        ];
        assert_eq!(said, want);
    }

    #[test]
    fn the_first_and_the_last_share_are_found() {
        let row = |events: u64, tasks: u64, chance: f64| Chance {
            group: "all".to_owned(),
            events,
            tasks,
            finished: 0,
            left_censored: 0,
            largest_job_finished: 0,
            chance,
            chance_low: 0.0,
            chance_high: 1.0,
        };
        let rows = [row(2, 900, 0.5), row(30, 120, 0.031), row(90, 40, 0.0)];
        let sizes = [(900, "all".to_owned())];
        assert_eq!(
            from_first_to_last(&rows, &sizes, 100),
            "Of 900 tasks with at least 2 events, 50.0 % belong to a job that finished; of 120 with at \
            least 30, 3.1 %. "
        );
        assert_eq!(from_first_to_last(&rows, &[], 100), "");
        let said = |chances: &[f64]| {
            let rows: Vec<Chance> =
                (1..).zip(chances).map(|(events, chance)| row(events, 900, *chance)).collect();
            trend(&rows, &sizes, 100)
        };
        assert_eq!(said(&[0.5, 0.505, 0.2]), "The share falls with events. ");
        assert_eq!(said(&[0.2, 0.5, 0.6]), "The share rises with events. ");
        assert_eq!(said(&[0.5, 0.2, 0.6]), "The share goes up and down with events. ");
        assert_eq!(said(&[0.5, 0.505]), "The share hardly changes with events. ");
        assert_eq!((said(&[0.5]), trend(&rows, &[], 100)), (String::new(), String::new()));
        // One job has most of the tasks from 3 events on, where the curve rises.
        let own = [(0.5, 10), (0.2, 20), (0.4, 80), (0.9, 90)].into_iter().zip(1..);
        let rows: Vec<Chance> = own
            .map(|((chance, largest_job_finished), events)| Chance {
                largest_job_finished,
                finished: 100,
                ..row(events, 900, chance)
            })
            .collect();
        assert_eq!(
            trend(&rows, &sizes, 100),
            "The share falls with events. Of those with at least 3 events, one job has at least \
            80.0 % of the tasks that count as finished, so the curve is that of this job. "
        );
    }

    #[test]
    fn the_median_of_survival_is_when_half_are_left() {
        // Ends at 1, 2 and 3 s; one job still runs after 4 s.
        let times = [(1, false), (2, false), (3, false), (4, true)];
        let value = |&(second, is_censored): &(i64, bool)| {
            Value::new(second * 1_000_000, Edges { is_censored, ..Edges::default() })
        };
        let of =
            |times: &[(i64, bool)]| Counted::from(times.iter().map(value).collect::<Vec<Value>>());
        assert_eq!(median_of("all", &of(&times), What::JobSurvival), Some(2.0));
        // Three of four jobs still run.
        let open = [(1, false), (4, true), (4, true), (4, true)];
        assert_eq!(median_of("all", &of(&open), What::JobSurvival), None);
        // There are far more ends than points on a curve.
        let many: Vec<(i64, bool)> = (1..=4_001).map(|second| (second, false)).collect();
        assert_eq!(median_of("all", &of(&many), What::JobSurvival), Some(2_001.0));
    }
}
