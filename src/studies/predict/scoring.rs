//! Scores rules on the past.

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::past::Past;
use super::rules::Predictor;
use super::score::{Score, Tally};
use super::step::Happens;

/// Scores every rule on the past, several rules at a time.
pub fn predict(past: &Past, rules: &[Predictor]) -> Vec<Score> {
    rules.par_iter().with_max_len(1).map(|rule| score(past, rule)).collect()
}

fn score(past: &Past, rule: &Predictor) -> Score {
    let mut mind = rule.mind(past);
    let mut tally = Tally::new(rule.to_string());
    for step in &past.steps {
        match step.what {
            Happens::Ends { end, .. } => mind.learn(step, end),
            Happens::Submits { job_id, truth } => {
                let Some(end) = truth.filter(|_| past.knows(job_id)) else { continue };
                // By day of submission, at any age.
                tally.add(step.at_us - step.age_us, mind.chance(step.who, job_id), end);
            }
        }
    }
    tally.score()
}

/// The number of counted jobs with a past: a job of the same user and logical name had ended before
/// they were predicted.
pub fn with_past(past: &Past) -> u64 {
    let mut ended: FxHashSet<(u32, u32)> = FxHashSet::default();
    let mut count = 0;
    for step in &past.steps {
        let pair = (step.who.user, step.who.name);
        match step.what {
            Happens::Ends { .. } => drop(ended.insert(pair)),
            Happens::Submits { job_id, truth } => {
                let is_judged = truth.is_some() && past.knows(job_id);
                count += u64::from(is_judged && ended.contains(&pair));
            }
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::scoring::*;
    use super::super::step::{End, Step, Who};

    const ENDS: [End; 3] = [End::Finished, End::Failed, End::Killed];

    fn step() -> impl Strategy<Value = (u32, u32, Option<usize>)> {
        (0_u32..3, 0_u32..3, prop::option::of(0_usize..3))
    }

    fn past(steps: &[(u32, u32, Option<usize>)]) -> Past {
        let steps = (0..).zip(steps).map(|(at_us, &(user, name, end))| Step {
            at_us,
            row_id: at_us,
            who: Who { user, name, class: Some(i32::from(name == 1)) },
            age_us: at_us % 4,
            what: match end {
                Some(end) => Happens::Ends { job_id: at_us, end: ENDS[end] },
                None => Happens::Submits {
                    job_id: at_us,
                    truth: Some(ENDS[(user + name) as usize % 3]),
                },
            },
        });
        let steps = steps.collect();
        Past { steps, user_count: 3, name_count: 3, age_us: 1, ..Past::default() }
    }

    /// The predictions of a rule, one for each submission.
    fn said(rule: &Predictor, past: &Past) -> Vec<f64> {
        let mut mind = rule.mind(past);
        let mut said = Vec::new();
        for step in &past.steps {
            match step.what {
                Happens::Ends { end, .. } => mind.learn(step, end),
                Happens::Submits { job_id, .. } => said.push(mind.chance(step.who, job_id)),
            }
        }
        said
    }

    #[test]
    fn jobs_with_an_ended_job_of_the_same_name_before_them_are_counted() {
        let submits = (0, 0, None);
        let other_name = (0, 1, None);
        let ends = (0, 0, Some(0));
        assert_eq!(with_past(&past(&[submits, ends, submits, other_name, submits])), 2);
        assert_eq!(with_past(&past(&[submits, submits, ends])), 0);
    }

    proptest! {
        /// Later events never change an earlier prediction.
        #[test]
        fn the_future_changes_no_prediction(
            before in prop::collection::vec(step(), 0..20),
            one in prop::collection::vec(step(), 0..20),
            other in prop::collection::vec(step(), 0..20),
        ) {
            for rule in Predictor::ALL {
                let with = |after: &[(u32, u32, Option<usize>)]| past(&[&before, after].concat());
                let said_before = said(&rule, &past(&before));
                for after in [&one, &other] {
                    let said_in_all = said(&rule, &with(after));
                    prop_assert_eq!(&said_in_all[..said_before.len()], &said_before[..], "{}", rule);
                }
            }
        }

        /// Compared with a search through the whole past for each submission.
        #[test]
        fn the_last_ended_job_decides(steps in prop::collection::vec(step(), 0..30)) {
            let past = past(&steps);
            let last = |user, name: Option<u32>, until: usize| {
                past.steps[..until].iter().rev().find_map(|step| match step.what {
                    Happens::Ends { end, .. } if step.who.user == user
                        && name.is_none_or(|name| step.who.name == name) => Some(end != End::Finished),
                    _ => None,
                })
            };
            let mut expected: [Vec<f64>; 3] = Default::default();
            for (idx, step) in past.steps.iter().enumerate() {
                if let Happens::Submits { .. } = step.what {
                    let (user, name) = (step.who.user, step.who.name);
                    let of_pair = last(user, Some(name), idx);
                    let of_user = last(user, None, idx);
                    let ends: Vec<f64> = past.steps[..idx].iter().filter_map(|step| match step.what {
                        Happens::Ends { end, .. } => Some(f64::from(u8::from(end != End::Finished))),
                        Happens::Submits { .. } => None,
                    }).collect();
                    let count = f64::from(u32::try_from(ends.len()).unwrap());
                    let rate = if ends.is_empty() { 0.0 } else { ends.iter().sum::<f64>() / count };
                    let number = |yes: bool| f64::from(u8::from(yes));
                    expected[0].push(of_pair.map_or(0.0, number));
                    expected[1].push(of_user.map_or(0.0, number));
                    expected[2].push(of_pair.or(of_user).map_or(rate, number));
                }
            }
            for (rule, expected) in
                [Predictor::Last, Predictor::LastOfUser, Predictor::LastOrRate].iter().zip(expected)
            {
                prop_assert_eq!(said(rule, &past), expected, "{}", rule);
            }
        }
    }

    /// Half of the jobs that do not finish last longer than the age, and a tenth of those that
    /// finish.
    #[test]
    fn age_speaks_for_those_that_last() {
        let end = |at_us: i64, user, end, age_us| Step {
            at_us,
            row_id: at_us,
            who: Who { user, name: user, class: None },
            age_us,
            what: Happens::Ends { job_id: at_us, end },
        };
        let mut steps = Vec::new();
        for round in 0..100 {
            let outlasts = |share: i64| if round % share == 0 { 20 } else { 5 };
            steps.push(end(2 * round, 0, End::Finished, outlasts(10)));
            steps.push(end(2 * round + 1, 0, End::Failed, outlasts(2)));
        }
        let past = Past { steps, user_count: 2, name_count: 2, age_us: 10, ..Past::default() };
        let chance = |rule: Predictor, user: u32| {
            let mut mind = rule.mind(&past);
            for step in &past.steps {
                let Happens::Ends { end, .. } = step.what else { continue };
                mind.learn(step, end);
            }
            mind.chance(Who { user, name: user, class: None }, 0)
        };
        let hazard = Predictor::Hazard;
        // An unknown user: the rate of all jobs is one half. Of unfinished jobs 51 / 101 last
        // longer, of finished jobs 11 / 101.
        let expected = 51.0 / 62.0;
        assert!((chance(hazard, 1) - expected).abs() < 1e-12, "{}", chance(hazard, 1));
        assert!((chance(Predictor::USUAL, 1) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn scores_are_counted_by_hand() {
        // Two ends of one user; then four submissions. Their true outcome is user + name.
        let past = past(&[
            (0, 0, Some(1)),
            (1, 0, Some(0)),
            (0, 0, None),
            (0, 1, None),
            (1, 0, None),
            (1, 2, None),
        ]);
        let score = &predict(&past, &[Predictor::Last])[0];
        // (0, 0) finishes and is predicted to fail; (0, 1) and (1, 0) fail and are predicted to
        // finish.
        let counts = [
            score.true_positives,
            score.false_positives,
            score.true_negatives,
            score.false_negatives,
        ];
        assert_eq!(counts, [0, 1, 1, 2]);
        assert_eq!(
            (score.accuracy, score.precision, score.recall),
            (Some(0.25), Some(0.0), Some(0.0))
        );
        assert_eq!(score.false_positive_rate, Some(0.5));
        // Four pairs of a job that does not finish and a job that does: two are ties, two are
        // wrong.
        assert_eq!(score.auc, Some(0.25));
        assert_eq!(score.brier_score, Some(0.75));
    }
}
