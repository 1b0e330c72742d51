//! The questions in words: the question, its definition, why published answers differ, and the
//! numbers of public reports. Students wrote these reports, so they have numbers instead of names.

use crate::schema::Table;

/// A question.
pub(super) struct Question {
    /// The question, in the words of the courses.
    pub asked: &'static str,
    /// The exact definition of the answer.
    pub definition: &'static str,
    /// The query that defines the answer.
    pub query: &'static str,
    /// Tables without which there is no answer.
    pub tables: &'static [Table],
    /// The groups of the question.
    pub group: &'static str,
    /// The measures that are the answer; all other measures are other readings.
    pub answers: &'static [&'static str],
    /// The reason why published answers differ.
    pub differ: &'static str,
    /// The numbers of public reports.
    pub said: &'static [Said],
}

/// A number of a public report.
pub(super) struct Said {
    /// The number; a share is from 0 to 1.
    pub value: f64,
    /// The unit of its last printed digit.
    pub digit: f64,
    /// Whether it is a count, to compare with the numerator of the reading.
    pub is_count: bool,
    /// Measure and group of the reading to compare with; an empty measure if no such reading is
    /// known.
    pub reading: (&'static str, f64),
    /// What the number counts, and which report has it.
    pub about: &'static str,
}

impl Question {
    /// Whether a measure is the answer, not another reading.
    pub(super) fn is_answer(&self, measure: &str) -> bool {
        self.answers.contains(&measure)
    }
}

const fn count(value: f64, reading: (&'static str, f64), about: &'static str) -> Said {
    Said { value, digit: 1.0, is_count: true, reading, about }
}

const fn share(value: f64, digit: f64, reading: (&'static str, f64), about: &'static str) -> Said {
    Said { value, digit, is_count: false, reading, about }
}

/// The reading of a number if none of our readings is known to be the same.
const NONE: (&str, f64) = ("", -1.0);

/// The ten questions.
pub(super) static QUESTIONS: [Question; 10] = [
    Question {
        asked: "What is the distribution of the machines by their CPU capacity?",
        definition: "Each machine counts once, under its last recorded capacity.",
        query: "q23_course_machines",
        tables: &[Table::MachineEvents],
        group: "CPU",
        answers: &["machines"],
        differ: "machine_events has a row for each time that a machine joins, leaves or changes, \
        three per machine on average. Reports that count its rows find 37,780 machines, of which \
        32 have no capacity; those that take the rows of time 0 miss the machines that joined \
        later. The shares hardly differ, because machines of all capacities join and leave about \
        equally often. So the counts show the mistake, but the shares do not.",
        said: &[
            count(35_015.0, ("rows", 0.5), "machines of CPU 0.5, reports 1 and 2"),
            count(2_223.0, ("rows", 1.0), "machines of CPU 1, reports 1 and 2"),
            count(510.0, ("rows", 0.25), "machines of CPU 0.25, reports 1 and 2"),
            share(
                0.93,
                0.01,
                ("machines at time 0", 0.5),
                "machines of CPU 0.5 at time 0, report 3",
            ),
        ],
    },
    Question {
        asked: "What share of the CPU capacity is lost to maintenance?",
        definition: "CPU times time of outages that ended (REMOVE to the next ADD), over that and CPU times \
            time of machines that were up, to the end of the trace.",
        query: "q24_course_capacity",
        tables: &[Table::MachineEvents],
        group: "machines",
        answers: &["lost"],
        differ: "Reports 1, 3 and 4 have the same numerator. The denominator decides: most \
        machines never leave, so their last row is their first. The time from the first to the \
        last row of each machine leaves out three quarters of the available capacity, which makes \
        the loss four times as large. With machines that never came back it is larger still, and \
        counting machines instead of time gives 41 %. Differences of times that are not paired \
        (REMOVE with the next ADD of the same machine) give negative shares.",
        said: &[
            share(0.0048, 0.0001, ("lost", -1.0), "reports 1 and 4"),
            share(0.018_879, 0.000_001, ("lost, between first and last event", -1.0), "report 3"),
            share(0.0186, 0.0001, NONE, "report 2"),
            share(0.0219, 0.0001, NONE, "report 5"),
        ],
    },
    Question {
        asked: "How many jobs and tasks does each scheduling class have?",
        definition: "Each job and task counts once, under the class that it had last.",
        query: "q25_course_classes",
        tables: &[Table::JobEvents, Table::TaskEvents],
        group: "class",
        answers: &["jobs", "tasks"],
        differ: "A job has three rows in job_events, a task four or more in task_events. Reports \
        that count rows find 771,302 jobs of class 0 instead of 257,275. The shares of jobs stay \
        about the same, those of tasks do not: tasks that are evicted and restarted have more \
        rows. Most reports use five of 500 parts, and each group of students has different ones: a \
        part covers one and a half hours, in which one user may submit thousands of tasks.",
        said: &[
            count(771_302.0, ("rows of jobs", 0.0), "jobs of class 0, report 1"),
            count(643_916.0, ("rows of jobs", 1.0), "jobs of class 1, report 1"),
            count(582_340.0, ("rows of jobs", 2.0), "jobs of class 2, report 1"),
            count(14_684.0, ("rows of jobs", 3.0), "jobs of class 3, report 1"),
        ],
    },
    Question {
        asked: "Do tasks of a low scheduling class have a higher chance of being evicted?",
        definition: "Tasks with one EVICT or more, of all tasks of their last class.",
        query: "q26_course_evictions",
        tables: &[Table::TaskEvents],
        group: "class",
        answers: &["tasks"],
        differ: "Four denominators are in use, and they order the classes differently: tasks, \
        attempts, rows, and the evictions of all classes. Most evictions are of class 0 because \
        most tasks are, which says nothing about the chance. Per attempt, a task that is evicted a \
        hundred times counts a hundred times. Besides, the class does not decide: evictions follow \
        the priority (question 8), and classes mix priorities. Reports on other parts find other \
        numbers with the same definition.",
        said: &[
            share(
                0.75,
                0.01,
                ("of all evictions", 0.0),
                "class 0, of all evictions, report 3, other parts",
            ),
            share(0.0120, 0.0001, ("rows", 0.0), "class 0, of rows, report 2, other parts"),
            share(0.0136, 0.0001, ("rows", 1.0), "class 1, of rows, report 2, other parts"),
            share(0.0559, 0.0001, NONE, "low classes, report 1; it finds 7.40 % for high ones"),
            share(0.0416, 0.0001, NONE, "low classes, report 5; it finds 2.86 % for others"),
        ],
    },
    Question {
        asked: "Do tasks of the same job run on the same machine?",
        definition: "Of jobs with two or more tasks that ran, those of which all attempts ran on one machine.",
        query: "q27_course_locality",
        tables: &[Table::TaskEvents],
        group: "jobs",
        answers: &["one machine"],
        differ: "Three of four jobs have one task, which always runs on one machine. If they \
        count, the answer is yes; without them it is no. Jobs that use more machines than they \
        have tasks are not spread further: their tasks were restarted elsewhere. A job whose tasks \
        began before the first loaded part shows only those that were scheduled again.",
        said: &[
            share(
                0.4169,
                0.0001,
                ("one machine, jobs of one task too", -1.0),
                "report 2, other parts",
            ),
            share(0.74, 0.01, ("as many machines as tasks", -1.0), "report 3, other parts"),
            share(0.20, 0.01, ("more machines than tasks", -1.0), "report 3, other parts"),
            share(0.06, 0.01, ("fewer machines than tasks", -1.0), "report 3, other parts"),
        ],
    },
    Question {
        asked: "Do the tasks that request more resources use more?",
        definition: "Pearson's correlation, over tasks, of the largest request and the mean use over its usage \
            windows, weighted by their lengths.",
        query: "q28_course_requests",
        tables: &[Table::TaskEvents, Table::TaskUsage],
        group: "tasks",
        answers: &["CPU", "memory"],
        differ: "Reports correlate tasks, or rows of task_usage (which weights tasks by how long \
        they run), or the request with the share of it that is used. The last is a different \
        question: the correlation is negative if large requests are padded, although large \
        requests use more. Some tasks use more than they request, because CPU is not limited. \
        Requests have few distinct values, so a correlation says little; the mean use by request \
        says more.",
        said: &[
            share(0.446_985, 0.000_001, ("CPU", -1.0), "CPU, report 2, other parts"),
            share(0.567_810, 0.000_001, ("memory", -1.0), "memory, report 2, other parts"),
            share(0.0, 0.1, ("CPU over request", -1.0), "about 0, report 3, other parts"),
        ],
    },
    Question {
        asked: "Are peaks of use and evictions correlated?",
        definition: "Pearson's correlation, over the hours, of the CPU requested by running tasks and the EVICT rows \
            in the hour.",
        query: "q29_course_peaks",
        tables: &[Table::TaskEvents],
        group: "hours",
        answers: &["hours, requested"],
        differ: "Use can be that of a task, a machine or the cluster, in five minutes or an hour, \
        and a peak can be a maximum or a mean. Most reports join evictions to usage windows of the \
        same task or machine, which keeps only machines that ran something then; with few parts of \
        task_usage there are few pairs. A correlation over hours of one day mixes the time of day \
        into both. None of them shows what causes an eviction.",
        said: &[share(
            -0.025,
            0.001,
            ("machines, five minutes", -1.0),
            "machines in five minutes, largest rate of one task, report 3, other parts",
        )],
    },
    Question {
        asked: "How do priorities and evictions go together?",
        definition: "Tasks with one EVICT or more, of all tasks of their last priority.",
        query: "q30_course_priorities",
        tables: &[Table::TaskEvents],
        group: "priority",
        answers: &["tasks"],
        differ: "As for classes, four denominators are in use. Here the order stays the same: \
        priorities 0 and 1, which are free, are evicted most under every definition. The sizes \
        differ: per attempt, tasks that are evicted again and again weigh more than the many that \
        never are. Priorities with few tasks have shares of 0 or 100 %, which say nothing.",
        said: &[],
    },
    Question {
        asked: "How often do jobs and tasks fail, by scheduling class?",
        definition: "Jobs (tasks) whose last terminal event is FAIL and which are not submitted \
        again, as a share of all.",
        query: "q31_course_failures",
        tables: &[Table::JobEvents, Table::TaskEvents],
        group: "class",
        answers: &["jobs failed", "tasks failed"],
        differ: "FAIL is an event, not an outcome: most tasks that fail are submitted again and \
        end differently. Ten times as many tasks have a FAIL as fail in the end. Some reports add \
        KILL, which is sixty times as frequent in class 0 and often means that a user or a program \
        stopped the job. Some denominators include jobs that still run and others do not; this \
        matters most for class 3, whose jobs run longest.",
        said: &[],
    },
    Question {
        asked: "How long do jobs and tasks wait?",
        definition: "Median time from the first SUBMIT to the first SCHEDULE after it, of jobs and tasks that were \
            submitted within the trace and started.",
        query: "q32_course_waits",
        tables: &[Table::JobEvents, Table::TaskEvents],
        group: "class",
        answers: &["jobs: median", "tasks: median"],
        differ: "Jobs and tasks that began before the trace have their SUBMIT and SCHEDULE at time \
        0, and wait 0 s in every report that keeps them. The few that wait for hours determine the \
        mean, the many that wait for seconds the median: in the loaded parts these differ by a \
        factor of twenty. Restarts wait too, and longer. A job waits until its first task starts, \
        so jobs wait less than tasks. Tasks that never start have no wait here, which favours \
        short waits; `describe --what waiting` counts them.",
        said: &[],
    },
];
