//! Turns the plan of one task into its events, in file order.
//!
//! ```text
//!  SUBMIT  SCHEDULE  FAIL  SUBMIT     SCHEDULE              FINISH
//!    |--wait--|--run--|-gap-|---wait-----|-------run-----------|      stop
//! ```
//!
//! Planned times are only targets: if they do not fit between SUBMIT and stop, all waits, runs and
//! gaps of the task shrink by one factor. Times never go back; the sums depend on that.

use super::config::WINDOW_START;
use super::draw::Draws;
use super::event::Event;
use super::scene::Scene;
use super::shape::{Ending, Quirk, TaskPlan};
use super::units::{float, scaled};

/// CPU requests as written; frequent ones are listed several times.
pub(super) const CPU_REQUESTS: [&str; 20] = [
    "0.03125", "0.03125", "0.03125", "0.0625", "0.0625", "0.0625", "0.01562", "0.01562", "0.0125",
    "0.0125", "0.0125", "0.02499", "0.02499", "0.06873", "0.006248", "0.125", "0.1875", "0.25",
    "0.5", "0",
];

/// One row of `task_events`, without the values that all rows of the task share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TaskEvent {
    pub(super) time: i64,
    pub(super) event: Event,
    pub(super) machine: Option<u64>,
    /// The CPU request as written; if it is missing, so are the other requests.
    pub(super) cpu_request: Option<&'static str>,
    pub(super) missing_info: Option<u8>,
}

/// Returns the events of one task in file order.
pub(super) fn events_of(
    scene: &Scene,
    plan: &TaskPlan,
    cpu_request: Option<&'static str>,
    draws: &mut Draws,
) -> Vec<TaskEvent> {
    let cpu_request = cpu_request.filter(|_| plan.quirk != Quirk::NoRequest);
    let events = Vec::with_capacity(3 * plan.dead.len() + 4);
    let ratio = fitting_ratio(plan);
    let mut line = Timeline { scene, plan, events, cpu_request, machine: None, ratio, now: 0 };
    line.now = plan.submit;
    line.push(Event::Submit);
    // With a factor below a thousandth, runs of a few seconds would have length zero.
    if ratio > 0.001 {
        for dead in &plan.dead {
            line.schedule_after(dead.wait, draws);
            line.pass(dead.run);
            line.push(dead.how);
            line.machine = None;
            line.pass(dead.gap);
            line.push(Event::Submit);
        }
    }
    line.finish(draws);
    if let (Quirk::MissingInfo, Some(last)) = (plan.quirk, line.events.last_mut()) {
        last.missing_info = Some(*draws.pick(&[0, 0, 1, 2]));
    }
    debug_assert!(line.events.is_sorted_by_key(|event| event.time), "times never go back");
    line.events
}

/// Returns the factor that makes the plan fit: at most 1.
fn fitting_ratio(plan: &TaskPlan) -> f64 {
    let start = plan.submit.max(WINDOW_START);
    let dead: i64 = plan.dead.iter().map(|dead| dead.wait + dead.run + dead.gap).sum();
    let room = plan.stop - start;
    let (wanted, room) = match plan.ending {
        Ending::Run(run, _) => (dead + plan.wait + run, room),
        _ => (dead + plan.wait, scaled(room, 0.9)),
    };
    if wanted <= room { 1.0 } else { float(room.max(0)) / float(wanted) }
}

/// The events so far, and the clock.
struct Timeline<'a> {
    scene: &'a Scene,
    plan: &'a TaskPlan,
    events: Vec<TaskEvent>,
    cpu_request: Option<&'static str>,
    machine: Option<u64>,
    ratio: f64,
    now: i64,
}

