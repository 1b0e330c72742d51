//! GPUs as a resource: what is charged and shown, its unit, and the lakes without GPUs.

use std::fmt::Write;
use std::process::Command;

use proptest::prelude::*;

use super::engines::python;
use super::support::{Place, repository, skipped};

const PODS: &str = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,\
    creation_time,deletion_time,scheduled_time";

/// A lake of pods, and of nodes if there are some.
fn of_pods(pods: &[String], nodes: &[String]) -> Place {
    let place = Place::new();
    place.raw("openb_pod_list.csv", format!("{PODS}\n{}\n", pods.join("\n")));
    if !nodes.is_empty() {
        let nodes = format!("sn,cpu_milli,memory_mib,gpu,model\n{}\n", nodes.join("\n"));
        place.raw("openb_node_list.csv", nodes);
    }
    place.run(&["ingest", "trace", "--lake", "lake"]).ok();
    place
}

fn is_near(one: f64, other: f64) -> bool {
    // A request is stored as f32.
    (one - other).abs() <= 1e-6 * other.abs()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    /// Promise: `account`, `sweep` and `fairness` charge a pod its GPUs, or its share of one, times
    /// the time that it held them, as a sum over the lines shows, by phase and in total.
    #[test]
    fn pods_are_charged_the_gpus_that_they_hold(
        pods in prop::collection::vec((0_i64..500, 0_i64..2_000, 0_i64..9, 1_i64..=1_000, 0..4_usize), 1..40),
    ) {
        let phases = ["Succeeded", "Failed", "Running", "Pending"];
        let (mut lines, mut milli_s) = (Vec::new(), [0_i64; 4]);
        for (id, &(wait, run, gpus, milli, phase)) in pods.iter().enumerate() {
            // A share is of a single GPU.
            let milli = match gpus { 0 => 0, 1 => milli, _ => 1_000 };
            let (start, end) = (100 + wait, 100 + wait + run);
            let scheduled = if phase == 3 { String::new() } else { start.to_string() };
            lines.push(format!(
                "pod-{id},1000,1,{gpus},{milli},,LS,{},100,{end},{scheduled}", phases[phase]
            ));
            milli_s[phase] += if phase == 3 { 0 } else { gpus * milli * run };
        }
        #[expect(clippy::cast_precision_loss, reason = "small sums")]
        let gpu_s = milli_s.map(|sum| sum as f64 / 1_000.0);
        let total: f64 = gpu_s[..3].iter().sum();
        let place = of_pods(&lines, &[]);
        let asked = |command: &str, more: &[&str]| {
            let args = [&[command, "--cpu", "gpu-slots", "--format", "json"][..], more].concat();
            place.run(&args).ok().json()
        };
        let account = asked("account", &[]);
        prop_assert_eq!(&account["unit"], "GPU-s");
        prop_assert!(is_near(account["total"].as_f64().unwrap(), total), "{}, not {total}", account["total"]);
        let of = |name: &str| {
            let row = account["rows"].as_array().unwrap().iter().find(|row| row["outcome"] == name);
            row.unwrap()["cpu"].as_f64().unwrap()
        };
        for (name, expected) in [("finished", gpu_s[0]), ("failed", gpu_s[1]), ("killed", gpu_s[2])] {
            prop_assert!(is_near(of(name), expected), "{name}: {}, not {expected}", of(name));
        }
        let fairness = asked("fairness", &[]);
        prop_assert_eq!(&fairness["unit"], "GPU-s");
        prop_assert!(is_near(fairness["total_cpu_s"].as_f64().unwrap(), total));
        // A task that is condemned at its SCHEDULE saves all that it held.
        let sweep = asked("sweep", &["--thresholds", "1"]);
        prop_assert_eq!(&sweep["unit"], "GPU-s");
        for (name, expected) in [("failed", gpu_s[1]), ("killed", gpu_s[2])] {
            let saved = sweep["rows"][0]["saved_cpu"][name].as_f64().unwrap();
            prop_assert!(is_near(saved, expected), "{name}: {saved}, not {expected}");
        }
    }

    /// Promise: a job of Slurm that is suspended keeps its GPUs, and is charged for them.
    #[test]
    fn a_suspended_job_keeps_its_gpus(
        jobs in prop::collection::vec((1_i32..5_000, 0_i32..3_000, 0_i32..9), 1..30),
    ) {
        let (mut lines, mut gpu_s) = (String::new(), 0);
        for (id, &(run, suspended, gpus)) in jobs.iter().enumerate() {
            let end = 1_000 + run + suspended;
            let tres = if gpus == 0 { String::new() } else { format!(",gres/gpu:a100={gpus}") };
            writeln!(lines, "{id}|u|COMPLETED|1000|1000|{end}|{run}|4|cpu=4{tres}").unwrap();
            gpu_s += (run + suspended) * gpus;
        }
        let place = Place::new();
        let header = "JobID|User|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES";
        place.raw("log.sacct", format!("{header}\n{lines}"));
        place.run(&["ingest", "trace/log.sacct", "--lake", "lake"]).ok();
        let run = place.run(&["account", "--resource", "gpu", "--format", "json"]).ok().json();
        if gpu_s == 0 {
            // If no job names GPUs, it is unknown whether there were any.
            let found = run["total"].as_f64();
            prop_assert!(found.is_none_or(|found| found == 0.0), "{found:?}");
        } else {
            prop_assert_eq!(run["total"].as_f64().unwrap(), f64::from(gpu_s));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    /// Promise: in every interval, `load` has the GPUs that pods held and waited for, and those of
    /// the nodes. They equal a sum over pods and seconds, and all intervals add up to `account`.
    #[test]
    fn load_shows_the_gpus_held_in_every_interval(
        pods in prop::collection::vec((0_i64..300, 0_i64..200, 1_i64..500, 0_i64..9), 1..30),
        nodes in prop::collection::vec(0_i64..9, 1..6),
    ) {
        let (mut lines, mut spans) = (Vec::new(), Vec::new());
        for (id, &(submit, wait, run, gpus)) in pods.iter().enumerate() {
            let (start, end) = (submit + wait, submit + wait + run);
            let milli = if gpus == 1 { 250 } else { 1000 };
            lines.push(format!("p-{id},1000,1,{gpus},{milli},,LS,Failed,{submit},{end},{start}"));
            spans.push([submit, start, end, gpus * milli]);
        }
        let listed = nodes.iter().enumerate().map(|(id, gpus)| format!("n-{id},1000,1,{gpus},T4"));
        let place = of_pods(&lines, &listed.collect::<Vec<_>>());
        let args = ["load", "--resource", "gpu", "--interval", "100s", "--format", "json"];
        let json = place.run(&args).ok().json();
        let gpus: i64 = nodes.iter().sum();
        let mut total = 0.0;
        for row in json["rows"].as_array().unwrap() {
            let time = |name: &str| row[name].as_f64().unwrap();
            let (from, to) = (time("start_s"), time("end_s"));
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let mean = |first: usize| {
                let of = |pod: &[i64; 4]| {
                    let (begin, end) = (pod[first], pod[first + 1]);
                    ((end as f64).min(to) - (begin as f64).max(from)).max(0.0) * pod[3] as f64
                };
                spans.iter().map(of).sum::<f64>() / 1000.0 / (to - from)
            };
            let held = mean(1);
            prop_assert!(is_near(time("gpu_allocated"), held), "{row}: {held}");
            prop_assert!(is_near(time("gpu_pending"), mean(0)), "{row}");
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let all = gpus as f64;
            prop_assert!(is_near(time("gpu_capacity"), all));
            prop_assert!((time("gpu_free") - (all - held)).abs() < 1e-3);
            total += held * (to - from);
        }
        prop_assert!(is_near(json["totals"]["gpu_allocated_s"].as_f64().unwrap(), total));
        // The text says how many GPUs no pod held.
        let text = place.run(&["load", "--resource", "gpu", "--interval", "100s"]).ok().text();
        let last = json["rows"].as_array().unwrap().last().unwrap()["end_s"].as_f64().unwrap();
        let first = json["rows"][0]["start_s"].as_f64().unwrap();
        let milli: Vec<i64> = spans.iter().map(|pod| (pod[2] - pod[1]) * pod[3]).collect();
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let idle = gpus as f64 * (last - first) - milli.iter().sum::<i64>() as f64 / 1000.0;
        match text.split_once(" GPU-s were idle (held by no attempt)") {
            Some((said, _)) => {
                let said = said.rsplit(' ').next().unwrap().replace(',', "");
                let said: f64 = said.parse().unwrap();
                prop_assert!((said - idle).abs() <= 1e-5 * idle.abs().max(10.0), "{text}: {idle}");
            }
            None => prop_assert!(idle < 0.0 && text.contains("which is more"), "{text}: {idle}"),
        }
        let account = place.run(&["account", "--cpu", "gpu-slots", "--format", "json"]).ok().json();
        prop_assert_eq!(&account["total"], &json["totals"]["gpu_allocated_s"]);
    }
}

/// Promise: every sum of GPU time has the unit of GPU time, in text and charts, and no other unit.
#[test]
fn gpu_time_is_said_in_gpu_seconds() {
    let pods = ["a,4000,1,1,500,,LS,Succeeded,0,110,10", "b,4000,1,2,1000,,LS,Failed,0,110,10"];
    let place = of_pods(&pods.map(str::to_owned), &["n,8000,9,4,T4".to_owned()]);
    for command in ["account", "sweep", "fairness"] {
        let run =
            place.run(&[command, "--cpu", "gpu-slots", "--out", command, "--format", "json"]).ok();
        let mut said = vec![run.text()];
        for entry in std::fs::read_dir(place.path(command)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|end| end == "svg" || end == "json") {
                said.push(std::fs::read_to_string(path).unwrap());
            }
        }
        assert!(said.iter().any(|text| text.contains("GPU-s")), "{command}");
        for text in &said {
            for other in [
                "NCU-s",
                "core-s",
                "task-s",
                "CPU time",
                "CPU saved",
                "CPU of the machines",
                "cores",
            ] {
                assert!(!text.contains(other), "{command} says {other}: {text}");
            }
        }
    }
    place.run(&["report", "account", "fairness", "--out", "pages"]).ok();
    for page in ["outcomes.html", "fairness.html", "users/0001.html"] {
        let html = std::fs::read_to_string(place.path("pages").join(page)).unwrap();
        // For a single user, the page of fairness is one sentence.
        assert!(html.contains("GPU time") || html.contains("GPU-s"), "{page}: {html}");
        for other in
            ["CPU time in GPU-s", "CPU time by outcome (GPU-s)", "cores", "CPU time so far"]
        {
            assert!(!html.contains(other), "{page} says {other}: {html}");
        }
    }
    // 2.5 GPUs for 100 s of an interval of 200 s, of a node with 4.
    let args = ["fairness", "--cpu", "gpu-slots", "--interval", "200", "--show", "clusters"];
    let json = place.run(&[&args[..], &["--format", "json"]].concat()).ok().json();
    assert_eq!(json["total_cpu_s"], 250.0);
    assert_eq!(json["load"][0], 0.3125);
}

/// Promise: an analysis of a log with GPUs shows GPU time by outcome, as `account --resource gpu`
/// does. Without GPUs it does not mention GPU time.
#[test]
fn an_analysis_has_the_gpu_time_beside_the_cpu_time() {
    let pods = ["a,4000,1,1,500,,LS,Succeeded,0,110,10", "b,4000,1,2,1000,,LS,Failed,0,110,10"];
    let place = of_pods(&pods.map(str::to_owned), &["n,8000,9,4,T4".to_owned()]);
    let found = |place: &Place| {
        std::fs::write(place.path("few.toml"), "steps = [\"classify\", \"account\"]\n").unwrap();
        let args =
            ["analyze", "--lake", "lake", "--config", "few.toml", "--out", "found", "--quiet"];
        let said = place.run(&args).ok().text();
        let read = |name: &str| std::fs::read_to_string(place.path("found").join(name)).ok();
        (said, read("account-gpu.csv"), read("report/outcomes.html").unwrap())
    };
    let (said, table, page) = found(&place);
    let finding =
        "Of the 250 GPU-s that jobs used, 80.0 % are of failed jobs and 20.0 % of finished jobs";
    assert!(said.contains(finding), "{said}");
    let page_says = "Where did the GPU time go?";
    assert!(page.contains(page_says) && page.contains("GPU time (GPU-s)"), "{page}");
    let classes = ["--classes", "terminal"];
    let account = [&["account", "--resource", "gpu", "--out", "own", "--quiet"], &classes[..]];
    place.run(&account.concat()).ok();
    let own = std::fs::read_to_string(place.path("own/account-gpu.csv")).unwrap();
    assert_eq!(table, Some(own));
    let place = of_pods(&["a,4000,1,0,0,,LS,Succeeded,0,110,10".to_owned()], &[]);
    let (said, table, page) = found(&place);
    assert!(table.is_none() && !said.contains("GPU") && !page.contains(page_says), "{said}");
}

/// Promise: if no attempt records its GPUs (or CPUs, or memory), `account`, `sweep` and `fairness`
/// all report the used amount as unknown, not as 0.
#[test]
fn what_no_attempt_records_is_unknown_everywhere() {
    let place = Place::new();
    let lines =
        "JobID|User|State|Submit|Start|End\n1|ada|COMPLETED|10|20|90\n2|bob|FAILED|15|20|99\n";
    place.raw("log.sacct", lines);
    place.run(&["ingest", "trace/log.sacct", "--lake", "lake"]).ok();
    for (definition, sentence) in [
        (
            "gpu-slots",
            "The GPU time (gpu-slots) of all jobs is unknown: the log does not record the \
            GPUs of any of 2 attempts.",
        ),
        (
            "requested",
            "The CPU time (requested) of all jobs is unknown: the log does not record the \
            CPUs or processors of any of 2 attempts.",
        ),
    ] {
        for command in ["account", "sweep", "fairness"] {
            let run = place.run(&[command, "--cpu", definition]).ok();
            assert!(run.text().contains(sentence), "{command}: {}", run.text());
            let json = place.run(&[command, "--cpu", definition, "--format", "json"]).ok().json();
            for key in ["total", "total_cpu_s"] {
                assert!(json[key].is_null(), "{command}: {json}");
            }
        }
        let asked = |more: &[&str]| {
            place
                .run(&[&["sweep", "--cpu", definition, "--format", "json"], more].concat())
                .ok()
                .json()
        };
        let sweep = asked(&["--thresholds", "1"]);
        let row = &sweep["rows"][0];
        assert_eq!(
            (&row["harmed_jobs"], row["condemned_tasks"]["failed"].as_u64()),
            (&1.into(), Some(1))
        );
        for key in ["net_cpu", "net_share", "destroyed_cpu", "harmed_jobs_cpu"] {
            assert!(row[key].is_null(), "{key}: {row}");
        }
        assert!(row["saved_cpu"]["failed"].is_null() && sweep["total_cpu"]["failed"].is_null());
        assert_eq!(sweep["plane"], serde_json::json!([]));
        let csv = place.run(&["fairness", "--cpu", definition, "--format", "csv"]).ok();
        assert_eq!(csv.stdout_text().lines().count(), 1, "no user with 0: {}", csv.text());
    }
}

/// Promise: lakes of a source without GPUs are refused with one sentence.
#[test]
fn traces_without_gpus_are_refused() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    for command in ["account", "sweep", "fairness"] {
        let run = place.run(&[command, "--cpu", "gpu-slots"]);
        assert_eq!(run.code, Some(2), "{command}: {}", run.text());
        let sentence = "a trace of kind google-2011 records no GPUs";
        assert!(run.stderr.contains(sentence), "{command}: {}", run.stderr);
        assert!(run.stdout.is_empty(), "{command}");
    }
    let run = place.run(&["load", "--resource", "gpu"]);
    assert!(run.code == Some(2) && run.stderr.contains("records no GPUs"), "{}", run.text());
    assert!(!place.run(&["load", "--format", "json"]).ok().text().contains("gpu"));
    for (more, said) in [
        (&["--cpu", "slots"][..], "--cpu is for --resource cpu, and this is --resource gpu"),
        (
            &["--memory", "requested"],
            "--memory is for --resource memory, and this is --resource gpu",
        ),
    ] {
        for command in ["account", "fairness"] {
            let run = place.run(&[&[command, "--resource", "gpu"][..], more].concat());
            assert_eq!(run.code, Some(2), "{command}: {}", run.text());
            assert!(run.stderr.contains(said), "{command}: {}", run.stderr);
        }
    }
}

