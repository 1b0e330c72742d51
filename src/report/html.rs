//! Pages as text: escaping, tables, figures and the frame around them.

use std::fmt::Write;

use super::headings::heading;
use super::text::{escape, folded, instant, is_date, lasting, percent, sentence};
use super::{ReportError, drawing};
use crate::answers::labels::labels;
use crate::charts::{ChartFormat, size_of, size_of_png};
use crate::digits::{counted, four_digits, grouped, number_in};
use crate::results::{Picture, Stored};

/// The links at the head of every page.
pub(super) struct Navigation<'a> {
    /// File and title.
    pub pages: Vec<(&'a str, &'a str)>,
}

/// A page that is being written.
pub(super) struct Page {
    /// The file, relative to the folder of the report.
    pub file: String,
    /// The title, not escaped.
    pub title: String,
    /// The page whose link is marked as current.
    pub within: &'static str,
    /// The content of the page, as HTML.
    pub body: String,
}

impl Page {
    /// The path to the folder of the report, as seen from the page.
    fn root(&self) -> &'static str {
        if self.file.contains('/') { "../" } else { "" }
    }

    /// The whole page.
    pub(super) fn html(&self, navigation: &Navigation<'_>) -> String {
        let (root, title) = (self.root(), escape(&self.title));
        let mut links = String::new();
        for (file, name) in &navigation.pages {
            let current = if *file == self.within { " aria-current=\"page\"" } else { "" };
            let _ =
                write!(links, "<li><a href=\"{root}{file}\"{current}>{}</a></li>", escape(name));
        }
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title} - jobfate</title>\n<link rel=\"stylesheet\" href=\"{root}style.css\">\n\
             <link rel=\"icon\" href=\"data:,\">\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#main\">Skip to the content</a>\n\
             <nav aria-label=\"Pages of the report\"><ul>{links}</ul></nav>\n\
             <main id=\"main\">\n<h1>{title}</h1>\n{}</main>\n\
             <footer><p>Written by {}. The CSV file of a table has its numbers with all digits.</p></footer>\n\
             <script src=\"{root}script.js\"></script>\n</body>\n</html>\n",
            self.body,
            escape(crate::PROGRAM),
        )
    }
}

/// Names of at most this many bytes are never broken over lines.
const SHORT: usize = 16;

/// A cell of a table: its text as HTML, and the number to sort by.
#[derive(Clone)]
pub(crate) struct Cell {
    html: String,
    number: Option<f64>,
    /// Its interval and unit for scripts, as attributes.
    beside: String,
}

impl Cell {
    fn shown(html: String, number: Option<f64>) -> Self {
        Self { html, number, beside: String::new() }
    }

    /// What it shows, as HTML.
    pub(crate) fn html(&self) -> &str {
        &self.html
    }

    /// A number with its thousands separated; other text as a name.
    pub(crate) fn of(text: &str) -> Self {
        let number = number_in(text).filter(|number| number.is_finite());
        let html = match (number, text.parse::<u64>()) {
            // Whole numbers may also be ids, so they keep all digits.
            (Some(_), Ok(whole)) => grouped(whole),
            (Some(number), _) => four_digits(number),
            (None, _) => return Self::name(text),
        };
        Self::shown(html, number)
    }

    /// A number with four significant digits; the CSV file has all of them.
    pub(crate) fn rounded(number: f64) -> Self {
        let html = if number.is_finite() { four_digits(number) } else { String::new() };
        Self::shown(html, Some(number).filter(|number| number.is_finite()))
    }

    /// CPU, GPU or memory time given in seconds and shown in hours. The CSV file has seconds, and
    /// the column is sorted by them.
    pub(crate) fn hours(seconds: f64) -> Self {
        Self::in_units_of(seconds, 3600.0)
    }

    /// A number of the CSV file, shown in a unit that is `per` times as large. The column is sorted
    /// by the number of the file.
    pub(crate) fn in_units_of(number: f64, per: f64) -> Self {
        Self { number: Self::rounded(number).number, ..Self::rounded(number / per) }
    }

