//! The notation of a whole policy: reads and writes parts joined by `+`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::{KINDS, PolicyPlan, Read, SpeculationPlan};
use super::{backfilled, both, fifo, none, watch};
use crate::notation::{Notation, NotationError};
use crate::replay::kill;
use crate::replay::placement::{PLACEMENTS, Placement};

impl PartialEq for PolicyPlan {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl FromStr for PolicyPlan {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        let (mut order, mut placement) = (None, None);
        let mut rules: Vec<(&'static str, Arc<dyn SpeculationPlan>)> = Vec::new();
        let (others, condemns) = kill::split(text)?;
        for part in others.into_iter().flat_map(|others| others.split('+')) {
            let part = part.trim();
            let is_ours = |name: &str| KINDS.iter().any(|kind| kind.name == name);
            if let Some(name) = watch::name(part).filter(|name| !is_ours(name)) {
                add_rule(&mut rules, name, watch::read(part)?, text)?;
                continue;
            }
            let mut notation = Notation::parse("policy", part)?;
            let name = notation.name().to_owned();
            let again = if let Some(kind) = KINDS.iter().find(|kind| kind.name == name) {
                match kind.read {
                    Read::Order(read) | Read::ByRequest(read) => {
                        let read = backfilled::read(kind.name, read, &mut notation)?;
                        order.replace((kind.name, read)).is_some()
                    }
                    Read::Speculation(read) => {
                        add_rule(&mut rules, kind.name, read(&mut notation)?, text)?;
                        false
                    }
                }
            } else if let Some(found) = PLACEMENTS.iter().find(|(word, _)| *word == name) {
                placement.replace(found.1).is_some()
            } else {
                return Err(notation.unknown_name(known()));
            };
            notation.finish()?;
            if again {
                let (kind, text) = ("policy", text.to_owned());
                return Err(NotationError::Twice { kind, name: text, key: name });
            }
        }
        let default = |notation| Notation::parse("policy", notation);
        let named = |(name, plan): (&'static str, _)| (Cow::Borrowed(name), plan);
        let mut rules = rules.into_iter().filter(|(name, _)| *name != "none").map(named);
        let plan = Self {
            order: match order {
                Some((name, order)) => (name.into(), order),
                None => ("fifo".into(), fifo::read(&mut default("fifo")?)?),
            },
            placement: placement.unwrap_or(Placement::FirstFree),
            speculation: match rules.next() {
                Some(speculation) => speculation,
                None => ("none".into(), none::read(&mut default("none")?)?),
            },
            second_speculation: rules.next(),
            kill: condemns,
        };
        both::check(&plan)?;
        Ok(plan)
    }
}

/// Adds a rule about running tasks to a policy. A second rule must differ from the first; there is
/// no third.
fn add_rule(
    rules: &mut Vec<(&'static str, Arc<dyn SpeculationPlan>)>,
    name: &'static str,
    plan: Arc<dyn SpeculationPlan>,
    text: &str,
) -> Result<(), NotationError> {
    let (kind, key) = ("policy", name.to_owned());
    if rules.iter().any(|(other, _)| *other == name) {
        return Err(NotationError::Twice { kind, name: text.to_owned(), key });
    }
    if rules.len() == 2 {
        let expected = "one or two rules about running tasks";
        return Err(NotationError::TooMany { kind, name: text.to_owned(), key, expected });
    }
    rules.push((name, plan));
    Ok(())
}

fn known() -> impl Iterator<Item = &'static str> {
    let rules = KINDS.iter().map(|kind| kind.name);
    let is_ours = |name: &&str| KINDS.iter().all(|kind| kind.name != *name);
    let detectors = crate::replay::detectors::KINDS.iter().map(|kind| kind.name).filter(is_ours);
    rules.chain(detectors).chain(PLACEMENTS.iter().map(|(word, _)| *word)).chain([kill::NAME])
}

impl fmt::Display for PolicyPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_part(f, &self.order.0, &self.order.1.parameters())?;
        if self.placement != Placement::FirstFree {
            let found = PLACEMENTS.iter().find(|(_, placement)| *placement == self.placement);
            write!(f, "+{}", found.expect("every placement is listed").0)?;
        }
        let first = Some(&self.speculation).filter(|(name, _)| *name != "none");
        for (name, plan) in first.into_iter().chain(&self.second_speculation) {
            f.write_str("+")?;
            write_part(f, name, &plan.parameters())?;
        }
        self.kill.iter().try_for_each(|kill| write!(f, "+{}:{kill}", kill::NAME))
    }
}

fn write_part(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    parameters: &[(&'static str, String)],
) -> fmt::Result {
    f.write_str(name)?;
    for (idx, (key, value)) in parameters.iter().enumerate() {
        write!(f, "{}{key}={value}", if idx == 0 { ':' } else { ',' })?;
    }
    Ok(())
}
