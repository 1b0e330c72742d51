//! Pages of single jobs, and a table that links to them.
//!
//! In: the jobs that a sweep names, each in detail, and the flags of detectors. Out: a page per job
//! with its events, its attempts on machines over time, and the effect that rules and detectors
//! would have had. Pages are named by the number of the job, so no name becomes a path.

use std::fmt::Write;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::ReportError;
use super::gantt::{Bars, ENDED};
use super::happened::Happened;
use super::html::{self, Cell, Page};
use super::job_cpu;
use super::job_sentences::{SEQUENCE_DIGITS, known, place_of, sentences};
use super::links::{JOBS, Links};
use super::tables::cells::in_unit;
use super::text::{clock, escape, instant};
use crate::answers::condition::name_of;
use crate::answers::detect;
use crate::answers::sentences::{Ends, short};
use crate::answers::sweep::{JobDetail, JobDetails, JobEvent, JobKill, JobTask};
use crate::charts::{Chart, Line, LineChart, Scale, Stroke, Tone, svg_of};
use crate::digits::{counted, grouped, three_digits, unit_of_time};
use crate::lake::Gap;
use crate::results::envelope::if_it_reads;
use crate::results::missing::Missing;
use crate::results::{ResultError, Stored};
use crate::schema::{Source, Table};

/// A larger table of flags is not searched, bytes.
const FLAGS_MAX: u64 = 256 << 20;

/// Shorter spans are drawn in seconds, s.
const SECONDS_BELOW: f64 = 7200.0;

/// The clock of the instants of a job, in words.
fn clock_of(job: &JobDetail) -> &'static str {
    clock(job.events.first().map(|event| event.time_s))
}

/// Jobs of a user as a table, for a page in a folder.
pub(super) fn table(jobs: &[&JobDetail], ends: Ends) -> String {
    let header =
        ["job_id", "outcome", "tasks", "attempts", "ran, summed over attempts"].map(str::to_owned);
    let row = |job: &&JobDetail| {
        let id = job.job_id.to_string();
        let outcome = match ends {
            Ends::Known => job.outcome(),
            Ends::Assumed => "not recorded",
        };
        vec![
            Cell::link(&id, &format!("../{JOBS}/{id}.html")),
            Cell::name(outcome),
            number(&job.task_count),
            number(&job.attempt_count),
            Cell::lasting(Some(job.running_s)),
        ]
    };
    let rows: Vec<Vec<Cell>> = jobs.iter().map(row).collect();
    html::table("Jobs with a page", &header, &rows)
}

/// The flags of a detector on tasks of a job.
#[derive(Default)]
struct Flags {
    count: u64,
    right: u64,
    first_us: Option<i64>,
}

/// Flags by job and detector.
type FlagsOf = FxHashMap<String, Vec<(String, Flags)>>;

/// The flags on tasks of jobs with pages, and the smallest number of finished tasks in a judged
/// group.
struct Flagged {
    of: FlagsOf,
    min_tasks: Option<usize>,
}

/// The setting of `detect` that a page needs.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Judging {
    #[serde(deserialize_with = "if_it_reads")]
    min_tasks: Option<usize>,
}

/// The pages of the jobs of a result.
pub(super) fn pages(
    result: &Stored,
    all: &[Stored],
    within: &'static str,
) -> Result<Vec<Page>, ReportError> {
    let links = Links::of(all);
    let flags = flags(all, &links)?.map(|of| {
        let detected = all.iter().find(|result| result.name == detect::KIND.name);
        let min_tasks = detected.and_then(|one| one.whole.chosen::<Judging>().min_tasks);
        Flagged { of, min_tasks }
    });
    let ends = ends_of(result);
    let missing = missing(result.whole.inputs.iter().flat_map(|input| &input.gaps));
    let happened = Happened::of(all);
    let page = |job: &JobDetail| {
        let known = (flags.as_ref(), &happened);
        page(result, (job, ends, &missing), known, &links, within)
    };
    let jobs = result.found::<JobDetails>().map_or(&[][..], |found| &found.jobs);
    Ok(jobs.par_iter().map(page).collect())
}

/// Whether the log of a result records how its jobs ended.
pub(super) fn ends_of(result: &Stored) -> Ends {
    let finished = result.found::<JobDetails>().map_or(0, JobDetails::finished);
    Ends::of(finished, &result.whole.inputs)
}

