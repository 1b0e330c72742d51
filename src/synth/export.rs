//! Rows of the trace of 2011 in the export format of the trace of 2019: JSON, one object per line.
//!
//! In: lines of CSV from the other modules. Out: lines of JSON with the tables, names and numbers
//! of v3. They include data that v2.1 does not have: QUEUE and ENABLE, constraints as a list in the
//! instance, histograms of CPU use, and alloc sets. Some jobs run in alloc sets, and their usage
//! appears a second time. Lines that a lake of jobs must leave out are counted.

use std::collections::BTreeMap;
use std::io::Write as _;

use rustc_hash::FxHashMap;

use super::spill::SortedSlice;
use super::table::Table;
use super::tally::bump;
use super::text::push_g4;

/// The id of an alloc set is the id of the job in it plus this number.
const ALLOC_SET_IDS: u64 = 1_000_000_000_000;

/// One in this many jobs runs in an alloc set, waits in a queue, or keeps its tasks apart.
const RARE: u64 = 8;

/// The name of the table in the trace of 2019; `None` for constraints, which are in the instances.
pub(super) const fn name_of(table: Table) -> Option<&'static str> {
    match table {
        Table::JobEvents => Some("collection_events"),
        Table::TaskEvents => Some("instance_events"),
        Table::TaskUsage => Some("instance_usage"),
        Table::MachineEvents => Some("machine_events"),
        Table::MachineAttributes => Some("machine_attributes"),
        Table::TaskConstraints => None,
    }
}

/// The constraints of each submission, by job, task and time.
type Demands = FxHashMap<(Vec<u8>, Vec<u8>, Vec<u8>), Vec<[String; 3]>>;

/// Writes the lines of one part.
pub(super) struct Exporter {
    table: Table,
    demands: Demands,
    /// Lines that a lake of jobs leaves out, by kind.
    pub(super) left_out: BTreeMap<String, u64>,
}

impl Exporter {
    /// An exporter for a part of `table`; the constraints are those of its slice.
    pub(super) fn new(table: Table, demands: &SortedSlice) -> Self {
        let mut found = Demands::default();
        for line in demands.rows() {
            let fields = fields(line);
            let text = |idx: usize| String::from_utf8_lossy(fields[idx]).into_owned();
            let key = (fields[0].to_owned(), fields[1].to_owned(), fields[2].to_owned());
            found.entry(key).or_default().push([text(3), text(4), text(5)]);
        }
        Self { table, demands: found, left_out: BTreeMap::new() }
    }

    /// Appends the lines for a row.
    pub(super) fn push(&mut self, row: &[u8], out: &mut Vec<u8>) {
        let fields = fields(row);
        match self.table {
            Table::JobEvents => self.job(&fields, out),
            Table::TaskEvents => self.task(&fields, out),
            Table::TaskUsage => self.usage(&fields, out),
            Table::MachineEvents => {
                let mut line = Line::begin(out);
                line.text("time", fields[0]);
                line.text("machine_id", fields[1]);
                line.text("type", &[fields[2][0] + 1]);
                line.text_unless_empty("platform_id", fields[3]);
                line.resources("capacity", fields[4], fields[5]);
                line.end();
            }
            Table::MachineAttributes => {
                let mut line = Line::begin(out);
                line.text("time", fields[0]);
                line.text("machine_id", fields[1]);
                line.text("name", fields[2]);
                line.text_unless_empty("value", fields[3]);
                line.raw("deleted", if fields[4] == b"1" { b"true" } else { b"false" });
                line.end();
            }
            Table::TaskConstraints => unreachable!("constraints are in the instances"),
        }
    }

