//! Generates a message's file: layout, view and encoder of the message and each group.

use super::field::{Accessor, constant};
use super::{Context, GenerateError, constant_case, field_row, plural, since, snake_case};
use crate::schema::{Block, Encoding, Group, Message, Presence, Primitive};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Returns the text of a message's file.
pub(super) fn message(context: &Context<'_>, message: &Message) -> Result<String, GenerateError> {
    let mut text = context.banner(&format!("{}, template {}", message.name, message.template_id));
    text += &imports(context, message);
    text += &layout(context, message);
    text += &root(context, message)?;
    for (index, group) in message.groups.iter().enumerate() {
        text += &entry(context, message, group, index)?;
    }
    Ok(text)
}

/// Returns the imports that the file uses. Schema types use a glob, because most messages need
/// many.
fn imports(context: &Context<'_>, message: &Message) -> String {
    let mut names = Vec::from(["BlockLayout", "Field", "Message"]);
    let blocks = || core::iter::once(&message.block).chain(message.groups.iter().map(|g| &g.block));
    let kinds = || blocks().flat_map(|block| &block.fields).map(|f| &context.schema.types[&f.kind]);
    let wired = || kinds().filter(|kind| kind.presence != Presence::Constant);
    let uses = |test: fn(&Encoding) -> bool| wired().any(|kind| test(&kind.encoding));
    let mut add = |name, is_used: bool| {
        if is_used {
            names.push(name);
        }
    };
    add("Block", wired().next().is_some());
    add("CharArray", uses(|encoding| matches!(encoding, Encoding::Text)));
    add("Decimal", uses(|encoding| matches!(encoding, Encoding::Decimal(Primitive::Int64, _))));
    add("Float", uses(|encoding| matches!(encoding, Encoding::Float(_))));
    add("MonthYear", uses(|encoding| matches!(encoding, Encoding::MonthYear)));
    add("DataLayout", !message.data.is_empty());
    for name in ["EncodeError", "Group", "GroupEncoder", "GroupLayout"] {
        add(name, !message.groups.is_empty());
    }
    names.sort_unstable();
    let has_kinds = kinds().next().is_some();
    let has_types = uses(|encoding| {
        matches!(encoding, Encoding::Enumeration(..) | Encoding::Set(..) | Encoding::Decimal(..))
    });
    format!(
        "\n{}{}use hairpin_sbe::{{{}}};\n",
        if has_kinds { "use super::kind;\n" } else { "" },
        if has_types { "use super::types::*;\n" } else { "" },
        names.join(", ")
    )
}

/// Returns the layout constant.
fn layout(context: &Context<'_>, message: &Message) -> String {
    let Message { name, template_id, semantic_type, since, block, .. } = message;
    let crate::schema::Schema { id, version, .. } = context.schema;
    let mut text = format!(
        "\n/// The layout of {name}.\npub const MESSAGE: Message = Message {{\n    \
         name: \"{name}\", template_id: {template_id}, schema_id: {id}, version: {version}, \
         semantic_type: \"{semantic_type}\",\n    \
         block: BlockLayout::new({}, {since}, FIELDS),\n    groups: &[",
        block.length
    );
    for Group { name, tag, since: group_since, dimension, block } in &message.groups {
        let (fields, dimension) = (constant_case(name), constant_case(&dimension.name));
        text += &format!(
            "\n        GroupLayout::new(\"{name}\", {tag}, {group_since}, kind::{dimension}, \
             BlockLayout::new({}, {}, {fields})),",
            block.length,
            since.max(group_since),
        );
    }
    text += if message.groups.is_empty() { "],\n" } else { "\n    ],\n" };
    let data: Vec<_> = message
        .data
        .iter()
        .map(|data| {
            format!(
                "DataLayout {{ name: \"{}\", tag: {}, since: {} }}",
                data.name, data.tag, data.since
            )
        })
        .collect();
    text += &format!("    data: &[{}],\n}};\n", data.join(", "));
    text += &table("FIELDS", block);
    for group in &message.groups {
        text += &table(&constant_case(&group.name), &group.block);
    }
    text
}

fn table(name: &str, block: &Block) -> String {
    let rows: String = block.fields.iter().map(field_row).collect();
    format!("const {name}: &[Field] = &[\n{rows}];\n")
}

