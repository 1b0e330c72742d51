//! A custom index from a formula: named, charted and compared like any other.

use std::fmt;
use std::ops::Range;

use super::{Heavier, Index, Readings};
use crate::fairness::FairnessError;
use crate::fairness::accounts::Standing;
use crate::fairness::factors::Factors;
use crate::fairness::formula::{Formula, MachineNumber, Number, Text, Values};
use crate::fairness::history::{Cell, History, Step, Used};
use crate::units::CpuTime;

/// A formula with the state of every user.
#[derive(Debug)]
pub struct Formulated {
    name: String,
    formula: Formula,
    charges: Factors,
    factors: Factors,
    charge_of: Vec<f64>,
    factor_of: Vec<f64>,
    /// Whether users have special factors on some machines.
    has_pairs: bool,
    standing: Standing,
    entitled: Vec<f64>,
    /// Users who have appeared so far.
    there: Vec<usize>,
    /// State values by user, then by name.
    states: Vec<f64>,
    /// Machine ids as text, for comparisons.
    machine_names: Vec<String>,
}

impl Formulated {
    /// An index with this name; `charges` apply to machines, `factors` to users.
    pub fn new(name: &str, formula: Formula, charges: Factors, factors: Factors) -> Self {
        Self {
            name: name.to_owned(),
            formula,
            charges,
            factors,
            charge_of: Vec::new(),
            factor_of: Vec::new(),
            has_pairs: false,
            standing: Standing::default(),
            entitled: Vec::new(),
            there: Vec::new(),
            states: Vec::new(),
            machine_names: Vec::new(),
        }
    }
}

impl fmt::Display for Formulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The values of one user in one interval for a formula.
struct Seen<'a> {
    index: &'a Formulated,
    step: &'a Step<'a>,
    who: usize,
    cells: &'a [&'a Cell],
    ended: f64,
    states: &'a [f64],
    totals: &'a [f64],
}

impl Seen<'_> {
    /// The priority factor of the user, on a machine if one is given.
    fn factor(&self, machine: Option<usize>) -> f64 {
        let Some(machine) = machine.filter(|_| self.index.has_pairs) else {
            return self.index.factor_of[self.who];
        };
        let history = self.step.history;
        let of = &history.machines[self.cells[machine].machine as usize];
        self.index.factors.of_pair(&history.people[self.who], of, &history.clusters, 1.0)
    }
}

impl Values for Seen<'_> {
    fn number(&self, name: Number, machine: Option<usize>) -> f64 {
        let used = &self.step.used[self.who];
        match name {
            Number::Usage => used.cpu_s,
            Number::Ran => used.held_s,
            Number::Cores => used.held_s / self.step.length_s,
            Number::Memory => used.memory_s,
            Number::Waiting => used.waiting_s,
            Number::Ended => self.ended,
            Number::Factor => self.factor(machine),
            Number::Entitled => self.index.entitled[self.who],
            Number::Length => self.step.length_s,
            Number::Time => f64::from(self.step.idx + 1) * self.step.length_s,
            Number::Interval => f64::from(self.step.idx),
            Number::Users => super::window::float(self.index.there.len()),
            Number::Capacity => {
                self.step.history.capacity.get(self.step.idx as usize).map_or(0.0, |all| all.cpu)
            }
        }
    }

    fn machine_count(&self) -> usize {
        self.cells.len()
    }

    fn machine_number(&self, machine: usize, name: MachineNumber) -> f64 {
        let cell = &self.cells[machine];
        let of = &self.step.history.machines[cell.machine as usize];
        match name {
            MachineNumber::Cpu => cell.cpu.seconds(),
            MachineNumber::Charge => self.index.charge_of[cell.machine as usize],
            MachineNumber::Capacity => of.cpu.map_or(0.0, f64::from),
            MachineNumber::Memory => of.memory.map_or(0.0, f64::from),
        }
    }

    fn text(&self, machine: Option<usize>, name: Text) -> &str {
        let history = self.step.history;
        let person = &history.people[self.who];
        let position = machine.map(|machine| self.cells[machine].machine as usize);
        let of = position.map(|position| &history.machines[position]);
        match name {
            Text::User => Some(person.name.as_str()),
            Text::Group => person.group.as_deref(),
            Text::Machine => position.map(|position| self.index.machine_names[position].as_str()),
            Text::Platform => of.and_then(|of| of.platform.as_deref()),
            Text::Site => of.and_then(|of| of.site.as_deref()),
            Text::Cluster => of.map(|of| history.clusters[of.cluster as usize].as_str()),
        }
        .unwrap_or_default()
    }

    fn state(&self, idx: usize) -> f64 {
        self.states[idx]
    }

    fn total(&self, idx: usize) -> f64 {
        self.totals[idx]
    }
}

