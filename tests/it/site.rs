//! `fairness --slurm-conf` and shares of a site: on the real log, factors equal those of an
//! independent computation, for each format of both files. Faulty files are refused with the line
//! of the fault.

use std::process::Command;

use super::engines::python;
use super::support::{Place, repository, skipped};

/// The users of the real log with their accounts, and one user with two accounts.
const USERS: [(&str, &str); 19] = [
    ("balsh", "sancr"),
    ("calla", "reebu"),
    ("calla", "sarwa"),
    ("calla", "shag1"),
    ("calla", "turdo"),
    ("caste", "litst"),
    ("caste", "ovenb"),
    ("caste", "sante"),
    ("caste", "savsp"),
    ("caste", "swath"),
    ("caste", "ybsbu"),
    ("field", "field"),
    ("field", "lanhach"),
    ("field", "velsc"),
    ("ibech", "grath"),
    ("savwa", "yebbu"),
    ("taifl", "honbu"),
    ("taifl", "yebsa"),
    ("calla", "yebsa"),
];

/// Accounts with their parent and shares; all are below `science` or the root.
const ACCOUNTS: [(&str, &str, &str); 8] = [
    ("science", "root", "70"),
    ("balsh", "science", "5"),
    ("calla", "science", "30"),
    ("caste", "science", "20"),
    ("field", "root", "10"),
    ("ibech", "root", "3"),
    ("savwa", "root", "7"),
    ("taifl", "root", "40"),
];

/// The shares of a user, by place: numbers, 0, and the shares of the account.
fn shares(place: usize) -> &'static str {
    ["1", "5", "parent", "2", "0", "1"][place % 6]
}

/// The accounts directly below one.
fn below(above: &str) -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
    ACCOUNTS.iter().filter(move |account| account.1 == above)
}

/// The users of an account with their shares.
fn users_of(account: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let all = USERS.iter().enumerate().filter(move |(_, one)| one.0 == account);
    all.map(|(place, (_, user))| (*user, shares(place)))
}

/// In the format of `sacctmgr dump`.
fn dump() -> String {
    let mut lines = vec![
        "# To edit this file start with a cluster line for the new cluster".to_owned(),
        "Cluster - 'pozidriv':Fairshare=1:QOS='normal'".to_owned(),
    ];
    for above in std::iter::once("root").chain(ACCOUNTS.map(|account| account.0)) {
        lines.push(format!("Parent - '{above}'"));
        if above == "root" {
            let admin = "DefaultAccount='root':AdminLevel='Administrator':Fairshare=1";
            lines.push(format!("User - 'root':{admin}"));
        }
        for (name, _, own) in below(above) {
            let what = format!("Description='{name}':Organization='x':Fairshare={own}");
            lines.push(format!("Account - '{name}':{what}"));
        }
        for (user, own) in users_of(above) {
            let own = own.replace("parent", "2147483647");
            lines.push(format!("User - '{user}':DefaultAccount='{above}':Fairshare={own}"));
        }
    }
    lines.join("\n")
}

/// The lines of `sshare` below an account, an indent for each level.
fn sshare_below(above: &str, depth: usize, lines: &mut Vec<String>) {
    let (indent, rest) = (" ".repeat(depth), "0.000000|0|0.000000|0.000000||0.000000||cpu=0");
    for (name, _, own) in below(above) {
        lines.push(format!("{indent}{name}||{own}|{rest}"));
        for (user, own) in users_of(name) {
            lines.push(format!("{indent} {name}|{user}|{own}|{rest}"));
        }
        sshare_below(name, depth + 1, lines);
    }
}

/// The same in the format of `sshare -a -l -P`.
fn sshare() -> String {
    let columns =
        "NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS|GrpTRESMins|TRESRunMins";
    let mut lines = vec![
        format!("Account|User|RawShares|{columns}"),
        "root|||0.000000|0||1.000000||||cpu=0".to_owned(),
        " root|root|1|0.000000|0|0.000000|0.000000|1.000000|inf||cpu=0".to_owned(),
    ];
    sshare_below("root", 1, &mut lines);
    lines.join("\n")
}

