//! Definitions that several studies share: CPU time, outcomes, the end of windows, and the end of
//! attempts.

use serde::{Deserialize, Serialize};

use crate::answers::words::{self, maybe, text};
use crate::facts::window::OpenAttempts;
use crate::studies::meter::CpuDefinition;
use crate::studies::outcomes::Classes;
use crate::units::{micros_to_seconds, parse_micros};

/// The names of the definitions.
pub const DEFINITIONS: [&str; 4] = ["cpu", "classes", "window-end", "open-attempts"];

/// Definitions that several studies share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Definitions {
    /// The definition of CPU time.
    pub cpu: Option<CpuDefinition>,
    /// How outcomes are defined.
    #[serde(with = "text")]
    pub classes: Classes,
    /// The end of the window on the trace clock, µs; the file has seconds.
    #[serde(serialize_with = "write_end", deserialize_with = "read_end")]
    pub window_end: Option<i64>,
    /// When an attempt without a recorded end is closed.
    pub open_attempts: OpenAttempts,
}

#[expect(clippy::ref_option, reason = "serde passes fields by reference")]
fn write_end<S: serde::Serializer>(end: &Option<i64>, to: S) -> Result<S::Ok, S::Error> {
    maybe::serialize(&end.map(micros_to_seconds), to)
}

fn read_end<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Option<i64>, D::Error> {
    words::parsed_if(source, parse_micros)
}
