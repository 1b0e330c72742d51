//! Pages of fairness: the heaviest users and machines (or classes of machines), and the links to
//! them.
//!
//! In: a stored result of `fairness`. Out: two tables that link to a page per user and per machine;
//! each page shows what was used, when, and by or with whom. Pages are numbered by CPU time, so no
//! name becomes a path.

use std::collections::BTreeMap;
use std::fmt::Write;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::classes::{
    group_of, groups_of_user, kind_of_all, machine_name, of_class, queue_of, short_parts, site_of,
    spoken,
};
use super::early::incomplete_in_short;
use super::findings::nothing;
use super::happened::Happened;
use super::html::{self, Cell, Page};
use super::indices::explained;
use super::jobs;
use super::links::{PAGES_MAX, file_of, jobs_by_user, page_of};
use super::partitions::Partition;
use super::series::{self, Indices};
use super::suggested;
use super::text::{escape, instant, lasting, sentence, user_name};
use super::used::{FIRST_USE, Of, linked, number, share, share_text};
use super::users::Outcomes;
use crate::answers::fairness::{FairnessAnswer, undefined_of};
use crate::answers::machines;
use crate::answers::sentences::{capital, short, verb_of};
use crate::charts::{Bar, BarChart, Chart, DAYS_OF_SPAN, Line, LineChart, Scale, Tone};
use crate::digits::{counted, grouped, three_digits};
use crate::fairness::gather::By;
use crate::fairness::history::NOBODY;
use crate::fairness::usage::{MachineUsage, UserUsage};
use crate::results::Stored;

const PAGE: &str = "fairness.html";

/// Whether waits were even: the users whose jobs waited longest and shortest, and a chart. Empty if
/// no waits are known.
pub(super) fn waited(result: &Stored, all: &[Stored]) -> String {
    let Some(of) = Of::new(result, all) else { return String::new() };
    let (users, noun) = (&of.answer.users, of.noun());
    let titled =
        |chart: Chart| format!("<h3>{}</h3>\n{}", escape(chart.title()), series::html(&chart));
    let chart = of.waits.chart(users).map_or_else(String::new, titled);
    let body =
        of.waits.said(users, (noun, queue_of(result))) + &chart + &of.waits.beside_use(users, noun);
    if body.is_empty() { body } else { format!("<section>\n{body}</section>\n") }
}

/// Whether waits were even, in one sentence without its full stop; `None` if no waits are known.
pub(super) fn verdict(result: &Stored, all: &[Stored]) -> Option<String> {
    let of = Of::new(result, all)?;
    let (verdict, _) = of.waits.judged(&of.answer.users, (of.noun(), queue_of(result)))?;
    Some(verdict)
}

/// A column of times is left out if this many of the heaviest users have the same time. The pages
/// of the users still show it.
const SAME_IN: usize = 10;

/// Whether a column has one value in the rows of the heaviest users.
fn is_same(rows: &[Vec<Cell>], column: usize) -> bool {
    let mut cells = rows.iter().take(SAME_IN).map(|row| row[column].html());
    let first = cells.next();
    2 < rows.len() && cells.all(|cell| Some(cell) == first)
}

/// The positions of the columns of times in the table of users.
const FIRST_USE_AT: usize = 4;
const LAST_USE_AT: usize = 5;

