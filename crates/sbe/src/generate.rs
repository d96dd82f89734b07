//! Code generator: writes Rust source from a schema, with one file per message and one line per
//! getter and setter.
//!
//! The output is final: the modules are `#[rustfmt::skip]`.

mod field;
mod message;
mod names;
mod types;

use crate::schema::{Encoding, Schema};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use names::decimal_alias;
pub use names::{constant_case, snake_case};

/// A generated file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The file name within the schema's module folder.
    pub name: String,
    /// The source text.
    pub text: String,
}

/// A type that the generator cannot express.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("type {name} of field {field} has an unsupported null")]
pub struct GenerateError {
    /// The type's name.
    pub name: String,
    /// The name of a field of this type.
    pub field: String,
}

/// The state shared by all parts of the generator.
struct Context<'a> {
    schema: &'a Schema,
    source: &'a str,
    decimals: BTreeMap<i8, String>,
}

impl Context<'_> {
    /// Returns the first line of every file.
    fn banner(&self, what: &str) -> String {
        format!("//! {what}. Generated from `{}` by `cargo xtask codegen`.\n", self.source)
    }
}

/// Generates the module of `schema`: `mod.rs`, the types, and one file per message. The banners
/// name `source` as the schema file.
///
/// # Errors
/// [`GenerateError`] if the null of an optional type is not its integer's maximum.
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

/// Returns the names of the schema's decimal types by exponent.
fn decimals(schema: &Schema) -> BTreeMap<i8, String> {
    let mut aliases = BTreeMap::<i8, String>::new();
    for kind in schema.types.values() {
        if let Encoding::Decimal(_, exponent) = kind.encoding {
            let alias = decimal_alias(&kind.name);
            let known = aliases.entry(exponent).or_insert_with(|| alias.clone());
            // Among several names of a type, a price name describes it best.
            if alias.starts_with("Price") {
                *known = alias;
            }
        }
    }
    aliases
}

/// Generates `mod.rs`: the re-exported messages, the layout table and the visitor.
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
        "\n/// The schema id in every header.\npub const SCHEMA_ID: u16 = {id};\n\
         /// The schema version of these codecs.\n\
         pub const SCHEMA_VERSION: u16 = {version};\n\
         /// The layout of every message, sorted by template id.\n\
         pub const MESSAGES: &[&Message] = &[\n"
    );
    for message in messages {
        text += &format!("    &{}::MESSAGE,\n", snake_case(&message.name));
    }
    text += "];\n\n\
        /// Visits every field of the message in `body`. Returns its length in bytes, SBE header\n\
        /// included.\n\
        ///\n/// # Errors\n\
        /// Any [`DecodeError`] except `Header`: unknown template or schema, or truncated.\n\
        pub fn visit(header: &MessageHeader, body: &[u8], visitor: &mut impl Visitor) \
        -> Result<usize, DecodeError> {\n    \
            hairpin_sbe::visit(MESSAGES, header, body, visitor)\n}\n";
    text
}

/// Formats bytes as a Rust byte string.
fn byte_string(bytes: &[u8]) -> String {
    format!("b\"{}\"", bytes.escape_ascii())
}

/// Returns the doc text for the version that introduced an item; empty for the first version.
fn since(version: u16) -> String {
    if version == 0 { String::new() } else { format!(", since version {version}") }
}

/// Returns the name of the constant that describes a type.
fn kind_constant(name: &str) -> String {
    format!("kind::{}", constant_case(name))
}

/// Returns a field's row in the layout table.
fn field_row(field: &crate::schema::Field) -> String {
    let crate::schema::Field { name, tag, offset, since, kind, .. } = field;
    let kind = kind_constant(kind);
    format!("    Field::new(\"{name}\", {tag}, {offset}, {since}, &{kind}),\n")
}

/// Returns a count with a noun in the singular or plural.
fn plural(count: usize, one: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => count.to_string() + " " + one + "s",
    }
}
