//! A custom index as a program: it reads usage from stdin and writes values to stdout.
//!
//! Only programs that the user names are started, without a shell. Fields are separated by tabs; a
//! tab or line end in a name is written as a space. `>` marks lines to the program, `<` its
//! answers:
//!
//! ```text
//! > jobfate-fairness  2
//! > begin
//! < columns   score  other                               the first is charted
//! > user      0  alice  physics                          a new user: number, name, group
//! > machine   0  ID  PLATFORM  CPU  MEMORY  SITE  CLUSTER   first use; empty if unknown
//! > interval  0  3600  3600                              number, end (s), length (s)
//! > use       0  0  1200.5  0  30  1200.5                user, machine; CPU-s charged, memory-s,
//! >                                                      waiting-s, CPU-s that ran
//! > ended     0  12.5  600                               user, wait and run of an attempt that ended
//! > done
//! < value     0  17.25  3                                as many as there are columns
//! < done
//! ```
//!
//! Users and machines are announced and numbered in order of appearance, so a program never sees
//! the future. A user without a `value` line keeps the last one (at first: none). After the last
//! interval stdin is closed, and the program must end with status 0. The whole run has one time
//! limit.

use std::fmt::{self, Write as _};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::FairnessError;
use super::history::{Cell, History, Step};
use super::indices::{Index, Readings};
use crate::units::CpuTime;

/// The longest line of an answer.
const LINE_MAX: u64 = 1 << 16;

/// After a silence of this length, the run checks whether the program still runs.
const LOOK: Duration = Duration::from_millis(100);

/// How much of stderr is kept for the error.
const STDERR_MAX: usize = 500;

/// A program as an index.
#[derive(Debug)]
pub struct Program {
    name: String,
    words: Vec<String>,
    limit: Duration,
    columns: Vec<String>,
    running: Option<Running>,
    told: Told,
}

/// The users and machines that the program knows.
#[derive(Debug, Default)]
struct Told {
    /// Users, in the order of their numbers.
    people: Vec<usize>,
    /// The number of each user and of each machine.
    numbers: [Vec<Option<usize>>; 2],
    /// The number of machines so far.
    machines: usize,
    /// Whether there is a value for this interval, by the number of the user.
    answered: Vec<bool>,
}

/// Process groups of the running programs.
static GROUPS: Mutex<Groups> = Mutex::new(Groups { running: Vec::new(), is_over: false });

struct Groups {
    running: Vec<u32>,
    /// Whether no more programs may start.
    is_over: bool,
}

/// Ends all started programs and the processes that they started; no more programs start
/// afterwards. Call it before this process ends, because a signal from the terminal does not reach
/// the programs. Waiting for their answers could take forever.
pub fn stop_all() {
    let mut groups = groups();
    groups.is_over = true;
    groups.running.drain(..).for_each(stop_group);
}

fn groups() -> MutexGuard<'static, Groups> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The process groups. After a call of [`stop_all`] it does not return, but waits for the end of
/// this process.
fn groups_unless_over() -> MutexGuard<'static, Groups> {
    loop {
        let groups = groups();
        if !groups.is_over {
            return groups;
        }
        drop(groups);
        thread::park();
    }
}

fn stop_group(group: u32) {
    // The group may have ended in the meantime.
    let group = format!("-{group}");
    let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
}

/// A running program.
#[derive(Debug)]
struct Running {
    child: Child,
    /// Text for its stdin; closed by dropping it.
    input: Option<Sender<String>>,
    lines: Receiver<String>,
    stderr: Receiver<String>,
    deadline: Instant,
}

impl Program {
    /// An index with this name: a program, its arguments, and a time limit for its whole run.
    pub fn new(name: &str, words: Vec<String>, limit: Duration) -> Self {
        Self {
            name: name.to_owned(),
            words,
            limit,
            columns: Vec::new(),
            running: None,
            told: Told::default(),
        }
    }

    fn fail(&mut self, problem: impl Into<String>) -> FairnessError {
        drop(groups_unless_over());
        let stderr = self.running.take().map(Running::kill).unwrap_or_default();
        FairnessError::Program { name: self.name.clone(), problem: problem.into(), stderr }
    }

    fn send(&mut self, text: String) {
        if let Some(input) = self.running.as_ref().and_then(|running| running.input.as_ref()) {
            // If the program has ended, its answer will be missing.
            let _ = input.send(text);
        }
    }

