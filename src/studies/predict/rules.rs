//! Rules that predict at submission or later, each with a memory of ended jobs.
//!
//! In: ends, one after another. Out: the chance that a job submitted now does not finish. A rule
//! uses the user, logical name and scheduling class of a job, its age and the progress of its
//! tasks, and nothing else.

use std::fmt;
use std::str::FromStr;

use rustc_hash::FxHashMap;

use super::known::{Known as Ended, Reached};
use super::logistic::{Features, Known, Logistic};
use super::past::Past;
use super::progress::Progress;
use super::rate::{HALF_LIFE, Rate, keep};
use super::step::{End, Step, Who};
use crate::notation::{Notation, NotationError, write_notation};

/// A rule with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Predictor {
    /// Like the last ended job of the same user and logical name. Without such a job, it finishes.
    Last,
    /// Like `Last`, but without such a job uses the last ended job of the user, then the overall
    /// rate.
    LastOrRate,
    /// Like the last ended job of the same user. Without such a job, it finishes.
    LastOfUser,
    /// The rate among earlier jobs of the same user and name, where older jobs have less weight.
    /// Small samples are drawn to the rate of the user, which is drawn to the overall rate.
    Rate {
        /// Number of further ends after which an end has half the weight.
        half_life: f64,
    },
    /// The rate among earlier jobs of the same scheduling class.
    Class,
    /// The rate among all earlier jobs.
    Overall,
    /// `Rate` with its default, weighted in two ways: by how often finished and unfinished jobs
    /// lasted longer than the age of the prediction, and by the jobs of the same user and name that
    /// did.
    Hazard,
    /// `Rate` with its default, weighted by how often jobs did not finish if their tasks lasted as
    /// long and had as many events. The result is the mean over the tasks that have begun.
    HazardEvents,
    /// Logistic regression on all of these, trained as jobs end.
    Logistic {
        /// Step size of each update.
        step: f64,
    },
}

/// Step size of each update, by default.
const STEP: f64 = 0.05;

impl Predictor {
    /// All rules, with their default parameters.
    pub const ALL: [Self; 9] = [
        Self::Last,
        Self::LastOrRate,
        Self::LastOfUser,
        Self::Rate { half_life: HALF_LIFE },
        Self::Class,
        Self::Overall,
        Self::Logistic { step: STEP },
        Self::Hazard,
        Self::HazardEvents,
    ];

    /// The rules that are compared by default, without the hazards: at submission they add nothing.
    pub fn usual() -> Vec<Self> {
        let is_hazard = |rule: &Self| matches!(rule, Self::Hazard | Self::HazardEvents);
        Self::ALL.into_iter().filter(|rule| !is_hazard(rule)).collect()
    }

    /// The rule that kill rules use.
    pub const USUAL: Self = Self::Rate { half_life: HALF_LIFE };

    /// Its name, without its parameters.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Last => "last",
            Self::LastOrRate => "last-or-rate",
            Self::LastOfUser => "last-of-user",
            Self::Rate { .. } => "rate",
            Self::Class => "class",
            Self::Overall => "overall",
            Self::Hazard => "hazard",
            Self::HazardEvents => "hazard-events",
            Self::Logistic { .. } => "logistic",
        }
    }

    /// What it is, in a few words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Last => "the user's last job of the same name",
            Self::LastOrRate => "the last job, or else the rate",
            Self::LastOfUser => "the user's last job",
            Self::Rate { .. } => "the rate of the user's jobs of the same name",
            Self::Class => "the rate of the scheduling class",
            Self::Overall => "the rate of all jobs",
            Self::Hazard => "the rate by the age of the job",
            Self::HazardEvents => "the rate by the age and events of the tasks",
            Self::Logistic { .. } => "logistic regression",
        }
    }

    /// What it predicts by, in one line.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Last => {
                "as the last ended job of the same user and job name (`logical_job_name`); finishes if \
                there is none"
            }
            Self::LastOrRate => {
                "like `last`; without such a job as the last ended job of the user, then the share of \
                all ended jobs that did not finish"
            }
            Self::LastOfUser => "as the last ended job of the same user; finishes if there is none",
            Self::Rate { .. } => {
                "the share of ended jobs of the same user and job name (`logical_job_name`) that did not \
                finish, recent ones counting more; with few such jobs, closer to the share of the user and of all jobs"
            }
            Self::Class => {
                "the share of ended jobs of the same scheduling class that did not finish"
            }
            Self::Overall => {
                "the share of all ended jobs that did not finish; it changes over time, so that it ranks \
                jobs by when they were submitted"
            }
            Self::Hazard => {
                "like `rate`, given that the job has lasted as long as it has: by the ended jobs that \
                lasted longer"
            }
            Self::HazardEvents => {
                "like `rate`, given how long the tasks of the job have lasted and how many events they \
                have had"
            }
            Self::Logistic { .. } => {
                "a logistic regression on what the other rules use, learned as jobs end"
            }
        }
    }

    /// The empty memory of this rule.
    pub(super) fn mind(self, past: &Past) -> Mind<'_> {
        let users = past.user_count as usize;
        Mind {
            rule: self,
            last: FxHashMap::default(),
            last_of_user: vec![None; users],
            rates: FxHashMap::default(),
            rate_of_user: vec![Rate::default(); users],
            by_class: FxHashMap::default(),
            overall: Rate::default(),
            logistic: Logistic::default(),
            age_us: past.age_us,
            lasting: FxHashMap::default(),
            survival: [Rate::default(); 2],
            ended: Ended::default(),
            progress: past.progress.as_ref(),
        }
    }
}

