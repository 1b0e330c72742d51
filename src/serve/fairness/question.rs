//! The fairness form: from fields to a question, with mistakes at their fields.
//!
//! In: pairs of a form or of a shared address. Out: a [`Spec`], or the fields with mistakes. The
//! same pairs always give the same question, so an address contains the whole question.

use super::super::ask::{FILE_KEYS, Wrong};
use super::super::form::Pairs;
use super::super::lakes::Lakes;
use super::super::portal::Portal;
use super::super::queue::{Spec, Text};
use super::own::{self, Saved, TEXT_MAX};
use crate::fairness::indices::{self, BuiltIn};

/// Plain fields by topic; each is a flag of the command.
pub(in crate::serve) const GROUPS: [(&str, &[&str]); 2] = [
    ("Window", &["from", "days", "interval", "warm-up"]),
    ("Users or groups", &["by", "top", "same-users", "align"]),
];

/// Plain fields about what is charged, and when.
pub(in crate::serve) const CHARGED: [&str; 6] =
    ["cpu", "resource", "memory", "accrual", "open-attempts", "window-end"];

/// Plain fields about suggestions.
pub(in crate::serve) const LIMITS: [&str; 3] = ["ceiling", "early", "free"];

/// The field of an address for the message that an index was saved.
pub(in crate::serve) const KEPT: &str = "kept";

/// The field of accounts with shares.
pub(in crate::serve) const SHARES: &str = "shares";

/// The flag for lakes with clocks that are far apart: each lake begins at time 0.
pub(in crate::serve) const FROM_START: &str = "--align=start";

/// Largest number of indices in one question; each is a chart.
const INDICES_MAX: usize = 12;

/// Reads the fields; the error has all mistakes that can be found in one pass.
pub(in crate::serve) fn question(portal: &Portal, pairs: &Pairs) -> Result<Spec, Vec<Wrong>> {
    let mut wrong = Vec::new();
    let (mut lakes, mut are_apart) = (Vec::new(), false);
    wrong.extend(portal.lakes.unnamed(pairs.get("lake")).map(|said| Wrong::of("lake", said)));
    match portal.lakes.chosen(pairs.all("lake")) {
        Ok(chosen) => {
            are_apart = Lakes::are_apart(&chosen);
            lakes.extend(chosen.iter().map(|at| at.name.clone()));
        }
        Err(said) => wrong.push(Wrong::of("lake", said)),
    }
    let mut words = plain(portal, pairs).unwrap_or_else(|bad| {
        wrong.push(bad);
        Vec::new()
    });
    if are_apart && pairs.get("align").is_none() {
        words.push(FROM_START.to_owned());
    }
    let indices = built_in(pairs).unwrap_or_else(|bad| {
        wrong.extend(bad);
        Vec::new()
    });
    let mut count = indices.len();
    words.extend(indices.iter().map(|text| format!("--index={text}")));
    let mut files = Vec::new();
    if let Some(text) = pairs.get(SHARES) {
        if TEXT_MAX < text.len() {
            wrong.push(Wrong::of(SHARES, format!("it has more than {TEXT_MAX} bytes")));
        }
        let (field, flag) = ("your shares".to_owned(), "--accounts=".to_owned());
        files.push(Text { field, flag, content: text.replace("\r\n", "\n") });
    }
    match customs(portal, pairs) {
        Ok(customs) => {
            count += customs.len();
            for custom in customs {
                match custom {
                    own::Custom::Program(word) => words.push(word),
                    own::Custom::Text(text) => files.push(text),
                }
            }
        }
        Err(bad) => wrong.extend(bad),
    }
    if indices.is_empty() && 1 < count {
        // Custom indices alone do not show how much each user used.
        words.push("--index=metered".to_owned());
    }
    if INDICES_MAX < count {
        wrong.push(Wrong::of(
            "use",
            format!("{count} indices are selected: at most {INDICES_MAX} can be compared"),
        ));
    }
    if 1 < count || (count == 0 && files.iter().all(|file| file.flag == "--accounts=")) {
        words.push("--what-if".to_owned());
    }
    if words.iter().any(|word| word.starts_with("--index-program=")) {
        words.push(format!("--time-limit={}", portal.limits.time.as_secs()));
    }
    let page = format!("/fairness?{}", canonical(pairs).query());
    if wrong.is_empty() {
        Ok(Spec { command: "fairness".to_owned(), lakes, words, files, page })
    } else {
        Err(wrong)
    }
}

