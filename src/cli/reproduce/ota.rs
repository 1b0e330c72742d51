//! `jobfate reproduce ota`: the study of 2009 compared with our results.
//!
//! In: a lake of any log, a span of days and the users in the figures. Out: the worked examples as
//! computed here, figures 3 and 4 for the span, and the patterns of these figures as sentences.
//! Each sentence says whether its pattern holds. The paper chose its week of Grid'5000 at random
//! and does not name it, so its figures are not compared with ours.

use crate::cli::reproduce::ReproduceArgs;
use crate::cli::reproduce::study::{self, pairs_of, varied_of};
use crate::cli::{console, shown};
use jobfate::answers::reproduce::ota::{Place, Settings, find};
use jobfate::answers::reproduce::study::Varied;
use jobfate::faults::{Result, Usage};

/// Reads the settings of the command line, and shows the study.
pub(crate) fn run(args: &ReproduceArgs) -> Result<()> {
    let mut settings = Settings::default();
    for (key, value) in pairs_of(args)? {
        settings.set("--set ", key, value)?;
    }
    let week = &args.week;
    for (key, value) in [("from", &week.from), ("days", &week.days), ("users", &week.users)] {
        if let Some(value) = value {
            settings.set("--", key, value)?;
        }
    }
    let variants: Option<(&str, Vec<(&str, Settings)>)> = match varied_of(args)? {
        None => None,
        Some((key, values)) => {
            let of = |value| {
                let mut variant = settings.clone();
                variant.set("--vary ", key, value)?;
                Ok((value, variant))
            };
            Some((key, values.into_iter().map(of).collect::<Result<_, Usage>>()?))
        }
    };
    let files = shown::files(args.answer.out.as_deref(), "ota")?;
    let place = Place { lake: &args.answer.lake, window_end: args.answer.window_end };
    let outcome = find(&place, &settings, console::say)?;
    outcome.notes().iter().for_each(console::note);
    let varied = variants.map(|(key, variants)| -> Result<Varied> {
        let values = variants.into_iter().map(|(value, variant)| {
            Ok((value.to_owned(), find(&place, &variant, console::say)?.claims))
        });
        Ok(Varied { key: key.to_owned(), values: values.collect::<Result<_>>()? })
    });
    let varied = varied.transpose()?;
    study::give(&outcome.study(), varied.as_ref(), files, Some(&args.answer.form()))
}
