//! Units and orders that tables and charts share.

use crate::studies::monthly::Sums;
use crate::units::CpuTime;

/// The noun for what the uses of a log are grouped by.
pub(super) const fn noun(has_accounts: bool) -> &'static str {
    if has_accounts { "account" } else { "user" }
}

/// CPU time in hours.
pub(super) fn hours(cpu: CpuTime) -> f64 {
    cpu.seconds() / 3600.0
}

/// Accounts or users; those with most CPU time come first.
pub(super) fn by_use<'a>(all: impl IntoIterator<Item = (&'a str, Sums)>) -> Vec<(&'a str, Sums)> {
    let mut all: Vec<(&str, Sums)> = all.into_iter().collect();
    all.sort_by(|one, other| other.1.used.cpu.cmp(&one.1.used.cpu).then(one.0.cmp(other.0)));
    all
}
