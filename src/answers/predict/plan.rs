//! The rules that predict, and how they are judged.

use serde::{Deserialize, Serialize};

use crate::answers::load::Length;
use crate::answers::study::Plan;
use crate::answers::words::texts;
use crate::faults::{Result, Usage};
use crate::studies::predict::rules::Predictor;

/// What is predicted by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PredictPlan {
    /// Rules to compare
    #[cfg_attr(feature = "cli", arg(long, value_name = "RULE,...", value_delimiter = ',', default_value = RULES, long_help = RULES_HELP))]
    #[serde(with = "texts")]
    pub rules: Vec<Predictor>,

    /// Predict when jobs reach this age, not at submission
    ///
    /// 90s, 5m, 1h or 1d after the first SUBMIT. Only jobs that have not ended by then are
    /// predicted, using jobs that ended at or before that instant; a job that failed by then and
    /// came back later is left out.
    #[cfg_attr(feature = "cli", arg(long, value_name = "LENGTH"))]
    pub age: Option<Length>,
}

/// [`Predictor::usual`], as written on the command line.
#[cfg(feature = "cli")]
const RULES: &str =
    "last,last-or-rate,last-of-user,rate:half_life=5,class,overall,logistic:step=0.05";

/// The help of `--rules`, with a line about each.
#[cfg(feature = "cli")]
const RULES_HELP: &str = "Rules to compare

- last: the job ends like the last ended job of the same user and logical name; it finishes if \
there is none
- last-or-rate: the same, but without such a job it takes the last ended job of the user, then the \
overall rate
- last-of-user: the job ends like the last ended job of the user
- rate: the share of ended jobs of the same user and name that did not finish; the weight of a job \
is halved each time `half_life` further such jobs have ended (`rate:half_life=5`). This share is \
shrunk with the weight of one job towards that of the user, which has the same weights and is \
shrunk likewise towards the overall rate
- class: the rate of the scheduling class; the job finishes if none of the class has ended; left out \
by default if the log has no classes
- overall: the rate of all jobs
- logistic: a logistic regression on all of these (the log-odds of the rates, the last jobs, how \
many ended, the class); its weights move a step whenever a job ends (`logistic:step=0.05`)
- hazard: `rate:half_life=5`, combined by Bayes' rule with the shares of finished and of other jobs \
that lasted longer than --age, and then with the ended jobs of the same user and name that lasted \
longer; without --age it is nearly the same as `rate`
- hazard-events: `rate`, combined with the share of jobs that did not finish among those whose tasks \
lasted as long and had as many events (`by=events` of the kill rule `history`); the mean over the \
tasks that have started; it needs --age and `task_events`, and only jobs of which a task has an event by \
then are counted, for every rule";

impl Default for PredictPlan {
    fn default() -> Self {
        Self { rules: Predictor::usual(), age: None }
    }
}

impl Plan for PredictPlan {
    fn check_alone(&self) -> Result<(), Usage> {
        if self.rules.contains(&Predictor::HazardEvents) && self.age.is_none() {
            let text = "`hazard-events` predicts jobs that run, and --age says when: give for \
                example --age 1h";
            return Err(Usage(text.to_owned()));
        }
        Ok(())
    }
}

#[cfg(all(test, feature = "cli"))]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_the_rules_by_default() {
        let usual: Vec<String> = Predictor::usual().iter().map(ToString::to_string).collect();
        assert_eq!(RULES, usual.join(","));
    }
}
