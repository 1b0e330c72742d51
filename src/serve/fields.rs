//! Fields of forms, from the flags of commands.
//!
//! In: a parameter, its value and what is wrong with it. Out: a labelled field with its help and, at
//! the place of the mistake, what is wrong.

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
                        @match &parameter.default { Some(word) => { (word) " (default)" }, None => { "by default" } }
                    }
                    @for (word, _) in words.iter().filter(|word| Some(&word.0) != parameter.default.as_ref()) {
                        option value=(word) selected[given == Some(word.as_str())] { (word) }
                    }
                },
                Takes::Text(unit) => input id=(name) name=(name) value=[given] placeholder=(parameter.default.as_deref().unwrap_or(&unit.to_lowercase()))
                    autocomplete="off" spellcheck="false" aria-describedby={ (name) "-help" } aria-invalid=[bad.is_some().then_some("true")];,
            }
            (problem(bad))
            p class="help" id={ (name) "-help" } { (parameter.help) }
        }
    }
}

/// What is wrong with a field.
pub(super) fn said<'a>(wrong: &'a [Wrong], name: &str) -> Option<&'a str> {
    wrong.iter().find(|bad| bad.parameter.as_deref() == Some(name)).map(|bad| bad.said.as_str())
}

/// What is wrong, if anything; lines stay lines, since a mark may stand below a letter.
pub(super) fn problem(said: Option<&str>) -> Markup {
    html! {
        @if let Some(said) = said {
            div class="wrong" role="alert" {
                @if said.contains('\n') { pre { (said) } } @else { (said) }
            }
        }
    }
}

/// The name of a field as it is read.
fn label(name: &str) -> String {
    let words = name.replace('-', " ");
    match words.as_str() {
        "cpu" => "CPU time".to_owned(),
        _ => super::start::titled(&words),
    }
}
