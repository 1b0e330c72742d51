//! Random draws. Each job (and user, machine, part) has a separate stream, so that draws never
//! depend on other jobs, on the number of threads, or on the tables that are written.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal, Zipf};

use super::units::{float_of_count, micros, whole};

/// The purpose of a random stream. The number of a stream is that of its job, user, part, ...
#[derive(Debug, Clone, Copy)]
pub(super) enum Stream {
    Job,
    Usage,
    DuplicateEvents,
    DuplicateUsage,
    User,
    JobName,
    LogicalName,
    Attribute,
    Machines,
    DirtyPart,
}

/// A stream of random draws.
pub(super) struct Draws {
    rng: ChaCha8Rng,
}

impl Draws {
    /// Opens stream `number` of a kind. For jobs it is the job's number.
    pub(super) fn new(seed: u64, stream: Stream, number: u64) -> Self {
        debug_assert!(number < 1 << 56, "the high byte names the kind of stream");
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(number | ((stream as u64) << 56));
        Self { rng }
    }

    /// Uniform bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.rng.next_u64()
    }

    /// Fills `bytes` with uniform bits.
    pub(super) fn fill(&mut self, bytes: &mut [u8]) {
        self.rng.fill_bytes(bytes);
    }

    /// Uniform in [0, 1).
    pub(super) fn unit(&mut self) -> f64 {
        const STEP: f64 = 1.0 / 9_007_199_254_740_992.0; // 2^-53
        float_of_count(self.bits() >> 11) * STEP
    }

    /// True with probability `p`.
    pub(super) fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Uniform in [low, high).
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Uniform in 0..count. The bias of the multiplication is under count / 2^64.
    pub(super) fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(count)) >> 64) as u64
    }

    /// One of `items`, all equally likely.
    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let index = usize::try_from(self.below(items.len() as u64));
        &items[index.expect("an index of the slice fits")]
    }

    /// One of `items`, each with its weight.
    pub(super) fn weighted<T: Copy>(&mut self, items: &[(T, u32)]) -> T {
        let total = items.iter().map(|(_, weight)| u64::from(*weight)).sum();
        let mut left = self.below(total);
        for (item, weight) in items {
            if left < u64::from(*weight) {
                return *item;
            }
            left -= u64::from(*weight);
        }
        unreachable!("the draw is below the sum of the weights")
    }

    /// Log-normal with the given median; `sigma` is the standard deviation of the logarithm.
    pub(super) fn lognormal(&mut self, median: f64, sigma: f64) -> f64 {
        let normal: f64 = StandardNormal.sample(&mut self.rng);
        median * (sigma * normal).exp()
    }

    /// Log-normal seconds, clamped to [low, high], in whole microseconds.
    pub(super) fn span(&mut self, median: f64, sigma: f64, range: (f64, f64)) -> i64 {
        micros(self.lognormal(median, sigma).clamp(range.0, range.1))
    }

    /// Zipf rank in 0..count with exponent 1: rank 0 is the most frequent.
    pub(super) fn zipf(&mut self, count: u64) -> u64 {
        let zipf = Zipf::new(float_of_count(count), 1.0).expect("count is at least 1");
        whole(zipf.sample(&mut self.rng)).clamp(1, count) - 1
    }

    /// Pareto with exponent `alpha`, bounded to [low, high] by inversion.
    pub(super) fn bounded_pareto(&mut self, low: f64, high: f64, alpha: f64) -> f64 {
        let tail = 1.0 - (low / high).powf(alpha);
        low / (1.0 - self.unit() * tail).powf(1.0 / alpha)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_and_repeat() {
        let first = |stream, number| Draws::new(1, stream, number).bits();
        assert_eq!(first(Stream::Job, 7), first(Stream::Job, 7));
        assert_ne!(first(Stream::Job, 7), first(Stream::Job, 8));
        assert_ne!(first(Stream::Job, 7), first(Stream::Usage, 7));
    }

    #[test]
    fn bounded_draws_stay_in_bounds() {
        let mut draws = Draws::new(1, Stream::Job, 0);
        for _ in 0..10_000 {
            assert!((2.0..=90.5).contains(&draws.bounded_pareto(2.0, 90.0, 0.65)));
            assert!(draws.zipf(10) < 10);
            assert!(draws.below(3) < 3);
        }
    }
}
