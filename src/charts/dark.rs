//! The colours of charts on dark pages: rules of style that replace the fixed colours of a drawing.
//!
//! In: the colours of the theme. Out: rules for drawings that are part of a page, and a filter for
//! drawings that a page links. Files never change: a saved chart is dark on white, for papers.
//!
//! A drawing names its colours as attributes, `fill="#0072b2"`, and rules of style win over
//! attributes. Colours between two others (heat maps) are moved to the nearest of a few steps
//! first, so that a short list of rules is enough.

use std::fmt::Write;

use super::theme::{Ink, Tone};
use super::{heat, maps};

/// The background of charts on dark pages.
const PAPER: Ink = Ink::of(28, 33, 39);
/// Text and axes.
const TEXT: Ink = Ink::of(230, 233, 236);
/// Captions and minor text.
const FAINT: Ink = Ink::of(179, 187, 195);
/// Grid lines.
const GRID: Ink = Ink::of(58, 66, 75);
/// The ends of a scale from small to large values.
const SCALE: (Ink, Ink) = (Ink::of(42, 49, 58), Ink::of(140, 200, 255));

/// The filter for pictures that a page links: style rules cannot change their colours.
pub(crate) const FILTER: &str = "invert(.9) hue-rotate(180deg) brightness(1.25)";

/// A drawing that is linked as a file inside an element of the page. Older browsers can filter only
/// the whole element, so the element keeps the background and border of light pages.
const LINKED: &str = "figure svg:has(> image)";

/// Steps of a scale, at least those of its legend.
const STEPS: u32 = 48;

/// The colour of a tone on dark pages.
const fn of_tone(tone: Tone) -> Ink {
    match tone {
        Tone::Ink => TEXT,
        Tone::Green => Ink::of(43, 191, 146),
        Tone::Vermilion => Ink::of(240, 127, 60),
        Tone::Blue => Ink::of(90, 169, 230),
        Tone::Orange => Ink::of(233, 173, 47),
        Tone::Purple => Ink::of(220, 149, 189),
        Tone::Sky => Ink::of(155, 214, 247),
        Tone::Grey => Ink::of(163, 169, 175),
    }
}

/// Fixed colours, each with its colour on dark pages. Text on a tone is white or black on light
/// pages. On dark pages all tones are light, so the text is dark.
fn fixed() -> Vec<(Ink, Ink)> {
    let black = Ink::of(0, 0, 0);
    let mut all = vec![(Ink::PAPER, PAPER), (black, PAPER), (Ink::FAINT, FAINT), (Ink::GRID, GRID)];
    for tone in Tone::ALL {
        for ink in [tone.ink(), tone.text_ink()] {
            if all.iter().all(|(known, _)| *known != ink) {
                all.push((ink, of_tone(tone)));
            }
        }
    }
    all
}

/// The steps of scales, each with its colour on dark pages.
fn scales() -> Vec<(Ink, Ink)> {
    let share = |step: u32| f64::from(step) / f64::from(STEPS - 1);
    let of = |fill: fn(f64) -> Ink| {
        (0..STEPS).map(move |step| (fill(share(step)), Ink::between(SCALE.0, SCALE.1, share(step))))
    };
    of(heat::fill).chain(of(maps::fill)).collect()
}

