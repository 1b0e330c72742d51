//! The machines of a trace, and the numbers about them.

use arrow::record_batch::RecordBatch;

use super::SHARES;
use super::answer::{AwayAtOnce, FEW_ONE_IN, MachinesAnswer, MostTogether, RanAnswer};
use super::plan::MachinesPlan;
use crate::digits::shortest;
use crate::facts::machines::MachineEvents;
use crate::facts::window::Windows;
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::results::frame::Frame;
use crate::results::missing::Missing;
use crate::results::rows::TableRows;
use crate::results::shares::Terms;
use crate::schema::Table;
use crate::studies::machines::outages::{fewest_with, most_away, usual_length};
use crate::studies::machines::ran::{ENDS, Running, Sums, running};
use crate::studies::machines::survival::{Point, Spell, Weibull, curve, quantile, weibull};
use crate::studies::machines::{Configuration, Fleet, end_of, fleet};
use crate::studies::meter::CpuDefinition;
use crate::units::{CpuTime, micros_to_seconds};

/// The spells of one kind, with the distribution of their lengths.
pub(super) struct Spells {
    kind: &'static str,
    pub(super) count: usize,
    pub(super) censored: usize,
    pub(super) points: Vec<Point>,
    pub(super) fit: Option<Weibull>,
}

impl Spells {
    pub(super) fn of(kind: &'static str, spells: &[Spell]) -> Self {
        Self {
            kind,
            count: spells.len(),
            censored: spells.iter().filter(|spell| spell.is_censored).count(),
            points: curve(spells),
            fit: weibull(spells),
        }
    }
}

/// The studied machines; the answer is made from them.
pub struct Studied {
    pub(super) plan: MachinesPlan,
    pub(super) fleet: Fleet,
    pub(super) ran: Option<Running>,
    pub(super) spells: [Spells; 4],
    /// The unit of CPU time.
    pub(super) unit: &'static str,
    pub(super) table: RecordBatch,
    /// The times for which the events of machines are not loaded.
    pub(super) missing: Missing,
}

/// Studies the machines of a lake. `ran` has the attempts that were running on machines when they
/// left, if they were added up before.
///
/// # Errors
/// There is no `machine_events`, the log does not record when machines fail, or a table cannot be
/// read.
pub fn study(
    lake: &Lake,
    windows: Windows,
    plan: &MachinesPlan,
    ran: Option<Sums>,
) -> Result<Studied> {
    lake.require(Table::MachineEvents)?;
    let events = MachineEvents::read(lake)?;
    if events.events.iter().all(|event| event.time_us == 0) && lake.source().is_log() {
        let text = "this log does not record when machines fail: there is nothing to study";
        return Err(Usage(text.to_owned()).into());
    }
    let fleet = fleet(&events, end_of(&events, windows));
    let ran = running(lake, windows, &fleet.outages, ran)?;
    let spells = [
        Spells::of("up", &fleet.up_spells),
        Spells::of("up_from_start", &fleet.start_spells),
        Spells::of("up_after_return", &fleet.return_spells),
        Spells::of("away", &fleet.away_spells),
    ];
    let table = configurations(&fleet);
    let unit = CpuDefinition::Requested.unit(lake.source());
    let missing = Missing::of(&lake.gaps(), &[Table::MachineEvents]);
    Ok(Studied { plan: plan.clone(), fleet, ran, spells, unit, table, missing })
}

/// The median length, s; for an even number, the mean of the two in the middle. `None` if there are
/// no lengths.
fn median_s(ascending_us: &[i64]) -> Option<f64> {
    let seconds: Vec<f64> = ascending_us.iter().map(|&us| micros_to_seconds(us)).collect();
    crate::studies::quantile(&seconds, 0.5)
}

#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 outages")]
fn mean_s(lengths_us: &[i64]) -> Option<f64> {
    let sum: i64 = lengths_us.iter().sum();
    (!lengths_us.is_empty()).then(|| micros_to_seconds(sum) / lengths_us.len() as f64)
}

/// The share of the capacity of a configuration that was lost in all outages, ended or not.
fn away_share(row: &Configuration) -> Option<f64> {
    let away = row.lost + row.gone;
    away.share_of(away + row.up)
}

