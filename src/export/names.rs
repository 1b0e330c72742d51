//! Names as numbers, for formats that have only numbers.
//!
//! In: names in any order. Out: a number for each. If all names are whole numbers, these numbers
//! are kept. Otherwise, a name gets its position among the sorted names, from 1, so that the
//! numbers do not depend on the order of the files.

use rustc_hash::FxHashMap;

/// The distinct names of one kind.
#[derive(Debug, Default)]
pub(super) struct Names {
    all: Vec<String>,
    index: FxHashMap<String, i64>,
}

/// The numbers of names.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// The numbers, by position in the list of names.
    of: Vec<i64>,
    /// Whether the names are the numbers themselves.
    pub is_kept: bool,
}

impl Names {
    /// The position of a name in the list.
    pub(super) fn place(&mut self, name: &str) -> i64 {
        if let Some(&place) = self.index.get(name) {
            return place;
        }
        let place = i64::try_from(self.all.len()).expect("fewer than 2^63 names");
        self.all.push(name.to_owned());
        self.index.insert(name.to_owned(), place);
        place
    }

    /// The name at a position.
    pub(super) fn at(&self, place: Option<i64>) -> Option<&str> {
        let place = usize::try_from(place?).ok()?;
        self.all.get(place).map(String::as_str)
    }

    /// A number for each name.
    pub(super) fn numbers(&self) -> Numbers {
        let whole: Option<Vec<i64>> = self.all.iter().map(|name| whole(name)).collect();
        if let Some(of) = whole {
            return Numbers { of, is_kept: true };
        }
        let mut of = vec![0; self.all.len()];
        for (number, (_, place)) in (1..).zip(self.sorted()) {
            of[place] = number;
        }
        Numbers { of, is_kept: false }
    }

    /// The names sorted, each with its position in the list.
    pub(super) fn sorted(&self) -> Vec<(&str, usize)> {
        let mut all: Vec<(&str, usize)> =
            self.all.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
        all.sort_unstable();
        all
    }
}

impl Numbers {
    /// The number of the name at a position.
    pub(super) fn get(&self, place: Option<i64>) -> Option<i64> {
        self.of.get(usize::try_from(place?).ok()?).copied()
    }
}

/// The whole number in a name, if it is written in the usual way; at most 32 bits, as readers
/// expect.
fn whole(name: &str) -> Option<i64> {
    let number: i32 = name.parse().ok()?;
    (0 <= number && number.to_string() == name).then_some(i64::from(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_and_names_get_their_place() {
        let numbers = |all: &[&str]| {
            let mut names = Names::default();
            let places: Vec<i64> = all.iter().map(|name| names.place(name)).collect();
            let numbers = names.numbers();
            let found: Vec<i64> =
                places.iter().map(|&place| numbers.get(Some(place)).unwrap()).collect();
            (found, numbers.is_kept)
        };
        assert_eq!(numbers(&["12", "0", "7", "12"]), (vec![12, 0, 7, 12], true));
        assert_eq!(numbers(&["12", "bob", "007", "bob"]), (vec![2, 3, 1, 3], false));
        assert_eq!(numbers(&["-1"]), (vec![1], false));
    }
}
