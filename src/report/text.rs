//! Texts of a page: escaped names, figures, and titles of results.

use std::fmt::Write;

use crate::answers::list;
use crate::answers::sentences::{self, noun_of};
use crate::cells::is_hidden;
use crate::digits::{HOURS_FROM_S, on_day, three_digits, utc};
pub(super) use crate::digits::{figure_text, is_date, lasting};
use crate::results::Stored;
use crate::results::envelope::Measures;
use crate::studies::meter::Resource;

/// The text, escaped for a page or an attribute.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // Characters that a browser would not show are written as codes.
            hidden if is_hidden(hidden) && hidden != '\n' => {
                let _ = write!(safe, "{}", hidden.escape_unicode());
            }
            other => safe.push(other),
        }
    }
    safe
}

/// The words for the sum in a result, if it is GPU time and not CPU time.
pub(super) fn gpu_time(result: &Stored) -> Option<&'static str> {
    let noun = noun_of(&result.whole.chosen::<Measures>().cpu.unwrap_or_default());
    (noun == Resource::Gpu.noun()).then_some(noun)
}

/// A sentence as HTML: text between backticks is set as code.
pub(crate) fn sentence(text: &str) -> String {
    // No line break between a number and its percent sign.
    let whole = |piece: &str| escape(piece).replace(" %", "&nbsp;%");
    let spoken = |piece: &str| spoken_cpu(&spoken_times(piece));
    let pieces = text.split('`').map(whole).enumerate();
    let is_even = text.matches('`').count().is_multiple_of(2);
    let marked = pieces.map(|(place, piece)| match place % 2 {
        1 if is_even => format!("<code>{piece}</code>"),
        0 if is_even || place == 0 => spoken(&piece),
        _ => format!("`{}", spoken(&piece)),
    });
    marked.collect()
}

/// Times of at least this many seconds are written in larger units.
const SPOKEN_FROM_S: f64 = 120.0;

/// Units of CPU time that are easier to read in hours.
const CPU_UNITS: [&str; 5] = [" processor-s", " core-s", " NCU-s", " GPU-s", " task-s"];

/// CPU-seconds in a text as CPU-hours, `131,733 processor-h`; a tooltip has the seconds.
fn spoken_cpu(html: &str) -> String {
    let mut text = html.to_owned();
    for unit in CPU_UNITS {
        let mut done = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(at) = rest.find(unit) {
            let (before, after) = (&rest[..at], &rest[at + unit.len()..]);
            let is_word = !after.starts_with(|next: char| next.is_alphanumeric() || next == '-');
            let begin = before
                .trim_end_matches(|letter: char| letter.is_ascii_digit() || ",.".contains(letter));
            let (head, figure) = before.split_at(begin.len());
            let seconds = figure.replace(',', "").parse::<f64>().ok();
            match seconds.filter(|seconds| is_word && HOURS_FROM_S <= *seconds) {
                Some(seconds) => {
                    let hours = three_digits(seconds / 3600.0);
                    let name = unit.trim_end_matches('s');
                    let _ =
                        write!(done, "{head}<span title=\"{figure}{unit}\">{hours}{name}h</span>");
                }
                None => done.push_str(&rest[..at + unit.len()]),
            }
            rest = after;
        }
        done.push_str(rest);
        text = done;
    }
    text
}

/// Seconds in a text as minutes, hours or days; a tooltip has the seconds. Few readers recognise
/// immediately that 172,800 s are two days.
fn spoken_times(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find(" s") {
        let (before, after) = rest.split_at(at);
        let ends = !after[2..].starts_with(|next: char| next.is_alphanumeric() || next == '-');
        let number =
            before.rfind(|letter: char| !(letter.is_ascii_digit() || ",.".contains(letter)));
        let number = number
            .map_or(0, |place| place + before[place..].chars().next().map_or(0, char::len_utf8));
        let (head, figure) = before.split_at(number);
        let seconds = figure.replace(',', "").parse::<f64>().ok();
        if let Some(seconds) = seconds.filter(|seconds| ends && SPOKEN_FROM_S <= *seconds) {
            let _ = write!(text, "{head}<span title=\"{figure} s\">{}</span>", lasting(seconds));
        } else {
            text.push_str(before);
            text.push_str(" s");
        }
        rest = &after[2..];
    }
    text.push_str(rest);
    text
}

