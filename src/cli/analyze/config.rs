//! A whole analysis as one file: sections of TOML whose keys are the options of a command.
//!
//! In: the file and the command line. Out: per command its options, as words that the command's
//! own parser takes, so that what is allowed in the file is what is allowed on the command line.
//! Nothing unknown is passed over.
//!
//! ```toml
//! steps = ["verify", "classify", "account", "sweep"]   # all of them by default
//!
//! [trace]
//! folder = "clusterdata-2011-2"
//! lake = "lake"
//! out = "reports/google-2011"
//!
//! [definitions]          # of every study that has them
//! cpu = "measured"
//!
//! [sweep]
//! rules = ["events", "failures"]
//! bootstrap = 1000
//! ```

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction};
use serde_json::{Value as Json, json};
use thiserror::Error;
use toml::de::{DeTable, DeValue};

use jobfate::faults::{Code, Context, Failure, Fault, Usage};
use jobfate::notation::{Mistake, Spot};

/// The parts of an analysis that can be left out, in the order in which they run.
pub(crate) const STEPS: [&str; 8] =
    ["verify", "classify", "describe", "account", "sweep", "detect", "replay", "fairness"];

/// Sections and the commands whose options they hold.
const SECTIONS: [(&str, &str); 8] = [
    ("trace", "ingest"),
    (DEFINITIONS, "account"),
    ("describe", "describe"),
    ("account", "account"),
    ("sweep", "sweep"),
    ("detect", "detect"),
    ("replay", "replay"),
    ("fairness", "fairness"),
];

/// The largest file that is read, bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The section of what several studies have in common.
pub(crate) const DEFINITIONS: &str = "definitions";

/// How the file of an analysis begins that was run.
pub(crate) const FIRST_WORDS: &str = "# As run by";

/// Its keys.
const SHARED: [&str; 4] = ["cpu", "classes", "window-end", "open-attempts"];

/// Options that are no part of what is asked, or whose answer is another. A program is started
/// only if the command line names it.
const LEFT_OUT: [&str; 19] = [
    "help",
    "lake",
    "out",
    "format",
    "columns",
    "sort",
    "width",
    "engine",
    "master",
    "spark-home",
    "spark-conf",
    "spark-lake",
    "force",
    "shard",
    "threads",
    "harmed",
    "index-program",
    "show",
    "what-if",
];

/// A file that is no analysis.
#[derive(Debug, Error)]
#[error("`{}`: {place}", path.display())]
pub(crate) struct ConfigError {
    path: PathBuf,
    place: Mistake,
}

impl Fault for ConfigError {
    fn code(&self) -> Code {
        Code::Usage
    }
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// Given or not.
    Flag(bool),
    /// One word.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl From<&str> for Setting {
    fn from(text: &str) -> Self {
        Self::One(text.to_owned())
    }
}

/// Options by name.
pub(crate) type Section = BTreeMap<String, Setting>;

/// What a whole analysis asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    /// The steps that run, of [`STEPS`].
    pub steps: Vec<&'static str>,
    /// Options by section.
    sections: BTreeMap<&'static str, Section>,
}

impl Default for Config {
    fn default() -> Self {
        let sections = SECTIONS.iter().map(|section| (section.0, Section::new())).collect();
        Self { steps: STEPS.to_vec(), sections }
    }
}

