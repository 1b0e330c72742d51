//! Requests from outside, checked against the flags of the commands.
//!
//! In: the name of a command and pairs of names and values. Out: the words of its command line, or
//! the parameter that is wrong. A flag is offered unless it names a file, a folder, a program or
//! the format of the answer; every value follows its `=`, so no value can become a flag.

use std::collections::BTreeMap;

use clap::builder::ValueRange;
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, Command};

use super::guide;
use crate::answers::list::STUDIES;
use crate::answers::study::Study;
use crate::answers::words::{Section, Setting};
use crate::studies::outcomes::Classes;

/// Commands that users can run on lakes: the studies with a step. Checks of a lake and
/// reproductions are not among them, because they also read files that only the operator has.
pub(super) fn answers() -> impl Iterator<Item = &'static str> {
    let is_asked = |study: &&Study| study.step.is_some_and(|step| !step.is_check);
    STUDIES.iter().filter(is_asked).map(|study| study.name)
}

/// Commands with a form made from their flags, and with jobs as answers. `fairness` has its own
/// form.
pub(super) fn forms() -> impl Iterator<Item = &'static str> {
    answers().filter(|name| *name != "fairness")
}

/// Flags that are not offered to users: about the place and the format of answers, engines, and
/// programs.
const NOT_OFFERED: [&str; 17] = [
    "lake",
    "format",
    "columns",
    "sort",
    "width",
    "out",
    "chart_data",
    "chart_format",
    "chart_width",
    "no_title",
    "engine",
    "spark_conf",
    "show",
    "help",
    "version",
    "quiet",
    "verbose",
];

/// Value names of flags that name a file, a program or another machine.
const PLACES: [&str; 5] = ["DIR", "FILE", "PROGRAM", "URL", "PATH"];

/// Parameters of an index that name a file.
pub(super) const FILE_KEYS: [&str; 2] = ["charges", "factors"];

/// Longest value of a parameter, bytes.
const WORD_MAX: usize = 4096;

/// Largest number of characters of a refused value that are shown.
const SHOWN_MAX: usize = 80;

/// A parameter.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    /// Its name, the same as that of the flag.
    pub name: String,
    /// What it means, in a line.
    pub help: String,
    /// The rest of the long help, if there is more.
    pub more: Option<String>,
    /// The values that it takes.
    pub takes: Takes,
    /// Its value if none is given.
    pub default: Option<String>,
    /// Whether it may be given several times.
    pub is_list: bool,
}

/// The values that a parameter takes.
#[derive(Clone, Debug)]
pub(super) enum Takes {
    /// `yes` or `no`.
    YesOrNo,
    /// One of a list of words, each with its meaning.
    Word(Vec<(String, String)>),
    /// A text; the name of its unit or form.
    Text(String),
}

/// What is wrong with a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// The parameter, if it is known.
    pub parameter: Option<String>,
    /// What is wrong with it.
    pub said: String,
}

impl Wrong {
    pub(super) fn of(parameter: &str, said: impl Into<String>) -> Self {
        Self { parameter: Some(parameter.to_owned()), said: said.into() }
    }
}

/// The commands of this program.
#[derive(Debug)]
pub(super) struct Asks(Command);

impl Asks {
    pub(super) fn new(command: Command) -> Self {
        Self(command.color(clap::ColorChoice::Never).term_width(0))
    }

    /// What a command is about.
    pub(super) fn about(&self, name: &str) -> String {
        let command = self.0.find_subcommand(name);
        let about = command.and_then(Command::get_about).map(ToString::to_string);
        about.unwrap_or_default()
    }

    /// The parameters of a command that are offered.
    pub(super) fn parameters(&self, name: &str) -> Vec<Parameter> {
        let command = self.0.find_subcommand(name);
        let all = command.into_iter().flat_map(Command::get_arguments);
        all.filter(|arg| is_offered(name, arg)).filter_map(parameter).collect()
    }

    /// The flags of the command line, checked.
    pub(super) fn words<'a>(
        &self,
        name: &str,
        pairs: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Result<Vec<String>, Wrong> {
        let known = self.parameters(name);
        let (mut words, mut seen) = (Vec::new(), Vec::new());
        for (key, value) in pairs {
            let Some(parameter) = known.iter().find(|known| known.name == key) else {
                let cut: String = key.chars().take(40).collect();
                let names: Vec<&str> = known.iter().map(|known| known.name.as_str()).collect();
                let said = format!("no parameter is called `{cut}` (known: {})", names.join(", "));
                return Err(Wrong::of(&cut, said));
            };
            if seen.contains(&key) && !parameter.is_list {
                return Err(Wrong::of(key, "it is given twice"));
            }
            seen.push(key);
            words.extend(word(parameter, &guide::list_of(name, key, value))?);
        }
        self.check(name, &words)?;
        check_plan(name, &known, &words)?;
        Ok(words)
    }