impl Timeline<'_> {
    fn push(&mut self, event: Event) {
        self.events.push(TaskEvent {
            time: self.now,
            event,
            machine: self.machine,
            cpu_request: self.cpu_request,
            missing_info: None,
        });
    }

    /// Advances by a planned span. A span that began before the window continues in it.
    fn pass(&mut self, span: i64) {
        let later = self.now.max(WINDOW_START) + scaled(span, self.ratio);
        self.now = later.min(self.plan.stop).max(self.now);
    }

    /// Waits for a machine, except at time 0: such a task already runs, unless it is late.
    fn schedule_after(&mut self, wait: i64, draws: &mut Draws) {
        if self.now > 0 || self.plan.is_late {
            self.pass(wait);
        }
        self.schedule(draws);
    }

    fn schedule(&mut self, draws: &mut Draws) {
        let machine = if self.plan.quirk == Quirk::StrangeMachine {
            Scene::unannounced_machine(draws)
        } else {
            self.scene.any_machine(draws)
        };
        self.machine = Some(machine);
        self.push(Event::Schedule);
    }

    /// Writes the wait, run and end after the last submission.
    fn finish(&mut self, draws: &mut Draws) {
        match self.plan.ending {
            Ending::Pending => {}
            Ending::KillPending => {
                self.now = self.plan.stop.max(self.now);
                self.push(Event::Kill);
            }
            Ending::Run(run, how) => {
                self.wait_for_last_run(draws);
                let end = self.now.max(WINDOW_START) + scaled(run, self.ratio);
                self.run_until(end.min(self.plan.stop), Some(how), draws);
            }
            Ending::KillAtStop => {
                self.wait_for_last_run(draws);
                self.run_until(self.plan.stop, Some(Event::Kill), draws);
            }
            Ending::Open => {
                self.wait_for_last_run(draws);
                self.run_until(self.plan.stop, None, draws);
            }
        }
    }

    fn wait_for_last_run(&mut self, draws: &mut Draws) {
        let wait = self.plan.wait;
        match self.plan.quirk {
            Quirk::UpdatePending => {
                self.pass(wait / 2);
                self.push(Event::UpdatePending);
                self.change_request(draws);
                self.pass(wait - wait / 2);
                self.schedule(draws);
            }
            Quirk::EvictPending => {
                self.pass(wait / 2);
                self.push(Event::Evict);
                self.pass(wait - wait / 2);
                self.now += i64::from(self.now < self.plan.stop);
                self.push(Event::Submit);
                self.schedule(draws);
            }
            _ => self.schedule_after(wait, draws),
        }
    }

    /// Runs to `end`, with the events of the quirk on the way or at the end.
    fn run_until(&mut self, end: i64, how: Option<Event>, draws: &mut Draws) {
        let start = self.now.max(WINDOW_START);
        let end = end.max(self.now);
        if start < end {
            let middle = start + (end - start) / 2;
            match self.plan.quirk {
                Quirk::UpdateRunning => {
                    self.now = middle;
                    self.push(Event::UpdateRunning);
                    self.change_request(draws);
                }
                Quirk::DoubleSchedule => {
                    self.now = middle;
                    self.schedule(draws);
                }
                _ => {}
            }
        }
        let Some(how) = how else { return };
        self.now = end;
        if self.plan.quirk == Quirk::TieBeforeEnd {
            self.push(Event::UpdateRunning);
        }
        self.push(how);
        if self.plan.quirk == Quirk::TieAfterEnd {
            self.push(Event::UpdateRunning);
        }
    }

    fn change_request(&mut self, draws: &mut Draws) {
        if self.cpu_request.is_some() {
            self.cpu_request = Some(*draws.pick(&CPU_REQUESTS));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::config::SynthConfig;
    use super::super::draw::Stream;
    use super::super::event::sequence;
    use super::super::shape::DeadRun;
    use super::super::units::SECOND;
    use super::*;

    fn check(plan: &TaskPlan, expected: &str, times_s: &[i64]) {
        let config = SynthConfig::default();
        let window = config.window(Path::new("x")).unwrap();
        let scene = Scene::new(&config, window);
        let mut draws = Draws::new(1, Stream::Job, 0);
        let events = events_of(&scene, plan, Some("0.5"), &mut draws);
        assert_eq!(sequence(events.iter().map(|event| event.event)), expected);
        let times: Vec<i64> = events.iter().map(|event| event.time / SECOND).collect();
        assert_eq!(times, times_s, "{expected}");
    }

    fn plan(ending: Ending, quirk: Quirk) -> TaskPlan {
        TaskPlan {
            submit: 1_000 * SECOND,
            is_late: false,
            dead: Vec::new(),
            wait: 10 * SECOND,
            ending,
            stop: 2_000 * SECOND,
            quirk,
        }
    }

    #[test]
    fn a_plan_that_fits_is_kept() {
        let ending = Ending::Run(100 * SECOND, Event::Finish);
        check(&plan(ending, Quirk::None), "014", &[1_000, 1_010, 1_110]);
        check(&plan(ending, Quirk::TieAfterEnd), "0148", &[1_000, 1_010, 1_110, 1_110]);
        check(&plan(ending, Quirk::DoubleSchedule), "0114", &[1_000, 1_010, 1_060, 1_110]);
        check(&plan(Ending::KillAtStop, Quirk::None), "015", &[1_000, 1_010, 2_000]);
        check(&plan(Ending::KillPending, Quirk::None), "05", &[1_000, 2_000]);
        check(&plan(Ending::Open, Quirk::None), "01", &[1_000, 1_010]);
    }

    #[test]
    fn a_plan_that_is_too_long_shrinks() {
        let long = Ending::Run(1_990 * SECOND, Event::Fail);
        check(&plan(long, Quirk::None), "013", &[1_000, 1_005, 2_000]);
    }

    #[test]
    fn a_task_of_time_zero_runs_before_the_window() {
        let mut task = plan(Ending::Run(100 * SECOND, Event::Finish), Quirk::None);
        task.submit = 0;
        check(&task, "014", &[0, 0, 700]);
        task.dead = vec![DeadRun { wait: 9, run: SECOND, how: Event::Evict, gap: SECOND }];
        check(&task, "012014", &[0, 0, 601, 602, 612, 712]);
        task.dead.clear();
        task.is_late = true;
        check(&task, "014", &[0, 610, 710]);
    }
}
