//! Generates `copy` and `empty` for every message of both schemas.

use hairpin_sbe::generate::{constant_case, snake_case};
use hairpin_sbe::schema::{Block, Encoding, Message, Presence, Schema};
use std::fmt::Write;
use std::path::Path;
use std::{env, error, fmt, fs};

const COPY_DOCS: &str = "\
/// Copies a message. Returns its encoded length.
///
/// # Panics
/// If the template is unknown, the message is not valid or `buffer` is too short.";

const EMPTY_DOCS: &str = "\
/// Encodes a message with one entry in each group, and no values. Returns its length.
///
/// # Errors
/// [`EncodeError::Buffer`] if `buffer` is too short.
///
/// # Panics
/// If the template is unknown.";

fn main() -> Result<(), Box<dyn error::Error>> {
    for (file, module) in [("mdp3-v13.xml", "mdp3"), ("ilink3-v9.xml", "ilink3")] {
        let source = Path::new("../../schemas").join(file);
        println!("cargo::rerun-if-changed={}", source.display());
        let schema = Schema::parse(&fs::read_to_string(source)?)?;
        let mut text = format!("use hairpin_cme_codecs::{module}::*;\n");
        generate(&mut text, &schema)?;
        fs::write(Path::new(&env::var("OUT_DIR")?).join(module).with_extension("rs"), text)?;
    }
    Ok(())
}

fn generate(text: &mut String, schema: &Schema) -> fmt::Result {
    writeln!(text, "use crate::ValueLog;\nuse hairpin_sbe::{{EncodeError, MessageHeader}};")?;
    let is_newtype =
        |kind: &Encoding| matches!(kind, Encoding::Enumeration(..) | Encoding::Set(..));
    for kind in schema.types.values().filter(|kind| is_newtype(&kind.encoding)) {
        writeln!(
            text,
            "impl From<{name}> for crate::PlainValue {{
                fn from(value: {name}) -> Self {{ value.0.into() }}
            }}",
            name = kind.name
        )?;
    }
    writeln!(
        text,
        "{COPY_DOCS}\npub fn copy(header: &MessageHeader, body: &[u8], buffer: &mut [u8], \
         values: &mut ValueLog) -> usize {{\nmatch header.template_id {{"
    )?;
    for message in &schema.messages {
        writeln!(text, "{}::TEMPLATE_ID => {{", message.name)?;
        copy(text, schema, message)?;
        writeln!(text, "}}")?;
    }
    writeln!(
        text,
        "other => panic!(\"template {{other}}\"), }} }}\n{EMPTY_DOCS}\npub fn empty(\
         template_id: u16, buffer: &mut [u8]) -> Result<usize, EncodeError> {{\n\
         match template_id {{"
    )?;
    for message in &schema.messages {
        writeln!(text, "{}::TEMPLATE_ID => {{", message.name)?;
        empty(text, message)?;
        writeln!(text, "}}")?;
    }
    writeln!(text, "other => panic!(\"template {{other}}\"), }} }}")
}

/// Writes the arm of `copy` for a message.
fn copy(text: &mut String, schema: &Schema, message: &Message) -> fmt::Result {
    let (name, module) = (&message.name, snake_case(&message.name));
    let has_groups = !message.groups.is_empty();
    writeln!(
        text,
        "let mut scratch = {name}::SCRATCH;
         let from = {name}::decode(header, body, &mut scratch).expect(\"a valid message\");
         let _ = from.encoded_length();
         let {encoders} = {name}::encode(buffer).expect(\"the buffer has room\");",
        encoders = if has_groups { "(mut _to, mut groups)" } else { "mut _to" }
    )?;
    fields(text, schema, &message.block, "from", name)?;
    for group in &message.groups {
        let (entry, method) = (&group.name, snake_case(&group.name));
        writeln!(
            text,
            "let mut entries = from.{method}();
             let mut scratch = {module}::{entry}::SCRATCH;
             let mut pushed = groups.{method}().expect(\"the buffer has room\");
             while let Some(entry) = entries.next(&mut scratch) {{
                 let mut _to = pushed.push().expect(\"the buffer has room\");"
        )?;
        fields(text, schema, &group.block, "entry", &format!("{module}::{entry}"))?;
        writeln!(text, "}}")?;
    }
    for data in &message.data {
        writeln!(text, "values.push(from.{}());", snake_case(&data.name))?;
    }
    match has_groups {
        true => writeln!(text, "groups.finish().expect(\"the buffer has room\")"),
        false => writeln!(text, "{name}::ENCODED_LENGTH"),
    }
}

/// Writes the copies of a block's fields.
fn fields(
    text: &mut String,
    schema: &Schema,
    block: &Block,
    from: &str,
    owner: &str,
) -> fmt::Result {
    for field in &block.fields {
        let name = snake_case(&field.name);
        match schema.types[&field.kind].presence {
            Presence::Constant => {
                writeln!(text, "values.push({owner}::{});", constant_case(&field.name))?;
            }
            _ => writeln!(text, "_to.set_{name}({from}.{name}()); values.push({from}.{name}());")?,
        }
    }
    Ok(())
}

/// Writes the arm of `empty` for a message.
fn empty(text: &mut String, message: &Message) -> fmt::Result {
    let name = &message.name;
    if message.groups.is_empty() {
        return writeln!(text, "{name}::encode(buffer).map(|_| {name}::ENCODED_LENGTH)");
    }
    writeln!(text, "let (_, mut groups) = {name}::encode(buffer)?;")?;
    for group in &message.groups {
        writeln!(text, "groups.{}()?.push()?;", snake_case(&group.name))?;
    }
    writeln!(text, "groups.finish()")
}
