//! Findings: what a trace shows, in at most six answers at the start of a report. The first
//! sentence of an answer is always visible. The sentences that explain it are folded; the page of
//! the study shows them in full.
//!
//! In: stored results. Out: sentences, each with its number, its scope, and the result that holds
//! the number; and the questions that the tables cannot answer. Every rule asks one question about
//! one result and takes all of its numbers from it.
//!
//! The rules, in the order of their findings:
//!
//! | Rule | Asks | Says |
//! |---|---|---|
//! | [`fate::fate`] | What became of the jobs? | the share of each outcome that occurs, and what `other` consists of |
//! | [`fate::waste`] | Where did the CPU time go? | CPU time by outcome, the largest share first; that of running jobs is open, not wasted |
//! | [`cluster::episode`] | Did something unusual happen? | an episode with half of all failures, kills, ... or more |
//! | [`kill::kill`] | Which kill rule to take? | the rule chosen on earlier jobs and tested on later ones, or why no rule is safe to adopt |
//! | [`detector::detector`] | Which straggler detector is worth having? | most time saved by copies; hardly any below 5 % |
//! | [`policy::policy`] | Would another policy do better? | the lowest mean bounded slowdown, if it and the mean wait are more than 1 % lower |
//! | [`cluster::load`] | How full was the cluster? | what was requested and used of the capacity |
//! | [`users::users`] | Who got how much? | the heaviest user, the share of the fewest users who have half, how many have more than an equal share, the Gini index |
//! | [`fate::lasting`] | How long do jobs last? | the median, the 99 % quantile, the mean |
//!
//! - An interval that spans zero, or a gain that later jobs do not confirm, is *not shown*: the
//!   sentence says so, and comes after the findings that are shown. The same applies to a kill rule
//!   that kills fewer than ten tasks and was not tested on later jobs. It also applies to policies
//!   if tasks wait longer than in the record under all of them.
//! - If one job makes up half of a figure or more, the sentence says so.
//! - A question that a trace cannot answer is listed once, apart from the findings.
//! - At most six findings are given. Those that are *not shown* are left out first, then the last
//!   ones.

use serde::Deserialize;

use super::text::{caption, sentence_ends};
use super::together::with_others;
use crate::answers::sentences::{meaning_of, most_of};
use crate::answers::study::Topic;
use crate::answers::{account, detect, episodes, fairness, list, load, replay, sweep};
use crate::digits::{counted, lasting};
use crate::results::Stored;
use crate::results::envelope::{Envelope, Input, Measures, if_it_reads};
use crate::results::kind::{Kind, Pages};
use crate::schema::Table;
use crate::studies::censoring::Censoring;

mod cluster;
mod detector;
mod fate;
mod kill;
mod kill_chosen;
mod kill_saving;
mod policy;
mod policy_burst;
mod policy_measures;
#[cfg(test)]
mod tests;
mod users;

/// Largest number of findings.
const MOST: usize = 6;

/// The answer of a rule about its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// A finding that the numbers show.
    Shown(String),
    /// A finding that the numbers do not show.
    NotShown(String),
    /// The reason why the trace does not answer the question.
    Unknown(String),
}

/// A rule: a question, the name of the result that answers it, and the answer.
struct Rule {
    asks: &'static str,
    of: &'static str,
    /// Reads a stored result; `None` if it lacks the numbers for the rule.
    say: fn(&Envelope) -> Option<Told>,
}

static RULES: [Rule; 10] = [
    Rule { asks: "What became of the jobs?", of: "classify-jobs", say: fate::fate },
    Rule { asks: "Where did the CPU time go?", of: account::KINDS[0].name, say: fate::waste },
    Rule { asks: "Where did the GPU time go?", of: account::KINDS[2].name, say: fate::waste },
    Rule { asks: "Did something unusual happen?", of: episodes::KIND.name, say: cluster::episode },
    Rule {
        asks: "Which kill rule to take, and what does it cost?",
        of: sweep::KIND.name,
        say: kill::kill,
    },
    Rule {
        asks: "Which straggler detector is worth having?",
        of: detect::KIND.name,
        say: detector::detector,
    },
    Rule { asks: "Would another policy do better?", of: replay::KIND.name, say: policy::policy },
    Rule { asks: "How full was the cluster?", of: load::KIND.name, say: cluster::load },
    Rule { asks: "Who got how much?", of: fairness::KIND.name, say: users::users },
    Rule { asks: "How long do jobs last?", of: "job-durations", say: fate::lasting },
];

