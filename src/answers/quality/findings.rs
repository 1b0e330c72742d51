//! The consequences of the checks of a lake for its answers.

use std::collections::BTreeMap;

use super::Weight;
use super::rules::{
    NAMED_JOBS_MIN, NAMES_PER_JOB, NEEDED_FOR, NULLS, OF_A_CUT, RECORDED, RULES, Rule, SEE_CLOSED,
};
use crate::answers::sentences::{Capacity, MOST_USED, capital};
use crate::answers::verify::{Count, VerifyAnswer};
use crate::digits::{counted, grouped};
use crate::lake::Gap;
use crate::notation::listed;
use crate::results::envelope::Input;
use crate::schema::{CAPACITY_FROM_USE, ON_SEVERAL, Table};
use crate::studies::checks::Check;
use crate::studies::first_end::LACKS_OPEN;

/// The results of a stored `verify`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verified {
    /// Published counts, each with the count in this lake.
    pub checks: Vec<Check>,
    /// Tables that contradict each other.
    contradictions: Vec<String>,
    /// Observations that look wrong although no check fails.
    warnings: Vec<String>,
    /// The warning that jobs with an early end are missing.
    first_end: Option<String>,
    /// All counts.
    counts: Vec<Count>,
    /// The gaps between loaded parts.
    gaps: Vec<Gap>,
}

impl From<&VerifyAnswer> for Verified {
    fn from(answer: &VerifyAnswer) -> Self {
        Self {
            checks: answer.checks.clone(),
            contradictions: answer.contradictions.clone(),
            warnings: answer.warnings.clone(),
            first_end: answer.first_end.clone(),
            counts: answer.counts.iter().collect(),
            gaps: answer.gaps.clone(),
        }
    }
}

/// Something that a reader should know about a lake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// How much it matters.
    pub weight: Weight,
    /// The topic, in a few words.
    pub about: String,
    /// The observation, with its number and scope, without the full stop.
    pub said: String,
    /// Further details, one entry per line; usually empty.
    pub list: Vec<String>,
    /// The consequence for studies, without the full stop.
    pub means: &'static str,
    /// The advice to the user, without the full stop; `None` if nothing can be done.
    pub act: Option<String>,
}

impl Verified {
    fn count(&self, table: &str, what: &str) -> u64 {
        let mut counts = self.counts.iter();
        let found = counts.find(|count| count.table == table && count.what == what);
        found.map_or(0, |count| count.found)
    }

    /// The number of jobs.
    pub(crate) fn jobs(&self) -> u64 {
        self.count(Table::JobEvents.name(), "entities")
    }

    /// All findings, in order. `inputs` are the tables of the lake; `known` are the tables that
    /// such a trace can have.
    pub(crate) fn findings(&self, inputs: &[Input], known: &[Table]) -> Vec<Finding> {
        let mut found = self.wrong();
        found.extend(missing(inputs, known, &self.gaps));
        found.extend(self.never_recorded());
        found.extend(self.capacity(inputs));
        found.extend(RULES.iter().filter_map(|rule| self.by_rule(rule)));
        found.extend(self.sometimes_recorded(inputs));
        found.extend(self.names());
        found.extend(assumed(inputs));
        found.sort_by_key(|one| one.weight);
        found
    }

    /// Failed checks, contradictions and warnings.
    fn wrong(&self) -> Vec<Finding> {
        let mut found: Vec<Finding> = Vec::new();
        let differ: Vec<String> = self
            .checks
            .iter()
            .filter(|check| !check.is_ok())
            .map(|check| {
                let [ours, published] = [check.found, check.published].map(grouped);
                format!("{} of `{}` is {ours}, published is {published}", check.what, check.table)
            })
            .collect();
        if !differ.is_empty() {
            let all = counted(self.checks.len() as u64, "published count");
            let verb = if differ.len() == 1 { "differs" } else { "differ" };
            found.push(Finding {
                weight: Weight::Wrong,
                about: "Not what was published".to_owned(),
                said: format!("{} of {all} {verb}: {}", differ.len(), differ.join("; ")),
                list: Vec::new(),
                means: "Do not compare figures with those of papers before this is understood",
                act: Some(
                    "Find the part: `jobfate verify TRACE` compares each with its checksum"
                        .to_owned(),
                ),
            });
        }
        let wrong = |about: &str, said: &String, means| Finding {
            weight: Weight::Wrong,
            about: about.to_owned(),
            said: capital(said),
            list: Vec::new(),
            means,
            act: None,
        };
        let contradiction =
            "A log has each job once in each table, so rows are missing or duplicated";
        found.extend(
            self.contradictions.iter().map(|said| wrong("Contradiction", said, contradiction)),
        );
        let warning = "No check fails, but numbers of this trace may be too low, empty or wrong";
        found.extend(self.warnings.iter().map(|said| {
            if self.first_end.as_ref() == Some(said) {
                // The warning already describes the effect on use, waits and running times.
                let about = if said.contains(LACKS_OPEN) {
                    "Jobs that ended earlier, or still ran at the end, are missing"
                } else {
                    "Jobs that ended earlier are missing"
                };
                wrong(about, said, "Users with long jobs have too large a share")
            } else {
                wrong("Warning", said, warning)
            }
        }));
        found
    }

