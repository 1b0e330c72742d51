//! Values per task, and the number that means "none".

/// The number that means "no time", "no group" or "no machine".
pub const NONE: u32 = u32::MAX;

/// A value per task.
#[derive(Clone, Debug, PartialEq)]
pub enum Column<T> {
    /// The same value for all tasks.
    Same(T),
    /// One value for each task.
    Each(Vec<T>),
}

impl<T: Copy> Column<T> {
    /// The value of task `idx`.
    #[inline]
    pub fn get(&self, idx: u32) -> T {
        match self {
            Self::Same(value) => *value,
            Self::Each(values) => values[idx as usize],
        }
    }

    /// Whether the column has a value for each of `task_count` tasks.
    pub fn fits(&self, task_count: usize) -> bool {
        match self {
            Self::Same(_) => true,
            Self::Each(values) => values.len() == task_count,
        }
    }

    /// Puts the values in another order.
    pub fn permute(&mut self, order: &[u32]) {
        if let Self::Each(values) = self {
            *values = order.iter().map(|&idx| values[idx as usize]).collect();
        }
    }

    /// The values in order; a single one if it is the same for all tasks.
    pub fn values(&self) -> impl Iterator<Item = T> + '_ {
        match self {
            Self::Same(value) => std::slice::from_ref(value).iter().copied(),
            Self::Each(values) => values.iter().copied(),
        }
    }
}
