//! `hairpin order --show` on the journal of a session that has traded.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use crate::order_gateway::{ACCESS_KEY_ID, KEY, WRITTEN, traded};
use crate::support::{assert_done, assert_status, hairpin};
use hairpin_mapped::{Direction, Entry, Reader};
use serde_json::Value;

/// A journal whose session has ended, in a folder of its own.
struct Left {
    _folder: tempfile::TempDir,
    journal: PathBuf,
}

impl Left {
    fn by_a_trader() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("journal");
        drop(traded(&journal));
        Self { _folder: folder, journal }
    }

    fn show(&self, words: &[&str]) -> Output {
        show(&self.journal, words)
    }

    /// The last record of a direction.
    fn last(&self, direction: Direction) -> Entry {
        let entries = Reader::open(&self.journal).unwrap().map(Result::unwrap);
        entries.filter(|entry| entry.tag.direction == direction).last().unwrap()
    }

    /// The one segment there is.
    fn segment(&self) -> fs::File {
        let path = self.journal.join("0000000001.segment");
        OpenOptions::new().read(true).write(true).open(path).unwrap()
    }
}

fn show(journal: &Path, words: &[&str]) -> Output {
    let mut command = hairpin();
    command.args(["order", "--show", "--journal"]).arg(journal).args(words);
    command.output().unwrap()
}

fn lines(output: &Output) -> Vec<String> {
    String::from_utf8(output.stdout.clone()).unwrap().lines().map(str::to_owned).collect()
}

/// The one line that was said.
fn said(output: &Output) -> String {
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("hairpin: "), "{said}");
    said
}

fn objects(output: &Output) -> Vec<Value> {
    lines(output).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_record_is_a_line_in_the_order_of_the_journal() {
    let left = Left::by_a_trader();
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
fn neither_the_key_nor_its_id_nor_a_signature_is_shown() {
    let left = Left::by_a_trader();
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
fn csv_has_a_line_of_names_and_as_many_values() {
    let left = Left::by_a_trader();
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
fn json_is_an_object_a_line() {
    let left = Left::by_a_trader();
    let output = left.show(&["--format", "json"]);
    assert_done(&output);
    let objects = objects(&output);
    assert_eq!(objects.len(), WRITTEN.len());
    assert_eq!((&objects[2]["OrderQty"], &objects[2]["Price"]), (&5.into(), &"1".into()));
    assert_eq!((&objects[0]["number"], &objects[0]["marked"]), (&Value::Null, &Value::Null));
    assert_eq!(objects[0]["Session"], "ABC");
    assert_eq!(objects.last().unwrap()["Text"], "session is finished", "no quotation marks");
    assert!(objects[3]["uuid"].as_u64() > Some(0) && objects[3]["uuid"] == objects[2]["uuid"]);
}

#[test]
fn a_time_and_a_uuid_leave_out_the_rest() {
    let left = Left::by_a_trader();
    let all = objects(&left.show(&["--format", "json"]));
    let count = |words: &[&str]| {
        let output = left.show(words);
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
fn a_journal_is_shown_while_its_session_has_it_open() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let session = traded(&journal);
    let output = show(&journal, &[]);
    assert_done(&output);
    assert_eq!(lines(&output).len(), WRITTEN.len());
    drop(session);
}

#[test]
fn a_tail_that_was_cut_off_is_one_line_and_status_1() {
    let left = Left::by_a_trader();
    let last = left.last(Direction::Control);
    left.segment().set_len(last.offset + 60).unwrap();
    let output = left.show(&[]);
    assert_status(&output, 1);
    assert_eq!(lines(&output).len(), WRITTEN.len() - 1);
    let said = said(&output);
    assert!(said.contains("corrupt at byte") && said.contains("0000000001.segment"), "{said}");
}

#[test]
fn a_record_that_was_changed_is_told_by_its_checksum() {
    let left = Left::by_a_trader();
    let order = left.last(Direction::Outbound);
    // OrderQty of the order, behind record, frame and message headers and Price.
    let place = order.offset + 48 + 4 + 8 + 8;
    left.segment().write_all_at(&77_u32.to_le_bytes(), place).unwrap();
    let output = left.show(&[]);
    assert_status(&output, 1);
    let changed: Vec<_> =
        lines(&output).into_iter().filter(|line| line.ends_with("checksum=wrong")).collect();
    assert!(changed.len() == 1 && changed[0].contains(" OrderQty=77 "), "{changed:?}");
    assert!(said(&output).contains("differs from what was committed"));
}

#[test]
fn whoever_has_read_enough_may_close_the_pipe() {
    let left = Left::by_a_trader();
    let mut command = hairpin();
    command.args(["order", "--show", "--journal"]).arg(&left.journal);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_done(&output);
    assert!(output.stderr.is_empty());
}

#[test]
fn what_is_no_journal_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path(), &folder.path().join("missing")] {
        let output = show(path, &[]);
        assert_status(&output, 1);
        let said = said(&output);
        assert!(said.contains(path.to_str().unwrap()) && said.contains("no journal"), "{said}");
    }
}

#[test]
fn wrong_words_are_status_2() {
    for words in [
        &["order"][..],
        &["order", "--show"],
        &["order", "--journal", "folder"],
        &["order", "--show", "--journal", "folder", "--format", "smoke"],
        &["order", "--show", "--journal", "folder", "--from", "yesterday"],
        &["order", "--show", "--journal", "folder", "--uuid", "-1"],
    ] {
        let output = hairpin().args(words).output().unwrap();
        assert_status(&output, 2);
        assert!(said(&output).ends_with("try --help\n"), "{words:?}");
    }
}

#[test]
#[ignore = "needs root"]
fn an_ordinary_user_reads_his_own_journal_and_no_other() {
    use std::os::unix::fs::{PermissionsExt, chown};
    const NOBODY: u32 = 65_534;
    let left = Left::by_a_trader();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("hairpin");
    fs::copy(env!("CARGO_BIN_EXE_hairpin"), &program).unwrap();
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
    assert!(said(&output).contains("Permission denied"));
    chown(&left.journal, Some(NOBODY), Some(NOBODY)).unwrap();
    for file in fs::read_dir(&left.journal).unwrap() {
        chown(file.unwrap().path(), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let output = show();
    assert_done(&output);
    assert_eq!(lines(&output).len(), WRITTEN.len());
}