/// The tables of users and machines on the page of the study, with suggestions.
pub(super) fn index(result: &Stored, all: &[Stored]) -> String {
    let Some(of) = Of::new(result, all) else { return String::new() };
    let (is_only, site) = (of.settings.is_only_cluster(), site_of(result));
    let used = of.column();
    let (most, since_s) = (of.most(), of.since_s());
    let waits = &of.waits;
    let mut header = vec![of.kind(), &used, "share", &most, FIRST_USE, "last use"];
    if !waits.is_empty() {
        header.extend(waits.header());
    }
    let row = |(place, user): (usize, &UserUsage)| {
        let mut cells = vec![
            linked(&short(user_name(&user.user)), "users", place),
            of.used(user.cpu_s),
            share(user.share),
            number(user.peak_cores),
            Cell::instant(Some(since_s + user.first_use_s)),
            Cell::instant(Some(since_s + user.last_use_s)),
        ];
        if !waits.is_empty() {
            cells.extend(waits.cells(&user.user));
        }
        cells
    };
    let mut rows: Vec<Vec<Cell>> = of.answer.users.iter().enumerate().map(row).collect();
    // Removed from the right, so that positions to the left stay valid.
    for column in
        [LAST_USE_AT, FIRST_USE_AT].into_iter().filter(|&at| is_same(&rows, at)).collect::<Vec<_>>()
    {
        header.remove(column);
        for row in &mut rows {
            row.remove(column);
        }
    }
    let has_times = header.contains(&FIRST_USE) || header.contains(&"last use");
    let clock = if has_times { format!(" ({})", of.clock()) } else { String::new() };
    let caption = format!("By {}{clock}", of.kind());
    let mut html = super::fading::element(result).unwrap_or_default();
    let header: Vec<String> = header.into_iter().map(str::to_owned).collect();
    html.push_str(&html::table(&caption, &header, &rows));
    html.push_str(&explained(of.answer));
    for said in undefined_of(of.answer) {
        let _ = writeln!(html, "<p class=\"source\">{}.</p>", escape(&said));
    }
    let row = |(place, machine): (usize, &MachineUsage)| {
        let name = linked(&machine_name(machine, (is_only, site), short), "machines", place);
        vec![name, of.used(machine.cpu_s), share(machine.share)]
    };
    let rows: Vec<Vec<Cell>> = of.answer.machines.iter().enumerate().map(row).collect();
    // A single class of all machines would only repeat the total.
    if 1 < rows.len() {
        let kind = kind_of_all(&of.answer.machines, site);
        let header = [kind, &used, "share"].map(str::to_owned);
        html.push_str(&html::table(&format!("By {kind}"), &header, &rows));
    }
    html.push_str(&suggested::table(&of));
    html
}

/// The pages of users and machines; pages of users link to the pages of their jobs.
pub(super) fn pages(result: &Stored, all: &[Stored]) -> Vec<Page> {
    let Some(of) = Of::new(result, all) else { return Vec::new() };
    let jobs = jobs_by_user(all);
    let (indices, outcomes) = (Indices::read(result), Outcomes::of(all));
    let happened = Happened::of(of.all);
    let FairnessAnswer { users, machines, .. } = of.answer;
    let places = of.places();
    let mut used: BTreeMap<&str, Vec<(usize, f64)>> = BTreeMap::new();
    for (place, machine) in machines.iter().enumerate() {
        for (user, cpu_s) in &machine.users {
            let name = user.as_deref().unwrap_or(NOBODY);
            used.entry(name).or_default().push((place, *cpu_s));
        }
    }
    // On the page of a user, the machine that it used most comes first.
    for own in used.values_mut() {
        own.sort_by(|one, other| other.1.total_cmp(&one.1));
    }
    let (is_only, site) = (of.settings.is_only_cluster(), site_of(result));
    let whole = |name: &str| name.to_owned();
    let names: Vec<String> =
        machines.iter().map(|machine| machine_name(machine, (is_only, site), whole)).collect();
    let mut pages: Vec<Page> = users
        .par_iter()
        .take(PAGES_MAX)
        .enumerate()
        .map(|(place, user)| {
            let name = user.user.as_str();
            let machines = used.get(name).map_or(&[][..], Vec::as_slice);
            let mut more = String::new();
            if of.answer.by == By::User {
                more.push_str(&happened.of_user(name));
                more.push_str(&outcomes.html(name, result));
                more.push_str(
                    &jobs.get(name).map_or_else(String::new, |own| jobs::table(own, outcomes.ends)),
                );
            }
            user_page(&of, (place, user), (machines, &names), &indices, &more)
        })
        .collect();
    // No table links to the page of a single class of all machines.
    let linked = if 1 < machines.len() { machines.len().min(PAGES_MAX) } else { 0 };
    for (place, machine) in machines.iter().enumerate().take(linked) {
        pages.push(machine_page(&of, place, machine, &names[place], &places));
    }
    pages
}

/// The usage of a user so far, with its indices among those of all users, for a page of the portal.
/// `None` if the user used nothing.
#[cfg(feature = "serve")]
pub(crate) fn user_beside(result: &Stored, name: &str) -> Option<String> {
    let of = Of::new(result, &[])?;
    let mut all = of.answer.users.iter().enumerate();
    let (place, user) = all.find(|(_, user)| user.user == name)?;
    let title = format!("{} {}: {} so far", of.kind(), short(user_name(name)), of.noun());
    let indices = Indices::of(result, &std::iter::once(name).collect());
    let chart = indices.chart(name, of.kind(), over_time(&of, user, &title));
    Some(user_answer(&of, place, user) + &series::html(&of.gapped(chart)))
}

