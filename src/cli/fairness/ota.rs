//! `jobfate reproduce ota`: the study of 2009 beside ours.
//!
//! Its worked examples are computed; its figures show a week of Grid'5000 that was chosen at
//! random and is not named, so that ours show a week of the log at hand and are not judged as the
//! same. What a reader of the figures must see is counted.

use anyhow::Result;
use clap::{Args, Command, FromArgMatches};

use super::{FairnessArgs, Found, answer, charts, find};
use crate::claims::{Claim, Published, headline};
use crate::cli::reproduce_experiments::{claims_table, json_of_claims};
use crate::cli::store::{self, Answer, Files, Origin};
use crate::cli::{AnswerArgs, console};
use crate::fairness::indices::{pool_shares, rup_after};
use crate::fairness::usage::{UserUsage, users};

const PAPER: &str = "Ota and Aida (2009)";

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
    let mut claims = examples();
    claims.extend(figures(&found, &week));
    let table = claims_table(&claims);
    console::note(format!("{PAPER}: {}", headline(&claims)));
    console::note(
        "given by the paper: half-life 1 day, RUP starts at 0.5, factors 1. Worked examples are \
         checks of a formula; its week of Grid'5000 is not named, so figures are not compared",
    );
    let drawn = charts::charts(&found, week.top);
    let figure = |stem: &str| if stem.contains("condor") { "figure-3" } else { "figure-4" };
    let answer = Answer {
        name: "ota",
        table: &table,
        json: json_of_claims(PAPER, &claims),
        settings: answer::settings(&found),
        charts: drawn.into_iter().map(|(stem, chart)| (figure(&stem).to_owned(), chart)).collect(),
    };
    let origin = Origin::of(&found.span.clusters[0].lake);
    store::give(&answer, files, &origin, &args.form())
}

/// Section 3.1.2: worked examples, which check a formula and no data.
fn examples() -> Vec<Claim> {
    let check = |claim: &str, paper: f64, ours: f64| {
        let claim = Published::exact(paper, 0.1).beside("section 3.1.2", claim, &[ours]);
        Claim { decided_by: "a check of the formula, not of data".to_owned(), ..claim }
    };
    let idle = [(1.0, 5.0), (2.0, 2.5)].map(|(days, paper)| {
        let ours = rup_after(10.0, 0.0, days * DAY_S, DAY_S);
        check(&format!("RUP 10, idle for {days} half-lives"), paper, ours)
    });
    let shares = pool_shares(&[20.0, 10.0, 5.0]);
    let pool = [(1, 2.0), (2, 4.0)].map(|(idx, paper)| {
        let eup = [20, 10, 5][idx];
        check(&format!("share of EUP {eup} over that of EUP 20"), paper, shares[idx] / shares[0])
    });
    idle.into_iter().chain(pool).collect()
}

/// What figures 3 and 4 are read for.
fn figures(found: &Found, args: &FairnessArgs) -> Vec<Claim> {
    let suggestions = found.suggestions(args);
    #[expect(clippy::cast_precision_loss, reason = "a count of users")]
    let counted = |count: usize| Some(count as f64);
    let users = users(&found.history);
    let pair = staircase_and_step(&users);
    let ratio = pair.map(|(stairs, step)| step.cpu_s / stairs.cpu_s);
    let seen = |place: &str, claim: &str, published: f64, ours: Option<f64>| Claim {
        ours,
        ..Claim::without(place, claim, Some(published), "a week of another log")
    };
    let early = counted(suggestions.hold_back.len());
    let late = counted(suggestions.came_when_free.len());
    let claims = vec![
        seen("figure 3", "users who used much early in the week", 3.0, early),
        seen("figure 3", "users who came late, when capacity was free", 3.0, late),
        seen("figure 4", "final RV of one steep step over that of a staircase", 1.0, ratio),
    ];
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
    claims
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
