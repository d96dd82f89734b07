//! Accounts: the credentials of a session, and its state across connections.

use core::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use thiserror::Error;
use zeroize::Zeroizing;

use super::cross::CrossIds;
use super::party_details::PartyDetails;
use super::port_closure::BadLogons;
use super::quotes::{QUOTES_MAX, Quote, QuoteSource};
use super::rate_limits::Windows;
use super::retransmit_buffer::RetransmitBuffer;

/// The credentials of an account: one access key for one session of one firm.
#[derive(Clone)]
pub struct Credentials {
    access_key_id: String,
    session: String,
    firm: String,
    secret: Arc<dyn AsRef<[u8]> + Send + Sync>,
}

/// An error in credentials. It never contains the secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CredentialsError {
    /// The text is empty, longer than its field, or not printable ASCII.
    #[error("{field} must be 1 to {longest} printable ASCII characters")]
    Text {
        /// CME's name of the field.
        field: &'static str,
        /// The length of the field in bytes.
        longest: usize,
    },
    /// The secret key is not base64url, or is empty.
    #[error("secret key must be non-empty base64url text")]
    SecretKey,
}

impl Credentials {
    /// Creates credentials from the values that CME issues: AccessKeyID (up to 20 characters), the
    /// secret key as base64url text with or without padding, Session (3) and Firm (5).
    ///
    /// # Errors
    /// See [`CredentialsError`].
    pub fn new(
        access_key_id: &str,
        secret_key: &str,
        session: &str,
        firm: &str,
    ) -> Result<Self, CredentialsError> {
        let secret = URL_SAFE_NO_PAD
            .decode(secret_key.trim_end_matches('='))
            .map_err(|_| CredentialsError::SecretKey)?;
        Self::with_secret(access_key_id, Arc::new(Zeroizing::new(secret)), session, firm)
    }

    /// Creates credentials with a decoded secret key, which stays where it is: in memory that the
    /// caller protects.
    ///
    /// # Errors
    /// See [`CredentialsError`].
    pub fn with_secret(
        access_key_id: &str,
        secret: Arc<dyn AsRef<[u8]> + Send + Sync>,
        session: &str,
        firm: &str,
    ) -> Result<Self, CredentialsError> {
        for (field, text, longest) in
            [("AccessKeyID", access_key_id, 20), ("Session", session, 3), ("Firm", firm, 5)]
        {
            let printable = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
            if text.is_empty() || text.len() > longest || !printable {
                return Err(CredentialsError::Text { field, longest });
            }
        }
        if (*secret).as_ref().is_empty() {
            return Err(CredentialsError::SecretKey);
        }
        Ok(Self {
            access_key_id: access_key_id.into(),
            session: session.into(),
            firm: firm.into(),
            secret,
        })
    }
}

/// Omits the secret.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("access_key_id", &self.access_key_id)
            .field("session", &self.session)
            .field("firm", &self.firm)
            .finish_non_exhaustive()
    }
}

/// The last business message published to an account (PreviousUUID and PreviousSeqNo).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Previous {
    pub(super) uuid: u64,
    pub(super) sequence: u32,
}

/// An account: one session of one firm, with its sequence numbers.
#[derive(Debug)]
pub(super) struct Account {
    credentials: Credentials,
    /// The UUID of published messages: the last one negotiated this week, 0 before the first.
    pub(super) uuid: u64,
    /// The last UUID ever negotiated. The next one has to be greater.
    pub(super) last_uuid: u64,
    /// The last RequestTimestamp. The next one has to be greater.
    pub(super) last_timestamp: u64,
    /// The SeqNum expected in the client's next business message.
    pub(super) next_inbound: u32,
    /// The SeqNum of the gateway's next business message.
    pub(super) next_outbound: u32,
    pub(super) previous: Previous,
    /// The published messages, for retransmission.
    pub(super) retransmit_buffer: RetransmitBuffer,
    /// The connection to the primary on which the session is negotiated or established.
    pub(super) connection: Option<u32>,
    /// The session is established on that connection.
    pub(super) established: bool,
    /// The connection to the backup on which the session is established.
    pub(super) backup: Option<u32>,
    pub(super) bad_logons: BadLogons,
    /// The session's ports are closed: logons are refused.
    pub(super) ports_closed: bool,
    /// The session is lost, and its orders have to be canceled.
    pub(super) lost: bool,
    pub(super) windows: Windows,
    /// The session's firm, as the index of the first account of that firm.
    pub(super) firm: u32,
    /// The session's current and former quotes.
    pub(super) quotes: Vec<Quote>,
    /// The latest quote message, for unsolicited cancels.
    pub(super) quote_source: QuoteSource,
    pub(super) crosses: CrossIds,
    /// The registered party details. Their number is limited by the capacity.
    pub(super) party_details: Vec<PartyDetails>,
}

impl Account {
    pub(super) fn new(credentials: Credentials, capacity: u32, party_details: u16) -> Self {
        Self {
            credentials,
            uuid: 0,
            last_uuid: 0,
            last_timestamp: 0,
            next_inbound: 1,
            next_outbound: 1,
            previous: Previous::default(),
            retransmit_buffer: RetransmitBuffer::new(capacity),
            connection: None,
            established: false,
            backup: None,
            bad_logons: BadLogons::default(),
            ports_closed: false,
            lost: false,
            windows: Windows::default(),
            firm: 0,
            quotes: Vec::with_capacity(QUOTES_MAX),
            quote_source: QuoteSource::NONE,
            crosses: CrossIds::new(),
            party_details: Vec::with_capacity(party_details.into()),
        }
    }

