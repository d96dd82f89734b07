//! A journal with the connection that its records are written to.

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

use crate::journal_record::{self, CONTROL_RECORD, FILL_RECORD, MESSAGE_RECORD};
use crate::send_queue::SendQueue;
use crate::send_throttle::SendThrottle;
use crate::{Connect, Counters, Settings, WhenFull, WhenJournalFails, WhenThrottled};

use batch::Batch;

/// An upper limit for the bytes of a journal record besides its payload: header and padding.
const RECORD_OVERHEAD_MAX: usize = 64;

/// A journal and its connection. Writes in this order: the rest of a control message, queued
/// records, new control messages.
#[derive(Debug)]
pub(crate) struct JournaledConnection<D: Connect, J> {
    pub(crate) journal: J,
    /// The tag of the newest record: session, sequence number, and time of this wakeup.
    tag: Tag,
    /// `true` if a record must be durable before its bytes are written.
    sync_before_write: bool,
    /// The send throttle, if there is a limit that queues records.
    throttle: Option<SendThrottle>,
    /// `true` if a record can be written immediately: connected without a write error, nothing
    /// queued, no open batch, and neither durability nor a throttle delays it. Every change of
    /// these conditions calls [`update_fast_path`](Self::update_fast_path).
    fast_path: bool,
    batch: Batch,
    when_full: WhenFull,
    when_journal_fails: WhenJournalFails,
    /// The error of the journal, once noticed, and until it was reported.
    journal_failure: JournalFailure,
    /// Opens the connections, and taps their frames.
    pub(crate) connect: D,
    /// The connection, once established.
    pub(crate) stream: Option<D::Stream>,
    queue: SendQueue,
    control: [u8; CONTROL_LENGTH],
    /// The unwritten part of the control message.
    control_left: Range<usize>,
    /// `true` if inbound messages are journaled too.
    journal_inbound: bool,
    /// The record of the message whose callback is running.
    delivering: Option<Record>,
    /// The error of the last write, if the connection failed.
    pub(crate) write_error: Option<io::Error>,
    pub(crate) counters: Counters,
}

/// The state of a failure of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JournalFailure {
    None,
    /// Noticed, and not yet reported to the listener.
    Pending {
        errno: i32,
    },
    Reported,
}

