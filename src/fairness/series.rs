//! The values of an index over time.
//!
//! In: an index and a history. Out: a [`Series`], with every value at the end of every shown
//! interval. Earlier intervals only update the index. A user has no values before the interval of
//! the first submission.

use serde::{Deserialize, Serialize};

use super::FairnessError;
use super::history::{History, Step};
use super::indices::{Heavier, Index, Readings};
use crate::digits;
use crate::progress;

/// The most values in memory, of all users, intervals and indices: 2 GiB.
pub const VALUES_MAX: u64 = 1 << 28;

/// The values of one index.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Series {
    /// The index as given.
    pub index: String,
    /// The index with all its parameters.
    pub settings: String,
    /// The names of its values per user.
    pub columns: Vec<String>,
    /// The names of its values for all users together.
    pub overall: Vec<String>,
    /// Whether large or small values belong to heavy users.
    pub heavier: Heavier,
    /// Whether values of several users can be added up.
    pub adds_up: bool,
    /// Remarks for the user.
    pub remarks: Vec<String>,
    /// The number of users.
    pub people: usize,
    /// By interval, user and column; NaN if undefined.
    pub values: Vec<f64>,
    /// By interval and column.
    pub overall_values: Vec<f64>,
    /// How many main values are undefined.
    pub undefined: Undefined,
}

/// How many of the main values of an index are undefined. Main values are those that charts show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Undefined {
    /// Undefined values of users.
    pub values: u64,
    /// All values of users: one per user and shown interval, from the first submission of the user
    /// on.
    pub of_values: u64,
    /// Shown intervals without a value for all users together.
    pub intervals: u64,
    /// All shown intervals, if the index has a value for all users together.
    pub of_intervals: u64,
}

impl Undefined {
    /// Counts the values at the end of an interval.
    fn count(&mut self, step: &Step<'_>, out: &Readings, width: usize) {
        let is_undefined = |value: f64| u64::from(!value.is_finite());
        for own in out.users.chunks(width.max(1)).enumerate().filter(|own| step.is_there(own.0)) {
            self.values += is_undefined(own.1[0]);
            self.of_values += 1;
        }
        if let Some(&value) = out.overall.first() {
            self.intervals += is_undefined(value);
            self.of_intervals += 1;
        }
    }
}

impl Series {
    /// The number of shown intervals.
    pub fn intervals(&self) -> usize {
        let width = (self.people * self.columns.len()).max(1);
        let overall = self.overall.len().max(1);
        (self.values.len() / width).max(self.overall_values.len() / overall)
    }

    /// The value of a user in an interval (from 0, among those shown).
    pub fn value(&self, interval: usize, who: usize, column: usize) -> f64 {
        self.values[(interval * self.people + who) * self.columns.len() + column]
    }

    /// The main value of every user in an interval, with the sign that makes heavier users larger;
    /// `None` for an index without values of users.
    pub fn heaviness(&self, interval: usize) -> Option<Vec<f64>> {
        if self.columns.is_empty() {
            return None;
        }
        let sign = match self.heavier {
            Heavier::Larger => 1.0,
            Heavier::Smaller => -1.0,
        };
        Some((0..self.people).map(|who| sign * self.value(interval, who, 0)).collect())
    }
}