/// The flags of the jobs that have pages; `None` if no detector ran, or the file is too large.
fn flags(all: &[Stored], links: &Links) -> Result<Option<FlagsOf>, ReportError> {
    let file = all.iter().find_map(|result| result.path_of("detect-flags.csv").ok());
    let Some(path) = file else { return Ok(None) };
    let io = |cause| ReportError::io(&path, cause);
    if FLAGS_MAX < std::fs::metadata(&path).map_err(io)?.len() {
        return Ok(None);
    }
    let bad = |problem: String| ResultError::BadResult { path: path.clone(), problem };
    let mut reader = csv::Reader::from_path(&path).map_err(|error| bad(error.to_string()))?;
    let header = reader.headers().map_err(|error| bad(error.to_string()))?.clone();
    let place = |name: &str| {
        let found = header.iter().position(|column| column == name);
        found.ok_or_else(|| bad(format!("it has no column `{name}`")))
    };
    let [detector, job_id, flagged, right] =
        [place("detector")?, place("job_id")?, place("flagged_us")?, place("is_straggler")?];
    let mut found = FlagsOf::default();
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(|error| bad(error.to_string()))? {
        let Some(job) = record.get(job_id).filter(|job| links.has_job(job)) else {
            continue;
        };
        let name = record.get(detector).unwrap_or_default();
        let own = found.entry(job.to_owned()).or_default();
        let place = own.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            own.push((name.to_owned(), Flags::default()));
            own.len() - 1
        });
        let flags = &mut own[place].1;
        flags.count += 1;
        flags.right += u64::from(record.get(right) == Some("true"));
        let at = record.get(flagged).and_then(|text| text.parse::<i64>().ok());
        flags.first_us = [flags.first_us, at].into_iter().flatten().min();
    }
    Ok(Some(found))
}

fn number<T: ToString>(number: &T) -> Cell {
    Cell::of(&number.to_string())
}

fn page(
    result: &Stored,
    (job, ends, missing): (&JobDetail, Ends, &Missing),
    (flags, happened): (Option<&Flagged>, &Happened),
    links: &Links,
    within: &'static str,
) -> Page {
    let id = job.job_id.to_string();
    let mut body =
        format!("<p><a href=\"../{within}#{}\">All jobs with a page</a></p>\n", result.name);
    body.push_str(&sentences(job, ends));
    let user = known(job.user.as_ref());
    if let Some(page) = links.page("user", user) {
        let user = escape(&short(user));
        let _ = writeln!(body, "<p><a href=\"../{page}\">Usage of user {user}</a></p>");
    }
    body.push_str(&over_time((job, ends, missing), &id));
    body.push_str(&happened.of_job(job.job_id));
    // Rules are not judged if it is unknown which jobs finished.
    if ends == Ends::Known {
        body.push_str(&judged(job, flags.and_then(|flags| flags.of.get(&id)), flags));
    }
    body.push_str("<h2>Its events and tasks</h2>\n");
    body.push_str(&listed(job, ends));
    let source = result.whole.source.as_deref().and_then(|name| name.parse::<Source>().ok());
    let is_before =
        source.is_some_and(Source::is_google) && job.events.iter().any(|event| event.time_s <= 0.0);
    if is_before {
        body.push_str("<p class=\"source\">0 d 00:00:00: before the trace begins.</p>\n");
    }
    let _ =
        writeln!(body, "<p class=\"source\">From <code>{}</code></p>", escape(&result.command()));
    let title = format!("Job {id}");
    Page { file: format!("{JOBS}/{id}.html"), title, within, body }
}

/// The attempts of the job over time.
fn over_time((job, ends, missing): (&JobDetail, Ends, &Missing), id: &str) -> String {
    let mut html = String::from("<h2>Its attempts over time</h2>\n");
    let draw = |html: &mut String, chart: &Chart| {
        html.push_str(&html::drawn(&svg_of(chart), chart.caption()));
        let _ = writeln!(html, "<p class=\"source\">{}</p>", escape(chart.caption()));
    };
    match gantt((job, ends, missing), id) {
        Some(chart) => draw(&mut html, &chart),
        None => html.push_str("<p>None of its tasks ran in the loaded parts.</p>\n"),
    }
    let more = [
        ("Its CPU over time", job_cpu::over_time(job, missing, id)),
        ("How long its finished attempts took", lengths(job, id)),
    ];
    for (heading, chart) in more {
        let Some(chart) = chart else { continue };
        let _ = writeln!(html, "<h2>{heading}</h2>");
        draw(&mut html, &chart);
    }
    html
}

