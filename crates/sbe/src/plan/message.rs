//! Messages with their groups and data.

use super::composite::BlockSteps;
use super::dimension::{DataLength, Dimension};
use super::field::{Null, Step, ValueKind};
use super::types::{DEPTH_MAX, Kind, Types};
use crate::number::NumberKind;
use crate::schema::SchemaError;
use crate::schema::element::Element;
use alloc::format;
use alloc::vec::Vec;

/// A message.
#[derive(Clone, Debug)]
pub(super) struct Message<'x> {
    pub(super) name: &'x str,
    pub(super) template_id: u16,
    pub(super) level: Level<'x>,
}

/// The content of a message or group entry: a block, then groups, then data.
#[derive(Clone, Debug)]
pub(super) struct Level<'x> {
    pub(super) steps: Vec<Step<'x>>,
    pub(super) groups: Vec<Group<'x>>,
    pub(super) data: Vec<Data<'x>>,
}

/// A repeating group.
#[derive(Clone, Debug)]
pub(super) struct Group<'x> {
    pub(super) name: &'x str,
    pub(super) tag: u16,
    pub(super) since: u16,
    pub(super) dimension: Dimension,
    pub(super) level: Level<'x>,
}

/// Variable-length data.
#[derive(Clone, Debug)]
pub(super) struct Data<'x> {
    pub(super) name: &'x str,
    pub(super) tag: u16,
    pub(super) since: u16,
    pub(super) length: DataLength,
    /// The schema declares the data as text.
    pub(super) is_text: bool,
}

impl<'x> Message<'x> {
    pub(super) fn parse<'a>(
        element: Element<'a, 'x>,
        types: &mut Types<'a, 'x>,
    ) -> Result<Self, SchemaError> {
        let since = element.number_or("sinceVersion", 0)?;
        Ok(Self {
            name: element.named()?,
            template_id: element.number("id")?,
            level: Level::parse(element, types, since, 0)?,
        })
    }
}

impl<'x> Level<'x> {
    /// Parses the content of a message or group introduced in version `since`.
    fn parse<'a>(
        element: Element<'a, 'x>,
        types: &mut Types<'a, 'x>,
        since: u16,
        depth: u8,
    ) -> Result<Self, SchemaError> {
        if depth >= DEPTH_MAX {
            return Err(element.unsupported("group nested this deep"));
        }
        let mut level = Self { steps: Vec::new(), groups: Vec::new(), data: Vec::new() };
        let mut end = 0;
        for child in element.elements() {
            match child.name() {
                "field" => end = level.field(child, types, since, end)?,
                "group" => level.groups.push(Group::parse(child, types, since, depth + 1)?),
                "data" => level.data.push(Data::parse(child, types)?),
                other => return Err(child.unsupported(format!("element {other}"))),
            }
        }
        if element.number_or("blockLength", end)? < end {
            return Err(element.invalid(format!("blockLength of {}", element.named()?)));
        }
        Ok(level)
    }

    /// Appends a field after `end` and returns its end.
    fn field<'a>(
        &mut self,
        element: Element<'a, 'x>,
        types: &mut Types<'a, 'x>,
        block_since: u16,
        end: u16,
    ) -> Result<u16, SchemaError> {
        let kind = kind(element, types)?;
        let since = element.number_or("sinceVersion", 0)?;
        let first = self.steps.len();
        let end = BlockSteps { name: element.named()?, since, end }.append(
            element,
            &kind,
            &mut self.steps,
        )?;
        for step in &mut self.steps[first..] {
            if let Step::Field(field) = step
                && field.since > block_since
                && field.kind.null.is_none()
                && !matches!(field.kind.meaning, ValueKind::Array(_))
            {
                let carrier = field.kind.carrier();
                field.kind.null = carrier.and_then(NumberKind::implied_null).map(Null::new);
            }
        }
        Ok(end)
    }
}

/// Returns the type of a field, with the presence declared on the field.
fn kind<'a, 'x>(
    element: Element<'a, 'x>,
    types: &mut Types<'a, 'x>,
) -> Result<Kind<'x>, SchemaError> {
    let presence = element.text("presence");
    if let (Some("constant"), Some(reference)) = (presence, element.text("valueRef")) {
        return types.value_of(element, reference, 0).map(Kind::Simple);
    }
    let mut kind = types.find(element, element.required("type")?, 0)?;
    let Kind::Simple(simple) = &mut kind else { return Ok(kind) };
    match presence {
        None => {}
        Some("required") => simple.null = None,
        Some("optional") => {
            let default = || simple.carrier().map(NumberKind::default_null).map(Null::new);
            simple.null = simple.null.or_else(default);
        }
        Some("constant") if simple.is_constant() => {}
        Some("constant") => match simple.carrier() {
            Some(number) => *simple = types.constant(element, number, 0)?,
            None => return Err(element.unsupported("constant of this type")),
        },
        Some(_) => return Err(element.invalid("presence")),
    }
    Ok(kind)
}

impl<'x> Group<'x> {
    fn parse<'a>(
        element: Element<'a, 'x>,
        types: &mut Types<'a, 'x>,
        outer: u16,
        depth: u8,
    ) -> Result<Self, SchemaError> {
        let since: u16 = element.number_or("sinceVersion", 0)?;
        Ok(Self {
            name: element.named()?,
            tag: element.number("id")?,
            since,
            dimension: Dimension::parse(element, types)?,
            level: Level::parse(element, types, since.max(outer), depth)?,
        })
    }

    /// Returns `true` if an entry consists of its block only.
    pub(super) fn is_flat(&self) -> bool {
        self.level.groups.is_empty() && self.level.data.is_empty()
    }
}

impl<'x> Data<'x> {
    fn parse<'a>(element: Element<'a, 'x>, types: &mut Types<'a, 'x>) -> Result<Self, SchemaError> {
        let composite = types.element(element.required("type")?);
        let is_text = composite.is_some_and(|composite| {
            composite.elements().any(|member| member.text("characterEncoding").is_some())
        });
        Ok(Self {
            name: element.named()?,
            tag: element.number("id")?,
            since: element.number_or("sinceVersion", 0)?,
            length: DataLength::parse(element, types)?,
            is_text,
        })
    }
}
