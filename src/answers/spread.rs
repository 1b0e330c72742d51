//! Studies that are spread over the workers of a cluster; each worker has a range of buckets.
//!
//! In: questions about a lake. Out: the parts that the workers computed, merged into a study. A
//! worker runs this program and its sums are exact, so the answer has the same digits as on one
//! machine.
//!
//! ```text
//!  question ─► worker: buckets 0..4  ─► part ┐
//!           ─► worker: buckets 4..8  ─► part ├► study ─► answer
//!           ─► worker: buckets 8..12 ─► part ┘
//! ```

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::answers::definitions::Definitions;
use crate::answers::words::Section;
use crate::facts::FactError;
use crate::facts::spark::Spark;
use crate::facts::window::Windows;
use crate::fairness::gather::{Counts, Plan};
use crate::fairness::history::History;
use crate::faults::{Failure, Result, Usage};
use crate::lake::Lake;
use crate::sources::hex;
use crate::studies::episodes;
use crate::studies::fold::{Asked, Study, fold, fold_parts};
use crate::studies::load::Load;
use crate::studies::machines::ran::Sums;
use crate::studies::outcomes::Counter;
use crate::studies::samples::Samples;

/// The most parts of a study; this program is started once for each.
const PARTS_MAX: u32 = 32;

/// A study whose buckets can be folded in a shared pass or by workers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Errand {
    /// The ledger, with its section.
    Account(Section),
    /// Kill rules, with their section, and the threshold whose harmed jobs are listed.
    Sweep(Section, Option<i64>),
    /// Detectors, with their section.
    Detect(Section),
    /// Load over time, with its section; not for workers.
    Load(Section),
    /// Distributions, with their section; not for workers.
    Describe(Section),
    /// The outcomes of tasks; not for workers.
    Tasks,
    /// Counts of events over time, with their section; not for workers.
    Episodes(Section),
    /// The attempts that were running on machines when they left; not for workers.
    Machines,
    /// The usage of all users.
    Usage {
        /// How it is gathered.
        plan: Plan,
        /// The name of the lake.
        name: String,
        /// The shift that is added to its times, µs.
        shift_us: i64,
    },
}

impl Errand {
    /// Whether the errand can share a pass over the lake. Detectors need a separate pass.
    pub const fn shares_pass(&self) -> bool {
        !matches!(self, Self::Detect(_))
    }

    /// Whether the workers of a cluster can run the errand. The sums of the other errands cannot be
    /// sent.
    pub const fn is_for_workers(&self) -> bool {
        matches!(self, Self::Account(_) | Self::Sweep(..) | Self::Detect(_) | Self::Usage { .. })
    }
}

/// The question for the workers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Question {
    pub(super) version: String,
    pub(super) lake: PathBuf,
    /// A checksum of the lake, so that a worker refuses an older or newer copy.
    pub(super) known_by: String,
    pub(super) windows: Windows,
    pub(super) definitions: Definitions,
    /// The number of parts of each study.
    pub(super) parts: u32,
    pub(super) errands: Vec<Errand>,
}

/// The encoded parts of a study, by range of buckets.
#[derive(Clone, Debug)]
pub struct Parts(pub Vec<Vec<u8>>);

impl Parts {
    /// Decodes the parts.
    ///
    /// # Errors
    /// A part is not of this type.
    pub fn read<P: DeserializeOwned>(&self) -> Result<Vec<P>> {
        let read = |part: &Vec<u8>| postcard::from_bytes(part);
        let parts: Result<_, postcard::Error> = self.0.iter().map(read).collect();
        parts.map_err(|error| worker_failed(&error))
    }
}

pub(super) fn worker_failed(error: &postcard::Error) -> Failure {
    FactError::Spark {
        problem: format!("the part for a worker cannot be read or written: {error}"),
        hint: "the same version of this program must run on all workers",
    }
    .into()
}

/// Asks the workers of a Spark cluster, with all studies in one session.
///
/// # Errors
/// Spark or a worker fails.
pub fn ask(
    spark: &Spark,
    lake: &Lake,
    (windows, definitions): (Windows, Definitions),
    errands: Vec<Errand>,
) -> Result<Vec<Parts>> {
    let count = u32::try_from(errands.len()).expect("there are few studies");
    let parts = lake.bucket_count().clamp(1, PARTS_MAX);
    let question = Question {
        lake: spark.lake_folder(lake)?,
        ..Question::of(lake, (windows, definitions), parts, errands)
    };
    let found = spark.spread(lake, &serde_json::to_string(&question)?, count * parts)?;
    Ok(found.chunks(parts as usize).map(|parts| Parts(parts.to_vec())).collect())
}

/// The version of the encoding of parts. Raise it when a type in them changes.
const LAYOUT: u32 = 2;

/// The version that a worker must have: the versions of the program and of the encoding.
fn version() -> String {
    format!("{} (parts as of {LAYOUT})", env!("CARGO_PKG_VERSION"))
}

