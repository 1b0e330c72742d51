//! The indices, one file each, in the notation `name:key=value,key=value`.
//!
//! In: usage, one interval after the other. Out: values per user, values for all users together, or
//! both, at the end of the interval. An index keeps its own state and never sees the future. A user
//! or account exists from the first submission on; users and accounts of a file exist from the
//! start. An undefined value is NaN.

mod condor;
mod custom;
mod decay;
mod drf;
mod equality;
mod fair_tree;
mod gini;
mod hoover;
mod jain;
mod max_min;
mod metered;
mod sge;
mod slowdown;
mod slurm;
mod theil;
mod variation;
mod window;

use std::fmt;

use super::FairnessError;
use super::history::{History, Step};
use crate::notation::Notation;
#[cfg(feature = "cli")]
use crate::notation::listed;

pub use condor::{Condor, pool_shares, rup_after};
pub use custom::Formulated;
pub use decay::Decay;
pub use drf::{Drf, dominant_fill};
pub use equality::Equality;
pub use fair_tree::{FairTree, Reading, fair_tree};
pub use gini::gini_index;
pub use hoover::hoover_index;
pub use jain::jain_index;
pub use max_min::{MaxMin, max_min_fill};
pub use metered::Metered;
pub use sge::{Sge, share_tree};
pub use slowdown::{Slowdown, bounded_slowdown};
pub use slurm::{Slurm, classic};
pub use variation::variation;
pub use window::Among;

/// A fairness index, which reads usage interval by interval.
pub trait Index: fmt::Display + Send {
    /// The names of its values for each user; charts show the first.
    fn columns(&self) -> Vec<String>;

    /// The names of its values for all users together.
    fn overall(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether large or small values belong to heavy users.
    fn heavier(&self) -> Heavier {
        Heavier::Larger
    }

    /// The name in charts and tables.
    fn name(&self) -> String {
        self.to_string()
    }

    /// Remarks for the user about this index and history, such as lines of its files with unknown
    /// users.
    fn remarks(&self, _history: &History) -> Vec<String> {
        Vec::new()
    }

    /// Whether it reads the ends of tasks ([`Step::ends`]).
    fn reads_ends(&self) -> bool {
        false
    }

    /// Whether it distinguishes machines ([`Cell::machine`](super::history::Cell)).
    fn reads_machines(&self) -> bool {
        false
    }

    /// Whether it needs dates ([`History::unix_us`]).
    fn reads_dates(&self) -> bool {
        false
    }

    /// Whether values of several users can be added up, as bills can but factors cannot.
    fn adds_up(&self) -> bool {
        false
    }

    /// The approximate number of values it keeps per user, with intervals of a length in seconds.
    fn held_per_user(&self, _length_s: f64) -> f64 {
        0.0
    }

    /// Resets the state and prepares for the users of a history.
    fn begin(&mut self, history: &History) -> Result<(), FairnessError>;

    /// Reads one interval and writes the values at its end.
    fn step(&mut self, step: &Step<'_>, out: &mut Readings) -> Result<(), FairnessError>;

    /// Called after the last interval.
    fn finish(&mut self) -> Result<(), FairnessError> {
        Ok(())
    }
}

/// Whether large or small values belong to heavy users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Heavier {
    /// Larger values mean more usage (a bill, a user priority of Condor).
    Larger,
    /// Smaller values mean more usage (a fair-share factor).
    Smaller,
}

/// The values of an index at the end of an interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Readings {
    /// By user, and then by the columns of [`Index::columns`].
    pub users: Vec<f64>,
    /// By the columns of [`Index::overall`].
    pub overall: Vec<f64>,
}

impl Readings {
    /// Values for an index and a number of users, all undefined.
    pub fn of(index: &dyn Index, people: usize) -> Self {
        Self {
            users: vec![f64::NAN; people * index.columns().len()],
            overall: vec![f64::NAN; index.overall().len()],
        }
    }

    /// Sets the values of a user, one for each column of the index.
    pub fn put<const N: usize>(&mut self, who: usize, values: [f64; N]) {
        self.users[who * N..(who + 1) * N].copy_from_slice(&values);
    }
}

/// The groups of indices, by their meaning.
const USE: &str = "How much each user used, and who comes next";
const EQUALITY: &str = "How equal the users are, in one number";
const RESOURCES: &str = "Several resources, and waits";

/// Reads the parameters of an entry of `built_in!`.
macro_rules! read {
    ({ measure $measure:path } $notation:ident) => {
        Equality::read($notation, $measure)
    };
    ({ |$own:ident| $read:expr } $notation:ident) => {{
        let $own = $notation;
        $read
    }};
}