    /// Refuses words that the command would refuse.
    fn check(&self, command: &str, words: &[String]) -> Result<(), Wrong> {
        let begin = ["jobfate", command].map(str::to_owned);
        let Err(error) = self.0.clone().try_get_matches_from(begin.iter().chain(words)) else {
            return Ok(());
        };
        let flag = match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::String(flag)) => Some(flag.clone()),
            Some(ContextValue::Strings(flags)) => flags.first().cloned(),
            _ => None,
        };
        let parameter = flag.map(|flag| {
            let flag = flag.trim_start_matches('-');
            flag.split(['=', ' ']).next().unwrap_or_default().to_owned()
        });
        let known = parameter
            .as_deref()
            .and_then(|name| self.parameters(command).into_iter().find(|known| known.name == name));
        let said = known.and_then(|known| refused(&error, &known));
        let whole = || {
            let said = error.to_string();
            let said = said.split("\n\n").next().unwrap_or_default();
            said.trim_start_matches("error: ").trim().to_owned()
        };
        Err(Wrong { parameter, said: said.unwrap_or_else(whole) })
    }
}

/// Refuses options that the study of the command would refuse before it reads a lake.
fn check_plan(name: &str, known: &[Parameter], words: &[String]) -> Result<(), Wrong> {
    let study = STUDIES.iter().find(|study| study.name == name);
    let Some(reader) = study.and_then(|study| study.step?.section) else { return Ok(()) };
    let mut section = section(known, words);
    loop {
        let Err(wrong) = (reader.check_alone)(&section) else { return Ok(()) };
        // The command has already accepted each single value. An option that is removed here is not
        // one of the study, or has another form in a section.
        let Some(key) = wrong.key else {
            return Err(Wrong { parameter: named_in(&wrong.problem, known), said: wrong.problem });
        };
        if section.remove(&key).is_none() {
            return Ok(());
        }
    }
}

/// The options of a command line as a section of an analysis has them.
fn section(known: &[Parameter], words: &[String]) -> Section {
    let mut all: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for word in words {
        let flag = word.trim_start_matches('-');
        let (key, value) = flag.split_once('=').unwrap_or((flag, ""));
        all.entry(key).or_default().push(value.to_owned());
    }
    // A choice that the user leaves open gets the default of the flag.
    for one in known.iter().filter(|one| matches!(one.takes, Takes::Word(_))) {
        if let Some(default) = &one.default {
            all.entry(&one.name).or_insert_with(|| vec![default.clone()]);
        }
    }
    let is_switch =
        |key: &str| known.iter().any(|one| one.name == key && matches!(one.takes, Takes::YesOrNo));
    let setting = |key: &str, mut values: Vec<String>| match values.len() {
        _ if is_switch(key) => Setting::Flag(true),
        1 => Setting::One(values.swap_remove(0)),
        _ => Setting::Many(values),
    };
    all.into_iter().map(|(key, values)| (key.to_owned(), setting(key, values))).collect()
}

/// The first parameter that a text names, as `--groups` or in backticks.
fn named_in(text: &str, known: &[Parameter]) -> Option<String> {
    let place = |name: &str| {
        let forms = [format!("--{name}"), format!("`{name}`")];
        let ends =
            |at: usize| !text[at..].starts_with(|one: char| one.is_alphanumeric() || one == '-');
        let found = forms.iter().filter_map(|form| Some((text.find(form)?, form.len())));
        found.filter(|(at, long)| ends(at + long)).map(|(at, _)| at).min()
    };
    let found = known.iter().filter_map(|one| Some((place(&one.name)?, &one.name)));
    found.min().map(|(_, name)| name.clone())
}

/// Why a value of a parameter is refused, and what is expected; `None` if the error is not about a
/// value.
fn refused(error: &clap::Error, parameter: &Parameter) -> Option<String> {
    let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue) else {
        return None;
    };
    let value: String = value.chars().take(SHOWN_MAX).collect();
    let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    let cause = match cause.as_str() {
        "" => "it is not one of its values",
        other => other,
    };
    let expected = match &parameter.takes {
        Takes::YesOrNo => "`yes` or `no`".to_owned(),
        Takes::Word(words) => {
            let words: Vec<&str> = words.iter().map(|(word, _)| word.as_str()).collect();
            words.join(", ")
        }
        Takes::Text(unit) => unit.to_lowercase().replace('_', " "),
    };
    Some(format!("`{value}`: {cause} (expected: {expected})"))
}

