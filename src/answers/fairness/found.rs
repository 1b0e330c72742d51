//! The gathered usage, and the indices over it.

use serde_json::{Value, json};

use super::kind_of;
use super::plan::FairnessPlan;
use super::wanted::{Ceiling, Wanted};
use crate::answers::account::unknown_of;
use crate::answers::study;
use crate::fairness::gather::{Cluster, Counts, Plan};
use crate::fairness::history::History;
use crate::fairness::series::Series;
use crate::fairness::suggestions::{Limits, Suggestions, suggest};
use crate::fairness::usage::{self, UserUsage};
use crate::results::missing::Missing;
use crate::results::tables_of;
use crate::studies::first_end::FirstEnd;
use crate::units::micros_to_seconds;

/// The checked lakes and intervals.
pub struct Span {
    pub clusters: Vec<Cluster>,
    pub plan: Plan,
    /// Unit of CPU time.
    pub unit: &'static str,
}

/// The results: usage, and the values of all indices.
pub struct Found {
    /// The plan.
    pub asked: FairnessPlan,
    pub span: Span,
    pub history: History,
    pub counts: Counts,
    pub series: Vec<Series>,
    /// The first end in the log of the only cluster, if the log seems to be selected by time of
    /// end.
    pub first_end: Option<FirstEnd>,
}

impl Found {
    /// The users, the heaviest first. Their peaks are taken only from times that are in the log.
    pub(super) fn users(&self) -> Vec<UserUsage> {
        let (missing, since_s) = self.missing();
        usage::users_where(&self.history, &|idx| {
            let from_s = since_s + self.history.seconds_at(idx);
            !missing.overlaps([from_s, from_s + self.history.grid.length_s()])
        })
    }

    /// The times at which tables of the only cluster are not loaded, and the start of the span on
    /// its clock, s. With several clusters there is a sum at every time, so nothing is left out.
    pub(super) fn missing(&self) -> (Missing, f64) {
        let [only] = self.span.clusters.as_slice() else { return (Missing::default(), 0.0) };
        let kind = kind_of(self.span.plan.meter.resource());
        let missing = Missing::of(&only.lake.gaps(), &tables_of(&kind, &settings(self)))
            .whole_from(self.first_end.as_ref().map(FirstEnd::instant));
        let start_us = self.history.grid.start_of(self.history.shown_from);
        (missing, micros_to_seconds(start_us - only.shift_us))
    }

    /// Length of the shown span, s.
    pub(super) fn length_s(&self) -> f64 {
        self.history.seconds_at(self.history.grid.count)
    }

    pub(crate) fn suggestions(&self, wanted: &Wanted) -> Suggestions {
        let ceiling_cpu_s = match wanted.ceiling {
            Ceiling::Seconds(seconds) => seconds,
            Ceiling::Percent(percent) => {
                usage::total_ran(&self.history).seconds() * percent / 100.0
            }
        };
        let early_s = wanted.early.map_or(self.length_s() / 2.0, |days| days * 86_400.0);
        suggest(&self.history, Limits { ceiling_cpu_s, early_s, free_below: wanted.free })
    }

    /// The value of a series at the end of the span; `None` if it is undefined.
    pub(super) fn last(series: &Series, who: usize) -> Option<f64> {
        let last = series.intervals().checked_sub(1)?;
        Some(series.value(last, who, 0)).filter(|value| value.is_finite())
    }
}

/// The reason if usage is unknown: no attempt records it.
pub(crate) fn unknown(found: &Found) -> Option<String> {
    let Counts { attempts, without_request, with_cpu_time, .. } = found.counts;
    let (meter, clusters) = (found.span.plan.meter, &found.span.clusters);
    let said = [attempts, without_request, with_cpu_time];
    let is_silent = clusters.iter().all(|one| meter.is_silent(one.lake.source(), said));
    is_silent.then(|| unknown_of(meter, attempts))
}

/// The definitions and choices that affect the numbers.
pub(crate) fn settings(found: &Found) -> Value {
    let (asked, plan) = (&found.asked, &found.span.plan);
    let resolved = json!({
        plan.meter.column(): plan.meter.to_string(),
        "accrual": plan.accrual,
        "interval": plan.grid.length_s(),
        "index": found.series.iter().map(|series| &series.index).collect::<Vec<_>>(),
        "index_program": asked.index_program,
        "show": asked.show,
        "what_if": asked.what_if,
        "grid": plan.grid,
        "shown_from": plan.shown_from,
        "clusters": found.span.clusters.iter().map(|cluster| json!({
            "name": cluster.name,
            "window_end_us": cluster.windows.task_end_us,
            "open_attempts": cluster.windows.open_attempts,
            "shift_us": cluster.shift_us,
        })).collect::<Vec<_>>(),
        "indices": found.series.iter().map(|series| &series.settings).collect::<Vec<_>>(),
    });
    study::settings(asked, resolved)
}
