//! The defaults of an analysis. Some follow from the kind of trace, and every command shares them.
//! Others apply only within an analysis (all rules, a replay of a few minutes).

use std::fmt::Write;

use super::{Config, DEFINITIONS};
use crate::answers::list;
use crate::answers::study::Open;
use crate::answers::words::Setting;
use crate::defaults::Defaults;
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::Source;

/// Sets every option that the file does not set.
pub fn settle(config: &mut Config, lake: &Lake) {
    let (usual, windows) = (Defaults::of(lake), Windows::of(lake));
    config.default_to(DEFINITIONS, "cpu", usual.cpu.to_string().as_str().into());
    config.default_to(DEFINITIONS, "classes", usual.classes.to_string().as_str().into());
    for (study, step) in list::steps().filter(|(_, step)| step.section.is_some()) {
        let section = config.section_mut(study.name);
        (step.settle)(&mut Open { section, lake, usual, windows });
    }
    config.fill_in();
}

/// The options whose default follows from the kind of trace, with their values, one line each.
/// Values that the user chose are included.
pub fn table(config: &Config, source: Source) -> String {
    let with = |option| {
        let with = list::steps().filter(|(_, step)| step.shares.contains(&option));
        with.map(|(study, _)| study.name).collect::<Vec<&str>>().join(", ")
    };
    let mut rows: Vec<(&str, &str, String)> =
        ["cpu", "classes"].map(|option| (DEFINITIONS, option, with(option))).into();
    for (study, step) in list::steps() {
        let options = step.of_source.iter();
        rows.extend(options.map(|&option| (study.name, option, study.name.to_owned())));
    }
    let mut text = format!("for {source} (--config FILE with other values changes them):");
    for (section, option, of) in rows {
        let value = match config.get(section, option) {
            Some(Setting::One(word)) => word.clone(),
            Some(Setting::Many(words)) => words.join(" "),
            Some(Setting::Flag(_)) | None => continue,
        };
        let _ = write!(text, "\n  {:<13}{value} ({of})", format!("--{option}"));
    }
    text
}