    fn job(&mut self, fields: &[&[u8]], out: &mut Vec<u8>) {
        let job = number(fields[2]);
        for kind in self.kinds(job, fields[3][0]) {
            let mut line = Line::begin(out);
            line.event(fields[0], kind, fields[1], job, 0);
            line.text("scheduling_class", fields[5]);
            line.text("priority", b"103");
            line.text("alloc_collection_id", alloc_set_of(job).unwrap_or(0).to_string().as_bytes());
            line.text_unless_empty("user", fields[4]);
            line.text_unless_empty("collection_name", fields[6]);
            line.text_unless_empty("collection_logical_name", fields[7]);
            line.raw("start_after_collection_ids", b"[]");
            line.text("max_per_machine", if job % RARE == 1 { b"1" } else { b"0" });
            line.text("max_per_switch", b"0");
            line.text("vertical_scaling", b"1");
            line.text("scheduler", b"0");
            line.end();
        }
        if let Some(set) = alloc_set_of(job) {
            bump(&mut self.left_out, "alloc sets");
            let mut line = Line::begin(out);
            line.event(fields[0], number_of_2019(fields[3][0]), fields[1], set, 1);
            line.text_unless_empty("user", fields[4]);
            line.end();
        }
    }

    fn task(&mut self, fields: &[&[u8]], out: &mut Vec<u8>) {
        let job = number(fields[2]);
        let mut demands = Vec::new();
        if fields[5] == b"0" {
            let key = (fields[0].to_owned(), fields[2].to_owned(), fields[3].to_owned());
            demands = self.demands.remove(&key).unwrap_or_default();
        }
        for kind in self.kinds(job, fields[5][0]) {
            let mut line = Line::begin(out);
            line.event(fields[0], kind, fields[1], job, 0);
            line.instance(fields[3], fields[4], job);
            line.text("scheduling_class", fields[7]);
            line.text("priority", fields[8]);
            line.resources("resource_request", fields[9], fields[10]);
            let demands = if kind == 0 { std::mem::take(&mut demands) } else { Vec::new() };
            line.raw("constraint", list_of(&demands).as_bytes());
            line.end();
        }
        if let Some(set) = alloc_set_of(job) {
            bump(&mut self.left_out, "alloc sets");
            let mut line = Line::begin(out);
            line.event(fields[0], number_of_2019(fields[5][0]), fields[1], set, 1);
            line.text("instance_index", fields[3]);
            line.text("machine_id", if fields[4].is_empty() { b"0" } else { fields[4] });
            line.resources("resource_request", fields[9], fields[10]);
            line.end();
        }
    }

    /// The event numbers of v3 for an event: a submission is also queued and enabled.
    fn kinds(&mut self, job: u64, digit: u8) -> Vec<u8> {
        if digit != b'0' {
            return vec![number_of_2019(digit)];
        }
        let kinds = if job % RARE == 2 { vec![0, 1, 2] } else { vec![0, 2] };
        (1..kinds.len()).for_each(|_| bump(&mut self.left_out, "queue and enable"));
        kinds
    }

    fn usage(&mut self, fields: &[&[u8]], out: &mut Vec<u8>) {
        let job = number(fields[2]);
        let set = alloc_set_of(job);
        for (collection, is_set) in std::iter::once((job, false)).chain(set.map(|id| (id, true))) {
            if is_set {
                bump(&mut self.left_out, "alloc sets");
            }
            let mut line = Line::begin(out);
            line.text("start_time", fields[0]);
            line.text("end_time", fields[1]);
            line.text("collection_id", collection.to_string().as_bytes());
            line.text("collection_type", if is_set { b"1" } else { b"0" });
            line.instance(fields[3], fields[4], if is_set { 1 } else { job });
            line.resources("average_usage", fields[5], fields[6]);
            line.resources("maximum_usage", fields[13], fields[10]);
            line.resources("random_sample_usage", fields[19], b"");
            for (name, value) in [
                ("assigned_memory", fields[7]),
                ("page_cache_memory", fields[9]),
                ("cycles_per_instruction", fields[15]),
                ("memory_accesses_per_instruction", fields[16]),
                ("sample_rate", fields[17]),
            ] {
                if !value.is_empty() {
                    line.raw(name, value);
                }
            }
            line.histograms(fields[5], fields[13]);
            line.end();
        }
    }
}

/// The fields of a line, which contains no quotes.
fn fields(line: &[u8]) -> Vec<&[u8]> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.split(|&byte| byte == b',').collect()
}

