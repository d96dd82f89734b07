//! `hairpin export --journal`.

use std::fs::{self, File};
use std::path::Path;
use std::process::Output;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{Date32Type, Int64Type, TimestampNanosecondType, UInt64Type};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::drop_copy::Place;
use crate::export::command_without_input;
use crate::journal::{INSTRUMENT, UUID, exec_id};

fn export(place: &Place, arguments: &[&str]) -> Output {
    let mut command = command_without_input();
    command.arg("--journal").arg(place.journal()).args(arguments);
    command.arg("--out").arg(place.client()).output().unwrap()
}

fn rows(path: &Path) -> RecordBatch {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let schema = reader.schema().clone();
    let batches: Vec<_> = reader.build().unwrap().map(Result::unwrap).collect();
    concat_batches(&schema, &batches).unwrap()
}

#[test]
fn journal_becomes_orders_and_fills() {
    let (place, mut journal) = Place::new();
    (0..5_000).for_each(|_| journal.write());
    let output = export(&place, &[]);
    assert!(output.status.success(), "{output:?}");
    let orders = rows(&place.client().join("orders.parquet"));
    assert_eq!(orders.num_rows(), 10_000);
    let text = |name: &str, row: usize| {
        let column = orders.column_by_name(name).unwrap().as_string::<i32>();
        column.is_valid(row).then(|| column.value(row).to_owned())
    };
    for report in 1..=5_000 {
        let row = report as usize * 2 - 1;
        assert_eq!(text("direction", row - 1).as_deref(), Some("out"));
        assert_eq!(text("message", row - 1).as_deref(), Some("NewOrderSingle514"));
        assert_eq!(text("direction", row).as_deref(), Some("in"));
        assert_eq!(text("exec_id", row), Some(exec_id(report)));
    }
    assert_eq!(text("reject_reason", 7).as_deref(), Some("1003"));
    let fills = rows(&place.client().join("fills.parquet"));
    assert_eq!(fills.num_rows(), (1..=5_000).filter(|it| matches!(it % 6, 2 | 5)).count());
    let number = |name: &str, row| {
        fills.column_by_name(name).unwrap().as_primitive::<UInt64Type>().value(row)
    };
    let signed = |name: &str, row| {
        fills.column_by_name(name).unwrap().as_primitive::<Int64Type>().value(row)
    };
    assert_eq!((number("uuid", 0), number("seq_num", 0), number("last_qty", 0)), (UUID, 2, 2));
    assert_eq!(signed("security_id", 0), i64::from(INSTRUMENT));
    assert_eq!(
        (signed("last_px", 0), signed("last_px", 1)),
        (100_025_000_000_000, -25_000_000_000)
    );
    let date = fills.column_by_name("trade_date").unwrap().as_primitive::<Date32Type>();
    assert_eq!(date.value(0), 20_416);
    let time = fills.column_by_name("transact_time").unwrap();
    let time = time.as_primitive::<TimestampNanosecondType>();
    assert_eq!(time.value(0), 1_764_021_600_000_000_002);
}

#[test]
fn existing_file_stays_and_missing_journal_is_one_line() {
    let (place, mut journal) = Place::new();
    journal.write();
    fs::create_dir_all(place.client()).unwrap();
    fs::write(place.client().join("fills.parquet"), "mine").unwrap();
    let output = export(&place, &[]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("fills.parquet: file exists; --force replaces it"), "{text}");
    assert_eq!(fs::read(place.client().join("fills.parquet")).unwrap(), b"mine");
    assert!(export(&place, &["--force"]).status.success());
    drop(journal);
    fs::remove_dir_all(place.journal()).unwrap();
    let output = export(&place, &["--force"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("cannot read the journal") && text.lines().count() == 1, "{text}");
}

#[test]
fn damaged_journal_is_exported_around_the_damage_with_status_1() {
    let (place, mut journal) = Place::new();
    (0..400).for_each(|_| journal.write());
    drop(journal);
    let first = place.journal().join("0000000001.segment");
    let mut bytes = fs::read(&first).unwrap();
    bytes[20_000..20_100].fill(0xEE);
    fs::write(&first, bytes).unwrap();
    let output = export(&place, &[]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("0000000001.segment") || text.contains("segment 1, byte"), "{text}");
    let count = rows(&place.client().join("orders.parquet")).num_rows();
    assert!((1..800).contains(&count), "{count}");
}
