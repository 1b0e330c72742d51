//! A whole analysis as one file: sections of TOML whose keys are the options of a command.
//!
//! In: the file and the command line. Out: the plan of every step, which is the struct that the
//! flags of its command fill in. An unknown key is an error.
//!
//! ```toml
//! steps = ["verify", "classify", "account", "sweep"]   # all of them by default
//!
//! [trace]
//! folder = "clusterdata-2011-2"
//! lake = "lake"
//! out = "reports/google-2011"
//!
//! [definitions]          # of every study that has them
//! cpu = "measured"
//!
//! [sweep]
//! rules = ["events", "failures"]
//! bootstrap = 1000
//! ```

use crate::answers::words::Section;

mod config;
pub mod help;
pub mod parts;
mod text;
pub mod usual;

pub use self::config::{Config, ConfigError};

/// The name of the section with the trace and the folders.
const TRACE: &str = "trace";

/// The name of the section with the definitions that several studies share.
pub const DEFINITIONS: &str = "definitions";

/// The first words of the file that `analyze` writes.
pub const FIRST_WORDS: &str = "# As run by";

/// Options of `[trace]` that are not options of `ingest`.
const PATHS: [&str; 3] = ["folder", "lake", "out"];

/// The options of `[trace]` that are also options of `ingest`.
fn without_paths(section: &Section) -> Section {
    let mut section = section.clone();
    section.retain(|name, _| !PATHS.contains(&name.as_str()));
    section
}
