//! The settings of the reproduction.

use crate::charts::Tone;
use crate::claims::{Parameter, Settled};
use crate::faults::{Result, Usage};

/// Seconds of a day.
pub(crate) const DAY_S: f64 = 86_400.0;

/// The span and the users of the figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The first day, counted from the first event.
    pub(super) from: f64,
    /// The number of days.
    pub(super) days: f64,
    /// The users that are drawn.
    pub(super) users: Users,
    /// Length of an interval, s.
    pub(super) interval_s: f64,
    /// Half-life of Condor's priority, s.
    pub(super) half_life_s: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            from: 0.0,
            days: 7.0,
            users: Users::Heaviest(Tone::SERIES.len()),
            interval_s: 3600.0,
            half_life_s: DAY_S,
        }
    }
}

/// The users that are drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Users {
    /// This many of the heaviest users.
    Heaviest(usize),
    /// The users with these names.
    Named(Vec<String>),
}

impl Users {
    /// Reads a count, or names separated by commas; a single name ends in a comma.
    fn read(text: &str) -> Option<Self> {
        let most = Tone::SERIES.len();
        if let Some(count) = text.parse().ok().filter(|count| (1..=most).contains(count)) {
            return Some(Self::Heaviest(count));
        }
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        let names: Vec<String> = names.map(str::to_owned).collect();
        (text.contains(',') && (1..=most).contains(&names.len())).then_some(Self::Named(names))
    }

    pub(super) fn text(&self) -> String {
        match self {
            Self::Heaviest(count) => count.to_string(),
            Self::Named(names) if names.len() == 1 => format!("{},", names[0]),
            Self::Named(names) => names.join(","),
        }
    }
}

impl Settings {
    /// Sets a parameter by its key; an error shows `flag` before the key.
    ///
    /// # Errors
    /// There is no such parameter, or it does not take this value.
    pub fn set(&mut self, flag: &str, key: &str, value: &str) -> Result<(), Usage> {
        let number = |least: f64, most: f64, what: &str| {
            let number = value.parse::<f64>().ok().filter(|one| (least..=most).contains(one));
            number.ok_or_else(|| Usage(format!("`{flag}{key}={value}`: expected {what}")))
        };
        match key {
            "from" => self.from = number(0.0, 36_500.0, "a number of days from 0 to 36500")?,
            "days" => self.days = number(0.01, 36_500.0, "a number of days from 0.01 to 36500")?,
            "interval_s" => self.interval_s = number(1.0, 1e9, "seconds, 1 or more")?,
            "half_life_s" => self.half_life_s = number(1.0, 1e9, "seconds, 1 or more")?,
            "users" => {
                let expected = || {
                    Usage(format!(
                        "`{flag}users={value}`: expected a number from 1 to {} or that many names, \
                        separated by commas (a single name ends in a comma)",
                        Tone::SERIES.len()
                    ))
                };
                self.users = Users::read(value).ok_or_else(expected)?;
            }
            _ => {
                let known = self.parameters().map(|one| one.key).join(", ");
                return Err(Usage(format!(
                    "{flag}{key}: ota has no such parameter (it has: {known})"
                )));
            }
        }
        Ok(())
    }

    /// All parameters, each given by the paper or left open.
    pub(crate) fn parameters(&self) -> [Parameter; 5] {
        let one = |key, value: String, settled, about| Parameter { key, value, settled, about };
        let given_or_chosen = |value: f64, given: f64| {
            if (value - given).abs() < f64::EPSILON { Settled::Given } else { Settled::Open }
        };
        [
            one(
                "half_life_s",
                self.half_life_s.to_string(),
                given_or_chosen(self.half_life_s, DAY_S),
                "time in which Condor's priority falls by half, s",
            ),
            one(
                "days",
                self.days.to_string(),
                given_or_chosen(self.days, 7.0),
                "length of the span, days",
            ),
            one(
                "from",
                self.from.to_string(),
                Settled::Open,
                "first day of the span, from the first event (chosen at random by the paper)",
            ),
            one(
                "users",
                self.users.text(),
                Settled::Open,
                "users in the figures: the number of heaviest ones, or names separated by commas",
            ),
            one(
                "interval_s",
                self.interval_s.to_string(),
                Settled::Open,
                "time between two values of an index, s",
            ),
        ]
    }
}
