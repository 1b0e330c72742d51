//! The episodes of a user or a job, for its page: episodes in which it has at least half of the
//! events.
//!
//! In: a stored result of `episodes`. Out: a list as HTML with a link to the page of the study;
//! empty if there are none.

use std::fmt::Write;

use super::links::page_of;
use super::text::{escape, instant, percent_said};
use crate::answers::episodes::{self, EpisodeRow, EpisodesAnswer};
use crate::answers::sentences::capital;
use crate::digits::grouped;
use crate::results::Stored;

/// An episode belongs to a user or job that has at least this part of it.
const MOST: f64 = 0.5;

/// The episodes of a report.
#[derive(Default)]
pub(super) struct Happened(Vec<EpisodeRow>);

impl Happened {
    pub(super) fn of(results: &[Stored]) -> Self {
        let mut own = results.iter().filter(|result| result.name == episodes::KIND.name);
        let answer = own.next().and_then(Stored::found::<EpisodesAnswer>);
        Self(answer.map_or_else(Vec::new, |answer| answer.rows.iter().collect()))
    }

    /// The episodes of a user.
    pub(super) fn of_user(&self, user: &str) -> String {
        let of = |row: &EpisodeRow| row.user_share.filter(|_| row.user.as_deref() == Some(user));
        self.listed("user", of)
    }

    /// The episodes of a job.
    pub(super) fn of_job(&self, id: i64) -> String {
        let of = |row: &EpisodeRow| row.job_share.filter(|_| row.job_id == Some(id));
        self.listed("job", of)
    }

    fn listed(&self, who: &str, share_of: impl Fn(&EpisodeRow) -> Option<f64>) -> String {
        let own = self.0.iter().filter_map(|row| Some((row, share_of(row)?)));
        let mut items = String::new();
        for (row, share) in own.filter(|(_, share)| MOST <= *share) {
            let span_s = row.first_at_s.zip(row.last_at_s).unwrap_or((row.start_s, row.end_s));
            let _ = writeln!(
                items,
                "<li>{}: {} from {} to {}, {} of them of this {who}</li>",
                capital(&escape(&row.what)),
                grouped(row.count),
                instant(span_s.0),
                instant(span_s.1),
                percent_said(share)
            );
        }
        if items.is_empty() {
            return items;
        }
        let name = episodes::KIND.name;
        let page = page_of(name).map_or_else(String::new, |file| {
            format!("<p class=\"source\"><a href=\"../{file}#{name}\">What happened when</a></p>\n")
        });
        format!("<h2>Far more than usual</h2>\n<ul>\n{items}</ul>\n{page}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_episodes_of_a_user_and_of_a_job_are_listed() {
        let row = |user: &str, user_share: f64, job_id: Option<i64>| EpisodeRow {
            what: "tasks failed".to_owned(),
            start_s: 3600.0,
            end_s: 7200.0,
            count: 998,
            user: Some(user.to_owned()),
            user_share: Some(user_share),
            job_id,
            job_share: job_id.map(|_| 0.75),
            ..EpisodeRow::default()
        };
        let found = Happened(vec![row("ada", 1.0, None), row("bob", 0.4, Some(7))]);
        let html = found.of_user("ada");
        let said = "<li>Tasks failed: 998 from 0 d 01:00:00 to 0 d 02:00:00, 100.0 % of them of this user</li>";
        assert!(html.contains(said) && html.contains("episodes.html#episodes"), "{html}");
        assert_eq!((found.of_user("bob"), found.of_user("eve")), Default::default());
        assert!(found.of_job(7).contains("75.0 % of them of this job"), "{}", found.of_job(7));
        assert_eq!(found.of_job(8), "");
    }
}
