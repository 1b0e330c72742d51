//! The columns of the table, and its first line.

use crate::schema::Table;
use crate::sources::records::lines::names_of;

/// The tables that a joined file fills.
pub(crate) const TABLES: [Table; 4] =
    [Table::JobEvents, Table::TaskEvents, Table::TaskUsage, Table::TaskConstraints];

/// The columns that a header must have.
const NEEDED: [&str; 4] = ["time", "instance_events_type", "collection_id", "instance_index"];

/// The conversion of a column to a field of an object.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Form {
    /// A number or a name.
    Plain,
    /// An id that is unique within a cell.
    Id,
    /// Ids in brackets.
    Ids,
    /// A dictionary or list as Python prints it.
    Literal,
}

/// The columns of a table: the name in the file, the field of the object, and the conversion.
pub(super) fn columns(table: Table) -> &'static [(&'static str, &'static str, Form)] {
    use Form::{Id, Ids, Literal, Plain};
    match table {
        Table::JobEvents => &[
            ("time", "time", Plain),
            ("collections_events_type", "type", Plain),
            ("collection_id", "collection_id", Id),
            ("collection_type", "collection_type", Plain),
            ("scheduling_class", "scheduling_class", Plain),
            ("priority", "priority", Plain),
            ("alloc_collection_id", "alloc_collection_id", Id),
            ("user", "user", Plain),
            ("collection_name", "collection_name", Plain),
            ("collection_logical_name", "collection_logical_name", Plain),
            ("start_after_collection_ids", "start_after_collection_ids", Ids),
            ("vertical_scaling", "vertical_scaling", Plain),
            ("scheduler", "scheduler", Plain),
        ],
        Table::TaskUsage => &[
            ("start_time", "start_time", Plain),
            ("end_time", "end_time", Plain),
            ("collection_id", "collection_id", Id),
            ("collection_type", "collection_type", Plain),
            ("instance_index", "instance_index", Plain),
            ("machine_id", "machine_id", Id),
            ("alloc_collection_id", "alloc_collection_id", Id),
            ("average_usage", "average_usage", Literal),
            ("maximum_usage", "maximum_usage", Literal),
            ("random_sample_usage", "random_sample_usage", Literal),
            ("assigned_memory", "assigned_memory", Plain),
            ("page_cache_memory", "page_cache_memory", Plain),
            ("cycles_per_instruction", "cycles_per_instruction", Plain),
            ("memory_accesses_per_instruction", "memory_accesses_per_instruction", Plain),
            ("sample_rate", "sample_rate", Plain),
            ("cpu_usage_distribution", "cpu_usage_distribution", Literal),
            ("tail_cpu_usage_distribution", "tail_cpu_usage_distribution", Literal),
        ],
        _ => &[
            ("time", "time", Plain),
            ("instance_events_type", "type", Plain),
            ("collection_id", "collection_id", Id),
            ("collection_type", "collection_type", Plain),
            ("scheduling_class", "scheduling_class", Plain),
            ("priority", "priority", Plain),
            ("alloc_collection_id", "alloc_collection_id", Id),
            ("instance_index", "instance_index", Plain),
            ("machine_id", "machine_id", Id),
            ("user", "user", Plain),
            ("resource_request", "resource_request", Literal),
            ("constraint", "constraint", Literal),
        ],
    }
}

/// The header of a text, if it is that of a joined file.
pub(super) fn header(text: &[u8]) -> Option<Vec<String>> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let names = names_of(line, b',');
    NEEDED.iter().all(|name| names.iter().any(|known| known == name)).then_some(names)
}

/// Whether a text begins like a joined file.
pub(in crate::sources) fn is_seen(text: &[u8]) -> bool {
    header(text).is_some()
}
