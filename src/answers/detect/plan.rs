//! The plan of `detect`: detectors, heartbeats, progress, and the definition of a straggler.
//!
//! In: flags. Out: a plan, and its line-up of detectors.

use serde::{Deserialize, Serialize};

use crate::answers::detect::{Curve, Lineup};
use crate::answers::study::Plan;
use crate::answers::words::{parsed, parsed_list, readers, texts};
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::notation::NotationError;
use crate::replay::detect::DetectPlan;
use crate::replay::detect::copies::Replacement;
use crate::replay::detect::progress::{ProgressModel, Work};
use crate::replay::detect::score::TRUTHS_MAX;
use crate::replay::detect::truth::Truth;
use crate::replay::detect::walk::{Beats, WalkPlan};
use crate::replay::detectors::{DetectorPlan, KINDS};
use crate::schema::Table;

/// What is asked of detectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct DetectAsked {
    /// Detectors to compare, separated by spaces, or `all`
    #[cfg_attr(feature = "cli", arg(long, value_name = "DETECTOR", num_args = 1.., value_parser = parse_detectors, default_value = "all", long_help = detectors_help()))]
    pub detectors: Vec<DetectorList>,

    /// Time between heartbeats
    #[cfg_attr(feature = "cli", arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = parse_heartbeat))]
    #[serde(deserialize_with = "heartbeat")]
    pub heartbeat: f64,

    /// Where progress comes from
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value_t))]
    pub progress: ProgressModel,

    /// How `siblings` measures the work so far
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value_t))]
    pub work: Work,

    /// Noise of progress: standard deviation of the rate's log
    ///
    /// At each heartbeat the rate is drawn anew from the seed, with 0.2 about 20 % too high or too low,
    /// and a report that would be lower than an earlier one repeats it. So a report is the largest of
    /// those drawn so far: after many heartbeats nearly all are too high, and results with noise at
    /// different --heartbeat are not comparable. Without noise, progress of `siblings` falls when the
    /// median of the siblings grows.
    #[cfg_attr(feature = "cli", arg(long, value_name = "DEVIATION", default_value_t = 0.0, value_parser = parse_noise))]
    #[serde(deserialize_with = "noise")]
    pub noise: f64,

    /// Seed of noise and of random replacements
    #[cfg_attr(feature = "cli", arg(long, value_name = "SEED", default_value_t = 1, value_parser = crate::units::natural::<u64>))]
    pub seed: u64,

    /// Ask every detector at every heartbeat
    ///
    /// By default a detector is not asked before the time until which it announced no flag. This
    /// option checks that the flags are the same.
    #[cfg_attr(feature = "cli", arg(long, hide = true))]
    pub every_heartbeat: bool,

    /// Definitions of a straggler; the first one decides
    ///
    /// `median:1.5` (longer than 1.5 times the median of the group's finished tasks), `mean:1.5`,
    /// `p90` (R-7 percentile), all strictly greater.
    #[cfg_attr(feature = "cli", arg(long, value_name = "TRUTH,...", value_delimiter = ',', default_value = TRUTHS))]
    #[serde(with = "texts")]
    pub truth: Vec<Truth>,

    /// Phase to score, if the trace records phases
    ///
    /// `map` or `reduce` in Rumen traces. All of them by default, each as a separate group.
    #[cfg_attr(feature = "cli", arg(long, value_name = "PHASE"))]
    pub phase: Option<String>,

    /// Minimum number of finished tasks of a judged group
    #[cfg_attr(feature = "cli", arg(long, value_name = "TASKS", default_value_t = 10, value_parser = parse_min_tasks))]
    #[serde(deserialize_with = "min_tasks")]
    pub min_tasks: usize,

    /// How long the copy of a flagged task takes
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value_t))]
    pub replacement: Replacement,

    /// Show precision and recall by value of each main parameter
    ///
    /// Adds each detector once for each value of the parameter that trades precision for recall.
    #[cfg_attr(feature = "cli", arg(long))]
    pub curve: bool,

    /// Windows of the Poisson detector to compare
    ///
    /// Adds `poisson:window_s=W` for each W, and the same detector with window and bin proportional
    /// to the group's median task (`scale_s=30`: equal to the paper's if tasks take 30 s).
    #[cfg_attr(feature = "cli", arg(long, value_name = "SECONDS,...", value_delimiter = ',', value_parser = parse_window))]
    #[serde(deserialize_with = "window_lengths")]
    pub windows: Vec<u32>,
}

