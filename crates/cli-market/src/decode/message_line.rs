//! A message as a line of text.

use std::fmt::Write;

use hairpin_sbe::{CharArray, DecodeError, MessageHeader, Value, Visitor};

use super::Format;
use super::codecs::Codecs;

/// A printed message.
pub(crate) struct MessageLine {
    pub(crate) text: String,
    /// Its template is known.
    pub(crate) is_known: bool,
    /// Every SecurityID (48) in it.
    pub(crate) security_ids: Vec<i32>,
}

/// Formats a message, given from its SBE header to the end of its frame. `packet` is the sequence
/// number and sending time of its packet, if the framing has packets.
///
/// # Errors
/// If it is cut short, or followed by bytes that do not belong to it.
pub(crate) fn line(
    message: &[u8],
    packet: Option<(u32, u64)>,
    codecs: &Codecs<'_>,
    format: Format,
) -> Result<MessageLine, String> {
    let mut fields = Fields::new(format);
    let (header, is_known) = match codecs.visit(message, &mut fields) {
        Ok((header, known)) => {
            let surplus = message.len() - known.length;
            // A newer sender may have appended fields that this version does not have.
            if surplus > 0 && header.version <= known.version {
                return Err(format!("template {}: {surplus} surplus bytes", header.template_id));
            }
            (header, true)
        }
        Err((Some(header), DecodeError::Template(_) | DecodeError::Schema(_))) => {
            fields.unknown(&header, message.len());
            (header, false)
        }
        Err((Some(header), error)) => {
            return Err(format!("template {}: {error}", header.template_id));
        }
        Err((None, error)) => return Err(error.to_string()),
    };
    let (sequence, time) = match packet {
        Some((sequence, time)) => (Some(sequence.into()), Some(time)),
        None => (fields.sequence, fields.time),
    };
    let security_ids = std::mem::take(&mut fields.security_ids);
    let text = fields.finish(Some(header.template_id), sequence, time);
    Ok(MessageLine { text, is_known, security_ids })
}

/// Formats a record that is not a message in the same form: without a template, with a name and
/// fields.
pub(crate) fn record(
    name: &str,
    (sequence, time): (u32, u64),
    values: &[(&str, Value<'_>)],
    format: Format,
) -> String {
    let mut fields = Fields { name: Some(name.into()), ..Fields::new(format) };
    for (name, value) in values {
        fields.push(name, *value);
    }
    fields.finish(None, Some(sequence.into()), Some(time))
}

/// Formats fields as they are visited.
struct Fields {
    format: Format,
    text: String,
    name: Option<String>,
    /// The prefix of field names: the group entries and composites that contain them.
    prefix: String,
    /// For each open group and composite: the length of the prefix outside, and the name.
    begun: Vec<(usize, String)>,
    /// SeqNum or NextSeqNo of an order-entry message.
    sequence: Option<u64>,
    /// SendingTimeEpoch of an order-entry message.
    time: Option<u64>,
    security_ids: Vec<i32>,
}

impl Fields {
    fn new(format: Format) -> Self {
        Self {
            format,
            text: String::new(),
            name: None,
            prefix: String::new(),
            begun: Vec::new(),
            sequence: None,
            time: None,
            security_ids: Vec::new(),
        }
    }

    /// Formats a message without a known layout.
    fn unknown(&mut self, header: &MessageHeader, length: usize) {
        let MessageHeader { schema_id, version, .. } = *header;
        for (name, value) in
            [("schema", schema_id.into()), ("version", version.into()), ("bytes", length as u64)]
        {
            self.push(name, Value::Unsigned(value));
        }
    }

    fn push(&mut self, name: &str, value: Value<'_>) {
        let value = with_binary_text(name, value);
        match self.format {
            Format::Text => {
                append(&mut self.text, format_args!(" {}{name}={value}", self.prefix));
            }
            Format::Json => {
                self.member(name);
                push_json(&mut self.text, &value);
            }
        }
    }

    /// Appends the name of the next member of a JSON object.
    fn member(&mut self, name: &str) {
        if !self.text.is_empty() && !self.text.ends_with('{') {
            self.text.push(',');
        }
        append(&mut self.text, format_args!("\"{name}\":"));
    }

    /// Opens a group or composite.
    fn begin(&mut self, name: &str, bracket: char) {
        if self.format == Format::Json {
            self.member(name);
            self.text.push(bracket);
        }
        self.begun.push((self.prefix.len(), name.into()));
    }

    fn end(&mut self, json: &str) {
        if self.format == Format::Json {
            self.text.push_str(json);
        }
        if let Some((outside, _)) = self.begun.pop() {
            self.prefix.truncate(outside);
        }
    }

    /// Returns the whole line.
    fn finish(self, template: Option<u16>, sequence: Option<u64>, time: Option<u64>) -> String {
        let name = self.name;
        let or = |value: Option<u64>, none: &str| value.map_or(none.into(), |v| v.to_string());
        let template = template.map(u64::from);
        match self.format {
            Format::Text => format!(
                "{} {} {} {}{}",
                or(sequence, "-"),
                or(time, "-"),
                or(template, "-"),
                name.as_deref().unwrap_or("-"),
                self.text
            ),
            Format::Json => format!(
                "{{\"packet_seq\":{},\"sending_time\":{},\"template\":{},\"name\":{},\
                 \"fields\":{{{}}}}}",
                or(sequence, "null"),
                or(time, "null"),
                or(template, "null"),
                name.map_or("null".into(), |name| format!("\"{name}\"")),
                self.text
            ),
        }
    }
}

impl Visitor for Fields {
    fn message(&mut self, name: &str, _: &MessageHeader) {
        self.name = Some(name.into());
    }

    fn field(&mut self, name: &str, value: Value<'_>) {
        if let (true, Value::Unsigned(number)) = (self.begun.is_empty(), value) {
            match name {
                "SeqNum" | "NextSeqNo" => self.sequence = self.sequence.or(Some(number)),
                "SendingTimeEpoch" => self.time = Some(number),
                _ => {}
            }
        }
        if let ("SecurityID", Value::Signed(id)) = (name, value) {
            self.security_ids.extend(i32::try_from(id));
        }
        self.push(name, value);
    }

    fn composite(&mut self, name: &str) {
        self.begin(name, '{');
        append(&mut self.prefix, format_args!("{name}."));
    }

    fn end_composite(&mut self) {
        self.end("}");
    }

    fn group(&mut self, name: &str, _: usize) {
        self.begin(name, '[');
    }

    fn entry(&mut self, index: usize) {
        if self.format == Format::Json {
            self.text.push_str(if index == 0 { "{" } else { "},{" });
        }
        if let Some((outside, name)) = self.begun.last() {
            self.prefix.truncate(*outside);
            append(&mut self.prefix, format_args!("{name}[{index}]."));
        }
    }

    fn end_group(&mut self) {
        self.end(if self.text.ends_with('[') { "]" } else { "}]" });
    }
}

/// Returns a value with binary text as data, which is printed in hexadecimal: a signature, which
/// CME's schema declares as text, and text with more after its first NUL than padding.
fn with_binary_text<'a>(name: &str, value: Value<'a>) -> Value<'a> {
    let Value::Text(text) = value else { return value };
    let (raw, shown) = (text.raw(), text.as_bytes());
    let is_absent = raw.iter().all(|&byte| byte == 0);
    let is_cut = raw[shown.len()..].iter().any(|&byte| byte != 0);
    match !is_absent && (is_cut || name == "HMACSignature") {
        true => Value::Data(raw),
        false => value,
    }
}

