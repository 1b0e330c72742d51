//! The detectors of a run.

use crate::replay::detectors::{DetectorPlan, Family};

/// Which detectors were asked for, and which were added for a curve or a comparison of windows.
pub struct Lineup {
    /// All detectors that run.
    pub detectors: Vec<DetectorPlan>,
    /// How many of them were asked for; they come first.
    pub asked: usize,
    /// The curves over main parameters.
    pub curves: Vec<Curve>,
    /// Windows of the Poisson detector: length in s, whether it is scaled, position in `detectors`.
    pub windows: Vec<(u32, bool, usize)>,
}

/// The variants of a detector along its main parameter.
pub struct Curve {
    /// The detector as it was asked for.
    pub name: String,
    /// The family in whose chart it is drawn.
    pub family: Family,
    /// The parameter.
    pub key: &'static str,
    /// Its values, and the position of each in the line-up.
    pub points: Vec<(String, usize)>,
}
