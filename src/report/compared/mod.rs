//! The page of a comparison.
//!
//! In: the changes between two folders of results. Out: a page with the answers of both folders,
//! each change of a table, and the differences in settings and data.

mod changes;
mod comparable;
mod drawn;
mod figures;
mod names;
mod origin;
mod overview;
mod page;
mod sections;

pub use changes::comparison_table;
pub use overview::nothing_changed;
pub use page::write_comparison;
