//! The parameters of Tan and others: given by the paper, left open, or fitted.
//!
//! In: the text of `--set`. Out: the [`Settings`] of a run, and each parameter with its value and
//! origin.

use crate::claims::{Parameter, Settled};
use crate::replay::experiments::setting::{self, Fault};

/// The period that brings the largest and smallest values of figures 3 and 4 close to the paper's,
/// s.
const FITTED_PERIOD_S: f64 = 30.0;

/// The values to which the period was fitted.
const FITTED_TO: &str = "figures 3 and 4: largest and smallest ratio";

/// How the speeds of the nodes are drawn, from 1 to a maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpeedLaw {
    /// Any number, uniformly.
    Continuous,
    /// Whole numbers, uniformly.
    Whole,
}

impl SpeedLaw {
    const fn name(self) -> &'static str {
        match self {
            Self::Continuous => "continuous",
            Self::Whole => "whole",
        }
    }
}

/// How the sizes of the tasks of figure 2 are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeLaw {
    /// From 1, as the paper says: means grow, and the relative spread stays the same.
    FromOne,
    /// Around one mean, 40.5, over ranges as wide as the paper's.
    OneMean,
}

impl SizeLaw {
    const fn name(self) -> &'static str {
        match self {
            Self::FromOne => "from_1",
            Self::OneMean => "one_mean",
        }
    }

    /// The smallest and largest size for the paper's range from 1 to `size`.
    pub fn bounds(self, size: f64) -> (f64, f64) {
        match self {
            Self::FromOne => (1.0, size),
            Self::OneMean => (41.0 - size / 2.0, 40.0 + size / 2.0),
        }
    }
}

/// The settings that the paper leaves open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Time between two draws of a node's utilisation, s.
    pub period_s: f64,
    /// How speeds are drawn.
    pub speeds: SpeedLaw,
    /// Copies in figure 5; `None` is unlimited.
    pub figure_5_copies: Option<u32>,
    /// Nodes of figure 2.
    pub figure_2_nodes: usize,
    /// Tasks of figure 2.
    pub figure_2_tasks: usize,
    /// Maximum speed in figure 2; the minimum is 1.
    pub figure_2_speed: f64,
    /// How the sizes of figure 2 are drawn.
    pub figure_2_sizes: SizeLaw,
    /// The first seed; run k of an experiment uses seed + k.
    pub seed: u64,
    /// Number of runs of each setting; figures 3 and 4 have a tenth of them, as in the paper.
    pub runs: usize,
}

impl Default for Settings {
    fn default() -> Self {
        let speeds = SpeedLaw::Continuous;
        Self {
            period_s: FITTED_PERIOD_S,
            speeds,
            figure_5_copies: None,
            figure_2_nodes: 100,
            figure_2_tasks: 1_000,
            figure_2_speed: 16.0,
            figure_2_sizes: SizeLaw::FromOne,
            seed: 0,
            runs: 100,
        }
    }
}

impl Settings {
    pub(in crate::replay::experiments) fn parameters(&self) -> Vec<Parameter> {
        let of = |key, value: String, settled, about| Parameter { key, value, settled, about };
        let period = if self.is_fitted() { Settled::Fitted(FITTED_TO) } else { Settled::Open };
        let copies = self.figure_5_copies.map_or("unlimited".to_owned(), |some| some.to_string());
        let mut all = vec![
            of(
                "nodes",
                "100; 100 to 400; 40 to 100".into(),
                Settled::Given,
                "nodes of figures 1, 4, 5; 3; 6",
            ),
            of(
                "tasks",
                "1,000; 10,000; 10,000 to 40,000; 2,000".into(),
                Settled::Given,
                "tasks of figures 1, 5; 3; 4; 6",
            ),
            of(
                "period_s",
                self.period_s.to_string(),
                period,
                "time between two draws of a node's utilisation, s",
            ),
            of(
                "speeds",
                self.speeds.name().into(),
                Settled::Open,
                "speeds drawn from 1 to s: continuous or whole",
            ),
            of(
                "figure_5_copies",
                copies,
                Settled::Open,
                "copies beside the original in figure 5: a number or unlimited",
            ),
        ];
        all.extend(self.of_figure_2());
        all.extend([
            of("seed", self.seed.to_string(), Settled::Open, "seed of the first run"),
            of(
                "runs",
                self.runs.to_string(),
                Settled::Given,
                "runs of each setting, a tenth in figures 3 and 4",
            ),
        ]);
        all
    }

    /// The parameters of figure 2 that the paper does not state.
    fn of_figure_2(&self) -> [Parameter; 4] {
        let open =
            |key, value: String, about| Parameter { key, value, settled: Settled::Open, about };
        let (nodes, tasks) = (self.figure_2_nodes.to_string(), self.figure_2_tasks.to_string());
        let (speed, sizes) = (self.figure_2_speed.to_string(), self.figure_2_sizes.name().into());
        [
            open("figure_2_nodes", nodes, "nodes of figure 2"),
            open("figure_2_tasks", tasks, "tasks of figure 2"),
            open("figure_2_speed", speed, "speeds of figure 2: from 1 up to this"),
            open("figure_2_sizes", sizes, "sizes of figure 2: from_1 as written, or one_mean"),
        ]
    }

    pub(in crate::replay::experiments) fn set(
        &mut self,
        key: &str,
        value: &str,
    ) -> Result<(), Fault> {
        match key {
            "period_s" => {
                self.period_s = setting::number(value, 0.001..=1e6, "seconds from 0.001 to 1e6")?;
            }
            "speeds" => {
                self.speeds = match value {
                    "continuous" => SpeedLaw::Continuous,
                    "whole" => SpeedLaw::Whole,
                    _ => return Err(Fault::Value("continuous or whole")),
                }
            }
            "figure_5_copies" => {
                self.figure_5_copies = match (value, value.parse::<u32>()) {
                    ("unlimited", _) => None,
                    (_, Ok(copies @ 1..=1_000)) => Some(copies),
                    _ => return Err(Fault::Value("a number from 1 to 1000, or unlimited")),
                }
            }
            "figure_2_nodes" => {
                self.figure_2_nodes = setting::count(value, 1..=100_000, "nodes from 1 to 100000")?;
            }
            "figure_2_tasks" => {
                self.figure_2_tasks =
                    setting::count(value, 1..=1_000_000, "tasks from 1 to 1000000")?;
            }
            "figure_2_speed" => {
                self.figure_2_speed = setting::number(value, 1.0..=1e6, "a speed from 1 to 1e6")?;
            }
            "figure_2_sizes" => {
                self.figure_2_sizes = match value {
                    "from_1" => SizeLaw::FromOne,
                    "one_mean" => SizeLaw::OneMean,
                    _ => return Err(Fault::Value("from_1 or one_mean")),
                }
            }
            "seed" => self.seed = setting::seed(value)?,
            "runs" => self.runs = setting::runs(value)?,
            _ => return Err(Fault::Unknown),
        }
        Ok(())
    }

    pub(super) fn is_fitted(&self) -> bool {
        self.period_s == FITTED_PERIOD_S
    }

    /// The number of runs for figures that have 10 in the paper.
    pub(super) fn tenth(&self) -> usize {
        (self.runs / 10).max(1)
    }
}
