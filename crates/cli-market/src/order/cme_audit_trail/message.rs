//! A journaled message as named values.

use hairpin_order_entry::messages::{MESSAGES, visit};
use hairpin_sbe::{DecodeError, MessageHeader, Value, Visitor};

/// Fields with their values, in wire order. Absent fields are not in it.
#[derive(Debug, Clone, Default)]
pub(super) struct Values(Vec<(String, String)>);

impl Values {
    /// Returns the value of a field.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// Returns the value of a field as a number.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }
}

/// A message.
#[derive(Debug, Default)]
pub(super) struct Message {
    /// The name in CME's schema, or the number of an unknown template.
    pub(super) name: String,
    pub(super) template_id: u16,
    /// The message type (tag 35); empty for an unknown template.
    pub(super) msg_type: &'static str,
    /// The fields of the root block.
    pub(super) root: Values,
    /// The groups with the values of their entries.
    groups: Vec<(String, Vec<Values>)>,
    /// The number of open groups and composites.
    depth: u32,
}

impl Message {
    /// Reads a message from its SBE header on. A message of an unknown template has no values.
    ///
    /// # Errors
    /// Why the bytes are not a message.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
        let (header, body) = MessageHeader::decode(bytes)?;
        let mut message = Self { template_id: header.template_id, ..Self::default() };
        match visit(&header, body, &mut message) {
            Err(DecodeError::Template(id)) => message.name = format!("template {id}"),
            result => result.map(drop)?,
        }
        let template = MESSAGES.iter().find(|known| known.template_id == header.template_id);
        message.msg_type = template.map_or("", |known| known.semantic_type);
        Ok(message)
    }

    /// Returns the entries of a group.
    pub(super) fn group(&self, name: &str) -> &[Values] {
        let found = self.groups.iter().find(|(group, _)| group == name);
        found.map_or(&[], |(_, entries)| entries)
    }
}

impl Visitor for Message {
    fn message(&mut self, name: &str, _: &MessageHeader) {
        self.name = name.to_owned();
    }

    fn field(&mut self, name: &str, value: Value<'_>) {
        let Some(text) = text(value) else { return };
        let values = match self.depth {
            0 => Some(&mut self.root),
            _ => self.groups.last_mut().and_then(|(_, entries)| entries.last_mut()),
        };
        if let Some(values) = values {
            values.0.push((name.to_owned(), text));
        }
    }

    fn composite(&mut self, _: &str) {
        self.depth += 1;
    }

    fn end_composite(&mut self) {
        self.depth -= 1;
    }

    fn group(&mut self, name: &str, _: usize) {
        self.depth += 1;
        self.groups.push((name.to_owned(), Vec::new()));
    }

    fn entry(&mut self, _: usize) {
        if let Some((_, entries)) = self.groups.last_mut() {
            entries.push(Values::default());
        }
    }

    fn end_group(&mut self) {
        self.depth -= 1;
    }
}

/// Returns a value as FIX writes it, enumerations by their code; `None` if it is absent.
fn text(value: Value<'_>) -> Option<String> {
    let text = match value {
        Value::Null => return None,
        Value::Enumeration { value, character: true, .. } => {
            char::from(u8::try_from(value).ok()?).to_string()
        }
        Value::Enumeration { value, .. } => value.to_string(),
        Value::Text(text) => text.to_string().trim_end().to_owned(),
        value => value.to_string(),
    };
    Some(text).filter(|text| !text.is_empty() && text != "-" && text != "\0")
}
