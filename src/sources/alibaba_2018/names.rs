//! The information in the names of the trace.

use crate::sources::records::fields::whole;

/// The information in the name of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskName {
    /// Its number in the graph of its job.
    Numbered(i32),
    /// Nothing.
    Plain,
}

/// The most digits of the number of a task.
const DIGITS_MAX: usize = 6;

impl TaskName {
    /// Reads a name such as `M5_3_4`. The numbers of the tasks that must end first go to
    /// `depends_on`, joined by spaces. Parts that are not numbers, such as `Stg2`, are ignored.
    pub(super) fn read(name: &str, depends_on: &mut String) -> Self {
        depends_on.clear();
        let mut parts = name.split('_');
        let first = parts.next().unwrap_or_default();
        let digits = first.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
        let Some(number) = small(digits).filter(|_| digits.len() < first.len()) else {
            return Self::Plain;
        };
        for part in parts.filter(|part| small(part).is_some()) {
            if !depends_on.is_empty() {
                depends_on.push(' ');
            }
            depends_on.push_str(part);
        }
        Self::Numbered(number)
    }
}

/// The number of a task in the graph of its job, if its name gives one.
pub(crate) fn number_of_task(name: &str) -> Option<i32> {
    match TaskName::read(name, &mut String::new()) {
        TaskName::Numbered(number) => Some(number),
        TaskName::Plain => None,
    }
}

/// A number of few digits without leading zeros.
fn small(digits: &str) -> Option<i32> {
    let is_number = digits.len() <= DIGITS_MAX && !digits.starts_with('0');
    whole(digits.as_bytes()).filter(|_| is_number).and_then(|number| i32::try_from(number).ok())
}

/// The number after the letters of a name: 12 in `j_12`.
pub(super) fn number_behind(name: &str, letters: &str) -> Option<i64> {
    let digits = name.strip_prefix(letters)?;
    let is_plain = digits == "0" || !digits.starts_with('0');
    whole(digits.as_bytes()).filter(|_| is_plain)
}
