//! Runs the jobs of the queue, and watches the portal's lakes.
//!
//! In: the queue. Out: answers in the folders of jobs. An answer replaces the earlier one only when
//! it is complete.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{interval, sleep};

use super::events::Event;
use super::lakes::Version;
use super::metrics::Question;
use super::portal::Portal;
use super::queue::{Answer, Job, Phase, Record, Spec};
use super::state::{clock, id_of};
use super::worker::{self, End, Order, Outcome};
use crate::progress;

/// How often the progress of a job is sent to pages.
const TICK: Duration = Duration::from_millis(500);

/// How often the lakes are checked for growth.
const LOOK: Duration = Duration::from_secs(1);

/// Starts the background work of the portal.
pub(super) fn begin(portal: &Arc<Portal>) -> JoinSet<()> {
    let mut all = JoinSet::new();
    for _ in 0..portal.limits.workers {
        all.spawn(until_end(Arc::clone(portal), work));
    }
    all.spawn(until_end(Arc::clone(portal), look));
    all
}

/// Runs a task until the portal stops; a running job is stopped then.
async fn until_end<F: Future<Output = ()>>(portal: Arc<Portal>, go_on: fn(Arc<Portal>) -> F) {
    go_on(portal).await;
}

/// The id of a question: a hash of its command, lakes, flags and texts.
pub(super) fn id_of_spec(spec: &Spec) -> String {
    let Spec { command, lakes, words, files, page: _ } = spec;
    let files: Vec<(&str, &str)> =
        files.iter().map(|file| (file.flag.as_str(), file.content.as_str())).collect();
    id_of(&format!("{command} {lakes:?} {words:?} {files:?}"))
}

/// Puts a question into the queue; returns its id.
pub(super) fn ask(portal: &Portal, spec: &Spec) -> Result<String, String> {
    let id = id_of_spec(spec);
    let lakes = portal.lakes.chosen(spec.lakes.iter().map(String::as_str))?;
    let stamps: Vec<String> = lakes.iter().map(|at| at.now().stamp.clone()).collect();
    if let Some(record) = portal.queue.ask(&id, spec, &stamps, clock())? {
        let stored = portal.state.put_job(&id, &record);
        stored.map_err(|error| format!("the job could not be stored: {error}"))?;
        tell(portal, &id, Phase::Waiting, None);
        for old in portal.queue.forget() {
            // If this fails, the next start reads the job again, and it is removed later.
            let _ = fs::remove_dir_all(portal.state.job(&old));
        }
    }
    Ok(id)
}

/// Stops a job.
pub(super) fn cancel(portal: &Portal, id: &str) {
    if let Some(record) = portal.queue.cancel(id) {
        store(portal, id, &record);
        tell(portal, id, record.phase, None);
    }
}

fn tell(portal: &Portal, id: &str, phase: Phase, percent: Option<u64>) {
    portal.hub.tell(Event::Job { id: id.to_owned(), phase: phase.word(), percent });
}

fn store(portal: &Portal, id: &str, record: &Record) {
    if let Err(error) = portal.state.put_job(id, record) {
        (portal.say)(&format!("warning: job {id} could not be stored: {error}"));
    }
}

/// Checks whether lakes have grown. If so, runs again the jobs that open pages show.
async fn look(portal: Arc<Portal>) {
    let mut ticks = interval(LOOK);
    loop {
        tokio::select! {
            () = portal.end() => return,
            _ = ticks.tick() => {}
        }
        for at in portal.lakes.all() {
            if at.refresh() {
                grown(&portal, &at.name);
            }
        }
    }
}

/// Runs again the jobs of a grown lake that open pages show, and notifies pages about the lake.
pub(super) fn grown(portal: &Portal, lake: &str) {
    for (id, spec) in portal.queue.followed(lake) {
        if let Err(error) = ask(portal, &spec) {
            (portal.say)(&format!("warning: job {id} could not be run again: {error}"));
        }
    }
    portal.hub.tell(Event::Lake { name: lake.to_owned() });
}

/// Runs one job after the other.
async fn work(portal: Arc<Portal>) {
    loop {
        let Some((id, job)) = portal.queue.next() else {
            tokio::select! {
                () = portal.end() => return,
                () = portal.queue.more.notified() => continue,
            }
        };
        // Another task that waits may take the next one.
        portal.queue.more.notify_one();
        let place = tokio::select! {
            () = portal.end() => return,
            place = portal.workers.acquire() => place,
        };
        if place.is_err() {
            return;
        }
        run(&portal, &id, &job).await;
        if *portal.stopped().borrow() {
            return;
        }
    }
}

