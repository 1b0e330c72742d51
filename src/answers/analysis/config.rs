//! The settings of a whole analysis: read from its file, completed, checked and written.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use thiserror::Error;
use toml::de::{DeTable, DeValue};

use super::parts::{self, Part};
use super::text::{list, number, option_name, scalar, section_of, steps};
use super::{DEFINITIONS, FIRST_WORDS, TRACE, without_paths};
use crate::answers::ingest::IngestChoice;
use crate::answers::list;
use crate::answers::study::{Definitions, Plan, plans_of};
use crate::answers::words::{self, Section, Setting, Wrong};
use crate::faults::{Code, Context, Failure, Fault, Usage};
use crate::notation::{Mistake, Spot, nearest};

/// The largest file that is read, bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The file of an analysis is not valid.
#[derive(Debug, Error)]
#[error("`{}`: {place}", path.display())]
pub struct ConfigError {
    path: PathBuf,
    place: Mistake,
}

impl Fault for ConfigError {
    fn code(&self) -> Code {
        Code::Usage
    }
}

/// The settings of a whole analysis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The steps that run.
    pub steps: Vec<&'static str>,
    /// Options by section.
    sections: BTreeMap<&'static str, Section>,
}

impl Default for Config {
    fn default() -> Self {
        let sections = parts::sections().map(|part| (part.name, Section::new())).collect();
        Self { steps: parts::steps().collect(), sections }
    }
}

