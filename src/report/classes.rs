//! Names of machines, and of classes of machines, on the pages of fairness.
//!
//! In: a machine or a class in a stored result. Out: its name in words; hashes may be shortened.

use serde::Deserialize;

use super::text::{figure_text, percent_said};
use crate::answers::machines::{self, MachinesAnswer};
use crate::answers::monthly::{self, MonthlyAnswer};
use crate::answers::sentences::short;
use crate::digits::{counted, grouped, lasting, three_digits};
use crate::fairness::usage::MachineUsage;
use crate::results::Stored;
use crate::schema::Source;

/// The name of a machine with its hashes shortened.
pub(super) fn short_parts(name: &str) -> String {
    let word = |word: &str| match word.strip_suffix(',') {
        Some(word) => format!("{},", short(word)),
        None => short(word),
    };
    name.split(' ').map(word).collect::<Vec<String>>().join(" ")
}

fn is_slurm(result: &Stored) -> bool {
    result.whole.source.as_deref() == Some(Source::Slurm.name())
}

/// The word for a site: Slurm calls it a partition.
pub(super) fn site_of(result: &Stored) -> &'static str {
    if is_slurm(result) { "partition" } else { "site" }
}

/// The word for a group of users: Slurm calls it an account.
pub(super) fn group_of(result: &Stored) -> &'static str {
    if is_slurm(result) { "account" } else { "group" }
}

/// The word for the queue in which jobs wait.
pub(super) fn queue_of(result: &Stored) -> &'static str {
    let source = result.whole.source.as_deref().and_then(|name| name.parse::<Source>().ok());
    match source {
        Some(Source::Slurm) => "partition",
        Some(source) if source.is_google() => "band of priorities",
        _ => "queue",
    }
}

/// The accounts or groups of a user who has several, the one with most CPU time first: a label and
/// their names. `None` for other users, and if months were not computed.
pub(super) fn groups_of_user(
    user: &str,
    result: &Stored,
    all: &[Stored],
) -> Option<(&'static str, String)> {
    const NAMED: usize = 8;
    let mut months = all.iter().filter(|result| result.name == monthly::KIND.name);
    let answer = months.next().and_then(Stored::found::<MonthlyAnswer>)?;
    let own = answer.accounts_of_users.iter().find(|own| own.user == user)?;
    let label = if is_slurm(result) { "accounts, by CPU time" } else { "groups, by CPU time" };
    let named = own.accounts.iter().take(NAMED).map(String::as_str).collect::<Vec<&str>>();
    let more = own.accounts.len() - named.len();
    let more =
        if more == 0 { String::new() } else { format!(" and {} more", grouped(more as u64)) };
    Some((label, named.join(", ") + &more))
}

/// The name of a machine or a class of machines. It includes the cluster if there are several
/// clusters.
pub(super) fn machine_name(
    own: &MachineUsage,
    (is_only, place): (bool, &str),
    spell: impl Fn(&str) -> String,
) -> String {
    let mut parts = Vec::new();
    if !is_only {
        parts.push(own.cluster.clone());
    }
    let size = |size: Option<f32>| size.map(|size| figure_text(f64::from(size)));
    let known = [
        ("machine", own.machine.map(|id| id.to_string())),
        (place, own.site.as_deref().map(&spell)),
        ("platform", own.platform.as_deref().map(&spell)),
        ("CPU", size(own.cpu)),
        ("memory", size(own.memory)),
    ];
    parts.extend(known.into_iter().filter_map(|(key, text)| Some(format!("{key} {}", text?))));
    if parts.is_empty() { "machines not distinguished".to_owned() } else { parts.join(", ") }
}

/// A row that stands for several machines.
const CLASS: &str = "class of machines";

