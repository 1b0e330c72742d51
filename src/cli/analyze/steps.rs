//! The steps of an analysis, and the report about their results.
//!
//! In: a lake and the settings. Out: a result for each step, a mark for each that is done, the
//! report, and its first sentences.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::{AnalyzeArgs, REPORT};
use crate::cli::console;
use crate::cli::shown::Terminal;
use jobfate::answers::analysis::Config;
use jobfate::answers::list;
use jobfate::answers::pass;
use jobfate::answers::spread::{self, Errand, Folded, Parts};
use jobfate::answers::study::{Definitions, Screen, Step, Study, Work};
use jobfate::facts::spark::Spark;
use jobfate::facts::window::Windows;
use jobfate::faults::Result;
use jobfate::files::FolderLock;
use jobfate::lake::{Lake, TableEntry};
use jobfate::report;
use jobfate::results;
use jobfate::results::marks::{Marks, made_from};
use jobfate::results::store::{self, Whole};
use jobfate::schema::Table;

/// Number of sentences that are printed at the end.
const SENTENCES: usize = 3;

/// An analysis of a lake.
pub(super) struct Analysis {
    lake: Lake,
    /// Whether this run has just written every part of the lake.
    is_just_written: bool,
    windows: Windows,
    /// The lock on the folder of the results.
    lock: Arc<FolderLock>,
    config: Config,
    /// The identity of the analysis.
    sha256: String,
    /// The kind of trace, the tables and their checksums, and the window.
    inputs: String,
    marks: Marks,
    /// Whether completed steps are repeated.
    is_again: bool,
    screen: Terminal,
}

impl Analysis {
    pub(super) fn new(
        (lake, is_just_written): (Lake, bool),
        lock: Arc<FolderLock>,
        config: Config,
        args: &AnalyzeArgs,
    ) -> Result<Self> {
        let Definitions { window_end, open_attempts, .. } = config.definitions()?;
        let windows = crate::cli::windows_to(&lake, window_end)?.closing(open_attempts);
        let source = lake.source();
        let mut inputs = serde_json::to_string(&(source, store::inputs(&lake), windows))?;
        // The identity covers settings and inputs: results of another lake belong to another
        // analysis.
        let sha256 = made_from(&[&config.toml(), &inputs], &[]);
        let (asks, has_chart_data) = (config.json(), args.chart_data);
        store::set_analysis(Whole { sha256: sha256.clone(), asks, has_chart_data });
        // The numbers of charts change no answer, but a step that did not store them counts as not
        // done.
        inputs.push_str(if has_chart_data { "chart data" } else { "" });
        let folders = list::steps().filter(|(_, step)| step.has_folder);
        let folders = folders.map(|(study, _)| study.name).collect();
        let marks = Marks::begin(lock.folder(), folders, &sha256)?;
        Ok(Self {
            lake,
            is_just_written,
            windows,
            lock,
            config,
            sha256,
            inputs,
            marks,
            is_again: args.again,
            screen: Terminal::default(),
        })
    }

    /// The folder of the results.
    fn out(&self) -> &Path {
        self.lock.folder()
    }

    /// Runs every step and writes the report; fails if a check of the lake has failed.
    pub(super) fn run(mut self, spark: Option<&Spark>) -> Result<()> {
        console::keep_assumptions();
        let chosen = list::steps().filter(|(study, _)| self.config.steps.contains(&study.name));
        let chosen: Vec<(&Study, Step)> = chosen.collect();
        let parts = match spark {
            Some(spark) => self.spread(spark, &chosen)?,
            None => BTreeMap::new(),
        };
        let mut verdict = None;
        let mut folded = Folded::default();
        let mut has_folded = spark.is_some();
        for (number, &(study, step)) in (1..).zip(&chosen) {
            let name = study.name;
            let say =
                |what: &str| console::note(format!("[{number}/{}] {name}{what}", chosen.len()));
            if step.is_check {
                say("");
                verdict = (step.run)(&self.work(study, None, &folded)?)?;
                continue;
            }
            let made_from = self.made_from(name);
            if self.is_done(name, &made_from) {
                say(": done before");
                self.marks.adopt(name)?;
                continue;
            }
            if step.errand.is_some() && !std::mem::replace(&mut has_folded, true) {
                folded = self.fold(&chosen)?;
            }
            say("");
            self.marks.remove(name)?;
            let before = self.marks.listing()?;
            (step.run)(&self.work(study, parts.get(name), &folded)?)?;
            self.marks.put(name, made_from, &before)?;
        }
        let results = results::read_analysis(self.out(), results::PAGE_LIMITS, &self.sha256)?;
        let first = report::write(&results, &self.out().join(REPORT))?;
        let (note, verdict) = verdict.map_or((None, Ok(())), |found| (found.note, found.result));
        note.iter().for_each(console::note);
        console::assumptions();
        console::data("\n")?;
        for sentence in report::sentences(&results, SENTENCES) {
            console::data(&format!("{sentence}\n"))?;
        }
        console::note(format!("results and charts: {}", self.out().display()));
        console::note(format!("report: {}", first.display()));
        verdict
    }