/// The usage of a user, its place among all users, and how evenly its usage was spread over time,
/// as HTML.
fn user_answer(of: &Of<'_>, place: usize, user: &UserUsage) -> String {
    let answer = of.answer;
    let kind = of.kind();
    let mut said = format!(
        "This {kind} {} {} of {}, {} of all, {}",
        of.settings.cpu.as_ref().map_or("used", |cpu| verb_of(cpu)),
        of.used_text(user.cpu_s),
        of.noun(),
        share_text(user.share),
        match (place, answer.users.len() as u64) {
            (_, 1) => format!("the only {kind} with usage"),
            (0, all) => format!("the most of the {} with usage", counted(all, kind)),
            (behind, all) => format!(
                "place {} of the {} with usage",
                grouped(behind as u64 + 1),
                counted(all, kind)
            ),
        },
    );
    let _ = write!(
        said,
        ". It was active in {} of {} ({}); the busiest of them has {} of its usage",
        grouped(user.active_intervals),
        match answer.interval_s {
            3600.0 => counted(answer.intervals, "hour"),
            other => format!("{} of {}", counted(answer.intervals, "interval"), lasting(other)),
        },
        of.charged(),
        share_text(Some(user.largest_step_share))
    );
    format!("<p class=\"answer\">{}.</p>\n", sentence(&said))
}

/// The page of a user: its usage, its place among all users, its machines, and `more`.
fn user_page(
    of: &Of<'_>,
    (place, user): (usize, &UserUsage),
    (machines, names): (&[(usize, f64)], &[String]),
    indices: &Indices,
    more: &str,
) -> Page {
    let name = user_name(&user.user);
    let since_s = of.since_s();
    let at = |seconds: f64| instant(since_s + seconds);
    let peak = format!("{}, from {} on", three_digits(user.peak_cores), at(user.peak_at_s));
    let most = of.most();
    let mut pairs = vec![
        (most.as_str(), peak),
        (FIRST_USE, at(user.first_use_s)),
        ("last use", at(user.last_use_s)),
    ];
    let several = groups_of_user(&user.user, of.result, of.all);
    let several = several.filter(|_| of.answer.by == By::User);
    let first = || Some((group_of(of.result), user.group.clone()?));
    if let Some(groups) = several.or_else(first) {
        pairs.insert(0, groups);
    }
    pairs.extend(of.waits.facts(&user.user));
    if of.answer.by == By::User {
        let wasted = super::months::wasted_of(&user.user, of.all);
        pairs.extend(wasted.map(|said| ("CPU time in attempts that did not finish", said)));
    }
    let mut body = back();
    body.push_str(&incomplete_in_short(of.all));
    body.push_str(&user_answer(of, place, user));
    body.push_str(&html::facts(pairs));
    let title = format!("{} {name}: {} so far", of.kind(), of.noun());
    let _ = writeln!(body, "<h2>{} so far, over time</h2>", capital(of.noun()));
    let so_far = over_time(of, user, &title);
    let chart = indices.chart(&user.user, of.kind(), so_far);
    body.push_str(&series::html(&of.gapped(chart)));
    let column = of.column();
    let rows: Vec<Vec<Cell>> = machines
        .iter()
        .map(|&(machine, cpu_s)| {
            let href = format!("../{}", file_of("machines", machine));
            let link = if machine < PAGES_MAX {
                Cell::link(&short_parts(&names[machine]), &href)
            } else {
                Cell::name(&short_parts(&names[machine]))
            };
            vec![link, of.used(cpu_s)]
        })
        .collect();
    // A single class of all machines would only repeat the total.
    if !rows.is_empty() && 1 < names.len() {
        let kind = kind_of_all(&of.answer.machines, site_of(of.result));
        let header = [kind, &column].map(str::to_owned);
        body.push_str(&html::table("Where it ran", &header, &rows));
    }
    if 1 < user.by_cluster.len() {
        let clusters = user.by_cluster.iter();
        let rows: Vec<Vec<Cell>> =
            clusters.map(|(cluster, cpu_s)| vec![Cell::name(cluster), of.used(*cpu_s)]).collect();
        let header = ["cluster", &column].map(str::to_owned);
        body.push_str(&html::table("By cluster", &header, &rows));
    }
    body.push_str(more);
    let _ = writeln!(body, "<p class=\"source\">Instants: {}.</p>", of.clock());
    body.push_str(&source(of.result));
    let title = format!("{} {name}", capital(of.kind()));
    Page { file: file_of("users", place), title, within: PAGE, body }
}

