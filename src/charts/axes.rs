//! Axes: the position of values, round ticks whose labels do not touch, and the frame of a plot.
//!
//! ```text
//!  title │                      ticks at 1, 2 or 5 times a power of ten; on a logarithmic axis at
//!        │                      powers of ten, and at 2 and 5 between them if there are few
//!    20 ─┼───────────────
//!        │                      numbers are written as in `numbers`; lengths of time on a
//!     0 ─┼───────┬───────       logarithmic axis are in words
//!        0      100   title
//! ```

use super::canvas::{Align, At, Canvas, Layer, TimeSpan, count, lines_of, width_of};
use super::cuts::{self, Gap};
use super::numbers::{is_plain, linear_text, plain_text, power_text, root_ticks, unit_of};
use super::theme::Ink;
use super::{dates, durations, says};
use crate::digits::figure_text;

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Linear.
    Linear,
    /// Logarithmic; points at or below 0 are put at the left edge.
    Log,
    /// Square roots from 0 on: small counts are kept apart, and 0 has a place on the axis.
    Root,
}

/// The title of a time axis in hours. On a page, charts whose time axes have the same start share
/// one window of time.
pub const HOURS_OF_TRACE: &str = "time since the start of the trace (h)";
/// The title in days.
pub const DAYS_OF_TRACE: &str = "time since the start of the trace (d)";
/// The title for a replay, whose clock may start long before its first task.
pub const HOURS_OF_REPLAY: &str = "time since the first arrival (h)";
/// The title for a span within the trace.
pub const DAYS_OF_SPAN: &str = "time since the start of the span (d)";
/// The title for a short span.
pub const HOURS_OF_SPAN: &str = "time since the start of the span (h)";

/// Spans of this many seconds or more are given in days, shorter ones in hours.
pub(crate) const DAYS_FROM_S: f64 = 3.0 * 86_400.0;

/// How titles begin on time axes that start with the drawn thing itself, such as a job.
const OWN_STARTS: [&str; 4] = [
    "time since the first submission or attempt shown",
    "time since the first attempt shown",
    "time since the first row",
    "time since its first attempt",
];

/// The start and the unit of a time axis.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Clock {
    title: &'static str,
    since: &'static str,
    unit: &'static str,
    /// Seconds per unit.
    per: f64,
    /// Whether instants have dates if the date of 0 is known. The clock of a replay has none.
    has_dates: bool,
    /// Whether other charts on the page count from the same start, and so share a window of time.
    is_shared: bool,
}

impl Clock {
    const ALL: [Self; 5] = [
        Self::new(HOURS_OF_TRACE, "trace", "h", 3600.0, true),
        Self::new(HOURS_OF_REPLAY, "replay", "h", 3600.0, false),
        Self::new(DAYS_OF_TRACE, "trace", "d", 86_400.0, true),
        Self::new(DAYS_OF_SPAN, "span", "d", 86_400.0, true),
        Self::new(HOURS_OF_SPAN, "span", "h", 3600.0, true),
    ];

    const fn new(
        title: &'static str,
        since: &'static str,
        unit: &'static str,
        per: f64,
        has_dates: bool,
    ) -> Self {
        Self { title, since, unit, per, has_dates, is_shared: true }
    }

    /// The clock of a title such as `time since its first attempt (min)`: the drawn thing first.
    fn own(title: &str) -> Option<Self> {
        let own = OWN_STARTS.iter().find(|start| title.starts_with(**start))?;
        let units = [("s", 1.0), ("min", 60.0), ("h", 3600.0), ("d", 86_400.0)];
        let (_, unit) = title.strip_suffix(')')?.rsplit_once('(')?;
        let (unit, per) = units.into_iter().find(|known| known.0 == unit)?;
        Some(Self { is_shared: false, ..Self::new(own, "", unit, per, true) })
    }

    /// The clock of an axis with this title; `None` if it is not a time axis.
    fn of(title: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|clock| clock.title == title).or_else(|| Self::own(title))
    }
}

/// The date of a value on an axis with this title; `None` unless the axis shows dates.
pub(super) fn date_of(title: &str, value: f64, since_s: Option<f64>) -> Option<String> {
    let clock = Clock::of(title).filter(|clock| clock.has_dates)?;
    Some(dates::instant(since_s? + value * clock.per))
}