    /// A share, shown in percent; the CSV file has the fraction. Other text is treated as in `of`.
    pub(crate) fn share(text: &str) -> Self {
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        number.map_or_else(|| Self::of(text), |share| Self::shown(percent(share), number))
    }

    /// The chance of a test: a very small one is not shown as 0.
    pub(crate) fn chance(text: &str) -> Self {
        match text.parse::<f64>() {
            Ok(chance) if chance < 0.0001 => Self::shown("&lt; 0.0001".to_owned(), Some(chance)),
            _ => Self::of(text),
        }
    }

    /// A number with three decimals, for measures between 0 and 1.
    pub(crate) fn measure(text: &str) -> Self {
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        number.map_or_else(|| Self::of(text), |own| Self::shown(format!("{own:.3}"), number))
    }

    /// The same cell for a value that is only a lower bound.
    pub(crate) fn at_least(self) -> Self {
        Self { html: format!("≥&nbsp;{}", self.html), ..self }
    }

    /// The same cell with the bounds of the interval of its value. An interval of one value is not
    /// shown.
    pub(crate) fn between(self, low: &Self, high: &Self) -> Self {
        let mut beside = self.beside;
        for (name, bound) in [("low", low.number), ("high", high.number)] {
            let _ = bound.map(|bound| write!(beside, " data-{name}=\"{bound}\""));
        }
        let html = if low.number == high.number {
            self.html
        } else {
            format!("{} <span class=\"interval\">{} to {}</span>", self.html, low.html, high.html)
        };
        Self { html, beside, number: self.number }
    }

    /// Whether it shows an interval.
    pub(crate) fn has_interval(&self) -> bool {
        self.html.contains("<span class=\"interval\">")
    }

    /// The same cell with the unit of its value. The unit is not repeated if the text already has
    /// it.
    pub(crate) fn in_unit(self, unit: &str, shown: &str) -> Self {
        let html =
            if shown.is_empty() { self.html } else { format!("{} {}", self.html, escape(shown)) };
        Self { html, number: self.number, beside: format!(" data-unit=\"{}\"", escape(unit)) }
    }

    /// A day of the trace clock, counted from 0: a date if the clock counts from 1970.
    pub(crate) fn day(text: &str) -> Self {
        const SECONDS: f64 = 86_400.0;
        let number = text.parse::<f64>().ok().filter(|day| is_date(day * SECONDS));
        let date = number.map(|day| instant(day * SECONDS));
        match date.as_deref().and_then(|date| date.split(' ').next()) {
            Some(date) => Self::shown(escape(date), number),
            None => Self::of(text),
        }
    }

    /// A length of time in words, sorted by its seconds; empty if unknown.
    pub(crate) fn lasting(seconds: Option<f64>) -> Self {
        Self::shown(seconds.map_or_else(String::new, lasting), seconds)
    }

    /// An instant of the trace, sorted by its seconds; empty if unknown.
    pub(crate) fn instant(seconds: Option<f64>) -> Self {
        Self::shown(seconds.map_or_else(String::new, instant), seconds)
    }

    /// A name, which is never shown as a number.
    pub(crate) fn name(text: &str) -> Self {
        let html = escape(text);
        // A browser would break `65-256` at the hyphen.
        let is_short = text.len() <= SHORT && text.contains(['-', ' ']);
        let html = if is_short { format!("<span class=\"short\">{html}</span>") } else { html };
        Self::shown(html, None)
    }

    /// The name of a policy, which may break after each of its parts.
    pub(crate) fn policy(name: &str) -> Self {
        Self::shown(escape(name).replace('+', "+<wbr>"), None)
    }

    /// A short form of a name, with the whole name as tooltip. Filters and downloads use the whole
    /// name.
    pub(crate) fn short_of(name: &str, short: &str) -> Self {
        if name == short {
            return Self::name(name);
        }
        let html = format!("<span title=\"{}\">{}</span>", escape(name), escape(short));
        Self::shown(html, None).standing_for(name)
    }

    /// A short form of a name with a link to its page.
    pub(crate) fn short_link(name: &str, short: &str, href: &str) -> Self {
        let link = Self::link(short, href);
        if name == short { link } else { link.standing_for(name) }
    }

