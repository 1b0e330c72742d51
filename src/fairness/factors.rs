//! Charge factors of machines and priority factors of users, from a text file.
//!
//! In: lines `KIND NAME FACTOR`, or `KIND NAME on KIND NAME FACTOR` for a user or group on some
//! machines. Out: the factor of a machine, of a user, or of a user on a machine; 1 (or the index's
//! own default) if no line matches. The most specific line applies. For machines, the order is
//! machine, platform, capacity, site, cluster. A user comes before a group, and for each of these,
//! lines with a machine come first.
//!
//! ```text
//! # kind      name                        factor
//! platform    HofLGzk1                    1.5
//! capacity    0.5                         0.7
//! user        alice                       2
//! user        alice on platform HofLGzk1  3
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::accounts::without_comment;
use super::history::{History, Machine, Person};
use super::{FairnessError, read_text};
use crate::digits;

/// The kinds of names in a line.
const KINDS: [&str; 7] = ["machine", "platform", "capacity", "site", "cluster", "user", "group"];

/// The kinds that are machines, the most specific first.
const MACHINES: [&str; 5] = ["machine", "platform", "capacity", "site", "cluster"];

/// The machines of a line: those with an id, platform, capacity, site or cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    kind: &'static str,
    name: String,
}

impl Target {
    /// The name as part of a column name: letters, digits and `_`.
    pub fn column(&self) -> String {
        let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
        format!("{}_{}", self.kind, self.name.chars().map(letter).collect::<String>())
    }
}

/// The subject of a line: machines, or a user or group, optionally on machines.
type Named = (&'static str, String, Option<Target>);

/// Factors by their subject.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Factors {
    path: Option<PathBuf>,
    by_name: BTreeMap<Named, f64>,
}

/// Splits `NAME on KIND NAME`.
fn target_of(name: &str) -> Option<(&str, Target)> {
    name.match_indices(" on ").find_map(|(at, on)| {
        let (kind, on_name) = name[at + on.len()..].trim().split_once(char::is_whitespace)?;
        let kind = MACHINES.into_iter().find(|known| *known == kind)?;
        Some((name[..at].trim(), Target { kind, name: on_name.trim().to_owned() }))
    })
}

impl Factors {
    /// Reads a file; an empty path gives no factors.
    pub fn load(path: &str) -> Result<Self, FairnessError> {
        if path.is_empty() {
            return Ok(Self::default());
        }
        let path = Path::new(path);
        let text = read_text(path)?;
        let mut factors = Self::read(&text).map_err(|(line, problem)| FairnessError::Line {
            path: path.to_owned(),
            line,
            problem,
        })?;
        factors.path = Some(path.to_owned());
        Ok(factors)
    }

