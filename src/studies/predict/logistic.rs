//! Logistic regression that learns from the end of each job after it has predicted that job.
//!
//! In: features of a job from jobs that had ended by then, and ends one after another. Out: a
//! chance. Each end updates the weights once, by Adagrad (Duchi, Hazan and Singer, JMLR 12, 2011)
//! on the log loss. Every prediction uses only weights from the past, so the whole trace is test
//! data (prequential evaluation). Nothing is random.
//!
//! | Feature | |
//! |---|---|
//! | 1 | always |
//! | log-odds of four rates | user and name (as rule `rate`), user, scheduling class, all |
//! | last job of the user and name, of the user | 1 did not finish, -1 finished, 0 none |
//! | ln(1 + n) | ended jobs of the user and name, older ones weighing less |
//! | class 0, 1, 2, 3 | 1 or 0 |

/// Number of features.
const COUNT: usize = 12;

/// Initial sum of squares of each weight; it keeps the first steps small.
const FIRST_SQUARE: f64 = 0.01;

/// Keeps log-odds of 0 and 1 finite.
const MARGIN: f64 = 0.01;

/// Features of a job.
pub(super) type Features = [f64; COUNT];

/// Data about a job's past.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// Rates of jobs that do not finish: of the user and name, the user, the class, all.
    pub(super) rates: [f64; 4],
    /// Whether the last ended job of the user and name, and of the user, did not finish.
    pub(super) last: [Option<bool>; 2],
    /// Ended jobs of the user and name, older ones weighing less.
    pub(super) ended: f64,
    /// The scheduling class.
    pub(super) class: Option<i32>,
}

impl Known {
    pub(super) fn features(self) -> Features {
        let odds = |rate: f64| ((rate + MARGIN) / (1.0 + MARGIN - rate)).ln();
        let side =
            |last: Option<bool>| last.map_or(0.0, |is_lost| if is_lost { 1.0 } else { -1.0 });
        let is_class = |class: i32| f64::from(u8::from(self.class == Some(class)));
        let [pair, user, class, all] = self.rates.map(odds);
        let [last_of_pair, last_of_user] = self.last.map(side);
        let [zero, one, two, three] = [0, 1, 2, 3].map(is_class);
        let ended = self.ended.ln_1p();
        [1.0, pair, user, class, all, last_of_pair, last_of_user, ended, zero, one, two, three]
    }
}

/// The weights and their state.
#[derive(Clone, Debug)]
pub(super) struct Logistic {
    weights: Features,
    /// By weight, the sum of its squared gradients so far.
    squares: Features,
}

impl Default for Logistic {
    /// Starts with the rate of the user and name.
    fn default() -> Self {
        let mut weights = [0.0; COUNT];
        weights[1] = 1.0;
        Self { weights, squares: [FIRST_SQUARE; COUNT] }
    }
}

impl Logistic {
    /// The chance that the job does not finish.
    pub(super) fn chance(&self, features: &Features) -> f64 {
        let sum: f64 = self.weights.iter().zip(features).map(|(one, other)| one * other).sum();
        1.0 / (1.0 + (-sum.clamp(-30.0, 30.0)).exp())
    }

    /// Updates the weights with the outcome of a job.
    pub(super) fn learn(&mut self, features: &Features, is_lost: bool, step: f64) {
        let error = self.chance(features) - f64::from(u8::from(is_lost));
        let own = self.weights.iter_mut().zip(&mut self.squares).zip(features);
        for ((weight, square), feature) in own {
            let gradient = error * feature;
            *square += gradient * gradient;
            *weight -= step * gradient / square.sqrt();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_learns_what_a_class_says_and_starts_with_the_rate() {
        let job = |class: i32, rate: f64| {
            let known = Known {
                rates: [rate, 0.5, 0.5, 0.5],
                last: [None, Some(true)],
                ended: 0.0,
                class: Some(class),
            };
            known.features()
        };
        let mut model = Logistic::default();
        // Log-odds with a margin of 0.01: 0.76 / 0.26.
        assert!((model.chance(&job(0, 0.75)) - 0.76 / 1.02).abs() < 1e-12);
        for _ in 0..500 {
            model.learn(&job(0, 0.5), false, 0.1);
            model.learn(&job(3, 0.5), true, 0.1);
        }
        assert!(model.chance(&job(0, 0.5)) < 0.1 && 0.9 < model.chance(&job(3, 0.5)));
    }

    /// The gradient of the log loss equals a difference quotient.
    #[test]
    fn a_step_goes_down_the_log_loss() {
        let features = [1.0, -0.3, 0.7, 0.1, 0.0, 1.0, -1.0, 2.0, 0.0, 1.0, 0.0, 0.0];
        let model = Logistic::default();
        let loss = |model: &Logistic| -model.chance(&features).ln();
        for idx in 0..COUNT {
            let mut near = model.clone();
            near.weights[idx] += 1e-6;
            let quotient = (loss(&near) - loss(&model)) / 1e-6;
            let gradient = (model.chance(&features) - 1.0) * features[idx];
            assert!((quotient - gradient).abs() < 1e-5, "{idx}: {quotient} {gradient}");
        }
        let mut moved = model.clone();
        moved.learn(&features, true, 0.01);
        assert!(loss(&moved) < loss(&model));
    }
}