/// Evaluates an index on a history; `label` names the series.
///
/// # Errors
/// The index fails, reads data that the history does not have, or has too many values.
pub fn evaluate(
    label: &str,
    index: &mut dyn Index,
    history: &History,
) -> Result<Series, FairnessError> {
    let not_gathered = [
        (index.reads_ends() && !history.keeps_ends, "the ends of tasks"),
        (index.reads_machines() && !history.keeps_machines, "machines"),
        (index.reads_dates() && history.unix_us.is_none(), "dates"),
    ];
    if let Some((_, what)) = not_gathered.into_iter().find(|(is_so, _)| *is_so) {
        return Err(FairnessError::NotGathered { index: label.to_owned(), what });
    }
    index.begin(history)?;
    let mut out = Readings::of(index, history.people.len());
    let (mut values, mut overall_values) = (Vec::new(), Vec::new());
    let mut undefined = Undefined::default();
    let width = index.columns().len();
    let intervals = u64::from(history.grid.count - history.shown_from);
    // The columns of a program are known only now.
    if VALUES_MAX < (history.people.len() * width) as u64 * intervals {
        let columns = digits::counted(width as u64, "column");
        return Err(FairnessError::Program {
            name: label.to_owned(),
            problem: format!("{columns} of every user and interval would fill memory"),
            stderr: String::new(),
        });
    }
    history.steps(|step| -> Result<(), FairnessError> {
        index.step(step, &mut out)?;
        progress::step(1);
        if history.shown_from <= step.idx {
            let start = values.len();
            values.extend_from_slice(&out.users);
            for who in (0..history.people.len()).filter(|&who| !step.is_there(who)) {
                values[start + who * width..][..width].fill(f64::NAN);
            }
            overall_values.extend_from_slice(&out.overall);
            undefined.count(step, &out, width);
        }
        Ok(())
    })?;
    index.finish()?;
    Ok(Series {
        index: label.to_owned(),
        settings: index.to_string(),
        columns: index.columns(),
        overall: index.overall(),
        heavier: index.heavier(),
        adds_up: index.adds_up(),
        remarks: index.remarks(history),
        people: history.people.len(),
        values,
        overall_values,
        undefined,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairness::indices::parse;
    use crate::fairness::samples::history;

    #[test]
    fn what_came_before_is_fed_and_not_shown() {
        let mut history = history(&[("a", &[1.0, 2.0, 4.0]), ("b", &[0.0, 8.0])]);
        history.shown_from = 1;
        let series = evaluate("a", parse("metered").unwrap().as_mut(), &history).unwrap();
        assert_eq!(series.intervals(), 2);
        assert_eq!(series.heaviness(0), Some(vec![3.0, 8.0]));
        assert_eq!(series.heaviness(1), Some(vec![7.0, 8.0]));
        let dated = &mut parse("slurm:reset=monthly").unwrap();
        assert!(evaluate("d", dated.as_mut(), &history).is_ok());
        history.unix_us = None;
        let said = evaluate("d", dated.as_mut(), &history).unwrap_err();
        assert!(said.is_usage() && said.to_string().contains("`d` reads dates"), "{said}");
        let series = evaluate("b", parse("jain").unwrap().as_mut(), &history).unwrap();
        assert_eq!((series.intervals(), series.heaviness(0)), (2, None));
    }

    #[test]
    fn undefined_values_are_counted_from_the_first_submission_on() {
        //  a |1|0|4|     b |.|8|0|  comes in the second interval
        let history = history(&[("a", &[1.0, 0.0, 4.0]), ("b", &[0.0, 8.0, 0.0])]);
        let formula = crate::fairness::formula::parse("display x = 1 / usage", &[]).unwrap();
        let (charges, factors) = Default::default();
        let mut own = crate::fairness::indices::Formulated::new("own", formula, charges, factors);
        let series = evaluate("own", &mut own, &history).unwrap();
        let finite = series.values.iter().filter(|value| value.is_finite()).count() as u64;
        let Undefined { values, of_values, .. } = series.undefined;
        assert_eq!((of_values - values, values > 0, of_values <= 6), (finite, true, true));
        let jain = evaluate("j", parse("jain").unwrap().as_mut(), &history).unwrap();
        assert_eq!((jain.undefined.of_values, jain.undefined.of_intervals), (0, 3));
        let metered = evaluate("m", parse("metered").unwrap().as_mut(), &history).unwrap();
        assert_eq!((metered.undefined.values, metered.undefined.of_values), (0, of_values));
    }
}
