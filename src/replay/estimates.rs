//! Estimates of running times.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use thiserror::Error;

/// The running time of a task that an order uses to plan ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Estimates {
    /// The requested time; the recorded running time if no request is known.
    #[default]
    Requested,
    /// The recorded running time.
    Exact,
    /// The recorded running time times a factor above 0.
    Factor(f64),
}

/// The notation of [`Estimates`].
pub const ESTIMATES: &str = "`requested`, `exact`, or `factor:F` with F from 0.001 to 1000000";

/// The text is not a kind of estimate.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not {ESTIMATES}")]
pub struct EstimatesError(String);

impl FromStr for Estimates {
    type Err = EstimatesError;

    fn from_str(text: &str) -> Result<Self, EstimatesError> {
        let factor = |text: &str| text.parse().ok().filter(|f: &f64| (1e-3..=1e6).contains(f));
        match text {
            "requested" => Ok(Self::Requested),
            "exact" => Ok(Self::Exact),
            _ => (text.strip_prefix("factor:").and_then(factor).map(Self::Factor))
                .ok_or_else(|| EstimatesError(text.to_owned())),
        }
    }
}

impl fmt::Display for Estimates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Requested => f.write_str("requested"),
            Self::Exact => f.write_str("exact"),
            Self::Factor(factor) => write!(f, "factor:{factor}"),
        }
    }
}

/// The most steps, and the longest step, in minutes.
const STEPS_MAX: usize = 16;
const STEP_MAX_MIN: u32 = 100_000;

/// The steps by which a prediction that is too short is prolonged, one after another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Steps {
    /// Minutes; 0 after the last one.
    minutes: [u32; STEPS_MAX],
}

/// The notation of [`Steps`].
pub const STEPS: &str = "1 to 16 whole numbers of minutes from 1 to 100000, such as `1/5/15/30`";

impl Default for Steps {
    /// 1, 5, 15, 30 minutes, then 1, 2, 5, 10, 20, 50, 100 hours.
    fn default() -> Self {
        let minutes = [1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000, 0, 0, 0, 0, 0];
        Self { minutes }
    }
}

impl Steps {
    fn minutes(&self) -> impl Iterator<Item = u32> + '_ {
        self.minutes.iter().copied().take_while(|&minutes| 0 < minutes)
    }

    /// The step after `before` steps, µs; the last one is repeated.
    pub fn step_us(&self, before: usize) -> i64 {
        let minutes = self.minutes().nth(before).or_else(|| self.minutes().last());
        i64::from(minutes.unwrap_or(1)) * 60_000_000
    }
}

/// The text is not a list of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSteps;

impl FromStr for Steps {
    type Err = NoSteps;

    fn from_str(text: &str) -> Result<Self, NoSteps> {
        let mut steps = Self { minutes: [0; STEPS_MAX] };
        for (idx, word) in text.split('/').enumerate() {
            let minutes = word.parse().ok().filter(|minutes| (1..=STEP_MAX_MIN).contains(minutes));
            *steps.minutes.get_mut(idx).ok_or(NoSteps)? = minutes.ok_or(NoSteps)?;
        }
        Ok(steps)
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (idx, minutes) in self.minutes().enumerate() {
            write!(f, "{}{minutes}", if idx == 0 { "" } else { "/" })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Steps({self})")
    }
}

impl Serialize for Estimates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_print_back_and_the_last_one_is_repeated() {
        for text in ["1/5/15/30/60/120/300/600/1200/3000/6000", "7", "2/1"] {
            assert_eq!(text.parse::<Steps>().unwrap().to_string(), text);
        }
        assert_eq!(Steps::default().to_string().parse(), Ok(Steps::default()));
        for text in ["", "0", "1/", "1/-2", "100001", "1.5", "1/2/3/4/5/6/7/8/9/1/2/3/4/5/6/7/8"] {
            assert_eq!(text.parse::<Steps>(), Err(NoSteps), "{text}");
        }
        let steps: Steps = "2/3".parse().unwrap();
        let minutes = [0, 1, 2, 9].map(|before| steps.step_us(before) / 60_000_000);
        assert_eq!(minutes, [2, 3, 3, 3]);
    }
}
