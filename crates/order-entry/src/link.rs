//! The journal and the connection behind it: where committed bytes wait and leave.

mod batch;

use std::hint::black_box;
use std::io;
use std::ops::Range;

use hairpin_endpoint::Stream;
use hairpin_ilink3::{
    CONTROL_LENGTH, Delivery, FRAMING_HEADER_LENGTH, OutboundError, OutboundSink, Progress,
    Session, write_framing_header,
};
use hairpin_mapped::{Direction, Record, Storage, Tag};
use hairpin_time::{Instant, Now};

use crate::backlog::Backlog;
use crate::gate::Gate;
use crate::record::{self, CONTROL_RECORD, FILL_RECORD, MESSAGE_RECORD};
use crate::{Connect, Counters, Settings, WhenFull, WhenThrottled};

use batch::Batch;

/// Writes to the connection, in this order: the rest of a control message, then records, then new
/// control messages.
#[derive(Debug)]
pub(crate) struct Link<D: Connect, J> {
    pub(crate) journal: J,
    /// Of the newest message: the session, its number, and the time of this wake.
    tag: Tag,
    /// Whether a record has to be on the disk before its bytes leave.
    waits: bool,
    /// What holds records back, if there is a limit and they are to wait.
    gate: Option<Gate>,
    /// A record just leaves: there is a connection that is not broken, nothing waits, no batch is
    /// open, and neither the disk nor a limit holds it back. Who changes any of that has it
    /// [looked at](Self::look) again.
    is_clear: bool,
    batch: Batch,
    when_full: WhenFull,
    /// Makes the connections, and sees what leaves by them.
    pub(crate) dial: D,
    /// The connection, once it is established.
    pub(crate) stream: Option<D::Stream>,
    backlog: Backlog,
    control: [u8; CONTROL_LENGTH],
    /// What of the control message has still to leave.
    control_left: Range<usize>,
    /// Whether what the exchange sends is kept too.
    keeps_inbound: bool,
    /// The record of the message whose callback is called now.
    delivering: Option<Record>,
    /// Why the connection broke while writing.
    pub(crate) broken: Option<io::Error>,
    pub(crate) counters: Counters,
}

impl<D: Connect, J: Storage> OutboundSink for Link<D, J> {
    // Always, and what is called for each message below: where the compiler sees that it is this
    // outlet, it is one function with the callback.
    #[inline(always)]
    fn claim(&mut self, max: usize) -> Result<&mut [u8], OutboundError> {
        self.check_room()?;
        if !self.journal.has_room(max) {
            self.make_room();
        }
        self.journal.claim(max).map_err(|_| OutboundError::Full)
    }

    #[inline(always)]
    fn commit(&mut self, length: usize, seq_num: Option<u32>) -> Delivery {
        self.tag.kind = FILL_RECORD;
        if let Some(seq_num) = seq_num {
            (self.tag.kind, self.tag.seq_num) = (MESSAGE_RECORD, seq_num);
        }
        let record = self.journal.commit(&self.tag, length);
        self.dial.on_frame(self.journal.bytes(record));
        debug_assert!(!self.is_clear || self.looks_clear());
        if self.is_clear {
            return self.write_record(record);
        }
        self.commit_carefully(record)
    }

    fn begin_batch(&mut self) {
        self.open_batch();
    }

    fn end_batch(&mut self) -> (Delivery, usize) {
        self.close_batch()
    }

    #[inline]
    fn rehearse(&mut self, max: usize) -> Result<&mut [u8], OutboundError> {
        self.check_room()?;
        if !self.journal.has_room(max) {
            return Err(OutboundError::Full);
        }
        self.journal.claim(max).map_err(|_| OutboundError::Full)
    }

    /// The record's header stands in front of what was encoded, mostly in the same cache line, and
    /// is stored by the commit alone.
    #[inline]
    fn rehearse_commit(&mut self, length: usize, seq_num: u32) {
        let tag = Tag { kind: MESSAGE_RECORD, seq_num, ..self.tag };
        black_box((tag, length, self.is_clear, &self.counters));
    }

