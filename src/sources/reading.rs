//! What a user says of how a log is to be read.

use super::zone::Zone;

/// What the files of a log do not say themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The zone of times that name none; UTC if it is not given.
    pub zone: Option<Zone>,
}