    /// The finding of a rule. It covers all tables that have its count.
    fn by_rule(&self, rule: &Rule) -> Option<Finding> {
        let counts = self.counts.iter().filter(|count| count.what == rule.what);
        let all: Vec<(&str, u64)> = counts
            .map(|count| {
                let without = self.count(&count.table, rule.without);
                (count.table.as_str(), count.found.saturating_sub(without))
            })
            .filter(|(_, found)| 0 < *found)
            .collect();
        let of = |table: &str, found: u64| {
            let whole = self.count(table, rule.of);
            match rule.of {
                "" => String::new(),
                _ => format!(" ({} of {})", share(found, whole), grouped(whole)),
            }
        };
        let said = if let Some(jobs) = self.jobs_of(rule, &all) {
            let of = of(Table::JobEvents.name(), jobs);
            format!("{}{of} {}", counted(jobs, "job"), rule.of_jobs)
        } else {
            let of_table = |&(table, found): &(&str, u64)| {
                let what = format!("{} {}", grouped(found), plural(rule.noun, found));
                format!("{what} in `{table}`{}", of(table, found))
            };
            let all: Vec<String> = all.iter().map(of_table).collect();
            format!("{} {}", listed(&all), rule.said)
        };
        (!all.is_empty()).then(|| Finding {
            weight: rule.weight,
            about: rule.about.to_owned(),
            said,
            list: Vec::new(),
            means: rule.means,
            act: Some(rule.act).filter(|act| !act.is_empty()).map(str::to_owned),
        })
    }

    /// The number of jobs that a rule counts, if each job is one task, so that both tables have the
    /// same count.
    fn jobs_of(&self, rule: &Rule, found: &[(&str, u64)]) -> Option<u64> {
        let [jobs, tasks] = [Table::JobEvents, Table::TaskEvents].map(Table::name);
        let is_alike = self.count(jobs, "entities") == self.count(tasks, "entities");
        match found {
            [one, other] if is_alike && !rule.of_jobs.is_empty() => {
                let are_both = one.1 == other.1 && [one.0, other.0] == [jobs, tasks];
                are_both.then_some(one.1)
            }
            _ => None,
        }
    }

    /// The finding that hardly any two jobs have the same name.
    fn names(&self) -> Option<Finding> {
        let table = Table::JobEvents.name();
        let (names, jobs) =
            (self.count(table, "distinct logical_job_name"), self.count(table, "jobs"));
        #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
        let are_many = NAMES_PER_JOB * jobs as f64 <= names as f64;
        (NAMED_JOBS_MIN <= jobs && are_many).then(|| Finding {
            weight: Weight::Unusual,
            about: "Names almost unique".to_owned(),
            said: format!("{} have {}", counted(jobs, "job"), counted(names, "different name")),
            list: Vec::new(),
            means: "What compares jobs of the same name has few to compare",
            act: None,
        })
    }

