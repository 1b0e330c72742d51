//! A description of each kill rule in one line.

use super::Rule;
use super::limit::LimitOf;

impl Rule {
    /// When it kills a task, in one line; T is the parameter.
    pub const fn about(&self) -> &'static str {
        match self {
            Self::Events => "kills a task at its event number T + 1, of any type",
            Self::Failures => {
                "kills a task when its attempts have failed T times in a row (FAIL, not evictions)"
            }
            Self::DeadTime => {
                "kills a task once its attempts that ended without finishing (failed, evicted, killed or \
                lost) have run for T s in all"
            }
            Self::Restarts => {
                "kills a task when it is started again T times within an hour, for whatever reason; T = 1 \
                is its first restart, whenever that is"
            }
            Self::Retries(_) => "kills a task or job after more failures than a system retries",
            Self::Limit(LimitOf::Seconds) => "ends an attempt that runs longer than T s",
            Self::Limit(LimitOf::Requested) => {
                "ends an attempt that runs longer than T % of its time limit: 75 % means that all limits \
                are cut by a quarter; above 100 % that limits are extended"
            }
            Self::History(_) => {
                "kills a task if its job will not finish with a chance of at least T %, judging by the \
                earlier jobs of its user"
            }
            Self::Own(_) => "a custom rule",
        }
    }
}