/// Promise: a model that a pod names twice counts once. Orders that book for every waiting task are
/// refused, for any seed that draws the GPUs.
#[test]
fn models_are_kept_and_bookings_refused_under_every_seed() {
    let pods = ["a,4000,1,1,1000,A|A,LS,Succeeded,0,110,10".to_owned()];
    for (model, is_started) in [("A", true), ("B", false)] {
        let place = of_pods(&pods, &[format!("n,8000,9,4,{model}"), "m,8000,9,4,C".to_owned()]);
        let run = place.run(&["replay", "--policies", "fifo"]).ok();
        assert_eq!(run.text().contains("never starts"), !is_started, "{model}: {}", run.text());
    }
    // Of 40 pods, 2 request a GPU: few samples contain one of them.
    let pod = |idx: usize| {
        let gpus = if idx < 2 { "1,1000" } else { "0,0" };
        format!("p{idx},1000,1,{gpus},,LS,Succeeded,{idx},{},{idx}", idx + 50)
    };
    let pods: Vec<String> = (0..40).map(pod).collect();
    let place = of_pods(&pods, &["n,8000,9,4,A".to_owned(), "m,8000,9,4,A".to_owned()]);
    for seed in ["1", "2", "3"] {
        let args = ["replay", "--sample", "0.3", "--seeds", "12", "--policies", "conservative"];
        let run = place.run(&[&args[..], &["--seed", seed]].concat());
        assert_eq!(run.code, Some(2), "{}", run.text());
        assert!(run.stderr.contains("but not the GPUs"), "{}", run.stderr);
    }
}

