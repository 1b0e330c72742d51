//! The answer in all its forms.

use serde_json::json;

use super::loaded::Loaded;
use super::{KIND, charts, table};
use crate::answers::edges;
use crate::answers::study::{Found, settings};
use crate::digits;
use crate::facts::window::Windows;
use crate::faults::Result;
use crate::results::store::{Answer, Files};
use crate::studies::first_end::FirstEnd;
use crate::studies::meter::Resource;
use crate::units::micros_to_seconds;

impl Found for Loaded {
    fn notes(&self) -> Vec<String> {
        let counts = self.load.counts;
        let mut notes = vec![self.total_line()];
        let without = |count: u64, what: &str| {
            let attempts = digits::grouped(counts.attempts);
            let count_text = digits::grouped(count);
            (0 < count).then(|| {
                format!("{count_text} of {attempts} attempts without {what}, counted as 0")
            })
        };
        notes.extend(without(counts.without_cpu_request, "a CPU request"));
        let no_memory = counts.without_memory_request;
        notes
            .extend(without(no_memory, "a memory request").filter(|_| no_memory < counts.attempts));
        if self.load.knows_gpus() {
            notes.extend(without(counts.without_gpu_request, "a record of GPUs"));
            notes.push(table::idle_gpus(&self.totals()));
        } else if self.plan.resource == Some(Resource::Gpu) {
            notes.push("no attempt records its GPUs: nothing is known of them".to_owned());
        }
        notes.extend(self.fragmentation.iter().flat_map(table::fragmentation_notes));
        notes.extend(self.assumed.clone());
        notes.extend(self.first_end.as_ref().map(FirstEnd::said));
        let at = &self.load.asked.at;
        let length_us = at.count().checked_sub(1).map(|last| at.end_of(last) - at.start_of(0));
        notes.extend(length_us.and_then(|us| self.arrivals.quiet_end(micros_to_seconds(us))));
        notes.push(edges::sentence(&self.censoring()));
        notes.push(edges::closed_with_job(counts.closed_with_job, None, ""));
        notes.retain(|note| !note.is_empty());
        notes
    }

    fn put_details(&self, files: &mut Files) -> Result<()> {
        let by = self.load.asked.by.name().replace('_', "-");
        if self.plan.by.is_none() {
            files.table(&format!("load-by-{by}"), &self.stacked)?;
        } else {
            files.table("load-intervals", &self.intervals)?;
        }
        files.table("load-by-size", &self.sizes)?;
        for (stem, rows) in
            ["load-by-cpu-request", "load-by-memory-request"].iter().zip(&self.requests)
        {
            if 0 < rows.num_rows() {
                files.table(stem, rows)?;
            }
        }
        if !self.load.strips.machines.is_empty() {
            files.table("load-by-machine", &table::machines(&self.plan, &self.load))?;
        }
        files.table("load-by-job-user", &self.users)?;
        files.table("load-hours", &table::hours(&self.arrivals))?;
        files.table("load-dispersion", &table::dispersion(&self.arrivals))
    }

    fn answer(&self, windows: Windows) -> Answer<'_> {
        Answer {
            kind: KIND,
            table: if self.plan.by.is_some() { &self.stacked } else { &self.intervals },
            json: json!(self.found()),
            settings: settings(
                &self.plan,
                json!({ "classes": self.plan.classes, "windows": windows }),
            ),
            charts: charts::all(self),
        }
    }
}
