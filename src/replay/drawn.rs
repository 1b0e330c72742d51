//! The number of random cases for each property of replays. In: the number of a full run. Out: that
//! of this build.

/// A tenth of the cases without optimisation, so that the quick suite is quick.
pub(crate) const fn drawn(cases: u32) -> u32 {
    if cfg!(debug_assertions) { cases.div_ceil(10) } else { cases }
}
