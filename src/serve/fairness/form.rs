//! The fairness form as markup.

use maud::{Markup, html};

use super::own::{self, FORMULA, KIND, NAME, PROGRAM, TEMPLATE, gap};
use super::{CHARGED, GROUPS, LIMITS, SHARES};
use crate::answers::fairness::meaning_of_index;
use crate::digits::lasting;
use crate::fairness::formula::NUMBERS;
use crate::fairness::indices::BuiltIn;
use crate::fairness::template::TEMPLATES;
use crate::serve::ask::{Parameter, Wrong};
use crate::serve::fields::{described, field, label, problem, said, summary};
use crate::serve::form::{Pairs, encoded};
use crate::serve::pages::Reader;
use crate::serve::portal::Portal;

/// The form with the entered values and what is wrong with them.
pub(super) fn form(portal: &Portal, reader: &Reader, pairs: &Pairs, wrong: &[Wrong]) -> Markup {
    let known = portal.asks.parameters("fairness");
    let own = |names: &[&str]| -> Vec<Parameter> {
        let find = |name: &&str| known.iter().find(|one| one.name == **name).cloned();
        names.iter().filter_map(find).collect()
    };
    html! {
        form class="ask" method="post" action="/fairness" {
            (reader.token())
            fieldset id="lake" tabindex="-1" {
                legend { "Clusters" }
                (problem("lake", said(wrong, "lake")))
                div class="choices" {
                    @for (place, at) in portal.lakes.all().iter().enumerate() {
                        @let is_first = place == 0 && pairs.get("lake").is_none() && said(wrong, "lake").is_none();
                        label class="choice" {
                            input type="checkbox" name="lake" value=(at.name) checked[is_first || pairs.all("lake").any(|name| name == at.name)];
                            (at.name)
                        }
                    }
                }
            }
            (indices(pairs, wrong))
            (entered(portal, pairs, wrong))
            (saved(portal, pairs, wrong))
            @for (title, names) in GROUPS {
                fieldset {
                    legend { (title) }
                    div class="fields" { @for one in own(names) { (field(&one, pairs, wrong)) } }
                }
            }
            (entitlement(pairs, wrong))
            details class="advanced" open[is_filled(&CHARGED, pairs, wrong)] {
                summary { "Advanced: what is charged, and when" }
                div class="fields" { @for one in own(&CHARGED) { (field(&one, pairs, wrong)) } }
            }
            details open[is_filled(&LIMITS, pairs, wrong)] {
                summary { "Limits of suggestions" }
                div class="fields" { @for one in own(&LIMITS) { (field(&one, pairs, wrong)) } }
            }
            div class="buttons" {
                button name="action" value="evaluate" { "Evaluate" }
                button class="second" name="action" value="save" { "Save my index" }
            }
        }
    }
}

/// Whether a folded field has a value or a mistake, so that it must be shown.
fn is_filled(names: &[&str], pairs: &Pairs, wrong: &[Wrong]) -> bool {
    names.iter().any(|name| pairs.get(name).is_some() || said(wrong, name).is_some())
}

/// What is wrong, at the top of the page.
pub(super) fn mistakes(portal: &Portal, wrong: &[Wrong]) -> Markup {
    let known = portal.asks.parameters("fairness");
    summary(wrong, |name| {
        let fixed = match name {
            "lake" => "Clusters",
            "use" => "Indices",
            "saved" => "Saved indices",
            SHARES => "Entitlement",
            KIND => "Your own index",
            NAME => "Name of your own index",
            TEMPLATE => "Template",
            FORMULA => "Formula",
            PROGRAM => "Program",
            _ => "",
        };
        if !fixed.is_empty() {
            return Some(fixed.to_owned());
        }
        if let Some(index) = name.strip_prefix("with-") {
            return Some(format!("Parameters of {index}"));
        }
        let of_template = TEMPLATES.iter().find_map(|template| {
            let mut all = template.parameters.iter();
            let found = all.find(|parameter| gap(template.name, parameter.0) == name)?;
            Some(format!("{} of the template {}", found.0, template.name))
        });
        of_template.or_else(|| known.iter().any(|one| one.name == name).then(|| label(name)))
    })
}

