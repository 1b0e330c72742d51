//! The months of a lake, and their numbers.

use arrow::record_batch::RecordBatch;

use super::answer::{AccountsOfUser, MonthlyAnswer, MostOfUser, MostWasted, are_few};
use super::plan::MonthlyPlan;
use super::units::noun;
use super::{SHARES, table};
use crate::answers::assumed::{WaitsOf, assumed_waits, is_assumed};
use crate::answers::later_use::UseSince;
use crate::answers::study::Plan;
use crate::defaults::Defaults;
use crate::digits;
use crate::facts::window::Windows;
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::results::rows::TableRows;
use crate::results::shares::Terms;
use crate::schema::Table;
use crate::sources::zone::Zone;
use crate::studies::ledger::{CpuDefinition, UNKNOWN};
use crate::studies::monthly::{
    Asked, Calendar, Covered, Monthly, Sums, covered, fold, month_count,
};
use crate::units::{CpuTime, micros_to_seconds};

/// The most months of a log: a hundred years.
const MONTHS_MAX: i64 = 1200;

/// The sums of a log by month; the answer is made from them.
pub struct Months {
    pub(super) plan: MonthlyPlan,
    pub(super) cpu: CpuDefinition,
    pub(super) zone: Zone,
    /// The name of the time zone in the log, if this zone is unknown.
    unknown_zone: Option<String>,
    /// The units of sums in seconds and in hours.
    pub(super) units: [String; 2],
    pub(super) monthly: Monthly,
    pub(super) covered: Covered,
    /// Whether the log records how jobs ended.
    knows_ends: bool,
    /// The use of a log that lacks earlier jobs, since the log is whole.
    since: Option<UseSince>,
    /// The note if the log records no waits.
    assumed: Option<String>,
    pub(super) table: RecordBatch,
}

/// The reason why a log has no months.
const NO_DATE: &str = "the log does not record on which date it begins";

/// The reason for a trace whose publisher gives the date, but whose tables count from time 0.
/// `fairness` shows the use of its users.
const NO_ACCOUNTS: &str = "the tables of this trace record no dates and no accounts; `fairness` shows use by \
    user";

/// The reason why a lake has no months; `None` if it has months.
pub(super) fn lack(lake: &Lake) -> Option<String> {
    if Calendar::of(lake, None).is_some() {
        return None;
    }
    Some(if lake.source().is_google() { NO_ACCOUNTS } else { NO_DATE }.to_owned())
}

/// Adds up a log by month.
///
/// # Errors
/// The lake has no dates, the log is too long, an option does not fit, or a table
/// cannot be read.
pub fn monthly(lake: &Lake, windows: Windows, plan: &MonthlyPlan) -> Result<Months> {
    let wrong = |text: String| Err(Usage(text).into());
    lake.require(Table::TaskEvents)?;
    plan.check()?;
    let calendar = Calendar::of(lake, plan.timezone.as_ref());
    let (Some(calendar), None) = (calendar, lack(lake)) else {
        let why = lack(lake).unwrap_or_default();
        return wrong(format!("cannot report by month: {why}"));
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
    let waits = if lake.source().is_log() {
        WaitsOf::Started(monthly.total().fate().jobs_with_wait)
    } else {
        WaitsOf::Attempts(monthly.attempts)
    };
    let assumed = assumed_waits(lake, waits);
    if assumed.as_ref().is_some_and(|waits| waits.of_all) {
        monthly.without_waits();
    }
    let knows_ends = !is_assumed(lake, "status unknown", monthly.total().jobs);
    let unit = cpu.unit(lake.source());
    let is_requested = cpu == CpuDefinition::Requested;
    let since = is_requested.then(|| UseSince::of(lake, windows)).transpose()?.flatten();
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
        since,
        assumed: assumed.map(|waits| waits.note),
        table,
    })
}