impl<D: Connect, J: Storage> OutboundSink for JournaledConnection<D, J> {
    // Always inlined, like the functions called per message below: with a known sink type the
    // compiler merges them with the callback into one function.
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
        self.connect.on_frame(self.journal.bytes(record));
        debug_assert!(!self.fast_path || self.can_use_fast_path());
        if self.fast_path {
            return self.write_record(record);
        }
        self.commit_slow(record)
    }

    /// Starts a journal segment, or restarts the journal, if the messages do not fit in this one.
    #[cold]
    fn reserve(&mut self, messages: usize, bytes: usize) -> Result<(), OutboundError> {
        self.check_room_slow()?;
        if !self.queue.has_room(messages) {
            return Err(OutboundError::WouldBlock { waiting: self.waiting() });
        }
        let bytes = bytes + messages * RECORD_OVERHEAD_MAX;
        if !self.journal.has_room(bytes) {
            self.make_room();
        }
        self.journal.claim(bytes).map(drop).map_err(|_| OutboundError::Full)
    }

    fn begin_batch(&mut self) {
        self.open_batch();
    }

    fn end_batch(&mut self) -> (Delivery, usize) {
        self.close_batch()
    }

    #[inline]
    fn warm_up(&mut self, max: usize) -> Result<&mut [u8], OutboundError> {
        self.check_room()?;
        if !self.journal.has_room(max) {
            return Err(OutboundError::Full);
        }
        self.journal.claim(max).map_err(|_| OutboundError::Full)
    }

    /// Touches what a commit would touch, without storing. The record header precedes the encoded
    /// bytes, mostly in the same cache line; only a commit writes it.
    #[inline]
    fn warm_up_commit(&mut self, length: usize, seq_num: u32) {
        let tag = Tag { kind: MESSAGE_RECORD, seq_num, ..self.tag };
        black_box((tag, length, self.fast_path, &self.counters));
        if let Some(stream) = &mut self.stream {
            stream.warm_up(length);
        }
    }

    #[cold]
    fn resend(&mut self, seq_num: u32) -> Result<Delivery, OutboundError> {
        self.check_room()?;
        let (direction, uuid) = (Direction::Outbound, self.tag.uuid);
        let mut found = self.journal.replay(direction, MESSAGE_RECORD, uuid, seq_num..=seq_num);
        let record = found.next().ok_or(OutboundError::NotKept)?;
        drop(found);
        self.connect.on_frame(self.journal.bytes(record));
        if self.is_waiting() {
            self.queue.push(record, 0);
            return Ok(Delivery::Waiting { waiting: self.waiting() });
        }
        Ok(self.write_record(record))
    }

    #[cold]
    fn keep(&mut self, uuid: u64, seq_num: u32, message: &[u8]) {
        if !self.journal_inbound {
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
        let (header, rest) = payload.split_first_chunk_mut().expect("the claim fits a frame");
        write_framing_header(header, length);
        rest[..message.len()].copy_from_slice(message);
        self.delivering = Some(self.journal.commit(&self.inbound_tag(uuid, seq_num), length));
    }

    #[inline(always)]
    fn keep_frame(&mut self, uuid: u64, seq_num: u32, frame: &[u8]) {
        if !self.journal_inbound {
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

impl<D: Connect, J: Storage> JournaledConnection<D, J> {
    pub(crate) fn new(journal: J, connect: D, settings: &Settings) -> Self {
        let newest = journal.last(Direction::Outbound).map(|record| journal.tag(record));
        let throttle = settings.throttle.filter(|it| it.beyond == WhenThrottled::Queue);
        let throttle = throttle.map(|it| SendThrottle::new(&it.rates));
        Self {
            tag: newest.unwrap_or_default(),
            fast_path: false,
            sync_before_write: journal.waits(),
            throttle,
            batch: Batch::new(settings.batch_bytes),
            journal,
            when_full: settings.when_full,
            when_journal_fails: settings.when_journal_fails,
            journal_failure: JournalFailure::None,
            connect,
            stream: None,
            queue: SendQueue::new(settings.waiting_max),
            control: [0; CONTROL_LENGTH],
            control_left: 0..0,
            journal_inbound: settings.keep_inbound,
            delivering: None,
            write_error: None,
            counters: Counters::default(),
        }
    }

    /// Checks that another record can be written or queued.
    #[inline]
    fn check_room(&self) -> Result<(), OutboundError> {
        if self.fast_path { Ok(()) } else { self.check_room_slow() }
    }

    #[cold]
    fn check_room_slow(&self) -> Result<(), OutboundError> {
        if self.stream.is_none() || self.write_error.is_some() {
            return Err(OutboundError::Closed);
        }
        if self.refuses() {
            return Err(OutboundError::JournalFailed);
        }
        if self.queue.is_full() {
            return Err(OutboundError::WouldBlock { waiting: self.waiting() });
        }
        Ok(())
    }

    /// Returns the tag of an inbound message's record.
    #[inline(always)]
    fn inbound_tag(&self, uuid: u64, seq_num: u32) -> Tag {
        let (direction, kind) = (Direction::Inbound, MESSAGE_RECORD);
        Tag { direction, kind, seq_num, uuid, now: self.tag.now }
    }

    /// Sets the time of records committed from now on.
    #[inline]
    pub(crate) fn set_now(&mut self, now: Now) {
        self.tag.now = now;
    }

    /// Notices a failure of the journal.
    #[cold]
    pub(crate) fn check_journal(&mut self) {
        if let (JournalFailure::None, Some(error)) =
            (self.journal_failure, self.journal.sync_failure())
        {
            self.on_journal_failure(&error);
        }
    }

    fn on_journal_failure(&mut self, error: &io::Error) {
        self.counters.journal_failures += 1;
        let errno = error.raw_os_error().unwrap_or_default();
        self.journal_failure = JournalFailure::Pending { errno };
        self.update_fast_path();
    }

    /// Returns the error number of a failure of the journal, to report it.
    pub(crate) fn take_journal_failure(&mut self) -> Option<i32> {
        let JournalFailure::Pending { errno } = self.journal_failure else { return None };
        self.journal_failure = JournalFailure::Reported;
        Some(errno)
    }

    /// Returns `true` if the journal has failed and no more messages are sent.
    fn refuses(&self) -> bool {
        let has_failed = self.journal_failure != JournalFailure::None;
        has_failed && self.when_journal_fails == WhenJournalFails::Refuse
    }

    /// Restarts a full journal, if permitted and if no queued record is in it.
    #[cold]
    fn make_room(&mut self) {
        let may = self.when_full == WhenFull::Restart && self.queue.is_empty();
        if may && self.journal.clear() {
            self.delivering = None;
            self.counters.journals_begun_again += 1;
        }
    }

    /// Returns `true` if bytes wait for the connection.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        !self.control_left.is_empty() || !self.queue.is_empty()
    }

    /// Returns `true` if nothing sync_before_write and no write has failed.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.fast_path || (!self.is_waiting() && self.write_error.is_none())
    }

    /// Updates the fast-path flag.
    fn update_fast_path(&mut self) {
        self.fast_path = self.can_use_fast_path();
    }

    fn can_use_fast_path(&self) -> bool {
        let is_delayed = self.sync_before_write || self.throttle.is_some() || self.batch.is_open();
        let is_connected = self.stream.is_some() && self.write_error.is_none();
        is_connected && !self.is_waiting() && !is_delayed && !self.refuses()
    }

    /// Sets an established connection.
    pub(crate) fn set_stream(&mut self, stream: D::Stream) {
        self.counters.connected += 1;
        self.batch.set_segment_size(stream.segment_size());
        self.stream = Some(stream);
        self.update_fast_path();
    }

    /// Returns the number of bytes that wait for the connection.
    pub(crate) fn waiting(&self) -> usize {
        self.control_left.len() + self.queue.pending_bytes()
    }

    /// Writes or queues a record that was just committed, off the fast path.
    #[cold]
    fn commit_slow(&mut self, record: Record) -> Delivery {
        let is_delayed = self.batch.is_open() || self.delay(record);
        if is_delayed || self.is_waiting() {
            self.queue.push(record, 0);
            return Delivery::Waiting { waiting: self.waiting() };
        }
        self.write_record(record)
    }

    /// Makes a record durable and applies the throttle. Returns `true` if the record must wait.
    fn delay(&mut self, record: Record) -> bool {
        if self.sync_before_write {
            self.wait_durable(record);
        }
        let now = self.tag.now.monotonic;
        let is_first = !self.is_waiting();
        let bytes = self.journal.bytes(record);
        is_first
            && self.throttle.as_mut().is_some_and(|throttle| !throttle.admits(now, bytes, None))
    }

    /// Returns the time at which the front record may be sent, if the throttle holds it.
    pub(crate) fn held_until(&self) -> Option<Instant> {
        self.throttle.as_ref().filter(|_| self.control_left.is_empty())?.held_until()
    }

    /// Writes queued bytes as far as the connection and the throttle permit.
    pub(crate) fn flush(&mut self) {
        self.write_waiting();
        self.update_fast_path();
    }

    fn write_waiting(&mut self) {
        while !self.control_left.is_empty() {
            let bytes = &self.control[self.control_left.clone()];
            let written = write(&mut self.stream, &mut self.write_error, &mut self.counters, bytes);
            self.control_left.start += written;
            if !self.control_left.is_empty() {
                return;
            }
        }
        self.write_queue();
    }

    /// Writes the control messages of `session`, unless earlier bytes wait.
    #[inline]
    pub(crate) fn transmit(&mut self, session: &mut Session, now: Now) {
        if self.stream.is_none() {
            return;
        }
        if self.is_waiting() && self.held_until().is_some_and(|until| until <= now.monotonic) {
            self.flush();
        }
        while !self.is_waiting() && self.write_error.is_none() {
            let before = session.progress().request_timestamp;
            let Some(length) = session.poll_transmit(now, &mut self.control) else { return };
            // Only our requests advance RequestTimestamp. A Sequence or the answer to a Terminate
            // needs no record.
            let control = self.control;
            if session.progress().request_timestamp != before {
                self.journal_request(&control[..length], &session.progress());
            }
            self.tap_control(&control[..length]);
            self.control_left = 0..length;
            self.flush();
        }
    }

    /// Drops the connection and the queue, and returns the stream.
    pub(crate) fn disconnect(&mut self) -> Option<D::Stream> {
        self.counters.unsent_records += self.queue.len() as u64;
        self.queue.clear();
        self.throttle.iter_mut().for_each(SendThrottle::clear);
        self.control_left = 0..0;
        self.write_error = None;
        self.fast_path = false;
        self.stream.take()
    }

    /// Takes over a connection with the unwritten rest of a control message.
    pub(crate) fn take_over(&mut self, stream: Option<D::Stream>, rest: &[u8]) {
        self.batch.set_segment_size(stream.as_ref().and_then(Stream::segment_size));
        self.stream = stream;
        self.control[..rest.len()].copy_from_slice(rest);
        self.control_left = 0..rest.len();
        self.update_fast_path();
    }

    /// Writes a new record. Nothing may wait before it.
    #[inline]
    fn write_record(&mut self, record: Record) -> Delivery {
        let bytes = self.journal.bytes(record);
        let written = write(&mut self.stream, &mut self.write_error, &mut self.counters, bytes);
        if written == bytes.len() {
            return Delivery::Written;
        }
        self.queue.push(record, written);
        self.throttle.iter_mut().for_each(SendThrottle::mark_front_passed);
        self.fast_path = false;
        match self.write_error {
            None => Delivery::Waiting { waiting: self.waiting() },
            Some(_) => Delivery::Broken,
        }
    }

    /// Passes a control message to the tap before it is sent, with masked credentials.
    pub(crate) fn tap_control(&mut self, frame: &[u8]) {
        let mut masked = [0; CONTROL_LENGTH];
        let masked = &mut masked[..frame.len()];
        masked.copy_from_slice(frame);
        journal_record::mask_credentials(masked);
        self.connect.on_frame(masked);
    }

    /// Journals a request before it is sent. A full journal does not stop it: a Terminate must be
    /// sent in any case.
    #[cold]
    pub(crate) fn journal_request(&mut self, frame: &[u8], progress: &Progress) {
        if self.tag.uuid != progress.uuid {
            (self.tag.uuid, self.tag.seq_num) = (progress.uuid, 0);
        }
        let length = journal_record::control_length(frame.len());
        if !self.journal.has_room(length) {
            self.make_room();
        }
        let Ok(payload) = self.journal.claim(length) else {
            self.counters.unjournaled_requests += 1;
            return;
        };
        journal_record::write_control(payload, frame, progress);
        let (direction, kind) = (Direction::Control, CONTROL_RECORD);
        let record = self.journal.commit(&Tag { direction, kind, seq_num: 0, ..self.tag }, length);
        if self.sync_before_write {
            self.wait_durable(record);
        }
    }

    /// Waits until a record is durable. On failure drops the connection: a record that is not
    /// durable must not be sent.
    #[cold]
    fn wait_durable(&mut self, record: Record) {
        if let Err(error) = self.journal.wait_durable(record) {
            self.write_error = Some(io::Error::other(error));
        }
    }
}

/// Writes `bytes` as far as the connection accepts them. Returns the number of bytes written.
#[inline]
fn write<S: Stream>(
    stream: &mut Option<S>,
    write_error: &mut Option<io::Error>,
    counters: &mut Counters,
    bytes: &[u8],
) -> usize {
    let (Some(stream), None) = (stream, &write_error) else { return 0 };
    let outcome = stream.write(bytes);
    count_written(outcome, bytes.len(), write_error, counters)
}

/// Counts the outcome of a write of `bytes` bytes. Returns the number of bytes written.
#[inline]
fn count_written(
    outcome: io::Result<usize>,
    bytes: usize,
    write_error: &mut Option<io::Error>,
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
                *write_error = Some(error);
            }
            0
        }
    }
}