fn entitlement(pairs: &Pairs, wrong: &[Wrong]) -> Markup {
    let bad = said(wrong, SHARES);
    html! {
        details open[pairs.get(SHARES).is_some() || bad.is_some()] {
            summary { "Entitlement: accounts with shares" }
            div class="field" {
                label for=(SHARES) { "One account or user per line: " code { "ACCOUNT/USER SHARES" } }
                textarea id=(SHARES) name=(SHARES) rows="4" spellcheck="false" aria-describedby=(described(SHARES, true, bad)) aria-invalid=[bad.is_some().then_some("true")] { (pairs.get(SHARES).unwrap_or_default()) }
                (problem(SHARES, bad))
                p class="help" id={ (SHARES) "-help" } { "Used by slurm, fair-tree and sge, and as the entitlements of " (BuiltIn::measures()) ". By default each group of the log has one share." }
            }
        }
    }
}

/// The built-in indices by group, in the order of their list.
fn index_groups() -> Vec<(&'static str, Vec<BuiltIn>)> {
    let mut groups: Vec<(&str, Vec<BuiltIn>)> = Vec::new();
    for index in BuiltIn::ALL {
        match groups.iter_mut().find(|group| group.0 == index.group()) {
            Some(group) => group.1.push(index),
            None => groups.push((index.group(), vec![index])),
        }
    }
    groups
}

fn indices(pairs: &Pairs, wrong: &[Wrong]) -> Markup {
    html! {
        fieldset id="use" tabindex="-1" {
            legend { "Indices" }
            (problem("use", said(wrong, "use")))
            p class="help" { "Select several to compare them. If none is selected, metered is compared with condor at half-lives of 6 hours, a day and a week." }
            @for (title, those) in index_groups() {
                p class="group" { (title) }
                div class="fields" {
                    @for index in those { (index_field(index, pairs, wrong)) }
                }
            }
        }
    }
}

/// The box of an index; its parameters are shown once it is ticked.
fn index_field(index: BuiltIn, pairs: &Pairs, wrong: &[Wrong]) -> Markup {
    let name = index.name();
    let meaning = meaning_of_index(name).unwrap_or_default();
    let with = format!("with-{name}");
    let bad = said(wrong, &with);
    let is_given = bad.is_some() || pairs.get(&with).is_some();
    let usual = usual(index);
    html! {
        div class="field index" {
            label class="choice" {
                input type="checkbox" name="use" value=(name) checked[pairs.all("use").any(|one| one == name)];
                span { b { (name) } ": " (meaning) }
            }
            @if let Some(usual) = usual {
                div class={ "with" @if is_given { " given" } } {
                    input id=(with) name=(with) value=[pairs.get(&with)] aria-label={ "Parameters of " (name) } placeholder="KEY=VALUE,..."
                        autocomplete="off" spellcheck="false" aria-describedby=(described(&with, true, bad)) aria-invalid=[bad.is_some().then_some("true")];
                    (problem(&with, bad))
                    p class="help usual" id={ (with) "-help" } { (usual) }
                }
            }
        }
    }
}

/// The default parameters of an index, with lengths of time in words; `None` if it has none.
fn usual(index: BuiltIn) -> Option<String> {
    let text = index.usual().to_string();
    let (_, with) = text.split_once(':')?;
    let said = with.split(',').map(|one| {
        let seconds = one
            .split_once("_s=")
            .and_then(|(name, value)| Some((name, value.parse::<f64>().ok()?)))
            .filter(|(name, _)| !name.contains("cpu"));
        match seconds {
            Some((_, seconds)) => format!("{one} ({})", lasting(seconds)),
            None => one.to_owned(),
        }
    });
    Some(format!("By default {}", said.collect::<Vec<String>>().join(", ")))
}

