//! The answer of `monthly`: the report of a computing centre on its accounting log.
//!
//! In: the lake of a log, a time zone, and the running time from which a failure counts as late.
//! Out: use by account and month; accounts and users with their waste; waits by queue and size; how
//! and why jobs ended; and the unused part of time limits.

use arrow::record_batch::RecordBatch;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::answers::assumed::{assumed_waits, is_assumed};
use crate::answers::load::Length;
use crate::answers::study::{Definitions, Found, Plan, Step, Verdict, Work, settings};
use crate::answers::words::maybe;
use crate::defaults::Defaults;
use crate::digits;
use crate::facts::window::Windows;
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::results::kind::Kind;
use crate::results::rows::TableRows;
use crate::results::shares::{Share, Terms, share};
use crate::results::store::{Answer, Files};
use crate::schema::Table;
use crate::sources::zone::Zone;
use crate::studies::ledger::CpuDefinition;
use crate::studies::monthly::{
    ACCOUNT, Asked, Calendar, Covered, Monthly, Sums, covered, fold, month_count,
};
use crate::units::{CpuTime, micros_to_seconds};

mod answer;
mod charts;
mod table;

pub use answer::MonthlyAnswer;

/// The result.
pub const KIND: Kind<'static> = Kind {
    tables: &[Table::JobEvents, Table::TaskEvents],
    meters: true,
    captions: &[
        ("monthly-months", "All accounts, month by month"),
        ("monthly-accounts", "Accounts over the whole log"),
        ("monthly-users", "The users with most CPU time"),
        ("monthly-waits", "Waits and running times by queue and size of the job"),
        ("monthly-ends", "How jobs ended by their last event, and why"),
        ("monthly-limits", "Time limits: requested and used"),
    ],
    remarks: &["status ", "wait ", "times ", "run time shorter"],
    sentence: Some(|it| it.found::<MonthlyAnswer>()?.sentence()),
    figure: Some("monthly-use"),
    ..Kind::called("monthly", "Use by account and month").holding::<MonthlyAnswer>()
};

/// The shares of the answer.
pub const SHARES: [Share; 4] = [
    share("month_share", "cpu_h of the row", "cpu_h of all accounts in the month"),
    share("share", "cpu_h of the row", "cpu_h of the whole log"),
    share("wasted_share", "cpu_h of attempts that did not finish", "cpu_h of the row"),
    share("used_share", "used_cpu_h", "asked_cpu_h: limit x CPUs of attempts with a limit"),
];

/// The most months of a log: a hundred years.
const MONTHS_MAX: i64 = 1200;

/// What is asked of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct MonthlyPlan {
    /// What CPU time means
    #[cfg_attr(
        feature = "cli",
        arg(
            long,
            value_parser = CpuDefinition::over_time(),
            long_help = crate::defaults::cpu_help_beside_gpus()
        )
    )]
    #[serde(skip)]
    pub cpu: Option<CpuDefinition>,

    /// Time zone of the months
    ///
    /// `UTC`, an offset such as `+01:00`, or a name such as `Europe/Berlin`. By default the zone of
    /// the log, if it has one, and otherwise UTC.
    #[cfg_attr(feature = "cli", arg(long, value_name = "ZONE"))]
    #[serde(with = "maybe")]
    pub timezone: Option<Zone>,

    /// Running time from which a failure counts as late
    ///
    /// `late_cpu_h` is the CPU time of attempts that ran at least this long and did not finish:
    /// `3600`, `90m`, `1h`, `1d`. The time for which they were suspended does not count.
    #[cfg_attr(feature = "cli", arg(long, value_name = "LENGTH", default_value = "1h"))]
    pub late: Length,

    /// Number of users in the table of users
    ///
    /// Users with the most CPU time have separate rows; the rest share the row `(others)`.
    #[cfg_attr(feature = "cli", arg(long, value_name = "COUNT", default_value_t = 10, value_parser = crate::units::natural::<usize>))]
    pub users: usize,
}

impl Default for MonthlyPlan {
    fn default() -> Self {
        Self { cpu: None, timezone: None, late: Length::seconds(3600), users: 10 }
    }
}

impl Plan for MonthlyPlan {
    fn define(&mut self, definitions: &Definitions) {
        // Published CPU is known per job, not over time; GPU time has its own columns.
        let is_of_time = |cpu| cpu != CpuDefinition::Published && cpu != CpuDefinition::GpuSlots;
        self.cpu = definitions.cpu.filter(|&cpu| is_of_time(cpu));
    }

    fn choose(&mut self, definitions: &Definitions) {
        self.cpu = definitions.cpu;
    }

