//! Runtime support for SBE codecs (FIX SBE 1.0): message headers, blocks, repeating groups,
//! decimals.
//!
//! The crate decodes and encodes little-endian messages in place. Decoding is one length check per
//! block, then plain loads from a byte array of known size. Arbitrary bytes never cause a panic.
//! A block that is shorter or older than compiled is completed in the caller's scratch buffer,
//! where missing fields are null. Getters therefore never check lengths or versions.
//!
//! ```text
//! SBE header (8 bytes)  root block        group: dimension, entries ...  data: length, bytes
//! blockLength templateId | fields at      | blockLength  numInGroup |    | u16 | ...
//! schemaId    version    | fixed offsets  | entry | entry | ...     |    |     |
//! ```
//!
//! Layer L0: `no_std`, no allocation, no `unsafe`. The generated codecs for CME are in
//! `cme-codecs`. The features `schema` (on-the-fly decoder, comparison of decoders) and `generate`
//! (code generator) use `alloc`.
//!
//! # Where to start
//!
//! | file | content |
//! |---|---|
//! | `header.rs`, `root.rs`, `group.rs` | decoding: [`MessageHeader`], [`Root`], [`Group`] |
//! | `encode.rs` | encoding: [`begin`], [`GroupsEncoder`], [`GroupEncoder`] |
//! | `block.rs` | loads and stores at constant offsets: [`Block`], [`Scalar`] |
//! | `decimal.rs`, `float.rs`, `char_array.rs`, `month_year.rs` | field types |
//! | `layout.rs` | layouts as data: [`Message`], [`Field`], [`Type`] |
//! | `value.rs`, `visit.rs` | visiting and printing of fields: [`Value`], [`Visitor`] |
//! | `codec.rs` | the macros behind generated codecs |
//! | `plan.rs` (feature `schema`) | the on-the-fly decoder for any SBE schema |
//! | `compare.rs` (feature `schema`) | comparison of two decoders, for tests and fuzzing |
//! | `schema.rs` (feature `schema`) | the schema model of the generator |
//! | `generate.rs` (feature `generate`) | the code generator |
//! | `array.rs`, `floating_point.rs`, `number.rs` | SBE types that CME does not use |
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
mod floating_point;
#[cfg(feature = "generate")]
pub mod generate;
mod group;
mod header;
mod layout;
mod month_year;
mod number;
#[cfg(feature = "schema")]
pub mod plan;
mod root;
#[cfg(feature = "schema")]
pub mod schema;
mod value;
mod visit;
#[cfg(feature = "schema")]
mod xml_text;

pub use array::Array;
pub use block::{Block, Scalar};
pub use char_array::CharArray;
pub use decimal::Decimal;
pub use encode::{GroupEncoder, GroupsEncoder, begin, begin_fixed};
pub use error::{DecodeError, EncodeError};
pub use float::Float;
pub use floating_point::FloatingPoint;
pub use group::{Entries, Entry, Group};
pub use header::MessageHeader;
pub use layout::{
    BlockLayout, DataLayout, Dimension, Encoding, Field, GroupLayout, Message, Named, Presence,
    Primitive, Type,
};
pub use month_year::MonthYear;
pub use root::Root;
pub use value::Value;
pub use visit::{Visitor, visit};
#[cfg(feature = "schema")]
pub use xml_text::{XmlTextError, xml_text};
