//! The unit in which amounts of memory are drawn.
//!
//! In: the unit of a log and the largest amount. Out: the unit of the axis, and how many of the
//! given unit make one.

/// The unit in which an amount is drawn, and how many of the given unit make one. For bytes it is
/// the largest unit that `top` reaches.
pub(super) fn in_words(unit: &'static str, top: f64) -> (&'static str, f64) {
    const BYTES: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    let (mut unit, mut per) = (unit, 1.0);
    while 1024.0 * per <= top
        && let Some(place) = BYTES.iter().position(|known| *known == unit)
        && let Some(next) = BYTES.get(place + 1)
    {
        (unit, per) = (next, per * 1024.0);
    }
    (unit, per)
}

/// The decimal unit in which an amount of bytes is a round number, of which `top` has one or more, and
/// how many of the given unit are taken for one; `None` if there is no larger one. A binary unit is
/// taken for the decimal one, which is 2.4 % smaller (KiB) or 7.4 % smaller (GiB).
pub(super) fn in_thousands(unit: &str, top: f64) -> Option<(&'static str, f64)> {
    const BINARY: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    const DECIMAL: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    let first = BINARY.iter().position(|known| *known == unit)?;
    let (mut place, mut per) = (first, 1.0);
    while 1000.0 * per < top && place + 1 < DECIMAL.len() {
        (place, per) = (place + 1, per * 1000.0);
    }
    (first < place).then(|| (DECIMAL[place], per))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_of_classes_are_round_in_decimal_units() {
        assert_eq!(in_thousands("KiB", 1e7), Some(("GB", 1e6)));
        assert_eq!(in_thousands("KiB", 1e6), Some(("MB", 1e3)));
        assert_eq!(in_thousands("MiB", 1e4), Some(("GB", 1e3)));
        assert_eq!(in_thousands("KiB", 1e3), None);
        assert_eq!(in_thousands("processor", 1e9), None);
    }

    #[test]
    fn bytes_are_drawn_in_the_largest_unit_of_which_there_is_one() {
        assert_eq!(in_words("KiB", 4.5e9), ("TiB", 1024.0 * 1024.0 * 1024.0));
        assert_eq!(in_words("MiB", 1023.0), ("MiB", 1.0));
        assert_eq!(in_words("MiB", 1024.0), ("GiB", 1024.0));
        assert_eq!(in_words("PiB", 1e9), ("PiB", 1.0));
        assert_eq!(in_words("processor", 1e9), ("processor", 1.0));
    }
}
