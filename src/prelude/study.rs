//! Outcomes of jobs, their cost, and what kill rules would have saved.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::{Cpu, Error, SettingError, on_progress, watched, window_end, windows};
use crate::lake::Lake;
use crate::progress::{Progress, Watch};
use crate::studies::fold::{Asked, Study, fold};
use crate::studies::kill_sweep::{Sweep, sweep};
use crate::studies::ledger::{GroupBy, Ledger, ledger};
use crate::studies::meter::{MemoryDefinition, Meter};
use crate::studies::outcomes::Classes;
use crate::studies::rules::RuleGrid;

/// A question about the outcomes of jobs; made by [`Lake::study`].
#[derive(Clone, Debug)]
#[must_use = "a question does nothing until it is asked"]
pub struct StudyQuestion<'a> {
    lake: &'a Lake,
    watch: Option<Arc<Watch>>,
    cpu: Cpu,
    memory: Option<MemoryDefinition>,
    window_end_us: Option<i64>,
    asked: Asked,
}

impl Lake {
    /// Asks for the outcome of every job, and its cost.
    ///
    /// ```
    /// use jobfate::prelude::*;
    ///
    /// let sample = Sample::lake()?;
    /// let ledger = sample.study().cpu(Cpu::BestAvailable).ledger()?;
    /// let shares: f64 = ledger.rows.iter().filter_map(|row| row.share).sum();
    /// assert!(0.9 < shares && shares <= 1.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn study(&self) -> StudyQuestion<'_> {
        StudyQuestion {
            lake: self,
            watch: None,
            cpu: Cpu::default(),
            memory: None,
            window_end_us: None,
            asked: Asked::default(),
        }
    }
}

impl StudyQuestion<'_> {
    /// What CPU time means; [`Cpu::BestAvailable`] by default.
    pub fn cpu(self, cpu: Cpu) -> Self {
        Self { cpu, memory: None, ..self }
    }

    /// Adds up memory × time instead of CPU time.
    pub fn memory(self, memory: MemoryDefinition) -> Self {
        Self { memory: Some(memory), ..self }
    }

    /// How outcomes are defined; the default is the exact event sequence.
    pub fn outcomes(mut self, classes: Classes) -> Self {
        self.asked.classes = classes;
        self
    }

    /// Splits the ledger by a key; each call adds a key.
    pub fn by(mut self, group: GroupBy) -> Self {
        self.asked.groups.push(group);
        self
    }

    /// Adds a kill rule to the sweep.
    pub fn rule(mut self, rule: RuleGrid) -> Self {
        self.asked.rules.push(rule);
        self
    }

    /// Spares tasks that have finished by the time of their kill.
    pub fn spare_finished(mut self) -> Self {
        self.asked.spares_finished = true;
        self
    }

    window_end! {}

    on_progress! {
        /// Reports the progress of the call to `callback`, in rows. The call stops when the
        /// callback returns `Break`. A stopped call keeps nothing; its error [is
        /// cancelled](Error::is_cancelled).
    }

    /// Reads the lake once and computes all sums.
    ///
    /// # Errors
    /// The window ends before the last event, a table is missing or cannot be read, a kill rule
    /// breaks its contract, or the callback stopped the call.
    pub fn run(&self) -> Result<Study, Error> {
        let meter = match self.memory {
            Some(memory) => Meter::Memory(memory),
            None => Meter::Cpu(self.cpu.of(&[self.lake])),
        };
        let asked = Asked { meter, ..self.asked.clone() };
        let windows = windows(self.lake, self.window_end_us)?;
        Ok(fold(&watched(self.lake, self.watch.as_ref()), windows, &asked)?)
    }

    /// CPU time by outcome.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn ledger(&self) -> Result<Ledger, Error> {
        Ok(ledger(&self.run()?))
    }

    /// What each kill rule would have saved and destroyed, threshold by threshold, in the order of
    /// the rules.
    ///
    /// # Errors
    /// Those of [`run`](Self::run), or there is no kill rule.
    pub fn sweeps(&self) -> Result<Vec<Sweep>, Error> {
        if self.asked.rules.is_empty() {
            return Err(Error::Setting { setting: "rule", why: SettingError::NoRule });
        }
        let study = self.run()?;
        Ok((0..self.asked.rules.len()).map(|rule_idx| sweep(&study, rule_idx)).collect())
    }
}
