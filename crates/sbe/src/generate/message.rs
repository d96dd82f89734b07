//! A message's file: layout, view, encoder, and the same for each group.

use super::field::{Accessor, constant};
use super::{Context, GenerateError, constant_case, field_row, plural, since, snake_case};
use crate::schema::{Block, Group, Message, Presence};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The text of a message's file.
pub(super) fn message(context: &Context<'_>, message: &Message) -> Result<String, GenerateError> {
    let Message { name, template_id, block, groups, .. } = message;
    let mut text = context.banner(&format!("{name}, template {template_id}"));
    text += &imports(context, message);
    text += &layout(context, message);
    text += &root(context, message)?;
    text += &encoder(context, message.since, &format!("{name}Encoder"), name, block)?;
    if !groups.is_empty() {
        text += &groups_encoder(message);
    }
    for (index, group) in groups.iter().enumerate() {
        text += &entry(context, message, group, index)?;
    }
    Ok(text)
}

/// Only what the file uses; schema types by glob, as most messages use many.
fn imports(context: &Context<'_>, message: &Message) -> String {
    let mut names = Vec::from([
        "BlockLayout",
        "DecodeError",
        "EncodeError",
        "Field",
        "Message",
        "MessageHeader",
        "Root",
    ]);
    let blocks = || core::iter::once(&message.block).chain(message.groups.iter().map(|g| &g.block));
    let kinds = || blocks().flat_map(|block| &block.fields).map(|f| &context.schema.types[&f.kind]);
    let wired = || kinds().filter(|kind| kind.presence != Presence::Constant);
    use crate::schema::Encoding;
    let uses = |test: fn(&Encoding) -> bool| wired().any(|kind| test(&kind.encoding));
    let mut add = |name, is_used: bool| {
        if is_used {
            names.push(name)
        }
    };
    add("Block", wired().next().is_some());
    add("CharArray", uses(|encoding| matches!(encoding, Encoding::Text)));
    add(
        "Decimal",
        uses(|encoding| matches!(encoding, Encoding::Decimal(crate::Primitive::Int64, _))),
    );
    add("Float", uses(|encoding| matches!(encoding, Encoding::Float(_))));
    add("MonthYear", uses(|encoding| matches!(encoding, Encoding::MonthYear)));
    add("DataLayout", !message.data.is_empty());
    for name in ["Dimension", "Entry", "Group", "GroupEncoder", "GroupLayout", "GroupsEncoder"] {
        add(name, !message.groups.is_empty());
    }
    names.sort_unstable();
    let has_kinds = kinds().next().is_some();
    let has_types = wired().any(|kind| {
        matches!(
            kind.encoding,
            Encoding::Enumeration(..) | Encoding::Set(..) | Encoding::Decimal(..)
        )
    });
    format!(
        "\n{}{}use hairpin_sbe::{{{}}};\n",
        if has_kinds { "use super::kind;\n" } else { "" },
        if has_types { "use super::types::*;\n" } else { "" },
        names.join(", ")
    )
}

