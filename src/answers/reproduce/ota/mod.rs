//! The words of `reproduce ota`.

pub(crate) mod sentences;

/// Seconds of a day.
pub(crate) const DAY_S: f64 = 86_400.0;