/// A finding.
pub(super) struct Finding {
    /// The question.
    pub asks: &'static str,
    /// The answer without its last full stop: one sentence, and perhaps further ones that explain
    /// it.
    pub sentence: String,
    /// Whether the numbers show it; `false` if they leave the question open.
    pub is_shown: bool,
    /// Tables, hours, and assumptions.
    pub scope: String,
    /// The part of the scope that is needed on a page that already says what was loaded.
    pub scope_in_short: String,
    /// The result that holds its numbers; its name is the anchor on the page.
    pub result: String,
    /// The page.
    pub topic: &'static Topic,
}

/// Splits an answer into the sentence that answers the question and the sentences that explain it,
/// if there are any. If the first sentence gives a reason not to adopt a rule, the second one says
/// what the rule does. Both then belong to the answer.
pub(super) fn parts(answer: &str) -> (&str, Option<&str>) {
    let end = sentence_ends(answer).nth(usize::from(answer.starts_with(kill_saving::ADVICE)));
    end.map_or((answer, None), |at| (&answer[..at], Some(&answer[at + 2..])))
}

/// The sentence of a page without a finding.
pub(super) struct Other {
    /// A sentence without its full stop.
    pub sentence: String,
    /// The result with the numbers of the sentence.
    pub result: String,
    /// The page.
    pub topic: &'static Topic,
}

/// A question, the result that leaves it open, and its page.
pub(super) type Asked = (String, String, &'static Topic);

/// Questions that the trace does not answer, all for the same reason.
pub(super) struct Unanswered {
    /// The questions, or the titles of results, each with the result that gives the reason and its
    /// page.
    pub asks: Vec<Asked>,
    /// The reason, the same for all of them.
    pub why: String,
}

/// The findings, and the questions without an answer.
#[derive(Default)]
pub(super) struct Findings {
    /// The most important first.
    pub found: Vec<Finding>,
    /// The sentences of the other pages, in the order of these pages.
    pub others: Vec<Other>,
    /// One entry for each reason.
    pub unanswered: Vec<Unanswered>,
}

impl Findings {
    /// Adds an open question; questions with the same reason share an entry.
    fn leave_open(&mut self, asked: Asked, why: String) {
        match self.unanswered.iter_mut().find(|known| known.why == why) {
            Some(known) => known.asks.push(asked),
            None => self.unanswered.push(Unanswered { asks: vec![asked], why }),
        }
    }
}

/// Applies every rule to the results.
pub(super) fn findings(results: &[Stored]) -> Findings {
    let mut all = Findings::default();
    for rule in &RULES {
        let Some((kind, topic)) = kind_of(rule.of) else { continue };
        let Some((result, told)) = told(rule, results) else { continue };
        let (sentence, is_shown) = match told {
            Told::Unknown(why) => {
                all.leave_open((rule.asks.to_owned(), result.name.clone(), topic), why);
                continue;
            }
            Told::Shown(sentence) => (with_others(&sentence, result, results), true),
            Told::NotShown(sentence) => (sentence, false),
        };
        all.found.push(Finding {
            asks: rule.asks,
            sentence,
            is_shown,
            scope: scope(result, kind),
            scope_in_short: result.scope_in_short(kind),
            result: result.name.clone(),
            topic,
        });
    }
    for (asked, why) in results.iter().filter_map(without_rule) {
        all.leave_open(asked, why);
    }
    all.found = chosen(all.found);
    all.others = others(results, &all.found);
    all
}

/// The first sentence of each page about the trace that has no finding.
fn others(results: &[Stored], found: &[Finding]) -> Vec<Other> {
    let has_none =
        |topic: &&Topic| !list::is_of_checks(topic) && found.iter().all(|one| one.topic != *topic);
    let say = |topic: &'static Topic| {
        // Pages of single jobs do not answer the question of a study.
        let mut kinds = list::kinds_on(topic).filter(|kind| kind.pages != Some(Pages::Jobs));
        kinds.find_map(|kind| {
            let result = results.iter().find(|result| result.name == kind.name)?;
            let said = answer(kind, result).filter(|_| unanswered(result).is_none())?;
            let (sentence, result) = (parts(&said).0.to_owned(), result.name.clone());
            Some(Other { sentence, result, topic })
        })
    };
    list::topics().into_iter().filter(has_none).filter_map(say).collect()
}

