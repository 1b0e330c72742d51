//! The results of the reproduction, and its claims.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::PAPER;
use super::figures::{examples, figures};
use super::sentences::{self, Sentence};
use super::settings::{DAY_S, Settings, Users};
use crate::answers::fairness::gathered::{Buckets, Ends, gather_all};
use crate::answers::fairness::plan::{FairnessPlan, Until};
use crate::answers::fairness::{Found, charts};
use crate::answers::reproduce::study::{Study, parameters_in_words};
use crate::answers::{Said, fairness as answer};
use crate::charts::{Chart, LineChart};
use crate::claims::{Claim, headline};
use crate::fairness::gather::Accrual;
use crate::fairness::usage::{UserUsage, users};
use crate::fairness::week::{self, Climb, Seen};
use crate::faults::{Result, Usage};
use crate::results::store::Origin;

/// The lake and window of a run.
pub struct Place<'a> {
    /// The lake.
    pub lake: &'a Path,
    /// The end of the window, µs, if the user chose one.
    pub window_end: Option<i64>,
}

/// The results of a run.
pub struct Outcome {
    pub found: Found,
    pub seen: Seen,
    pub named: Vec<UserUsage>,
    pub sentences: Vec<Sentence>,
    pub claims: Vec<Claim>,
    pub settings: Settings,
}

/// Gathers the usage in the span and evaluates the figures.
///
/// # Errors
/// The lake cannot be read, or a named user is not charged in the span.
pub fn find(place: &Place, settings: &Settings, say: fn(&Said)) -> Result<Outcome> {
    let condor = if (settings.half_life_s - DAY_S).abs() < f64::EPSILON {
        "condor".to_owned()
    } else {
        format!("condor:half_life_s={}", settings.half_life_s)
    };
    let week = FairnessPlan {
        lake: vec![place.lake.display().to_string()],
        days: Some(settings.days),
        from: settings.from,
        interval: Some(settings.interval_s),
        accrual: Some(Accrual::End),
        index: vec![condor, "metered".to_owned()],
        ..FairnessPlan::default()
    };
    let until = Until { window_end_us: place.window_end, ..Until::default() };
    let found = gather_all(&week, until, Ends::Kept, Buckets::Unread, &say)?.evaluate(&say)?;
    let all = users(&found.history);
    let named: Vec<UserUsage> = match &settings.users {
        Users::Heaviest(count) => all.iter().take(*count).cloned().collect(),
        Users::Named(names) => {
            names.iter().map(|name| user_called(name, &all)).collect::<Result<_, Usage>>()?
        }
    };
    let drawn: Vec<usize> = named.iter().map(|user| user.who).collect();
    let pairs: Vec<usize> = match &settings.users {
        Users::Heaviest(_) => all.iter().map(|user| user.who).collect(),
        Users::Named(_) => drawn.clone(),
    };
    let seen = week::read(&found.history, &found.series[0], &drawn, &pairs);
    let mut claims = examples();
    claims.extend(figures(&seen));
    let sentences = sentences::all(&seen, found.span.unit);
    Ok(Outcome { found, seen, named, sentences, claims, settings: settings.clone() })
}

pub(crate) fn user_called(name: &str, all: &[UserUsage]) -> Result<UserUsage, Usage> {
    let user = all.iter().find(|user| user.user == name);
    user.cloned().ok_or_else(|| {
        let some: Vec<&str> = all.iter().take(5).map(|user| user.user.as_str()).collect();
        let some = if some.is_empty() { "none".to_owned() } else { some.join(", ") };
        Usage(format!("no user `{name}` is charged in the span (heaviest there: {some})"))
    })
}

impl Outcome {
    /// The results as a study of a paper.
    pub fn study(self) -> Study {
        let settings = match answer::settings(&self.found) {
            Value::Object(settings) => settings,
            _ => Map::new(),
        };
        Study {
            notes: Vec::new(),
            name: "ota",
            paper: PAPER,
            parameters: self.settings.parameters().to_vec(),
            figures: self.figures_in_words(),
            settings,
            charts: self.charts(),
            tables: vec![("ota-seen".to_owned(), sentences::table(&self.sentences))],
            origin: Origin::of(&self.found.span.clusters[0].lake),
            claims: self.claims,
        }
    }

    /// The figures as sentences; the curves are those of `fairness`.
    fn figures_in_words(&self) -> Value {
        let figures = [("figure 3", "EUP"), ("figure 4", "RV")].map(|(figure, axis)| {
            let own = self.sentences.iter().filter(|one| one.figure == figure);
            let remarks: Vec<String> = own.map(Sentence::in_words).collect();
            json!({
                "name": figure, "title": axis, "axes": ["days", axis], "curves": [], "marks": [],
                "remarks": remarks,
            })
        });
        json!(figures)
    }

    /// Figures 3 and 4, and the pair of figure 4 alone.
    fn charts(&self) -> Vec<(String, Chart)> {
        let named: Vec<&UserUsage> = self.named.iter().collect();
        let [eup, rv] = [0, 1].map(|idx| &self.found.series[idx]);
        let titled = |title: &str, series, users: &[&UserUsage]| {
            let chart = charts::of_users(&self.found, series, users, &[]);
            Chart::Lines(LineChart { title: title.to_owned(), ..chart })
        };
        let mut all = vec![
            (
                "figure-3".to_owned(),
                titled("Figure 3: effective user priority (EUP) of Condor", eup, &named),
            ),
            ("figure-4".to_owned(), titled("Figure 4: metered usage (RV)", rv, &named)),
        ];
        if let Some(pair) = &self.seen.pair {
            let users = users(&self.found.history);
            let of = |climb: &Climb| users.iter().find(|user| user.who == climb.who);
            let both = [of(&pair.stairs), of(&pair.step)];
            let both: Vec<&UserUsage> = both.into_iter().flatten().collect();
            let title = "Figure 4: a staircase and a steep step to about the same usage";
            all.push(("figure-4-pair".to_owned(), titled(title, rv, &both)));
        }
        all
    }

    /// The notes: the verdicts, the parameters, and what the figures show.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![format!("{PAPER}: {}", headline(&self.claims))];
        notes.extend(parameters_in_words(&self.settings.parameters()));
        let in_words = |one: &Sentence| format!("{}: {}", one.figure, one.in_words());
        notes.extend(self.sentences.iter().map(in_words));
        notes
    }
}
