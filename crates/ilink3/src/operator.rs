//! The operator of a request: SenderID, Location, party details and ManualOrderIndicator.

use core::fmt;

use hairpin_cme_codecs::ilink3::ManualOrdIndReq;
use hairpin_sbe::CharArray;
use thiserror::Error;

use crate::ascii::is_printable;

/// The maximum length of a SenderID in bytes: the limit of CME's audit trail, below the field's 20.
pub const SENDER_ID_MAX: usize = 18;
/// The length of a SenderID of EBS in bytes.
const EBS_SENDER_ID_LENGTH: usize = 3;

/// An operator field that CME would reject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OperatorError {
    /// SenderID is empty, too long, or contains another character.
    #[error("cannot use SenderID: it must be 1 to {SENDER_ID_MAX} letters, digits or _-:@.+")]
    SenderId,
    /// SenderID of EBS does not have three characters, or contains another character.
    #[error("cannot use SenderID: it must be 3 letters, digits or _-:@.+ on EBS")]
    EbsSenderId,
    /// Location is empty, too long or not printable ASCII.
    #[error("cannot use Location: it must be 1 to 5 characters of printable ASCII")]
    Location,
}

/// SenderID (5392): the person or team that submits a message. CME calls it the Operator ID, and
/// echoes it in upper case.
///
/// Source: CME Client Systems Wiki 46211309, 46439128, 46441910.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SenderId([u8; 20]);

impl SenderId {
    /// Creates an id in the format of CME's audit trail: 1 to [`SENDER_ID_MAX`] letters, digits or
    /// `_-:@.+`.
    ///
    /// # Errors
    /// [`OperatorError::SenderId`]. Longer text is not cut.
    pub fn new(text: &str) -> Result<Self, OperatorError> {
        let fits = (1..=SENDER_ID_MAX).contains(&text.len()) && is_sender_id(text);
        if fits { Ok(Self(padded(text))) } else { Err(OperatorError::SenderId) }
    }

    /// Creates an id for EBS: exactly three characters of the same kind.
    ///
    /// # Errors
    /// [`OperatorError::EbsSenderId`].
    pub fn ebs(text: &str) -> Result<Self, OperatorError> {
        let fits = text.len() == EBS_SENDER_ID_LENGTH && is_sender_id(text);
        if fits { Ok(Self(padded(text))) } else { Err(OperatorError::EbsSenderId) }
    }
}

/// Location (9537): the country and, in the US and Canada, the state, for example `US,IL`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Location([u8; 5]);

impl Location {
    /// Creates a location of 1 to 5 characters of printable ASCII.
    ///
    /// # Errors
    /// [`OperatorError::Location`]. Longer text is not cut.
    pub fn new(text: &str) -> Result<Self, OperatorError> {
        let fits = (1..=5).contains(&text.len()) && is_printable(text.as_bytes());
        if fits { Ok(Self(padded(text))) } else { Err(OperatorError::Location) }
    }
}

/// Implements access to the field's bytes, NUL-padded, and formatting without the padding.
macro_rules! text_field {
    ($name:ident) => {
        impl AsRef<[u8]> for $name {
            #[inline]
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&CharArray::new(&self.0), f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
    };
}

text_field!(SenderId);
text_field!(Location);

/// The sender fields of a request. The session's operator is the default of all requests;
/// [`Sender::send_as`](crate::Sender::send_as) sends a request of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operator {
    /// SenderID (5392): the person or team that submits the message.
    pub sender_id: SenderId,
    /// Location (9537): country and, in the US and Canada, state.
    pub location: Location,
    /// PartyDetailsListReqID (1505): the registered party details of the request.
    pub party_details_list_req_id: u64,
    /// ManualOrderIndicator (1028): automated or manual.
    pub manual_order_indicator: ManualOrdIndReq,
}

impl Operator {
    /// Creates an automated operator with party details 1.
    ///
    /// # Errors
    /// [`OperatorError`], if CME would reject one of the texts.
    pub fn automated(sender_id: &str, location: &str) -> Result<Self, OperatorError> {
        Ok(Self::with(SenderId::new(sender_id)?, Location::new(location)?))
    }

    /// Creates an automated operator with party details 1 from checked fields.
    #[must_use]
    pub const fn with(sender_id: SenderId, location: Location) -> Self {
        Self {
            sender_id,
            location,
            party_details_list_req_id: 1,
            manual_order_indicator: ManualOrdIndReq::AUTOMATED,
        }
    }
}

/// Returns `true` if CME's audit trail accepts every character of `text` in a SenderID.
fn is_sender_id(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-:@.+".contains(&byte))
}

/// Pads `text`, which fits, with NULs.
fn padded<const LENGTH: usize>(text: &str) -> [u8; LENGTH] {
    let mut field = [0; LENGTH];
    field[..text.len()].copy_from_slice(text.as_bytes());
    field
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn sender_id_has_the_audit_trail_format() {
        for good in ["A", "trader_1-2:3@4.5+6", "123456789012345678"] {
            assert_eq!(SenderId::new(good).map(|id| id.to_string()), Ok(good.to_string()));
        }
        for bad in ["", "1234567890123456789", "A B", "A,B", "\u{e4}", "A\0"] {
            assert_eq!(SenderId::new(bad), Err(OperatorError::SenderId), "{bad:?}");
            assert_eq!(Operator::automated(bad, "US,IL"), Err(OperatorError::SenderId));
        }
    }

    #[test]
    fn ebs_sender_id_has_three_characters() {
        assert_eq!(SenderId::ebs("ABC").map(|id| id.to_string()), Ok("ABC".to_string()));
        for bad in ["", "AB", "ABCD", "A B"] {
            assert_eq!(SenderId::ebs(bad), Err(OperatorError::EbsSenderId), "{bad:?}");
        }
    }

    #[test]
    fn location_is_refused_rather_than_cut() {
        assert_eq!(Location::new("US,IL").map(|it| it.to_string()), Ok("US,IL".to_string()));
        for bad in ["", "US,ILX", "U\nS"] {
            assert_eq!(Location::new(bad), Err(OperatorError::Location), "{bad:?}");
            assert_eq!(Operator::automated("TRADER", bad), Err(OperatorError::Location));
        }
    }
}
