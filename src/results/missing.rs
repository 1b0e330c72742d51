//! Times for which tables are not loaded: the gaps of charts over time.
//!
//! In: the gaps between the loaded parts of tables. Out: their times, in which overlapping gaps are
//! joined, and charts in which nothing is drawn at these times.
//!
//! ```text
//!  task_events   ======|    |==========
//!  task_usage    ====|    |============
//!  missing            |----|              on a chart of both
//! ```

use super::envelope::Input;
use crate::charts::Chart;
use crate::digits::{grouped_decimal, is_date};
use crate::lake::Gap;
use crate::schema::Table;

/// The times that are missing in a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Missing {
    /// Times for which a table is not loaded, s of the trace clock; in order and without overlap.
    times: Vec<[f64; 2]>,
    /// The time from which the log has all jobs, in s of the trace clock and in words; `None` if it
    /// lacks no earlier jobs.
    whole_from: Option<(f64, String)>,
}

impl Missing {
    /// The times for which at least one of these tables is not loaded.
    pub fn of<'a>(gaps: impl IntoIterator<Item = &'a Gap>, tables: &[Table]) -> Self {
        let is_read = |gap: &&Gap| tables.iter().any(|table| table.name() == gap.table);
        let times = gaps.into_iter().filter(is_read);
        let times = times.filter_map(|gap| Some([gap.from_h?, gap.until_h?]));
        let mut times: Vec<[f64; 2]> =
            times.map(|hours| hours.map(|hours| hours * 3600.0)).collect();
        times.sort_by(|one, other| one[0].total_cmp(&other[0]));
        let mut apart: Vec<[f64; 2]> = Vec::new();
        for [from_s, until_s] in times {
            match apart.last_mut().filter(|last| from_s <= last[1]) {
                Some(last) => last[1] = last[1].max(until_s),
                None => apart.push([from_s, until_s]),
            }
        }
        Self { times: apart, whole_from: None }
    }

    /// The same for a log that lacks the jobs that had ended before an instant, in s of the trace
    /// clock and in words.
    #[must_use]
    pub fn whole_from(self, whole_from: Option<(f64, String)>) -> Self {
        Self { whole_from, ..self }
    }

    /// The same for the tables that a stored result was made from.
    pub fn of_inputs(inputs: &[Input], tables: &[Table]) -> Self {
        Self::of(inputs.iter().flat_map(|input| &input.gaps), tables)
    }

    /// Those of these times that overlap a span, s of the trace clock.
    #[must_use]
    pub fn within(&self, [start_s, end_s]: [f64; 2]) -> Self {
        let times = self.times.iter().copied();
        let is_within = |times: &[f64; 2]| times[0] < end_s && start_s < times[1];
        let times = times.filter(is_within).collect();
        let before = |(at_s, _): &&(f64, String)| start_s < *at_s;
        Self { times, whole_from: self.whole_from.as_ref().filter(before).cloned() }
    }

    /// Whether an instant of the trace clock, s, is inside one of the times.
    pub fn has(&self, at_s: f64) -> bool {
        self.times.iter().any(|[from_s, until_s]| *from_s < at_s && at_s < *until_s)
    }

    /// Whether one of the times overlaps a span, s of the trace clock.
    pub fn overlaps(&self, [start_s, end_s]: [f64; 2]) -> bool {
        self.times.iter().any(|[from_s, until_s]| *from_s < end_s && start_s < *until_s)
    }

    /// A chart without its contents in these times, and with dates if its log has them. Its lower
    /// axis starts at `since_s` of the trace clock, and has units of `per` seconds.
    #[must_use]
    pub fn over_time(&self, chart: Chart, since_s: f64, per: f64) -> Chart {
        let on_axis = |at_s: f64| (at_s - since_s) / per;
        let gaps = self.times.iter().map(|times| times.map(on_axis));
        let since_s = Some(since_s).filter(|at_s| is_date(*at_s));
        let chart = chart.over_time(gaps.collect(), &self.said(), since_s);
        match self.whole_from.as_ref().filter(|(at_s, _)| 0.0 < on_axis(*at_s)) {
            Some((at_s, when)) => chart.whole_from(
                on_axis(*at_s),
                &format!("Before {when} the log lacks the jobs that had ended."),
            ),
            None => chart,
        }
    }

    /// A sentence, without its full stop, that averages over time include these times; `None` if
    /// there are no such times.
    pub fn in_averages(&self) -> Option<String> {
        let hours = self.hours();
        let when = match hours.as_str() {
            "" => "time that is not in the log",
            hours => &format!("{hours} of the trace, which are not in the log"),
        };
        let said = format!(
            "Averages include {when}: attempts count as running there until their next event"
        );
        (!self.times.is_empty()).then_some(said)
    }

    /// A sentence about these times. For a log with dates, it does not name them.
    pub fn said(&self) -> String {
        let times = self.hours();
        let of_trace = if times.is_empty() { times } else { format!(" ({times} of the trace)") };
        if self.times.is_empty() {
            String::new()
        } else {
            format!("Hatched: not in the log{of_trace}.")
        }
    }

    /// The times in hours of the trace; empty for a log of dates.
    fn hours(&self) -> String {
        let hours = |at_s: f64| grouped_decimal(at_s / 3600.0, 2);
        let times = self.times.iter().filter(|times| !is_date(times[0]));
        let times = times.map(|times| format!("hours {} to {}", hours(times[0]), hours(times[1])));
        times.collect::<Vec<String>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(table: Table, hours: Option<[f64; 2]>) -> Gap {
        let (from_h, until_h) = (hours.map(|hours| hours[0]), hours.map(|hours| hours[1]));
        Gap { table: table.name().to_owned(), parts: "14".to_owned(), from_h, until_h }
    }

    #[test]
    fn gaps_of_the_tables_that_a_chart_reads_are_joined() {
        let gaps = [
            gap(Table::TaskUsage, Some([5.0, 7.0])),
            gap(Table::TaskEvents, Some([4.0, 6.0])),
            gap(Table::TaskEvents, Some([1.0, 2.0])),
            gap(Table::TaskEvents, None),
            gap(Table::MachineEvents, Some([0.0, 20.0])),
        ];
        let of = |tables: &[Table]| Missing::of(&gaps, tables);
        let both = of(&[Table::TaskEvents, Table::TaskUsage]);
        assert_eq!(both.times, [[3600.0, 7200.0], [14_400.0, 25_200.0]]);
        assert_eq!(
            both.said(),
            "Hatched: not in the log (hours 1.00 to 2.00; hours 4.00 to 7.00 of the trace)."
        );
        assert_eq!(of(&[Table::JobEvents]), Missing::default());
        assert_eq!(Missing::default().said(), "");
        assert_eq!(Missing::default().in_averages(), None);
        assert_eq!(
            of(&[Table::MachineEvents]).in_averages().unwrap(),
            "Averages include hours 0.00 to 20.00 of the trace, which are not in the log: attempts \
            count as running there until their next event"
        );
        assert_eq!(both.within([7200.0, 20_000.0]).times, [[14_400.0, 25_200.0]]);
        assert!(both.has(7199.0) && !both.has(7200.0) && !both.has(8000.0));
        let dates = [gap(Table::TaskEvents, Some([400_000.0, 400_001.0]))];
        assert_eq!(Missing::of(&dates, &[Table::TaskEvents]).said(), "Hatched: not in the log.");
    }
}
