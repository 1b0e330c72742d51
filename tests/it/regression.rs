//! Faults that were found once and must not come back.

use std::fs;

use super::support::Place;

/// A fold of shards that was killed after the union was stored left every part listed twice.
#[test]
fn a_fold_of_shards_that_was_killed_half_way_is_finished() {
    let place = Place::new().with_golden_trace();
    let shard = |shard: &str| place.ingest(&["--shard", shard]).ok();
    shard("1/2");
    shard("2/2");
    let left =
        ["manifest-1-of-2.json", "manifest-2-of-2.json"].map(|name| place.path("lake").join(name));
    let kept = left.each_ref().map(|path| fs::read(path).unwrap());
    place.ingest(&[]).ok();
    let before = place.run(&["classify", "--format", "json"]).ok().stdout;
    for (path, bytes) in left.iter().zip(kept) {
        fs::write(path, bytes).unwrap();
    }
    assert_eq!(place.run(&["classify", "--format", "json"]).ok().stdout, before);
    place.ingest(&[]).ok();
    assert!(left.iter().all(|path| !path.exists()), "the fold is finished");
    assert_eq!(place.run(&["classify", "--format", "json"]).ok().stdout, before);
}

/// Shards of different counts ran side by side and stored parts twice.
#[test]
fn shards_of_another_count_wait() {
    let place = Place::new().with_golden_trace();
    fs::create_dir(place.path("lake")).unwrap();
    let lock = fs::File::create(place.path("lake").join(".lock-1-of-3")).unwrap();
    lock.try_lock().unwrap();
    let run = place.ingest(&["--shard", "1/2"]);
    assert_eq!(run.code, Some(4));
    assert!(run.stderr.contains("another process is writing"), "{}", run.stderr);
    drop(lock);
    place.ingest(&["--shard", "1/2"]).ok();
}

/// A SCHEDULE before the first SUBMIT made the wait reach to the end of the window.
#[test]
fn a_wait_ends_with_the_schedule_after_the_submit() {
    //  SCHEDULE 600 |---| FAIL 700   SUBMIT 710 ..10 s.. SCHEDULE 720 |---| FINISH 5000
    let place = Place::new();
    let event = |time: u32, kind: u32| format!("{time}000000,,1,0,,{kind},u,0,1,0.5,,,\n");
    let events =
        [(600, 1), (700, 3), (710, 0), (720, 1), (5000, 4)].map(|(time, kind)| event(time, kind));
    place.part("task_events", 0, events.concat());
    place.part("job_events", 0, "600000000,,1,0,u,0,n,l\n");
    place.ingest(&[]).ok();
    let answer = place.run(&["describe", "--what", "waiting", "--format", "json"]).ok().json();
    assert_eq!(answer["rows"][0]["max"], 10.0);
    assert_eq!(answer["rows"][0]["censored"], 0);
}

/// Hashes that begin with a plus were changed on their way into CSV.
#[test]
fn a_hash_in_csv_is_the_hash() {
    let place = Place::new();
    place.part("job_events", 0, "600,,1,0,+a/b=,0,=1+1,l\n");
    place.ingest(&[]).ok();
    let text = place.run(&["query", "q01", "--format", "csv"]).ok();
    assert!(text.stdout_text().contains(",+a/b=,'=1+1,"), "{}", text.stdout_text());
}

/// A threshold that was not on the grid gave an empty list.
#[test]
fn harmed_jobs_of_any_threshold_are_listed() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let harmed = |threshold: &str| {
        let args = [
            "sweep",
            "--cpu",
            "slots",
            "--thresholds",
            "10,20",
            "--harmed",
            threshold,
            "--format",
            "csv",
        ];
        place.run(&args).ok().stdout_text().lines().count() - 1
    };
    assert!(0 < harmed("1"));
    assert_eq!(harmed("400"), 0);
}