impl fmt::Display for Predictor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate { half_life } => write_notation(f, "rate", &[("half_life", half_life)]),
            Self::Logistic { step } => write_notation(f, "logistic", &[("step", step)]),
            other => f.write_str(other.name()),
        }
    }
}

impl FromStr for Predictor {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        let mut notation = Notation::parse("prediction rule", text.trim())?;
        let found = Self::ALL.into_iter().find(|rule| rule.name() == notation.name());
        let Some(rule) = found else {
            return Err(notation.unknown_name(Self::ALL.map(Self::name)));
        };
        let rule = match rule {
            Self::Rate { half_life } => {
                let expected = "a number of jobs from 0.1 to 1000000";
                let half_life = notation.number("half_life", expected, half_life, 0.1..=1e6)?;
                Self::Rate { half_life }
            }
            Self::Logistic { step } => {
                let expected = "a number from 0.001 to 1";
                Self::Logistic { step: notation.number("step", expected, step, 0.001..=1.0)? }
            }
            other => other,
        };
        notation.finish()?;
        Ok(rule)
    }
}

/// The memory of a rule.
#[derive(Clone, Debug)]
pub(super) struct Mind<'a> {
    rule: Predictor,
    last: FxHashMap<(u32, u32), bool>,
    last_of_user: Vec<Option<bool>>,
    rates: FxHashMap<(u32, u32), Rate>,
    rate_of_user: Vec<Rate>,
    by_class: FxHashMap<Option<i32>, Rate>,
    overall: Rate,
    logistic: Logistic,
    /// The age of the prediction, µs.
    age_us: i64,
    /// By user and name, the jobs that lasted longer than that age.
    lasting: FxHashMap<(u32, u32), Rate>,
    /// For finished and unfinished jobs: the number of jobs, and of jobs that lasted longer.
    survival: [Rate; 2],
    /// The progress of the tasks of all jobs that ended.
    ended: Ended,
    /// The progress of tasks; `None` if no rule needs it.
    progress: Option<&'a Progress>,
}

