//! How long the jobs of users waited, compared with how much the users got.
//!
//! In: a stored load. Out: HTML with the waits and slowdowns of a user, the users whose jobs waited
//! longest and shortest, and whose tasks waited.

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::html::Cell;
use super::text::{escape, lasting, sentence, user_name};
use super::waiting::Waiting;
use crate::answers::load::{self, LoadAnswer};
use crate::answers::sentences::{capital, percent, short};
use crate::charts::{Bar, BarChart, Chart, Tone};
use crate::digits::{counted, grouped};
use crate::fairness::rank::spearman;
use crate::fairness::usage::UserUsage;
use crate::results::Stored;
use crate::units::micros_to_seconds;

/// The jobs of a user.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OfUser {
    user: String,
    jobs: u64,
    jobs_with_wait: u64,
    jobs_ended: u64,
    wait_s_mean: Option<f64>,
    wait_s_median: Option<f64>,
    slowdown_median: Option<f64>,
    /// `None` in results of older versions.
    jobs_compared: Option<u64>,
    waited_longer_than: Option<f64>,
}

impl OfUser {
    /// The part of the others' similar jobs that waited less, if enough jobs are compared.
    fn longer(&self) -> Option<f64> {
        let is_enough = self.jobs_compared.is_some_and(|jobs| Waits::JOBS_MIN <= jobs);
        self.waited_longer_than.filter(|_| is_enough)
    }

    /// Whether enough jobs of the user started.
    const fn has_enough(&self) -> bool {
        Waits::JOBS_MIN <= self.jobs_with_wait
    }

    /// Whether the typical job of the user waits long.
    fn waits_long(&self) -> bool {
        self.wait_s_median.is_some_and(|wait_s| Waits::LONG_S <= wait_s)
    }
}

/// The jobs of each user, by the name of the user. Empty if the load was not computed, or if no
/// wait is known.
#[derive(Default)]
pub(super) struct Waits {
    users: FxHashMap<String, OfUser>,
    /// Whether only jobs in the same queue (or band of priorities) count as similar.
    has_queues: bool,
    /// The lengths of time for which jobs and tasks are known, in words, if jobs are known for much
    /// longer. Only jobs with known tasks are compared.
    known_for: Option<[String; 2]>,
    header: [String; 4],
    /// The waiting tasks of all users.
    waiting: Waiting,
}

/// The lengths of time for which jobs and tasks are in the log, if that of jobs is much longer.
fn known_for(windows: &Windows) -> Option<[String; 2]> {
    let length = |end_us: Option<i64>| Some(micros_to_seconds(end_us? - windows.first_us?));
    let (jobs_s, tasks_s) = (length(windows.job_end_us)?, length(windows.task_end_us)?);
    (MUCH_LONGER * tasks_s <= jobs_s).then(|| [jobs_s, tasks_s].map(lasting))
}

/// The part of the others' jobs that would wait less if waits were even.
const EVEN: f64 = 0.5;

#[expect(clippy::cast_precision_loss, reason = "jobs are far below 2^53")]
const fn count_of(jobs: u64) -> f64 {
    jobs as f64
}

/// If the ratio of the two lengths is at least this, the report gives both.
const MUCH_LONGER: f64 = 1.5;

/// The windows of a stored result.
#[derive(Default, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_field_names, reason = "the keys of the result")]
struct Windows {
    first_us: Option<i64>,
    job_end_us: Option<i64>,
    task_end_us: Option<i64>,
}

/// A user with the part of the others' similar jobs that waited less, and the share of the user in
/// all use.
type Compared<'a> = (f64, &'a OfUser, f64);

/// Which sizes of jobs count as about the same, with two classes of sizes as examples.
const SIZES: &str = " (such as 5 to 16 tasks or processors, or 17 to 64)";

impl Waits {
    /// The columns of [`Waits::cells`].
    pub(super) fn header(&self) -> impl Iterator<Item = &str> {
        self.header.iter().map(String::as_str)
    }

    /// Users with fewer jobs are not judged, since few jobs say little.
    const JOBS_MIN: u64 = 10;

    /// No correlation is given for fewer users, since it would say little.
    const USERS_MIN: usize = 10;

