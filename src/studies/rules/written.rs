//! The notation of kill rules, in `sweep --rules` and after `kill:` in a policy.
//!
//! In: text. Out: a [`RuleGrid`], or a list of them separated by commas.
//!
//! ```text
//!  events=20                 a rule and its parameter
//!  events={10,20,50}         several parameters; `events` alone has its default grid
//!  failures={1..6,10}        1 to 6 and 10
//!  events=20+failures=3      both rules must have condemned the task
//!  events=20~priority=9      tasks that it spares; also ~class=3 and ~user=NAME
//!  k8s:backoff_limit=6,on=fail+evict,per=task    a rule with settings
//! ```
//! In the name of a user, `%2B` means `+`, `%2C` means `,`, `%7E` means `~`, `%20` means a blank,
//! `%7B` and `%7D` mean braces, and `%25` means `%`. Parsed text prints back in the same notation.

use std::fmt;
use std::str::FromStr;

use super::{Rule, RuleGrid, SpareKey};
use crate::notation::{Notation, NotationError, range, split_outside_braces};

/// The noun for the parsed thing in errors.
const KIND: &str = "kill rule";

/// Characters with a meaning in a rule, or in a list of rules or policies. Each has an escape for
/// use in names.
const ESCAPES: [(char, &str); 7] = [
    ('%', "%25"),
    ('+', "%2B"),
    (',', "%2C"),
    ('~', "%7E"),
    ('{', "%7B"),
    ('}', "%7D"),
    (' ', "%20"),
];

fn escaped(name: &str) -> String {
    let code = |letter: char| ESCAPES.iter().find(|(plain, _)| *plain == letter);
    name.chars().fold(String::new(), |mut text, letter| {
        match code(letter) {
            Some((_, code)) => text.push_str(code),
            None => text.push(letter),
        }
        text
    })
}

fn unescaped(text: &str) -> String {
    let (mut name, mut rest) = (String::new(), text);
    while let Some(letter) = rest.chars().next() {
        let code = ESCAPES.iter().find(|(_, code)| rest.starts_with(code));
        let (plain, length) = code.map_or((letter, letter.len_utf8()), |found| (found.0, 3));
        name.push(plain);
        rest = &rest[length..];
    }
    name
}

/// Parses a rule with the parameters written after it, if any.
fn condition(text: &str) -> Result<(Rule, Option<Vec<i64>>), NotationError> {
    let colon = text.find(':').unwrap_or(text.len());
    let mut notation = match text.split_once('=').filter(|(name, _)| name.len() < colon) {
        Some((name, value)) => {
            let name = name.trim();
            let key = Rule::of_name(name).map_or("threshold", |rule| rule.main_key());
            Notation::given(KIND, name, [(key, value.trim())])?
        }
        None => Notation::parse(KIND, text)?,
    };
    let Some(rule) = Rule::of_name(notation.name()) else {
        return Err(notation.unknown_name(Rule::NAMES));
    };
    let rule = rule.read_settings(&mut notation)?;
    let read = |text: &String| values(&rule, text).is_some();
    let given = notation.take_if(rule.main_key(), rule.expected(), String::new(), read)?;
    let given = if given.is_empty() { None } else { values(&rule, &given) };
    notation.finish()?;
    Ok((rule, given))
}

/// One parameter, or several in braces; ascending, without duplicates.
fn values(rule: &Rule, text: &str) -> Option<Vec<i64>> {
    let inside = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    let pieces: Vec<String> = match inside {
        Some(inside) => inside.split(',').flat_map(|piece| range(piece.trim())).collect(),
        None => vec![text.to_owned()],
    };
    let mut grid: Vec<i64> =
        pieces.iter().map(|piece| rule.read_parameter(piece.trim())).collect::<Option<_>>()?;
    grid.sort_unstable();
    grid.dedup();
    Some(grid)
}

/// Writes a rule with its parameters.
fn write_condition(f: &mut fmt::Formatter<'_>, rule: &Rule, given: &[i64]) -> fmt::Result {
    f.write_str(rule.name())?;
    let words: Vec<String> =
        given.iter().map(|&parameter| rule.write_parameter(parameter)).collect();
    let given = match words.as_slice() {
        [] => None,
        [single] => Some(single.clone()),
        several => Some(format!("{{{}}}", several.join(","))),
    };
    let Some(settings) = rule.settings() else {
        return given.map_or(Ok(()), |given| write!(f, "={given}"));
    };
    let pairs = given.map(|given| (rule.main_key(), given)).into_iter().chain(settings);
    for (idx, (key, value)) in pairs.enumerate() {
        write!(f, "{}{key}={value}", if idx == 0 { ':' } else { ',' })?;
    }
    Ok(())
}

