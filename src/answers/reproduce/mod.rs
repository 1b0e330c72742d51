//! Answers of `reproduce`: claims of a paper beside what was found.

pub mod experiments;
pub mod mandai;
pub mod ota;
pub mod study;
pub mod varied;
