//! The usage of all users, and the values of every index.
//!
//! In: a plan. Out: the usage that was gathered from the lakes, and the values of the indices.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::answers::Said;
use crate::answers::fairness::plan::{Align, FairnessPlan, Until, check};
use crate::answers::fairness::{Found, Span, is_custom, room, span, what_if};
use crate::answers::spread::Parts;
use crate::cells::is_hidden;
use crate::digits;
use crate::fairness::accounts::Tree;
use crate::fairness::factors::Factors;
use crate::fairness::gather::{Cluster, Counts, Part, Plan, gather, gather_parts, gather_range};
use crate::fairness::history::History;
use crate::fairness::indices::{self, Formulated, Index};
use crate::fairness::program::Program;
use crate::fairness::series::{Series, evaluate};
use crate::fairness::site::Rule;
use crate::fairness::{formula, template};
use crate::faults::{Context, Result, Usage};
use crate::progress;
use crate::schema::Source;
use crate::studies::first_end::FirstEnd;
use crate::studies::monthly::Calendar;

/// Whether the ends of attempts are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// They are kept only if an index reads them.
    AsIndicesRead,
    /// They are always kept.
    Kept,
}

/// The usage that is already known.
pub enum Buckets<'a> {
    /// No usage is known.
    Unread,
    /// Parts that workers of a cluster have already gathered.
    OfWorkers(&'a Parts),
    /// All usage is already gathered.
    Gathered(Box<(History, Counts)>),
}

/// Indices with their names.
type Named = Vec<(String, Box<dyn Index>)>;

/// The gathered usage, and the indices that will read it.
pub struct Gathered {
    asked: FairnessPlan,
    span: Span,
    history: History,
    counts: Counts,
    indices: Named,
}

/// Gathers the usage of all users.
///
/// # Errors
/// The plan is not valid, its values would not fit into memory, or a lake or file cannot be read.
pub fn gather_all(
    plan: &FairnessPlan,
    until: Until,
    ends: Ends,
    buckets: Buckets<'_>,
    say: &dyn Fn(&Said),
) -> Result<Gathered> {
    let (span, indices) = asked_of(plan, until, ends, say)?;
    room::check(&span, &indices)?.iter().for_each(say);
    let gathered = match buckets {
        Buckets::Unread => gather(&span.clusters, &span.plan),
        Buckets::OfWorkers(parts) => {
            gather_parts(&span.clusters[0], &span.plan, parts.read::<Vec<Part>>()?)
        }
        Buckets::Gathered(usage) => Ok(*usage),
    };
    let (mut history, counts) = gathered.map_err(room::refusal)?;
    if let Some(path) = &plan.accounts {
        history.tree = Tree::load(path, &history.people)?;
        if 0 < history.tree.unlisted {
            let said = match history.tree.unlisted as u64 {
                1 => "1 user is not in the file of accounts and counts under (others)".to_owned(),
                count => format!(
                    "{} users are not in the file of accounts and count under (others)",
                    digits::grouped(count)
                ),
            };
            say(&Said::warning(said));
        }
        if 0 < history.tree.in_several {
            let count = digits::counted(history.tree.in_several as u64, "user");
            say(&Said::warning(format!(
                "{count} with several accounts: all usage counts for the account of the first submission"
            )));
        }
    }
    Ok(Gathered { asked: plan.clone(), span, history, counts, indices })
}

/// For the workers of a cluster: the lake whose usage is gathered, and the plan for it.
///
/// # Errors
/// The plan is not valid, or there are several lakes.
pub fn gathering(plan: &FairnessPlan, until: Until) -> Result<(Cluster, Plan)> {
    let (span, _) = asked_of(plan, until, Ends::AsIndicesRead, &|_| ())?;
    match <[Cluster; 1]>::try_from(span.clusters) {
        Ok([cluster]) => Ok((cluster, span.plan)),
        Err(_) => Err(Usage("--engine spark takes one lake".to_owned()).into()),
    }
}

/// Gathers the usage in some of the buckets of a lake.
///
/// # Errors
/// The lake cannot be read, or its usage would not fit into memory.
pub fn gather_some(cluster: &Cluster, plan: &Plan, buckets: Range<u32>) -> Result<Vec<Part>> {
    gather_range(cluster, plan, buckets).map_err(room::refusal)
}

/// The span to gather, and the indices that will read it.
fn asked_of(
    plan: &FairnessPlan,
    until: Until,
    ends: Ends,
    say: &dyn Fn(&Said),
) -> Result<(Span, Named)> {
    check(plan)?;
    let mut indices = indices_of(plan, say)?;
    let mut span = span::plan(plan, until)?;
    other_clock(plan, &span.clusters).iter().for_each(say);
    if indices.is_empty() {
        indices = usual(&span.clusters)?;
    }
    span.plan.keeps_ends =
        ends == Ends::Kept || indices.iter().any(|(_, index)| index.reads_ends());
    span.plan.keeps_machines = indices.iter().any(|(_, index)| index.reads_machines());
    Ok((span, indices))
}