const CONFS: [&str; 4] = [
    "PriorityType=priority/multifactor\nPriorityFlags=NO_FAIR_TREE\nPriorityDecayHalfLife=2-0\n\
     FairShareDampeningFactor=3\n",
    "PriorityFlags=FAIR_TREE,MAX_TRES\nPriorityDecayHalfLife=14-0\nPriorityWeightFairshare=1000\n",
    "PriorityUsageResetPeriod=WEEKLY # and the usual half-life\n",
    "PriorityFlags=NO_FAIR_TREE\nPriorityDecayHalfLife=0\nPriorityUsageResetPeriod=MONTHLY\n",
];

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn factors_are_those_of_the_files_of_the_site() {
    let log = repository().join("../shared/data/slurm/pozidriv.sacct.gz");
    if !log.exists() {
        return skipped("there is no real log at `../shared/data/slurm/pozidriv.sacct.gz`");
    }
    let Some(python) = python("csv") else { return };
    let place = Place::new();
    let log = log.to_string_lossy().into_owned();
    place.run(&["ingest", &log, "--lake", "lake"]).ok();
    place.raw("dump.txt", dump());
    place.raw("sshare.txt", sshare());
    let script = repository().join("tests/scripts/fair_share_crosscheck.py");
    for (number, conf) in CONFS.iter().enumerate() {
        place.raw("slurm.conf", conf);
        let shares = ["trace/dump.txt", "trace/sshare.txt"][number % 2];
        let args = [env!("CARGO_BIN_EXE_jobfate"), "lake", &log, "trace/slurm.conf", shares];
        let run =
            Command::new(&python).arg(&script).args(args).current_dir(place.path(".")).output();
        let run = run.expect("Python is there");
        let said = [run.stdout, run.stderr].concat();
        assert!(run.status.success(), "{conf}{}", String::from_utf8_lossy(&said));
    }
    // Both formats give the same bytes, and a note names the user with two accounts.
    let series = |shares: &str| {
        let args = ["fairness", "--slurm-conf", "trace/slurm.conf", "--accounts", shares];
        place.run(&[&args[..], &["--show", "series", "--format", "csv"]].concat()).ok()
    };
    let (one, other) = (series("trace/dump.txt"), series("trace/sshare.txt"));
    assert!(one.stdout_text() == other.stdout_text());
    assert!(one.stderr.contains("1 user with several accounts"), "{}", one.stderr);
    // A separate check: the rule of the file gives the same as its notation.
    let conf =
        place.run(&["fairness", "--slurm-conf", "trace/slurm.conf", "--format", "json"]).ok();
    let index = "slurm:half_life_s=0,reset=monthly";
    let named = place.run(&["fairness", "--index", index, "--format", "json"]).ok();
    assert_eq!(conf.json()["users"], named.json()["users"]);
}

