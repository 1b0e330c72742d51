//! Charts of a log by month: use by month and account, users with their waste, waits by size, and
//! time limits by queue.

use super::Months;
use super::answer::used_of_limits;
use super::units::{by_use, hours};
use crate::answers::load::WAITS_MIN;
use crate::answers::sentences::{self, capital, short};
use crate::charts::{Bar, BarChart, Chart, Tone};
use crate::digits::{counted, grouped, grouped_decimal, lasting};
use crate::studies::load::jobs::FateRow;
use crate::studies::meter::Meter;
use crate::studies::monthly::{Limits, Sums};
use crate::units::CpuTime;

/// The most months of a chart, and the most bars.
const MONTHS_SHOWN: usize = 12;
const BARS_SHOWN: usize = 24;

/// A tone for each account; tones repeat.
const TONES: [Tone; 7] =
    [Tone::Blue, Tone::Vermilion, Tone::Green, Tone::Orange, Tone::Purple, Tone::Sky, Tone::Grey];

/// The charts that have bars, by the stem of their files.
pub(super) fn all(months: &Months) -> Vec<(String, Chart)> {
    let charts = [
        ("monthly-use", if months.are_few() { by_account(months) } else { by_month(months) }),
        ("monthly-users", users(months)),
        ("monthly-waits", waits(months)),
        ("monthly-limits", limits(months)),
    ];
    let drawn = charts.into_iter().filter(|(_, chart)| !chart.bars.is_empty());
    let on_axis = |name: &str, chart: BarChart| match name {
        "monthly-waits" | "monthly-limits" => chart.on_fitting_axis(),
        _ => Chart::Bars(chart),
    };
    drawn.map(|(name, chart)| (name.to_owned(), on_axis(name, chart))).collect()
}

/// The label of a bar. If a name is a number, its kind comes first, as in `account 4`.
fn named(kind: &str, name: &str) -> String {
    let is_number = !name.is_empty() && name.bytes().all(|letter| letter.is_ascii_digit());
    if is_number { format!("{kind} {name}") } else { name.to_owned() }
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(String::new, sentences::label)
}

/// The accounts with most CPU time, for a log without months to compare.
fn by_account(months: &Months) -> BarChart {
    let accounts = by_use(months.monthly.by_account());
    let all = accounts.iter().map(|row| row.1.used.cpu).sum::<CpuTime>();
    let uses = accounts.iter().map(|row| (row.0, row.1.used.cpu));
    let kind = capital(months.noun());
    let found = heaviest((kind.as_str(), verb(months)), uses, all);
    let known = accounts.iter().filter(|(_, sums)| sums.used.cpu != CpuTime::ZERO);
    let bars = known.take(BARS_SHOWN).map(|(name, sums)| Bar {
        label: named(months.noun(), name),
        value: hours(sums.used.cpu),
        note: percent(sums.used.cpu.share_of(all)),
        tone: Tone::Blue,
        part: wasted(sums),
    });
    let bars: Vec<Bar> = bars.collect();
    BarChart {
        title: format!("CPU time by {}", months.noun()),
        caption: format!(
            "{found}{}The {} with most CPU time, of {} in total; the text at a bar is the share of all CPU \
            time{}.",
            covered(months),
            counted(bars.len() as u64, months.noun()),
            grouped(accounts.len() as u64),
            red_end(&bars),
        ),
        value_axis: format!("CPU time ({})", months.units[1]),
        bars,
    }
}

/// The last part of a bar: the CPU time of attempts that did not finish.
fn wasted(sums: &Sums) -> Option<(f64, Tone)> {
    let wasted = hours(sums.wasted.cpu);
    (0.0 < wasted).then_some((wasted, Tone::Vermilion))
}

/// The meaning of the last part of a bar, if any bar has one.
fn red_end(bars: &[Bar]) -> &'static str {
    if bars.iter().any(|bar| bar.part.is_some()) {
        "; the orange end of a bar is of attempts that did not finish"
    } else {
        ""
    }
}