/// The command whose result a page shows.
fn source(result: &Stored) -> String {
    format!("<p class=\"source\">From <code>{}</code></p>\n", escape(&result.command()))
}

fn back() -> String {
    format!("<p><a href=\"../{PAGE}\">All users and machines</a></p>\n")
}

/// The usage so far at the end of each interval.
#[expect(clippy::cast_precision_loss, reason = "intervals are below 2^53")]
fn over_time(of: &Of<'_>, user: &UserUsage, title: &str) -> LineChart {
    let interval_s = of.answer.interval_s;
    let (unit, per) = of.unit();
    let days = |interval: u64| interval as f64 * interval_s / 86_400.0;
    let mut so_far = 0.0;
    let mut points = vec![(0.0, 0.0)];
    for &(interval, cpu_s) in &user.by_interval {
        so_far += cpu_s / per;
        points.push((days(u64::from(interval) + 1), so_far));
    }
    points.push((days(of.answer.intervals), so_far));
    let step = if of.settings.is_charged_as_it_runs() {
        "A steep step is heavy use within a short time"
    } else {
        "A step is an attempt that ended, however long it ran"
    };
    let when = of.charged();
    let said = format!("{step}. Sums over intervals of {}, {when}.", lasting(interval_s));
    LineChart {
        title: title.to_owned(),
        caption: said,
        x_axis: DAYS_OF_SPAN.to_owned(),
        y_axis: unit,
        x_scale: Scale::Linear,
        y_from: 0.0,
        lines: vec![Line::steps(String::new(), points, Tone::Blue)],
    }
}

/// The largest number of users that the page of a machine names.
const NAMED_MAX: usize = 50;

/// How many users a machine or class of machines had, and which of them its page names.
fn who_used(of: &Of<'_>, machine: &MachineUsage) -> String {
    let users = machine.users.len();
    let (it, its, class) = spoken(machine, site_of(of.result));
    let used = counted(users as u64, of.kind());
    let named = machine.users.iter().take(NAMED_MAX).map(|user| user.1).sum::<f64>();
    let rest = (NAMED_MAX < users && 0.0 < machine.cpu_s).then(|| {
        let all = share_text(Some(named / machine.cpu_s));
        format!(": the {NAMED_MAX} heaviest are listed, with {all} of {its} {}", of.noun())
    });
    format!(
        "{class}{used} used {it}{}. Shares are of {its} {}.",
        rest.unwrap_or_default(),
        of.noun()
    )
}

