//! The answer in all its forms.

use arrow::record_batch::RecordBatch;
use serde_json::json;

use super::months::Months;
use super::{KIND, charts};
use crate::answers::study::{Found, settings};
use crate::facts::window::Windows;
use crate::faults::Result;
use crate::results::store::{Answer, Files};

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