/// The parts that are joined by `+`. The `+` in `on=fail+evict` does not separate parts.
fn joined(text: &str) -> impl Iterator<Item = String> {
    text.replace("=fail+evict", "=fail\0evict")
        .split('+')
        .map(|part| part.replace('\0', "+"))
        .collect::<Vec<String>>()
        .into_iter()
}

/// Parses a spared value, such as `priority=9`.
fn spared(text: &str) -> Result<(SpareKey, String), NotationError> {
    let wrong = |key: &'static str, value: &str, expected: &'static str| NotationError::BadValue {
        kind: KIND,
        name: format!("~{text}"),
        key,
        value: value.to_owned(),
        expected,
    };
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let Some(key) = SpareKey::ALL.into_iter().find(|key| key.name() == name.trim()) else {
        let notation = Notation::given::<&str>("property to spare tasks by:", name.trim(), [])?;
        return Err(notation.unknown_name(SpareKey::ALL.map(SpareKey::name)));
    };
    let value = value.trim();
    match key {
        SpareKey::User if value.is_empty() => Err(wrong("user", value, "a name")),
        SpareKey::User => Ok((key, unescaped(value))),
        SpareKey::Priority | SpareKey::Class => match value.parse::<i32>() {
            Ok(number) => Ok((key, number.to_string())),
            Err(_) => Err(wrong(key.name(), value, "a whole number")),
        },
    }
}

impl FromStr for RuleGrid {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        let mut parts = text.split('~');
        let mut conditions = joined(parts.next().unwrap_or_default());
        let (rule, given) = condition(&conditions.next().unwrap_or_default())?;
        let (mut and, ends_jobs) = (Vec::new(), rule.ends_jobs());
        for text in conditions {
            let (rule, given) = condition(&text)?;
            if ends_jobs || rule.ends_jobs() {
                let (name, key) = (text.trim().to_owned(), rule.name().to_owned());
                let expected = "one rule that ends jobs (or `per=task`)";
                return Err(NotationError::TooMany { kind: KIND, name, key, expected });
            }
            let Some(&[parameter]) = given.as_deref() else {
                return Err(NotationError::BadValue {
                    kind: KIND,
                    name: text.trim().to_owned(),
                    key: rule.main_key(),
                    value: String::new(),
                    expected: "one parameter, as in `events=20+failures=3`",
                });
            };
            and.push((rule, parameter));
        }
        let spare = parts.map(spared).collect::<Result<_, _>>()?;
        let is_given = given.is_some();
        let grid = given.unwrap_or_else(|| rule.default_grid());
        Ok(Self { rule, grid, is_given, and, spare })
    }
}

impl fmt::Display for RuleGrid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_condition(f, &self.rule, if self.is_given { &self.grid } else { &[] })?;
        for (rule, parameter) in &self.and {
            f.write_str("+")?;
            write_condition(f, rule, &[*parameter])?;
        }
        self.spare
            .iter()
            .try_for_each(|(key, value)| write!(f, "~{}={}", key.name(), escaped(value)))
    }
}

/// Rules separated by commas. A piece that begins with the name of a rule starts a new rule. After
/// a rule with `:`, any other `key=value` is a setting of that rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleList(pub Vec<RuleGrid>);

impl FromStr for RuleList {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        let mut rules: Vec<String> = Vec::new();
        for piece in split_outside_braces(text, ',') {
            let word = piece.trim().split([':', '=', '+', '~']).next().unwrap_or_default();
            let is_pair = piece.trim()[word.len()..].starts_with('=');
            match rules.last_mut() {
                Some(rule) if is_pair && rule.contains(':') && Rule::of_name(word).is_none() => {
                    rule.push(',');
                    rule.push_str(piece);
                }
                _ => rules.push(piece.trim().to_owned()),
            }
        }
        Ok(Self(rules.iter().map(|rule| rule.parse()).collect::<Result<_, _>>()?))
    }
}

