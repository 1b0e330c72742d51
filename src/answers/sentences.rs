//! Parts of sentences that several studies share.
//!
//! In: numbers of answers. Out: words. The sentence of a study is next to the type of its answer.

use crate::lake::Lake;
use crate::results::envelope::Input;
use crate::schema::{CAPACITY_FROM_USE, Table};
use crate::studies::meter::{CpuDefinition, Meter, Resource};

/// A share in per cent with one decimal; `under 0.1 %` for very small ones.
pub(crate) fn percent(share: f64) -> String {
    if share == 0.0 {
        return "0 %".to_owned();
    }
    if 0.0 < share && share < 0.0005 {
        return "under 0.1 %".to_owned();
    }
    format!("{:.1} %", share * 100.0)
}

/// A share in per cent, for the label of a bar: one decimal, or two below 1 %.
pub(crate) fn label(share: f64) -> String {
    match share {
        0.0 => "0 %".to_owned(),
        small if 0.0 < small && small < 0.000_05 => "under 0.01 %".to_owned(),
        small if small < 0.009_95 => format!("{:.2} %", small * 100.0),
        usual => format!("{:.1} %", usual * 100.0),
    }
}

/// Whether the log records that the jobs that count as finished did finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// It is recorded for at least some of them.
    Known,
    /// It is recorded for none: the log has no status, and jobs that ran count as finished.
    Assumed,
}

impl Ends {
    /// Compares the number of jobs that count as finished with the number of jobs whose status was
    /// assumed.
    pub(crate) fn of(finished: u64, inputs: &[Input]) -> Self {
        let remarks = inputs.iter().flat_map(|input| &input.remarks);
        let assumed = remarks.filter(|(wording, _)| wording.starts_with("status unknown"));
        let assumed = assumed.map(|(_, count)| *count).max().unwrap_or(0);
        if 0 < finished && finished <= assumed { Self::Assumed } else { Self::Known }
    }
}

#[cfg(feature = "serve")]
impl Ends {
    /// Like `of`, for a lake. A job whose status was assumed has three rows, SUBMIT, SCHEDULE and
    /// FINISH, and no finished job has fewer.
    pub(crate) fn of_lake(lake: &Lake) -> Self {
        let remarks = lake.remarks(Table::JobEvents).into_iter();
        let remarks = remarks.map(|(wording, count)| (wording.to_string(), count)).collect();
        let finished = lake.manifest.table(Table::JobEvents).map_or(0, |table| table.rows() / 3);
        Self::of(finished, &[Input { remarks, ..Input::default() }])
    }
}

/// The origin of the CPU capacity of the machines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Capacity {
    /// The trace records it.
    #[default]
    Recorded,
    /// The log does not record it. The capacity is the most processors that were in use at the same
    /// time.
    FromUse,
}

/// The words that replace the capacity if the log does not record it.
pub(crate) const MOST_USED: &str = "the most processors ever used at once";

impl Capacity {
    /// The capacity in the tables of a result.
    pub(crate) fn of(inputs: &[Input]) -> Self {
        let mut remarks = inputs.iter().flat_map(|input| input.remarks.keys());
        Self::from_use(remarks.any(|wording| wording == CAPACITY_FROM_USE))
    }

    /// The capacity in a lake.
    pub(crate) fn of_lake(lake: &Lake) -> Self {
        Self::from_use(lake.remarks(Table::MachineEvents).contains_key(CAPACITY_FROM_USE))
    }

    const fn from_use(is_so: bool) -> Self {
        if is_so { Self::FromUse } else { Self::Recorded }
    }

    /// The whole of a share: `recorded`, or the words that replace it.
    pub(crate) const fn or_used(self, recorded: &'static str) -> &'static str {
        match self {
            Self::Recorded => recorded,
            Self::FromUse => MOST_USED,
        }
    }
}

/// The noun for the time that a definition of `--cpu` counts.
pub(crate) fn noun_of(cpu: &str) -> &'static str {
    let is_of_gpus = cpu == CpuDefinition::GpuSlots.to_string();
    if is_of_gpus { Resource::Gpu } else { Resource::Cpu }.noun()
}

