//! Rates of jobs that did not finish; older ends may weigh less.

/// Number of ends after which the weight of an end has halved, by default.
pub(super) const HALF_LIFE: f64 = 5.0;

/// Jobs that ended, and those that did not finish; older ones may weigh less.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rate {
    /// Jobs that ended.
    pub(super) jobs: f64,
    lost: f64,
}

impl Rate {
    pub(super) fn add(&mut self, is_lost: bool, keep: f64) {
        self.add_share(is_lost, 1.0, keep);
    }

    /// Adds a part of a job.
    pub(super) fn add_share(&mut self, is_lost: bool, share: f64, keep: f64) {
        self.jobs = self.jobs * keep + share;
        self.lost = self.lost * keep + if is_lost { share } else { 0.0 };
    }

    /// The rate with one additional job that was lost with the probability `before`.
    pub(super) fn drawn_to(self, before: f64) -> f64 {
        (self.lost + before) / (self.jobs + 1.0)
    }

    pub(super) fn plain(self) -> f64 {
        if self.jobs == 0.0 { 0.0 } else { self.lost / self.jobs }
    }
}

/// The factor that the next end applies to a job's weight.
pub(super) fn keep(half_life: f64) -> f64 {
    (-1.0 / half_life).exp2()
}
