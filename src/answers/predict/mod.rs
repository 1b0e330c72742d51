//! The answer of `predict`: the predictions for jobs, and how often they were right.
//!
//! In: rules and a lake. Out: a row per rule, and tables by outcome, by day, by predicted chance,
//! and of both curves.

mod answer;
mod charts;
mod plan;
mod predicted;
pub(crate) mod step;

use crate::results::kind::Kind;
use crate::results::shares::{Share, share};
use crate::schema::Table;

pub use answer::PredictAnswer;
pub(crate) use answer::short_name;
pub use plan::PredictPlan;
pub use predicted::{Predicted, predicted};

/// The shares in a prediction.
pub const SHARES: [Share; 6] = [
    share("accuracy", "jobs that were predicted correctly", "jobs that are counted"),
    share(
        "precision",
        "jobs predicted not to finish that did not finish",
        "jobs predicted not to finish",
    ),
    share("recall", "jobs predicted not to finish that did not finish", "jobs that did not finish"),
    share(
        "false_positive_rate",
        "jobs predicted not to finish that finished",
        "jobs that finished",
    ),
    share("predicted_share", "jobs of the outcome predicted not to finish", "jobs of the outcome"),
    share("not_finished_share", "jobs of the row that did not finish", "jobs of the row"),
];

/// The result.
pub const KIND: Kind<'static> = Kind {
    tables: &[Table::JobEvents],
    figure: Some("predict-roc"),
    sentence: Some(|it| it.found::<PredictAnswer>()?.sentence()),
    names: Some(|it| it.found().map(answer::names).unwrap_or_default()),
    captions: &[
        ("predict-outcomes", "Predictions by outcome of the jobs"),
        ("predict-days", "Accuracy of the rules, day by day"),
        ("predict-calibration", "Predicted chance against the share that did not finish"),
        ("predict-curves", "Precision, recall and false alarms by threshold of the chance"),
    ],
    ..Kind::called("predict", "How well the past of users predicts whether jobs finish")
        .holding::<PredictAnswer>()
};
