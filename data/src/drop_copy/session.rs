//! The acceptor's side of one FIX session, without its socket.
//!
//! Source: FIX 4.4 volume 2, "FIX Session Protocol" and "Session Protocol test cases" (acceptor).

use std::path::{Path, PathBuf};

use anyhow::Result;
use hairpin_time::{Duration, Now};

use super::converter::Converter;
use super::journal_reports::{JournalReports, ReportLookup};
use super::link::{Link, Logged};
use super::store::{Position, Sent, SessionStore};
use crate::fix::{self, Body, Header, Message, tag};

/// Bytes that wait for the socket above which no more reports are added.
const FULL: usize = 1 << 16;
/// The most numbers that one gap fill covers, so that a wakeup ends.
const GAP_MAX: u32 = 1 << 12;
/// The longest heartbeat interval in seconds.
const HEARTBEAT_MAX: u64 = 86_400;

/// The session of one client. It exists also while the client is not connected.
#[derive(Debug)]
pub(super) struct Session {
    /// Our CompID, and the client's.
    names: [String; 2],
    store: SessionStore,
    reports: JournalReports,
    lookup: ReportLookup,
    pub(super) link: Option<Link>,
}

impl Session {
    /// Opens the session's store, and the journal after the last report that was sent.
    ///
    /// # Errors
    /// Those of store and journal.
    pub(super) fn open(journal: &Path, store: &Path, names: [String; 2]) -> Result<Self> {
        let store = SessionStore::open(store, &names[1])?;
        let reports = JournalReports::open(journal, store.last_report())?;
        let lookup = ReportLookup::new(PathBuf::from(journal));
        Ok(Self { names, store, reports, lookup, link: None })
    }

    /// Returns the client's CompID.
    pub(super) fn client(&self) -> &str {
        &self.names[1]
    }

    /// Returns `true` if a Logon is for this session.
    pub(super) fn accepts(&self, logon: &Message<'_>) -> bool {
        self.is_addressed(logon)
    }

    fn is_addressed(&self, message: &Message<'_>) -> bool {
        let [ours, client] = &self.names;
        message.is_fix44()
            && message.field(tag::SENDER_COMP_ID) == Some(client.as_bytes())
            && message.field(tag::TARGET_COMP_ID) == Some(ours.as_bytes())
    }

    /// Processes a complete message of the client.
    ///
    /// # Errors
    /// Those of the store.
    pub(super) fn handle_message(&mut self, now: Now, message: &Message<'_>) -> Result<()> {
        let Some(link) = self.link.as_mut().filter(|link| !link.closing) else { return Ok(()) };
        link.received(now.monotonic);
        let Some(number) = message.number(tag::MSG_SEQ_NUM).and_then(|it| u32::try_from(it).ok())
        else {
            return self.end(now, "MsgSeqNum (34) is missing");
        };
        if !self.is_addressed(message) {
            return self.end(now, "BeginString, SenderCompID or TargetCompID is wrong");
        }
        let is_logon = message.msg_type() == b"A";
        let is_logged_on = self.link.as_ref().is_some_and(|link| link.logged == Logged::On);
        match (is_logon, is_logged_on) {
            (false, false) => self.end(now, "the first message is not a Logon"),
            (true, _) => self.handle_logon(now, number, message),
            (false, true) => self.handle_numbered(now, number, message),
        }
    }

    fn handle_logon(&mut self, now: Now, number: u32, message: &Message<'_>) -> Result<()> {
        let seconds = message.number(tag::HEART_BT_INT).filter(|&it| it <= HEARTBEAT_MAX);
        let Some(seconds) = seconds else { return self.end(now, "HeartBtInt (108) is wrong") };
        if message.number(tag::ENCRYPT_METHOD) != Some(0) {
            return self.end(now, "EncryptMethod (98) must be 0");
        }
        let resets = message.is_set(tag::RESET_SEQ_NUM_FLAG);
        if resets {
            if number != 1 {
                return self.end(now, "MsgSeqNum (34) must be 1 with ResetSeqNumFlag (141)");
            }
            self.store.reset()?;
            let client = self.client();
            super::log(format_args!("{client}: both sides count from 1 again (ResetSeqNumFlag)"));
            if let Some(link) = &mut self.link {
                (link.resend, link.requested) = (None, None);
            }
        }
        let expected = self.store.next_incoming();
        if number < expected {
            return self.end_low(now, expected, number);
        }
        if let Some(link) = &mut self.link {
            link.log_on(now.monotonic, Duration::from_secs(seconds));
        }
        let mut body = Body::default();
        body.field(tag::ENCRYPT_METHOD, 0).field(tag::HEART_BT_INT, seconds);
        if resets {
            body.field(tag::RESET_SEQ_NUM_FLAG, 'Y');
        }
        self.send(now, "A", &body);
        if number > expected { self.request(now, number) } else { self.expect_after(number) }
    }

