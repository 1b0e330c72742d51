//! Parameters of an experiment, and how their values were chosen.

use serde::Serialize;

/// The origin of a parameter's value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "to")]
pub enum Settled {
    /// The paper gives it.
    Given,
    /// The paper leaves it open; the value is our default or was chosen on the command line.
    Open,
    /// Fitted to a number of the paper, which is named.
    Fitted(&'static str),
}

/// A parameter of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// Its name on the command line.
    pub key: &'static str,
    /// Its value.
    pub value: String,
    /// The origin of the value.
    pub settled: Settled,
    /// What it means, with its unit.
    pub about: &'static str,
}
