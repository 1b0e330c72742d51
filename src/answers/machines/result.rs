//! The answer in all its forms.

use serde_json::json;

use super::studied::Studied;
use super::{KIND, charts};
use crate::answers::study::{Found, settings};
use crate::digits;
use crate::facts::window::Windows;
use crate::faults::Result;
use crate::results::store::{Answer, Files};

impl Found for Studied {
    fn notes(&self) -> Vec<String> {
        let fleet = &self.fleet;
        let away = fleet.outages.len() - fleet.lengths_us().len();
        let mut notes = vec![format!(
            "{} of {} machines were away at least once; {} in total, after {} of which the machine did not come back",
            digits::grouped(fleet.machines_down),
            digits::grouped(fleet.machines),
            digits::counted(fleet.outages.len() as u64, "outage"),
            digits::grouped(away as u64),
        )];
        if let Some(share) = fleet.lost.share_of(fleet.lost + fleet.up) {
            notes.push(format!(
                "capacity lost in outages that ended: {} of {} CPU x s ({:.3} %)",
                digits::six_digits(fleet.lost.seconds()),
                digits::six_digits((fleet.lost + fleet.up).seconds()),
                share * 100.0
            ));
        }
        if 0 < fleet.without_capacity {
            notes.push(format!(
                "{} without a capacity: the last known capacity of the machine is taken, if there is one",
                digits::counted(fleet.without_capacity, "event")
            ));
        }
        notes
    }

    fn put_details(&self, files: &mut Files) -> Result<()> {
        files.table("machines-outages", &self.outages())?;
        files.table("machines-spells", &self.spells())?;
        files.table("machines-survival", &self.survival())?;
        files.table("machines-together", &self.together())?;
        if self.ran.is_some() {
            files.table("machines-ran", &self.ran())?;
        }
        Ok(())
    }

    fn answer(&self, windows: Windows) -> Answer<'_> {
        Answer {
            kind: KIND,
            table: &self.table,
            json: json!(self.found()),
            settings: settings(&self.plan, json!({ "windows": windows })),
            charts: charts::all(self),
        }
    }
}