impl Plan for DetectAsked {
    fn check(&self) -> Result<(), Usage> {
        if TRUTHS_MAX < self.truth.len() {
            return Err(Usage(format!("--truth: at most {TRUTHS_MAX} values")));
        }
        if self.work == Work::Measured && self.progress == ProgressModel::Linear {
            let text = "--work is for --progress siblings, and this is --progress linear";
            return Err(Usage(text.to_owned()));
        }
        Ok(())
    }
}

impl Default for DetectAsked {
    /// The plan if the user gives no flag.
    fn default() -> Self {
        Self {
            detectors: vec![DetectorList::all()],
            heartbeat: 10.0,
            progress: ProgressModel::default(),
            work: Work::default(),
            noise: 0.0,
            seed: 1,
            every_heartbeat: false,
            truth: Truth::DEFAULTS.to_vec(),
            phase: None,
            min_tasks: 10,
            replacement: Replacement::default(),
            curve: false,
            windows: Vec::new(),
        }
    }
}

readers! {
    heartbeat: f64 = parsed(parse_heartbeat);
    noise: f64 = parsed(parse_noise);
    min_tasks: usize = parsed(parse_min_tasks);
}

fn window_lengths<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Vec<u32>, D::Error> {
    parsed_list(source, parse_window)
}

/// [`Truth::DEFAULTS`], as written on the command line.
#[cfg(feature = "cli")]
const TRUTHS: &str = "median:1.5,mean:1.5,p90,median:1.3";

/// The help of `--detectors`, with a line about each.
#[cfg(feature = "cli")]
fn detectors_help() -> String {
    let each: Vec<String> =
        KINDS.iter().map(|kind| format!("- {}: {}", kind.name, kind.about)).collect();
    format!(
        "Detectors to compare, separated by spaces, or `all`\n\nEach is `name` or \
        `name:key=value,...`. Every detector also takes `budget` (simultaneous copies, as a share of \
        the running attempts; one copy is always allowed) and `min_age_s` (s). Both drop flags; \
        dropped flags are not replaced. An unknown key is an error that lists the known ones. \
        `late` compares rates and remaining times as exact fractions. If remaining times are equal, \
        the lower task index comes first.\n\n{}",
        each.join("\n")
    )
}

/// Detectors in the order in which they are shown.
#[derive(Clone, Debug, PartialEq)]
pub struct DetectorList(pub Vec<DetectorPlan>);

impl DetectorList {
    /// All detectors with default parameters.
    fn all() -> Self {
        parse_detectors("all").expect("every detector has parameters by default")
    }
}

impl Serialize for DetectorList {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if *self == Self::all() {
            return to.serialize_str("all");
        }
        let words: Vec<&str> = self.0.iter().map(DetectorPlan::written).collect();
        to.serialize_str(&words.join(" "))
    }
}

impl<'de> Deserialize<'de> for DetectorList {
    fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        parsed(source, parse_detectors)
    }
}

pub(crate) fn parse_detectors(text: &str) -> Result<DetectorList, String> {
    let mut detectors: Vec<DetectorPlan> = Vec::new();
    for word in text.split_whitespace() {
        let names: Vec<&str> =
            if word == "all" { KINDS.iter().map(|kind| kind.name).collect() } else { vec![word] };
        for name in names {
            add_once(&mut detectors, name.parse().map_err(|error| refused(name, &error))?);
        }
    }
    if detectors.is_empty() {
        Err("no detector is named".to_owned())
    } else {
        Ok(DetectorList(detectors))
    }
}

/// The error for a word that is not a detector. If the word contains several detectors joined by
/// commas, the error explains how to separate them.
fn refused(word: &str, error: &NotationError) -> String {
    let is_name = |part: &str| {
        let name = part.split(':').next();
        KINDS.iter().any(|kind| name == Some(kind.name))
    };
    if word.split(',').skip(1).any(is_name) {
        format!("{error}; separate detectors by spaces, as in `late spark`")
    } else {
        error.to_string()
    }
}

pub(crate) fn add_once(detectors: &mut Vec<DetectorPlan>, detector: DetectorPlan) {
    if !detectors.contains(&detector) {
        detectors.push(detector);
    }
}