/// The times for which the drawn data of a job is not in the log.
pub(crate) fn missing<'a>(gaps: impl IntoIterator<Item = &'a Gap>) -> Missing {
    Missing::of(gaps, &[Table::TaskEvents])
}

/// The distribution of the lengths of the job's finished attempts.
fn lengths(job: &JobDetail, id: &str) -> Option<Chart> {
    let lengths: Vec<f64> = job.finished_s_quantiles.iter().copied().step_by(2).collect();
    let steps = u32::try_from(lengths.len()).ok()?.checked_sub(1).filter(|steps| 0 < *steps)?;
    let (least, most) = (*lengths.first()?, *lengths.last()?);
    let median = job.finished_s_median.filter(|median| 0.0 < *median)?;
    let said = format!(
        "The longest of {} took {} times as long as the median. Curve: quantiles in steps of {:.0} %.",
        counted(job.finished_attempts as u64, "attempt"),
        three_digits(most / median),
        100.0 / f64::from(steps),
    );
    let (unit, per) = unit_of_time(most);
    let points = (0..=steps).zip(&lengths);
    let points =
        points.map(|(step, length)| (length / per, f64::from(step) / f64::from(steps) * 100.0));
    // A curve over less than a factor of ten is easier to read on a linear axis.
    let x_scale = if 0.0 < least && 10.0 * least < most { Scale::Log } else { Scale::Linear };
    Some(Chart::Lines(LineChart {
        title: format!("How long finished attempts of job {} took", short(id)),
        caption: said,
        x_axis: format!("length ({unit})"),
        y_axis: "attempts at or below (%)".to_owned(),
        x_scale,
        y_from: 0.0,
        lines: vec![Line {
            name: String::new(),
            points: points.collect(),
            band: Vec::new(),
            tone: Tone::Blue,
            stroke: Stroke::Straight,
        }],
    }))
}

/// The part of a job's page that the portal shows too.
#[cfg(feature = "serve")]
pub(crate) fn drawings((job, ends, missing): (&JobDetail, Ends, &Missing), id: i64) -> String {
    sentences(job, ends) + &over_time((job, ends, missing), &id.to_string())
}

/// The meaning of a column, for the end of a caption.
const CUT_OFF: &str =
    "; cut off: the CPU that the killed tasks requested for the time after their kill";

/// What a kill means for a job that finished.
const HARMED: &str = "<p>The job finished. Each kill below of a task that had not ended would have harmed it: the CPU \
    that is cut off is then not saved but missing, and what its tasks had used before is lost.</p>\n";

/// The effect that kill rules would have had on its tasks.
fn condemned(job: &JobDetail) -> String {
    let mut html = String::from("<h2>What kill rules would have done with it</h2>\n");
    // A kill changes nothing if the task has already ended.
    let is_idle = |kill: &&JobKill| kill.over_by_then == Some(kill.condemned_tasks);
    let (idle, acting): (Vec<&JobKill>, Vec<&JobKill>) = job.kills.iter().partition(is_idle);
    let most_s = acting.iter().filter_map(|kill| kill.saved_cpu).reduce(f64::max);
    let saved_in = most_s.map(|most_s| job_cpu::unit_of_request(job, most_s));
    let row = |kill: &JobKill| {
        let mut cells = vec![
            Cell::name(name_of(&kill.rule)),
            in_unit(number(&kill.threshold), &kill.threshold.to_string(), &kill.unit),
            number(&kill.condemned_tasks),
            kill.over_by_then.map_or_else(|| Cell::name(""), |over| number(&over)),
            Cell::instant(Some(kill.first_s)),
        ];
        if let Some((_, per)) = saved_in {
            cells.push(
                kill.saved_cpu.map_or_else(|| Cell::name(""), |cpu| Cell::rounded(cpu / per)),
            );
        }
        cells
    };
    if acting.is_empty() {
        html.push_str("<p>No rule of the sweep would have changed anything.</p>\n");
    } else {
        let header = ["rule", "threshold", "killed tasks", "already ended", "first kill"];
        let mut header = header.map(str::to_owned).to_vec();
        if let Some((unit, _)) = &saved_in {
            header.push(format!("requested CPU cut off ({unit})"));
        }
        let rows: Vec<Vec<Cell>> = acting.iter().map(|kill| row(kill)).collect();
        if job.outcome_by_last_event == "finished" {
            html.push_str(HARMED);
        }
        let caption = format!(
            "Tasks that each rule would kill ({}); already ended: tasks that were over by then, whose kill \
            changes nothing{}",
            clock_of(job),
            if saved_in.is_some() { CUT_OFF } else { "" }
        );
        html.push_str(&html::table(&caption, &header, &rows));
    }
    if !idle.is_empty() {
        let _ = writeln!(
            html,
            "<p class=\"source\">Not listed: {} that would kill only tasks that have already ended by then, \
            which saves nothing.</p>",
            counted(idle.len() as u64, "rule setting")
        );
    }
    html
}

