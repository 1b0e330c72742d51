//! One pass over the buckets of a lake for several studies of an analysis.
//!
//! In: the requests of the studies. Out: the result of each study, with the same digits as if it
//! had read the lake alone. The jobs and tasks of a bucket and their usage are read once and folded
//! by all studies.
//!
//! ```text
//!  load    ─► read events, usage ─► fold          all ─► read events, usage ─┬► fold load
//!  account ─► read events, usage ─► fold   now:                              ├► fold account
//!  sweep   ─► read events, usage ─► fold                                     ├► fold sweep
//!  usage   ─► read events, usage ─► fold                                     └► fold usage
//! ```

use rayon::prelude::*;

use crate::answers::classify::tasks_of;
use crate::answers::definitions::Definitions;
use crate::answers::spread::{Errand, Folded, Made};
use crate::answers::work::{counts_of, load_of, machines_of, outcomes_of, samples_of, usage_of};
use crate::facts::FactError;
use crate::facts::bucket::Bucket;
use crate::facts::window::Windows;
use crate::fairness::gather::{Cluster, Gathering, Part, Plan};
use crate::faults::Result;
use crate::lake::Lake;
use crate::schema::Table;
use crate::studies::episodes;
use crate::studies::fold::{Folding, Study};
use crate::studies::load::{self, Adding};
use crate::studies::machines::ran::{self, Leaving, Sums};
use crate::studies::outcomes::{Classes, Counter};
use crate::studies::samples::{self, Samples, Split, What};

/// The most cells of usage and ends of attempts that are kept until a step takes them: about 100
/// MB. A study with more cells reads the lake in its own step, when other studies are not in
/// memory.
const KEPT: usize = 1_000_000;

/// The most cells of load (intervals times groups) in a pass: about 10 MB for each bucket. A load
/// with more cells is computed in its own step, which keeps one part per thread instead of one per
/// bucket.
const LOAD_CELLS: usize = 20_000;

/// A study that takes part in the pass.
enum Member<'a> {
    Outcomes(Box<Folding>, Option<Box<Study>>),
    /// `None` if its own step computes it.
    Usage(Option<Box<Gathering<'a>>>),
    Load(Box<Adding>, Option<Box<load::Part>>),
    Samples(Vec<(What, Split)>, Option<Vec<Samples>>),
    Tasks(Classes, Option<Box<Counter>>),
    Episodes(Box<episodes::Asked>, Option<Box<episodes::Part>>),
    Machines(Box<Leaving>, Option<Box<Sums>>),
}

/// The contribution of a bucket to a study.
enum Found {
    Outcomes(Box<Study>),
    Usage(Box<Part>),
    Load(Box<load::Part>),
    Samples(Vec<Samples>),
    Tasks(Box<Counter>),
    Episodes(Box<episodes::Part>),
    Machines(Box<Sums>),
}

/// Makes one pass for all studies that can share it.
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
        // A study that cannot be folded or gathered is left out; its own step reports the error.
        if let Ok(Some(asked)) = outcomes_of(errand, lake, &definitions) {
            if let Ok(folding) = Folding::of(lake, windows, asked) {
                members.push((*name, Member::Outcomes(Box::new(folding), None)));
            }
        } else if let Ok(Some(asked)) = load_of(errand, lake, (windows, &definitions)) {
            let adding = Adding::of(lake, windows, &asked);
            if let Some(adding) = adding.ok().filter(|adding| adding.cells() <= LOAD_CELLS) {
                members.push((*name, Member::Load(Box::new(adding), None)));
            }
        } else if let Ok(Some(asked)) = samples_of(errand, lake, &definitions) {
            if samples::require(lake, &asked).is_ok() {
                members.push((*name, Member::Samples(asked, None)));
            }
        } else if let Ok(Some(asked)) = counts_of(errand, lake, (windows, &definitions)) {
            if asked.at.count() <= LOAD_CELLS {
                members.push((*name, Member::Episodes(Box::new(asked), None)));
            }
        } else if let Ok(Some(leaving)) = machines_of(errand, lake, windows) {
            members.push((*name, Member::Machines(Box::new(leaving), None)));
        } else if matches!(errand, Errand::Tasks) {
            members.push((*name, Member::Tasks(definitions.classes, None)));
        } else if let Some((cluster, plan)) = usage {
            let gathering = Gathering::begin(std::slice::from_ref(cluster), plan);
            members.push((*name, Member::Usage(gathering.ok().map(Box::new))));
        }
    }
    // Studies that read most come first, because a bucket keeps the data that it has read for the
    // others. Load reads usage and requests; the last studies look only at events and attempts.
    members.sort_by_key(|(_, member)| match member {
        Member::Load(..) => 0,
        Member::Outcomes(..) | Member::Usage(_) => 1,
        Member::Samples(..) | Member::Tasks(..) | Member::Episodes(..) | Member::Machines(..) => 2,
    });
    let rows = lake.expect_rows(&[Table::JobEvents, Table::TaskEvents, Table::TaskUsage]);
    let buckets: Vec<u32> = (0..lake.bucket_count()).collect();
    // Only a few buckets at a time, because each has usage cells of most users.
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
    let made = members.into_iter().filter_map(|(name, member)| Some((name, member.made(lake)?)));
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
            Self::Samples(asked, _) => {
                Some(Found::Samples(samples::collect_bucket(bucket, asked)?))
            }
            Self::Tasks(classes, _) => Some(Found::Tasks(Box::new(tasks_of(bucket, *classes)?))),
            Self::Episodes(asked, _) => {
                let mut part = asked.nothing();
                asked.add(&mut part, bucket)?;
                Some(Found::Episodes(Box::new(part)))
            }
            Self::Machines(leaving, _) => Some(Found::Machines(Box::new(leaving.bucket(bucket)?))),
        })
    }

    /// Adds the result of a bucket, and drops usage that is too large to keep.
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
            (Self::Samples(_, sum), Some(Found::Samples(part))) => {
                *sum = Some(match sum.take() {
                    Some(whole) => samples::merge_all(whole, part),
                    None => part,
                });
            }
            (Self::Tasks(_, sum), Some(Found::Tasks(part))) => {
                *sum = Some(Box::new(joined(sum.take(), *part, Counter::merge)));
            }
            (Self::Episodes(_, sum), Some(Found::Episodes(part))) => {
                *sum = Some(Box::new(joined(sum.take(), *part, episodes::Part::merge)));
            }
            (Self::Machines(_, sum), Some(Found::Machines(part))) => {
                *sum = Some(Box::new(joined(sum.take(), *part, ran::merge)));
            }
            _ => {}
        }
    }

    fn made(self, lake: &Lake) -> Option<Made> {
        Some(match self {
            Self::Outcomes(_, sum) => Made::Outcomes(sum?),
            Self::Usage(gathering) => Made::Usage(Box::new(gathering?.history())),
            Self::Load(adding, sum) => Made::Load(Box::new(adding.load(*sum?))),
            Self::Samples(_, sum) => Made::Samples(sum?),
            Self::Tasks(_, sum) => Made::Tasks(sum?),
            Self::Episodes(asked, sum) => Made::Episodes(Box::new(asked.counts(lake, *sum?).ok()?)),
            Self::Machines(_, sum) => Made::Machines(sum?),
        })
    }
}

/// Merges the part of one more bucket into the part of the buckets so far.
fn joined<T>(whole: Option<Box<T>>, part: T, merge: impl Fn(T, T) -> T) -> T {
    match whole {
        Some(whole) => merge(*whole, part),
        None => part,
    }
}
