//! The answer of `fairness`: usage by user, the values of indices, `result.json` and notes.

mod answer;
pub(crate) mod charts;
mod entitled;
mod found;
pub mod gathered;
mod notes;
pub mod plan;
mod resource;
mod result;
mod room;
mod span;
pub mod step;
mod tables;
mod undefined;
mod values;
mod wanted;
pub(crate) mod what_if;

use crate::results::kind::{Kind, Pages};
use crate::results::shares::{Share, share};
use crate::schema::Table;
use crate::studies::meter::Resource;

pub use self::answer::{AttemptCounts, FairnessAnswer, FairnessSettings, OfIndex};
pub use self::found::{Found, Span};
pub(crate) use self::found::{settings, unknown};
pub(super) use self::notes::closed;
pub use self::notes::{notes, warning};
pub use self::result::{answer, origin};
pub use self::tables::{put_series, table};
pub(crate) use self::undefined::undefined_of;
pub(crate) use self::values::{
    InTable, in_table, is_custom, meaning_of_index, meanings, shown_in, unit_of_value,
};
pub use self::wanted::{Ceiling, CeilingError, Show, Wanted};

/// The shares of the answer. Values of indices are not shares.
pub const SHARES: [Share; 5] = [
    share(
        "share",
        "cpu_s of the user, cluster or machine",
        "total_cpu_s: all CPU time charged in the span",
    ),
    share(
        "largest_step_share",
        "cpu_s of the user in their heaviest interval",
        "cpu_s of the user",
    ),
    share("heaviest_share", "cpu_s of the heaviest user of the cluster", "cpu_s of the cluster"),
    share("load", "CPU in use in the interval", "CPU of the machines present, in the interval"),
    share(
        "load_before",
        "CPU in use in the interval before",
        "CPU of the machines present, in \
    that interval",
    ),
];

/// The result.
pub const KIND: Kind<'static> = Kind {
    tables: &[Table::TaskEvents],
    meters: true,
    remarks: &[],
    form: Some(answer::form),
    sentence: Some(answer::sentence),
    figure: Some("fairness-"),
    pages: Some(Pages::Users),
    // The charts of who got how much, and of the bill over time, come first. Other indices of the
    // same usage look similar.
    folded: &["-condor", "-slurm", "-entitled", "-lorenz"],
    captions: &[HALF_LIVES],
    ..Kind::called("fairness", "The heaviest users and their indices")
};

/// The title of the table of places under other half-lives.
const HALF_LIVES: (&str, &str) =
    ("half-lives", "Places of users if use counted half after other times, the heaviest first");

/// The result if memory was charged.
pub const MEMORY_KIND: Kind<'static> = Kind {
    tables: &[Table::TaskEvents],
    meters: true,
    remarks: &[],
    captions: &[HALF_LIVES],
    ..Kind::called("fairness-memory", "The heaviest users of memory")
};

/// The result of a resource.
pub const fn kind_of(resource: Resource) -> Kind<'static> {
    match resource {
        Resource::Cpu | Resource::Gpu => KIND,
        Resource::Memory => MEMORY_KIND,
    }
}
