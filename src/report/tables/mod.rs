//! Stored tables on a page: empty parts are left out, and long tables are folded.
//!
//! In: a table of a result. Out: the table as HTML with a link to its file. Left out are columns
//! without a value, variances, units that are the same in all rows (the caption has them), rows
//! whose numbers are all zero or unknown, and columns that are zero in every row. The omitted rows
//! are counted, and columns of zeros are named, as are those that only the file has. Intervals and
//! units of single rows are in the cells of their values. Rows with a threshold and no effect are
//! folded. The file has everything.

pub(super) mod cells;
mod columns;
mod kept;
mod stored;

#[cfg(test)]
mod tests;

pub(super) use self::columns::repeats_others;
pub(super) use self::stored::FOLDED_ROWS;
pub(crate) use self::stored::stored_table;