fn hex(ink: Ink) -> String {
    let (red, green, blue) = ink.color;
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// The rules of style of dark pages: for drawings in the page, and for linked pictures.
pub(crate) fn style() -> String {
    let mut text = String::from("@media screen and (prefers-color-scheme: dark) {\n");
    let _ = writeln!(
        text,
        "  :root {{ --chart: {}; --chart-ink: {}; }}\n  figure img {{ filter: {FILTER}; }}\n  {LINKED} {{ \
        filter: {FILTER}; background: #ffffff; border-color: #dfe3e8; }}",
        hex(PAPER),
        hex(TEXT)
    );
    for (light, dark) in fixed() {
        let (light, dark) = (hex(light), hex(dark));
        let _ = writeln!(
            text,
            "  figure svg [fill=\"{light}\"] {{ fill: {dark}; }} figure svg [stroke=\"{light}\"] {{ stroke: {dark}; }}"
        );
    }
    for (light, dark) in scales() {
        let _ = writeln!(text, "  figure svg [fill=\"{}\"] {{ fill: {}; }}", hex(light), hex(dark));
    }
    text.push_str("}\n");
    text
}

/// The drawing after each colour between two others was moved to the nearest step of a scale.
pub(crate) fn in_steps(svg: &str) -> String {
    const FILL: &str = " fill=\"#";
    let known: Vec<Ink> = fixed().into_iter().map(|(light, _)| light).collect();
    let steps: Vec<Ink> = scales().into_iter().map(|(light, _)| light).collect();
    let mut text = String::with_capacity(svg.len());
    for piece in svg.split_inclusive('>') {
        // Text before a tag stays as it is.
        let tag = piece.rfind('<').unwrap_or(0);
        let found = piece[tag..].find(FILL).map(|at| tag + at + FILL.len());
        let color = found.and_then(|at| Some((at, ink_of(piece.get(at..at + 6)?)?)));
        match color.filter(|(_, ink)| !known.contains(ink)) {
            Some((at, ink)) => {
                text.push_str(&piece[..at - 1]);
                text.push_str(&hex(nearest(ink, &steps)));
                text.push_str(&piece[at + 6..]);
            }
            None => text.push_str(piece),
        }
    }
    text
}

/// A colour from six digits.
fn ink_of(digits: &str) -> Option<Ink> {
    let one = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    Some(Ink::of(one(0)?, one(2)?, one(4)?))
}

fn nearest(ink: Ink, among: &[Ink]) -> Ink {
    let apart = |other: &Ink| {
        let one = |one: u8, other: u8| i32::from(one.abs_diff(other)).pow(2);
        let ((red, green, blue), (to_red, to_green, to_blue)) = (ink.color, other.color);
        one(red, to_red) + one(green, to_green) + one(blue, to_blue)
    };
    among.iter().copied().min_by_key(apart).unwrap_or(ink)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The contrast of two colours (WCAG 2).
    fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
        let linear = |one: f64| {
            if one <= 0.04045 { one / 12.92 } else { ((one + 0.055) / 1.055).powf(2.4) }
        };
        let luminance = |[red, green, blue]: [f64; 3]| {
            0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
        };
        let [one, other] = [luminance(one), luminance(other)];
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    fn shares(ink: Ink) -> [f64; 3] {
        let (red, green, blue) = ink.color;
        [red, green, blue].map(|one| f64::from(one) / 255.0)
    }

    fn of_inks(one: Ink, other: Ink) -> f64 {
        contrast(shares(one), shares(other))
    }

    /// The colour that [`FILTER`] makes of a colour, as the filters are defined (CSS Filter Effects
    /// 1).
    fn filtered(ink: Ink) -> [f64; 3] {
        let [red, green, blue] = shares(ink).map(|one| 0.9 * (1.0 - one) + 0.1 * one);
        let gray = 0.213 * red + 0.715 * green + 0.072 * blue;
        [red, green, blue].map(|one| ((2.0 * gray - one).clamp(0.0, 1.0) * 1.25).min(1.0))
    }

    #[test]
    fn marks_and_text_stand_out_on_dark_pages() {
        for (light, dark) in fixed() {
            let is_background = [PAPER, GRID].contains(&dark);
            // Contrast of text and marks of every tone, and of dark text on a bar of that tone.
            assert!(is_background || 4.5 <= of_inks(dark, PAPER), "{}", hex(light));
        }
        for tone in Tone::ALL {
            let contrast = contrast(filtered(tone.ink()), filtered(Ink::PAPER));
            assert!(4.3 <= contrast, "{tone:?} {contrast} in a linked picture");
        }
        assert!(7.0 <= contrast(filtered(Ink::FAINT), filtered(Ink::PAPER)));
        // Grid lines stay behind the curves.
        assert!(of_inks(GRID, PAPER) < 2.0);
    }

    #[test]
    fn a_scale_goes_from_the_background_to_the_text() {
        let all = scales();
        for scale in all.chunks(STEPS as usize) {
            let on_paper: Vec<f64> = scale.iter().map(|(_, dark)| of_inks(*dark, PAPER)).collect();
            assert!(on_paper.windows(2).all(|pair| pair[0] <= pair[1]), "{on_paper:?}");
            // Small maps write light text on the lower half of the scale and dark text on the upper
            // half.
            for (step, (_, dark)) in scale.iter().enumerate() {
                let text = if step * 2 < scale.len() - 1 { TEXT } else { PAPER };
                assert!(3.0 <= of_inks(*dark, text), "{step}");
            }
        }
    }

    #[test]
    fn colours_between_two_others_move_to_a_step_and_names_stay() {
        let svg = "<rect fill=\"#123456\"/><text fill=\"#0072b2\"> fill=\"#123456\"</text>";
        let moved = in_steps(svg);
        let (first, rest) = moved.split_once("/>").unwrap();
        assert_eq!(rest, "<text fill=\"#0072b2\"> fill=\"#123456\"</text>");
        let color = first.strip_prefix("<rect fill=\"").unwrap().trim_end_matches('"');
        let step = scales().into_iter().find(|(light, _)| hex(*light) == color);
        assert!(step.is_some(), "{color}");
        assert!(style().contains(&format!("[fill=\"{color}\"] {{ fill: ")));
        // A step stays where it is.
        assert_eq!(in_steps(&moved), moved);
    }
}