/// Appends a JSON value: integers are numbers, null is null, arrays are arrays; any other value is
/// the string printed as text.
fn push_json(text: &mut String, value: &Value<'_>) {
    match value {
        Value::Signed(_) | Value::Unsigned(_) => append(text, format_args!("{value}")),
        Value::Text(characters) if !characters.is_empty() => quote(text, &characters.to_string()),
        Value::Character(byte) if *byte != 0 => quote(text, &CharArray::new(&[*byte]).to_string()),
        Value::Array(array) => {
            text.push('[');
            for (index, value) in array.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "," });
                push_json(text, &value);
            }
            text.push(']');
        }
        _ => match value.to_string().as_str() {
            "-" => text.push_str("null"),
            other => quote(text, other),
        },
    }
}

fn quote(text: &mut String, value: &str) {
    append(text, format_args!("{}", serde_json::Value::from(value)));
}

/// Appends to a string, which cannot fail.
fn append(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(arguments);
}

#[cfg(test)]
mod tests {
    use hairpin_cme_codecs::ilink3::{Negotiate500, NewOrderSingle514};

    use super::*;

    fn negotiate(signature: [u8; 32], format: Format) -> String {
        let mut buffer = [0; Negotiate500::ENCODED_LENGTH];
        Negotiate500::encode(&mut buffer).unwrap().set_hmac_signature(signature).set_session("ABC");
        line(&buffer, None, &Codecs::default(), format).unwrap().text
    }

    /// A signature may have any bytes, zeros among them.
    #[test]
    fn signatures_are_printed_whole_in_hexadecimal() {
        let plain = [b'A'; 32];
        let mut middle = plain;
        middle[7] = 0;
        let mut first = plain;
        first[0] = 0;
        let mut last = plain;
        last[31] = 0;
        for signature in [plain, middle, first, last, [0xFF; 32]] {
            let hex: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
            let text = negotiate(signature, Format::Text);
            assert!(text.contains(&format!(" HMACSignature={hex} ")), "{text}");
            assert!(text.contains(" Session=ABC "), "{text}");
            let json = negotiate(signature, Format::Json);
            assert!(json.contains(&format!("\"HMACSignature\":\"{hex}\",")), "{json}");
        }
        assert!(negotiate([0; 32], Format::Text).contains(" HMACSignature=- "));
    }

    /// What follows the first NUL of a text is padding, unless it is anything else than NUL.
    #[test]
    fn text_with_more_than_padding_after_a_nul_is_printed_whole() {
        let mut buffer = [0; NewOrderSingle514::ENCODED_LENGTH];
        NewOrderSingle514::encode(&mut buffer)
            .unwrap()
            .set_cl_ord_id(b"A\0B")
            .set_location("US,IL")
            .set_sender_id("TRADER");
        let text = line(&buffer, None, &Codecs::default(), Format::Text).unwrap().text;
        let hex = format!("410042{}", "00".repeat(17));
        assert!(text.contains(&format!(" ClOrdID={hex} ")), "{text}");
        assert!(text.contains(" SenderID=TRADER ") && text.contains(" Location=US,IL "), "{text}");
    }
}
