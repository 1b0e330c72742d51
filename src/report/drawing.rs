//! Charts as part of a page: SVG with only shapes and text.
//!
//! In: the text of an SVG file. Out: the same drawing as an element of a page. If it contains
//! anything active (scripts, links, styles), the result is empty, because a folder of results may
//! come from other people.

use super::text::escape;
use crate::charts::{dark, size_of, without_head};

/// Elements that drawings of this program use.
const ELEMENTS: [&str; 10] =
    ["svg", "g", "rect", "circle", "line", "path", "polyline", "polygon", "text", "title"];

/// Attributes of these elements.
const ATTRIBUTES: [&str; 36] = [
    "d",
    "x",
    "y",
    "x1",
    "y1",
    "x2",
    "y2",
    "cx",
    "cy",
    "r",
    "dx",
    "dy",
    "width",
    "height",
    "viewBox",
    "xmlns",
    "class",
    "fill",
    "opacity",
    "points",
    "stroke",
    "stroke-width",
    "stroke-dasharray",
    "stroke-linecap",
    "text-anchor",
    "font-family",
    "font-size",
    "font-weight",
    "transform",
    "data-since",
    "data-unit",
    "data-seconds",
    "data-across",
    "data-down",
    "data-from",
    "data-whole",
];

/// The drawing with a label for screen readers, without title and caption, which the page writes
/// next to it. `None` if the drawing is not plain.
pub(super) fn inline(svg: &str, label: &str) -> Option<String> {
    let svg = svg.trim();
    if !svg.starts_with("<svg ") || !svg.ends_with("</svg>") || !is_plain(svg) {
        return None;
    }
    let (body, [width, height]) = without_head(svg)?;
    let body = dark::in_steps(&body);
    let label = escape(label);
    Some(format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">{body}"
    ))
}

/// The same for a drawing that is too large to be part of the page: the file is linked, and the
/// page shows the part below its title and caption. `None` if this program did not write it.
pub(super) fn linked(svg: &str, file: &str, label: &str) -> Option<String> {
    if !is_plain(svg.trim()) {
        return None;
    }
    let [width, whole] = size_of(svg)?;
    let [_, height] = without_head(svg)?.1;
    let (file, label, above) = (escape(file), escape(label), height - whole);
    Some(format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">\
        <image href=\"{file}\" y=\"{above}\" width=\"{width}\" height=\"{whole}\"/></svg>"
    ))
}

/// Whether all elements and attributes are known, and all elements are closed.
fn is_plain(svg: &str) -> bool {
    let mut pieces = svg.split('<');
    if pieces.next() != Some("") {
        return false;
    }
    let mut open: Vec<&str> = Vec::new();
    for piece in pieces {
        let Some((tag, text)) = piece.split_once('>') else { return false };
        if text.contains('>') {
            return false;
        }
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return false;
            }
            continue;
        }
        let (tag, is_closed) =
            tag.strip_suffix('/').map_or((tag, false), |tag| (tag.trim_end(), true));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        if !ELEMENTS.contains(&name) || !are_known(attributes) {
            return false;
        }
        if !is_closed {
            open.push(name);
        }
    }
    open.is_empty()
}

