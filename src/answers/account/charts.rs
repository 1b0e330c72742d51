//! The ledger as bars.

use crate::answers::{edges, sentences};
use crate::charts::{Bar, BarChart, Chart, outcome_tone};
use crate::digits;
use crate::studies::ledger::{GroupBy, Ledger, UNKNOWN};
use crate::studies::meter::Meter;
use crate::studies::outcomes::Classes;

/// The sums of a ledger by outcome: label, outcome and sum. Groups are added up, except for
/// reasons: each outcome and reason has its own bar.
fn bars_of(ledger: &Ledger, groups: &[GroupBy]) -> Vec<(String, String, f64)> {
    let reason = groups.iter().position(|group| *group == GroupBy::Reason);
    let mut outcomes: Vec<(String, String, f64)> = Vec::new();
    for (row, cpu) in ledger.rows.iter().filter_map(|row| Some((row, row.amount?))) {
        let reason = reason.and_then(|at| row.groups.get(at)).filter(|reason| *reason != UNKNOWN);
        let label = match reason {
            Some(_) if cpu == 0.0 => continue,
            Some(reason) => format!("{}: {reason}", row.outcome),
            None => row.outcome.clone(),
        };
        match outcomes.iter_mut().find(|(known, _, _)| *known == label) {
            Some((_, _, sum)) => *sum += cpu,
            None => outcomes.push((label, row.outcome.clone(), cpu)),
        }
    }
    if reason.is_some() {
        // As in `classify`: outcome by outcome, the largest sum first.
        let place = |name: &str| ledger.classes.outcomes().iter().position(|known| *known == name);
        outcomes.sort_by(|one, other| {
            place(&one.1).cmp(&place(&other.1)).then(other.2.total_cmp(&one.2))
        });
    }
    outcomes
}

/// Bars of CPU time, GPU time or memory time per outcome.
pub(crate) fn chart(ledger: &Ledger, groups: &[GroupBy]) -> Chart {
    let mut outcomes = bars_of(ledger, groups);
    let mut add = |name: &str, sum| outcomes.push((name.to_owned(), name.to_owned(), sum));
    add("unmatched", ledger.unmatched);
    let is_measured = ledger.meter.needs_usage() && ledger.meter != Meter::PUBLISHED;
    if is_measured {
        add("outside attempts", ledger.outside_attempts);
    }
    let classes = match ledger.classes {
        Classes::Sequence => {
            "which is that of their exact sequence of events (any that is none of the published ones \
            is \"other\", such as several attempts)"
        }
        Classes::Terminal => "which is that of their last terminal event",
    };
    let edges = edges::ending(&edges::of_ledger(ledger));
    let said = format!(", by the outcome of the jobs, {classes}.{edges}");
    let found =
        if groups.contains(&GroupBy::Reason) { None } else { most_used(ledger.total, &outcomes) };
    let mut chart = bars(ledger, "per outcome of jobs", outcomes, &said);
    if let (Chart::Bars(own), Some(found)) = (&mut chart, found) {
        own.caption.insert_str(0, &found);
    }
    chart
}

/// The largest part, and that of finished jobs: `54.0 % is of jobs that still ran at the end, and
/// 0.6 % of finished jobs. `. If finished jobs are the largest part, the second part is the next
/// one. `None` with fewer than two parts.
fn most_used(total: f64, outcomes: &[(String, String, f64)]) -> Option<String> {
    let mut all: Vec<(&str, f64)> =
        outcomes.iter().map(|(label, _, amount)| (label.as_str(), *amount)).collect();
    all.retain(|(_, amount)| 0.0 < *amount);
    all.sort_by(|one, other| other.1.total_cmp(&one.1));
    let first = *all.first().filter(|_| 0.0 < total)?;
    let finished = all.iter().skip(1).find(|(label, _)| *label == "finished");
    let second = *finished.or_else(|| all.get(1))?;
    let said = |(label, amount): (&str, f64)| {
        let jobs = match label {
            "running" => "jobs that still ran at the end".to_owned(),
            "pending" => "jobs that still waited at the end".to_owned(),
            "other" | "unknown" | "unmatched" | "outside attempts" => format!("\"{label}\""),
            known => format!("{known} jobs"),
        };
        (sentences::percent(amount / total), jobs)
    };
    let [(most, of_most), (less, of_less)] = [said(first), said(second)];
    Some(format!("{most} is of {of_most}, and {less} of {of_less}. "))
}

/// Bars of amounts: label, outcome and amount. `said` ends the first sentence of the caption, which
/// gives the total.
pub(super) fn bars(
    ledger: &Ledger,
    of: &str,
    amounts: Vec<(String, String, f64)>,
    said: &str,
) -> Chart {
    let share = |amount: f64| if ledger.total == 0.0 { 0.0 } else { amount / ledger.total };
    let top = amounts.iter().map(|one| one.2).fold(0.0, f64::max);
    let (unit, per) = digits::unit_of_use(ledger.unit, top);
    let resource = ledger.meter.resource();
    let bars: Vec<Bar> = amounts
        .into_iter()
        .map(|(label, outcome, amount)| Bar {
            tone: outcome_tone(&outcome),
            note: format!(
                "{} ({})",
                sentences::label(share(amount)),
                digits::three_digits(amount / per)
            ),
            label: if label == "running" { "still running".to_owned() } else { label },
            value: amount / per,
            part: None,
        })
        .collect();
    Chart::Bars(BarChart {
        title: format!("{} {of} ({})", resource.title(), ledger.meter),
        caption: format!(
            "{}, total {} {unit}{said}",
            sentences::meaning_of_meter(ledger.meter),
            digits::six_digits(ledger.total / per),
        ),
        value_axis: format!("{} ({unit})", resource.noun()),
        bars,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_part_and_that_of_finished_jobs_are_reported() {
        let of = |amounts: &[(&str, f64)]| {
            let own =
                |(name, amount): &(&str, f64)| ((*name).to_owned(), (*name).to_owned(), *amount);
            most_used(200.0, &amounts.iter().map(own).collect::<Vec<_>>())
        };
        let said = of(&[("finished", 2.0), ("killed", 80.0), ("running", 118.0)]).unwrap();
        assert_eq!(
            said,
            "59.0 % is of jobs that still ran at the end, and 1.0 % of finished jobs. "
        );
        let said = of(&[("finished", 150.0), ("failed", 40.0), ("killed", 10.0)]).unwrap();
        assert_eq!(said, "75.0 % is of finished jobs, and 20.0 % of failed jobs. ");
        assert_eq!(of(&[("finished", 200.0), ("killed", 0.0)]), None);
    }
}
