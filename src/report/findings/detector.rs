//! Which straggler detector is worth having.

use super::Told;
use crate::answers::detect::DetectAnswer;
use crate::answers::sentences::percent;
use crate::results::envelope::Envelope;

/// Detectors that are only bounds and cannot be used in practice.
const BOUNDS: [&str; 2] = ["none", "oracle"];

/// The detector whose copies, without a budget, end jobs earliest. It is worth having if jobs end
/// earlier at all.
pub(super) fn detector(stored: &Envelope) -> Option<Told> {
    let answer: &DetectAnswer = stored.found()?;
    let stragglers = answer.stragglers()?;
    let can_be_had = |name: &str| !BOUNDS.contains(&name);
    let copies = answer.copies.iter().filter(|copy| copy.budget.is_none());
    let best = copies
        .filter(|copy| can_be_had(&copy.detector))
        .filter_map(|copy| Some((copy.earlier_share?, copy)))
        .max_by(|one, other| one.0.total_cmp(&other.0));
    let Some((earlier, copy)) = best else { return by_score(answer, &stragglers) };
    if earlier <= 0.0 {
        return Some(Told::NotShown(format!(
            "No detector is worth having: with {stragglers}, no detector's copies end any job earlier"
        )));
    }
    let name = &copy.detector;
    let score = answer.rows.iter().find(|row| row.detector == *name)?.scores.first()?;
    Some(Told::Shown(format!(
        "`{name}`: in a dry run, copies of the tasks that it flags, each as long as its median \
        sibling, end jobs {} earlier for {} of the slot time; it finds {} of {stragglers}, and {} of its flags on judged tasks are right",
        percent(earlier),
        percent(copy.lost_share?),
        percent(score.recall?),
        percent(score.precision?),
    )))
}

/// Without a dry run of copies, the detector with the best F1.
fn by_score(answer: &DetectAnswer, stragglers: &str) -> Option<Told> {
    let (name, score) = answer.best(&BOUNDS)?;
    Some(Told::Shown(format!(
        "`{name}` has the best F1: it finds {} of {stragglers}, and {} of its flags on judged tasks are right",
        percent(score.recall?),
        percent(score.precision?),
    )))
}
