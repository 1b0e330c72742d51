//! Whether two policies differ in a short part of the time only.

use crate::answers::replay::Replayed;
use crate::answers::sentences::percent;
use crate::replay::metrics::Sample;
use crate::report::text::instant;

/// The part of the difference that counts as nearly all of it.
const NEARLY_ALL: f64 = 0.9;

/// The difference lies in a short part if that is at most this part of the time.
const SHORT: f64 = 0.1;

/// A further sentence if nearly all of what tasks wait longer under one policy than under the other
/// lies in a short part of the time, such as one burst. If `is_settled`, the first tenth of the
/// time is left out.
pub(super) fn in_one_burst([best, first]: [&Replayed; 2], is_settled: bool) -> Option<String> {
    let from_s = if is_settled { first.metrics.settled_from_s? } else { f64::NEG_INFINITY };
    let (own, other) = (&best.metrics.samples, &first.metrics.samples);
    let is_same = |(one, two): (&Sample, &Sample)| one.time_s == two.time_s;
    if own.len() != other.len() || !own.iter().zip(other).all(is_same) {
        return None;
    }
    let stretches = stretches(own, other, from_s);
    let [begin_s, end_s, part] = shortest(&stretches)?;
    let whole_s = stretches.last()?.end_s - stretches.first()?.begin_s;
    (end_s - begin_s <= SHORT * whole_s).then(|| {
        format!(
            ". {} of the difference in the time that tasks wait lies between {} and {}",
            percent(part),
            instant(begin_s),
            instant(end_s)
        )
    })
}

/// A stretch of time, and how much less all tasks wait in it under the better policy.
#[derive(Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "the unit")]
struct Stretch {
    begin_s: f64,
    end_s: f64,
    less_s: f64,
}

/// The stretches until no task waits any more under both policies.
fn stretches(own: &[Sample], other: &[Sample], from_s: f64) -> Vec<Stretch> {
    let ends = own.iter().zip(other).map(|(one, two)| (one.time_s, two.waiting - one.waiting));
    let begins = own.iter().map(|sample| sample.time_s);
    // The begin of the first sample is not stored.
    let stretches = begins.zip(ends.skip(1)).map(|(begin_s, (end_s, less))| Stretch {
        begin_s,
        end_s,
        less_s: less * (end_s - begin_s),
    });
    let is_over = |place: usize| {
        let rest = |samples: &[Sample]| samples[place..].iter().all(|own| own.waiting == 0.0);
        rest(own) && rest(other)
    };
    let mut all: Vec<(usize, Stretch)> = (1..).zip(stretches).collect();
    while all.last().is_some_and(|(place, _)| is_over(*place)) {
        all.pop();
    }
    all.into_iter().map(|(_, own)| own).filter(|own| from_s <= own.begin_s).collect()
}

/// The begin and the end of the shortest time with nearly all of the difference, s, and its part of
/// the difference. `None` if tasks do not wait less.
fn shortest(stretches: &[Stretch]) -> Option<[f64; 3]> {
    let all: f64 = stretches.iter().map(|own| own.less_s).sum();
    let wanted = NEARLY_ALL * all;
    let from = |at: usize| {
        let mut sum = 0.0;
        let end = stretches[at..].iter().find(|own| {
            sum += own.less_s;
            wanted <= sum
        })?;
        Some([stretches[at].begin_s, end.end_s, sum / all])
    };
    let all = (0.0 < all).then(|| (0..stretches.len()).filter_map(from))?;
    all.min_by(|one, other| (one[1] - one[0]).total_cmp(&(other[1] - other[0])))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::replay::metrics::Metrics;

    fn policy(waiting: &[f64], settled_from_s: Option<f64>) -> Replayed {
        let time_s = (1..).map(|hour| f64::from(hour) * 3600.0);
        let sample = |(time_s, &waiting)| Sample { time_s, cpu_share: None, waiting };
        let samples = time_s.zip(waiting).map(sample).collect();
        let metrics = Metrics { settled_from_s, samples, ..Metrics::default() };
        Replayed { metrics, ..Replayed::default() }
    }

    #[test]
    fn a_burst_is_named_if_it_is_nearly_all() {
        let (mut own, mut other) = ([1.0; 40], [2.0; 40]);
        own[30..].fill(0.0);
        other[30..].fill(0.0);
        other[..4].fill(1000.0);
        other[12..14].fill(200.0);
        let said = |is_settled| {
            let pair = [policy(&own, Some(9000.0)), policy(&other, Some(9000.0))];
            in_one_burst([&pair[0], &pair[1]], is_settled)
        };
        // The hours from 3 to 30 count. The burst has 398 of the difference of 1,421, and of 423
        // without the fourth hour.
        assert_eq!(said(true), None);
        other[3] = 2.0;
        let pair = [policy(&own, Some(9000.0)), policy(&other, Some(9000.0))];
        assert_eq!(
            in_one_burst([&pair[0], &pair[1]], true).as_deref(),
            Some(
                ". 94.1 % of the difference in the time that tasks wait lies between 0 d 12:00:00 and 0 d 14:00:00"
            )
        );
        // In a log with dates, the times are dates.
        let dated = pair.clone().map(|mut own| {
            let begin_s = 1_483_228_800.0;
            own.metrics.samples.iter_mut().for_each(|sample| sample.time_s += begin_s);
            own.metrics.settled_from_s = Some(begin_s + 9000.0);
            own
        });
        let said = in_one_burst([&dated[0], &dated[1]], true).unwrap();
        assert!(said.contains("between 2017-01-01 12:00:00 and 2017-01-01 14:00:00"), "{said}");
        assert_eq!(in_one_burst([&pair[1], &pair[0]], true), None, "waits more");
        let other = policy(&[0.0; 3], None);
        assert_eq!(in_one_burst([&pair[0], &other], false), None, "other times");
    }

    proptest! {
        /// No shorter run of stretches has nearly all of the difference.
        #[test]
        fn the_time_is_the_shortest(less in prop::collection::vec(-3_i32..30, 1..12)) {
            let stretches: Vec<Stretch> = (0..)
                .zip(&less)
                .map(|(hour, less)| Stretch {
                    begin_s: f64::from(hour),
                    end_s: f64::from(hour + 1),
                    less_s: f64::from(*less),
                })
                .collect();
            let all: i32 = less.iter().sum();
            let runs = (0..less.len()).flat_map(|at| (at + 1..=less.len()).map(move |end| (at, end)));
            let enough = runs.filter(|&(at, end)| {
                9 * all <= 10 * less[at..end].iter().sum::<i32>()
            });
            let wanted = enough.map(|(at, end)| end - at).min();
            let found = shortest(&stretches);
            if 0 < all {
                let [begin_s, end_s, part] = found.unwrap();
                let wanted = u32::try_from(wanted.unwrap()).unwrap();
                prop_assert_eq!(end_s - begin_s, f64::from(wanted));
                prop_assert!(NEARLY_ALL <= part + 1e-9);
            } else {
                prop_assert!(found.is_none());
            }
        }
    }
}
