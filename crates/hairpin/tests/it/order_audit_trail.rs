//! Runs `hairpin order --audit-trail` on journals.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::{assert_done, assert_status, hairpin};
use crate::traded_session::{WRITTEN, traded};
use hairpin_mapped::{Direction, Journal, Reader, Tag};
use hairpin_order_entry::messages::MESSAGES;
use hairpin_order_entry::{CONTROL_RECORD, MESSAGE_RECORD};
use hairpin_sbe::{BlockLayout, Encoding, Presence, Primitive};
use hairpin_time::{Instant, Now, Utc};

/// The scripted day, and the files that it becomes.
const DAY: &str = include_str!("audit_trail/day.txt");
const GOLDEN: [&str; 2] = ["H01-20261123.csv", "H01-20261124.csv"];
const UUID: u64 = 1_764_021_600_000_000;
/// The fields that a line of a script has unless it gives others.
const DEFAULTS: [(&str, &str); 4] = [
    ("SenderID", "TRADER"),
    ("Location", "US,IL"),
    ("ManualOrderIndicator", "0"),
    ("PartyDetailsListReqID", "7"),
];

/// A folder with the journal of a script.
struct Scripted {
    folder: tempfile::TempDir,
}

impl Scripted {
    fn new(script: &str) -> Self {
        let scripted = Self { folder: tempfile::tempdir().unwrap() };
        let mut journal = Journal::create(scripted.journal(), 1 << 20).unwrap();
        for line in script.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            append(&mut journal, line);
        }
        scripted
    }

    fn journal(&self) -> PathBuf {
        self.folder.path().join("journal")
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn export(&self) -> Output {
        export(&self.journal(), &self.out())
    }

    fn lines(&self, file: &str) -> Vec<String> {
        let text = fs::read_to_string(self.out().join(file)).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

fn export(journal: &Path, out: &Path) -> Output {
    let mut command = hairpin();
    command.args(["order", "--audit-trail", "--journal"]).arg(journal);
    command.arg("--output").arg(out).output().unwrap()
}

/// Appends the record of a line to the journal.
fn append(journal: &mut Journal, line: &str) {
    let mut entries = line.split(" | ");
    let words = words(entries.next().unwrap());
    let [time, direction, seq_num, template] = [0, 1, 2, 3].map(|at| words[at].as_str());
    let time = if time.contains('T') { time.to_owned() } else { format!("2026-11-23T{time}") };
    let nanos = format!("{time}Z").parse::<jiff::Timestamp>().unwrap().as_nanosecond();
    let nanos = u64::try_from(nanos).unwrap();
    let message = MESSAGES.iter().find(|it| it.template_id.to_string() == template).unwrap();
    let mut bytes = Vec::new();
    for value in [message.block.length, message.template_id, message.schema_id, message.version] {
        bytes.extend(value.to_le_bytes());
    }
    let mut fields = vec![("SendingTimeEpoch".to_owned(), nanos.to_string())];
    fields.extend(DEFAULTS.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let given: Vec<_> = words[4..].iter().map(|word| pair(word)).collect();
    let is_default = |(name, _): &(String, String)| given.iter().all(|(field, _)| field != name);
    let is_known =
        |(name, _): &(String, String)| message.block.fields.iter().any(|field| field.name == name);
    fields.retain(|field| is_default(field) && is_known(field));
    fields.extend(given);
    bytes.extend(block(&message.block, &fields));
    let entries: Vec<_> = entries.map(self::words).collect();
    for group in message.groups {
        let mine: Vec<_> = entries.iter().filter(|entry| entry[0] == group.name).collect();
        let dimension = group.dimension;
        let mut head = vec![0; usize::from(dimension.length)];
        let at = usize::from(dimension.block_length_offset);
        head[at..at + 2].copy_from_slice(&group.block.length.to_le_bytes());
        head[usize::from(dimension.count_offset)] = u8::try_from(mine.len()).unwrap();
        bytes.extend(head);
        for entry in mine {
            let fields: Vec<_> = entry[1..].iter().map(|word| pair(word)).collect();
            bytes.extend(block(&group.block, &fields));
        }
    }
    assert!(entries.iter().all(|it| message.groups.iter().any(|group| group.name == it[0])));
    bytes.extend(message.data.iter().flat_map(|_| [0, 0]));
    let mut frame = u16::try_from(bytes.len() + 4).unwrap().to_le_bytes().to_vec();
    frame.extend([0xFE, 0xCA]);
    frame.extend(bytes);
    let (direction, kind) = match direction {
        "out" => (Direction::Outbound, MESSAGE_RECORD),
        "in" => (Direction::Inbound, MESSAGE_RECORD),
        _ => (Direction::Control, CONTROL_RECORD),
    };
    let now = Now { monotonic: Instant::from_nanos(nanos), utc: Utc::from_nanos(nanos) };
    let seq_num = seq_num.parse().unwrap();
    let mut claim = journal.claim(frame.len()).unwrap();
    claim.payload()[..frame.len()].copy_from_slice(&frame);
    claim.commit_as(&Tag { direction, uuid: UUID, seq_num, now, kind }, frame.len());
}

/// Splits at blanks outside of quotation marks, which are removed.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for character in text.chars() {
        match character {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().unwrap().push(character),
        }
    }
    words
}

fn pair(word: &str) -> (String, String) {
    let (name, value) = word.split_once('=').unwrap_or_else(|| panic!("{word}"));
    (name.to_owned(), value.to_owned())
}

/// Encodes a block: the given fields, and null for others.
fn block(layout: &BlockLayout, fields: &[(String, String)]) -> Vec<u8> {
    let mut bytes = vec![0; usize::from(layout.length)];
    for field in layout.fields {
        let null = field.null(layout.since);
        let at = usize::from(field.offset);
        if field.kind.presence != Presence::Constant {
            bytes[at..at + null.len()].copy_from_slice(null);
        }
    }
    for (name, value) in fields {
        let field = layout.fields.iter().find(|field| field.name == name);
        let field = field.unwrap_or_else(|| panic!("no field {name}"));
        let value = match field.kind.encoding {
            Encoding::Text => value.as_bytes().to_vec(),
            Encoding::Scalar(Primitive::Char) | Encoding::Enumeration(Primitive::Char, _) => {
                value.as_bytes().to_vec()
            }
            Encoding::Decimal(primitive, exponent) => {
                let scale = 10_i64.pow(exponent.unsigned_abs().into());
                number(primitive, value.parse::<i64>().unwrap() * scale)
            }
            Encoding::Scalar(primitive) | Encoding::Enumeration(primitive, _) => {
                number(primitive, value.parse().unwrap())
            }
            other => panic!("{name}: {other:?}"),
        };
        let at = usize::from(field.offset);
        assert!(value.len() <= usize::from(field.kind.size), "{name} is too long, or constant");
        bytes[at..at + value.len()].copy_from_slice(&value);
    }
    bytes
}

fn number(primitive: Primitive, value: i64) -> Vec<u8> {
    value.to_le_bytes()[..usize::from(primitive.size())].to_vec()
}

/// Returns direction, UUID and sequence number of a line, of our own columns behind CME's.
fn key(line: &str) -> (String, String, String) {
    let cells: Vec<_> = line.split(',').collect();
    let [uuid, seq_num] = [cells[cells.len() - 2], cells[cells.len() - 1]];
    (cells[1].to_owned(), uuid.to_owned(), seq_num.to_owned())
}

/// Returns the keys of the business messages in a journal.
fn journaled(journal: &Path) -> BTreeSet<(String, String, String)> {
    let entries = Reader::open(journal).unwrap().map(Result::unwrap);
    let messages = entries.filter(|it| it.tag.direction != Direction::Control);
    let key = |tag: Tag| {
        let direction = if tag.direction == Direction::Outbound { "TO CME" } else { "FROM CME" };
        (direction.to_owned(), tag.uuid.to_string(), tag.seq_num.to_string())
    };
    messages.map(|entry| key(entry.tag)).collect()
}

fn stderr(output: &Output) -> Vec<String> {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn scripted_day_equals_golden_files() {
    let day = Scripted::new(DAY);
    let output = day.export();
    assert_done(&output);
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/audit_trail");
    for file in GOLDEN {
        let path = Path::new(golden).join(file);
        if std::env::var_os("HAIRPIN_UPDATE_DOCS").is_some() {
            fs::copy(day.out().join(file), &path).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap();
        let lines = day.lines(file);
        for (line, expected) in lines.iter().zip(expected.lines()) {
            assert_eq!(line, expected);
        }
        assert_eq!(lines.len(), expected.lines().count(), "{file}");
    }
    let printed = String::from_utf8(output.stdout).unwrap();
    let paths = GOLDEN.map(|file| day.out().join(file).display().to_string());
    assert_eq!(printed.lines().collect::<Vec<_>>(), paths);
}

#[test]
fn every_business_message_is_written_once() {
    let day = Scripted::new(DAY);
    assert_done(&day.export());
    // Adjacent lines are of one message. The second file begins with repeated party details.
    let first = day.lines(GOLDEN[0]);
    let second = day.lines(GOLDEN[1]);
    let mut keys: Vec<_> = first[1..].iter().chain(&second[2..]).map(|line| key(line)).collect();
    keys.dedup();
    let count = keys.len();
    let keys: BTreeSet<_> = keys.into_iter().collect();
    assert_eq!(keys.len(), count, "a message is in two places");
    assert_eq!(keys, journaled(&day.journal()));
    let is_in_day = |id: u16| DAY.lines().any(|line| line.contains(&format!(" {id} ")));
    let kinds = MESSAGES.iter().map(|message| message.template_id).filter(|&id| id >= 514);
    assert_eq!(kinds.filter(|&id| !is_in_day(id)).collect::<Vec<_>>(), [0; 0]);
}

#[test]
fn lines_have_all_of_cmes_columns() {
    let day = Scripted::new(DAY);
    assert_done(&day.export());
    let heading = &day.lines(GOLDEN[0])[0];
    let columns: Vec<_> = heading.split(',').collect();
    assert_eq!(columns.len(), 54 + 2);
    assert_eq!((columns[0], columns[53]), ("Sending Timestamps", "Take up Account"));
    assert_eq!(columns[27], "Reject Reason");
}

#[test]
fn messages_of_an_order_have_one_flow() {
    let day = Scripted::new(DAY);
    assert_done(&day.export());
    let of = |flow: &str| day.lines(GOLDEN[0]).iter().filter(|line| line.contains(flow)).count();
    // All messages of OrderID 9001, from its entry to the refused modification.
    assert_eq!(of(&format!(",{UUID}-3,9001,")), 16);
    assert_eq!(of(&format!(",{UUID}-3,")), 17);
    // Both sides of the cross, their reports, the cancel of one, its reject, and the mass action.
    assert_eq!(of(&format!(",{UUID}-13,")), 7);
}

#[test]
fn later_file_repeats_the_party_details_it_uses() {
    let day = Scripted::new(DAY);
    assert_done(&day.export());
    let (first, second) = (day.lines(GOLDEN[0]), day.lines(GOLDEN[1]));
    assert_eq!(first[1], second[1]);
    assert!(second[1].contains(",CX,") && second[1].contains(",7,A,99,O,4,"), "{}", second[1]);
}

#[test]
fn missing_value_is_an_error_that_names_the_message() {
    let script = "22:00:00 request 0 503 Session=H01 Firm=HPIN0\n\
                  22:00:01 out 1 518 ListUpdateAction=A\n\
                  22:01:00 out 2 514 ClOrdID=A1 OrderRequestID=3 SecurityID=1001 Side=1 \
                  OrderQty=10 OrdType=2 Location=\"\"\n";
    let day = Scripted::new(script);
    let output = day.export();
    assert_status(&output, 1);
    let name = format!("cannot complete NewOrderSingle514 (TO CME, UUID {UUID}, number 2)");
    let expected = ["Country of Origin", "Limit Price"]
        .map(|heading| format!("hairpin: {name}: the journal has no {heading}"));
    assert_eq!(stderr(&output), expected);
    assert_eq!(day.lines(GOLDEN[0]).len(), 3, "the line must be written");
}

#[test]
fn missing_session_and_party_details_are_errors() {
    let script = "22:01:00 out 2 514 ClOrdID=A1 OrderRequestID=3 SecurityID=1001 Side=1 \
                  OrderQty=10 OrdType=1\n";
    let day = Scripted::new(script);
    let output = day.export();
    assert_status(&output, 1);
    let stderr = stderr(&output);
    assert!(stderr[0].ends_with("number 2): the journal has no Session ID"), "{stderr:?}");
    let parties = "the journal has no PartyDetailsDefinitionRequest518 of list 7";
    assert!(stderr[1].ends_with(parties), "{stderr:?}");
    assert_eq!(stderr.len(), 2);
}

#[test]
fn audit_trail_of_a_traded_session_has_every_message() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, out) = (folder.path().join("journal"), folder.path().join("out"));
    drop(traded(&journal));
    let output = export(&journal, &out);
    // The session uses list 1, which it has not registered.
    assert_status(&output, 1);
    let stderr = stderr(&output);
    assert_eq!(stderr.len(), 1, "{stderr:?}");
    assert!(stderr[0].ends_with("no PartyDetailsDefinitionRequest518 of list 1"), "{stderr:?}");
    let files = fs::read_dir(&out).unwrap().map(|file| file.unwrap().path());
    let texts: Vec<_> = files.map(|path| fs::read_to_string(path).unwrap()).collect();
    let lines: Vec<_> = texts.iter().flat_map(|text| text.lines().skip(1)).collect();
    let keys: BTreeSet<_> = lines.iter().map(|line| key(line)).collect();
    assert_eq!(keys, journaled(&journal));
    let business = WRITTEN.iter().filter(|(direction, _)| *direction != "request").count();
    assert_eq!((lines.len(), keys.len()), (business, business));
}

#[test]
fn existing_files_are_not_replaced() {
    let day = Scripted::new(DAY);
    assert_done(&day.export());
    let before = day.lines(GOLDEN[0]);
    let output = day.export();
    assert_status(&output, 1);
    assert!(stderr(&output)[0].contains("H01-20261123.csv"), "{:?}", stderr(&output));
    assert_eq!(day.lines(GOLDEN[0]), before);
}

#[test]
fn unknown_template_is_written_and_reported() {
    let day = Scripted::new("22:00:00 request 0 503 Session=H01 Firm=HPIN0\n");
    let mut journal = Journal::open(day.journal()).unwrap();
    let mut frame = vec![20, 0, 0xFE, 0xCA, 8, 0];
    frame.extend(572_u16.to_le_bytes());
    frame.extend([8, 0, 10, 0]);
    frame.resize(20, 0);
    let now = Now { monotonic: Instant::from_nanos(1), utc: Utc::from_nanos(1) };
    let mut claim = journal.claim(frame.len()).unwrap();
    claim.payload()[..frame.len()].copy_from_slice(&frame);
    let (direction, kind) = (Direction::Inbound, MESSAGE_RECORD);
    claim.commit_as(&Tag { direction, uuid: UUID, seq_num: 4, now, kind }, frame.len());
    drop(journal);
    let output = day.export();
    assert_status(&output, 1);
    let stderr = stderr(&output);
    let expected = format!("template 572 (FROM CME, UUID {UUID}, number 4): unknown template");
    assert!(stderr.len() == 1 && stderr[0].ends_with(&expected), "{stderr:?}");
    let line = &day.lines("H01-19700101.csv")[1];
    assert!(line.starts_with("19700101-00:00:00.000000001,FROM CME,,H01,,572,"), "{line}");
}