/// Promise: `--fragmentation` adds to a replay the free GPUs that tasks cannot use; without GPUs it
/// says so.
#[test]
fn a_replay_says_which_free_gpus_serve_no_task() {
    // One node of 2 GPUs: t1 holds a half, t2 requests both and waits, t3 requests none.
    let pods = [
        "pod-1,1000,1,1,500,,LS,Succeeded,0,100,0",
        "pod-2,1000,1,2,1000,,LS,Succeeded,0,200,100",
        "pod-3,1000,1,0,0,,LS,Succeeded,0,50,0",
    ];
    let place = of_pods(&pods.map(str::to_owned), &["node-1,64000,9999,2,A10".to_owned()]);
    let args = ["replay", "--policies", "fifo:depth=9", "--fragmentation", "--format", "json"];
    let json = place.run(&args).ok().json();
    let found = &json["policies"][0]["gpu_fragmentation"];
    assert_eq!(found["free_gpu_s"], 150.0);
    assert_eq!(found["fragmented_gpu_s"], 150.0, "pod-2 waits for a half too much");
    // pod-1 can use all of it, the two others can use nothing.
    assert_eq!(found["expected_gpu_s"], 100.0);
    assert_eq!(found["by_cause_gpu_s"], serde_json::json!([50.0, 0.0, 50.0, 0.0, 0.0]));
    let asked = [&args[..], &["--seeds", "2"]].concat();
    let seeds = place.run(&asked).ok().json();
    assert_eq!(seeds["policies"][0]["over_seeds"]["fragmented_gpu_share"]["mean"], 1.0);

    let place =
        of_pods(&["pod-1,1000,1,0,0,,LS,Succeeded,0,9,0".to_owned()], &["n,9000,9,0,".to_owned()]);
    let run = place.run(&["replay", "--fragmentation"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("--fragmentation is about GPUs"), "{}", run.stderr);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "replays all pods under four policies, with Python beside")]
