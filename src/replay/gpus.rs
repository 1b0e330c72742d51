//! GPUs of machines: the requests of tasks, the free GPUs, and which GPUs a task gets.
//!
//! In: the requests of tasks, and the GPUs of each machine. Out: the GPUs that a task gets, or
//! none. A share is on one GPU; a task with several GPUs has the same share of each. Among the GPUs
//! with enough free, a task gets those with the least free, and among equals those with the lowest
//! numbers, so that whole GPUs stay free:
//!
//! ```text
//!  free       GPU 0: 1.0    GPU 1: 0.3    GPU 2: 0.6
//!  asks 0.5                               ======          1 has too little, 0 stays free
//!  asks 1     ======                                      a whole one needs a whole free one
//! ```

/// The thousandths of a GPU: sums of whole thousandths are exact.
pub const MILLI: u16 = 1000;

/// The most GPUs of a machine; a machine that records more counts as having this many.
pub const GPUS_MAX: usize = 64;

/// Any model of GPU.
pub const ANY_MODEL: u64 = u64::MAX;

/// The GPU request of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GpuAsk {
    /// The number of GPUs.
    pub count: u8,
    /// The thousandths of each.
    pub milli: u16,
    /// The models that the task accepts, one bit each.
    pub models: u64,
}

impl GpuAsk {
    /// A request for no GPUs.
    pub const NONE: Self = Self { count: 0, milli: 0, models: ANY_MODEL };

    /// A request for `milli` thousandths of each of `count` GPUs.
    pub const fn new(count: u8, milli: u16, models: u64) -> Self {
        if count == 0 || milli == 0 { Self::NONE } else { Self { count, milli, models } }
    }

    /// The request in a plain number of GPUs: a share of one, or a number of whole ones.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    pub fn of_request(gpus: f32, models: u64) -> Self {
        if gpus < 1.0 {
            return Self::new(1, (gpus * f32::from(MILLI)).round() as u16, models);
        }
        Self::new(gpus.ceil() as u8, MILLI, models)
    }

    /// Whether no GPU is requested.
    pub const fn is_none(self) -> bool {
        self.count == 0
    }

    /// The sum of thousandths.
    pub fn total_milli(self) -> u64 {
        u64::from(self.count) * u64::from(self.milli)
    }
}

/// The GPUs of a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gpus {
    /// The number of GPUs.
    pub count: u8,
    /// The bit of their model; 0 if the model is unknown, and [`ANY_MODEL`] if it fits every task.
    pub model: u64,
}

/// The free amounts of the GPUs of a machine.
#[derive(Clone, Debug)]
pub struct FreeGpus {
    model: u64,
    milli: Vec<u16>,
}

impl FreeGpus {
    /// All GPUs, unused.
    pub fn all(gpus: Gpus) -> Self {
        Self { model: gpus.model, milli: vec![MILLI; usize::from(gpus.count).min(GPUS_MAX)] }
    }

    /// Whether a task accepts their model.
    pub fn is_of_model(&self, ask: GpuAsk) -> bool {
        ask.models == ANY_MODEL || self.model == ANY_MODEL || ask.models & self.model != 0
    }

    /// The GPUs that a task would get, one bit each; `None` if too few fit.
    pub fn pick(&self, ask: GpuAsk) -> Option<u64> {
        if !self.is_of_model(ask) {
            return None;
        }
        let mut picked = 0_u64;
        for _ in 0..ask.count {
            let is_open = |idx: &usize| picked & (1 << idx) == 0 && ask.milli <= self.milli[*idx];
            let open = (0..self.milli.len()).filter(is_open);
            picked |= 1 << open.min_by_key(|&idx| self.milli[idx])?;
        }
        Some(picked)
    }

    /// Whether a task would get its GPUs.
    pub fn holds(&self, ask: GpuAsk) -> bool {
        self.pick(ask).is_some()
    }

    /// Takes the GPUs returned by [`pick`](Self::pick).
    pub fn take(&mut self, picked: u64, ask: GpuAsk) {
        self.each(picked, |milli| *milli -= ask.milli);
    }

    /// Frees the GPUs returned by [`pick`](Self::pick).
    pub fn give_back(&mut self, picked: u64, ask: GpuAsk) {
        self.each(picked, |milli| *milli += ask.milli);
        debug_assert!(self.milli.iter().all(|&milli| milli <= MILLI), "given back once");
    }

    fn each(&mut self, picked: u64, change: impl Fn(&mut u16)) {
        let milli = self.milli.iter_mut().enumerate();
        milli.filter(|(idx, _)| picked & (1 << idx) != 0).for_each(|(_, milli)| change(milli));
    }

    /// The free thousandths of each GPU.
    pub fn milli(&self) -> &[u16] {
        &self.milli
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_goes_where_the_least_is_left_and_whole_ones_stay_whole() {
        let mut free = FreeGpus::all(Gpus { count: 3, model: 1 });
        let mut take = |count, milli| {
            let ask = GpuAsk::new(count, milli, ANY_MODEL);
            let picked = free.pick(ask);
            picked.inspect(|&picked| free.take(picked, ask));
            (picked, free.milli().to_vec())
        };
        assert_eq!(take(1, 700), (Some(0b001), vec![300, 1000, 1000]));
        assert_eq!(take(1, 400), (Some(0b010), vec![300, 600, 1000]));
        assert_eq!(take(1, 500), (Some(0b010), vec![300, 100, 1000]));
        assert_eq!(take(1, 300), (Some(0b001), vec![0, 100, 1000]));
        // One whole GPU and a tenth of another are free, so a request for two whole ones fails.
        assert_eq!(take(2, 1000).0, None);
        assert_eq!(take(1, 1000), (Some(0b100), vec![0, 100, 0]));
        assert_eq!(take(1, 101).0, None);
    }

    #[test]
    fn a_task_gets_only_the_models_that_it_takes() {
        let free = FreeGpus::all(Gpus { count: 1, model: 0b10 });
        let of = |models| free.holds(GpuAsk::new(1, MILLI, models));
        assert_eq!(
            (of(0b01), of(0b10), of(0b11), of(0), of(ANY_MODEL)),
            (false, true, true, false, true)
        );
        // An unknown model is used only by tasks that accept any.
        let free = FreeGpus::all(Gpus { count: 1, model: 0 });
        assert!(free.holds(GpuAsk::new(1, 1, ANY_MODEL)) && !free.holds(GpuAsk::new(1, 1, 1)));
    }

    #[test]
    fn a_request_is_a_share_of_one_or_whole_ones() {
        let of = |gpus| {
            let ask = GpuAsk::of_request(gpus, ANY_MODEL);
            (ask.count, ask.milli)
        };
        assert_eq!([of(0.0), of(0.46), of(1.0), of(8.0)], [(0, 0), (1, 460), (1, 1000), (8, 1000)]);
    }
}
