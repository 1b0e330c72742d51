//! Rows of a table as Arrow record batches.

use arrow::record_batch::RecordBatch;

use super::Error;
use crate::lake::Lake;
use crate::schema::Table;

/// A selection of the rows of a table; made by [`Lake::batches`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a question does nothing until it is asked"]
pub struct Batches<'a> {
    lake: &'a Lake,
    table: Table,
    bucket: Option<u32>,
}

impl Lake {
    /// Reads columns of a table.
    ///
    /// ```
    /// use jobfate::prelude::*;
    ///
    /// let sample = Sample::lake()?;
    /// let batches = sample.batches(Table::TaskEvents).bucket(0).columns(["time_us", "job_id"])?;
    /// assert!(0 < batches.iter().map(|batch| batch.num_rows()).sum::<usize>());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn batches(&self, table: Table) -> Batches<'_> {
        Batches { lake: self, table, bucket: None }
    }
}

impl Batches<'_> {
    /// Only the jobs of one bucket, from 0.
    pub fn bucket(self, bucket: u32) -> Self {
        Self { bucket: Some(bucket), ..self }
    }

    /// Reads the rows, with these columns in this order.
    ///
    /// # Errors
    /// The table, a column or the bucket is not in the lake, or a file is damaged.
    pub fn columns<'n>(
        self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Vec<RecordBatch>, Error> {
        self.lake.require(self.table)?;
        let known: Vec<&'static str> = names
            .into_iter()
            .map(|name| self.lake.find_column(self.table, name))
            .collect::<Result<_, _>>()?;
        Ok(self.lake.read(self.table, self.bucket, &known)?)
    }
}
