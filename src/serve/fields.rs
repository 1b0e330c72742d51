//! Fields of forms, from the flags of commands.
//!
//! In: a parameter, its value and what is wrong with it. Out: a labelled field with its help and
//! the mistake beside it.

use maud::{Markup, html};

use super::ask::{Parameter, Takes, Wrong};
use super::form::Pairs;

/// A field for a parameter.
pub(super) fn field(parameter: &Parameter, pairs: &Pairs, wrong: &[Wrong]) -> Markup {
    let name = parameter.name.as_str();
    let given = pairs.get(name);
    let bad = said(wrong, name);
    html! {
        div class="field" {
            label for=(name) { (label(name)) }
            @match &parameter.takes {
                Takes::YesOrNo => select id=(name) name=(name) aria-describedby={ (name) "-help" } {
                    option value="" selected[given.is_none()] { "no" }
                    option value="yes" selected[given == Some("yes")] { "yes" }
                },
                Takes::Word(words) => select id=(name) name=(name) aria-describedby={ (name) "-help" } aria-invalid=[bad.is_some().then_some("true")] {
                    option value="" {
                        @match &parameter.default { Some(word) => { (word) " (default)" }, None => { "default" } }
                    }
                    @for (word, _) in words.iter().filter(|word| Some(&word.0) != parameter.default.as_ref()) {
                        option value=(word) selected[given == Some(word.as_str())] { (word) }
                    }
                },
                Takes::Text(unit) => input id=(name) name=(name) value=[given] placeholder=(parameter.default.as_deref().unwrap_or(&unit.to_lowercase()))
                    autocomplete="off" spellcheck="false" aria-describedby={ (name) "-help" } aria-invalid=[bad.is_some().then_some("true")];,
            }
            (problem(bad))
            p class="help" id={ (name) "-help" } { (in_a_form(&parameter.help)) }
        }
    }
}

/// What is wrong with a field.
pub(super) fn said<'a>(wrong: &'a [Wrong], name: &str) -> Option<&'a str> {
    wrong.iter().find(|bad| bad.parameter.as_deref() == Some(name)).map(|bad| bad.said.as_str())
}

/// What is wrong, if anything. Line breaks are kept, since a marker may be below a character.
pub(super) fn problem(said: Option<&str>) -> Markup {
    html! {
        @if let Some(said) = said {
            div class="wrong" role="alert" {
                @if said.contains('\n') { pre { (said) } } @else { (said) }
            }
        }
    }
}

/// The help of a flag with names of fields in place of flags: `Days before "From" that the indices
/// also use`.
fn in_a_form(help: &str) -> String {
    let word = |word: &str| {
        let flag = word.strip_prefix("--").filter(|rest| rest.starts_with(char::is_alphabetic));
        flag.map_or_else(
            || word.to_owned(),
            |flag| {
                let end = flag.find(|letter: char| !(letter.is_alphanumeric() || letter == '-'));
                let (name, rest) = flag.split_at(end.unwrap_or(flag.len()));
                format!("\"{}\"{rest}", label(name))
            },
        )
    };
    help.split(' ').map(word).collect::<Vec<String>>().join(" ")
}

/// The name of a field for readers.
fn label(name: &str) -> String {
    let words = name.replace('-', " ");
    match words.as_str() {
        "cpu" => "CPU time".to_owned(),
        _ => super::start::titled(&words),
    }
}

#[cfg(test)]
mod tests {
    use super::in_a_form;

    #[test]
    fn a_form_has_fields_and_no_flags() {
        for (help, said) in [
            (
                "Days before --from that the indices also use",
                "Days before \"From\" that the indices also use",
            ),
            ("Seeds, starting at --seed", "Seeds, starting at \"Seed\""),
            (
                "With --open-attempts=window, - and -- stay",
                "With \"Open attempts\"=window, - and -- stay",
            ),
        ] {
            assert_eq!(in_a_form(help), said);
        }
    }
}
