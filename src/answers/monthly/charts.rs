//! Pictures of a log by month: use by month and account, users with their waste, waits by size,
//! time limits by queue.

use super::{Months, by_use, hours};
use crate::charts::{Bar, BarChart, Chart, Tone};
use crate::digits::{counted, grouped, grouped_decimal};
use crate::studies::load::jobs::FateRow;
use crate::studies::monthly::{Limits, Sums};
use crate::units::CpuTime;

/// Months, and accounts of each, that are drawn.
const MONTHS_SHOWN: usize = 12;
const BARS_SHOWN: usize = 24;

/// A tone for each account; they come round again.
const TONES: [Tone; 7] =
    [Tone::Blue, Tone::Vermilion, Tone::Green, Tone::Orange, Tone::Purple, Tone::Sky, Tone::Grey];

/// All of them.
pub(super) fn all(months: &Months) -> Vec<(String, Chart)> {
    let charts = [
        ("monthly-use", by_month(months)),
        ("monthly-users", users(months)),
        ("monthly-waits", waits(months)),
        ("monthly-limits", limits(months)),
    ];
    let drawn = charts.into_iter().filter(|(_, chart)| !chart.bars.is_empty());
    drawn.map(|(name, chart)| (name.to_owned(), Chart::Bars(chart))).collect()
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(String::new, |share| format!("{:.1} %", share * 100.0))
}

/// The accounts of each month with most CPU time.
fn by_month(months: &Months) -> BarChart {
    let monthly = &months.monthly;
    let totals = monthly.by_month();
    let shown = totals.len().min(MONTHS_SHOWN);
    let most = (BARS_SHOWN / shown.max(1)).max(1);
    let names: Vec<&str> = by_use(monthly.by_account()).into_iter().map(|row| row.0).collect();
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
            label: format!("{month} {name}"),
            value: hours(sums.used.cpu),
            note: percent(sums.used.cpu.share_of(total.used.cpu)),
            tone: tone(name),
        }));
        drawn = drawn.max(bars.len() - before);
    }
    let left = if shown < totals.len() {
        format!("; the last {shown} of {} months", totals.len())
    } else {
        String::new()
    };
    BarChart {
        title: "CPU time by month and account".to_owned(),
        caption: format!(
            "Attempts are cut at the ends of months in {}; at the bar its share of the month; the {} \
            of each month with most CPU time{left}.",
            months.zone,
            counted(drawn as u64, "account")
        ),
        value_axis: format!("CPU time ({})", months.units[1]),
        bars,
    }
}

/// The users with most CPU time, and how much of it did not finish.
fn users(months: &Months) -> BarChart {
    let all = months.monthly.users.iter().map(|(name, user)| (name.as_str(), user.0.clone()));
    let used = |sums: &Sums| hours(sums.used.cpu);
    let shown = by_use(all).into_iter().take(months.plan.users.min(BARS_SHOWN));
    let bars = shown.map(|(name, sums)| Bar {
        label: name.to_owned(),
        value: used(&sums),
        note: match sums.wasted.cpu.share_of(sums.used.cpu).filter(|&share| 0.0 < share) {
            Some(share) => format!("{} did not finish", percent(Some(share))),
            None => String::new(),
        },
        tone: Tone::Blue,
    });
    let bars: Vec<Bar> = bars.collect();
    let noted = if bars.iter().any(|bar| !bar.note.is_empty()) {
        "; at the bar the share of it in attempts that ended otherwise than with FINISH"
    } else {
        ""
    };
    BarChart {
        title: "Users by CPU time".to_owned(),
        caption: format!(
            "The {} with most CPU time, of {} in all{noted}.",
            counted(bars.len() as u64, "user"),
            grouped(months.monthly.users.len() as u64)
        ),
        value_axis: format!("CPU time ({})", months.units[1]),
        bars,
    }
}

/// The 95 % quantile of waits by queue and size, the longest first.
fn waits(months: &Months) -> BarChart {
    let rows = months.monthly.waits().into_iter();
    let mut rows: Vec<(f64, &str, FateRow)> =
        rows.filter_map(|(queue, row)| Some((row.wait_s_p95?, queue, row))).collect();
    rows.sort_by(|one, other| other.0.total_cmp(&one.0));
    let cpus = |size: &str| if size == "1" { "1 CPU".to_owned() } else { format!("{size} CPUs") };
    let bars = rows.iter().take(BARS_SHOWN).filter_map(|(wait_s, queue, row)| {
        Some(Bar {
            label: format!("{queue}, {}", cpus(&row.name)),
            value: wait_s / 3600.0,
            note: format!(
                "median {} s of {}",
                grouped_decimal(row.wait_s_median?, 0),
                counted(row.jobs_with_wait, "job")
            ),
            tone: Tone::Blue,
        })
    });
    BarChart {
        title: "Waits by queue and size".to_owned(),
        caption: format!(
            "95 % of the jobs of a queue and size waited for at most as long as the bar, from \
            their submission to their start; at the bar the median.{}",
            at_most(rows.len(), "the longest")
        ),
        value_axis: "wait, 95 % quantile (h)".to_owned(),
        bars: bars.collect(),
    }
}

/// How much of the time limits was used, those that asked for most first.
fn limits(months: &Months) -> BarChart {
    let mut rows: Vec<(&String, &Limits)> = months.monthly.limits.iter().collect();
    rows.sort_by(|one, other| other.1.asked.cmp(&one.1.asked).then(one.0.cmp(other.0)));
    let bars = rows.iter().take(BARS_SHOWN).filter_map(|(queue, limits)| {
        Some(Bar {
            label: (*queue).clone(),
            value: limits.used.share_of(limits.asked)? * 100.0,
            note: format!(
                "{} of {} {}, {}",
                grouped_decimal(hours(limits.used), 0),
                grouped_decimal(hours(limits.asked), 0),
                months.units[1],
                counted(limits.times_us.len() as u64, "attempt")
            ),
            tone: Tone::Blue,
        })
    });
    BarChart {
        title: "How much of the time limits was used".to_owned(),
        caption: format!(
            "CPU time of the attempts that ended, as a share of what they requested: time limit \
            times CPUs; queues with the largest requests first.{}",
            at_most(rows.len(), "the first")
        ),
        value_axis: "used share of the request (%)".to_owned(),
        bars: bars.collect(),
    }
}

/// Says that not all are drawn, where that is so.
fn at_most(count: usize, which: &str) -> String {
    if BARS_SHOWN < count {
        format!(" Shown: {which} {BARS_SHOWN} of {count}.")
    } else {
        String::new()
    }
}
