//! Reports how many values of an index are undefined.
//!
//! In: the counts of an index. Out: a sentence without its full stop, for the notes of the command
//! and for pages. A user has no value before the first submission, and such missing values do not
//! count as undefined.

use super::FairnessAnswer;
use crate::digits::{counted, grouped};
use crate::fairness::series::Undefined;

/// The sentence about an index; `None` if all values are defined.
pub(super) fn said(index: &str, counts: Undefined) -> Option<String> {
    let Undefined { values, of_values, intervals, of_intervals } = counts;
    let [has_users, has_all] = [0 < values, 0 < intervals];
    if 0 < of_values && values == of_values {
        return Some(format!(
            "{index}: its values are no numbers at any time, for example because it divides by 0: \
            nothing of it is shown"
        ));
    }
    let of_users = || {
        let (of, are) = (counted(of_values, "value"), if values == 1 { "is" } else { "are" });
        format!("{} of {of} (one per user and interval) {are} undefined", grouped(values))
    };
    let of_all = || {
        let of = counted(of_intervals, "interval");
        format!("the value of all users together is undefined in {} of {of}", grouped(intervals))
    };
    let parts = match (has_users, has_all) {
        (false, false) => return None,
        (true, false) => of_users(),
        (false, true) => of_all(),
        (true, true) => format!("{}, and {}", of_users(), of_all()),
    };
    Some(format!("{index}: {parts}. They are empty in tables and left out of charts and means"))
}

/// The sentences about all indices of an answer.
pub(crate) fn undefined_of(answer: &FairnessAnswer) -> Vec<String> {
    let indices = answer.indices.iter();
    indices.filter_map(|index| said(&index.index, index.undefined?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_values_are_counted_in_a_sentence() {
        let check = |[values, of_values, intervals, of_intervals]: [u64; 4], part: Option<&str>| {
            let said = said("own", Undefined { values, of_values, intervals, of_intervals });
            assert_eq!(said.is_some(), part.is_some(), "{said:?}");
            let said = said.unwrap_or_default();
            assert!(said.contains(part.unwrap_or_default()), "{said}");
        };
        check([0, 10, 0, 5], None);
        check([0, 0, 0, 0], None);
        check(
            [1, 1_200, 0, 0],
            Some("own: 1 of 1,200 values (one per user and interval) is undefined. They"),
        );
        check(
            [3, 9, 0, 5],
            Some("3 of 9 values (one per user and interval) are undefined. They are empty"),
        );
        check(
            [0, 0, 2, 5],
            Some("own: the value of all users together is undefined in 2 of 5 intervals. They"),
        );
        check(
            [3, 9, 2, 5],
            Some("are undefined, and the value of all users together is undefined in 2 of 5"),
        );
        check([9, 9, 0, 0], Some("own: its values are no numbers at any time"));
    }
}