    /// The finding about the capacity, if it is inferred from use.
    fn capacity(&self, inputs: &[Input]) -> Option<Finding> {
        let table = Table::MachineEvents.name();
        let unnamed = self.count(table, "nulls in machine_name");
        let named = self.count(table, "machines").saturating_sub(unnamed);
        let row = if 0 < unnamed && 0 < named {
            format!(
                ". In `{table}`, {} without a name {} for them all, next to the {} that the log names",
                counted(unnamed, "row"),
                if unnamed == 1 { "stands" } else { "stand" },
                counted(named, "machine")
            )
        } else {
            String::new()
        };
        (Capacity::of(inputs) == Capacity::FromUse).then(|| Finding {
            weight: Weight::Missing,
            about: "Capacity inferred from use".to_owned(),
            said: format!(
                "The log does not record how many processors there were: {MOST_USED} stand for them{row}"
            ),
            list: Vec::new(),
            means: "Shares of the capacity are shares of that maximum: the load seems to fill the machines \
                once, and a replay has no more room than was used; the machines may have been larger",
            act: None,
        })
    }

    /// The finding about columns that have no value in any row of a loaded table.
    fn never_recorded(&self) -> Option<Finding> {
        let is_silent = |(table, column, _): &&(&str, &str, &str)| {
            let rows = self.count(table, "rows");
            0 < rows && self.count(table, &format!("nulls in {column}")) == rows
        };
        let all: Vec<String> =
            RECORDED.iter().filter(is_silent).map(|(.., what)| (*what).to_owned()).collect();
        (!all.is_empty()).then(|| Finding {
            weight: Weight::Missing,
            about: "Never recorded".to_owned(),
            said: format!("Recorded in no row: {}", listed(&all)),
            list: Vec::new(),
            means: "Studies that need one of these are not answered, or say what they assume instead",
            act: None,
        })
    }

    /// Columns that have a value in only some rows.
    fn sometimes_recorded(&self, inputs: &[Input]) -> Vec<Finding> {
        let mut found = Vec::new();
        let is_from_use = Capacity::of(inputs) == Capacity::FromUse;
        for (column, means) in NULLS {
            let what = format!("nulls in {column}");
            for count in self.counts.iter().filter(|count| count.what == what && 0 < count.found) {
                let rows = self.count(&count.table, "rows");
                // Events before a task runs have no machine. A capacity inferred from use belongs
                // to the whole system, so no machine has a capacity.
                if count.found == rows
                    || (column == "cpu_capacity" && is_from_use)
                    || (column == "machine_id" && count.table == "task_events")
                {
                    continue;
                }
                found.push(Finding {
                    weight: Weight::Unusual,
                    about: format!("No {}", column.replace('_', " ")),
                    said: format!(
                        "{} in `{}` ({} of {}) without a value in `{column}`",
                        counted(count.found, "row"),
                        count.table,
                        share(count.found, rows),
                        grouped(rows)
                    ),
                    list: Vec::new(),
                    means,
                    act: None,
                });
            }
        }
        found
    }
}

/// Tables and parts that are not in the lake.
fn missing(inputs: &[Input], known: &[Table], gaps: &[Gap]) -> Vec<Finding> {
    let mut found = Vec::new();
    for input in inputs.iter().filter(|input| !input.is_whole()) {
        let of = input.parts_of.unwrap_or(0);
        let time = hours(input).map_or_else(String::new, |[from, until]| {
            format!(", hours {from:.1} to {until:.1} of the trace")
        });
        found.push(Finding {
            weight: Weight::Missing,
            about: format!("Some of {}", input.table),
            said: format!(
                "{} of {} of `{}` loaded{time}",
                grouped(input.part_count.unwrap_or(0)),
                counted(of, "part"),
                input.table
            ),
            list: Vec::new(),
            means: OF_A_CUT,
            act: Some(
                "Load the other parts: `jobfate ingest TRACE --lake LAKE` adds those that are new; until \
                then quote every figure of this table with its hours"
                    .to_owned(),
            ),
        });
    }
    if !gaps.is_empty() {
        let all: Vec<String> = gaps.iter().map(ToString::to_string).collect();
        found.push(Finding {
            weight: Weight::Missing,
            about: "A gap between loaded parts".to_owned(),
            said: format!("Missing between loaded parts: {}", all.join("; ")),
            list: Vec::new(),
            means: "What happened in the gap is unknown: a task that ended in it seems to run on, to the \
                end of its job",
            act: Some(format!("Load the missing parts, or {SEE_CLOSED}")),
        });
    }
    let absent: Vec<Table> = known
        .iter()
        .copied()
        .filter(|table| inputs.iter().all(|input| input.table != table.name()))
        .collect();
    let needed: Vec<&(Table, &str)> =
        NEEDED_FOR.iter().filter(|(table, _)| absent.contains(table)).collect();
    if !needed.is_empty() {
        let names: Vec<String> =
            needed.iter().map(|(table, what)| format!("`{table}` ({what})")).collect();
        let tables: Vec<&str> = needed.iter().map(|(table, _)| table.name()).collect();
        found.push(Finding {
            weight: Weight::Missing,
            about: "Tables that are not loaded".to_owned(),
            said: format!("Not loaded: {}", listed(&names)),
            list: Vec::new(),
            means: "Questions that need them are not answered",
            act: Some(format!(
                "Load them: `jobfate ingest TRACE --tables {} --lake LAKE`",
                tables.join(",")
            )),
        });
    }
    found
}

