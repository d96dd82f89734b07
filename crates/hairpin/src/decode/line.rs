//! A message as a line.

use std::fmt::Write;

use hairpin_cme_codecs::{ilink3, mdp3};
use hairpin_sbe::{CharArray, DecodeError, Message, MessageHeader, Value, Visitor};

use super::framing::Frame;
use super::{Format, Framing};

/// A printed message.
pub(super) struct Line {
    pub(super) text: String,
    /// Whether its template is known.
    pub(super) is_known: bool,
}

/// Prints the message in `frame`.
///
/// # Errors
/// If it is cut short, or if there are bytes behind it that it does not account for.
pub(super) fn line(frame: &Frame<'_>, format: Format) -> Result<Line, String> {
    let (header, body) = MessageHeader::decode(frame.message).map_err(|error| error.to_string())?;
    let mut fields = Fields::new(format);
    let (outcome, version) = match frame.framing {
        Framing::Ilink3 => (ilink3::visit(&header, body, &mut fields), ilink3::SCHEMA_VERSION),
        _ => (mdp3::visit(&header, body, &mut fields), mdp3::SCHEMA_VERSION),
    };
    let is_known = match outcome {
        Ok(length) => {
            let surplus = frame.message.len() - length;
            // A newer sender may have appended what this version does not know.
            if surplus > 0 && header.version <= version {
                return Err(format!("template {}: {surplus} bytes too many", header.template_id));
            }
            true
        }
        Err(DecodeError::Template(_) | DecodeError::Schema(_)) => {
            fields.unknown(&header, frame.message.len());
            false
        }
        Err(error) => return Err(format!("template {}: {error}", header.template_id)),
    };
    let (sequence, time) = match frame.packet {
        Some((sequence, time)) => (Some(sequence.into()), Some(time)),
        None => (fields.sequence, fields.time),
    };
    Ok(Line { text: fields.finish(&header, sequence, time), is_known })
}

/// Prints fields as they are visited.
struct Fields {
    format: Format,
    text: String,
    name: Option<&'static str>,
    /// The group and the entry that fields are of.
    group: Option<(&'static str, usize)>,
    /// SeqNum or NextSeqNo of an order-entry message.
    sequence: Option<u64>,
    /// SendingTimeEpoch of an order-entry message.
    time: Option<u64>,
}

impl Fields {
    fn new(format: Format) -> Self {
        Self { format, text: String::new(), name: None, group: None, sequence: None, time: None }
    }

    /// What there is to say of a message that no layout is known of.
    fn unknown(&mut self, header: &MessageHeader, length: usize) {
        let MessageHeader { schema_id, version, .. } = *header;
        for (name, value) in
            [("schema", schema_id.into()), ("version", version.into()), ("bytes", length as u64)]
        {
            self.push(name, Value::Unsigned(value));
        }
    }

    fn push(&mut self, name: &str, value: Value<'_>) {
        match (self.format, self.group) {
            (Format::Text, None) => append(&mut self.text, format_args!(" {name}={value}")),
            (Format::Text, Some((group, index))) => {
                append(&mut self.text, format_args!(" {group}[{index}].{name}={value}"));
            }
            (Format::Json, _) => {
                if !self.text.is_empty() && !self.text.ends_with('{') {
                    self.text.push(',');
                }
                append(&mut self.text, format_args!("\"{name}\":{}", json(&value)));
            }
        }
    }

    /// The whole line.
    fn finish(self, header: &MessageHeader, sequence: Option<u64>, time: Option<u64>) -> String {
        let (template, name) = (header.template_id, self.name);
        let or = |value: Option<u64>, none: &str| value.map_or(none.into(), |v| v.to_string());
        match self.format {
            Format::Text => format!(
                "{} {} {template} {}{}",
                or(sequence, "-"),
                or(time, "-"),
                name.unwrap_or("-"),
                self.text
            ),
            Format::Json => format!(
                "{{\"packet_seq\":{},\"sending_time\":{},\"template\":{template},\"name\":{},\
                 \"fields\":{{{}}}}}",
                or(sequence, "null"),
                or(time, "null"),
                name.map_or("null".into(), |name| format!("\"{name}\"")),
                self.text
            ),
        }
    }
}

impl Visitor for Fields {
    fn message(&mut self, message: &'static Message, _: &MessageHeader) {
        self.name = Some(message.name);
    }

    fn field(&mut self, name: &'static str, value: Value<'_>) {
        if let (None, Value::Unsigned(number)) = (self.group, value) {
            match name {
                "SeqNum" | "NextSeqNo" => self.sequence = self.sequence.or(Some(number)),
                "SendingTimeEpoch" => self.time = Some(number),
                _ => {}
            }
        }
        self.push(name, value);
    }

    fn group(&mut self, name: &'static str, _: usize) {
        if self.format == Format::Json {
            let comma = if self.text.is_empty() { "" } else { "," };
            append(&mut self.text, format_args!("{comma}\"{name}\":["));
        }
        self.group = Some((name, 0));
    }

    fn entry(&mut self, index: usize) {
        if self.format == Format::Json {
            self.text.push_str(if index == 0 { "{" } else { "},{" });
        }
        self.group = self.group.map(|(name, _)| (name, index));
    }

    fn end_group(&mut self) {
        if self.format == Format::Json {
            self.text.push_str(if self.text.ends_with('[') { "]" } else { "}]" });
        }
        self.group = None;
    }
}

/// Integers are numbers, null is null, all else is the text that would be printed.
fn json(value: &Value<'_>) -> String {
    match value {
        Value::Signed(_) | Value::Unsigned(_) => value.to_string(),
        Value::Text(text) if !text.is_empty() => quoted(&text.to_string()),
        Value::Character(byte) if *byte != 0 => quoted(&CharArray::new(&[*byte]).to_string()),
        _ => match value.to_string().as_str() {
            "-" => "null".into(),
            text => quoted(text),
        },
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Appends to a string, which cannot fail.
fn append(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(arguments);
}
