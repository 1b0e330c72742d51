//! Who got how much.

use serde_json::Value;

use super::Told;
use crate::answers::sentences::{percent, short};
use crate::digits::{counted, grouped, six_digits};

/// The share of the heaviest user, how unequal all are, and how few used half.
pub(super) fn users(stored: &Value) -> Option<Told> {
    let answer = &stored["answer"];
    let users = answer["users"].as_array()?;
    let heaviest = users.first()?;
    let by = answer["by"].as_str()?;
    let name = match heaviest["user"].as_str().unwrap_or("-") {
        "-" => "without a name".to_owned(),
        name if name.bytes().all(|byte| byte.is_ascii_digit()) => format!("{by} {name}"),
        name => short(name),
    };
    let inequality = &answer["inequality"];
    let all = inequality["users"].as_u64().unwrap_or(users.len() as u64);
    let half = inequality["users_of_half"]
        .as_u64()
        .map_or_else(String::new, |half| format!("; {} of them used half", grouped(half)));
    let gini = inequality["gini"]
        .as_f64()
        .map_or_else(String::new, |gini| format!(", and the Gini index is {gini:.3}"));
    Some(Told::Shown(format!(
        "{} used {} {}{half}; the heaviest ({name}) used {}{gini}",
        counted(all, by),
        six_digits(answer["total_cpu_s"].as_f64()?),
        answer["unit"].as_str()?,
        percent(heaviest["share"].as_f64()?),
    )))
}