#[cfg(feature = "cli")]
macro_rules! is_measure {
    ({ measure $measure:path }) => {
        true
    };
    ($read:tt) => {
        false
    };
}

/// Makes [`BuiltIn`] from the list of indices. Each has a description, a name, an optional word
/// about it for the help, a group, a meaning for readers (`{fading}` is replaced by its half-life),
/// and the code that reads its parameters. `measure` marks a measure of equality.
macro_rules! built_in {
    ($($(#[doc = $about:literal])+ $kind:ident = $name:literal $(($word:literal))?,
        $group:ident, $meaning:literal, $read:tt;)+) => {
        /// A built-in index.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum BuiltIn {
            $($(#[doc = $about])+ $kind,)+
        }

        impl BuiltIn {
            /// All built-in indices, in the order of the list.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$kind),+];

            /// The name in charts and tables, and in the notation that [`parse`] reads.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }

            /// The group to which it belongs, by its meaning.
            pub const fn group(self) -> &'static str {
                match self {
                    $(Self::$kind => $group,)+
                }
            }

            const fn told(self) -> &'static str {
                match self {
                    $(Self::$kind => $meaning,)+
                }
            }

            /// The name, with the word about it in parentheses.
            const fn named(self) -> &'static str {
                match self {
                    $(Self::$kind => concat!($name $(, " (", $word, ")")?),)+
                }
            }

            /// Whether it is a measure of the equality of all users, by usage and entitlement.
            #[cfg(feature = "cli")]
            const fn is_measure(self) -> bool {
                match self {
                    $(Self::$kind => is_measure!($read),)+
                }
            }

            fn read(self, notation: &mut Notation) -> Result<Box<dyn Index>, FairnessError> {
                match self {
                    $(Self::$kind => Ok(Box::new(read!($read notation)?)),)+
                }
            }
        }
    };
}

built_in! {
    /// Bills: resources and charges of the paper of 2009.
    Metered = "metered" ("RV, CV"), USE,
        "the usage that is charged so far, a bill; larger means more use",
        { |notation| Metered::read(notation) };
    /// User priorities of Condor, as in the paper of 2009.
    Condor = "condor" ("RUP, EUP of the paper"), USE,
        "the effective user priority of HTCondor, a mean of past usage{fading}; larger is \
        worse, since that user is served later",
        { |notation| Condor::read(notation, condor::Form::Paper) };
    /// The same as `HTCondor` computes them.
    Htcondor = "htcondor" ("floor 0.5, factor 1000"), USE,
        "the effective user priority of HTCondor, a mean of past usage{fading}; larger is \
        worse, since that user is served later",
        { |notation| Condor::read(notation, condor::Form::Htcondor) };
    /// Fair-share factors of Slurm's classic multifactor plugin.
    Slurm = "slurm" ("classic"), USE,
        "the fair-share factor of Slurm, from 0 to 1, by usage{fading} and \
        the shares of accounts and users, which are equal without --accounts; smaller is worse, \
        since that user is served later",
        { |notation| Slurm::read(notation) };
    /// Those of its fair tree.
    FairTree = "fair-tree", USE,
        "the factor of the fair tree of Slurm, from 0 to 1, by usage{fading} and the \
        shares of accounts and users, which are equal without --accounts; smaller is worse, since \
        that user is served later",
        { |notation| FairTree::read(notation) };
    /// The share tree of the Sun Grid Engine.
    Sge = "sge", USE,
        "the part of the share tree of the Sun Grid Engine; smaller is worse",
        { |notation| Sge::read(notation) };
    /// Jain's index.
    Jain = "jain", EQUALITY,
        "the index of Jain; 1 if all users got the same, near 0 if one got all",
        { measure jain_index };
    /// The Gini coefficient.
    Gini = "gini", EQUALITY,
        "the Gini coefficient; 0 if all users got the same, near 1 if one got all",
        { measure gini_index };
    /// The Hoover index.
    Hoover = "hoover", EQUALITY,
        "the share of all usage that would have to change hands so that all users got the \
        same; 0 is equal",
        { measure hoover_index };
    /// The coefficient of variation.
    Variation = "cv", EQUALITY,
        "the standard deviation of the usage of users over its mean; 0 is equal",
        { measure variation };
    /// The Theil index.
    Theil = "theil", EQUALITY,
        "the index of Theil; 0 if all users got the same, larger is less equal",
        { measure theil::theil_index };
    /// Distance from the max-min fair shares.
    MaxMin = "max-min", EQUALITY,
        "the distance from max-min fair shares; 0 is fair",
        { |notation| MaxMin::read(notation) };
    /// Dominant resource shares.
    Drf = "drf", RESOURCES,
        "the largest share that a user has of any resource; larger means more use",
        { |notation| Drf::read(notation) };
    /// Mean bounded slowdown.
    Slowdown = "slowdown", RESOURCES,
        "how many times longer than its run a job took, the mean of each user; larger is \
        worse",
        { |notation| Slowdown::read(notation) };
}

