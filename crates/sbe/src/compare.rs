//! Comparison of two decoders on the same bytes, value by value.
//!
//! A [`Decoder`] passes messages to a visitor: the message table of generated codecs, or a
//! [`Plan`]. [`compare`] returns the first difference between two decoders. Fuzz targets and tests
//! call it with arbitrary bytes.
//!
//! ```
//! use hairpin_sbe::compare::{compare, assert_same};
//! use hairpin_sbe::plan::Plan;
//!
//! let schema = |kind| format!(
//!     "<messageSchema package='p' id='1' version='0'><message name='M' id='1'>\
//!      <field name='A' id='1' type='{kind}'/></message></messageSchema>"
//! );
//! let texts = [schema("int8"), schema("uint8")];
//! let [one, other] = texts.each_ref().map(|text| Plan::parse(text).unwrap());
//! assert_same(&one, &one, &[1, 0, 1, 0, 1, 0, 0, 0, 0xff]);
//! let difference = compare(&one, &other, &[1, 0, 1, 0, 1, 0, 0, 0, 0xff]).unwrap_err();
//! assert_eq!(difference.to_string(), "template 1: A=-1 is read as A=255");
//! ```

use crate::plan::Plan;
use crate::{DecodeError, Message, MessageHeader, Value, Visitor};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

/// A decoder that passes messages to a visitor.
pub trait Decoder {
    /// Visits the message in `body` and returns its length on the wire in bytes, message header
    /// included.
    ///
    /// # Errors
    /// Any [`DecodeError`] except `Header`. In this case nothing was visited.
    fn visit(
        &self,
        header: &MessageHeader,
        body: &[u8],
        visitor: &mut dyn Visitor,
    ) -> Result<usize, DecodeError>;
}

impl Decoder for Plan<'_> {
    fn visit(
        &self,
        header: &MessageHeader,
        body: &[u8],
        visitor: &mut dyn Visitor,
    ) -> Result<usize, DecodeError> {
        self.visit(header, body, visitor)
    }
}

/// Decodes with the messages of generated codecs, sorted by template id.
impl Decoder for [&'static Message] {
    fn visit(
        &self,
        header: &MessageHeader,
        body: &[u8],
        visitor: &mut dyn Visitor,
    ) -> Result<usize, DecodeError> {
        crate::visit(self, header, body, visitor)
    }
}

/// The equal result of two decoders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Comparison {
    /// Both decoders read this number of equal values.
    Values(usize),
    /// Both decoders rejected the message with this error.
    Rejected(DecodeError),
}

/// The first difference between two decoders.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("template {template_id}: {one} is read as {other}")]
pub struct Difference {
    /// The message's template id.
    pub template_id: u16,
    /// The first decoder's reading, as `group[index].field=value`, or its error.
    pub one: String,
    /// The second decoder's reading at the same place.
    pub other: String,
}

/// Decodes `message`, which starts with a little-endian SBE header, with both decoders.
///
/// # Errors
/// The first [`Difference`]: in a name, a value, the message's length or the error.
pub fn compare<A: Decoder + ?Sized, B: Decoder + ?Sized>(
    one: &A,
    other: &B,
    message: &[u8],
) -> Result<Comparison, Difference> {
    let (header, body) = match MessageHeader::decode(message) {
        Ok(decoded) => decoded,
        Err(error) => return Ok(Comparison::Rejected(error)),
    };
    compare_in(one, other, &header, body, &mut Scratch::default())
}

/// Like [`compare`], for a separate header and body. Reuses the memory of `scratch`.
///
/// # Errors
/// The first [`Difference`].
pub fn compare_in<A: Decoder + ?Sized, B: Decoder + ?Sized>(
    one: &A,
    other: &B,
    header: &MessageHeader,
    body: &[u8],
    scratch: &mut Scratch,
) -> Result<Comparison, Difference> {
    let outcomes = [
        scratch.0[0].take(|visitor| one.visit(header, body, visitor)),
        scratch.0[1].take(|visitor| other.visit(header, body, visitor)),
    ];
    if outcomes[0] == outcomes[1] && scratch.0[0].bytes == scratch.0[1].bytes {
        return Ok(match outcomes[0] {
            Ok(_) => Comparison::Values(scratch.0[0].values),
            Err(error) => Comparison::Rejected(error),
        });
    }
    let [one, other] = [Listing::new(one, header, body), Listing::new(other, header, body)];
    let (one, other) = one.first_difference(other);
    Err(Difference { template_id: header.template_id, one, other })
}

/// Like [`compare`], for fuzz targets, which report by panicking.
///
/// # Panics
/// Panics with the [`Difference`], if there is one.
pub fn assert_same<A: Decoder + ?Sized, B: Decoder + ?Sized>(one: &A, other: &B, message: &[u8]) {
    if let Err(difference) = compare(one, other, message) {
        panic!("{difference}");
    }
}

/// The reusable memory of [`compare_in`].
#[derive(Clone, Debug, Default)]
pub struct Scratch([Transcript; 2]);

