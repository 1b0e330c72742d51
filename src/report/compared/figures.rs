//! The key figures of two sets of results, side by side.
//!
//! In: the results of both. Out: a table with a row per figure that both have in the same unit:
//! outcomes, CPU time, waits, lengths of jobs, users.

use super::names::Names;
use crate::digits::{counted, is_date, three_digits, unit_of_use};
use crate::report::html::Cell;
use crate::report::text::escape;
use crate::results::envelope::Input;
use crate::results::{Stored, Table};
use crate::schema;
use crate::studies::meter::CpuDefinition;

/// What a figure is.
#[derive(Clone, Copy)]
enum Kind {
    Count,
    Share,
    /// An amount in the unit of its row: a length of time, or CPU time.
    Amount,
}

/// A figure: the sum of a column over the rows with one of these outcomes.
struct Figure {
    said: &'static str,
    /// The table, and the name of its first column.
    table: (&'static str, &'static str),
    /// The outcomes; empty for all rows.
    outcomes: &'static [&'static str],
    column: &'static str,
    kind: Kind,
}

const JOBS: (&str, &str) = ("classify-jobs.csv", "sequence");
const CPU: (&str, &str) = ("account.csv", "outcome");
const WAITS: (&str, &str) = ("waiting.csv", "outcome");
const LENGTHS: (&str, &str) = ("job-durations.csv", "outcome");
const USERS: (&str, &str) = ("fairness.csv", "user");

/// Whether a figure is about how jobs ended: a side may not record that.
fn is_of_outcome(figure: &Figure) -> bool {
    !matches!(figure.outcomes, [] | ["all"])
}

const fn figure(
    said: &'static str,
    table: (&'static str, &'static str),
    outcomes: &'static [&'static str],
    column: &'static str,
    kind: Kind,
) -> Figure {
    Figure { said, table, outcomes, column, kind }
}

const LOST: [&str; 5] = ["failed", "killed", "evicted", "lost", "other"];

/// All outcomes without a separate figure.
const OTHERS: [&str; 5] = ["evicted", "lost", "pending", "unknown", "other"];

const FIGURES: [Figure; 15] = [
    figure("jobs", JOBS, &[], "count", Kind::Count),
    figure("jobs that finished", JOBS, &["finished"], "share", Kind::Share),
    figure("jobs that failed", JOBS, &["failed"], "share", Kind::Share),
    figure("jobs that were killed", JOBS, &["killed"], "share", Kind::Share),
    figure("jobs still running at the end", JOBS, &["running"], "share", Kind::Share),
    figure("jobs with another outcome", JOBS, &OTHERS, "share", Kind::Share),
    figure("CPU time of all outcomes", CPU, &[], "cpu", Kind::Amount),
    figure("CPU time of jobs still running at the end", CPU, &["running"], "share", Kind::Share),
    figure("CPU time of jobs that did not finish", CPU, &LOST, "share", Kind::Share),
    figure("mean wait of tasks, started or not", WAITS, &["all"], "mean", Kind::Amount),
    figure("median wait of tasks, started or not", WAITS, &["all"], "median", Kind::Amount),
    figure("99 % of the tasks, started or not, wait at most", WAITS, &["all"], "p99", Kind::Amount),
    figure("median length of jobs", LENGTHS, &["all"], "median", Kind::Amount),
    figure("99 % of the jobs last at most", LENGTHS, &["all"], "p99", Kind::Amount),
    figure("heaviest user, of all CPU time", USERS, &[], "share", Kind::Share),
];

/// Settings that must be equal on both sides: classes of outcomes, the definition of CPU time, and
/// the key by which usage is grouped.
const CHOICES: [&str; 3] = ["classes", "cpu", "by"];

/// A value of a figure.
struct Value {
    number: f64,
    unit: String,
    /// Whether this is a lower bound, because some of the jobs or tasks had not ended.
    is_bound: bool,
    /// The values of the settings in `CHOICES`.
    choices: [Option<serde_json::Value>; 3],
}

