//! Generates a test module that copies every message field by field, from getter to setter.

use super::snake_case;
use crate::schema::{Block, Encoding, Message, Presence, Schema};
use alloc::format;
use alloc::string::String;

/// Generates a test module for `schema`, whose codecs are in module `path`.
///
/// The module's `copy(header, body, buffer, values)` decodes a message with the generated view,
/// passes every value to `values.push` and encodes all of them into `buffer`. It returns the
/// encoded length. `empty(template, buffer)` encodes a message with one empty entry in each group.
pub fn copy(schema: &Schema, source: &str, path: &str) -> String {
    let mut text = format!(
        "//! Copies every message field by field. Generated from `{source}` by `cargo xtask \
         codegen`.\n\n\
         use crate::plain_value::ValueLog;\nuse hairpin_sbe::{{EncodeError, MessageHeader}};\n\
         use {path}::*;\n\n\
         pub(crate) fn copy(header: &MessageHeader, body: &[u8], buffer: &mut [u8], \
         values: &mut ValueLog) -> usize {{\n    \
         match header.template_id {{\n"
    );
    for message in &schema.messages {
        let name = &message.name;
        text += &format!(
            "        {name}::TEMPLATE_ID => {}(header, body, buffer, values),\n",
            snake_case(name)
        );
    }
    text += "        other => panic!(\"template {other}\"),\n    }\n}\n";
    text += &empty(schema);
    for message in &schema.messages {
        let (name, module) = (&message.name, snake_case(&message.name));
        text += &format!(
            "\nfn {module}(header: &MessageHeader, body: &[u8], buffer: &mut [u8], \
             values: &mut ValueLog) -> usize {{\n    \
             let mut scratch = {name}::SCRATCH;\n    \
             let from = {name}::decode(header, body, &mut scratch).unwrap();\n    \
             let _ = (from.encoded_length(), &values);\n"
        );
        let is_fixed = message.groups.is_empty();
        text += &match is_fixed {
            true => format!("    let mut _to = {name}::encode(buffer).unwrap();\n"),
            false => format!("    let (mut _to, mut groups) = {name}::encode(buffer).unwrap();\n"),
        };
        text += &fields(schema, &message.block, message.since, "    ", "from", name);
        for group in &message.groups {
            let (entry, groups_method) = (&group.name, snake_case(&group.name));
            let block_since = message.since.max(group.since);
            text += &format!(
                "    let mut entries = from.{groups_method}();\n    \
                 let mut scratch = {module}::{entry}::SCRATCH;\n    \
                 let mut pushed = groups.{groups_method}().unwrap();\n    \
                 while let Some(entry) = entries.next(&mut scratch) {{\n        \
                 let mut _to = pushed.push().unwrap();\n"
            );
            text += &fields(
                schema,
                &group.block,
                block_since,
                "        ",
                "entry",
                &format!("{module}::{entry}"),
            );
            text += "    }\n";
        }
        for data in &message.data {
            text += &format!("    values.push(from.{}());\n", snake_case(&data.name));
        }
        text += &match is_fixed {
            true => format!("    {name}::ENCODED_LENGTH\n}}\n"),
            false => "    groups.finish().unwrap()\n}\n".into(),
        };
    }
    text
}

/// Generates `empty(template, buffer)`.
fn empty(schema: &Schema) -> String {
    let mut text = String::from(
        "\npub(crate) fn empty(template_id: u16, buffer: &mut [u8]) -> \
         Result<usize, EncodeError> {\n    match template_id {\n",
    );
    for Message { name, groups, .. } in &schema.messages {
        if groups.is_empty() {
            text += &format!(
                "        {name}::TEMPLATE_ID => \
                 {name}::encode(buffer).map(|_| {name}::ENCODED_LENGTH),\n"
            );
            continue;
        }
        text += &format!(
            "        {name}::TEMPLATE_ID => {{\n            \
             let (_, mut groups) = {name}::encode(buffer)?;\n"
        );
        for group in groups {
            text += &format!("            groups.{}()?.push()?;\n", snake_case(&group.name));
        }
        text += "            groups.finish()\n        }\n";
    }
    text + "        other => panic!(\"template {other}\"),\n    }\n}\n"
}

fn fields(
    schema: &Schema,
    block: &Block,
    block_since: u16,
    indent: &str,
    from: &str,
    owner: &str,
) -> String {
    let mut text = String::new();
    for field in &block.fields {
        let (name, kind) = (snake_case(&field.name), &schema.types[&field.kind]);
        if kind.presence == Presence::Constant {
            let constant = super::constant_case(&field.name);
            text += &format!("{indent}values.push({owner}::{constant});\n");
            continue;
        }
        let bare = match kind.encoding {
            Encoding::Set(..) => ".0",
            Encoding::Enumeration(..) if super::field::is_nullable(kind, field, block_since) => {
                ".map(|v| v.0)"
            }
            Encoding::Enumeration(..) => ".0",
            _ => "",
        };
        text += &format!(
            "{indent}_to.set_{name}({from}.{name}()); values.push({from}.{name}(){bare});\n"
        );
    }
    text
}
