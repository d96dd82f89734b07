//! Negotiate and Establish: authentication and the initial sequence numbers.

use hairpin_cme_codecs::ilink3::{Establish503, Negotiate500};
use hairpin_time::{Duration, Utc};

use super::SessionState;
use super::ascii_int::AsciiInt;
use super::dispatch::FrameHandler;
use super::order_requests::SEQUENCE_MAX;
use super::reason_codes::{LogonReject, TerminateCode};
use super::session::LOGON_TIMEOUT;
use crate::Listener;

/// The largest difference between RequestTimestamp and the gateway's clock. CME limits the age
/// only. This gateway limits the future too, so that one wrong clock does not lock a session out.
const TIMESTAMP_TOLERANCE: Duration = Duration::from_secs(5);

/// The allowed KeepAliveIntervals in milliseconds.
const KEEP_ALIVE_INTERVAL: core::ops::RangeInclusive<u16> = 5_000..=60_000;

/// The largest UUID that CME accepts.
const UUID_MAX: u64 = i64::MAX as u64;

/// The identity claimed by a logon message.
struct LogonClaim<'a> {
    access_key_id: &'a [u8],
    session: &'a [u8],
    firm: &'a [u8],
    signature: &'a [u8],
    timestamp: u64,
}

impl LogonClaim<'_> {
    fn missing(&self) -> Option<LogonReject> {
        let checks = [
            (
                self.signature.iter().all(|&byte| byte == 0),
                LogonReject::RequiredHmacSignatureMissing,
            ),
            (self.access_key_id.is_empty(), LogonReject::RequiredAccessKeyIdMissing),
            (self.session.is_empty(), LogonReject::RequiredSessionMissing),
            (self.firm.is_empty(), LogonReject::RequiredFirmMissing),
            (self.timestamp == u64::MAX, LogonReject::RequiredRequestTimestampMissing),
        ];
        checks.into_iter().find_map(|(is_missing, reject)| is_missing.then_some(reject))
    }

    fn unprintable(&self) -> Option<LogonReject> {
        first_unprintable([
            (self.access_key_id, LogonReject::InvalidAccessKeyId),
            (self.session, LogonReject::InvalidSession),
            (self.firm, LogonReject::InvalidFirm),
        ])
    }
}

fn first_unprintable(texts: [(&[u8], LogonReject); 3]) -> Option<LogonReject> {
    let is_printable = |text: &[u8]| text.iter().all(|byte| (b' '..=b'~').contains(byte));
    texts.into_iter().find_map(|(text, reject)| (!is_printable(text)).then_some(reject))
}

