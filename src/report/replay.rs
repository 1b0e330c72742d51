//! The facts that readers need in addition to the charts of a replay: the record next to the
//! policies, the meaning of each policy, and the decisive assumptions.
//!
//! In: a stored replay. Out: HTML above its charts; nothing for other results.

use std::fmt::Write;

use super::html::{self, Cell};
use super::text::escape;
use crate::answers::replay::{self, RECORD, ReplayAnswer, Replayed, explained};
use crate::answers::sentences::percent;
use crate::digits::grouped;
use crate::replay::metrics::Spread;
use crate::results::Stored;

/// The record next to the policies, the policies in words, and the decisive assumptions; empty for
/// other results.
pub(super) fn context(result: &Stored) -> String {
    if result.name != replay::KIND.name {
        return String::new();
    }
    let Some(answer) = result.found::<ReplayAnswer>() else { return String::new() };
    let mut names: Vec<&str> = answer.policies.iter().map(|row| row.policy.as_str()).collect();
    names.dedup();
    let policies = names.into_iter().filter_map(|name| Some((name, explained(name)?)));
    let table = side_by_side(answer);
    let which = if table.is_empty() {
        String::new()
    } else {
        format!("<p class=\"source\">{}</p>\n", escape(&populations(answer)))
    };
    format!("{table}{which}{}{}", html::facts(policies), assumed(answer))
}

/// The numbers of a schedule that the page compares; each is `None` if unknown.
#[derive(Default)]
struct Row<'a> {
    name: &'a str,
    finished: u64,
    /// The waits of all tasks.
    waiting_s: Option<Spread>,
    /// The waits of tasks that arrive after the first tenth of the time, if many tasks arrive at
    /// once at its start.
    settled_waiting_s: Option<Spread>,
    /// The waits of tasks that started in the record.
    recorded_waiting_s: Option<Spread>,
    job_response_s: Option<Spread>,
    /// The same including the jobs that the end of the window cuts, if it cuts some.
    all_response_s: Option<Spread>,
    bounded_slowdown: Option<Spread>,
    /// The numbers of jobs that end sooner and later than under the first policy.
    against_first: Option<[u64; 2]>,
    /// The number of jobs that finished under the first policy but not under this one, because a
    /// rule killed a task.
    harmed: Option<u64>,
    /// The CPU time of attempts without a result, as a share of all CPU time used.
    wasted_share: Option<f64>,
    /// Jain's index of the users' mean slowdowns.
    user_fairness: Option<f64>,
}

impl<'a> Row<'a> {
    /// The row of a policy, compared with the first policy, and with the record if there is one.
    fn of(row: &'a Replayed, first: &str, [has_record, has_crowd]: [bool; 2]) -> Self {
        let (metrics, paired) = (&row.metrics, &row.against_first);
        let recorded_s = metrics.recorded_waiting_s.or(metrics.waiting_s);
        Self {
            name: &row.policy,
            finished: metrics.finished as u64,
            waiting_s: metrics.waiting_s,
            settled_waiting_s: metrics.settled_waiting_s.filter(|_| has_crowd),
            recorded_waiting_s: recorded_s.filter(|_| has_record),
            job_response_s: metrics.responses_of_whole_jobs(),
            all_response_s: metrics.whole_job_response_s.and(metrics.job_response_s),
            bounded_slowdown: metrics.bounded_slowdown,
            against_first: (row.policy != first)
                .then_some([paired.helped as u64, paired.hurt as u64]),
            harmed: (0 < metrics.condemned_tasks).then_some(paired.harmed as u64),
            wasted_share: (0.0 < row.wasted_cpu_s).then(|| row.wasted_cpu_s / metrics.cpu_s),
            user_fairness: metrics.user_fairness,
        }
    }

