//! Whether a job will finish, predicted at its submission from the jobs that had ended by then.
//!
//! In: the `job_events` of a lake. Out: for each rule, how often it was right ([`score::Score`]).
//! Every event is read once, in (time, `row_id`) order. Rules predict a submission only from
//! earlier ends, so no later event can change a prediction.
//!
//! ```text
//!  same user and logical name:   job a  |-- FINISH       job b  |-------- KILL
//!                                job c    ^ no past: it finishes      job d  ^ as b: it does not
//! ```
//! If jobs are predicted at an age, only jobs that have not ended by that age are counted, and
//! rules use the jobs that had ended by then.
//!
//! A job is counted if it was submitted within the window and its last event is FINISH, FAIL or
//! KILL. "Does not finish" is the positive class. EVICT and LOST do not end a job, because it may
//! come back.

mod chances;
mod curve;
pub mod hazards;
pub mod known;
mod logistic;
pub mod past;
pub mod progress;
mod rate;
pub mod rules;
pub mod score;
mod scoring;
pub mod step;

pub use self::chances::chances;
pub use self::scoring::{predict, with_past};