/// The positions of the full stops between the sentences of a text.
pub(super) fn sentence_ends(text: &str) -> impl Iterator<Item = usize> {
    // The point after a short word may be part of a name: `J. Smith`, `Dr. Wu`.
    let is_end = |at: &usize| {
        let last = text[..*at].rsplit([' ', '(']).next().unwrap_or_default();
        let mut letters = last.chars();
        let is_upper = letters.next().is_some_and(char::is_uppercase);
        let rest = letters.as_str();
        !is_upper || 1 < rest.chars().count() || rest.contains(char::is_uppercase)
    };
    text.match_indices(". ").map(|(at, _)| at).filter(is_end)
}

/// Longer captions are folded after the last sentence that ends within this length, letters.
const CAPTION_MAX: usize = 200;

/// Shorter remainders of captions are not folded, letters.
const FOLDED_MIN: usize = 60;

/// The visible part of a caption and the folded part, which may be empty. The first sentence is
/// always visible.
pub(super) fn folded(caption: &str) -> (&str, &str) {
    if caption.len() <= CAPTION_MAX {
        return (caption, "");
    }
    let ends: Vec<usize> = sentence_ends(caption).collect();
    let by_then = ends.iter().rfind(|at| **at < CAPTION_MAX).or(ends.first());
    match by_then.map(|at| caption.split_at(at + 1)) {
        Some((shown, rest)) if FOLDED_MIN <= rest.trim().len() => (shown, rest.trim()),
        _ => (caption, ""),
    }
}

/// A share in percent: two decimals, or two significant digits below 0.1 %.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = match percent.abs() {
        usual if 0.1 <= usual || usual == 0.0 => 2,
        small if 0.01 <= small => 3,
        small if 0.001 <= small => 4,
        small if 0.000_1 <= small => 5,
        _ => return if percent < 0.0 { "above -0.0001 %" } else { "under 0.0001 %" }.to_owned(),
    };
    if percent == 0.0 { "0 %".to_owned() } else { format!("{percent:.decimals$} %") }
}

/// The same for a sentence or a list of facts, with one decimal, or two significant digits below
/// 0.1 %.
pub(super) fn percent_said(share: f64) -> String {
    if share.abs() < 0.001 { percent(share) } else { sentences::percent(share) }
}

/// The words for the clock of instants such as this one.
pub(crate) fn clock(seconds: Option<f64>) -> &'static str {
    if seconds.is_some_and(is_date) {
        "date and time in UTC"
    } else {
        "days and time since the start of the trace"
    }
}

/// The instant that decides the clock of several instants: the latest.
pub(crate) fn clock_of_all(seconds: impl Iterator<Item = f64>) -> Option<f64> {
    seconds.reduce(f64::max)
}

/// An instant next to other ones. `None` for time 0 next to dates: a log without times of machines
/// puts them at 0, which is not a date of the log.
pub(crate) fn beside(seconds: Option<f64>, latest: Option<f64>) -> Option<f64> {
    let are_dates = latest.is_some_and(is_date);
    seconds.filter(|&seconds| !are_dates || is_date(seconds))
}

/// An instant to the second: `13 d 07:29:05` since the start of the trace, or `2024-03-01 07:29:05`
/// in a log that counts from 1970.
pub(crate) fn instant(seconds: f64) -> String {
    if is_date(seconds) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "after 1970")]
        return utc(seconds.round() as u64);
    }
    let sign = if seconds.round() < 0.0 { "-" } else { "" };
    format!("{sign}{}", on_day(seconds.abs(), true))
}

/// The title of a result or table, as readers see it.
pub(super) fn caption(name: &str) -> String {
    let known = list::kinds().find_map(|kind| kind.caption_of(name));
    known.map_or_else(|| heading(name), str::to_owned)
}