/// The layout as data.
fn layout(context: &Context<'_>, message: &Message) -> String {
    let Message { name, template_id, semantic_type, since, block, .. } = message;
    let crate::schema::Schema { id, version, .. } = context.schema;
    let mut text = format!(
        "\n/// Layout of {name}.\npub const MESSAGE: Message = Message {{\n    name: \"{name}\", \
         template_id: {template_id}, schema_id: {id}, version: {version}, semantic_type: \"{semantic_type}\",\n    \
         block: BlockLayout::new({}, {since}, FIELDS), groups: &[\n",
        block.length
    );
    for Group { name, tag, since: group_since, dimension, block } in &message.groups {
        text += &format!(
            "        GroupLayout {{ name: \"{name}\", tag: {tag}, since: {group_since}, block: BlockLayout::new({}, {}, {}),\n            \
             dimension: Dimension {{ name: \"{}\", length: {}, block_length_offset: {}, count_offset: {}, count_size: {} }} }},\n",
            block.length,
            since.max(group_since),
            constant_case(name),
            dimension.name,
            dimension.length,
            dimension.block_length_offset,
            dimension.count_offset,
            dimension.count_size
        );
    }
    text += "    ], data: &[";
    for data in &message.data {
        text += &format!(
            "DataLayout {{ name: \"{}\", tag: {}, since: {} }}",
            data.name, data.tag, data.since
        );
    }
    text += "],\n};\n";
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

/// The view of a message.
fn root(context: &Context<'_>, message: &Message) -> Result<String, GenerateError> {
    let Message { name, template_id, block, groups, data, .. } = message;
    let (length, group_count) = (block.length, groups.len());
    let mut text = format!(
        "\n/// {name}: message type {}, template {template_id}{}, block of {}, {}.\n\
         #[derive(Clone, Copy, Debug)]\npub struct {name}<'a>(Root<'a, {length}, {group_count}>);\n\n\
         impl<'a> {name}<'a> {{\n    \
         /// Template id.\n    pub const TEMPLATE_ID: u16 = {template_id};\n    \
         /// Bytes of the root block.\n    pub const BLOCK_LENGTH: usize = {length};\n    \
         /// Where [`decode`](Self::decode) puts an older or shorter block.\n    pub const SCRATCH: [u8; {length}] = [0; {length}];\n    \
         /// The root block without values.\n    pub const NULL_BLOCK: [u8; {length}] = MESSAGE.block.null_block();\n",
        message.semantic_type,
        since(message.since),
        plural(length.into(), "byte"),
        plural(group_count, "group"),
    );
    if groups.is_empty() {
        text += &format!(
            "    /// Bytes that [`encode`](Self::encode) writes.\n    pub const ENCODED_LENGTH: usize = {};\n    \
             /// Writes header and null block; sets nothing. Fails if `buffer` is too short.\n    \
             #[inline] pub fn encode(buffer: &mut [u8]) -> Result<{name}Encoder<'_>, EncodeError> {{ \
             hairpin_sbe::begin_fixed(&MESSAGE, &Self::NULL_BLOCK, buffer).map({name}Encoder) }}\n",
            8 + usize::from(length) + 2 * data.len()
        );
    } else {
        text += &format!(
            "    /// Writes header and null block; the groups follow. Fails if `buffer` is too short.\n    \
             #[inline] pub fn encode(buffer: &mut [u8]) -> Result<({name}Encoder<'_>, {name}Groups<'_>), EncodeError> {{ \
             hairpin_sbe::begin(&MESSAGE, &Self::NULL_BLOCK, buffer).map(|(block, groups)| ({name}Encoder(block), {name}Groups(groups))) }}\n"
        );
    }
    text += &format!(
        "    /// Checks the whole structure once; fails if anything is cut short or of another template.\n    \
         #[inline] pub fn decode(header: &MessageHeader, body: &'a [u8], scratch: &'a mut [u8; {length}]) -> Result<Self, DecodeError> {{ \
         Root::decode(&MESSAGE, header, body, scratch).map(Self) }}\n    \
         /// Bytes on the wire from the SBE header on.\n    \
         #[inline] pub fn encoded_length(&self) -> usize {{ self.0.encoded_length() }}\n"
    );
    text += &getters(context, block, message.since, "self.0.block")?;
    for (index, group) in groups.iter().enumerate() {
        text += &format!(
            "    /// {} (tag {}){}.\n    #[inline] pub fn {}(&self) -> Group<'a, {}<'a>> {{ Group::new(self.0.group({index})) }}\n",
            group.name,
            group.tag,
            since(group.since),
            snake_case(&group.name),
            group.name
        );
    }
    for (index, data) in data.iter().enumerate() {
        text += &format!(
            "    /// {} (tag {}){}.\n    pub fn {}(&self) -> &'a [u8] {{ self.0.data({index}) }}\n",
            data.name,
            data.tag,
            since(data.since),
            snake_case(&data.name)
        );
    }
    text += "}\n";
    Ok(text)
}

/// Constants and getters of a block.
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

/// The encoder of a block.
fn encoder(
    context: &Context<'_>,
    block_since: u16,
    name: &str,
    what: &str,
    block: &Block,
) -> Result<String, GenerateError> {
    let mut setters = String::new();
    for field in &block.fields {
        if context.schema.types[&field.kind].presence != Presence::Constant {
            setters += &Accessor::new(context, field, block_since)?.setter(field);
        }
    }
    let body = format!(
        "\n/// Writes the block of {what}.\n#[derive(Debug)]\npub struct {name}<'a>({}&'a mut [u8; {}]);\n",
        if setters.is_empty() { "#[allow(dead_code)] " } else { "" },
        block.length
    );
    if setters.is_empty() {
        return Ok(body);
    }
    Ok(body + &format!("\nimpl {name}<'_> {{\n{setters}}}\n"))
}

/// What writes the groups of a message.
fn groups_encoder(message: &Message) -> String {
    let name = &message.name;
    let mut text = format!(
        "\n/// Writes the groups of {name}, in this order; those left out are empty.\n#[derive(Debug)]\n\
         #[must_use = \"the message is whole only after finish\"]\n\
         pub struct {name}Groups<'a>(GroupsEncoder<'a>);\n\nimpl {name}Groups<'_> {{\n"
    );
    for (index, group) in message.groups.iter().enumerate() {
        let entry = &group.name;
        text += &format!(
            "    /// Begins {entry}. Fails if it or a later group was begun, or the buffer is too short.\n    \
             #[inline] pub fn {}(&mut self) -> Result<GroupEncoder<'_, {entry}<'_>>, EncodeError> {{ self.0.open({index}) }}\n",
            snake_case(entry)
        );
    }
    text + "    /// Ends the message; gives its bytes from the SBE header on. Fails if the buffer is too short.\n    \
        #[inline] pub fn finish(self) -> Result<usize, EncodeError> { self.0.finish() }\n}\n"
}

/// The view and the encoder of a group's entry.
fn entry(
    context: &Context<'_>,
    message: &Message,
    group: &Group,
    index: usize,
) -> Result<String, GenerateError> {
    let (name, length, block_since) =
        (&group.name, group.block.length, message.since.max(group.since));
    let mut text = format!(
        "\n/// An entry of {name}: block of {}.\n#[derive(Clone, Copy, Debug)]\n\
         pub struct {name}<'a>(&'a [u8; {length}]);\n\nimpl<'a> {name}<'a> {{\n    \
         /// Bytes of an entry.\n    pub const BLOCK_LENGTH: usize = {length};\n    \
         /// Where the cursor puts an older or shorter entry.\n    pub const SCRATCH: [u8; {length}] = [0; {length}];\n    \
         /// An entry without values.\n    pub const NULL_BLOCK: [u8; {length}] = MESSAGE.groups[{index}].block.null_block();\n",
        plural(length.into(), "byte"),
    );
    text += &getters(context, &group.block, block_since, "self.0")?;
    text += &format!(
        "}}\n\nimpl Entry for {name}<'_> {{\n    type View<'a> = {name}<'a>;\n    type Encoder<'a> = {name}Encoder<'a>;\n    \
         type Scratch = [u8; {length}];\n    const GROUP: &'static GroupLayout = &MESSAGE.groups[{index}];\n    \
         #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; {length}]) -> {name}<'a> {{ {name}(Self::GROUP.block.view(wire, version, scratch)) }}\n    \
         #[inline] fn encoder(bytes: &mut [u8]) -> Option<{name}Encoder<'_>> {{ let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some({name}Encoder(block)) }}\n}}\n"
    );
    text += &encoder(
        context,
        block_since,
        &format!("{name}Encoder"),
        &format!("an entry of {name}"),
        &group.block,
    )?;
    Ok(text)
}
