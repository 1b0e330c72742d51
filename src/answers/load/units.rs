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

/// The largest decimal unit of bytes of which `least` has one or more, and how many of the given
/// binary unit make one; `None` if that is no larger than the given one.
pub(super) fn in_decimal(unit: &str, least: f64) -> Option<(&'static str, f64)> {
    const BINARY: [(&str, f64); 3] =
        [("KiB", 1024.0), ("MiB", 1_048_576.0), ("GiB", 1_073_741_824.0)];
    const DECIMAL: [(&str, f64); 4] = [("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("PB", 1e15)];
    let (_, bytes) = *BINARY.iter().find(|known| known.0 == unit)?;
    let mut larger = DECIMAL.iter().rev().map(|(name, whole)| (*name, whole / bytes));
    larger.find(|(_, per)| 100.0 < *per && *per <= least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_bytes_have_their_exact_edges_in_decimal_units() {
        assert_eq!(in_decimal("KiB", 1e6), Some(("GB", 976_562.5)), "1.024 GB");
        assert_eq!(in_decimal("KiB", 1e5), Some(("MB", 976.5625)), "102.4 MB");
        assert_eq!(in_decimal("MiB", 1e3), Some(("GB", 1e9 / 1_048_576.0)));
        assert_eq!(in_decimal("KiB", 100.0), None);
        assert_eq!(in_decimal("MiB", 10.0), None);
        assert_eq!(in_decimal("processor", 1e9), None);
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
