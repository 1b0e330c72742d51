//! Numbers for names, so that rows hold a name in four bytes.
//!
//! In: names. Out: a number for each, from 0 in the order of first appearance.

use rustc_hash::FxHashMap;

/// The names so far.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    numbers: FxHashMap<Box<str>, u32>,
    names: Vec<Box<str>>,
}

impl Names {
    /// The number of a name; a new name gets the next number.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = u32::try_from(self.names.len()).expect("fewer than 2^32 names");
        self.numbers.insert(name.into(), number);
        self.names.push(name.into());
        number
    }

    /// The name with a number.
    pub(super) fn name(&self, number: u32) -> &str {
        &self.names[number as usize]
    }
}
