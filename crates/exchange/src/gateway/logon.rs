//! Negotiate and Establish: who it is, and where the numbers stand.

use hairpin_cme_codecs::ilink3::{Establish503, Negotiate500};
use hairpin_time::{Duration, Utc};

use super::SessionState;
use super::dispatch::Handling;
use super::number::Digits;
use super::reason::{LogonReject, TerminateCode};
use super::session::LOGON_TIMEOUT;
use crate::Listener;

/// How far RequestTimestamp may be from the gateway's clock. CME says it of the past; the
/// future has the same limit here, lest one bad clock lock a session out.
const STALE: Duration = Duration::from_secs(5);

/// KeepAliveInterval, in milliseconds.
const KEEP_ALIVE_INTERVAL: core::ops::RangeInclusive<u16> = 5_000..=60_000;

/// The largest UUID that CME accepts.
const LARGEST_UUID: u64 = i64::MAX as u64;

/// What both logon messages say of who is there.
struct Claim<'a> {
    access_key_id: &'a [u8],
    session: &'a [u8],
    firm: &'a [u8],
    signature: &'a [u8],
    timestamp: u64,
}

impl Claim<'_> {
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
        checks.into_iter().find_map(|(is_missing, why)| is_missing.then_some(why))
    }
}

impl<L: Listener> Handling<'_, L> {
    /// The account that has signed `parts`.
    fn authenticate(&self, claim: &Claim<'_>, parts: &[&[u8]]) -> Result<usize, LogonReject> {
        if let Some(why) = claim.missing() {
            return Err(why);
        }
        let account = self
            .accounts
            .iter()
            .position(|account| account.has_access_key(claim.access_key_id))
            .ok_or(LogonReject::HmacNotAuthenticated)?;
        let known = &self.accounts[account];
        if !known.is_signed(parts, claim.signature) {
            return Err(LogonReject::HmacNotAuthenticated);
        }
        if !known.is_of(claim.session, claim.firm) {
            return Err(LogonReject::SessionBlocked);
        }
        let at = Utc::from_nanos(claim.timestamp);
        let utc = self.now.utc;
        let distance = utc.saturating_since(at).max(at.saturating_since(utc));
        if distance > STALE || claim.timestamp <= known.last_timestamp {
            return Err(LogonReject::InvalidTimestamp);
        }
        Ok(account)
    }

    pub(super) fn handle_negotiate(&mut self, message: &Negotiate500<'_>) {
        let (uuid, timestamp) = (message.uuid(), message.request_timestamp());
        if self.session.state != SessionState::Connected {
            return self.violate(TerminateCode::AlreadyNegotiated);
        }
        if uuid == u64::MAX {
            return self.violate(TerminateCode::RequiredUuidMissing);
        }
        let claim = Claim {
            access_key_id: message.access_key_id().as_bytes(),
            session: message.session().as_bytes(),
            firm: message.firm().as_bytes(),
            signature: message.hmac_signature().raw(),
            timestamp,
        };
        let (timestamp_text, uuid_text) = (Digits::of(timestamp), Digits::of(uuid));
        let parts = [timestamp_text.as_ref(), uuid_text.as_ref(), claim.session, claim.firm];
        let account = match self.authenticate(&claim, &parts) {
            Ok(account) => account,
            Err(why) => {
                self.counters.logon_rejects += 1;
                return self.session.send_negotiation_reject(self.now, (uuid, timestamp), why);
            }
        };
        let known = &mut self.accounts[account];
        if uuid > LARGEST_UUID || uuid <= known.uuid {
            return self.violate(TerminateCode::InvalidUuid);
        }
        known.begin(uuid);
        known.last_timestamp = timestamp;
        self.take_over(account);
        self.session.uuid = uuid;
        self.session.deadline = self.now.monotonic + LOGON_TIMEOUT;
        self.counters.negotiated += 1;
        self.session.send_negotiation_response(self.now, timestamp, &self.accounts[account]);
        self.session.enter(SessionState::Negotiated, self.listener);
    }

    pub(super) fn handle_establish(&mut self, message: &Establish503<'_>) {
        let (uuid, timestamp) = (message.uuid(), message.request_timestamp());
        match self.session.state {
            SessionState::Connected | SessionState::Negotiated => {}
            _ => return self.violate(TerminateCode::AlreadyEstablished),
        }
        if uuid == u64::MAX {
            return self.violate(TerminateCode::RequiredUuidMissing);
        }
        let account = match self.check_establish(message) {
            Ok(account) => account,
            Err(why) => {
                let next =
                    self.session.account.map_or(1, |account| self.accounts[account].next_inbound);
                self.counters.logon_rejects += 1;
                return self.session.send_establishment_reject(
                    self.now,
                    (uuid, timestamp),
                    next,
                    why,
                );
            }
        };
        let known = &mut self.accounts[account];
        if known.uuid == 0 {
            return self.violate(TerminateCode::Unnegotiated);
        }
        if uuid != known.uuid
            || self.session.account.is_some_and(|negotiated| negotiated != account)
        {
            return self.violate(TerminateCode::InvalidUuid);
        }
        let next = message.next_seq_no();
        let begins = known.next_inbound == 1 && self.session.state == SessionState::Negotiated;
        if next < known.next_inbound
            || next > super::business::LARGEST_SEQUENCE + 1
            || (begins && next != 1)
        {
            return self.violate(TerminateCode::InvalidNextSeqNo);
        }
        known.last_timestamp = timestamp;
        self.take_over(account);
        self.session.uuid = uuid;
        let interval = message.keep_alive_interval();
        self.session.keep_alive = Duration::from_millis(interval.into());
        self.session.heard = self.now.monotonic;
        self.session.warned = None;
        self.counters.established += 1;
        let known = &self.accounts[account];
        self.session.send_establishment_ack(self.now, timestamp, interval, known);
        let expected = known.next_inbound;
        self.session.enter(SessionState::Established, self.listener);
        if next > expected {
            self.not_applied(expected, next);
        }
    }

    fn check_establish(&self, message: &Establish503<'_>) -> Result<usize, LogonReject> {
        let claim = Claim {
            access_key_id: message.access_key_id().as_bytes(),
            session: message.session().as_bytes(),
            firm: message.firm().as_bytes(),
            signature: message.hmac_signature().raw(),
            timestamp: message.request_timestamp(),
        };
        let (timestamp, uuid) = (Digits::of(claim.timestamp), Digits::of(message.uuid()));
        let next = Digits::of(message.next_seq_no().into());
        let interval = Digits::of(message.keep_alive_interval().into());
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
        if let Some((_, why)) = checks.into_iter().find(|(text, _)| text.is_empty()) {
            return Err(why);
        }
        if !KEEP_ALIVE_INTERVAL.contains(&message.keep_alive_interval()) {
            return Err(LogonReject::InvalidKeepAliveInterval);
        }
        Ok(account)
    }

    /// This connection is the account's from now on; one that was before it is closed.
    fn take_over(&mut self, account: usize) {
        let old = self.accounts[account].connection.replace(self.session.id.0);
        if old != Some(self.session.id.0) {
            *self.displaced = old;
        }
        self.session.account = Some(account);
    }
}