fn heading(name: &str) -> String {
    let text = name.replace('-', " ");
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The name of a user, as readers see it; `(unknown)` if the user has no name.
pub(super) fn user_name(name: &str) -> &str {
    if name == "-" { "(unknown)" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_in_sentences_have_one_decimal() {
        for (share, said) in [
            (0.537, "53.7 %"),
            (0.1107, "11.1 %"),
            (1.0, "100.0 %"),
            (0.000_062, "0.0062 %"),
            (0.0, "0 %"),
        ] {
            assert_eq!(percent_said(share), said);
        }
    }

    #[test]
    fn instants_are_said_to_the_second() {
        for (seconds, said) in [
            (0.0, "0 d 00:00:00"),
            (59.6, "0 d 00:01:00"),
            (86_399.0, "0 d 23:59:59"),
            (1_150_145.2, "13 d 07:29:05"),
            (-61.0, "-0 d 00:01:01"),
            (1_482_356_614.0, "2016-12-21 21:43:34"),
        ] {
            assert_eq!(instant(seconds), said);
        }
    }

    #[test]
    fn long_captions_are_folded_at_the_end_of_a_sentence() {
        let [short, long] = ["word ".repeat(20), "word ".repeat(39)];
        for (caption, shown, rest) in [
            (format!("{short}a. b."), format!("{short}a. b."), String::new()),
            (
                format!("{short}a. {short}b. {short}c."),
                format!("{short}a."),
                format!("{short}b. {short}c."),
            ),
            (
                format!("{short}J. Smith. {long}b. c."),
                format!("{short}J. Smith."),
                format!("{long}b. c."),
            ),
            (
                format!("{long}aaaaaaaaaa. {short}b."),
                format!("{long}aaaaaaaaaa."),
                format!("{short}b."),
            ),
            (format!("{long}{long}a. b."), format!("{long}{long}a. b."), String::new()),
            (format!("{long}{long}"), format!("{long}{long}"), String::new()),
        ] {
            assert_eq!(folded(&caption), (shown.as_str(), rest.as_str()));
        }
    }

    #[test]
    fn time_0_beside_dates_is_not_shown() {
        let (date, days) = (1_482_356_614.0, 86_400.0);
        assert_eq!(clock_of_all([0.0, date].into_iter()), Some(date));
        assert_eq!(clock_of_all(std::iter::empty()), None);
        assert_eq!(beside(Some(0.0), Some(date)), None);
        assert_eq!(beside(Some(date), Some(date)), Some(date));
        assert_eq!(beside(Some(0.0), Some(days)), Some(0.0));
        assert_eq!(beside(None, None), None);
    }

    #[test]
    fn shares_are_said_in_per_cent() {
        for (share, said) in [
            (0.0, "0 %"),
            (1.0, "100.00 %"),
            (0.573_718, "57.37 %"),
            (-0.015_063_8, "-1.51 %"),
            (1.130_1, "113.01 %"),
            (0.000_229_281, "0.023 %"),
            (6.249_31e-5, "0.0062 %"),
            (1.25e-6, "0.00013 %"),
        ] {
            assert_eq!(percent(share), said);
        }
        assert_eq!(percent(1.5e-9), "under 0.0001 %");
    }

    #[test]
    fn long_times_in_a_sentence_are_said_in_words() {
        for (text, said) in [
            (
                "at most 255 s, more than 172,800 s; the mean is 7,990.44 s",
                "at most <span title=\"255 s\">4.25 min</span>, more than <span title=\"172,800 s\">2 d</span>; \
                the mean is <span title=\"7,990.44 s\">2.22 h</span>",
            ),
            (
                "within 60 s, 1,502 processor-s, 300 samples",
                "within 60 s, 1,502 processor-s, 300 samples",
            ),
            ("users s 300 s", "users s <span title=\"300 s\">5 min</span>"),
            ("é300 s`300 s`", "é<span title=\"300 s\">5 min</span><code>300 s</code>"),
            (" s", " s"),
            (
                "of 474,238,015 processor-s, 12 core-s and 7,200 NCU-s; 36,000 GPU-s.",
                "of <span title=\"474,238,015 processor-s\">131,733 processor-h</span>, 12 core-s and \
                <span title=\"7,200 NCU-s\">2 NCU-h</span>; <span title=\"36,000 GPU-s\">10 GPU-h</span>.",
            ),
        ] {
            assert_eq!(sentence(text), said);
        }
    }

    #[test]
    fn names_in_a_sentence_are_code_and_no_markup() {
        assert_eq!(sentence("a `b<c` d"), "a <code>b&lt;c</code> d");
        assert_eq!(sentence("`a` and `b`"), "<code>a</code> and <code>b</code>");
        // A single backtick stays as it is.
        assert_eq!(sentence("5` <x>"), "5` &lt;x&gt;");
        assert_eq!(sentence("plain 5 %"), "plain 5&nbsp;%");
    }
}
