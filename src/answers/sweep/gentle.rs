//! Settings that harm fewer jobs than the one that saves most.
//!
//! In: the rows of the rules of a sweep. Out: a rule and one of its rows, for the sentences about a
//! sweep and for the labels of its chart. Time limits are left out, because they have a separate
//! sentence.

use crate::answers::condition::LIMITS;
use crate::studies::kill_sweep::{Sweep, SweepRow};
use crate::studies::selection::{GENTLER, NEARLY, Selection};

/// A rule and one of its rows.
type Setting<'a> = (&'a str, &'a SweepRow);

/// The smallest difference of two shares that a sentence shows.
pub(super) const SHOWN: f64 = 0.001;

/// A row saves much if its net saving is at least this share of that of another row.
const MUCH: f64 = 0.5;

/// Every row with its rule.
fn all<'a>(
    sweeps: impl Iterator<Item = (&'a str, &'a [SweepRow])>,
) -> impl Iterator<Item = Setting<'a>> {
    let others = sweeps.filter(|(rule, _)| *rule != LIMITS);
    others.flat_map(|(rule, rows)| rows.iter().map(move |row| (rule, row)))
}

/// Among the settings that save nearly as much as a row, the one that harms fewest jobs. A setting
/// that destroys no more CPU is preferred. `None` if no setting harms at most half as many jobs.
#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
pub(crate) fn gentler<'a>(
    sweeps: impl Iterator<Item = (&'a str, &'a [SweepRow])>,
    than: &SweepRow,
) -> Option<Setting<'a>> {
    let (net, harmed) = (than.net_share.filter(|net| 0.0 < *net)?, than.harmed_jobs?);
    let known =
        all(sweeps).filter_map(|(rule, row)| Some((row.harmed_jobs?, row.net_share?, rule, row)));
    let near = known.filter(|(own, share, _, _)| {
        NEARLY * net <= *share && *own as f64 <= GENTLER * harmed as f64 && *own < harmed
    });
    let (_, _, rule, row) = near.min_by(|one, other| {
        destroys_more(one.3, than)
            .cmp(&destroys_more(other.3, than))
            .then(one.0.cmp(&other.0))
            .then(other.1.total_cmp(&one.1))
    })?;
    Some((rule, row))
}

/// The setting that harms fewest jobs, among those that save at least half as much as a row and
/// whose interval, if any, is above zero. Of equal settings, the one that destroys least.
pub(crate) fn gentlest<'a>(
    sweeps: impl Iterator<Item = (&'a str, &'a [SweepRow])>,
    than: &SweepRow,
) -> Option<Setting<'a>> {
    let net = than.net_share.filter(|net| 0.0 < *net)?;
    let known =
        all(sweeps).filter_map(|(rule, row)| Some((row.harmed_jobs?, row.net_share?, rule, row)));
    let near = known.filter(|(_, share, _, row)| MUCH * net <= *share && is_sure(row));
    let (_, _, rule, row) = near.min_by(|one, other| {
        let by_destroyed = destroyed(one.3).total_cmp(&destroyed(other.3));
        one.0.cmp(&other.0).then(by_destroyed).then(other.1.total_cmp(&one.1))
    })?;
    Some((rule, row))
}

/// The setting that saves most, among those that save more than a row and harm as many jobs, but
/// destroy more CPU of finished jobs. It explains why sentences name the row and not this setting.
pub(crate) fn costlier<'a>(
    sweeps: impl Iterator<Item = (&'a str, &'a [SweepRow])>,
    than: &SweepRow,
) -> Option<Setting<'a>> {
    let (net, harmed) = (than.net_share?, than.harmed_jobs?);
    let known = all(sweeps).filter_map(|(rule, row)| Some((row.net_share?, rule, row)));
    let same = known.filter(|(share, _, row)| {
        row.harmed_jobs == Some(harmed) && SHOWN <= share - net && destroys_more(row, than)
    });
    let (_, rule, row) = same.max_by(|one, other| one.0.total_cmp(&other.0))?;
    Some((rule, row))
}

