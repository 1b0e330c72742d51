//! Measures how many running attempts each straggler detector judges in a second.
//!
//! A simulated group keeps `RUNNING` attempts running (default 2000) until 30 times as many tasks
//! have ended, with a heartbeat every 10 s. Only the time inside the detector counts. Usage:
//! `detectors [RUNNING] [DETECTOR]...`.
#![expect(clippy::print_stdout, reason = "this is a program of its own")]
#![expect(clippy::disallowed_methods, reason = "it measures")]

use std::time::{Duration, Instant};

use jobfate::replay::detectors::{
    DetectorPlan, End, Ended, Finished, GroupInfo, KINDS, Progress, Running, Scene,
};

const SECOND: i64 = 1_000_000;

/// Lengths of about 2 to 8 minutes, s; every fiftieth task takes five times as long.
fn length_s(task: u32) -> i64 {
    let spread = i64::from(task.wrapping_mul(2_654_435_761) >> 16) % 360;
    (120 + spread) * if task % 50 == 7 { 5 } else { 1 }
}

fn fresh(task: u32, now_us: i64) -> Running {
    Running {
        attempt: task,
        task,
        machine: task % 500,
        start_us: now_us,
        progress: Progress::NONE,
        reported_us: now_us,
        has_progress: true,
        has_copy: false,
        was_copied: false,
    }
}

fn judge_all(plan: &DetectorPlan, slots: u32) -> (u64, u64, Duration) {
    let mut detector = plan.build(&GroupInfo::default());
    let (task_count, mut finished) = (slots * 31, Finished::default());
    let mut running: Vec<Running> = Vec::new();
    let (mut next, mut over, mut copies) = (0, 0, 0);
    let (mut judgements, mut flagged, mut spent) = (0, 0, Duration::ZERO);
    let (mut flags, mut ends) = (Vec::new(), Vec::new());
    for now_us in (0..).step_by(10_000_000) {
        ends.clear();
        running.retain(|attempt| {
            let end_us = attempt.start_us + length_s(attempt.task) * SECOND;
            if end_us <= now_us {
                let Running { attempt: number, task, machine, start_us, .. } = *attempt;
                let how = End::Finished;
                // Tasks that end between two heartbeats end at the second one.
                ends.push(Ended { attempt: number, task, machine, start_us, end_us: now_us, how });
                over += 1;
                copies -= u32::from(attempt.has_copy);
            }
            now_us < end_us
        });
        for end in &ends {
            finished.add(*end);
        }
        let begun = Instant::now();
        for end in &ends {
            detector.ended(end);
        }
        while running.len() < slots as usize && next < task_count {
            detector.started(next, next, now_us);
            running.push(fresh(next, now_us));
            next += 1;
        }
        spent += begun.elapsed();
        if running.is_empty() || next == task_count {
            return (judgements, flagged, spent);
        }
        for attempt in &mut running {
            let length_us = length_s(attempt.task) * SECOND;
            let done_us = (now_us - attempt.start_us).unsigned_abs();
            attempt.progress =
                Progress::of(done_us.into(), length_us.unsigned_abs().into()).expect("it has work");
            attempt.reported_us = now_us;
        }
        flags.clear();
        let begun = Instant::now();
        let scene = Scene {
            now_us,
            begun_us: 0,
            running: &running,
            finished: &finished,
            task_count,
            waiting: 0,
            over,
            slots,
            free_slots: u32::MAX,
            copies,
        };
        detector.judge(&scene, &mut flags);
        spent += begun.elapsed();
        judgements += running.len() as u64;
        flagged += flags.len() as u64;
        for flag in &flags {
            running[flag.position].has_copy = true;
            running[flag.position].was_copied = true;
            copies += 1;
        }
    }
    unreachable!("the tasks come to an end")
}

fn main() {
    let mut args = std::env::args().skip(1);
    let slots = args.next().map_or(2_000, |text| text.parse().expect("a number of attempts"));
    let mut texts: Vec<String> = args.collect();
    if texts.is_empty() {
        texts.extend(KINDS.iter().map(|kind| kind.name.to_owned()));
        let more = ["poisson:lambda=sample,scale_s=60", "yarn:estimator=exponential"];
        texts.extend(more.map(str::to_owned));
        texts.push("yarn:estimator=simple".to_owned());
    }
    for text in texts {
        let plan: DetectorPlan = text.parse().expect("a detector");
        let mut runs: Vec<_> = (0..5).map(|_| judge_all(&plan, slots)).collect();
        runs.sort_by_key(|run| run.2);
        let (judgements, flagged, spent) = runs[2];
        let seconds = spent.as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
        let millions = judgements as f64 / seconds / 1e6;
        println!("{text:34} {judgements:>9} judged {flagged:>6} flagged {millions:>7.1} million/s");
    }
}
