//! The plan of `episodes`.

use serde::{Deserialize, Serialize};

use crate::answers::load::Length;
use crate::answers::study::Plan;
use crate::facts::window::Windows;
use crate::faults::Usage;
use crate::lake::Lake;
use crate::studies::episodes::Rule;
use crate::studies::load::span_of;
use crate::units::MICROS_PER_SECOND;

/// What is asked of a lake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct EpisodesPlan {
    /// Length of an interval: 10m, 1h or 1d
    ///
    /// A number without a unit is in seconds. Intervals begin at whole multiples of it: whole hours
    /// or days (UTC) of a log with dates. By default 10 minutes if the tasks span at most three days,
    /// otherwise an hour.
    #[cfg_attr(feature = "cli", arg(long, value_name = "LENGTH"))]
    pub interval: Option<Length>,

    /// Times the mean above which an interval stands out
    ///
    /// The mean is over the time for which the log is whole. Fewer than one interval in this many can
    /// stand out.
    #[cfg_attr(feature = "cli", arg(long, value_name = "COUNT", default_value_t = 5, value_parser = crate::units::natural::<u64>))]
    pub times: u64,

    /// An interval stands out if it has at least so many events
    #[cfg_attr(feature = "cli", arg(long, value_name = "COUNT", default_value_t = 10, value_parser = crate::units::natural::<u64>))]
    pub least: u64,

    /// Number of episodes shown of each kind of event
    ///
    /// The largest of each kind.
    #[cfg_attr(feature = "cli", arg(long, value_name = "COUNT", default_value_t = 10, value_parser = crate::units::natural::<usize>))]
    pub most: usize,
}

impl Default for EpisodesPlan {
    fn default() -> Self {
        Self { interval: None, times: 5, least: 10, most: 10 }
    }
}

impl Plan for EpisodesPlan {
    fn check(&self) -> Result<(), Usage> {
        let wrong = if self.times == 0 {
            "--times 0 lets every interval stand out: give 1 or more"
        } else if TIMES_MAX < self.times {
            "--times is at most 1,000,000"
        } else if self.least == 0 {
            "--least 0 lets intervals without an event stand out: give 1 or more"
        } else if self.most == 0 {
            "--most 0 shows no episode: give 1 or more"
        } else {
            return Ok(());
        };
        Err(Usage(wrong.to_owned()))
    }
}

/// The largest value of `--times`.
const TIMES_MAX: u64 = 1_000_000;

/// Logs whose tasks span at most this time have short intervals by default, µs.
const SHORT_US: i64 = 3 * 86_400 * MICROS_PER_SECOND;

impl EpisodesPlan {
    /// The length of an interval for a lake.
    pub(super) fn length(&self, lake: &Lake, windows: Windows) -> Length {
        let [start_us, end_us] = span_of(lake, windows);
        let is_short = end_us - start_us <= SHORT_US;
        self.interval.unwrap_or(Length::seconds(if is_short { 600 } else { 3600 }))
    }

    pub(super) const fn rule(&self) -> Rule {
        Rule { times: self.times, least: self.least }
    }
}