/// Whether the interval of the net saving of a row is above zero. True if there is no interval.
fn is_sure(row: &SweepRow) -> bool {
    let bounds = row.interval.as_ref().and_then(|own| own.net_share);
    bounds.is_none_or(|(low, _)| 0.0 < low)
}

/// The share of the CPU of finished jobs that a row destroys.
pub(crate) fn destroyed(row: &SweepRow) -> f64 {
    row.destroyed_cpu_share.unwrap_or(0.0)
}

/// Whether a row destroys more than another one. Differences that a sentence would not show do not
/// count.
pub(crate) fn destroys_more(row: &SweepRow, than: &SweepRow) -> bool {
    SHOWN < destroyed(row) - destroyed(than)
}

pub(super) fn row_at<'a>(
    sweeps: &'a [Sweep],
    rule: &str,
    threshold: Option<i64>,
) -> Option<&'a SweepRow> {
    let own = sweeps.iter().find(|sweep| sweep.rule == rule)?;
    own.rows.iter().find(|row| Some(row.threshold) == threshold)
}

/// The settings that sentences name, as rules and their parameters. These are the chosen setting or
/// the one that saves most, the gentlest one that still saves much, and a gentler one that saves
/// nearly as much.
pub(super) fn named(sweeps: &[Sweep], selection: Option<&Selection>) -> Vec<(String, i64)> {
    let rows = || sweeps.iter().map(|own| (own.rule.as_str(), own.rows.as_slice()));
    let chosen = selection.map(|own| &own.gentler.as_ref().unwrap_or(&own.chosen).train);
    let chosen =
        chosen.and_then(|own| Some((&*own.rule, row_at(sweeps, &own.rule, own.threshold)?)));
    let most = || {
        let all = rows().flat_map(|(rule, rows)| rows.iter().map(move |row| (rule, row)));
        let known = all.filter_map(|(rule, row)| Some((row.net_share?, rule, row)));
        known.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, rule, row)| (rule, row))
    };
    let Some((rule, row)) = chosen.or_else(most) else { return Vec::new() };
    let all = [gentlest(rows(), row), Some((rule, row)), gentler(rows(), row)];
    all.into_iter().flatten().map(|(rule, row)| (rule.to_owned(), row.threshold)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::selection::Interval;

    fn row(threshold: i64, harmed: u64, net: f64, destroyed: f64) -> SweepRow {
        SweepRow {
            threshold,
            harmed_jobs: Some(harmed),
            net_share: Some(net),
            destroyed_cpu_share: Some(destroyed),
            ..SweepRow::default()
        }
    }

    /// Promise: the gentlest setting saves at least half as much and harms fewest jobs. Of equal
    /// settings, it destroys least. Time limits, and savings whose interval reaches zero, do not
    /// count.
    #[test]
    fn the_gentlest_setting_still_saves_much() {
        let best = row(1, 179, 0.10, 0.15);
        let mut unsure = row(9, 2, 0.08, 0.0);
        unsure.interval = Some(Interval { net_share: Some((-0.1, 0.2)), ..Interval::default() });
        let dead = [row(4, 10, 0.076, 0.37), row(8, 10, 0.068, 0.1), row(24, 1, 0.04, 0.0), unsure];
        let limits = [row(75, 0, 0.2, 0.0)];
        let sweeps = || {
            let first = std::slice::from_ref(&best);
            [("restarts", first), ("dead-time", &dead[..]), (LIMITS, &limits[..])].into_iter()
        };
        let (rule, found) = gentlest(sweeps(), &best).unwrap();
        assert_eq!((rule, found.threshold), ("dead-time", 8));
        assert!(gentlest(sweeps(), &row(1, 5, -0.1, 0.0)).is_none());
        // The setting after 4 h saves more and harms as many jobs, but destroys more.
        let (rule, other) = costlier(sweeps(), found).unwrap();
        assert_eq!((rule, other.threshold), ("dead-time", 4));
        assert!(costlier(sweeps(), other).is_none());
        // A saving is nearly as large if it is nine tenths.
        assert!(gentler(sweeps(), &best).is_none());
        let (_, near) = gentler(sweeps(), &row(1, 179, 0.08, 0.15)).unwrap();
        assert_eq!(near.threshold, 9);
    }
}