    /// Processes a message after the Logon, by its number.
    fn handle_numbered(&mut self, now: Now, number: u32, message: &Message<'_>) -> Result<()> {
        let expected = self.store.next_incoming();
        let msg_type = message.msg_type();
        if msg_type == b"4" && !message.is_set(tag::GAP_FILL_FLAG) {
            return self.handle_sequence_reset(now, number, message);
        }
        if number < expected {
            let is_duplicate = message.is_set(tag::POSS_DUP_FLAG);
            return if is_duplicate { Ok(()) } else { self.end_low(now, expected, number) };
        }
        if number > expected {
            // Both are processed at once, so that two requests cannot wait for each other.
            match msg_type {
                b"2" => self.handle_resend_request(now, number, message)?,
                b"5" => return self.end(now, "logged out"),
                _ => {}
            }
            return self.request(now, number);
        }
        if msg_type == b"4" {
            return self.handle_gap_fill(now, number, message);
        }
        self.expect_after(number)?;
        match msg_type {
            b"0" => Ok(()),
            b"1" => {
                let mut body = Body::default();
                body.field(tag::TEST_REQ_ID, message.text(tag::TEST_REQ_ID));
                self.send(now, "0", &body);
                Ok(())
            }
            b"2" => self.handle_resend_request(now, number, message),
            b"3" => {
                let (refused, text) = (message.text(tag::REF_SEQ_NUM), message.text(tag::TEXT));
                let client = self.client();
                super::log(format_args!("{client} rejects message {refused}: {text}"));
                Ok(())
            }
            b"5" => self.end(now, "logged out"),
            _ => {
                self.refuse_application(now, number, message);
                Ok(())
            }
        }
    }

    fn handle_sequence_reset(
        &mut self,
        now: Now,
        number: u32,
        message: &Message<'_>,
    ) -> Result<()> {
        match new_seq_no(message) {
            Some(next) if next >= self.store.next_incoming() => self.expect(next),
            _ => {
                self.reject(now, number, message, tag::NEW_SEQ_NO, 5);
                Ok(())
            }
        }
    }

    fn handle_gap_fill(&mut self, now: Now, number: u32, message: &Message<'_>) -> Result<()> {
        match new_seq_no(message) {
            Some(next) if next > number => self.expect(next),
            _ => {
                self.reject(now, number, message, tag::NEW_SEQ_NO, 5);
                self.expect_after(number)
            }
        }
    }

    fn handle_resend_request(
        &mut self,
        now: Now,
        number: u32,
        message: &Message<'_>,
    ) -> Result<()> {
        let value = |tag| message.number(tag).and_then(|it| u32::try_from(it).ok());
        let (begin, end) = (value(tag::BEGIN_SEQ_NO), value(tag::END_SEQ_NO));
        let last = self.store.next_outgoing() - 1;
        let (Some(begin), Some(end)) = (begin.filter(|&begin| begin > 0), end) else {
            let missing = if end.is_some() { tag::BEGIN_SEQ_NO } else { tag::END_SEQ_NO };
            self.reject(now, number, message, missing, 1);
            return Ok(());
        };
        let end = if end == 0 { last } else { end.min(last) };
        if let Some(link) = self.link.as_mut().filter(|_| begin <= end) {
            link.resend = Some((begin, end));
        }
        Ok(())
    }

    /// Requests the messages before one that is too high, unless they are requested already.
    fn request(&mut self, now: Now, number: u32) -> Result<()> {
        let expected = self.store.next_incoming();
        let Some(link) = &mut self.link else { return Ok(()) };
        if link.requested.is_none_or(|requested| requested < expected) {
            link.requested = Some(number);
            let mut body = Body::default();
            body.field(tag::BEGIN_SEQ_NO, expected).field(tag::END_SEQ_NO, 0);
            self.send(now, "2", &body);
        }
        Ok(())
    }

    fn reject(&mut self, now: Now, number: u32, message: &Message<'_>, field: u32, reason: u8) {
        let mut body = Body::default();
        body.field(tag::REF_SEQ_NUM, number).field(tag::REF_TAG_ID, field);
        body.field(tag::REF_MSG_TYPE, String::from_utf8_lossy(message.msg_type()));
        body.field(tag::SESSION_REJECT_REASON, reason);
        self.send(now, "3", &body);
    }

    /// Refuses a message of the application: a drop copy accepts none.
    fn refuse_application(&mut self, now: Now, number: u32, message: &Message<'_>) {
        let mut body = Body::default();
        body.field(tag::REF_SEQ_NUM, number);
        body.field(tag::REF_MSG_TYPE, String::from_utf8_lossy(message.msg_type()));
        body.field(tag::BUSINESS_REJECT_REASON, 3).field(tag::TEXT, "a drop copy accepts none");
        self.send(now, "j", &body);
    }

    fn end_low(&mut self, now: Now, expected: u32, number: u32) -> Result<()> {
        self.end(now, &format!("MsgSeqNum too low, expecting {expected} but received {number}"))
    }

