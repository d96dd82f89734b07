//! The codecs for messages: schemas from files, or the codecs compiled in.

use std::path::{Path, PathBuf};

use hairpin_cme_codecs::{ilink3, mdp3};
use hairpin_sbe::plan::Plan;
use hairpin_sbe::{DecodeError, MessageHeader, Visitor, schema, xml_text};

/// The largest schema file: a hundred times CME's.
const LARGEST_SCHEMA: u64 = 64 << 20;

/// A schema file.
pub(crate) struct SchemaFile {
    path: PathBuf,
    text: String,
}

impl SchemaFile {
    /// Reads a file, and those beside it that it includes by XInclude.
    ///
    /// # Errors
    /// One line with the file and the cause.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let refused = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
        let text = read_text(path).map_err(|error| refused(&error))?;
        let beside = |name: &str| read_text(&path.with_file_name(name));
        let text = schema::include(&text, beside).map_err(|error| refused(&error))?.into_owned();
        Ok(Self { path: path.into(), text })
    }
}

/// Reads the text of a schema file.
fn read_text(path: &Path) -> Result<String, String> {
    let length = std::fs::metadata(path).map_err(|error| error.to_string())?.len();
    if length > LARGEST_SCHEMA {
        return Err("too large for a schema".to_owned());
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    xml_text(&bytes).map_err(|error| error.to_string())
}

/// All available codecs.
#[derive(Default)]
pub(crate) struct Codecs<'x> {
    plans: Vec<Plan<'x>>,
}

/// A decoded message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// The length in bytes, from the SBE header on.
    pub(super) length: usize,
    /// The version of the schema used.
    pub(super) version: u16,
}

impl<'x> Codecs<'x> {
    /// Compiles schema files.
    ///
    /// # Errors
    /// One line with the file and the cause.
    pub(crate) fn new(files: &'x [SchemaFile]) -> Result<Self, String> {
        let plan = |file: &'x SchemaFile| {
            Plan::parse(&file.text).map_err(|error| format!("{}: {error}", file.path.display()))
        };
        Ok(Self { plans: files.iter().map(plan).collect::<Result<_, _>>()? })
    }

    /// Decodes a message for a visitor. Returns its header, and `Template` or `Schema` as errors if
    /// no codec knows it.
    ///
    /// A given schema precedes the codecs compiled in if its id is the message's; of several with
    /// that id, the one with the message's version is used, else the next newer one, else the
    /// newest.
    ///
    /// # Errors
    /// The header as far as it could be read, and any [`DecodeError`].
    pub(super) fn visit(
        &self,
        message: &[u8],
        visitor: &mut impl Visitor,
    ) -> Result<(MessageHeader, Known), (Option<MessageHeader>, DecodeError)> {
        if let Some((plan, header, body)) = self.choose(message) {
            let length =
                plan.visit(&header, body, visitor).map_err(|error| (Some(header), error))?;
            return Ok((header, Known { length, version: plan.version() }));
        }
        let (header, body) = MessageHeader::decode(message).map_err(|error| (None, error))?;
        let (outcome, version) = match header.schema_id {
            ilink3::SCHEMA_ID => (ilink3::visit(&header, body, visitor), ilink3::SCHEMA_VERSION),
            _ => (mdp3::visit(&header, body, visitor), mdp3::SCHEMA_VERSION),
        };
        let length = outcome.map_err(|error| (Some(header), error))?;
        Ok((header, Known { length, version }))
    }

    /// Returns the header of a message, given from its first byte on.
    ///
    /// # Errors
    /// `Header` if the header is incomplete; `Schema` if no codec knows its schema.
    pub(super) fn header(&self, message: &[u8]) -> Result<MessageHeader, DecodeError> {
        if let Some((_, header, _)) = self.choose(message) {
            return Ok(header);
        }
        let (header, _) = MessageHeader::decode(message)?;
        match header.schema_id {
            ilink3::SCHEMA_ID | mdp3::SCHEMA_ID => Ok(header),
            other => Err(DecodeError::Schema(other)),
        }
    }

    /// Returns `true` if the bytes are one whole message of a known template, `false` if no codec
    /// knows its template.
    ///
    /// # Errors
    /// If they are not a whole message, or if others follow it.
    pub(crate) fn check(&self, message: &[u8]) -> Result<bool, DecodeError> {
        match self.visit(message, &mut Ignored) {
            Ok((header, known)) => {
                let is_whole = message.len() == known.length || header.version > known.version;
                if is_whole { Ok(true) } else { Err(DecodeError::Block) }
            }
            Err((Some(_), DecodeError::Template(_))) => Ok(false),
            Err((_, error)) => Err(error),
        }
    }

    fn choose<'a>(&self, message: &'a [u8]) -> Option<(&Plan<'x>, MessageHeader, &'a [u8])> {
        let candidates = self.plans.iter().filter_map(|plan| {
            let (header, body) = plan.header(message).ok()?;
            (header.schema_id == plan.id()).then_some((plan, header, body))
        });
        candidates.min_by_key(|(plan, header, _)| {
            let is_older = plan.version() < header.version;
            (is_older, plan.version().abs_diff(header.version))
        })
    }
}

/// Visits nothing.
struct Ignored;

impl Visitor for Ignored {
    fn field(&mut self, _: &str, _: hairpin_sbe::Value<'_>) {}
}
