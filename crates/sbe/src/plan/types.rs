//! Types, resolved by name on demand: numbers, text, enumerations and sets.

use super::composite::Composite;
use super::field::{Null, Simple, ValueKind};
use crate::Named;
use crate::number::NumberKind;
use crate::schema::SchemaError;
use crate::schema::element::Element;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::Rc;
use alloc::vec::Vec;

/// The maximum depth of references between types. Deeper than any real schema; stops recursive
/// references.
pub(super) const DEPTH_MAX: u8 = 32;

/// A field type.
#[derive(Clone, Debug)]
pub(super) enum Kind<'x> {
    Simple(Simple),
    Composite(Rc<Composite<'x>>),
}

impl Kind<'_> {
    /// Returns the size on the wire in bytes.
    pub(super) fn size(&self) -> u16 {
        match self {
            Self::Simple(simple) => simple.size,
            Self::Composite(composite) => composite.size,
        }
    }
}

/// The types under `<types>`.
pub(super) struct Types<'a, 'x> {
    elements: BTreeMap<&'a str, Element<'a, 'x>>,
    compiled: BTreeMap<&'a str, Kind<'x>>,
    /// The name tables of enumerations and sets.
    pub(super) names: Vec<Vec<Named<'x>>>,
}

impl<'a, 'x> Types<'a, 'x> {
    /// Collects the types by name without parsing them.
    pub(super) fn new(root: Element<'a, 'x>) -> Result<Self, SchemaError> {
        let mut elements = BTreeMap::new();
        for element in root.children("types").flat_map(Element::elements) {
            if elements.insert(element.required("name")?, element).is_some() {
                return Err(element.invalid(format!("second type {}", element.required("name")?)));
            }
        }
        Ok(Self { elements, compiled: BTreeMap::new(), names: Vec::new() })
    }

    /// Returns the element of the type `name`, if any.
    pub(super) fn element(&self, name: &str) -> Option<Element<'a, 'x>> {
        self.elements.get(name).copied()
    }

