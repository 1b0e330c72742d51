//! Who got how much.

use super::Told;
use crate::answers::fairness::FairnessAnswer;
use crate::answers::sentences::{percent, short};
use crate::digits::{counted, grouped, six_digits};
use crate::fairness::history::known_name;
use crate::results::envelope::Envelope;

/// The number of users, how few of them used half, the share of the heaviest, and the Gini index.
pub(super) fn users(stored: &Envelope) -> Option<Told> {
    let answer: &FairnessAnswer = stored.found()?;
    let heaviest = answer.users.first()?;
    let by = answer.by.name();
    let name = match known_name(&heaviest.user) {
        None => "without a name".to_owned(),
        Some(name) if name.bytes().all(|byte| byte.is_ascii_digit()) => format!("{by} {name}"),
        Some(name) => short(name),
    };
    let all = answer.inequality.map_or(answer.users.len() as u64, |inequality| inequality.users);
    let half = answer.inequality.map_or_else(String::new, |inequality| {
        format!("; {} of them used half", grouped(inequality.users_of_half))
    });
    let gini = answer.inequality.map_or_else(String::new, |inequality| {
        format!(", and the Gini index is {:.3}", inequality.gini)
    });
    Some(Told::Shown(format!(
        "{} used {} {}{half}; the heaviest ({name}) used {}{gini}",
        counted(all, by),
        six_digits(answer.total_cpu_s?),
        answer.unit,
        percent(heaviest.share?),
    )))
}
