//! One look for every chart: font, sizes, colours, number formats.
//!
//! The colours are those of Okabe and Ito (2008), told apart by readers with any common colour
//! blindness; an outcome has the same colour in every chart.

use std::sync::Once;

use plotters::prelude::{FontStyle, RGBColor};
use plotters::style::register_font;

/// The background.
pub(super) const PAPER: RGBColor = RGBColor(255, 255, 255);
/// Text and axes.
pub(super) const INK: RGBColor = RGBColor(33, 37, 41);
/// Captions and minor text.
pub(super) const FAINT: RGBColor = RGBColor(94, 102, 110);
/// Grid lines.
pub(super) const GRID: RGBColor = RGBColor(226, 229, 233);

/// The name under which the font is known, and which browsers understand as well.
pub(super) const FONT: &str = "sans-serif";

/// Text heights at zoom 1.
pub(super) const TITLE: u32 = 21;
pub(super) const TEXT: u32 = 15;

/// The colour of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tone {
    /// Text colour, for what stands for all.
    Ink,
    /// `#009E73`.
    Green,
    /// `#D55E00`.
    Vermilion,
    /// `#0072B2`.
    Blue,
    /// `#E69F00`.
    Orange,
    /// `#CC79A7`.
    Purple,
    /// `#56B4E9`.
    Sky,
    /// Grey, for the rest.
    Grey,
}

impl Tone {
    /// Tones for series without a meaning of their own, in order.
    pub const SERIES: [Self; 7] = [
        Self::Blue,
        Self::Vermilion,
        Self::Green,
        Self::Orange,
        Self::Purple,
        Self::Sky,
        Self::Ink,
    ];

    pub(super) const fn color(self) -> RGBColor {
        match self {
            Self::Ink => INK,
            Self::Green => RGBColor(0, 158, 115),
            Self::Vermilion => RGBColor(213, 94, 0),
            Self::Blue => RGBColor(0, 114, 178),
            Self::Orange => RGBColor(230, 159, 0),
            Self::Purple => RGBColor(204, 121, 167),
            Self::Sky => RGBColor(86, 180, 233),
            Self::Grey => RGBColor(140, 146, 152),
        }
    }
}

/// The colour that an outcome has in every chart.
pub fn outcome_tone(outcome: &str) -> Tone {
    match outcome {
        "all" => Tone::Ink,
        "finished" => Tone::Green,
        "failed" => Tone::Vermilion,
        "killed" => Tone::Blue,
        "running" => Tone::Orange,
        "evicted" => Tone::Purple,
        "lost" => Tone::Sky,
        _ => Tone::Grey,
    }
}

/// Makes the font known to the drawing library, once.
pub(super) fn register_fonts() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for style in [FontStyle::Normal, FontStyle::Bold] {
            register_font(FONT, style, include_bytes!("font/DejaVuSans-Latin.ttf"))
                .unwrap_or_else(|_| unreachable!("the font is compiled in and covered by a test"));
        }
    });
}

/// A number on an axis: grouped by thousands, few decimals, powers of ten beyond that.
pub(super) fn axis_number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-3..1e9).contains(&size) {
        return format!("{value:e}");
    }
    if size < 1000.0 {
        // Up to four decimals, without trailing zeros.
        let text = format!("{value:.4}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    let digits = format!("{size:.0}");
    let mut text = if value < 0.0 { String::from("\u{2212}") } else { String::new() };
    for (idx, digit) in digits.chars().enumerate() {
        if 0 < idx && (digits.len() - idx).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axis_numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (0.25, "0.25"),
            (1.0, "1"),
            (250_000.0, "250,000"),
            (1e10, "1e10"),
            (-1500.0, "−1,500"),
        ] {
            assert_eq!(axis_number(value), text);
        }
    }
}
