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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_drawn_in_the_largest_unit_of_which_there_is_one() {
        assert_eq!(in_words("KiB", 4.5e9), ("TiB", 1024.0 * 1024.0 * 1024.0));
        assert_eq!(in_words("MiB", 1023.0), ("MiB", 1.0));
        assert_eq!(in_words("MiB", 1024.0), ("GiB", 1024.0));
        assert_eq!(in_words("PiB", 1e9), ("PiB", 1.0));
        assert_eq!(in_words("processor", 1e9), ("processor", 1.0));
    }
}
