//! The plan of `monthly`.

use serde::{Deserialize, Serialize};

use crate::answers::load::Length;
use crate::answers::study::{Definitions, Plan};
use crate::answers::words::maybe;
use crate::faults::{Result, Usage};
use crate::sources::zone::Zone;
use crate::studies::ledger::CpuDefinition;

/// What is asked of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct MonthlyPlan {
    /// What CPU time means
    #[cfg_attr(
        feature = "cli",
        arg(
            long,
            value_parser = CpuDefinition::over_time(),
            long_help = crate::defaults::cpu_help_beside_gpus()
        )
    )]
    #[serde(skip)]
    pub cpu: Option<CpuDefinition>,

    /// Time zone of the months
    ///
    /// `UTC`, an offset such as `+01:00`, or a name such as `Europe/Berlin`. By default the zone of
    /// the log, if it has one, and otherwise UTC.
    #[cfg_attr(feature = "cli", arg(long, value_name = "ZONE", allow_hyphen_values = true))]
    #[serde(with = "maybe")]
    pub timezone: Option<Zone>,

    /// Running time from which a failure counts as late
    ///
    /// `late_cpu_h` is the CPU time of attempts that ran at least this long and did not finish:
    /// `3600`, `90m`, `1h`, `1d`. The time for which they were suspended does not count.
    #[cfg_attr(feature = "cli", arg(long, value_name = "LENGTH", default_value = "1h"))]
    pub late: Length,

    /// Number of users in the table of users
    ///
    /// Users with the most CPU time have separate rows; the rest share the row `(others)`.
    #[cfg_attr(feature = "cli", arg(long, value_name = "COUNT", default_value_t = 10, value_parser = crate::units::natural::<usize>))]
    pub users: usize,
}

impl Default for MonthlyPlan {
    fn default() -> Self {
        Self { cpu: None, timezone: None, late: Length::seconds(3600), users: 10 }
    }
}

impl Plan for MonthlyPlan {
    fn define(&mut self, definitions: &Definitions) {
        // Published CPU time is known per job, not over time. GPU time has its own columns.
        let is_of_time = |cpu| cpu != CpuDefinition::Published && cpu != CpuDefinition::GpuSlots;
        self.cpu = definitions.cpu.filter(|&cpu| is_of_time(cpu));
    }

    fn choose(&mut self, definitions: &Definitions) {
        self.cpu = definitions.cpu;
    }

    fn check(&self) -> Result<(), Usage> {
        let wrong = match self.cpu {
            Some(CpuDefinition::Published) => {
                "`published` CPU time is known per job, not over time; give --cpu measured, \
                requested or slots"
            }
            Some(CpuDefinition::GpuSlots) => {
                "GPU time is always shown next to CPU time: leave out --cpu gpu-slots"
            }
            _ if self.users == 0 => "--users 0 leaves no user: give 1 or more",
            _ => return Ok(()),
        };
        Err(Usage(wrong.to_owned()))
    }
}