/// A row for all machines, and one per configuration.
fn configurations(fleet: &Fleet) -> RecordBatch {
    let all = Configuration {
        machines: fleet.machines,
        machines_first: fleet.machines,
        machines_down: fleet.machines_down,
        outages: fleet.outages.len() as u64,
        lengths_us: fleet.lengths_us(),
        lost: fleet.lost,
        gone: fleet.gone,
        up: fleet.up,
        ..Configuration::default()
    };
    let rows: Vec<&Configuration> = std::iter::once(&all).chain(&fleet.configurations).collect();
    let each = || rows.iter();
    let float =
        |of: fn(&Configuration) -> Option<f64>| each().map(|row| of(row)).collect::<Vec<_>>();
    let count = |of: fn(&Configuration) -> u64| each().map(|row| of(row)).collect::<Vec<_>>();
    Frame::default()
        .flag("is_total", each().enumerate().map(|(idx, _)| Some(idx == 0)))
        .about("Whether the row is of all machines together")
        .maybe_text("platform", each().map(|row| row.platform.as_deref()))
        .float("cpu_capacity", float(|row| row.cpu.map(shortest)))
        .about("CPU of each machine; null where unknown")
        .float("memory_capacity", float(|row| row.memory.map(shortest)))
        .about("Memory of each machine; null where unknown")
        .count("machines", count(|row| row.machines))
        .about("Machines that have this configuration when they are last seen")
        .count("machines_first", count(|row| row.machines_first))
        .about("Machines that have this configuration when they are first seen")
        .count("machines_down", count(|row| row.machines_down))
        .about("Those of `machines` that were away at least once")
        .count("outages", count(|row| row.outages))
        .about("Times at which a machine of this configuration left")
        .count("outages_ended", count(|row| row.lengths_us.len() as u64))
        .about("Outages after which the machine came back")
        .float("outage_s_min", float(|row| row.lengths_us.first().map(|&us| micros_to_seconds(us))))
        .about("The shortest outage that ended")
        .unit("s")
        .float("outage_s_median", float(|row| median_s(&row.lengths_us)))
        .about("Length of an outage that ended, the median")
        .float("outage_s_mean", float(|row| mean_s(&row.lengths_us)))
        .about("Length of an outage that ended, the mean")
        .float("outage_s_max", float(|row| row.lengths_us.last().map(|&us| micros_to_seconds(us))))
        .about("The longest outage that ended")
        .unit("s")
        .float("lost_cpu_s", float(|row| Some(row.lost.seconds())))
        .about("CPU x time of outages that ended")
        .float("up_cpu_s", float(|row| Some(row.up.seconds())))
        .about("CPU x time of machines in service")
        .float("capacity_lost_share", float(|row| row.lost.share_of(row.lost + row.up)))
        .about("lost_cpu_s over itself and up_cpu_s")
        .float("gone_cpu_s", float(|row| Some(row.gone.seconds())))
        .about("CPU x time after the last REMOVE of machines that did not come back")
        .float("capacity_away_share", float(away_share))
        .about("lost_cpu_s and gone_cpu_s over these and up_cpu_s")
        .view(&[
            "platform",
            "cpu_capacity",
            "memory_capacity",
            "machines",
            "machines_down",
            "outages",
            "outage_s_median",
            "capacity_lost_share",
        ])
        .batch()
}

impl Studied {
    pub(super) fn outages(&self) -> RecordBatch {
        let fleet = &self.fleet;
        let rows = || fleet.outages.iter();
        let configuration = |idx: usize| &fleet.configurations[idx];
        Frame::default()
            .int("machine_id", rows().map(|own| own.machine_id))
            .float("start_s", rows().map(|own| Some(micros_to_seconds(own.from_us))))
            .about("When the machine left, on the trace clock")
            .float("end_s", rows().map(|own| own.to_us.map(micros_to_seconds)))
            .about("When it came back, on the trace clock; null where it did not")
            .float("length_s", rows().map(|own| Some(micros_to_seconds(own.to_us? - own.from_us))))
            .about("How long it was away; null where it did not come back")
            .maybe_text(
                "platform",
                rows().map(|own| configuration(own.configuration).platform.as_deref()),
            )
            .float("cpu_capacity", rows().map(|own| own.cpu.map(shortest)))
            .float("memory_capacity", rows().map(|own| own.memory.map(shortest)))
            .about("Memory of the machine; null where unknown")
            .batch()
    }