/// A value as a flag of a command line; `None` for a switch that is off.
fn word(parameter: &Parameter, value: &str) -> Result<Option<String>, Wrong> {
    let name = &parameter.name;
    if WORD_MAX < value.len() || value.contains('\0') {
        return Err(Wrong::of(name, format!("it must be text of at most {WORD_MAX} bytes")));
    }
    // The notation of an index can name a file of the operator.
    if let Some(key) = FILE_KEYS.iter().find(|key| name == "index" && value.contains(*key)) {
        return Err(Wrong::of(
            name,
            format!("`{key}` names a file, and files cannot be named here"),
        ));
    }
    match parameter.takes {
        Takes::YesOrNo => match value {
            "yes" | "true" | "on" | "1" => Ok(Some(format!("--{name}"))),
            "no" | "false" | "off" | "0" => Ok(None),
            _ => Err(Wrong::of(name, "it must be `yes` or `no`")),
        },
        _ => Ok(Some(format!("--{name}={value}"))),
    }
}

fn is_offered(command: &str, arg: &Arg) -> bool {
    let id = arg.get_id().as_str();
    let takes = arg.get_value_names().into_iter().flatten();
    let leads_away =
        takes.into_iter().any(|takes| PLACES.iter().any(|place| takes.contains(place)));
    // Except in `fairness`, `--top` only shortens the printed table; the JSON is always complete.
    let is_view = id == "top" && command != "fairness";
    let is_switch_of_program = id == "time_limit";
    let is_index = id == "formula" || id == "index_program" || id == "index_file";
    !(NOT_OFFERED.contains(&id) || leads_away || is_view || is_index || is_switch_of_program)
}

fn parameter(arg: &Arg) -> Option<Parameter> {
    let name = arg.get_long()?.to_owned();
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let more = arg.get_long_help().map(ToString::to_string);
    let more = more.map(|more| more.strip_prefix(&help).unwrap_or(&more).trim().to_owned());
    let words: Vec<(String, String)> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| {
            let help = value.get_help().map(ToString::to_string).unwrap_or_default();
            (value.get_name().to_owned(), help)
        })
        .collect();
    let takes_values = arg.get_num_args().is_none_or(|count| count != ValueRange::EMPTY)
        && arg.get_action().takes_values();
    let takes = match words.as_slice() {
        _ if !takes_values => Takes::YesOrNo,
        [] => {
            let unit = arg.get_value_names().and_then(|names| names.first());
            let unit = unit.map(ToString::to_string).unwrap_or_default();
            match two_words(&unit) {
                Some(words) => Takes::Word(words),
                None => Takes::Text(unit),
            }
        }
        _ => Takes::Word(words),
    };
    let defaults = arg.get_default_values().iter().map(|value| value.to_string_lossy());
    let default = Some(defaults.collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty());
    Some(Parameter {
        name,
        help,
        more: more.filter(|more| !more.is_empty()),
        takes,
        default: default.filter(|_| takes_values),
        is_list: matches!(arg.get_action(), ArgAction::Append),
    })
}

/// The values of a flag that takes one of two words, by the name of its value.
fn two_words(unit: &str) -> Option<Vec<(String, String)>> {
    let words = match unit {
        "YES_OR_NO" => ["yes", "no"].map(str::to_owned),
        "CLASSES" => [Classes::Sequence, Classes::Terminal].map(|classes| classes.to_string()),
        _ => return None,
    };
    Some(words.map(|word| (word, String::new())).into())
}

#[cfg(test)]
mod tests {
    use clap::Args;

    use super::*;
    use crate::answers::account::AccountPlan;
    use crate::answers::describe::DescribePlan;
    use crate::answers::fairness::plan::FairnessPlan;
    use crate::answers::load::LoadPlan;
    use crate::answers::monthly::MonthlyPlan;
    use crate::answers::predict::PredictPlan;
    use crate::answers::replay::plan::ReplayPlan;
    use crate::answers::sweep::plan::SweepPlan;

