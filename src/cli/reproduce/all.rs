//! `jobfate reproduce all`: the five papers one after the other, and a table of their verdicts.
//!
//! In: what the studies of traces read, if it is there. Out: one row per paper with the number of
//! claims by verdict; with `--out` a folder per study as it would store by itself. A study whose
//! trace is not there is passed over with a sentence, and the others run. With `--stored` nothing
//! runs: the verdicts of stored tables of claims are counted.

use std::fs::File;
use std::path::Path;

use arrow::record_batch::RecordBatch;
use serde_json::json;

use super::experiments::{experiment_of, set_seed_and_runs};
use super::study;
use super::{ReproduceArgs, StudyName, lake_of, mandai_of};
use crate::cli::console;
use crate::cli::shown;
use jobfate::answers::reproduce::experiments::study_of;
use jobfate::answers::reproduce::ota;
use jobfate::answers::reproduce::study::Study;
use jobfate::claims::{Tally, Verdict};
use jobfate::faults::{BadFile, Context, Result, Usage};
use jobfate::lake::Lake;
use jobfate::results::forms::rows;
use jobfate::results::frame::Frame;
use jobfate::results::kind::Kind;
use jobfate::results::store::{Answer, Origin};
use jobfate::schema::Source;

/// One paper in the table.
struct Row {
    study: StudyName,
    /// The verdicts, or why there are none.
    tally: Result<Tally, String>,
}

/// A study, or why it cannot be run here.
type Ran = Result<Study, String>;

pub(crate) fn run(args: &ReproduceArgs) -> Result<()> {
    if args.answer.window_end.is_some() {
        return Err(Usage("--window-end applies to a single study".to_owned()).into());
    }
    let out = args.answer.out.as_deref();
    let files = shown::files(out, "verdicts")?;
    let rows: Vec<Row> = match &args.stored {
        Some(folder) => StudyName::EACH
            .map(|study| Ok(Row { study, tally: stored(folder, study)? }))
            .into_iter()
            .collect::<Result<_>>()?,
        None => run_each(args, out)?,
    };
    for row in &rows {
        match &row.tally {
            Ok(tally) => console::note(format!("{}: {}", row.study.paper(), tally.in_words())),
            Err(why) => console::note(format!("{}: {why}", row.study.paper())),
        }
    }
    let table = table(&rows);
    let answer = Answer {
        kind: Kind::of("verdicts"),
        table: &table,
        json: json!({"papers": self::rows(&table)}),
        settings: json!({"seed": args.seed, "runs": args.runs}),
        charts: Vec::new(),
    };
    let origin = Origin { source: json!("five papers"), inputs: json!([]), gaps: Vec::new() };
    shown::give(&answer, files, &origin, &args.answer.form())
}

/// Runs the studies in turn, and says which one is at work.
fn run_each(args: &ReproduceArgs, out: Option<&Path>) -> Result<Vec<Row>> {
    if args.trace.is_some() {
        lake_of(args)?;
    }
    let mut rows = Vec::new();
    for (number, study) in (1..).zip(StudyName::EACH) {
        let name = study.answer();
        console::note(format!("{number} of {}: {name}", StudyName::EACH.len()));
        let folder = out.map(|out| out.join(name));
        let files = shown::files(folder.as_deref(), name)?;
        let tally = match run_one(args, study)? {
            Ok(study) => {
                let tally = Tally::of(&study.claims);
                study::give(&study, None, files, None)?;
                Ok(tally)
            }
            Err(why) => Err(why),
        };
        rows.push(Row { study, tally });
    }
    Ok(rows)
}

