//! Machines and their outages, as they are stored and read back, and their sentence.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::MISFIT;
use crate::answers::sentences::percent;
use crate::digits::{counted, grouped, instant, is_date, lasting, on_day, six_digits};
use crate::results::rows::TableRows;
use crate::results::shares::Terms;
use crate::studies::machines::outages::{FewMachines, UsualLength};
use crate::studies::machines::ran::WITH_US;
use crate::units::micros_to_seconds;

/// The answer of `machines`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MachinesAnswer {
    /// The number of machines.
    pub machines: u64,
    /// Machines that were away at least once.
    pub machines_down: u64,
    /// The number of times that machines were away.
    pub outages: u64,
    /// The number of outages after which the machine came back.
    pub outages_ended: u64,
    /// The shortest outage that ended, s.
    pub outage_s_min: Option<f64>,
    /// The median of the outages that ended, s.
    pub outage_s_median: Option<f64>,
    /// The mean of the outages that ended, s.
    pub outage_s_mean: Option<f64>,
    /// The 90 % quantile of the outages that ended, s.
    pub outage_s_p90: Option<f64>,
    /// The longest outage that ended, s.
    pub outage_s_max: Option<f64>,
    /// CPU x time of outages that ended.
    pub lost_cpu_s: f64,
    /// CPU x time of machines in service, plus `lost_cpu_s`.
    pub up_and_lost_cpu_s: f64,
    /// `lost_cpu_s` over `up_and_lost_cpu_s`.
    pub capacity_lost_share: Option<f64>,
    /// CPU x time after the last REMOVE of machines that did not come back.
    pub gone_cpu_s: f64,
    /// `lost_cpu_s` plus `gone_cpu_s`, over their sum with the CPU x time in service.
    pub capacity_away_share: Option<f64>,
    /// Memory x time in service.
    pub up_memory_s: f64,
    /// Memory x time of outages that ended.
    pub lost_memory_s: f64,
    /// Memory x time of machines that did not come back.
    pub gone_memory_s: f64,
    /// Events without a capacity.
    pub events_without_capacity: u64,
    /// The end of the window, s.
    pub end_s: f64,
    /// A row for all machines, then one per configuration.
    pub rows: TableRows<Value>,
    /// Times between failures, and times to repair.
    pub spells: TableRows<Value>,
    /// The first groups of machines that left together.
    pub together: TableRows<Value>,
    /// The number of times that machines left together.
    pub together_count: u64,
    /// The number of these times with more than two machines; `None` in results of older versions.
    pub together_large: Option<u64>,
    /// The longest gap between two machines that leave together, s.
    pub together_s: f64,
    /// The most machines that left together; `None` if none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together_most: Option<MostTogether>,
    /// The most machines that were away at the same time; `None` if none was away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub away_most: Option<AwayAtOnce>,
    /// The fewest machines that together have at least one in twenty outages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub few_machines: Option<FewMachines>,
    /// The range of lengths, within 10 % of each other, that contains the most outages that ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usual_length: Option<UsualLength>,
    /// The unit of CPU time.
    pub unit: String,
    /// The attempts that were running on machines when they left, if tasks are loaded.
    pub ran: Option<RanAnswer>,
    /// The numerator and denominator of each share.
    #[serde(flatten)]
    pub terms: Terms,
    /// The reason if there is nothing to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nothing: Option<String>,
}

/// The most machines that left together.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MostTogether {
    /// The number of machines.
    pub machines: u64,
    /// When the first of them left, on the trace clock, s.
    pub start_s: f64,
    /// The time from then until the last of them left, s.
    pub length_s: f64,
}

/// The most machines that were away at the same time.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AwayAtOnce {
    /// The number of machines.
    pub machines: u64,
    /// The first instant with that many machines away, on the trace clock, s.
    pub at_s: f64,
}

/// The machines that left most often are the fewest machines that together have one in this many
/// outages.
pub(super) const FEW_ONE_IN: u64 = 20;

/// These machines are reported if each left at least `FEW_OUTAGES` times on average, and at least
/// `FEW_TIMES` times as often as the average machine.
const FEW_OUTAGES: u64 = 10;
const FEW_TIMES: u64 = 10;

/// The usual length is reported if at least this share of the outages has it.
const USUAL: f64 = 0.1;

/// How attempts ended when their machine left.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct OfEnd {
    /// The way in which the attempts ended.
    pub ended: String,
    /// The number of attempts.
    pub attempts: u64,
    /// CPU request x time until the end of the attempts.
    pub cpu_s: f64,
}

/// The attempts that were running on machines when they left.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RanAnswer {
    /// Outages in the hours for which tasks are loaded.
    pub outages: u64,
    /// A row for each way in which attempts ended.
    pub rows: TableRows<OfEnd>,
}

