//! Visiting of a message by its layout, field by field.

use crate::root::split_data;
use crate::{BlockLayout, DecodeError, Entries, Message, MessageHeader, Value};

/// A visitor of a message's content, called in the schema's order. Every method except `field` does
/// nothing by default.
///
/// Names are the schema's. Groups may be nested; an inner group ends before its entry continues.
/// Generated codecs support neither nested groups nor composites of several values.
pub trait Visitor {
    /// Called at the start of a message, after its structure has been validated.
    fn message(&mut self, name: &str, header: &MessageHeader) {
        let _ = (name, header);
    }

    /// Called for each field of the root block, of the current entry or of the current composite,
    /// and for data.
    fn field(&mut self, name: &str, value: Value<'_>);

    /// Called at the start of a composite of several values, which follow as fields.
    fn composite(&mut self, name: &str) {
        let _ = name;
    }

    /// Called at the end of the current composite.
    fn end_composite(&mut self) {}

    /// Called at the start of a group of `count` entries.
    fn group(&mut self, name: &str, count: usize) {
        let _ = (name, count);
    }

    /// Called at the start of the entry at `index` of the current group.
    fn entry(&mut self, index: usize) {
        let _ = index;
    }

    /// Called at the end of the current group.
    fn end_group(&mut self) {}
}

/// Visits the message in `body` that `header` identifies among `messages`, which are of one schema
/// and sorted by template id. Returns its length on the wire in bytes, SBE header included. Visits
/// nothing if the message is incomplete.
///
/// # Errors
/// Any [`DecodeError`] except `Header`.
pub fn visit(
    messages: &[&'static Message],
    header: &MessageHeader,
    body: &[u8],
    visitor: &mut dyn Visitor,
) -> Result<usize, DecodeError> {
    // A template id is valid only within its schema.
    if messages.first().is_some_and(|message| message.schema_id != header.schema_id) {
        return Err(DecodeError::Schema(header.schema_id));
    }
    let message = messages
        .binary_search_by_key(&header.template_id, |message| message.template_id)
        .map(|index| messages[index])
        .map_err(|_| DecodeError::Template(header.template_id))?;
    let length = walk(message, header, body, None)?;
    visitor.message(message.name, header);
    walk(message, header, body, Some(visitor))?;
    Ok(length)
}

/// Passes over the message once. Without a visitor, it only validates.
fn walk(
    message: &'static Message,
    header: &MessageHeader,
    body: &[u8],
    mut visitor: Option<&mut dyn Visitor>,
) -> Result<usize, DecodeError> {
    let version = header.version;
    let (wire, mut rest) =
        body.split_at_checked(usize::from(header.block_length)).ok_or(DecodeError::Block)?;
    if let Some(visitor) = visitor.as_deref_mut() {
        visit_block(&message.block, wire, version, visitor);
    }
    for group in message.groups {
        let entries;
        (entries, rest) = Entries::decode(group, version, rest)?;
        if let Some(visitor) = visitor.as_deref_mut() {
            visitor.group(group.name, entries.len());
            visit_entries(&group.block, entries, version, visitor);
            visitor.end_group();
        }
    }
    for data in message.data.iter().filter(|data| data.since <= version) {
        let bytes;
        (bytes, rest) = split_data(rest).ok_or(DecodeError::Data(data.tag))?;
        if let Some(visitor) = visitor.as_deref_mut() {
            visitor.field(data.name, Value::Data(bytes));
        }
    }
    Ok(MessageHeader::LENGTH + body.len() - rest.len())
}

fn visit_entries(
    layout: &BlockLayout,
    mut entries: Entries<'_>,
    version: u16,
    visitor: &mut dyn Visitor,
) {
    let mut index = 0;
    while let Some(wire) = entries.take() {
        visitor.entry(index);
        visit_block(layout, wire, version, visitor);
        index += 1;
    }
}

fn visit_block(layout: &BlockLayout, wire: &[u8], version: u16, visitor: &mut dyn Visitor) {
    for field in layout.fields {
        visitor.field(field.name, Value::read(field, layout.since, wire, version));
    }
}
