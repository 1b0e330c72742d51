//! The additional columns of accounting logs, which have one row per attempt.

use super::Column;
use super::ColumnType::{Float, Id, Int, Long, Text};
use super::columns::{
    JOB_EVENTS, LOG_EXTRA, LOG_MACHINE_EVENTS, LOG_TASK_EVENTS, MACHINE_EVENTS, TASK_EVENTS, join,
    may, must, replace,
};

/// The state of an attempt as logged.
pub(super) const STATE: Column =
    may("state", Text, "", "state as logged, such as `CANCELLED by 1001`");
pub(super) const END_REASON: Column = may(
    "end_reason",
    Text,
    "",
    "why it ended: TIMEOUT, OUT_OF_MEMORY, ...; missing while it is open",
);
pub(super) const GPU_REQUEST: Column =
    may("gpu_request", Float, "GPUs", "GPUs allocated, or else requested; 0.5 is half of one");
pub(super) const GPU_MODEL: Column =
    may("gpu_model", Text, "", "model of GPU, where one was named");
pub(super) const MACHINE_NAME: Column = may("machine_name", Text, "", "name of the machine");

/// Slurm's meanings of the columns in logs of parallel jobs.
const SLURM_LOG: [Column; LOG_EXTRA.len()] = replace(
    LOG_EXTRA,
    &[
        may("user_group", Text, "", "account that the job was charged to"),
        may("executable", Text, "", "name of the job; also in `logical_job_name` of job_events"),
        may("queue", Text, "", "partition it was submitted to"),
        may("status", Int, "", "as in SWF: 1 completed, 0 failed, 5 cancelled; else missing"),
    ],
);

/// Additional columns of jobs in accounting logs.
const ACCOUNTING: [Column; 11] = [
    STATE,
    END_REASON,
    may("exit_code", Text, "", "exit code"),
    may("account", Text, "", "account that the job was charged to"),
    may("unix_group", Text, "", "group of the user"),
    may("qos", Text, "", "quality of service, the class of the job"),
    may("cluster", Text, "", "cluster"),
    may("nodes", Int, "", "machines allocated"),
    may("node_list", Text, "", "machines it ran on, `cpn-f13-[01-03,07]`"),
    GPU_REQUEST,
    GPU_MODEL,
];

/// Columns that only Slurm has.
const SLURM_EXTRA: &[Column] = &join::<{ ACCOUNTING.len() + 3 }>(&[
    &replace::<{ ACCOUNTING.len() }>(
        &ACCOUNTING,
        &[may("exit_code", Text, "", "exit code and signal, `1:0`")],
    ),
    &[
        may("array_job_id", Id, "", "number of the array that the job is an element of"),
        may("array_index", Int, "", "its number in that array"),
        may("het_job_id", Id, "", "number of the heterogeneous job that it is a component of"),
    ],
]);

pub(super) const SLURM_JOB_EVENTS: &[Column] = &join::<
    { JOB_EVENTS.len() + LOG_EXTRA.len() + SLURM_EXTRA.len() },
>(&[JOB_EVENTS, &SLURM_LOG, SLURM_EXTRA]);
pub(super) const SLURM_TASK_EVENTS: &[Column] = &join::<
    { LOG_TASK_EVENTS.len() + LOG_EXTRA.len() + SLURM_EXTRA.len() },
>(&[&LOG_TASK_EVENTS, &SLURM_LOG, SLURM_EXTRA]);
pub(super) const SLURM_MACHINE_EVENTS: &[Column] = &join::<{ LOG_MACHINE_EVENTS.len() + 1 }>(&[
    &replace::<{ LOG_MACHINE_EVENTS.len() }>(
        LOG_MACHINE_EVENTS,
        &[
            must("machine_id", Id, "", "1 the whole system; else a machine (hash of its name)"),
            may("platform_id", Text, "", "the cluster, as the log names it"),
            may(
                "cpu_capacity",
                Float,
                "processors",
                "largest number in use at once in the whole system; missing for single machines",
            ),
        ],
    ),
    &[MACHINE_NAME],
]);

/// Additional columns that a mapped table may have.
const MAPPED_EXTRA: &[Column] = &replace::<{ ACCOUNTING.len() }>(
    &ACCOUNTING,
    &[may("end_reason", Text, "", "why it ended: the state as logged; missing while it is open")],
);

const MAPPED_LOG: [Column; LOG_EXTRA.len()] = replace(
    &SLURM_LOG,
    &[
        may("queue", Text, "", "queue it was submitted to"),
        may("run_us", Long, "µs", "run time; shorter than from start to end if it was suspended"),
    ],
);

pub(super) const MAPPED_JOB_EVENTS: &[Column] = &join::<
    { JOB_EVENTS.len() + LOG_EXTRA.len() + MAPPED_EXTRA.len() },