/// Returns the view and encoder of a message.
fn root(context: &Context<'_>, message: &Message) -> Result<String, GenerateError> {
    let Message { name, template_id, block, groups, data, .. } = message;
    let mut text = format!(
        "\nhairpin_sbe::message! {{\n    /// {name}: message type {}, template {template_id}{}, \
         block of {}, {}.\n    \
         {name}, {name}Encoder, {}{}\n}}\n",
        message.semantic_type,
        since(message.since),
        plural(block.length.into(), "byte"),
        plural(groups.len(), "group"),
        block.length,
        match groups.len() {
            0 => String::new(),
            count => format!(", {name}Groups, {count}"),
        },
    );
    let mut getters = getters(context, block, message.since, "self.0.block")?;
    for (index, group) in groups.iter().enumerate() {
        let Group { name, tag, since: group_since, .. } = group;
        getters += &format!(
            "    /// {name} (tag {tag}){}.\n    \
             #[inline] pub fn {}(&self) -> Group<'a, {name}<'a>> \
             {{ Group::new(self.0.group({index})) }}\n",
            since(*group_since),
            snake_case(name),
        );
    }
    for (index, data) in data.iter().enumerate() {
        let method = snake_case(&data.name);
        getters += &format!(
            "    /// {} (tag {}){}.\n    \
             pub fn {method}(&self) -> &'a [u8] {{ self.0.data({index}) }}\n",
            data.name,
            data.tag,
            since(data.since),
        );
    }
    text += &implementation(&format!("<'a> {name}<'a>"), &getters);
    text += &setters(context, block, message.since, name)?;
    let openers: String = groups
        .iter()
        .enumerate()
        .map(|(index, group)| {
            let entry = &group.name;
            format!(
                "    /// Starts the group {entry}.\n    #[inline] pub fn {}(&mut self) -> \
                 Result<GroupEncoder<'_, {entry}<'_>>, EncodeError> {{ self.0.open({index}) }}\n",
                snake_case(entry)
            )
        })
        .collect();
    Ok(text + &implementation(&format!(" {name}Groups<'_>"), &openers))
}

/// Returns the view and encoder of a group entry.
fn entry(
    context: &Context<'_>,
    message: &Message,
    group: &Group,
    index: usize,
) -> Result<String, GenerateError> {
    let (name, length) = (&group.name, group.block.length);
    let block_since = message.since.max(group.since);
    let mut text = format!(
        "\nhairpin_sbe::entry! {{\n    /// An entry of {name} (tag {}): block of {}.\n    \
         {name}, {name}Encoder, {length}, {index}\n}}\n",
        group.tag,
        plural(length.into(), "byte"),
    );
    let getters = getters(context, &group.block, block_since, "self.0")?;
    text += &implementation(&format!("<'a> {name}<'a>"), &getters);
    Ok(text + &setters(context, &group.block, block_since, name)?)
}

/// Returns the constants and getters of a block.
fn getters(
    context: &Context<'_>,
    block: &Block,
    block_since: u16,
    place: &str,
) -> Result<String, GenerateError> {
    let mut text = String::new();
    for field in &block.fields {
        let kind = &context.schema.types[&field.kind];
        text += &match kind.presence {
            Presence::Constant => constant(kind, field),
            _ => Accessor::new(context, field, block_since)?.getter(field, kind.size, place),
        };
    }
    Ok(text)
}

/// Returns the setters of a block.
fn setters(
    context: &Context<'_>,
    block: &Block,
    block_since: u16,
    name: &str,
) -> Result<String, GenerateError> {
    let mut text = String::new();
    for field in &block.fields {
        if context.schema.types[&field.kind].presence != Presence::Constant {
            text += &Accessor::new(context, field, block_since)?.setter(field);
        }
    }
    Ok(implementation(&format!(" {name}Encoder<'_>"), &text))
}

/// Returns an `impl` block, or nothing if it would be empty.
fn implementation(head: &str, body: &str) -> String {
    // The compiler warns about a lifetime that no getter uses.
    let head = match head.strip_prefix("<'a>") {
        Some(rest) if !body.contains("'a") => rest.replace("<'a>", "<'_>"),
        _ => head.into(),
    };
    if body.is_empty() { String::new() } else { format!("\nimpl{head} {{\n{body}}}\n") }
}
