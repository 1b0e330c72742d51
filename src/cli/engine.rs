//! The engine that computes the facts: `--engine`, and where a Spark is.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::console;
use jobfate::facts::spark::Spark;
use jobfate::facts::tables::SqlEngine;
use jobfate::faults::{Result, Usage};

/// The engine that computes the facts; all give the same table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// Rust code, the fastest (for `query`: polars)
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

    /// Master of the Spark cluster, such as `spark://host:7077`
    ///
    /// Or `yarn`, `k8s://https://host:443`, `local[4]`. Spark must see the lake under the same
    /// path, or under --spark-lake, and write below it.
    #[arg(long, value_name = "URL")]
    pub master: Option<String>,

    /// Folder of Spark, with `bin/spark-sql` in it
    ///
    /// By default `$SPARK_HOME`, or the `spark-sql` on the search path.
    #[arg(long, value_name = "DIR", requires = "master")]
    pub spark_home: Option<PathBuf>,

    /// A setting of Spark, such as spark.executor.memory=8g
    ///
    /// May be given several times; passed on as `--conf`.
    #[arg(long, value_name = "KEY=VALUE", requires = "master")]
    pub spark_conf: Vec<String>,

    /// The lake as Spark sees it, such as `s3a://bucket/lake`
    ///
    /// If the executors see it under a different path than this program.
    #[arg(long, value_name = "URL", requires = "master")]
    pub spark_lake: Option<String>,
}

impl EngineArgs {
    /// The engine that runs queries; none where the facts are folded.
    pub(crate) fn sql(&self) -> Result<Option<SqlEngine>> {
        let usage = |text: &str| Err(Usage(text.to_owned()).into());
        match (self.engine, &self.master) {
            (Engine::Spark, None) => {
                usage("--engine spark needs --master, such as spark://host:7077 or local[4]")
            }
            (Engine::Native | Engine::Polars, Some(_)) => usage(
                "--master applies to --engine \
            spark",
            ),
            (Engine::Native, None) => Ok(None),
            (Engine::Polars, None) => Ok(Some(SqlEngine::Polars)),
            (Engine::Spark, Some(master)) => Ok(Some(SqlEngine::Spark(Spark {
                master: master.clone(),
                home: self.spark_home.clone(),
                conf: self.spark_conf.clone(),
                lake: self.spark_lake.clone(),
                tell: |text| console::note(text),
            }))),
        }
    }
}