/// The effect that rules and detectors would have had.
fn judged(
    job: &JobDetail,
    flags: Option<&Vec<(String, Flags)>>,
    about: Option<&Flagged>,
) -> String {
    let (has_flags, min_tasks) = (about.is_some(), about.and_then(|about| about.min_tasks));
    let mut html = condemned(job);
    // A single task has no sibling to compare it with.
    if !has_flags || (flags.is_none() && job.task_count == 1) {
        return html;
    }
    html.push_str("<h2>What detectors would have done with it</h2>\n");
    let Some(flags) = flags else {
        // Only tasks of a group with enough finished tasks are judged.
        let said = match min_tasks.filter(|&least| job.finished_attempts < least) {
            Some(least) => format!(
                "None of its tasks was judged: fewer than {} finished in the loaded task events.",
                counted(least as u64, "task")
            ),
            None => "No detector flags any of its tasks.".to_owned(),
        };
        let _ = writeln!(html, "<p>{said}</p>");
        return html;
    };
    let header = ["detector", "flags", "of stragglers", "first flag"].map(str::to_owned);
    #[expect(clippy::cast_precision_loss, reason = "a time, shown with six digits")]
    let seconds = |us: i64| us as f64 / 1e6;
    let rows: Vec<Vec<Cell>> = flags
        .iter()
        .map(|(name, flags)| {
            let [count, right] = [flags.count, flags.right].map(|count| count.to_string());
            let first = Cell::instant(flags.first_us.map(seconds));
            vec![Cell::name(name), Cell::of(&count), Cell::of(&right), first]
        })
        .collect();
    let caption = format!("Flags of each detector ({})", clock_of(job));
    html + &html::table(&caption, &header, &rows)
}

/// The tables of events and tasks. If rows are left out, the captions give the full numbers.
fn listed(job: &JobDetail, ends: Ends) -> String {
    let of_all = |shown: usize, all: u64, noun: &str| {
        let shown = shown as u64;
        if all <= shown {
            return String::new();
        }
        format!(", {} of {}", grouped(shown), counted(all, noun))
    };
    let name = |event: &str| match (ends, event) {
        (Ends::Assumed, "FINISH") => "END (status not recorded)".to_owned(),
        (_, event) => event.to_owned(),
    };
    let row =
        |event: &JobEvent| vec![Cell::instant(Some(event.time_s)), Cell::name(&name(&event.event))];
    let events: Vec<Vec<Cell>> = job.events.iter().map(row).collect();
    let all = of_all(job.events.len(), job.event_count as u64, "event");
    let caption = format!("Events of the job{all} ({})", clock_of(job));
    let mut html = html::table(&caption, &["time", "event"].map(str::to_owned), &events);
    let row = |task: &JobTask| {
        vec![
            Cell::name(&task.task_index.to_string()),
            Cell::name(&task.sequence),
            number(&task.event_count),
            number(&task.attempt_count),
        ]
    };
    let tasks: Vec<Vec<Cell>> = job.tasks.iter().map(row).collect();
    let header = ["task", "sequence", "events", "attempts"].map(str::to_owned);
    let all = of_all(job.tasks.len(), job.task_count, "task");
    let caption = format!("Tasks with most attempts{all} (sequence: {SEQUENCE_DIGITS})");
    // If there is a single task, its events are those of the job.
    if 1 < job.task_count || 1 < job.attempt_count {
        html.push_str(&html::table(&caption, &header, &tasks));
    }
    html
}