fn fragmentation_of_the_real_pods_is_that_of_a_script() {
    let raw = repository().join("../shared/data/alibaba-gpu-2023");
    if !raw.exists() {
        return skipped("the traces are not beside this repository");
    }
    let Some(python) = python("pyarrow") else { return };
    let run = Command::new(python)
        .arg(repository().join("tests/scripts/gpu_fragmentation_crosscheck.py"))
        .args([env!("CARGO_BIN_EXE_jobfate"), raw.to_str().unwrap()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("4 of 4 policies equal"), "{said}");
}

/// Promise: simulated machines have the GPUs of their specification, and tasks of a log wait for them.
#[test]
fn simulated_machines_have_gpus() {
    let place = Place::new();
    let row = |id: u32, tres: &str| {
        format!(
            "{id}|COMPLETED|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T01:00:00|4|{tres}\n"
        )
    };
    let rows = [row(1, "cpu=4,gres/gpu=2"), row(2, "cpu=4"), row(3, "cpu=4,gres/gpu:v100=1")];
    place.raw(
        "gpus.txt",
        format!("JobID|State|Submit|Start|End|NCPUS|AllocTRES\n{}", rows.concat()),
    );
    place.run(&["ingest", "trace/gpus.txt", "--lake", "lake"]).ok();
    let run = |gpus: &str| {
        let cluster = format!("cluster:nodes=1,cpu=100{gpus}");
        place.run(&["replay", "--policies", "fifo", "--cluster", &cluster, "--format", "json"])
    };
    let waits = |gpus: &str| {
        let policy = run(gpus).ok().json()["policies"][0].clone();
        let mean = policy["metrics"]["waiting_s"]["mean"].as_f64().unwrap();
        (mean, policy["refused"].as_u64().unwrap())
    };
    assert_eq!(waits(""), (0.0, 0), "not checked");
    assert_eq!(waits(",gpus=3"), (0.0, 0));
    assert_eq!(waits(",gpus=2"), (1200.0, 0), "the third job waits for an hour");
    assert_eq!(waits(",gpus=1").1, 1, "two GPUs are on no machine");
    assert_eq!(run(",gpus=65").code, Some(2));
}

/// Promise: GPUs that tasks request and that no machine has are reported, not silently dropped.
#[test]
fn a_replay_of_a_log_whose_machines_record_no_gpus_says_that_they_are_not_checked() {
    let place = Place::new();
    let row = |id: u32, tres: &str| {
        format!(
            "{id}|COMPLETED|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T01:00:00|4|{tres}\n"
        )
    };
    let header = "JobID|State|Submit|Start|End|NCPUS|AllocTRES\n";
    let log = |tres: [&str; 3]| {
        let rows: String = (1..).zip(tres).map(|(id, tres)| row(id, tres)).collect();
        format!("{header}{rows}")
    };
    place.raw("gpus.txt", log(["cpu=4,gres/gpu=2", "cpu=4", "cpu=4,gres/gpu=1"]));
    place.raw("none.txt", log(["cpu=4", "cpu=4", "cpu=4"]));
    for (name, said) in [("gpus", Some("2 tasks ask for GPUs, but")), ("none", None)] {
        place.run(&["ingest", &format!("trace/{name}.txt"), "--lake", name]).ok();
        for policy in ["fifo", "conservative"] {
            let run = place.run(&["replay", "--lake", name, "--policies", policy]).ok();
            assert_eq!(run.text().contains("GPUs"), said.is_some(), "{name}: {}", run.text());
            assert!(said.is_none_or(|said| run.text().contains(said)), "{}", run.text());
        }
    }
}
