//! The table of spells without the parameters of distributions that do not fit.
//!
//! In: a table of a result. Out: the table with empty cells for the shape and the scale of such
//! rows; other tables as they are. The file has all parameters.

use std::borrow::Cow;

use crate::answers::machines::MISFIT;
use crate::results::Table;

/// The table without parameters of distributions that do not fit.
pub(super) fn fitted(table: &Table) -> Cow<'_, Table> {
    let is_spells = table.file == "machines-spells.csv";
    let place = table.header.iter().position(|column| column == "misfit");
    let Some(place) = place.filter(|_| is_spells) else { return Cow::Borrowed(table) };
    let mut own = table.clone();
    for row in &mut own.rows {
        let misfit = row.get(place).and_then(|text| text.parse::<f64>().ok());
        if misfit.is_none_or(|misfit| misfit < MISFIT) {
            continue;
        }
        for (column, cell) in table.header.iter().zip(row) {
            if column.starts_with("shape") || column.starts_with("scale_s") {
                cell.clear();
            }
        }
    }
    Cow::Owned(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_do_not_fit_are_left_out() {
        let own = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        let table = Table {
            file: "machines-spells.csv".to_owned(),
            header: own(["spell", "shape", "scale_s_low", "misfit"]),
            rows: vec![own(["up", "0.5", "7", "0.01"]), own(["away", "0.4", "8", "0.2"])],
            row_count: 2,
        };
        let shown = fitted(&table);
        assert_eq!(shown.rows[0], table.rows[0]);
        assert_eq!(shown.rows[1], ["away", "", "", "0.2"]);
        let other = Table { file: "x.csv".to_owned(), ..table };
        assert_eq!(fitted(&other).rows, other.rows);
    }
}
