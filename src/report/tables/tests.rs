//! Tests of stored tables on a page.

use proptest::prelude::*;

use super::stored::*;
use crate::report::links::Links;
use crate::results::Table;

fn table(header: &[&str], rows: &[&[&str]]) -> Table {
    let own = |cells: &[&str]| cells.iter().map(|&cell| cell.to_owned()).collect();
    Table {
        file: "x.csv".to_owned(),
        header: own(header),
        rows: rows.iter().map(|row| own(row)).collect(),
        row_count: rows.len(),
    }
}

#[test]
fn the_row_of_all_groups_is_named_and_the_mark_left_out() {
    let header = ["is_total", "platform", "machines", "outages"];
    let rows: [&[&str]; 3] =
        [&["true", "", "9", "4"], &["false", "x", "9", "4"], &["false", "", "0", "1"]];
    let mut machines = table(&header, &rows);
    let html = stored_table("Machines", &machines, "", &Links::default(), &[], None);
    assert!(!html.contains("total") && html.matches(">all<").count() == 1, "{html}");
    assert!(!html.contains("a row of 0 machines"), "{html}");
    machines.file = "machines.csv".to_owned();
    let html = stored_table("Machines", &machines, "", &Links::default(), &[], None);
    assert!(html.contains("; a row of 0 machines: they had"), "{html}");
    let header = ["platform", "machines", "machines_first"];
    let own = table(&header, &[&["x", "0", "9"], &["y", "5", "7"]]);
    let own = Table { file: "machines.csv".to_owned(), ..own };
    let html = stored_table("Machines", &own, "", &Links::default(), &[], None);
    assert!(!html.contains(">machines with this configuration when first seen<"), "{html}");
    let header = ["platform", "machines", "machines_first", "outages"];
    let own = table(&header, &[&["bare", "0", "32", "0"], &["used", "5", "7", "2"]]);
    let own = Table { file: "machines.csv".to_owned(), ..own };
    let html = stored_table("Machines", &own, "", &Links::default(), &[], None);
    assert!(!html.contains("bare") && html.contains("1 row with zeros only is not"), "{html}");
}

#[test]
fn ends_of_attempts_and_chances_are_in_words() {
    let ends = table(&["ended", "attempts"], &[&["with job", "7"], &["open", "9"]]);
    let html = stored_table("Ends", &ends, "", &Links::default(), &[], None);
    assert!(html.contains("closed with their job") && html.contains("still running"), "{html}");
    let rows: [&[&str]; 2] = [&["up", "9", "0"], &["away", "7", "0.25"]];
    let spells = table(&["spell", "count", "p_exponential"], &rows);
    let html = stored_table("Spells", &spells, "", &Links::default(), &[], None);
    assert!(html.contains("&lt; 0.0001"), "{html}");
}

#[test]
fn the_table_of_a_sweep_has_what_readers_compare() {
    let header = ["rule", "threshold", "condemned_at_end", "saved_share_failed", "harmed_jobs"];
    let rows: [&[&str]; 2] =
        [&["events", "10", "3", "0.5", "8"], &["events", "20", "1", "0.4", "4"]];
    let mut sweep = table(&header, &rows);
    sweep.file = "sweep.csv".to_owned();
    let html = stored_table("Sweep", &sweep, "", &Links::default(), &[], None);
    assert_eq!(html.matches("</th>").count(), 4, "{html}");
    assert!(html.contains("; only in the file: of these tasks, finished by then</p>"), "{html}");
    // Other tables keep such columns.
    sweep.file = "detect.csv".to_owned();
    let html = stored_table("Sweep", &sweep, "", &Links::default(), &[], None);
    assert!(html.matches("</th>").count() == 5 && !html.contains("only in the file"), "{html}");
}

