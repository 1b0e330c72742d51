//! The outcome of a job, and what its log records about it, in words.
//!
//! In: a job of a stored result. Out: a sentence and a list of facts as HTML, and the names of
//! machines on its chart. If the log records no status, nothing is said about how the job ended.

use super::html;
use super::job_cpu;
use super::text::{escape, instant, is_date, lasting, percent_said};
use crate::answers::sentences::Ends;
use crate::answers::sweep::{JobDetail, JobRecord};
use crate::digits::{counted, grouped};
use crate::schema::EventType;
use crate::units::{AFTER_TRACE_US, micros_to_seconds};

/// The outcome of the job, in words.
fn outcome(job: &JobDetail, ends: Ends) -> String {
    let [counted_as, by_end] = [job.outcome(), &job.outcome_by_last_event].map(escape);
    if ends == Ends::Assumed {
        return "The log does not record how it ended".to_owned();
    }
    let ended = match by_end.as_str() {
        "finished" => "It finished".to_owned(),
        "failed" => match &job.record.end_reason {
            Some(reason) if reason != "FAILED" => format!("It failed ({})", escape(reason)),
            _ => "It failed".to_owned(),
        },
        "running" => "It still ran at the end of the trace".to_owned(),
        "pending" => "It still waited at the end of the trace".to_owned(),
        "unknown" => "Its end is not known".to_owned(),
        other => format!("It was {other}"),
    };
    let at = ended_at(job).map_or_else(String::new, |at| format!(" at {at}"));
    let ended = ended + &at;
    if counted_as == by_end {
        return ended;
    }
    format!("{ended}, and counts as \"{counted_as}\" by its exact sequence of events")
}

/// The names of the events of a short sequence: `SUBMIT, SCHEDULE, FINISH (014)`.
fn spelled(sequence: &str) -> String {
    const EVENTS_MAX: usize = 12;
    let name = |digit: char| Some(EventType::of(digit.to_digit(16)?)?.name());
    let names: Option<Vec<&str>> = sequence.chars().map(name).collect();
    match names {
        Some(names) if !names.is_empty() && names.len() <= EVENTS_MAX => {
            format!("{} ({sequence})", names.join(", "))
        }
        _ => format!("{sequence} ({SEQUENCE_DIGITS})"),
    }
}

/// The meaning of the digits of a sequence.
pub(super) const SEQUENCE_DIGITS: &str = "0 SUBMIT, 1 SCHEDULE, 2 EVICT, 3 FAIL, 4 FINISH, 5 KILL, 6 LOST, \
    7 and 8 UPDATE";

/// Facts about the job that a log records, as names and figures.
fn recorded(record: &JobRecord) -> Vec<(&'static str, String)> {
    let partition = record.partition.as_ref().filter(|own| record.queue.as_ref() != Some(own));
    let of = |name: &'static str, text: Option<String>| text.map(|text| (name, text));
    let all = [
        of("processors", record.processors.map(|count| grouped(count.unsigned_abs()))),
        of("queue", record.queue.clone()),
        of("partition", partition.cloned()),
        of("account", record.account.clone()),
        of("ran on", record.nodes.clone()),
        of("waited", record.wait_s.map(lasting)),
        of("time limit", record.limit_s.map(lasting)),
        of("end in the words of the log", record.end_reason.clone()),
    ];
    all.into_iter().flatten().collect()
}

/// The end of the job, s; `None` if it did not end, or if it ended outside the trace.
fn end_of(job: &JobDetail) -> Option<f64> {
    let has_ended = !matches!(&*job.outcome_by_last_event, "running" | "pending" | "unknown");
    let last = job.events.last().filter(|_| has_ended && job.events.len() == job.event_count)?;
    Some(last.time_s).filter(|end_s| *end_s < micros_to_seconds(AFTER_TRACE_US))
}

/// The end of the job in words, with days of the trace or a date.
fn ended_at(job: &JobDetail) -> Option<String> {
    let end_s = end_of(job)?;
    let at = instant(end_s);
    Some(if is_date(end_s) { at } else { format!("{at} of the trace") })
}

/// `, 300 of them evicted`: the evicted ones of the stored attempts. Empty if none was evicted, or
/// if there is only one attempt, because the outcome then says it.
fn evicted(job: &JobDetail) -> String {
    if job.attempt_count == 1 {
        return String::new();
    }
    let attempts = || job.tasks.iter().flat_map(|task| &task.attempts);
    let stored = attempts().count() as u64;
    let evicted =
        attempts().filter(|attempt| attempt.ended_by == EventType::Evict.name()).count() as u64;
    match evicted {
        0 => String::new(),
        some if stored == job.attempt_count => format!(", {} of them evicted", grouped(some)),
        some => format!(
            "; of the {} drawn below{}, {} evicted",
            counted(stored, "attempt"),
            if (job.tasks.len() as u64) < job.task_count {
                format!(", in the {} with most", counted(job.tasks.len() as u64, "task"))
            } else {
                String::new()
            },
            if some == 1 { "1 was".to_owned() } else { format!("{} were", grouped(some)) }
        ),
    }
}