impl Months {
    /// The noun for the rows: `account` or `user`.
    pub(super) const fn noun(&self) -> &'static str {
        noun(self.monthly.has_accounts)
    }

    /// Whether the log covers fewer than two complete months.
    pub(super) fn are_few(&self) -> bool {
        are_few(self.monthly.by_month().len(), self.covered.in_part.len())
    }

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
            digits::counted(monthly.accounts.len() as u64, self.noun()),
            digits::counted(monthly.by_month().len() as u64, "month"),
            digits::six_digits(total.used.cpu.seconds()),
            self.units[0],
            self.cpu,
            self.zone,
        );
        let zone = self.unknown_zone.as_ref();
        let zone = zone.map(|name| format!("the zone `{name}` of the log is unknown: UTC is used"));
        let users = (!self.monthly.has_accounts)
            .then(|| "the log has no accounts: each row is a user".into());
        let notes = [Some(total), users, zone, no_request, self.assumed.clone()];
        notes.into_iter().flatten().collect()
    }

    /// The further tables, by name.
    pub(super) fn details(&self) -> [(&'static str, RecordBatch); 6] {
        let (monthly, unit) = (&self.monthly, self.units[1].as_str());
        let ends = table::ends(monthly, unit);
        // Without a recorded status, all jobs count as finished. A table would claim that they
        // finished.
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

    pub(super) fn found(&self) -> MonthlyAnswer {
        let (monthly, total) = (&self.monthly, self.monthly.total());
        let fate = total.fate();
        let limits = || monthly.limits.values();
        let asked: CpuTime = limits().map(|limits| limits.asked).sum();
        let used: CpuTime = limits().map(|limits| limits.used).sum();
        let [months, accounts, users, waits, ends, limits] = self.details().map(|(_, table)| table);
        let is_empty = total.used.cpu == CpuTime::ZERO;
        MonthlyAnswer {
            without_accounts: !self.monthly.has_accounts,
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
            not_finished_jobs: total.not_finished,
            since: self.since.clone(),
            most_not_finished: if self.knows_ends {
                most_not_finished(monthly, &total)
            } else {
                None
            },
            most_wasted: if self.knows_ends { most_wasted(monthly, &total) } else { None },
            wait_s_median: fate.wait_s_median,
            wait_s_p95: fate.wait_s_p95,
            attempts: monthly.attempts,
            attempts_without_request: monthly.without_request,
            rows: TableRows::of(&self.table),
            months: TableRows::of(&months),
            accounts: TableRows::of(&accounts),
            users: TableRows::of(&users),
            accounts_of_users: accounts_of_users(monthly),
            waits: TableRows::of(&waits),
            ends: TableRows::of(&ends),
            limits: TableRows::of(&limits),
            terms: Terms::of(&SHARES),
            nothing: is_empty
                .then(|| format!("No CPU time ({}) is recorded for any job.", self.cpu)),
        }
    }
}

/// The accounts of users with several accounts, for the users with most CPU time.
fn accounts_of_users(monthly: &Monthly) -> Vec<AccountsOfUser> {
    const USERS_MAX: usize = 100;
    if !monthly.has_accounts {
        return Vec::new();
    }
    let mut users: Vec<_> = monthly.users.iter().collect();
    users.sort_by_key(|(_, user)| std::cmp::Reverse(user.0.used.cpu));
    let several = users.into_iter().take(USERS_MAX).filter(|(_, user)| 1 < user.1.len());
    several
        .map(|(name, user)| {
            let mut accounts: Vec<(&String, &CpuTime)> = user.1.iter().collect();
            accounts.sort_by_key(|(_, cpu)| std::cmp::Reverse(**cpu));
            let accounts = accounts.into_iter().map(|(account, _)| account.clone()).collect();
            AccountsOfUser { user: name.clone(), accounts }
        })
        .collect()
}

/// The fewest users who together wasted half or more, the heaviest first. `None` if there are more
/// than a few such users, or if they are all the users who wasted something.
fn most_wasted(monthly: &Monthly, total: &Sums) -> Option<MostWasted> {
    const USERS_MAX: usize = 3;
    let mut all: Vec<(CpuTime, &String)> = monthly
        .users
        .iter()
        .filter(|(name, _)| *name != UNKNOWN)
        .map(|(name, user)| (user.0.wasted.cpu, name))
        .filter(|(wasted, _)| CpuTime::ZERO < *wasted)
        .collect();
    all.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(other.1)));
    let half = total.wasted.cpu.seconds() / 2.0;
    let (mut users, mut wasted) = (Vec::new(), CpuTime::ZERO);
    for (own, name) in all.iter().take(USERS_MAX) {
        wasted += *own;
        users.push((*name).clone());
        if half <= wasted.seconds() {
            let is_told = users.len() < all.len();
            return is_told.then(|| MostWasted { users, wasted: wasted.seconds() });
        }
    }
    None
}

/// The user who has half or more of the jobs that did not finish, if this user has enough such jobs
/// and there are other users.
fn most_not_finished(monthly: &Monthly, total: &Sums) -> Option<MostOfUser> {
    const JOBS_MIN: u64 = 10;
    let named = || monthly.users.iter().filter(|(name, _)| *name != UNKNOWN);
    let (user, (most, _)) = named().max_by_key(|(_, user)| user.0.not_finished)?;
    let is_told = JOBS_MIN <= most.not_finished && total.not_finished <= 2 * most.not_finished;
    (is_told && 1 < named().count()).then(|| MostOfUser {
        user: user.clone(),
        jobs: most.jobs,
        not_finished_jobs: most.not_finished,
    })
}
