//! Writes session messages: Negotiate, Establish, Sequence, RetransmitRequest and Terminate.

use hairpin_cme_codecs::ilink3::{Establish503, Negotiate500, Terminate507};
use hairpin_sbe::EncodeError;
use hairpin_time::Now;

use crate::TerminateCode;
use crate::authentication::{EstablishSubject, NegotiateSubject};
use crate::pending::{Queued, Terminate};
use crate::reassembly::{FRAMING_HEADER_LENGTH, write_framing_header};
use crate::session::Session;

/// The length of the longest frame that [`Session::poll_transmit`] writes, an Establish.
pub const CONTROL_LENGTH: usize = FRAMING_HEADER_LENGTH + Establish503::ENCODED_LENGTH;

impl Session {
    /// Writes the next session message to the start of `frame` and returns its length, or `None` if
    /// nothing is queued. Send these bytes after all messages committed before.
    ///
    /// `frame` must have at least [`CONTROL_LENGTH`] bytes. With a shorter buffer, nothing is
    /// written and the message stays queued.
    pub fn poll_transmit(&mut self, now: Now, frame: &mut [u8]) -> Option<usize> {
        if frame.len() < CONTROL_LENGTH {
            return None;
        }
        let (header, body) = frame.split_first_chunk_mut::<FRAMING_HEADER_LENGTH>()?;
        let has_retransmit_request = self.has_retransmit_request();
        let pending = &mut self.outbound.pending;
        let written = if pending.dequeue(Queued::NEGOTIATE) {
            self.write_negotiate(now, body)
        } else if pending.dequeue(Queued::ESTABLISH) {
            self.write_establish(now, body)
        } else if let Some(lapsed) = pending.take_sequence() {
            self.outbound.write_sequence(lapsed, body)
        } else if has_retransmit_request {
            self.write_retransmit_request(now, body)
        } else {
            let terminate = pending.take_terminate()?;
            self.write_terminate(now, terminate, body)
        };
        // The buffer length was checked above, so encoding cannot fail.
        let length = FRAMING_HEADER_LENGTH + written.ok()?;
        self.outbound.version.mark(body);
        write_framing_header(header, length);
        self.outbound.last_sent = now.monotonic;
        Some(length)
    }

    fn write_negotiate(&mut self, now: Now, body: &mut [u8]) -> Result<usize, EncodeError> {
        let subject = self.negotiate_subject(self.next_request_timestamp(now));
        let mut negotiate = Negotiate500::encode(body)?;
        negotiate
            .set_hmac_signature(subject.sign(&self.settings.secret_key))
            .set_access_key_id(&self.settings.access_key_id)
            .set_uuid(subject.uuid)
            .set_request_timestamp(subject.request_timestamp)
            .set_session(subject.session)
            .set_firm(subject.firm);
        let requested = subject.request_timestamp;
        self.record_request(now, requested);
        self.outbound.counters.negotiates += 1;
        Ok(Negotiate500::ENCODED_LENGTH)
    }

    fn write_establish(&mut self, now: Now, body: &mut [u8]) -> Result<usize, EncodeError> {
        let subject = EstablishSubject {
            negotiate: self.negotiate_subject(self.next_request_timestamp(now)),
            trading_system_name: &self.settings.trading_system_name,
            trading_system_version: &self.settings.trading_system_version,
            trading_system_vendor: &self.settings.trading_system_vendor,
            next_seq_no: self.establish_next_seq_no(),
            keep_alive_interval: self.settings.keep_alive_millis(),
        };
        let mut establish = Establish503::encode(body)?;
        establish
            .set_hmac_signature(subject.sign(&self.settings.secret_key))
            .set_access_key_id(&self.settings.access_key_id)
            .set_trading_system_name(subject.trading_system_name)
            .set_trading_system_version(subject.trading_system_version)
            .set_trading_system_vendor(subject.trading_system_vendor)
            .set_uuid(subject.negotiate.uuid)
            .set_request_timestamp(subject.negotiate.request_timestamp)
            .set_next_seq_no(subject.next_seq_no)
            .set_session(subject.negotiate.session)
            .set_firm(subject.negotiate.firm)
            .set_keep_alive_interval(subject.keep_alive_interval);
        let requested = subject.negotiate.request_timestamp;
        self.record_request(now, requested);
        self.outbound.newest = None;
        self.outbound.counters.establishes += 1;
        Ok(Establish503::ENCODED_LENGTH)
    }

    fn write_terminate(
        &mut self,
        now: Now,
        terminate: Terminate,
        body: &mut [u8],
    ) -> Result<usize, EncodeError> {
        let request_timestamp = match terminate.confirms {
            Some(request_timestamp) => request_timestamp,
            None => self.next_request_timestamp(now),
        };
        let code = TerminateCode::FINISHED;
        let text = code.text().as_bytes();
        let mut message = Terminate507::encode(body)?;
        message
            .set_reason(&text[..text.len().min(REASON_LENGTH)])
            .set_uuid(self.outbound.progress.uuid)
            .set_request_timestamp(request_timestamp)
            .set_error_codes(code.0);
        if terminate.confirms.is_none() {
            self.outbound.progress.request_timestamp = request_timestamp;
        }
        let pending = &mut self.outbound.pending;
        if !pending.is_closing() {
            pending.awaiting_confirmation = true;
            pending.terminate_deadline = now.monotonic + self.settings.keep_alive_interval;
        }
        self.outbound.counters.terminates += 1;
        Ok(Terminate507::ENCODED_LENGTH)
    }

    /// Returns the NextSeqNo of an Establish: 0 on a backup connection.
    fn establish_next_seq_no(&self) -> u32 {
        if self.outbound.backup { 0 } else { self.outbound.progress.next_outgoing }
    }

    fn negotiate_subject(&self, request_timestamp: u64) -> NegotiateSubject<'_> {
        NegotiateSubject {
            request_timestamp,
            uuid: self.outbound.progress.uuid,
            session: &self.settings.session,
            firm: &self.settings.firm,
        }
    }

    pub(super) fn next_request_timestamp(&self, now: Now) -> u64 {
        self.outbound.progress.new_request_timestamp(now.utc.as_nanos())
    }

    /// Records that a logon request was written and starts its response timeout.
    fn record_request(&mut self, now: Now, request_timestamp: u64) {
        if self.logon_attempts == 0 {
            self.first_request_timestamp = request_timestamp;
        }
        self.logon_attempts += 1;
        self.last_request_timestamp = request_timestamp;
        self.outbound.progress.request_timestamp = request_timestamp;
        self.response_deadline = self.response_deadline_after(now);
    }
}

/// The length of Terminate's Reason in bytes.
const REASON_LENGTH: usize = 48;
