//! Who got how much, and how far that is from equal shares.

use super::{Told, within};
use crate::answers::fairness::{FairnessAnswer, FairnessSettings};
use crate::answers::sentences::{capital, label, percent, short, verb_of};
use crate::digits::{counted, grouped, six_digits};
use crate::fairness::history::known_name;
use crate::results::envelope::Envelope;

/// The heaviest user, the share of the fewest users who have half, and how many users got more than
/// an equal share. The trace records no entitlement: the figures are compared with equal shares,
/// not with promised ones.
pub(super) fn users(stored: &Envelope) -> Option<Told> {
    let answer: &FairnessAnswer = stored.found()?;
    let heaviest = answer.users.first()?;
    let by = answer.by.name();
    let used = stored.chosen::<FairnessSettings>().cpu.map_or("used", |cpu| verb_of(&cpu));
    let name = match known_name(&heaviest.user) {
        None => format!("The {by} without a name"),
        Some(name) if name.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{} {name}", capital(by))
        }
        Some(name) => format!("{} {}", capital(by), short(name)),
    };
    let all = answer.inequality.map_or(answer.users.len() as u64, |inequality| inequality.users);
    let several = answer.inequality.filter(|inequality| 1 < inequality.users_of_half);
    let half = several.map_or_else(String::new, |inequality| {
        let top = inequality.users_of_half;
        match share_of_top(answer, top) {
            Some(share) => format!("; the top {} {used} {}", grouped(top), percent(share)),
            None => format!("; the top {} {used} half or more", grouped(top)),
        }
    });
    let gini = answer
        .inequality
        .map_or_else(String::new, |inequality| format!(" (Gini index {:.3})", inequality.gini));
    Some(Told::Shown(format!(
        "{name} got most: {} of the {} {} that {} {used}{}{half}{}{gini}",
        percent(heaviest.share?),
        six_digits(answer.total_cpu_s?),
        answer.unit,
        counted(all, by),
        within(&stored.inputs),
        beside_equal(answer, all).unwrap_or_default(),
    )))
}

/// The share of the heaviest users. For the fewest users who have half, it is half or more. `None`
/// if not all of these users are known.
fn share_of_top(answer: &FairnessAnswer, top: u64) -> Option<f64> {
    let users = answer.users.get(..usize::try_from(top).ok()?)?;
    users.iter().map(|user| user.share).sum()
}

/// How many users got more than an equal share; `None` if not all users are known, or if there is
/// only one.
#[expect(clippy::cast_precision_loss, reason = "users are far below 2^53")]
fn beside_equal(answer: &FairnessAnswer, all: u64) -> Option<String> {
    if all < 2 || answer.users.len() as u64 != all {
        return None;
    }
    let equal = 1.0 / all as f64;
    let above = answer.users.iter().filter(|user| user.share.is_some_and(|share| equal < share));
    Some(format!(
        ". With equal shares each would have {}: {} of {} got more",
        label(equal),
        grouped(above.count() as u64),
        grouped(all)
    ))
}