/// The title of an axis in the form that is written next to each of many values; short for times.
pub(super) fn beside_values(title: &str) -> String {
    Clock::of(title).map_or_else(|| title.to_owned(), |clock| format!("time ({})", clock.unit))
}

/// One axis: its range and labels.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    pub title: String,
    low: f64,
    high: f64,
    scale: Scale,
    /// The values and their labels, lowest first.
    pub ticks: Vec<(f64, String)>,
    /// The clock of the axis, if it is a time axis.
    clock: Option<Clock>,
    /// The instant at 0, in seconds since 1970, if the axis shows dates.
    since_s: Option<f64>,
}

/// The space for tick labels.
#[derive(Clone, Copy, Debug)]
pub(super) enum Room {
    /// Labels next to each other on a width in pixels, with a text height.
    Across(f64, f64),
    /// Labels above each other on a height in pixels, with a text height.
    Up(f64, f64),
}

impl Room {
    /// Whether the labels at their shares of the axis do not touch.
    fn holds(self, labels: &[(f64, String)]) -> bool {
        labels.windows(2).all(|pair| {
            let apart = (pair[1].0 - pair[0].0).abs();
            match self {
                Self::Across(length, size) => {
                    let wide = |label: &(f64, String)| width_of(&label.1, size) / 2.0;
                    wide(&pair[0]) + wide(&pair[1]) + size <= apart * length
                }
                Self::Up(length, size) => size * 1.9 <= apart * length,
            }
        })
    }
}

impl Axis {
    /// An axis from `low` to at least `high`.
    pub(super) fn new(title: &str, low: f64, high: f64, scale: Scale, room: Room) -> Self {
        match scale {
            Scale::Linear => Self::linear(title, low, high, room),
            Scale::Log => Self::log(title, low, high, room),
            Scale::Root => Self::root(title, high, room),
        }
    }

    /// An axis of square roots, from 0 on.
    fn root(title: &str, high: f64, room: Room) -> Self {
        let high = if 0.0 < high { high } else { 1.0 };
        let title = format!("{title}, root scale");
        let of = |values: Vec<f64>| {
            let ticks = values.into_iter().map(|value| (value, figure_text(value))).collect();
            let (clock, since_s) = (None, None);
            Self { title: title.clone(), low: 0.0, high, scale: Scale::Root, ticks, clock, since_s }
        };
        let mut axes = root_ticks(high).into_iter().map(of);
        axes.find(|axis| room.holds(&axis.labels())).unwrap_or_else(|| of(vec![0.0]))
    }

    /// A lower axis. It shows dates if it is a time axis and its 0 is at `since_s`, in seconds
    /// since 1970.
    pub(super) fn lower(
        title: &str,
        [low, high]: [f64; 2],
        scale: Scale,
        room: Room,
        since_s: Option<f64>,
    ) -> Self {
        let axis = Self::new(title, low, high, scale, room);
        let clock = axis.clock.filter(|clock| clock.has_dates && scale == Scale::Linear);
        let dated =
            clock.zip(since_s).and_then(|(clock, since_s)| axis.dated(clock, since_s, room));
        dated.unwrap_or(axis)
    }

    /// The same time axis with dates; `None` if no date fits.
    fn dated(&self, clock: Clock, since_s: f64, room: Room) -> Option<Self> {
        let [low_s, high_s] = [self.low, self.high].map(|value| since_s + value * clock.per);
        #[expect(clippy::cast_precision_loss, reason = "seconds of dates")]
        let of = |set: Vec<dates::Tick>| {
            let place = |(at, text): (u64, String)| ((at as f64 - since_s) / clock.per, text);
            let is_within_days = set.iter().any(|(_, text)| text.contains(':'));
            let title = if is_within_days {
                format!("time (UTC), from {} on", dates::date(low_s))
            } else {
                "date (UTC)".to_owned()
            };
            let ticks = set.into_iter().map(place).collect();
            Self { title, ticks, since_s: Some(since_s), ..self.clone() }
        };
        let mut axes = dates::sets(low_s, high_s).into_iter().map(of);
        axes.find(|axis| room.holds(&axis.labels()))
    }