impl<L: Listener> FrameHandler<'_, L> {
    /// Returns the account with this access key. The message is not authenticated yet.
    fn account_named(&self, access_key_id: &[u8]) -> Option<usize> {
        self.accounts.iter().position(|account| account.has_access_key(access_key_id))
    }

    /// Counts a bad logon against the named account, or else against the connection. Returns `true`
    /// if the limit is reached: the account's ports close, and this connection ends.
    fn count_bad_logon(&mut self, named_account: Option<usize>) -> bool {
        if !self.rules.closes_ports {
            return false;
        }
        let now = self.now.monotonic;
        let limit_reached = match named_account {
            Some(account) => {
                let state = &mut self.accounts[account];
                state.ports_closed |= state.bad_logons.record(now);
                state.ports_closed
            }
            None => self.session.bad_logons.record(now),
        };
        if limit_reached {
            self.counters.port_closures += 1;
            *self.has_orphans = true;
            self.fail(TerminateCode::PortClosure);
        }
        limit_reached
    }

    /// Ends the session for a logon that is not allowed in this state, or has invalid fields.
    fn violate_logon(&mut self, named_account: Option<usize>, code: TerminateCode) {
        if !self.count_bad_logon(named_account) {
            self.violate(code);
        }
    }

    /// Ends the connection if the ports of the named account are closed, and returns `true` then.
    fn refuse_closed_ports(&mut self, named_account: Option<usize>) -> bool {
        let ports_closed = named_account.is_some_and(|account| self.accounts[account].ports_closed);
        if ports_closed {
            self.counters.turned_away += 1;
            self.fail(TerminateCode::PortClosure);
        }
        ports_closed
    }

    /// Returns the account that signed `parts`.
    fn authenticate(&self, claim: &LogonClaim<'_>, parts: &[&[u8]]) -> Result<usize, LogonReject> {
        if let Some(reject) = claim.missing().or_else(|| claim.unprintable()) {
            return Err(reject);
        }
        let account =
            self.account_named(claim.access_key_id).ok_or(LogonReject::HmacNotAuthenticated)?;
        let state = &self.accounts[account];
        if !state.is_signed(parts, claim.signature) {
            return Err(LogonReject::HmacNotAuthenticated);
        }
        if !state.has_session(claim.session, claim.firm) {
            return Err(LogonReject::SessionBlocked);
        }
        let at = Utc::from_nanos(claim.timestamp);
        let utc = self.now.utc;
        let distance = utc.saturating_since(at).max(at.saturating_since(utc));
        if distance > TIMESTAMP_TOLERANCE || claim.timestamp <= state.last_timestamp {
            return Err(LogonReject::InvalidTimestamp);
        }
        Ok(account)
    }

    pub(super) fn handle_negotiate(&mut self, message: &Negotiate500<'_>) {
        let (uuid, timestamp) = (message.uuid(), message.request_timestamp());
        let named_account = self.account_named(message.access_key_id().as_bytes());
        if self.refuse_closed_ports(named_account) {
            return;
        }
        if self.session.state != SessionState::Connected {
            return self.violate_logon(named_account, TerminateCode::AlreadyNegotiated);
        }
        if uuid == u64::MAX {
            return self.violate_logon(named_account, TerminateCode::RequiredUuidMissing);
        }
        let claim = LogonClaim {
            access_key_id: message.access_key_id().as_bytes(),
            session: message.session().as_bytes(),
            firm: message.firm().as_bytes(),
            signature: message.hmac_signature().raw(),
            timestamp,
        };
        let (timestamp_text, uuid_text) = (AsciiInt::new(timestamp), AsciiInt::new(uuid));
        let parts = [timestamp_text.as_ref(), uuid_text.as_ref(), claim.session, claim.firm];
        let account = match self.authenticate(&claim, &parts) {
            Ok(account) => account,
            Err(reject) => {
                if !self.count_bad_logon(named_account) {
                    self.reject_negotiate((uuid, timestamp), reject);
                }
                return;
            }
        };
        if self.session.backup {
            let reject = if self.accounts[account].established {
                LogonReject::NegotiateNotAllowed
            } else {
                LogonReject::DesignatedBackup
            };
            return self.reject_negotiate((uuid, timestamp), reject);
        }
        let state = &mut self.accounts[account];
        if uuid > UUID_MAX || uuid <= state.last_uuid {
            return self.violate_logon(named_account, TerminateCode::InvalidUuid);
        }
        state.start_session(uuid);
        state.last_timestamp = timestamp;
        self.attach(account);
        self.session.uuid = uuid;
        self.session.deadline = self.now.monotonic + LOGON_TIMEOUT;
        self.counters.negotiated += 1;
        self.session.send_negotiation_response(self.now, timestamp, &self.accounts[account]);
        self.session.enter(SessionState::Negotiated, self.listener);
    }

    fn reject_negotiate(&mut self, request: (u64, u64), reject: LogonReject) {
        self.counters.logon_rejects += 1;
        self.session.send_negotiation_reject(self.now, request, reject);
    }

    fn reject_establish(&mut self, message: &Establish503<'_>, reject: LogonReject) {
        self.counters.logon_rejects += 1;
        let next = self.session.account.map_or(1, |account| self.accounts[account].next_inbound);
        let next = self.session.sequence_for(next);
        let request = (message.uuid(), message.request_timestamp());
        self.session.send_establishment_reject(self.now, request, next, reject);
    }

    pub(super) fn handle_establish(&mut self, message: &Establish503<'_>) {
        let named_account = self.account_named(message.access_key_id().as_bytes());
        if self.refuse_closed_ports(named_account) {
            return;
        }
        match self.session.state {
            SessionState::Connected | SessionState::Negotiated => {}
            _ => return self.violate_logon(named_account, TerminateCode::AlreadyEstablished),
        }
        if message.uuid() == u64::MAX {
            return self.violate_logon(named_account, TerminateCode::RequiredUuidMissing);
        }
        let account = match self.check_establish(message) {
            Ok(account) => account,
            Err(reject) => {
                if !self.count_bad_logon(named_account) {
                    self.reject_establish(message, reject);
                }
                return;
            }
        };
        if self.session.backup && !self.accounts[account].established {
            return self.reject_establish(message, LogonReject::DesignatedBackup);
        }
        match self.check_numbers(account, message) {
            Ok(()) => self.establish(account, message),
            Err(code) => self.violate_logon(named_account, code),
        }
    }

    /// Checks that UUID and NextSeqNo match the state of the account.
    fn check_numbers(
        &self,
        account: usize,
        message: &Establish503<'_>,
    ) -> Result<(), TerminateCode> {
        let state = &self.accounts[account];
        let (uuid, next) = (message.uuid(), message.next_seq_no());
        if state.uuid == 0 {
            return Err(TerminateCode::Unnegotiated);
        }
        let negotiated = self.session.account.unwrap_or(account);
        if uuid != state.uuid || negotiated != account {
            return Err(TerminateCode::InvalidUuid);
        }
        if next == u32::MAX {
            return Err(TerminateCode::RequiredNextSeqNoMissing);
        }
        if self.session.backup {
            return if next == 0 { Ok(()) } else { Err(TerminateCode::InvalidNextSeqNo) };
        }
        let is_new = state.next_inbound == 1 && self.session.state == SessionState::Negotiated;
        if next < state.next_inbound || next > SEQUENCE_MAX + 1 || (is_new && next != 1) {
            return Err(TerminateCode::InvalidNextSeqNo);
        }
        Ok(())
    }

    fn establish(&mut self, account: usize, message: &Establish503<'_>) {
        let timestamp = message.request_timestamp();
        self.accounts[account].last_timestamp = timestamp;
        self.attach(account);
        self.session.uuid = message.uuid();
        let interval = message.keep_alive_interval();
        self.session.keep_alive = Duration::from_millis(interval.into());
        self.session.last_received = self.now.monotonic;
        self.session.lapse_sent = None;
        self.counters.established += 1;
        let state = &self.accounts[account];
        self.session.send_establishment_ack(self.now, timestamp, interval, state);
        let expected = state.next_inbound;
        self.listener.on_system_name(account, message.trading_system_name().as_bytes());
        self.session.enter(SessionState::Established, self.listener);
        if self.session.backup {
            return;
        }
        self.accounts[account].established = true;
        let next = message.next_seq_no();
        if next > expected {
            self.not_applied(expected, next);
            // No message has that number yet. When it arrives, the ones before it have been
            // reported.
            self.session.not_applied = next - 1;
        }
    }

    fn check_establish(&self, message: &Establish503<'_>) -> Result<usize, LogonReject> {
        let claim = LogonClaim {
            access_key_id: message.access_key_id().as_bytes(),
            session: message.session().as_bytes(),
            firm: message.firm().as_bytes(),
            signature: message.hmac_signature().raw(),
            timestamp: message.request_timestamp(),
        };
        let (timestamp, uuid) = (AsciiInt::new(claim.timestamp), AsciiInt::new(message.uuid()));
        let next = AsciiInt::new(message.next_seq_no().into());
        let interval = AsciiInt::new(message.keep_alive_interval().into());
        let parts = [
            timestamp.as_ref(),
            uuid.as_ref(),
            claim.session,
            claim.firm,
            message.trading_system_name().as_bytes(),
            message.trading_system_version().as_bytes(),
            message.trading_system_vendor().as_bytes(),
            next.as_ref(),
            interval.as_ref(),
        ];
        let account = self.authenticate(&claim, &parts)?;
        let checks = [
            (message.trading_system_name(), LogonReject::RequiredTradingSystemNameMissing),
            (message.trading_system_version(), LogonReject::RequiredTradingSystemVersionMissing),
            (message.trading_system_vendor(), LogonReject::RequiredTradingSystemVendorMissing),
        ];
        if let Some((_, reject)) = checks.into_iter().find(|(text, _)| text.is_empty()) {
            return Err(reject);
        }
        let texts = [
            (message.trading_system_name().as_bytes(), LogonReject::InvalidTradingSystemName),
            (message.trading_system_version().as_bytes(), LogonReject::InvalidTradingSystemVersion),
            (message.trading_system_vendor().as_bytes(), LogonReject::InvalidTradingSystemVendor),
        ];
        if let Some(reject) = first_unprintable(texts) {
            return Err(reject);
        }
        if message.keep_alive_interval() == u16::MAX {
            return Err(LogonReject::RequiredKeepAliveIntervalMissing);
        }
        if !KEEP_ALIVE_INTERVAL.contains(&message.keep_alive_interval()) {
            return Err(LogonReject::InvalidKeepAliveInterval);
        }
        Ok(account)
    }

    /// Attaches this connection to the account, and displaces an earlier connection.
    fn attach(&mut self, account: usize) {
        let state = &mut self.accounts[account];
        let slot = if self.session.backup { &mut state.backup } else { &mut state.connection };
        let previous = slot.replace(self.session.id.0);
        if previous != Some(self.session.id.0) {
            *self.displaced = previous;
            if !self.session.backup {
                state.established = false;
            }
        }
        self.session.account = Some(account);
    }
}