    #[cold]
    fn resend(&mut self, seq_num: u32) -> Result<Delivery, OutboundError> {
        self.check_room()?;
        let (direction, uuid) = (Direction::Outbound, self.tag.uuid);
        let mut found = self.journal.replay(direction, MESSAGE_RECORD, uuid, seq_num..=seq_num);
        let record = found.next().ok_or(OutboundError::NotKept)?;
        drop(found);
        self.dial.on_frame(self.journal.bytes(record));
        if self.is_waiting() {
            self.backlog.push(record, 0);
            return Ok(Delivery::Waiting { waiting: self.waiting() });
        }
        Ok(self.write_record(record))
    }

    #[cold]
    fn keep(&mut self, uuid: u64, seq_num: u32, message: &[u8]) {
        if !self.keeps_inbound {
            return;
        }
        let length = FRAMING_HEADER_LENGTH + message.len();
        if !self.journal.has_room(length) {
            self.make_room();
        }
        let Ok(payload) = self.journal.claim(length) else {
            self.delivering = None;
            self.counters.unjournaled_messages += 1;
            return;
        };
        let (header, rest) = payload.split_first_chunk_mut().expect("it has room for a frame");
        write_framing_header(header, length);
        rest[..message.len()].copy_from_slice(message);
        self.delivering = Some(self.journal.commit(&self.inbound_tag(uuid, seq_num), length));
    }

    #[inline(always)]
    fn keep_frame(&mut self, uuid: u64, seq_num: u32, frame: &[u8]) {
        if !self.keeps_inbound {
            return;
        }
        if !self.journal.has_room(frame.len()) {
            self.make_room();
        }
        let Ok(room) = self.journal.claim(frame.len()) else {
            self.delivering = None;
            self.counters.unjournaled_messages += 1;
            return;
        };
        room[..frame.len()].copy_from_slice(frame);
        self.delivering = Some(self.journal.commit(&self.inbound_tag(uuid, seq_num), frame.len()));
    }

    #[inline(always)]
    fn mark(&mut self) {
        if let Some(record) = self.delivering.take() {
            self.journal.mark(record);
        }
    }
}

impl<D: Connect, J: Storage> Link<D, J> {
    pub(crate) fn new(journal: J, dial: D, settings: &Settings) -> Self {
        let newest = journal.last(Direction::Outbound).map(|record| journal.tag(record));
        let throttle = settings.throttle.filter(|it| it.beyond == WhenThrottled::Queue);
        let gate = throttle.map(|it| Gate::new(&it.rates));
        Self {
            tag: newest.unwrap_or_default(),
            is_clear: false,
            waits: journal.waits(),
            gate,
            batch: Batch::new(settings.batch_bytes),
            journal,
            when_full: settings.when_full,
            dial,
            stream: None,
            backlog: Backlog::new(settings.waiting_max),
            control: [0; CONTROL_LENGTH],
            control_left: 0..0,
            keeps_inbound: settings.keep_inbound,
            delivering: None,
            broken: None,
            counters: Counters::default(),
        }
    }

    /// Whether another record could leave, or wait.
    #[inline]
    fn check_room(&self) -> Result<(), OutboundError> {
        if self.is_clear { Ok(()) } else { self.look_for_room() }
    }

    #[cold]
    fn look_for_room(&self) -> Result<(), OutboundError> {
        if self.stream.is_none() || self.broken.is_some() {
            return Err(OutboundError::Closed);
        }
        if self.backlog.is_full() {
            return Err(OutboundError::WouldBlock { waiting: self.waiting() });
        }
        Ok(())
    }

    /// What a message of the exchange's is kept with.
    #[inline(always)]
    fn inbound_tag(&self, uuid: u64, seq_num: u32) -> Tag {
        let (direction, kind) = (Direction::Inbound, MESSAGE_RECORD);
        Tag { direction, kind, seq_num, uuid, now: self.tag.now }
    }

    /// What is committed from now on was at this time.
    #[inline]
    pub(crate) fn set_now(&mut self, now: Now) {
        self.tag.now = now;
    }