    /// The ticks of the finest round step whose labels do not touch. A vertical axis begins and
    /// ends at a tick.
    fn linear(title: &str, low: f64, high: f64, room: Room) -> Self {
        let high = if low < high { high } else { low + 1.0 };
        let (unit, name) = unit_of(low.abs().max(high.abs()));
        let clock = Clock::of(title);
        let title = if name.is_empty() { title.to_owned() } else { format!("{title}, {name}") };
        let of_step = |step: f64| {
            // Counted in steps. A value that misses a whole number only by rounding counts as that
            // number.
            let (from, to) = (low / step, high / step);
            let (first, last) = match room {
                Room::Up(..) => ((from + 1e-9).floor(), (to - 1e-9).ceil()),
                Room::Across(..) => ((from - 1e-9).ceil(), (to + 1e-9).floor()),
            };
            let (low, high) = match room {
                Room::Up(..) => (first * step, last * step),
                Room::Across(..) => (low, high),
            };
            #[expect(clippy::cast_possible_truncation, reason = "a step is at least a 20th")]
            let count = (last - first) as i32;
            let values = (0..=count).map(|at| (first + f64::from(at)) * step);
            let ticks = values.map(|value| (value, linear_text(value / unit, step / unit)));
            let (title, ticks) = (title.clone(), ticks.collect());
            let clock = clock.filter(|_| name.is_empty());
            Self { title, low, high, scale: Scale::Linear, ticks, clock, since_s: None }
        };
        let begin = 10_f64.powf(((high - low) / 20.0).log10().floor());
        let steps =
            (0..4).flat_map(|power| [1.0, 2.0, 5.0].map(|one| one * begin * 10_f64.powi(power)));
        let mut steps = steps.filter(|step| (high - low) / step <= 11.0);
        let fits = |axis: &Self| room.holds(&axis.labels());
        steps
            .find_map(|step| Some(of_step(step)).filter(fits))
            .unwrap_or_else(|| of_step(high - low))
    }

    /// Labels at their shares of the axis.
    fn labels(&self) -> Vec<(f64, String)> {
        self.ticks.iter().map(|(value, text)| (self.place(*value), text.clone())).collect()
    }

    /// A logarithmic axis; `low` is above 0.
    fn log(title: &str, low: f64, high: f64, room: Room) -> Self {
        let low = if 0.0 < low { low } else { 1.0 };
        let high = if low < high { high } else { low * 10.0 };
        let (low, high) = (rounded(low, false), rounded(high, true));
        if let Some((name, per)) = durations::counted_in(title) {
            return Self::durations((name, per), low, high, room);
        }
        #[expect(clippy::cast_possible_truncation, reason = "powers of ten of a number")]
        let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        let is_plain = is_plain(first, last);
        let title = format!("{title}, log scale");
        let of = |digits: &[f64], every: i32| {
            let tick = |digit: f64, power: i32| {
                let value = digit * 10_f64.powi(power);
                (value, if is_plain { plain_text(digit, power) } else { power_text(digit, power) })
            };
            let within = |value: f64| low * (1.0 - 1e-9) <= value && value <= high * (1.0 + 1e-9);
            let powers = (first..=last).filter(|power| power.rem_euclid(every) == 0);
            let ticks =
                powers.flat_map(|power| digits.iter().map(move |&digit| tick(digit, power)));
            let ticks = ticks.filter(|tick| within(tick.0)).collect();
            let (clock, since_s) = (None, None);
            Self { title: title.clone(), low, high, scale: Scale::Log, ticks, clock, since_s }
        };
        let fine: [&[f64]; 2] = [&[1.0, 2.0, 5.0], &[1.0, 3.0]];
        let fine = fine.iter().filter(|_| last - first <= 3).map(|digits| of(digits, 1));
        let coarse = (1..=last - first + 1).map(|every| of(&[1.0], every));
        let fits = |axis: &Self| room.holds(&axis.labels());
        fine.chain(coarse).find(fits).unwrap_or_else(|| of(&[], 1))
    }