/// The value of a figure; `None` if the results lack it.
fn value(figure: &Figure, results: &[Stored]) -> Option<Value> {
    let (file, begins) = figure.table;
    let is_it = |table: &&Table| {
        table.file == file
            && table.header.first().is_some_and(|column| column == begins)
            && table.rows.len() == table.row_count
    };
    let all = results.iter().flat_map(|result| result.tables.iter().map(move |own| (result, own)));
    let (result, table) = all.into_iter().find(|(_, table)| is_it(table))?;
    let place = |name: &str| table.header.iter().position(|column| column == name);
    let outcome = place("outcome");
    let is_meant = |row: &&Vec<String>| {
        figure.outcomes.is_empty()
            || outcome.is_some_and(|idx| figure.outcomes.contains(&row[idx].as_str()))
    };
    let rows: Vec<&Vec<String>> = table.rows.iter().filter(is_meant).collect();
    let first = rows.first()?;
    let unit = place("unit").map(|idx| first[idx].clone()).unwrap_or_default();
    let column = place(figure.column)?;
    let numbers: Option<Vec<f64>> = rows.iter().map(|row| row[column].parse().ok()).collect();
    let numbers = numbers?;
    let bounds = place("at_least").map_or("", |idx| first[idx].as_str());
    Some(Value {
        // The heaviest user is in the first row.
        number: if figure.table == USERS { numbers[0] } else { numbers.iter().sum() },
        unit,
        is_bound: bounds.split(',').any(|name| name == figure.column),
        choices: CHOICES.map(|key| result.whole.settings.get(key).cloned()),
    })
}

/// A value as a cell; `top` is the larger value of both sides.
fn cell(kind: Kind, value: &Value, top: f64) -> Cell {
    let Value { number, unit, is_bound, .. } = value;
    let own = match kind {
        Kind::Count => Cell::of(&format!("{number:.0}")),
        Kind::Share => Cell::share(&number.to_string()),
        Kind::Amount if unit == "s" => Cell::lasting(Some(*number)),
        Kind::Amount => {
            let (shown, per) = unit_of_use(unit, top);
            Cell::in_units_of(*number, per).in_unit(unit, &shown)
        }
    };
    if *is_bound { own.at_least() } else { own }
}

/// How much a figure changed: a share in points, other figures in percent of the first value.
fn change(kind: Kind, first: f64, second: f64) -> String {
    match kind {
        _ if first.to_bits() == second.to_bits() => "same".to_owned(),
        Kind::Share => format!("{:+.2} points", (second - first) * 100.0),
        _ if first <= 0.0 => String::new(),
        _ => format!("{:+.1} %", (second / first - 1.0) * 100.0),
    }
}

/// A figure that both sides have.
struct Both {
    said: String,
    kind: Kind,
    values: [Value; 2],
}

impl Both {
    /// Whether the figure is a lower bound on one side, so that its change is unknown.
    fn is_bound(&self) -> bool {
        self.values.iter().any(|value| value.is_bound)
    }

    /// How much the figure changed, in words; empty if that is unknown.
    fn change(&self) -> String {
        let [first, second] = &self.values;
        if self.is_bound() { String::new() } else { change(self.kind, first.number, second.number) }
    }

    fn cells(&self) -> [Cell; 2] {
        let [first, second] = &self.values;
        let top = first.number.abs().max(second.number.abs());
        [first, second].map(|value| cell(self.kind, value, top))
    }

    /// How far the figure moved, as a multiple of the smallest change that is reported: a
    /// percentage point of a share, a tenth of a length of time, any change of a time from 0.
    /// Counts and sums depend on the size of the log, so they give 0. Figures with an unknown
    /// change also give 0.
    fn moved(&self) -> f64 {
        let [first, second] = self.values.each_ref().map(|value| value.number);
        let is_time = self.values[0].unit == "s";
        match self.kind {
            _ if self.is_bound() => 0.0,
            Kind::Share => (second - first).abs() / A_POINT,
            Kind::Amount if is_time && 0.0 < first => (second / first - 1.0).abs() / A_TENTH,
            Kind::Amount if is_time && first != second => f64::INFINITY,
            Kind::Amount | Kind::Count => 0.0,
        }
    }
}

/// The smallest changes at which a figure counts as moved: of a share, and of a length of time.
const A_POINT: f64 = 0.01;
const A_TENTH: f64 = 0.1;