/// The answer of a rule and the result with its numbers. `None` if there is no such result, or if
/// the rule has no answer.
fn told<'a>(rule: &Rule, results: &'a [Stored]) -> Option<(&'a Stored, Told)> {
    let result = results.iter().find(|result| result.name == rule.of)?;
    let told = match nothing(result) {
        Some(why) => Some(Told::Unknown(why)),
        None => (rule.say)(&result.whole),
    };
    Some((result, told?))
}

/// The questions of all rules, each with the first sentences of the answers of both sides. `None`
/// on a side without an answer. A question is left out if no side answers it.
pub(super) fn side_by_side(sides: [&[Stored]; 2]) -> Vec<(&'static str, [Option<String>; 2])> {
    let answer = |rule: &Rule, results: &[Stored]| {
        let (_, told) = told(rule, results)?;
        let (Told::Shown(said) | Told::NotShown(said) | Told::Unknown(said)) = told;
        Some(format!("{}.", parts(&said).0))
    };
    let both = RULES.iter().map(|rule| (rule.asks, sides.map(|results| answer(rule, results))));
    both.filter(|(_, said)| said.iter().any(Option::is_some)).collect()
}

/// A result that cannot be compared, since at least one side has no answer.
pub(super) struct NoAnswer {
    /// The name of the result.
    pub result: String,
    /// The reason, for each side that has no answer.
    pub why: [Option<String>; 2],
}

/// The results that cannot be compared because a side has no answer.
pub(super) fn unanswered_by(sides: [&[Stored]; 2]) -> Vec<NoAnswer> {
    let mut all: Vec<NoAnswer> = Vec::new();
    for (place, side) in sides.into_iter().enumerate() {
        for (result, why) in side.iter().filter_map(|result| Some((result, nothing(result)?))) {
            let at = all.iter().position(|known| known.result == result.name);
            let at = at.unwrap_or_else(|| {
                all.push(NoAnswer { result: result.name.clone(), why: [None, None] });
                all.len() - 1
            });
            all[at].why[place] = Some(why);
        }
    }
    all
}

/// Whether a result is of a log that does not record how its jobs ended.
pub(super) fn lacks_outcomes(result: &Stored) -> bool {
    fate::no_outcomes(&result.whole).is_some()
}

/// The scope of a finding: tables and hours, assumptions, the definition of CPU time, and how many
/// jobs or tasks cross the edges of the window.
fn scope(result: &Stored, kind: &Kind<'_>) -> String {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct About {
        #[serde(deserialize_with = "if_it_reads")]
        cpu: Option<String>,
        #[serde(deserialize_with = "if_it_reads")]
        censoring: Option<Censoring>,
    }
    let About { cpu, censoring } = result.whole.read().unwrap_or_default();
    let cpu = cpu.or_else(|| result.whole.chosen::<Measures>().cpu);
    let cpu = cpu.map(|cpu| meaning_of(&cpu));
    let censoring = censoring.unwrap_or_default();
    let of = if censoring.of.is_empty() { "jobs" } else { censoring.of };
    let edge = |count: Option<u64>, said: &str| {
        let count = count.filter(|count| 0 < *count)?;
        Some(format!("{} {said}", counted(count, of.trim_end_matches('s'))))
    };
    let begun = edge(Some(censoring.left_censored), "from before the window");
    let edges = [begun, edge(censoring.censored, &open_at(&result.whole.inputs, of))];
    let tables = Some(result.scope(kind)).filter(|tables| !tables.is_empty());
    let all: Vec<String> = [tables, cpu].into_iter().chain(edges).flatten().collect();
    all.join("; ")
}

