//! Random numbers as functions of a seed and a position.
//!
//! In: the seed of the plan, the purpose of the number, and up to two positions (a machine, a
//! period). Out: always the same number, for any order of requests. So two policies get the same
//! machines, the same load and the same failures (common random numbers).

/// The purpose of a random number; each purpose has its own numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A machine's speed.
    Speed = 1,
    /// A machine's utilisation in a period.
    Utilisation = 2,
    /// Which machines fail.
    FailureChoice = 3,
    /// When a machine fails or returns.
    FailureTime = 4,
    /// A task's size.
    Size = 5,
    /// When a task arrives.
    Arrival = 6,
    /// How an attempt's length differs from its task's.
    Noise = 7,
    /// A choice that a policy leaves to chance.
    Choice = 8,
    /// Which tasks are slow.
    Slow = 9,
    /// Which jobs and machines of a history are sampled.
    Sample = 10,
    /// Which sibling's work a copy or a restart has.
    Rerun = 11,
    /// Which machines hold the input of a task.
    Input = 12,
}

/// The random numbers of one purpose and seed.
#[derive(Clone, Copy, Debug)]
pub struct Draws(u64);

impl Draws {
    /// The numbers for `purpose` under `seed`.
    pub fn new(seed: u64, purpose: Purpose) -> Self {
        Self(mix(mix(seed).wrapping_add(purpose as u64)))
    }

    /// Sixty-four random bits at a position.
    #[inline]
    pub fn bits(self, first: u64, second: u64) -> u64 {
        mix(self.0 ^ mix(first.wrapping_mul(0xA24B_AED4_963E_E407).wrapping_add(second)))
    }

    /// A number from 0 to below 1 at a position.
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
    pub fn uniform(self, first: u64, second: u64) -> f64 {
        (self.bits(first, second) >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// A number of the standard normal distribution at a position (Box and Muller).
    pub fn normal(self, first: u64, second: u64) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform(first, 2 * second)).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform(first, 2 * second + 1)).cos()
    }
}

/// The finaliser of `SplitMix64` (Steele, Lea and Flood, 2014) after one step of its counter.
#[inline]
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mixer_is_the_published_one() {
        // The first two numbers of SplitMix64 from seed 0.
        assert_eq!(mix(0), 0xE220_A839_7B1D_CDAF);
        assert_eq!(mix(0x9E37_79B9_7F4A_7C15), 0x6E78_9E6A_A1B9_65F4);
    }

    #[test]
    fn numbers_are_spread_evenly_and_differ_by_purpose() {
        let draws = Draws::new(7, Purpose::Utilisation);
        let (mut sum, mut lower, mut squares) = (0.0, 0, 0.0);
        for place in 0..10_000 {
            let value = draws.uniform(place / 100, place % 100);
            assert!((0.0..1.0).contains(&value));
            sum += value;
            lower += u32::from(value < 0.25);
            squares += draws.normal(3, place).powi(2);
        }
        assert!((sum / 10_000.0 - 0.5).abs() < 0.01, "{sum}");
        assert!((2_300..2_700).contains(&lower), "{lower}");
        assert!((squares / 10_000.0 - 1.0).abs() < 0.05, "{squares}");
        assert_ne!(draws.bits(1, 1), Draws::new(7, Purpose::Speed).bits(1, 1));
        assert_ne!(draws.bits(1, 1), Draws::new(8, Purpose::Utilisation).bits(1, 1));
    }
}