pub(crate) fn parse_heartbeat(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.1..=86_400.0).contains(seconds));
    seconds.ok_or_else(|| format!("`{text}` is not a time from 0.1 to 86400 s"))
}

pub(crate) fn parse_min_tasks(text: &str) -> Result<usize, String> {
    let count = text.parse::<usize>().ok().filter(|count| (1..=u32::MAX as usize).contains(count));
    count.ok_or_else(|| format!("`{text}` is not a count from 1 to {}", u32::MAX))
}

pub(crate) fn parse_window(text: &str) -> Result<u32, String> {
    let seconds = text.parse::<u32>().ok().filter(|&seconds| 0 < seconds);
    seconds
        .ok_or_else(|| format!("`{text}` is not a whole number of seconds from 1 to {}", u32::MAX))
}

pub(crate) fn parse_noise(text: &str) -> Result<f64, String> {
    let noise = text.parse::<f64>().ok().filter(|noise| (0.0..=10.0).contains(noise));
    noise.ok_or_else(|| format!("`{text}` is not a deviation from 0 to 10"))
}

/// The typical length of the tasks for which the 30 s window of the Poisson detector was designed,
/// s.
pub(crate) const PAPER_TASK_S: u32 = 30;

impl Lineup {
    fn of(asked: &DetectAsked) -> Result<Self> {
        let mut detectors = Vec::new();
        for detector in asked.detectors.iter().flat_map(|list| &list.0) {
            add_once(&mut detectors, detector.clone());
        }
        let mut lineup =
            Self { asked: detectors.len(), detectors, curves: Vec::new(), windows: Vec::new() };
        if asked.curve {
            for idx in 0..lineup.asked {
                let detector = lineup.detectors[idx].clone();
                let Some(kind) = detector.kind() else { continue };
                let (key, values) = kind.curve;
                let mut points = Vec::new();
                for value in values {
                    points.push(((*value).to_owned(), lineup.place(&detector.with(key, value)?)));
                }
                if !points.is_empty() {
                    let (name, family) = (detector.written().to_owned(), kind.family);
                    lineup.curves.push(Curve { name, family, key, points });
                }
            }
        }
        for &window_s in &asked.windows {
            let plain: DetectorPlan = format!("poisson:window_s={window_s}").parse()?;
            let scaled = plain.with("scale_s", &PAPER_TASK_S.to_string())?;
            for (detector, is_scaled) in [(plain, false), (scaled, true)] {
                let place = lineup.place(&detector);
                lineup.windows.push((window_s, is_scaled, place));
            }
        }
        Ok(lineup)
    }

    /// The position of a detector in the line-up. A missing detector is added.
    fn place(&mut self, detector: &DetectorPlan) -> usize {
        add_once(&mut self.detectors, detector.clone());
        self.detectors.iter().position(|other| other == detector).expect("it was just added")
    }
}

/// The line-up of detectors, and the plan to run them.
///
/// # Errors
/// The plan has too many truths, work without an effect, or a phase that the trace does not record.
pub fn prepare(asked: &DetectAsked, lake: &Lake) -> Result<(Lineup, DetectPlan)> {
    let lineup = Lineup::of(asked)?;
    #[expect(clippy::cast_possible_truncation, reason = "checked to be at most a day")]
    let heartbeat_us = (asked.heartbeat * 1e6).round() as i64;
    let plan = DetectPlan {
        walk: WalkPlan {
            heartbeat_us,
            progress: asked.progress,
            work: asked.work,
            noise: asked.noise,
            seed: asked.seed,
            beats: if asked.every_heartbeat { Beats::All } else { Beats::Needed },
        },
        truths: asked.truth.clone(),
        phase: asked.phase.clone(),
        tasks_min: asked.min_tasks,
        replacement: asked.replacement,
        ..DetectPlan::of(lineup.detectors.clone())
    };
    asked.check()?;
    if asked.phase.is_some() && !lake.has_column(Table::TaskEvents, "phase") {
        let source = lake.source();
        return Err(Usage(format!("--phase: jobs of {source} have no phases")).into());
    }
    Ok((lineup, plan))
}

#[cfg(all(test, feature = "cli"))]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_the_truths_by_default() {
        assert_eq!(TRUTHS, Truth::DEFAULTS.map(|truth| truth.to_string()).join(","));
    }
}
