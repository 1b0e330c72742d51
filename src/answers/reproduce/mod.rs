//! Answers of `reproduce`: claims of a paper, compared with our results.

use crate::results::kind::Kind;

pub mod course;
pub mod experiments;
pub mod literature;
pub mod mandai;
pub mod ota;
pub mod study;
pub mod varied;
pub mod verdicts;

/// The results: one per paper, one for the literature, and one for the questions of courses.
pub static KINDS: [Kind<'static>; 7] = [
    Kind::called("mandai", "Mandai, Kawahara and Kasahara (2017)"),
    Kind::of("tan"),
    Kind::of("asahara"),
    Kind::of("cui"),
    Kind::called("ota", "Ota and Aida (2009)"),
    Kind::called("literature", "What others published about the trace of 2011"),
    course::KIND,
];