/// Runs a job, and stores how it ended.
async fn run(portal: &Portal, id: &str, job: &Job) {
    let begun = progress::now();
    tell(portal, id, Phase::Running, None);
    let mut cancelled = job.cancel.subscribe();
    let stop = async {
        tokio::select! {
            () = portal.end() => {}
            _ = cancelled.wait_for(|is_cancelled| *is_cancelled) => {}
        }
    };
    let follow = async {
        let mut told = None;
        loop {
            sleep(TICK).await;
            let percent = job.meter.percent();
            if percent != told {
                tell(portal, id, Phase::Running, percent);
                told = percent;
            }
        }
    };
    let prepared = prepare(portal, id, job);
    let done = match prepared {
        Err(said) => Err(said),
        Ok((order, versions, out)) => tokio::select! {
            outcome = worker::run(&order, &job.meter, stop) => match outcome {
                Ok(outcome) => Ok((outcome, order, versions, out)),
                Err(error) => Err(format!("the question could not be started: {error}")),
            },
            () = follow => unreachable!("it goes on for ever"),
        },
    };
    let took_s = begun.elapsed().as_secs_f64();
    let record = portal.queue.change(id, |record| {
        record.took_s = Some(took_s);
        match &done {
            Ok((outcome, order, versions, out)) => finish(record, outcome, order, versions, out),
            Err(said) => (record.phase, record.error) = (Phase::Failed, Some(said.clone())),
        }
        let is_over = *portal.stopped().borrow();
        if is_over && record.phase == Phase::Cancelled {
            record.phase = Phase::Interrupted;
        }
    });
    let Some(record) = record else { return };
    store(portal, id, &record);
    portal.metrics.question(match record.phase {
        Phase::Done => Question::Answered,
        Phase::Failed => Question::Failed,
        _ => Question::Stopped,
    });
    remove_others(portal, id, &record);
    tell(portal, id, record.phase, None);
}

/// Prepares a job: its order, the current versions of its lakes, and the name of the folder for its
/// answer.
fn prepare(
    portal: &Portal,
    id: &str,
    job: &Job,
) -> Result<(Order, Vec<Arc<Version>>, String), String> {
    let spec = &job.record.spec;
    let lakes = portal.lakes.chosen(spec.lakes.iter().map(String::as_str))?;
    let versions: Vec<Arc<Version>> = lakes.iter().map(|at| at.now()).collect();
    let out = format!("out-{}", job.record.rounds);
    let folder = portal.state.work().join(id);
    let said = |error: std::io::Error| format!("the job could not be prepared: {error}");
    // Leftovers of an earlier round.
    let _ = fs::remove_dir_all(portal.state.job(id).join(&out));
    fs::create_dir_all(&folder).map_err(said)?;
    let mut words = vec![spec.command.clone()];
    for (at, version) in lakes.iter().zip(&versions) {
        let path = version.path.display();
        words.push(match spec.command.as_str() {
            "fairness" => format!("--lake={}={path}", at.name),
            _ => format!("--lake={path}"),
        });
    }
    words.extend(spec.words.iter().cloned());
    for (number, file) in (1..).zip(&spec.files) {
        let path = text_path(&folder, number);
        fs::write(&path, &file.content).map_err(said)?;
        words.push(format!("{}{}", file.flag, path.display()));
    }
    words.push("--chart-format=svg".to_owned());
    words.push("--format=csv".to_owned());
    words.push(format!("--out={}", portal.state.job(id).join(&out).display()));
    let order = Order {
        program: portal.program.clone(),
        words,
        folder,
        time: portal.limits.job_time,
        memory: portal.limits.memory,
        threads: portal.threads,
    };
    Ok((order, versions, out))
}

fn text_path(folder: &std::path::Path, number: usize) -> PathBuf {
    folder.join(format!("text-{number}"))
}

/// Records in a job how its worker ended.
fn finish(
    record: &mut Record,
    outcome: &Outcome,
    order: &Order,
    versions: &[Arc<Version>],
    out: &str,
) {
    record.error = None;
    match outcome.end {
        End::Code(0) => {
            record.phase = Phase::Done;
            let is_about_files = |note: &&str| note.starts_with("wrote ");
            record.notes =
                outcome.notes().filter(|note| !is_about_files(note)).map(str::to_owned).collect();
            let stamps = versions.iter().map(|version| version.stamp.clone()).collect();
            record.answer = Some(Answer { folder: out.to_owned(), stamps });
        }
        End::Cancelled => record.phase = Phase::Cancelled,
        _ => {
            record.phase = Phase::Failed;
            let mut said = outcome.error(order);
            // A user knows a text by the field in which it was entered.
            for (number, file) in (1..).zip(&record.spec.files) {
                let path = text_path(&order.folder, number).display().to_string();
                said = said.replace(&path, &file.field);
            }
            record.error = Some(said);
        }
    }
}

/// Removes answers of earlier rounds, and the folder in which the worker ran.
fn remove_others(portal: &Portal, id: &str, record: &Record) {
    let kept = record.answer.as_ref().map(|answer| answer.folder.as_str());
    let folder = portal.state.job(id);
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("out-") && Some(name.as_str()) != kept {
            // A folder that cannot be removed now is removed after the next round.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let _ = fs::remove_dir_all(portal.state.work().join(id));
}
