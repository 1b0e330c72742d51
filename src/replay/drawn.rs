//! The number of random cases for each property of replays. In: the number in a full run. Out: the
//! number in this build.

/// A twentieth of the cases in builds without optimisation, to keep their tests quick.
pub(crate) const fn drawn(cases: u32) -> u32 {
    if cfg!(debug_assertions) { cases.div_ceil(20) } else { cases }
}
