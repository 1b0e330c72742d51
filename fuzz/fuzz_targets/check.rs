//! Runs the check that the environment variable `FUZZ_TARGET` names.

#![no_main]

use std::sync::LazyLock;

use jobfate::fuzzing::{Target, targets};
use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let found = targets().into_iter().find(|target| target.name == name);
    found.unwrap_or_else(|| panic!("FUZZ_TARGET=`{name}` is not the name of a file in fuzz/corpus"))
});

fuzz_target!(|input: &[u8]| TARGET.check(input));
