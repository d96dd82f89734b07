//! CME's schema file, read directly from its XML.

use crate::test_data::shared;
use hairpin_cme_copy::PlainValue;
use roxmltree::{Document, Node};

pub(crate) const MDP3: &str = "schemas/Cme.Futures.Mdp3.Sbe.v1.13.xml";
pub(crate) const ILINK3: &str = "schemas/Cme.Futures.iLink3.Sbe.v8.9.xml";

/// A CME schema. Its text is leaked, because tests are short-lived.
pub(crate) struct CmeSchema {
    pub(crate) root: Node<'static, 'static>,
    pub(crate) messages: Vec<Block>,
}

/// A message, or a group of a message.
#[derive(Clone)]
pub(crate) struct Block {
    pub(crate) node: Node<'static, 'static>,
    pub(crate) name: String,
    pub(crate) id: u16,
    pub(crate) length: usize,
    pub(crate) since: u16,
    pub(crate) fields: Vec<Field>,
    pub(crate) groups: Vec<Block>,
    pub(crate) data: usize,
}

/// A field with everything about its type.
#[derive(Clone)]
pub(crate) struct Field {
    pub(crate) node: Node<'static, 'static>,
    pub(crate) name: String,
    pub(crate) offset: Option<usize>,
    pub(crate) since: u16,
    /// The field is newer than its message and may be absent, regardless of its type.
    pub(crate) added: bool,
    pub(crate) parts: Vec<Part>,
    pub(crate) kind: Node<'static, 'static>,
}

/// A member of a field's type; the only one unless the type is a composite.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) primitive: String,
    pub(crate) length: usize,
    pub(crate) null: Option<String>,
    pub(crate) constant: Option<String>,
}

impl CmeSchema {
    pub(crate) fn read(file: &str) -> Option<Self> {
        let text = std::fs::read_to_string(shared(file)?).unwrap().leak();
        let document: &'static Document<'static> =
            Box::leak(Box::new(Document::parse(text).unwrap()));
        let root = document.root_element();
        let mut schema = Self { root, messages: Vec::new() };
        schema.messages = named(root, "message").map(|node| schema.block(node, 0)).collect();
        schema.messages.sort_by_key(|message| message.id);
        Some(schema)
    }

    pub(crate) fn find(&self, id: u16) -> Option<&Block> {
        self.messages.iter().find(|message| message.id == id)
    }

    /// Returns the element under `<types>` with this name.
    pub(crate) fn kind(&self, name: &str) -> Node<'static, 'static> {
        let types = named(self.root, "types").flat_map(|types| types.children());
        types.filter(Node::is_element).find(|node| node.attribute("name") == Some(name)).unwrap()
    }

    fn block(&self, node: Node<'static, 'static>, outer: u16) -> Block {
        let since = number(node, "sinceVersion").max(outer as usize) as u16;
        let groups = named(node, "group").map(|group| self.block(group, since)).collect();
        Block {
            node,
            name: node.attribute("name").unwrap().into(),
            id: number(node, "id") as u16,
            length: number(node, "blockLength"),
            since,
            fields: named(node, "field").map(|field| self.field(field, since)).collect(),
            groups,
            data: named(node, "data").count(),
        }
    }

    fn field(&self, node: Node<'static, 'static>, block_since: u16) -> Field {
        let kind = self.kind(node.attribute("type").unwrap());
        let since = number(node, "sinceVersion") as u16;
        Field {
            node,
            name: node.attribute("name").unwrap().into(),
            offset: node.attribute("offset").map(|offset| offset.parse().unwrap()),
            since,
            added: since > block_since,
            parts: self.parts(kind),
            kind,
        }
    }

    fn parts(&self, kind: Node<'static, 'static>) -> Vec<Part> {
        match kind.tag_name().name() {
            "composite" => named(kind, "type").map(part).collect(),
            "enum" | "set" => vec![part(self.kind(kind.attribute("encodingType").unwrap()))],
            _ => vec![part(kind)],
        }
    }
}

/// Returns the children with this name and any prefix.
pub(crate) fn named(
    node: Node<'static, 'static>,
    name: &'static str,
) -> impl Iterator<Item = Node<'static, 'static>> {
    node.children().filter(move |child| child.is_element() && child.tag_name().name() == name)
}

/// Returns an attribute as a number, or 0 if it is missing.
pub(crate) fn number(node: Node<'_, '_>, attribute: &str) -> usize {
    node.attribute(attribute).map_or(0, |text| text.parse().unwrap())
}

