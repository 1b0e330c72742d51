//! Maps that come with the program, for published tables.
//!
//! In: a name. Out: the text of a map, written from the published description of the columns. None
//! was tested on the real file, and each map says so.

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

/// A map by its name, and what it is for.
macro_rules! ready {
    ($name:literal, $about:literal) => {
        ReadyMap {
            name: $name,
            about: $about,
            text: include_str!(concat!("ready/", $name, ".toml")),
        }
    };
}

/// All maps.
pub const READY: [ReadyMap; 7] = [
    ready!("helios", "Helios, SenseTime's GPU clusters of 2020: cluster_log.csv"),
    ready!(
        "acme",
        "Acme, Shanghai AI Laboratory's clusters of 2023: trace_seren.csv, trace_kalos.csv"
    ),
    ready!("philly", "Philly, Microsoft's GPU cluster of 2017: cluster_job_log"),
    ready!("pai", "Alibaba's GPU cluster of 2020: pai_job_table.csv"),
    ready!("pai-joined", "PAI with the requests of its tasks, joined by DuckDB"),
    ready!("f-data", "F-DATA, Fugaku 2021 to 2024: the Parquet files of its months"),
    ready!("pm100", "PM100, Marconi100 2020: job_table.parquet"),
];

/// The map with a name.
pub fn find(name: &str) -> Option<&'static ReadyMap> {
    READY.iter().find(|map| map.name == name)
}