    /// A cell for each of the `COLUMNS`.
    fn cells(&self) -> [Cell; COLUMNS.len()] {
        let time =
            |spread: Option<Spread>, value: fn(Spread) -> f64| Cell::lasting(spread.map(value));
        let count = |place: usize| {
            let known = self.against_first.map(|counts| counts[place].to_string());
            Cell::of(&known.unwrap_or_default())
        };
        let share = |share: Option<f64>| {
            Cell::share(&share.map_or_else(String::new, |share| share.to_string()))
        };
        [
            Cell::policy(self.name),
            time(self.waiting_s, |spread| spread.mean),
            time(self.settled_waiting_s, |spread| spread.mean),
            time(self.recorded_waiting_s, |spread| spread.mean),
            time(self.recorded_waiting_s.or(self.waiting_s), |spread| spread.p95),
            Cell::rounded(self.bounded_slowdown.map_or(f64::NAN, |spread| spread.mean)),
            time(self.job_response_s, |spread| spread.mean),
            time(self.job_response_s, |spread| spread.median),
            time(self.job_response_s, |spread| spread.p95),
            time(self.job_response_s, |spread| spread.p99),
            time(self.all_response_s, |spread| spread.mean),
            time(self.all_response_s, |spread| spread.p99),
            count(0),
            count(1),
            Cell::of(&self.harmed.map_or_else(String::new, |jobs| jobs.to_string())),
            share(self.wasted_share),
            Cell::of(&self.finished.to_string()),
            Cell::rounded(self.user_fairness.unwrap_or(f64::NAN)),
        ]
    }
}

/// From this column on, a column is left out if all rows have the same value.
const LEFT_OUT_FROM: usize = 9;

/// The headings.
const COLUMNS: [&str; 18] = [
    "policy",
    "mean wait of all tasks",
    "mean wait after the first tenth of the time",
    "mean wait of tasks that started in the record",
    "95 % of waits at most",
    "mean bounded slowdown of finished tasks",
    "mean response of jobs",
    "median response of jobs",
    "95 % of responses at most",
    "99 % of responses at most",
    "mean response, with jobs cut by the window",
    "99 % of responses at most, with jobs cut by the window",
    "jobs that end sooner",
    "jobs that end later",
    "jobs harmed by its kill rule",
    "CPU time wasted, of all used",
    "finished tasks",
    "how even the users' slowdowns are (Jain's index)",
];

/// A table of the policies, and of the record if the log records waits: a row per measure, or a row
/// per policy if there are many. Empty if users react, since a policy then has several rows. Also
/// empty if there is no record and the figures are means over several seeds.
fn side_by_side(answer: &ReplayAnswer) -> String {
    let policies = &answer.policies;
    let Some(first) = policies.first().map(|row| row.policy.as_str()) else { return String::new() };
    let are_means =
        answer.recorded.is_none() && policies.iter().any(|row| row.over_seeds.is_some());
    if are_means || policies.iter().any(|row| row.arrivals.is_some()) {
        return String::new();
    }
    let record = answer.recorded.map(|record| Row {
        name: RECORD,
        finished: record.finished,
        recorded_waiting_s: record.waiting_s,
        job_response_s: record.responses_of_whole_jobs(),
        all_response_s: record.whole_job_response_s.and(record.job_response_s),
        bounded_slowdown: record.bounded_slowdown,
        ..Row::default()
    });
    let caption = match record {
        Some(_) => "What happened, and what each policy would have done",
        None => "What each policy would have done",
    };
    let is_apart = |row: &Replayed| 0 < row.against_first.helped + row.against_first.hurt;
    let against = if policies.iter().any(is_apart) {
        format!(
            "; jobs that end sooner and later are compared with {first}, by {}",
            answer.by_more_than()
        )
    } else {
        String::new()
    };
    let has_crowd = answer.history.is_some_and(|counts| 0 < counts.began_before);
    let policies = policies.iter().map(|row| Row::of(row, first, [record.is_some(), has_crowd]));
    let policies: Vec<Row<'_>> = policies.collect();
    let all = || record.iter().chain(&policies);
    let mut rows: Vec<Vec<Cell>> = all().map(|row| row.cells().into()).collect();
    let is_known = |column: &usize| rows.iter().any(|row| !row[*column].html().is_empty());
    // Values that are equal in all rows are in the table of all figures.
    let is_same = |column: usize| {
        let cells = rows.iter().map(|row| row[column].html()).filter(|cell| !cell.is_empty());
        let cells: Vec<&str> = cells.collect();
        2 < rows.len() && 1 < cells.len() && cells.iter().all(|cell| *cell == cells[0])
    };
    let is_shown =
        |column: &usize| is_known(column) && (*column < LEFT_OUT_FROM || !is_same(*column));
    let known: Vec<usize> = (0..COLUMNS.len()).filter(is_shown).collect();
    let headings: Vec<String> = known.iter().map(|&column| COLUMNS[column].to_owned()).collect();
    for row in &mut rows {
        let mut column = 0..;
        row.retain(|_| column.next().is_some_and(|column| known.contains(&column)));
    }
    let caption = format!("{caption}{against}");
    if rows.len() <= POLICIES_BESIDE && rows.len() < headings.len() {
        let names = all().map(|row| row.name.to_owned());
        let columns: Vec<String> = std::iter::once("measure".to_owned()).chain(names).collect();
        return html::table_of_measures(&caption, &columns, &by_measure(&headings, &rows));
    }
    html::named_table(&caption, &headings, str::to_owned, &rows)
}

