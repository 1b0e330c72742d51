//! The columns of each table, by source of the lake.

use super::columns::{
    GWF_JOB_EVENTS, GWF_TASK_EVENTS, JOB_EVENTS, LOG_MACHINE_EVENTS, MACHINE_ATTRIBUTES,
    MACHINE_EVENTS, RUMEN_JOB_EVENTS, RUMEN_MACHINE_EVENTS, RUMEN_TASK_EVENTS, SWF_JOB_EVENTS,
    SWF_TASK_EVENTS, TASK_CONSTRAINTS, TASK_EVENTS, TASK_USAGE, V3_JOB_EVENTS, V3_MACHINE_EVENTS,
    V3_TASK_CONSTRAINTS, V3_TASK_EVENTS, V3_TASK_USAGE,
};
use super::records::{
    ALIBABA_2017_MACHINE_EVENTS, ALIBABA_2017_TASK_EVENTS, ALIBABA_2018_MACHINE_EVENTS,
    ALIBABA_2018_TASK_EVENTS, ALIBABA_JOB_EVENTS, KUBERNETES_JOB_EVENTS, KUBERNETES_MACHINE_EVENTS,
    KUBERNETES_TASK_EVENTS, MAPPED_JOB_EVENTS, MAPPED_MACHINE_EVENTS, MAPPED_TASK_EVENTS,
    OPENB_JOB_EVENTS, OPENB_MACHINE_EVENTS, OPENB_TASK_EVENTS, SLURM_JOB_EVENTS,
    SLURM_MACHINE_EVENTS, SLURM_TASK_EVENTS,
};
use super::{Column, Source, Table};

/// The columns of a table in lakes of a source.
pub(super) const fn of(table: Table, source: Source) -> &'static [Column] {
    use Source::{Google2019, Google2019AllocSets};
    match (table, source) {
        (Table::JobEvents, Google2019 | Google2019AllocSets) => V3_JOB_EVENTS,
        (Table::TaskEvents, Google2019 | Google2019AllocSets) => V3_TASK_EVENTS,
        (Table::TaskUsage, Google2019 | Google2019AllocSets) => V3_TASK_USAGE,
        (Table::MachineEvents, Google2019 | Google2019AllocSets) => V3_MACHINE_EVENTS,
        (Table::TaskConstraints, Google2019 | Google2019AllocSets) => V3_TASK_CONSTRAINTS,
        (Table::JobEvents, Source::Google2011) => JOB_EVENTS,
        (Table::JobEvents, Source::Swf) => SWF_JOB_EVENTS,
        (Table::JobEvents, Source::Gwf) => GWF_JOB_EVENTS,
        (Table::JobEvents, Source::Rumen) => RUMEN_JOB_EVENTS,
        (Table::JobEvents, Source::Slurm) => SLURM_JOB_EVENTS,
        (Table::JobEvents, Source::Openb) => OPENB_JOB_EVENTS,
        (Table::JobEvents, Source::Alibaba2017 | Source::Alibaba2018) => ALIBABA_JOB_EVENTS,
        (Table::JobEvents, Source::Mapped) => MAPPED_JOB_EVENTS,
        (Table::TaskEvents, Source::Google2011) => TASK_EVENTS,
        (Table::TaskEvents, Source::Swf) => SWF_TASK_EVENTS,
        (Table::TaskEvents, Source::Gwf) => GWF_TASK_EVENTS,
        (Table::TaskEvents, Source::Rumen) => RUMEN_TASK_EVENTS,
        (Table::TaskEvents, Source::Slurm) => SLURM_TASK_EVENTS,
        (Table::TaskEvents, Source::Openb) => OPENB_TASK_EVENTS,
        (Table::TaskEvents, Source::Alibaba2017) => ALIBABA_2017_TASK_EVENTS,
        (Table::TaskEvents, Source::Alibaba2018) => ALIBABA_2018_TASK_EVENTS,
        (Table::JobEvents, Source::Kubernetes) => KUBERNETES_JOB_EVENTS,
        (Table::TaskEvents, Source::Kubernetes) => KUBERNETES_TASK_EVENTS,
        (Table::MachineEvents, Source::Kubernetes) => KUBERNETES_MACHINE_EVENTS,
        (Table::TaskEvents, Source::Mapped) => MAPPED_TASK_EVENTS,
        (Table::MachineEvents, Source::Swf | Source::Gwf) => LOG_MACHINE_EVENTS,
        (Table::MachineEvents, Source::Rumen) => RUMEN_MACHINE_EVENTS,
        (Table::MachineEvents, Source::Slurm) => SLURM_MACHINE_EVENTS,
        (Table::MachineEvents, Source::Mapped) => MAPPED_MACHINE_EVENTS,
        (Table::MachineEvents, Source::Openb) => OPENB_MACHINE_EVENTS,
        (Table::MachineEvents, Source::Alibaba2018) => ALIBABA_2018_MACHINE_EVENTS,
        (Table::MachineEvents, Source::Alibaba2017) => ALIBABA_2017_MACHINE_EVENTS,
        (Table::MachineEvents, Source::Google2011) => MACHINE_EVENTS,
        (Table::TaskUsage, _) => TASK_USAGE,
        (Table::MachineAttributes, _) => MACHINE_ATTRIBUTES,
        (Table::TaskConstraints, _) => TASK_CONSTRAINTS,
    }
}