#[test]
fn of_all_rules_in_one_plane_only_those_that_no_other_one_beats_are_shown() {
    let header = ["rule", "threshold", "harmed_jobs", "net_cpu", "unit", "named", "is_on_front"];
    let rows: [&[&str]; 4] = [
        &["events", "10", "8", "7200", "NCU-s", "", "true"],
        &["events", "20", "9", "3600", "NCU-s", "", "false"],
        &["failures", "1", "0", "0", "NCU-s", "", "true"],
        &["oracle", "", "0", "9000", "NCU-s", "", "false"],
    ];
    let mut plane = table(&header, &rows);
    plane.file = "sweep-plane.csv".to_owned();
    let html = stored_table("Front", &plane, "", &Links::default(), &[], None);
    assert_eq!(html.matches("<tr>").count(), 2, "{html}");
    assert!(html.contains(">2</td>") && !html.contains("front<"), "{html}");
    assert!(html.contains("; only in the file: 3 other settings</p>"), "{html}");
    // A setting that sentences name is shown and marked.
    let named: &[&str] = &["events", "30", "9", "1800", "NCU-s", "in the text", "false"];
    let mut marked = table(&header, &[rows[0], rows[1], named]);
    marked.file = "sweep-plane.csv".to_owned();
    let html = stored_table("Front", &marked, "", &Links::default(), &[], None);
    assert_eq!(html.matches("<tr>").count(), 3, "{html}");
    assert!(html.contains("in the text") && html.contains("1 other setting"), "{html}");
    let mut none = table(&header, &rows[2..3]);
    none.file = "sweep-plane.csv".to_owned();
    let html = stored_table("Front", &none, "", &Links::default(), &[], None);
    assert!(html.starts_with("<p>Front: no value above zero.</p>"), "{html}");
    // If all amounts are zero, they have the unit of the other tables on the page.
    none.file = "x.csv".to_owned();
    let html = stored_table("Sweep", &none, "", &Links::default(), &[], None);
    assert!(html.contains("net CPU (NCU\u{2011}h)"), "{html}");
}

#[test]
fn an_interval_and_a_unit_are_in_the_cell_of_their_value() {
    let header = [
        "rule",
        "threshold",
        "threshold_unit",
        "net_share",
        "net_share_low",
        "net_share_high",
        "harmed_jobs",
        "harmed_jobs_low",
        "harmed_jobs_high",
        "x_low",
    ];
    let rows: [&[&str]; 2] = [
        &["restarts", "1", "restarts", "0.04", "0.02", "0.061", "0", "0", "3", "5"],
        &["dead-time", "7200", "s", "-0.01", "", "", "0", "0", "0", ""],
    ];
    let html = stored_table("Sweep", &table(&header, &rows), "", &Links::default(), &[], None);
    for cell in [
        "<td data-value=\"1\" data-unit=\"restarts\">1 restart</td>",
        "<td data-value=\"7200\" data-unit=\"s\">2 h</td>",
        "<td data-value=\"0.04\" data-low=\"0.02\" data-high=\"0.061\">4.00 % \
         <span class=\"interval\">2.00 % to 6.10 %</span></td>",
        "<td data-value=\"-0.01\">-1.00 %</td>",
        // A column of zeros is kept for a bound above zero.
        "<td data-value=\"0\" data-low=\"0\" data-high=\"3\">",
        // Bounds that are not shown are in the download.
        "<td data-value=\"0\" data-low=\"0\" data-high=\"0\">0</td><td data-value=\"-0.01\">",
        ">x low<",
    ] {
        assert!(html.contains(cell), "{cell}: {html}");
    }
    assert_eq!(html.matches("</th>").count(), 5, "{html}");
    assert!(html.contains("<caption>Sweep</caption>"), "{html}");
    assert!(html.contains("; in small print: the 95 % interval"), "{html}");
}

#[test]
fn hours_of_cpu_have_their_unit_in_the_caption() {
    let use_by = table(&["month", "cpu_h", "wasted_cpu_h"], &[&["2024-01", "7", "3"]]);
    let html = stored_table("Use", &use_by, "", &Links::default(), &[], Some("core-s"));
    assert!(html.contains("<caption>Use (CPU in core-h)</caption>"), "{html}");
    assert!(html.contains(">CPU</th>") && html.contains(">wasted CPU</th>"), "{html}");
    let html = stored_table("Use", &use_by, "", &Links::default(), &[], None);
    assert!(html.contains("<caption>Use</caption>") && html.contains(">CPU (h)</th>"));
}