    fn check(&self) -> Result<(), String> {
        let wrong = match self.cpu {
            Some(CpuDefinition::Published) => {
                "`published` CPU time is known per job, not over time; give --cpu measured, \
                requested or slots"
            }
            Some(CpuDefinition::GpuSlots) => {
                "GPU time is always shown next to CPU time: leave out --cpu gpu-slots"
            }
            _ if self.users == 0 => "--users 0 leaves no user: give 1 or more",
            _ => return Ok(()),
        };
        Err(wrong.to_owned())
    }
}

/// The sums of a log by month, from which the answer is made.
pub struct Months {
    plan: MonthlyPlan,
    cpu: CpuDefinition,
    zone: Zone,
    /// The name of the zone in the log, if the zone is not known.
    unknown_zone: Option<String>,
    /// The units of sums in seconds and in hours.
    units: [String; 2],
    monthly: Monthly,
    covered: Covered,
    /// Whether the log records how jobs ended.
    knows_ends: bool,
    /// The note if the log records no wait.
    assumed: Option<String>,
    table: RecordBatch,
}

/// The reason why a lake has no months; `None` if it has.
fn lack(lake: &Lake) -> Option<String> {
    if !lake.has_column(Table::TaskEvents, ACCOUNT) {
        return Some(format!("this kind of trace (`{}`) has no accounts", lake.source().name()));
    }
    let no_date = || "the log does not record on which date it begins".to_owned();
    Calendar::of(lake, None).is_none().then(no_date)
}

/// Adds up a log by month.
///
/// # Errors
/// The lake has no accounts or no dates, the log is too long, an option does not fit, or a table
/// cannot be read.
pub fn monthly(lake: &Lake, windows: Windows, plan: &MonthlyPlan) -> Result<Months> {
    let wrong = |text: String| Err(Usage(text).into());
    lake.require(Table::TaskEvents)?;
    plan.check().map_err(Usage)?;
    let calendar = Calendar::of(lake, plan.timezone.as_ref());
    let (Some(calendar), None) = (calendar, lack(lake)) else {
        let why = lack(lake).unwrap_or_default();
        return wrong(format!("cannot report by month and account: {why}"));
    };
    let months = month_count(lake, windows, &calendar);
    if MONTHS_MAX < months {
        return wrong(format!("the log spans {months} months: at most {MONTHS_MAX} are shown"));
    }
    let cpu = plan.cpu.unwrap_or_else(|| Defaults::of(lake).cpu);
    let covered = covered(lake, windows, &calendar);
    let (zone, unknown_zone) = (calendar.zone.clone(), calendar.unknown_zone.clone());
    let asked = Asked { cpu, calendar, late_us: plan.late.micros() };
    let mut monthly = fold(lake, windows, &asked)?;
    let assumed = assumed_waits(lake, monthly.attempts);
    if assumed.as_ref().is_some_and(|waits| waits.of_all) {
        monthly.without_waits();
    }
    let knows_ends = !is_assumed(lake, "status unknown", monthly.total().jobs);
    let unit = cpu.unit(lake.source());
    let units = [unit.to_owned(), format!("{}-h", unit.trim_end_matches("-s"))];
    let table = table::use_of_months(&monthly, &units[1]);
    let plan = plan.clone();
    Ok(Months {
        plan,
        cpu,
        zone,
        unknown_zone,
        units,
        monthly,
        covered,
        knows_ends,
        assumed: assumed.map(|waits| waits.note),
        table,
    })
}

/// CPU time in hours.
fn hours(cpu: CpuTime) -> f64 {
    cpu.seconds() / 3600.0
}

impl Months {
    /// The notes about the sums.
    pub fn notes(&self) -> Vec<String> {
        let (monthly, total) = (&self.monthly, self.monthly.total());
        let without = monthly.without_request;
        let no_request = (0 < without).then(|| {
            format!(
                "{} of {} without a CPU request, counted as 0",
                digits::grouped(without),
                digits::counted(monthly.attempts, "attempt")
            )
        });
        let total = format!(
            "{} in {}: {} {} ({}), the total of `account`; months in {}",
            digits::counted(monthly.accounts.len() as u64, "account"),
            digits::counted(monthly.by_month().len() as u64, "month"),
            digits::six_digits(total.used.cpu.seconds()),
            self.units[0],
            self.cpu,
            self.zone,
        );
        let zone = self.unknown_zone.as_ref();
        let zone = zone.map(|name| format!("the zone `{name}` of the log is unknown: UTC is used"));
        [Some(total), zone, no_request, self.assumed.clone()].into_iter().flatten().collect()
    }

