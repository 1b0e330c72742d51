//! The answer of `verify`: the contents of a lake or a raw folder, and its faults.
//!
//! In: a lake, or reports of raw parts. Out: counts compared with the published ones,
//! contradictions, and warnings.

mod answer;
mod part;
mod report;
mod step;

use crate::results::kind::Kind;

pub use answer::{Count, VerifyAnswer};
pub use part::{PartReport, absent, check_part, describe, raw_table, same};
pub use report::{LakeReport, Trust, lake_report};
pub(crate) use step::step;

/// The result.
pub const KIND: Kind<'static> = Kind {
    remarks: &[],
    sentence: Some(|it| it.found::<VerifyAnswer>()?.sentence()),
    ..Kind::called("verify", "Checks of the tables").holding::<VerifyAnswer>()
};

/// The result of checking files that are not in a lake.
pub const FILES: Kind<'static> = Kind::called(KIND.name, "Checks of the files");
