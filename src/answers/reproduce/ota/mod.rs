//! The parameters, claims and figures of `reproduce ota`.

mod figures;
mod outcome;
pub(crate) mod sentences;
mod settings;

pub use outcome::{Outcome, Place, find};
pub(crate) use settings::DAY_S;
pub use settings::Settings;

pub const PAPER: &str = "Ota and Aida (2009)";