/// The figures of both sides. `has_outcomes` says whether both sides record how jobs ended.
fn figures(sides: [&[Stored]; 2], has_outcomes: bool) -> Vec<Both> {
    let of = |figure: &Figure| {
        let [first, second] = sides.map(|results| value(figure, results));
        let (first, second) = first.zip(second)?;
        let is_same = first.unit == second.unit && first.choices == second.choices;
        let is_of_users = figure.table != USERS || first.choices[2] == Some("user".into());
        let is_compared = is_same && is_of_users && (has_outcomes || !is_of_outcome(figure));
        let is_of_gpus = first.unit == CpuDefinition::GPU_UNIT;
        let noun = if is_of_gpus { "GPU time" } else { "CPU time" };
        let said = figure.said.replace("CPU time", noun);
        is_compared.then_some(Both { said, kind: figure.kind, values: [first, second] })
    };
    FIGURES.iter().filter_map(of).collect()
}

/// The table; empty if the two sides have no figure in common.
pub(super) fn table(sides: [&[Stored]; 2], has_outcomes: bool, names: &Names<'_>) -> String {
    let row = |both: &Both| {
        let [first, second] = both.cells();
        vec![Cell::name(&both.said), first, second, Cell::name(&both.change())]
    };
    let rows: Vec<Vec<Cell>> = figures(sides, has_outcomes).iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let header = ["figure", names.first, names.second, "change"].map(str::to_owned);
    names.table("Key figures", &header, &rows)
}

/// Sentences about how many times as many jobs the second side has, and about the figures that
/// moved. Empty if the two sides have no figure in common.
pub(super) fn verdict(sides: [&[Stored]; 2], has_outcomes: bool, names: &Names<'_>) -> String {
    /// The largest number of named figures; further ones are only in the table.
    const NAMED_MAX: usize = 4;
    let all = figures(sides, has_outcomes);
    if all.is_empty() {
        return String::new();
    }
    let jobs = all.iter().find(|both| both.said == FIGURES[0].said);
    let jobs = jobs.map(|both| both.values.each_ref().map(|value| value.number));
    let jobs = jobs.filter(|jobs| 0.0 < jobs[0] && jobs[0].to_bits() != jobs[1].to_bits());
    let said = jobs.map_or_else(String::new, |[first, second]| {
        let [one, other] = [names.first, names.second].map(escape);
        match three_digits(second / first).as_str() {
            "1" => format!("Nearly as many jobs in {other} as in {one}. "),
            times => format!("Jobs: {times} times as many in {other} as in {one}. "),
        }
    });
    let mut moved: Vec<&Both> = all.iter().filter(|both| 1.0 <= both.moved()).collect();
    moved.sort_by(|one, other| other.moved().total_cmp(&one.moved()));
    let told = |both: &&Both| {
        let [first, second] = both.cells();
        let by = both.change();
        let by = if by.is_empty() { by } else { format!(" ({by})") };
        format!("{}: {}, then {}{by}", escape(&both.said), first.html(), second.html())
    };
    let told: Vec<String> = moved.iter().take(NAMED_MAX).map(told).collect();
    let is_bound = all.iter().any(Both::is_bound);
    let rest = if is_bound { " of which the change is known" } else { "" };
    let rest = format!("shares and times{rest} differ by less than 1 point or 10 %");
    let moved = match (told.is_empty(), moved.len().saturating_sub(NAMED_MAX)) {
        (true, _) => format!("No key figure moved: {rest}."),
        (false, 0) => format!("What moved: {}. All other {rest}.", told.join("; ")),
        (false, more) => {
            let more = counted(more as u64, "more figure");
            format!("What moved most: {}; and {more} in the table.", told.join("; "))
        }
    };
    format!("<p class=\"answer\">{said}{moved}</p>\n")
}