impl Config {
    /// Reads the file of an analysis.
    ///
    /// # Errors
    /// The file cannot be read, is larger than 1 MiB, is not UTF-8, or is not a valid analysis.
    pub fn load(path: &Path) -> Result<Self, Failure> {
        use std::io::Read;

        let mut bytes = Vec::new();
        std::fs::File::open(path)
            .and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes))
            .with_context(|| format!("could not read `{}`", path.display()))?;
        if FILE_BYTES_MAX < bytes.len() as u64 {
            let problem =
                format!("`{}` is larger than 1 MiB, so it is not an analysis file", path.display());
            return Err(Usage(problem).into());
        }
        let source = String::from_utf8(bytes)
            .map_err(|error| Usage(format!("`{}` is not text: {error}", path.display())))?;
        Ok(Self::read(&source).map_err(|place| ConfigError { path: path.to_owned(), place })?)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// The text is not TOML, or has an unknown section, option or value. The error has its place.
    pub fn read(source: &str) -> Result<Self, Mistake> {
        let wrong =
            |spot: Spot, problem: String| Mistake::at(source, spot.start, spot.end, problem);
        let table = DeTable::parse(source)
            .map_err(|error| wrong(error.span().unwrap_or(0..0), error.message().to_owned()))?;
        let mut config = Self::default();
        for (key, value) in table.get_ref() {
            let name: &str = key.get_ref();
            if name == "steps" {
                config.steps =
                    steps(value.get_ref()).map_err(|problem| wrong(value.span(), problem))?;
                continue;
            }
            let Some(part) = parts::sections().find(|part| part.name == name) else {
                let known: Vec<&str> = parts::sections().map(|part| part.name).collect();
                let meant = nearest(name, known.iter().copied());
                let meant = meant.map(|name| format!("; did you mean `{name}`?"));
                let (known, meant) = (known.join(", "), meant.unwrap_or_default());
                let problem = format!("there is no `{name}` (known: steps, {known}){meant}");
                return Err(wrong(key.span(), problem));
            };
            let DeValue::Table(options) = value.get_ref() else {
                return Err(wrong(value.span(), format!("`{name}` is a section: write [{name}]")));
            };
            let read = section_of(part, options).map_err(|(spot, problem)| wrong(spot, problem))?;
            let places = options.keys().map(|key| (option_name(key.get_ref()), key.span()));
            let places: BTreeMap<String, Range<usize>> = places.collect();
            (part.reader.check)(&read).map_err(|error| {
                let place = error.key.as_ref().and_then(|key| places.get(key)).cloned();
                wrong(place.unwrap_or(value.span()), said_of(part, &error))
            })?;
            config.sections.insert(part.name, read);
        }
        Ok(config)
    }

    /// The plans of a study, with the definitions that all studies share.
    ///
    /// # Errors
    /// An option has a value that it does not take.
    pub fn plans<P: Plan>(&self, study: &str) -> Result<Vec<P>, Usage> {
        plans_of(study, self.section(study), &self.definitions()?)
    }

    /// The section of a study; empty if it has none.
    pub fn section(&self, study: &str) -> &Section {
        static NONE: Section = Section::new();
        self.sections.get(study).unwrap_or(&NONE)
    }

    /// The definitions that several studies share.
    ///
    /// # Errors
    /// An option has a value that it does not take.
    pub fn definitions(&self) -> Result<Definitions, Usage> {
        words::read(&self.sections[DEFINITIONS])
            .map_err(|wrong| Usage(format!("[{DEFINITIONS}]: {wrong}")))
    }

    /// The options of `ingest`. Options of the command line (`given`) replace those of the file,
    /// and are stored in `[trace]`.
    ///
    /// # Errors
    /// An option has a value that it does not take.
    pub fn ingest(&mut self, given: &IngestChoice) -> Result<IngestChoice, Usage> {
        for (option, setting) in words::write(given) {
            self.set(TRACE, &option, setting);
        }
        let of_file: IngestChoice = words::read(&without_paths(&self.sections[TRACE]))
            .map_err(|wrong| Usage(format!("[{TRACE}]: {wrong}")))?;
        let &IngestChoice { shard, force, threads, .. } = given;
        Ok(IngestChoice { shard, force, threads, ..of_file })
    }

    /// The value of an option.
    pub fn get(&self, section: &str, option: &str) -> Option<&Setting> {
        self.sections.get(section)?.get(option)
    }

    /// A folder of `[trace]`: `folder`, `lake` or `out`.
    pub fn path(&self, option: &str) -> Option<PathBuf> {
        match self.get("trace", option) {
            Some(Setting::One(path)) => Some(PathBuf::from(path)),
            _ => None,
        }
    }

    /// Sets an option, and replaces the value of the file.
    pub fn set(&mut self, section: &'static str, option: &str, setting: Setting) {
        self.sections.entry(section).or_default().insert(option.to_owned(), setting);
    }

    /// The section of a study, so that the study can fill in the options that have no value yet.
    pub(super) fn section_mut(&mut self, study: &'static str) -> &mut Section {
        self.sections.entry(study).or_default()
    }

    /// Sets an option unless it already has a value.
    pub fn default_to(&mut self, section: &'static str, option: &str, setting: Setting) {
        self.sections.entry(section).or_default().entry(option.to_owned()).or_insert(setting);
    }

    /// Checks every section, including the options that were filled in.
    ///
    /// # Errors
    /// A section has an unknown option, or a value that its option does not take.
    pub fn check(&self) -> Result<(), Usage> {
        for part in parts::sections() {
            let section = &self.sections[part.name];
            (part.reader.check)(section)
                .map_err(|wrong| Usage(format!("[{}]: {}", part.name, said_of(part, &wrong))))?;
        }
        Ok(())
    }

    /// Sets every option that has no value yet to the default of its plan.
    pub fn fill_in(&mut self) {
        for part in parts::sections() {
            for (name, setting) in (part.reader.usual)() {
                self.default_to(part.name, &name, setting);
            }
        }
    }

    /// The options of a step, from its own section and from `[definitions]`: `name=value`, one for
    /// each value.
    pub fn asked(&self, step: &str) -> Vec<String> {
        let found = list::steps().find(|(study, _)| study.name == step);
        let known = found.map_or(&[] as &[&str], |(_, step)| step.shares);
        let shared = self.sections[DEFINITIONS].iter();
        let shared = shared.filter(|option| known.contains(&option.0.as_str()));
        let options =
            self.section(step).iter().chain(shared).flat_map(|(name, setting)| match setting {
                Setting::Flag(is_set) => vec![format!("{name}={is_set}")],
                Setting::One(word) => vec![format!("{name}={word}")],
                Setting::Many(words) => words.iter().map(|word| format!("{name}={word}")).collect(),
            });
        options.collect()
    }

    /// The text of a file that repeats this analysis.
    pub fn toml(&self) -> String {
        let mut text = format!(
            "{FIRST_WORDS} {}; `jobfate analyze --config FILE` repeats it.\n\nsteps = {}\n",
            crate::PROGRAM,
            list(self.steps.iter().copied())
        );
        for part in parts::sections() {
            let Some(options) = self.sections.get(part.name).filter(|all| !all.is_empty()) else {
                continue;
            };
            let _ = writeln!(text, "\n[{}]", part.name);
            for (name, setting) in options {
                let value = match setting {
                    Setting::Flag(is_set) => is_set.to_string(),
                    Setting::One(word) => scalar(word),
                    Setting::Many(words) => list(words.iter().map(String::as_str)),
                };
                let _ = writeln!(text, "{name} = {value}");
            }
        }
        text
    }

    /// The same settings as JSON, for results.
    pub fn json(&self) -> Json {
        let value = |setting: &Setting| match setting {
            Setting::Flag(is_set) => json!(is_set),
            Setting::One(word) => {
                number(word).and_then(|_| serde_json::from_str(word).ok()).unwrap_or(json!(word))
            }
            Setting::Many(words) => json!(words),
        };
        let sections = parts::sections().filter_map(|part| {
            let options = self.sections.get(part.name)?;
            let options: serde_json::Map<String, Json> =
                options.iter().map(|(name, setting)| (name.clone(), value(setting))).collect();
            Some((part.name.to_owned(), Json::Object(options)))
        });
        let mut all = serde_json::Map::from_iter([("steps".to_owned(), json!(self.steps))]);
        all.extend(sections);
        Json::Object(all)
    }
}

