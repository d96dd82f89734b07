//! Simple Binary Encoding (FIX SBE 1.0, little-endian) at run time: the small, hand-written half
//!
//! what is here to look at a block, walk a group and write both. Reading is one length check for a
//! block, then plain loads from a byte array whose size is known; bytes of any kind never panic.
//!
//! A block that is shorter or older than the compiled one is copied, field by field, into the
//! caller's scratch, where what is missing is null; getters never look at lengths or versions.
//!
//!
//! ```
//! use hairpin_sbe::{Decimal, MessageHeader};
//!
//! let bytes = [11, 0, 46, 0, 1, 0, 9, 0, 0xb4];
//! let (header, body) = MessageHeader::decode(&bytes)?;
//! assert_eq!((header.template_id, header.version, body.len()), (46, 9, 1));
//! assert_eq!(Decimal::<-9>(59_500_000_000).to_string(), "59.5");
//! # Ok::<(), hairpin_sbe::DecodeError>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

#[cfg(any(feature = "schema", test))]
extern crate alloc;

mod array;
mod block;
mod char_array;
mod codec;
#[cfg(feature = "schema")]
pub mod compare;
mod decimal;
mod encode;
mod error;
mod float;
#[cfg(feature = "generate")]
pub mod generate;
mod group;
mod header;
mod layout;
mod month_year;
mod number;
#[cfg(feature = "schema")]
pub mod plan;
mod real;
mod root;
#[cfg(feature = "schema")]
pub mod schema;
mod value;
mod visit;

pub use array::Array;
pub use block::{Block, Scalar};
pub use char_array::CharArray;
pub use decimal::Decimal;
pub use encode::{GroupEncoder, GroupsEncoder, begin, begin_fixed};
pub use error::{DecodeError, EncodeError};
pub use float::Float;
pub use group::{Entries, Entry, Group};
pub use header::MessageHeader;
pub use layout::{
    BlockLayout, DataLayout, Dimension, Encoding, Field, GroupLayout, Message, Named, Presence,
    Primitive, Type,
};
pub use month_year::MonthYear;
pub use real::Real;
pub use root::Root;
pub use value::Value;
pub use visit::{Visitor, visit};
