//! Reproduces published experiments.
//!
//! In: an [`Experiment`] with its parameters, including those that the paper leaves open. Out: its
//! [`Figure`]s, each with the curves of our runs, the points that the paper prints, and every
//! [`Claim`](crate::claims::Claim) that the paper makes about it. Claims that are not reproduced
//! are reported as such.

pub mod asahara;
pub mod cui;
mod figure;
mod setting;
pub mod tan;

use thiserror::Error;

use crate::claims::Parameter;

pub use figure::{Curve, Estimate, Figure, Mark, Point};

/// A published experiment with all its parameters.
#[derive(Clone, Debug)]
pub enum Experiment {
    /// Work queue with replication (2003).
    Tan(tan::Settings),
    /// Straggler detection when the state of the system changes (2013).
    Asahara(asahara::Settings),
    /// Finding slow tasks through slow nodes (2014).
    Cui(cui::Settings),
}

/// An unknown parameter of an experiment, or a value that it does not accept.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SetError {
    /// There is no such parameter.
    #[error("{experiment} has no parameter `{key}` (it has: {known})")]
    UnknownKey {
        /// The experiment.
        experiment: &'static str,
        /// The key as given.
        key: String,
        /// All keys.
        known: String,
    },
    /// The value cannot be used.
    #[error("`{key}={value}`: expected {expected}")]
    BadValue {
        /// The parameter.
        key: String,
        /// The value as given.
        value: String,
        /// The accepted values.
        expected: &'static str,
    },
}

impl Experiment {
    /// The name of the experiment on the command line.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Tan(_) => "tan",
            Self::Asahara(_) => "asahara",
            Self::Cui(_) => "cui",
        }
    }

    /// Authors and year.
    pub const fn paper(&self) -> &'static str {
        match self {
            Self::Tan(_) => "Tan, Fujimoto and Hagihara (2003)",
            Self::Asahara(_) => "Asahara, Fujimori, Narita and Liu (2013)",
            Self::Cui(_) => "Cui and others (2014)",
        }
    }

    /// All parameters: those that the paper gives, those that it leaves open, and those that are
    /// fitted.
    pub fn parameters(&self) -> Vec<Parameter> {
        match self {
            Self::Tan(settings) => settings.parameters(),
            Self::Asahara(settings) => settings.parameters(),
            Self::Cui(settings) => settings.parameters(),
        }
    }

    /// Sets a parameter by its key; the value has the notation in which
    /// [`parameters`](Self::parameters) prints it.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), SetError> {
        let known = self.parameters();
        let set = match self {
            Self::Tan(settings) => settings.set(key, value),
            Self::Asahara(settings) => settings.set(key, value),
            Self::Cui(settings) => settings.set(key, value),
        };
        set.map_err(|fault| match fault {
            setting::Fault::Unknown => SetError::UnknownKey {
                experiment: self.name(),
                key: key.to_owned(),
                known: known.iter().map(|one| one.key).collect::<Vec<_>>().join(", "),
            },
            setting::Fault::Value(expected) => {
                SetError::BadValue { key: key.to_owned(), value: value.to_owned(), expected }
            }
        })
    }

    /// Runs the experiment: the same parameters give exactly the same figures.
    pub fn run(&self) -> Vec<Figure> {
        match self {
            Self::Tan(settings) => tan::reproduce(settings),
            Self::Asahara(settings) => asahara::reproduce(settings),
            Self::Cui(settings) => cui::reproduce(settings),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::Settled;

    fn all() -> [Experiment; 3] {
        [
            Experiment::Tan(tan::Settings::default()),
            Experiment::Asahara(asahara::Settings::default()),
            Experiment::Cui(cui::Settings::default()),
        ]
    }

    #[test]
    fn an_estimate_knows_its_spread() {
        let estimate = Estimate::of(&[1.0, 2.0, 3.0]);
        assert_eq!((estimate.mean, estimate.min, estimate.max), (2.0, 1.0, 3.0));
        // Three runs leave two degrees of freedom.
        let half = 4.303 / 3.0_f64.sqrt();
        assert!((estimate.mean_low.unwrap() - (2.0 - half)).abs() < 1e-12);
        assert!((estimate.mean_high.unwrap() - (2.0 + half)).abs() < 1e-12);
        let alone = Estimate::of(&[4.0]);
        assert_eq!((alone.mean, alone.mean_low, alone.mean_high), (4.0, None, None));
        assert_eq!(Estimate::of(&[]).runs, 0);
    }

    #[test]
    fn every_parameter_can_be_set_to_what_it_prints() {
        for mut experiment in all() {
            let before = experiment.parameters();
            for parameter in before.iter().filter(|one| one.settled != Settled::Given) {
                experiment.set(parameter.key, &parameter.value).unwrap();
            }
            assert_eq!(experiment.parameters(), before);
            let unknown = experiment.set("no_such_key", "1").unwrap_err().to_string();
            assert!(before.iter().all(|one| unknown.contains(one.key)), "{unknown}");
        }
    }

    #[test]
    fn odd_values_are_refused() {
        for mut experiment in all() {
            for parameter in experiment.parameters() {
                for odd in ["", "x", "NaN", "-1", "1e400"] {
                    let set = experiment.set(parameter.key, odd);
                    assert!(set.is_err(), "{} {}={odd}", experiment.name(), parameter.key);
                }
            }
        }
    }

    #[test]
    fn a_parameter_that_no_longer_has_its_fitted_value_is_open() {
        let mut experiment = Experiment::Tan(tan::Settings::default());
        let settled = |experiment: &Experiment| {
            let all = experiment.parameters();
            all.into_iter().find(|one| one.key == "period_s").unwrap().settled
        };
        assert!(matches!(settled(&experiment), Settled::Fitted(_)));
        experiment.set("period_s", "70").unwrap();
        assert_eq!(settled(&experiment), Settled::Open);
    }
}
