//! The journal and the connection behind it: where committed bytes wait and leave.

use std::io;
use std::ops::Range;

use hairpin_endpoint::Stream;
use hairpin_ilink3::{CONTROL_LENGTH, Delivery, Outlet, OutletError, Session};
use hairpin_mapped::{Claim, Journal, Record};
use hairpin_time::Now;

use crate::backlog::Backlog;
use crate::record::{self, CONTROL_RECORD, MESSAGE_RECORD};
use crate::{Counters, WhenFull};

/// Writes to the connection, in this order: the rest of a control message, then records, then new
/// control messages.
#[derive(Debug)]
pub(crate) struct Link<S> {
    pub(crate) journal: Journal,
    when_full: WhenFull,
    /// The connection, once it is established.
    pub(crate) stream: Option<S>,
    backlog: Backlog,
    control: [u8; CONTROL_LENGTH],
    /// What of the control message has still to leave.
    control_left: Range<usize>,
    /// Why the connection broke while writing.
    pub(crate) broken: Option<io::Error>,
    pub(crate) counters: Counters,
}

impl<S: Stream> Outlet for Link<S> {
    #[inline]
    fn claim(&mut self, max: usize) -> Result<&mut [u8], OutletError> {
        if self.stream.is_none() || self.broken.is_some() {
            return Err(OutletError::Closed);
        }
        if self.backlog.is_full() {
            return Err(OutletError::WouldBlock { waiting: self.waiting() });
        }
        if !self.journal.has_room(max) {
            self.make_room();
        }
        self.journal.claim(max).map(Claim::into_payload).map_err(|_| OutletError::Full)
    }

    #[inline]
    fn commit(&mut self, length: usize) -> Delivery {
        let claim = self.journal.claim(length).expect("so much was claimed before");
        let record = claim.commit_kind(MESSAGE_RECORD, length);
        if self.is_waiting() {
            self.backlog.push(record, 0);
            return Delivery::Waiting { waiting: self.waiting() };
        }
        self.write_record(record)
    }

    /// Finds the record by walking over the journal: what is to be sent again is rare and recent.
    #[cold]
    fn resend(&mut self, seq_num: u32) -> Result<Delivery, OutletError> {
        if self.stream.is_none() || self.broken.is_some() {
            return Err(OutletError::Closed);
        }
        if self.backlog.is_full() {
            return Err(OutletError::WouldBlock { waiting: self.waiting() });
        }
        let record = record::find(&self.journal, seq_num).ok_or(OutletError::NotKept)?;
        if self.is_waiting() {
            self.backlog.push(record, 0);
            return Ok(Delivery::Waiting { waiting: self.waiting() });
        }
        Ok(self.write_record(record))
    }
}

impl<S: Stream> Link<S> {
    pub(crate) fn new(journal: Journal, waiting_max: usize, when_full: WhenFull) -> Self {
        Self {
            journal,
            when_full,
            stream: None,
            backlog: Backlog::new(waiting_max),
            control: [0; CONTROL_LENGTH],
            control_left: 0..0,
            broken: None,
            counters: Counters::default(),
        }
    }

    /// Begins the journal again if it may: no record of it is still to leave.
    #[cold]
    fn make_room(&mut self) {
        if self.when_full == WhenFull::BeginAgain && self.backlog.is_empty() {
            self.journal.begin_again();
            self.counters.journals_begun_again += 1;
        }
    }

    /// Whether bytes wait for the connection to take more.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        !self.control_left.is_empty() || !self.backlog.is_empty()
    }

    /// Bytes that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.control_left.len() + self.backlog.waiting()
    }

    /// Writes what waits, as far as the connection takes it.
    pub(crate) fn flush(&mut self) {
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
            let written = write(&mut self.stream, &mut self.broken, &mut self.counters, bytes);
            self.backlog.written(written);
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
        while !self.is_waiting() && self.broken.is_none() {
            let before = session.progress().request_timestamp;
            let Some(length) = session.poll_transmit(now, &mut self.control) else { return };
            // Only a request of ours moves the RequestTimestamp; a Sequence and the answer to a
            // Terminate are not worth a record.
            if session.progress().request_timestamp != before {
                self.keep_request(length);
            }
            self.control_left = 0..length;
            self.flush();
        }
    }

    /// Forgets the connection and what had not left.
    pub(crate) fn disconnect(&mut self) -> Option<S> {
        self.counters.unsent_records += self.backlog.len() as u64;
        self.backlog.clear();
        self.control_left = 0..0;
        self.broken = None;
        self.stream.take()
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
        match self.broken {
            None => Delivery::Waiting { waiting: self.waiting() },
            Some(_) => Delivery::Broken,
        }
    }

    /// Journals the request of `length` bytes that is about to leave. A Terminate must leave even
    /// when the journal is full.
    #[cold]
    fn keep_request(&mut self, length: usize) {
        if !self.journal.has_room(length) {
            self.make_room();
        }
        match self.journal.claim(length) {
            Ok(mut claim) => {
                claim.payload().copy_from_slice(&self.control[..length]);
                claim.commit_kind(CONTROL_RECORD, length);
            }
            Err(_) => self.counters.unjournaled_requests += 1,
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
    match stream.write(bytes) {
        Ok(count) => {
            counters.bytes_written += count as u64;
            counters.partial_writes += u64::from(count < bytes.len());
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
