//! Walking a message by its layout, every field by name.

use crate::root::split_data;
use crate::{BlockLayout, DecodeError, Entries, Message, MessageHeader, Value};

/// Called for everything in a message, in the schema's order. Every method but `field` does
/// nothing by default.
///
/// Names are the schema's. Groups may lie in entries of groups; each is ended before its entry
/// goes on. Generated codecs know neither that nor composites that are not one value.
pub trait Visitor {
    /// A message begins; its structure is already known to be whole.
    fn message(&mut self, name: &str, header: &MessageHeader) {
        let _ = (name, header);
    }

    /// A field of the root block, of the entry begun last or of the composite begun last; data too.
    fn field(&mut self, name: &str, value: Value<'_>);

    /// A field begins that is a composite of several values, which follow as fields.
    fn composite(&mut self, name: &str) {
        let _ = name;
    }

    /// The composite begun last ends.
    fn end_composite(&mut self) {}

    /// A group of `count` entries begins.
    fn group(&mut self, name: &str, count: usize) {
        let _ = (name, count);
    }

    /// The entry at `index` of the group begun last begins.
    fn entry(&mut self, index: usize) {
        let _ = index;
    }

    /// The group begun last ends.
    fn end_group(&mut self) {}
}

/// Visits the message of `messages` (of one schema, sorted by template id) that `header` names, in
/// `body`; gives its bytes on the wire, counted from the SBE header. Nothing is visited if it is
/// not whole.
///
/// # Errors
/// Any [`DecodeError`] but `Header`.
pub fn visit(
    messages: &[&'static Message],
    header: &MessageHeader,
    body: &[u8],
    visitor: &mut dyn Visitor,
) -> Result<usize, DecodeError> {
    // A template id means nothing in another schema.
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

/// Walks once; without a visitor it only checks.
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
