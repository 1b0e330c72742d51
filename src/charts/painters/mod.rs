//! From marks to files: one painter per format.

mod pdf;
mod png;
mod svg;

pub(super) use pdf::pdf;
pub(super) use png::png;
pub(super) use svg::{HEAD, svg};
