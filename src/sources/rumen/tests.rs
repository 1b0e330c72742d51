//! Small traces, and the rows of their jobs, tasks and attempts.

use proptest::prelude::*;

use crate::schema::{Source, Table};
use crate::sources::tests::{Rows, check, parsed};

/// A job with these maps and reduces; times in milliseconds.
fn job(number: u32, maps: &str, reduces: &str) -> String {
    format!(
        r#"{{"jobID":"job_200904211745_{number:04}","user":"u1","priority":"HIGH","queue":"q",
"jobName":"sort","submitTime":1000,"launchTime":2000,"finishTime":9000,"outcome":"SUCCESS",
"totalMaps":2,"totalReduces":1,"heapMegabytes":640,"mapTasks":[{maps}],"reduceTasks":[{reduces}],
"otherTasks":[],"more":{{"x":[1,null,"}}"]}}}}"#
    )
}

fn task(number: u32, attempts: &str) -> String {
    format!(r#"{{"taskID":"task_m_{number}","taskType":"MAP","attempts":[{attempts}]}}"#)
}

fn attempt(number: u32, start: i64, finish: i64, result: &str) -> String {
    format!(
        r#"{{"attemptID":"attempt_x_{number}","startTime":{start},"finishTime":{finish},
"result":"{result}","hostName":"/10\\.0/node{number}\\.x","shuffleFinished":{start},"sortFinished":-1}}"#
    )
}

/// The tasks' rows as `index time kind attempt machine`.
fn listed(rows: &Rows) -> Vec<String> {
    (0..rows.block.row_ids.len())
        .map(|row| {
            ["task_index", "time_us", "event_type", "attempt", "machine_id"]
                .map(|column| rows.cell(column, row))
                .join(" ")
        })
        .collect()
}