    fn too_late(&mut self) -> FairnessError {
        let seconds = self.limit.as_secs_f64();
        self.fail(format!("no answer within the time limit of {seconds} s"))
    }

    /// The next line of its stdout.
    fn line(&mut self) -> Result<String, FairnessError> {
        let Some(running) = &mut self.running else { return Err(self.fail("it is not running")) };
        let received = loop {
            let left = running.deadline.saturating_duration_since(now());
            match running.lines.recv_timeout(left.min(LOOK)) {
                // A program that keeps writing is stopped as well.
                Ok(_) if left.is_zero() => break Err(RecvTimeoutError::Timeout),
                Err(RecvTimeoutError::Timeout) if !left.is_zero() => {
                    // Processes that it started may keep its output open after it has ended.
                    if !matches!(running.child.try_wait(), Ok(None)) {
                        running.end_group();
                    }
                }
                received => break received,
            }
        };
        match received {
            Ok(line) => Ok(line),
            Err(RecvTimeoutError::Timeout) => Err(self.too_late()),
            Err(RecvTimeoutError::Disconnected) => {
                let ended = self.running.as_mut().and_then(Running::ended);
                Err(self.fail(match ended {
                    Some(status) => format!("it ended ({status}) before it answered"),
                    None => "it closed its output before it answered".to_owned(),
                }))
            }
        }
    }

