//! How numbers are written on charts: one rule for all axes, and for values under the pointer.
//!
//! In: a number. Out: its text. The same number has the same text on every chart:
//!
//! | number | tick | next to a name |
//! |---|---|---|
//! | 0.0001 to 999,999 | `0.05`, `1,000` | the same |
//! | a million and more | `1 million`, `20 billion` | in full |
//! | less than 0.0001, or 10¹⁵ and more | `10⁻⁶`, `2×10¹⁵` | `8.97×10⁻⁶` |
//!
//! A linear axis names its millions or billions once, in its title. A logarithmic axis with numbers
//! of the last row writes all its ticks as powers of ten.

use crate::digits::figure_text;

/// Numbers from the first power of ten on, and below the second, are written without an exponent.
const PLAIN: [i32; 2] = [-4, 15];

/// Large numbers and their names, the largest first.
const NAMES: [(f64, &str); 3] = [(1e12, "trillion"), (1e9, "billion"), (1e6, "million")];

/// The unit of numbers on a linear axis on which the largest number is `size`.
pub(super) fn unit_of(size: f64) -> (f64, &'static str) {
    match NAMES.iter().find(|(unit, _)| *unit <= size) {
        Some((unit, "trillion")) => (*unit, "trillions"),
        Some((unit, "billion")) => (*unit, "billions"),
        Some((unit, _)) => (*unit, "millions"),
        None => (1.0, ""),
    }
}

/// The text of a tick on a linear axis: as many decimals as the step needs, with thousands
/// separated.
pub(super) fn linear_text(value: f64, step: f64) -> String {
    let needed = (0..12_u32).find(|&digits| {
        let scaled = step * 10_f64.powi(digits.cast_signed());
        (scaled - scaled.round()).abs() < 1e-6 * scaled
    });
    let digits = needed.unwrap_or(12) as usize;
    let value = if value.abs() < step * 1e-9 { 0.0 } else { value };
    let text = format!("{:.digits$}", value.abs());
    let (whole, fraction) = text
        .split_once('.')
        .map_or((text.as_str(), None), |(whole, fraction)| (whole, Some(fraction)));
    let mut grouped = if value < 0.0 { String::from('\u{2212}') } else { String::new() };
    for (idx, digit) in whole.chars().enumerate() {
        if 0 < idx && (whole.len() - idx).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if let Some(fraction) = fraction {
        grouped.push('.');
        grouped.push_str(fraction);
    }
    grouped
}

/// Whether the ticks of a logarithmic axis between two powers of ten have no exponents.
pub(super) const fn is_plain(first: i32, last: i32) -> bool {
    PLAIN[0] <= first && last <= PLAIN[1]
}

/// The text of a tick on a logarithmic axis without exponents: a digit times a power of ten.
pub(super) fn plain_text(digit: f64, power: i32) -> String {
    let value = digit * 10_f64.powi(power);
    match NAMES.iter().find(|(unit, _)| *unit <= value * (1.0 + 1e-9)) {
        Some((unit, name)) => format!("{} {name}", linear_text(value / unit, 1.0)),
        None => linear_text(value, 10_f64.powi(power)),
    }
}

/// The text of a tick as a power of ten.
pub(super) fn power_text(digit: f64, power: i32) -> String {
    let factor = if digit == 1.0 { String::new() } else { format!("{digit:.0}×") };
    format!("{factor}10{}", raised(power))
}

/// Ticks of an axis of square roots from 0 to a value: 0, and 1, 2 and 5 times powers of ten. The
/// first sets have more of the small values.
pub(super) fn root_ticks(high: f64) -> Vec<Vec<f64>> {
    #[expect(clippy::cast_possible_truncation, reason = "a power of ten of a number")]
    let last = high.log10().floor() as i32;
    let all =
        (last - 2..=last).flat_map(|power| [1.0, 2.0, 5.0].map(|one| one * 10_f64.powi(power)));
    let all: Vec<f64> = all.filter(|value| *value <= high * (1.0 + 1e-9)).collect();
    let from = |first: usize| std::iter::once(0.0).chain(all[first..].iter().copied()).collect();
    (0..all.len()).map(from).collect()
}

/// The text of a value next to its name, with up to six digits.
pub(crate) fn beside_name(value: f64) -> String {
    let text = figure_text(value);
    let power =
        text.split_once('e').and_then(|(digits, power)| Some((digits, power.parse().ok()?)));
    match power {
        Some((digits, power)) => {
            let digits = digits.trim_end_matches('0').trim_end_matches('.');
            let factor = if digits == "1" { String::new() } else { format!("{digits}×") };
            format!("{factor}10{}", raised(power))
        }
        None => text,
    }
}

fn raised(power: i32) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let sign = if power < 0 { "⁻" } else { "" };
    let digits = power.unsigned_abs().to_string();
    let digits = digits.chars().filter_map(|one| Some(RAISED[one.to_digit(10)? as usize]));
    format!("{sign}{}", digits.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_number_has_the_same_text_on_every_axis() {
        for (digit, power, text) in [
            (1.0, -4, "0.0001"),
            (5.0, -3, "0.005"),
            (1.0, 0, "1"),
            (2.0, 3, "2,000"),
            (5.0, 5, "500,000"),
            (1.0, 6, "1 million"),
            (2.0, 8, "200 million"),
            (1.0, 9, "1 billion"),
            (5.0, 14, "500 trillion"),
        ] {
            assert_eq!(plain_text(digit, power), text);
            // A linear axis shows the same digits; if the unit is large, it is in the title of the
            // axis.
            let value = digit * 10_f64.powi(power);
            let (unit, names) = unit_of(value * (1.0 + 1e-12));
            let linear = linear_text(value / unit, value / unit);
            let name = names.trim_end_matches('s');
            assert_eq!(format!("{linear} {name}").trim_end(), text);
        }
        assert!(is_plain(-4, 15) && !is_plain(-5, 0) && !is_plain(0, 16));
        assert_eq!((power_text(1.0, -6), power_text(2.0, 15)), ("10⁻⁶".into(), "2×10¹⁵".into()));
    }

    #[test]
    fn an_axis_of_roots_begins_at_0() {
        let sets = root_ticks(179.0);
        assert_eq!(sets[0], [0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(sets[6], [0.0, 100.0]);
    }

    #[test]
    fn a_value_beside_its_name_has_no_machine_notation() {
        for (value, text) in [
            (1.5e9, "1,500,000,000"),
            (500_000_000.0, "500,000,000"),
            (0.05, "0.05"),
            (8.97e-6, "8.97×10⁻⁶"),
            (1e-7, "10⁻⁷"),
            (-2e-7, "-2×10⁻⁷"),
            (1.5e20, "1.5×10²⁰"),
            (0.0, "0"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(beside_name(value), text);
        }
    }
}