/// Up to this many policies, the record included, are columns: all measures of a few policies would
/// be wider than a page.
const POLICIES_BESIDE: usize = 6;

/// A row per measure with a cell per policy, from a row per policy.
fn by_measure(headings: &[String], rows: &[Vec<Cell>]) -> Vec<Vec<Cell>> {
    let measure = |(place, heading): (usize, &String)| {
        let values = rows.iter().map(|row| row[place].clone());
        std::iter::once(Cell::name(heading)).chain(values).collect()
    };
    headings.iter().enumerate().skip(1).map(measure).collect()
}

/// Which tasks and jobs the numbers of the record and of the policies refer to.
fn populations(answer: &ReplayAnswer) -> String {
    let counts = answer.history.unwrap_or_default();
    let mut said = "Response: from submission to end. Bounded slowdown: response over run time, \
        where runs of less than 10 s count as 10 s. It is that of finished tasks here; on the page about \
        load, it is that of all jobs that ended. Charts leave out the end of a replay if nothing waits \
        and hardly anything runs then."
        .to_owned();
    if answer.recorded.is_some() {
        said.push_str(" The log does not name the policy that the cluster used.");
        let longer = replay::other_way(answer).map(|longer| format!(" {longer}."));
        said.push_str(&longer.unwrap_or_default());
    }
    if 0 < counts.dropped_attempts {
        said.push_str(
            " In the record both include attempts that were evicted, lost or submitted again, which the \
            replays leave out, so a slowdown may be larger there although tasks start sooner.",
        );
    }
    if 0 < counts.still_running {
        let _ = write!(
            said,
            " Tasks that still run at the end of the window ({}) count as finished there, in the \
            record as in the replays.",
            grouped(counts.still_running)
        );
        if answer.policies.iter().any(|row| row.metrics.whole_job_response_s.is_some()) {
            said.push_str(
                " Responses in this table and in the chart are those of jobs without such tasks, unless they are \
                said to be with them: a cut job lasts at least to the end of the window under every policy, \
                and longer if its tasks wait or lose a machine. Those in the table of all figures are of all jobs.",
            );
        }
    }
    if 0 < counts.began_before {
        let _ = write!(
            said,
            " Tasks that were submitted before the window ({}) have no recorded wait; the replays \
            submit them when the window starts.",
            grouped(counts.began_before)
        );
    }
    said
}

