//! The amount that is added up over tasks: CPU time, GPU time or memory time, under one of several
//! definitions.
//!
//! In: the choice of the user. Out: a [`Meter`]. It determines what is read, the unit of the sums,
//! and whether a lake has the data. Definitions are never mixed within one sum. Every sum over
//! tasks and time (a ledger, usage by user, load over time) can use a meter.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::facts::tasks::{Attempt, Usage, records_cpu_time};
use crate::lake::{Lake, LakeError};
use crate::schema::{Source, Table};

/// What tasks ask for and use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Resource {
    /// CPU time
    #[default]
    Cpu,
    /// Memory times the time for which it was requested or used
    Memory,
    /// GPUs times the time for which they were held
    Gpu,
}

impl Resource {
    /// The name on the command line, which is also the name of its column.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Gpu => "gpu",
        }
    }

    /// The noun for its sums.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Cpu => "CPU time",
            Self::Memory => "memory time",
            Self::Gpu => "GPU time",
        }
    }

    /// The same at the start of a title.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Cpu => "CPU time",
            Self::Memory => "Memory time",
            Self::Gpu => "GPU time",
        }
    }
}

/// What CPU time means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CpuDefinition {
    /// Mean CPU rate times length of the usage windows, inside attempts; for a log the CPU time
    /// that it records, and `requested` for jobs without it
    #[default]
    Measured,
    /// Job duration times mean CPU rate times mean machine capacity (2017)
    Published,
    /// CPU request times running time
    Requested,
    /// Running time, in task-seconds
    Slots,
    /// Requested GPUs (0.5 is half a GPU) times the time for which they were held, in GPU-seconds
    GpuSlots,
}

impl CpuDefinition {
    /// The unit of GPU time.
    pub(crate) const GPU_UNIT: &'static str = "GPU-s";

    /// The unit of its sums for a kind of trace.
    pub const fn unit(self, source: Source) -> &'static str {
        match self {
            Self::Slots => "task-s",
            Self::GpuSlots => Self::GPU_UNIT,
            _ => source.cpu_unit(),
        }
    }

    /// The parser of an option that takes a definition of CPU time with values over time.
    /// `published` has only values per job, and GPU time has separate columns.
    #[cfg(feature = "cli")]
    pub fn over_time() -> impl clap::builder::TypedValueParser<Value = Self> {
        use clap::ValueEnum;
        use clap::builder::{PossibleValuesParser, TypedValueParser};
        let all = [Self::Measured, Self::Requested, Self::Slots];
        let names = all.iter().filter_map(Self::to_possible_value);
        PossibleValuesParser::new(names)
            .map(|name| Self::from_str(&name, false).expect("it is one of the possible values"))
    }

    /// The same parser, with GPU time. It does not list `published` but accepts it, so that the
    /// check of the plan can say why `published` is refused.
    #[cfg(feature = "cli")]
    pub fn over_time_or_gpus() -> impl clap::builder::TypedValueParser<Value = Self> {
        use clap::ValueEnum;
        use clap::builder::{PossibleValuesParser, TypedValueParser};
        let shown = |one: &Self| Some(one.to_possible_value()?.hide(*one == Self::Published));
        PossibleValuesParser::new(Self::value_variants().iter().filter_map(shown))
            .map(|name| Self::from_str(&name, false).expect("it is one of the possible values"))
    }

    /// Whether it reads recorded use: `task_usage`, or the CPU time that a log records.
    pub const fn needs_usage(self) -> bool {
        matches!(self, Self::Measured | Self::Published)
    }

    /// Refuses a lake without the data that the definition needs.
    ///
    /// # Errors
    /// The definition reads recorded use and `task_usage` is missing (for `measured`, a log that
    /// records the CPU time of jobs is enough); or this kind of trace records no GPUs.
    pub fn check(self, lake: &Lake) -> Result<(), LakeError> {
        if self == Self::GpuSlots {
            return lake.require_gpus();
        }
        if self.needs_usage() && !(self == Self::Measured && records_cpu_time(lake)?) {
            lake.require(Table::TaskUsage)?;
        }
        Ok(())
    }
}

impl fmt::Display for CpuDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Measured => "measured",
            Self::Published => "published",
            Self::Requested => "requested",
            Self::Slots => "slots",
            Self::GpuSlots => "gpu-slots",
        })
    }
}

/// What memory means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum MemoryDefinition {
    /// Mean canonical (user-accessible) memory times length of the usage windows, inside attempts
    Canonical,
    /// The same for assigned memory: the memory of the container, whether it was used or not
    Assigned,
    /// Memory request times the time from start to end
    Requested,
    /// Memory that a log records as used, mean per processor, times processors and the time from start
    /// to end
    Used,
}

