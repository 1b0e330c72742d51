//! The spread of the values of runs, and Student's t.

/// Mean and standard deviation over runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    pub(super) runs: f64,
    pub(super) mean: f64,
    /// Sample standard deviation (divisor n - 1); 0 for one value.
    deviation: f64,
    /// Student's t of n - 1 degrees at 97.5 %.
    t: f64,
}

impl Spread {
    /// `None` if there are no values, or if one of them is not finite.
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 runs")]
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let runs = values.len() as f64;
        let mean = values.iter().sum::<f64>() / runs;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = if values.len() < 2 { 0.0 } else { (squares / (runs - 1.0)).sqrt() };
        Some(Self { runs, mean, deviation, t: student_975(values.len() - 1) })
    }

    /// Half the 95 % confidence interval of the mean.
    pub(super) fn half_width(&self) -> f64 {
        self.t * self.deviation / self.runs.sqrt()
    }

    /// An end of an interval; `None` for a single run.
    pub(super) fn end(&self, end: f64) -> Option<f64> {
        (1.0 < self.runs).then_some(end)
    }

    /// Half the 95 % prediction interval of the mean of `new_runs` new runs.
    pub(super) fn half_width_of_mean_of(&self, new_runs: u32) -> f64 {
        let new_runs = f64::from(new_runs.max(1));
        self.t * self.deviation * (1.0 / self.runs + 1.0 / new_runs).sqrt()
    }
}

/// The 97.5 % quantile of Student's t, from 1 to 30 degrees of freedom as printed in tables.
const STUDENT_975: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

/// The 97.5 % quantile of Student's t. Beyond 30 degrees it uses the first terms of the expansion
/// around the normal quantile z: z + (z³ + z) / 4d + (5z⁵ + 16z³ + 3z) / 96d² (Abramowitz and
/// Stegun 26.7.5), right to three digits.
pub(crate) fn student_975(degrees: usize) -> f64 {
    const Z: f64 = 1.959_964;
    match degrees {
        0 => 0.0,
        1..=30 => STUDENT_975[degrees - 1],
        _ => {
            #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 runs")]
            let d = degrees as f64;
            let first = (Z.powi(3) + Z) / (4.0 * d);
            let second = (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / (96.0 * d * d);
            Z + first + second
        }
    }
}
