//! The episodes of a lake, and the answer about them.

use arrow::record_batch::RecordBatch;
use serde_json::json;

use super::answer::EpisodesAnswer;
use super::plan::EpisodesPlan;
use super::seen::Seen;
use super::{KIND, SHARES, charts, table};
use crate::answers::assumed::{WaitsOf, assumed_waits};
use crate::answers::study::{Found, Plan, settings};
use crate::digits::{counted, grouped};
use crate::facts::window::Windows;
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::results::missing::Missing;
use crate::results::rows::TableRows;
use crate::results::shares::Terms;
use crate::results::store::{Answer, Files};
use crate::schema::Table;
use crate::studies::episodes::{Asked, Counts, Days, Episode, Queue, What, Who, count, who};
use crate::studies::first_end::FirstEnd;
use crate::units::micros_to_seconds;

/// The message if no event of any kind is known.
const NOTHING: &str = "No submission, failure, kill, eviction or loss of a task and no departure of a \
    machine is known.";

/// The most intervals; they take about 100 MB per thread.
const INTERVALS_MAX: usize = 1_000_000;

/// The episodes of a lake, with their table.
pub struct Episodes {
    seen: Seen,
    /// The note about waits that the log does not record.
    assumed: Option<String>,
    table: RecordBatch,
}

/// Finds the episodes of a lake.
///
/// # Errors
/// There is no `task_events`, there are too many intervals, or a table cannot be read.
pub fn episodes(lake: &Lake, windows: Windows, plan: &EpisodesPlan) -> Result<Episodes> {
    let asked = asked(lake, windows, plan)?;
    found(lake, windows, plan, count(lake, windows, asked)?)
}

/// The intervals in which events are counted.
///
/// # Errors
/// The same errors as for [`episodes`].
pub(in crate::answers) fn asked(
    lake: &Lake,
    windows: Windows,
    plan: &EpisodesPlan,
) -> Result<Asked> {
    plan.check()?;
    lake.require(Table::TaskEvents)?;
    let first_end = FirstEnd::of(lake, windows)?;
    let length = plan.length(lake, windows);
    let asked = Asked::of(lake, windows, length.micros(), first_end)?;
    if INTERVALS_MAX < asked.at.count() {
        let text = format!(
            "{} intervals would fill memory: give a longer --interval",
            grouped(asked.at.count() as u64)
        );
        return Err(Usage(text).into());
    }
    Ok(asked)
}

/// Finds the episodes of counted events.
pub(super) fn found(
    lake: &Lake,
    windows: Windows,
    plan: &EpisodesPlan,
    counts: Counts,
) -> Result<Episodes> {
    let plan = &EpisodesPlan { interval: Some(plan.length(lake, windows)), ..plan.clone() };
    let all = What::ALL.map(|what| plan.rule().episodes(&counts, what));
    let days = What::ALL.map(|what| Days::of(&counts, what, plan.rule()));
    let waits = assumed_waits(lake, WaitsOf::Attempts(counts.attempts));
    let knows_waits = waits.as_ref().is_none_or(|waits| !waits.of_all);
    let queue = Queue::of(&counts, plan.least).filter(|_| knows_waits);
    let chosen = chosen(all.iter().map(Vec::as_slice), plan.most);
    let chosen_days = self::chosen(days.iter().map(|days| days.found.as_slice()), plan.most);
    let both = [chosen.as_slice(), &chosen_days].concat();
    let asking = (both.as_slice(), queue.map(|queue| queue.last));
    let found = who(lake, windows, &counts.asked, asking)?;
    let mut persons = both.into_iter().zip(found.episodes);
    let shown: Vec<(Episode, Who)> = persons.by_ref().take(chosen.len()).collect();
    let shown_days: Vec<(Episode, Who)> = persons.collect();
    let whole_from = counts.asked.first_end.map(|first| first.instant());
    let gaps = lake.gaps();
    let missing = |tables: &[Table]| Missing::of(&gaps, tables).whole_from(whole_from.clone());
    let seen = Seen {
        plan: plan.clone(),
        counts,
        knows_waits,
        all,
        shown,
        days,
        shown_days,
        queue,
        queue_us: found.queue_us,
        queue_all_us: found.queue_all_us,
        missing: missing(&[Table::JobEvents, Table::TaskEvents]),
        missing_of_whole: missing(&[Table::JobEvents, Table::MachineEvents]),
    };
    let table = table::episodes(&seen);
    Ok(Episodes { seen, assumed: waits.map(|waits| waits.note), table })
}

/// The largest episodes of each kind, in order of time.
fn chosen<'a>(all: impl Iterator<Item = &'a [Episode]>, most: usize) -> Vec<Episode> {
    let mut chosen: Vec<Episode> = all.flat_map(|episodes| largest(episodes, most)).collect();
    chosen.sort_by_key(|one| (one.first, one.what as usize));
    chosen
}

/// The episodes with most events. Of episodes with equally many, the first ones are taken.
fn largest(all: &[Episode], most: usize) -> Vec<Episode> {
    let mut sorted = all.to_vec();
    sorted.sort_by_key(|one| (std::cmp::Reverse(one.count), one.first));
    sorted.truncate(most);
    sorted
}

impl Episodes {
    fn found(&self) -> EpisodesAnswer {
        let Seen { plan, counts, .. } = &self.seen;
        let at = &counts.asked.at;
        let is_empty = What::ALL.into_iter().all(|what| counts.total(what) == 0);
        EpisodesAnswer {
            interval_s: micros_to_seconds(at.length_us),
            intervals: at.count() as u64,
            times: plan.times,
            least: plan.least,
            rows: TableRows::of(&self.table),
            kinds: TableRows::of(&table::kinds(&self.seen)),
            days: TableRows::of(&table::days(&self.seen)),
            queue: table::queue(&self.seen),
            by_interval: TableRows::of(&table::intervals(&self.seen)),
            terms: Terms::of(&SHARES),
            nothing: is_empty.then(|| NOTHING.to_owned()),
        }
    }
}

impl Found for Episodes {
    fn notes(&self) -> Vec<String> {
        let all: usize = self.seen.all.iter().map(Vec::len).sum();
        let shown = self.seen.shown.len();
        let cut = (shown < all).then(|| {
            format!(
                "{} of {}: at most {} of each kind, the largest (--most COUNT for more)",
                grouped(shown as u64),
                counted(all as u64, "episode"),
                self.seen.plan.most
            )
        });
        cut.into_iter().chain(self.assumed.clone()).collect()
    }

    fn put_details(&self, files: &mut Files) -> Result<()> {
        files.table("episodes-kinds", &table::kinds(&self.seen))?;
        if !self.seen.shown_days.is_empty() {
            files.table("episodes-days", &table::days(&self.seen))?;
        }
        files.table("episodes-intervals", &table::intervals(&self.seen))
    }

    fn answer(&self, windows: Windows) -> Answer<'_> {
        Answer {
            kind: KIND,
            table: &self.table,
            json: json!(self.found()),
            settings: settings(&self.seen.plan, json!({ "windows": windows })),
            charts: charts::all(&self.seen),
        }
    }
}
