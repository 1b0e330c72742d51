//! Observations that a reader should make in figures 3 and 4: sentences, and whether each is true.

use arrow::record_batch::RecordBatch;

use super::DAY_S;
use crate::digits::{counted, grouped, grouped_decimal, six_digits};
use crate::fairness::history::known_name;
use crate::fairness::week::{ALIKE, Early, Late, Pair, STAIR_MOST, STEEP, Seen};
use crate::results::frame::Frame;

/// A sentence about a figure, and whether it is true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// The figure.
    pub figure: &'static str,
    /// The observation that the reader looks for.
    pub sees: &'static str,
    /// The user in the sentence, if it is about one.
    pub user: Option<String>,
    /// The sentence.
    pub text: String,
    /// Whether the sentence is true.
    pub holds: bool,
}

impl Sentence {
    /// The sentence, then yes or no.
    pub(crate) fn in_words(&self) -> String {
        format!("{}: {}", self.text, if self.holds { "yes" } else { "no" })
    }
}

/// All sentences, in the order of the figures.
pub(crate) fn all(seen: &Seen, unit: &str) -> Vec<Sentence> {
    let day = grouped_decimal(seen.middle_s / DAY_S, 2);
    let mut all = Vec::new();
    all.push(Sentence {
        figure: "figure 3",
        sees: "used_much_early",
        user: None,
        text: format!(
            "some of the {} drawn were charged over half by day {day} and have an EUP above the \
             mean there",
            counted(seen.drawn as u64, "user")
        ),
        holds: !seen.early.is_empty(),
    });
    all.extend(seen.early.iter().map(|early| of_early(early, &day, unit)));
    all.push(Sentence {
        figure: "figure 3",
        sees: "came_late",
        user: None,
        text: format!(
            "over half of what ran of some users ran after day {day} (at most {} of the capacity \
             was in use in an interval)",
            percent(seen.load_max)
        ),
        holds: !seen.late.is_empty(),
    });
    all.extend(seen.late.iter().map(of_late));
    all.push(Sentence {
        figure: "figure 4",
        sees: "staircase_and_step",
        user: None,
        text: format!(
            "two users end within {} of each other: one without an interval of over {} of the \
             usage, one with over {} in one interval",
            percent(ALIKE),
            percent(STAIR_MOST),
            percent(STEEP)
        ),
        holds: seen.pair.is_some(),
    });
    all.extend(seen.pair.iter().flat_map(|pair| of_pair(pair, unit)));
    all
}

fn of_early(early: &Early, day: &str, unit: &str) -> Sentence {
    let all = early.charged_first_s + early.charged_second_s;
    Sentence {
        figure: "figure 3",
        sees: "used_much_early",
        user: name(&early.user),
        text: format!(
            "`{}` was charged {} of its usage by day {day} (EUP {} there); a limit from then on \
             would have held back at most {} {unit}",
            early.user,
            percent(early.charged_first_s / all),
            six_digits(early.eup_middle),
            six_digits(early.charged_second_s)
        ),
        holds: true,
    }
}

fn of_late(late: &Late) -> Sentence {
    Sentence {
        figure: "figure 3",
        sees: "came_when_free",
        user: name(&late.user),
        text: format!(
            "`{}` came late and when capacity was free: the others used {} of the capacity \
             meanwhile, {} in the first half",
            late.user,
            percent(late.others_meanwhile),
            percent(late.others_before)
        ),
        holds: late.came_when_free(),
    }
}

fn of_pair(pair: &Pair, unit: &str) -> [Sentence; 3] {
    let Pair { stairs, step } = pair;
    let both = Sentence {
        figure: "figure 4",
        sees: "same_usage",
        user: None,
        text: format!(
            "`{}` is a staircase of {} to {} {unit} and `{}` a steep step ({} in one interval) to \
             {} {unit}",
            stairs.user,
            counted(stairs.active_intervals, "step"),
            six_digits(stairs.cpu_s),
            step.user,
            percent(step.largest_step_share),
            six_digits(step.cpu_s)
        ),
        holds: true,
    };
    let short = Sentence {
        figure: "figure 4",
        sees: "short_jobs",
        user: name(&stairs.user),
        text: format!(
            "the staircase is many short jobs: {} ended, {}, against {} of those behind the step",
            counted(stairs.ended as u64, "attempt"),
            median(stairs.median_run_s),
            median(step.median_run_in_step_s)
        ),
        holds: 1 < stairs.ended && stairs.median_run_s < step.median_run_in_step_s,
    };
    let one = Sentence {
        figure: "figure 4",
        sees: "one_long_job",
        user: name(&step.user),
        text: format!(
            "the steep step is one long job: {} ended in its interval",
            counted(step.ended_in_largest_step as u64, "attempt")
        ),
        holds: step.ended_in_largest_step == 1,
    };
    [both, short, one]
}

fn name(user: &str) -> Option<String> {
    known_name(user).map(str::to_owned)
}

fn percent(share: f64) -> String {
    format!("{} %", grouped_decimal(share * 100.0, 1))
}

fn median(run_s: Option<f64>) -> String {
    run_s.map_or_else(
        || "no known run time".to_owned(),
        |run_s| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds")]
            let whole = run_s.round() as u64;
            format!("median run {} s", grouped(whole))
        },
    )
}

/// A row per sentence.
pub(crate) fn table(all: &[Sentence]) -> RecordBatch {
    let rows = || all.iter();
    Frame::default()
        .text("figure", rows().map(|row| row.figure))
        .text("sees", rows().map(|row| row.sees))
        .about("what is looked for")
        .maybe_text("user", rows().map(|row| row.user.as_deref()))
        .text("sentence", rows().map(|row| row.text.as_str()))
        .whole()
        .flag("holds", rows().map(|row| Some(row.holds)))
        .batch()
}