    /// Begins the journal again if it may: no record of it is still to leave.
    #[cold]
    fn make_room(&mut self) {
        let may = self.when_full == WhenFull::BeginAgain && self.backlog.is_empty();
        if may && self.journal.begin_again() {
            self.delivering = None;
            self.counters.journals_begun_again += 1;
        }
    }

    /// Whether bytes wait for the connection to take more.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        !self.control_left.is_empty() || !self.backlog.is_empty()
    }

    /// Whether nothing waits, and nothing is wrong.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.is_clear || (!self.is_waiting() && self.broken.is_none())
    }

    /// Notes whether a record would just leave.
    fn look(&mut self) {
        self.is_clear = self.looks_clear();
    }

    fn looks_clear(&self) -> bool {
        let is_held_back = self.waits || self.gate.is_some() || self.batch.is_open();
        let is_whole = self.stream.is_some() && self.broken.is_none();
        is_whole && !self.is_waiting() && !is_held_back
    }

    /// The connection is there.
    pub(crate) fn connected(&mut self, stream: D::Stream) {
        self.counters.connected += 1;
        self.stream = Some(stream);
        self.look();
    }

    /// Bytes that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.control_left.len() + self.backlog.waiting()
    }

    /// Lets a record that was just committed leave, or wait.
    #[cold]
    fn commit_carefully(&mut self, record: Record) -> Delivery {
        let is_held = self.batch.is_open() || self.is_held_back(record);
        if is_held || self.is_waiting() {
            self.backlog.push(record, 0);
            return Delivery::Waiting { waiting: self.waiting() };
        }
        self.write_record(record)
    }

    /// Does what has to be done before a record leaves: whether it may not leave yet.
    fn is_held_back(&mut self, record: Record) -> bool {
        if self.waits {
            self.wait_durable(record);
        }
        let now = self.tag.now.monotonic;
        let is_first = !self.is_waiting();
        let bytes = self.journal.bytes(record);
        is_first && self.gate.as_mut().is_some_and(|gate| !gate.passes(now, bytes))
    }

    /// When the first record that waits may leave, if it is the limit that holds it.
    pub(crate) fn held_until(&self) -> Option<Instant> {
        self.gate.as_ref().filter(|_| self.control_left.is_empty())?.held_until()
    }

    /// Writes what waits, as far as the connection takes it and the limit allows.
    pub(crate) fn flush(&mut self) {
        self.write_waiting();
        self.look();
    }

    fn write_waiting(&mut self) {
        while !self.control_left.is_empty() {
            let bytes = &self.control[self.control_left.clone()];
            let written = write(&mut self.stream, &mut self.broken, &mut self.counters, bytes);
            self.control_left.start += written;
            if !self.control_left.is_empty() {
                return;
            }
        }
        while let Some((record, offset)) = self.backlog.first() {
            let bytes = &self.journal.bytes(record)[offset..];
            let whole = bytes.len();
            if let Some(gate) = self.gate.as_mut().filter(|_| offset == 0)
                && !gate.nth_passes(0, self.tag.now.monotonic, bytes)
            {
                return;
            }
            let written = write(&mut self.stream, &mut self.broken, &mut self.counters, bytes);
            let left = self.backlog.written(written);
            self.gate.iter_mut().for_each(|gate| gate.left(left));
            if written < whole {
                return;
            }
        }
    }

    /// Writes the control traffic of `session`, unless earlier bytes wait.
    #[inline]
    pub(crate) fn transmit(&mut self, session: &mut Session, now: Now) {
        if self.stream.is_none() {
            return;
        }
        if self.is_waiting() && self.held_until().is_some_and(|until| until <= now.monotonic) {
            self.flush();
        }
        while !self.is_waiting() && self.broken.is_none() {
            let before = session.progress().request_timestamp;
            let Some(length) = session.poll_transmit(now, &mut self.control) else { return };
            // Only a request of ours moves the RequestTimestamp; a Sequence and the answer to a
            // Terminate are not worth a record.
            let control = self.control;
            if session.progress().request_timestamp != before {
                self.keep_request(&control[..length], &session.progress());
            }
            self.see_control(&control[..length]);
            self.control_left = 0..length;
            self.flush();
        }
    }

    /// Forgets the connection and what had not left.
    pub(crate) fn disconnect(&mut self) -> Option<D::Stream> {
        self.counters.unsent_records += self.backlog.len() as u64;
        self.backlog.clear();
        self.gate.iter_mut().for_each(Gate::clear);
        self.control_left = 0..0;
        self.broken = None;
        self.is_clear = false;
        self.stream.take()
    }

    /// Goes on with a connection on which the rest of a control message has still to leave.
    pub(crate) fn adopt(&mut self, stream: Option<D::Stream>, rest: &[u8]) {
        self.stream = stream;
        self.control[..rest.len()].copy_from_slice(rest);
        self.control_left = 0..rest.len();
        self.look();
    }

    /// Writes a record of which nothing has left yet, with nothing waiting before it.
    #[inline]
    fn write_record(&mut self, record: Record) -> Delivery {
        let bytes = self.journal.bytes(record);
        let written = write(&mut self.stream, &mut self.broken, &mut self.counters, bytes);
        if written == bytes.len() {
            return Delivery::Written;
        }
        self.backlog.push(record, written);
        self.gate.iter_mut().for_each(Gate::first_has_passed);
        self.is_clear = false;
        match self.broken {
            None => Delivery::Waiting { waiting: self.waiting() },
            Some(_) => Delivery::Broken,
        }
    }

    /// Shows a control message that is about to leave, without what only we and the exchange know.
    pub(crate) fn see_control(&mut self, frame: &[u8]) {
        let mut shown = [0; CONTROL_LENGTH];
        let shown = &mut shown[..frame.len()];
        shown.copy_from_slice(frame);
        record::mask_credentials(shown);
        self.dial.on_frame(shown);
    }

    /// Journals a request that is about to leave. A Terminate must leave even when the journal is
    /// full.
    #[cold]
    pub(crate) fn keep_request(&mut self, frame: &[u8], progress: &Progress) {
        if self.tag.uuid != progress.uuid {
            (self.tag.uuid, self.tag.seq_num) = (progress.uuid, 0);
        }
        let length = record::control_length(frame.len());
        if !self.journal.has_room(length) {
            self.make_room();
        }
        let Ok(payload) = self.journal.claim(length) else {
            self.counters.unjournaled_requests += 1;
            return;
        };
        record::write_control(payload, frame, progress);
        let (direction, kind) = (Direction::Control, CONTROL_RECORD);
        let record = self.journal.commit(&Tag { direction, kind, seq_num: 0, ..self.tag }, length);
        if self.waits {
            self.wait_durable(record);
        }
    }

    /// What is not on the disk must not be on the wire: the connection is given up.
    #[cold]
    fn wait_durable(&mut self, record: Record) {
        if let Err(error) = self.journal.wait_durable(record) {
            self.broken = Some(io::Error::other(error));
        }
    }
}

/// Writes `bytes` as far as the connection takes them and returns how many it took.
#[inline]
fn write<S: Stream>(
    stream: &mut Option<S>,
    broken: &mut Option<io::Error>,
    counters: &mut Counters,
    bytes: &[u8],
) -> usize {
    let (Some(stream), None) = (stream, &broken) else { return 0 };
    let outcome = stream.write(bytes);
    taken(outcome, bytes.len(), broken, counters)
}

/// How many of so many bytes a write has taken.
#[inline]
fn taken(
    outcome: io::Result<usize>,
    bytes: usize,
    broken: &mut Option<io::Error>,
    counters: &mut Counters,
) -> usize {
    match outcome {
        Ok(count) => {
            counters.bytes_written += count as u64;
            counters.partial_writes += u64::from(count < bytes);
            count
        }
        Err(error) => {
            let later = [io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted];
            if later.contains(&error.kind()) {
                counters.partial_writes += 1;
            } else {
                *broken = Some(error);
            }
            0
        }
    }
}
