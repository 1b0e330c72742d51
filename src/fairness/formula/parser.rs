//! Parses tokens to a formula with resolved names, or finds the position of the first mistake.

use super::eval::{Expr, Function, Operator};
use super::lexer::{Kind, Token, tokens};
use super::{Formula, MACHINE_NUMBERS, NUMBERS, TEXTS};
use crate::notation::Mistake;

/// The deepest nesting of expressions, so that none can exhaust the stack.
const DEPTH_MAX: usize = 100;

/// The most tokens of a formula, and the most parts after names are replaced. Longer formulas could
/// exhaust the stack. Formulas with names that contain other names could exhaust the memory.
const TOKENS_MAX: usize = 2_000;
const PARTS_MAX: usize = 4_000;

/// Parses a formula; `parameters` are names with fixed values.
pub fn parse(source: &str, parameters: &[(String, f64)]) -> Result<Formula, Mistake> {
    let mut parser = Parser {
        source,
        tokens: tokens(source)?,
        at: 0,
        depth: 0,
        parts: 0,
        place: Place::User,
        names: Vec::new(),
        formula: Formula {
            states: Vec::new(),
            updates: Vec::new(),
            displays: Vec::new(),
            totals: Vec::new(),
            smaller_is_heavier: false,
        },
    };
    if let Some(token) = parser.tokens.get(TOKENS_MAX) {
        return parser.fail(&token.clone(), "the formula is too long");
    }
    for (name, value) in parameters {
        if known_names(&parser.names).any(|known| known == name) {
            let problem = format!("the name of parameter `{name}` is already used");
            return Err(Mistake::at(source, 0, 0, problem));
        }
        parser.names.push((name.clone(), Expr::Constant(*value)));
    }
    while parser.peek().kind != Kind::End {
        if parser.peek().kind == Kind::Stop {
            parser.at += 1;
        } else {
            parser.statement()?;
        }
    }
    if parser.formula.displays.is_empty() {
        let problem = "the formula displays nothing: it needs a `display` statement";
        return Err(Mistake::at(source, source.len(), source.len(), problem));
    }
    Ok(parser.formula)
}

/// The context of an expression, which determines the names it may use.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    User,
    /// Within `sum(..)`.
    Machine,
    /// Within `all(..)`.
    All,
    /// Within `sum(..)` within `all(..)`.
    AllMachine,
}

