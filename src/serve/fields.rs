//! Fields of forms, from the flags of commands.
//!
//! In: a parameter, its value and what is wrong with it. Out: a labelled field with its help, and
//! with the mistake next to it.

use maud::{Markup, html};

use super::ask::{Parameter, Takes, Wrong};
use super::form::Pairs;

/// A field for a parameter, with examples to click below it.
pub(super) fn guided(
    parameter: &Parameter,
    pairs: &Pairs,
    wrong: &[Wrong],
    examples: &[(&str, &str)],
) -> Markup {
    let name = &parameter.name;
    html! {
        div class="guided" {
            (field(parameter, pairs, wrong))
            @if !examples.is_empty() {
                ul class="examples" aria-label={ "Examples for " (label(name)) } {
                    @for (value, meaning) in examples {
                        // Without the script the value can be copied.
                        li { button type="button" data-to=(name) data-put=(value) { (value) } " " (meaning) }
                    }
                }
            }
        }
    }
}

/// A field for a parameter.
pub(super) fn field(parameter: &Parameter, pairs: &Pairs, wrong: &[Wrong]) -> Markup {
    let name = parameter.name.as_str();
    let given = pairs.get(name);
    let bad = said(wrong, name);
    if name == "same-users" {
        return same_users(given, bad);
    }
    let described = described(name, true, bad);
    html! {
        div class="field" {
            label for=(name) { (label(name)) }
            @match &parameter.takes {
                Takes::YesOrNo => select id=(name) name=(name) aria-describedby=(described) {
                    option value="" selected[given.is_none()] { "no" }
                    option value="yes" selected[given == Some("yes")] { "yes" }
                },
                Takes::Word(words) => select id=(name) name=(name) aria-describedby=(described) aria-invalid=[bad.is_some().then_some("true")] {
                    option value="" {
                        @match &parameter.default { Some(word) => { (word) " (default)" }, None => { "default" } }
                    }
                    @for (word, _) in words.iter().filter(|word| Some(&word.0) != parameter.default.as_ref()) {
                        option value=(word) selected[given == Some(word.as_str())] { (word) }
                    }
                },
                Takes::Text(unit) => input id=(name) name=(name) value=[given] placeholder=(parameter.default.as_deref().unwrap_or(&unit.to_lowercase()))
                    autocomplete="off" spellcheck="false" aria-describedby=(described) aria-invalid=[bad.is_some().then_some("true")];,
            }
            (problem(name, bad))
            (help(parameter))
        }
    }
}

/// The help of a field. If the field takes one of some words, it has the meaning of each word.
fn help(parameter: &Parameter) -> Markup {
    let id = format!("{}-help", parameter.name);
    let text = in_a_form(&parameter.help);
    let words: &[(String, String)] = match &parameter.takes {
        Takes::Word(words) if words.iter().any(|word| !word.1.is_empty()) => words,
        _ => &[],
    };
    html! {
        @if words.is_empty() {
            p class="help" id=(id) { (text) }
        } @else {
            details class="help" {
                summary id=(id) { (text) }
                dl class="parameters" {
                    @for (word, meaning) in words { dt { (word) } dd { (in_a_form(meaning)) } }
                }
            }
        }
    }
}

/// The box for names that occur in two clusters. If it is ticked, they are two users; otherwise one
/// user.
fn same_users(given: Option<&str>, bad: Option<&str>) -> Markup {
    let name = "same-users";
    html! {
        div class="field" {
            label class="choice" {
                input id=(name) type="checkbox" name=(name) value="no" checked[given == Some("no")] aria-describedby=(described(name, true, bad));
                "Keep clusters apart"
            }
            (problem(name, bad))
            p class="help" id={ (name) "-help" } { "The same name in two clusters is then two users" }
        }
    }
}

/// The ids of the elements that describe a field: its help, and its mistake.
pub(super) fn described(name: &str, has_help: bool, bad: Option<&str>) -> String {
    let help = has_help.then(|| format!("{name}-help"));
    let wrong = bad.map(|_| format!("{name}-wrong"));
    help.into_iter().chain(wrong).collect::<Vec<String>>().join(" ")
}