impl MachinesAnswer {
    /// The sentence with the number of machines that left, and the lost CPU time.
    pub(crate) fn sentence(&self) -> String {
        let median = self.outage_s_median.map_or_else(String::new, |median| {
            format!("; half of the outages that ended lasted {} s or less", six_digits(median))
        });
        let gone = self.capacity_away_share.filter(|_| 0.0 < self.gone_cpu_s);
        let lost = self.capacity_lost_share.map_or_else(String::new, |share| match gone {
            Some(all) => format!(
                "{:.2} % of the CPU capacity was lost, {:.2} % in outages that ended: ",
                all * 100.0,
                share * 100.0
            ),
            None => format!("{:.2} % of the CPU capacity was lost: ", share * 100.0),
        });
        let further = [self.few(), self.usual(), self.at_once(), self.together(), self.evicted()];
        let further = further.into_iter().flatten().collect::<String>();
        format!(
            "{lost}{} of {} machines were away at least once, {} times in total, after a failure or for maintenance, which the \
            trace does not tell apart{median}{further}.",
            grouped(self.machines_down),
            grouped(self.machines),
            grouped(self.outages),
        )
    }

    /// A sentence about the few machines with many of the outages.
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 outages")]
    fn few(&self) -> Option<String> {
        let FewMachines { machines, outages } = self.few_machines?;
        let is_often = FEW_OUTAGES.saturating_mul(machines) <= outages;
        // Compares their outages per machine with those of all machines. Both products are small.
        let is_far = FEW_TIMES * machines * self.outages <= outages * self.machines;
        (is_often && is_far).then(|| {
            format!(
                ". {} of {} left {}, {} of all outages",
                grouped(machines),
                counted(self.machines, "machine"),
                counted(outages, "time"),
                percent(outages as f64 / self.outages as f64)
            )
        })
    }

    /// A sentence about the length that many outages have.
    fn usual(&self) -> Option<String> {
        let UsualLength { from_s, to_s, length_share } =
            self.usual_length.filter(|own| USUAL <= own.length_share)?;
        Some(format!(
            ". {} of the outages that ended lasted from {} to {}",
            percent(length_share),
            lasting(from_s),
            lasting(to_s)
        ))
    }

    /// A sentence about the most machines that were away at the same time.
    fn at_once(&self) -> Option<String> {
        let most = self.away_most.filter(|most| 1 < most.machines)?;
        Some(format!(". At most {} were away at once, {}", grouped(most.machines), when(most.at_s)))
    }

    /// A sentence that says how often machines left together, and how many at most.
    fn together(&self) -> Option<String> {
        let most = self.together_most?;
        let at = when(most.start_s);
        if let Some(large) = self.together_large {
            return Some(self.by_size(most, large));
        }
        let (times, most_of) = match self.together_count {
            1 => ("once".to_owned(), ""),
            count => (format!("{} times", grouped(count)), "at most "),
        };
        Some(format!(
            ". Several machines left together {times}, shortly after one another: {most_of}{} within {}, {at}",
            grouped(most.machines),
            lasting(most.length_s),
        ))
    }

    /// The same sentence, with how often there were more than two machines and with the meaning of
    /// "together".
    fn by_size(&self, most: MostTogether, large: u64) -> String {
        let gap = lasting(self.together_s);
        let often = |count: u64| match count {
            1 => "Once".to_owned(),
            count => counted(count, "time"),
        };
        let pairs = self.together_count.saturating_sub(large);
        if large == 0 {
            return format!(
                ". {} two machines left within {gap} of each other, and never more, which may be chance",
                often(pairs)
            );
        }
        let at_most = if large == 1 { "" } else { "at most " };
        let two = match pairs {
            0 => String::new(),
            pairs => format!("; {} two did, in part by chance", often(pairs).to_lowercase()),
        };
        format!(
            ". {} at least 3 machines left together, each within {gap} of the one before: {at_most}{} within \
            {}, {}{two}",
            often(large),
            grouped(most.machines),
            lasting(most.length_s),
            when(most.start_s)
        )
    }

    /// A sentence with the number of attempts that were evicted when their machine left.
    fn evicted(&self) -> Option<String> {
        let ran = self.ran.as_ref()?;
        let of = |end: &str| ran.rows.iter().find(|row| row.ended == end && 0 < row.attempts);
        let evicted = of("evicted")?;
        let held = |own: &OfEnd| {
            format!(
                "{}, which had held {} {} of requested CPU, {}",
                counted(own.attempts, "attempt"),
                six_digits(own.cpu_s),
                self.unit,
                if own.attempts == 1 { "was" } else { "were" }
            )
        };
        let killed =
            of("killed").map_or_else(String::new, |own| format!(", and {} killed", held(&own)));
        Some(format!(
            ". In the time for which tasks are loaded, {} evicted with their machine{killed}",
            held(&evicted)
        ))
    }
}

/// The meanings of the names of spells.
const SPELLS: [(&str, &str); 4] = [
    ("up", "in service: from when a machine is first seen or comes back until it leaves"),
    (
        "up from start",
        "the same for machines that were there at the start of the table, whose age is unknown, from then on",
    ),
    ("up after return", "the same after a return alone"),
    ("away", "from when a machine leaves until it comes back"),
];

