//! `metered`: the bill of a computing centre. RV grows by the CPU time used; CV multiplies it by
//! the charge factor of the machine (Ota and Aida 2009, equations 1 and 2).

use std::fmt;

use super::{Index, Readings};
use crate::fairness::FairnessError;
use crate::fairness::factors::Factors;
use crate::fairness::history::{History, Step};
use crate::notation::{Notation, write_notation};

/// Usage since the start, plain and with charge factors.
#[derive(Debug, Default)]
pub struct Metered {
    charges: Factors,
    charge_of: Vec<f64>,
    /// RV and CV per user.
    values: Vec<[f64; 2]>,
}

impl Metered {
    pub(super) fn read(notation: &mut Notation) -> Result<Self, FairnessError> {
        let path: String = notation.take("charges", "a file", String::new())?;
        Ok(Self { charges: Factors::load(&path)?, ..Self::default() })
    }
}

impl fmt::Display for Metered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.charges.path() {
            Some(path) => write_notation(f, "metered", &[("charges", &path)]),
            None => f.write_str("metered"),
        }
    }
}

impl Index for Metered {
    fn columns(&self) -> Vec<String> {
        vec!["cv".to_owned(), "rv".to_owned()]
    }

    fn remarks(&self, history: &History) -> Vec<String> {
        self.charges.remark(history, false).into_iter().collect()
    }

    fn reads_machines(&self) -> bool {
        self.charges.path().is_some()
    }

    fn adds_up(&self) -> bool {
        true
    }

    fn begin(&mut self, history: &History) -> Result<(), FairnessError> {
        self.charge_of = self.charges.of_machines(history);
        self.values = vec![[0.0; 2]; history.people.len()];
        Ok(())
    }

    fn step(&mut self, step: &Step<'_>, out: &mut Readings) -> Result<(), FairnessError> {
        for cell in step.cells {
            let [rv, cv] = &mut self.values[cell.who as usize];
            let cpu_s = cell.cpu.seconds();
            *rv += cpu_s;
            *cv += cpu_s * self.charge_of[cell.machine as usize];
        }
        for (who, &[rv, cv]) in self.values.iter().enumerate() {
            out.put(who, [cv, rv]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairness::indices::parse;
    use crate::fairness::samples::history;

    #[test]
    fn values_add_up_and_are_charged_by_machine() {
        let mut history = history(&[("a", &[1.0, 0.0, 2.0]), ("b", &[0.0, 0.0, 4.0])]);
        history.machines[0].platform = Some("fast".to_owned());
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "platform fast 1.5\n").unwrap();
        let mut index = parse(&format!("metered:charges={}", file.path().display())).unwrap();
        index.begin(&history).unwrap();
        let mut out = Readings::of(index.as_ref(), 2);
        history.steps(|step| index.step(step, &mut out)).unwrap();
        assert_eq!(out.users, [4.5, 3.0, 6.0, 4.0]);
    }
}