impl MemoryDefinition {
    /// The unit of its sums for a kind of trace. It is a unit of memory times seconds: a share of
    /// the memory of the largest machine (NMU), or the unit of the log.
    pub const fn unit(self, source: Source) -> &'static str {
        source.memory_unit()
    }

    /// The column of `task_usage` that it reads, if any.
    pub const fn usage_column(self) -> Option<&'static str> {
        match self {
            Self::Canonical => Some("canonical_memory"),
            Self::Assigned => Some("assigned_memory"),
            Self::Requested | Self::Used => None,
        }
    }

    /// The default: canonical if the lake has a usage table, requested otherwise.
    pub fn usual(lake: &Lake) -> Self {
        if lake.has(Table::TaskUsage) { Self::Canonical } else { Self::Requested }
    }
}

impl fmt::Display for MemoryDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Canonical => "canonical",
            Self::Assigned => "assigned",
            Self::Requested => "requested",
            Self::Used => "used",
        })
    }
}

/// The quantity that is added up, and its definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Meter {
    /// CPU time.
    Cpu(CpuDefinition),
    /// Memory time.
    Memory(MemoryDefinition),
}

impl Default for Meter {
    fn default() -> Self {
        Self::Cpu(CpuDefinition::default())
    }
}

impl Meter {
    /// CPU time as the paper of 2017 defines it. It is known only for whole jobs.
    pub const PUBLISHED: Self = Self::Cpu(CpuDefinition::Published);

    /// The resource that is added up.
    pub const fn resource(self) -> Resource {
        match self {
            Self::Cpu(CpuDefinition::GpuSlots) => Resource::Gpu,
            Self::Cpu(_) => Resource::Cpu,
            Self::Memory(_) => Resource::Memory,
        }
    }

    /// The verb for an amount by this definition, such as `requested`. A requested amount was not
    /// necessarily used.
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Cpu(CpuDefinition::Requested) | Self::Memory(MemoryDefinition::Requested) => {
                "requested"
            }
            _ => "used",
        }
    }

    /// The name of its columns and keys: the value of `--cpu` or `--memory`.
    pub const fn column(self) -> &'static str {
        match self {
            Self::Cpu(_) => "cpu",
            Self::Memory(_) => "memory",
        }
    }

    /// Whether the attempts of a trace have no data for this meter. `attempts` counts all attempts,
    /// those without a request, and those with a recorded CPU time.
    pub const fn is_silent(self, source: Source, attempts: [u64; 3]) -> bool {
        let [attempts, without_request, with_cpu_time] = attempts;
        let is_of_requests = match self {
            Self::Cpu(CpuDefinition::Requested | CpuDefinition::GpuSlots) => true,
            Self::Memory(memory) => memory.usage_column().is_none(),
            Self::Cpu(CpuDefinition::Measured) => source.is_log(),
            Self::Cpu(_) => false,
        };
        is_of_requests && 0 < attempts && without_request == attempts && with_cpu_time == 0
    }

    /// The request of an attempt for the resource, if known.
    pub const fn request_of(self, attempt: &Attempt) -> Option<f32> {
        match self.resource() {
            Resource::Cpu => attempt.cpu_request,
            Resource::Memory => attempt.memory,
            Resource::Gpu => attempt.gpus,
        }
    }

    /// The unit of its sums for a kind of trace.
    pub const fn unit(self, source: Source) -> &'static str {
        match self {
            Self::Cpu(cpu) => cpu.unit(source),
            Self::Memory(memory) => memory.unit(source),
        }
    }

    /// Whether it reads recorded use.
    pub const fn needs_usage(self) -> bool {
        match self {
            Self::Cpu(cpu) => cpu.needs_usage(),
            Self::Memory(memory) => memory.usage_column().is_some(),
        }
    }

    /// What is read for each task in addition to its events.
    pub const fn usage(self) -> Usage {
        match self {
            Self::Cpu(CpuDefinition::GpuSlots) => Usage::Gpus,
            Self::Cpu(cpu) if cpu.needs_usage() => Usage::Read,
            Self::Cpu(_) => Usage::Skip,
            Self::Memory(MemoryDefinition::Used) => Usage::UsedMemory,
            Self::Memory(memory) => match memory.usage_column() {
                Some(column) => Usage::Memory(column),
                None => Usage::MemoryRequests,
            },
        }
    }

    /// Refuses a lake without the data that the definition needs.
    ///
    /// # Errors
    /// The meter reads recorded use and `task_usage` is missing (for measured CPU, a log that
    /// records the CPU time of jobs is enough); or this kind of trace records no GPUs.
    pub fn check(self, lake: &Lake) -> Result<(), LakeError> {
        match self {
            Self::Cpu(cpu) => cpu.check(lake),
            Self::Memory(memory) if memory.usage_column().is_some() => {
                lake.require(Table::TaskUsage).map(|_| ())
            }
            Self::Memory(_) => Ok(()),
        }
    }
}

impl fmt::Display for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu(cpu) => cpu.fmt(f),
            Self::Memory(memory) => memory.fmt(f),
        }
    }
}
