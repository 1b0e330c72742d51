//! The plan of `load`.

use serde::{Deserialize, Serialize};

use super::length::Length;
use crate::answers::grouped::{check_accounts, check_qos};
use crate::answers::study::{Definitions, Plan};
use crate::digits;
use crate::facts::window::Windows;
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::schema::Table;
use crate::studies::load::{Asked, By, Intervals, span_of};
use crate::studies::meter::{MemoryDefinition, Resource};
use crate::studies::outcomes::Classes;

/// The usual number of separate groups.
const GROUPS: usize = 6;

/// The most intervals times groups; they take about 1.5 GB per thread.
const CELLS_MAX: usize = 4_000_000;

/// What is asked of a lake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LoadPlan {
    /// Length of an interval: 90s, 5m, 1h or 1d
    ///
    /// A number without a unit is in seconds. Intervals begin at whole multiples of it, such as whole
    /// hours (UTC) of a log with dates. The first begins with the first event of a task, and the last
    /// ends with the window.
    #[cfg_attr(feature = "cli", arg(long, value_name = "LENGTH", default_value = "5m"))]
    pub interval: Length,

    /// Split each interval into groups, such as users or bands
    ///
    /// Gives a row for each interval and group. The rows of an interval add up to its row without
    /// --by. Bands of 2011 are free (0, 1), other (2 to 8), production (9), and monitoring and
    /// infrastructure (10, 11); those of 2019 are free (to 99), best-effort batch (to 115), mid (to
    /// 119), production (to 359) and monitoring. Without --by there is a row per interval; charts
    /// then show priority bands for the Google traces, and the outcomes of jobs for all others.
    #[cfg_attr(feature = "cli", arg(long, value_name = "KEY", value_enum))]
    pub by: Option<By>,

    /// Number of users or accounts with a separate group
    ///
    /// For --by user, account and qos. Those with the most requested CPU time have separate groups;
    /// the rest share the group `(others)`.
    #[cfg_attr(feature = "cli", arg(long, value_name = "COUNT", default_value_t = GROUPS, value_parser = crate::units::natural::<usize>))]
    pub groups: usize,

    /// How outcomes are defined: sequence or terminal
    #[cfg_attr(feature = "cli", arg(long, value_name = "CLASSES", default_value_t))]
    #[serde(skip)]
    pub classes: Classes,

    /// Only the columns and charts of one resource
    ///
    /// By default CPU and memory, and GPUs where attempts record them.
    #[cfg_attr(feature = "cli", arg(long, value_enum))]
    pub resource: Option<Resource>,

    /// Measure of used memory: canonical or assigned
    ///
    /// The Google trace has two measures: `canonical` is what the processes of the task used,
    /// `assigned` is the memory of its container, whether it was used or not. A log has the memory
    /// that it records.
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "MEMORY", value_enum, default_value = "canonical")
    )]
    pub memory: UsedMemory,

    /// Also show the free capacity that no waiting task fits
    ///
    /// The free capacity of a machine is its capacity minus the requests of the attempts that run
    /// on it, at least 0. It is fragmented while tasks wait but none fits the machine, because each
    /// requests more CPU or more memory than is free there. Other constraints and GPUs are not
    /// considered (for GPUs see `jobfate replay --fragmentation`). Waiting tasks without a recorded
    /// request are left out, and so are machines whose CPU or memory is not recorded. Reads the
    /// events a second time.
    #[cfg_attr(feature = "cli", arg(long))]
    pub fragmentation: bool,
}

impl Default for LoadPlan {
    fn default() -> Self {
        Self {
            interval: Length::seconds(300),
            by: None,
            groups: GROUPS,
            classes: Classes::default(),
            resource: None,
            memory: UsedMemory::default(),
            fragmentation: false,
        }
    }
}

impl Plan for LoadPlan {
    fn define(&mut self, definitions: &Definitions) {
        self.classes = definitions.classes;
    }

    fn check(&self) -> Result<(), Usage> {
        let has_largest = matches!(self.by, Some(By::User | By::Account | By::Qos));
        if self.groups != GROUPS && !has_largest {
            return Err(Usage("--groups is for --by user, account and qos".to_owned()));
        }
        if self.groups < 1 {
            return Err(Usage("--groups 0 leaves no group: give 1 or more".to_owned()));
        }
        if self.resource == Some(Resource::Gpu) && self.fragmentation {
            let text = "--fragmentation is about CPU and memory, and this is --resource gpu; \
            `jobfate replay --fragmentation` shows that of GPUs";
            return Err(Usage(text.to_owned()));
        }
        match self.resource {
            Some(resource) if resource != Resource::Memory => {
                let name = resource.name();
                let text =
                    format!("--memory is for --resource memory, and this is --resource {name}");
                if self.memory == UsedMemory::default() { Ok(()) } else { Err(Usage(text)) }
            }
            _ => Ok(()),
        }
    }
}

/// What used memory means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum UsedMemory {
    /// What the processes of the task used
    #[default]
    Canonical,
    /// What its container had, used or not
    Assigned,
}

impl UsedMemory {
    const fn definition(self) -> MemoryDefinition {
        match self {
            Self::Canonical => MemoryDefinition::Canonical,
            Self::Assigned => MemoryDefinition::Assigned,
        }
    }
}

/// The request of a plan to a lake.
///
/// # Errors
/// There are too many intervals, there is no `task_events`, or the lake does not record what the
/// plan needs.
pub(in crate::answers) fn asked(lake: &Lake, windows: Windows, plan: &LoadPlan) -> Result<Asked> {
    plan.check()?;
    lake.require(Table::TaskEvents)?;
    let at = Intervals::at_multiples(span_of(lake, windows), plan.interval.micros());
    // Only the Google traces have priority bands.
    let usual = if lake.source().is_google() { By::PriorityBand } else { By::Outcome };
    let by = plan.by.unwrap_or(usual);
    if by == By::PriorityBand && by != usual {
        let text = format!(
            "--by priority-band is only for the Google traces: {} has no such bands",
            lake.source().name()
        );
        return Err(Usage(text).into());
    }
    if by == By::Qos {
        check_qos(lake, Table::TaskEvents)?;
    }
    if by == By::Account {
        check_accounts(lake, Table::TaskEvents)?;
    }
    let most = match by {
        By::User | By::Account | By::Qos => plan.groups + 1,
        _ => 9,
    };
    if plan.resource == Some(Resource::Gpu) {
        lake.require_gpus()?;
    }
    if CELLS_MAX / most < at.count() {
        let text = format!(
            "{} intervals with {most} groups would fill memory: give a longer --interval or fewer \
            --groups",
            digits::grouped(at.count() as u64)
        );
        return Err(Usage(text).into());
    }
    Ok(Asked { at, by, classes: plan.classes, most: plan.groups, memory: plan.memory.definition() })
}
