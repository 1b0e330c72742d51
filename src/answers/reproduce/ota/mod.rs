//! The parameters, claims and figures of `reproduce ota`.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::answers::fairness::gathered::{Buckets, Ends, gather_all};
use crate::answers::fairness::plan::{FairnessPlan, Until};
use crate::answers::fairness::{Found, charts};
use crate::answers::reproduce::ota::sentences::Sentence;
use crate::answers::reproduce::study::{Study, parameters_in_words};
use crate::answers::{Said, fairness as answer};
use crate::charts::{Chart, LineChart, Tone};
use crate::claims::{Claim, Parameter, Published, Settled, headline};
use crate::fairness::gather::Accrual;
use crate::fairness::indices::{pool_shares, rup_after};
use crate::fairness::usage::{UserUsage, users};
use crate::fairness::week::{self, Climb, Seen};
use crate::faults::{Result, Usage};
use crate::results::store::Origin;

pub(crate) mod sentences;

/// Seconds of a day.
pub(crate) const DAY_S: f64 = 86_400.0;

pub const PAPER: &str = "Ota and Aida (2009)";

/// The span and the users of the figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The first day, counted from the first event.
    from: f64,
    /// The number of days.
    days: f64,
    /// The users that are drawn.
    users: Users,
    /// Length of an interval, s.
    interval_s: f64,
    /// Half-life of Condor's priority, s.
    half_life_s: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            from: 0.0,
            days: 7.0,
            users: Users::Heaviest(Tone::SERIES.len()),
            interval_s: 3600.0,
            half_life_s: DAY_S,
        }
    }
}

/// The users that are drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Users {
    /// This many of the heaviest.
    Heaviest(usize),
    /// These.
    Named(Vec<String>),
}

impl Users {
    /// Reads a count, or names separated by commas; a single name ends in a comma.
    fn read(text: &str) -> Option<Self> {
        let most = Tone::SERIES.len();
        if let Some(count) = text.parse().ok().filter(|count| (1..=most).contains(count)) {
            return Some(Self::Heaviest(count));
        }
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        let names: Vec<String> = names.map(str::to_owned).collect();
        (text.contains(',') && (1..=most).contains(&names.len())).then_some(Self::Named(names))
    }

    fn text(&self) -> String {
        match self {
            Self::Heaviest(count) => count.to_string(),
            Self::Named(names) if names.len() == 1 => format!("{},", names[0]),
            Self::Named(names) => names.join(","),
        }
    }
}

impl Settings {
    /// Sets a parameter by its key; an error shows `flag` before the key.
    ///
    /// # Errors
    /// There is no such parameter, or it does not take this value.
    pub fn set(&mut self, flag: &str, key: &str, value: &str) -> Result<(), Usage> {
        let number = |least: f64, most: f64, what: &str| {
            let number = value.parse::<f64>().ok().filter(|one| (least..=most).contains(one));
            number.ok_or_else(|| Usage(format!("`{flag}{key}={value}`: expected {what}")))
        };
        match key {
            "from" => self.from = number(0.0, 36_500.0, "a number of days from 0 to 36500")?,
            "days" => self.days = number(0.01, 36_500.0, "a number of days from 0.01 to 36500")?,
            "interval_s" => self.interval_s = number(1.0, 1e9, "seconds, 1 or more")?,
            "half_life_s" => self.half_life_s = number(1.0, 1e9, "seconds, 1 or more")?,
            "users" => {
                let expected = || {
                    Usage(format!(
                        "`{flag}users={value}`: expected a number from 1 to {} or that many names, \
                        separated by commas (a single name ends in a comma)",
                        Tone::SERIES.len()
                    ))
                };
                self.users = Users::read(value).ok_or_else(expected)?;
            }
            _ => {
                let known = self.parameters().map(|one| one.key).join(", ");
                return Err(Usage(format!(
                    "{flag}{key}: ota has no such parameter (it has: {known})"
                )));
            }
        }
        Ok(())
    }

    /// All parameters, each given by the paper or left open.
    pub(crate) fn parameters(&self) -> [Parameter; 5] {
        let one = |key, value: String, settled, about| Parameter { key, value, settled, about };
        let given_or_chosen = |value: f64, given: f64| {
            if (value - given).abs() < f64::EPSILON { Settled::Given } else { Settled::Open }
        };
        [
            one(
                "half_life_s",
                self.half_life_s.to_string(),
                given_or_chosen(self.half_life_s, DAY_S),
                "time in which Condor's priority falls by half, s",
            ),
            one(
                "days",
                self.days.to_string(),
                given_or_chosen(self.days, 7.0),
                "length of the span, days",
            ),
            one(
                "from",
                self.from.to_string(),
                Settled::Open,
                "first day of the span, from the first event (chosen at random by the paper)",
            ),
            one(
                "users",
                self.users.text(),
                Settled::Open,
                "users in the figures: the number of heaviest ones, or names separated by commas",
            ),
            one(
                "interval_s",
                self.interval_s.to_string(),
                Settled::Open,
                "time between two values of an index, s",
            ),
        ]
    }
}

/// The lake and window of a run.
pub struct Place<'a> {
    /// The lake.
    pub lake: &'a Path,
    /// The end of the window, µs, if it was chosen.
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

/// Section 3.1.2: worked examples, which check a formula, not data.
pub(crate) fn examples() -> Vec<Claim> {
    let check = |claim: &str, paper: f64, ours: f64| {
        Published::exact(paper, 0.1).worked_example("section 3.1.2", claim, ours)
    };
    let idle = [(1.0, 5.0, "1 day"), (2.0, 2.5, "2 days")].map(|(days, paper, text)| {
        let ours = rup_after(10.0, 0.0, days * DAY_S, DAY_S);
        check(&format!("RUP 10 after {text} without usage"), paper, ours)
    });
    let shares = pool_shares(&[20.0, 10.0, 5.0]);
    let pool = [(1, 2.0), (2, 4.0)].map(|(idx, paper)| {
        let eup = [20, 10, 5][idx];
        check(&format!("share of EUP {eup} over that of EUP 20"), paper, shares[idx] / shares[0])
    });
    idle.into_iter().chain(pool).collect()
}

/// The claims of figures 3 and 4.
pub(crate) fn figures(seen: &Seen) -> Vec<Claim> {
    #[expect(clippy::cast_precision_loss, reason = "a count of users or attempts")]
    let counted = |count: usize| Some(count as f64);
    let pair = seen.pair.as_ref();
    let row = |place: &str, claim: &str, published: Option<f64>, ours: Option<f64>| Claim {
        ours,
        ..Claim::without(place, claim, published, "our week is of another log")
    };
    let free = seen.late.iter().filter(|late| late.came_when_free()).count();
    vec![
        row("figure 3", "users who used much early", Some(3.0), counted(seen.early.len())),
        row("figure 3", "users who came late, when capacity was free", Some(3.0), counted(free)),
        row(
            "figure 4",
            "final RV of a steep step over that of a staircase, about 1",
            None,
            pair.map(|pair| pair.step.cpu_s / pair.stairs.cpu_s),
        ),
        row(
            "figure 4",
            "long jobs behind the steep step",
            Some(1.0),
            pair.and_then(|pair| counted(pair.step.ended_in_largest_step)),
        ),
        row(
            "figure 4",
            "median run of the step's jobs over that of the staircase's, above 1",
            None,
            pair.and_then(|pair| Some(pair.step.median_run_in_step_s? / pair.stairs.median_run_s?)),
        ),
    ]
}