impl Mind<'_> {
    /// Adds a job that has ended.
    pub(super) fn learn(&mut self, step: &Step, end: End) {
        let who = step.who;
        let is_lost = end != End::Finished;
        let pair = (who.user, who.name);
        match self.rule {
            Predictor::Last => drop(self.last.insert(pair, is_lost)),
            Predictor::LastOfUser => self.last_of_user[who.user as usize] = Some(is_lost),
            Predictor::LastOrRate => {
                self.last.insert(pair, is_lost);
                self.last_of_user[who.user as usize] = Some(is_lost);
                self.overall.add(is_lost, 1.0);
            }
            Predictor::Rate { half_life } => {
                self.add_rates(who, is_lost, keep(half_life));
            }
            Predictor::Class => self.by_class.entry(who.class).or_default().add(is_lost, 1.0),
            Predictor::Overall => self.overall.add(is_lost, 1.0),
            Predictor::Hazard => {
                self.add_rates(who, is_lost, keep(HALF_LIFE));
                let lasted = self.age_us < step.age_us;
                self.survival[usize::from(is_lost)].add(lasted, 1.0);
                if lasted {
                    self.lasting.entry(pair).or_default().add(is_lost, keep(HALF_LIFE));
                }
            }
            Predictor::HazardEvents => {
                let reached = self.progress.and_then(|known| known.ended(step.row_id));
                self.ended.end(pair, is_lost, reached.unwrap_or(&Reached::default()));
            }
            Predictor::Logistic { step } => {
                let features = self.features(who);
                self.logistic.learn(&features, is_lost, step);
                self.add_rates(who, is_lost, keep(HALF_LIFE));
                self.by_class.entry(who.class).or_default().add(is_lost, 1.0);
                self.last.insert(pair, is_lost);
                self.last_of_user[who.user as usize] = Some(is_lost);
            }
        }
    }

    fn add_rates(&mut self, who: Who, is_lost: bool, keep: f64) {
        self.rates.entry((who.user, who.name)).or_default().add(is_lost, keep);
        self.rate_of_user[who.user as usize].add(is_lost, keep);
        self.overall.add(is_lost, 1.0);
    }

    /// The rate of the user and name. It is drawn to the rate of the user, which is drawn to the
    /// overall rate.
    fn rate(&self, who: Who) -> f64 {
        let of_pair = self.rates.get(&(who.user, who.name)).copied().unwrap_or_default();
        let of_user = self.rate_of_user[who.user as usize];
        of_pair.drawn_to(of_user.drawn_to(self.overall.plain()))
    }

    /// The inputs of the regression for a job.
    fn features(&self, who: Who) -> Features {
        let pair = self.rates.get(&(who.user, who.name)).copied().unwrap_or_default();
        let all = self.overall.plain();
        let of_user = self.rate_of_user[who.user as usize].drawn_to(all);
        let of_class = self.by_class.get(&who.class).copied().unwrap_or_default().drawn_to(all);
        let known = Known {
            rates: [pair.drawn_to(of_user), of_user, of_class, all],
            last: [
                self.last.get(&(who.user, who.name)).copied(),
                self.last_of_user[who.user as usize],
            ],
            ended: pair.jobs,
            class: who.class,
        };
        known.features()
    }

    /// The mean over the tasks of a job that have begun; the rate from the past if no task has.
    fn chance_of_stages(&self, pair: (u32, u32), job_id: i64) -> f64 {
        // The mean is updated step by step. So tasks with the same chance have exactly this chance
        // as their mean, and jobs in the same state are ties.
        let (mut mean, mut tasks) = (0.0, 0.0);
        for (stage, count) in self.progress.into_iter().flat_map(|known| known.stages(job_id)) {
            let count = f64::from(count);
            tasks += count;
            mean += (self.ended.chance_at(pair, stage) - mean) * (count / tasks);
        }
        if tasks == 0.0 { self.ended.rate(pair) } else { mean }
    }

    /// The chance that a job submitted now does not finish.
    pub(super) fn chance(&self, who: Who, job_id: i64) -> f64 {
        let number = |is_lost: bool| f64::from(u8::from(is_lost));
        let of_pair = self.last.get(&(who.user, who.name)).copied();
        let of_user = self.last_of_user[who.user as usize];
        match self.rule {
            Predictor::Last => of_pair.map_or(0.0, number),
            Predictor::LastOfUser => of_user.map_or(0.0, number),
            Predictor::LastOrRate => of_pair.or(of_user).map_or(self.overall.plain(), number),
            Predictor::Rate { .. } => self.rate(who),
            Predictor::Hazard => {
                // Bayes' rule, with the shares of finished and unfinished jobs that last longer.
                let [finished, lost] = self.survival.map(|kind| kind.drawn_to(1.0));
                let before = self.rate(who);
                let (one, other) = (before * lost, (1.0 - before) * finished);
                let of_age = one / (one + other);
                let lasting = self.lasting.get(&(who.user, who.name)).copied();
                lasting.unwrap_or_default().drawn_to(of_age)
            }
            Predictor::HazardEvents => self.chance_of_stages((who.user, who.name), job_id),
            Predictor::Class => self.by_class.get(&who.class).copied().unwrap_or_default().plain(),
            Predictor::Overall => self.overall.plain(),
            Predictor::Logistic { .. } => self.logistic.chance(&self.features(who)),
        }
    }
}
