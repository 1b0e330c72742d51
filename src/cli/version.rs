//! Version, commit, and the formats that this build reads and writes.

use std::sync::LazyLock;

use clap::ValueEnum;

use super::Format;
use super::engine::Engine;
use jobfate::results::RESULT_VERSION;
use jobfate::schema::{FORMAT_VERSION, Source};

/// The commit of the build; empty if git did not provide it.
const COMMIT: &str = env!("JOBFATE_COMMIT");

static SHORT: LazyLock<String> = LazyLock::new(|| {
    let version = env!("CARGO_PKG_VERSION");
    if COMMIT.is_empty() { version.to_owned() } else { format!("{version} ({COMMIT})") }
});

static LONG: LazyLock<String> = LazyLock::new(|| {
    let sources: Vec<&str> = Source::ALL.into_iter().map(Source::name).collect();
    format!(
        "{}\ncommit: {}\nsources: {}\nengines: {}\nanswers: {}\nversions: lake {FORMAT_VERSION}, result {RESULT_VERSION}",
        env!("CARGO_PKG_VERSION"),
        if COMMIT.is_empty() { "unknown" } else { COMMIT },
        sources.join(" "),
        engines(),
        names::<Format>(),
    )
});

/// `0.1.0 (6c535bf12345)`.
pub(super) fn short() -> &'static str {
    SHORT.as_str()
}

/// The version, followed by a line for the commit and a line for each kind of feature.
pub(super) fn long() -> &'static str {
    LONG.as_str()
}

/// The engines that this build has.
fn engines() -> String {
    if cfg!(feature = "sql") { names::<Engine>() } else { "native spark".to_owned() }
}

/// The possible values of an option.
fn names<T: ValueEnum>() -> String {
    let values = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    values.map(|value| value.get_name().to_owned()).collect::<Vec<String>>().join(" ")
}