#[test]
fn counts_that_repeat_the_jobs_are_left_out() {
    let header = ["outcome", "jobs", "jobs_with_tasks", "tasks", "cpu"];
    let of = |tasks| {
        let mut account =
            table(&header, &[&["finished", "9", "9", "9", "1"], &["failed", "3", "3", tasks, "1"]]);
        account.file = "account.csv".to_owned();
        stored_table("CPU", &account, "", &Links::default(), &[], None)
    };
    assert_eq!(of("3").matches("</th>").count(), 3);
    assert!(of("3").contains("; as many as jobs: jobs with tasks, tasks"));
    assert!(of("4").contains(">their tasks<") && !of("4").contains(">of these with"));
}

#[test]
fn detectors_are_in_the_order_of_their_chart() {
    let header = ["detector", "f1", "earlier_share"];
    let rows: [&[&str]; 5] = [
        &["none", "", ""],
        &["late", "0.1", "0.02"],
        &["yarn", "0.05", "0.3"],
        &["spark", "0.2", "0.02"],
        &["tqst", "0.3", "0"],
    ];
    let mut scores = table(&header, &rows);
    scores.file = "detect.csv".to_owned();
    let html = stored_table("Scores", &scores, "", &Links::default(), &[], None);
    let places = ["yarn", "spark", "late", "tqst", "none"].map(|name| html.find(name).unwrap());
    assert!(places.is_sorted(), "{html}");
    let parameters =
        table(&["detector", "settings"], &[&["yarn", "yarn:a=1,b=2"], &["none", "none"]]);
    let html = stored_table("Settings", &parameters, "", &Links::default(), &[], None);
    assert!(html.contains("a=1, b=2</") && html.contains("no parameters"), "{html}");
}

#[test]
fn what_says_nothing_is_left_out_and_counted() {
    let header = ["sequence", "outcome", "count", "unit", "p99"];
    let rows: [&[&str]; 3] = [
        &["014", "finished", "9", "s", ""],
        &["013", "failed", "0", "s", ""],
        &["", "other", "0.0", "s", ""],
    ];
    let html = stored_table("Jobs", &table(&header, &rows), "", &Links::default(), &[], None);
    assert!(html.contains("<caption>Jobs (s)</caption>"), "{html}");
    assert!(html.contains("finished") && !html.contains("failed"), "{html}");
    assert!(!html.contains("p99") && !html.contains("unit"), "{html}");
    assert!(html.contains("2 rows with zeros only are not shown"), "{html}");
    let html = stored_table("Jobs", &table(&header, &rows[1..]), "", &Links::default(), &[], None);
    assert!(html.starts_with("<p>Jobs: no value above zero.</p>"), "{html}");
    // Columns of zeros are named in the note.
    let rows: [&[&str]; 2] = [&["014", "9", "0"], &["013", "3", "0.0"]];
    let header = ["sequence", "count", "not_finished"];
    let html = stored_table("Jobs", &table(&header, &rows), "", &Links::default(), &[], None);
    assert!(html.contains("; columns with only zeros are not shown: not finished</p>"), "{html}");
    assert_eq!(html.matches("</th>").count(), 2, "{html}");
    let html = stored_table("Jobs", &table(&header, &rows[..1]), "", &Links::default(), &[], None);
    assert_eq!(html.matches("</th>").count(), 3, "{html}");
    // A number that is a key keeps its row.
    let html = stored_table(
        "Kills",
        &table(&["threshold", "saved"], &[&["10", "0"]]),
        "",
        &Links::default(),
        &[],
        None,
    );
    assert!(html.contains(">10<"), "{html}");
}

