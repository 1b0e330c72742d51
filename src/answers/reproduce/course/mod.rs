//! `jobfate reproduce course`: the ten questions that courses ask about the trace of 2011.
//!
//! In: a lake of that trace with any parts. Out: for each question, its exact definition, the query
//! that defines it, the answer with its scope, the answers under other definitions, and the numbers
//! of public reports. Our numbers are those of `queries/q23` to `q32`, computed without SQL; tests
//! compare the two.

mod answer;
mod charts;
mod groups;
mod words;

use crate::results::kind::Kind;

pub use answer::{Course, course};

/// The result.
pub const KIND: Kind<'static> = Kind {
    captions: &[("course-readings", "The same questions under other definitions")],
    ..Kind::called("course", "Ten questions that courses ask of the trace of 2011")
};