/// The fields of a custom index, entered in one of three ways.
fn entered(portal: &Portal, pairs: &Pairs, wrong: &[Wrong]) -> Markup {
    let kind = pairs.get(KIND).unwrap_or("none");
    let bad = |name: &str| said(wrong, name);
    let choose = |value: &str, text: &str| {
        html! {
            label class="choice" {
                input type="radio" name=(KIND) value=(value) checked[kind == value];
                (text)
            }
        }
    };
    html! {
        fieldset class="own" {
            legend { "Your own index" }
            div class="choices" id=(KIND) tabindex="-1" {
                (choose("none", "none")) (choose("template", "from a template"))
                (choose("formula", "as a formula")) (choose("program", "as a program"))
            }
            (problem(KIND, bad(KIND)))
            div class="field" {
                label for=(NAME) { "Name" }
                input id=(NAME) name=(NAME) value=[pairs.get(NAME)] maxlength="60" autocomplete="off" aria-describedby=[bad(NAME).map(|_| format!("{NAME}-wrong"))] aria-invalid=[bad(NAME).is_some().then_some("true")];
                (problem(NAME, bad(NAME)))
            }
            (templates(pairs, wrong))
            fieldset data-of="formula" {
                legend { "Formula" }
                div class="field" {
                    textarea id=(FORMULA) name=(FORMULA) rows="7" spellcheck="false" aria-label="Formula" aria-describedby=[bad(FORMULA).map(|_| format!("{FORMULA}-wrong"))] aria-invalid=[bad(FORMULA).is_some().then_some("true")]
                        placeholder="state level = 0\nupdate level = level * 0.5 ^ (dt / 86400) + usage\ndisplay level" { (pairs.get(FORMULA).unwrap_or_default()) }
                    (problem(FORMULA, bad(FORMULA)))
                    details {
                        summary { "Statements and names" }
                        p class="help" {
                            code { "state NAME = X" } ", " code { "update NAME = X" } ", " code { "display [NAME =] X" } ", "
                            code { "let NAME = X" } ", " code { "heavier larger|smaller" } "; " code { "sum(X)" } " over machines, "
                            code { "all(X)" } " over users, " code { "if(C, X, Y)" } "."
                        }
                        dl class="parameters" { @for (name, _, about) in NUMBERS { dt { code { (name) } } dd { (about) } } }
                    }
                }
            }
            fieldset data-of="program" {
                legend { "Program" }
                div class="field" {
                    select id=(PROGRAM) name=(PROGRAM) aria-label="Program" aria-describedby=[bad(PROGRAM).map(|_| format!("{PROGRAM}-wrong"))] {
                        @if portal.programs.is_empty() { option value="" { "the operator offers no program" } }
                        @for (name, _) in &portal.programs {
                            option value=(name) selected[pairs.get(PROGRAM) == Some(name)] { (name) }
                        }
                    }
                    (problem(PROGRAM, bad(PROGRAM)))
                    p class="help" { "Programs are chosen by name; only the operator of this portal can add one." }
                }
            }
        }
    }
}

fn templates(pairs: &Pairs, wrong: &[Wrong]) -> Markup {
    let filled = TEMPLATES.iter().filter(|template| !template.formula.is_empty());
    let chosen = pairs.get(TEMPLATE).unwrap_or("decay");
    html! {
        fieldset data-of="template" id=(TEMPLATE) tabindex="-1" {
            legend { "Template" }
            (problem(TEMPLATE, said(wrong, TEMPLATE)))
            @for template in filled {
                div class="template" {
                    label class="choice" {
                        input type="radio" name=(TEMPLATE) value=(template.name) checked[chosen == template.name];
                        span { b { (template.name) } ": " (template.meaning) }
                    }
                    div class="fields" {
                        @for (parameter, default, meaning) in template.parameters {
                            @let name = gap(template.name, parameter);
                            @let bad = said(wrong, &name);
                            div class="field" {
                                label for=(name) { (parameter) }
                                input id=(name) name=(name) value=[pairs.get(&name)] placeholder=(default) inputmode="decimal" autocomplete="off"
                                    aria-describedby=(described(&name, true, bad)) aria-invalid=[bad.is_some().then_some("true")];
                                (problem(&name, bad))
                                p class="help" id={ (name) "-help" } {
                                    (meaning)
                                    @if parameter.ends_with("_s") { ", as a number of seconds, or as 12h or 7d" }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The saved indices.
fn saved(portal: &Portal, pairs: &Pairs, wrong: &[Wrong]) -> Markup {
    let all = portal.saved.all();
    let ticked: Vec<&str> = pairs.all("saved").collect();
    html! {
        @if !all.is_empty() || said(wrong, "saved").is_some() {
            fieldset id="saved" tabindex="-1" {
                legend { "Saved indices" }
                (problem("saved", said(wrong, "saved")))
                div class="choices" {
                    @for (id, saved) in &all {
                        label class="choice" {
                            input type="checkbox" name="saved" value=(id) checked[ticked.contains(&id.as_str())];
                            span { (saved.name) " (" (saved.kind()) ") " a href={ "/fairness?load=" (encoded(id)) } { "edit" } }
                        }
                    }
                }
                label class="choice" {
                    input type="checkbox" name="replace" value="yes";
                    "Replace the saved index of the same name"
                }
            }
        }
        @if own::is_entered(pairs) && all.is_empty() {
            p class="help" { "A saved index can be selected together with others. Everyone who can open this portal can load it." }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_parameters_are_in_words() {
        let said = usual(BuiltIn::Condor).unwrap();
        assert!(said.contains("half_life_s=86400 (24 h)"), "{said}");
    }
}
