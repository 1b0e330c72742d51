//! The help of `analyze`.
//!
//! In: the list of studies. Out: the text, which names each step and each section.

use super::{DEFINITIONS, TRACE, parts};
use crate::notation::listed;

/// The help of the command.
pub fn about() -> String {
    let steps: Vec<&str> = ["ingest"].into_iter().chain(parts::steps()).collect();
    let of_studies = parts::sections().map(|part| part.name);
    let of_studies = of_studies.filter(|name| ![TRACE, DEFINITIONS].contains(name));
    let sections: String = of_studies.map(|name| [", `", name, "`"].concat()).collect();
    format!(
        "Run the whole analysis of a trace\n\nRuns {}, with charts and a report that starts with the \
        findings. Steps for which a table is missing are skipped, with a message. Without \
        `TRACE_DIR`, --lake names the lake to analyse. Without both, a small synthetic trace is \
        made, so that you can look at all results before you download a trace. Completed steps are \
        kept: run the same command again to continue an analysis that was stopped. The folder of \
        --out holds one analysis. Only one process at a time can write into it.\n\n--config names a \
        TOML file with the whole analysis. It has a list `steps` and a section per command \
        (`{TRACE}` for `ingest`{sections}), whose keys are the options of the command. {} are in the \
        section `{DEFINITIONS}`, for all commands. Every analysis writes such a file with every \
        setting, `analysis.toml` in --out.\n\nMemory: 150 MB, and 170 bytes for each row of the \
        tables of events and usage in the lake's largest bucket, per thread; in addition 500 bytes \
        for each task that is replayed. If the trace is ingested first, that step takes the memory \
        named in the help of `ingest`.",
        listed(&steps),
        listed(&parts::SHARED)
    )
}