    /// Sends a Logout. The connection is closed when it is written.
    pub(super) fn end(&mut self, now: Now, text: &str) -> Result<()> {
        let Some(link) = self.link.as_mut().filter(|link| !link.closing) else { return Ok(()) };
        link.closing = true;
        super::log(format_args!("{}: connection closed: {text}", self.client()));
        let mut body = Body::default();
        body.field(tag::TEXT, text);
        self.send(now, "5", &body);
        Ok(())
    }

    fn expect_after(&mut self, number: u32) -> Result<()> {
        self.expect(number.saturating_add(1))
    }

    fn expect(&mut self, number: u32) -> Result<()> {
        self.store.set_next_incoming(number)
    }

    /// Processes expired deadlines of heartbeats.
    ///
    /// # Errors
    /// Those of the store.
    pub(super) fn handle_timeout(&mut self, now: Now) -> Result<()> {
        let Some(link) = &mut self.link else { return Ok(()) };
        if link.is_heartbeat_due(now.monotonic) {
            self.send(now, "0", &Body::default());
        } else if link.is_test_due(now.monotonic) {
            let mut body = Body::default();
            body.field(tag::TEST_REQ_ID, "TEST");
            self.send(now, "1", &body);
        } else if link.is_expired(now.monotonic) {
            return self.end(now, "no reply to a TestRequest");
        }
        Ok(())
    }

    /// Adds what is to be sent again, then new reports, while there is room. Returns `true` if
    /// anything was added.
    ///
    /// # Errors
    /// Those of the store.
    pub(super) fn fill(&mut self, now: Now, converter: &mut Converter) -> Result<bool> {
        let mut has_added = false;
        while let Some(link) = self.link.as_ref().filter(|link| link.is_open_for(FULL)) {
            let is_added = match link.resend {
                Some((begin, end)) => self.resend(now, begin, end, converter)?,
                None => self.report(now, converter),
            };
            if !is_added {
                break;
            }
            has_added = true;
        }
        Ok(has_added)
    }

    /// Sends the next report of the journal. Returns `false` at the end.
    fn report(&mut self, now: Now, converter: &mut Converter) -> bool {
        let Some(report) = self.reports.next() else { return false };
        let Some(fix) = converter.convert(&report) else { return true };
        self.add(now, fix.msg_type, &fix.body, Some(report.position));
        true
    }

    /// Sends one message of a range again, or a gap fill for session messages.
    fn resend(
        &mut self,
        now: Now,
        begin: u32,
        end: u32,
        converter: &mut Converter,
    ) -> Result<bool> {
        let first = self.store.sent(begin)?;
        let mut next = begin + 1;
        let found = self.find(first, converter);
        if found.is_none() {
            let mut removed = u32::from(first.report.is_some());
            while next <= end && next - begin < GAP_MAX {
                let sent = self.store.sent(next)?;
                if self.find(sent, converter).is_some() {
                    break;
                }
                removed += u32::from(sent.report.is_some());
                next += 1;
            }
            self.log_removed(removed, begin, next - 1);
        }
        let (msg_type, body) = found.unwrap_or_else(|| {
            let mut body = Body::default();
            body.field(tag::GAP_FILL_FLAG, 'Y').field(tag::NEW_SEQ_NO, next);
            ("4", body)
        });
        let Some(link) = &mut self.link else { return Ok(false) };
        link.resend = (next <= end).then_some((next, end));
        let [sender, target] = &self.names;
        let (sending_time, original) = (now.utc, Some(first.sending_time));
        let header = Header { msg_type, sender, target, seq_num: begin, sending_time, original };
        fix::write(link.output_mut(now.monotonic), &header, &body);
        Ok(true)
    }

    /// Returns a report that was sent. `None` for a session message or a removed record.
    fn find(&mut self, sent: Sent, converter: &mut Converter) -> Option<(&'static str, Body)> {
        let fix = self.lookup.at(sent.report?).and_then(|it| converter.convert(&it))?;
        Some((fix.msg_type, fix.body))
    }

    fn log_removed(&self, reports: u32, first: u32, last: u32) {
        if reports > 0 {
            let client = self.client();
            super::log(format_args!(
                "{client}: cannot send {reports} reports of messages {first} to {last} again: the \
                 journal does not have them"
            ));
        }
    }

    fn send(&mut self, now: Now, msg_type: &'static str, body: &Body) {
        self.add(now, msg_type, body, None);
    }

    fn add(&mut self, now: Now, msg_type: &str, body: &Body, report: Option<Position>) {
        let Some(link) = &mut self.link else { return };
        let seq_num = self.store.append(Sent { sending_time: now.utc, report });
        let [sender, target] = &self.names;
        let sending_time = now.utc;
        let header = Header { msg_type, sender, target, seq_num, sending_time, original: None };
        fix::write(link.output_mut(now.monotonic), &header, body);
    }

    /// Makes sure that every added number is in the store, before the bytes are sent.
    ///
    /// # Errors
    /// Those of the store.
    pub(super) fn sync(&mut self) -> Result<()> {
        self.store.sync()
    }
}

fn new_seq_no(message: &Message<'_>) -> Option<u32> {
    message.number(tag::NEW_SEQ_NO).and_then(|it| u32::try_from(it).ok())
}
