//! Asahara, Fujimori, Narita and Liu (2013): stragglers when the state of the system changes.
//!
//! In: the [`Settings`] that the paper leaves open. Out: its experiments 5.2 (every slave loses
//! three of four cores at 90 s), 5.3 (some tasks are slow) and 5.4 (no disturbance).
//!
//! ```text
//!  maps     |=== 1,632 on 150 slots ===|            reported progress of a map: 66.7 % at its end
//!  reduces                             |= 370 on 60 =|
//! ```
//! Slots follow from memory: 8 GB for maps of 1.5 GB and reduces of 3 GB. A task uses a share of a
//! core, so a slave with few cores slows all its tasks equally.

mod figures;
mod runs;
mod settings;

use super::Figure;

pub use figures::{experiment_5_2, experiment_5_3, experiment_5_4};
pub use settings::Settings;

/// Runs experiments 5.2, 5.3 and 5.4.
pub fn reproduce(settings: &Settings) -> Vec<Figure> {
    vec![experiment_5_2(settings), experiment_5_3(settings), experiment_5_4(settings)]
}

#[cfg(test)]
mod tests {
    use super::runs::{Disturbance, poisson, run, window};
    use super::*;
    use crate::claims::Verdict;
    use crate::replay::policies::PolicyPlan;

    #[test]
    fn the_undisturbed_job_takes_its_time_and_nobody_is_flagged() {
        let settings = Settings { runs: 1, noise: 0.0, ..Settings::default() };
        let run = run(&settings, Disturbance::Nothing, "none", 0);
        assert!((run.job_s - settings.job_s).abs() < 1.0, "{}", run.job_s);
        let figure = experiment_5_4(&Settings { runs: 1, ..Settings::default() });
        let flags = figure.curves.iter().filter(|curve| curve.name.ends_with("verdicts"));
        assert!(flags.flat_map(|curve| &curve.points).all(|point| point.value.mean <= 5.0));
    }

    #[test]
    #[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
    fn numbers_that_a_parameter_was_fitted_to_are_no_evidence() {
        let control = |core_share: f64| {
            let settings = Settings { runs: 1, core_share, ..Settings::default() };
            let claims = experiment_5_2(&settings).claims;
            claims.into_iter().find(|claim| claim.published == Some(973.0)).unwrap().verdict
        };
        assert_eq!(control(0.685), Verdict::Fitted);
        assert_ne!(control(0.6), Verdict::Fitted);
    }

    /// The claims of the paper by place: the printed numbers in order, and the number of claims in
    /// words.
    #[test]
    fn every_claim_has_a_row_and_no_row_is_without_a_claim() {
        let figure_5 = [96.4, 96.4, 716.0, 19_825.0, 20_683.0, 1.04, 9.0, 1_258.0, 5.0, 8.0];
        let figure_6 = [84.0, 84.0, 1_248.0, 7_823.0, 8_741.0, 1.12, 2.0, 6.0];
        let claims: [(&str, &[f64], usize); 6] = [
            // Map verdicts and reduce verdicts grow with W.
            ("section 5.2, figure 5", &figure_5, 2),
            // The time grows with W up to 240 s.
            ("section 5.2, figure 6", &figure_6, 1),
            // Faster than Hadoop at every rate, less growth, faster than the conventional method.
            ("section 5.3, figure 7", &[41.5, 53.5, 2.3, 1.9], 3),
            // More copies in Hadoop, more verdicts with the conventional method.
            ("section 5.3, figure 8", &[169.0, 1_602.0, 9.5, 14.0, 16.0], 2),
            ("section 5.4, table 1", &[973.0, 28.3, 398.0, 394.0, -1.0], 0),
            ("anywhere else", &[], 0),
        ];
        let known = |place: &str| claims.iter().any(|claim| claim.0 == place);
        let figures = reproduce(&Settings { runs: 1, job_s: 60.0, ..Settings::default() });
        let rows: Vec<_> = figures.iter().flat_map(|figure| &figure.claims).collect();
        assert!(rows.iter().all(|row| known(&row.place)));
        for (place, numbers, sentences) in claims {
            let of_place = || rows.iter().filter(|row| row.place == place);
            let published: Vec<f64> = of_place().filter_map(|row| row.published).collect();
            assert_eq!(published, numbers, "{place}");
            let found = of_place().filter(|row| row.published.is_none()).count();
            assert_eq!(found, sentences, "{place}");
        }
    }

    #[test]
    fn copies_are_made_beside_the_detector() {
        let policy: PolicyPlan = poisson(&Settings::default(), &window(30)).parse().unwrap();
        let second = policy.second_speculation.map(|rule| rule.0);
        assert_eq!((&*policy.speculation.0, second.as_deref()), ("poisson", Some("yarn")));
    }
}
