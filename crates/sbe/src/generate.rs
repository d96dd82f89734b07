//! Writes Rust source from a schema: one file per message, one line per getter and setter.
//!
//! The text is finished: the modules are `#[rustfmt::skip]`. What is generated is exercised by a
//! second generated file, [`copy`], which a test compiles: it reads every field of a message with
//! its getter and writes it into another message with its setter.

mod copy;
mod field;
mod message;
mod names;
mod types;

use crate::schema::{Encoding, Schema};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub use copy::copy;
use names::{constant_case, decimal_alias, snake_case};

/// A generated file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Name within the schema's module folder.
    pub name: String,
    /// Source text.
    pub text: String,
}

/// A type that the generator cannot express.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("type {name} of field {field} has a null that is not supported")]
pub struct GenerateError {
    /// Name of the type.
    pub name: String,
    /// Name of a field that has it.
    pub field: String,
}

/// What every part of the generator needs to know.
struct Context<'a> {
    schema: &'a Schema,
    source: &'a str,
    decimals: BTreeMap<i8, String>,
}

impl Context<'_> {
    /// First line of every file.
    fn banner(&self, what: &str) -> String {
        format!("//! {what}. Generated from `{}` by `cargo xtask codegen`.\n", self.source)
    }
}

/// Writes the module of `schema`, whose file is called `source` in the banners: `mod.rs`, the
/// types, and a file for each message.
///
/// # Errors
/// [`GenerateError`] if an optional type has another null than the greatest value of its integer.
pub fn generate(schema: &Schema, source: &str) -> Result<Vec<File>, GenerateError> {
    let context = Context { schema, source, decimals: decimals(schema) };
    let mut files = Vec::new();
    files.push(File { name: "mod.rs".into(), text: module(&context) });
    files.push(File { name: "kind.rs".into(), text: types::kinds(&context) });
    files.push(File { name: "types.rs".into(), text: types::types(&context) });
    for message in &schema.messages {
        let text = message::message(&context, message)?;
        files.push(File { name: format!("{}.rs", snake_case(&message.name)), text });
    }
    Ok(files)
}

/// The names of the schema's decimal types, by exponent.
fn decimals(schema: &Schema) -> BTreeMap<i8, String> {
    let mut aliases = BTreeMap::<i8, String>::new();
    for kind in schema.types.values() {
        if let Encoding::Decimal(_, exponent) = kind.encoding {
            let alias = decimal_alias(&kind.name);
            let known = aliases.entry(exponent).or_insert_with(|| alias.clone());
            // Of several names for one type the one that says what it is for wins.
            if alias.starts_with("Price") {
                *known = alias;
            }
        }
    }
    aliases
}

/// `mod.rs`: the messages, re-exported, the table of layouts, and the visitor.
fn module(context: &Context<'_>) -> String {
    let Schema { package, id, version, messages, .. } = context.schema;
    let mut text = context.banner(&format!("Messages of {package}, schema {id} version {version}"));
    text += "\nuse hairpin_sbe::{DecodeError, Message, MessageHeader, Visitor};\n\n\
        mod kind;\nmod types;\n";
    for message in messages {
        text += &format!("pub mod {};\n", snake_case(&message.name));
    }
    text += "\npub use types::*;\n";
    for message in messages {
        let (module, name) = (snake_case(&message.name), &message.name);
        let groups =
            if message.groups.is_empty() { String::new() } else { format!(", {name}Groups") };
        text += &format!("pub use {module}::{{{name}, {name}Encoder{groups}}};\n");
    }
    text += &format!(
        "\n/// Schema id in every header.\npub const SCHEMA_ID: u16 = {id};\n\
         /// Version of the schema these codecs were made from.\n\
         pub const SCHEMA_VERSION: u16 = {version};\n\
         /// Every message's layout, sorted by template id.\n\
         pub const MESSAGES: &[&Message] = &[\n"
    );
    for message in messages {
        text += &format!("    &{}::MESSAGE,\n", snake_case(&message.name));
    }
    text += "];\n\n\
        /// Visits every field of the message in `body`; gives its bytes from the SBE header on.\n\
        ///\n/// # Errors\n\
        /// Any [`DecodeError`] but `Header`: unknown template or schema, or cut short.\n\
        pub fn visit(header: &MessageHeader, body: &[u8], visitor: &mut impl Visitor) \
        -> Result<usize, DecodeError> {\n    \
            hairpin_sbe::visit(MESSAGES, header, body, visitor)\n}\n";
    text
}

/// The bytes as a Rust byte string.
fn byte_string(bytes: &[u8]) -> String {
    format!("b\"{}\"", bytes.escape_ascii())
}

/// How a doc says which version brought something; nothing for the first.
fn since(version: u16) -> String {
    if version == 0 { String::new() } else { format!(", since version {version}") }
}

/// Name of the constant that describes a type.
fn kind_constant(name: &str) -> String {
    format!("kind::{}", constant_case(name))
}

/// A table row of a field.
fn field_row(field: &crate::schema::Field) -> String {
    let crate::schema::Field { name, tag, offset, since, kind, .. } = field;
    let kind = kind_constant(kind);
    format!("    Field::new(\"{name}\", {tag}, {offset}, {since}, &{kind}),\n")
}

/// The plural of `count` things.
fn plural(count: usize, one: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => count.to_string() + " " + one + "s",
    }
}
