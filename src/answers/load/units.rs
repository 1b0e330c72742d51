//! The unit in which amounts of memory are drawn.
//!
//! In: the unit of a log and the largest amount. Out: the unit of the axis, and how many of the
//! given units make one.

/// The unit in which an amount is drawn, and how many of the given units make one. For bytes, it is
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

/// A class of bytes between two powers of four, in the largest binary unit in which the lower edge
/// is at least 1: `4 to 16 GiB`. `None` if `unit` is not a binary unit of bytes, or if `to` is not
/// four times `from`.
pub(super) fn of_fourfold(unit: &str, [from, to]: [f64; 2]) -> Option<String> {
    const BYTES: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let place = BYTES.iter().position(|known| *known == unit)?;
    if !(4.0 * from..=4.0 * from).contains(&to) {
        return None;
    }
    let (mut from, mut to, mut place) = (from, to, place);
    while 1024.0 <= from && place + 1 < BYTES.len() {
        (from, to, place) = (from / 1024.0, to / 1024.0, place + 1);
    }
    let [from, to] = [from, to].map(crate::digits::six_digits);
    Some(format!("{from} to {to} {}", BYTES[place]))
}

/// The largest decimal unit of bytes that `least` reaches, and how many of the given binary units
/// make one. `None` if no decimal unit above the given one fits.
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
    fn classes_of_powers_of_four_are_in_binary_units() {
        let said = |from: f64| of_fourfold("KiB", [from, 4.0 * from]);
        assert_eq!(said(4_194_304.0).as_deref(), Some("4 to 16 GiB"));
        assert_eq!(said(262_144.0).as_deref(), Some("256 to 1,024 MiB"));
        assert_eq!(said(1.0).as_deref(), Some("1 to 4 KiB"));
        assert_eq!(of_fourfold("KiB", [1e6, 1e7]), None);
        assert_eq!(of_fourfold("processor", [1.0, 4.0]), None);
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