/// Whether a field only controls the form.
fn is_of_form(name: &str) -> bool {
    matches!(name, "form-token" | "action" | "replace" | "load" | KEPT)
}

/// The pairs of the question, without those that only control the form.
pub(in crate::serve) fn canonical(pairs: &Pairs) -> Pairs {
    let mut kept = Pairs::default();
    for (name, value) in pairs.filled().filter(|(name, _)| !is_of_form(name)) {
        kept.push(name, value);
    }
    kept
}

/// The flags of the plain fields.
fn plain(portal: &Portal, pairs: &Pairs) -> Result<Vec<String>, Wrong> {
    let groups = GROUPS.iter().flat_map(|(_, names)| names.iter());
    let names: Vec<&str> = groups.chain(&CHARGED).chain(&LIMITS).copied().collect();
    let own = |name: &str| {
        let special = matches!(name, "lake" | "use" | "saved" | SHARES);
        special
            || own::is_field(name)
            || name.strip_prefix("with-").is_some_and(is_built_in)
            || is_of_form(name)
    };
    let others = pairs.filled().filter(|(name, _)| !own(name));
    if let Some((name, _)) = others.clone().find(|(name, _)| !names.contains(name)) {
        let cut: String = name.chars().take(40).collect();
        return Err(Wrong { parameter: None, said: format!("no field is called `{cut}`") });
    }
    portal.asks.words("fairness", others)
}

fn is_built_in(name: &str) -> bool {
    BuiltIn::ALL.iter().any(|index| index.name() == name)
}

/// Parameters with lengths of time in seconds: `half_life_s=7d` becomes `half_life_s=604800`.
fn in_seconds(parameters: &str) -> String {
    let all = parameters.split(',').map(|one| {
        let pair = one.split_once('=');
        let seconds = pair
            .and_then(|(name, value)| Some((name, own::seconds_of(name.trim(), value.trim())?)));
        seconds.map_or_else(|| one.to_owned(), |(name, seconds)| format!("{name}={seconds}"))
    });
    all.collect::<Vec<String>>().join(",")
}

/// The selected built-in indices, with their parameters.
pub(in crate::serve) fn built_in(pairs: &Pairs) -> Result<Vec<String>, Vec<Wrong>> {
    let (mut texts, mut wrong) = (Vec::new(), Vec::new());
    for name in pairs.all("use") {
        if !is_built_in(name) {
            let cut: String = name.chars().take(40).collect();
            wrong.push(Wrong::of("use", format!("no index is called `{cut}`")));
            continue;
        }
        let field = format!("with-{name}");
        let text = match pairs.get(&field) {
            Some(with) => format!("{name}:{}", in_seconds(with.trim())),
            None => name.to_owned(),
        };
        if let Some(key) = FILE_KEYS.iter().find(|key| text.contains(**key)) {
            let said = format!("`{key}` names a file, and files cannot be named here");
            wrong.push(Wrong::of(&field, said));
        } else if let Err(error) = indices::parse(&text) {
            wrong.push(Wrong::of(&field, error.to_string()));
        } else {
            texts.push(text);
        }
    }
    if wrong.is_empty() { Ok(texts) } else { Err(wrong) }
}

/// The entered index, and the selected saved indices.
fn customs(portal: &Portal, pairs: &Pairs) -> Result<Vec<own::Custom>, Vec<Wrong>> {
    let mut customs = Vec::new();
    if own::is_entered(pairs) {
        customs.push(own::read(&portal.programs, pairs)?);
    }
    for id in pairs.all("saved") {
        let saved: Option<Saved> = portal.saved.get(id);
        let Some(saved) = saved else {
            return Err(vec![Wrong::of("saved", "this index is no longer saved")]);
        };
        let pairs = saved.pairs();
        let read = own::read(&portal.programs, &pairs);
        customs.push(read.map_err(|bad| {
            let said = bad.first().map(|bad| bad.said.clone()).unwrap_or_default();
            vec![Wrong::of("saved", format!("{}: {said}", saved.name))]
        })?);
    }
    Ok(customs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_parameters_may_have_units() {
        assert_eq!(in_seconds("half_life_s=7d,floor=0"), "half_life_s=604800,floor=0");
        assert_eq!(in_seconds("half_life_s=3600"), "half_life_s=3600");
        // Only parameters in seconds are lengths.
        assert_eq!(in_seconds("pool=1d,half_life_s=-1h"), "pool=1d,half_life_s=-1h");
    }
}