impl BuiltIn {
    /// All names for the help, some with a word about the index: `slurm (classic)`.
    pub(crate) fn help() -> String {
        Self::ALL.map(Self::named).join(", ")
    }

    /// The measures of equality, which compare usage with entitlements, for the help: `jain and gini`.
    #[cfg(feature = "cli")]
    pub(crate) fn measures() -> String {
        let measures = Self::ALL.into_iter().filter(|kind| kind.is_measure());
        listed(&measures.map(Self::name).collect::<Vec<&str>>())
    }

    /// The meaning of its values, and which values are worse for a user. `fading` is a text about
    /// how past usage fades.
    pub fn meaning(self, fading: &str) -> String {
        self.told().replace("{fading}", fading)
    }

    /// The index with its default parameters.
    pub fn usual(self) -> Box<dyn Index> {
        self.with::<&str>([]).expect("the default parameters are valid")
    }

    /// The index with these parameters, by name; the others have their defaults.
    ///
    /// # Errors
    /// There is no such parameter, or a value is out of its range.
    pub fn with<'n, V: fmt::Display>(
        self,
        parameters: impl IntoIterator<Item = (&'n str, V)>,
    ) -> Result<Box<dyn Index>, FairnessError> {
        let mut notation = Notation::given("index", self.name(), parameters)?;
        let index = self.read(&mut notation)?;
        notation.finish()?;
        Ok(index)
    }
}

/// Reads an index in its notation.
///
/// # Errors
/// There is no such index or parameter, or a value is out of its range.
pub fn parse(text: &str) -> Result<Box<dyn Index>, FairnessError> {
    let mut notation = Notation::parse("index", text)?;
    let found = BuiltIn::ALL.into_iter().find(|kind| kind.name() == notation.name());
    let Some(kind) = found else {
        return Err(notation.unknown_name(BuiltIn::ALL.iter().map(|kind| kind.name())).into());
    };
    let index = kind.read(&mut notation)?;
    notation.finish()?;
    Ok(index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairness::samples::history;

    #[test]
    fn every_index_prints_back_what_was_read_and_has_values() {
        let history = history(&[("a", &[1.0, 0.0, 2.0]), ("b", &[0.0, 0.0, 4.0])]);
        for kind in BuiltIn::ALL {
            let (name, mut index) = (kind.name(), kind.usual());
            assert_eq!(index.to_string(), parse(name).unwrap().to_string());
            let text = index.to_string();
            assert!(text.starts_with(name), "{text}");
            assert_eq!(parse(&text).unwrap().to_string(), text);
            index.begin(&history).unwrap();
            let mut out = Readings::of(index.as_ref(), 2);
            assert!(0 < out.users.len() + out.overall.len(), "{name}");
            history.steps(|step| index.step(step, &mut out)).unwrap();
        }
    }

    #[test]
    fn parameters_are_given_from_rust_as_from_text() {
        let condor = BuiltIn::Condor.with([("half_life_s", 3600.0), ("start", 1.0)]).unwrap();
        let text = "condor:half_life_s=3600,start=1";
        assert_eq!(condor.to_string(), parse(text).unwrap().to_string());
        let refused = |parameters: &[(&str, f64)]| {
            BuiltIn::Jain.with(parameters.iter().copied()).err().unwrap().to_string()
        };
        assert!(refused(&[("window", 1.0)]).contains("has no parameter `window`"));
        assert!(refused(&[("window_s", -1.0)]).contains("`window_s=-1` is not"));
        assert!(refused(&[("window_s", 1.0), ("window_s", 2.0)]).contains("given twice"));
    }

    #[test]
    fn an_unknown_index_or_key_lists_what_is_known() {
        let check = |text: &str, part: &str| {
            let said = parse(text).err().unwrap().to_string();
            assert!(said.contains(part), "{said}");
        };
        check("condr", "there is no index `condr` (known: metered, condor, htcondor, slurm");
        check("condor:halflife=1", "has no parameter `halflife` (it takes: half_life_s, start");
        check("condor:half_life_s=0", "`half_life_s=0` is not a number of seconds above 0");
        check("metered:charges=nowhere.txt", "could not read `nowhere.txt`");
    }
}