    fn read(text: &str) -> Result<Self, (usize, String)> {
        let mut by_name = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = without_comment(line);
            if line.is_empty() {
                continue;
            }
            // Names may contain spaces.
            let parts = line.split_once(char::is_whitespace).and_then(|(kind, rest)| {
                let (name, factor) = rest.trim().rsplit_once(char::is_whitespace)?;
                Some((kind, name.trim(), factor))
            });
            let Some((kind, name, factor)) = parts else {
                return Err((number, format!("`{line}` is not of the form `KIND NAME FACTOR`")));
            };
            let Some(kind) = KINDS.into_iter().find(|known| *known == kind) else {
                let known = KINDS.join(", ");
                return Err((number, format!("there is no kind `{kind}` (known: {known})")));
            };
            let parsed = factor.parse::<f64>().ok();
            let Some(value) = parsed.filter(|value| value.is_finite() && 0.0 <= *value) else {
                return Err((number, format!("`{factor}` is not a factor of 0 or more")));
            };
            let (who, target) = match target_of(name) {
                Some((who, target)) if !MACHINES.contains(&kind) => (who, Some(target)),
                _ => (name, None),
            };
            if by_name.insert((kind, who.to_owned(), target), value).is_some() {
                return Err((number, format!("{kind} `{name}` is listed twice")));
            }
        }
        Ok(Self { path: None, by_name })
    }

    fn find(
        &self,
        kind: &'static str,
        name: Option<String>,
        target: Option<&Target>,
    ) -> Option<f64> {
        self.by_name.get(&(kind, name?, target.cloned())).copied()
    }

    /// The machines in lines about users or groups.
    pub fn targets(&self) -> Vec<Target> {
        let all: BTreeSet<&Target> =
            self.by_name.keys().filter_map(|named| named.2.as_ref()).collect();
        all.into_iter().cloned().collect()
    }

    /// The file, for the notation of an index.
    pub fn path(&self) -> Option<String> {
        self.path.as_ref().map(|path| path.display().to_string())
    }

    /// A remark if some lines do not apply to this history, because they name unknown users, or
    /// machines where users are expected (`of_people`).
    pub fn remark(&self, history: &History, of_people: bool) -> Option<String> {
        let is_machine = |kind: &str, name: &str| {
            let of = |machine| {
                let attribute = attribute(machine, &history.clusters, kind);
                attribute.as_deref() == Some(name)
            };
            history.machines.iter().any(of)
        };
        // If only classes of machines are known, ids cannot be checked.
        let is_there = |target: &Option<Target>| {
            target.as_ref().is_none_or(|on| on.kind == "machine" || is_machine(on.kind, &on.name))
        };
        let is_used = |(kind, name, target): &&Named| match (*kind, of_people) {
            ("user", true) => {
                history.people.iter().any(|person| person.name == *name) && is_there(target)
            }
            ("group", true) => {
                let is_group = |person: &Person| person.group.as_ref() == Some(name);
                history.people.iter().any(is_group) && is_there(target)
            }
            ("user" | "group", false) | (_, true) => false,
            (kind, false) => is_machine(kind, name),
        };
        let unused = || self.by_name.keys().filter(|named| !is_used(named));
        let text = |(kind, name, target): &Named| match target {
            Some(target) => format!("`{kind} {name} on {} {}`", target.kind, target.name),
            None => format!("`{kind} {name}`"),
        };
        let some: Vec<String> = unused().take(3).map(text).collect();
        (!some.is_empty()).then(|| {
            let count = digits::counted(unused().count() as u64, "line");
            format!(
                "{count} of its files match nothing in this history, such as {}",
                some.join(", ")
            )
        })
    }

    /// The charge factor of a machine.
    pub fn of_machine(&self, machine: &Machine, clusters: &[String]) -> f64 {
        let find = |kind| self.find(kind, attribute(machine, clusters, kind), None);
        MACHINES.into_iter().find_map(find).unwrap_or(1.0)
    }

    /// The factor of a user, on some machines or in general, or `default`.
    pub fn of_person(&self, person: &Person, on: Option<&Target>, default: f64) -> f64 {
        let of = |kind, name: Option<String>| {
            let on_machine = on.and_then(|target| self.find(kind, name.clone(), Some(target)));
            on_machine.or_else(|| self.find(kind, name, None))
        };
        of("user", Some(person.name.clone()))
            .or_else(|| of("group", person.group.clone()))
            .unwrap_or(default)
    }

    /// The factor of a user on a machine, or `default`.
    pub fn of_pair(
        &self,
        person: &Person,
        machine: &Machine,
        clusters: &[String],
        default: f64,
    ) -> f64 {
        let of = |kind, name: &Option<String>| {
            let on_machine = MACHINES.into_iter().find_map(|target| {
                let target = Target { kind: target, name: attribute(machine, clusters, target)? };
                self.find(kind, name.clone(), Some(&target))
            });
            on_machine.or_else(|| self.find(kind, name.clone(), None))
        };
        of("user", &Some(person.name.clone()))
            .or_else(|| of("group", &person.group))
            .unwrap_or(default)
    }

    /// The charge factors of all machines of a history.
    pub fn of_machines(&self, history: &History) -> Vec<f64> {
        let of = |machine| self.of_machine(machine, &history.clusters);
        history.machines.iter().map(of).collect()
    }

    /// The factors of all users of a history, on some machines or in general.
    pub fn of_people(&self, history: &History, on: Option<&Target>, default: f64) -> Vec<f64> {
        history.people.iter().map(|person| self.of_person(person, on, default)).collect()
    }
}