/// What a row of machines is: a machine, a site (`place`), or a class of machines.
pub(super) fn kind_of(own: &MachineUsage, place: &'static str) -> &'static str {
    let has_build = own.platform.is_some() || own.cpu.is_some() || own.memory.is_some();
    match (own.machine, &own.site) {
        (Some(_), _) => "machine",
        (None, Some(_)) if !has_build => place,
        _ => CLASS,
    }
}

/// The kind of all rows of machines. If the kinds differ, a word that covers them. Rows without any
/// name do not count.
pub(super) fn kind_of_all(all: &[MachineUsage], place: &'static str) -> &'static str {
    let is_named =
        |own: &&MachineUsage| kind_of(own, place) != CLASS || !common(own, place).is_empty();
    let mut kinds = all.iter().filter(is_named).map(|own| kind_of(own, place));
    match kinds.next() {
        Some(first) if kinds.all(|kind| kind == first) => first,
        Some(_) => "machine or class of machines",
        None => CLASS,
    }
}

/// What the machines of a class have in common: `site`, `platform, CPU and memory`; empty if the
/// trace does not distinguish machines.
fn common(own: &MachineUsage, place: &str) -> String {
    let known = [
        (place, own.site.is_some()),
        ("platform", own.platform.is_some()),
        ("CPU", own.cpu.is_some()),
        ("memory", own.memory.is_some()),
    ];
    let known: Vec<&str> = known.iter().filter(|one| one.1).map(|one| one.0).collect();
    match known.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => known.concat(),
    }
}

/// The words for a row on its page: `this site` or `these machines`; `its` or `their`; and a
/// sentence that explains what a class is.
pub(super) fn spoken(own: &MachineUsage, place: &'static str) -> (String, &'static str, String) {
    match kind_of(own, place) {
        CLASS => {
            let same = common(own, place);
            let class = if same.is_empty() {
                "The trace does not distinguish these machines. ".to_owned()
            } else {
                format!("These are all machines with the same {same}. ")
            };
            ("these machines".to_owned(), "their", class)
        }
        kind => (format!("this {kind}"), "its", String::new()),
    }
}

/// A row of the machines' answer: a configuration, or all machines.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Configuration {
    is_total: bool,
    platform: Option<String>,
    cpu_capacity: Option<f32>,
    memory_capacity: Option<f32>,
    machines: u64,
    machines_down: u64,
    outages: u64,
    outage_s_median: Option<f64>,
    up_cpu_s: f64,
}

/// Facts about a class: the number of its machines, their share of all CPU, the use of that CPU
/// compared with all machines, and how often and for how long they left. Empty for single machines
/// and sites, and if machines were not studied.
pub(super) fn of_class(own: &MachineUsage, all: &[Stored]) -> Vec<(&'static str, String)> {
    if own.machine.is_some() || own.site.is_some() {
        return Vec::new();
    }
    let mut studied = all.iter().filter(|result| result.name == machines::KIND.name);
    let answer = studied.next().and_then(Stored::found::<MachinesAnswer>);
    let rows = answer.iter().flat_map(|answer| answer.rows.iter());
    let rows = rows.filter_map(|row| Configuration::deserialize(row).ok());
    facts_of(own, &rows.collect::<Vec<Configuration>>())
}