/// The tasks and attempts that a chart draws: `12 of 1,931 tasks, those with most attempts, a row
/// for each, with the first 24 of their 30 attempts, so that rows may end before the job does`, or
/// `1 task with its only attempt`.
fn drawn([tasks, all_tasks]: [u64; 2], [attempts, all_attempts]: [u64; 2]) -> String {
    let part = |part: u64, all: u64, noun: &str| {
        let all_text = counted(all, noun);
        if part < all { format!("{} of {all_text}", grouped(part)) } else { all_text }
    };
    let rows = match (tasks, tasks < all_tasks) {
        (1, false) => "",
        (1, true) => ", that with most attempts,",
        (_, false) => ", a row for each,",
        (_, true) => ", those with most attempts, a row for each,",
    };
    let whose = if tasks == 1 { "its" } else { "their" };
    let with = match (attempts, all_attempts) {
        (1, 1) => format!("{whose} only attempt"),
        (drawn, all) if drawn < all => {
            let (drawn, all) = (grouped(drawn), counted(all, "attempt"));
            let rest = if tasks == 1 { "a row may end" } else { "rows may end" };
            format!("the first {drawn} of {whose} {all}, so that {rest} before the job does")
        }
        (_, all) => format!("{whose} {}", counted(all, "attempt")),
    };
    format!("{}{rows} with {with}", part(tasks, all_tasks, "task"))
}