    /// The further tables, by name.
    fn details(&self) -> [(&'static str, RecordBatch); 6] {
        let (monthly, unit) = (&self.monthly, self.units[1].as_str());
        let ends = table::ends(monthly, unit);
        // Without a recorded status all jobs count as finished: a table would say that they did.
        let ends = if self.knows_ends { ends } else { ends.slice(0, 0) };
        [
            ("months", table::months(monthly, unit)),
            ("accounts", table::accounts(monthly, unit)),
            ("users", table::users(monthly, unit, self.plan.users)),
            ("waits", table::waits(monthly)),
            ("ends", ends),
            ("limits", table::limits(monthly, unit)),
        ]
    }

    fn found(&self) -> MonthlyAnswer {
        let (monthly, total) = (&self.monthly, self.monthly.total());
        let fate = total.fate();
        let limits = || monthly.limits.values();
        let asked: CpuTime = limits().map(|limits| limits.asked).sum();
        let used: CpuTime = limits().map(|limits| limits.used).sum();
        let [months, accounts, users, waits, ends, limits] = self.details().map(|(_, table)| table);
        let is_empty = total.used.cpu == CpuTime::ZERO;
        MonthlyAnswer {
            cpu: self.cpu,
            unit: self.units[0].clone(),
            zone: self.zone.to_string(),
            from_date: self.covered.dates[0].clone(),
            to_date: self.covered.dates[1].clone(),
            length_s: micros_to_seconds(self.covered.length_us),
            months_in_part: self.covered.in_part.iter().map(ToString::to_string).collect(),
            late_s: micros_to_seconds(self.plan.late.micros()),
            total: total.used.cpu.seconds(),
            total_wasted: total.wasted.cpu.seconds(),
            total_late: total.late.cpu.seconds(),
            total_gpu_s: monthly.has_gpus.then(|| total.used.gpu.seconds()),
            total_asked: asked.seconds(),
            total_used_of_asked: used.seconds(),
            limit_used_median: monthly.limit_used_median(),
            jobs: total.jobs,
            wait_s_median: fate.wait_s_median,
            wait_s_p95: fate.wait_s_p95,
            attempts: monthly.attempts,
            attempts_without_request: monthly.without_request,
            rows: TableRows::of(&self.table),
            months: TableRows::of(&months),
            accounts: TableRows::of(&accounts),
            users: TableRows::of(&users),
            waits: TableRows::of(&waits),
            ends: TableRows::of(&ends),
            limits: TableRows::of(&limits),
            terms: Terms::of(&SHARES),
            nothing: is_empty
                .then(|| format!("No CPU time ({}) is recorded for any job.", self.cpu)),
        }
    }
}

impl Found for Months {
    fn notes(&self) -> Vec<String> {
        self.notes()
    }

    fn put_details(&self, files: &mut Files) -> Result<()> {
        let mut put = |(name, table): (&str, RecordBatch)| {
            if table.num_rows() == 0 {
                Ok(())
            } else {
                files.table(&format!("monthly-{name}"), &table)
            }
        };
        self.details().into_iter().try_for_each(&mut put)
    }

    fn answer(&self, windows: Windows) -> Answer<'_> {
        Answer {
            kind: KIND,
            table: &self.table,
            json: json!(self.found()),
            settings: settings(
                &self.plan,
                json!({ "cpu": self.cpu, "timezone": self.zone.to_string(), "windows": windows }),
            ),
            charts: charts::all(self),
        }
    }
}

/// The step of an analysis.
pub(crate) const STEP: Step =
    Step::of::<MonthlyPlan>(step, &["cpu", "window-end", "open-attempts"]);

fn step(work: &Work<'_>) -> Result<Option<Verdict>> {
    if work.is_missing(Table::JobEvents, KIND)? || work.is_missing(Table::TaskEvents, KIND)? {
        return Ok(None);
    }
    if let Some(why) = lack(work.lake) {
        work.leave_out(KIND, &why)?;
        return Ok(None);
    }
    let plan: MonthlyPlan = work.plan()?;
    work.study("use by account and month", KIND, || monthly(work.lake, work.windows, &plan))
}

/// Accounts or users, those with most CPU time first.
fn by_use<'a>(all: impl IntoIterator<Item = (&'a str, Sums)>) -> Vec<(&'a str, Sums)> {
    let mut all: Vec<(&str, Sums)> = all.into_iter().collect();
    all.sort_by(|one, other| other.1.used.cpu.cmp(&one.1.used.cpu).then(one.0.cmp(other.0)));
    all
}