fn facts_of(own: &MachineUsage, rows: &[Configuration]) -> Vec<(&'static str, String)> {
    let is_same = |row: &&Configuration| {
        !row.is_total
            && row.platform == own.platform
            && row.cpu_capacity == own.cpu
            && row.memory_capacity == own.memory
    };
    let total = rows.iter().find(|row| row.is_total);
    let Some((class, total)) = rows.iter().find(is_same).zip(total) else { return Vec::new() };
    let count = format!("{} of {}", grouped(class.machines), grouped(total.machines));
    let mut facts = vec![("machines", count)];
    if 0.0 < total.up_cpu_s {
        let share = class.up_cpu_s / total.up_cpu_s;
        facts.push(("share of the CPU in service", percent_said(share)));
        if let Some(used) = own.share.filter(|_| 0.0 < share) {
            let ratio = format!("{} times as much", three_digits(used / share));
            facts.push(("use of their CPU, compared with all machines", ratio));
        }
    }
    let whole = counted(class.outages, "time");
    facts.push(("they left, in the whole log of machines", whole));
    if 0 < class.outages {
        let left = format!("{} of {}", grouped(class.machines_down), grouped(class.machines));
        facts.push(("machines that left at least once", left));
        facts.extend(class.outage_s_median.map(|away_s| ("median time away", lasting(away_s))));
        if let Some(cpu) = own.cpu.filter(|cpu| 0.0 < *cpu) {
            #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 outages")]
            let between_s = class.up_cpu_s / f64::from(cpu) / class.outages as f64;
            facts.push(("mean time in service per time that one left", lasting(between_s)));
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::envelope::Envelope;

    fn row(site: Option<&str>, cpu: Option<f32>, machine: Option<i64>) -> MachineUsage {
        MachineUsage {
            cluster: "lake".to_owned(),
            machine,
            platform: None,
            cpu,
            memory: cpu,
            site: site.map(str::to_owned),
            cpu_s: 1.0,
            share: None,
            users: Vec::new(),
        }
    }

    #[test]
    fn the_groups_of_a_user_with_several_are_listed() {
        let groups: Vec<String> = (1..=9).map(|group| group.to_string()).collect();
        let answer = serde_json::json!({"accounts_of_users": [
            {"user": "7", "accounts": ["16", "2"]}, {"user": "8", "accounts": groups},
        ]});
        let name = monthly::KIND.name.to_owned();
        let all = [Stored::of(Envelope { name, answer, ..Envelope::default() })];
        let said = |user: &str| groups_of_user(user, &all[0], &all);
        assert_eq!(said("7"), Some(("groups, by CPU time", "16, 2".to_owned())));
        assert_eq!(said("8").unwrap().1, "1, 2, 3, 4, 5, 6, 7, 8 and 1 more");
        assert_eq!((said("9"), groups_of_user("7", &all[0], &[])), (None, None));
    }

    #[test]
    fn a_class_has_its_machines_and_its_share_of_the_cpu() {
        let row = |is_total: bool, cpu: f32, machines: u64, up_cpu_s: f64| Configuration {
            is_total,
            cpu_capacity: Some(cpu),
            memory_capacity: Some(cpu),
            machines,
            machines_down: machines / 2,
            outages: 2 * machines,
            outage_s_median: Some(90.0),
            up_cpu_s,
            ..Configuration::default()
        };
        let rows = [row(true, 0.5, 40, 8.0), row(false, 0.25, 10, 1.0), row(false, 0.5, 30, 7.0)];
        let own = MachineUsage { memory: Some(0.5), ..self::row(None, Some(0.5), None) };
        let said = [("machines", "30 of 40"), ("share of the CPU in service", "87.5 %")];
        let facts = facts_of(&own, &rows);
        assert_eq!(facts[..2], said.map(|(key, text)| (key, text.to_owned())));
        let more = [
            ("they left, in the whole log of machines", "60 times"),
            ("machines that left at least once", "15 of 30"),
            ("median time away", "90 s"),
            // 7 CPU-s at half a CPU each: 14 s over 60 times.
            ("mean time in service per time that one left", "0.23 s"),
        ];
        assert_eq!(facts[2..], more.map(|(key, text)| (key, text.to_owned())));
        let used = MachineUsage { share: Some(0.4375), ..own.clone() };
        let ratio =
            ("use of their CPU, compared with all machines", "0.5 times as much".to_owned());
        assert_eq!(facts_of(&used, &rows)[2], ratio);
        let other = MachineUsage { platform: Some("x".to_owned()), ..own };
        assert_eq!(facts_of(&other, &rows), []);
    }

    #[test]
    fn a_row_is_called_what_it_is_in_the_log() {
        let partition = row(Some("black"), None, None);
        let (it, its, class) = spoken(&partition, "partition");
        assert_eq!((it.as_str(), its, class.as_str()), ("this partition", "its", ""));
        let class = spoken(&row(None, Some(0.5), None), "site").2;
        assert_eq!(class, "These are all machines with the same CPU and memory. ");
        let nothing = row(None, None, None);
        assert_eq!(spoken(&nothing, "site").2, "The trace does not distinguish these machines. ");
        assert_eq!(spoken(&row(None, None, Some(7)), "site").0, "this machine");
        let unknown_too = [partition, nothing];
        assert_eq!(kind_of_all(&unknown_too, "partition"), "partition");
        assert_eq!(kind_of_all(&unknown_too[1..], "partition"), CLASS);
        let [partition, _] = unknown_too;
        assert_eq!(
            kind_of_all(&[partition, row(None, None, Some(7))], "partition"),
            "machine or class of machines"
        );
    }
}