fn run_one(args: &ReproduceArgs, study: StudyName) -> Result<Ran> {
    let lake = &args.answer.lake;
    let source = lake.exists().then(|| Lake::open(lake)).transpose()?.map(|lake| lake.source());
    match study {
        StudyName::Mandai if source == Some(Source::Google2011) => {
            Ok(Ok(mandai_of(&Lake::open(lake)?, &args.answer)?))
        }
        StudyName::Mandai => {
            Ok(Err("skipped: it needs the Google trace of 2011 (TRACE_DIR, or --lake)".to_owned()))
        }
        StudyName::Ota => {
            let is_log = source.is_some_and(|source| !source.is_google());
            let log = args.ota_lake.as_deref().or(is_log.then_some(lake.as_path()));
            let Some(lake) = log else {
                return Ok(Err("skipped: it needs the lake of a log (--ota-lake)".to_owned()));
            };
            let place = ota::Place { lake, window_end: None };
            Ok(Ok(ota::find(&place, &ota::Settings::default(), console::say)?.study()))
        }
        StudyName::Tan | StudyName::Asahara | StudyName::Cui => {
            let mut experiment = experiment_of(study);
            set_seed_and_runs(&mut experiment, args)?;
            Ok(Ok(study_of(&experiment, &experiment.run())))
        }
        StudyName::Literature | StudyName::Course | StudyName::All => {
            unreachable!("not one of each")
        }
    }
}

/// The verdicts of a stored table of claims.
fn stored(folder: &Path, study: StudyName) -> Result<Result<Tally, String>> {
    let name = study.answer();
    let path = folder.join(name).join(format!("{name}.csv"));
    if !path.is_file() {
        return Ok(Err(format!("no stored claims: `{}` does not exist", path.display())));
    }
    let at = || format!("could not read `{}`", path.display());
    let bad = |why: &str| BadFile {
        path: path.clone(),
        problem: format!("is not a table of claims: {why}"),
    };
    let mut reader = csv::Reader::from_reader(File::open(&path).with_context(at)?);
    let headers = reader.headers().map_err(|error| bad(&error.to_string()))?;
    let column = |name: &str| headers.iter().position(|header| header == name);
    let columns = column("verdict").zip(column("decided_by"));
    let (verdict, decided_by) =
        columns.ok_or_else(|| bad("it has no columns `verdict` and `decided_by`"))?;
    let mut tally = Tally::default();
    for record in reader.records() {
        let record = record.map_err(|error| bad(&error.to_string()))?;
        let key = &record[verdict];
        let known = Verdict::ALL.into_iter().find(|verdict| verdict.key() == key);
        let known = known.ok_or_else(|| bad(&format!("`{key}` is not a verdict")))?;
        tally.add(known, &record[decided_by]);
    }
    Ok(Ok(tally))
}

fn table(rows: &[Row]) -> RecordBatch {
    let count = |of: fn(&Tally) -> usize| {
        rows.iter().map(move |row| row.tally.as_ref().ok().map(|tally| of(tally) as u64))
    };
    let notes = rows.iter().map(|row| row.tally.as_ref().err().map(String::as_str));
    Frame::default()
        .text("study", rows.iter().map(|row| row.study.answer()))
        .text("paper", rows.iter().map(|row| row.study.paper()))
        .maybe_count("claims", count(|tally| tally.claims))
        .about("sentences and numbers of the paper")
        .maybe_count("not_reproduced", count(|tally| tally.not_reproduced))
        .about("neither the number nor the direction agrees, or the reverse holds")
        .maybe_count("same_direction", count(|tally| tally.same_direction))
        .about("the sign or order agrees, the size does not")
        .maybe_count("reproduced", count(|tally| tally.reproduced))
        .about("the number lies in the interval of ours; the sentence holds in every cell")
        .maybe_count("worked_examples", count(|tally| tally.worked_examples))
        .about("claims among `reproduced` that check a formula, not data")
        .maybe_count("fitted", count(|tally| tally.fitted))
        .about("a parameter was chosen to match the number")
        .maybe_count("cannot_be_compared", count(|tally| tally.cannot_be_compared))
        .about("the paper prints no number, or a table is missing")
        .maybe_text("note", notes)
        .about("why a study has no verdicts")
        .batch()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::{Arc, OnceLock};

    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};
    use jobfate::answers::ingest::plan;
    use jobfate::answers::reproduce::study::claims_table;
    use jobfate::claims::{Claim, Judged, Side};
    use jobfate::lake::ingest::ingest;

    /// Three jobs of two users.
    const LOG: &str = "; MaxProcs: 8
