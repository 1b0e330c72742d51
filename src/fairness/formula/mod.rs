//! An index as a formula: state, update and display expressions.
//!
//! In: the text. Out: a [`Formula`] that can be evaluated on any history, or the position of the
//! mistake. Statements end with a line or `;`, and `#` begins a comment:
//!
//! ```text
//! let beta = 0.5 ^ (dt / 86400)              # a name for an expression
//! state rup = 0.5                            # per user, the value before the first interval
//! update rup = beta * rup + (1 - beta) * usage
//! display eup = rup * factor                 # a displayed value; the first is charted
//! display share = (1 / rup) / all(1 / rup)
//! heavier larger                             # or smaller: which values are heavy users'
//! ```
//!
//! Names: see [`NUMBERS`], [`MACHINE_NUMBERS`] and [`TEXTS`]. `sum(x)` adds up x over the machines
//! that the user used, `all(x)` over all users. Updates run in the order of the text; `all` in an
//! update reads the state before the interval. There are no loops and no recursion, so every
//! formula ends.

mod eval;
mod lexer;
mod parser;

pub use eval::{Expr, MachineNumber, Number, Text, Values};
pub use parser::parse;

/// Numbers that every expression may use, with their meanings.
pub const NUMBERS: [(&str, Number, &str); 13] = [
    ("usage", Number::Usage, "CPU-seconds that the user is charged for in the interval"),
    ("ran", Number::Ran, "CPU-seconds that ran in the interval, whenever they are charged"),
    ("cores", Number::Cores, "the same per second: cores in use"),
    ("memory", Number::Memory, "memory-seconds of the user in the interval"),
    ("waiting", Number::Waiting, "CPU-seconds requested by waiting tasks"),
    ("ended", Number::Ended, "attempts of the user that ended in the interval"),
    (
        "factor",
        Number::Factor,
        "the user's priority factor, within `sum` on the machine; 1 without a file",
    ),
    ("entitled", Number::Entitled, "the user's share of the total in the account tree"),
    ("dt", Number::Length, "length of the interval, s"),
    ("t", Number::Time, "end of the interval, in seconds since the start of the first one"),
    ("k", Number::Interval, "number of the interval, from 0"),
    ("users", Number::Users, "number of users known at that time"),
    ("capacity", Number::Capacity, "CPU of all machines, 0 if unknown"),
];

/// Numbers within `sum(..)`.
pub const MACHINE_NUMBERS: [(&str, MachineNumber, &str); 4] = [
    ("cpu", MachineNumber::Cpu, "CPU-seconds of the user on the machine"),
    ("charge", MachineNumber::Charge, "the machine's charge factor, 1 without a file of charges"),
    ("machine_cpu", MachineNumber::Capacity, "CPU of the machine, 0 if unknown"),
    ("machine_memory", MachineNumber::Memory, "memory of the machine, 0 if unknown"),
];

/// Names that can be compared with a text in quotes; the last four only within `sum(..)`.
pub const TEXTS: [(&str, Text, bool); 6] = [
    ("user", Text::User, false),
    ("group", Text::Group, false),
    ("machine", Text::Machine, true),
    ("platform", Text::Platform, true),
    ("site", Text::Site, true),
    ("cluster", Text::Cluster, true),
];

/// An index as a formula.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    /// Names and initial values of the state.
    pub(super) states: Vec<(String, Expr)>,
    /// The state and its new value, in order.
    pub(super) updates: Vec<(usize, Expr)>,
    /// The displayed values.
    pub(super) displays: Vec<(String, Expr)>,
    /// The arguments of `all(..)`.
    pub(super) totals: Vec<Expr>,
    /// Whether small values belong to heavy users.
    pub smaller_is_heavier: bool,
}

impl Formula {
    /// The names of the displayed values.
    pub fn columns(&self) -> Vec<String> {
        self.displays.iter().map(|(name, _)| name.clone()).collect()
    }

    /// All expressions of the formula.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let named = self.states.iter().chain(&self.displays).map(|(_, expr)| expr);
        named.chain(self.updates.iter().map(|(_, expr)| expr)).chain(&self.totals)
    }
}
