//! The audit trail of a journal, and its files.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use hairpin_mapped::{Direction, Entry};
use hairpin_order_entry::MESSAGE_RECORD;
use hairpin_time::Utc;
use jiff::tz::TimeZone;

use super::columns::{
    CL_ORD_ID, COUNT, CUMULATIVE, DIRECTION, FILL_QUANTITY, INSTRUMENT, MESSAGE_TYPE, ORDER_FLOW,
    ORDER_ID, SENDING_TIME, SESSION, SIDE,
};
use super::line::{Line, headings, lines, message_type};
use super::message::Message;
use super::order_flows::OrderFlows;

/// The bytes before a message: its frame's length and encoding.
const FRAMING_HEADER: usize = 4;
/// The digits of a date in a time stamp: `YYYYMMDD`.
const DATE: usize = 8;

/// The audit trail of a journal, written record by record, oldest first.
#[derive(Debug)]
pub(super) struct Trail {
    folder: PathBuf,
    /// The links (tag 527) of leg fills that have messages of their own.
    leg_links: HashSet<u64>,
    /// The session id of each UUID.
    sessions: HashMap<u64, String>,
    flows: OrderFlows,
    /// The last definition of each registered party list.
    parties: HashMap<String, Line>,
    /// The filled quantity of each order, and of each of its legs.
    filled: HashMap<String, u64>,
    files: HashMap<PathBuf, DayFile>,
    /// What CME requires and the journal lacks.
    pub(super) errors: Vec<String>,
}

/// The file of a session and a day.
#[derive(Debug)]
struct DayFile {
    out: BufWriter<File>,
    /// The registered party lists that the file defines, or that the journal lacks.
    parties: HashSet<String>,
}

impl Trail {
    /// Creates a trail whose files are created in `folder`.
    pub(super) fn new(folder: &Path, leg_links: HashSet<u64>) -> Self {
        Self {
            folder: folder.to_owned(),
            leg_links,
            sessions: HashMap::new(),
            flows: OrderFlows::default(),
            parties: HashMap::new(),
            filled: HashMap::new(),
            files: HashMap::new(),
            errors: Vec::new(),
        }
    }

    /// Adds a record.
    ///
    /// # Errors
    /// A file that exists already or that cannot be written.
    pub(super) fn add(&mut self, entry: &Entry) -> Result<()> {
        let Some(message) = read(entry) else { return Ok(()) };
        let tag = &entry.tag;
        match tag.direction {
            Direction::Control => {
                if let Some(session) = message.root.get("Session") {
                    self.sessions.insert(tag.uuid, session.to_owned());
                }
                return Ok(());
            }
            _ if tag.kind != MESSAGE_RECORD => return Ok(()),
            _ => {}
        }
        let time = message.root.number("SendingTimeEpoch").map_or(tag.now.utc, Utc::from_nanos);
        let flow = match tag.direction {
            Direction::Outbound => self.flows.sent(tag.uuid, tag.seq_num, &message),
            _ => self.flows.received(tag.uuid, &message),
        };
        let link = message.root.number("SecExecID");
        let with_legs = link.is_none_or(|link| !self.leg_links.contains(&link));
        for mut line in lines(&message, with_legs) {
            line.set(SENDING_TIME, Some(time_stamp(time)));
            let direction =
                if tag.direction == Direction::Outbound { "TO CME" } else { "FROM CME" };
            line.set(DIRECTION, Some(direction.to_owned()));
            line.set(SESSION, self.sessions.get(&tag.uuid).cloned());
            line.set(MESSAGE_TYPE, Some(message_type(&message)));
            line.set(ORDER_FLOW, flow.clone().or_else(|| self.affected_flow(&message, &line)));
            line.set(COUNT + 1, Some(tag.uuid.to_string()));
            line.set(COUNT + 2, Some(tag.seq_num.to_string()));
            self.add_filled(&message, &mut line);
            let name = format!(
                "{} ({direction}, UUID {}, number {})",
                message.name, tag.uuid, tag.seq_num
            );
            self.check(&message, &line, &name);
            self.write(line, &name)?;
        }
        Ok(())
    }

