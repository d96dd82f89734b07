//! The secret key and the signatures of Negotiate and Establish.
//!
//! A signature is the HMAC-SHA-256 of the message's own fields in a canonical form. Numbers are
//! decimal, text is unpadded, and single line feeds separate the fields (CME Client Systems Wiki,
//! "iLink 3 - Negotiate", "iLink 3 - Establish").

use alloc::vec::Vec;
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
/// The key bytes are zeroed on drop and never appear in `Debug` output.
#[derive(Clone)]
pub struct SecretKey(Zeroizing<Vec<u8>>);

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
        if key.is_empty() { Err(SecretKeyError::Empty) } else { Ok(Self(key)) }
    }

    fn sign(&self, fields: &[Field<'_>]) -> [u8; SIGNATURE_LENGTH] {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any size");
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
    use std::string::String;

    /// The base64url form of the bytes 0 to 31.
    const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

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
        assert_eq!(*bare.0, *padded.0);
        assert_eq!(*bare.0, (0..32).collect::<std::vec::Vec<u8>>());
    }

    #[test]
    fn accepts_the_url_alphabet_only() {
        assert_eq!(*SecretKey::from_base64url("-_-_").unwrap().0, [0xfb, 0xff, 0xbf]);
        assert_eq!(SecretKey::from_base64url("+/+/").err(), Some(SecretKeyError::Encoding));
        assert_eq!(SecretKey::from_base64url(" \n").err(), Some(SecretKeyError::Empty));
    }

    #[test]
    fn debug_output_omits_the_key() {
        let key = SecretKey::from_base64url(KEY).unwrap();
        assert_eq!(format!("{key:?}"), "SecretKey(..)");
    }
}
