//! Every message of both CME schemas, copied field by field by the generated codecs (layer T).
//!
//! The build script generates a module per schema from the schema file, so that no getter, setter
//! or group is forgotten. Each module has two functions:
//!
//! - `copy(header, body, buffer, values)` decodes a message, passes every value to `values` and
//!   encodes all of them into `buffer`. It returns the encoded length. Encoders write data empty.
//! - `empty(template_id, buffer)` encodes a message with one entry without values in each group.
//!
//! ```
//! use hairpin_cme_copy::{ValueLog, mdp3};
//! use hairpin_sbe::MessageHeader;
//!
//! let (mut message, mut copied) = ([0; 64], [0; 64]);
//! let length = mdp3::empty(12, &mut message)?;
//! let (header, body) = MessageHeader::decode(&message[..length])?;
//! let mut values = ValueLog::default();
//! assert_eq!(mdp3::copy(&header, body, &mut copied, &mut values), length);
//! assert_eq!(message, copied);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod plain_value;

pub use plain_value::{PlainValue, ValueLog, VisitLog};

/// Market data.
pub mod mdp3 {
    include!(concat!(env!("OUT_DIR"), "/mdp3.rs"));
}

/// Order entry.
pub mod ilink3 {
    include!(concat!(env!("OUT_DIR"), "/ilink3.rs"));
}
