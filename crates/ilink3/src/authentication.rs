//! The secret key and the signatures of Negotiate and Establish.
//!
//! A signature is the HMAC-SHA-256 of the message's own fields in a canonical form. Numbers are
//! decimal, text is unpadded, and single line feeds separate the fields (CME Client Systems Wiki,
//! "iLink 3 - Negotiate", "iLink 3 - Establish").

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use thiserror::Error;
use zeroize::Zeroizing;

use crate::ascii::Decimal;

/// The length of HMACSignature in bytes.
pub const SIGNATURE_LENGTH: usize = 32;

/// The CME Request Center issues keys without padding; this decoder accepts both forms.
const BASE64URL: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The secret key that belongs to an AccessKeyID.
///
/// The key bytes are zeroed on drop and never appear in `Debug` output. Clones share them.
#[derive(Clone)]
pub struct SecretKey(Arc<dyn AsRef<[u8]> + Send + Sync>);

/// The text that replaces a secret key in [`redact_keys`].
const REDACTED: &str = "[secret key]";
/// The minimum length of a text that resembles a secret key. CME's keys have 43 characters.
const KEY_TEXT_MIN: usize = 40;
/// The minimum number of changes between lower case, upper case and digits in such a text. A key
/// has about half as many as characters, a name of words a few.
const CHANGES_MIN: usize = 8;

/// A text that is not a valid secret key. The error never contains the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SecretKeyError {
    /// The text is empty or only white space.
    #[error("the secret key is empty")]
    Empty,
    /// The text is not base64url, padded or unpadded.
    #[error("the secret key is not base64url")]
    Encoding,
    /// There is no memory for the key.
    #[error("no memory for the secret key")]
    Memory,
}

impl SecretKey {
    /// Decodes a key in the form CME issues it: base64url, with or without padding. Surrounding
    /// white space, such as a final newline of a file, is ignored.
    ///
    /// # Errors
    /// [`SecretKeyError::Empty`] if the text or the decoded key is empty,
    /// [`SecretKeyError::Encoding`] if the text is not base64url.
    pub fn from_base64url(text: &str) -> Result<Self, SecretKeyError> {
        let text = text.trim_ascii();
        if text.is_empty() {
            return Err(SecretKeyError::Empty);
        }
        // Allocate before decoding: a vector that grows would leave copies of key bytes in freed
        // memory.
        let mut key = Zeroizing::new(alloc::vec![0; base64::decoded_len_estimate(text.len())]);
        let length =
            BASE64URL.decode_slice(text, &mut key).map_err(|_| SecretKeyError::Encoding)?;
        key.truncate(length);
        if key.is_empty() { Err(SecretKeyError::Empty) } else { Ok(Self(Arc::new(key))) }
    }

    /// Decodes the text of a key, as [`from_base64url`](Self::from_base64url) does, into `key`.
    /// Returns the length of the key.
    ///
    /// # Errors
    /// Same as `from_base64url`; also [`SecretKeyError::Encoding`] if `key` is too short.
    pub fn decode(text: &[u8], key: &mut [u8]) -> Result<usize, SecretKeyError> {
        let text = text.trim_ascii();
        if text.is_empty() {
            return Err(SecretKeyError::Empty);
        }
        let decoded = BASE64URL.decode_slice(text, key).map_err(|_| SecretKeyError::Encoding)?;
        if decoded == 0 { Err(SecretKeyError::Empty) } else { Ok(decoded) }
    }

    /// Creates a key from its bytes, which stay where they are: in memory that the caller protects.
    ///
    /// # Errors
    /// [`SecretKeyError::Empty`].
    pub fn from_memory(
        key: impl AsRef<[u8]> + Send + Sync + 'static,
    ) -> Result<Self, SecretKeyError> {
        if key.as_ref().is_empty() { Err(SecretKeyError::Empty) } else { Ok(Self(Arc::new(key))) }
    }

