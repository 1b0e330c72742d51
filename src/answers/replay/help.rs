//! The help of `--policies`, which lists every order, placement and rule.
//!
//! In: the lists of policies. Out: the text.

use crate::replay::placement::PLACEMENTS;
use crate::replay::policies::Kind;

/// The text of the help; names in braces are replaced by lists.
const POLICIES: &str = "Policies, separated by spaces; the first is the baseline\n\n\
    A policy is an order, a placement, one or two rules about running tasks and a kill rule, \
    joined by `+`. Each is optional: `priority:preempt=yes+best-fit+late+kill:events=20`. The \
    policies by default depend on the source: see the end of this page.\n\n\
    Orders: {orders}. Orders by request: {by_request}; a requested time under 1 s counts as 1 s. \
    `backfill=easy` or `backfill=conservative` lets later tasks of any order start early if they \
    delay no reservation, as in `sjf:backfill=easy`. With `depth=N` an order can skip N tasks \
    that fit on no machine (`easy` skips any number by default). `depth_cuts` counts the instants \
    at which further tasks waited although a machine had free capacity. Under `fifo`, an evicted \
    or lost task waits again before all others.\n\n\
    `easy:predict=last2` plans with the mean of the user's last two runs (or the only one) that \
    had ended when a task was submitted, at most its requested time. If a task runs longer than \
    planned, its plan is extended by 1, 5, 15, 30 minutes, then by 1, 2, 5, 10, 20, 50, 100 \
    hours, at most to the requested time. These steps come from later descriptions of the paper \
    (Tsafrir, Etsion and Feitelson 2007) and were not checked in the paper itself. \
    `easy:predict=last2,steps_min=1/5/15` sets other steps, in minutes; the last one is \
    repeated.\n\n\
    Placements: {placements}.\n\n\
    Rules about running tasks: {rules}, and every detector of `jobfate detect`. Two of them can \
    be combined, as in `poisson+yarn`: the first judges first, and its copies start before those \
    of the second. If one restarts a task, a copy of it that the other requested earlier is \
    dropped.\n\n\
    Kill rules: `kill:` and a rule of `jobfate sweep --rules` with one threshold; the rule kills \
    the tasks that it condemns. Examples: `kill:events=20`, `kill:failures=3+dead-time=3600` \
    (both; 3600 s), `kill:restarts=4~priority=9` (within an hour; spares priority 9).\n\n\
    Retries and limits: `kill:k8s:backoff_limit=6,base_s=10,max_s=360` ends a job at its seventh \
    failure. A failed task waits 10 s, 20 s, ... before its next attempt, which delays its later \
    events. The wait is by default at most 600 s, as Kubernetes' code has it (its documentation \
    says 360). `kill:spark:max_failures=4` and `kill:hadoop:max_attempts=4` end a job at the \
    fourth failure of one task, without a wait. `per=task` ends only the task; `on=fail+evict` \
    also counts evictions and losses. `kill:slurm:limit=3600` stops an attempt after an hour, \
    `limit=150,of=requested` at 150 % of its requested time.\n\n\
    The past of users: `kill:history:p=0.95` kills a task 60 s after its start (`after=60`) if \
    the chance that its job does not finish was at least 0.95 at its submission. With `by=age` or \
    `by=events` the chance is computed again as the task ages (see `jobfate sweep --rules`). The \
    rule learns from the jobs of the lake that had ended before the first arrival, and then only \
    from jobs that have ended in the replay: the recorded outcome of a job counts once its last \
    task has ended in the replay, if none of its tasks was condemned.\n\n\
    Braces give a grid: `fifo+late:cap={0.05,0.1,0.2}`, `fifo+kill:{events=10,events=20}`.";

/// The help of `--policies`.
pub(super) fn policies() -> String {
    let [orders, by_request, rules] = Kind::names();
    POLICIES
        .replace("{orders}", &orders)
        .replace("{by_request}", &by_request)
        .replace("{rules}", &rules)
        .replace("{placements}", &PLACEMENTS.map(|one| one.0).join(", "))
}
