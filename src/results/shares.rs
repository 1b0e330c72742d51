//! The definition of each share in an answer: a part divided by a whole.
//!
//! In: the shares that a command gives. Out: their numerators and denominators. The answer's JSON
//! and the help both use them, so they always agree.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// A share that an answer gives.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// The column. Columns of its bounds and of single outcomes start with this name.
    pub name: &'static str,
    /// The numerator.
    pub part: &'static str,
    /// The denominator.
    pub whole: &'static str,
}

/// The share `name`, which is `part` divided by `whole`.
pub const fn share(name: &'static str, part: &'static str, whole: &'static str) -> Share {
    Share { name, part, whole }
}

/// The numerators and denominators of the shares of an answer, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Terms {
    /// The denominators.
    pub of: BTreeMap<String, String>,
    /// The numerators.
    pub numerators: BTreeMap<String, String>,
}

impl Terms {
    /// The terms of some shares.
    pub fn of(shares: &[Share]) -> Self {
        let by_name = |text: fn(&Share) -> &'static str| {
            shares.iter().map(|share| (share.name.to_owned(), text(share).to_owned())).collect()
        };
        Self { of: by_name(|share| share.whole), numerators: by_name(|share| share.part) }
    }
}

/// The shares for the help of a command, one per line, and its examples.
pub fn help(shares: &[Share], examples: &str) -> String {
    let mut text = "Shares, with numerator and denominator:".to_owned();
    for Share { name, part, whole } in shares {
        write!(text, "\n  {name}: {part} / {whole}").expect("a text takes all");
    }
    text + "\n\n" + examples
}