    pub(super) fn spells(&self) -> RecordBatch {
        let rows = || self.spells.iter();
        let fits = |of: fn(&Weibull) -> f64| {
            rows().map(|own| own.fit.as_ref().map(of)).collect::<Vec<_>>()
        };
        let at = |share: f64| rows().map(|own| quantile(&own.points, share)).collect::<Vec<_>>();
        Frame::default()
            .text("spell", rows().map(|own| own.kind))
            .about("`up`: from when a machine is first seen or comes back until it leaves; \
            `up_from_start`: from the first event of the table, of machines in service then, whose \
            age is unknown; `up_after_return`: only those after a return; `away`: from REMOVE to \
            ADD")
            .count("count", rows().map(|own| own.count as u64))
            .count("censored", rows().map(|own| own.censored as u64))
            .about("Spells that are cut off by the end of the window")
            .float("p25_s", at(0.75))
            .about("Length within which a quarter of the spells ends (Kaplan-Meier); null if fewer end")
            .float("median_s", at(0.5))
            .about("Length within which half of the spells end (Kaplan-Meier); null if fewer end")
            .float("p75_s", at(0.25))
            .about("Length within which three quarters of the spells end (Kaplan-Meier)")
            .float("shape", fits(|fit| fit.shape))
            .about("Shape of the Weibull distribution; below 1, a spell is less likely to end the longer it lasts")
            .float("shape_low", fits(|fit| fit.shape_low))
            .float("shape_high", fits(|fit| fit.shape_high))
            .float("scale_s", fits(|fit| fit.scale_s))
            .about("Scale of the Weibull distribution: a share of 1/e lasts longer")
            .float("scale_s_low", fits(|fit| fit.scale_s_low))
            .float("scale_s_high", fits(|fit| fit.scale_s_high))
            .float("exponential_mean_s", fits(|fit| fit.exponential_mean_s))
            .about("Mean of the exponential distribution: time of all spells over those that ended")
            .float("likelihood_ratio", fits(|fit| fit.likelihood_ratio))
            .about("Twice the logarithm of the likelihood of Weibull over exponential")
            .float("p_exponential", fits(|fit| fit.p_exponential))
            .about("Chance of such a ratio if the lengths were exponential (spells taken as independent)")
            .float("misfit", rows().map(|own| Some(own.fit.as_ref()?.farthest(&own.points)?.0)))
            .about("Largest difference of the Weibull distribution from the curve, as a part of all spells")
            .batch()
    }

    pub(super) fn survival(&self) -> RecordBatch {
        let rows =
            || self.spells.iter().flat_map(|own| own.points.iter().map(|point| (own.kind, point)));
        Frame::default()
            .text("spell", rows().map(|(kind, _)| kind))
            .about("What lasts: `up`, `up_from_start`, `up_after_return` or `away`")
            .float("time_s", rows().map(|(_, point)| Some(point.time_s)))
            .float("share", rows().map(|(_, point)| Some(point.share)))
            .about("Share of the spells that last longer (Kaplan-Meier)")
            .float("share_low", rows().map(|(_, point)| Some(point.share_low)))
            .float("share_high", rows().map(|(_, point)| Some(point.share_high)))
            .count("at_risk", rows().map(|(_, point)| point.at_risk))
            .about("Spells that had lasted until then")
            .batch()
    }

    pub(super) fn together(&self) -> RecordBatch {
        let all = self.fleet.together(self.plan.together.micros());
        let rows = || all.iter();
        Frame::default()
            .float("start_s", rows().map(|own| Some(micros_to_seconds(own.from_us))))
            .about("When the first of them left, on the trace clock")
            .float("end_s", rows().map(|own| Some(micros_to_seconds(own.to_us))))
            .about("When the last of them left, on the trace clock")
            .count("machines", rows().map(|own| own.machines))
            .about("Machines that left together")
            .count("platforms", rows().map(|own| own.platforms))
            .about("Number of different platforms among them")
            .batch()
    }