    /// A logarithmic axis of lengths of time, in units of `per` seconds.
    fn durations((name, per): (&str, f64), low: f64, high: f64, room: Room) -> Self {
        let title = format!("{name}, log scale");
        let of = |ticks: Vec<(f64, String)>| {
            let ticks = ticks.into_iter().map(|(seconds, text)| (seconds / per, text)).collect();
            let (clock, since_s) = (None, None);
            Self { title: title.clone(), low, high, scale: Scale::Log, ticks, clock, since_s }
        };
        let mut axes = durations::sets(low * per, high * per).into_iter().map(of);
        axes.find(|axis| room.holds(&axis.labels())).unwrap_or_else(|| of(Vec::new()))
    }

    /// The position of a value: 0 at the lower end of the axis, 1 at the upper. Values below a
    /// logarithmic axis are put at its lower end.
    pub(super) fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => {
                let value = value.max(self.low);
                (value / self.low).log10() / (self.high / self.low).log10()
            }
            Scale::Root => (value.max(0.0) / self.high).sqrt(),
        }
    }

    /// The lower end.
    pub(super) const fn low(&self) -> f64 {
        self.low
    }
}

/// The next 1, 2 or 5 times a power of ten, up or down.
fn rounded(value: f64, is_up: bool) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let mut digits = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter();
    let found = if is_up {
        digits.find(|one| value <= one * (1.0 + 1e-9))
    } else {
        digits.rfind(|one| *one <= value * (1.0 + 1e-9))
    };
    found.unwrap_or(value)
}

/// Space between a label and the edge of the picture, as a multiple of the text height.
const EDGE: f64 = 0.3;

/// The inside of a plot on the canvas.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    pub x: Axis,
    pub y: Axis,
}