/// A mistake in a section, in words.
fn said_of(part: Part, wrong: &Wrong) -> String {
    if wrong.is_unknown { format!("[{}] has {wrong}", part.name) } else { wrong.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::describe::DescribePlan;
    use crate::answers::sweep::SweepPlan;
    use crate::schema::Table;
    use crate::studies::meter::CpuDefinition;
    use crate::studies::samples::What;

    #[test]
    fn what_is_written_out_reads_as_the_same() {
        let source = "steps = [\"sweep\", \"verify\"]\n[trace]\nfolder = \"a \\\"b\\\"\"\n\
                      tables = [\"job_events\", \"task_events\"]\n[definitions]\ncpu = \"slots\"\n\
                      [sweep]\nrules = [\"events\", \"failures\"]\nprice = 60.5\n\
                      train_until = 2\n[detect]\ncurve = true\n\
                      [describe]\nwhat = [\"waiting\", \"attempts\"]\n";
        let mut config = Config::read(source).unwrap();
        assert_eq!(config.steps, ["verify", "sweep"]);
        assert_eq!(
            config.asked("sweep"),
            ["price=60.5", "rules=events", "rules=failures", "train-until=2", "cpu=slots"]
        );
        let sweep = &config.plans::<SweepPlan>("sweep").unwrap()[0];
        assert_eq!((sweep.rules.len(), sweep.price, sweep.train_until), (2, 60.5, Some(2.0)));
        assert_eq!(sweep.choice.cpu, Some(CpuDefinition::Slots));
        let trace = config.ingest(&IngestChoice::default()).unwrap();
        assert_eq!(trace.tables, Some(vec![Table::JobEvents, Table::TaskEvents]));
        let given = IngestChoice { buckets: Some(3), threads: Some(2), ..IngestChoice::default() };
        let trace = config.ingest(&given).unwrap();
        assert_eq!((trace.buckets, trace.threads), (Some(3), Some(2)));
        let whats: Vec<What> =
            config.plans("describe").unwrap().iter().map(|plan: &DescribePlan| plan.what).collect();
        assert_eq!(whats, [What::Waiting, What::Attempts]);
        assert_eq!(config.path("folder"), Some(PathBuf::from("a \"b\"")));
        config.fill_in();
        assert_eq!(Config::read(&config.toml()).unwrap(), config, "{}", config.toml());
        config.check().unwrap();
        let mut with_cluster =
            Config::read("[replay]\ncluster = \"cluster:nodes=9\"\nfrom = 0.5").unwrap();
        with_cluster.fill_in();
        with_cluster.check().unwrap();
        assert_eq!(Config::read(&with_cluster.toml()).unwrap(), with_cluster);
        assert_eq!(config.get("sweep", "seed"), Some(&"1".into()));
        assert_eq!(config.json()["sweep"]["price"], json!(60.5));
        assert_eq!(config.json()["detect"]["curve"], json!(true));
    }

    #[test]
    fn definitions_reach_the_commands_that_know_them() {
        let config = Config::read("[definitions]\ncpu = \"slots\"\nwindow-end = 7").unwrap();
        assert_eq!(config.asked("sweep"), ["cpu=slots", "window-end=7"]);
        assert_eq!(config.asked("detect"), ["window-end=7"]);
        assert_eq!(config.asked("fairness"), ["cpu=slots", "window-end=7"]);
        assert_eq!(config.asked("describe"), ["window-end=7"]);
    }

    #[test]
    fn nothing_unknown_is_passed_over() {
        let check = |source: &str, part: &str| {
            let said = Config::read(source).unwrap_err().to_string();
            assert!(said.contains(part), "{source}: {said}");
        };
        check("[swep]", "line 1, column 2: there is no `swep` (known: steps, trace,");
        check("[swep]", "did you mean `sweep`?");
        check("[sweep]\nprise = 1", "did you mean `price`?");
        check("[sweep]\nprise = 1", "line 2, column 1: [sweep] has no `prise` (known: thresholds,");
        check("[sweep]\ncpu = \"slots\"", "set it in [definitions]");
        check("[definitions]\nprice = 1", "[definitions] has no `price`");
        check("[sweep]\nprice = \"dear\"", "line 2, column 1: `price`: a price is a number");
        check("[sweep]\nprice = [1, 2]", "`price`: takes one value");
        check("[sweep]\nprice = 1979-05-27", "must be a text, a number or a list");
        check("[sweep]\nprice = 1\nprice = 2", "duplicate key");
        check("[detect]\ncurve = 1", "`curve`: must be true or false");
        check(
            "[describe]\nwhat = [\"waiting\", \"age\"]",
            "unknown variant `age`, expected one of `job-durations`",
        );
        check("[replay]\npolicies = [\"lifo\"]", "lifo");
        check("[replay]\nlake = \"x\"", "[replay] has no `lake`");
        check("[fairness]\nindex-program = \"x=rm\"", "only if the command line");
        check("steps = [\"sweep\", \"fly\"]", "a step must be one of verify,");
        check("steps = 1", "`steps` must be a list of");
        check("steps = []", "`steps` is empty: name at least one of");
        check("[replay]\npolicies = []", "is an empty list");
        check("[fairness]\nsame-users = \"no\"\nsame_users = \"yes\"", "is set twice");
        check("[replay]\ncluster = \"cluster:nodes=1\"\novercommit = 2", "cannot be used with");
        check("sweep = 1", "`sweep` is a section");
        check("[trace]\nshard = \"1/2\"", "[trace] has no `shard`");
        check("[sweep", "line 1, column");
    }
}