    /// Returns the type or primitive called `name`. `user` is the element that refers to the type.
    pub(super) fn find(
        &mut self,
        user: Element<'a, 'x>,
        name: &'a str,
        depth: u8,
    ) -> Result<Kind<'x>, SchemaError> {
        if let Some(kind) = self.compiled.get(name) {
            return Ok(kind.clone());
        }
        let Some(element) = self.element(name) else {
            let kind = NumberKind::named(name)
                .ok_or_else(|| user.invalid(format!("undefined type {name}")))?;
            let size = kind.size() as u16;
            return Ok(Kind::Simple(Simple::new(ValueKind::Number(kind), size, None)));
        };
        let kind = self.kind(element, depth)?;
        self.compiled.insert(name, kind.clone());
        Ok(kind)
    }

    /// Returns the type that an element defines, under `<types>` or in a composite.
    pub(super) fn kind(
        &mut self,
        element: Element<'a, 'x>,
        depth: u8,
    ) -> Result<Kind<'x>, SchemaError> {
        if depth >= DEPTH_MAX {
            return Err(element.unsupported("type nested this deep or recursively"));
        }
        match element.name() {
            "type" => self.simple(element, depth).map(Kind::Simple),
            "enum" => self.enumeration(element, depth).map(Kind::Simple),
            "set" => self.set(element, depth).map(Kind::Simple),
            "composite" => Composite::parse(element, self, depth),
            "ref" => self.find(element, element.required("type")?, depth + 1),
            other => Err(element.unsupported(format!("type element {other}"))),
        }
    }

    fn simple(&mut self, element: Element<'a, 'x>, depth: u8) -> Result<Simple, SchemaError> {
        let name = element.required("primitiveType")?;
        let kind = NumberKind::named(name)
            .ok_or_else(|| element.unsupported(format!("primitive type {name}")))?;
        let length = element.number_or("length", 1_u16)?;
        let is_optional = match element.text("presence") {
            None | Some("required") => false,
            Some("optional") => true,
            Some("constant") => return self.constant(element, kind, depth),
            Some(other) => return Err(element.invalid(format!("presence \"{other}\""))),
        };
        let size = u16::try_from(kind.size() * usize::from(length))
            .map_err(|_| element.invalid(format!("length \"{length}\"")))?;
        if kind == NumberKind::Character && length != 1 {
            return Ok(Simple::new(ValueKind::Text, size, None));
        }
        let null = if is_optional { Some(null(element, kind)?) } else { None };
        let meaning = if length == 1 { ValueKind::Number(kind) } else { ValueKind::Array(kind) };
        Ok(Simple::new(meaning, size, null))
    }

    /// Returns a constant: the element's text, or the enumeration value that it refers to.
    pub(super) fn constant(
        &mut self,
        element: Element<'a, 'x>,
        kind: NumberKind,
        depth: u8,
    ) -> Result<Simple, SchemaError> {
        let constant = |meaning| Ok(Simple::new(meaning, 0, None));
        if let Some(reference) = element.text("valueRef") {
            return self.value_of(element, reference, depth);
        }
        let text = element.content()?;
        let length = element.number_or("length", 1_u16)?;
        if kind == NumberKind::Character && (length != 1 || text.len() != 1) {
            return constant(ValueKind::ConstantText(text.as_bytes().into()));
        }
        constant(ValueKind::Constant(kind, kind.literal(element, text)?))
    }

    /// Returns the constant `Enumeration.Name`.
    pub(super) fn value_of(
        &mut self,
        element: Element<'a, 'x>,
        reference: &'a str,
        depth: u8,
    ) -> Result<Simple, SchemaError> {
        let unknown = || element.invalid(format!("valueRef \"{reference}\""));
        let (kind, name) = reference.rsplit_once('.').ok_or_else(unknown)?;
        let Kind::Simple(Simple { meaning: ValueKind::Enumeration(number, table), .. }) =
            self.find(element, kind, depth + 1)?
        else {
            return Err(unknown());
        };
        let named = self.names[table].iter().find(|named| named.name == name);
        let value = named.ok_or_else(unknown)?.value;
        Ok(Simple::new(ValueKind::ConstantName(number, table, value), 0, None))
    }

    /// Returns the encoding of an enumeration or set: an unsigned number and its null.
    fn encoding(
        &mut self,
        element: Element<'a, 'x>,
        depth: u8,
    ) -> Result<(NumberKind, Option<Null>), SchemaError> {
        let name = element.required("encodingType")?;
        let kind = self.find(element, name, depth + 1)?;
        match kind {
            Kind::Simple(Simple { meaning: ValueKind::Number(kind), null, .. })
                if kind.is_unsigned() || kind == NumberKind::Character =>
            {
                Ok((kind, null))
            }
            _ => Err(element.unsupported(format!("encoding type {name}"))),
        }
    }

    fn enumeration(&mut self, element: Element<'a, 'x>, depth: u8) -> Result<Simple, SchemaError> {
        let (kind, mut null) = self.encoding(element, depth)?;
        let mut values = Vec::new();
        for value in element.children("validValue") {
            values.push(named(value, kind.literal(value, value.content()?)?)?);
        }
        if let Some(null) = &mut null {
            null.also_digit_zero &= values.iter().all(|named| named.value != u64::from(b'0'));
        }
        self.names.push(values);
        let meaning = ValueKind::Enumeration(kind, self.names.len() - 1);
        Ok(Simple::new(meaning, kind.size() as u16, null))
    }

    fn set(&mut self, element: Element<'a, 'x>, depth: u8) -> Result<Simple, SchemaError> {
        let (kind, null) = self.encoding(element, depth)?;
        if !kind.is_unsigned() || null.is_some() {
            return Err(element.unsupported("set that is a character or has a null"));
        }
        let mut choices = Vec::new();
        for choice in element.children("choice") {
            let bit: u64 = choice.parse(choice.content()?, "bit")?;
            if bit >= 8 * kind.size() as u64 {
                return Err(choice.invalid(format!("bit \"{bit}\"")));
            }
            choices.push(named(choice, bit)?);
        }
        self.names.push(choices);
        let meaning = ValueKind::Set(kind, self.names.len() - 1);
        Ok(Simple::new(meaning, kind.size() as u16, None))
    }
}

/// Returns the null of an optional number.
fn null(element: Element<'_, '_>, kind: NumberKind) -> Result<Null, SchemaError> {
    Ok(match (kind, element.text("nullValue")) {
        (_, None) => Null::new(kind.default_null()),
        (NumberKind::Character, Some("0")) => Null { bits: 0, also_digit_zero: true },
        (_, Some(text)) => Null::new(kind.literal(element, text)?),
    })
}

fn named<'x>(element: Element<'_, 'x>, value: u64) -> Result<Named<'x>, SchemaError> {
    Ok(Named::new(element.named()?, value, element.number_or("sinceVersion", 0)?))
}
