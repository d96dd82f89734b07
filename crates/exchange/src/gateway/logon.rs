//! Negotiate and Establish: who it is, and where the numbers stand.

use hairpin_cme_codecs::ilink3::{Establish503, Negotiate500};
use hairpin_time::{Duration, Utc};

use super::SessionState;
use super::business::LARGEST_SEQUENCE;
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
    texts.into_iter().find_map(|(text, why)| (!is_printable(text)).then_some(why))
}

impl<L: Listener> Handling<'_, L> {
    /// The account with this access key, whoever names it.
    fn named(&self, access_key_id: &[u8]) -> Option<usize> {
        self.accounts.iter().position(|account| account.has_access_key(access_key_id))
    }

    /// Counts a bad logon against the account that it names, or else the connection. `true` if it
    /// was one too many: the ports of that account are closed, and this connection ends.
    fn is_one_too_many(&mut self, named: Option<usize>) -> bool {
        if !self.rules.closes_ports {
            return false;
        }
        let now = self.now.monotonic;
        let is_too_many = match named {
            Some(account) => {
                let known = &mut self.accounts[account];
                known.is_closed |= known.bad_logons.note(now);
                known.is_closed
            }
            None => self.session.bad_logons.note(now),
        };
        if is_too_many {
            self.counters.port_closures += 1;
            *self.has_orphans = true;
            self.fail(TerminateCode::PortClosure);
        }
        is_too_many
    }

    /// Ends the session for a logon that may not come, or not as it is.
    fn violate_logon(&mut self, named: Option<usize>, code: TerminateCode) {
        if !self.is_one_too_many(named) {
            self.violate(code);
        }
    }

    /// Whether nobody may log on by this name; the connection has ended then.
    fn is_turned_away(&mut self, named: Option<usize>) -> bool {
        let is_closed = named.is_some_and(|account| self.accounts[account].is_closed);
        if is_closed {
            self.counters.turned_away += 1;
            self.fail(TerminateCode::PortClosure);
        }
        is_closed
    }

    /// The account that has signed `parts`.
    fn authenticate(&self, claim: &Claim<'_>, parts: &[&[u8]]) -> Result<usize, LogonReject> {
        if let Some(why) = claim.missing().or_else(|| claim.unprintable()) {
            return Err(why);
        }
        let account = self.named(claim.access_key_id).ok_or(LogonReject::HmacNotAuthenticated)?;
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
        let named = self.named(message.access_key_id().as_bytes());
        if self.is_turned_away(named) {
            return;
        }
        if self.session.state != SessionState::Connected {
            return self.violate_logon(named, TerminateCode::AlreadyNegotiated);
        }
        if uuid == u64::MAX {
            return self.violate_logon(named, TerminateCode::RequiredUuidMissing);
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
                if !self.is_one_too_many(named) {
                    self.reject_negotiate((uuid, timestamp), why);
                }
                return;
            }
        };
        if self.session.is_backup {
            let why = if self.accounts[account].is_established {
                LogonReject::NegotiateNotAllowed
            } else {
                LogonReject::DesignatedBackup
            };
            return self.reject_negotiate((uuid, timestamp), why);
        }
        let known = &mut self.accounts[account];
        if uuid > LARGEST_UUID || uuid <= known.last_uuid {
            return self.violate_logon(named, TerminateCode::InvalidUuid);
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

    fn reject_negotiate(&mut self, request: (u64, u64), why: LogonReject) {
        self.counters.logon_rejects += 1;
        self.session.send_negotiation_reject(self.now, request, why);
    }

    fn reject_establish(&mut self, message: &Establish503<'_>, why: LogonReject) {
        self.counters.logon_rejects += 1;
        let next = self.session.account.map_or(1, |account| self.accounts[account].next_inbound);
        let next = self.session.next_of(next);
        let request = (message.uuid(), message.request_timestamp());
        self.session.send_establishment_reject(self.now, request, next, why);
    }

    pub(super) fn handle_establish(&mut self, message: &Establish503<'_>) {
        let named = self.named(message.access_key_id().as_bytes());
        if self.is_turned_away(named) {
            return;
        }
        match self.session.state {
            SessionState::Connected | SessionState::Negotiated => {}
            _ => return self.violate_logon(named, TerminateCode::AlreadyEstablished),
        }
        if message.uuid() == u64::MAX {
            return self.violate_logon(named, TerminateCode::RequiredUuidMissing);
        }
        let account = match self.check_establish(message) {
            Ok(account) => account,
            Err(why) => {
                if !self.is_one_too_many(named) {
                    self.reject_establish(message, why);
                }
                return;
            }
        };
        if self.session.is_backup && !self.accounts[account].is_established {
            return self.reject_establish(message, LogonReject::DesignatedBackup);
        }
        match self.check_numbers(account, message) {
            Ok(()) => self.establish(account, message),
            Err(code) => self.violate_logon(named, code),
        }
    }

    /// Whether UUID and NextSeqNo go on from where the account is.
    fn check_numbers(
        &self,
        account: usize,
        message: &Establish503<'_>,
    ) -> Result<(), TerminateCode> {
        let known = &self.accounts[account];
        let (uuid, next) = (message.uuid(), message.next_seq_no());
        if known.uuid == 0 {
            return Err(TerminateCode::Unnegotiated);
        }
        let negotiated = self.session.account.unwrap_or(account);
        if uuid != known.uuid || negotiated != account {
            return Err(TerminateCode::InvalidUuid);
        }
        if next == u32::MAX {
            return Err(TerminateCode::RequiredNextSeqNoMissing);
        }
        if self.session.is_backup {
            return if next == 0 { Ok(()) } else { Err(TerminateCode::InvalidNextSeqNo) };
        }
        let begins = known.next_inbound == 1 && self.session.state == SessionState::Negotiated;
        if next < known.next_inbound || next > LARGEST_SEQUENCE + 1 || (begins && next != 1) {
            return Err(TerminateCode::InvalidNextSeqNo);
        }
        Ok(())
    }

    fn establish(&mut self, account: usize, message: &Establish503<'_>) {
        let timestamp = message.request_timestamp();
        self.accounts[account].last_timestamp = timestamp;
        self.take_over(account);
        self.session.uuid = message.uuid();
        let interval = message.keep_alive_interval();
        self.session.keep_alive = Duration::from_millis(interval.into());
        self.session.heard = self.now.monotonic;
        self.session.warned = None;
        self.counters.established += 1;
        let known = &self.accounts[account];
        self.session.send_establishment_ack(self.now, timestamp, interval, known);
        let expected = known.next_inbound;
        self.session.enter(SessionState::Established, self.listener);
        if self.session.is_backup {
            return;
        }
        self.accounts[account].is_established = true;
        let next = message.next_seq_no();
        if next > expected {
            self.not_applied(expected, next);
            // Nobody has sent that number yet: when it comes, those before it have been told.
            self.session.not_applied = next - 1;
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
        let texts = [
            (message.trading_system_name().as_bytes(), LogonReject::InvalidTradingSystemName),
            (message.trading_system_version().as_bytes(), LogonReject::InvalidTradingSystemVersion),
            (message.trading_system_vendor().as_bytes(), LogonReject::InvalidTradingSystemVendor),
        ];
        if let Some(why) = first_unprintable(texts) {
            return Err(why);
        }
        if message.keep_alive_interval() == u16::MAX {
            return Err(LogonReject::RequiredKeepAliveIntervalMissing);
        }
        if !KEEP_ALIVE_INTERVAL.contains(&message.keep_alive_interval()) {
            return Err(LogonReject::InvalidKeepAliveInterval);
        }
        Ok(account)
    }

    /// This connection is the account's from now on; one that was before it is closed.
    fn take_over(&mut self, account: usize) {
        let known = &mut self.accounts[account];
        let place = if self.session.is_backup { &mut known.backup } else { &mut known.connection };
        let old = place.replace(self.session.id.0);
        if old != Some(self.session.id.0) {
            *self.displaced = old;
            if !self.session.is_backup {
                known.is_established = false;
            }
        }
        self.session.account = Some(account);
    }
}