    fn sign(&self, fields: &[Field<'_>]) -> [u8; SIGNATURE_LENGTH] {
        let mut mac = Hmac::<Sha256>::new_from_slice((*self.0).as_ref())
            .expect("HMAC takes keys of any size");
        for (index, field) in fields.iter().enumerate() {
            if index > 0 {
                mac.update(b"\n");
            }
            match field {
                Field::Number(number) => mac.update(Decimal::new(*number).as_bytes()),
                Field::Text(text) => mac.update(text.as_bytes()),
            }
        }
        mac.finalize().into_bytes().into()
    }
}

/// Returns `true` if a text resembles a secret key: base64url of at least 30 bytes that are not
/// words. Messages must not contain such a text, wherever it was found.
#[must_use]
pub fn resembles_key(text: &str) -> bool {
    let text = text.trim_end_matches('=').as_bytes();
    let class = |byte: &u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        _ => 2,
    };
    // Separators join the parts of a name.
    let is_change = |pair: &&[u8]| {
        pair.iter().all(u8::is_ascii_alphanumeric) && class(&pair[0]) != class(&pair[1])
    };
    let changes = text.windows(2).filter(is_change).count();
    text.len() >= KEY_TEXT_MIN
        && text.iter().copied().all(is_base64url)
        && [u8::is_ascii_lowercase, u8::is_ascii_uppercase].iter().all(|it| text.iter().any(it))
        && changes >= CHANGES_MIN
}

/// Replaces every part of a message that [resembles a secret key](resembles_key).
#[must_use]
pub fn redact_keys(message: &str) -> Cow<'_, str> {
    let mut redacted = String::new();
    let (mut kept, mut rest) = (0, message);
    while let Some(start) = rest.find(|it: char| it.is_ascii() && is_base64url(it as u8)) {
        let word = &rest[start..];
        let end = word.find(|it: char| !it.is_ascii() || !is_base64url(it as u8));
        let end = end.unwrap_or(word.len());
        let place = message.len() - word.len();
        if resembles_key(&word[..end]) {
            redacted.push_str(&message[kept..place]);
            redacted.push_str(REDACTED);
            kept = place + end;
        }
        rest = &word[end..];
    }
    if kept == 0 {
        return Cow::Borrowed(message);
    }
    redacted.push_str(&message[kept..]);
    Cow::Owned(redacted)
}

const fn is_base64url(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_')
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(..)")
    }
}

enum Field<'a> {
    Number(u64),
    Text(&'a str),
}

/// The signed fields of a Negotiate500.
#[derive(Debug, Clone, Copy)]
pub struct NegotiateSubject<'a> {
    /// RequestTimestamp, nanoseconds since the epoch.
    pub request_timestamp: u64,
    /// The UUID to negotiate.
    pub uuid: u64,
    /// Session, three characters.
    pub session: &'a str,
    /// Firm, up to five characters.
    pub firm: &'a str,
}

impl NegotiateSubject<'_> {
    /// Computes the HMACSignature of these fields.
    #[must_use]
    pub fn sign(&self, key: &SecretKey) -> [u8; SIGNATURE_LENGTH] {
        key.sign(&[
            Field::Number(self.request_timestamp),
            Field::Number(self.uuid),
            Field::Text(self.session),
            Field::Text(self.firm),
        ])
    }
}

/// The signed fields of an Establish503.
#[derive(Debug, Clone, Copy)]
pub struct EstablishSubject<'a> {
    /// The fields also signed in Negotiate.
    pub negotiate: NegotiateSubject<'a>,
    /// TradingSystemName, up to 30 characters.
    pub trading_system_name: &'a str,
    /// TradingSystemVersion, up to 10 characters.
    pub trading_system_version: &'a str,
    /// TradingSystemVendor, up to 10 characters.
    pub trading_system_vendor: &'a str,
    /// NextSeqNo: the SeqNum of the client's next business message.
    pub next_seq_no: u32,
    /// KeepAliveInterval, milliseconds.
    pub keep_alive_interval: u16,
}