/// A checksum of a lake: of its number of buckets and the checksums of its parts.
fn known_by(lake: &Lake) -> String {
    let sums = lake.manifest.tables.iter().flat_map(|(table, entry)| {
        entry.parts.iter().map(move |part| format!("{table} {} {}\n", part.part, part.sha256))
    });
    let mut hasher = Sha256::new();
    hasher.update(format!("{}\n", lake.bucket_count()));
    sums.for_each(|sum| hasher.update(sum));
    hex(&hasher.finalize())
}

impl Question {
    /// A question for studies of a lake, each split into `parts` parts.
    pub fn of(
        lake: &Lake,
        (windows, definitions): (Windows, Definitions),
        parts: u32,
        errands: Vec<Errand>,
    ) -> Self {
        let (known_by, lake) = (known_by(lake), lake.path.clone());
        Self { version: version(), lake, known_by, windows, definitions, parts, errands }
    }

    /// Opens the lake.
    ///
    /// # Errors
    /// The lake cannot be opened, or its parts differ from those of the lake in the question.
    pub(super) fn open(&self) -> Result<Lake> {
        let lake = Lake::open(&self.lake)?;
        if known_by(&lake) == self.known_by {
            return Ok(lake);
        }
        let text = format!(
            "the lake `{}` of this worker has other parts than the one that is asked about",
            self.lake.display()
        );
        Err(Usage(text).into())
    }

    /// Reads a question.
    ///
    /// # Errors
    /// The text is not a question, or another version of this program wrote it.
    pub fn read(text: &str) -> Result<Self> {
        let question: Self = serde_json::from_str(text)?;
        let (own, its) = (version(), &question.version);
        if own == *its {
            return Ok(question);
        }
        let text = format!(
            "this worker has version {own}, but the program that started it has \
        version {its}"
        );
        Err(Usage(text).into())
    }
}

/// The results of one pass over the lake, by study, until the steps take them.
#[derive(Default)]
pub struct Folded(Mutex<BTreeMap<&'static str, Made>>);

/// The result of a pass for one study.
pub(super) enum Made {
    /// The outcomes that the study needs.
    Outcomes(Box<Study>),
    /// The usage of all users.
    Usage(Box<(History, Counts)>),
    /// Load over time.
    Load(Box<Load>),
    /// The values of distributions.
    Samples(Vec<Samples>),
    /// The outcomes of tasks.
    Tasks(Box<Counter>),
    /// Counts of events over time.
    Episodes(Box<episodes::Counts>),
    /// The attempts that were running on machines when they left.
    Machines(Box<Sums>),
}

impl Folded {
    pub(super) fn of(made: impl Iterator<Item = (&'static str, Made)>) -> Self {
        Self(Mutex::new(made.collect()))
    }

    /// Takes the outcomes of a study; `None` if there are none, or if they were taken before.
    pub fn outcomes(&self, name: &str) -> Option<Study> {
        match self.take(name)? {
            Made::Outcomes(study) => Some(*study),
            _ => None,
        }
    }

    /// Takes the usage that was gathered for a study; `None` as for `outcomes`.
    pub fn usage(&self, name: &str) -> Option<(History, Counts)> {
        match self.take(name)? {
            Made::Usage(usage) => Some(*usage),
            _ => None,
        }
    }

    /// Takes the load that was added up for a study; `None` as for `outcomes`.
    pub fn load(&self, name: &str) -> Option<Load> {
        match self.take(name)? {
            Made::Load(load) => Some(*load),
            _ => None,
        }
    }

    /// Takes the values of the distributions of a study; `None` as for `outcomes`.
    pub fn samples(&self, name: &str) -> Option<Vec<Samples>> {
        match self.take(name)? {
            Made::Samples(samples) => Some(samples),
            _ => None,
        }
    }

    /// Takes the outcomes of tasks that were counted for a study; `None` as for `outcomes`.
    pub fn tasks(&self, name: &str) -> Option<Counter> {
        match self.take(name)? {
            Made::Tasks(counter) => Some(*counter),
            _ => None,
        }
    }

    /// Takes the counts of events over time that were made for a study; `None` as for `outcomes`.
    pub fn counts(&self, name: &str) -> Option<episodes::Counts> {
        match self.take(name)? {
            Made::Episodes(counts) => Some(*counts),
            _ => None,
        }
    }

    /// Takes the attempts that were running on machines when they left; `None` as for `outcomes`.
    pub fn machines(&self, name: &str) -> Option<Sums> {
        match self.take(name)? {
            Made::Machines(sums) => Some(*sums),
            _ => None,
        }
    }

    fn take(&self, name: &str) -> Option<Made> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(name)
    }
}

/// The outcomes of a lake. They are merged from the parts of workers if there are any, otherwise
/// folded here.
///
/// # Errors
/// The same errors as for [`fold`], or a part cannot be read.
pub fn study(lake: &Lake, windows: Windows, asked: &Asked, parts: Option<&Parts>) -> Result<Study> {
    match parts {
        None => Ok(fold(lake, windows, asked)?),
        Some(parts) => Ok(fold_parts(lake, asked, parts.read::<Study>()?)),
    }
}
