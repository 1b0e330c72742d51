//! Fairness indices: custom and built-in indices, orders, shares, suggestions, priorities.

use std::fs;

use super::fairness::{no_machines, of, series, small};
use super::support::Place;

#[test]
fn indices_of_ones_own_are_named_and_compared_like_the_others() {
    let place = small();
    fs::write(place.path("condor.formula"), "let beta = 0.5 ^ (dt / 86400)\nstate rup = 0.5\nupdate rup = beta * rup + (1 - beta) * usage\ndisplay eup = rup\n").unwrap();
    let new = place.run(&[
        "fairness",
        "new",
        "bill.toml",
        "--template",
        "metered",
        "--set",
        "name=bill",
        "--set",
        "price=3600",
    ]);
    assert!(new.ok().stderr.contains("wrote bill.toml"));
    fs::write(place.path("last.sh"), LAST).unwrap();
    let all = series(
        &place,
        &[
            "--accrual",
            "end",
            "--index",
            "condor",
            "--index",
            "metered",
            "--formula",
            "own=condor.formula",
            "--index-file",
            "bill.toml",
            "--index-program",
            "last=sh last.sh",
        ],
    );
    for user in ["1", "2"] {
        assert_eq!(of(&all, "own", user, "eup"), of(&all, "condor", user, "eup"));
        assert_eq!(of(&all, "bill", user, "used"), of(&all, "metered", user, "rv"));
        assert_eq!(of(&all, "bill", user, "bill"), of(&all, "metered", user, "rv"));
    }
    assert_eq!(of(&all, "last", "1", "last"), [7200.0, 7200.0]);
    let compared = place.run(&[
        "fairness",
        "--what-if",
        "--index",
        "metered",
        "--formula",
        "own=condor.formula",
        "--format",
        "json",
        "--out",
        "out",
    ]);
    let compared = compared.ok().json();
    assert_eq!(compared["what_if"][0]["other"], "own");
    for file in [
        "result.json",
        "series.csv",
        "series.parquet",
        "fairness-own.svg",
        "fairness-own.png",
        "fairness-metered.svg",
    ] {
        assert!(place.path("out").join(file).is_file(), "{file}");
    }
}

/// Returns what each user used last.
const LAST: &str = r#"tab=$(printf '\t')
while IFS="$tab" read -r word user machine cpu rest; do case $word in
    begin) printf 'columns\tlast\n' ;;
    use) [ "$cpu" = 0 ] || printf 'value\t%s\t%s\n' "$user" "$cpu" ;;
    done) echo done ;;
esac; done"#;

#[test]
fn several_lakes_are_one_view_with_each_cluster_in_it() {
    let place = small();
    let args = [
        "fairness", "--lake", "one=lake", "--lake", "two=lake", "--show", "clusters", "--format",
        "csv",
    ];
    let merged = place.run(&args).ok();
    assert_eq!(
        merged.stdout_text(),
        "cluster,cpu_s,unit,share,users,heaviest,heaviest_share\n\
         one,21600.0,processor-s,0.5,2,1,0.6666666666666666\n\
         two,21600.0,processor-s,0.5,2,1,0.6666666666666666\n"
    );
    let users = place
        .run(&[&args[..5], &["--same-users", "no", "--show", "users", "--format", "csv"]].concat());
    let names: Vec<String> = users
        .ok()
        .stdout_text()
        .lines()
        .skip(1)
        .map(|line| line.split(',').next().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["one/1", "two/1", "one/2", "two/2"]);
}

#[test]
fn orders_are_compared_where_both_indices_tell_users_apart() {
    let place = no_machines();
    let pair = |index: &str| {
        // Both run in the last interval.
        let base = ["fairness", "--what-if", "--days", "0.4", "--format", "json"];
        let args = [&base[..], &["--index", "metered", "--index", index]].concat();
        place.run(&args).ok().json()["what_if"][0].clone()
    };
    let sge = pair("sge");
    assert_eq!((&sge["users"], &sge["spearman_end"]), (&2.into(), &1.0.into()), "{sge}");
    assert_eq!((&sge["users_moved"], &sge["most_places"]), (&0.into(), &0.0.into()), "{sge}");
    // No job waits, so both users share one place, which is half a place from their places in the
    // metered order.
    let slowdown = pair("slowdown");
    assert_eq!(slowdown["spearman_end"], serde_json::Value::Null, "{slowdown}");
    assert_eq!(
        (&slowdown["users_moved"], &slowdown["most_places"]),
        (&2.into(), &0.5.into()),
        "{slowdown}"
    );
}

/// The example of Slurm's manual for `FairShare=parent`: T is dissolved, so user 1 has half of the
/// shares and three quarters of the usage.
#[test]
fn an_account_with_parent_is_dissolved() {
    let place = Place::new();
    let job = |number: u32, run_s: u32| {
        format!("{number} 0 0 {run_s} 1 -1 -1 1 -1 -1 1 {number} 1 -1 1 1 -1 -1\n")
    };
    fs::write(place.path("two.swf"), format!("{}{}", job(1, 3000), job(2, 1000))).unwrap();
    fs::write(place.path("accounts.txt"), "T parent\nT/1 1\n2 1\n").unwrap();
    place.run(&["ingest", "two.swf", "--lake", "lake"]).ok();
    let all = series(
        &place,
        &[
            "--index",
            "fair-tree:half_life_s=0",
            "--index",
            "slurm:half_life_s=0",
            "--accounts",
            "accounts.txt",
        ],
    );
    let of = |index: &str, user: &str, column: &str| *of(&all, index, user, column).last().unwrap();
    assert_eq!(of("fair-tree:half_life_s=0", "1", "factor"), 0.5);
    assert_eq!(of("fair-tree:half_life_s=0", "2", "factor"), 1.0);
    assert_eq!(of("fair-tree:half_life_s=0", "1", "level_fs"), 0.5 / 0.75);
    assert_eq!(of("fair-tree:half_life_s=0", "2", "level_fs"), 0.5 / 0.25);
    assert_eq!(of("slurm:half_life_s=0", "1", "factor"), 2.0_f64.powf(-0.75 / 0.5));
    assert_eq!(of("slurm:half_life_s=0", "2", "factor"), 2.0_f64.powf(-0.25 / 0.5));
}

