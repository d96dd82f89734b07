//! `hairpin export`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use dbn::decode::dbn::Decoder;
use dbn::decode::{DbnMetadata, DecodeRecordRef};
use tempfile::TempDir;

use crate::market::{self, Market};

const SCHEMAS: &str = "mbo,mbp-1,mbp-10,trades,statistics,status,definition";

/// A capture that all tests read.
static CAPTURE: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("day.pcap");
    market::write(&path, &Market::SMALL).unwrap();
    (folder, path)
});

fn capture() -> &'static Path {
    &CAPTURE.1
}

pub(crate) fn command_without_input() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hairpin-data"));
    command.arg("export").stdin(Stdio::null());
    command
}

fn command(capture: &Path, out: &Path, arguments: &[&str]) -> Command {
    let mut command = command_without_input();
    command.arg(capture).args(arguments).arg("--out").arg(out);
    command
}

fn export(capture: &Path, out: &Path, arguments: &[&str]) -> Output {
    command(capture, out, arguments).output().unwrap()
}

/// Runs an export that fails, and returns its one line.
fn error(capture: &Path, out: &Path, arguments: &[&str]) -> String {
    let output = export(capture, out, arguments);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

/// Returns the files of a folder with their contents.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entry = |entry: fs::DirEntry| {
        (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())
    };
    fs::read_dir(folder).unwrap().map(|it| entry(it.unwrap())).collect()
}

/// Returns the number of records of a complete file.
fn records(bytes: &[u8]) -> usize {
    let mut decoder = Decoder::new(bytes).unwrap();
    assert_eq!(decoder.metadata().version, 3);
    let mut count = 0;
    while decoder.decode_record_ref().unwrap().is_some() {
        count += 1;
    }
    count
}

#[test]
fn same_input_gives_same_bytes_in_every_format() {
    for format in ["dbn", "parquet", "arrow"] {
        let [one, other] = [(); 2].map(|()| {
            let folder = tempfile::tempdir().unwrap();
            let arguments = ["--schema", SCHEMAS, "--format", format];
            let output = export(capture(), folder.path(), &arguments);
            assert!(output.status.success(), "{output:?}");
            files(folder.path())
        });
        assert_eq!(one.len(), 7);
        assert!(one == other, "{format} differs");
    }
}

#[test]
fn wrong_inputs_are_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let schema = ["--schema", "trades"];
    let missing = error(&folder.path().join("missing.pcap"), &out, &schema);
    assert!(missing.contains("missing.pcap: No such file"), "{missing}");
    let empty = folder.path().join("empty.pcap");
    fs::write(&empty, "no capture at all, but long enough for a header").unwrap();
    assert!(error(&empty, &out, &schema).contains("empty.pcap"));
    assert!(error(folder.path(), &out, &schema).contains("directory"));
    let unknown = export(capture(), &out, &["--schema", "mbp-5"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8(unknown.stderr).unwrap().contains("possible values: mbo, mbp-1"));
    assert!(!out.exists() || files(&out).is_empty());
}

#[test]
fn existing_file_is_replaced_only_by_force() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trades.dbn");
    fs::write(&path, "mine").unwrap();
    let text = error(capture(), folder.path(), &["--schema", "trades,status"]);
    assert!(text.contains("trades.dbn: file exists; --force replaces it"), "{text}");
    assert_eq!(files(folder.path()), [("trades.dbn".to_owned(), b"mine".to_vec())].into());
    let arguments = ["--schema", "trades", "--force"];
    assert!(export(capture(), folder.path(), &arguments).status.success());
    assert!(records(&fs::read(&path).unwrap()) > 100);
}

#[test]
fn parts_of_a_split_are_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, hours, sizes] = ["whole", "hours", "sizes"].map(|it| folder.path().join(it));
    let schema = ["--schema", "mbp-10"];
    assert!(export(capture(), &whole, &schema).status.success());
    assert!(
        export(capture(), &hours, &[&schema[..], &["--split", "hour"]].concat()).status.success()
    );
    assert!(export(capture(), &sizes, &[&schema[..], &["--split", "1"]].concat()).status.success());
    let whole = records(&files(&whole)["mbp-10.dbn"]);
    let hours = files(&hours);
    let names: Vec<&String> = hours.keys().collect();
    assert_eq!(names, ["mbp-10.2026-01-05T17.dbn", "mbp-10.2026-01-05T18.dbn"]);
    assert_eq!(hours.values().map(|it| records(it)).sum::<usize>(), whole);
    let sizes = files(&sizes);
    assert!(sizes.len() > 1 && sizes.contains_key("mbp-10.00001.dbn"));
    assert!(sizes.values().all(|it| it.len() < 1_010_000));
    assert_eq!(sizes.values().map(|it| records(it)).sum::<usize>(), whole);
}

#[test]
fn truncated_capture_gives_whole_files_and_status_1() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.pcap");
    let bytes = fs::read(capture()).unwrap();
    for length in [bytes.len() / 2 + 1, bytes.len() - 7] {
        fs::write(&path, &bytes[..length]).unwrap();
        let out = folder.path().join(length.to_string());
        let output = export(&path, &out, &["--schema", SCHEMAS]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains("cut.pcap to its end"), "{text}");
        let files = files(&out);
        assert_eq!(files.len(), 7);
        assert!(files.values().map(|file| records(file)).sum::<usize>() > 10);
    }
}

#[test]
fn full_disk_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let program = command(capture(), &out, &["--schema", "mbp-10"]);
    // A limit on the size of files, of 100 kB, whose signal is ignored.
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 200; exec \"$@\"", "sh"]);
    limited.arg(program.get_program()).args(program.get_args());
    let output = limited.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("mbp-10.dbn: File too large"), "{text}");
    assert_eq!(files(&out), BTreeMap::new());
}

/// How the names of incomplete files begin.
const INCOMPLETE: &str = ".hairpin-export-";

fn has_incomplete(folder: &Path) -> bool {
    let Ok(mut entries) = fs::read_dir(folder) else { return false };
    entries.any(|it| it.is_ok_and(|it| it.file_name().to_string_lossy().starts_with(INCOMPLETE)))
}

#[test]
fn killed_export_leaves_no_incomplete_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let arguments = ["--schema", "trades,mbp-10", "--split", "1", "--force"];
    assert!(export(capture(), &out, &arguments).status.success());
    let whole = files(&out);
    fs::remove_dir_all(&out).unwrap();
    let mut interrupted = 0;
    for kill in 0..100_u64 {
        let mut child: Child =
            command(capture(), &out, &arguments).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(kill * 7 % 500));
        // Half of the kills wait for a file that is written.
        while kill % 2 == 0 && !has_incomplete(&out) && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        interrupted += u64::from(has_incomplete(&out));
        let Ok(entries) = fs::read_dir(&out) else { continue };
        for entry in entries.map(|entry| entry.unwrap()) {
            let name = entry.file_name().into_string().unwrap();
            if !name.starts_with(INCOMPLETE) {
                assert!(fs::read(entry.path()).unwrap() == whole[&name], "{name}");
            }
        }
    }
    assert!(interrupted > 10, "{interrupted} exports were killed while they wrote");
    assert!(export(capture(), &out, &arguments).status.success());
    assert!(files(&out) == whole, "incomplete files of killed exports remain");
}
