//! Answers of studies in all formats: table, JSON, charts and notes.
//!
//! In: the results of a study. Out: an [`Answer`](crate::results::store::Answer), with the same
//! table, charts and captions on a terminal, in a file and on a page. Each study has a file and a
//! row in [`STUDIES`]; steps, sections, pages, captions and the table of commands follow from this
//! row. No other code chooses a study by its name.

use form::Form;
use study::{Step, Study, Topic};

pub mod account;
pub mod analysis;
pub(crate) mod assumed;
pub mod classify;
pub(crate) mod condition;
pub mod definitions;
pub mod describe;
pub mod detect;
pub mod edges;
pub mod episodes;
pub mod fairness;
pub(crate) mod flow;
pub mod form;
mod grouped;
pub mod ingest;
pub(crate) mod labels;
pub mod later_use;
pub mod list;
pub mod load;
pub mod machines;
pub mod monthly;
pub mod pass;
pub mod predict;
pub(crate) mod quality;
pub mod replay;
pub mod reproduce;
pub mod sentences;
pub mod spread;
pub mod study;
pub mod sweep;
pub mod verify;
pub mod words;
pub mod work;

const OUTCOMES: Topic = Topic {
    file: "outcomes.html",
    title: "Outcomes and CPU time",
    question: "What became of every job and task, and what did it cost?",
    if_cut: "what had not ended in the loaded hours counts as running, and CPU time is that of \
    these hours",
};