>(&[JOB_EVENTS, &MAPPED_LOG, MAPPED_EXTRA]);
pub(super) const MAPPED_TASK_EVENTS: &[Column] =
    &join::<{ LOG_TASK_EVENTS.len() + LOG_EXTRA.len() + MAPPED_EXTRA.len() }>(&[
        &replace::<{ TASK_EVENTS.len() }>(
            &LOG_TASK_EVENTS,
            &[
                may("priority", Int, "", "priority as logged"),
                may("cpu_request", Float, "processors", "CPUs allocated, or else requested"),
            ],
        ),
        &MAPPED_LOG,
        MAPPED_EXTRA,
    ]);
pub(super) const MAPPED_MACHINE_EVENTS: &[Column] = SLURM_MACHINE_EVENTS;

/// Additional columns of pods.
const OPENB_EXTRA: &[Column] = &[
    STATE,
    END_REASON,
    may("qos", Text, "", "quality of service: LS latency-sensitive, BE best effort, ..."),
    GPU_REQUEST,
    may("gpu_count", Int, "", "number of GPUs that it has a share of"),
    may("gpu_milli", Int, "1/1000", "thousandths of each of them"),
    GPU_MODEL,
];

pub(super) const OPENB_JOB_EVENTS: &[Column] =
    &join::<{ JOB_EVENTS.len() + OPENB_EXTRA.len() }>(&[JOB_EVENTS, OPENB_EXTRA]);
pub(super) const OPENB_TASK_EVENTS: &[Column] =
    &join::<{ TASK_EVENTS.len() + OPENB_EXTRA.len() }>(&[
        &replace::<{ TASK_EVENTS.len() }>(
            TASK_EVENTS,
            &[
                may("machine_id", Id, "", "never present: the log does not say where a pod ran"),
                may("priority", Int, "", "never present: the log has none"),
                may("cpu_request", Float, "cores", "CPU requested"),
                may("memory_request", Float, "MiB", "memory requested"),
            ],
        ),
        OPENB_EXTRA,
    ]);
pub(super) const OPENB_MACHINE_EVENTS: &[Column] = &join::<{ MACHINE_EVENTS.len() + 3 }>(&[
    &replace::<{ MACHINE_EVENTS.len() }>(
        MACHINE_EVENTS,
        &[
            must("machine_id", Id, "", "the machine (hash of its name)"),
            may("cpu_capacity", Float, "cores", "CPU"),
            may("memory_capacity", Float, "MiB", "memory"),
        ],
    ),
    &[
        MACHINE_NAME,
        may("gpu_capacity", Int, "GPUs", "GPUs"),
        may("gpu_model", Text, "", "model of its GPUs"),
    ],
]);

pub(super) const ALIBABA_JOB_EVENTS: &[Column] = &join::<{ JOB_EVENTS.len() + 2 }>(&[
    JOB_EVENTS,
    &[may("tasks", Int, "", "tasks of the job"), END_REASON],
]);
pub(super) const ALIBABA_2017_TASK_EVENTS: &[Column] = &join::<{ TASK_EVENTS.len() + 11 }>(&[
    &replace::<{ TASK_EVENTS.len() }>(
        TASK_EVENTS,
        &[
            must(
                "task_index",
                Int,
                "",
                "count of instances in the job, or the task without instances",
            ),
            may("machine_id", Id, "", "where an instance ran (hash of its number)"),
            may("priority", Int, "", "never present: the trace has none"),
            may("cpu_request", Float, "cores", "CPU of an instance, or of all of a task"),
            may("memory_request", Float, "share", "memory of an instance, or of all of a task"),
        ],
    ),
    &[
        STATE,
        END_REASON,
        may("instances", Int, "", "instances of the task"),
        may("instance_cpu_request", Float, "cores", "CPU requested by each"),
        may("instance_memory_request", Float, "share", "memory requested by each"),
        may("task_id", Int, "", "task of an instance"),
        may("attempt", Int, "", "number of the attempt of an instance, from 1"),
        may("mean_cpu", Float, "cores", "CPU that the instance used, mean"),
        may("max_cpu", Float, "cores", "CPU that the instance used, largest"),
        may("mean_memory", Float, "share", "memory that the instance used, mean"),
        may("max_memory", Float, "share", "memory that the instance used, largest"),
    ],
]);
pub(super) const ALIBABA_2017_MACHINE_EVENTS: &[Column] = &join::<{ MACHINE_EVENTS.len() + 3 }>(&[
    ALIBABA_MACHINES,
    &[
        MACHINE_NAME,
        may("status", Text, "", "what happened: `add`, `softerror` or `harderror`"),
        may("detail", Text, "", "kind of the error"),
    ],
]);
/// Machines of Alibaba.
const ALIBABA_MACHINES: &[Column] = &replace::<{ MACHINE_EVENTS.len() }>(
    MACHINE_EVENTS,
    &[
        must("machine_id", Id, "", "the machine (hash of its name)"),
        may("cpu_capacity", Float, "cores", "CPU"),
        may("memory_capacity", Float, "share", "memory, share of the largest machine"),
    ],
);