    fn read_columns(&mut self) -> Result<(), FairnessError> {
        let line = self.line()?;
        let mut fields = line.split('\t');
        let columns: Vec<String> = match fields.next() {
            Some("columns") => fields.map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        if columns.is_empty() || columns.iter().any(String::is_empty) {
            let shown: String = line.chars().take(120).collect();
            return Err(self.fail(format!(
                "its first line is {shown:?} and not `columns` and their names, each after a tab"
            )));
        }
        for (place, column) in columns.iter().enumerate() {
            if columns[..place].contains(column) {
                return Err(self.fail(format!("its columns list `{column}` twice")));
            }
        }
        self.columns = columns;
        Ok(())
    }

    /// Reads one `value` line into the readings; returns false at `done`.
    fn read_value(&mut self, out: &mut Readings) -> Result<bool, FairnessError> {
        let line = self.line()?;
        if line == "done" {
            return Ok(false);
        }
        let width = self.columns.len();
        let mut fields = line.split('\t');
        let is_value = fields.next() == Some("value");
        let number = fields.next().and_then(|number| number.parse::<usize>().ok());
        let who = number.and_then(|number| self.told.people.get(number).copied());
        let values: Option<Vec<f64>> = fields.map(|field| field.parse().ok()).collect();
        let room =
            who.and_then(|who| out.users.get_mut(who.checked_mul(width)?..)?.get_mut(..width));
        match (is_value, values, room) {
            (true, Some(values), Some(room)) if values.len() == width => {
                room.copy_from_slice(&values);
                let number = number.unwrap_or_default();
                if std::mem::replace(&mut self.told.answered[number], true) {
                    let problem = format!("it answered twice for user {number} in one interval");
                    return Err(self.fail(problem));
                }
                Ok(true)
            }
            _ => {
                let shown: String = line.chars().take(120).collect();
                Err(self.fail(format!(
                    "it answered {shown:?}, which is neither `done` nor `value`, a user and {width} numbers"
                )))
            }
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Index for Program {
    fn columns(&self) -> Vec<String> {
        self.columns.clone()
    }

    fn reads_ends(&self) -> bool {
        true
    }

    fn reads_machines(&self) -> bool {
        true
    }

    fn begin(&mut self, history: &History) -> Result<(), FairnessError> {
        self.running = Some(start(&self.name, &self.words, self.limit)?);
        self.told = Told {
            numbers: [vec![None; history.people.len()], vec![None; history.machines.len()]],
            ..Told::default()
        };
        self.send("jobfate-fairness\t2\nbegin\n".to_owned());
        self.read_columns()
    }

    fn step(&mut self, step: &Step<'_>, out: &mut Readings) -> Result<(), FairnessError> {
        let text = self.told.record(step);
        self.send(text);
        self.told.answered = vec![false; self.told.people.len()];
        while self.read_value(out)? {}
        Ok(())
    }

    fn finish(&mut self) -> Result<(), FairnessError> {
        if let Some(running) = &mut self.running {
            running.input = None;
            match running.ended() {
                Some(status) if status.success() => {
                    // It has ended, so its output is complete.
                    if let Ok(line) = running.lines.recv_timeout(Duration::from_millis(200)) {
                        let line: String = line.chars().take(80).collect();
                        return Err(
                            self.fail(format!("it wrote {line:?} after the last requested `done`"))
                        );
                    }
                }
                Some(status) => return Err(self.fail(format!("it ended with {status}"))),
                None => return Err(self.fail("it did not stop after its input ended")),
            }
        }
        self.running = None;
        Ok(())
    }
}

impl Told {
    /// New users, and machines that are used for the first time.
    fn news(&mut self, step: &Step<'_>) -> String {
        let mut text = String::new();
        let clean = |name: &str| name.replace(['\t', '\n', '\r'], " ");
        let number =
            |number: Option<f32>| number.map_or_else(String::new, |number| number.to_string());
        let write = "a text takes every line";
        let [people, machines] = &mut self.numbers;
        for (who, person) in step.history.people.iter().enumerate() {
            if step.has_come(who) {
                let given = self.people.len();
                people[who] = Some(given);
                self.people.push(who);
                let group = clean(person.group.as_deref().unwrap_or_default());
                writeln!(text, "user\t{given}\t{}\t{group}", clean(&person.name)).expect(write);
            }
        }
        for cell in step.cells.iter().filter(|cell| is_told(cell)) {
            let known = &mut machines[cell.machine as usize];
            if known.is_some() {
                continue;
            }
            *known = Some(self.machines);
            let machine = &step.history.machines[cell.machine as usize];
            let fields = [
                machine.id.map_or_else(String::new, |id| id.to_string()),
                clean(machine.platform.as_deref().unwrap_or_default()),
                number(machine.cpu),
                number(machine.memory),
                clean(machine.site.as_deref().unwrap_or_default()),
                clean(&step.history.clusters[machine.cluster as usize]),
            ];
            writeln!(text, "machine\t{}\t{}", self.machines, fields.join("\t")).expect(write);
            self.machines += 1;
        }
        text
    }

    /// The usage of one interval, after its new users and machines.
    fn record(&mut self, step: &Step<'_>) -> String {
        let mut text = self.news(step);
        let end_s = f64::from(step.idx + 1) * step.length_s;
        let write = "a text takes every line";
        let [people, machines] = &self.numbers;
        let user = |who: u32| people[who as usize].expect("a user with usage is announced");
        writeln!(text, "interval\t{}\t{end_s}\t{}", step.idx, step.length_s).expect(write);
        for cell in step.cells.iter().filter(|cell| is_told(cell)) {
            let machine = machines[cell.machine as usize].expect("announced above");
            let numbers = [cell.cpu, cell.memory, cell.waiting, cell.held];
            let [cpu, memory, waiting, ran] = numbers.map(CpuTime::seconds);
            let who = user(cell.who);
            writeln!(text, "use\t{who}\t{machine}\t{cpu}\t{memory}\t{waiting}\t{ran}")
                .expect(write);
        }
        for end in step.ends {
            writeln!(text, "ended\t{}\t{}\t{}", user(end.who), end.wait_s, end.run_s).expect(write);
        }
        text.push_str("done\n");
        text
    }
}

/// Whether there is anything to report in a cell.
fn is_told(cell: &Cell) -> bool {
    [cell.cpu, cell.memory, cell.waiting, cell.held].into_iter().any(|part| part != CpuTime::ZERO)
}

#[expect(clippy::disallowed_methods, reason = "an external program has a time limit")]
fn now() -> Instant {
    Instant::now()
}

/// Starts a program, with threads that write to it and read from it, so that the two sides cannot
/// block each other.
fn start(name: &str, words: &[String], limit: Duration) -> Result<Running, FairnessError> {
    let mut groups = groups_unless_over();
    let mut child = Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A separate group, so that processes that it starts can be stopped with it.
        .process_group(0)
        .spawn()
        .map_err(|cause| FairnessError::Start {
            name: name.to_owned(),
            program: words[0].clone(),
            cause,
        })?;
    groups.running.push(child.id());
    drop(groups);
    let pipe = "the pipe was asked for";
    let mut stdin = child.stdin.take().expect(pipe);
    let stdout = child.stdout.take().expect(pipe);
    let mut stderr = child.stderr.take().expect(pipe);
    let (input, texts) = channel::<String>();
    thread::spawn(move || {
        for text in texts {
            if stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).is_err() {
                break;
            }
        }
    });
    let (sender, lines) = sync_channel(1 << 10);
    thread::spawn(move || {
        let mut reader = BufReader::new(stdout);
        let mut line = Vec::new();
        while (&mut reader).take(LINE_MAX).read_until(b'\n', &mut line).is_ok_and(|read| 0 < read) {
            let text = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
            line.clear();
            if sender.send(text).is_err() {
                break;
            }
        }
    });
    let (sender, heard) = channel();
    thread::spawn(move || {
        let mut kept = Vec::new();
        let mut block = [0; 4096];
        while let Ok(read @ 1..) = stderr.read(&mut block) {
            kept.extend_from_slice(&block[..read]);
            let surplus = kept.len().saturating_sub(STDERR_MAX);
            kept.drain(..surplus);
        }
        // If the run succeeded, there is no receiver any more.
        let _ = sender.send(String::from_utf8_lossy(&kept).trim().to_owned());
    });
    let deadline = now() + limit;
    Ok(Running { child, input: Some(input), lines, stderr: heard, deadline })
}

impl Running {
    /// Waits for the end, at most until the deadline.
    fn ended(&mut self) -> Option<std::process::ExitStatus> {
        let deadline = self.deadline;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    self.end_group();
                    return Some(status);
                }
                Ok(None) if now() < deadline => thread::sleep(Duration::from_millis(5)),
                _ => return None,
            }
        }
    }