/// Attempts as bars, a row per task.
fn gantt((job, ends, missing): (&JobDetail, Ends, &Missing), id: &str) -> Option<Chart> {
    let (mut rows, mut bars, mut is_named) = (Vec::new(), Bars::default(), false);
    for task in &job.tasks {
        for attempt in &task.attempts {
            let label = place_of(job, attempt.machine_id);
            is_named |= !label.is_empty();
            let ended_by = match ends {
                Ends::Known => attempt.ended_by.as_str(),
                Ends::Assumed => ENDED,
            };
            if let Some(submit_s) = attempt.submit_s {
                bars.add_wait(rows.len(), (submit_s, attempt.start_s));
            }
            bars.add(rows.len(), (attempt.start_s, attempt.end_s), ended_by, &label);
        }
        if !task.attempts.is_empty() {
            rows.push(format!("task {}", task.task_index));
        }
    }
    let (from, to) = bars.bounds()?;
    let (unit, per) = if to - from < SECONDS_BELOW { ("s", 1.0) } else { ("h", 3600.0) };
    let with_bars = job.tasks.iter().filter(|task| !task.attempts.is_empty());
    let attempts: u64 = with_bars.map(|task| task.attempt_count as u64).sum();
    let said = format!(
        "{}{}.{} From {} to {} ({}).",
        drawn([rows.len() as u64, job.task_count], [bars.attempts() as u64, attempts]),
        if is_named { "; the name on a bar is the machine" } else { "" },
        if bars.has_waits() {
            " Thin: the wait from a task's submission to the start of its attempt."
        } else {
            ""
        },
        instant(from),
        instant(to),
        clock(Some(from)),
    );
    let title = format!("Attempts of job {} over time", short(id));
    let first = if bars.has_waits() { "submission or attempt" } else { "attempt" };
    let axis = (format!("time since the first {first} shown ({unit})"), from, per);
    let chart = bars.chart((title, said), axis, rows);
    Some(missing.within([from, to]).over_time(chart, from, per))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::answers::condition::LIMITS;

    #[test]
    fn what_is_drawn_is_counted_against_all() {
        for (tasks, attempts, said) in [
            ([1, 1], [1, 1], "1 task with its only attempt"),
            (
                [1, 1],
                [12, 30],
                "1 task with the first 12 of its 30 attempts, so that a row may end before the job does",
            ),
            ([2, 2], [2, 2], "2 tasks, a row for each, with their 2 attempts"),
            (
                [12, 1931],
                [24, 30],
                "12 of 1,931 tasks, those with most attempts, a row for each, with the first 24 of their \
                30 attempts, so that rows may end before the job does",
            ),
        ] {
            assert_eq!(drawn(tasks, attempts), said);
        }
    }

    #[test]
    fn a_task_over_by_its_kill_and_a_job_that_was_not_judged_are_named() {
        let kill = |over: Option<u64>| JobKill {
            rule: "failures".to_owned(),
            threshold: 1,
            unit: "failures".into(),
            condemned_tasks: 1,
            over_by_then: over,
            first_s: 5.0,
            saved_cpu: Some(9000.0),
        };
        let job = |over| JobDetail {
            finished_attempts: 9,
            kills: vec![kill(over)],
            ..JobDetail::default()
        };
        let about = |min_tasks| Flagged { of: FlagsOf::default(), min_tasks };
        let html = judged(&job(Some(1)), None, Some(&about(Some(10))));
        assert!(html.contains("would have changed anything") && !html.contains("<table"), "{html}");
        assert!(html.contains("Not listed: 1 rule setting that would kill only"), "{html}");
        assert!(
            html.contains("None of its tasks was judged: fewer than 10 tasks finished in"),
            "{html}"
        );
        let html = judged(&job(Some(0)), None, Some(&about(Some(9))));
        assert!(html.contains("requested CPU cut off (CPU-h)") && html.contains(">2.5<"), "{html}");
        assert!(!html.contains("saves nothing") && html.contains("No detector flags"), "{html}");
        assert!(!html.contains("would have harmed it"), "{html}");
        let mut finished = job(Some(0));
        finished.outcome_by_last_event = "finished".into();
        LIMITS.clone_into(&mut finished.kills[0].rule);
        let html = judged(&finished, None, None);
        assert!(
            html.contains("would have harmed it") && html.contains("share of the time limit"),
            "{html}"
        );
        assert!(!judged(&job(None), None, None).contains("detector"));
        let single = JobDetail { task_count: 1, ..job(Some(0)) };
        assert!(!judged(&single, None, Some(&about(Some(10)))).contains("detector"));
    }

    #[test]
    fn the_end_of_a_job_without_a_status_is_not_said_to_be_a_finish() {
        let event = JobEvent { time_s: 5.0, event: "FINISH".to_owned() };
        let job = JobDetail { events: vec![event], event_count: 1, ..JobDetail::default() };
        assert!(listed(&job, Ends::Known).contains("FINISH"));
        let html = listed(&job, Ends::Assumed);
        assert!(html.contains("END (status not recorded)") && !html.contains("FINISH<"), "{html}");
    }

    #[test]
    fn the_wait_before_an_attempt_is_drawn_where_it_is_known() {
        let attempt = |submit_s: Option<f64>, start_s: f64| {
            let mut attempt = json!({
                "start_s": start_s, "end_s": start_s + 100.0, "ended_by": "FINISH",
                "machine_id": null,
            });
            if let Some(submit_s) = submit_s {
                attempt["submit_s"] = json!(submit_s);
            }
            attempt
        };
        let drawn = |attempts: &[Value]| {
            let task = json!({
                "task_index": 0, "sequence": "014", "event_count": 9,
                "attempt_count": attempts.len(), "attempts": attempts,
            });
            let job = json!({"tasks": [task], "task_count": 1});
            let job: JobDetail = serde_json::from_value(job).unwrap();
            let chart = gantt((&job, Ends::Known, &Missing::default()), "7").unwrap();
            let Chart::Gantt(chart) = chart else { panic!() };
            chart
        };
        let chart = drawn(&[attempt(Some(1000.0), 1300.0), attempt(None, 1500.0)]);
        let bars: Vec<(f64, f64, bool)> =
            chart.spans.iter().map(|span| (span.from, span.to, span.is_wait)).collect();
        assert_eq!(bars, [(0.0, 300.0, true), (300.0, 400.0, false), (500.0, 600.0, false)]);
        assert!(chart.caption.contains("1 task with its 2 attempts. Thin: the wait from"));
        assert_eq!(chart.time_axis, "time since the first submission or attempt shown (s)");
        assert!(chart.legend.iter().any(|known| known.0 == "waiting"));
        // A log without waits has each submission at the start of its attempt.
        let chart = drawn(&[attempt(Some(1300.0), 1300.0)]);
        assert!(chart.spans.len() == 1 && !chart.caption.contains("Thin"), "{}", chart.caption);
        assert_eq!(chart.time_axis, "time since the first attempt shown (s)");
    }

    #[test]
    fn it_is_drawn_how_long_attempts_of_a_job_took() {
        let job = JobDetail {
            finished_attempts: 20,
            finished_s_median: Some(60.0),
            finished_s_quantiles: vec![30.0, 50.0, 60.0, 90.0, 240.0],
            ..JobDetail::default()
        };
        let chart = lengths(&job, "7").unwrap();
        let said = chart.caption().to_owned();
        assert!(said.starts_with("The longest of 20 attempts took 4 times as long"), "{said}");
        let Chart::Lines(chart) = chart else { panic!() };
        assert_eq!(chart.lines[0].points, [(0.5, 0.0), (1.0, 50.0), (4.0, 100.0)]);
        assert!(lengths(&JobDetail::default(), "7").is_none());
    }
}