impl EstablishSubject<'_> {
    /// Computes the HMACSignature of these fields.
    #[must_use]
    pub fn sign(&self, key: &SecretKey) -> [u8; SIGNATURE_LENGTH] {
        key.sign(&[
            Field::Number(self.negotiate.request_timestamp),
            Field::Number(self.negotiate.uuid),
            Field::Text(self.negotiate.session),
            Field::Text(self.negotiate.firm),
            Field::Text(self.trading_system_name),
            Field::Text(self.trading_system_version),
            Field::Text(self.trading_system_vendor),
            Field::Number(u64::from(self.next_seq_no)),
            Field::Number(u64::from(self.keep_alive_interval)),
        ])
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::format;

    /// The base64url form of the bytes 0 to 31.
    const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

    fn bytes(key: &SecretKey) -> &[u8] {
        (*key.0).as_ref()
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn signs_negotiate_like_an_independent_implementation() {
        let subject = NegotiateSubject {
            request_timestamp: 1_700_000_000_000_000_000,
            uuid: 1_700_000_000_000_000,
            session: "ABC",
            firm: "DEFGH",
        };
        let signature = subject.sign(&SecretKey::from_base64url(KEY).unwrap());
        let expected = "085cbf5302eb48c6c5bada49a71bd7348d02834f5876abc8570c833f2c23394b";
        assert_eq!(hex(&signature), expected);
    }

    #[test]
    fn signs_establish_like_an_independent_implementation() {
        let subject = EstablishSubject {
            negotiate: NegotiateSubject {
                request_timestamp: 1_700_000_001_000_000_000,
                uuid: 1_700_000_000_000_000,
                session: "ABC",
                firm: "DEFGH",
            },
            trading_system_name: "TestSys",
            trading_system_version: "1.0",
            trading_system_vendor: "TestVendor",
            next_seq_no: 1,
            keep_alive_interval: 10_000,
        };
        let signature = subject.sign(&SecretKey::from_base64url(KEY).unwrap());
        let expected = "cc0ded961552f70df01b7e6d1a7bf5ce317459a0e756256932d23f8001e79d83";
        assert_eq!(hex(&signature), expected);
    }

    #[test]
    fn accepts_keys_with_and_without_padding() {
        let bare = SecretKey::from_base64url(KEY).unwrap();
        let padded = SecretKey::from_base64url(&format!(" {KEY}=\n")).unwrap();
        assert_eq!(bytes(&bare), bytes(&padded));
        assert_eq!(bytes(&bare), (0..32).collect::<std::vec::Vec<u8>>());
    }

    #[test]
    fn accepts_the_url_alphabet_only() {
        assert_eq!(bytes(&SecretKey::from_base64url("-_-_").unwrap()), [0xfb, 0xff, 0xbf]);
        assert_eq!(SecretKey::from_base64url("+/+/").err(), Some(SecretKeyError::Encoding));
        assert_eq!(SecretKey::from_base64url(" \n").err(), Some(SecretKeyError::Empty));
    }

    #[test]
    fn decodes_into_memory_of_the_caller() {
        let mut page = [0; 64];
        let length = SecretKey::decode(std::format!("{KEY}=\n").as_bytes(), &mut page).unwrap();
        let key = SecretKey::from_memory(page[..length].to_vec()).unwrap();
        assert_eq!(bytes(&key), bytes(&SecretKey::from_base64url(KEY).unwrap()));
        assert_eq!(SecretKey::decode(b" ", &mut page), Err(SecretKeyError::Empty));
        assert_eq!(SecretKey::decode(b"+/+/", &mut page), Err(SecretKeyError::Encoding));
        assert_eq!(
            SecretKey::decode(KEY.as_bytes(), &mut page[..31]).err(),
            Some(SecretKeyError::Encoding)
        );
        assert_eq!(SecretKey::from_memory([]).err(), Some(SecretKeyError::Empty));
    }

    #[test]
    fn keys_in_messages_are_redacted() {
        let message = format!("cannot read /tmp/{KEY}: no `{KEY}=` é {KEY}");
        let expected = "cannot read /tmp/[secret key]: no `[secret key]=` é [secret key]";
        assert_eq!(redact_keys(&message), expected);
        for other in [
            "cannot read /var/lib/hairpin/Journals_of_the_Production_Session_in_Chicago",
            "commit 7e5e4a1b2c3d4e5f60718293a4b5c6d7e8f90123",
            "HAIRPIN_SECRET_KEY",
            "",
        ] {
            assert_eq!(redact_keys(other), other);
        }
    }

    #[test]
    fn debug_output_omits_the_key() {
        let key = SecretKey::from_base64url(KEY).unwrap();
        assert_eq!(format!("{key:?}"), "SecretKey(..)");
    }
}
