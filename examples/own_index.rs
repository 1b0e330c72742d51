//! A custom fairness index: `LAKE=lake cargo run --example own_index`.
#![expect(clippy::print_stdout, reason = "this is a program of its own")]

use jobfate::prelude::*;

/// The share of the heaviest user in the usage of all users so far.
struct Top(Vec<f64>);

impl std::fmt::Display for Top {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("top")
    }
}

impl Index for Top {
    fn columns(&self) -> Vec<String> {
        Vec::new()
    }
    fn overall(&self) -> Vec<String> {
        vec!["top".to_owned()]
    }
    fn begin(&mut self, history: &History) -> Result<(), FairnessError> {
        self.0 = vec![0.0; history.people.len()];
        Ok(())
    }
    fn step(&mut self, step: &Step<'_>, out: &mut Readings) -> Result<(), FairnessError> {
        self.0.iter_mut().zip(step.used).for_each(|(sum, used)| *sum += used.cpu_s);
        out.overall[0] = self.0.iter().copied().fold(0.0, f64::max) / self.0.iter().sum::<f64>();
        Ok(())
    }
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sample = Sample::lake()?;
    let own = std::env::var_os("LAKE").map(Lake::open).transpose()?;
    let usage = Usage::of(own.as_ref().unwrap_or(&sample)).every(HOUR).gather()?;
    let series = usage.evaluate(&mut Top(Vec::new()))?;
    println!("{:.3?}", series.overall_values);
    Ok(())
}