    /// Users with a smaller share of all use are not compared.
    const SHARE_MIN: f64 = 0.01;

    /// Shorter waits do not count as long, s.
    const LONG_S: f64 = 60.0;

    /// The largest number of users with a bar.
    const BARS_MAX: usize = 12;

    /// Two shares may be the two sides of one comparison if they add up to the whole within this.
    const SIDES: f64 = 0.02;

    /// A user waited longer than others if at least this part of the others' similar jobs waited
    /// less.
    const LONGER: f64 = 0.75;

    /// The waits from the results of a report.
    pub(super) fn of(results: &[Stored]) -> Self {
        let load = results.iter().find(|result| result.name == load::KIND.name);
        let Some((load, answer)) = load.and_then(|load| Some((load, load.found::<LoadAnswer>()?)))
        else {
            return Self::default();
        };
        let rows = answer.users.iter().filter_map(|row| OfUser::deserialize(row).ok());
        let windows = load.whole.settings.get("windows");
        let windows = windows.and_then(|own| Windows::deserialize(own).ok()).unwrap_or_default();
        let waits = Self::from_rows(rows.collect(), answer.has_queues, known_for(&windows));
        if waits.is_empty() { waits } else { Self { waiting: Waiting::of(answer), ..waits } }
    }

    fn from_rows(all: Vec<OfUser>, has_queues: bool, known_for: Option<[String; 2]>) -> Self {
        if all.iter().all(|own| own.jobs_with_wait == 0) {
            return Self::default();
        }
        let users = all.into_iter().map(|own| (own.user.clone(), own)).collect();
        let time = |what: &str, place: usize| match &known_for {
            Some(known) => format!("{what} in {}", known[place]),
            None => what.to_owned(),
        };
        let header = [
            time("jobs submitted", 0),
            time("median wait of jobs", 0),
            time("similar jobs of others that waited less", 1),
            "median bounded slowdown of jobs".to_owned(),
        ];
        Self { users, has_queues, known_for, header, waiting: Waiting::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.users.is_empty()
    }

    /// The cells of a user: the number of jobs, their median wait, the part of the others' jobs
    /// that waited less, and their median bounded slowdown.
    pub(super) fn cells(&self, user: &str) -> [Cell; 4] {
        let own = self.users.get(user);
        let jobs = own.map_or_else(|| Cell::name(""), |own| Cell::of(&own.jobs.to_string()));
        let wait = Cell::lasting(own.and_then(|own| own.wait_s_median));
        let longer = own.and_then(OfUser::longer);
        let longer = longer.map_or_else(String::new, |share| share.to_string());
        let slowdown = own.and_then(|own| own.slowdown_median).unwrap_or(f64::NAN);
        [jobs, wait, Cell::share(&longer), Cell::rounded(slowdown)]
    }

    /// The same facts with their names, for the page of a user.
    pub(super) fn facts(&self, user: &str) -> Vec<(&str, String)> {
        let [jobs, median, less, _] = self.header.each_ref().map(String::as_str);
        let Some(own) = self.users.get(user) else { return Vec::new() };
        let wait = own.wait_s_median.map(|wait_s| (median, lasting(wait_s)));
        let longer = own.longer().map(|part| (less, percent(part)));
        std::iter::once((jobs, grouped(own.jobs))).chain(wait).chain(longer).collect()
    }

    /// Whether jobs of users who got more were slowed down more, as fair share intends. It gives
    /// the rank correlation of use and median bounded slowdown. Empty for few users, or if all have
    /// the same slowdown.
    pub(super) fn beside_use(&self, users: &[UserUsage], noun: &str) -> String {
        let known = users.iter().filter_map(|user| {
            let own = self.users.get(&user.user).filter(|own| Self::JOBS_MIN <= own.jobs_ended)?;
            Some((user.share?, own.slowdown_median?))
        });
        let (shares, slowdowns): (Vec<f64>, Vec<f64>) = known.unzip();
        let count = shares.len();
        let correlation = spearman(&shares, &slowdowns).filter(|_| Self::USERS_MIN <= count);
        let Some(correlation) = correlation else { return String::new() };
        #[expect(clippy::cast_precision_loss, reason = "users are far below 2^53")]
        let deviations = correlation * (count as f64 - 1.0).sqrt();
        let verdict = match deviations {
            far if 1.96 <= far => {
                "jobs of users who got more were slowed down more, as they are under fair share"
            }
            far if far <= -1.96 => {
                "jobs of users who got more were slowed down less. Long jobs have low slowdowns under any \
                policy, so this alone does not show that the policy favours these users"
            }
            _ => {
                "it is not shown that jobs of users who got more were slowed down more or less than those \
                of others"
            }
        };
        // Adding 0 removes the minus sign of a zero.
        let shown = (correlation * 100.0).round() / 100.0 + 0.0;
        let said = format!(
            "Over the {} with {} jobs or more that ended, the rank correlation of their {noun} and the median \
            bounded slowdown of their jobs is {shown:.2}: {verdict}.",
            counted(count as u64, "user"),
            Self::JOBS_MIN,
        );
        format!("<p>{}</p>\n", escape(&said))
    }

    /// Whether some users waited longer than others with similar jobs. Of those with enough use and
    /// jobs, it names the users who waited longest and shortest; it also says whose tasks waited.
    /// If there are no such jobs, the medians of all jobs are compared.
    pub(super) fn said(&self, users: &[UserUsage], (noun, queue): (&str, &str)) -> String {
        let Some((verdict, mut items)) = self.judged(users, (noun, queue)) else {
            return String::new();
        };
        items.extend(self.of_others(users, noun));
        items.extend(self.waiting.of_tasks());
        let waited = |own: &'_ OfUser| Some(own.wait_s_mean? * count_of(own.jobs_with_wait));
        let mut jobs: Vec<(&str, u64, f64)> = self
            .users
            .values()
            .filter_map(|own| Some((own.user.as_str(), own.jobs_with_wait, waited(own)?)))
            .collect();
        jobs.sort_by(|one, other| one.0.cmp(other.0));
        let jobs_known_for = self.known_for.as_ref().map(|[all, _]| all.as_str());
        items.extend(self.waiting.of_jobs(&jobs, jobs_known_for));
        let items = items.iter().map(|item| format!("<li>{}.</li>\n", sentence(item)));
        format!(
            "<h2 id=\"waits\">Was it fair?</h2>\n<p class=\"answer\">{}.</p>\n<ul class=\"more\">\n{}</ul>\n",
            escape(&verdict),
            items.collect::<String>()
        )
    }

    /// The first sentence of [`Self::said`], and the sentences that explain it; `None` without waits.
    pub(super) fn judged(
        &self,
        users: &[UserUsage],
        (noun, queue): (&str, &str),
    ) -> Option<(String, Vec<String>)> {
        let known = self.known(users);
        let knows_alike = self.users.values().any(|own| own.jobs_compared.is_some());
        let said = self.of_alike(&known, noun, queue);
        said.or_else(|| self.of_medians(&known, noun, knows_alike))
    }

    /// The users with enough use, each with its share.
    fn known(&self, users: &[UserUsage]) -> Vec<(&OfUser, f64)> {
        let known = users.iter().filter_map(|user| {
            let share = user.share.filter(|share| Self::SHARE_MIN <= *share)?;
            Some((self.users.get(&user.user)?, share))
        });
        known.collect()
    }

    /// The users whose jobs are compared with similar jobs of others, the longest waits first.
    fn compared<'a>(known: &[(&'a OfUser, f64)]) -> Vec<Compared<'a>> {
        let compared = known.iter().filter_map(|&(own, share)| Some((own.longer()?, own, share)));
        let mut compared: Vec<Compared<'_>> = compared.collect();
        compared.sort_by(|one, other| other.0.total_cmp(&one.0));
        compared
    }

    /// A bar for each user with the part of the others' similar jobs that waited less. `None` for
    /// fewer than two users.
    pub(super) fn chart(&self, users: &[UserUsage]) -> Option<Chart> {
        let compared = Self::compared(&self.known(users));
        let bar = |(longer, own, share): &Compared<'_>| {
            let wait = own
                .wait_s_median
                .map_or_else(String::new, |wait_s| format!(", median wait {}", lasting(wait_s)));
            Bar {
                label: short(user_name(&own.user)),
                value: 100.0 * longer,
                note: format!("{}{wait}, {} of the use", percent(*longer), percent(*share)),
                tone: Tone::Blue,
                // The part above an even share has another colour, so that 50 % is visible.
                part: Some((100.0 * (longer - EVEN), Tone::Orange)).filter(|part| 0.0 < part.0),
            }
        };
        let bars: Vec<Bar> = compared.iter().take(Self::BARS_MAX).map(bar).collect();
        (1 < bars.len()).then(|| {
            Chart::Bars(BarChart {
                title: "Similar jobs of others that waited less, on average over the jobs of a user".to_owned(),
                caption: "50 % would be even; what is above it is orange. Users with a long bar waited longer \
                    than others with similar jobs."
                    .to_owned(),
                value_axis: "similar jobs of others that waited less (%)".to_owned(),
                bars,
            })
        })
    }

    /// The comparison with similar jobs of others. `None` if fewer than two users have enough such
    /// jobs.
    fn of_alike(
        &self,
        known: &[(&OfUser, f64)],
        noun: &str,
        queue: &str,
    ) -> Option<(String, Vec<String>)> {
        let compared = Self::compared(known);
        let first = compared.first()?;
        let is_late = |of: &&Compared<'_>| Self::LONGER <= of.0 && of.1.waits_long();
        // Of the users who waited longer than others, the one with most use is chosen.
        let late = compared.iter().filter(is_late);
        let late = late.max_by(|one, other| one.2.total_cmp(&other.2));
        let verdict = match late {
            Some(_) => {
                "Waits were not even, and the log does not say who was entitled to more".to_owned()
            }
            None if known.iter().any(|(own, _)| own.has_enough() && own.waits_long()) => {
                "It is not shown that anybody had to wait longer than others".to_owned()
            }
            None => {
                let medians = known.iter().filter(|(own, _)| own.has_enough());
                let medians = medians.filter_map(|(own, _)| own.wait_s_median);
                self.none_long(medians.fold(0.0, f64::max), noun)
            }
        };
        let longest = late.unwrap_or(first);
        // Another user with less use may have waited even longer.
        let extreme = compared.iter().find(is_late).filter(|of| of.1.user != longest.1.user);
        let shortest = compared.iter().rfind(|of| of.1.user != longest.1.user)?;
        let extreme = extreme.filter(|of| of.1.user != shortest.1.user);
        let alike = if self.has_queues {
            format!("in the same {queue} and of about the same size{SIZES}")
        } else {
            format!("of about the same size{SIZES}")
        };
        let of = |(longer, own, share): &Compared<'_>| {
            format!(
                "On average, a job of {} waited longer than {} of similar jobs of others. {} has {} of the {noun}; {}",
                short(user_name(&own.user)),
                percent(*longer),
                short(user_name(&own.user)),
                percent(*share),
                self.counts(own),
            )
        };
        let named = [Some(longest), extreme, Some(shortest)].into_iter().flatten().map(of);
        let mut said: Vec<String> = named.collect();
        if (longest.0 + shortest.0 - 1.0).abs() <= Self::SIDES {
            let same =
                if self.has_queues { format!(" in the same {queue}") } else { String::new() };
            said.push(format!(
                "The two shares of {} and {} add up to about 100 %: they may be one comparison seen from two sides, \
                as when similar jobs{same} are mostly those of these two",
                short(user_name(&longest.1.user)),
                short(user_name(&shortest.1.user)),
            ));
        }
        said.push(format!(
            "Similar jobs are {alike}, and 50 % would be even. {} with {} of the {noun} or more and {} such jobs or \
            more are compared",
            capital(&counted(compared.len() as u64, "user")),
            percent(Self::SHARE_MIN),
            Self::JOBS_MIN,
        ));
        Some((verdict, said))
    }

    /// How many jobs of a user are compared, and the median wait of all jobs of the user.
    fn counts(&self, own: &OfUser) -> String {
        let compared = own.jobs_compared.unwrap_or(0);
        let median = own.wait_s_median.map_or_else(|| "unknown".to_owned(), lasting);
        match &self.known_for {
            None => format!(
                "{} of its {} are compared, and the median wait of all its jobs is {median}",
                grouped(compared),
                counted(own.jobs, "job")
            ),
            Some([all, tasks]) => format!(
                "{} in {tasks} are compared, and the median wait of all its {} jobs in {all} is {median}",
                counted(compared, "job"),
                grouped(own.jobs)
            ),
        }
    }

    /// A sentence that all medians are short, with the longest of them. It also says how many tasks
    /// waited nevertheless.
    fn none_long(&self, longest_s: f64, noun: &str) -> String {
        let queue = self.waiting.range().map_or_else(String::new, |range| format!(", but {range}"));
        format!(
            "By the waits of jobs, nobody was held back for long: with {} of the {noun} or more and {} jobs or more, \
            no user has a median wait above {}{queue}",
            percent(Self::SHARE_MIN),
            Self::JOBS_MIN,
            lasting(longest_s)
        )
    }

    /// A sentence about the users with too little use for a bar, if some of them waited longer than
    /// similar jobs of others by more than every user with a bar: how many, and the first of them.
    fn of_others(&self, users: &[UserUsage], noun: &str) -> Option<String> {
        let first = Self::compared(&self.known(users)).first()?.0;
        let others = users.iter().filter_map(|user| {
            let share = user.share.filter(|share| *share < Self::SHARE_MIN)?;
            let own = self.users.get(&user.user)?;
            Some((own.longer()?, own, share))
        });
        let mut others: Vec<Compared<'_>> = others.collect();
        let all = others.len() as u64;
        others.retain(|of| first < of.0);
        let (longer, own, share) = others.iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
        let count = others.len() as u64;
        Some(format!(
            "Of the {} with less of the {noun} and {} such jobs or more, {} waited longer than {} of similar jobs of \
            others, most of all {} ({}, with {} of the {noun} and a median wait of {})",
            counted(all, "user"),
            Self::JOBS_MIN,
            grouped(count),
            percent(first),
            short(user_name(&own.user)),
            percent(*longer),
            percent(*share),
            own.wait_s_median.map_or_else(|| "unknown length".to_owned(), lasting),
        ))
    }

    /// The users whose jobs waited longest and shortest in the median; `None` if all waited equally
    /// long.
    fn of_medians(
        &self,
        known: &[(&OfUser, f64)],
        noun: &str,
        knows_alike: bool,
    ) -> Option<(String, Vec<String>)> {
        let known = known.iter().filter(|(own, _)| own.has_enough());
        let known = known.filter_map(|&(own, share)| Some((own.wait_s_median?, own, share)));
        let mut known: Vec<(f64, &OfUser, f64)> = known.collect();
        known.sort_by(|one, other| other.0.total_cmp(&one.0));
        let (longest, shortest) = (known.first()?, known.last()?);
        if longest.0 <= shortest.0 {
            return None;
        }
        let of = |(wait_s, own, share): &(f64, &OfUser, f64)| {
            format!(
                "{} ({} in the median of {} that started; {} of the {noun})",
                short(user_name(&own.user)),
                lasting(*wait_s),
                counted(own.jobs_with_wait, "job"),
                percent(*share)
            )
        };
        let verdict = if longest.0 < Self::LONG_S {
            self.none_long(longest.0, noun)
        } else if knows_alike {
            "Waits can hardly be compared: few users have jobs like those of others".to_owned()
        } else {
            "Waits differ, and so may what users ask for".to_owned()
        };
        let said = format!(
            "Of the {} with {} of the {noun} or more and {} jobs or more that \
            started, longest waited {}, shortest {}",
            counted(known.len() as u64, "user"),
            percent(Self::SHARE_MIN),
            Self::JOBS_MIN,
            of(longest),
            of(shortest)
        );
        Some((verdict, vec![said]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whether_more_use_meant_more_slowdown_is_reported() {
        let users: Vec<UserUsage> = (0..20_u32)
            .map(|idx| UserUsage {
                user: idx.to_string(),
                share: Some(f64::from(idx) / 190.0),
                ..UserUsage::default()
            })
            .collect();
        let said = |slowdown: fn(u32) -> f64, jobs: u64| {
            let own = |idx: u32| {
                let user = idx.to_string();
                let slowdown_median = Some(slowdown(idx));
                (
                    user.clone(),
                    OfUser { user, jobs_ended: jobs, slowdown_median, ..OfUser::default() },
                )
            };
            Waits { users: (0..20).map(own).collect(), has_queues: true, ..Waits::default() }
                .beside_use(&users, "CPU time")
        };
        let rising = said(|idx| f64::from(idx) + 1.0, 10);
        assert!(
            rising.contains("20 users")
                && rising.contains("is 1.00: jobs of users who got more were slowed down more"),
            "{rising}"
        );
        assert!(rising.contains("under fair share"), "{rising}");
        assert!(
            said(|idx| 1.0 / f64::from(idx + 1), 10)
                .contains("is -1.00: jobs of users who got more were slowed down less")
        );
        assert!(said(|idx| f64::from(idx % 2), 10).contains("it is not shown that"));
        assert_eq!(said(|_| 1.0, 10), "");
        assert_eq!(said(f64::from, 9), "");
    }

    fn own(user: &str, jobs: u64, wait_s: f64) -> OfUser {
        let wait_s_median = Some(wait_s);
        OfUser {
            user: user.to_owned(),
            jobs,
            jobs_with_wait: jobs,
            wait_s_median,
            ..OfUser::default()
        }
    }

    fn used(user: &str, share: f64) -> UserUsage {
        UserUsage { user: user.to_owned(), share: Some(share), ..UserUsage::default() }
    }

    const NOUNS: (&str, &str) = ("CPU time", "partition");

    fn alike(user: &str, jobs: u64, wait_s: f64, longer: f64) -> OfUser {
        OfUser {
            jobs_compared: Some(jobs),
            waited_longer_than: Some(longer),
            ..own(user, jobs + 1, wait_s)
        }
    }

    /// User c has too few jobs, d too little use.
    fn rows(first: (f64, f64)) -> Vec<OfUser> {
        vec![
            alike("a", 20, first.0, first.1),
            alike("b", 10, 30.0, 0.25),
            alike("c", 8, 9000.0, 1.0),
            alike("d", 50, 9000.0, 1.0),
        ]
    }

    #[test]
    fn a_user_with_less_use_who_waited_longer_is_named_too() {
        let more = [used("a", 0.5), used("b", 0.3), used("e", 0.1)];
        let mut late = rows((7200.0, 0.75));
        late.push(alike("e", 20, 9000.0, 1.0));
        let named = Waits::from_rows(late, true, None).said(&more, NOUNS).replace("&nbsp;", " ");
        assert!(named.contains("job of e waited longer than 100.0 %"), "{named}");
    }

    #[test]
    fn users_are_compared_by_jobs_that_are_alike() {
        let users = [used("a", 0.5), used("b", 0.4), used("c", 0.091), used("d", 0.009)];
        let said = |first| {
            Waits::from_rows(rows(first), true, None).said(&users, NOUNS).replace("&nbsp;", " ")
        };
        // User d has too little use to be compared, but is named as one who waited longer.
        assert_eq!(
            said((7200.0, 0.75)),
            "<h2 id=\"waits\">Was it fair?</h2>\n<p class=\"answer\">Waits were not even, and the log does not say who was \
            entitled to more.</p>\n<ul class=\"more\">\n<li>On average, a job of a waited longer than 75.0 % of similar jobs of \
            others. a has 50.0 % of the CPU time; 20 of its 21 jobs are compared, and the median wait of all its jobs is 2 h.</li>\n\
            <li>On average, a job of b waited longer than 25.0 % of similar jobs of others. b has 40.0 % of the CPU time; 10 of its \
            11 jobs are compared, and the median wait of all its jobs is 30 s.</li>\n<li>The two shares of a and b add up to about 100 %: \
            they may be one comparison seen from two sides, as when similar jobs in the same partition are mostly those of these \
            two.</li>\n<li>Similar jobs are in the same partition and of about the same size (such as 5 to 16 tasks or processors, or 17 to 64), and 50 % would be even. 2 users \
            with 1.0 % of the CPU time or more and 10 such jobs or more are compared.</li>\n<li>Of the 1 user with less of the \
            CPU time and 10 such jobs or more, 1 waited longer than 75.0 % of similar jobs of others, most of all d (100.0 %, with \
            0.9 % of the CPU time and a median wait of 2.5 h).</li>\n</ul>\n"
        );
        assert!(
            said((7200.0, 0.74)).contains("not shown that anybody had to wait longer than others")
        );
        let short = said((59.0, 0.9));
        assert!(
            short.contains(
                "with 1.0 % of the CPU time or more and 10 jobs or more, no user has a median wait above 59 s.<"
            ),
            "{short}"
        );
        assert!(!short.contains("two sides"), "{short}");
        let by_size = Waits::from_rows(rows((60.0, 0.9)), false, None)
            .said(&users, NOUNS)
            .replace("&nbsp;", " ");
        assert!(
            by_size.contains("<li>Similar jobs are of about the same size (such as 5 to 16 tasks or processors, or 17 to 64), and 50 %"),
            "{by_size}"
        );
        // User b waited even longer; a has more use.
        let mut late = rows((7200.0, 0.75));
        late[1] = alike("b", 10, 7200.0, 0.9);
        let both = Waits::from_rows(late, true, None).said(&users, NOUNS).replace("&nbsp;", " ");
        let a = both.find("job of a waited longer than 75.0 %").expect(&both);
        let b = both.find("job of b waited longer than 90.0 %").expect(&both);
        assert!(a < b, "{both}");
        // Jobs are known for a longer time than tasks.
        let known_for = Some(["29 d", "25.2 h"].map(str::to_owned));
        let longer = Waits::from_rows(rows((7200.0, 0.75)), true, known_for);
        let said = longer.said(&users, NOUNS).replace("&nbsp;", " ");
        assert!(
            said.contains(
                "; 20 jobs in 25.2 h are compared, and the median wait of all its 21 jobs in 29 d is 2 h."
            ),
            "{said}"
        );
        assert_eq!(longer.header().next(), Some("jobs submitted in 29 d"));
        assert!(matches!(longer.chart(&users), Some(Chart::Bars(own)) if own.bars.len() == 2));
        // Only one user has enough similar jobs: the medians of all jobs are compared.
        let only = Waits::from_rows(rows((7200.0, 0.75)), true, None)
            .said(&users[..1], NOUNS)
            .replace("&nbsp;", " ");
        assert_eq!(only, "");
    }

    #[test]
    fn medians_are_reported_if_no_jobs_are_alike() {
        let rows =
            vec![own("a", 20, 7200.0), own("b", 10, 30.0), own("c", 9, 0.0), own("d", 50, 9000.0)];
        let waits = Waits::from_rows(rows, true, None);
        let users = [used("a", 0.5), used("b", 0.4), used("c", 0.091), used("d", 0.009)];
        assert_eq!(
            waits.said(&users, NOUNS).replace("&nbsp;", " "),
            "<h2 id=\"waits\">Was it fair?</h2>\n<p class=\"answer\">Waits differ, and so may what users ask for.</p>\n\
            <ul class=\"more\">\n<li>Of the 2 users with 1.0 % of the CPU time or more and 10 jobs or more that started, longest \
            waited a (2 h in the median of 20 jobs that started; 50.0 % of the CPU time), shortest b (30 s in \
            the median of 10 jobs that started; 40.0 % of the CPU time).</li>\n</ul>\n"
        );
        let short = Waits::from_rows(vec![own("a", 20, 59.0), own("b", 10, 1.0)], true, None);
        assert!(
            short
                .said(&users, NOUNS)
                .replace("&nbsp;", " ")
                .contains("no user has a median wait above 59 s.<")
        );
        assert_eq!(waits.said(&users[1..], NOUNS).replace("&nbsp;", " "), "");
        assert_eq!(Waits::default().said(&users, NOUNS).replace("&nbsp;", " "), "");
    }
}
