//! The files of an export of the trace of 2019, with their tables and part numbers.
//!
//! In: a folder of files such as `instance_usage-000000000012.json.gz` (`.json`, `.jsonl`, with or
//! without `.gz`, or `.parquet`), or of folders named after the trace's tables with such files; or
//! a single file. Out: the parts, by table of the lake and number. No file is opened.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::super::folder::sorted_names;
use super::super::{RawPart, SourceError, SourceErrorKind, TraceFolder};
use super::owners::Owners;
use crate::schema::{Source, Table};

/// The trace's tables, each with those of the lake that it fills.
const TABLES: [(&str, &[Table]); 5] = [
    ("collection_events", &[Table::JobEvents]),
    ("instance_events", &[Table::TaskEvents, Table::TaskConstraints]),
    ("instance_usage", &[Table::TaskUsage]),
    ("machine_events", &[Table::MachineEvents]),
    ("machine_attributes", &[Table::MachineAttributes]),
];

const ENDINGS: [&str; 5] = [".json.gz", ".jsonl.gz", ".json", ".jsonl", ".parquet"];

/// The tables that a file fills, and its number, from its name; `within` are the tables of its
/// folder.
fn part_of(name: &str, within: Option<&'static [Table]>) -> Option<(&'static [Table], u32)> {
    let stem = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending))?;
    let digits = stem.len() - stem.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (before, number) = stem.split_at(digits);
    let before = before.trim_end_matches(['-', '_', '.']);
    let own = TABLES.iter().find(|(table, _)| *table == before).map(|(_, tables)| *tables);
    Some((own.or(within)?, number.parse().ok()?))
}

/// Whether the names of the files are those of an export of the trace of 2019.
pub(in super::super) fn is_export(path: &Path) -> Result<bool, SourceError> {
    if path.is_file() {
        return Ok(path
            .file_name()
            .is_some_and(|name| part_of(&name.to_string_lossy(), None).is_some()));
    }
    // The folders of the trace of 2011 have other names, except those of machines.
    let of_2019 = |name: &String| TABLES[..3].iter().any(|(table, _)| table == name);
    Ok(sorted_names(path)?.iter().any(|name| {
        let file = path.join(name);
        if file.is_dir() { of_2019(name) } else { part_of(name, None).is_some() }
    }))
}

/// Lists a folder, or a single file with its folder.
pub(in super::super) fn list(path: &Path, source: Source) -> Result<TraceFolder, SourceError> {
    let mut folder =
        TraceFolder { path: path.to_owned(), source, parts: BTreeMap::new(), ignored: Vec::new() };
    if path.is_file() {
        folder.path = path.parent().map(Path::to_owned).unwrap_or_default();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        add(&mut folder, path, &name.unwrap_or_default(), None)?;
    } else {
        for name in sorted_names(path)? {
            let below = path.join(&name);
            let tables = TABLES.iter().find(|(table, _)| *table == name).map(|(_, tables)| *tables);
            match tables {
                Some(tables) if below.is_dir() => {
                    for file in sorted_names(&below)? {
                        add(&mut folder, &below.join(&file), &file, Some(tables))?;
                    }
                }
                _ if matches!(name.as_str(), "truth.json" | "SHA256SUM" | "MD5SUM" | "README") => {}
                _ => add(&mut folder, &below, &name, None)?,
            }
        }
    }
    if folder.parts.is_empty() {
        return Err(SourceError::new(path, SourceErrorKind::NoTable));
    }
    let jobs = folder.parts.get(&Table::JobEvents).into_iter().flatten();
    let owners = Arc::new(Owners::of(jobs.map(|part| part.path.clone()).collect()));
    for (table, parts) in &mut folder.parts {
        if *table == Table::TaskEvents {
            for part in parts.iter_mut() {
                part.owners = Some(Arc::clone(&owners));
            }
        }
        parts.sort_by_key(|part| part.part);
        let is_of_machines = matches!(table, Table::MachineEvents | Table::MachineAttributes);
        // Names do not give the number of parts, but tables of machines are small: a single part is
        // the whole table.
        if let ([only], true) = (&mut parts[..], is_of_machines) {
            only.of = Some(1);
        }
    }
    Ok(folder)
}

fn add(
    folder: &mut TraceFolder,
    path: &Path,
    name: &str,
    within: Option<&'static [Table]>,
) -> Result<(), SourceError> {
    let Some((tables, part)) = part_of(name, within).filter(|_| path.is_file()) else {
        folder.ignored.push(name.to_owned());
        return Ok(());
    };
    for &table in tables {
        let parts = folder.parts.entry(table).or_default();
        if let Some(other) = parts.iter().find(|other| other.part == part) {
            let other = other.path.clone();
            let kind = SourceErrorKind::TwiceThere { table, part, other };
            return Err(SourceError::new(path, kind));
        }
        parts.push(RawPart::of_file(folder.source, table, (part, None), path)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_tables_and_numbers() {
        let check = |name: &str, expected: Option<(&[Table], u32)>| {
            assert_eq!(part_of(name, None), expected, "{name}");
        };
        let tasks: &[Table] = &[Table::TaskEvents, Table::TaskConstraints];
        check("instance_events-000000000012.json.gz", Some((tasks, 12)));
        check("instance_events-000000000012.parquet", Some((tasks, 12)));
        check("machine_events-000000000000.jsonl", Some((&[Table::MachineEvents], 0)));
        check("instance_events.json.gz", None);
        check("part-00000-of-00500.csv.gz", None);
        check("other-000000000000.json.gz", None);
        let within = Some(tasks);
        assert_eq!(part_of("000000000003.json.gz", within), Some((tasks, 3)));
        assert_eq!(part_of("part-00007.parquet", within), Some((tasks, 7)));
        assert_eq!(
            part_of("machine_events-1.json", within),
            Some((&[Table::MachineEvents][..], 1))
        );
    }
}