pub(super) const ALIBABA_2018_TASK_EVENTS: &[Column] = &join::<{ TASK_EVENTS.len() + 12 }>(&[
    &replace::<{ TASK_EVENTS.len() }>(
        TASK_EVENTS,
        &[
            must("task_index", Int, "", "number of the instance, or of the task without instances"),
            may("machine_id", Id, "", "where an instance ran (hash of its name)"),
            may("priority", Int, "", "never present: the trace has none"),
            may("cpu_request", Float, "cores", "CPU of an instance, or of all of a task"),
            may("memory_request", Float, "share", "memory of an instance, or of all of a task"),
        ],
    ),
    &[
        STATE,
        END_REASON,
        may("task_name", Text, "", "task; `M2_1` is number 2 of its job and waits for 1"),
        may("instance_name", Text, "", "instance of the task"),
        may("task_type", Text, "", "type of the task, 1 to 12"),
        may("depends_on", Text, "", "numbers of the tasks that end first, joined by spaces"),
        may("instances", Int, "", "instances of the task"),
        may("attempt", Int, "", "number of the attempt of an instance, from 1"),
        may("mean_cpu", Float, "cores", "CPU that the instance used, mean"),
        may("max_cpu", Float, "cores", "CPU that the instance used, largest"),
        may("mean_memory", Float, "share", "memory that the instance used, mean"),
        may("max_memory", Float, "share", "memory that the instance used, largest"),
    ],
]);
pub(super) const ALIBABA_2018_MACHINE_EVENTS: &[Column] = &join::<{ MACHINE_EVENTS.len() + 4 }>(&[
    ALIBABA_MACHINES,
    &[
        MACHINE_NAME,
        may("failure_domain_1", Text, "", "failure domain"),
        may("failure_domain_2", Text, "", "failure domain of another kind"),
        may("status", Text, "", "state of the machine, such as `USING`"),
    ],
]);

pub(super) const KUBERNETES_JOB_EVENTS: &[Column] = &join::<{ JOB_EVENTS.len() + 2 }>(&[
    &replace::<{ JOB_EVENTS.len() }>(
        JOB_EVENTS,
        &[
            may("user", Text, "", "namespace, or the label that `--user-from` names"),
            may("job_name", Text, "", "namespace, kind and name of what owns the pods"),
        ],
    ),
    &[may("tasks", Int, "", "tasks of the job"), END_REASON],
]);
pub(super) const KUBERNETES_TASK_EVENTS: &[Column] = &join::<{ TASK_EVENTS.len() + 11 }>(&[
    &replace::<{ TASK_EVENTS.len() }>(
        TASK_EVENTS,
        &[
            must("task_index", Int, "", "index of the pod in its job, or a hash of its name"),
            may("machine_id", Id, "", "node (hash of its name)"),
            may("user", Text, "", "namespace, or the label that `--user-from` names"),
            may("priority", Int, "", "priority of the pod"),
            may("cpu_request", Float, "cores", "CPU requested by its containers"),
            may("memory_request", Float, "MiB", "memory requested by its containers"),
        ],
    ),
    &[
        may("state", Text, "", "phase of the pod, such as `Succeeded`"),
        may("end_reason", Text, "", "why it ended: OOMKilled, Evicted, Error, Completed, ..."),
        may("exit_code", Text, "", "exit code"),
        may("namespace", Text, "", "namespace"),
        may("pod_name", Text, "", "name of the pod"),
        may(
            "owner_kind",
            Text,
            "",
            "kind of its owner: Job, Deployment, ...; Pod if it has no owner",
        ),
        may("qos", Text, "", "quality of service, the class of the job"),
        may("restarts", Int, "", "how often its container was started again"),
        may("priority_class", Text, "", "name of its priority"),
        GPU_REQUEST,
        MACHINE_NAME,
    ],
]);
pub(super) const KUBERNETES_MACHINE_EVENTS: &[Column] = &join::<{ MACHINE_EVENTS.len() + 1 }>(&[
    &replace::<{ MACHINE_EVENTS.len() }>(
        MACHINE_EVENTS,
        &[
            must("machine_id", Id, "", "the machine (hash of its name)"),
            may("cpu_capacity", Float, "cores", "never present: not recorded"),
            may("memory_capacity", Float, "MiB", "never present: not recorded"),
        ],
    ),
    &[MACHINE_NAME],
]);
