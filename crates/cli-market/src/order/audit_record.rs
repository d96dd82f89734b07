//! A record of a journal, or an event of a session, as a line.

use std::fmt::Write;

use hairpin_mapped::{Checksum, Direction, Entry};
use hairpin_order_entry::{CONTROL_RECORD, Progress, snapshot_from_record};
use hairpin_time::Utc;

use super::args::Format;
use super::columns::{ColumnValue, Columns, MISSING, NAMES, OUR_NEXT, THEIR_NEXT};
use super::orders::Orders;
use super::short_line::{Symbols, short};

/// The bytes before a message: its frame's length and encoding.
const FRAMING_HEADER: usize = 4;
/// The first fields of every line.
const FIRST: [&str; 5] = ["time", "direction", "uuid", "number", "message"];
/// The last fields of every line.
const LAST: [&str; 2] = ["marked", "checksum"];

/// A record to print.
#[derive(Debug)]
pub(super) struct AuditRecord {
    pub(super) time: Utc,
    pub(super) direction: &'static str,
    uuid: u64,
    /// `None` for a record without a number.
    number: Option<u32>,
    pub(super) columns: Columns,
    /// For messages of the exchange: their callback has returned.
    marked: Option<bool>,
    /// `None` if it was not read from a journal.
    checksum: Option<Checksum>,
    /// Why the record contains no message.
    pub(super) wrong: Option<String>,
}

impl AuditRecord {
    pub(super) fn new(entry: &Entry) -> Self {
        let tag = &entry.tag;
        let mut columns = Columns::default();
        let wrong = read(&mut columns, entry).err();
        Self {
            time: tag.now.utc,
            direction: match tag.direction {
                Direction::Outbound => "out",
                Direction::Inbound => "in",
                Direction::Control => "request",
            },
            uuid: tag.uuid,
            number: (tag.seq_num > 0).then_some(tag.seq_num),
            columns,
            marked: (tag.direction == Direction::Inbound).then_some(entry.marked),
            checksum: Some(entry.checksum),
            wrong,
        }
    }

    /// Creates a record for an event that happens now.
    pub(super) fn event(
        time: Utc,
        direction: &'static str,
        uuid: u64,
        number: Option<u32>,
        columns: Columns,
    ) -> Self {
        Self { time, direction, uuid, number, columns, marked: None, checksum: None, wrong: None }
    }

    /// Returns the line, without its end.
    pub(super) fn line(&self, format: Format) -> String {
        match format {
            Format::Short => short(self, &Symbols::default(), &Orders::default()),
            Format::Text => self.text(),
            Format::Csv => self.csv(),
            Format::Json => self.json(),
        }
    }

    fn first(&self) -> [Option<ColumnValue>; FIRST.len()] {
        [
            Some(ColumnValue::text(self.time)),
            Some(ColumnValue::text(self.direction)),
            Some(ColumnValue::number(self.uuid)),
            self.number.map(ColumnValue::number),
            self.columns.name.as_ref().map(ColumnValue::text),
        ]
    }

    fn last(&self) -> [Option<ColumnValue>; LAST.len()] {
        let marked = self.marked.map(|marked| ColumnValue::text(if marked { "yes" } else { "no" }));
        let checksum = self.checksum.map(|checksum| match checksum {
            Checksum::Valid => "right",
            Checksum::Missing => "missing",
            Checksum::Mismatch => "wrong",
        });
        [marked, checksum.map(ColumnValue::text)]
    }

    fn text(&self) -> String {
        let first = self.first().map(|cell| cell.map_or_else(|| "-".to_owned(), |cell| cell.text));
        let mut line = first.join(" ");
        for (name, cell) in self.columns.iter() {
            push_text(&mut line, name, cell);
        }
        for (name, cell) in LAST.into_iter().zip(&self.last()) {
            push_text(&mut line, name, cell.as_ref());
        }
        line
    }

    fn csv(&self) -> String {
        let (first, last) = (self.first(), self.last());
        let columns = self.columns.iter().map(|(_, cell)| cell);
        let all = first.iter().map(Option::as_ref).chain(columns);
        let all = all.chain(last.iter().map(Option::as_ref));
        let values = all.map(|cell| cell.map_or_else(String::new, |cell| quoted(&cell.text)));
        values.collect::<Vec<_>>().join(",")
    }