fn number(text: &[u8]) -> u64 {
    text.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

/// v3 has QUEUE and ENABLE between SUBMIT and SCHEDULE.
fn number_of_2019(digit: u8) -> u8 {
    match digit - b'0' {
        0 => 0,
        event => event + 2,
    }
}

fn alloc_set_of(job: u64) -> Option<u64> {
    job.is_multiple_of(RARE).then_some(job + ALLOC_SET_IDS)
}

fn list_of(demands: &[[String; 3]]) -> String {
    let demands: Vec<String> = demands
        .iter()
        .map(|[operator, name, value]| {
            format!(r#"{{"name":"{name}","value":"{value}","relation":"{operator}"}}"#)
        })
        .collect();
    format!("[{}]", demands.join(","))
}

/// An object that is being written.
struct Line<'o> {
    out: &'o mut Vec<u8>,
    is_first: bool,
}

impl<'o> Line<'o> {
    fn begin(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, is_first: true }
    }

    fn end(self) {
        self.out.extend_from_slice(b"}\n");
    }

    fn name(&mut self, name: &str) {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(b',');
        }
        write!(self.out, "\"{name}\":").expect("a Vec takes everything");
    }

    fn raw(&mut self, name: &str, value: &[u8]) {
        self.name(name);
        self.out.extend_from_slice(value);
    }

    /// Writes a text without escapes, which hashes and digits do not need.
    fn text(&mut self, name: &str, value: &[u8]) {
        self.name(name);
        self.out.push(b'"');
        self.out.extend_from_slice(value);
        self.out.push(b'"');
    }

    fn text_unless_empty(&mut self, name: &str, value: &[u8]) {
        if !value.is_empty() {
            self.text(name, value);
        }
    }

    /// Writes the fields that all events have.
    fn event(&mut self, time: &[u8], kind: u8, missing: &[u8], collection: u64, of: u8) {
        self.text("time", time);
        self.text("type", kind.to_string().as_bytes());
        self.text("collection_id", collection.to_string().as_bytes());
        self.text("collection_type", &[b'0' + of]);
        if let [digit] = missing {
            self.text("missing_type", &[digit + 1]);
        }
    }

    /// Writes the fields that identify an instance.
    fn instance(&mut self, index: &[u8], machine: &[u8], job: u64) {
        self.text("instance_index", index);
        self.text("machine_id", if machine.is_empty() { b"0" } else { machine });
        let set = alloc_set_of(job);
        self.text("alloc_collection_id", set.unwrap_or(0).to_string().as_bytes());
        self.text("alloc_instance_index", if set.is_some() { index } else { b"-1" });
    }

    fn resources(&mut self, name: &str, cpus: &[u8], memory: &[u8]) {
        let mut inside = Vec::new();
        let mut line = Line { out: &mut inside, is_first: true };
        for (name, value) in [("cpus", cpus), ("memory", memory)] {
            if !value.is_empty() {
                line.raw(name, value);
            }
        }
        if !inside.is_empty() {
            self.raw(name, &[b"{", inside.as_slice(), b"}"].concat());
        }
    }

    /// Writes percentiles that rise from half the mean to the largest use.
    fn histograms(&mut self, mean: &[u8], largest: &[u8]) {
        let read = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<f64>().ok();
        let (Some(mean), Some(largest)) = (read(mean), read(largest)) else { return };
        let low = (mean / 2.0).min(largest);
        for (name, shares) in [
            ("cpu_usage_distribution", [0_u8, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100].as_slice()),
            ("tail_cpu_usage_distribution", &[91, 92, 93, 94, 95, 96, 97, 98, 99]),
        ] {
            let mut list = vec![b'['];
            for (idx, &share) in shares.iter().enumerate() {
                if 0 < idx {
                    list.push(b',');
                }
                push_g4(&mut list, low + (largest - low) * f64::from(share) / 100.0);
            }
            list.push(b']');
            self.raw(name, &list);
        }
    }
}
