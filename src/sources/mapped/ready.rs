//! Maps that come with the program, for tables that many have.
//!
//! In: a name. Out: the text of a map, written from the columns as their authors publish them. None
//! was tried on the file itself: each says so.

/// A map that comes with the program.
#[derive(Clone, Copy, Debug)]
pub struct ReadyMap {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// The map.
    pub text: &'static str,
}

/// All of them.
pub const READY: [ReadyMap; 6] = [
    ReadyMap {
        name: "helios",
        about: "Helios, SenseTime's GPU clusters of 2020: cluster_log.csv",
        text: include_str!("ready/helios.toml"),
    },
    ReadyMap {
        name: "acme",
        about: "Acme, Shanghai AI Laboratory's clusters of 2023: trace_seren.csv, trace_kalos.csv",
        text: include_str!("ready/acme.toml"),
    },
    ReadyMap {
        name: "philly",
        about: "Philly, Microsoft's GPU cluster of 2017: cluster_job_log, one job a line",
        text: include_str!("ready/philly.toml"),
    },
    ReadyMap {
        name: "pai",
        about: "Alibaba's GPU cluster of 2020: pai_job_table.csv",
        text: include_str!("ready/pai.toml"),
    },
    ReadyMap {
        name: "f-data",
        about: "F-DATA, Fugaku 2021 to 2024: the Parquet files of its months",
        text: include_str!("ready/f-data.toml"),
    },
    ReadyMap {
        name: "pm100",
        about: "PM100, Marconi100 2020: job_table.parquet",
        text: include_str!("ready/pm100.toml"),
    },
];

/// The map of a name.
pub fn find(name: &str) -> Option<&'static ReadyMap> {
    READY.iter().find(|map| map.name == name)
}