/// Promise: users of a file of accounts exist from the start, even if they never submit anything.
#[test]
fn an_index_of_all_compares_the_users_of_the_file() {
    let place = Place::new();
    let job = |number: u32, at_s: u32| {
        format!("{number} {at_s} 0 100 1 -1 -1 1 -1 -1 1 {number} 1 -1 -1 -1 -1 -1\n")
    };
    fs::write(place.path("two.swf"), format!("{}{}", job(1, 0), job(2, 100))).unwrap();
    fs::write(place.path("accounts.txt"), "A 1\nA/1 1\nA/2 1\nA/3 1\nA/4 0\n").unwrap();
    place.run(&["ingest", "two.swf", "--lake", "lake"]).ok();
    let index = "jain:window_s=86400,among=all";
    let more = ["--interval", "100", "--index", index, "--accounts", "accounts.txt"];
    let all = series(&place, &more);
    // User 1 alone of three, then 1 and 2 of three; user 4 is entitled to nothing.
    assert_eq!(of(&all, index, "", "jain")[..2], [1.0 / 3.0, 2.0 / 3.0]);
    assert_eq!(of(&all, index, "", "users")[..2], [3.0, 3.0]);
}

/// A user with running jobs has a share, regardless of when the jobs are charged.
#[test]
fn the_share_follows_from_what_runs_and_not_from_what_is_charged() {
    //  user 1 holds 468 processors for four hours, user 2 one of them in the first.
    let place = Place::new();
    let jobs = "1 0 0 14400 468 -1 -1 468 -1 -1 1 1 1 -1 1 1 -1 -1\n\
                2 0 0 3600 1 -1 -1 1 -1 -1 1 2 1 -1 1 1 -1 -1\n";
    fs::write(place.path("two.swf"), jobs).unwrap();
    place.run(&["ingest", "two.swf", "--lake", "lake"]).ok();
    for accrual in ["end", "running"] {
        for index in ["condor", "htcondor", "sge"] {
            let all = series(&place, &["--index", index, "--accrual", accrual]);
            let shares = of(&all, index, "1", "share");
            assert!(shares[..4].iter().all(|&share| 0.0 < share), "{index} {accrual}: {shares:?}");
            assert_eq!(shares[1..4], [1.0; 3], "{index} {accrual}: nobody else runs");
            let both = shares[0] + of(&all, index, "2", "share")[0];
            assert!((both - 1.0).abs() < 1e-12, "{index} {accrual}: {both}");
        }
        let all = series(&place, &["--index", "condor", "--accrual", accrual]);
        let charged = of(&all, "condor", "1", "charged_cpu_s");
        let each = 468.0 * 3600.0;
        let expected = if accrual == "end" {
            [0.0, 0.0, 0.0, 0.0, 4.0 * each]
        } else {
            [each, each, each, each, 0.0]
        };
        assert_eq!(charged, expected, "{accrual}");
    }
}

/// Suggestions compare running usage with running usage, regardless of when it is charged.
#[test]
fn suggestions_are_the_same_whenever_usage_is_charged() {
    let place = no_machines();
    let of = |accrual: &str| {
        let args = ["fairness", "--accrual", accrual, "--ceiling", "40%", "--early", "1"];
        let found = place.run(&[&args[..], &["--days", "0.3", "--format", "json"]].concat());
        found.ok().json()["suggestions"].clone()
    };
    assert_eq!(of("end"), of("running"));
    // 8 hours of 4 processors, and 2 hours of 1 processor: usage exceeds 40 % of 34 core-hours in
    // the fourth hour.
    assert_eq!(of("end")["hold_back"][0]["passed_at_s"], 4.0 * 3600.0);
    let ceiling = of("end")["limits"]["ceiling_cpu_s"].as_f64().unwrap();
    assert!((ceiling - 0.4 * 34.0 * 3600.0).abs() < 1e-6, "{ceiling}");
}

#[test]
fn a_priority_factor_is_of_a_user_and_a_machine() {
    let place = small();
    fs::write(place.path("factors.txt"), "user 1 2\nuser 2 on cluster lake 4\n").unwrap();
    let all = series(&place, &["--index", "condor:factors=factors.txt"]);
    let index = "condor:factors=factors.txt";
    for (user, anywhere, there) in [("1", 2.0, 2.0), ("2", 1.0, 4.0)] {
        let rup = of(&all, index, user, "rup");
        for (column, factor) in [("eup", anywhere), ("eup_on_cluster_lake", there)] {
            let expected: Vec<f64> = rup.iter().map(|rup| rup * factor).collect();
            assert_eq!(of(&all, index, user, column), expected, "{user} {column}");
        }
    }
    let last = |user: &str, column: &str| *of(&all, index, user, column).last().unwrap();
    // Both run in the last hour: shares on the machines are in proportion to 1/EUP there.
    let (one, two) = (last("1", "share_on_cluster_lake"), last("2", "share_on_cluster_lake"));
    let eups = (last("1", "eup_on_cluster_lake"), last("2", "eup_on_cluster_lake"));
    assert!((one + two - 1.0).abs() < 1e-12 && (one * eups.0 - two * eups.1).abs() < 1e-9);
}