    fn standing_for(self, name: &str) -> Self {
        Self { beside: format!(" data-name=\"{}\"", escape(name)), ..self }
    }

    /// A name with a link to its page.
    pub(crate) fn link(text: &str, href: &str) -> Self {
        Self::shown(format!("<a href=\"{}\">{}</a>", escape(href), escape(text)), None)
    }
}

/// A table that can be sorted and filtered. Its columns have the names that they have in files.
pub(crate) fn table(caption: &str, columns: &[String], rows: &[Vec<Cell>]) -> String {
    named_table(caption, columns, heading, rows)
}

/// The same with other headings.
pub(crate) fn named_table(
    caption: &str,
    columns: &[String],
    heading: impl Fn(&str) -> String,
    rows: &[Vec<Cell>],
) -> String {
    let headings = columns.iter().map(|column| heading(column)).collect();
    marked_table(caption, &Header { columns, headings, class: "data" }, rows, &[])
}

/// A table with a row per measure. The rows have different units, so it cannot be sorted.
pub(super) fn table_of_measures(caption: &str, columns: &[String], rows: &[Vec<Cell>]) -> String {
    let header = Header { columns, headings: columns.to_vec(), class: "data measures" };
    marked_table(caption, &header, rows, &[])
}

/// The columns of a table: their names in the file, and their headings.
struct Header<'a> {
    columns: &'a [String],
    headings: Vec<String>,
    /// The class of the table, by which scripts find it.
    class: &'static str,
}

/// Longer headings are cut in the middle, and have the whole heading as tooltip; in letters.
const HEADING_MAX: usize = 60;

/// A table in which some rows are folded, because they show that nothing happened.
pub(super) fn table_with_idle(
    caption: &str,
    columns: &[String],
    heading: impl Fn(&str) -> String,
    rows: &[Vec<Cell>],
    idle: &[bool],
) -> String {
    let count = idle.iter().filter(|is_idle| **is_idle).count();
    let headings = columns.iter().map(|column| heading(column)).collect();
    let table = marked_table(caption, &Header { columns, headings, class: "data" }, rows, idle);
    format!(
        "<div class=\"idles\"><label class=\"filter\"><input type=\"checkbox\"> Show the {} \
         without effect</label>\n{table}</div>\n",
        counted(count as u64, "row")
    )
}