/// The outcome of the job, as a sentence and a list of figures.
pub(super) fn sentences(job: &JobDetail, ends: Ends) -> String {
    let time = |time: Option<f64>| time.map_or_else(|| "-".to_owned(), lasting);
    let html = format!(
        "<p class=\"answer\">{}; {} with {}{}{}.</p>\n",
        outcome(job, ends),
        counted(job.task_count, "task"),
        counted(job.attempt_count, "attempt"),
        match job.attempt_count {
            0 => String::new(),
            1 => format!(", which ran for {}", lasting(job.running_s)),
            _ => format!(", which ran for {} in all", lasting(job.running_s)),
        },
        evicted(job),
    );
    let mut facts = vec![("user", known(job.user.as_ref()).to_owned())];
    facts.extend(job.job_name.clone().map(|name| ("name", name)));
    facts.extend(recorded(&job.record));
    let limit_s = job.record.limit_s.filter(|limit_s| 0.0 < *limit_s && job.attempt_count == 1);
    facts.extend(
        limit_s.map(|limit_s| ("used of its limit", percent_said(job.running_s / limit_s))),
    );
    // The tasks of a job may be loaded for only a part of its life. The length of its life is
    // unknown if it has not ended. It is also unknown if it began or ended outside the trace: the
    // clock of the trace has no instant for that.
    if let (Some(first), Some(end_s)) = (job.events.first(), end_of(job))
        && first.event == EventType::Submit.name()
        && 0.0 < first.time_s
    {
        facts.push(("from its first to its last event", lasting(end_s - first.time_s)));
    }
    if ends == Ends::Known {
        facts.push(("sequence of events", spelled(&job.sequence)));
    }
    facts.extend(job_cpu::flat(job).map(|said| ("CPU requested", said)));
    facts.extend(job_cpu::used(job).map(|used| ("CPU time used", used)));
    if 1 < job.finished_attempts && ends == Ends::Known {
        facts.extend([
            ("attempts that finished", grouped(job.finished_attempts as u64)),
            ("the shortest of them", time(job.finished_s_min)),
            ("their median", time(job.finished_s_median)),
            ("their 95 % quantile", time(job.finished_s_p95)),
            ("the longest", time(job.finished_s_max)),
        ]);
    }
    html + &html::facts(facts)
}

/// The text, or a word that says that it is unknown.
pub(super) fn known(text: Option<&String>) -> &str {
    text.map_or("unknown", String::as_str)
}

/// The machine of an attempt in words; empty if it has no name that people know. If a log names its
/// machines, the number of a machine is a hash of its name.
pub(super) fn place_of(job: &JobDetail, machine: Option<i64>) -> String {
    const HASHES_FROM: i64 = 1_000_000_000_000_000;
    const LETTERS_MAX: usize = 24;
    match (&job.record.nodes, machine) {
        (Some(nodes), _) if job.task_count == 1 && nodes.len() <= LETTERS_MAX => nodes.clone(),
        (None, Some(machine)) if machine.unsigned_abs() < HASHES_FROM.unsigned_abs() => {
            machine.to_string()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::sweep::{JobEvent, JobTask, TaskAttempt};

    #[test]
    fn a_job_is_described_in_the_words_of_its_log() {
        let record = JobRecord {
            processors: Some(12),
            queue: Some("long".to_owned()),
            partition: Some("long".to_owned()),
            limit_s: Some(7200.0),
            nodes: Some("node-7".to_owned()),
            end_reason: Some("TIMEOUT".to_owned()),
            ..JobRecord::default()
        };
        let job = JobDetail {
            outcome_by_sequence: "failed".into(),
            outcome_by_last_event: "failed".into(),
            sequence: "013".to_owned(),
            task_count: 1,
            attempt_count: 1,
            running_s: 7200.0,
            record,
            ..JobDetail::default()
        };
        let html = sentences(&job, Ends::Known);
        assert!(
            html.contains("It failed (TIMEOUT); 1 task with 1 attempt, which ran for 2 h."),
            "{html}"
        );
        for fact in ["12", "long", "2 h", "TIMEOUT", "100.0 %", "SUBMIT, SCHEDULE, FAIL (013)"] {
            assert!(html.contains(&format!(">{fact}<")), "{fact}: {html}");
        }
        assert_eq!(html.matches(">long<").count(), 1, "{html}");
        assert_eq!(place_of(&job, Some(3_897_965_201_905_786_690)), "node-7");
        let nameless = JobDetail { record: JobRecord::default(), ..job.clone() };
        assert_eq!(place_of(&nameless, Some(3_897_965_201_905_786_690)), "");
        assert_eq!(place_of(&nameless, Some(4_820_183_646)), "4820183646");
        let html = sentences(&job, Ends::Assumed);
        assert!(html.contains("The log does not record how it ended; 1 task"), "{html}");
        assert!(!html.contains("failed") && !html.contains("013"), "{html}");
        // The instant of the end, and the attempts that were evicted.
        let event = JobEvent { time_s: 263_000.0, event: "FAIL".to_owned() };
        let attempt = TaskAttempt {
            submit_s: None,
            start_s: 1.0,
            end_s: 2.0,
            ended_by: EventType::Evict.name().to_owned(),
            machine_id: None,
        };
        let task = JobTask {
            task_index: 0,
            sequence: "012".to_owned(),
            event_count: 3,
            attempt_count: 1,
            attempts: vec![attempt],
        };
        let evicted =
            JobDetail { event_count: 1, events: vec![event], tasks: vec![task], ..job.clone() };
        let html = sentences(&evicted, Ends::Known);
        // The outcome already says how the only attempt ended.
        let said = "It failed (TIMEOUT) at 3 d 01:03:20 of the trace; 1 task with 1 attempt, which ran for \
            2 h.";
        assert!(html.contains(said), "{html}");
        let more = JobDetail { attempt_count: 5, ..evicted };
        let html = sentences(&more, Ends::Known);
        assert!(html.contains("; of the 1 attempt drawn below, 1 was evicted."), "{html}");
        let other = JobDetail { outcome_by_sequence: "other".into(), ..job };
        let html = sentences(&other, Ends::Known);
        let said = "It failed (TIMEOUT), and counts as \"other\" by its exact sequence of events";
        assert!(html.contains(said), "{html}");
    }
}
