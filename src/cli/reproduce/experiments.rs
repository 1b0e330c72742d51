//! `jobfate reproduce tan | asahara | cui`: published experiments run again.
//!
//! In: a study, its parameters, seed and runs. Out: every claim of the paper with its number, our
//! number, the interval of the test and the verdict. The curves and the parameters are further
//! tables. Each figure is a chart in which the paper's values are marks. A claim that is not
//! reproduced is a valid answer, not a failure.

use super::study::{self, pairs_of, varied_of};
use super::{ReproduceArgs, StudyName};
use crate::cli::console;
use crate::cli::shown;
use jobfate::answers::reproduce::experiments::{claims_of, study_of};
use jobfate::answers::reproduce::study::{Varied, parameters_in_words};
use jobfate::answers::reproduce::varied;
use jobfate::claims::headline;
use jobfate::faults::{Result, Usage};
use jobfate::replay::experiments::{Experiment, Figure, asahara, cui, tan};

/// Runs an experiment of a study, and shows it.
pub(crate) fn run(args: &ReproduceArgs) -> Result<()> {
    if args.trace.is_some() || args.answer.window_end.is_some() {
        let only = "TRACE_DIR and --window-end are for studies of a trace, and this one has none";
        return Err(Usage(only.to_owned()).into());
    }
    let mut experiment = experiment_of(args.study);
    for (key, value) in pairs_of(args)? {
        experiment.set(key, value).map_err(|error| Usage(format!("--set: {error}")))?;
    }
    set_seed_and_runs(&mut experiment, args)?;
    let (variants, pairs) = match args.parameters.vary.as_slice() {
        [one, other] => (None, Some(varied::variants_of([one, other], &experiment)?)),
        _ => (variants_of(args, &experiment)?, None),
    };
    let files = shown::files(args.answer.out.as_deref(), args.study.answer())?;
    let figures = experiment.run();
    let varied = variants.map(|(key, variants)| Varied {
        key,
        values: variants
            .into_iter()
            .map(|(value, variant)| (value, claims_of(&variant.run())))
            .collect(),
    });
    show(&experiment, &figures);
    let mut study = study_of(&experiment, &figures);
    if let Some(pairs) = pairs.map(varied::Variants::run) {
        pairs.notes().for_each(console::note);
        study.charts.extend(pairs.charts(&experiment));
        study.tables.push((format!("{}-varied", experiment.name()), pairs.table()));
    }
    study::give(&study, varied.as_ref(), files, Some(&args.answer.form()))
}

/// The experiment with the settings that the paper gives.
pub(crate) fn experiment_of(study: StudyName) -> Experiment {
    match study {
        StudyName::Tan => Experiment::Tan(tan::Settings::default()),
        StudyName::Asahara => Experiment::Asahara(asahara::Settings::default()),
        StudyName::Cui => Experiment::Cui(cui::Settings::default()),
        StudyName::Mandai
        | StudyName::Ota
        | StudyName::Literature
        | StudyName::Course
        | StudyName::All => {
            unreachable!("no single experiment")
        }
    }
}

/// Seed and runs of the command line.
pub(crate) fn set_seed_and_runs(experiment: &mut Experiment, args: &ReproduceArgs) -> Result<()> {
    let seed = args.seed.map(|seed| ("seed", seed.to_string()));
    let runs = args.runs.map(|runs| ("runs", runs.to_string()));
    for (key, value) in [seed, runs].into_iter().flatten() {
        experiment.set(key, &value).map_err(|error| Usage(format!("--set: {error}")))?;
    }
    Ok(())
}

/// The parameter of `--vary`, and its values, each with its experiment.
type Variants = (String, Vec<(String, Experiment)>);

fn variants_of(args: &ReproduceArgs, experiment: &Experiment) -> Result<Option<Variants>> {
    let Some((key, values)) = varied_of(args)? else { return Ok(None) };
    let variants = values.into_iter().map(|value| {
        let mut variant = experiment.clone();
        variant.set(key, value).map_err(|error| Usage(format!("--vary: {error}")))?;
        Ok((value.to_owned(), variant))
    });
    Ok(Some((key.to_owned(), variants.collect::<Result<_, Usage>>()?)))
}

/// Reports the verdicts of the figures on stderr, with the parameters.
fn show(experiment: &Experiment, figures: &[Figure]) {
    console::note(format!("{}: {}", experiment.paper(), headline(&claims_of(figures))));
    for line in parameters_in_words(&experiment.parameters()) {
        console::note(line);
    }
    for figure in figures {
        console::note(format!("{} ({}): {}", figure.name, figure.title, headline(&figure.claims)));
        for remark in &figure.remarks {
            console::note(format!("  {remark}"));
        }
    }
}