/// `open at the end of task_events (25.2 h)`: tables may end at different times.
fn open_at(inputs: &[Input], of: &str) -> String {
    let table = if of == "jobs" { Table::JobEvents } else { Table::TaskEvents };
    match length_of(inputs, table) {
        Some(length_s) => format!("open at the end of {} ({})", table.name(), lasting(length_s)),
        None => "open at its end".to_owned(),
    }
}

/// The time from the first to the last row of a table, s; `None` if it is not loaded.
fn length_of(inputs: &[Input], table: Table) -> Option<f64> {
    let input = inputs.iter().find(|input| input.table == table.name())?;
    Some(input.end_s? - input.start_s?).filter(|length_s| 0.0 < *length_s)
}

/// ` in the first 25.2 h` if tasks are loaded for a shorter time than jobs; otherwise empty.
fn within(inputs: &[Input]) -> String {
    const SHORTER: f64 = 0.99;
    let [jobs, tasks] = [Table::JobEvents, Table::TaskEvents].map(|table| length_of(inputs, table));
    let shorter = jobs.zip(tasks).filter(|(jobs, tasks)| *tasks < jobs * SHORTER);
    shorter.map_or_else(String::new, |(_, tasks)| format!(" in the first {}", lasting(tasks)))
}

/// The answer of a result without its last full stop, from its rule or from its kind.
pub(super) fn answer(kind: &Kind<'_>, result: &Stored) -> Option<String> {
    let rule = RULES.iter().find(|rule| rule.of == result.name);
    let told = rule.and_then(|rule| (rule.say)(&result.whole));
    let told = told.map(|told| match told {
        Told::Shown(text) | Told::NotShown(text) | Told::Unknown(text) => text,
    });
    told.or_else(|| kind.sentence?(&result.whole)).map(|text| text.trim_end_matches('.').to_owned())
}

/// The question that a result answers.
pub(super) fn question(result: &Stored) -> Option<&'static str> {
    RULES.iter().find(|rule| rule.of == result.name).map(|rule| rule.asks)
}

/// At most [`MOST`] findings; shown ones come first.
fn chosen(mut found: Vec<Finding>) -> Vec<Finding> {
    found.sort_by_key(|finding| !finding.is_shown);
    found.truncate(MOST);
    found
}

/// The title and the reason for a result that no rule reads and that has nothing to show.
fn without_rule(result: &Stored) -> Option<(Asked, String)> {
    if RULES.iter().any(|rule| rule.of == result.name) {
        return None;
    }
    let why = nothing(result)?;
    let (_, topic) = kind_of(&result.name)?;
    Some(((caption(&result.name), result.name.clone(), topic), why))
}

/// The reason why a result has nothing to show, without a full stop; `None` if it has something to
/// show. Outcomes from a log without a status are assumptions, so they are not shown.
pub(super) fn nothing(result: &Stored) -> Option<String> {
    let why = fate::no_outcomes(&result.whole).or_else(|| result.whole.nothing())?;
    Some(why.trim_end_matches('.').to_owned())
}

/// The reason why a result leaves its question open, even if it has something to show.
pub(super) fn unanswered(result: &Stored) -> Option<String> {
    nothing(result).or_else(|| {
        let rule = RULES.iter().find(|rule| rule.of == result.name)?;
        match (rule.say)(&result.whole)? {
            Told::Unknown(why) => Some(why),
            Told::Shown(_) | Told::NotShown(_) => None,
        }
    })
}

fn kind_of(name: &str) -> Option<(&'static Kind<'static>, &'static Topic)> {
    list::topics()
        .into_iter()
        .find_map(|topic| Some((list::kinds_on(topic).find(|kind| kind.name == name)?, topic)))
}

/// ` (one job makes up 97.7 % of what)` if one job has most of a sum.
fn of_one_job(share: Option<f64>, what: &str) -> String {
    most_of(share, what).map_or_else(String::new, |said| format!(" ({said})"))
}