impl Frame {
    /// The position of a pair of values.
    pub(super) fn at(&self, x: f64, y: f64) -> At {
        (self.left + self.x.place(x) * self.width, self.top + (1.0 - self.y.place(y)) * self.height)
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Draws grid, ticks and titles. Returns the height below the plot that they take, in pixels.
    pub(super) fn draw(&self, canvas: &mut Canvas) -> f64 {
        let size = canvas.look.text;
        let thin = canvas.look.line();
        for (value, text) in &self.y.ticks {
            let (_, y) = self.at(self.x.low(), *value);
            canvas.line(vec![(self.left, y), (self.left + self.width, y)], thin, Ink::GRID);
            canvas.text(text, (self.left - 0.5 * size, y), Align::Right, size, Ink::TEXT);
        }
        let below = self.bottom();
        self.draw_x(canvas);
        canvas.line(vec![(self.left, self.top), (self.left, below)], thin, Ink::TEXT);
        let mut x = self.left - 0.9 * size - self.y_labels_width(size);
        for line in lines_of(&self.y.title, self.height, size).iter().rev() {
            x -= 0.6 * size;
            canvas.turned(line, (x, self.top + self.height / 2.0), size, Ink::TEXT);
            x -= 0.7 * size;
        }
        Self::below(canvas, &self.x.title, self.width)
    }

    /// Draws only the lower axis.
    pub(super) fn draw_x(&self, canvas: &mut Canvas) {
        self.draw_x_to(self.left + self.width, canvas);
    }

    /// The same, with an axis line that ends before the plot does: texts may need the rest.
    pub(super) fn draw_x_to(&self, right: f64, canvas: &mut Canvas) {
        let size = canvas.look.text;
        let thin = canvas.look.line();
        let below = self.bottom();
        let first = canvas.marks.len();
        for (value, text) in &self.x.ticks {
            let (x, _) = self.at(*value, self.y.low());
            canvas.line(vec![(x, self.top), (x, below)], thin, Ink::GRID);
            canvas.line(vec![(x, below), (x, below + 0.3 * size)], thin, Ink::TEXT);
            if let Some(moved) = Self::label_at(x, text, canvas) {
                canvas.text(text, (moved, below + 1.0 * size), Align::Middle, size, Ink::TEXT);
            }
        }
        if self.x.clock.is_some_and(|clock| clock.is_shared) {
            canvas.layers.push(Layer { marks: first..canvas.marks.len(), time: None });
        }
        canvas.line(vec![(self.left, below), (right, below)], thin, Ink::TEXT);
        let lines = lines_of(&self.x.title, self.width, size);
        for (idx, line) in (0_u32..).zip(&lines) {
            let y = below + (2.4 + 1.3 * f64::from(idx)) * size;
            canvas.text(line, (self.left + self.width / 2.0, y), Align::Middle, size, Ink::TEXT);
        }
    }

    /// The middle of a label below the plot. A label at the edge of the picture moves a little, or
    /// is left out.
    fn label_at(x: f64, text: &str, canvas: &Canvas) -> Option<f64> {
        let size = canvas.look.text;
        let half = width_of(text, size) / 2.0 + EDGE * size;
        let moved = x.clamp(half, (canvas.look.width - half).max(half));
        ((moved - x).abs() < 0.8 * size).then_some(moved)
    }

    /// The values below the plot that have a label.
    pub(super) fn labelled(&self, canvas: &Canvas) -> Vec<f64> {
        let ticks = self.x.ticks.iter();
        let is_shown = |(value, text): &&(f64, String)| {
            Self::label_at(self.at(*value, self.y.low()).0, text, canvas).is_some()
        };
        ticks.filter(is_shown).map(|tick| tick.0).collect()
    }

    /// The time span of the plot, if its lower axis is the time of a trace.
    pub(super) fn time(&self, early: Option<f64>) -> Option<TimeSpan> {
        let clock = self.x.clock.filter(|clock| clock.is_shared)?;
        Some(TimeSpan {
            since: clock.since,
            unit: clock.unit,
            since_s: self.x.since_s,
            seconds: [self.x.low, self.x.high].map(|value| value * clock.per),
            whole_from_s: early.filter(|at| self.x.low < *at).map(|at| at * clock.per),
            across: [self.left, self.left + self.width],
            down: [self.top, self.bottom()],
        })
    }

    /// The gaps on the plot, from left to right.
    fn gaps(&self, canvas: &Canvas) -> Vec<Gap> {
        let right = self.left + self.width;
        let across = |x: f64| (self.left + self.x.place(x) * self.width).clamp(self.left, right);
        let says = |[from, to]: [f64; 2]| match self.x.clock.zip(self.x.since_s) {
            Some((clock, since_s)) => {
                let date = |value: f64| dates::instant(since_s + value * clock.per);
                format!("{}\nfrom: {}\nto: {}", cuts::NAME, date(from), date(to))
            }
            None => says(cuts::NAME, &[("from", from), ("to", to)], None),
        };
        let gaps = canvas.gaps.iter();
        let gaps = gaps.map(|gap| Gap { says: says(*gap), across: gap.map(across) });
        gaps.filter(|gap| gap.across[0] < gap.across[1]).collect()
    }

    /// The left and right edge, in pixels, of the time on the plot for which the log lacks jobs;
    /// and whether that time ends on the plot.
    fn early(&self, canvas: &Canvas) -> Option<([f64; 2], bool)> {
        let place = self.x.place(canvas.whole_from?);
        let right = self.left + place.min(1.0) * self.width;
        (0.0 < place).then_some(([self.left, right], place < 1.0))
    }

    /// Shades the time for which the log lacks jobs and hatches the gaps, before the contents of
    /// the plot are drawn.
    pub(super) fn shade_gaps(&self, canvas: &mut Canvas) {
        if let Some(early) = self.early(canvas) {
            cuts::shade_early([self.top, self.bottom()], early, canvas.marks.len(), canvas);
        }
        let gaps = self.gaps(canvas);
        cuts::shade([self.top, self.bottom()], &gaps, canvas);
    }

    /// Declares that all marks from `first` on are within the plot. Those inside a gap are removed.
    pub(super) fn close(&self, first: usize, canvas: &mut Canvas) {
        if let Some(early) = self.early(canvas) {
            cuts::shade_early([self.top, self.bottom()], early, first, canvas);
        }
        let gaps = self.gaps(canvas);
        cuts::leave_out([self.top, self.bottom()], &gaps, first, canvas);
        if let Some(time) = self.time(canvas.whole_from) {
            canvas.layers.push(Layer { marks: first..canvas.marks.len(), time: Some(time) });
        }
    }

    /// The height that the lower axis takes below the plot, in pixels.
    pub(super) fn below(canvas: &Canvas, title: &str, width: f64) -> f64 {
        let size = canvas.look.text;
        (1.7 + 1.3 * count(lines_of(title, width, size).len())) * size
    }

    fn y_labels_width(&self, size: f64) -> f64 {
        labels_width(&self.y, size)
    }

    /// The width that a vertical axis takes to the left of a plot of some height, in pixels.
    pub(super) fn left_of(axis: &Axis, height: f64, size: f64) -> f64 {
        let lines = count(lines_of(&axis.title, height, size).len());
        0.9 * size + labels_width(axis, size) + 1.3 * size * lines
    }
}

fn labels_width(axis: &Axis, size: f64) -> f64 {
    axis.ticks.iter().map(|tick| width_of(&tick.1, size)).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.1.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_and_numbers_of_one_axis_have_one_form() {
        let across = Room::Across(600.0, 12.0);
        let axis = |low, high, scale| Axis::new("jobs", low, high, scale, across);
        assert_eq!(
            texts(&axis(0.0, 1.5e9, Scale::Linear)),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0", "1.2", "1.4"]
        );
        assert_eq!(axis(0.0, 1.5e9, Scale::Linear).title, "jobs, billions");
        assert_eq!(
            texts(&axis(1.0, 1000.0, Scale::Log)),
            ["1", "2", "5", "10", "20", "50", "100", "200", "500", "1,000"]
        );
        assert_eq!(
            texts(&axis(1.0, 2e9, Scale::Log)),
            ["1", "100", "10,000", "1 million", "100 million"]
        );
        assert_eq!(
            texts(&axis(1e-6, 10.0, Scale::Log)),
            ["10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "10⁰", "10¹"]
        );
        // Lengths of time are in words, whatever their unit is.
        for (title, per) in [("wait (s)", 1.0), ("wait (min)", 60.0), ("wait (h)", 3600.0)] {
            let own = Axis::new(title, 60.0 / per, 86_400.0 / per, Scale::Log, across);
            let told = texts(&own).into_iter().filter(|text| text.starts_with("1 "));
            assert_eq!(told.collect::<Vec<&str>>(), ["1 min", "1 h", "1 d"], "{title}");
            assert_eq!(own.title, "wait, log scale");
            assert!((own.place(3600.0 / per) - own.place(60.0 / per)).abs() > 0.3);
        }
        let up = Axis::new("%", -3.0, 97.0, Scale::Linear, Room::Up(200.0, 12.0));
        assert_eq!(texts(&up), ["−20", "0", "20", "40", "60", "80", "100"]);
    }

    proptest! {
        /// Labels never touch, stay within the axis, and are at the values that they show.
        #[test]
        fn labels_keep_apart(
            low in -1e3_f64..1e3, span in (-4.0..15.0_f64).prop_map(|power| 10_f64.powf(power)),
            is_log in any::<bool>(), length in 80.0_f64..900.0, is_across in any::<bool>(),
            title in prop_oneof![Just("x"), Just("x (s)")], is_dated in any::<bool>(),
        ) {
            let (low, scale) = if is_log { (span / 1e5, Scale::Log) } else { (low, Scale::Linear) };
            let room = if is_across { Room::Across(length, 10.0) } else { Room::Up(length, 10.0) };
            let axis = if is_dated {
                let room = Room::Across(length, 10.0);
                // From a minute to a hundred years.
                let high = (span / 1e9).clamp(1.0 / 1440.0, 4e4);
                Axis::lower(DAYS_OF_TRACE, [0.0, high], Scale::Linear, room, Some(1.48e9))
            } else {
                Axis::new(title, low, low + span, scale, room)
            };
            let labels: Vec<(f64, String)> =
                axis.ticks.iter().map(|(value, text)| (axis.place(*value), text.clone())).collect();
            prop_assert!(labels.iter().all(|label| (-1e-6..=1.0 + 1e-6).contains(&label.0)));
            let room = if is_dated { Room::Across(length, 10.0) } else { room };
            prop_assert!(labels.len() < 2 || room.holds(&labels), "{labels:?}");
            let mut texts: Vec<&String> = labels.iter().map(|label| &label.1).collect();
            texts.dedup();
            prop_assert_eq!(texts.len(), labels.len(), "each tick has a text of its own");
        }
    }
}