impl Config {
    /// Reads a file.
    pub(crate) fn load(path: &Path) -> Result<Self, Failure> {
        use std::io::Read;

        let mut bytes = Vec::new();
        std::fs::File::open(path)
            .and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes))
            .with_context(|| format!("could not read `{}`", path.display()))?;
        if FILE_BYTES_MAX < bytes.len() as u64 {
            let problem = format!("`{}` is larger than 1 MiB: it is no analysis", path.display());
            return Err(Usage(problem).into());
        }
        let source = String::from_utf8(bytes)
            .map_err(|error| Usage(format!("`{}` is no text: {error}", path.display())))?;
        Ok(Self::read(&source).map_err(|place| ConfigError { path: path.to_owned(), place })?)
    }

    /// Reads the text of a file.
    pub(crate) fn read(source: &str) -> Result<Self, Mistake> {
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
            let Some(&(section, command)) = SECTIONS.iter().find(|known| known.0 == name) else {
                let known = SECTIONS.map(|known| known.0).join(", ");
                let problem = format!("there is no `{name}` (known: steps, {known})");
                return Err(wrong(key.span(), problem));
            };
            let DeValue::Table(options) = value.get_ref() else {
                return Err(wrong(value.span(), format!("`{name}` is a section: [{name}]")));
            };
            let mut read = Section::new();
            for (key, value) in options {
                let (option, setting) = option(section, command, key.get_ref(), value.get_ref())
                    .map_err(|problem| wrong(key.span(), problem))?;
                if read.insert(option, setting).is_some() {
                    let problem = format!("`{}` is said twice", key.get_ref());
                    return Err(wrong(key.span(), problem));
                }
            }
            let words = words_of(&read);
            if let Err(problem) = check(section, command, &words) {
                return Err(wrong(value.span(), problem));
            }
            config.sections.insert(section, read);
        }
        Ok(config)
    }

    /// The value of an option.
    pub(crate) fn get(&self, section: &str, option: &str) -> Option<&Setting> {
        self.sections.get(section)?.get(option)
    }

    /// The text of an option of `[trace]`.
    pub(crate) fn path(&self, option: &str) -> Option<PathBuf> {
        match self.get("trace", option) {
            Some(Setting::One(path)) => Some(PathBuf::from(path)),
            _ => None,
        }
    }

    /// Sets an option, whatever the file says.
    pub(crate) fn set(&mut self, section: &'static str, option: &str, setting: Setting) {
        self.sections.entry(section).or_default().insert(option.to_owned(), setting);
    }

    /// Sets an option that the file leaves open.
    pub(crate) fn default_to(&mut self, section: &'static str, option: &str, setting: Setting) {
        self.sections.entry(section).or_default().entry(option.to_owned()).or_insert(setting);
    }

    /// Whether every command takes its section, what was settled included.
    pub(crate) fn check(&self) -> Result<(), String> {
        for (section, command) in SECTIONS.iter().filter(|section| section.0 != DEFINITIONS) {
            check(section, command, &self.words(section))
                .map_err(|problem| format!("[{section}]: {problem}"))?;
        }
        Ok(())
    }

    /// Writes out what the commands take where nothing is said.
    pub(crate) fn fill_in(&mut self) {
        let all = super::super::command();
        for (section, command) in SECTIONS {
            let command_of_it = all.find_subcommand(command).expect("sections are of commands");
            for arg in known(section, command) {
                let others = command_of_it.get_arg_conflicts_with(&arg);
                if others.iter().any(|other| self.get(section, name_of(other)).is_some()) {
                    continue;
                }
                let defaults: Vec<String> = arg
                    .get_default_values()
                    .iter()
                    .map(|value| value.to_string_lossy().into_owned())
                    .collect();
                if let ([default], false) = (defaults.as_slice(), is_flag(&arg)) {
                    self.default_to(section, name_of(&arg), Setting::One(default.clone()));
                } else if 1 < defaults.len() {
                    self.default_to(section, name_of(&arg), Setting::Many(defaults));
                }
            }
        }
    }

    /// The words of a command: its section and what all have in common, as far as it knows that.
    pub(crate) fn words(&self, section: &'static str) -> Vec<String> {
        let command = SECTIONS.iter().find(|known| known.0 == section).map_or(section, |one| one.1);
        let mut options = self.sections.get(section).cloned().unwrap_or_default();
        if section == "trace" {
            options.retain(|name, _| !PATHS.contains(&name.as_str()));
        } else {
            let args = options_of(command);
            for (name, setting) in &self.sections[DEFINITIONS] {
                if args.iter().any(|arg| name_of(arg) == name) {
                    options.insert(name.clone(), setting.clone());
                }
            }
        }
        words_of(&options)
    }

    /// The file that says the same.
    pub(crate) fn toml(&self) -> String {
        let mut text = format!(
            "{FIRST_WORDS} {}; `jobfate analyze --config FILE` does it again.\n\nsteps = {}\n",
            jobfate::PROGRAM,
            list(self.steps.iter().copied())
        );
        for (section, _) in SECTIONS {
            let Some(options) = self.sections.get(section).filter(|all| !all.is_empty()) else {
                continue;
            };
            let _ = writeln!(text, "\n[{section}]");
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

    /// The same as JSON, for results.
    pub(crate) fn json(&self) -> Json {
        let value = |setting: &Setting| match setting {
            Setting::Flag(is_set) => json!(is_set),
            Setting::One(word) => {
                number(word).and_then(|_| serde_json::from_str(word).ok()).unwrap_or(json!(word))
            }
            Setting::Many(words) => json!(words),
        };
        let sections = SECTIONS.iter().filter_map(|(name, _)| {
            let options = self.sections.get(name)?;
            let options: serde_json::Map<String, Json> =
                options.iter().map(|(name, setting)| (name.clone(), value(setting))).collect();
            Some(((*name).to_owned(), Json::Object(options)))
        });
        let mut all = serde_json::Map::from_iter([("steps".to_owned(), json!(self.steps))]);
        all.extend(sections);
        Json::Object(all)
    }
}

/// Options of `[trace]` that are no options of `ingest`.
const PATHS: [&str; 3] = ["folder", "lake", "out"];

/// The steps that a file names, in the order in which they run.
fn steps(value: &DeValue<'_>) -> Result<Vec<&'static str>, String> {
    let DeValue::Array(names) = value else {
        return Err(format!("`steps` is a list of {}", STEPS.join(", ")));
    };
    let mut chosen = Vec::new();
    for name in names {
        let step = match name.get_ref() {
            DeValue::String(name) => STEPS.iter().position(|step| step == name),
            _ => None,
        };
        chosen.push(step.ok_or_else(|| format!("a step is one of {}", STEPS.join(", ")))?);
    }
    if chosen.is_empty() {
        return Err(format!("`steps` names none of {}", STEPS.join(", ")));
    }
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen.into_iter().map(|step| STEPS[step]).collect())
}

fn name_of(arg: &Arg) -> &str {
    arg.get_long().unwrap_or_default()
}

fn is_flag(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue | ArgAction::SetFalse)
}

