//! The plan of `machines`.

use serde::{Deserialize, Serialize};

use crate::answers::load::Length;
use crate::answers::study::Plan;

/// What is asked of a lake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct MachinesPlan {
    /// Longest gap between machines that leave together
    ///
    /// A length such as 90s, 5m or 1h; a number without a unit is in seconds. A machine that leaves
    /// at most this long after the previous one counts as leaving together with it.
    #[cfg_attr(feature = "cli", arg(long, value_name = "LENGTH", default_value = "1s"))]
    pub together: Length,
}

impl Default for MachinesPlan {
    fn default() -> Self {
        Self { together: Length::seconds(1) }
    }
}

impl Plan for MachinesPlan {}