    #[test]
    fn a_refused_value_is_named_with_what_is_expected() {
        let commands = [
            FairnessPlan::augment_args(Command::new("fairness")),
            SweepPlan::augment_args(Command::new("sweep")),
        ];
        let asks = Asks::new(Command::new("jobfate").subcommands(commands));
        for (command, name, value, said) in [
            ("fairness", "from", "abc", "`abc`: it is not a number (expected: days)"),
            ("fairness", "top", "1.5", "`1.5`: it is not a whole number from 0"),
            ("fairness", "same-users", "perhaps", "(expected: yes, no)"),
            ("fairness", "align", "x", "`x`: it is not one of its values (expected: clock, start)"),
            ("sweep", "classes", "x", "(expected: sequence, terminal)"),
        ] {
            let wrong = asks.words(command, [(name, value)].into_iter()).unwrap_err();
            assert_eq!(wrong.parameter.as_deref(), Some(name));
            assert!(wrong.said.contains(said) && !wrong.said.contains("--"), "{}", wrong.said);
        }
    }

    #[test]
    fn what_would_fail_later_is_refused_at_its_field() {
        let commands = [
            FairnessPlan::augment_args(Command::new("fairness")),
            SweepPlan::augment_args(Command::new("sweep")),
            LoadPlan::augment_args(Command::new("load")),
            MonthlyPlan::augment_args(Command::new("monthly")),
            DescribePlan::augment_args(Command::new("describe")),
            PredictPlan::augment_args(Command::new("predict")),
            AccountPlan::augment_args(Command::new("account")),
            ReplayPlan::augment_args(Command::new("replay")),
        ];
        let asks = Asks::new(Command::new("jobfate").subcommands(commands));
        let asked =
            |command: &str, pairs: &[(&str, &str)]| asks.words(command, pairs.iter().copied());
        for (command, pairs, field) in [
            ("fairness", &[("days", "-3")][..], "days"),
            ("fairness", &[("free", "2")], "free"),
            ("load", &[("groups", "0"), ("by", "user")], "groups"),
            ("load", &[("groups", "5")], "groups"),
            ("monthly", &[("users", "0")], "users"),
            ("sweep", &[("seed", "7")], "seed"),
            ("describe", &[("waits", "started")], "waits"),
            ("predict", &[("rules", "hazard-events")], "age"),
            ("account", &[("resource", "memory"), ("cpu", "published")], "cpu"),
            ("account", &[("resource", "gpu"), ("cpu", "slots")], "cpu"),
            ("account", &[("memory", "assigned")], "memory"),
            ("account", &[("group-by", "user,user")], "group-by"),
            ("fairness", &[("cpu", "published")], "cpu"),
            ("fairness", &[("resource", "memory"), ("cpu", "slots")], "cpu"),
            ("fairness", &[("memory", "used")], "memory"),
            ("load", &[("resource", "gpu"), ("fragmentation", "yes")], "fragmentation"),
            ("replay", &[("cluster", "cluster:nodes=500,mtbf_s=0.01,mttr_s=0.01")], "cluster"),
            ("replay", &[("cluster", "cluster:nodes=5"), ("overcommit", "2")], "cluster"),
        ] {
            let wrong = asked(command, pairs).unwrap_err();
            assert_eq!(wrong.parameter.as_deref(), Some(field), "{pairs:?}: {}", wrong.said);
        }
        for (command, pairs) in [
            ("fairness", &[("days", "3"), ("same-users", "no")][..]),
            ("load", &[("groups", "5"), ("by", "user")]),
            ("monthly", &[("late", "2h")]),
            ("sweep", &[("seed", "7"), ("bootstrap", "200"), ("rules", "events,failures=3")]),
            ("describe", &[("what", "waiting"), ("waits", "started")]),
            ("predict", &[("rules", "hazard-events"), ("age", "1h")]),
            ("account", &[("group-by", "user,class"), ("resource", "memory")]),
            ("account", &[("cpu", "published"), ("classes", "terminal")]),
            ("account", &[("cpu", "gpu-slots"), ("resource", "gpu")]),
            ("fairness", &[("cpu", "gpu-slots")]),
            ("replay", &[("cluster", "cluster:nodes=5,speeds=1..4")]),
        ] {
            assert!(asked(command, pairs).is_ok(), "{pairs:?}: {:?}", asked(command, pairs));
        }
    }

    #[test]
    fn every_study_about_a_lake_can_be_asked() {
        let all: Vec<&str> = answers().collect();
        for name in ["predict", "monthly", "detect", "replay", "fairness"] {
            assert!(all.contains(&name), "{name}");
        }
        assert!(!all.contains(&"verify") && !all.contains(&"reproduce"));
        assert_eq!(forms().count() + 1, all.len());
    }
}
