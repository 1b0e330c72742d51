//! The notation of detectors, built-in or custom.
//!
//! In: a name with parameters, or a custom [`Detector`]. Out: a plan that builds it for groups with
//! its [`Limits`], and prints as it was read.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::{Detector, Family, GroupInfo, KINDS, Kind, Limits, Plan};
use crate::notation::{Notation, NotationError};

/// A detector in its notation: `late`, `poisson:window_s=30,bin_s=15`, `late:budget=0.1`.
///
/// Every detector also accepts `budget` and `min_age_s`, see [`Limits`].
#[derive(Clone, Debug)]
pub struct DetectorPlan {
    name: Cow<'static, str>,
    /// `None` for a custom detector.
    kind: Option<&'static Kind>,
    plan: Arc<dyn Plan>,
    limits: Limits,
    /// Parameters shown with a custom detector, besides those of its plan.
    shown: Vec<(&'static str, String)>,
    written: String,
}

impl DetectorPlan {
    /// The detector as it was written, with only the parameters that were given.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// The same detector with one parameter set.
    pub fn with(&self, key: &str, value: &str) -> Result<Self, NotationError> {
        let (name, pairs) = self.written.split_once(':').unwrap_or((&self.written, ""));
        let is_other = |pair: &&str| pair.split('=').next().map(str::trim) != Some(key);
        let kept = pairs.split(',').filter(|pair| !pair.trim().is_empty()).filter(is_other);
        let pairs: Vec<String> =
            kept.map(str::to_owned).chain([format!("{key}={value}")]).collect();
        format!("{name}:{}", pairs.join(",")).parse()
    }

    /// A custom detector, used like any other: each group gets a clone of `prototype`.
    pub fn own(
        name: impl Into<Cow<'static, str>>,
        prototype: impl Detector + Clone + fmt::Debug + Sync + 'static,
    ) -> Self {
        Self::built(name, Prototype(prototype))
    }

    /// A custom detector that is built for each group, from the information about the group.
    pub fn built(name: impl Into<Cow<'static, str>>, plan: impl Plan + 'static) -> Self {
        let name = name.into();
        let limits = Limits { budget: None, min_age_s: 0.0 };
        let mut written = String::new();
        write_to(&mut written, &name, &plan.parameters()).expect("strings take any text");
        Self { name, kind: None, plan: Arc::new(plan), limits, shown: Vec::new(), written }
    }

    /// The same custom detector, shown with one more parameter, so that results distinguish two
    /// detectors of one name.
    #[must_use]
    pub fn parameter(mut self, key: &'static str, value: impl fmt::Display) -> Self {
        let mark = if self.written.contains(':') { ',' } else { ':' };
        let value = value.to_string();
        self.written = format!("{}{mark}{key}={value}", self.written);
        self.shown.push((key, value));
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it may prevent tasks from running on some machines; true for a custom detector.
    pub fn steers(&self) -> bool {
        self.kind.is_none_or(|kind| kind.steers)
    }

    /// The description of the detector; `None` for a custom one.
    pub fn kind(&self) -> Option<&'static Kind> {
        self.kind
    }

    /// The family that it is drawn with; a custom one is drawn with the others.
    pub fn family(&self) -> Family {
        self.kind.map_or(Family::Others, |kind| kind.family)
    }

    /// Builds the detector for one group.
    pub fn build(&self, group: &GroupInfo<'_>) -> Box<dyn Detector> {
        self.limits.around(self.plan.build(group))
    }
}

impl PartialEq for DetectorPlan {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl FromStr for DetectorPlan {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        let mut notation = Notation::parse("detector", text)?;
        let kind = KINDS
            .iter()
            .find(|kind| kind.name == notation.name())
            .ok_or_else(|| notation.unknown_name(KINDS.iter().map(|kind| kind.name)))?;
        let plan = (kind.read)(&mut notation)?;
        let limits = Limits::read(&mut notation)?;
        notation.finish()?;
        let written = text.trim().to_owned();
        let (name, shown) = (kind.name.into(), Vec::new());
        Ok(Self { name, kind: Some(kind), plan, limits, shown, written })
    }
}

impl fmt::Display for DetectorPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parameters = self.plan.parameters();
        parameters.extend(self.shown.iter().cloned());
        parameters.extend(self.limits.parameters());
        write_to(f, &self.name, &parameters)
    }
}

/// Writes a name with its parameters.
fn write_to(
    to: &mut impl fmt::Write,
    name: &str,
    parameters: &[(&'static str, String)],
) -> fmt::Result {
    to.write_str(name)?;
    for (idx, (key, value)) in parameters.iter().enumerate() {
        write!(to, "{}{key}={value}", if idx == 0 { ':' } else { ',' })?;
    }
    Ok(())
}

/// A custom detector that is cloned for every group.
#[derive(Debug)]
struct Prototype<D>(D);

impl<D: Detector + Clone + fmt::Debug + Sync + 'static> Plan for Prototype<D> {
    fn build(&self, _: &GroupInfo<'_>) -> Box<dyn Detector> {
        Box::new(self.0.clone())
    }
}