/// All studies. Steps run in this order, after the steps that check the lake. Pages are in the
/// order in which they first occur here.
pub static STUDIES: [Study; 14] = [
    Study {
        name: "classify",
        answers: "jobs or tasks by event sequence or last terminal event",
        topic: &OUTCOMES,
        results: &classify::KINDS,
        form: Some(Form {
            question: "What became of every job and task?",
            first: &["by", "classes", "by-reason"],
        }),
        step: Some(classify::STEP),
    },
    Study {
        name: "describe",
        answers: "durations, sizes, events, waits, attempts per outcome; Kaplan-Meier; the chance \
        to finish after k events; `--by-own-end`",
        topic: &Topic {
            file: "distributions.html",
            title: "Distributions",
            question: "How long do jobs last, how long do tasks wait, and how often do they start? By \
            outcome of the job.",
            if_cut: "lengths are cut at the edges of the loaded hours, and long ones are \
            over-represented",
        },
        results: &describe::KINDS,
        form: Some(Form {
            question: "How long do jobs run and wait, and how many tasks do they have?",
            first: &["what", "classes", "group-by"],
        }),
        step: Some(describe::step::STEP),
    },
    Study {
        name: "account",
        answers: "CPU time, or memory × time with `--resource memory`, per outcome; by class, \
        priority or user, and by how attempts ended; the outcomes add up to the total",
        topic: &OUTCOMES,
        results: &account::KINDS,
        form: Some(Form {
            question: "Where did the CPU time go: to finished, failed or killed jobs?",
            first: &["cpu", "resource", "group-by", "by-reason"],
        }),
        step: Some(account::STEP),
    },
    Study {
        name: "monthly",
        answers: "a log by account and calendar month: CPU and GPU time, waste, waits by queue and \
        size, reasons of ends, what time limits left unused; top users",
        topic: &Topic {
            file: "months.html",
            title: "Months and accounts",
            question: "Which account and user used how much in which month, and what was wasted?",
            if_cut: "months hold only the loaded hours",
        },
        results: &[monthly::KIND],
        form: Some(Form {
            question: "Which account and user used how much in which month, and what was wasted?",
            first: &["users", "late", "timezone"],
        }),
        step: Some(monthly::STEP),
    },
    Study {
        name: "load",
        answers: "the cluster over time: capacity, requests, use and queue of CPU and memory, by \
        priority band, class, user, account or outcome; arrivals, bursts, waits and slowdowns by \
        size",
        topic: &Topic {
            file: "load.html",
            title: "Load over time",
            question: "How busy was the cluster, how much waited, and when?",
            if_cut: "use and waits of other hours are missing",
        },
        results: &[load::KIND],
        form: Some(Form {
            question: "How busy was the cluster, and when?",
            first: &["interval", "by", "resource"],
        }),
        step: Some(load::step::STEP),
    },
    Study {
        name: "episodes",
        answers: "what happened when: hours with far more failures, kills, evictions, departures of \
        machines or submissions than usual, whose they were, and what the cluster did then",
        topic: &Topic {
            file: "episodes.html",
            title: "What happened when",
            question: "When did far more than usual happen, and who or what was it?",
            if_cut: "events of other hours are missing",
        },
        results: &[episodes::KIND],
        form: Some(Form {
            question: "When did far more than usual fail, end or leave?",
            first: &["interval", "times", "least"],
        }),
        step: Some(episodes::STEP),
    },
    Study {
        name: "machines",
        answers: "outages of machines: how many, how long, the capacity they cost; time between \
        failures and to repair with Weibull fits; machines that leave together; what ran on them",
        topic: &Topic {
            file: "machines.html",
            title: "Machines",
            question: "Which machines left, for how long, and what did it cost?",
            if_cut: "what ran on machines is known only for the loaded hours",
        },
        results: &[machines::KIND, machines::closeup::KIND],
        form: Some(Form {
            question: "Which machines failed, for how long, and what did it cost?",
            first: &["together"],
        }),
        step: Some(machines::step::STEP),
    },
    Study {
        name: "sweep",
        answers: "kill rules over a grid: CPU saved, jobs harmed and their ids; the best rule and \
        parameter, chosen on earlier jobs and tested on later ones; bootstrap intervals",
        topic: &Topic {
            file: "sweep.html",
            title: "Kill sweep",
            question: "What if hopeless tasks had been killed earlier: CPU saved against finished \
            jobs harmed?",
            if_cut: "savings after the loaded hours are unknown",
        },
        results: &[sweep::KIND, sweep::closeup::KIND],
        form: Some(Form {
            question: "What if tasks had been killed earlier: CPU saved against finished jobs harmed?",
            first: &["rules", "price", "train-until", "group-by"],
        }),
        step: Some(sweep::step::STEP),
    },
    Study {
        name: "predict",
        answers: "whether a job will finish, predicted at its submission from the jobs that had ended by \
        then: accuracy, precision, recall, calibration, ROC",
        topic: &Topic {
            file: "prediction.html",
            title: "Prediction",
            question: "Can it be predicted at submission which jobs do not finish?",
            if_cut: "jobs of other hours cannot be learnt from",
        },
        results: &[predict::KIND],
        form: Some(Form {
            question: "Can it be predicted at submission which jobs do not finish?",
            first: &["rules", "age"],
        }),
        step: Some(predict::step::STEP),
    },
    Study {
        name: "detect",
        answers: "which tasks each straggler detector would have flagged, with precision and recall; \
        a dry run of the copies",
        topic: &Topic {
            file: "stragglers.html",
            title: "Straggler detectors",
            question: "Which tasks would each detector have flagged, given only what was known \
            at the time, and was it right?",
            if_cut: "tasks that end in other hours are not judged",
        },
        results: &[detect::KIND],
        form: Some(Form {
            question: "Which tasks would each straggler detector have flagged, and was it right?",
            first: &["detectors", "truth", "min-tasks"],
        }),
        step: Some(detect::step::STEP),
    },
    Study {
        name: "replay",
        answers: "recorded tasks under other policies: response, waiting, slowdown, utilisation, \
        copies, jobs hurt and helped",
        topic: &Topic {
            file: "replay.html",
            title: "Replay",
            question: "How would another policy have handled this history?",
            if_cut: "only tasks of the loaded hours are replayed",
        },
        results: &[replay::KIND],
        form: Some(Form {
            question: "What would another scheduler have changed?",
            first: &["policies", "sample", "machines", "from", "until"],
        }),
        step: Some(replay::step::STEP),
    },
    Study {
        name: "fairness",
        answers: "who used how much and when, and the value of each fairness index; what-if, \
        suggestions, several clusters",
        topic: &Topic {
            file: "fairness.html",
            title: "Fairness",
            question: "Who used how much, when, and was it fair?",
            if_cut: "shares are those of the loaded hours",
        },
        results: &[fairness::KIND, fairness::MEMORY_KIND],
        form: Some(Form { question: "Who used most, and was it fair?", first: &[] }),
        step: Some(fairness::step::STEP),
    },
    Study {
        name: "reproduce",
        answers: "the five papers, with the number of claims per verdict",
        topic: &Topic {
            file: "reproductions.html",
            title: "Published results",
            question: "Which published figures are reproduced?",
            if_cut: "",
        },
        results: &reproduce::KINDS,
        form: None,
        step: None,
    },
    Study {
        name: "verify",
        answers: "checksums and readability of a download; files, published counts and data \
        quality of a lake",
        topic: &Topic {
            file: "quality.html",
            title: "Data quality",
            question: "Is the trace complete, and what in it is unusual?",
            if_cut: "",
        },
        results: &[verify::KIND],
        form: None,
        step: Some(Step { is_check: true, ..Step::plain(verify::step, &[]) }),
    },
];

/// A note of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// Useful information.
    Note(String),
    /// An assumption that was made.
    Assumption(String),
    /// Something that the user should check.
    Warning(String),
}

impl Said {
    /// A note with useful information.
    pub(crate) fn note(text: impl AsRef<str>) -> Self {
        Self::Note(text.as_ref().to_owned())
    }

    /// A warning: something that the user should check.
    pub(crate) fn warning(text: impl AsRef<str>) -> Self {
        Self::Warning(text.as_ref().to_owned())
    }
}
