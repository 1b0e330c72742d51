//! Tan, Fujimoto and Hagihara (2003): a work queue with replication under node failures.
//!
//! In: the [`Settings`] that the paper leaves open. Out: its six figures with their claims. Work
//! queue and replication use the same speeds, loads and sizes (common random numbers). Runs are
//! spread over threads; each has its own seed, so the result does not depend on the number of
//! threads.
//!
//! The paper's ratio of speed-up to the work queue can be read in two ways, `T_WQ / T - 1` and
//! `1 - T / T_WQ`; every claim about it is tested under both.

mod copies;
mod figures;
mod lines;
mod runs;
mod settings;

use super::Figure;

pub use self::copies::{figure_5, figure_6};
pub use self::figures::{figure_1, figure_2, figure_3, figure_4};
pub use settings::{Settings, SizeLaw, SpeedLaw};

/// Runs all six figures.
pub fn reproduce(settings: &Settings) -> Vec<Figure> {
    let figures: [fn(&Settings) -> Figure; 6] =
        [figure_1, figure_2, figure_3, figure_4, figure_5, figure_6];
    figures.map(|figure| figure(settings)).to_vec()
}

#[cfg(test)]
mod tests {
    use super::runs::Setting;
    use super::*;
    use crate::claims::Verdict;

    /// With few runs, tests only claims that always hold.
    #[test]
    #[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
    fn the_figures_have_the_shape_of_the_paper() {
        let settings = Settings { runs: 5, ..Settings::default() };
        let figures = reproduce(&settings);
        assert_eq!(figures.len(), 6);
        let last = |figure: usize, curve: usize| {
            figures[figure].curves[curve].points.last().unwrap().value.mean
        };
        assert!(last(0, 0) < last(0, 3), "wider speeds gain more");
        assert!(last(2, 0) < last(2, 3), "more nodes gain more");
        assert!(last(3, 3) < last(3, 0), "more tasks gain less");
        assert_eq!(reproduce(&settings), figures, "the same settings give the same numbers");
    }

    #[test]
    #[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
    fn numbers_that_the_period_was_fitted_to_are_no_evidence() {
        let verdicts = |period_s: f64| {
            let figure = figure_4(&Settings { runs: 2, period_s, ..Settings::default() });
            figure.claims.iter().map(|claim| claim.verdict).collect::<Vec<_>>()
        };
        assert_eq!(verdicts(30.0)[..4], [Verdict::Fitted; 4]);
        assert!(!verdicts(70.0).contains(&Verdict::Fitted));
    }

    #[test]
    fn all_copies_do_more_work_than_the_losing_ones() {
        let figure = figure_6(&Settings { runs: 2, ..Settings::default() });
        for (all, losing) in figure.curves[0].points.iter().zip(&figure.curves[1].points) {
            assert!(losing.value.mean < all.value.mean, "{all:?} {losing:?}");
        }
    }

    #[test]
    fn whole_speeds_are_whole() {
        let settings = Settings { speeds: SpeedLaw::Whole, ..Settings::default() };
        let cluster = Setting::new(100, 1, 1.0, 4.0).cluster(&settings, 3);
        assert!(cluster.speed.iter().all(|speed| [1.0, 2.0, 3.0, 4.0].contains(speed)));
    }

    /// The claims of the paper: place, number (none for a sentence), and the number of readings.
    #[test]
    fn every_claim_has_a_row_and_no_row_is_without_a_claim() {
        let claims: [(&str, Option<f64>, usize); 11] = [
            ("section 4.2, figure 1", None, 2), // rises with R
            ("section 4.2, figure 1", None, 2), // rises with the range of speeds
            ("section 4.2, figure 2", None, 2), // rises with the range of sizes
            ("section 4.2, figure 3", Some(24.75), 2),
            ("section 4.2, figure 3", Some(0.0), 2),
            ("section 4.2, figure 3", None, 2), // rises with nodes
            ("section 4.2, figure 4", Some(6.66), 2),
            ("section 4.2, figure 4", Some(0.05), 2),
            ("section 4.2, figure 4", None, 2), // falls with tasks
            ("section 4.3, figure 5", None, 1), // forward beats reverse
            ("section 4.3, figure 6", Some(5.0), 1),
        ];
        let rows = reproduce(&Settings { runs: 1, ..Settings::default() });
        let rows = rows.iter().flat_map(|figure| &figure.claims);
        let rows: Vec<_> = rows.map(|claim| (claim.place.as_str(), claim.published)).collect();
        let expected = claims.iter().flat_map(|&(place, published, readings)| {
            std::iter::repeat_n((place, published), readings)
        });
        assert_eq!(rows, expected.collect::<Vec<_>>());
    }

    #[test]
    fn sizes_of_one_mean_differ_in_their_range_alone() {
        for size in [20.0, 40.0, 60.0, 80.0] {
            assert_eq!(SizeLaw::FromOne.bounds(size), (1.0, size));
            let (from, to) = SizeLaw::OneMean.bounds(size);
            assert_eq!((to - from, from + to), (size - 1.0, 81.0));
        }
    }
}