/// The verb for CPU time: users used it, or requested it.
fn verb(months: &Months) -> &'static str {
    Meter::Cpu(months.cpu).verb()
}

/// For each month, the accounts with most CPU time.
fn by_month(months: &Months) -> BarChart {
    let monthly = &months.monthly;
    let totals = monthly.by_month();
    let shown = totals.len().min(MONTHS_SHOWN);
    let most = (BARS_SHOWN / shown.max(1)).max(1);
    let accounts = by_use(monthly.by_account());
    let all = accounts.iter().map(|row| row.1.used.cpu).sum::<CpuTime>();
    let uses = accounts.iter().map(|row| (row.0, row.1.used.cpu));
    let kind = capital(months.noun());
    let found = heaviest((kind.as_str(), verb(months)), uses, all);
    let names: Vec<&str> = accounts.iter().map(|row| row.0).collect();
    let tone = |name: &str| {
        let place = names.iter().position(|known| *known == name).unwrap_or(0);
        TONES[place % TONES.len()]
    };
    let (mut bars, mut drawn) = (Vec::new(), 0);
    for (month, total) in totals.iter().skip(totals.len() - shown) {
        let own = by_use(monthly.in_month(*month)).into_iter();
        let own = own.filter(|(_, sums)| sums.used.cpu != CpuTime::ZERO);
        let before = bars.len();
        bars.extend(own.take(most).map(|(name, sums)| Bar {
            label: format!("{month} {}", named(months.noun(), name)),
            value: hours(sums.used.cpu),
            note: match sums.used.cpu.share_of(total.used.cpu) {
                Some(share) => format!("{} of {month}", percent(Some(share))),
                None => String::new(),
            },
            tone: tone(name),
            part: None,
        }));
        drawn = drawn.max(bars.len() - before);
    }
    let left = if shown < totals.len() {
        format!("; the last {shown} of {} months", totals.len())
    } else {
        String::new()
    };
    BarChart {
        title: format!("CPU time by month and {}", months.noun()),
        caption: format!(
            "{found}{}Attempts are cut at the ends of months in {}; a job counts in the month of its last \
            event; the text at a bar is its share of the month; the {} \
            of each month with most CPU time{left}.",
            covered(months),
            months.zone,
            counted(drawn as u64, months.noun()),
        ),
        value_axis: format!("CPU time ({})", months.units[1]),
        bars,
    }
}

/// The dates that the log covers, if it contains only part of some months; otherwise empty.
fn covered(months: &Months) -> String {
    let [from, to] = &months.covered.dates;
    let months: Vec<String> = months.covered.in_part.iter().map(ToString::to_string).collect();
    match months.as_slice() {
        [] => String::new(),
        [one] => format!("The log covers {from} to {to}: {one} in part. "),
        [first, last, ..] => format!("The log covers {from} to {to}: {first} and {last} in part. "),
    }
}

/// The users with most CPU time, and the part of it that did not finish.
fn users(months: &Months) -> BarChart {
    let all = months.monthly.users.iter().map(|(name, user)| (name.as_str(), user.0.clone()));
    let used = |sums: &Sums| hours(sums.used.cpu);
    let all = by_use(all);
    let whole = all.iter().map(|row| row.1.used.cpu).sum::<CpuTime>();
    let all_wasted = all.iter().map(|row| row.1.wasted.cpu).sum::<CpuTime>();
    let by_user = all.iter().map(|row| (row.0, row.1.used.cpu));
    let found = heaviest(("User", verb(months)), by_user, whole);
    let shown = all.into_iter().take(months.plan.users.min(BARS_SHOWN));
    let bars = shown.map(|(name, sums)| Bar {
        label: named("user", name),
        value: used(&sums),
        note: match sums.wasted.cpu.share_of(sums.used.cpu) {
            Some(share) => format!("{} of it did not finish", percent(Some(share))),
            None => String::new(),
        },
        tone: Tone::Blue,
        part: wasted(&sums),
    });
    let mut bars: Vec<Bar> = bars.collect();
    let noted = if all_wasted == CpuTime::ZERO {
        // A log without outcomes has no such share.
        for bar in &mut bars {
            bar.note.clear();
        }
        ""
    } else {
        "; the orange end of a bar, and the text at it, is its CPU time in attempts that did not finish"
    };
    BarChart {
        title: "Users by CPU time".to_owned(),
        caption: format!(
            "{found}The {} with most CPU time, of {} in total{noted}.",
            counted(bars.len() as u64, "user"),
            grouped(months.monthly.users.len() as u64)
        ),
        value_axis: format!("CPU time ({})", months.units[1]),
        bars,
    }
}