impl MachinesAnswer {
    /// The meanings of the names in the tables; empty if there are no outages.
    pub(super) fn names(&self) -> Vec<(String, String)> {
        if self.outages == 0 {
            return Vec::new();
        }
        let own = |(name, meaning): (&str, &str)| (name.to_owned(), meaning.to_owned());
        let mut all: Vec<(String, String)> = SPELLS.into_iter().map(own).collect();
        let misfit = format!(
            "of the Weibull distribution; not shown where it is {} of the spells or more from the curve",
            percent(MISFIT)
        );
        all.push(("shape, scale".to_owned(), misfit));
        if self.ran.is_some() {
            let with = lasting(micros_to_seconds(WITH_US));
            let ended =
                format!("how the attempt ended within {with} of the departure of its machine");
            let later =
                format!("the trace lets it run on and end more than {with} after the departure");
            let restarted = "the task was started again later; a kill ends an attempt, and its job may \
                start the task again";
            let again = "of those started again on another machine: the next attempt failed";
            all.extend(
                [
                    ("ended", &*ended),
                    ("later", &*later),
                    ("restarted", restarted),
                    ("failed there too", again),
                ]
                .map(own),
            );
        }
        all
    }
}

/// An instant of the trace in words.
fn when(at_s: f64) -> String {
    if is_date(at_s) {
        format!("at {}", instant(at_s))
    } else {
        format!("{} after the start of the trace", on_day(at_s, false))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn machines_that_left_together_and_their_attempts_are_reported() {
        let answer: MachinesAnswer = serde_json::from_value(json!({
            "machines": 12_583, "machines_down": 5_000, "outages": 9_000,
            "capacity_lost_share": 0.0048, "capacity_away_share": 0.0071, "gone_cpu_s": 5.0,
            "together_count": 256, "together_large": 13, "together_s": 1.0, "unit": "NCU-s",
            "few_machines": {"machines": 4, "outages": 461},
            "usual_length": {"from_s": 960.0, "to_s": 1_050.0, "length_share": 0.21},
            "away_most": {"machines": 213, "at_s": 2_160_000.0},
            "together_most": {"machines": 22, "start_s": 1_425_600.0, "length_s": 4.0},
            "ran": {"rows": [{"ended": "evicted", "attempts": 2_249, "cpu_s": 2_497_895.0},
                {"ended": "killed", "attempts": 606, "cpu_s": 1_931_224.0}]},
        }))
        .unwrap();
        assert_eq!(
            answer.sentence(),
            "0.71 % of the CPU capacity was lost, 0.48 % in outages that ended: 5,000 of 12,583 machines \
            were away at least once, 9,000 times in total, after a failure or for maintenance, which the trace does \
            not tell apart. 4 of 12,583 machines left 461 times, \
            5.1 % of all outages. 21.0 % of the outages that ended \
            lasted from 16 min to 17.5 min. At most 213 were away at once, 25 d 00:00 after the start of the \
            trace. 13 times at least 3 machines left together, each within 1 s of the one before: at \
            most 22 within 4 s, 16 d 12:00 after the start of the trace; 243 times two did, in part by \
            chance. In the time for which tasks are loaded, 2,249 attempts, which had held 2,497,895 NCU-s of \
            requested CPU, were evicted with their machine, and 606 attempts, which had held 1,931,224 NCU-s of \
            requested CPU, were killed."
        );
        assert!(!MachinesAnswer::default().sentence().contains("together"));
        let of = |large, count, machines| {
            let most = MostTogether { machines, start_s: 60.0, length_s: 1.0 };
            let answer = MachinesAnswer {
                together_count: count,
                together_large: large,
                together_s: 1.0,
                together_most: Some(most),
                ..MachinesAnswer::default()
            };
            answer.together().unwrap()
        };
        assert_eq!(
            of(Some(0), 5, 2),
            ". 5 times two machines left within 1 s of each other, and never more, which may be chance"
        );
        assert_eq!(
            of(Some(1), 1, 7),
            ". Once at least 3 machines left together, each within 1 s of the one before: 7 within 1 s, \
            0 d 00:01 after the start of the trace"
        );
        assert!(of(None, 256, 22).contains("256 times, shortly after one another: at most 22"));
    }

    #[test]
    fn few_machines_are_reported_if_they_left_far_more_often_than_others() {
        let of = |all: [u64; 2], [machines, outages]: [u64; 2]| {
            let answer = MachinesAnswer {
                machines: all[0],
                outages: all[1],
                few_machines: Some(FewMachines { machines, outages }),
                ..MachinesAnswer::default()
            };
            answer.few()
        };
        assert_eq!(
            of([200, 100], [1, 20]).unwrap(),
            ". 1 of 200 machines left 20 times, 20.0 % of all outages"
        );
        assert_eq!(of([200, 100], [1, 5]), None, "5 times are not many");
        assert_eq!(of([20, 400], [1, 20]), None, "as often as all others");
    }

    #[test]
    fn names_of_tables_are_explained() {
        let mut answer = MachinesAnswer { outages: 1, ..MachinesAnswer::default() };
        assert_eq!(answer.names().len(), 5);
        answer.ran = Some(RanAnswer::default());
        let names = answer.names();
        assert_eq!(names[6].0, "later");
        assert!(names[6].1.contains("more than 60 s after"), "{names:?}");
        assert!(MachinesAnswer::default().names().is_empty());
    }
}