    pub(super) fn ran(&self) -> RecordBatch {
        let rows: Vec<_> = self.ran.iter().flat_map(|ran| ENDS.iter().zip(&ran.ends)).collect();
        let each = || rows.iter();
        Frame::default()
            .text("ended", each().map(|(name, _)| **name))
            .about("How the attempt ended within a minute of its machine's leaving; `later`: after that")
            .count("attempts", each().map(|(_, own)| own.attempts))
            .about("Attempts that ran on a machine when it left, or ended up to 60 s before")
            .float("cpu_s", each().map(|(_, own)| Some(own.cpu.seconds())))
            .about("Their CPU request x time until then")
            .count("restarted", each().map(|(_, own)| own.restarted))
            .about("Those whose task was started again")
            .count("elsewhere", each().map(|(_, own)| own.elsewhere))
            .about("Those whose task was started again on another machine")
            .count("failed_elsewhere", each().map(|(_, own)| own.failed_elsewhere))
            .about("Those whose task failed there too")
            .batch()
    }

    pub(super) fn found(&self) -> MachinesAnswer {
        let fleet = &self.fleet;
        let lengths = fleet.lengths_us();
        let whole = fleet.up + fleet.lost;
        let away = fleet.lost + fleet.gone;
        let [up_memory_s, lost_memory_s, gone_memory_s] = fleet.memory.map(CpuTime::seconds);
        let at = |share: f64| {
            let seconds: Vec<f64> = lengths.iter().map(|&us| micros_to_seconds(us)).collect();
            crate::studies::quantile(&seconds, share)
        };
        let groups = fleet.together(self.plan.together.micros());
        let large = groups.iter().filter(|group| 2 < group.machines).count() as u64;
        let together = TableRows::of(&self.together());
        let nothing = "The table `machine_events` has no rows.";
        MachinesAnswer {
            machines: fleet.machines,
            machines_down: fleet.machines_down,
            outages: fleet.outages.len() as u64,
            outages_ended: lengths.len() as u64,
            outage_s_min: at(0.0),
            outage_s_median: at(0.5),
            outage_s_mean: mean_s(&lengths),
            outage_s_p90: at(0.9),
            outage_s_max: at(1.0),
            lost_cpu_s: fleet.lost.seconds(),
            up_and_lost_cpu_s: whole.seconds(),
            capacity_lost_share: fleet.lost.share_of(whole),
            gone_cpu_s: fleet.gone.seconds(),
            capacity_away_share: away.share_of(whole + fleet.gone),
            up_memory_s,
            lost_memory_s,
            gone_memory_s,
            events_without_capacity: fleet.without_capacity,
            end_s: micros_to_seconds(fleet.end_us),
            rows: TableRows::of(&self.table),
            spells: TableRows::of(&self.spells()),
            together_count: together.len() as u64,
            together_large: Some(large),
            together_s: micros_to_seconds(self.plan.together.micros()),
            together_most: groups.first().map(|most| MostTogether {
                machines: most.machines,
                start_s: micros_to_seconds(most.from_us),
                length_s: micros_to_seconds(most.to_us - most.from_us),
            }),
            few_machines: fewest_with(&fleet.outages, FEW_ONE_IN),
            away_most: most_away(&fleet.outages, fleet.end_us).map(|most| AwayAtOnce {
                machines: most.machines,
                at_s: micros_to_seconds(most.at_us),
            }),
            usual_length: usual_length(&lengths),
            unit: self.unit.to_owned(),
            together: together.first(TOGETHER_MAX),
            ran: self
                .ran
                .as_ref()
                .map(|ran| RanAnswer { outages: ran.outages, rows: TableRows::of(&self.ran()) }),
            terms: Terms::of(&SHARES),
            nothing: (fleet.machines == 0).then(|| nothing.to_owned()),
        }
    }
}

/// The most groups of machines that left together in the JSON; the table has all of them.
const TOGETHER_MAX: usize = 20;