/// A record of all visitor calls. Two records are equal exactly if the decoders read the same.
#[derive(Clone, Debug, Default)]
struct Transcript {
    bytes: Vec<u8>,
    values: usize,
}

impl Transcript {
    fn take<T>(&mut self, visit: impl FnOnce(&mut dyn Visitor) -> T) -> T {
        self.bytes.clear();
        self.values = 0;
        visit(self)
    }

    fn append(&mut self, tag: u8, bytes: &[u8]) {
        self.bytes.push(tag);
        self.bytes.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(bytes);
    }

    fn number(&mut self, tag: u8, value: u64) {
        self.bytes.push(tag);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }
}

impl Visitor for Transcript {
    fn message(&mut self, name: &str, header: &MessageHeader) {
        self.append(b'm', name.as_bytes());
        self.bytes.extend_from_slice(&header.to_bytes());
    }

    fn field(&mut self, name: &str, value: Value<'_>) {
        self.values += 1;
        self.append(b'f', name.as_bytes());
        match value {
            Value::Null => self.bytes.push(0),
            Value::Signed(value) => self.number(1, value.cast_unsigned()),
            Value::Unsigned(value) => self.number(2, value),
            Value::Character(value) => self.number(3, value.into()),
            Value::Text(text) => self.append(4, text.as_bytes()),
            Value::Number(number) => {
                self.number(5, number.mantissa.cast_unsigned());
                self.bytes.push(number.exponent.cast_unsigned());
            }
            Value::Enumeration { name, value, character } => {
                self.number(6 + u8::from(character), value);
                self.append(u8::from(name.is_some()), name.unwrap_or_default().as_bytes());
            }
            Value::Set { bits, choices } => {
                self.number(8, bits);
                for choice in choices.iter().filter(|choice| bits >> choice.value & 1 == 1) {
                    self.append(b'c', choice.name.as_bytes());
                }
            }
            Value::Data(bytes) => self.append(9, bytes),
            other => self.append(10, other.to_string().as_bytes()),
        }
    }

    fn composite(&mut self, name: &str) {
        self.append(b'o', name.as_bytes());
    }

    fn end_composite(&mut self) {
        self.bytes.push(b'O');
    }

    fn group(&mut self, name: &str, count: usize) {
        self.append(b'g', name.as_bytes());
        self.number(b'n', count as u64);
    }

    fn entry(&mut self, index: usize) {
        self.number(b'e', index as u64);
    }

    fn end_group(&mut self) {
        self.bytes.push(b'G');
    }
}

/// A readable record of a message: the path and value of each field.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The values in order; for a group its count, for an error its text.
    pub lines: Vec<Line>,
    path: Vec<String>,
}

/// A value of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The path, as `group[index].field`.
    pub path: String,
    /// The value, formatted.
    pub value: String,
}

impl Listing {
    /// Lists a message as `decoder` reads it.
    pub fn new<D: Decoder + ?Sized>(decoder: &D, header: &MessageHeader, body: &[u8]) -> Self {
        let mut listing = Self::default();
        let (path, value) = match decoder.visit(header, body, &mut listing) {
            Ok(length) => ("length", length.to_string()),
            Err(error) => ("refused", error.to_string()),
        };
        listing.lines.push(Line { path: path.into(), value });
        listing
    }

    /// Returns the first lines that differ.
    fn first_difference(self, other: Self) -> (String, String) {
        let mut lines = self.lines.iter().map(Some).chain(core::iter::repeat(None));
        let longest = self.lines.len().max(other.lines.len());
        let mut others = other.lines.iter().map(Some).chain(core::iter::repeat(None)).take(longest);
        let text = |line: Option<&Line>| match line {
            Some(Line { path, value }) => format!("{path}={value}"),
            None => "nothing".into(),
        };
        let differ = others.find_map(|other| match lines.next() {
            Some(one) if one != other => Some((text(one), text(other))),
            _ => None,
        });
        // Two values of different kinds may have the same text.
        differ.unwrap_or_else(|| ("a value".into(), "a value of another kind".into()))
    }

    fn push(&mut self, name: &str, value: impl core::fmt::Display) {
        let mut path = String::new();
        for part in self.path.iter().filter(|part| !part.is_empty()) {
            let _ = write!(path, "{part}.");
        }
        path += name;
        self.lines.push(Line { path, value: value.to_string() });
    }
}

impl Visitor for Listing {
    fn message(&mut self, name: &str, _: &MessageHeader) {
        self.push("name", name);
    }

    fn field(&mut self, name: &str, value: Value<'_>) {
        self.push(name, value);
    }

    fn composite(&mut self, name: &str) {
        self.path.push(name.into());
    }

    fn end_composite(&mut self) {
        self.path.pop();
    }

    fn group(&mut self, name: &str, count: usize) {
        self.push(name, count);
        self.path.push(name.into());
    }

    fn entry(&mut self, index: usize) {
        if let Some(group) = self.path.last_mut() {
            let name = group.split('[').next().unwrap_or_default();
            *group = format!("{name}[{index}]");
        }
    }

    fn end_group(&mut self) {
        self.path.pop();
    }
}