/// The options of a command that an analysis can choose.
fn options_of(command: &str) -> Vec<Arg> {
    let all = super::super::command();
    let command = all.find_subcommand(command).expect("sections are of commands");
    let options = command.get_arguments().filter(|arg| arg.get_long().is_some());
    // Elsewhere it says how many rows are shown; in `fairness` also which users are charted.
    let is_view = |arg: &Arg| name_of(arg) == "top" && command.get_name() != "fairness";
    options.filter(|arg| !LEFT_OUT.contains(&name_of(arg)) && !is_view(arg)).cloned().collect()
}

/// The options of a section.
fn known(section: &str, command: &str) -> Vec<Arg> {
    let is_shared = section == DEFINITIONS;
    let mut options = options_of(command);
    options.retain(|arg| SHARED.contains(&name_of(arg)) == is_shared);
    options
}

/// Reads an option.
fn option(
    section: &str,
    command: &str,
    key: &str,
    value: &DeValue<'_>,
) -> Result<(String, Setting), String> {
    let name = key.replace('_', "-");
    if section != DEFINITIONS && SHARED.contains(&name.as_str()) {
        return Err(format!("`{key}` is the same for all studies: it stands in [{DEFINITIONS}]"));
    }
    if name == "index-program" {
        return Err("a program is started only if the command line of `fairness` names it".into());
    }
    let known = known(section, command);
    let arg = known.iter().find(|arg| name_of(arg) == name);
    let is_path = section == "trace" && PATHS.contains(&name.as_str());
    if arg.is_none() && !is_path {
        let mut names: Vec<&str> = known.iter().map(name_of).collect();
        names.extend(PATHS.iter().filter(|_| section == "trace"));
        return Err(format!("[{section}] has no `{key}` (known: {})", names.join(", ")));
    }
    let word = |value: &DeValue<'_>| match value {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) if number.radix() != 10 => {
            Err(format!("`{key}` is a number in decimal digits"))
        }
        DeValue::Integer(number) => Ok(number.as_str().to_owned()),
        DeValue::Float(number) => Ok(number.as_str().to_owned()),
        _ => Err(format!("`{key}` is a text, a number or a list of them")),
    };
    let setting = match value {
        DeValue::Boolean(is_set) if arg.is_some_and(is_flag) => Setting::Flag(*is_set),
        DeValue::Boolean(is_set) => Setting::One(is_set.to_string()),
        _ if arg.is_some_and(is_flag) => return Err(format!("`{key}` is true or false")),
        DeValue::Array(items) if items.is_empty() => {
            return Err(format!("`{key}` is an empty list: leave it out for what is usual"));
        }
        DeValue::Array(items) => {
            let words = items.iter().map(|item| word(item.get_ref()));
            Setting::Many(words.collect::<Result<_, String>>()?)
        }
        single => Setting::One(word(single)?),
    };
    Ok((name, setting))
}

