//! Draws marks into files: one painter per format.

#[cfg(feature = "charts")]
mod pdf;
#[cfg(feature = "charts")]
mod png;
mod svg;

#[cfg(feature = "charts")]
pub(super) use pdf::pdf;
#[cfg(feature = "charts")]
pub(super) use png::png;
pub(super) use svg::{HEAD, VALUES, svg};