    /// Writes what is buffered, and returns the files, sorted.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn finish(self) -> Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        for (path, mut file) in self.files {
            file.out.flush().with_context(|| cannot_write(&path))?;
            paths.push(path);
        }
        paths.sort();
        Ok(paths)
    }

    /// Returns the flow of an order that a mass action has canceled.
    fn affected_flow(&mut self, message: &Message, line: &Line) -> Option<String> {
        let order_id = line.get(ORDER_ID).filter(|_| message.template_id == 562)?;
        self.flows.report(order_id.parse().ok(), line.get(CL_ORD_ID))
    }

    /// Adds the fill in a line, and sets the cumulative quantity of a leg if the journal has all
    /// fills of the order: the group of legs does not contain it.
    fn add_filled(&mut self, message: &Message, line: &mut Line) {
        let quantity = line.get(FILL_QUANTITY).and_then(|quantity| quantity.parse::<u64>().ok());
        let (526, Some(quantity)) = (message.template_id, quantity) else { return };
        let spread = format!("{:?}", message.root.get("OrderID"));
        let leg = format!("{spread} {:?} {:?}", line.get(INSTRUMENT), line.get(SIDE));
        let key = if line.is_leg() { &leg } else { &spread };
        let filled = self.filled.entry(key.clone()).or_default();
        *filled += quantity;
        let filled = *filled;
        let is_complete = self.filled.get(&spread).copied() == message.root.number("CumQty");
        if line.is_leg() && is_complete {
            line.set(CUMULATIVE, Some(filled.to_string()));
        }
    }

    /// Records what CME requires and the line lacks.
    fn check(&mut self, message: &Message, line: &Line, name: &str) {
        if message.msg_type.is_empty() {
            self.errors.push(format!("cannot complete {name}: unknown template"));
        }
        for heading in line.missing() {
            self.errors.push(format!("cannot complete {name}: the journal has no {heading}"));
        }
        // Quotes have no order flow; a business reject of another message requires it.
        let is_reject = message.template_id == 521 && line.get(ORDER_FLOW).is_none();
        let of_order = ["D", "G", "F", "s"];
        if is_reject && message.root.get("RefMsgType").is_some_and(|it| of_order.contains(&it)) {
            self.errors.push(format!("cannot complete {name}: the journal has no Order Flow ID"));
        }
    }

    /// Writes a line to the file of its session and day, after the party details that it uses, if
    /// the file does not contain them.
    fn write(&mut self, line: Line, name: &str) -> Result<()> {
        let day = line.get(SENDING_TIME).and_then(|time| time.get(..DATE)).unwrap_or_default();
        let session = file_name_part(line.get(SESSION).unwrap_or("unknown"));
        let path = self.folder.join(format!("{session}-{day}.csv"));
        if !self.files.contains_key(&path) {
            // A new file follows no link.
            let out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
            let out = out.with_context(|| format!("cannot create {}", path.display()))?;
            let mut out = BufWriter::new(out);
            writeln!(out, "{}", headings()).with_context(|| cannot_write(&path))?;
            self.files.insert(path.clone(), DayFile { out, parties: HashSet::new() });
        }
        let Some(file) = self.files.get_mut(&path) else { return Ok(()) };
        if let Some(id) = line.used_party_list()
            && file.parties.insert(id.to_owned())
        {
            match self.parties.get(id) {
                Some(details) => writeln!(file.out, "{}", details.csv()),
                None => {
                    let error = format!(
                        "cannot complete {name}: the journal has no PartyDetailsDefinition\
                         Request518 of list {id}"
                    );
                    self.errors.push(error);
                    Ok(())
                }
            }
            .with_context(|| cannot_write(&path))?;
        }
        writeln!(file.out, "{}", line.csv()).with_context(|| cannot_write(&path))?;
        if let Some(id) = line.defined_party_list() {
            let id = id.to_owned();
            file.parties.insert(id.clone());
            let is_request = line.get(MESSAGE_TYPE) == Some("CX");
            // The exchange's acknowledgment repeats our request; it does not replace it.
            if is_request || !self.parties.contains_key(&id) {
                self.parties.insert(id, line);
            }
        }
        Ok(())
    }
}

/// Returns a session id as a part of a file name in the folder: a journal may contain any bytes.
/// Other characters than letters and digits become their code, so that names stay distinct.
fn file_name_part(session: &str) -> String {
    let part = |it: char| match it.is_ascii_alphanumeric() {
        true => it.to_string(),
        false => format!("_{:02X}", u32::from(it)),
    };
    session.chars().map(part).collect()
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// Reads the message in a record; `None` if the record has none.
pub(super) fn read(entry: &Entry) -> Option<Message> {
    let size = entry.payload.first_chunk().map(|&size| usize::from(u16::from_le_bytes(size)))?;
    Message::read(entry.payload.get(FRAMING_HEADER..size)?).ok()
}

/// Returns a time as CME writes it, with nanoseconds.
fn time_stamp(time: Utc) -> String {
    let nanos = i128::from(time.as_nanos());
    let time = jiff::Timestamp::from_nanosecond(nanos).unwrap_or(jiff::Timestamp::MAX);
    time.to_zoned(TimeZone::UTC).strftime("%Y%m%d-%H:%M:%S%.9f").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_ids_stay_in_the_folder() {
        for (session, part) in [
            ("ABC", "ABC"),
            ("a1Z", "a1Z"),
            ("../", "_2E_2E_2F"),
            ("A/B", "A_2FB"),
            ("..", "_2E_2E"),
            ("\0 é", "_00_20_E9"),
        ] {
            assert_eq!(file_name_part(session), part);
        }
    }

    #[test]
    fn time_stamps_have_cmes_form() {
        let time = Utc::from_nanos(1_700_000_000_000_000_007);
        assert_eq!(time_stamp(time), "20231114-22:13:20.000000007");
    }
}
