//! The theme of every chart: sizes, colours, dashes, markers, number formats.
//!
//! The colours are those of Okabe and Ito (2008), which readers with any common colour blindness
//! can distinguish; lines also differ by dash and marker, for print without colour. An outcome has
//! the same colour in every chart.

/// A colour and its opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ink {
    pub color: (u8, u8, u8),
    pub opacity: f64,
}

impl Ink {
    /// The background.
    pub(super) const PAPER: Self = Self::of(255, 255, 255);
    /// Text and axes.
    pub(super) const TEXT: Self = Self::of(33, 37, 41);
    /// Captions and minor text.
    pub(super) const FAINT: Self = Self::of(94, 102, 110);
    /// Grid lines.
    pub(super) const GRID: Self = Self::of(226, 229, 233);

    pub(super) const fn of(red: u8, green: u8, blue: u8) -> Self {
        Self { color: (red, green, blue), opacity: 1.0 }
    }

    /// The colour at a share of the way between two colours. A share that is not a number counts as
    /// 0.
    pub(super) fn between(from: Self, to: Self, share: f64) -> Self {
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        let mix = |from: u8, to: u8| {
            let value = f64::from(from) + (f64::from(to) - f64::from(from)) * share;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 255")]
            let value = value.round() as u8;
            value
        };
        let ((red, green, blue), (to_red, to_green, to_blue)) = (from.color, to.color);
        Self::of(mix(red, to_red), mix(green, to_green), mix(blue, to_blue))
    }

    /// Black or white: the one that has more contrast as text on this colour (WCAG 2).
    pub(super) fn for_text(self) -> Self {
        let (red, green, blue) = self.color;
        let light = |one: u8| {
            let one = f64::from(one) / 255.0;
            if one <= 0.04045 { one / 12.92 } else { ((one + 0.055) / 1.055).powf(2.4) }
        };
        let luminance = 0.2126 * light(red) + 0.7152 * light(green) + 0.0722 * light(blue);
        let [on_white, on_black] = [1.05 / (luminance + 0.05), (luminance + 0.05) / 0.05];
        if on_black < on_white { Self::PAPER } else { Self::of(0, 0, 0) }
    }

    /// The same colour with an opacity.
    pub(super) const fn with_opacity(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }
}

/// Lengths of strokes and gaps in turn, in line widths; empty for a line without gaps.
pub(super) type Dash = &'static [f64];

/// The size of a picture and of its contents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Width, CSS pixels (1/96 in).
    pub(super) width: f64,
    /// Text height, CSS pixels.
    pub(super) text: f64,
    /// Whether the picture includes title and caption.
    pub is_titled: bool,
    /// Pixels of a PNG per CSS pixel.
    pub(super) zoom: f64,
}

/// A width outside the allowed range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("a chart is between {} and {} inches wide", Look::WIDTHS_IN.0, Look::WIDTHS_IN.1)]
pub struct LookError;

impl Look {
    /// The narrowest and the widest picture, inches.
    pub const WIDTHS_IN: (f64, f64) = (2.5, 20.0);

    /// The size for pages and screens: 840 CSS pixels wide, 192 dots per inch.
    pub const SCREEN: Self = Self { width: 840.0, text: 12.0, is_titled: true, zoom: 2.0 };

    /// The size for print: a width in inches, text of 7.5 points, 384 dots per inch.
    ///
    /// # Errors
    /// The width is below 2.5 or above 20 inches.
    pub fn paper(width_in: f64) -> Result<Self, LookError> {
        if !(Self::WIDTHS_IN.0..=Self::WIDTHS_IN.1).contains(&width_in) {
            return Err(LookError);
        }
        Ok(Self { width: width_in * 96.0, text: 10.0, is_titled: true, zoom: 4.0 })
    }

    /// Space around everything.
    pub(super) const fn margin(&self) -> f64 {
        self.text
    }

    /// Width of a curve.
    pub(super) const fn stroke(&self) -> f64 {
        self.text / 7.0
    }

    /// Width of axes and grid lines.
    pub(super) const fn line(&self) -> f64 {
        self.text / 15.0
    }

    /// Height of a plot of some width.
    pub(super) const fn plot_height(&self, width: f64) -> f64 {
        (width * 0.44).max(self.text * 15.0)
    }
}

impl Default for Look {
    fn default() -> Self {
        Self::SCREEN
    }
}

/// The colour of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tone {
    /// The colour of text, for totals.
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
    /// All tones.
    pub(super) const ALL: [Self; 8] = [
        Self::Ink,
        Self::Green,
        Self::Vermilion,
        Self::Blue,
        Self::Orange,
        Self::Purple,
        Self::Sky,
        Self::Grey,
    ];

    /// Tones for series whose colour has no meaning, in order.
    pub const SERIES: [Self; 7] = [
        Self::Blue,
        Self::Vermilion,
        Self::Green,
        Self::Orange,
        Self::Purple,
        Self::Sky,
        Self::Ink,
    ];

    /// The tone as a colour for text, dark enough on white.
    pub(super) fn text_ink(self) -> Ink {
        let ink = self.ink();
        let (red, green, blue) = ink.color;
        let darker = |one: u8| u8::try_from(u16::from(one) * 3 / 5).unwrap_or(one);
        match self {
            Self::Ink | Self::Blue => ink,
            _ => Ink::of(darker(red), darker(green), darker(blue)),
        }
    }

    pub(super) const fn ink(self) -> Ink {
        match self {
            Self::Ink => Ink::TEXT,
            Self::Green => Ink::of(0, 158, 115),
            Self::Vermilion => Ink::of(213, 94, 0),
            Self::Blue => Ink::of(0, 114, 178),
            Self::Orange => Ink::of(230, 159, 0),
            Self::Purple => Ink::of(204, 121, 167),
            Self::Sky => Ink::of(86, 180, 233),
            Self::Grey => Ink::of(140, 146, 152),
        }
    }

    /// The dash and marker of the tone, so that lines differ without colour.
    pub(super) const fn style(self) -> (Dash, Marker) {
        match self {
            Self::Ink => (&[], Marker::Diamond),
            Self::Blue => (&[], Marker::Dot),
            Self::Vermilion => (&[5.0, 2.0], Marker::Square),
            Self::Green => (&[1.5, 1.5], Marker::Up),
            Self::Orange => (&[7.0, 2.0, 1.5, 2.0], Marker::Ring),
            Self::Purple => (&[3.0, 3.0], Marker::Cross),
            Self::Sky => (&[9.0, 2.5], Marker::Down),
            Self::Grey => (&[1.0, 2.5], Marker::Plus),
        }
    }
}

/// The shape of a marked point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Dot,
    Square,
    Up,
    Down,
    Diamond,
    Ring,
    Cross,
    Plus,
}

/// The colour of an outcome in every chart.
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