#[test]
fn distributions_of_times_are_written_in_words() {
    let header = [
        "outcome", "count", "mean", "variance", "min", "p25", "median", "p75", "p90", "p99", "max",
        "unit", "censored", "at_least",
    ];
    let rows: [&[&str]; 2] = [
        &["all", "9", "7200", "4", "2", "1", "90", "300", "600", "7200", "86400", "s", "0", ""],
        &[
            "failed", "3", "600", "4", "2", "1", "9", "300", "600", "600", "7200", "s", "0",
            "mean,max",
        ],
    ];
    let html = stored_table("Waits", &table(&header, &rows), "", &Links::default(), &[], None);
    assert!(html.contains("<caption>Waits</caption>"), "{html}");
    assert!(html.contains(">2 h</td>") && html.contains(">90 s</td>"), "{html}");
    assert_eq!(html.matches("≥&nbsp;").count(), 2, "{html}");
    for gone in ["variance", "at least", "zeros"] {
        assert!(!html.contains(gone), "{gone}: {html}");
    }
}

#[test]
fn times_of_use_of_an_hour_or_more_are_shown_in_hours_and_sorted_by_seconds() {
    let shown = |header: &[&str], rows: &[&[&str]]| {
        stored_table("CPU", &table(header, rows), "", &Links::default(), &[], None)
    };
    let header = ["outcome", "cpu", "unit", "share"];
    let long = [["finished", "7200", "core-s", "0.5"], ["failed", "-1800", "core-s", "0.1"]];
    let html = shown(&header, &long.each_ref().map(|row| &row[..]));
    assert!(
        html.contains("<caption>CPU</caption>") && html.contains(">CPU (core\u{2011}h)<"),
        "{html}"
    );
    assert!(html.contains("data-value=\"7200\">2</td>"), "{html}");
    assert!(html.contains("data-value=\"-1800\">-0.5</td>"), "{html}");
    let short = [["finished", "720", "core-s", "0.5"]];
    let html = shown(&header, &short.each_ref().map(|row| &row[..]));
    assert!(html.contains(">CPU (core-s)<") && html.contains(">720</td>"), "{html}");
    // Rows with different units stay as they are in the file.
    let mixed = [["finished", "7200", "core-s", "0.5"], ["failed", "9", "GiB-s", "0.1"]];
    let html = shown(&header, &mixed.each_ref().map(|row| &row[..]));
    assert!(html.contains(">7,200</td>"), "{html}");
    // If a column names its unit, the unit is in its heading.
    let html = shown(&["ended", "lost_cpu_s", "running_s"], &[&["killed", "5400", "7200"]]);
    assert!(
        html.contains(">CPU time lost in outages that ended (h)</th>")
            && html.contains(">1.5</td>"),
        "{html}"
    );
    assert!(html.contains(">running, summed over tasks</th>") && html.contains(">2 h</td>"));
    let rows = [&["killed", "5400"][..]];
    let lost = table(&["ended", "lost_cpu_s"], &rows);
    let html = stored_table("Lost", &lost, "", &Links::default(), &[], Some("NCU-s"));
    assert!(html.contains(">CPU time lost in outages that ended (NCU\u{2011}h)</th>"), "{html}");
    // A capacity is not a time.
    let html = shown(&["cpu", "unit", "cpu_s"], &[&["4096", "core-s", "7200"]]);
    assert!(html.contains(">4,096</td>") && html.contains(">2</td>"), "{html}");
}

#[test]
fn measures_have_three_decimals_and_readable_headings() {
    let header = ["rule", "day", "auc"];
    let html = stored_table(
        "x",
        &table(&header, &[&["last", "17156", "0.501914"], &["last", "3", "0.25"]]),
        "",
        &Links::default(),
        &[],
        None,
    );
    assert!(html.contains(">0.502</td>") && html.contains(">area under ROC</th>"), "{html}");
    assert!(html.contains(">2016-12-21</td>") && html.contains(">3</td>"), "{html}");
}