/// The first and last hour of a table on the trace clock; `None` if that clock counts from 1970.
fn hours(input: &Input) -> Option<[f64; 2]> {
    const YEARS_10_S: f64 = 315_360_000.0;
    let (start_s, end_s) = input.start_s.zip(input.end_s)?;
    (start_s < end_s && end_s < YEARS_10_S).then_some([start_s / 3600.0, end_s / 3600.0])
}

/// The assumptions made about rows.
fn assumed(inputs: &[Input]) -> Option<Finding> {
    let mut all: BTreeMap<&str, u64> = BTreeMap::new();
    for (wording, count) in inputs.iter().flat_map(|input| &input.remarks) {
        // This assumption has a separate finding, because the number of machines does not show how
        // much it matters.
        if wording == CAPACITY_FROM_USE {
            continue;
        }
        let own = all.entry(wording).or_default();
        // All tables of a log are made from the same lines, so counts are not added.
        *own = (*own).max(*count);
    }
    let mut all: Vec<(&str, u64)> = all.into_iter().collect();
    all.sort_by_key(|(wording, count)| (std::cmp::Reverse(*count), *wording));
    let list: Vec<String> =
        all.iter().map(|(wording, count)| assumption(wording, *count)).collect();
    (!list.is_empty()).then(|| Finding {
        weight: Weight::Unusual,
        about: "Assumed".to_owned(),
        said: "Where the log leaves something open, this was assumed".to_owned(),
        list,
        means: "All tables of a log are made from the same lines, so a line counts once. Figures that \
            depend on one of these would be different under another assumption",
        act: None,
    })
}

/// An assumption with the number of affected lines: `Status unknown, has run: taken as finished (14
/// lines)`.
pub(crate) fn assumption(wording: &str, count: u64) -> String {
    let wording = if wording == ON_SEVERAL {
        "ran on several machines: the log names all of them, but not what ran on which"
    } else {
        wording
    };
    let mut letters = wording.chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    format!("{} ({})", first.chain(letters).collect::<String>(), counted(count, "line"))
}

#[expect(clippy::cast_precision_loss, reason = "a share for people")]
fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        "0 %".to_owned()
    } else {
        super::super::sentences::percent(part as f64 / whole as f64)
    }
}

