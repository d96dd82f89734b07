//! Runs `hairpin order --show` on the journal of a session that has traded.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use crate::support::{assert_done, assert_status, copy_hairpin, hairpin};
use crate::traded_session::{ACCESS_KEY_ID, KEY, WRITTEN, traded};
use hairpin_mapped::{Direction, Entry, Reader};
use serde_json::Value;

/// The journal of an ended session, in a temporary folder.
struct ClosedJournal {
    _folder: tempfile::TempDir,
    journal: PathBuf,
}

impl ClosedJournal {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("journal");
        drop(traded(&journal));
        Self { _folder: folder, journal }
    }

    fn show(&self, args: &[&str]) -> Output {
        show(&self.journal, args)
    }

    /// Returns the last record of a direction.
    fn last(&self, direction: Direction) -> Entry {
        let entries = Reader::open(&self.journal).unwrap().map(Result::unwrap);
        entries.filter(|entry| entry.tag.direction == direction).last().unwrap()
    }

    /// Opens the only segment.
    fn segment(&self) -> fs::File {
        let path = self.journal.join("0000000001.segment");
        OpenOptions::new().read(true).write(true).open(path).unwrap()
    }
}

fn show(journal: &Path, args: &[&str]) -> Output {
    let mut command = hairpin();
    command.args(["order", "--show", "--journal"]).arg(journal).args(args);
    command.output().unwrap()
}

fn lines(output: &Output) -> Vec<String> {
    String::from_utf8(output.stdout.clone()).unwrap().lines().map(str::to_owned).collect()
}

/// Returns the error message after checking that it is one line.
fn error_line(output: &Output) -> String {
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.starts_with("hairpin: "), "{stderr}");
    stderr
}

fn objects(output: &Output) -> Vec<Value> {
    lines(output).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn records_are_printed_in_journal_order() {
    let left = ClosedJournal::new();
    let output = left.show(&[]);
    assert_done(&output);
    let lines = lines(&output);
    let written: Vec<_> = lines
        .iter()
        .map(|line| {
            let words: Vec<_> = line.split(' ').collect();
            (words[1], words[4])
        })
        .collect();
    assert_eq!(written, WRITTEN, "{lines:#?}");
    let has = |line: usize, parts: &[&str]| {
        parts
            .iter()
            .for_each(|part| assert!(lines[line].contains(part), "{part}: {}", lines[line]));
    };
    has(2, &[" 1 NewOrderSingle514 ", " ClOrdID=1 ", " Side=Buy(1) ", " OrderQty=5 ", " Price=1 "]);
    has(3, &[" 1 ExecutionReportNew522 ", " OrdStatus=New(0) ", " SecurityID=1001 ", " OrderID="]);
    has(4, &[" ClOrdID=2 ", " Price=2 ", " OrderID="]);
    has(9, &[" RejectReason=\"2047 (instrument is unknown)\" ", " OrdStatus=Rejected(8) "]);
    has(12, &[" LastQty=1 ", " LastPx=", " LeavesQty=0 ", " OrdStatus=Filled(2) "]);
    has(13, &[" RejectReason=\"0 (session is finished)\" ", " OurNext=6 ", " TheirNext=7 "]);
    assert!(lines.iter().all(|line| line.ends_with(" checksum=right")), "{lines:#?}");
    let marked = lines.iter().filter(|line| line.contains(" marked=yes ")).count();
    assert_eq!(marked, WRITTEN.iter().filter(|(direction, _)| *direction == "in").count());
}

#[test]
fn key_key_id_and_signature_are_not_printed() {
    let left = ClosedJournal::new();
    for format in ["text", "csv", "json"] {
        let output = left.show(&["--format", format]);
        assert_done(&output);
        let text = String::from_utf8(output.stdout).unwrap();
        for secret in [ACCESS_KEY_ID, KEY, "Signature", "AccessKey"] {
            assert!(!text.contains(secret), "{format}: {secret}");
        }
    }
}

#[test]
fn csv_has_a_header_and_as_many_values_per_line() {
    let left = ClosedJournal::new();
    let output = left.show(&["--format", "csv"]);
    assert_done(&output);
    let lines = lines(&output);
    assert_eq!(lines.len(), 1 + WRITTEN.len());
    let names: Vec<_> = lines[0].split(',').collect();
    for line in &lines[1..] {
        assert_eq!(line.split(',').count(), names.len(), "{line}");
    }
    let value = |line: usize, name: &str| {
        let place = names.iter().position(|&column| column == name).unwrap();
        lines[line].split(',').nth(place).unwrap().to_owned()
    };
    assert_eq!((value(3, "OrderQty"), value(3, "Side")), ("5".into(), "Buy(1)".into()));
    assert_eq!((value(5, "message"), value(5, "ClOrdID")), (WRITTEN[4].1.into(), "2".into()));
}

#[test]
fn json_format_prints_an_object_per_line() {
    let left = ClosedJournal::new();
    let output = left.show(&["--format", "json"]);
    assert_done(&output);
    let objects = objects(&output);
    assert_eq!(objects.len(), WRITTEN.len());
    assert_eq!((&objects[2]["OrderQty"], &objects[2]["Price"]), (&5.into(), &"1".into()));
    assert_eq!((&objects[0]["number"], &objects[0]["marked"]), (&Value::Null, &Value::Null));
    assert_eq!(objects[0]["Session"], "ABC");
    assert_eq!(
        objects.last().unwrap()["Text"],
        "session is finished",
        "JSON text must have no extra quotation marks"
    );
    assert!(objects[3]["uuid"].as_u64() > Some(0) && objects[3]["uuid"] == objects[2]["uuid"]);
}

#[test]
fn time_and_uuid_select_records() {
    let left = ClosedJournal::new();
    let all = objects(&left.show(&["--format", "json"]));
    let count = |args: &[&str]| {
        let output = left.show(args);
        assert_done(&output);
        lines(&output).len()
    };
    let time = all[4]["time"].as_str().unwrap();
    let later = all.iter().filter(|object| object["time"].as_str().unwrap() >= time).count();
    assert!(later > 0 && later < all.len());
    assert_eq!(count(&["--from", time]), later);
    assert_eq!(count(&["--to", time]), all.len() - later);
    assert_eq!(count(&["--from", "2500-01-01"]), 0);
    let uuid = all[4]["uuid"].to_string();
    assert_eq!((count(&["--uuid", &uuid]), count(&["--uuid", "7"])), (all.len(), 0));
}

#[test]
fn journal_of_a_running_session_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let session = traded(&journal);
    let output = show(&journal, &[]);
    assert_done(&output);
    assert_eq!(lines(&output).len(), WRITTEN.len());
    drop(session);
}