#[test]
fn rules_of_a_prediction_come_by_how_they_rank_and_their_bins_are_folded() {
    let rows: [&[&str]; 3] = [&["last", "0.5"], &["class", ""], &["rate", "0.7"]];
    let mut rules = table(&["rule", "auc"], &rows);
    rules.file = "predict.csv".to_owned();
    let html = stored_table("Rules", &rules, "", &Links::default(), &[], None);
    let places = ["rate", "last", "class"];
    let places = places.map(|name| html.find(&format!(">{name}<")).unwrap());
    assert!(places.is_sorted() && !html.contains("<details"), "{html}");
    rules.file = "predict-calibration.csv".to_owned();
    let html = stored_table("Bins", &rules, "", &Links::default(), &[], None);
    assert!(html.starts_with("<details class=\"long\"><summary>Bins: 3 rows<"), "{html}");
}

#[test]
fn a_limit_of_copies_is_a_share_in_per_cent() {
    let header = ["detector", "budget", "lost_s", "lost_share", "earlier_s", "earlier_share"];
    let rows: [&[&str]; 1] = [&["flink", "0.005", "900", "0.004", "90", "0.03"]];
    let html = stored_table("Copies", &table(&header, &rows), "", &Links::default(), &[], None);
    assert!(html.contains(">0.50 %</td>"), "{html}");
    for heading in [
        ">slot time of copies that lost<",
        ">copies that lost, share of all slot time<",
        ">job time saved<",
        ">job time saved, share of all<",
    ] {
        assert_eq!(html.matches(heading).count(), 1, "{heading}: {html}");
    }
}

#[test]
fn jobs_with_a_page_come_by_their_running_time_without_columns_that_repeat() {
    let header = ["job_id", "outcome_sequence", "outcome_terminal", "tasks", "running_s"];
    let html = |other: &str, tasks: &str| {
        let rows: [&[&str]; 2] =
            [&["7", "failed", "failed", "1", "20"], &["8", "killed", other, tasks, "900"]];
        let own = Table { file: "jobs.csv".to_owned(), ..table(&header, &rows) };
        stored_table("Jobs", &own, "", &Links::default(), &[], None)
    };
    let short = html("killed", "1");
    assert!(short.find(">8<") < short.find(">7<") && short.contains(">8<"), "{short}");
    assert!(!short.contains("sequence") && !short.contains(">tasks<"), "{short}");
    let long = html("evicted", "2");
    assert!(long.contains("sequence") && long.contains("tasks"), "{long}");
    let both =
        !long.contains("evicted") && long.contains("only in the file: outcome by last event");
    assert!(both, "one column of outcomes: {long}");
    // The CPU time of a job says more than the running time of its tasks, if it is known for all
    // jobs.
    let html = |cpu: &str| {
        let rows: [&[&str]; 2] = [&["7", "7200", "NCU-s", "20"], &["8", cpu, "NCU-s", "900"]];
        let header = ["job_id", "requested_cpu", "unit", "running_s"];
        let own = Table { file: "jobs.csv".to_owned(), ..table(&header, &rows) };
        stored_table("Jobs", &own, "", &Links::default(), &[], None)
    };
    let known = html("3600");
    assert!(known.contains(">requested CPU (NCU\u{2011}h)<"), "{known}");
    assert!(!known.contains("running") && known.find(">7<") < known.find(">8<"), "{known}");
    assert!(html("").contains("running"), "{}", html(""));
}

#[test]
fn a_long_table_is_folded() {
    let rows: Vec<&[&str]> = vec![&["1"]; FOLDED_ABOVE + 1];
    let html = stored_table("Jobs", &table(&["count"], &rows), "", &Links::default(), &[], None);
    assert!(html.starts_with("<details class=\"long\"><summary>Jobs: 41 rows<"), "{html}");
    let curves =
        Table { file: "x-curves.csv".to_owned(), ..table(&["running_s"], &[&["7200"], &["1"]]) };
    let html = stored_table("Points", &curves, "", &Links::default(), &[], None);
    assert!(html.starts_with("<details class=\"long\"><summary>Points: 2 rows<"), "{html}");
    assert!(html.contains("data-value=\"7200\">2 h</td>"), "{html}");
    let longer = Table { row_count: 99, ..table(&["count"], &rows) };
    let html = stored_table("Jobs", &longer, "", &Links::default(), &[], None);
    assert!(html.contains("<summary>Jobs: 99 rows<"), "{html}");
    assert!(html.contains("the first 41 of 99 rows"), "{html}");
}