struct Parser<'a> {
    source: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    /// Parts of the expressions that replaced names.
    parts: usize,
    place: Place,
    /// Parameters, `let` and states.
    names: Vec<(String, Expr)>,
    formula: Formula,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    fn next(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn fail<T>(&self, token: &Token, problem: impl Into<String>) -> Result<T, Mistake> {
        Err(Mistake::at(self.source, token.start, token.end, problem))
    }

    fn is_sign(&self, sign: &'static str) -> bool {
        self.peek().kind == Kind::Sign(sign)
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), Mistake> {
        let token = self.next();
        if token.kind == Kind::Sign(sign) {
            return Ok(());
        }
        self.fail(&token, format!("`{sign}` is missing here"))
    }

    fn name(&mut self) -> Result<(Token, String), Mistake> {
        let token = self.next();
        match token.kind.clone() {
            Kind::Name(name) => Ok((token, name)),
            _ => self.fail(&token, "a name is missing here"),
        }
    }

    fn statement(&mut self) -> Result<(), Mistake> {
        let (first, word) = self.name()?;
        match word.as_str() {
            "state" | "let" => {
                let (token, name) = self.new_name()?;
                self.expect("=")?;
                let expr = self.expression()?;
                if word == "let" {
                    self.names.push((name, expr));
                } else if holds_state(&expr) {
                    return self.fail(&token, "a first value cannot be made from the state");
                } else {
                    self.names.push((name.clone(), Expr::State(self.formula.states.len())));
                    self.formula.states.push((name, expr));
                }
            }
            "update" => {
                let (token, name) = self.name()?;
                let state = self.formula.states.iter().position(|(state, _)| *state == name);
                let Some(state) = state else {
                    let known = listed(self.formula.states.iter().map(|state| state.0.as_str()));
                    return self
                        .fail(&token, format!("there is no state `{name}` (known: {known})"));
                };
                if self.formula.updates.iter().any(|(other, _)| *other == state) {
                    return self.fail(&token, format!("`{name}` is updated twice"));
                }
                self.expect("=")?;
                let expr = self.expression()?;
                self.formula.updates.push((state, expr));
            }
            "display" => self.display()?,
            "heavier" => {
                let (token, name) = self.name()?;
                match name.as_str() {
                    "larger" => self.formula.smaller_is_heavier = false,
                    "smaller" => self.formula.smaller_is_heavier = true,
                    _ => return self.fail(&token, "`heavier` is `larger` or `smaller`"),
                }
            }
            _ => {
                let problem = format!(
                    "no statement begins with `{word}` (known: state, let, update, display, \
                    heavier)"
                );
                return self.fail(&first, problem);
            }
        }
        let token = self.next();
        if matches!(token.kind, Kind::Stop | Kind::End) {
            return Ok(());
        }
        self.fail(&token, "the statement should have ended here")
    }

    /// What follows `display`: an optional name, and the displayed expression.
    fn display(&mut self) -> Result<(), Mistake> {
        let is_named = matches!(self.peek().kind, Kind::Name(_))
            && self.tokens.get(self.at + 1).is_some_and(|token| token.kind == Kind::Sign("="));
        let name = if is_named {
            let (token, name) = self.name()?;
            if self.formula.displays.iter().any(|(other, _)| *other == name) {
                return self.fail(&token, format!("`{name}` is displayed twice"));
            }
            self.expect("=")?;
            name
        } else {
            let name = match self.formula.displays.len() {
                0 => "value".to_owned(),
                position => format!("value{}", position + 1),
            };
            if self.formula.displays.iter().any(|(other, _)| *other == name) {
                let token = self.peek().clone();
                return self.fail(
                    &token,
                    format!(
                        "`{name}` is displayed twice: give this value \
                another name"
                    ),
                );
            }
            name
        };
        let expr = self.expression()?;
        self.formula.displays.push((name, expr));
        Ok(())
    }

    /// A name that is not used yet.
    fn new_name(&mut self) -> Result<(Token, String), Mistake> {
        let (token, name) = self.name()?;
        if known_names(&self.names).any(|known| known == name) {
            return self.fail(&token, format!("`{name}` is already defined"));
        }
        Ok((token, name))
    }

    fn expression(&mut self) -> Result<Expr, Mistake> {
        self.binary(0)
    }

    /// Parses operators of a level, and all that bind more tightly.
    fn binary(&mut self, level: usize) -> Result<Expr, Mistake> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(&(_, operator)) = operators.iter().find(|(sign, _)| self.is_word(sign)) {
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = Expr::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    /// Whether a sign, or a word such as `and`, comes next.
    fn is_word(&self, word: &str) -> bool {
        match &self.peek().kind {
            Kind::Sign(sign) => *sign == word,
            Kind::Name(name) => name == word,
            _ => false,
        }
    }

    fn unary(&mut self) -> Result<Expr, Mistake> {
        self.depth += 1;
        if DEPTH_MAX < self.depth {
            let token = self.next();
            return self.fail(&token, "the formula is nested too deeply");
        }
        let expr = if self.is_sign("-") {
            self.at += 1;
            Expr::Negative(Box::new(self.unary()?))
        } else {
            let base = self.primary()?;
            if self.is_sign("^") {
                self.at += 1;
                // Right-associative, with an optional sign: 2 ^ -x ^ 2.
                let exponent = self.unary()?;
                Expr::Binary(Operator::Power, Box::new(base), Box::new(exponent))
            } else {
                base
            }
        };
        self.depth -= 1;
        Ok(expr)
    }

    fn primary(&mut self) -> Result<Expr, Mistake> {
        let token = self.next();
        match token.kind.clone() {
            Kind::Number(number) => Ok(Expr::Constant(number)),
            Kind::Sign("(") => {
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            Kind::Name(name) if self.is_sign("(") => self.call(&token, &name),
            Kind::Name(name) => self.value(&token, &name),
            Kind::Text(_) => self.fail(&token, "a text can be compared only with a name"),
            Kind::End | Kind::Stop => self.fail(&token, "an expression is missing here"),
            Kind::Sign(sign) => self.fail(&token, format!("`{sign}` is not allowed here")),
        }
    }

    fn value(&mut self, token: &Token, name: &str) -> Result<Expr, Mistake> {
        if let Some((_, expr)) = self.names.iter().find(|(known, _)| known == name) {
            let expr = expr.clone();
            self.parts += size(&expr);
            if PARTS_MAX < self.parts {
                return self.fail(token, "the formula is too large after its names are replaced");
            }
            return self.allowed(token, name, expr);
        }
        if let Some((_, number, _)) = NUMBERS.iter().find(|(known, ..)| *known == name) {
            return Ok(Expr::Number(*number));
        }
        if let Some((_, number, _)) = MACHINE_NUMBERS.iter().find(|(known, ..)| *known == name) {
            return self.allowed(token, name, Expr::Machine(*number));
        }
        if let Some(&(_, text, is_machine)) = TEXTS.iter().find(|(known, ..)| *known == name) {
            if is_machine && !self.is_in_sum() {
                return self.fail(
                    token,
                    format!(
                        "`{name}` belongs to a machine: use it in \
                `sum(..)`"
                    ),
                );
            }
            let is_same = self.is_sign("==");
            if !is_same && !self.is_sign("!=") {
                return self.fail(
                    token,
                    format!(
                        "`{name}` is a text: it can only be compared, `{name} == \
                    \"..\"`"
                    ),
                );
            }
            self.at += 1;
            let other = self.next();
            return match other.kind.clone() {
                Kind::Text(other) => Ok(Expr::SameText(text, other, is_same)),
                _ => self.fail(&other, "a text in quotes is missing here"),
            };
        }
        let near = known_names(&self.names).find(|known| is_near(known, name));
        let hint = match near {
            Some(near) => format!("; did you mean `{near}`?"),
            None => format!(" (known: {})", listed(known_names(&self.names))),
        };
        self.fail(token, format!("unknown name `{name}`{hint}"))
    }

    fn is_in_sum(&self) -> bool {
        matches!(self.place, Place::Machine | Place::AllMachine)
    }

    /// Rejects a machine's number outside of `sum(..)`.
    fn allowed(&self, token: &Token, name: &str, expr: Expr) -> Result<Expr, Mistake> {
        let is_all = |expr: &Expr| matches!(expr, Expr::Total(_));
        let is_any = |expr: &Expr| matches!(expr, Expr::Total(_) | Expr::Sum(_));
        let is_within = match self.place {
            Place::User => false,
            Place::All => any(&expr, &is_all),
            Place::Machine | Place::AllMachine => any(&expr, &is_any),
        };
        if is_within {
            let problem = format!("`{name}` is a sum, and a sum cannot contain another sum");
            return self.fail(token, problem);
        }
        if holds_machine(&expr) && !self.is_in_sum() {
            return self.fail(token, format!("`{name}` belongs to a machine: use it in `sum(..)`"));
        }
        Ok(expr)
    }

    fn call(&mut self, token: &Token, name: &str) -> Result<Expr, Mistake> {
        let outer = self.place;
        self.place = match (name, outer) {
            ("sum", Place::User) => Place::Machine,
            ("sum", Place::All) => Place::AllMachine,
            ("all", Place::User) => Place::All,
            ("sum" | "all", _) => {
                return self.fail(token, format!("`{name}(..)` cannot be nested"));
            }
            _ => outer,
        };
        let function = Function::ALL.into_iter().find(|(known, ..)| *known == name);
        if function.is_none() && !matches!(name, "sum" | "all") {
            let known = listed(Function::ALL.iter().map(|known| known.0).chain(["sum", "all"]));
            return self.fail(token, format!("there is no function `{name}` (known: {known})"));
        }
        self.expect("(")?;
        let mut parts = vec![self.expression()?];
        while self.is_sign(",") {
            self.at += 1;
            parts.push(self.expression()?);
        }
        self.expect(")")?;
        self.place = outer;
        let wanted = function.map_or(Some(1), |(.., count)| count);
        if wanted.is_some_and(|wanted| wanted != parts.len()) {
            let wanted = wanted.unwrap_or(1);
            let problem = format!("`{name}` takes {wanted} values, not {}", parts.len());
            return self.fail(token, problem);
        }
        Ok(match function {
            Some((_, function, _)) => Expr::Call(function, parts),
            None if name == "sum" => Expr::Sum(Box::new(parts.remove(0))),
            None => {
                self.formula.totals.push(parts.remove(0));
                Expr::Total(self.formula.totals.len() - 1)
            }
        })
    }
}

/// Operators by precedence, the lowest first.
const LEVELS: [&[(&str, Operator)]; 5] = [
    &[("or", Operator::Or)],
    &[("and", Operator::And)],
    &[
        ("==", Operator::Equal),
        ("!=", Operator::Unequal),
        ("<", Operator::Less),
        ("<=", Operator::LessOrEqual),
        (">", Operator::Greater),
        (">=", Operator::GreaterOrEqual),
    ],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("*", Operator::Multiply), ("/", Operator::Divide)],
];

/// Every name that an expression may use.
fn known_names(own: &[(String, Expr)]) -> impl Iterator<Item = &str> {
    own.iter()
        .map(|(name, _)| name.as_str())
        .chain(NUMBERS.iter().map(|known| known.0))
        .chain(MACHINE_NUMBERS.iter().map(|known| known.0))
        .chain(TEXTS.iter().map(|known| known.0))
        .chain(["and", "or"])
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names = names.collect::<Vec<_>>().join(", ");
    if names.is_empty() { "none".to_owned() } else { names }
}

/// Whether two names differ by one letter inserted, removed or replaced.
fn is_near(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if 1 < one.len().abs_diff(other.len()) || one.len() < 2 {
        return false;
    }
    let same = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let tail = |skip_one: usize, skip_other: usize| {
        one.get(same + skip_one..) == other.get(same + skip_other..)
    };
    tail(1, 1) || tail(1, 0) || tail(0, 1)
}

/// The number of parts of an expression.
fn size(expr: &Expr) -> usize {
    1 + match expr {
        Expr::Negative(inner) | Expr::Sum(inner) => size(inner),
        Expr::Binary(_, one, other) => size(one) + size(other),
        Expr::Call(_, parts) => parts.iter().map(size).sum(),
        _ => 0,
    }
}

fn any(expr: &Expr, is_it: &dyn Fn(&Expr) -> bool) -> bool {
    is_it(expr)
        || match expr {
            Expr::Negative(inner) | Expr::Sum(inner) => any(inner, is_it),
            Expr::Binary(_, one, other) => any(one, is_it) || any(other, is_it),
            Expr::Call(_, parts) => parts.iter().any(|part| any(part, is_it)),
            _ => false,
        }
}

fn holds_state(expr: &Expr) -> bool {
    any(expr, &|expr| matches!(expr, Expr::State(_) | Expr::Total(_)))
}

/// Whether it uses a machine outside of a sum over machines.
fn holds_machine(expr: &Expr) -> bool {
    match expr {
        Expr::Machine(_) => true,
        Expr::Negative(inner) => holds_machine(inner),
        Expr::Binary(_, one, other) => holds_machine(one) || holds_machine(other),
        Expr::Call(_, parts) => parts.iter().any(holds_machine),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_mistake_is_shown() {
        let check = |source: &str, expected: &str| {
            let parameters = [("half".to_owned(), 0.5)];
            assert_eq!(parse(source, &parameters).unwrap_err().to_string(), expected);
        };
        check(
            "state u = 0.5\nupdate u = betta * u",
            "line 2, column 12: unknown name `betta` (known: half, u, \
             usage, ran, cores, memory, waiting, ended, factor, entitled, dt, t, k, users, capacity, \
             cpu, charge, machine_cpu, machine_memory, user, group, machine, platform, site, cluster, \
             and, or)\n  update u = betta * u\n             ^^^^^",
        );
        check(
            "display usge + 1",
            "line 1, column 9: unknown name `usge`; did you mean \
             `usage`?\n  display usge + 1\n          ^^^^",
        );
        check(
            "display (1 + 2",
            "line 1, column 15: `)` is missing here\n  display (1 + 2\n                ^",
        );
        check(
            "state u = 1; update v = 2",
            "line 1, column 21: there is no state `v` (known: u)\n  \
             state u = 1; update v = 2\n                      ^",
        );
    }

    #[test]
    fn mistakes_of_every_kind_are_refused() {
        for (source, part) in [
            ("", "needs a `display`"),
            ("display 1 2", "should have ended"),
            ("display 1 +", "an expression is missing"),
            ("display 1.2.3", "`1.2.3` is not a number"),
            ("display 1 $ 2", "`$` is not allowed"),
            ("display min()", "`)` is not allowed here"),
            ("display sqrt(1, 2)", "`sqrt` takes 1 values, not 2"),
            ("display foo(1)", "no function `foo`"),
            ("display charge", "use it in `sum(..)`"),
            ("let c = 2; state c = 1; display c", "`c` is already defined"),
            ("display sum(all(1))", "cannot be nested"),
            ("display user", "is a text: it can only be compared"),
            ("display user == 1", "a text in quotes is missing"),
            ("display user == \"a", "the text is not closed"),
            ("display \"a\"", "a text can be compared only"),
            ("show 1", "no statement begins with"),
            ("heavier bigger", "`larger` or `smaller`"),
            ("display a = 1; display a = 2", "`a` is displayed twice"),
            ("state a = 1; state b = a; display b", "cannot be made from the state"),
            ("let a = all(usage); display all(usage / a)", "a sum cannot contain another sum"),
            ("let a = all(usage); display sum(cpu / a)", "a sum cannot contain another sum"),
            ("let s = sum(cpu); display sum(s)", "a sum cannot contain another sum"),
            (
                "state a = 1; let b = sum(a); state c = b; display c",
                "cannot be made from the state",
            ),
            ("state a = 1; update a = 2; update a = 3; display a", "`a` is updated twice"),
            ("display value2 = 1; display 2", "`value2` is displayed twice"),
        ] {
            let said = parse(source, &[]).unwrap_err().to_string();
            assert!(said.contains(part), "{source}: {said}");
        }
        let deep = format!("display {}1{}", "(".repeat(200), ")".repeat(200));
        assert!(parse(&deep, &[]).unwrap_err().problem.contains("nested too deeply"));
        let long = format!("display 1{}", " + 1".repeat(5_000));
        assert!(parse(&long, &[]).unwrap_err().problem.contains("too long"));
        let mut doubling = vec!["let a0 = usage".to_owned()];
        doubling.extend((1..40).map(|n| format!("let a{n} = a{0} + a{0}", n - 1)));
        let doubling = doubling.join("\n");
        assert!(parse(&doubling, &[]).unwrap_err().problem.contains("too large"));
    }

    #[test]
    fn names_that_are_nearly_right_are_suggested() {
        assert!(
            is_near("usage", "usge") && is_near("usage", "usagge") && is_near("usage", "usege")
        );
        assert!(!is_near("usage", "cores") && !is_near("k", "q"));
    }
}