#[test]
fn usage_is_reset_by_the_date_of_the_log_and_not_by_its_clock() {
    let place = Place::new();
    // 15 January 2005 in UTC, and ten and twenty days later.
    let jobs = [0, 10, 20].map(|day| {
        format!("{} {} 0 3600 4 -1 -1 4 -1 -1 1 1 7 -1 -1 -1 -1 -1\n", day + 1, day * 86_400)
    });
    let log = format!("; MaxProcs: 4\n{}", jobs.concat());
    place.raw("undated.swf", &log);
    place.raw("dated.swf", format!("; UnixStartTime: 1105747200\n{log}"));
    for name in ["dated", "undated"] {
        place.run(&["ingest", &format!("trace/{name}.swf"), "--lake", name]).ok();
    }
    let run = |lake: &str, more: &[&str]| {
        let args = ["fairness", "--lake", lake, "--index", "slurm:half_life_s=0,reset=monthly"];
        let form = ["--interval", "86400", "--show", "series", "--format", "csv"];
        place.run(&[&args[..], &form, more].concat())
    };
    for align in ["clock", "start"] {
        let run = run("dated", &["--align", align]).ok();
        let last = run.stdout_text().lines().rfind(|line| line.contains(",raw_usage,"));
        assert!(last.unwrap().ends_with(",raw_usage,14400.0"), "{last:?}");
    }
    // The clocks of two lakes: one begins in 2005; the date of the other is unknown.
    let both = |align: &str| {
        let args = ["fairness", "--lake", "dated", "--lake", "undated", "--align", align];
        place.run(&[&args[..], &["--interval", "86400"]].concat()).ok().stderr
    };
    assert!(both("clock").contains("do not begin at the same instant"), "{}", both("clock"));
    assert!(!both("start").contains("do not begin at the same instant"));
    let undated = run("undated", &[]);
    assert_eq!(undated.code, Some(2));
    assert!(undated.stderr.contains("reads dates"), "{}", undated.stderr);
}

#[test]
fn a_faulty_file_of_a_site_is_refused_with_its_line() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let check = |text: &str, flag: &str, said: &str| {
        place.raw("site.txt", text);
        let run = place.run(&["fairness", "--cpu", "slots", flag, "trace/site.txt"]);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(said), "{}", run.stderr);
    };
    let half_life = "ClusterName=c\nPriorityDecayHalfLife=soon\n";
    check(half_life, "--slurm-conf", "line 2: PriorityDecayHalfLife: `soon` is not a time");
    check(
        "PriorityFlags=DEPTH_OBLIVIOUS",
        "--slurm-conf",
        "line 1: PriorityFlags: DEPTH_OBLIVIOUS",
    );
    let dumped = dump().replace("Fairshare=30", "Fairshare=many");
    check(&dumped, "--accounts", "`many` is neither a whole number of shares nor `parent`");
    check(&sshare().replacen("|cpu=0", "", 1), "--accounts", "line 2: 10 fields");
}

/// Promise: `analyze --slurm-conf --accounts` computes the site's factors as `fairness` with the same
/// files does.
#[test]
fn an_analysis_takes_the_rule_and_the_shares_of_a_site() {
    let place = Place::new();
    let header = "JobID|Account|User|Submit|Start|End|State|NCPUS|NodeList\n";
    let job = |id: u32, who: &str, hours: u32| {
        let (day, at) = ("2024-01-15T", "2024-01-15T08:00:00");
        format!("{id}|{who}|{at}|{at}|{day}{:02}:00:00|COMPLETED|2|n1\n", 8 + hours)
    };
    let jobs = [job(1, "physics|ada", 3), job(2, "biology|bob", 1)].concat();
    place.raw("log.sacct", header.to_owned() + &jobs);
    place.raw("slurm.conf", "PriorityType=priority/multifactor\nPriorityDecayHalfLife=7-0\n");
    place.raw("shares", "physics 60\nphysics/ada 1\nbiology 40\nbiology/bob 1\n");
    let files = ["--slurm-conf", "trace/slurm.conf", "--accounts", "trace/shares"];
    let args = ["analyze", "trace/log.sacct", "--out", "found", "--quiet"];
    place.run(&[&args[..], &files].concat()).ok();
    let text = std::fs::read_to_string(place.path("found/fairness/result.json")).unwrap();
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    let args = ["fairness", "--lake", "found/lake", "--format", "json"];
    let alone = place.run(&[&args[..], &files].concat()).ok().json();
    let indices = found["answer"]["indices"].as_array().unwrap().iter();
    let names: Vec<&str> = indices.map(|index| index["index"].as_str().unwrap()).collect();
    assert_eq!(names, ["fair-tree:half_life_s=604800", "metered", "condor"]);
    assert_eq!(found["answer"]["indices"][0], alone["indices"][0]);
}
