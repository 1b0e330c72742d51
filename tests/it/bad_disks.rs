//! Folders that cannot be written and full disks: an error with a hint, and the next run continues.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use insta::assert_snapshot;

use super::support::{LINE, Place, Run, assert_repaired, assert_same_files, skipped, tree};

#[test]
fn a_lake_that_cannot_be_a_folder() {
    let place = Place::new();
    place.part("job_events", 0, LINE);
    fs::write(place.path("lake"), "").unwrap();
    assert_snapshot!(place.ingest(&[]).text(), @r"
        exit code: 2
        --- stdout
        --- stderr
        error: could not use `lake`
        cause: reading or writing failed
        cause: File exists (os error 17)
        hint: a file has that name; give a folder with `--lake`
    ");
    fs::remove_file(place.path("lake")).unwrap();
    assert_repaired(&place, &[]);
}

/// A small separate file system that exists during the test.
struct Mount(std::path::PathBuf);

impl Mount {
    /// Mounts `options` at `path`; prints a message and returns `None` if that is not allowed.
    fn new(path: &Path, options: &str) -> Option<Self> {
        fs::create_dir_all(path).unwrap();
        let is_done = mount(&["-t", "tmpfs", "-o", options, "tmpfs"], path);
        if !is_done {
            skipped("a small file system cannot be mounted here (needs root)");
        }
        is_done.then(|| Self(path.to_owned()))
    }

    fn remount(&self, options: &str) {
        assert!(mount(&["-o", &format!("remount,{options}")], &self.0));
    }
}

fn mount(args: &[&str], path: &Path) -> bool {
    let run = Command::new("mount").args(args).arg(path).stderr(Stdio::null()).status();
    run.is_ok_and(|status| status.success())
}

impl Drop for Mount {
    fn drop(&mut self) {
        // A folder that stays mounted disappears with the test machine.
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_lake_that_is_read_only() {
    let place = Place::new();
    place.part("job_events", 0, LINE);
    let Some(mount) = Mount::new(&place.path("lake"), "ro,size=1m") else { return };
    assert_snapshot!(place.ingest(&[]).text(), @r"
        exit code: 4
        --- stdout
        --- stderr
        error: could not use `lake/.lock`
        cause: reading or writing failed
        cause: Read-only file system (os error 30)
        hint: give a folder that you may write to with `--lake`
    ");
    mount.remount("rw");
    assert_repaired(&place, &[]);
}

#[test]
fn a_disk_that_is_full() {
    let place = Place::new();
    place.run(&["synth", "trace", "--jobs", "150", "--days", "0.5", "--parts", "4"]).ok();
    place.run(&["ingest", "trace", "--lake", "undisturbed"]).ok();
    let need: usize = tree(&place.path("undisturbed")).values().map(Vec::len).sum();
    let full = |size: usize| format!("size={size}");
    let Some(mount) = Mount::new(&place.path("lake"), &full(need / 4)) else { return };
    let check = |run: &Run| {
        assert_eq!(run.code, Some(4), "{}", run.stderr);
        assert!(run.stderr.contains("hint: free some space"), "{}", run.stderr);
    };
    // The error comes before anything is written; with `--force` the disk fills up, and a later run
    // continues.
    let refused = place.ingest(&[]);
    assert_eq!(refused.code, Some(4), "{}", refused.stderr);
    assert!(refused.stderr.contains("of disk, but only"), "{}", refused.stderr);
    assert!(refused.stderr.contains("`--force` starts anyway"), "{}", refused.stderr);
    check(&place.ingest(&["--force"]));
    mount.remount(&full(need / 2));
    check(&place.ingest(&["--force"]));
    mount.remount(&full(need * 3));
    place.ingest(&[]).ok();
    assert_same_files(&place.path("undisturbed"), &place.path("lake"));
}