/// A notice, as HTML, that the two sides cover the same time, so that a job may be in both. Empty
/// if they do not, or if they hold the same rows.
pub(super) fn same_time(sides: [&[Stored]; 2]) -> String {
    /// The smallest part of the shorter time span that the two must share.
    const MOST: f64 = 0.9;
    let inputs = sides.map(|results| {
        let all = results.iter().flat_map(|result| &result.whole.inputs);
        all.filter(|input| input.table == schema::Table::JobEvents.name()).collect::<Vec<&Input>>()
    });
    let [Some(first), Some(second)] = inputs.each_ref().map(|all| all.first()) else {
        return String::new();
    };
    let spans = [first, second].map(|input| Some([input.start_s?, input.end_s?]));
    let [Some(one), Some(other)] = spans else { return String::new() };
    let common_s = one[1].min(other[1]) - one[0].max(other[0]);
    let shorter_s = (one[1] - one[0]).min(other[1] - other[0]);
    let is_same = first.rows == second.rows && one == other;
    // Clocks that begin with the trace cannot be compared.
    if is_same || !is_date(one[0]) || shorter_s <= 0.0 || common_s < MOST * shorter_s {
        return String::new();
    }
    "<p class=\"notice\">The two are of the same time. If they are of the same cluster, jobs are in both, \
    and the differences are smaller than between two logs that share none.</p>\n"
        .to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::results::envelope::Envelope;

    fn stored(files: &[(&str, &str)]) -> Vec<Stored> {
        let mut result = Stored::of(Envelope::default());
        result.whole.settings = json!({"classes": "sequence", "cpu": "requested", "by": "user"});
        for (file, csv) in files {
            let mut lines = csv.lines().map(|line| line.split(';').map(str::to_owned).collect());
            let header = lines.next().unwrap();
            let rows: Vec<Vec<String>> = lines.collect();
            let (file, row_count) = ((*file).to_owned(), rows.len());
            result.tables.push(Table { file, header, rows, row_count });
        }
        vec![result]
    }

    fn of(failed: &str, unit: &str) -> Vec<Stored> {
        stored(&[
            (
                "classify-jobs.csv",
                &format!("sequence;outcome;count;share\n014;finished;6;0.6\n013;failed;4;{failed}"),
            ),
            (
                "account.csv",
                &format!(
                    "outcome;cpu;unit;share\nfinished;3600;{unit};0.25\nfailed;7200;{unit};0.5\nkilled;3600;{unit};0.25"
                ),
            ),
            (
                "waiting.csv",
                "outcome;mean;median;p99;unit;at_least\nall;60;7200;90;s;mean,p99\nfailed;1;2;3;s;",
            ),
            ("fairness.csv", "user;cpu_s;unit;share\na;9;x;0.9\nb;1;x;0.1"),
        ])
    }

    const NAMES: Names<'_> = Names { first: "one", second: "two" };

    #[test]
    fn figures_are_compared_if_both_have_them_in_one_unit() {
        let (names, [one, two, other]) = (
            NAMES,
            [("0.4", "NCU-s"), ("0.5", "NCU-s"), ("0.4", "core-s")]
                .map(|(share, unit)| of(share, unit)),
        );
        let html = table([&one, &two], true, &names);
        for row in [
            ">jobs</td><td data-value=\"10\">10</td><td data-value=\"10\">10</td><td>same</td>",
            ">40.00 %</td><td data-value=\"0.5\">50.00 %</td><td>",
            "+10.00 points",
            "data-unit=\"NCU-s\">4 NCU-h</td>",
            ">75.00 %</td>",
            // The mean is a lower bound, so no change is given.
            "<td data-value=\"60\">≥&nbsp;60 s</td><td data-value=\"60\">≥&nbsp;60 s</td><td></td>",
            ">2 h</td>",
            ">90.00 %</td>",
        ] {
            assert!(html.contains(row), "{row}: {html}");
        }
        // CPU time in different units is not compared, and no outcome is compared if one side lacks
        // outcomes.
        assert!(!table([&one, &other], true, &names).contains("NCU"));
        let html = table([&one, &two], false, &names);
        assert!(!html.contains("failed") && !html.contains("did not finish"), "{html}");
        assert!(html.contains("mean wait of tasks"));
        assert_eq!(table([&one, &[]], true, &names), "");
    }

    #[test]
    fn what_moved_is_reported_the_largest_change_first() {
        let [one, two] = ["0.4", "0.5"].map(|share| of(share, "NCU-s"));
        let names = &NAMES;
        assert_eq!(
            verdict([&one, &two], true, names),
            "<p class=\"answer\">What moved: jobs that failed: 40.00 %, then 50.00 % (+10.00 points). All \
            other shares and times of which the change is known differ by less than 1 point or 10 %.</p>\n"
        );
        let text = verdict([&one, &one], true, names);
        assert!(text.contains(">No key figure moved: "), "{text}");
        let half =
            stored(&[("classify-jobs.csv", "sequence;outcome;count;share\n014;finished;4;1")]);
        let text = verdict([&one, &half], false, names);
        assert!(text.contains(">Jobs: 0.4 times as many in two as in one. No key"), "{text}");
        assert_eq!(verdict([&one, &[]], true, names), "");
        let waits = |median: &str| {
            stored(&[("waiting.csv", &format!("outcome;mean;median;p99;unit\nall;9;{median};9;s"))])
        };
        let text = verdict([&waits("0"), &waits("3600")], true, names);
        assert!(
            text.contains(
                "What moved: median wait of tasks, started or not: 0 s, then 60 min. All"
            ),
            "{text}"
        );
        let text = verdict([&waits("100"), &waits("111")], true, names);
        assert!(text.contains("100 s, then 111 s (+11.0 %). All"), "{text}");
        let text = verdict([&waits("100"), &waits("109")], true, names);
        assert!(text.contains("No key figure moved"), "{text}");
        let more = |count: u32| {
            stored(&[(
                "classify-jobs.csv",
                &format!("sequence;outcome;count;share\n014;finished;{count};1"),
            )])
        };
        let text = verdict([&more(1000), &more(1001)], true, names);
        assert!(text.contains(">Nearly as many jobs in two as in one. No key figure"), "{text}");
    }

    #[test]
    fn logs_of_the_same_time_are_reported() {
        let of = |start_s: f64, end_s: f64| {
            let table = "job_events".to_owned();
            let input =
                Input { table, start_s: Some(start_s), end_s: Some(end_s), ..Input::default() };
            vec![Stored::of(Envelope { inputs: vec![input], ..Envelope::default() })]
        };
        let at = 1_480_000_000.0;
        let day = of(at, at + 86_400.0);
        let said = |other: &[Stored]| !same_time([&day, other]).is_empty();
        assert!(said(&of(at + 3_600.0, at + 90_000.0)));
        assert!(!said(&of(at + 43_200.0, at + 129_600.0)), "half of it");
        assert!(!said(&day), "the same rows");
        assert!(same_time([&of(0.0, 9.0), &of(0.0, 8.0)]).is_empty(), "no dates");
    }

    #[test]
    fn figures_of_other_choices_and_of_parts_of_a_table_are_left_out() {
        let one = of("0.4", "NCU-s");
        let with = |key: &str, value: &str| {
            let mut other = of("0.4", "NCU-s");
            other[0].whole.settings[key] = value.into();
            other
        };
        for (key, value) in [("classes", "terminal"), ("cpu", "measured"), ("by", "group")] {
            assert_eq!(table([&one, &with(key, value)], true, &NAMES), "", "{key}");
        }
        let groups = [with("by", "group"), with("by", "group")];
        assert!(!table([&groups[0], &groups[1]], true, &NAMES).contains("heaviest"));
        let mut cut = of("0.4", "NCU-s");
        cut[0].tables.iter_mut().for_each(|table| table.row_count += 1);
        assert_eq!(table([&one, &cut], true, &NAMES), "");
        let gpus = of("0.4", CpuDefinition::GPU_UNIT);
        let html = table([&gpus, &gpus], true, &NAMES);
        assert!(html.contains("GPU time of jobs that did not finish"), "{html}");
        // Amounts of less than an hour are shown in seconds.
        let small = |cpu: &str| {
            stored(&[("account.csv", &format!("outcome;cpu;unit\nfinished;{cpu};core-s"))])
        };
        let html = table([&small("9"), &small("18")], true, &NAMES);
        assert!(html.contains(">9 core-s<") && html.contains("+100.0 %"), "{html}");
    }
}
