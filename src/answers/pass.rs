//! One pass over the buckets of a lake for several studies of an analysis.
//!
//! In: what the studies ask. Out: what each makes of the whole lake, to the digit what it makes
//! alone. The jobs and tasks of a bucket, with their usage, are read once and folded by all.
//!
//! ```text
//!  load    ─► read events, usage ─► fold          all ─► read events, usage ─┬► fold load
//!  account ─► read events, usage ─► fold   now:                              ├► fold account
//!  sweep   ─► read events, usage ─► fold                                     ├► fold sweep
//!  usage   ─► read events, usage ─► fold                                     └► fold usage
//! ```

use rayon::prelude::*;

use crate::answers::definitions::Definitions;
use crate::answers::spread::{Errand, Folded, Made};
use crate::answers::work::{load_of, outcomes_of, usage_of};
use crate::facts::FactError;
use crate::facts::bucket::Bucket;
use crate::facts::window::Windows;
use crate::fairness::gather::{Cluster, Gathering, Part, Plan};
use crate::faults::Result;
use crate::lake::Lake;
use crate::schema::Table;
use crate::studies::fold::{Folding, Study};
use crate::studies::load::{self, Adding};

/// Cells of usage and ends of attempts that are kept until they are asked for: some 100 MB. A study
/// with more reads the lake by itself, so that they are not in memory beside other studies.
const KEPT: usize = 1_000_000;

/// Intervals times groups of load of which each bucket makes a part, some 10 MB. Load with more is
/// left to its own step, which has a part per thread.
const LOAD_CELLS: usize = 20_000;

/// A study that takes part.
enum Member<'a> {
    Outcomes(Box<Folding>, Option<Box<Study>>),
    /// `None` once it is left to its own step.
    Usage(Option<Box<Gathering<'a>>>),
    Load(Box<Adding>, Option<Box<load::Part>>),
}

/// What a bucket adds to a study.
enum Found {
    Outcomes(Box<Study>),
    Usage(Box<Part>),
    Load(Box<load::Part>),
}

/// Makes the pass for those of the studies that can share one.
///
/// # Errors
/// The lake cannot be read.
pub fn pass(
    lake: &Lake,
    (windows, definitions): (Windows, Definitions),
    errands: &[(&'static str, Errand)],
) -> Result<Folded> {
    let usage = errands.iter().map(|(_, errand)| usage_of(errand, lake, windows));
    let usage: Vec<Option<(Cluster, Plan)>> = usage.collect();
    let mut members: Vec<(&'static str, Member<'_>)> = Vec::new();
    for ((name, errand), usage) in errands.iter().zip(&usage) {
        // What cannot be folded or gathered is refused by its own step, in its turn.
        if let Ok(Some(asked)) = outcomes_of(errand, lake, &definitions) {
            if let Ok(folding) = Folding::of(lake, windows, asked) {
                members.push((*name, Member::Outcomes(Box::new(folding), None)));
            }
        } else if let Ok(Some(asked)) = load_of(errand, lake, (windows, &definitions)) {
            let adding = Adding::of(lake, windows, &asked);
            if let Some(adding) = adding.ok().filter(|adding| adding.cells() <= LOAD_CELLS) {
                members.push((*name, Member::Load(Box::new(adding), None)));
            }
        } else if let Some((cluster, plan)) = usage {
            let gathering = Gathering::begin(std::slice::from_ref(cluster), plan);
            members.push((*name, Member::Usage(gathering.ok().map(Box::new))));
        }
    }
    // Load reads requests with the usage, and others find what they need among it.
    members.sort_by_key(|(_, member)| !matches!(member, Member::Load(..)));
    let rows = lake.expect_rows(&[Table::JobEvents, Table::TaskEvents, Table::TaskUsage]);
    let buckets: Vec<u32> = (0..lake.bucket_count()).collect();
    // A few at once, as usage has cells of most users in each of them.
    for some in buckets.chunks(2 * rayon::current_num_threads()) {
        let fold = |&number: &u32| {
            let bucket = Bucket::shared(lake, number, windows);
            let found = members.iter().map(|(_, member)| member.fold(&bucket));
            let found = found.collect::<Result<Vec<Option<Found>>, FactError>>()?;
            lake.step(rows)?;
            Ok(found)
        };
        let found = some.par_iter().with_max_len(1).map(fold);
        for found in found.collect::<Result<Vec<_>, FactError>>()? {
            members.iter_mut().zip(found).for_each(|((_, member), found)| member.add(found));
        }
    }
    let made = members.into_iter().filter_map(|(name, member)| Some((name, member.made()?)));
    Ok(Folded::of(made))
}

impl Member<'_> {
    fn fold(&self, bucket: &Bucket<'_>) -> Result<Option<Found>, FactError> {
        Ok(match self {
            Self::Outcomes(folding, _) => Some(Found::Outcomes(Box::new(folding.bucket(bucket)?))),
            Self::Usage(Some(gathering)) => {
                Some(Found::Usage(Box::new(gathering.bucket(0, bucket)?)))
            }
            Self::Usage(None) => None,
            Self::Load(adding, _) => {
                let mut part = adding.nothing();
                adding.bucket(bucket, &mut part)?;
                Some(Found::Load(Box::new(part)))
            }
        })
    }

    /// Adds what was found in a bucket, and gives up usage that is too much to be kept.
    fn add(&mut self, found: Option<Found>) {
        match (self, found) {
            (Self::Outcomes(_, sum), Some(Found::Outcomes(part))) => {
                *sum = Some(Box::new(joined(sum.take(), *part, Study::merge)));
            }
            (Self::Usage(usage), Some(Found::Usage(part))) => {
                let Some(gathering) = usage else { return };
                if gathering.add(vec![*part]).is_err() || KEPT < gathering.held() {
                    *usage = None;
                }
            }
            (Self::Load(_, sum), Some(Found::Load(part))) => {
                *sum = Some(Box::new(joined(sum.take(), *part, load::Part::merge)));
            }
            _ => {}
        }
    }

    fn made(self) -> Option<Made> {
        Some(match self {
            Self::Outcomes(_, sum) => Made::Outcomes(sum?),
            Self::Usage(gathering) => Made::Usage(Box::new(gathering?.history())),
            Self::Load(adding, sum) => Made::Load(Box::new(adding.load(*sum?))),
        })
    }
}

/// What the buckets so far and one more make together.
fn joined<T>(whole: Option<Box<T>>, part: T, merge: impl Fn(T, T) -> T) -> T {
    match whole {
        Some(whole) => merge(*whole, part),
        None => part,
    }
}