fn marked_table(caption: &str, header: &Header<'_>, rows: &[Vec<Cell>], idle: &[bool]) -> String {
    let mut text = format!(
        "<div class=\"table\"><table class=\"{}\"><caption>{}</caption><thead><tr>",
        header.class,
        escape(caption)
    );
    let shown = labels(&header.headings, HEADING_MAX);
    let names = header.columns.iter().zip(&header.headings).zip(shown);
    for (column, ((name, whole), said)) in names.enumerate() {
        // The header of a column with numbers is aligned in the same way as the numbers.
        let mut cells = rows.iter().filter_map(|row| row.get(column));
        let class = if cells.any(|cell| cell.number.is_some()) { " class=\"number\"" } else { "" };
        let is_whole = said == *whole;
        let title = if is_whole { String::new() } else { format!(" title=\"{}\"", escape(whole)) };
        // Scripts find a column by its name in the file. A browser would break `NCU-h` at its
        // hyphen.
        let (name, said) = (escape(name), escape(&said.replace("-h)", "\u{2011}h)")));
        let _ = write!(text, "<th scope=\"col\" data-column=\"{name}\"{class}{title}>{said}</th>");
    }
    text.push_str("</tr></thead><tbody>\n");
    for (idx, row) in rows.iter().enumerate() {
        let is_idle = idle.get(idx) == Some(&true);
        text.push_str(if is_idle { "<tr class=\"idle\">" } else { "<tr>" });
        for cell in row {
            let _ = match cell.number {
                Some(number) => {
                    let Cell { html, beside, .. } = cell;
                    write!(text, "<td data-value=\"{number}\"{beside}>{html}</td>")
                }
                None => write!(text, "<td>{}</td>", cell.html),
            };
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody></table></div>\n");
    text
}

/// A drawing with more bytes is linked as a file instead of being part of the page. A linked
/// drawing does not follow the window of time. The limit is lower on the first page, which shows
/// charts of other pages a second time. Charts over time of a month by user or outcome are below
/// both limits. The same is true for all events of a month.
const INLINE_MAX: usize = 160 << 10;
const INLINE_MAX_FIRST: usize = 80 << 10;

/// A chart of a result with its caption and links to its files. On the first page, fewer drawings
/// are part of the page.
pub(crate) fn figure(
    chart: Picture<'_>,
    of: &Stored,
    root: &str,
    on_first: bool,
) -> Result<String, ReportError> {
    let result = escape(&of.name);
    let (file, title, caption) = (escape(chart.file), escape(chart.title), escape(chart.caption));
    let formats = formats(chart, of);
    let has = |format| formats.contains(&format);
    let mut drawing = None;
    if has(ChartFormat::Svg) || formats.is_empty() {
        let svg = of.svg(chart)?;
        let most = if on_first { INLINE_MAX_FIRST } else { INLINE_MAX };
        let label = format!("{}. {}", chart.title, chart.caption);
        if svg.len() <= most {
            drawing = drawing::inline(&svg, &label);
        }
        if drawing.is_none() && has(ChartFormat::Svg) {
            drawing = drawing::linked(&svg, &format!("{root}charts/{file}.svg"), &label);
        }
    }
    let linked = [ChartFormat::Svg, ChartFormat::Png].into_iter().find(|format| has(*format));
    let picture = match (drawing, linked) {
        (Some(drawing), _) => drawing,
        // A drawing that may not have been written by this program is linked unchanged.
        (None, Some(format)) => {
            let size = match format {
                ChartFormat::Png => png_size(chart, of)?,
                _ => size_of(&of.svg(chart)?),
            };
            format!(
                "<img src=\"{root}charts/{file}.{}\" alt=\"{title}. {caption}\"{}>",
                format.ending(),
                measures(size)
            )
        }
        (None, None) => String::new(),
    };
    let files = formats.iter().map(|format| {
        let ending = format.ending();
        format!("<a href=\"{root}charts/{file}.{ending}\">{}</a>", ending.to_uppercase())
    });
    let (shown, rest) = folded(chart.caption);
    let rest = if rest.is_empty() { String::new() } else { more_of(&sentence(rest)) };
    let head = format!("<b>{title}.</b> {}{rest}", sentence(shown));
    Ok(format!(
        "<figure class=\"chart\">{picture}\
         <figcaption>{head} <span class=\"source\">Picture: {}; \
         data: <a href=\"{root}data/{result}.csv\">CSV</a>, \
         <a href=\"{root}data/{result}.parquet\">Parquet</a>{}</span>\
         </figcaption></figure>\n",
        files.collect::<Vec<String>>().join(", "),
        if of.is_small() {
            format!(", <a href=\"{root}data/{result}.json\">JSON</a>")
        } else {
            String::new()
        }
    ))
}

/// The rest of a caption as a folded part; `text` is HTML.
fn more_of(text: &str) -> String {
    format!("<details><summary>Details</summary>{text}</details>")
}

/// Width of a linked picture on a page, CSS pixels.
const SHOWN_WIDTH: f64 = 840.0;

/// The size attributes of a picture, so that the page reserves its space before the picture is
/// loaded.
fn measures(size: Option<[f64; 2]>) -> String {
    match size {
        Some([width, height]) if 0.0 < width => {
            let height = (SHOWN_WIDTH * height / width).round();
            format!(" width=\"{SHOWN_WIDTH}\" height=\"{height}\"")
        }
        _ => format!(" width=\"{SHOWN_WIDTH}\""),
    }
}

/// Width and height of the PNG of a chart, pixels.
fn png_size(chart: Picture<'_>, of: &Stored) -> Result<Option<[f64; 2]>, ReportError> {
    let path = of.path_of(&format!("{}.{}", chart.file, ChartFormat::Png.ending()))?;
    let bytes = std::fs::read(&path).map_err(|cause| ReportError::io(&path, cause))?;
    Ok(size_of_png(&bytes))
}

/// The formats of a chart that a report copies; PNG is copied only if there is no SVG.
pub(super) fn formats(chart: Picture<'_>, of: &Stored) -> Vec<ChartFormat> {
    let mut formats = of.formats(chart);
    if formats.contains(&ChartFormat::Svg) {
        formats.retain(|format| *format != ChartFormat::Png);
    }
    formats
}

/// A chart that only this page shows.
pub(super) fn drawn(svg: &str, title: &str) -> String {
    let drawing = drawing::inline(svg, title).unwrap_or_default();
    format!("<figure class=\"chart drawn\">{drawing}</figure>\n")
}

/// A list of names and their values.
pub(super) fn facts<'a>(pairs: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut text = String::from("<dl class=\"facts\">\n");
    for (name, value) in pairs {
        let _ = writeln!(text, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(&value));
    }
    text.push_str("</dl>\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_keeps_the_whole_one_for_filters_and_downloads() {
        let whole = " data-name=\"abc\"";
        assert_eq!(Cell::short_link("abc", "a…", "u.html").beside, whole);
        assert_eq!(Cell::short_of("abc", "a…").beside, whole);
        assert_eq!(Cell::short_link("abc", "abc", "u.html").beside, "");
    }

    #[test]
    fn nothing_in_a_name_is_markup() {
        assert_eq!(
            escape("<script>alert('x' & \"y\")</script>\u{7}"),
            "&lt;script&gt;alert(&#39;x&#39; &amp; &quot;y&quot;)&lt;/script&gt;\\u{7}"
        );
        let cell = Cell::link("a\"b", "users/1.html\" onclick=\"x");
        assert!(!cell.html.contains("\" onclick"), "{}", cell.html);
    }

    #[test]
    fn long_headings_are_cut_and_stay_apart() {
        let long = |end: &str| format!("<b>{}{}{end}", "an index of ".repeat(9), "z".repeat(40));
        let columns = [long("one"), long("two"), "user".to_owned()];
        let html = named_table("x", &columns, str::to_owned, &[]);
        assert!(!html.contains("<b>") && html.matches(" title=\"&lt;b&gt;an index").count() == 2);
        let shown: Vec<&str> =
            html.split("<th ").skip(1).map(|rest| rest.split(['>', '<']).nth(1).unwrap()).collect();
        assert_ne!(shown[0], shown[1]);
        assert!(shown[0].chars().count() < 80 && shown[2] == "user", "{shown:?}");
    }

    #[test]
    fn a_linked_picture_keeps_its_place_before_it_is_loaded() {
        assert_eq!(measures(Some([420.0, 300.0])), " width=\"840\" height=\"600\"");
        assert_eq!(measures(None), " width=\"840\"");
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend([0, 0, 4, 0xf3, 0, 0, 2, 0]);
        assert_eq!(size_of_png(&png), Some([1267.0, 512.0]));
        assert_eq!(size_of_png(b"GIF89a"), None);
        assert_eq!(size_of("<svg x=\"1\" width=\"840\" height=\"331.5\">"), Some([840.0, 331.5]));
    }

    #[test]
    fn numbers_are_read_and_names_are_not() {
        for (text, html, is_number) in [
            ("2012242", "2,012,242", true),
            ("0.573721", "0.5737", true),
            ("49.4370", "49.44", true),
            ("8.97157e-6", "8.972e-6", true),
            ("-5.5", "-5.5", true),
            ("014", "014", false),
            ("nan", "nan", false),
            ("a<b", "a&lt;b", false),
            ("", "", false),
        ] {
            let cell = Cell::of(text);
            assert_eq!((cell.html.as_str(), cell.number.is_some()), (html, is_number), "{text}");
        }
        assert_eq!(Cell::name("014").html, "014");
        assert_eq!(Cell::chance("0").html, "&lt; 0.0001");
        assert_eq!(Cell::chance("0.09319").html, "0.09319");
    }
}