/// The page that is marked as current in the links of the page of a machine or class of machines:
/// the page of machines if they were studied.
fn page_of_machine(of: &Of<'_>, machine: &MachineUsage) -> &'static str {
    let name = machines::KIND.name;
    let is_studied = |result: &Stored| result.name == name && nothing(result).is_none();
    let studied = page_of(name).filter(|_| of.all.iter().any(is_studied));
    studied.filter(|_| machine.site.is_none()).unwrap_or(PAGE)
}

/// The share of a machine or class of machines in all use, the user with the largest part of it,
/// and `more` about it.
fn lead(of: &Of<'_>, machine: &MachineUsage, more: Option<String>) -> String {
    let it = spoken(machine, site_of(of.result)).0;
    let whole = format!("Jobs on {it} have {} of all {}", share_text(machine.share), of.noun());
    let heaviest = machine.users.first().filter(|_| 1 < machine.users.len());
    let heaviest = heaviest.filter(|_| 0.0 < machine.cpu_s).map(|(user, cpu_s)| {
        let name = short(user_name(user.as_deref().unwrap_or(NOBODY)));
        let share = share_text(Some(cpu_s / machine.cpu_s));
        format!("{} {name} has the largest share of that, {share}", of.kind())
    });
    let said: Vec<String> = std::iter::once(whole).chain(heaviest).chain(more).collect();
    format!("<p class=\"answer\">{}.</p>\n", escape(&said.join("; ")))
}

/// Users with a bar on the page of a machine.
const BARS_MAX: usize = 10;

/// The share of each of the heaviest users of a machine, and of all others together; `None` for one
/// user.
fn by_user(of: &Of<'_>, machine: &MachineUsage) -> Option<Chart> {
    let (named, rest) = machine.users.split_at(BARS_MAX.min(machine.users.len()));
    if machine.users.len() < 2 || machine.cpu_s <= 0.0 {
        return None;
    }
    let bar = |label: String, cpu_s: f64, tone: Tone| {
        let share = cpu_s / machine.cpu_s;
        Bar { label, value: 100.0 * share, note: share_text(Some(share)), tone, part: None }
    };
    let name = |user: &Option<String>| short(user_name(user.as_deref().unwrap_or(NOBODY)));
    let bars = named.iter().map(|(user, cpu_s)| bar(name(user), *cpu_s, Tone::Blue));
    let others = (!rest.is_empty()).then(|| {
        let label = format!("the other {}", counted(rest.len() as u64, of.kind()));
        bar(label, rest.iter().map(|user| user.1).sum(), Tone::Grey)
    });
    let it = spoken(machine, site_of(of.result)).0;
    Some(Chart::Bars(BarChart {
        title: format!("Who used {it}"),
        caption: format!("Shares of the {} on {it}.", of.noun()),
        value_axis: format!("share of the {} (%)", of.noun()),
        bars: bars.chain(others).collect(),
    }))
}

fn machine_page(
    of: &Of<'_>,
    place: usize,
    machine: &MachineUsage,
    name: &str,
    places: &FxHashMap<&str, usize>,
) -> Page {
    let mut body = back();
    body.push_str(&incomplete_in_short(of.all));
    let mut pairs =
        vec![(of.noun(), of.used_text(machine.cpu_s)), ("share of all", share_text(machine.share))];
    // The title has only the first letters of the platform.
    if let Some(platform) = machine.platform.as_ref().filter(|name| short(name) != **name) {
        pairs.push(("platform", platform.clone()));
    }
    pairs.extend(of_class(machine, of.all));
    let partition = match &machine.site {
        Some(site) if machine.machine.is_none() => Partition::of(site, of.all),
        _ => Partition::default(),
    };
    pairs.extend(partition.facts());
    let site = site_of(of.result);
    body.push_str(&lead(of, machine, partition.at_limit()));
    body.push_str(&html::facts(pairs));
    body.push_str(&by_user(of, machine).map_or_else(String::new, |chart| series::html(&chart)));
    body.push_str(&partition.table());
    let row = |(user, cpu_s): &(Option<String>, f64)| {
        let user = user.as_deref().unwrap_or(NOBODY);
        let shown = short(user_name(user));
        let cell = match places.get(user).filter(|&&place| place < PAGES_MAX) {
            Some(&place) => Cell::link(&shown, &format!("../{}", file_of("users", place))),
            None => Cell::name(&shown),
        };
        vec![cell, of.used(*cpu_s), share((0.0 < machine.cpu_s).then(|| cpu_s / machine.cpu_s))]
    };
    let rows: Vec<Vec<Cell>> = machine.users.iter().take(NAMED_MAX).map(row).collect();
    let what = spoken(machine, site).0;
    let _ = writeln!(body, "<h2>Who used {what}</h2>\n<p>{}</p>", who_used(of, machine));
    let header = [of.kind().to_owned(), of.column(), "share".to_owned()];
    let caption = format!("By {}, the heaviest first", of.kind());
    body.push_str(&html::table(&caption, &header, &rows));
    body.push_str(&source(of.result));
    Page {
        file: file_of("machines", place),
        title: capital(&short_parts(name)),
        within: page_of_machine(of, machine),
        body,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_with_one_value_in_the_first_rows_is_left_out() {
        let rows = |others: &[&str]| -> Vec<Vec<Cell>> {
            let first = std::iter::repeat_n("0 d", SAME_IN);
            first.chain(others.iter().copied()).map(|cell| vec![Cell::of(cell)]).collect()
        };
        // Only the first users count.
        assert!(is_same(&rows(&["1 d"]), 0));
        assert!(!is_same(&rows(&["1 d"])[1..], 0));
        assert!(!is_same(&rows(&[])[..2], 0), "two rows are short");
    }
}
