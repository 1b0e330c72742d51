//! A stored result of `fairness` for its pages: its amounts, units and clock in words.
//!
//! In: the result and all others of the report. Out: texts, cells of tables, and charts over its
//! span.

use rustc_hash::FxHashMap;

use super::early::whole_from;
use super::html::Cell;
use super::links::{PAGES_MAX, file_of};
use super::text::{clock, gpu_time, is_date, lasting, percent_said};
use super::waits::Waits;
use crate::answers::fairness::charts::{axis_from, on_axis};
use crate::answers::fairness::{FairnessAnswer, FairnessSettings, KIND};
use crate::charts::{Chart, DAYS_OF_SPAN, over_span};
use crate::digits::{in_use, three_digits, unit_of_use};
use crate::fairness::gather::By;
use crate::results::missing::Missing;
use crate::results::{Stored, tables_of};

/// A result with its answer.
pub(super) struct Of<'a> {
    pub(super) result: &'a Stored,
    pub(super) answer: &'a FairnessAnswer,
    pub(super) settings: FairnessSettings,
    /// All results of the report; empty if this one is of several clusters.
    pub(super) all: &'a [Stored],
    /// How long the jobs of users waited, if usage is grouped by user.
    pub(super) waits: Waits,
}

impl<'a> Of<'a> {
    pub(super) fn new(result: &'a Stored, all: &'a [Stored]) -> Option<Self> {
        let answer: &FairnessAnswer = result.found()?;
        let settings: FairnessSettings = result.whole.chosen();
        // Other results of the report are of one cluster.
        let all = if settings.is_only_cluster() { all } else { &[] };
        let waits = if answer.by == By::User { Waits::of(all) } else { Waits::default() };
        Some(Self { result, answer, settings, all, waits })
    }

    /// The key by which usage is grouped, such as `user`.
    pub(super) const fn kind(&self) -> &'static str {
        self.answer.by.name()
    }

    /// The metered resource, in words.
    pub(super) fn noun(&self) -> &'static str {
        gpu_time(self.result).unwrap_or("CPU time")
    }

    /// The label of the largest mean of an interval: `busiest 60 min, mean NCU`.
    pub(super) fn most(&self) -> String {
        format!("busiest {}, mean {}", lasting(self.answer.interval_s), in_use(&self.answer.unit))
    }

    /// The instant at which the span starts, if its date is known and there is only one cluster;
    /// otherwise 0. Times of users are added to it.
    pub(super) fn since_s(&self) -> f64 {
        let start_s = self.answer.start_s;
        if self.settings.is_only_cluster() && is_date(start_s) { start_s } else { 0.0 }
    }

    /// A chart over the span, given in days. The time that is not in the log is left out if there
    /// is only one cluster: several clusters have a sum at every time.
    #[expect(clippy::cast_precision_loss, reason = "intervals are below 2^53")]
    pub(super) fn gapped(&self, chart: Chart) -> Chart {
        let length_s = self.answer.intervals as f64 * self.answer.interval_s;
        let start_s = self.answer.start_s - self.settings.shift_s();
        let axis = if self.settings.is_only_cluster() { axis_from(start_s) } else { DAYS_OF_SPAN };
        let (chart, unit_s) = over_span(on_axis(chart, axis), length_s);
        if !self.settings.is_only_cluster() {
            return chart;
        }
        let whole = &self.result.whole;
        let missing = Missing::of_inputs(&whole.inputs, &tables_of(&KIND, &whole.settings))
            .whole_from(whole_from(self.all));
        missing.over_time(chart, start_s, unit_s)
    }

    /// The words for the clock of the times of users.
    pub(super) fn clock(&self) -> &'static str {
        match self.since_s() {
            0.0 if self.settings.is_only_cluster() && self.answer.start_s == 0.0 => {
                "times since the start of the trace"
            }
            0.0 => "times since the start of the span",
            dated => clock(Some(dated)),
        }
    }

    /// The unit of all CPU times on these pages, and how many units of the answer make one. It is
    /// in hours unless the sum of all is less than an hour of one unit.
    pub(super) fn unit(&self) -> (String, f64) {
        unit_of_use(&self.answer.unit, self.answer.total_cpu_s.unwrap_or(0.0))
    }

    /// A CPU time in that unit, also in downloaded rows, because the heading has the unit.
    pub(super) fn used(&self, cpu_s: f64) -> Cell {
        Cell::rounded(cpu_s / self.unit().1)
    }

    /// A CPU time with its unit, as text.
    pub(super) fn used_text(&self, cpu_s: f64) -> String {
        let (unit, per) = self.unit();
        format!("{} {unit}", three_digits(cpu_s / per))
    }

    /// `CPU time (NCU-h)`
    pub(super) fn column(&self) -> String {
        format!("{} ({})", self.noun(), self.unit().0)
    }

    /// The place of each user by CPU time.
    pub(super) fn places(&self) -> FxHashMap<&str, usize> {
        let users = self.answer.users.iter().enumerate();
        users.map(|(place, user)| (user.user.as_str(), place)).collect()
    }

    /// The time at which usage is charged, in words.
    pub(super) fn charged(&self) -> &'static str {
        if self.settings.is_charged_as_it_runs() {
            "charged as it runs"
        } else {
            "charged when an attempt ends"
        }
    }
}

/// A number with three digits.
pub(super) fn number(number: f64) -> Cell {
    Cell::rounded(number)
}

/// A share in percent.
pub(super) fn share(share: Option<f64>) -> Cell {
    Cell::share(&share.map_or_else(String::new, |share| share.to_string()))
}

pub(super) fn share_text(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), percent_said)
}

/// The heading of the column about the first use of a user. The first use is known only to the
/// interval.
pub(super) const FIRST_USE: &str = "start of the first interval with use";

pub(super) fn linked(name: &str, folder: &str, place: usize) -> Cell {
    if place < PAGES_MAX { Cell::link(name, &file_of(folder, place)) } else { Cell::name(name) }
}
