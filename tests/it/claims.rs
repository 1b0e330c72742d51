//! The claims of the five papers: each verdict follows by a rule, only from the values of the runs.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

use jobfate::answers::reproduce::experiments::study_of;
use jobfate::answers::reproduce::study::{Study, claims_table};
use jobfate::answers::reproduce::{mandai, ota};
use jobfate::claims::{Claim, Judged, Side, Verdict};
use jobfate::facts::window::Windows;
use jobfate::lake::Lake;
use jobfate::replay::experiments::{Experiment, asahara, cui, tan};

use super::support::Place;

/// Three jobs of two users.
const LOG: &str = "; MaxProcs: 8
1 0 0 3600 2 -1 -1 2 -1 -1 1 1 1 -1 1 1 -1 -1
2 1800 0 7200 1 -1 -1 1 -1 -1 1 1 1 -1 1 1 -1 -1
3 7200 600 1800 4 -1 -1 4 -1 -1 1 2 2 -1 1 1 -1 -1
";

/// Name, claims and answer keys of each study.
struct Kept {
    name: &'static str,
    claims: Vec<Claim>,
    keys: Vec<String>,
    claim_keys: BTreeSet<String>,
}

impl Kept {
    fn of(study: Study) -> Self {
        let table = claims_table(&study.claims);
        let json = study.answer(None, &table).json;
        let keys = |value: &serde_json::Value| {
            value.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
        };
        let claims = json["claims"].as_array().unwrap();
        let claim_keys: BTreeSet<String> =
            claims.iter().map(|claim| keys(claim).join(" ")).collect();
        Self { name: study.name, keys: keys(&json), claim_keys, claims: study.claims }
    }
}

/// The study of 2009 on a log.
fn study_of_2009(lake: &Path) -> Study {
    let place = ota::Place { lake, window_end: None };
    ota::find(&place, &ota::Settings::default(), |_| ()).unwrap().study()
}

/// The five studies: a synthetic trace, a small log, and two runs of each setting.
fn studies() -> &'static [Kept] {
    static STUDIES: OnceLock<Vec<Kept>> = OnceLock::new();
    STUDIES.get_or_init(|| {
        let place = Place::new();
        std::fs::write(place.path("small.swf"), LOG).unwrap();
        place.run(&["synth", "trace", "--jobs", "60", "--days", "1"]).ok();
        place.run(&["ingest", "trace", "--lake", "lake"]).ok();
        place.run(&["ingest", "small.swf", "--lake", "log"]).ok();
        let lake = Lake::open(place.path("lake")).unwrap();
        let of_trace = mandai::study(&lake, Windows::of(&lake)).unwrap();
        let experiments = [
            Experiment::Tan(tan::Settings::default()),
            Experiment::Asahara(asahara::Settings::default()),
            Experiment::Cui(cui::Settings::default()),
        ];
        let simulated = experiments.map(|mut experiment| {
            experiment.set("runs", "2").unwrap();
            study_of(&experiment, &experiment.run())
        });
        let of_lakes = [of_trace, study_of_2009(&place.path("log"))];
        of_lakes.into_iter().chain(simulated).map(Kept::of).collect()
    })
}

