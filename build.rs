//! Tells the program which commit it is built from.
//!
//! In: git, if it is installed and this folder is a repository. Out: the variable `JOBFATE_COMMIT`,
//! empty if the commit is unknown, with `-modified` if sources were changed.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src");
    println!("cargo:rustc-env=JOBFATE_COMMIT={}", commit().unwrap_or_default());
}

fn commit() -> Option<String> {
    // A copy of the sources inside another repository is not a commit of that repository.
    let top = git(&["rev-parse", "--show-toplevel"])?;
    let own = folder().canonicalize().ok()?;
    if Path::new(&top).canonicalize().ok()? != own {
        return None;
    }
    // HEAD changes with every checkout, its branch with every commit.
    let branch = git(&["symbolic-ref", "-q", "HEAD"]);
    for name in ["HEAD", "packed-refs"].into_iter().chain(branch.as_deref()) {
        let path = git(&["rev-parse", "--git-path", name])?;
        if Path::new(&path).exists() {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changes =
        git(&["status", "--porcelain", "--untracked-files=no", "--", "src", "Cargo.lock"])?;
    Some(if changes.is_empty() { commit } else { format!("{commit}-modified") })
}

/// The folder that is built, read at run time, because several folders may share a target folder.
fn folder() -> PathBuf {
    env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from("."), PathBuf::from)
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).current_dir(folder()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
