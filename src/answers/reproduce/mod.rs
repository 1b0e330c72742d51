//! Answers of `reproduce`: claims of a paper beside what was found.

pub(crate) mod experiments;
pub(crate) mod mandai;
pub(crate) mod ota;
pub(crate) mod study;
pub(crate) mod varied;