/// Whether all attributes of a tag are known, with values in double quotes that link to nothing.
fn are_known(attributes: &str) -> bool {
    let mut pieces = attributes.split('"');
    loop {
        let name = pieces.next().unwrap_or_default();
        let Some(value) = pieces.next() else { return name.trim().is_empty() };
        let is_known = name.trim().strip_suffix('=').is_some_and(|name| ATTRIBUTES.contains(&name));
        if !is_known || value.contains("url(") {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::{
        Bar, BarChart, Chart, HOURS_OF_TRACE, Line, LineChart, Scale, Tone, outcome_tone, svg_of,
    };

    fn svg(label: &str) -> String {
        let bar = Bar {
            label: label.to_owned(),
            value: 1.0,
            note: "1".to_owned(),
            tone: outcome_tone("finished"),
            part: None,
        };
        let text = String::new;
        let chart =
            BarChart { title: text(), caption: text(), value_axis: text(), bars: vec![bar] };
        svg_of(&Chart::Bars(chart))
    }

    #[test]
    fn curves_stand_in_the_page() {
        // The name of an axis is turned.
        let text = String::new;
        let line = Line::steps("a".to_owned(), vec![(0.0, 1.0), (1.0, 2.0)], Tone::Blue);
        let chart = LineChart {
            title: text(),
            caption: text(),
            x_axis: "s".to_owned(),
            y_axis: "jobs".to_owned(),
            x_scale: Scale::Linear,
            y_from: 0.0,
            lines: vec![line],
        };
        let svg = svg_of(&Chart::Lines(chart.clone()));
        assert!(inline(&svg, "x").unwrap().contains("<title>a\ns: 1\njobs: 2</title>"));
        // Drawings of charts over time, with dates or without, are plain too.
        let timed = Chart::Lines(LineChart { x_axis: HOURS_OF_TRACE.to_owned(), ..chart });
        for (since_s, what) in
            [(None, "time (h): 1"), (Some(1.5e9), "time: 2017-07-14 03:40:00 UTC")]
        {
            let svg = svg_of(&timed.clone().over_time(Vec::new(), "", since_s));
            assert!(inline(&svg, "x").unwrap().contains(what), "{svg}");
        }
    }

    #[test]
    fn our_drawings_stand_in_the_page_whatever_names_they_hold() {
        for label in ["finished", "a<script>b</script> & \" onload=\"x", "'><img src=x>"] {
            let inline = inline(&svg(label), "bars <of> one").unwrap();
            assert!(inline.starts_with("<svg viewBox=\"0 0 840 "), "{label}");
            assert!(inline.contains("aria-label=\"bars &lt;of&gt; one\""));
            assert!(!inline.contains("<script") && !inline.contains("<img"), "{inline}");
        }
    }

    /// Promise: the page shows a linked drawing from below its title and caption on, and hides
    /// nothing else.
    #[test]
    fn a_linked_drawing_is_shown_below_its_title_and_caption() {
        let bar = |note: &str| Bar {
            label: "a".to_owned(),
            value: 1.0,
            note: note.to_owned(),
            tone: Tone::Blue,
            part: None,
        };
        let whole = |title: &str, caption: &str| {
            svg_of(&Chart::Bars(BarChart {
                title: title.to_owned(),
                caption: caption.to_owned(),
                value_axis: "jobs".to_owned(),
                bars: vec![bar("1"), bar("2")],
            }))
        };
        let number = |text: &str, name: &str| -> f64 {
            let (_, value) = text.split_once(&format!(" {name}=\"")).unwrap();
            value.split_once('"').unwrap().0.parse().unwrap()
        };
        let (titled, plain) =
            (whole("A title", "A caption of many words. ".repeat(9).as_str()), whole("", ""));
        let shown = linked(&titled, "charts/a.svg", "x").unwrap();
        let [_, below] = without_head(&titled).unwrap().1;
        let [width, height] = size_of(&titled).unwrap();
        assert!(shown.starts_with(&format!("<svg viewBox=\"0 0 {width} {below}\"")), "{shown}");
        let image = shown.split_once("<image").unwrap().1;
        assert_eq!([number(image, "width"), number(image, "height")], [width, height]);
        assert_eq!(number(image, "y"), below - height);
        // The same picture without title and caption has the height of the shown part.
        assert!((below - without_head(&plain).unwrap().1[1]).abs() < 1.0, "{below}");
    }

    #[test]
    fn what_could_act_stays_out() {
        let good = svg("finished");
        for bad in [
            good.replace("</svg>", "<script>alert(1)</script></svg>"),
            good.replace("<rect ", "<rect onload=\"alert(1)\" "),
            good.replace("<rect ", "<rect onload=alert(1) "),
            good.replace("<rect ", "<a href=\"x\"/><rect "),
            good.replace("<rect ", "<rect fill=\"url(x)\" "),
            good.replace("<rect ", "<style/><rect "),
            good.replace("</svg>", "<g></svg>"),
            good.replace("</svg>", "<!-- x --></svg>"),
            good.replace("<svg ", "<SVG "),
            "plain".to_owned(),
            String::new(),
        ] {
            assert_eq!(inline(&bad, "x"), None, "{bad}");
            assert_eq!(linked(&bad, "a.svg", "x"), None, "{bad}");
        }
    }
}
