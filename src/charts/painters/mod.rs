//! Draws marks into files: one painter per format.

mod batches;
#[cfg(feature = "charts")]
mod pdf;
#[cfg(feature = "charts")]
mod png;
mod svg;

#[cfg(feature = "charts")]
pub(super) use pdf::pdf;
#[cfg(feature = "charts")]
pub(super) use png::png;
pub(super) use svg::{END, HEAD, VALUES, svg};
