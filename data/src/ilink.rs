//! Messages of iLink 3 by the tags of their fields.

use anyhow::{Context, Result, bail};
use hairpin_cme_codecs::ilink3::MESSAGES;
use hairpin_mapped::Entry;
use hairpin_sbe::{Message, MessageHeader, Value, Visitor};

/// The bytes before a message in a journal's record: its frame's length and encoding.
const FRAMING_HEADER: usize = 4;

/// Returns the message in a journal's record, SBE header included.
pub(crate) fn frame(entry: &Entry) -> Option<&[u8]> {
    let payload = &entry.payload[..];
    let size = usize::from(u16::from_le_bytes(*payload.first_chunk()?));
    payload.get(FRAMING_HEADER..size)
}

/// Returns the layout of a message.
pub(crate) fn layout(header: &MessageHeader) -> Option<&'static Message> {
    let message = MESSAGES.iter().find(|it| it.template_id == header.template_id)?;
    (message.schema_id == header.schema_id).then_some(message)
}

/// The root fields of a message.
#[derive(Debug)]
pub(crate) struct OrderMessage<'a> {
    pub(crate) layout: &'static Message,
    block: &'a [u8],
    version: u16,
}

impl<'a> OrderMessage<'a> {
    /// Decodes a message, and passes all of it to a visitor.
    ///
    /// # Errors
    /// An unknown or truncated message.
    pub(crate) fn decode(bytes: &'a [u8], visitor: &mut dyn Visitor) -> Result<Self> {
        let (header, body) = MessageHeader::decode(bytes).context("not a message")?;
        let Some(layout) = layout(&header) else {
            bail!("not a message: unknown template {}", header.template_id);
        };
        hairpin_sbe::visit(MESSAGES, &header, body, visitor).context("not a message")?;
        let block = &body[..usize::from(header.block_length)];
        Ok(Self { layout, block, version: header.version })
    }

    /// Returns the value of a tag, null if the message has no such field.
    pub(crate) fn value(&self, tag: u16) -> Value<'a> {
        let block = &self.layout.block;
        let field = block.fields.iter().find(|field| field.tag == tag);
        field.map_or(Value::Null, |field| Value::read(field, block.since, self.block, self.version))
    }

    /// Returns a value as FIX writes it.
    pub(crate) fn text(&self, tag: u16) -> Option<String> {
        match self.value(tag) {
            Value::Null | Value::Character(0) => None,
            Value::Character(byte) => Some(char::from(byte).to_string()),
            Value::Enumeration { value, character: true, .. } => {
                Some(char::from(value as u8).to_string())
            }
            Value::Enumeration { value, .. } | Value::Set { bits: value, .. } => {
                Some(value.to_string())
            }
            Value::Text(text) => {
                let text = String::from_utf8_lossy(text.as_bytes()).trim_end().to_owned();
                (!text.is_empty()).then_some(text)
            }
            value => Some(value.to_string()),
        }
    }

    /// Returns a number that is not negative.
    pub(crate) fn number(&self, tag: u16) -> Option<u64> {
        match self.value(tag) {
            Value::Unsigned(number) => Some(number),
            Value::Signed(number) => u64::try_from(number).ok(),
            Value::Enumeration { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Returns an integer.
    pub(crate) fn signed(&self, tag: u16) -> Option<i64> {
        match self.value(tag) {
            Value::Unsigned(number) => i64::try_from(number).ok(),
            Value::Signed(number) => Some(number),
            _ => None,
        }
    }

    /// Returns a wire price in units of 10^-9.
    pub(crate) fn wire_price(&self, tag: u16) -> Option<i64> {
        match self.value(tag) {
            Value::Number(price) => Some(price.mantissa),
            _ => None,
        }
    }
}

/// A visitor that only validates.
#[derive(Debug)]
pub(crate) struct Ignored;

impl Visitor for Ignored {
    fn field(&mut self, _: &str, _: Value<'_>) {}
}