/// Whether a command takes these words.
fn check(section: &str, command: &str, words: &[String]) -> Result<(), String> {
    // Where the trace lies is checked when it is read; a question may be a list of several.
    let is_own = |word: &&String| match section {
        "trace" => !PATHS.iter().any(|path| word.starts_with(&format!("--{path}="))),
        _ => true,
    };
    let words: Vec<&String> = words.iter().filter(is_own).collect();
    let lists: Vec<Vec<&String>> = if section == "describe" {
        let (whats, rest): (Vec<&String>, Vec<&String>) =
            words.into_iter().partition(|word| word.starts_with("--what="));
        let each = whats.into_iter().map(|what| [rest.as_slice(), &[what]].concat());
        std::iter::once(rest.clone()).chain(each).collect()
    } else {
        vec![words]
    };
    for words in lists {
        let trace = Some("trace").filter(|_| command == "ingest");
        let line = ["jobfate", command].into_iter().chain(trace);
        let line = line.chain(words.into_iter().map(String::as_str));
        if let Err(error) = super::super::command().try_get_matches_from(line) {
            let said = error.to_string();
            let first = said.lines().next().unwrap_or_default();
            return Err(first.strip_prefix("error: ").unwrap_or(first).to_owned());
        }
    }
    Ok(())
}

fn words_of(options: &Section) -> Vec<String> {
    let words = options.iter().flat_map(|(name, setting)| -> Vec<String> {
        match setting {
            Setting::Flag(is_set) => is_set.then(|| format!("--{name}")).into_iter().collect(),
            Setting::One(word) => vec![format!("--{name}={word}")],
            Setting::Many(words) => words.iter().map(|word| format!("--{name}={word}")).collect(),
        }
    });
    words.collect()
}

/// A number as TOML and JSON both write it.
fn number(word: &str) -> Option<f64> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = is_plain(whole)
        && is_plain(fraction)
        && (whole == "0" || !whole.starts_with('0'))
        && whole.len() < 16;
    is_number.then(|| word.parse().ok()).flatten()
}

fn scalar(word: &str) -> String {
    if number(word).is_some() { word.to_owned() } else { quoted(word) }
}

/// A text as TOML writes it, which takes the escapes of JSON.
fn quoted(word: &str) -> String {
    json!(word).to_string().replace('\u{7f}', "\\u007f")
}

fn list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    format!("[{}]", words.map(quoted).collect::<Vec<String>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            config.words("sweep"),
            [
                "--cpu=slots",
                "--price=60.5",
                "--rules=events",
                "--rules=failures",
                "--train-until=2"
            ]
        );
        assert_eq!(config.words("trace"), ["--tables=job_events", "--tables=task_events"]);
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
        assert_eq!(config.words("sweep"), ["--cpu=slots", "--window-end=7"]);
        assert_eq!(config.words("detect"), ["--window-end=7"]);
        assert_eq!(config.words("fairness"), ["--cpu=slots", "--window-end=7"]);
        assert_eq!(config.words("describe"), ["--window-end=7"]);
    }

    #[test]
    fn nothing_unknown_is_passed_over() {
        let check = |source: &str, part: &str| {
            let said = Config::read(source).unwrap_err().to_string();
            assert!(said.contains(part), "{source}: {said}");
        };
        check("[swep]", "line 1, column 2: there is no `swep` (known: steps, trace,");
        check("[sweep]\nprise = 1", "line 2, column 1: [sweep] has no `prise` (known: thresholds,");
        check("[sweep]\ncpu = \"slots\"", "stands in [definitions]");
        check("[definitions]\nprice = 1", "[definitions] has no `price`");
        check("[sweep]\nprice = \"dear\"", "invalid value 'dear' for '--price");
        check("[sweep]\nprice = [1, 2]", "cannot be used multiple times");
        check("[sweep]\nprice = 1979-05-27", "is a text, a number or a list");
        check("[sweep]\nprice = 1\nprice = 2", "duplicate key");
        check("[detect]\ncurve = 1", "`curve` is true or false");
        check("[describe]\nwhat = [\"waiting\", \"age\"]", "invalid value 'age'");
        check("[replay]\npolicies = [\"lifo\"]", "lifo");
        check("[replay]\nlake = \"x\"", "[replay] has no `lake`");
        check("[fairness]\nindex-program = \"x=rm\"", "only if the command line");
        check("steps = [\"sweep\", \"fly\"]", "a step is one of verify,");
        check("steps = 1", "`steps` is a list of");
        check("steps = []", "`steps` names none of");
        check("[replay]\npolicies = []", "is an empty list");
        check("[fairness]\nsame-users = \"no\"\nsame_users = \"yes\"", "is said twice");
        check("[replay]\ncluster = \"cluster:nodes=1\"\novercommit = 2", "cannot be used with");
        check("sweep = 1", "`sweep` is a section");
        check("[trace]\nshard = \"1/2\"", "[trace] has no `shard`");
        check("[sweep", "line 1, column");
    }
}