/// The name of a machine in lines of a kind.
fn attribute(machine: &Machine, clusters: &[String], kind: &str) -> Option<String> {
    match kind {
        "machine" => machine.id.map(|id| id.to_string()),
        "platform" => machine.platform.clone(),
        "capacity" => machine.cpu.map(|cpu| cpu.to_string()),
        "site" => machine.site.clone(),
        _ => clusters.get(machine.cluster as usize).cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_particular_line_counts() {
        let text = "platform P 2 # fast\ncapacity 0.5 0.25\nmachine 7 9\nuser u 3\ngroup g 4\n";
        let factors = Factors::read(text).unwrap();
        let machine = |id, platform: Option<&str>, cpu| Machine {
            id,
            platform: platform.map(str::to_owned),
            cpu,
            ..Machine::default()
        };
        let of = |machine| factors.of_machine(&machine, &[]);
        assert_eq!(of(machine(Some(7), Some("P"), Some(0.5))), 9.0);
        assert_eq!(of(machine(Some(8), Some("P"), Some(0.5))), 2.0);
        assert_eq!(of(machine(None, Some("Q"), Some(0.5))), 0.25);
        assert_eq!(of(machine(None, None, None)), 1.0);
        assert_eq!(factors.of_person(&person("u"), None, 1000.0), 3.0);
        assert_eq!(factors.of_person(&person("v"), None, 1000.0), 4.0);
        assert_eq!(factors.of_person(&Person::default(), None, 1000.0), 1000.0);
    }

    fn person(name: &str) -> Person {
        Person { name: name.to_owned(), group: Some("g".to_owned()), ..Person::default() }
    }

    #[test]
    fn a_factor_is_of_a_user_and_a_machine() {
        let text = "user u 3\nuser u on platform P 5\nuser u on machine 7 6\n\
                    group g on  site east wing 8\nuser a on b 2\n";
        let factors = Factors::read(text).unwrap();
        let of = |name: &str, id, platform: Option<&str>, site: Option<&str>| {
            let text = |text: Option<&str>| text.map(str::to_owned);
            let machine =
                Machine { id, platform: text(platform), site: text(site), ..Machine::default() };
            factors.of_pair(&person(name), &machine, &[], 1.0)
        };
        assert_eq!(of("u", Some(7), Some("P"), None), 6.0);
        assert_eq!(of("u", Some(8), Some("P"), Some("east wing")), 5.0);
        assert_eq!(of("u", None, None, Some("east wing")), 3.0);
        assert_eq!(of("v", None, None, Some("east wing")), 8.0);
        assert_eq!(of("v", None, Some("P"), None), 1.0);
        assert_eq!(of("a on b", None, Some("P"), None), 2.0, "a name may hold that word");
        let columns: Vec<String> = factors.targets().iter().map(Target::column).collect();
        assert_eq!(columns, ["machine_7", "platform_P", "site_east_wing"]);
        let on_p = &factors.targets()[1];
        assert_eq!(factors.of_person(&person("u"), Some(on_p), 1.0), 5.0);
        assert_eq!(factors.of_person(&person("v"), Some(on_p), 1.0), 1.0);
    }

    #[test]
    fn a_faulty_line_is_named() {
        let check = |text: &str, line: usize, problem: &str| {
            assert_eq!(Factors::read(text), Err((line, problem.to_owned())));
        };
        check("\nmachine 7", 2, "`machine 7` is not of the form `KIND NAME FACTOR`");
        check(
            "node 7 1",
            1,
            "there is no kind `node` (known: machine, platform, capacity, site, cluster, user, group)",
        );
        check("user x -1", 1, "`-1` is not a factor of 0 or more");
        check("user x 1\nuser x 1", 2, "user `x` is listed twice");
    }
}
