//! The units of the values of indices.
//!
//! In: an index with all its parameters, one of its columns, and the unit of usage. Out: the unit
//! of the column, if it has one. A bill is in the unit of usage. A priority of Condor is a mean of
//! ρ with a half-life (Ota and Aida 2009, equation 4). In the form of the paper, ρ is the usage of
//! an interval; in the form of `HTCondor`, ρ is the number of cores in use. Shares and factors have
//! no unit.

use super::{FairnessAnswer, OfIndex};
use crate::digits::{in_use, lasting, unit_of_use};
use crate::fairness::indices::BuiltIn;

/// The meaning of an index, its half-life if it has one, and which values are worse for a user.
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

/// Whether an index, given with all its parameters, is a custom one. A custom index cannot have the
/// name of a built-in one.
pub(crate) fn is_custom(settings: &str) -> bool {
    meaning_of_index(settings).is_none()
}

/// The column of an index in the table of the heaviest users.
pub(crate) struct InTable<'a> {
    /// Its name.
    pub column: &'a str,
    /// The heading for a custom index and its value. `None` for a built-in index, because the
    /// column name is its heading.
    pub heading: Option<String>,
    index: &'a OfIndex,
    /// The unit of usage, and the length of an interval, s.
    usage: (&'a str, f64),
}

impl InTable<'_> {
    /// The unit in which values up to `top` are shown, and how many units of the files make one.
    /// The unit is empty if there is none.
    pub(crate) fn shown_in(&self, top: f64) -> (String, f64) {
        let first = self.index.columns.first().map_or("", String::as_str);
        shown_in((&self.index.settings, first), self.usage, top)
    }
}

/// The columns of the indices in the table of the heaviest users.
pub(crate) fn in_table(answer: &FairnessAnswer) -> Vec<InTable<'_>> {
    let heading = |index: &OfIndex| {
        let own = || Some(format!("{}: {}", index.index, index.columns.first()?));
        if is_custom(&index.settings) { own() } else { None }
    };
    let usage = (&*answer.unit, answer.interval_s);
    let all = answer.indices.iter().filter_map(|index| {
        let column = index.column_in_table.as_deref()?;
        Some(InTable { column, heading: heading(index), index, usage })
    });
    all.collect()
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

/// The unit in which charts and pages show the values of an index column up to `top`, and how many
/// units of the files make one. A long bill is shown in hours, and a usage per interval as the
/// average amount in use. The unit is empty if there is none.
pub(crate) fn shown_in(
    (settings, column): (&str, &str),
    (unit, interval_s): (&str, f64),
    top: f64,
) -> (String, f64) {
    let own = unit_of_value(settings, column, unit).unwrap_or_default();
    match own.strip_prefix(&format!("{unit} per interval")) {
        Some(more) => (in_use(unit) + more, interval_s),
        None => unit_of_use(&own, top),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairness::indices;
    use crate::studies::named::Named;

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
        let found = in_table(&answer);
        let found: Vec<(&str, Option<&str>)> =
            found.iter().map(|one| (one.column, one.heading.as_deref())).collect();
        assert_eq!(found, [("metered_x", None), ("a_b_x", Some("A <b>: x"))]);
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
    fn values_are_shown_in_hours_and_in_what_is_in_use() {
        for (index, column, unit, top, shown) in [
            ("metered", "cv", "core-s", 3599.0, ("core-s", 1.0)),
            ("metered", "cv", "core-s", 3600.0, ("core-h", 3600.0)),
            ("condor", "eup", "core-s", 9e9, ("cores", 600.0)),
            ("condor:factor=2", "eup", "NCU-s", 1.0, ("NCU, times the factor", 600.0)),
            ("condor:rho=cores", "eup", "NCU-s", 9e9, ("cores", 1.0)),
            ("jain", "jain", "core-s", 9e9, ("", 1.0)),
        ] {
            let settings = indices::parse(index).unwrap().to_string();
            let found = shown_in((&settings, column), (unit, 600.0), top);
            assert_eq!((found.0.as_str(), found.1), shown, "{index} {column}");
        }
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