fn claims() -> impl Iterator<Item = (&'static str, &'static Claim)> {
    studies().iter().flat_map(|study| study.claims.iter().map(|claim| (study.name, claim)))
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn every_row_has_a_place_a_claim_and_what_decides_it() {
    for study in studies() {
        assert!(5 < study.claims.len(), "{}", study.name);
        let names: BTreeSet<(&str, &str)> =
            study.claims.iter().map(|one| (one.place.as_str(), one.claim.as_str())).collect();
        assert_eq!(names.len(), study.claims.len(), "{}: a claim stands twice", study.name);
    }
    for (name, claim) in claims() {
        let texts = [&claim.place, &claim.claim, &claim.decided_by];
        assert!(texts.iter().all(|text| !text.is_empty()), "{name}: {claim:?}");
        let is_compared = claim.verdict != Verdict::CannotBeCompared;
        assert!(!is_compared || claim.ours.is_some(), "{name}: {claim:?}");
        assert_eq!(claim.ours_low.is_some(), claim.ours_high.is_some(), "{name}: {claim:?}");
        assert!(claim.ours_low.is_none_or(|low| Some(low) <= claim.ours), "{name}: {claim:?}");
        assert!(!is_compared || claim.judged != Judged::ByNothing, "{name}: {claim:?}");
    }
}

#[test]
fn the_published_number_put_in_as_ours_is_reproduced() {
    let mut tried = 0;
    for (name, claim) in claims() {
        let verdict = |ours: f64| claim.again(|values| vec![ours; values.len()]).unwrap().verdict;
        match &claim.judged {
            Judged::Number(published, _) | Judged::WorkedExample(published, _) => {
                assert_eq!(claim.published, Some(published.number), "{name}: {claim:?}");
                assert_eq!(verdict(published.number), Verdict::Reproduced, "{name}: {claim:?}");
                let far = published.number + 2.0 * published.digit;
                assert_ne!(verdict(far), Verdict::Reproduced, "{name}: {claim:?}");
                tried += 1;
            }
            Judged::Bound(side, limit, _) => {
                assert_eq!(verdict(*limit), Verdict::Reproduced, "{name}: {claim:?}");
                let beyond = if *side == Side::AtMost { limit + 1.0 } else { limit - 1.0 };
                assert_eq!(verdict(beyond), Verdict::NotReproduced, "{name}: {claim:?}");
                tried += 1;
            }
            Judged::Direction(_) => {}
            Judged::ByNothing => {
                assert_eq!(claim.verdict, Verdict::CannotBeCompared, "{name}: {claim:?}");
            }
        }
    }
    assert!(30 < tried, "{tried}");
}

#[test]
fn the_reverse_of_a_direction_is_not_reproduced() {
    let mut tried = 0;
    for (name, claim) in claims() {
        match &claim.judged {
            Judged::Direction(_) => {
                let verdict = |by: f64| claim.again(|values| vec![by; values.len()]);
                let of = |by: f64| verdict(by).unwrap().verdict;
                assert_eq!(of(1.0), Verdict::Reproduced, "{name}: {claim:?}");
                assert_eq!(of(-1.0), Verdict::NotReproduced, "{name}: {claim:?}");
                let negated = |values: &[f64]| values.iter().map(|value| -value).collect();
                let reverse = claim.again(negated).unwrap().verdict;
                let holds = [Verdict::Reproduced, Verdict::SameDirection];
                let is_both = holds.contains(&claim.verdict) && reverse != Verdict::NotReproduced;
                assert!(!is_both, "{name}: {claim:?}");
                tried += 1;
            }
            Judged::Number(published, _) => {
                let Some(neutral) = published.neutral else { continue };
                let mirrored = 2.0 * neutral - published.number;
                let again = claim.again(|values| vec![mirrored; values.len()]).unwrap();
                if published.digit < (mirrored - published.number).abs() {
                    assert_eq!(again.verdict, Verdict::NotReproduced, "{name}: {claim:?}");
                }
                tried += 1;
            }
            _ => {}
        }
    }
    assert!(20 < tried, "{tried}");
}

/// The interval follows only from the values: mean ± t · s · sqrt(1/n + 1/m). With two values, t is
/// the quantile of Cauchy's distribution, tan(0.475 π), and s is their distance divided by the
/// square root of 2.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn no_acceptance_range_is_typed_by_hand() {
    let mut tried = 0;
    for (name, claim) in claims() {
        let Judged::Number(published, values) = &claim.judged else { continue };
        let (center, half) = match values[..] {
            [] => continue,
            [one] => (one, 0.0),
            [one, other] => {
                let deviation = (one - other).abs() / 2.0_f64.sqrt();
                let new = 1.0 / f64::from(published.runs);
                let t = (0.475 * std::f64::consts::PI).tan();
                (f64::midpoint(one, other), t * deviation * (0.5 + new).sqrt())
            }
            _ => unreachable!("two runs at most: {name} {claim:?}"),
        };
        let is_near = |one: Option<f64>, other: f64| {
            one.is_none_or(|one| (one - other).abs() <= 1e-4 * half + 1e-9 * other.abs() + 1e-12)
        };
        assert!(is_near(claim.ours_low, center - half), "{name}: {claim:?}");
        assert!(is_near(claim.ours_high, center + half), "{name}: {claim:?}");
        let is_inside = (published.number - center).abs() <= half + 0.5 * published.digit;
        let is_free = !matches!(claim.verdict, Verdict::Fitted | Verdict::CannotBeCompared);
        if is_free {
            assert_eq!(claim.verdict == Verdict::Reproduced, is_inside, "{name}: {claim:?}");
        }
        tried += 1;
    }
    assert!(20 < tried, "{tried}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn the_answers_of_all_five_have_the_same_keys() {
    let all = studies();
    for study in all {
        assert_eq!(study.keys, all[0].keys, "{}", study.name);
        assert_eq!(study.claim_keys, all[0].claim_keys, "{}", study.name);
        assert_eq!(study.claim_keys.len(), 1, "{}", study.name);
    }
    let claim = all[0].claim_keys.first().unwrap();
    let bounds = ["ours", "low", "high"];
    for key in ["place", "claim", "published", "verdict", "decided_by"].iter().chain(&bounds) {
        assert!(claim.split(' ').any(|one| one == *key), "{key}: {claim}");
    }
}

/// The sentences and numbers of the paper, copied from it.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn every_claim_of_the_study_of_2009_has_a_row_and_no_row_is_without_a_claim() {
    let written = [
        ("section 3.1.2", "RUP 10 after 1 day without usage"),
        ("section 3.1.2", "RUP 10 after 2 days without usage"),
        ("section 3.1.2", "share of EUP 10 over that of EUP 20"),
        ("section 3.1.2", "share of EUP 5 over that of EUP 20"),
        ("figure 3", "users who used much early"),
        ("figure 3", "users who came late, when capacity was free"),
        ("figure 4", "final RV of a steep step over that of a staircase, about 1"),
        ("figure 4", "long jobs behind the steep step"),
        ("figure 4", "median run of the step's jobs over that of the staircase's, above 1"),
    ];
    let ota = studies().iter().find(|study| study.name == "ota").unwrap();
    let rows: Vec<(&str, &str)> =
        ota.claims.iter().map(|one| (one.place.as_str(), one.claim.as_str())).collect();
    assert_eq!(rows, written);
}
