//! The ground truth of the kill-threshold sweep: which tasks cross which threshold, and the CPU
//! that this saves or destroys, under each definition of CPU time.
//!
//! In: the events and CPU pieces of a task. Out: per job a [`Crossing`] for each threshold that one
//! of its tasks crosses. `tally` adds them to the outcome of the job once the outcome is known.

use super::timeline::TaskEvent;
use super::units::ExactCpu;

/// The CPU definitions of the truth, in the order of every array of three.
pub(super) const DEFINITIONS: [&str; 3] = ["measured", "requested", "slots"];

/// Returns the thresholds of the truth: 1, 2, 3, 5, and 10 to 400 in steps of 10.
pub fn thresholds() -> Vec<u32> {
    [1, 2, 3, 5].into_iter().chain((10..=400).step_by(10)).collect()
}

/// CPU at one rate over a span of time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) rate: ExactCpu,
}

impl Piece {
    /// The total.
    pub(super) fn cpu(&self) -> ExactCpu {
        self.cpu_after(self.start)
    }

    /// The part after `instant`.
    fn cpu_after(&self, instant: i64) -> ExactCpu {
        self.rate * ExactCpu::from((self.end - self.start.max(instant)).max(0))
    }
}

/// The CPU of one task under each definition.
pub(super) struct TaskCpu([Vec<Piece>; 3]);

impl TaskCpu {
    pub(super) fn new(measured: Vec<Piece>, [requested, slots]: [Vec<Piece>; 2]) -> Self {
        Self([measured, requested, slots])
    }

    fn after(&self, instant: i64) -> [ExactCpu; 3] {
        [0, 1, 2].map(|definition: usize| {
            self.0[definition].iter().map(|piece| piece.cpu_after(instant)).sum()
        })
    }
}

/// Sums over the tasks of one job that cross a threshold.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Crossing {
    pub(super) condemned: u64,
    /// CPU after the kill.
    pub(super) saved: [ExactCpu; 3],
    /// CPU up to the kill.
    pub(super) spent: [ExactCpu; 3],
}

/// Sums over a job's tasks, before the job's outcome is known.
#[derive(Debug)]
pub(super) struct JobSums {
    thresholds: Vec<u32>,
    pub(super) cpu: [ExactCpu; 3],
    pub(super) outside: ExactCpu,
    /// One per threshold, up to the largest that was crossed.
    pub(super) crossings: Vec<Crossing>,
    pub(super) task_count: u64,
    /// Tasks with a finished attempt, and the length of their last finished one.
    pub(super) finished: Vec<(u32, i64)>,
}

impl JobSums {
    pub(super) fn new() -> Self {
        Self {
            thresholds: thresholds(),
            cpu: [0; 3],
            outside: 0,
            crossings: Vec::new(),
            task_count: 0,
            finished: Vec::new(),
        }
    }

    /// Adds a task. A threshold T condemns it at its event number T + 1, of any type.
    pub(super) fn add_task(&mut self, events: &[TaskEvent], cpu: &TaskCpu) {
        let all = cpu.after(i64::MIN / 2);
        for (sum, more) in self.cpu.iter_mut().zip(all) {
            *sum += more;
        }
        for (position, threshold) in self.thresholds.iter().enumerate() {
            let event_number = usize::try_from(*threshold).expect("at most 400");
            let Some(event) = events.get(event_number) else { break };
            if self.crossings.len() == position {
                self.crossings.push(Crossing::default());
            }
            let crossing = &mut self.crossings[position];
            let saved = cpu.after(event.time);
            crossing.condemned += 1;
            for definition in 0..3 {
                crossing.saved[definition] += saved[definition];
                crossing.spent[definition] += all[definition] - saved[definition];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::Event;
    use super::super::units::exact_rate;
    use super::*;

    #[test]
    fn a_piece_that_straddles_the_kill_is_cut() {
        //  events    0 SUBMIT   10 SCHEDULE   40 UPDATE   50 FINISH
        //  T = 1 kills at 10, T = 2 at 40, T = 3 at 50.
        let event = |time, event| TaskEvent {
            time,
            event,
            machine: None,
            cpu_request: None,
            missing_info: None,
        };
        let events = [
            event(0, Event::Submit),
            event(10, Event::Schedule),
            event(40, Event::UpdateRunning),
            event(50, Event::Finish),
        ];
        let slots = vec![Piece { start: 10, end: 50, rate: exact_rate(1.0) }];
        let mut sums = JobSums::new();
        sums.add_task(&events, &TaskCpu::new(Vec::new(), [Vec::new(), slots]));
        let micros = |sum: ExactCpu| sum / exact_rate(1.0);
        let saved: Vec<_> = sums.crossings.iter().map(|each| micros(each.saved[2])).collect();
        let spent: Vec<_> = sums.crossings.iter().map(|each| micros(each.spent[2])).collect();
        assert_eq!((saved, spent), (vec![40, 10, 0], vec![0, 30, 40]));
    }
}
