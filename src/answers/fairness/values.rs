//! The units of the values of indices.
//!
//! In: an index with all its parameters, one of its columns, and the unit of usage. Out: the unit of
//! the column, if it has one. A bill is in the unit of usage. A priority of Condor is a mean of ρ
//! with a half-life (Ota and Aida 2009, equation 4): in the paper's form ρ is the usage of an
//! interval, in `HTCondor`'s form it is the cores in use. Shares and factors have no unit.

use super::{FairnessAnswer, OfIndex};
use crate::digits::lasting;
use crate::fairness::indices::BuiltIn;

/// The units of the first values of the indices, as a sentence; `None` if none has a unit.
pub(crate) fn units_of(answer: &FairnessAnswer) -> Option<String> {
    let of = |index: &OfIndex| {
        let column = index.columns.first()?;
        let unit = unit_of_value(&index.settings, column, &answer.unit)?;
        let value = match &**column {
            "cv" => "charged value (cv)",
            "eup" => "effective user priority (eup)",
            other => other,
        };
        Some(format!("the {value} of {} in {unit}", index.index))
    };
    let all: Vec<String> = answer.indices.iter().filter_map(of).collect();
    let is_by_interval = all.iter().any(|unit| unit.contains("per interval"));
    let length = lasting(answer.interval_s);
    let interval =
        if is_by_interval { format!(" An interval is {length}.") } else { String::new() };
    (!all.is_empty()).then(|| format!("Units: {}.{interval}", all.join("; ")))
}

/// What an index means, with its half-life if it has one, and which values are worse for a user;
/// `None` for an index without a known name, such as a custom one.
pub(crate) fn meaning_of_index(settings: &str) -> Option<String> {
    let (name, parameters) = settings.split_once(':').unwrap_or((settings, ""));
    let kind = BuiltIn::ALL.into_iter().find(|kind| kind.name() == name)?;
    let mut all = parameters.split(',');
    let seconds = all.find_map(|one| one.strip_prefix("half_life_s=")?.parse::<f64>().ok());
    let fading = seconds
        .filter(|seconds| 0.0 < *seconds)
        .map_or_else(String::new, |seconds| format!(" that fades by half in {}", lasting(seconds)));
    Some(kind.meaning(&fading))
}

/// Whether an index is a custom one, given all its parameters. A custom index cannot have the name
/// of a built-in one.
pub(crate) fn is_custom(settings: &str) -> bool {
    meaning_of_index(settings).is_none()
}

/// The column of each index in the table of the heaviest users, and its heading; `None` for a
/// built-in index, whose column is its heading.
pub(crate) fn in_table(answer: &FairnessAnswer) -> Vec<(&str, Option<String>)> {
    let heading = |index: &OfIndex| {
        let own = || Some(format!("{}: {}", index.index, index.columns.first()?));
        if is_custom(&index.settings) { own() } else { None }
    };
    let indices = answer.indices.iter();
    let known = indices.filter_map(|index| Some((index.column_in_table.as_deref()?, index)));
    known.map(|(column, index)| (column, heading(index))).collect()
}

/// The meanings of all indices of an answer: name and words.
pub(crate) fn meanings(answer: &FairnessAnswer) -> Vec<(&str, String)> {
    let of = |index: &'_ OfIndex| meaning_of_index(&index.settings);
    answer.indices.iter().filter_map(|index| Some((index.index.as_str(), of(index)?))).collect()
}

/// The unit of a column of an index.
pub(crate) fn unit_of_value(settings: &str, column: &str, unit: &str) -> Option<String> {
    let (name, parameters) = settings.split_once(':').unwrap_or((settings, ""));
    let of = |name: &str| {
        parameters.split(',').find_map(|one| one.strip_prefix(name)?.strip_prefix('='))
    };
    let is_priority = column == "eup" || column.starts_with("eup_on_");
    match (name, column) {
        ("metered", _) | (_, "charged_cpu_s") => Some(unit.to_owned()),
        ("condor" | "htcondor", _) if is_priority || column == "rup" => {
            let rho = match of("rho")? {
                "cores" => "cores".to_owned(),
                _ => format!("{unit} per interval"),
            };
            let is_plain = !is_priority || of("factor").is_some_and(|factor| factor == "1");
            let is_plain = is_plain && (column == "rup" || of("factors").is_none());
            Some(if is_plain { rho } else { format!("{rho}, times the factor") })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairness::indices;
    use crate::studies::named::Named;

    #[test]
    fn the_units_of_all_indices_are_in_one_sentence() {
        let of = |index: &str, column: &str| OfIndex {
            index: index.to_owned(),
            settings: indices::parse(index).unwrap().to_string(),
            columns: vec![column.to_owned()],
            heavier: "larger".into(),
            overall: Named::default(),
            undefined: None,
            column_in_table: Some(format!("{index}_{column}")),
        };
        let answer = |indices| FairnessAnswer {
            unit: "core-s".into(),
            interval_s: 3600.0,
            indices,
            ..FairnessAnswer::default()
        };
        let said =
            units_of(&answer(vec![of("metered", "cv"), of("condor", "eup"), of("jain", "x")]));
        let known = "Units: the charged value (cv) of metered in core-s; the effective user priority (eup) of \
            condor in core-s per interval. An interval \
            is 60 min.";
        assert_eq!(said.unwrap(), known);
        assert_eq!(units_of(&answer(vec![of("jain", "x")])), None);
    }

    #[test]
    fn the_column_of_a_custom_index_is_called_what_its_author_called_it() {
        let of = |index: &str, column_in_table: Option<&str>| OfIndex {
            index: index.to_owned(),
            settings: index.to_owned(),
            columns: vec!["x".to_owned()],
            heavier: "larger".into(),
            overall: Named::default(),
            undefined: None,
            column_in_table: column_in_table.map(str::to_owned),
        };
        let indices =
            vec![of("metered", Some("metered_x")), of("A <b>", Some("a_b_x")), of("old", None)];
        let answer = FairnessAnswer { indices, ..FairnessAnswer::default() };
        let expected = [("metered_x", None), ("a_b_x", Some("A <b>: x".to_owned()))];
        assert_eq!(in_table(&answer), expected);
    }

    #[test]
    fn every_built_in_index_is_explained() {
        for kind in BuiltIn::ALL {
            assert!(meaning_of_index(kind.name()).is_some(), "{}", kind.name());
        }
        let condor = indices::parse("condor").unwrap().to_string();
        let said = meaning_of_index(&condor).unwrap();
        assert!(said.contains("fades by half in 24 h; larger is worse"), "{said}");
        assert_eq!(meaning_of_index("mine"), None);
    }

    #[test]
    fn the_unit_of_a_priority_is_that_of_its_usage() {
        for (index, column, unit) in [
            ("metered", "cv", Some("NCU-s")),
            ("condor", "eup", Some("NCU-s per interval")),
            ("condor:factor=2", "eup", Some("NCU-s per interval, times the factor")),
            ("condor:factor=2", "rup", Some("NCU-s per interval")),
            ("condor:rho=cores", "eup", Some("cores")),
            ("htcondor", "eup", Some("cores, times the factor")),
            ("htcondor", "rup", Some("cores")),
            ("htcondor", "share", None),
            ("condor", "charged_cpu_s", Some("NCU-s")),
            ("jain", "jain", None),
            ("slurm", "factor", None),
        ] {
            let settings = indices::parse(index).unwrap().to_string();
            assert_eq!(
                unit_of_value(&settings, column, "NCU-s").as_deref(),
                unit,
                "{settings} {column}"
            );
        }
    }
}