/// The number of ended attempts and the cells of each user.
struct Shares<'a> {
    ended: Vec<f64>,
    /// The cells, in order of users.
    cells: Vec<&'a Cell>,
    /// The range of the cells of each user.
    own: Vec<Range<usize>>,
}

impl<'a> Shares<'a> {
    fn of(step: &Step<'a>) -> Self {
        let people = step.used.len();
        let is_used = |cell: &&Cell| cell.cpu != CpuTime::ZERO || cell.held != CpuTime::ZERO;
        let mut shares = Self {
            ended: vec![0.0; people],
            cells: step.cells.iter().filter(is_used).collect(),
            own: vec![0..0; people],
        };
        step.ends.iter().for_each(|end| shares.ended[end.who as usize] += 1.0);
        let mut at = 0;
        for own in shares.cells.chunk_by(|one, other| one.who == other.who) {
            shares.own[own[0].who as usize] = at..at + own.len();
            at += own.len();
        }
        shares
    }
}

impl Formulated {
    fn seen<'a>(
        &'a self,
        step: &'a Step<'a>,
        shares: &'a Shares<'a>,
        who: usize,
        states: &'a [f64],
        totals: &'a [f64],
    ) -> Seen<'a> {
        let width = self.formula.states.len();
        let states = &states[who * width..(who + 1) * width];
        let (cells, ended) = (&shares.cells[shares.own[who].clone()], shares.ended[who]);
        Seen { index: self, step, who, cells, ended, states, totals }
    }

    /// The value of each `all(..)`.
    fn totals<'a>(&'a self, step: &'a Step<'a>, shares: &'a Shares<'a>) -> Vec<f64> {
        let of = |expr: &crate::fairness::formula::Expr| {
            self.there
                .iter()
                .map(|&who| expr.value(&self.seen(step, shares, who, &self.states, &[]), None))
                .sum()
        };
        self.formula.totals.iter().map(of).collect()
    }

    fn updated(&self, step: &Step<'_>, shares: &Shares<'_>) -> Vec<f64> {
        let totals = self.totals(step, shares);
        let width = self.formula.states.len();
        let mut states = self.states.clone();
        for &who in &self.there {
            for (state, expr) in &self.formula.updates {
                let value = expr.value(&self.seen(step, shares, who, &states, &totals), None);
                states[who * width + state] = value;
            }
        }
        states
    }

    /// Adds new users: the state of each is set before any usage.
    fn welcome(&mut self, step: &Step<'_>) {
        let come = || (0..step.used.len()).filter(|&who| step.has_come(who));
        let tree = &step.history.tree;
        if self.standing.follow(tree, step.idx) {
            self.entitled = self.standing.entitlements(tree);
        }
        if come().next().is_none() {
            return;
        }
        self.there = (0..step.used.len()).filter(|&who| step.is_there(who)).collect();
        let used = vec![Used::default(); step.used.len()];
        let before = Step { used: &used, cells: &[], ends: &[], ..*step };
        let shares = Shares::of(&before);
        let width = self.formula.states.len();
        let blank = vec![0.0; width * step.used.len()];
        for who in come() {
            let seen = self.seen(&before, &shares, who, &blank, &[]);
            let first: Vec<f64> =
                self.formula.states.iter().map(|(_, expr)| expr.value(&seen, None)).collect();
            self.states[who * width..(who + 1) * width].copy_from_slice(&first);
        }
    }
}

impl Index for Formulated {
    fn columns(&self) -> Vec<String> {
        self.formula.columns()
    }

    fn heavier(&self) -> Heavier {
        if self.formula.smaller_is_heavier { Heavier::Smaller } else { Heavier::Larger }
    }

    fn remarks(&self, history: &History) -> Vec<String> {
        let charges = self.charges.remark(history, false);
        charges.into_iter().chain(self.factors.remark(history, true)).collect()
    }

    fn reads_ends(&self) -> bool {
        true
    }

    fn reads_machines(&self) -> bool {
        true
    }

