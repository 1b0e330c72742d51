//! Time zones and dates: local times to microseconds since 1970, UTC.
//!
//! In: the name of a zone (`UTC`, `+01:00`, `Europe/Berlin`) and times as logs write them. Out:
//! microseconds. Named zones are read from the system's zone files (`TZif`, RFC 9636); no other
//! file is read. A clock that is set back shows an hour twice, and both instants are given. A time
//! that a clock skips has the offset from before the change.

mod civil;
mod database;
mod instant;
mod month;
mod stamp;

pub(super) use civil::{civil_of_day, local_us};
pub use database::{Zone, ZoneError};
pub(super) use instant::Instant;
pub use month::Month;
pub(super) use stamp::Stamp;
