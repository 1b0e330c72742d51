//! Two programs on one lake. Without shards, one of them reports this and exits. Shards add up to a
//! single run, even if they are killed. A concurrent reader finds a complete lake.

use std::fs;
use std::process::{Child, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use jobfate::lake::{Lake, LakeErrorKind};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::resume::WIDE;
use super::support::{assert_same_files, now};

/// Pairs of programs without shards.
pub(crate) const PAIRS: usize = 30;

/// Pairs of shards, one of which is killed.
pub(crate) const SHARDS_KILLED: usize = 30;

const INGEST: [&str; 6] = ["ingest", "trace", "--buckets", "3", "--lake", "at-once"];

fn start(more: &[&str]) -> Child {
    let mut command = WIDE.command(&[&INGEST, more].concat());
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Removes the lake of the last round and runs `act`. At the end the lake must be that of an
/// undisturbed run.
fn round(act: impl FnOnce()) {
    let lake = WIDE.path("at-once");
    fs::remove_dir_all(&lake).ok();
    act();
    WIDE.run(&INGEST).ok();
    assert_same_files(&WIDE.path("whole"), &lake);
}

/// Whether the second program started while the first one ran.
fn the_second_leaves(after: Duration) -> bool {
    let first = start(&[]);
    thread::sleep(after);
    let second = start(&[]);
    let both = [first, second].map(|child| child.wait_with_output().unwrap());
    let refused: Vec<&Output> = both.iter().filter(|output| !output.status.success()).collect();
    assert!(refused.len() < 2, "{}\n{}", said(&both[0]), said(&both[1]));
    for output in &refused {
        assert_eq!(output.status.code(), Some(4), "{}", said(output));
        for words in ["another process is writing into the lake", "`--shard I/N`"] {
            assert!(said(output).contains(words), "{words} in {}", said(output));
        }
    }
    !refused.is_empty()
}

/// Whether the shard was killed while it ran.
fn a_killed_shard_goes_on(after: Duration) -> bool {
    let shards = [["--shard", "1/2"], ["--shard", "2/2"]];
    let [mut killed, other] = shards.map(|shard| start(&shard));
    thread::sleep(after);
    killed.kill().unwrap();
    let was_killed = !killed.wait().unwrap().success();
    let again = start(&shards[0]);
    for output in [other, again].map(|child| child.wait_with_output().unwrap()) {
        assert!(output.status.success(), "{}", said(&output));
    }
    was_killed
}

/// Opens the lake during a round, again and again, and reads every byte of it.
fn read_until(is_over: &AtomicBool) -> usize {
    let mut looks = 0;
    while !is_over.load(Ordering::Relaxed) {
        match Lake::open(WIDE.path("at-once")) {
            Ok(lake) => lake.check_sums().unwrap(),
            Err(error) => assert!(matches!(error.kind, LakeErrorKind::NoLake), "{error:?}"),
        }
        looks += 1;
    }
    looks
}

/// This is one test, because the rounds use the same lake one after the other.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn two_ingests_of_one_lake_leave_what_one_leaves() {
    let mut draws = ChaCha8Rng::seed_from_u64(12);
    // The fastest of three: other work on the machine makes a run longer, and then most later kills
    // would come after the end of the run.
    let takes = (0..3)
        .map(|_| {
            fs::remove_dir_all(WIDE.path("at-once")).ok();
            let begin = now();
            WIDE.run(&INGEST).ok();
            begin.elapsed()
        })
        .min()
        .unwrap();
    let (mut refused, mut killed) = (0, 0);
    for _ in 0..PAIRS {
        let after = takes.mul_f64(draws.random_range(0.0..0.4));
        round(|| refused += usize::from(the_second_leaves(after)));
    }
    assert!(PAIRS / 4 < refused, "{refused} pairs met");
    for _ in 0..SHARDS_KILLED {
        let after = takes.mul_f64(draws.random_range(0.0..0.4));
        round(|| {
            let is_over = AtomicBool::new(false);
            thread::scope(|scope| {
                let reader = scope.spawn(|| read_until(&is_over));
                killed += usize::from(a_killed_shard_goes_on(after));
                // The lake is also read while this run folds the shards.
                WIDE.run(&INGEST).ok();
                is_over.store(true, Ordering::Relaxed);
                assert!(0 < reader.join().unwrap());
            });
        });
    }
    assert!(SHARDS_KILLED / 4 < killed, "{killed} shards were killed at work");
}
