//! The answer of `machines`: outages, their lengths and their cost, as tables and charts.
//!
//! In: a lake. Out: a row per configuration; outages, survival, machines that left together, and
//! what was running on machines when they left.

mod answer;
mod charts;
pub(crate) mod closeup;
mod details;
mod plan;
mod result;
pub(crate) mod step;
mod studied;

use crate::results::kind::Kind;
use crate::results::shares::{Share, share};
use crate::schema::Table;

pub use answer::{MachinesAnswer, MostTogether, RanAnswer};
pub use details::{
    AttemptThere, Capacity, JobThere, LoadedHours, MachineDetail, MachineDetails, OutageSpan,
};
pub use plan::MachinesPlan;
pub use studied::{Studied, study};

/// The result.
pub const KIND: Kind<'static> = Kind {
    captions: &[
        ("machines", "Configurations of machines"),
        ("machines-outages", "Outages"),
        ("machines-spells", "Time between failures and to repair"),
        ("machines-survival", "Survival of machines and of outages"),
        ("machines-together", "Machines that left together"),
        ("machines-ran", "What ran on machines when they left"),
    ],
    tables: &[Table::MachineEvents, Table::TaskEvents],
    remarks: &[],
    names: Some(|it| it.found().map(MachinesAnswer::names).unwrap_or_default()),
    sentence: Some(|it| Some(it.found::<MachinesAnswer>()?.sentence())),
    figure: Some("machines-away"),
    ..Kind::called("machines", "Machine outages").holding::<MachinesAnswer>()
};

/// A distribution does not fit if it differs from the lengths by at least this share of all of
/// them.
pub(crate) const MISFIT: f64 = 0.05;

/// The shares of the answer.
pub const SHARES: [Share; 4] = [
    share(
        "length_share",
        "outages that ended with a length in `usual_length`, within 10 % of each other",
        "outages that ended",
    ),
    share(
        "capacity_lost_share",
        "lost_cpu_s: CPU x time of outages that ended",
        "CPU x time of machines in service, and lost_cpu_s",
    ),
    share(
        "capacity_away_share",
        "lost_cpu_s and gone_cpu_s: CPU x time after the last REMOVE of machines that did not come back",
        "CPU x time of machines in service, lost_cpu_s and gone_cpu_s",
    ),
    share("share", "spells that last longer than time_s (Kaplan-Meier)", "spells of the kind"),
];