    fn json(&self) -> String {
        let mut object = String::from("{");
        for (name, cell) in FIRST.into_iter().zip(&self.first()) {
            push_json(&mut object, name, cell.as_ref());
        }
        for (name, cell) in self.columns.iter().filter(|(_, cell)| cell.is_some()) {
            push_json(&mut object, name, cell);
        }
        if self.checksum.is_some() {
            for (name, cell) in LAST.into_iter().zip(&self.last()) {
                push_json(&mut object, name, cell.as_ref());
            }
        }
        object.push('}');
        object
    }
}

/// Returns the first line of CSV.
pub(super) fn names() -> String {
    FIRST.into_iter().chain(NAMES).chain(LAST).collect::<Vec<_>>().join(",")
}

/// Reads the frame in a record, and the progress after the frame of a request.
fn read(columns: &mut Columns, entry: &Entry) -> Result<(), String> {
    let payload = &entry.payload[..];
    let size = payload.first_chunk().map_or(0, |&size| usize::from(u16::from_le_bytes(size)));
    let frame = payload.get(FRAMING_HEADER..size).ok_or("not a frame")?;
    columns.read(frame).map_err(|error| error.to_string())?;
    if entry.tag.direction == Direction::Control && entry.tag.kind == CONTROL_RECORD {
        let status = snapshot_from_record(payload).ok_or("it lacks the session's progress")?;
        stood(columns, &status);
    }
    Ok(())
}

/// Adds the progress of the session when a request was sent.
fn stood(columns: &mut Columns, status: &Progress) {
    columns.put(OUR_NEXT, ColumnValue::number(status.next_outgoing));
    columns.put(THEIR_NEXT, ColumnValue::number(status.next_incoming));
    let missing = status.previous_uuids.missing.iter().flatten();
    let missing: Vec<_> =
        missing.map(|gap| format!("{}:{}-{}", gap.uuid, gap.from, gap.to)).collect();
    if !missing.is_empty() {
        columns.put(MISSING, ColumnValue::text(missing.join(";")));
    }
}

/// Appends ` name=value`, with quotation marks if the value would be ambiguous without them.
pub(super) fn push_text(line: &mut String, name: &str, cell: Option<&ColumnValue>) {
    let Some(cell) = cell else { return };
    let text = &cell.text;
    let is_bare = !text.contains([' ', '"', '=']) && text != "-";
    let _ = match is_bare {
        true => write!(line, " {name}={text}"),
        false => write!(line, " {name}=\"{}\"", text.replace('"', "\\\"")),
    };
}

fn push_json(object: &mut String, name: &str, cell: Option<&ColumnValue>) {
    let comma = if object.ends_with('{') { "" } else { "," };
    let _ = match cell {
        None => write!(object, "{comma}\"{name}\":null"),
        Some(cell) if cell.is_number => write!(object, "{comma}\"{name}\":{}", cell.text),
        Some(cell) => {
            let text = serde_json::Value::from(cell.text.as_str());
            write!(object, "{comma}\"{name}\":{text}")
        }
    };
}

/// Quotes a value for CSV according to RFC 4180.
pub(super) fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_commas_and_quotes_are_quoted_in_csv() {
        assert_eq!(quoted("plain 1"), "plain 1");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"no\""), "\"say \"\"no\"\"\"");
    }

    #[test]
    fn values_that_could_be_mistaken_are_quoted_in_text() {
        let mut line = String::new();
        let values = ["one two", "say\"no\"", "x=1", "-", "plain(1)"];
        for (name, value) in ["a", "b", "c", "d", "e"].into_iter().zip(values) {
            push_text(&mut line, name, Some(&ColumnValue::text(value)));
        }
        push_text(&mut line, "f", Some(&ColumnValue::number(3_u32)));
        push_text(&mut line, "g", None);
        let expected = r#" a="one two" b="say\"no\"" c="x=1" d="-" e=plain(1) f=3"#;
        assert_eq!(line, expected);
    }
}