    pub(super) fn has_access_key(&self, access_key_id: &[u8]) -> bool {
        self.credentials.access_key_id.as_bytes() == access_key_id
    }

    pub(super) fn has_session(&self, session: &[u8], firm: &[u8]) -> bool {
        self.credentials.session.as_bytes() == session && self.has_firm(firm)
    }

    /// Returns `true` if both accounts belong to the same firm.
    pub(super) fn is_same_firm(&self, other: &Self) -> bool {
        self.has_firm(other.credentials.firm.as_bytes())
    }

    pub(super) fn has_firm(&self, firm: &[u8]) -> bool {
        self.credentials.firm.as_bytes() == firm
    }

    /// Returns `true` if `signature` is HMAC-SHA-256 of `parts` joined by line feeds. The
    /// comparison takes constant time.
    pub(super) fn is_signed(&self, parts: &[&[u8]], signature: &[u8]) -> bool {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice((*self.credentials.secret).as_ref())
        else {
            return false;
        };
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                mac.update(b"\n");
            }
            mac.update(part);
        }
        mac.verify_slice(signature).is_ok()
    }

    /// Starts a FIXP session: both directions restart at 1.
    pub(super) fn start_session(&mut self, uuid: u64) {
        self.last_uuid = uuid;
        self.restart(uuid);
    }

    /// Starts a trading week. Until the next logon, published messages have UUID 0. Messages of the
    /// previous week are dropped, and party details have to be registered again.
    pub(super) fn begin_week(&mut self) {
        self.restart(0);
        self.previous = Previous::default();
        self.retransmit_buffer.clear();
        self.party_details.clear();
        self.open_ports();
    }

    pub(super) fn open_ports(&mut self) {
        self.ports_closed = false;
        self.bad_logons = BadLogons::default();
    }

    fn restart(&mut self, uuid: u64) {
        self.uuid = uuid;
        self.next_inbound = 1;
        self.next_outbound = 1;
    }

    /// Returns the number of the next business message to send, if the latest `pending` messages
    /// are not sent yet.
    pub(super) fn next_to_send(&self, pending: u32) -> u32 {
        if pending == 0 { self.next_outbound } else { self.retransmit_buffer.number_of(pending) }
    }

    /// Assigns the number of the next business message to the client.
    pub(super) fn assign_number(&mut self) -> u32 {
        let sequence = self.next_outbound;
        self.next_outbound += 1;
        self.previous = Previous { uuid: self.uuid, sequence };
        sequence
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
    }

    #[test]
    fn verifies_hmac_vectors_of_both_logon_messages() {
        let account = Account::new(Credentials::new("KEY", KEY, "ABC", "DEFGH").unwrap(), 1, 1);
        let negotiate: [&[u8]; 4] = [b"1700000000000000000", b"1700000000000000", b"ABC", b"DEFGH"];
        let mut signature =
            bytes("085cbf5302eb48c6c5bada49a71bd7348d02834f5876abc8570c833f2c23394b");
        assert!(account.is_signed(&negotiate, &signature));
        let establish: [&[u8]; 9] = [
            b"1700000001000000000",
            b"1700000000000000",
            b"ABC",
            b"DEFGH",
            b"TestSys",
            b"1.0",
            b"TestVendor",
            b"1",
            b"10000",
        ];
        let other = bytes("cc0ded961552f70df01b7e6d1a7bf5ce317459a0e756256932d23f8001e79d83");
        assert!(account.is_signed(&establish, &other));
        assert!(!account.is_signed(&establish, &signature));
        signature[31] ^= 1;
        assert!(!account.is_signed(&negotiate, &signature));
        assert!(!account.is_signed(&negotiate, &signature[..31]));
    }

    #[test]
    fn rejects_credentials_that_do_not_fit_their_fields() {
        let text = |field, longest| Some(CredentialsError::Text { field, longest });
        let error = |key: &str, secret: &str, session: &str, firm: &str| {
            Credentials::new(key, secret, session, firm).err()
        };
        assert_eq!(error("", KEY, "ABC", "DEFGH"), text("AccessKeyID", 20));
        assert_eq!(error("KEY", KEY, "ABCD", "DEFGH"), text("Session", 3));
        assert_eq!(error("KEY", KEY, "ABC", "D\u{7}"), text("Firm", 5));
        assert_eq!(error("KEY", "not base64!", "ABC", "DEFGH"), Some(CredentialsError::SecretKey));
        assert_eq!(error("KEY", "", "ABC", "DEFGH"), Some(CredentialsError::SecretKey));
        assert_eq!(error("KEY", "AAEC", "ABC", "DEFGH"), None);
    }

    #[test]
    fn debug_omits_the_secret() {
        let credentials = Credentials::new("KEY", KEY, "ABC", "DEFGH").unwrap();
        let text = format!("{credentials:?}");
        assert!(text.contains("KEY") && !text.contains("0, 1, 2") && !text.contains("AAEC"));
    }
}
