//! FIX 4.4 messages in tag=value encoding: reading, writing and times.
//!
//! Source: FIX 4.4 with errata 20030618, volumes 1 (message format, trailer) and 2 (session).

mod message;
mod time;
mod writer;

pub(crate) use message::{Message, Scan, scan};
pub(crate) use time::{date, timestamp_millis, timestamp_nanos};
pub(crate) use writer::{Body, Header, write};

/// The value of BeginString (8).
pub(crate) const BEGIN_STRING: &[u8] = b"FIX.4.4";
/// The separator after each field.
pub(crate) const SOH: u8 = 1;

/// The tags of session messages and headers.
pub(crate) mod tag {
    pub(crate) const BEGIN_SEQ_NO: u32 = 7;
    pub(crate) const BEGIN_STRING: u32 = 8;
    pub(crate) const END_SEQ_NO: u32 = 16;
    pub(crate) const MSG_SEQ_NUM: u32 = 34;
    pub(crate) const MSG_TYPE: u32 = 35;
    pub(crate) const NEW_SEQ_NO: u32 = 36;
    pub(crate) const POSS_DUP_FLAG: u32 = 43;
    pub(crate) const REF_SEQ_NUM: u32 = 45;
    pub(crate) const SENDER_COMP_ID: u32 = 49;
    pub(crate) const TARGET_COMP_ID: u32 = 56;
    pub(crate) const TEXT: u32 = 58;
    pub(crate) const ENCRYPT_METHOD: u32 = 98;
    pub(crate) const HEART_BT_INT: u32 = 108;
    pub(crate) const TEST_REQ_ID: u32 = 112;
    pub(crate) const GAP_FILL_FLAG: u32 = 123;
    pub(crate) const RESET_SEQ_NUM_FLAG: u32 = 141;
    pub(crate) const REF_TAG_ID: u32 = 371;
    pub(crate) const REF_MSG_TYPE: u32 = 372;
    pub(crate) const SESSION_REJECT_REASON: u32 = 373;
    pub(crate) const BUSINESS_REJECT_REASON: u32 = 380;
}
