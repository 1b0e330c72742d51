//! The time that is not in the log, on the clock of a replay.
//!
//! In: a lake and the replayed tasks. Out: the time, between the first and the last arrival, for
//! which a table that the replay reads is not loaded. No task arrives in this time, so its
//! simulation says nothing. Charts leave it out, as charts of recorded load do.
//!
//! ```text
//!  recorded  |--------|/////|------|      a gap in the log
//!  replayed  |----|//|---|                the same at twice the load
//! ```

use crate::charts::{Chart, HOURS_OF_REPLAY, HOURS_OF_SPAN, HOURS_OF_TRACE};
use crate::digits::is_date;
use crate::lake::Gap;
use crate::replay::history::{History, HistoryPlan};
use crate::results::missing::Missing;
use crate::schema::Table;
use crate::units::micros_to_seconds;

/// How machines come and go in a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machines {
    /// They come and go as recorded in the log.
    Recorded,
    /// They come and go by a specification or a model.
    Simulated,
}

/// The time that is not in the log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Absent {
    /// The missing time on the clock of the trace.
    missing: Missing,
    /// The first arrival, s. At this instant, the clocks of the trace and of the replay are equal.
    first_s: f64,
    /// The factor by which recorded times are longer than times of the replay.
    load: f64,
}

impl Absent {
    /// The time that is missing from a replay: the gaps of the log, and the time before the log has
    /// all jobs. If users react, tasks do not arrive at their recorded times, so no time of the
    /// replay is missing.
    pub(super) fn of(
        (gaps, whole_from): (Vec<Gap>, Option<(f64, String)>),
        plan: &HistoryPlan,
        history: &History,
        machines: Machines,
    ) -> Self {
        let workload = &history.workload;
        let Some(last) = workload.task_count.checked_sub(1) else { return Self::default() };
        if plan.has_feedback {
            return Self::default();
        }
        // Tasks are in order of arrival. The load factor moves their times, but not those of
        // machine outages.
        let tables: &[Table] = match machines {
            Machines::Recorded if plan.load == 1.0 => &[Table::TaskEvents, Table::MachineEvents],
            _ => &[Table::TaskEvents],
        };
        let missing = Missing::of(&gaps, tables).whole_from(whole_from);
        let arrival_s = |task: usize| {
            let task = u32::try_from(task).expect("tasks are numbered with 32 bits");
            micros_to_seconds(workload.arrival_us.get(task))
        };
        let all = Self { missing, first_s: arrival_s(0), load: plan.load };
        all.within([arrival_s(0), arrival_s(last)])
    }

    /// The part of the missing time within a span on the clock of the replay, s.
    pub(super) fn within(&self, span_s: [f64; 2]) -> Self {
        let missing = self.missing.within(span_s.map(|at_s| self.recorded_s(at_s)));
        Self { missing, ..self.clone() }
    }

    /// Removes what a chart draws in the missing time; bars stay. The lower axis of the chart
    /// starts at `since_s` on the clock of the replay, and has units of `per` seconds.
    pub(super) fn over_time(&self, chart: Chart, since_s: f64, per: f64) -> Chart {
        self.missing.over_time(chart, self.recorded_s(since_s), per * self.load)
    }

    /// The title of a time axis in hours, and its start on the clock of the replay, whose first
    /// arrival is at `begin_s`. If tasks arrive at their recorded times, a log with dates has the
    /// axis of a span, which has dates. A log without dates has the axis of the trace, unless the
    /// trace begins long before the first arrival.
    pub(super) fn axis(&self, begin_s: f64) -> (&'static str, f64) {
        const SOON_S: f64 = 3600.0;
        match self.load == 1.0 {
            true if is_date(self.first_s) => (HOURS_OF_SPAN, begin_s),
            true if (0.0..SOON_S).contains(&begin_s) => (HOURS_OF_TRACE, 0.0),
            _ => (HOURS_OF_REPLAY, begin_s),
        }
    }

    /// Whether an instant on the clock of the replay is within the missing time.
    pub(super) fn has(&self, at_s: f64) -> bool {
        self.missing.has(self.recorded_s(at_s))
    }

    /// An instant of the replay on the clock of the trace, s.
    fn recorded_s(&self, at_s: f64) -> f64 {
        self.first_s + (at_s - self.first_s) * self.load
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::{LineChart, Scale};

    #[test]
    fn a_gap_of_the_log_is_at_the_same_tasks_under_any_load() {
        //  trace (h)   10 · · · 14 ///// 18 · · · 22       replay at load 2   10 · 12 // 14 · 16
        let gap = Gap {
            table: Table::TaskEvents.name().to_owned(),
            parts: "3".to_owned(),
            from_h: Some(14.0),
            until_h: Some(18.0),
        };
        let of = |load: f64| {
            let missing = Missing::of([&gap], &[Table::TaskEvents]);
            Absent { missing, first_s: 10.0 * 3600.0, load }
        };
        for (load, hours) in [(1.0, [4.0, 8.0]), (2.0, [2.0, 4.0]), (0.5, [8.0, 16.0])] {
            let absent = of(load);
            let chart = Chart::Lines(LineChart {
                title: String::new(),
                caption: "Found.".to_owned(),
                x_axis: HOURS_OF_REPLAY.to_owned(),
                y_axis: "tasks".to_owned(),
                x_scale: Scale::Linear,
                y_from: 0.0,
                lines: Vec::new(),
            });
            let drawn = absent.over_time(chart, absent.first_s, 3600.0);
            // The hours of the trace are recorded hours, whatever the load factor is.
            let said = "Found. Hatched: not in the log (hours 14.00 to 18.00 of the trace).";
            assert_eq!(drawn.caption(), said);
            let Chart::Timed(drawn) = drawn else { panic!("load {load}") };
            assert_eq!(drawn.gaps, [hours]);
            let has = |hour: f64| absent.has(absent.first_s + hour * 3600.0);
            assert!(has(hours[0] + 0.1) && !has(hours[0] - 0.1) && !has(hours[1] + 0.1));
            assert_eq!(absent.within([0.0, 11.0 * 3600.0]).missing, Missing::default());
            assert_eq!(absent.axis(absent.first_s), (HOURS_OF_REPLAY, absent.first_s));
            let soon = Absent { first_s: 600.0, ..absent.clone() };
            let expected =
                if load == 1.0 { (HOURS_OF_TRACE, 0.0) } else { (HOURS_OF_REPLAY, 600.0) };
            assert_eq!(soon.axis(600.0), expected);
            let dated = Absent { first_s: 1_483_056_000.0, ..absent };
            assert_eq!(dated.axis(dated.first_s).0 == HOURS_OF_SPAN, load == 1.0);
        }
    }
}