impl Gathered {
    /// Computes the values of every index.
    ///
    /// # Errors
    /// A custom program broke the protocol.
    pub fn evaluate(self, say: &dyn Fn(&Said)) -> Result<Found> {
        let Self { asked, span, history, counts, mut indices } = self;
        progress::expect(indices.len() as u64 * u64::from(history.grid.count));
        let series: Vec<Series> = indices
            .iter_mut()
            .map(|(label, index)| evaluate(label, index.as_mut(), &history))
            .collect::<Result<_, _>>()?;
        for series in &series {
            let remarks = series.remarks.iter();
            remarks.for_each(|it| say(&Said::warning(format!("{}: {it}", series.index))));
        }
        let first_end = match span.clusters.as_slice() {
            [only] => FirstEnd::of(&only.lake, only.windows)?,
            _ => None,
        };
        Ok(Found { asked, span, history, counts, series, first_end })
    }
}

/// The warning that the clocks of two lakes begin at different instants, although the times are not
/// aligned.
fn other_clock(plan: &FairnessPlan, clusters: &[Cluster]) -> Option<Said> {
    let begins = |cluster: &Cluster| Calendar::of(&cluster.lake, None).map(|own| own.begin_us);
    let (first, others) = clusters.split_first()?;
    if plan.align != Align::Clock {
        return None;
    }
    let known = begins(first);
    let other = others.iter().find(|other| begins(other) != known)?;
    Some(Said::warning(format!(
        "the clocks of `{}` and `{}` do not begin at the same instant: uses that are added up for an \
        interval are not of the same time (--align start lets each begin at its first event)",
        first.name, other.name
    )))
}

/// The indices for a plan that names none. For logs of Slurm, they include Slurm's own factor.
fn usual(clusters: &[Cluster]) -> Result<Named> {
    let are_slurm = clusters.iter().all(|cluster| cluster.lake.source() == Source::Slurm);
    let names: &[&str] =
        if are_slurm { &["metered", "slurm", "condor"] } else { &["metered", "condor"] };
    names.iter().map(|name| Ok(((*name).to_owned(), indices::parse(name)?))).collect()
}

/// The requested indices; built-in ones come first. Empty if the plan names none, has no
/// `slurm.conf`, and does not compare orders (`--what-if`).
fn indices_of(plan: &FairnessPlan, say: &dyn Fn(&Said)) -> Result<Named> {
    let rule = plan.slurm_conf.as_deref().map(Rule::load).transpose()?;
    let mut texts: Vec<&str> = rule.iter().map(|rule| rule.index.as_str()).collect();
    for remark in rule.iter().flat_map(|rule| &rule.remarks) {
        say(&Said::note(format!("slurm.conf: {remark}")));
    }
    texts.extend(plan.index.iter().map(String::as_str));
    if texts.is_empty() && plan.what_if {
        texts.extend(what_if::DEFAULT);
    }
    let mut all: Named = Vec::new();
    for text in texts {
        let index = indices::parse(text);
        all.push((
            text.to_owned(),
            index.with_context(|| format!("could not use --index `{text}`"))?,
        ));
    }
    for path in &plan.index_file {
        let index = template::load(path)?;
        all.push((index.name(), index));
    }
    for pair in &plan.formula {
        let (name, path) = named(pair, "--formula", "FILE")?;
        let text = crate::fairness::read_text(Path::new(path))?;
        let formula = formula::parse(&text, &[]).map_err(|place| {
            crate::fairness::FairnessError::Formula { path: PathBuf::from(path), place }
        })?;
        let index = Formulated::new(name, formula, Factors::default(), Factors::default());
        all.push((name.to_owned(), Box::new(index)));
    }
    for pair in &plan.index_program {
        let (name, command) = named(pair, "--index-program", "PROGRAM")?;
        let words = command.split_whitespace().map(str::to_owned).collect();
        let limit = Duration::from_secs_f64(plan.time_limit);
        all.push((name.to_owned(), Box::new(Program::new(name, words, limit))));
    }
    // Only names of custom indices are checked. The name of a built-in index is its text, which is
    // long if it names files.
    let built_in = all.len() - plan.own_count();
    all[built_in..].iter().try_for_each(|(name, _)| check_name(name)).map_err(Usage)?;
    let mut names: Vec<String> = all.iter().map(|index| index.0.clone()).collect();
    names.sort();
    if let Some([twice, _]) = names.array_windows().find(|[one, next]| one == next) {
        let text = format!(
            "two indices are called `{twice}`: each of --index, --index-file, --formula and \
            --index-program needs its own name"
        );
        return Err(Usage(text).into());
    }
    Ok(all)
}

fn named<'a>(pair: &'a str, flag: &str, what: &str) -> Result<(&'a str, &'a str)> {
    match pair.split_once('=') {
        Some((name, rest)) if !name.trim().is_empty() && !rest.trim().is_empty() => {
            Ok((name.trim(), rest.trim()))
        }
        _ => Err(Usage(format!("{flag} `{pair}` is not of the form NAME={what}")).into()),
    }
}

/// The most letters in the name of a custom index, because the name is part of titles.
const NAME_MAX: usize = 100;

/// Checks the name of a custom index. A page explains a built-in index by its name, so no other
/// index may have it.
///
/// # Errors
/// The name is too long, is the name of a built-in index, or has a character that cannot be shown.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    if NAME_MAX < name.chars().count() {
        let cut: String = name.chars().take(20).collect();
        return Err(format!("the name `{cut}...` of an index is longer than {NAME_MAX} letters"));
    }
    if let Some(letter) = name.chars().find(|&letter| is_hidden(letter)) {
        let code = letter.escape_unicode();
        return Err(format!("the name of an index cannot contain the invisible character {code}"));
    }
    if !is_custom(name) {
        return Err(format!("`{name}` is the name of a built-in index: choose another name"));
    }
    Ok(())
}
