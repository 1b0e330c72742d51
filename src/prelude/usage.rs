//! Usage by user over time, and the values of a fairness index.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::{Cpu, Error, HOUR, SettingError, on_progress, watched};
use crate::defaults::Defaults;
use crate::facts::window::Windows;
use crate::fairness::gather::{Accrual, By, Cluster, Counts, GatherError, Machines, Plan, gather};
use crate::fairness::history::{Grid, History};
use crate::fairness::indices::Index;
use crate::fairness::series::{Series, evaluate};
use crate::fairness::usage::{UserUsage, users};
use crate::lake::Lake;
use crate::progress::{Progress, Watch};
use crate::schema::Table;
use crate::studies::meter::Meter;

/// Selects the usage to gather from a lake.
#[derive(Clone, Debug)]
#[must_use = "a question does nothing until it is asked"]
pub struct Usage<'a> {
    lake: &'a Lake,
    watch: Option<Arc<Watch>>,
    interval_us: i64,
    cpu: Cpu,
    by: By,
    accrual: Option<Accrual>,
}

/// Usage over time, ready for any number of indices.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Gathered {
    /// Usage by user and interval.
    pub history: History,
    /// Counts of attempts and usage windows.
    pub counts: Counts,
}

impl<'a> Usage<'a> {
    /// Usage by user and hour, from the first event of the lake to its last.
    ///
    /// ```
    /// use jobfate::prelude::*;
    ///
    /// let sample = Sample::lake()?;
    /// let usage = Usage::of(&sample).every(HOUR).cpu(Cpu::Requested).gather()?;
    /// let jain = usage.evaluate(&mut *index("jain")?)?;
    /// assert_eq!(jain.overall, ["jain", "users"]);
    /// assert!(jain.overall_values.iter().all(|value| !(*value < 0.0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(lake: &'a Lake) -> Self {
        let (cpu, by) = (Cpu::default(), By::User);
        Self { lake, watch: None, interval_us: HOUR, cpu, by, accrual: None }
    }

    /// The length of an interval, µs.
    pub fn every(self, interval_us: i64) -> Self {
        Self { interval_us, ..self }
    }

    /// The definition of CPU time; [`Cpu::BestAvailable`] by default. [`Cpu::Published`] is an
    /// error, because it is defined for whole jobs only.
    pub fn cpu(self, cpu: Cpu) -> Self {
        Self { cpu, ..self }
    }

    /// The key by which usage is grouped; users by default.
    pub fn by(self, by: By) -> Self {
        Self { by, ..self }
    }

    /// When CPU time is charged; by default while the attempt runs.
    pub fn accrual(self, accrual: Accrual) -> Self {
        Self { accrual: Some(accrual), ..self }
    }

    on_progress! {
        /// Reports the progress of [`gather`](Self::gather) to `callback`, in rows. The call stops
        /// when the callback returns `Break`. A stopped call keeps nothing; its error [is
        /// cancelled](Error::is_cancelled).
    }

    /// Reads the lake.
    ///
    /// # Errors
    /// A table is missing or cannot be read, the settings contradict each other, the usage exceeds
    /// the memory limit, or the callback stopped the call.
    pub fn gather(&self) -> Result<Gathered, Error> {
        let lake = watched(self.lake, self.watch.as_ref());
        let cpu = self.cpu.of(&[&lake]);
        cpu.check(&lake)?;
        let windows = Windows::of(&lake);
        let parts = &lake.require(Table::TaskEvents)?.parts;
        let first_us = parts.iter().filter_map(|part| part.min_time_us).min().unwrap_or(0);
        let interval_us = self.interval_us;
        if interval_us < 1 {
            return Err(GatherError::Intervals { count: 0, interval_us }.into());
        }
        let start_us = first_us.div_euclid(interval_us) * interval_us;
        // An attempt that ends exactly at the end of the window counts in the interval that begins
        // there.
        let length_us = windows.task_end_us.saturating_sub(start_us).saturating_add(1);
        let count = length_us.div_euclid(interval_us) + i64::from(length_us % interval_us != 0);
        let count = u32::try_from(count).map_err(|_| Error::Setting {
            setting: "every",
            why: SettingError::Intervals { count },
        })?;
        let plan = Plan {
            meter: Meter::Cpu(cpu),
            accrual: self.accrual.unwrap_or(Defaults::of(&lake).accrual),
            by: self.by,
            machines: Machines::Each,
            separate_users: false,
            grid: Grid { start_us, interval_us, count },
            shown_from: 0,
            keeps_ends: true,
            keeps_machines: true,
        };
        let cluster = Cluster { name: "lake".to_owned(), lake, windows, shift_us: 0 };
        let (history, counts) = gather(&[cluster], &plan)?;
        Ok(Gathered { history, counts })
    }
}

impl Gathered {
    /// The values of an index at the end of every interval.
    ///
    /// # Errors
    /// The index fails.
    pub fn evaluate(&self, index: &mut dyn Index) -> Result<Series, Error> {
        let label = index.name();
        Ok(evaluate(&label, index, &self.history)?)
    }

    /// Users, by descending usage.
    pub fn users(&self) -> Vec<UserUsage> {
        users(&self.history)
    }
}
