//! The answer of `monthly`: the report of a computing centre on its accounting log.
//!
//! In: the lake of a log, a time zone, and the running time from which a failure counts as late.
//! Out: use by account (by user in a log without accounts) and month; accounts and users with their
//! waste; waits by queue and size; how and why jobs ended; and the unused part of time limits.

mod answer;
mod charts;
mod months;
mod plan;
mod result;
mod step;
mod table;
mod units;

use crate::results::kind::Kind;
use crate::results::shares::{Share, share};
use crate::schema::{STARTS, Table};

pub use answer::{AccountsOfUser, MonthlyAnswer, OfQueue};
pub use months::{Months, monthly};
pub use plan::MonthlyPlan;
pub(crate) use step::STEP;

/// The result.
pub const KIND: Kind<'static> = Kind {
    tables: &[Table::JobEvents, Table::TaskEvents],
    meters: true,
    captions: &[
        ("monthly-users", "The users with most CPU time"),
        ("monthly-ends", "How jobs ended by their last event, and why"),
        ("monthly-accounts", "Accounts over the whole log"),
        ("monthly-limits", "Time limits: requested and used"),
        ("monthly-waits", "Waits and running times by queue and size of the job"),
        ("monthly-months", "All accounts, month by month"),
    ],
    remarks: &["status ", "wait ", STARTS, "times ", "run time shorter", "pods deleted"],
    sentence: Some(|it| it.found::<MonthlyAnswer>()?.sentence()),
    figure: Some("monthly-use"),
    is_table_last: true,
    ..Kind::called("monthly", "Use by account and month").holding::<MonthlyAnswer>()
};

/// The shares of the answer.
pub const SHARES: [Share; 4] = [
    share("month_share", "cpu_h of the row", "cpu_h of all accounts in the month"),
    share("share", "cpu_h of the row", "cpu_h of the whole log"),
    share("wasted_share", "cpu_h of attempts that did not finish", "cpu_h of the row"),
    share("used_share", "used_cpu_h", "asked_cpu_h: limit x processors of attempts with a limit"),
];