fn part(node: Node<'static, 'static>) -> Part {
    let is_constant = node.attribute("presence") == Some("constant");
    Part {
        primitive: node.attribute("primitiveType").unwrap().into(),
        length: number(node, "length").max(1),
        null: node.attribute("nullValue").map(Into::into),
        constant: is_constant.then(|| node.text().unwrap().trim().into()),
    }
}

impl Part {
    pub(crate) fn size(&self) -> usize {
        let one = match self.primitive.trim_start_matches('u') {
            "char" | "int8" => 1,
            "int16" => 2,
            "int32" => 4,
            "int64" => 8,
            other => panic!("{other}"),
        };
        if self.constant.is_some() { 0 } else { one * self.length }
    }

    fn is_text(&self) -> bool {
        self.primitive == "char" && self.length > 1
    }

    fn integer(&self, bytes: &[u8]) -> i128 {
        let unsigned = bytes.iter().rev().fold(0_i128, |sum, byte| sum << 8 | i128::from(*byte));
        let bits = 8 * bytes.len();
        let is_negative = self.primitive.starts_with("int") && unsigned >> (bits - 1) & 1 == 1;
        if is_negative { unsigned - (1 << bits) } else { unsigned }
    }

    /// Returns the constant or null in the file.
    pub(crate) fn literal(&self, text: &str) -> i128 {
        match self.primitive.as_str() {
            "char" => text.as_bytes()[0].into(),
            _ => text.parse().unwrap(),
        }
    }

    /// Returns the integer in `bytes`, or `None` if it is null. The null of a character is 0x00 or
    /// the file's value; the null of an added field is its type's maximum.
    fn nullable(&self, bytes: &[u8], added: bool) -> Option<i128> {
        let value = self.integer(bytes);
        let greatest = match self.primitive.strip_prefix('u') {
            Some(_) => (1 << (8 * bytes.len())) - 1,
            None => (1 << (8 * bytes.len() - 1)) - 1,
        };
        let is_null = match (&self.null, self.primitive.as_str()) {
            (Some(null), "char") => value == 0 || value == self.literal(null),
            (Some(null), _) => value == self.literal(null),
            (None, "char") => added && value == 0,
            (None, _) => added && value == greatest,
        };
        (!is_null).then_some(value)
    }
}

impl Field {
    pub(crate) fn size(&self) -> usize {
        self.parts.iter().map(Part::size).sum()
    }

    pub(crate) fn is_constant(&self) -> bool {
        self.parts.iter().all(|part| part.constant.is_some())
    }

    /// Returns the field's null in wire format, if it has one.
    pub(crate) fn null(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        for part in self.parts.iter().filter(|part| part.constant.is_none()) {
            let null = part.null.as_ref()?;
            let value = if part.primitive == "char" { 0 } else { part.literal(null) };
            bytes.extend_from_slice(&value.to_le_bytes()[..part.size()]);
        }
        Some(bytes)
    }

    /// Returns the maximum of the field's only integer in wire format.
    pub(crate) fn greatest(&self) -> Vec<u8> {
        let mut bytes = vec![0xff; self.size()];
        if self.parts[0].primitive.starts_with("int") {
            bytes[self.size() - 1] = 0x7f;
        }
        bytes
    }

    /// Reads the value from a block.
    pub(crate) fn read(&self, block: &[u8], version: u16) -> PlainValue {
        if self.since > version {
            return PlainValue::Null;
        }
        if let [Part { constant: Some(text), length, .. }] = &self.parts[..] {
            let is_text = *length > 1;
            return if is_text {
                text.as_str().into()
            } else {
                PlainValue::Integer(self.parts[0].literal(text))
            };
        }
        let offset = self.offset.unwrap();
        let Some(mut bytes) = block.get(offset..offset + self.size()) else {
            return PlainValue::Null;
        };
        if self.parts[0].is_text() {
            return bytes.split(|byte| *byte == 0).next().unwrap().into();
        }
        let mut values = Vec::new();
        for part in &self.parts {
            let (head, rest) = bytes.split_at(part.size());
            bytes = rest;
            values.push(match &part.constant {
                Some(text) => Some(part.literal(text)),
                None => part.nullable(head, self.added),
            });
        }
        match values[..] {
            [value] => value.map_or(PlainValue::Null, PlainValue::Integer),
            [Some(mantissa), Some(exponent)] => PlainValue::Decimal(mantissa, exponent as i8),
            [_, _] | [None, None, None, None] => PlainValue::Null,
            [year, month, day, week] => PlainValue::MonthYear(
                [year, month, day, week].map(|part| part.map(|part| part as u16)),
            ),
            _ => panic!("{} has {} parts", self.name, values.len()),
        }
    }
}
