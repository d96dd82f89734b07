//! The text of an XML file, from its bytes.

use alloc::string::String;

/// The characters of windows-1252 from 0x80 on, where ISO-8859-1 has control characters that no
/// text contains.
const WINDOWS_1252: &str = "\u{20ac}\u{81}\u{201a}\u{192}\u{201e}\u{2026}\u{2020}\u{2021}\
    \u{2c6}\u{2030}\u{160}\u{2039}\u{152}\u{8d}\u{17d}\u{8f}\
    \u{90}\u{2018}\u{2019}\u{201c}\u{201d}\u{2022}\u{2013}\u{2014}\
    \u{2dc}\u{2122}\u{161}\u{203a}\u{153}\u{9d}\u{17e}\u{178}";
/// The bytes that may contain the XML declaration.
const DECLARATION: usize = 256;
/// The longest name of an encoding that an error quotes.
const QUOTED: usize = 40;

/// The reason why the bytes of a file are not text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum XmlTextError {
    /// The file declares an encoding that is not supported.
    #[error("cannot read encoding {0}: use UTF-8, UTF-16 or ISO-8859-1")]
    Encoding(String),
    /// The file begins as text in an encoding, and continues otherwise.
    #[error("not text in {0}, although it begins as such")]
    Invalid(&'static str),
}

/// Returns the text of an XML file in UTF-8, UTF-16, ISO-8859-1 or windows-1252, without its byte
/// order mark.
///
/// The encoding is that of the byte order mark, or of the first character in UTF-16 (XML 1.0,
/// appendix F), or the declared one. Bytes that are not UTF-8, without another declared encoding,
/// are taken as windows-1252, which contains ISO-8859-1.
///
/// # Errors
/// [`XmlTextError`].
pub fn xml_text(bytes: &[u8]) -> Result<String, XmlTextError> {
    match bytes {
        [0xEF, 0xBB, 0xBF, text @ ..] => {
            String::from_utf8(text.into()).map_err(|_| XmlTextError::Invalid("UTF-8"))
        }
        [0xFF, 0xFE, text @ ..] => utf_16(text, u16::from_le_bytes),
        [0xFE, 0xFF, text @ ..] => utf_16(text, u16::from_be_bytes),
        [b'<', 0, ..] => utf_16(bytes, u16::from_le_bytes),
        [0, b'<', ..] => utf_16(bytes, u16::from_be_bytes),
        _ => bytewise(bytes),
    }
}

fn utf_16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, XmlTextError> {
    let invalid = XmlTextError::Invalid("UTF-16");
    let (pairs, []) = bytes.as_chunks() else { return Err(invalid) };
    let units = pairs.iter().map(|pair| unit(*pair));
    char::decode_utf16(units).collect::<Result<_, _>>().map_err(|_| invalid)
}

/// Decodes an encoding whose first 128 characters are those of ASCII.
fn bytewise(bytes: &[u8]) -> Result<String, XmlTextError> {
    let declared = declared_encoding(bytes).map(str::to_ascii_lowercase);
    match declared.as_deref() {
        Some("iso-8859-1" | "iso_8859-1" | "latin1" | "latin-1" | "windows-1252" | "cp1252") => {
            Ok(windows_1252(bytes))
        }
        // The declaration was readable, so the file is not in UTF-16.
        None
        | Some("utf-8" | "utf8" | "us-ascii" | "ascii" | "utf-16" | "utf-16le" | "utf-16be") => {
            Ok(str::from_utf8(bytes).map_or_else(|_| windows_1252(bytes), String::from))
        }
        Some(other) => match str::from_utf8(bytes) {
            Ok(text) if text.is_ascii() => Ok(text.into()),
            _ => Err(XmlTextError::Encoding(printable(other))),
        },
    }
}

/// Returns the encoding in the XML declaration.
fn declared_encoding(bytes: &[u8]) -> Option<&str> {
    let start = &bytes[..bytes.len().min(DECLARATION)];
    let end = start.windows(2).position(|pair| pair == b"?>")?;
    let declaration = str::from_utf8(&start[..end]).ok()?.strip_prefix("<?xml")?;
    let (_, value) = declaration.split_once("encoding")?;
    let value = value.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    value[1..].split(quote).next()
}

/// Returns a name for an error: shortened, and in one line.
fn printable(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_control()).take(QUOTED).collect()
}

fn windows_1252(bytes: &[u8]) -> String {
    let character = |&byte: &u8| match byte {
        0x80..0xA0 => WINDOWS_1252.chars().nth(usize::from(byte - 0x80)).unwrap_or('\u{FFFD}'),
        _ => char::from(byte),
    };
    bytes.iter().map(character).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;

    const TEXT: &str = "<a label=\"Z\u{fc}rich \u{201e}\u{20ac}\u{201c}\"/>";

    fn utf_16_bytes(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn reads_utf_8_and_utf_16_with_and_without_mark_and_declaration() {
        for declaration in
            ["", "<?xml version=\"1.0\"?>", "<?xml version='1.0' encoding='UTF-16'?>"]
        {
            let text = format!("{declaration}{TEXT}");
            let marked = format!("\u{feff}{text}");
            for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
                assert_eq!(xml_text(&utf_16_bytes(&text, bytes)).unwrap(), text);
                assert_eq!(xml_text(&utf_16_bytes(&marked, bytes)).unwrap(), text);
            }
            // Some programs declare UTF-16 and write UTF-8.
            assert_eq!(xml_text(text.as_bytes()).unwrap(), text);
            assert_eq!(xml_text(marked.as_bytes()).unwrap(), text);
        }
    }

    #[test]
    fn reads_iso_8859_1_whether_declared_or_not() {
        for declaration in [
            "",
            "<?xml version=\"1.0\" encoding = \"ISO-8859-1\" ?>",
            "<?xml version='1.0' encoding='windows-1252'?>",
            "<?xml version='1.0' encoding='utf-8'?>",
        ] {
            let bytes = [declaration.as_bytes(), b"<a label='Z\xfcrich \x80 \xe9'/>"].concat();
            let expected = format!("{declaration}<a label='Z\u{fc}rich \u{20ac} \u{e9}'/>");
            assert_eq!(xml_text(&bytes).unwrap(), expected);
        }
    }

    #[test]
    fn refuses_other_encodings_and_broken_text() {
        let japanese = b"<?xml version='1.0' encoding='Shift_JIS'?><a b='\x83\x65'/>";
        let error = xml_text(japanese).unwrap_err();
        let expected = "cannot read encoding shift_jis: use UTF-8, UTF-16 or ISO-8859-1";
        assert_eq!(format!("{error}"), expected);
        assert!(xml_text(b"<?xml version='1.0' encoding='Shift_JIS'?><a/>").is_ok());
        for broken in [&b"\xff\xfe<\0a"[..], b"\xfe\xff\xd8\x00\x00<", b"\xef\xbb\xbf<\xff"] {
            assert!(matches!(xml_text(broken), Err(XmlTextError::Invalid(_))), "{broken:?}");
        }
        assert_eq!(xml_text(b"").unwrap(), "");
    }
}
