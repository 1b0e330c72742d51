//! The detectors of a run.

use crate::replay::detectors::{DetectorPlan, Family};

/// The detectors that the user requested, and those added for a curve or a comparison of windows.
pub struct Lineup {
    /// All detectors that run.
    pub detectors: Vec<DetectorPlan>,
    /// The number of requested detectors; they come first.
    pub asked: usize,
    /// The curves over main parameters.
    pub curves: Vec<Curve>,
    /// Windows of the Poisson detector: length in s, whether it is scaled, position in `detectors`.
    pub windows: Vec<(u32, bool, usize)>,
}

/// The variants of a detector along its main parameter.
pub struct Curve {
    /// The detector as the user wrote it.
    pub name: String,
    /// The family whose chart shows the detector.
    pub family: Family,
    /// The parameter.
    pub key: &'static str,
    /// The values of the parameter, each with its position in the line-up.
    pub points: Vec<(String, usize)>,
}