fn plural(noun: &str, count: u64) -> String {
    match (count, noun.strip_suffix('y')) {
        (1, _) => noun.to_owned(),
        (_, Some(stem)) => format!("{stem}ies"),
        (_, None) => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::findings::*;

    fn input(table: &str, part_count: usize, parts_of: Option<u32>) -> Value {
        json!({"table": table, "parts": "0-13", "part_count": part_count, "parts_of": parts_of, "rows": 100,
            "start_s": 0.0, "end_s": 90_000.0, "sha256": ""})
    }

    fn found(counts: &Value, inputs: &[Value]) -> Vec<Finding> {
        let verified = json!({"checks": [], "warnings": [], "counts": counts, "gaps": []});
        let verified: VerifyAnswer = serde_json::from_value(verified).unwrap();
        let verified = Verified::from(&verified);
        let inputs: Vec<Input> =
            inputs.iter().map(|input| serde_json::from_value(input.clone()).unwrap()).collect();
        verified.findings(&inputs, &[Table::JobEvents, Table::TaskEvents])
    }

    fn count(table: &str, what: &str, count: u64) -> Value {
        json!({"table": table, "what": what, "count": count})
    }

    #[test]
    fn a_whole_and_regular_lake_has_no_finding() {
        let inputs = [input("job_events", 1, Some(1)), input("task_events", 1, None)];
        let counts = json!([
            count("job_events", "rows", 100),
            count("job_events", "exact duplicates", 0),
            count("job_events", "nulls in user", 0),
            count("job_events", "ties", 5),
        ]);
        assert_eq!(found(&counts, &inputs), []);
    }

    #[test]
    fn what_is_missing_is_said_before_what_is_unusual() {
        let inputs = [input("task_events", 17, Some(500))];
        let counts = json!([
            count("task_events", "rows", 100),
            count("task_events", "entities", 50),
            count("task_events", "exact duplicates", 1),
            count("task_events", "first event is not SUBMIT", 25),
            count("task_events", "nulls in machine_id", 40),
            count("task_events", "nulls in priority", 100),
            count("task_events", "nulls in cpu_request", 3),
        ]);
        let found = found(&counts, &inputs);
        let said: Vec<&str> = found.iter().map(|one| one.said.as_str()).collect();
        assert_eq!(
            said,
            [
                "17 of 500 parts of `task_events` loaded, hours 0.0 to 25.0 of the trace",
                "Not loaded: `job_events` (outcomes of jobs, users, job ends)",
                "Recorded in no row: the priority of tasks",
                "1 row in `task_events` (1.0 % of 100) the same as another in every column",
                "25 histories in `task_events` (50.0 % of 50) without a SUBMIT at the start, not after a gap of \
                the loaded parts",
                "3 rows in `task_events` (3.0 % of 100) without a value in `cpu_request`",
            ]
        );
        assert!(found.is_sorted_by_key(|one| one.weight));
        assert!(found[0].act.as_ref().unwrap().contains("jobfate ingest TRACE --lake LAKE"));
    }

    #[test]
    fn a_submit_that_is_lost_in_a_gap_is_not_said_to_be_before_the_first_row() {
        let inputs = [input("job_events", 1, Some(1)), input("task_events", 1, None)];
        let said = |all: u64, after: u64| {
            let counts = json!([
                count("task_events", "entities", 100),
                count("task_events", "first event is not SUBMIT", all),
                count("task_events", "first event is not SUBMIT, after a gap", after),
            ]);
            let found = found(&counts, &inputs);
            found.into_iter().map(|one| (one.weight, one.about, one.said)).collect::<Vec<_>>()
        };
        let lost = said(8, 8);
        assert_eq!(lost.len(), 1, "{lost:?}");
        assert_eq!((lost[0].0, lost[0].1.as_str()), (Weight::Missing, "SUBMIT lost in a gap"));
        assert!(lost[0].2.starts_with("8 histories in `task_events` (8.0 % of 100)"), "{lost:?}");
        let both = said(8, 5);
        assert_eq!(both.len(), 2, "{both:?}");
        assert!(
            both[0].2.starts_with("5 histories") && both[1].2.starts_with("3 histories"),
            "{both:?}"
        );
    }

    #[test]
    fn ends_of_jobs_of_one_task_are_counted_once() {
        let inputs = [input("job_events", 1, Some(1)), input("task_events", 1, None)];
        let said = |tasks: u64| {
            let counts = json!([
                count("job_events", "entities", 100),
                count("job_events", "ended while pending", 4),
                count("task_events", "entities", tasks),
                count("task_events", "ended while pending", 4),
            ]);
            found(&counts, &inputs).remove(0).said
        };
        let once = "4 jobs (4.0 % of 100) ended while they waited, for their first attempt or for another one";
        assert_eq!(said(100), once);
        assert!(
            said(101).starts_with("4 ends in `job_events` (4.0 % of 100) and 4 ends in"),
            "{}",
            said(101)
        );
    }

    #[test]
    fn names_that_hardly_repeat_are_a_finding() {
        let inputs = [input("job_events", 1, Some(1)), input("task_events", 1, None)];
        let said = |names: u64, jobs: u64| {
            let counts = json!([
                count("job_events", "distinct logical_job_name", names),
                count("job_events", "jobs", jobs),
            ]);
            found(&counts, &inputs).first().map(|one| one.said.clone())
        };
        assert_eq!(said(80, 100).as_deref(), Some("100 jobs have 80 different names"));
        assert_eq!([said(79, 100), said(99, 99)], [None, None]);
    }

    #[test]
    fn a_log_with_the_names_that_users_gave_records_names() {
        let inputs = [input("job_events", 1, Some(1)), input("task_events", 1, None)];
        let said = |unnamed: u64| {
            let counts = json!([
                count("job_events", "rows", 100),
                count("job_events", "nulls in job_name", 100),
                count("job_events", "nulls in logical_job_name", unnamed),
            ]);
            found(&counts, &inputs).iter().map(|one| one.said.clone()).collect::<Vec<String>>()
        };
        assert_eq!(said(100), ["Recorded in no row: the names of jobs"]);
        assert!(said(3).is_empty(), "{:?}", said(3));
    }

    #[test]
    fn a_capacity_that_is_inferred_is_a_finding_of_its_own() {
        let mut machines = input("machine_events", 1, Some(1));
        machines["remarks"] = json!({CAPACITY_FROM_USE: 1});
        let inputs = [input("job_events", 1, Some(1)), input("task_events", 1, None), machines];
        let counts = json!([
            count("machine_events", "rows", 106),
            count("machine_events", "nulls in cpu_capacity", 105),
            count("machine_events", "nulls in machine_name", 1),
            count("machine_events", "machines", 106),
        ]);
        let found = found(&counts, &inputs);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            found[0].said,
            "The log does not record how many processors there were: the most processors ever used at \
            once stand for them. In `machine_events`, 1 row without a name stands for them all, next to the 105 \
            machines that the log names"
        );
    }

    #[test]
    fn long_jobs_are_over_represented_in_a_cut_of_a_trace() {
        // A job of 100 h for every 50 of 1 h, both submitted evenly over 1,000 h: 2 % are long.
        //   jobs    |-------------- 1,000 h --------------|
        //   cut                 |-- 25 h --|
        let jobs =
            (0..1000_u32).map(|hour| (hour, 1)).chain((0..20).map(|number| (number * 50, 100)));
        let (from, until) = (500, 525);
        let seen: Vec<u32> = jobs
            .filter(|(start, length)| *start < until && from < start + length)
            .map(|(_, length)| length)
            .collect();
        let long = seen.iter().filter(|&&length| length == 100).count();
        assert_eq!((long, seen.len()), (2, 27), "7.4 % of the jobs of the cut are long");
        let cut = found(&json!([]), &[input("task_events", 17, Some(500))]);
        assert!(cut[0].means.contains("Long jobs are over-represented"), "{}", cut[0].means);
    }

    #[test]
    fn what_was_assumed_is_a_list() {
        let mut jobs = input("job_events", 1, Some(1));
        jobs["remarks"] =
            json!({"wait unknown: started at the submit": 1, "status unknown: x": 2000});
        let found = found(&json!([]), &[jobs, input("task_events", 1, None)]);
        let list =
            ["Status unknown: x (2,000 lines)", "Wait unknown: started at the submit (1 line)"];
        assert_eq!(found[0].list, list);
        assert_eq!(
            assumption(ON_SEVERAL, 9),
            "Ran on several machines: the log names all of them, but not what ran on which (9 lines)"
        );
    }

    #[test]
    fn what_depends_on_attempts_without_an_end_can_be_looked_up() {
        let counts = json!([count("task_events", "attempts closed with their job", 7)]);
        let acts: Vec<String> = found(&counts, &[]).into_iter().filter_map(|one| one.act).collect();
        assert!(acts.iter().any(|act| act == SEE_CLOSED), "{acts:?}");
    }

    #[test]
    fn what_is_wrong_comes_first() {
        let check =
            json!({"table": "job_events", "what": "rows", "published": 2000, "found": 1999});
        let verified: VerifyAnswer = serde_json::from_value(json!({
            "checks": [check], "contradictions": ["job_events knows 1 jobs, task_events 2"],
            "warnings": ["no job names its user"], "counts": [count("job_events", "exact duplicates", 1)],
        })).unwrap();
        let found = Verified::from(&verified).findings(&[], &[]);
        assert_eq!(
            found[0].said,
            "1 of 1 published count differs: rows of `job_events` is 1,999, published is 2,000"
        );
        let weights: Vec<Weight> = found.iter().map(|one| one.weight).collect();
        assert_eq!(weights, [Weight::Wrong, Weight::Wrong, Weight::Wrong, Weight::Unusual]);
    }
}
