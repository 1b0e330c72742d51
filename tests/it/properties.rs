//! Properties of any trace: the rows of a lake are those of the trace, for any cut, order and
//! distribution of the parts.

use std::collections::BTreeMap;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Float32Type, Int32Type, Int64Type};
use jobfate::schema::{Column, ColumnType, ROW_ID, Source, Table};
use proptest::prelude::*;
use proptest::test_runner::Config;

use super::support::{Place, contents, gzip};

/// Number of random traces whose rows are read back from the lake.
pub(crate) const TRACES: u32 = 150;

/// A cell of a trace, in the only form in which its value is written.
fn cell(column: &Column) -> BoxedStrategy<String> {
    let whole = |range: std::ops::RangeInclusive<i64>| range.prop_map(|value| value.to_string());
    let amount = prop_oneof![
        (0.0_f32..=1.0).prop_map(|value| value.to_string()),
        (0_u32..2_000_000).prop_map(|bits| f32::from_bits(bits).to_string()),
        (0_i32..1_000_000).prop_map(|value| value.to_string()),
    ];
    let filled = match column.kind {
        ColumnType::Time => {
            prop_oneof![Just("0".to_owned()), whole(0..=2_506_199_000_000), whole(0..=i64::MAX)]
                .boxed()
        }
        ColumnType::Id | ColumnType::Long => {
            prop_oneof![whole(0..=12), whole(0..=i64::MAX)].boxed()
        }
        ColumnType::Int => whole(0..=i64::from(i32::MAX)).boxed(),
        ColumnType::Event(max) => whole(0..=i64::from(max)).boxed(),
        ColumnType::Float | ColumnType::Amount => amount.boxed(),
        ColumnType::Bool => prop_oneof![Just("0".to_owned()), Just("1".to_owned())].boxed(),
        ColumnType::Text => "[a-zA-Zé][ -~é€]{0,12}".boxed(),
        ColumnType::Floats => unreachable!("the trace of 2011 has no lists"),
    };
    if column.is_mandatory {
        filled
    } else {
        prop_oneof![3 => filled, 1 => Just(String::new())].boxed()
    }
}

/// Lines of a table.
fn lines(table: Table) -> impl Strategy<Value = Vec<Vec<String>>> {
    let row: Vec<_> = table.columns(Source::Google2011).iter().map(cell).collect();
    proptest::collection::vec(row, 0..40)
}

/// A trace, the cuts of its tables into parts, and how they are ingested.
#[derive(Debug)]
struct Trace {
    tables: Vec<Vec<Vec<String>>>,
    cut: f64,
    is_gzip: bool,
    buckets: u32,
    threads: u32,
}

fn trace() -> impl Strategy<Value = Trace> {
    let tables: Vec<_> = Table::ALL.into_iter().map(lines).collect();
    (tables, 0.0..1.0, any::<bool>(), 1_u32..5, 1_u32..4).prop_map(
        |(tables, cut, is_gzip, buckets, threads)| Trace { tables, cut, is_gzip, buckets, threads },
    )
}

fn csv(rows: &[Vec<String>]) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
    for row in rows {
        writer.write_record(row).unwrap();
    }
    writer.into_inner().unwrap()
}

/// A cell of the lake as a trace writes it.
fn written(column: &ArrayRef, row: usize, kind: ColumnType) -> String {
    if column.is_null(row) {
        return String::new();
    }
    match column.data_type() {
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::Float32 => column.as_primitive::<Float32Type>().value(row).to_string(),
        DataType::Boolean => u8::from(column.as_boolean().value(row)).to_string(),
        DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
        other => panic!("{kind:?} is stored as {other}"),
    }
}

/// The rows of a table of the lake in the order of its parts.
fn exported(lake: &jobfate::lake::Lake, table: Table) -> Vec<Vec<String>> {
    let columns = table.columns(Source::Google2011);
    let names: Vec<&'static str> =
        std::iter::once(ROW_ID).chain(columns.iter().map(|column| column.name)).collect();
    let mut rows = BTreeMap::new();
    for batch in lake.read(table, None, &names).unwrap() {
        let ids = batch.column(0).as_primitive::<Int64Type>();
        for row in 0..batch.num_rows() {
            let cells = columns.iter().zip(&batch.columns()[1..]);
            let cells = cells.map(|(column, data)| written(data, row, column.kind)).collect();
            assert!(rows.insert(ids.value(row), cells).is_none(), "a row's id is its own");
        }
    }
    rows.into_values().collect()
}

proptest! {
    #![proptest_config(Config { cases: TRACES, failure_persistence: None, ..Config::default() })]

    #[test]
    #[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
    fn what_was_ingested_comes_out_as_it_was(trace in trace()) {
        let place = Place::new();
        for (table, rows) in Table::ALL.into_iter().zip(&trace.tables) {
            #[expect(
                clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss,
                reason = "a share of a few rows"
            )]
            let cut = (rows.len() as f64 * trace.cut) as usize;
            for (part, rows) in [&rows[..cut], &rows[cut..]].into_iter().enumerate() {
                let end = if trace.is_gzip { ".gz" } else { "" };
                let text = csv(rows);
                let bytes = if trace.is_gzip { gzip(&text) } else { text };
                place.raw(&format!("{table}/part-{part:05}-of-00002.csv{end}"), bytes);
            }
        }
        let (buckets, threads) = (trace.buckets.to_string(), trace.threads.to_string());
        place.ingest(&["--buckets", &buckets, "--threads", &threads]).ok();
        for (table, rows) in Table::ALL.into_iter().zip(&trace.tables) {
            prop_assert_eq!(&exported(&place.lake(), table), rows, "{}", table);
        }
        // The later part first, table by table, on one thread.
        for table in Table::ALL.into_iter().rev() {
            for part in ["1", "0"] {
                let args = ["ingest", "trace", "--lake", "other", "--buckets", &buckets];
                let more = ["--threads", "1", "--tables", table.name(), "--parts", part];
                place.run(&[&args[..], &more].concat()).ok();
            }
        }
        let other = jobfate::lake::Lake::open(place.path("other")).unwrap();
        prop_assert_eq!(contents(&other), contents(&place.lake()));
    }
}