/// The time that a definition of `--cpu` adds up, in words; the definition itself if it is unknown.
pub(crate) fn meaning_of(cpu: &str) -> String {
    let of = |definition: CpuDefinition| definition.to_string() == cpu;
    let known = [
        (CpuDefinition::Requested, "CPU time is requested CPU x running time"),
        (CpuDefinition::Slots, "CPU time is one slot for each running task"),
        (CpuDefinition::Measured, "CPU time is what was used, as measured"),
        (CpuDefinition::Published, "CPU time is what was used, by the published definition"),
        (CpuDefinition::GpuSlots, "GPU time is GPUs held x running time"),
    ];
    let said = known.into_iter().find(|(definition, _)| of(*definition));
    said.map_or_else(|| format!("CPU time as defined by \"{cpu}\""), |own| own.1.to_owned())
}

/// The amount that a meter adds up, in words.
pub(crate) fn meaning_of_meter(meter: Meter) -> String {
    match meter {
        Meter::Cpu(cpu) => meaning_of(&cpu.to_string()),
        Meter::Memory(memory) => {
            format!("{} by the definition \"{memory}\"", meter.resource().title())
        }
    }
}

/// The verb for CPU time by a definition of `--cpu`: jobs used it, or requested it.
pub(crate) fn verb_of(cpu: &str) -> &'static str {
    let is_requested = cpu == CpuDefinition::Requested.to_string();
    Meter::Cpu(if is_requested { CpuDefinition::Requested } else { CpuDefinition::Slots }).verb()
}

/// The clauses in parentheses, such as ` (one clause; another)`; empty if there are none.
pub(crate) fn aside(clauses: [Option<String>; 2]) -> String {
    let said: Vec<String> = clauses.into_iter().flatten().collect();
    if said.is_empty() { String::new() } else { format!(" ({})", said.join("; ")) }
}

/// If one job has at least this share of a sum, it counts as most of it.
pub(crate) const MOST: f64 = 0.5;

/// `one job makes up 97.7 % of it`; `None` if no job is most of the sum.
pub(crate) fn most_of(largest: Option<f64>, sum: &str) -> Option<String> {
    let share = largest.filter(|share| MOST <= *share)?;
    Some(format!("one job makes up {} of {sum}", percent(share)))
}

/// The number of letters of a hash that are shown, and the fewest letters of a name that counts as
/// a hash.
const HASH_SHOWN: usize = 8;
const HASH_LETTERS: usize = 40;

/// A name, shortened if it is a hash. The page of the name has the whole name.
pub(crate) fn short(name: &str) -> String {
    let is_of_hash = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    if name.len() < HASH_LETTERS || !name.bytes().all(is_of_hash) {
        return name.to_owned();
    }
    format!("{}…", &name[..HASH_SHOWN])
}

/// The text with a capital letter at the start.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_that_was_requested_is_not_said_to_be_used() {
        assert_eq!(verb_of("requested"), "requested");
        assert_eq!(verb_of("measured"), "used");
        assert_eq!(meaning_of("requested"), "CPU time is requested CPU x running time");
        assert!(meaning_of("gpu-slots").starts_with("GPU time"));
        assert_eq!(meaning_of("new"), "CPU time as defined by \"new\"");
    }

    #[test]
    fn labels_of_bars_have_one_decimal_or_two_below_one_per_cent() {
        for (share, said) in [
            (0.0, "0 %"),
            (0.000_04, "under 0.01 %"),
            (0.000_06, "0.01 %"),
            (0.009_94, "0.99 %"),
            (0.009_96, "1.0 %"),
            (0.865_86, "86.6 %"),
            (1.0, "100.0 %"),
        ] {
            assert_eq!(label(share), said);
        }
    }

    #[test]
    fn capacity_is_from_use_if_the_log_records_none() {
        let inputs =
            |said: &str| [Input { remarks: [(said.to_owned(), 1)].into(), ..Input::default() }];
        assert_eq!(Capacity::of(&inputs(CAPACITY_FROM_USE)), Capacity::FromUse);
        assert_eq!(Capacity::of(&inputs("wait unknown")), Capacity::Recorded);
        assert_eq!(Capacity::FromUse.or_used("the CPU"), MOST_USED);
    }

    #[test]
    fn ends_are_assumed_where_no_status_is_known_of_any_job() {
        let remarks = |assumed: u64| {
            let said = "status unknown, has run: taken as finished".to_owned();
            [Input { remarks: [(said, assumed)].into(), ..Input::default() }]
        };
        assert_eq!(Ends::of(9, &remarks(9)), Ends::Assumed);
        assert_eq!(Ends::of(9, &remarks(8)), Ends::Known);
        assert_eq!(Ends::of(0, &remarks(9)), Ends::Known);
        assert_eq!(Ends::of(9, &[]), Ends::Known);
    }
}
