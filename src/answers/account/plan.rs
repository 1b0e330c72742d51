//! The plan of `account`: the resource that is added up, and how it is split.

use serde::{Deserialize, Serialize};

use crate::answers::grouped::check_group;
use crate::answers::study::{Definitions, Plan};
use crate::answers::words;
use crate::defaults::Defaults;
use crate::facts::tasks::records_used_memory;
use crate::faults::Usage;
use crate::lake::Lake;
use crate::studies::fold::Asked;
use crate::studies::ledger::{CpuDefinition, GroupBy};
use crate::studies::meter::{MemoryDefinition, Meter, Resource};
use crate::studies::outcomes::Classes;

/// What CPU time means and how outcomes are defined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct CpuChoice {
    /// What CPU time means
    #[cfg_attr(feature = "cli", arg(long, value_enum, long_help = crate::defaults::cpu_help()))]
    pub cpu: Option<CpuDefinition>,

    /// How outcomes are defined: sequence or terminal
    ///
    /// By `sequence`, the published one, a job that was evicted or requeued and then finished is
    /// `other`; by `terminal`, its last event, it finished. `analyze` takes `terminal` for
    /// every trace except those of Google.
    #[cfg_attr(feature = "cli", arg(long, value_name = "CLASSES", default_value_t))]
    pub classes: Classes,
}

impl CpuChoice {
    /// A study with these definitions. If no `--cpu` was chosen, it has the default of the lake.
    pub(crate) fn asked(self, lake: &Lake) -> Asked {
        let cpu = self.cpu.unwrap_or_else(|| Defaults::of(lake).cpu);
        Asked { meter: Meter::Cpu(cpu), classes: self.classes, ..Asked::default() }
    }
}

/// What is added up, and how it is split.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct AccountPlan {
    #[cfg_attr(feature = "cli", command(flatten))]
    #[serde(skip)]
    pub choice: CpuChoice,

    /// What is added up
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value_t))]
    pub resource: Resource,

    /// What memory means
    ///
    /// For --resource memory. By default canonical if the lake has a table `task_usage`, and
    /// requested otherwise. `used` is the memory that jobs used, in logs that record it. The Google
    /// trace has two measures: `canonical` is what the processes of the task used, `assigned` is
    /// the memory of its container, whether it was used or not.
    #[cfg_attr(feature = "cli", arg(long, value_enum))]
    pub memory: Option<MemoryDefinition>,

    /// Split the outcomes by user, account, queue or other columns
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "KEY,...", value_delimiter = ',', value_enum)
    )]
    #[serde(deserialize_with = "words::commas")]
    pub group_by: Vec<GroupBy>,

    /// Split each outcome by the reason why the jobs ended
    ///
    /// The same as --group-by reason: `TIMEOUT`, `OUT_OF_MEMORY`, `NODE_FAIL`, ... in logs
    /// that record it.
    #[cfg_attr(feature = "cli", arg(long))]
    pub by_reason: bool,
}

impl Plan for AccountPlan {
    fn define(&mut self, definitions: &Definitions) {
        // Memory and GPUs have their own definitions.
        let cpu = definitions.cpu.filter(|_| self.resource == Resource::Cpu);
        self.choice = CpuChoice { cpu, classes: definitions.classes };
    }

    fn choose(&mut self, definitions: &Definitions) {
        self.choice = CpuChoice { cpu: definitions.cpu, classes: definitions.classes };
    }

    fn check_alone(&self) -> Result<(), Usage> {
        let repeated = repeated(&self.group_by);
        let twice = repeated
            .map(|name| format!("--group-by gives two columns `{name}`: name each key once"));
        twice.map_or_else(|| self.check_resource(), |text| Err(Usage(text)))
    }
}

impl AccountPlan {
    /// The request of the plan to a lake.
    ///
    /// # Errors
    /// A definition of another resource was chosen, a group is named twice, or the lake does not
    /// record a group or the memory that jobs used.
    pub fn asked(&self, lake: &Lake) -> Result<Asked, Usage> {
        let (classes, groups) = (self.choice.classes, self.groups());
        self.check_alone()?;
        let meter = self.meter(lake)?;
        groups.iter().try_for_each(|&group| check_group(lake, group))?;
        Ok(Asked { meter, classes, groups, ..Asked::default() })
    }

    /// The groups by which the outcomes are split.
    pub fn groups(&self) -> Vec<GroupBy> {
        let is_missing = self.by_reason && !self.group_by.contains(&GroupBy::Reason);
        self.group_by.iter().copied().chain(is_missing.then_some(GroupBy::Reason)).collect()
    }

    /// Refuses a definition that belongs to another resource.
    fn check_resource(&self) -> Result<(), Usage> {
        let refused = |option: &str| {
            let name = self.resource.name();
            let text =
                format!("--{option} is for --resource {option}, and this is --resource {name}");
            Err(Usage(text))
        };
        let cpu = self.choice.cpu;
        match self.resource {
            Resource::Cpu | Resource::Gpu if self.memory.is_some() => refused("memory"),
            Resource::Memory if cpu.is_some() => refused("cpu"),
            Resource::Gpu if cpu.is_some_and(|cpu| cpu != CpuDefinition::GpuSlots) => {
                refused("cpu")
            }
            _ => Ok(()),
        }
    }

    /// The chosen definition, or the default of the lake.
    ///
    /// # Errors
    /// The lake does not record the memory that jobs used.
    fn meter(&self, lake: &Lake) -> Result<Meter, Usage> {
        let cpu = self.choice.cpu;
        match self.resource {
            Resource::Cpu => Ok(Meter::Cpu(cpu.unwrap_or_else(|| Defaults::of(lake).cpu))),
            Resource::Gpu => Ok(Meter::Cpu(CpuDefinition::GpuSlots)),
            Resource::Memory => {
                let memory = self.memory.unwrap_or_else(|| MemoryDefinition::usual(lake));
                if memory == MemoryDefinition::Used && !records_used_memory(lake).unwrap_or(false) {
                    let text = "--memory used: this lake does not record the memory that jobs \
                    used, as some SWF and GWF logs do; give --memory requested";
                    return Err(Usage(text.to_owned()));
                }
                Ok(Meter::Memory(memory))
            }
        }
    }
}

/// The column of a group that is named twice.
fn repeated(groups: &[GroupBy]) -> Option<&'static str> {
    let is_again = |at: usize| groups[..at].contains(&groups[at]);
    (0..groups.len()).find(|&at| is_again(at)).map(|at| groups[at].name())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The CPU definition of an analysis once caused an error for every other resource.
    #[test]
    fn the_definition_of_cpu_time_is_for_cpu_alone() {
        for (resource, cpu) in [
            (Resource::Cpu, Some(CpuDefinition::Slots)),
            (Resource::Memory, None),
            (Resource::Gpu, None),
        ] {
            let mut plan = AccountPlan { resource, ..AccountPlan::default() };
            let classes = Classes::Terminal;
            plan.define(&Definitions {
                cpu: Some(CpuDefinition::Slots),
                classes,
                ..Definitions::default()
            });
            assert_eq!(plan.choice, CpuChoice { cpu, classes }, "{resource:?}");
        }
    }

    #[test]
    fn a_group_that_is_named_twice_is_found() {
        let [user, class] = [GroupBy::User, GroupBy::Class];
        assert_eq!(repeated(&[user, class]), None);
        assert_eq!(repeated(&[user, class, user]), Some("user"));
    }
}