#[test]
fn truncated_journal_exits_with_one_line_and_status_1() {
    let left = ClosedJournal::new();
    let last = left.last(Direction::Control);
    left.segment().set_len(last.offset + 60).unwrap();
    let output = left.show(&[]);
    assert_status(&output, 1);
    assert_eq!(lines(&output).len(), WRITTEN.len() - 1);
    let stderr = error_line(&output);
    assert!(
        stderr.contains("corrupt at byte") && stderr.contains("0000000001.segment"),
        "{stderr}"
    );
}

#[test]
fn modified_record_is_detected_by_its_checksum() {
    let left = ClosedJournal::new();
    let order = left.last(Direction::Outbound);
    // The OrderQty of the order, after the record, frame and message headers and Price.
    let place = order.offset + 48 + 4 + 8 + 8;
    left.segment().write_all_at(&77_u32.to_le_bytes(), place).unwrap();
    let output = left.show(&[]);
    assert_status(&output, 1);
    let changed: Vec<_> =
        lines(&output).into_iter().filter(|line| line.ends_with("checksum=wrong")).collect();
    assert!(changed.len() == 1 && changed[0].contains(" OrderQty=77 "), "{changed:?}");
    assert!(error_line(&output).contains("differs from what was committed"));
}

#[test]
fn closed_output_pipe_is_not_an_error() {
    let left = ClosedJournal::new();
    let mut command = hairpin();
    command.args(["order", "--show", "--journal"]).arg(&left.journal);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_done(&output);
    assert!(output.stderr.is_empty());
}

#[test]
fn error_contains_path_of_invalid_journal() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path(), &folder.path().join("missing")] {
        let output = show(path, &[]);
        assert_status(&output, 1);
        let stderr = error_line(&output);
        assert!(
            stderr.contains(path.to_str().unwrap()) && stderr.contains("no journal"),
            "{stderr}"
        );
    }
}

#[test]
fn invalid_arguments_exit_with_status_2() {
    for args in [
        &["order"][..],
        &["order", "--show"],
        &["order", "--journal", "folder"],
        &["order", "--show", "--journal", "folder", "--format", "smoke"],
        &["order", "--show", "--journal", "folder", "--from", "yesterday"],
        &["order", "--show", "--journal", "folder", "--uuid", "-1"],
    ] {
        let output = hairpin().args(args).output().unwrap();
        assert_status(&output, 2);
        assert!(error_line(&output).ends_with("try --help\n"), "{args:?}");
    }
}

#[test]
#[ignore = "needs root"]
fn ordinary_user_reads_only_own_journals() {
    use std::os::unix::fs::{PermissionsExt, chown};
    const NOBODY: u32 = 65_534;
    let left = ClosedJournal::new();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("hairpin");
    copy_hairpin(&program);
    for path in [folder.path(), &program, left.journal.parent().unwrap()] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let show = || {
        let mut command = std::process::Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(&program);
        command.args(["order", "--show", "--journal"]).arg(&left.journal).current_dir("/");
        command.output().unwrap()
    };
    let output = show();
    assert_status(&output, 1);
    assert!(error_line(&output).contains("Permission denied"));
    chown(&left.journal, Some(NOBODY), Some(NOBODY)).unwrap();
    for file in fs::read_dir(&left.journal).unwrap() {
        chown(file.unwrap().path(), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let output = show();
    assert_done(&output);
    assert_eq!(lines(&output).len(), WRITTEN.len());
}