#[test]
fn rows_without_effect_are_folded_and_harm_comes_first() {
    let header = ["rule", "threshold", "net_cpu", "wait_s_mean", "harmed_jobs", "condemned_tasks"];
    let idle: [&str; 6] = ["events", "90", "0", "0", "0", "0"];
    let acts: [&str; 6] = ["failures", "1", "0", "0", "0", "9"];
    let rows: Vec<&[&str]> =
        vec![&["events", "10", "5.12345", "183.69", "2", "7"], &idle, &acts, &idle];
    let html = stored_table("Sweep", &table(&header, &rows), "", &Links::default(), &[], None);
    assert_eq!(html.matches("<tr class=\"idle\">").count(), 3, "{html}");
    assert!(html.contains("Show the 3 rows without effect"), "{html}");
    let place = |column: &str| html.find(&format!("data-column=\"{column}\"")).unwrap();
    assert!(place("threshold") < place("harmed_jobs"));
    assert!(place("harmed_jobs") < place("net_cpu"));
    assert!(html.contains("data-value=\"5.12345\">5.123<"), "{html}");
    assert!(html.contains("data-value=\"183.69\">3.06 min<"), "{html}");
    let html = stored_table("Sweep", &table(&header, &rows[1..]), "", &Links::default(), &[], None);
    assert!(!html.contains("class=\"idle\""), "{html}");
}

#[test]
fn lengths_are_in_words_and_variances_are_left_out() {
    let header = ["outcome", "unit", "mean", "p99", "variance", "variance_unit"];
    let rows: [&[&str]; 1] = [&["finished", "s", "7200", "18512.5", "466671", "s²"]];
    let html = stored_table("Waits", &table(&header, &rows), "", &Links::default(), &[], None);
    assert!(html.contains("<caption>Waits</caption>"), "{html}");
    assert!(html.contains(">2 h<") && html.contains(">5.14 h<"), "{html}");
    assert!(!html.contains("variance") && !html.contains("466"), "{html}");
}

proptest! {
    /// Every number except zero is on the page as often as in the table.
    #[test]
    fn no_number_is_lost(
        cells in prop::collection::vec(prop::collection::vec(prop_oneof![Just(0_u32), 1..9_u32], 3), 1..20),
    ) {
        let rows: Vec<Vec<String>> =
            cells.iter().map(|row| row.iter().map(u32::to_string).collect()).collect();
        let row_count = rows.len();
        let header = ["a", "b", "c"].map(str::to_owned).to_vec();
        let html = stored_table("x", &Table { file: "x.csv".to_owned(), header, rows, row_count }, "", &Links::default(), &[], None);
        for number in 1..9_u32 {
            let all = cells.iter().flatten().filter(|&&cell| cell == number).count();
            prop_assert_eq!(html.matches(&format!(">{number}</td>")).count(), all);
        }
    }
}

#[test]
fn a_plane_with_one_setting_repeats_the_table_above_it() {
    let header = ["rule", "harmed_jobs", "net_cpu", "is_on_front"];
    let of = |second: &str| {
        let rows: [&[&str]; 2] =
            [&["slurm:of=requested", "0", "7", "true"], &["events", "1", "9", second]];
        Table { file: "sweep-plane.csv".to_owned(), ..table(&header, &rows) }
    };
    let repeats = super::columns::repeats_others;
    assert!(repeats(&of("false")) && !repeats(&of("true")));
    let html = stored_table("Plane", &of("true"), "", &Links::default(), &[], None);
    assert!(html.contains(">share of the time limit<"), "{html}");
}
