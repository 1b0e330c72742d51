//! Expressions and their values.

/// Numbers that every expression may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "`NUMBERS` gives their meanings")]
pub enum Number {
    Usage,
    Ran,
    Cores,
    Memory,
    Waiting,
    Ended,
    Factor,
    Entitled,
    Length,
    Time,
    Interval,
    Users,
    Capacity,
}

/// Numbers of one machine, within `sum(..)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "`MACHINE_NUMBERS` gives their meanings")]
pub enum MachineNumber {
    Cpu,
    Charge,
    Capacity,
    Memory,
}

/// Names that can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub enum Text {
    User,
    Group,
    Machine,
    Platform,
    Site,
    Cluster,
}

/// The values that an expression reads: of a user in an interval, and optionally of a machine.
pub trait Values {
    /// A number of the user or the interval; with `machine`, of the user on that machine.
    fn number(&self, name: Number, machine: Option<usize>) -> f64;
    /// The number of machines with usage of the user.
    fn machine_count(&self) -> usize;
    /// A number of one of these machines.
    fn machine_number(&self, machine: usize, name: MachineNumber) -> f64;
    /// A name of the user, or of the machine if it is the name of one; empty if unknown.
    fn text(&self, machine: Option<usize>, name: Text) -> &str;
    /// The user's state.
    fn state(&self, idx: usize) -> f64;
    /// The value of an `all(..)` expression.
    fn total(&self, idx: usize) -> f64;
}

/// An expression with resolved names.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A constant.
    Constant(f64),
    /// A number of the user or interval.
    Number(Number),
    /// A number of the machine.
    Machine(MachineNumber),
    /// A variable of the state.
    State(usize),
    /// `all(..)`, by position.
    Total(usize),
    /// `sum(..)`.
    Sum(Box<Self>),
    /// `-x`.
    Negative(Box<Self>),
    /// `x + y` and similar; true is 1 and false is 0.
    Binary(Operator, Box<Self>, Box<Self>),
    /// `name == "text"`; the flag is true for `==` and false for `!=`.
    SameText(Text, String, bool),
    /// A function call.
    Call(Function, Vec<Self>),
}

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    And,
    Or,
}

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    Min,
    Max,
    Abs,
    Sqrt,
    Exp,
    Ln,
    Log2,
    Floor,
    Ceil,
    If,
    Not,
}

impl Function {
    /// Names, functions, and their number of arguments (`None`: one or more).
    pub const ALL: [(&'static str, Self, Option<usize>); 11] = [
        ("min", Self::Min, None),
        ("max", Self::Max, None),
        ("abs", Self::Abs, Some(1)),
        ("sqrt", Self::Sqrt, Some(1)),
        ("exp", Self::Exp, Some(1)),
        ("ln", Self::Ln, Some(1)),
        ("log2", Self::Log2, Some(1)),
        ("floor", Self::Floor, Some(1)),
        ("ceil", Self::Ceil, Some(1)),
        ("if", Self::If, Some(3)),
        ("not", Self::Not, Some(1)),
    ];
}

impl Expr {
    /// The value for a user, or within `sum(..)` for one machine.
    pub fn value(&self, values: &dyn Values, machine: Option<usize>) -> f64 {
        let of = |expr: &Self| expr.value(values, machine);
        match self {
            Self::Constant(number) => *number,
            Self::Number(name) => values.number(*name, machine),
            Self::Machine(name) => {
                machine.map_or(f64::NAN, |machine| values.machine_number(machine, *name))
            }
            Self::State(idx) => values.state(*idx),
            Self::Total(idx) => values.total(*idx),
            Self::Sum(inner) => {
                (0..values.machine_count()).map(|machine| inner.value(values, Some(machine))).sum()
            }
            Self::Negative(inner) => -of(inner),
            Self::Binary(operator, one, other) => operator.apply(of(one), of(other)),
            Self::SameText(name, text, is_same) => {
                truth((values.text(machine, *name) == text) == *is_same)
            }
            Self::Call(Function::If, parts) => {
                if of(&parts[0]) == 0.0 {
                    of(&parts[2])
                } else {
                    of(&parts[1])
                }
            }
            Self::Call(function, parts) => {
                let first = of(&parts[0]);
                match function {
                    Function::Min => parts[1..].iter().map(of).fold(first, f64::min),
                    Function::Max => parts[1..].iter().map(of).fold(first, f64::max),
                    Function::Abs => first.abs(),
                    Function::Sqrt => first.sqrt(),
                    Function::Exp => first.exp(),
                    Function::Ln => first.ln(),
                    Function::Log2 => first.log2(),
                    Function::Floor => first.floor(),
                    Function::Ceil => first.ceil(),
                    Function::Not => truth(first == 0.0),
                    Function::If => unreachable!("taken above"),
                }
            }
        }
    }
}

impl Operator {
    fn apply(self, one: f64, other: f64) -> f64 {
        match self {
            Self::Add => one + other,
            Self::Subtract => one - other,
            Self::Multiply => one * other,
            Self::Divide => one / other,
            Self::Power => one.powf(other),
            Self::Equal => truth(one == other),
            Self::Unequal => truth(one != other),
            Self::Less => truth(one < other),
            Self::LessOrEqual => truth(one <= other),
            Self::Greater => truth(one > other),
            Self::GreaterOrEqual => truth(one >= other),
            Self::And => truth(one != 0.0 && other != 0.0),
            Self::Or => truth(one != 0.0 || other != 0.0),
        }
    }
}

fn truth(is_true: bool) -> f64 {
    f64::from(u8::from(is_true))
}
