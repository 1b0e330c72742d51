//! Charge factors of machines and priority factors of users, from a text file.
//!
//! In: lines `KIND NAME FACTOR`. Out: the factor of a machine or a user; 1 (or the index's own
//! default) for what no line names. The most particular line counts: machine before platform
//! before capacity before site before cluster, and user before group.
//!
//! ```text
//! # kind      name        factor
//! platform    HofLGzk1    1.5
//! capacity    0.5         0.7
//! user        alice       2
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::accounts::without_comment;
use super::history::{History, Machine, Person};
use super::{FairnessError, read_text};
use crate::digits;

/// What a line of the file can name.
const KINDS: [&str; 7] = ["machine", "platform", "capacity", "site", "cluster", "user", "group"];

/// Factors by kind and name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Factors {
    path: Option<PathBuf>,
    by_name: BTreeMap<(&'static str, String), f64>,
}

impl Factors {
    /// Reads a file; no path is no factors.
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
            // A name may hold spaces.
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
                return Err((number, format!("`{factor}` is no factor of 0 or more")));
            };
            if by_name.insert((kind, name.to_owned()), value).is_some() {
                return Err((number, format!("{kind} `{name}` stands here twice")));
            }
        }
        Ok(Self { path: None, by_name })
    }

    fn find(&self, kind: &'static str, name: Option<String>) -> Option<f64> {
        self.by_name.get(&(kind, name?)).copied()
    }

    /// The file, as it is written in a notation.
    pub fn path(&self) -> Option<String> {
        self.path.as_ref().map(|path| path.display().to_string())
    }

    /// Whether single machines are named, and not only classes of them.
    pub fn names_machines(&self) -> bool {
        self.by_name.keys().any(|(kind, _)| *kind == "machine")
    }

    /// Says so if there are lines that say nothing about this history: of users nobody knows, or
    /// of machines where users are asked about (`of_people`).
    pub fn remark(&self, history: &History, of_people: bool) -> Option<String> {
        let is_used = |kind: &str, name: &str| {
            let machines = || history.machines.iter();
            let is = |known: Option<String>| known.as_deref() == Some(name);
            match (kind, of_people) {
                ("user", true) => history.people.iter().any(|person| person.name == name),
                ("group", true) => history.people.iter().any(|person| is(person.group.clone())),
                ("machine", false) => machines().any(|one| is(one.id.map(|id| id.to_string()))),
                ("platform", false) => machines().any(|one| is(one.platform.clone())),
                ("capacity", false) => machines().any(|one| is(one.cpu.map(|cpu| cpu.to_string()))),
                ("site", false) => machines().any(|one| is(one.site.clone())),
                ("cluster", false) => history.clusters.iter().any(|cluster| cluster == name),
                _ => false,
            }
        };
        let unused = || self.by_name.keys().filter(|(kind, name)| !is_used(kind, name));
        let some: Vec<String> =
            unused().take(3).map(|(kind, name)| format!("`{kind} {name}`")).collect();
        (!some.is_empty()).then(|| {
            let count = digits::counted(unused().count() as u64, "line");
            format!(
                "{count} of its files say nothing about this history, such as {}",
                some.join(", ")
            )
        })
    }

    /// The charge factor of a machine.
    pub fn of_machine(&self, machine: &Machine, clusters: &[String]) -> f64 {
        self.find("machine", machine.id.map(|id| id.to_string()))
            .or_else(|| self.find("platform", machine.platform.clone()))
            .or_else(|| self.find("capacity", machine.cpu.map(|cpu| cpu.to_string())))
            .or_else(|| self.find("site", machine.site.clone()))
            .or_else(|| self.find("cluster", clusters.get(machine.cluster as usize).cloned()))
            .unwrap_or(1.0)
    }

    /// The factor of a user, or `default`.
    pub fn of_person(&self, person: &Person, default: f64) -> f64 {
        self.find("user", Some(person.name.clone()))
            .or_else(|| self.find("group", person.group.clone()))
            .unwrap_or(default)
    }

    /// The charge factors of all machines of a history.
    pub fn of_machines(&self, history: &History) -> Vec<f64> {
        let of = |machine| self.of_machine(machine, &history.clusters);
        history.machines.iter().map(of).collect()
    }

    /// The factors of all users of a history.
    pub fn of_people(&self, history: &History, default: f64) -> Vec<f64> {
        history.people.iter().map(|person| self.of_person(person, default)).collect()
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
        let person = |name: &str| Person { name: name.to_owned(), group: Some("g".to_owned()) };
        assert_eq!(factors.of_person(&person("u"), 1000.0), 3.0);
        assert_eq!(factors.of_person(&person("v"), 1000.0), 4.0);
        assert_eq!(factors.of_person(&Person::default(), 1000.0), 1000.0);
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
        check("user x -1", 1, "`-1` is no factor of 0 or more");
        check("user x 1\nuser x 1", 2, "user `x` stands here twice");
    }
}