/// The queues and sizes with enough waits, and a sentence about the others. The sentence names the
/// one that waited longest, if it waited longer than all with enough waits. If none has enough
/// waits, all are returned.
fn of_enough(all: Vec<(f64, &str, FateRow)>) -> (Vec<(f64, &str, FateRow)>, String) {
    let (enough, few): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(.., row)| WAITS_MIN <= row.jobs_with_wait);
    if enough.is_empty() || few.is_empty() {
        return if enough.is_empty() { (few, String::new()) } else { (enough, String::new()) };
    }
    let most = |rows: &[(f64, &str, FateRow)]| rows.iter().map(|row| row.0).fold(0.0, f64::max);
    let longest = few.iter().max_by(|one, other| one.0.total_cmp(&other.0));
    let longest = longest.filter(|row| most(&enough) < row.0);
    let longest = longest.map_or_else(String::new, |(wait_s, queue, row)| {
        format!(
            ", among them {}, {}, where 95 % waited for at most {} ({})",
            named("queue", queue),
            processors(&row.name),
            lasting(*wait_s),
            counted(row.jobs_with_wait, "job"),
        )
    });
    let groups = counted(few.len() as u64, "group");
    let said = format!(" Left out: {groups} of fewer than {WAITS_MIN} jobs that started{longest}.");
    (enough, said)
}

/// A number of processors in words, such as `5-16 processors`.
fn processors(size: &str) -> String {
    format!("{size} {}", if size == "1" { "processor" } else { "processors" })
}

/// The 95 % quantile of waits by queue and size, the longest first.
fn waits(months: &Months) -> BarChart {
    let rows = months.monthly.waits().into_iter();
    let all: Vec<(f64, &str, FateRow)> =
        rows.filter_map(|(queue, row)| Some((row.wait_s_p95?, queue, row))).collect();
    let (mut rows, left_out) = of_enough(all);
    rows.sort_by(|one, other| other.0.total_cmp(&one.0));
    let which = if left_out.is_empty() {
        "The longest".to_owned()
    } else {
        format!("The longest of groups of {WAITS_MIN} jobs or more")
    };
    let found = rows.first().map_or_else(String::new, |(wait_s, queue, row)| {
        format!(
            "{which}: {} in {}, {}. ",
            lasting(*wait_s),
            named("queue", queue),
            processors(&row.name)
        )
    });
    let bars = rows.iter().take(BARS_SHOWN).filter_map(|(wait_s, queue, row)| {
        Some(Bar {
            label: format!("{}, {}", named("queue", queue), processors(&row.name)),
            value: wait_s / 3600.0,
            note: format!(
                "95 %: {}; median: {}; {}",
                lasting(*wait_s),
                lasting(row.wait_s_median?),
                counted(row.jobs_with_wait, "job")
            ),
            tone: Tone::Blue,
            part: None,
        })
    });
    BarChart {
        title: "Waits by queue and size".to_owned(),
        caption: format!(
            "{found}95 % of the jobs of a queue and size waited for at most this long, from \
            their submission to their start.{left_out}{}",
            at_most(rows.len(), "the longest")
        ),
        value_axis: "wait, 95 % quantile (h)".to_owned(),
        bars: bars.collect(),
    }
}