    fn begin(&mut self, history: &History) -> Result<(), FairnessError> {
        self.charge_of = self.charges.of_machines(history);
        self.factor_of = self.factors.of_people(history, None, 1.0);
        self.has_pairs = !self.factors.targets().is_empty();
        self.standing = Standing::default();
        self.there = Vec::new();
        self.machine_names = history
            .machines
            .iter()
            .map(|machine| machine.id.map_or_else(String::new, |id| id.to_string()))
            .collect();
        self.states = vec![f64::NAN; self.formula.states.len() * history.people.len()];
        Ok(())
    }

    fn step(&mut self, step: &Step<'_>, out: &mut Readings) -> Result<(), FairnessError> {
        self.welcome(step);
        let shares = Shares::of(step);
        self.states = self.updated(step, &shares);
        let totals = self.totals(step, &shares);
        let width = self.formula.displays.len();
        for &who in &self.there {
            let seen = self.seen(step, &shares, who, &self.states, &totals);
            for (column, (_, expr)) in self.formula.displays.iter().enumerate() {
                out.users[who * width + column] = expr.value(&seen, None);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairness::formula::parse as formula;
    use crate::fairness::indices::parse;
    use crate::fairness::samples::history;

    const CONDOR: &str = "let beta = 0.5 ^ (dt / 86400)
        state rup = 0.5   # as in the paper
        update rup = beta * rup + (1 - beta) * usage
        display eup = rup * factor
        display rup = rup
        let asks = ran > 0 or waiting > 0
        display share = if(asks, 1 / (rup * factor) / all(if(asks, 1 / (rup * factor), 0)), 0)
        display charged_cpu_s = usage";

    fn custom(text: &str) -> Box<dyn Index> {
        let formula = formula(text, &[]).unwrap();
        Box::new(Formulated::new("own", formula, Factors::default(), Factors::default()))
    }

    fn run(mut index: Box<dyn Index>, history: &History) -> Vec<f64> {
        index.begin(history).unwrap();
        let mut out = Readings::of(index.as_ref(), history.people.len());
        let mut all = Vec::new();
        history
            .steps(|step| -> Result<(), FairnessError> {
                index.step(step, &mut out)?;
                all.extend_from_slice(&out.users);
                Ok(())
            })
            .unwrap();
        all
    }

    #[test]
    fn formulas_repeat_the_indices_that_are_built_in() {
        let history = history(&[
            ("a", &[7200.0, 0.0, 36.5, 1e6, 0.0]),
            ("b", &[0.0, 0.0, 3600.0]),
            ("c", &[0.1, 0.2, 0.3, 0.4, 0.5]),
        ]);
        let same = |text: &str, name: &str| {
            assert_eq!(run(custom(text), &history), run(parse(name).unwrap(), &history), "{name}");
        };
        same(
            "state rv = 0; update rv = rv + sum(cpu * charge); display cv = rv; display rv",
            "metered",
        );
        same(CONDOR, "condor");
    }

    #[test]
    fn expressions_follow_the_usual_rules() {
        let history = history(&[("a", &[2.0]), ("b", &[6.0])]);
        let check = |text: &str, expected: [f64; 2]| {
            assert_eq!(run(custom(&format!("display {text}")), &history), expected, "{text}");
        };
        check("1 + 2 * 3 ^ 2", [19.0; 2]);
        check("-2 ^ 2", [-4.0; 2]);
        check("2 ^ -1 ^ 2", [0.5; 2]);
        check("8 / 4 / 2 - 1 - 1", [-1.0; 2]);
        check("usage / all(usage)", [0.25, 0.75]);
        check("if(user == \"a\", 1, 2)", [1.0, 2.0]);
        check("usage < 3 and not(usage > 5)", [1.0, 0.0]);
        check("max(usage, 3, 1) + min(usage, 3)", [5.0, 9.0]);
        check("floor(1.5) + ceil(1.5) + abs(-1) + sqrt(4) + log2(8) + ln(exp(1))", [10.0; 2]);
        check("sum(if(cluster == \"one\", cpu, 0))", [2.0, 6.0]);
        check("users * entitled + k", [1.0; 2]);
    }

    #[test]
    fn updates_see_what_was_updated_before_them_and_totals_do_not() {
        let history = history(&[("a", &[1.0, 1.0]), ("b", &[2.0, 2.0])]);
        let text =
            "state x = 0; state y = 0; update x = x + usage; update y = y + x + all(x); display y";
        // Interval 0: x = 1, 2 and all(x) = 0; interval 1: x = 2, 4 and all(x) = 3.
        assert_eq!(run(custom(text), &history), [1.0, 2.0, 6.0, 9.0]);
    }
}
