//! The capacity or free capacity of a machine: CPU, and memory if it is known.
//!
//! In: amounts in millionths. Out: whether a demand fits, and what is left. Unknown memory is not
//! checked, and stays unknown when a demand is added or removed.

/// CPU and memory, millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Room {
    /// CPU, millionths.
    pub cpu: u64,
    /// Memory, millionths; `None` if it is unknown.
    pub memory: Option<u64>,
}

impl Room {
    /// No capacity.
    pub const NOTHING: Self = Self { cpu: 0, memory: Some(0) };

    /// Whether a demand of CPU and memory fits.
    #[inline]
    pub fn holds(&self, demand: [u64; 2]) -> bool {
        demand[0] <= self.cpu && self.memory.is_none_or(|memory| demand[1] <= memory)
    }

    /// The capacity left after a demand that fits is taken.
    #[inline]
    #[must_use]
    pub fn without(self, demand: [u64; 2]) -> Self {
        Self { cpu: self.cpu - demand[0], memory: self.memory.map(|memory| memory - demand[1]) }
    }

    /// The capacity after a demand is given back.
    #[inline]
    #[must_use]
    pub fn with(self, demand: [u64; 2]) -> Self {
        Self { cpu: self.cpu + demand[0], memory: self.memory.map(|memory| memory + demand[1]) }
    }

    /// The larger of each amount: a demand that fits one of the two rooms also fits the result.
    #[inline]
    #[must_use]
    pub fn most(self, other: Self) -> Self {
        let memory = self.memory.zip(other.memory).map(|(one, another)| one.max(another));
        Self { cpu: self.cpu.max(other.cpu), memory }
    }
}
