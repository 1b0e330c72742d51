//! The answer of `account`: a ledger as table, JSON and bars.
//!
//! In: a ledger. Out: its rows, the line that shows that the parts add up to the total, and what
//! was counted as 0.

mod answer;
mod charts;
mod details;
mod lines;
mod plan;
mod result;
mod step;
mod tables;

use crate::answers::sentences::Ends;
use crate::results::envelope::Envelope;
use crate::results::kind::Kind;
use crate::results::shares::{Share, share};
use crate::schema::{STARTS, Table};
use crate::studies::meter::{Meter, Resource};

pub use answer::AccountAnswer;
pub(crate) use charts::chart;
pub use details::put_details;
pub(crate) use details::words as end_in_words;
pub(crate) use lines::cpu_time_line;
pub use lines::lines;
pub use plan::{AccountPlan, CpuChoice};
pub use result::answer;
pub(crate) use result::unknown_of;
pub(crate) use step::STEP;
pub(crate) use tables::keyed;
pub use tables::table_of;

/// The shares in a ledger.
pub const SHARES: [Share; 2] = [
    share(
        "share",
        "cpu (or memory) of the row",
        "total: outcomes, unmatched and outside_attempts together",
    ),
    share("largest_job_share", "largest cpu (or memory) of one job", "cpu (or memory) of the row"),
];

/// CPU time.
const OF_CPU: Kind<'static> = Kind {
    tables: &[Table::JobEvents, Table::TaskEvents],
    remarks: &["status ", STARTS],
    meters: true,
    sentence: Some(sentence),
    quality: Some(|it| it.found::<AccountAnswer>()?.closed()),
    names: Some(|it| it.found().map(AccountAnswer::names).unwrap_or_default()),
    figure: Some("account-"),
    captions: &[
        ("account-ends", "CPU time by how attempts ended"),
        ("account-reasons", "CPU time by the reason of the end"),
    ],
    ..Kind::called("account", "CPU time by outcome").holding::<AccountAnswer>()
};

/// The results: CPU time, memory time, and GPU time.
pub static KINDS: [Kind<'static>; 3] = [
    OF_CPU,
    Kind {
        tables: OF_CPU.tables,
        meters: true,
        captions: &[("account-memory-reasons", "Memory time by the reason of the end")],
        ..Kind::called("account-memory", "Memory time by outcome").holding::<AccountAnswer>()
    },
    Kind {
        name: "account-gpu",
        caption: Some("GPU time by outcome"),
        figure: Some("account-gpu-"),
        captions: &[
            ("account-gpu-ends", "GPU time by how attempts ended"),
            ("account-gpu-reasons", "GPU time by the reason of the end"),
        ],
        ..OF_CPU
    },
];

fn sentence(of: &Envelope) -> Option<String> {
    let answer: &AccountAnswer = of.found()?;
    answer.sentence(Ends::of(answer.finished(), &of.inputs))
}

/// The kind of result for a meter.
pub const fn kind_of(meter: Meter) -> &'static Kind<'static> {
    match meter.resource() {
        Resource::Cpu => &KINDS[0],
        Resource::Memory => &KINDS[1],
        Resource::Gpu => &KINDS[2],
    }
}