    /// Stops the program and returns the end of its stderr.
    fn kill(mut self) -> String {
        self.stop();
        self.stderr.recv_timeout(Duration::from_millis(200)).unwrap_or_default()
    }

    fn stop(&mut self) {
        self.end_group();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Ends the rest of its group, but only once: later the number may belong to another group.
    fn end_group(&self) {
        let mut groups = groups();
        let count = groups.running.len();
        groups.running.retain(|&group| group != self.child.id());
        if groups.running.len() < count {
            stop_group(self.child.id());
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairness::samples::history;

    fn run(script: &str, limit_s: f64) -> Result<Vec<f64>, String> {
        let words = ["sh", "-c", script].map(str::to_owned).into();
        let mut program = Program::new("own", words, Duration::from_secs_f64(limit_s));
        let history = history(&[("a", &[10.0, 5.0]), ("b c", &[0.0, 2.5])]);
        let mut all = Vec::new();
        let mut feed = || -> Result<(), FairnessError> {
            program.begin(&history)?;
            let mut out = Readings::of(&program, 2);
            history.steps(|step| -> Result<(), FairnessError> {
                program.step(step, &mut out)?;
                all.extend_from_slice(&out.users);
                Ok(())
            })?;
            program.finish()
        };
        feed().map_err(|error| error.to_string())?;
        Ok(all)
    }

    /// A program that answers the last usage of each user.
    const LAST: &str = r#"tab=$(printf '\t')
        while IFS="$tab" read -r word user machine cpu rest; do case $word in
            begin) printf 'columns\tlast\n' ;;
            use) printf 'value\t%s\t%s\n' "$user" "$cpu" ;;
            done) echo done ;;
        esac; done"#;

    #[test]
    fn a_program_is_fed_and_its_answers_are_read() {
        let values = run(LAST, 20.0).unwrap();
        assert!(values[1].is_nan(), "no value before the first answer");
        assert_eq!([values[0], values[2], values[3]], [10.0, 5.0, 2.5]);
    }

    #[test]
    fn a_program_that_misbehaves_is_an_error_that_says_how() {
        let check = |script: &str, part: &str| {
            let said = run(script, 0.5).unwrap_err();
            assert!(said.contains(part), "{script}: {said}");
        };
        check("sleep 30", "no answer within the time limit of 0.5 s");
        check("echo hello", "its first line is \"hello\" and not `columns` and their names");
        check("echo no such module >&2; exit 1", "it ended (exit status: 1) before");
        check("echo no such module >&2; exit 1", "its stderr: no such module");
        check("printf 'columns\\tx\\n'; yes garbage", "it answered \"garbage\"");
        check("printf 'columns\\tx\\nvalue\\t7\\t1\\n'; cat", "it answered \"value\\t7\\t1\"");
        check("printf 'columns\\tx\\nvalue\\t0\\tx\\n'; cat", "it answered \"value\\t0\\tx\"");
        check("printf 'columns\\n'; cat", "and not `columns` and their names");
        check("printf 'columns\\tx\\tx\\n'; cat", "its columns list `x` twice");
        check(
            "printf 'columns\\tx\\ndone\\ndone\\ndone\\n'; cat > /dev/null",
            "after the last requested `done`",
        );
        check("printf 'columns\\tx\\ndone\\ndone\\n'; cat > /dev/null; exit 3", "exit status: 3");
        check("printf 'columns\\tx\\ndone\\ndone\\n'; sleep 30", "it did not stop after its input");
    }

