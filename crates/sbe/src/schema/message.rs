//! Messages with their groups and data.

use super::element::Element;
use super::types::Types;
use super::{Block, Data, Field, Group, Message, Presence, SchemaError};
use alloc::format;
use alloc::vec::Vec;

/// Parses a `<message>` element.
pub(super) fn parse(element: Element<'_, '_>, types: &Types) -> Result<Message, SchemaError> {
    if let Some(other) =
        element.elements().find(|child| !matches!(child.name(), "field" | "group" | "data"))
    {
        return Err(other.unsupported(format!("element {}", other.name())));
    }
    Ok(Message {
        name: element.required("name")?.into(),
        template_id: element.number("id")?,
        semantic_type: element.text("semanticType").unwrap_or_default().into(),
        since: element.number_or("sinceVersion", 0)?,
        block: block(element, types)?,
        groups: element
            .children("group")
            .map(|child| group(child, types))
            .collect::<Result<_, _>>()?,
        data: element.children("data").map(data).collect::<Result<_, _>>()?,
    })
}

fn group(element: Element<'_, '_>, types: &Types) -> Result<Group, SchemaError> {
    if element.elements().any(|child| child.name() != "field") {
        return Err(element.unsupported("group or data in a group"));
    }
    let name = element.text("dimensionType").unwrap_or("groupSizeEncoding");
    let dimension = types.dimensions.get(name);
    Ok(Group {
        name: element.required("name")?.into(),
        tag: element.number("id")?,
        since: element.number_or("sinceVersion", 0)?,
        dimension: dimension
            .cloned()
            .ok_or_else(|| element.unsupported(format!("dimension type {name}")))?,
        block: block(element, types)?,
    })
}

fn data(element: Element<'_, '_>) -> Result<Data, SchemaError> {
    Ok(Data {
        name: element.required("name")?.into(),
        tag: element.number("id")?,
        since: element.number_or("sinceVersion", 0)?,
    })
}

/// Parses the fields of a message or group. Fields must lie within the block and must not overlap.
fn block(element: Element<'_, '_>, types: &Types) -> Result<Block, SchemaError> {
    let mut fields = Vec::new();
    let mut end = 0;
    for child in element.children("field") {
        let name = child.required("name")?;
        let kind_name = child.required("type")?;
        if child.text("presence").is_some() {
            return Err(child.unsupported(format!("presence of field {name}")));
        }
        let kind = types
            .fields
            .get(kind_name)
            .ok_or_else(|| child.unsupported(format!("type {kind_name} of field {name}")))?;
        let mut offset = 0;
        if kind.presence != Presence::Constant {
            offset = child.number_or("offset", end)?;
            if offset < end {
                return Err(child.invalid(format!("offset of {name}")));
            }
            end = offset + kind.size;
        }
        fields.push(Field {
            name: name.into(),
            tag: child.number("id")?,
            offset,
            since: child.number_or("sinceVersion", 0)?,
            kind: kind_name.into(),
            semantic_type: child.text("semanticType").unwrap_or_default().into(),
        });
    }
    let length = element.number_or("blockLength", end)?;
    if length < end {
        return Err(element.invalid(format!("blockLength of {}", element.required("name")?)));
    }
    Ok(Block { length, fields })
}