/// What is wrong with a form, at the top of the page, with a link to each field. `labelled` gives
/// the label of a field that the form shows; its id is its name.
pub(super) fn summary(wrong: &[Wrong], labelled: impl Fn(&str) -> Option<String>) -> Markup {
    let first = |said: &str| said.lines().next().unwrap_or_default().to_owned();
    html! {
        @if !wrong.is_empty() {
            div class="mistakes" id="mistakes" role="alert" tabindex="-1" autofocus {
                p { "This could not be asked. Please correct:" }
                ul {
                    @for bad in wrong {
                        @let name = bad.parameter.as_deref().unwrap_or_default();
                        li {
                            @match labelled(name) {
                                Some(label) => { a href={ "#" (name) } { (label) } ": " (in_a_form(&first(&bad.said))) },
                                None => (in_a_form(&bad.said)),
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What is wrong with a field.
pub(super) fn said<'a>(wrong: &'a [Wrong], name: &str) -> Option<&'a str> {
    wrong.iter().find(|bad| bad.parameter.as_deref() == Some(name)).map(|bad| bad.said.as_str())
}

/// What is wrong with a field, if anything. Line breaks are kept, since a marker may be below a
/// character.
pub(super) fn problem(name: &str, said: Option<&str>) -> Markup {
    html! {
        @if let Some(said) = said {
            div class="wrong" id={ (name) "-wrong" } {
                @if said.contains('\n') { pre { (said) } } @else { (in_a_form(said)) }
            }
        }
    }
}

/// The help of a flag with names of fields in place of flags: `Days before "From" that the indices
/// also use`.
pub(super) fn in_a_form(help: &str) -> String {
    // A flag in backticks loses them, with its value if it has one.
    let mut is_quoted = false;
    let mut word = |word: &str| {
        let (begin, bare) = word.strip_prefix('(').map_or(("", word), |rest| ("(", rest));
        let quoted = bare.strip_prefix("`--").is_some();
        let flag = bare.trim_start_matches('`').strip_prefix("--");
        let flag = flag.filter(|rest| rest.starts_with(char::is_alphabetic));
        let mut shown = flag.map_or_else(
            || word.to_owned(),
            |flag| {
                is_quoted |= quoted;
                let end = flag.find(|letter: char| !(letter.is_alphanumeric() || letter == '-'));
                let (name, rest) = flag.split_at(end.unwrap_or(flag.len()));
                format!("{begin}\"{}\"{rest}", label(name))
            },
        );
        if is_quoted && shown.contains('`') {
            shown = shown.replacen('`', "", 1);
            is_quoted = false;
        }
        shown
    };
    help.split(' ').map(&mut word).collect::<Vec<String>>().join(" ")
}

/// A note of a command without hints about flags that no form has: `(--show users names them)`.
/// Other flags are named as fields.
pub(super) fn without_hints(note: &str, known: &[Parameter]) -> String {
    let mut kept = String::new();
    let mut rest = note;
    while let Some((before, hint)) = rest.split_once(" (--") {
        kept.push_str(before);
        let end = |letter: char| !(letter.is_alphanumeric() || letter == '-');
        let flag = hint.split(end).next().unwrap_or_default();
        rest = match hint.split_once(')') {
            Some((_, after)) if known.iter().all(|one| one.name != flag) => after,
            _ => {
                kept.push_str(" (--");
                hint
            }
        };
    }
    kept.push_str(rest);
    in_a_form(&kept)
}

/// The name of a field for readers.
pub(super) fn label(name: &str) -> String {
    let words = name.replace('-', " ");
    match words.as_str() {
        "cpu" => "CPU time".to_owned(),
        // The other "Cluster" of a form chooses where the history comes from.
        "cluster" => "Simulated cluster".to_owned(),
        "late" => "Late from".to_owned(),
        "what" => "What to describe".to_owned(),
        "tolerance s" => "Tolerance (s)".to_owned(),
        "tolerance share" => "Tolerance (share)".to_owned(),
        _ => super::start::titled(&words),
    }
}

#[cfg(test)]
mod tests {
    use super::{Parameter, Takes, in_a_form, without_hints};

    #[test]
    fn hints_about_flags_without_a_field_are_left_out() {
        let known = [Parameter {
            name: "accrual".to_owned(),
            help: String::new(),
            more: None,
            takes: Takes::YesOrNo,
            default: None,
            is_list: false,
        }];
        for (note, said) in [
            ("4 more users used 1 % (--show users names them)", "4 more users used 1 %"),
            ("a (--show x), b (c) (--accrual end)", "a, b (c) (\"Accrual\" end)"),
            ("a (--show", "a (\"Show\""),
            ("nothing", "nothing"),
        ] {
            assert_eq!(without_hints(note, &known), said);
        }
    }

    #[test]
    fn a_form_has_fields_and_no_flags() {
        for (help, said) in [
            (
                "Days before --from that the indices also use",
                "Days before \"From\" that the indices also use",
            ),
            ("Seeds, starting at --seed", "Seeds, starting at \"Seed\""),
            ("a `share` (`--cpu slots` can)", "a `share` (\"CPU time\" slots can)"),
            ("with `--seed`, `x` and (--seed)", "with \"Seed\", `x` and (\"Seed\")"),
            (
                "With --open-attempts=window, - and -- stay",
                "With \"Open attempts\"=window, - and -- stay",
            ),
        ] {
            assert_eq!(in_a_form(help), said);
        }
    }
}