/// A paragraph about the part of the record that the replay leaves out, and about the decisive
/// assumptions.
fn assumed(answer: &ReplayAnswer) -> String {
    if answer.decisive.is_empty() {
        return String::new();
    }
    let emptier = replay::not_replayed(answer).map_or_else(String::new, |share| {
        format!(
            ": attempts with {} of the CPU time that was requested are not replayed, so that the cluster is \
            emptier than it was",
            percent(share)
        )
    });
    format!(
        "<p class=\"source\">The replay is not the recorded schedule{emptier}. {}</p>\n",
        escape(&answer.decisive.join(" "))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::history::{Counts, Schedule};
    use crate::replay::metrics::{Metrics, Paired};
    use crate::studies::named::Named;

    #[test]
    fn policies_are_side_by_side_in_the_columns_that_one_of_them_has() {
        let row = |policy: &str, sooner: usize, wasted_cpu_s: f64| Replayed {
            policy: policy.to_owned(),
            metrics: Metrics {
                finished: 7,
                waiting_s: Some(Spread { mean: 90.0, p95: 120.0, ..Spread::default() }),
                cpu_s: 200.0,
                ..Metrics::default()
            },
            wasted_cpu_s,
            against_first: Paired { helped: sooner, hurt: 2, ..Paired::default() },
            ..Replayed::default()
        };
        let policies = vec![row("fifo", 0, 0.0), row("late", 3, 50.0)];
        let answer = ReplayAnswer { policies, ..ReplayAnswer::default() };
        let html = side_by_side(&answer);
        let has = ["What each policy would have done", ">90 s<", ">2 min<", ">25.00 %<", ">7<"];
        assert!(has.iter().all(|text| html.contains(text)), "{html}");
        assert!(Cell::policy("a+<b").html().ends_with("a+<wbr>&lt;b"));
        assert!(html.contains("jobs that end sooner and later are compared with fifo"), "{html}");
        // Columns that only some traces have.
        for absent in ["first tenth", "cut by the window", "Jain"] {
            assert!(!html.contains(absent), "{absent} in {html}");
        }
        // The first policy is not compared with itself.
        assert_eq!((html.matches(">3<").count(), html.matches(">2<").count()), (1, 1), "{html}");
        for absent in ["in the record", "harmed", "response", "until the last end"] {
            assert!(!html.contains(absent), "{absent} in {html}");
        }
        // A figure that only one policy has is shown; a figure that is equal for all is not.
        let mut killed = row("kill", 1, 0.0);
        (killed.metrics.condemned_tasks, killed.against_first.harmed) = (5, 6);
        let policies = vec![row("fifo", 0, 0.0), row("late", 3, 50.0), killed];
        let html = side_by_side(&ReplayAnswer { policies, ..ReplayAnswer::default() });
        assert!(html.contains("harmed") && html.contains(">6<"), "{html}");
        assert!(html.contains("wasted") && !html.contains("finished tasks"), "{html}");
        // Few policies are columns of a table with a row per measure; many are rows.
        let names = |html: &str| {
            let heads = html.split("data-column=\"").skip(1);
            heads.map(|head| head.split('"').next().unwrap().to_owned()).collect::<Vec<String>>()
        };
        let answer_of = |policies| ReplayAnswer { policies, ..ReplayAnswer::default() };
        let all = (0..7_usize).map(|idx| row(&format!("p{idx}"), idx, 0.0));
        let all: Vec<Replayed> = all.collect();
        let few = side_by_side(&answer_of(all[..3].to_vec()));
        assert_eq!(names(&few), ["measure", "p0", "p1", "p2"]);
        let sooner = few.rsplit("<tr>").find(|row| row.contains("jobs that end sooner<")).unwrap();
        let counts: Vec<&str> = sooner.split("<td").skip(2).collect();
        assert_eq!(counts.len(), 3, "{sooner}");
        assert!((1..3).all(|idx| counts[idx].contains(&format!(">{idx}<"))), "{sooner}");
        let many = names(&side_by_side(&answer_of(all)));
        assert_eq!(many[..2], ["policy", "mean wait of all tasks"]);
        let mut several = answer;
        several.policies[1].over_seeds = Some(Named::default());
        assert_eq!(side_by_side(&several), "");
    }

    #[test]
    fn the_values_of_the_first_sentence_are_in_the_table() {
        let spread = |mean: f64| Some(Spread { mean, p99: 9.0 * mean, ..Spread::default() });
        let row = |policy: &str, mean: f64| Replayed {
            policy: policy.to_owned(),
            metrics: Metrics {
                settled_waiting_s: spread(mean),
                job_response_s: spread(2.0 * mean),
                whole_job_response_s: spread(3.0 * mean),
                user_fairness: Some(mean / 100.0),
                ..Metrics::default()
            },
            ..Replayed::default()
        };
        let counts = Counts { began_before: 4, ..Counts::default() };
        let policies = vec![row("fifo", 11.0), row("fair", 13.0)];
        let answer = ReplayAnswer { policies, history: Some(counts), ..ReplayAnswer::default() };
        let html = side_by_side(&answer);
        for shown in [
            "first tenth",
            ">13 s<",
            ">26 s<",
            ">39 s<",
            ">3.9 min<",
            "cut by the window",
            ">0.13<",
        ] {
            assert!(html.contains(shown), "{shown} in {html}");
        }
        // Without tasks from before the window, the first tenth is the same as the rest.
        let html = side_by_side(&ReplayAnswer { history: None, ..answer });
        assert!(!html.contains("first tenth"), "{html}");
    }

    #[test]
    fn the_assumptions_that_decide_are_in_sight() {
        let decisive = vec!["No task is preempted.".to_owned(), "a < b.".to_owned()];
        let answer = ReplayAnswer { decisive, ..ReplayAnswer::default() };
        assert_eq!(
            assumed(&answer),
            "<p class=\"source\">The replay is not the recorded schedule. No task is preempted. \
            a &lt; b.</p>\n"
        );
        assert_eq!(assumed(&ReplayAnswer::default()), "");
        let recorded = Some(Schedule { dropped_cpu_share: Some(0.1636), ..Schedule::default() });
        let html = assumed(&ReplayAnswer { recorded, ..answer });
        assert!(html.contains("schedule: attempts with 16.4 % of the CPU time"), "{html}");
    }
}