#[test]
fn a_job_is_submitted_launched_and_done() {
    let text = format!(" {}\n{}", job(2, "", ""), job(3, "", "").replace("SUCCESS", "FAILED"));
    let rows = parsed(Source::Rumen, Table::JobEvents, &text);
    assert_eq!(rows.rejects(), Vec::<String>::new());
    for (column, expected) in [
        ("job_id", "200904211745000002"),
        ("job_name", "job_200904211745_0002"),
        ("logical_job_name", "sort"),
        ("user", "u1"),
        ("queue", "q"),
        ("priority", "3"),
        ("total_maps", "2"),
        ("total_reduces", "1"),
    ] {
        assert_eq!(rows.cell(column, 0), expected, "{column}");
    }
    assert_eq!(rows.history(), "1 SUBMIT, 2 SCHEDULE, 9 FINISH, 1 SUBMIT, 2 SCHEDULE, 9 FAIL");
    assert_eq!(rows.block.row_ids, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn attempts_follow_one_another() {
    //  map 0     |2 SUBMIT  |3 -- a0 -- 5 FAIL|5 -- a1 --------- 8 FINISH
    //                                                 |6 - a2 - 8 KILL    (left out)
    let attempts = [
        attempt(1, 5000, 8000, "SUCCESS"),
        attempt(0, 3000, 5000, "FAILED"),
        attempt(2, 6000, 8000, "KILLED"),
    ];
    let maps = format!("{},{}", task(0, &attempts.join(",")), task(1, ""));
    let reduces = task(0, &attempt(3, 7000, 7000, "SUCCESS")).replace("MAP", "REDUCE");
    let rows = parsed(Source::Rumen, Table::TaskEvents, &job(2, &maps, &reduces));
    assert_eq!(
        listed(&rows),
        [
            "0 2000000 0 - -",
            "0 3000000 1 0 1",
            "0 5000000 3 0 1",
            "0 5000000 1 1 2",
            "0 8000000 4 1 2",
            "1 2000000 0 - -",
            "2 2000000 0 - -",
            "2 7000000 1 3 3",
            "2 7000000 4 3 3",
        ]
    );
    assert_eq!((rows.cell("phase", 0), rows.cell("phase", 8)), ("map".into(), "reduce".into()));
    assert_eq!(rows.cell("machine_name", 1), "node0.x");
    assert_eq!(rows.cell("memory_request", 1), "640");
    assert_eq!(rows.cell("shuffle_end_us", 1), "-");
    assert_eq!(rows.cell("shuffle_end_us", 8), "7000000");
    assert_eq!(rows.notes.remarks["attempts beside the one that decides their task: left out"], 1);
    assert_eq!(rows.notes.remarks["tasks without an attempt: SUBMIT only"], 1);
}

proptest! {
    /// Promise: the attempts of a task follow one another. The one that finishes first is whole and
    /// decides its outcome. Every attempt is there or counted.
    #[test]
    fn drawn_attempts_follow_one_another_and_the_first_to_finish_decides(
        drawn in prop::collection::vec((3_i64..40, 1_i64..20, 0..3_usize), 1..7),
    ) {
        let results = ["SUCCESS", "FAILED", "KILLED"];
        let attempts = drawn.iter().zip(0..).map(|((start, length, result), number)| {
            attempt(number, start * 1000, (start + length) * 1000, results[*result])
        });
        let attempts: Vec<String> = attempts.collect();
        let rows = parsed(Source::Rumen, Table::TaskEvents, &job(2, &task(0, &attempts.join(",")), ""));
        let events: Vec<(i64, i64, String)> = (1..rows.block.row_ids.len())
            .map(|row| {
                let number = |column| rows.cell(column, row).parse().unwrap();
                (number("time_us"), number("event_type"), rows.cell("attempt", row).clone())
            })
            .collect();
        prop_assert!(events.iter().map(|event| event.0).is_sorted());
        for (begin, end) in events.iter().step_by(2).zip(events.iter().skip(1).step_by(2)) {
            prop_assert!(begin.1 == 1 && 1 < end.1 && begin.2 == end.2, "{:?}", events);
        }
        let remarks = ["beside the one that decides their task", "after their task was done that did not finish"];
        let left_out = remarks.map(|what| rows.notes.remarks.get(&*format!("attempts {what}: left out")));
        let left_out: u64 = left_out.into_iter().flatten().sum();
        prop_assert_eq!((events.len() / 2) as u64 + left_out, drawn.len() as u64);
        let finishing = drawn.iter().filter(|own| own.2 == 0).map(|own| own.0 + own.1).min();
        let finishes: Vec<i64> = events.iter().filter(|event| event.1 == 4).map(|event| event.0).collect();
        prop_assert_eq!(finishes.first().copied(), finishing.map(|end| end * 1_000_000));
        // The finished attempt has the length of a drawn attempt that finished at that time.
        if let Some(place) = events.iter().position(|event| event.1 == 4) {
            let length = (events[place].0 - events[place - 1].0) / 1_000_000;
            let is_of = |own: &(i64, i64, usize)| {
                own.2 == 0 && Some(own.0 + own.1) == finishing && own.1 == length
            };
            prop_assert!(drawn.iter().any(is_of));
        }
    }
}

#[test]
fn a_task_that_was_killed_has_not_finished() {
    let attempts = [attempt(0, 3000, 6000, "SUCCESS"), attempt(1, 4000, 8000, "KILLED")].join(",");
    let killed =
        task(0, &attempts).replace("\"taskType\"", "\"taskStatus\":\"KILLED\",\"taskType\"");
    for (task, expected) in [
        (task(0, &attempts), &["0 3000000 1 0 1", "0 6000000 4 0 1"][..]),
        (killed, &["0 3000000 1 0 1", "0 4000000 5 0 1", "0 4000000 1 1 2", "0 8000000 5 1 2"]),
    ] {
        let rows = parsed(Source::Rumen, Table::TaskEvents, &job(2, &task, ""));
        assert_eq!(listed(&rows)[1..], *expected);
    }
    // An attempt that still runs goes on after one that has failed.
    let open = [attempt(0, 3000, 6000, "FAILED"), attempt(1, 4000, -1, "RUNNING")].join(",");
    let rows = parsed(Source::Rumen, Table::TaskEvents, &job(2, &task(0, &open), ""));
    assert_eq!(listed(&rows)[1..], ["0 3000000 1 0 1", "0 4000000 3 0 1", "0 4000000 1 1 2"]);
}

#[test]
fn odd_times_are_put_right_as_stated() {
    let attempts = [
        attempt(0, 500, 700, "KILLED"),
        attempt(1, 6000, 5000, "FAILED"),
        attempt(2, -1, -1, "FAILED"),
        attempt(3, 7000, -1, "SUCCESS"),
        attempt(4, 0, 8000, "FAILED"),
    ];
    let rows = parsed(Source::Rumen, Table::TaskEvents, &job(2, &task(0, &attempts.join(",")), ""));
    assert_eq!(
        listed(&rows),
        [
            "0 500000 0 - -",
            "0 500000 1 0 1",
            "0 700000 5 0 1",
            "0 5000000 1 1 2",
            "0 5000000 3 1 2",
            // It has no end, so it goes on while the last one fails.
            "0 7000000 1 3 3",
        ]
    );
    assert_eq!(rows.notes.remarks["attempts that end before they start: without length"], 1);
    assert_eq!(rows.notes.remarks["attempts without times: left out"], 1);
    let turned = job(2, "", "").replace("\"launchTime\":2000", "\"launchTime\":500");
    let rows = parsed(Source::Rumen, Table::JobEvents, &turned);
    assert_eq!(rows.history(), "1 SUBMIT, 1 SCHEDULE, 9 FINISH");
    assert_eq!(rows.notes.remarks["job times put in order"], 1);
}

#[test]
fn what_is_missing_leaves_its_event_out() {
    let open = job(2, "", "").replace("\"SUCCESS\"", "null").replace("9000", "-1");
    let rows = parsed(Source::Rumen, Table::JobEvents, &open);
    assert_eq!(rows.history(), "1 SUBMIT, 2 SCHEDULE");
    let named = job(2, "", "").replace("job_200904211745_0002", "local");
    let rows = parsed(Source::Rumen, Table::JobEvents, &format!("{}{named}", job(1, "", "")));
    assert_eq!(rows.cell("job_id", 3), "-2");
    assert_eq!(rows.cell("job_name", 3), "local");
}

#[test]
fn what_is_no_job_is_a_reject() {
    let good = job(2, "", "");
    let check_reject = |text: &str, expected: &[&str]| {
        assert_eq!(parsed(Source::Rumen, Table::JobEvents, text).rejects(), expected, "{text}");
    };
    check(Source::Rumen, "", "");
    check_reject(&format!("{good}{good}"), &["4 job_id duplicate_job"]);
    check_reject("{}\n{\"jobID\":1}\n", &["1  bad_value", "2  bad_value"]);
    check_reject(&format!("junk\n{good}\n{{\"jobID\":"), &["1  bad_value", "6  bad_value"]);
    check_reject(&good.replace("SUCCESS", "BEST"), &["1 outcome unknown_event_type"]);
    check_reject(&good.replace(":1000", ":-1"), &["1 time_us empty_mandatory"]);
    check_reject(&good.replace(":1000", ":-5"), &["1 time_us negative_time"]);
    check_reject(&good.replace(":1000", ":9223372036854775807"), &["1 time_us bad_value"]);
    let bad = job(2, &task(0, &attempt(0, 1, 2, "ODD")), "");
    let rows = parsed(Source::Rumen, Table::TaskEvents, &format!("{bad}\n{}", job(3, "", "")));
    assert_eq!(rows.rejects(), ["1 result unknown_event_type"]);
}
