//! Values by task, and the number that means "none".

/// No such time, group or machine.
pub const NONE: u32 = u32::MAX;

/// A value per task.
#[derive(Clone, Debug, PartialEq)]
pub enum Column<T> {
    /// The same for all.
    Same(T),
    /// One each.
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

    /// Whether it has as many values as there are tasks.
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

    /// The different values one after another; just one for a column of the same.
    pub fn values(&self) -> impl Iterator<Item = T> + '_ {
        match self {
            Self::Same(value) => std::slice::from_ref(value).iter().copied(),
            Self::Each(values) => values.iter().copied(),
        }
    }
}