1 0 0 3600 2 -1 -1 2 -1 -1 1 1 1 -1 1 1 -1 -1
2 1800 0 7200 1 -1 -1 1 -1 -1 1 1 1 -1 1 1 -1 -1
3 7200 600 1800 4 -1 -1 4 -1 -1 1 2 2 -1 1 1 -1 -1
";

    /// Name, claims and keys of the answer of each study.
    struct Kept {
        name: &'static str,
        claims: Vec<Claim>,
        keys: Vec<String>,
        claim_keys: BTreeSet<String>,
    }

    fn command(words: &[&str]) -> Command {
        Cli::try_parse_from([&["jobfate", "--quiet"], words].concat()).unwrap().command
    }

    /// The five studies: a synthetic trace, a small log, and two runs of each setting.
    fn studies() -> &'static [Kept] {
        static STUDIES: OnceLock<Vec<Kept>> = OnceLock::new();
        STUDIES.get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().join(name).display().to_string();
            std::fs::write(at("small.swf"), LOG).unwrap();
            command(&["synth", &at("trace"), "--jobs", "60", "--days", "1"]).run().unwrap();
            for (trace, lake) in [("trace", "lake"), ("small.swf", "log")] {
                let words = ["ingest", &at(trace), "--lake", &at(lake)];
                let Command::Ingest(args) = command(&words) else { unreachable!("asked for") };
                let plan = plan(&args.trace, &args.lake, &args.choice, |_| ()).unwrap();
                ingest(&plan, &Arc::default()).unwrap();
            }
            let (lake, log) = (at("lake"), at("log"));
            let words = ["reproduce", "all", "--runs", "2", "--lake", &lake, "--ota-lake", &log];
            let Command::Reproduce(args) = command(&words) else { unreachable!("asked for") };
            let all = StudyName::EACH.map(|study| run_one(&args, study).unwrap().unwrap());
            let kept = all.map(|study| {
                let table = claims_table(&study.claims);
                let json = study.answer(None, &table).json;
                let keys = |value: &serde_json::Value| {
                    value.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
                };
                let claims = json["claims"].as_array().unwrap();
                let claim_keys: BTreeSet<String> =
                    claims.iter().map(|claim| keys(claim).join(" ")).collect();
                Kept { name: study.name, keys: keys(&json), claim_keys, claims: study.claims }
            });
            Vec::from(kept)
        })
    }

    fn claims() -> impl Iterator<Item = (&'static str, &'static Claim)> {
        studies().iter().flat_map(|study| study.claims.iter().map(|claim| (study.name, claim)))
    }

    #[test]
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
            let verdict =
                |ours: f64| claim.again(|values| vec![ours; values.len()]).unwrap().verdict;
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
                    let is_both =
                        holds.contains(&claim.verdict) && reverse != Verdict::NotReproduced;
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

    /// The interval follows from the values and nothing else: mean ± t · s · sqrt(1/n + 1/m). With
    /// two values t is the quantile of Cauchy's distribution, tan(0.475 π), and s their distance
    /// over the root of 2.
    #[test]
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
                one.is_none_or(|one| {
                    (one - other).abs() <= 1e-4 * half + 1e-9 * other.abs() + 1e-12
                })
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

    /// The sentences and numbers of the paper, as written down from it.
    #[test]
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

    #[test]
    fn stored_verdicts_are_counted_and_what_is_no_table_of_claims_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let tan = folder.path().join("tan");
        std::fs::create_dir(&tan).unwrap();
        let count = || stored(folder.path(), StudyName::Tan);
        let missing = count().unwrap().unwrap_err();
        assert!(missing.contains("tan.csv` does not exist"), "{missing}");
        let write = |text: &str| std::fs::write(tan.join("tan.csv"), text).unwrap();
        write(
            "verdict,decided_by\nreproduced,x\nfitted,y\nreproduced,\"a check of the formula, not of data\"\n",
        );
        let tally = count().unwrap().unwrap();
        assert_eq!((tally.claims, tally.reproduced, tally.worked_examples), (3, 2, 1));
        for odd in ["verdict,decided_by\nyes,x\n", "a,b\n1,2\n", "verdict,decided_by\nfitted\n"] {
            write(odd);
            let error = count().unwrap_err().to_string();
            assert!(error.contains("tan.csv` is not a table of claims"), "{error}");
        }
    }
}
