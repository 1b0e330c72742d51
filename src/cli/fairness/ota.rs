//! `jobfate reproduce ota`: the study of 2009 beside ours.
//!
//! Its worked examples are computed; its figures show a week of Grid'5000 that was chosen at
//! random and is not named, so that ours show a week of the log at hand and are not judged as the
//! same. What a reader of the figures must see is counted.

use anyhow::Result;
use clap::{Args, Command, FromArgMatches};
use serde_json::json;

use super::{FairnessArgs, Found, answer, charts, find};
use crate::cli::render::Frame;
use crate::cli::store::{self, Answer, Files, Origin};
use crate::cli::{AnswerArgs, console};
use crate::fairness::indices::{pool_shares, rup_after};
use crate::fairness::usage::{UserUsage, users};
use crate::studies::mandai::{Basis, Comparisons, Verdict, printed};

const DAY_S: f64 = 86_400.0;

pub(crate) fn run(args: &AnswerArgs) -> Result<()> {
    let lake = args.lake.display().to_string();
    let words = ["fairness", "--lake", &lake, "--days", "7", "--accrual", "end"];
    let matches =
        FairnessArgs::augment_args(Command::new("fairness")).try_get_matches_from(words)?;
    let mut week = FairnessArgs::from_arg_matches(&matches)?;
    week.window_end = args.window_end;
    let files = Files::in_out(args.out.as_deref(), "ota")?;
    let found = find(&week)?;
    let mut all = Comparisons::default();
    examples(&mut all);
    figures(&found, &week, &mut all);
    let table = Frame::default()
        .text("item", all.0.iter().map(|one| one.item))
        .text("what", all.0.iter().map(|one| one.what.as_str()))
        .float("paper", all.0.iter().map(|one| Some(one.paper)))
        .float("ours", all.0.iter().map(|one| one.ours))
        .text("verdict", all.0.iter().map(|one| one.verdict.name()))
        .text("note", all.0.iter().map(|one| one.note.as_str()))
        .batch();
    let count = |verdict| all.0.iter().filter(|one| one.verdict == verdict).count();
    console::note(format!(
        "{} reproduced, {} differ, {} not comparable (another log)",
        count(Verdict::Reproduced),
        count(Verdict::Differs),
        count(Verdict::NotComparable)
    ));
    let drawn = charts::charts(&found, week.top);
    let figure = |stem: &str| if stem.contains("condor") { "figure-3" } else { "figure-4" };
    let answer = Answer {
        name: "ota",
        table: &table,
        json: json!({"rows": all.0}),
        settings: answer::settings(&found),
        charts: drawn.into_iter().map(|(stem, chart)| (figure(&stem).to_owned(), chart)).collect(),
    };
    let origin = Origin::of(&found.span.clusters[0].lake);
    store::give(&answer, files, &origin, &args.form())
}

/// Section 3.1.2.
fn examples(all: &mut Comparisons) {
    for (days, paper) in [(1.0, 5.0), (2.0, 2.5)] {
        let ours = rup_after(10.0, 0.0, days * DAY_S, DAY_S);
        let what = format!("RUP 10, idle for {days} half-lives");
        all.add("Section 3.1.2", &what, printed(paper, 0.1), Some(ours), &Basis::Whole);
    }
    let shares = pool_shares(&[20.0, 10.0, 5.0]);
    for (idx, paper) in [(1, 2.0), (2, 4.0)] {
        let ours = shares[idx] / shares[0];
        let what = format!("share of EUP {} over that of EUP 20", [20, 10, 5][idx]);
        all.add("Section 3.1.2", &what, printed(paper, 0.1), Some(ours), &Basis::Whole);
    }
}

/// What figures 3 and 4 are read for.
fn figures(found: &Found, args: &FairnessArgs, all: &mut Comparisons) {
    let basis = Basis::Partial("a week of another log".to_owned());
    let suggestions = found.suggestions(args);
    #[expect(clippy::cast_precision_loss, reason = "a count of users")]
    let counted = |count: usize| Some(count as f64);
    all.add(
        "Figure 3",
        "users to hold back early in the week",
        printed(3.0, 1.0),
        counted(suggestions.hold_back.len()),
        &basis,
    );
    all.add(
        "Figure 3",
        "users who came late, when there was room",
        printed(3.0, 1.0),
        counted(suggestions.came_when_free.len()),
        &basis,
    );
    let users = users(&found.history);
    let pair = staircase_and_step(&users);
    let ratio = pair.map(|(stairs, step)| step.cpu_s / stairs.cpu_s);
    all.add(
        "Figure 4",
        "final RV of one steep step over that of a staircase",
        printed(1.0, 0.1),
        ratio,
        &basis,
    );
    if let Some((stairs, step)) = pair {
        console::note(format!(
            "figure 4: `{}` is a staircase ({} intervals with usage), `{}` one steep step ({:.0} % \
             in one interval), to the same total within 10 %",
            stairs.user,
            stairs.active_intervals,
            step.user,
            step.largest_step_share * 100.0
        ));
    }
}

/// The heaviest pair with about the same usage, one in many small steps and one in a single step.
fn staircase_and_step(users: &[UserUsage]) -> Option<(&UserUsage, &UserUsage)> {
    let mut steps = users.iter().filter(|user| 0.8 <= user.largest_step_share);
    let stairs = |step: &UserUsage| {
        let like = |user: &&UserUsage| {
            user.largest_step_share <= 0.25 && (user.cpu_s / step.cpu_s - 1.0).abs() <= 0.1
        };
        users.iter().find(like)
    };
    steps.find_map(|step| Some((stairs(step)?, step)))
}
