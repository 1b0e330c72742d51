//! Compares a custom straggler detector with a published one:
//! `LAKE=lake cargo run --example own_detector`.
#![expect(clippy::print_stdout, reason = "this is a program of its own")]

use jobfate::prelude::*;

/// Flags attempts that have run for a multiple of the mean length of finished tasks of their group.
#[derive(Clone, Debug)]
struct TooLong {
    factor: f64,
}

impl Detector for TooLong {
    fn judge(&mut self, scene: &Scene<'_>, flags: &mut Vec<Flag>) {
        let Some(mean_s) = scene.finished.mean_s() else { return };
        for (position, running) in scene.running.iter().enumerate() {
            if self.factor * mean_s < running.age_s(scene.now_us) && !running.was_copied {
                flags.push(Flag::copy(position));
            }
        }
    }
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sample = Sample::lake()?;
    let lake = match std::env::var_os("LAKE") {
        Some(path) => Lake::open(path)?,
        None => sample.clone(),
    };
    let own =
        |factor| DetectorPlan::own("too-long", TooLong { factor }).parameter("factor", factor);
    let found = lake.detect([own(1.5), own(3.0), "late".parse()?]).run()?;
    for row in &found.rows {
        let Score { precision, recall, .. } = &row.scores[0];
        println!("{}: precision {precision:.3?}, recall {recall:.3?}", row.detector);
    }
    Ok(())
}