impl fmt::Display for RuleList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rules: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&rules.join(","))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rules_print_as_they_are_read() {
        for text in [
            "events",
            "events=20",
            "events={10,20,50}",
            "failures+restarts=3",
            "dead-time=60+events=10+failures=2",
            "events~priority=9~user=a=b",
            "restarts=3~user=a%2Bb%2C%25~class=-1",
            "k8s",
            "k8s:backoff_limit={0,6},on=fail+evict,per=task,base_s=5,max_s=360",
            "spark:max_failures=4",
            "hadoop:max_attempts=4,per=task+events=9~class=2",
            "slurm:limit=3600+restarts=2",
            "slurm:limit={100,150},of=requested",
            "history",
            "history:p={0.01,0.5,0.9,0.95,1},after=30",
            "history:p=0.95,after=0,per=job,tasks=3",
            "history:p=0.95,by=events,per=job",
            "history:p=0.5,after=600,by=age",
            "events+history:p=0.9",
        ] {
            assert_eq!(text.parse::<RuleGrid>().unwrap().to_string(), text);
        }
        let range: RuleGrid = "k8s:backoff_limit={0..3,6}".parse().unwrap();
        assert_eq!(range.to_string(), "k8s:backoff_limit={0,1,2,3,6}");
        let spaced: RuleGrid = "events = { 50, 10,10 } + failures = 3 ~ class = 2".parse().unwrap();
        assert_eq!(spaced.to_string(), "events={10,50}+failures=3~class=2");
        let signed: RuleGrid = "events~priority=+06~class=-0".parse().unwrap();
        assert_eq!(signed.to_string(), "events~priority=6~class=0");
    }

    #[test]
    fn typos_are_errors_that_list_what_is_known() {
        let check = |text: &str, expected: &str| {
            assert_eq!(text.parse::<RuleGrid>().unwrap_err().to_string(), expected);
        };
        let known = Rule::NAMES.join(", ");
        check(
            "evnts",
            &format!("there is no kill rule `evnts` (known: {known}); did you mean `events`?"),
        );
        check("", &format!("there is no kill rule `` (known: {known})"));
        check("events=0", "kill rule `events`: `events=0` is not a number of events from 1");
        check(
            "events=5,failures=3",
            "kill rule `events`: `events=5,failures=3` is not a number of events from 1",
        );
        check(
            "events+failures",
            "kill rule `failures`: `failures=` is not one parameter, as in `events=20+failures=3`",
        );
        check(
            "events~nice=1",
            "there is no property to spare tasks by: `nice` (known: priority, class, user)",
        );
        check("events~class=a", "kill rule `~class=a`: `class=a` is not a whole number");
        check("k8s=-1", "kill rule `k8s`: `backoff_limit=-1` is not a number of failures from 0");
        check(
            "spark:max_failures=0",
            "kill rule `spark`: `max_failures=0` is not a number of failures from 1",
        );
        check(
            "k8s:limit=3",
            "kill rule `k8s` has no parameter `limit` (it takes: on, per, base_s, max_s, \
             backoff_limit)",
        );
        check(
            "events+spark:max_failures=4",
            "kill rule `spark:max_failures=4`: `spark` is one too many: at most one rule that ends \
             jobs (or `per=task`) can be combined",
        );
        check(
            "events={3..1}",
            "kill rule `events`: `events={3..1}` is not a number of events from 1",
        );
        check("events~user=", "kill rule `~user=`: `user=` is not a name");
    }

    #[test]
    fn commas_divide_rules_but_not_their_parameters() {
        let check = |text: &str, expected: &[&str]| {
            let rules = text.parse::<RuleList>().unwrap().0;
            let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
            assert_eq!(rules, expected);
        };
        check("events, failures=3", &["events", "failures=3"]);
        check("events={1,2},failures+events=3", &["events={1,2}", "failures+events=3"]);
        check(
            "k8s:backoff_limit={0,6},base_s=5,events,spark:max_failures=4,per=task,failures=3",
            &[
                "k8s:backoff_limit={0,6},base_s=5",
                "events",
                "spark:max_failures=4,per=task",
                "failures=3",
            ],
        );
    }

    proptest! {
        /// Any name of a user is the same after printing and parsing.
        #[test]
        fn names_survive(name in "\\PC{1,8}") {
            prop_assume!(name.trim() == name);
            let rule = RuleGrid {
                spare: vec![(SpareKey::User, name)],
                ..RuleGrid::new(Rule::Events, Rule::Events.default_grid())
            };
            let list = RuleList(vec![rule.clone(), rule]);
            prop_assert_eq!(list.to_string().parse::<RuleList>(), Ok(list));
        }
    }
}