    /// The checksum of a step's inputs.
    fn made_from(&self, name: &str) -> String {
        made_from(&[name, &self.inputs], &self.config.asked(name))
    }

    fn is_done(&self, name: &'static str, made_from: &str) -> bool {
        !self.is_again && self.marks.has(name, made_from)
    }

    /// Results of the workers of a cluster for the studies that read most, in one session; the
    /// other steps run here.
    fn spread(
        &self,
        spark: &Spark,
        chosen: &[(&'static Study, Step)],
    ) -> Result<BTreeMap<&'static str, Parts>> {
        let mut errands = self.errands(chosen)?;
        errands.retain(|(_, errand)| errand.is_for_workers());
        let (names, errands): (Vec<_>, Vec<_>) = errands.into_iter().unzip();
        if names.is_empty() {
            return Ok(BTreeMap::new());
        }
        console::note(format!("on the workers of {}: {}", spark.master, names.join(", ")));
        let parts = spread::ask(spark, &self.lake, self.common()?, errands)?;
        Ok(names.into_iter().zip(parts).collect())
    }

    /// Results of one pass over the lake, for the studies that can share it.
    fn fold(&self, chosen: &[(&'static Study, Step)]) -> Result<Folded> {
        let mut errands = self.errands(chosen)?;
        errands.retain(|(_, errand)| errand.shares_pass());
        if errands.len() < 2 {
            return Ok(Folded::default());
        }
        let names: Vec<&str> = errands.iter().map(|(name, _)| *name).collect();
        console::note(format!("one pass over the lake for {}", names.join(", ")));
        let bar = self.screen.follow("pass", "rows");
        let folded = pass::pass(&self.lake, self.common()?, &errands)?;
        drop(bar);
        Ok(folded)
    }

    /// The requests of the remaining studies for the buckets of the lake.
    fn errands(&self, chosen: &[(&'static Study, Step)]) -> Result<Vec<(&'static str, Errand)>> {
        let mut errands = Vec::new();
        let has_rows = |entry: &TableEntry| 0 < entry.rows();
        if !self.lake.manifest.table(Table::TaskEvents).is_some_and(has_rows) {
            return Ok(errands);
        }
        let (todo, none) = (|name| !self.is_done(name, &self.made_from(name)), Folded::default());
        for &(study, step) in chosen {
            let Some(errand) = step.errand.filter(|_| todo(study.name)) else { continue };
            // A request that is not valid is refused later, by its step.
            if let Ok(errand) = errand(&self.work(study, None, &none)?) {
                errands.push((study.name, errand));
            }
        }
        Ok(errands)
    }

    fn common(&self) -> Result<(Windows, Definitions)> {
        Ok((self.windows, self.config.definitions()?))
    }

    /// The inputs of a step, and the results of workers or of a pass for it.
    fn work<'a>(
        &'a self,
        study: &'static Study,
        parts: Option<&'a Parts>,
        folded: &'a Folded,
    ) -> Result<Work<'a>> {
        Ok(Work {
            study,
            lake: &self.lake,
            is_just_written: self.is_just_written,
            windows: self.windows,
            definitions: self.config.definitions()?,
            section: self.config.section(study.name),
            lock: &self.lock,
            parts,
            folded,
            screen: &self.screen,
        })
    }
}
