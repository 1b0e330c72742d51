//! Stored tables on a page: empty parts are left out, and long tables are folded.
//!
//! In: a table of a result. Out: the table as HTML with a link to its file. These are left out:
//! columns without a value, variances, units that are the same in all rows (the caption has them),
//! rows with only zero or unknown numbers, and columns that are zero in every row. The omitted rows
//! are counted. Columns of zeros are named, and so are columns that only the file has. Intervals
//! and units of single rows are in the cells of their values. Rows with a threshold and no effect
//! are folded. The file has everything.

pub(super) mod cells;
mod columns;
mod kept;
mod stored;

#[cfg(test)]
mod tests;

pub(super) use self::columns::repeats_others;
pub(super) use self::stored::FOLDED_ROWS;
pub(crate) use self::stored::stored_table;
