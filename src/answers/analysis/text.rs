//! The values of the file of an analysis, and how they are written.

use serde_json::json;
use toml::de::{DeTable, DeValue};

use super::DEFINITIONS;
use super::parts::{self, Part};
use crate::answers::words::{Section, Setting};
use crate::notation::Spot;

/// The steps that a file names, in the order in which they run.
pub(super) fn steps(value: &DeValue<'_>) -> Result<Vec<&'static str>, String> {
    let known: Vec<&'static str> = parts::steps().collect();
    let DeValue::Array(names) = value else {
        return Err(format!("`steps` must be a list of {}", known.join(", ")));
    };
    let mut chosen = Vec::new();
    for name in names {
        let step = match name.get_ref() {
            DeValue::String(name) => known.iter().position(|step| step == name),
            _ => None,
        };
        chosen.push(step.ok_or_else(|| format!("a step must be one of {}", known.join(", ")))?);
    }
    if chosen.is_empty() {
        return Err(format!("`steps` is empty: name at least one of {}", known.join(", ")));
    }
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen.into_iter().map(|step| known[step]).collect())
}

/// The name of an option; a file may write `_` for `-`.
pub(super) fn option_name(key: &str) -> String {
    key.replace('_', "-")
}

/// Reads the options of a section; their values are checked later.
pub(super) fn section_of(part: Part, options: &DeTable<'_>) -> Result<Section, (Spot, String)> {
    let mut read = Section::new();
    for (key, value) in options {
        let wrong = |problem: String| (key.span(), problem);
        let (name, key): (String, &str) = (option_name(key.get_ref()), key.get_ref());
        if part.name != DEFINITIONS && parts::SHARED.contains(&name.as_str()) {
            let problem = format!("`{key}` is the same for all studies: set it in [{DEFINITIONS}]");
            return Err(wrong(problem));
        }
        if name == "index-program" {
            let problem = "a program is started only if the command line of `fairness` names it";
            return Err(wrong(problem.to_owned()));
        }
        let setting = setting_of(key, value.get_ref()).map_err(wrong)?;
        if read.insert(name, setting).is_some() {
            return Err(wrong(format!("`{key}` is set twice")));
        }
    }
    Ok(read)
}

/// Reads the value of an option.
fn setting_of(key: &str, value: &DeValue<'_>) -> Result<Setting, String> {
    let word = |value: &DeValue<'_>| match value {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) if number.radix() != 10 => {
            Err(format!("`{key}` must be a number in decimal digits"))
        }
        DeValue::Integer(number) => Ok(number.as_str().to_owned()),
        DeValue::Float(number) => Ok(number.as_str().to_owned()),
        _ => Err(format!("`{key}` must be a text, a number or a list of them")),
    };
    Ok(match value {
        DeValue::Boolean(is_set) => Setting::Flag(*is_set),
        DeValue::Array(items) if items.is_empty() => {
            return Err(format!("`{key}` is an empty list: leave it out to get the default"));
        }
        DeValue::Array(items) => {
            let words = items.iter().map(|item| word(item.get_ref()));
            Setting::Many(words.collect::<Result<_, String>>()?)
        }
        single => Setting::One(word(single)?),
    })
}

/// Reads a number whose notation is valid in both TOML and JSON.
pub(super) fn number(word: &str) -> Option<f64> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = is_plain(whole)
        && is_plain(fraction)
        && (whole == "0" || !whole.starts_with('0'))
        && whole.len() < 16;
    is_number.then(|| word.parse().ok()).flatten()
}

pub(super) fn scalar(word: &str) -> String {
    if number(word).is_some() { word.to_owned() } else { quoted(word) }
}

/// A text as a TOML string. The escapes of JSON are valid in TOML, but TOML also escapes DEL.
fn quoted(word: &str) -> String {
    json!(word).to_string().replace('\u{7f}', "\\u007f")
}

pub(super) fn list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    format!("[{}]", words.map(quoted).collect::<Vec<String>>().join(", "))
}
