//! The engine that computes the facts: `--engine`, and the address of Spark.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::console;
use jobfate::answers::spread::{self, Errand, Parts};
use jobfate::answers::study::Definitions;
use jobfate::facts::spark::{Spark, parse_conf, parse_master};
use jobfate::facts::tables::SqlEngine;
use jobfate::facts::window::Windows;
use jobfate::faults::{Result, Usage};
use jobfate::lake::Lake;

/// The engine that computes the facts; all give the same table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// Rust code, the fastest; polars where there is none
    #[default]
    Native,
    /// queries/*.sql on the embedded Polars, the definition
    Polars,
    /// queries/*.sql on a Spark cluster, for traces too large for one machine
    Spark,
}

/// The engine that computes the facts, and where a Spark is.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct EngineArgs {
    /// The engine that computes the facts
    #[arg(long, value_enum, default_value_t)]
    pub engine: Engine,

    #[command(flatten)]
    pub spark: SparkArgs,
}

/// Who does the work, where no query answers the question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Workers {
    /// This process
    #[default]
    Native,
    /// The workers of a Spark cluster, each with a range of buckets; the answer is the same
    Spark,
}

/// Who does the work, and where a Spark is.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct WorkersArgs {
    /// Where the computation runs: this process or a Spark cluster
    #[arg(long, value_enum, default_value_t)]
    pub engine: Workers,

    #[command(flatten)]
    pub spark: SparkArgs,
}

/// Where a Spark is.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct SparkArgs {
    /// Master of the Spark cluster, such as `spark://host:7077`
    ///
    /// Other values are `yarn`, `k8s://https://host:443` and `local[4]`. Spark must be able to read
    /// and write the lake at the same path, or at --spark-lake.
    #[arg(long, value_name = "MASTER", value_parser = parse_master)]
    pub master: Option<String>,

    /// Folder of Spark, which contains `bin/spark-sql`
    ///
    /// By default `$SPARK_HOME`, or the `spark-sql` on the search path.
    #[arg(long, value_name = "DIR", requires = "master")]
    pub spark_home: Option<PathBuf>,

    /// A setting of Spark, such as spark.executor.memory=8g
    ///
    /// May be given several times; passed on as `--conf`.
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_conf, requires = "master")]
    pub spark_conf: Vec<String>,

    /// The lake as Spark sees it, such as `s3a://bucket/lake`
    ///
    /// Needed if the executors see the lake under a different path than this program. Answers
    /// without a query (detectors, usage over time, all kill rules except `events`) need the path
    /// of a folder here, not a URL.
    #[arg(long, value_name = "URL", requires = "master")]
    pub spark_lake: Option<String>,

    /// Path of this program on the workers
    ///
    /// Answers without a query are computed by this program on the workers; each worker gets a
    /// range of buckets. It must have the same version. By default it is at the same path as on
    /// this machine.
    #[arg(long, value_name = "FILE", requires = "master")]
    pub spark_program: Option<PathBuf>,
}

fn usage<T>(text: &str) -> Result<T> {
    Err(Usage(text.to_owned()).into())
}

impl SparkArgs {
    /// The Spark installation, if it is needed.
    fn spark(&self, is_wanted: bool) -> Result<Option<Spark>> {
        match &self.master {
            None if is_wanted => {
                usage("--engine spark needs --master, such as spark://host:7077 or local[4]")
            }
            Some(_) if !is_wanted => usage("--master applies to --engine spark"),
            None => Ok(None),
            Some(master) => Ok(Some(Spark {
                master: master.clone(),
                home: self.spark_home.clone(),
                conf: self.spark_conf.clone(),
                lake: self.spark_lake.clone(),
                program: self.spark_program.clone(),
                tell: |text| console::note(text),
            })),
        }
    }
}

impl EngineArgs {
    /// The engine that runs queries; `None` for the native engine.
    pub(crate) fn sql(&self) -> Result<Option<SqlEngine>> {
        let spark = self.spark.spark(self.engine == Engine::Spark)?;
        Ok(match self.engine {
            Engine::Native => None,
            Engine::Polars => Some(SqlEngine::Polars),
            Engine::Spark => spark.map(SqlEngine::Spark),
        })
    }
}

impl WorkersArgs {
    /// The Spark cluster with the workers for the study; `None` if no cluster is selected.
    pub(crate) fn spark(&self) -> Result<Option<Spark>> {
        self.spark.spark(self.engine == Workers::Spark)
    }

    /// The workers' results for a study, if workers are used.
    pub(crate) fn parts(
        &self,
        lake: &Lake,
        windows: Windows,
        errand: impl FnOnce() -> Result<Errand>,
    ) -> Result<Option<Parts>> {
        let Some(spark) = self.spark()? else { return Ok(None) };
        let common = (windows, Definitions::default());
        let parts = spread::ask(&spark, lake, common, vec![errand()?])?;
        Ok(parts.into_iter().next())
    }
}
