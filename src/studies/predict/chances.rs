//! The chances that jobs do not finish, predicted by a rule.

use rustc_hash::FxHashMap;

use super::past::Past;
use super::rules::Predictor;
use super::step::Happens;

/// For each job, the chance that it does not finish, as a rule predicts it at submission.
pub fn chances(past: &Past, rule: Predictor) -> FxHashMap<i64, f64> {
    let mut mind = rule.mind(past);
    let mut chances = FxHashMap::default();
    for step in &past.steps {
        match step.what {
            Happens::Ends { end, .. } => mind.learn(step, end),
            Happens::Submits { job_id, .. } => {
                chances.insert(job_id, mind.chance(step.who, job_id));
            }
        }
    }
    chances
}