    #[test]
    fn a_program_that_floods_is_ended_at_the_time_limit() {
        let columns = "printf 'columns\\tx\\n'";
        let check = |script: &str, part: &str| {
            let begin = now();
            let said = run(script, 0.5).unwrap_err();
            assert!(said.contains(part), "{script}: {said}");
            assert!(said.len() < 1000, "{script}: {} bytes", said.len());
            assert!(begin.elapsed() < Duration::from_secs(20), "{script}");
        };
        let late = "no answer within the time limit of 0.5 s";
        // Endless values.
        let twice = "it answered twice for user 0 in one interval";
        check(&format!("{columns}; yes \"$(printf 'value\\t0\\t1')\""), twice);
        check(&format!("{columns}; yes error >&2"), late);
        check("yes error >&2", "error\nerror");
        // An endless line.
        check("tr '\\0' x < /dev/zero", "its first line is \"xxx");
        check(&format!("{columns}; tr '\\0' x < /dev/zero"), "it answered \"xxx");
    }

    #[test]
    fn what_a_program_has_started_neither_holds_the_run_up_nor_stays() {
        let begin = now();
        // One process in its group, and one that has left the group and keeps the output open.
        let mark = format!("31.{}", std::process::id());
        let starts = format!("sleep {mark} & setsid sleep 30.5 & {LAST}");
        assert_eq!(run(&starts, 20.0).unwrap()[2], 5.0);
        let ends = format!("sleep {mark} & setsid sleep 30.5 & echo hello");
        assert!(run(&ends, 20.0).unwrap_err().contains("its first line is \"hello\""));
        assert!(begin.elapsed() < Duration::from_secs(15), "nobody waits for what they started");
        let left = Command::new("pgrep").args(["-f", &format!("^sleep {mark}$")]).output();
        if let Ok(left) = left {
            assert_eq!(String::from_utf8_lossy(&left.stdout), "", "still running");
        }
    }

    #[test]
    fn a_program_that_lies_is_refused_or_has_no_value() {
        let says = |answer: &str| {
            let script = format!(
                "while read -r word rest; do case $word in\n begin) printf 'columns\\tx\\n' ;;\n\
                 done) printf '{answer}\\ndone\\n' ;;\n esac; done"
            );
            run(&script, 20.0)
        };
        assert!(says("value\\t0\\tnan").unwrap().iter().all(|value| value.is_nan()));
        assert_eq!(says("value\\t0\\tinf").unwrap()[0], f64::INFINITY);
        let twice = says("value\\t0\\t1\\nvalue\\t0\\t1").unwrap_err();
        assert!(twice.contains("it answered twice for user 0 in one interval"), "{twice}");
        for answer in [
            "value\\t2\\t1",
            "value\\t-1\\t1",
            "value\\t18446744073709551615\\t1",
            "value\\t0\\t1\\t2",
            "value\\t0",
            "value",
            "interval\\t0\\t1",
        ] {
            assert!(says(answer).unwrap_err().contains("it answered"), "{answer}");
        }
    }

    #[test]
    fn columns_that_would_fill_memory_are_refused() {
        let columns = "awk 'BEGIN { printf \"columns\"; for (i = 0; i < 2000; i++) \
                       printf \"\\tc%d\", i; print \"\" }'; cat > /dev/null";
        let words = ["sh", "-c", columns].map(str::to_owned).into();
        let mut program = Program::new("own", words, Duration::from_secs(20));
        let mut history = history(&[("a", &[1.0]), ("b", &[1.0])]);
        history.grid.count = 100_000;
        let said = crate::fairness::series::evaluate("own", &mut program, &history).unwrap_err();
        assert!(said.to_string().contains("2,000 columns of every user"), "{said}");
    }

    #[test]
    fn a_program_that_is_not_there_cannot_be_started() {
        let mut program =
            Program::new("own", vec!["no-such-program-7".to_owned()], Duration::from_secs(1));
        let said = program.begin(&history(&[("a", &[1.0])])).unwrap_err().to_string();
        assert_eq!(said, "could not start the index `own` (`no-such-program-7`)");
    }
}