/// The used share of time limits, for the queues with the largest requests; the largest share comes
/// first.
fn limits(months: &Months) -> BarChart {
    let mut rows: Vec<(&String, &Limits)> = months.monthly.limits.iter().collect();
    rows.sort_by(|one, other| other.1.asked.cmp(&one.1.asked).then(one.0.cmp(other.0)));
    let sums = rows.iter().map(|(queue, own)| (queue.as_str(), hours(own.asked), hours(own.used)));
    let found = used_of_limits(&sums.collect::<Vec<_>>());
    let found = found.map_or_else(String::new, |said| format!("{said}. "));
    let count = rows.len();
    rows.truncate(BARS_SHOWN);
    let share = |own: &Limits| own.used.share_of(own.asked).unwrap_or(0.0);
    rows.sort_by(|one, other| share(other.1).total_cmp(&share(one.1)));
    let bars = rows.iter().filter_map(|(queue, limits)| {
        Some(Bar {
            label: named("queue", queue),
            value: limits.used.share_of(limits.asked)? * 100.0,
            note: format!(
                "{}: {} of {} {}, {}",
                percent(limits.used.share_of(limits.asked)),
                grouped_decimal(hours(limits.used), 0),
                grouped_decimal(hours(limits.asked), 0),
                months.units[1],
                counted(limits.times_us.len() as u64, "attempt")
            ),
            tone: Tone::Blue,
            part: None,
        })
    });
    BarChart {
        title: "How much of the time limits was used".to_owned(),
        caption: format!(
            "{found}Running time of the attempts that ended, as a share of their time limit, both times \
            processors; the largest share first.{}",
            at_most(count, "the largest requests,")
        ),
        value_axis: "used share of the request (%)".to_owned(),
        bars: bars.collect(),
    }
}

/// `User honbu used most, 30.3 % of all. `; empty if there are fewer than two users or accounts.
fn heaviest<'a>(
    (kind, verb): (&str, &str),
    mut by_use: impl ExactSizeIterator<Item = (&'a str, CpuTime)>,
    all: CpuTime,
) -> String {
    if by_use.len() < 2 {
        return String::new();
    }
    let share = by_use.next().and_then(|(name, cpu)| Some((name, cpu.share_of(all)?)));
    share.map_or_else(String::new, |(name, share)| {
        format!("{kind} {} {verb} most, {} of all. ", short(name), sentences::percent(share))
    })
}

/// A sentence if not all bars are drawn; otherwise empty.
fn at_most(count: usize, which: &str) -> String {
    if BARS_SHOWN < count {
        format!(" Shown: {which} {BARS_SHOWN} of {count}.")
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_bars_say_what_they_are_of() {
        assert_eq!(named("account", "4"), "account 4");
        assert_eq!(named("account", "calla"), "calla");
        assert_eq!(named("user", "-"), "-");
    }

    #[test]
    fn waits_of_a_few_jobs_are_left_out_unless_there_are_no_others() {
        let row = |wait_s: f64, jobs_with_wait: u64| {
            let name = "17-64".to_owned();
            (wait_s, "a", FateRow { name, jobs_with_wait, ..FateRow::default() })
        };
        let (kept, said) = of_enough(vec![row(9.0, 6), row(5.0, 10), row(7.0, 9)]);
        assert_eq!(kept.iter().map(|row| row.0).collect::<Vec<f64>>(), [5.0]);
        assert_eq!(
            said,
            " Left out: 2 groups of fewer than 10 jobs that started, among them a, 17-64 processors, where 95 % \
            waited for at most 9 s (6 jobs)."
        );
        let (_, said) = of_enough(vec![row(9.0, 10), row(5.0, 9)]);
        assert_eq!(said, " Left out: 1 group of fewer than 10 jobs that started.");
        let (kept, said) = of_enough(vec![row(9.0, 6)]);
        assert_eq!((kept.len(), said.as_str()), (1, ""));
    }
}
