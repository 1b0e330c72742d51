//! The parameters of the detector.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::probability::first_rare;
use crate::notation::{Notation, NotationError};
use crate::replay::detectors::Action;
use crate::replay::detectors::histogram::{Edges, Ties};
use crate::replay::detectors::support::{OrOff, word};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Lambda {
    Fixed(f64),
    Sample,
}

impl FromStr for Lambda {
    type Err = std::num::ParseFloatError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "sample" { Ok(Self::Sample) } else { text.parse().map(Self::Fixed) }
    }
}

impl fmt::Display for Lambda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(value) => value.fmt(f),
            Self::Sample => f.write_str("sample"),
        }
    }
}

pub(super) const TIES: &[(&str, Ties)] = &[("high", Ties::High), ("low", Ties::Low)];
/// Which past attempts are in the sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Window {
    /// Those that ended in the last [`Config::window_s`].
    Fixed,
    /// Those that started since the last change of speed.
    Auto,
}

pub(super) const WINDOWS: &[(&str, Window)] = &[("fixed", Window::Fixed), ("auto", Window::Auto)];
pub(super) const ACTIONS: &[(&str, Action)] =
    &[("restart", Action::Restart), ("copy", Action::Copy)];

/// The default length of the window, s.
pub(super) const WINDOW_S: f64 = 30.0;

#[derive(Clone, Copy, Debug)]
pub(super) struct Config {
    /// Length of the window in which attempts of the sample ended, s; 30 (section 5.1).
    pub(super) window_s: f64,
    /// Whether the window is fixed or adapts itself; `fixed`.
    pub(super) window: Window,
    /// Width of a bin, s; 15 (section 5.1).
    pub(super) bin_s: f64,
    /// The distribution's parameter; 1 (section 3), or `sample`.
    pub(super) lambda: Lambda,
    /// Probability below which an attempt is abnormal; 0.05 (section 5.1).
    pub(super) p: f64,
    /// Abnormal verdicts in a row before a flag; 3, open in the paper.
    pub(super) verdicts: u32,
    /// Number of last estimates; the smallest of them is used; 5 (section 5.1).
    pub(super) estimates: u32,
    /// Time without any progress after which an attempt is abnormal, s; 60 (section 5.1).
    pub(super) stall_s: f64,
    /// Which of several fullest bins is the mode; `high`, the cautious one, open in the paper.
    pub(super) ties: Ties,
    /// What to do with an abnormal attempt; `restart` (section 4).
    pub(super) action: Action,
    /// If set, window and bin are multiplied by the group's median finished length over this
    /// many seconds, and no attempt is judged before one has finished; `off`. Our addition.
    pub(super) scale_s: OrOff,
}

impl Config {
    pub(super) fn read(notation: &mut Notation) -> Result<Self, NotationError> {
        let (seconds, count) = ("a time in seconds above 0", "a count from 1 to 1000");
        let some = |value: &u32| (1..=1_000).contains(value);
        let is_lambda = |lambda: &Lambda| match lambda {
            Lambda::Fixed(value) => value.is_finite() && 0.0 < *value,
            Lambda::Sample => true,
        };
        let window = notation.choice("window", "`fixed` or `auto`", Window::Fixed, WINDOWS)?;
        let window_s = notation.number("window_s", seconds, WINDOW_S, 1e-6..=1e12)?;
        if window == Window::Auto && window_s != WINDOW_S {
            return Err(NotationError::BadValue {
                kind: "detector",
                name: "poisson".to_owned(),
                key: "window_s",
                value: window_s.to_string(),
                expected: "used with `window=auto`: leave it out",
            });
        }
        Ok(Self {
            window_s,
            window,
            bin_s: notation.number("bin_s", seconds, 15.0, 1e-6..=1e12)?,
            lambda: notation.take_if(
                "lambda",
                "a number above 0 or `sample`",
                Lambda::Fixed(1.0),
                is_lambda,
            )?,
            p: notation.number("p", "a probability", 0.05, 0.0..=1.0)?,
            verdicts: notation.take_if("verdicts", count, 3, some)?,
            estimates: notation.take_if("estimates", count, 5, some)?,
            stall_s: notation.number("stall_s", "a time in seconds", 60.0, 0.0..)?,
            ties: notation.choice("ties", "`high` or `low`", Ties::High, TIES)?,
            action: notation.choice("action", "`restart` or `copy`", Action::Restart, ACTIONS)?,
            scale_s: notation.take_if(
                "scale_s",
                "a time in seconds or `off`",
                OrOff(None),
                OrOff::is_off_or_positive,
            )?,
        })
    }
}

/// The parameters, and all values computed from them that do not depend on a group.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) config: Config,
    /// The smallest abnormal k', if lambda is fixed.
    pub(super) limit: u64,
    pub(super) edges: Option<Arc<Edges>>,
}

impl Ready {
    pub(super) fn of(config: Config) -> Self {
        let limit = match config.lambda {
            Lambda::Fixed(lambda) => first_rare(lambda, config.p),
            Lambda::Sample => u64::MAX,
        };
        let is_fixed = config.scale_s.0.is_none();
        Self { config, limit, edges: is_fixed.then(|| Arc::new(Edges::of(config.bin_s))) }
    }
}

impl Config {
    pub(super) fn parameters(&self) -> Vec<(&'static str, String)> {
        let window = match self.window {
            Window::Fixed => ("window_s", self.window_s.to_string()),
            Window::Auto => ("window", word(WINDOWS, &self.window)),
        };
        vec![
            window,
            ("bin_s", self.bin_s.to_string()),
            ("lambda", self.lambda.to_string()),
            ("p", self.p.to_string()),
            ("verdicts", self.verdicts.to_string()),
            ("estimates", self.estimates.to_string()),
            ("stall_s", self.stall_s.to_string()),
            ("ties", word(TIES, &self.ties)),
            ("action", word(ACTIONS, &self.action)),
            ("scale_s", self.scale_s.to_string()),
        ]
    }
}
