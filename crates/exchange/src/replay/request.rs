//! Requests: FIX messages in ASCII with `tag=value` fields, each ended by 0x01.

use core::str;

/// The field delimiter.
const SOH: u8 = 1;

/// A whole message, with the fields that the service needs.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request<'a> {
    /// MsgType (tag 35).
    pub(super) kind: &'a str,
    /// Username (tag 553).
    pub(super) user: Option<&'a str>,
    /// Password (tag 554).
    pub(super) password: Option<&'a str>,
    /// ApplID (tag 1180).
    pub(super) channel: Option<&'a str>,
    /// ApplBegSeqNum (tag 1182).
    pub(super) begin: Option<&'a str>,
    /// ApplEndSeqNum (tag 1183).
    pub(super) end: Option<&'a str>,
}

/// The error in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Malformed {
    /// The message is not `tag=value` fields in the order 8 (optional), 9, 35.
    Fields,
    /// BodyLength (9) is not the length of the body, from after its own field to before tag 10.
    BodyLength,
    /// CheckSum (10) is not the sum of all bytes before its field, modulo 256, in three digits.
    CheckSum,
}

/// Returns the first message in `bytes` and its length, or `None` if it is incomplete.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Request<'_>, usize)>, Malformed> {
    let mut request = Request::default();
    let (mut start, mut body) = (0, None);
    while let Some(length) = bytes[start..].iter().position(|&byte| byte == SOH) {
        let end = start + length;
        let (tag, value) = field(&bytes[start..end])?;
        match (tag, body) {
            ("8", None) if start == 0 => {}
            ("9", None) => {
                let length = value.parse().map_err(|_| Malformed::BodyLength)?;
                body = Some((end + 1, length));
            }
            ("10", Some((first, length))) => {
                check(bytes, (first, start), length, value)?;
                let has_kind = !request.kind.is_empty();
                return has_kind.then_some(Some((request, end + 1))).ok_or(Malformed::Fields);
            }
            (tag, Some((first, _))) => request.set_field(tag, value, start == first)?,
            (_, None) => return Err(Malformed::Fields),
        }
        start = end + 1;
    }
    Ok(None)
}

impl<'a> Request<'a> {
    fn set_field(&mut self, tag: &str, value: &'a str, is_first: bool) -> Result<(), Malformed> {
        if is_first != (tag == "35") {
            return Err(Malformed::Fields);
        }
        match tag {
            "35" => self.kind = value,
            "553" => self.user = Some(value),
            "554" => self.password = Some(value),
            "1180" => self.channel = Some(value),
            "1182" => self.begin = Some(value),
            "1183" => self.end = Some(value),
            _ => {}
        }
        Ok(())
    }
}

fn field(bytes: &[u8]) -> Result<(&str, &str), Malformed> {
    let text = str::from_utf8(bytes).map_err(|_| Malformed::Fields)?;
    let (tag, value) = text.split_once('=').ok_or(Malformed::Fields)?;
    let is_number = !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { Ok((tag, value)) } else { Err(Malformed::Fields) }
}

fn check(
    bytes: &[u8],
    (first, end): (usize, usize),
    length: usize,
    sum: &str,
) -> Result<(), Malformed> {
    if end - first != length {
        return Err(Malformed::BodyLength);
    }
    let expected = bytes[..end].iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte));
    let is_correct = sum.len() == 3 && sum.parse() == Ok(expected);
    if is_correct { Ok(()) } else { Err(Malformed::CheckSum) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::replay::tests::message;

    #[test]
    fn parses_the_needed_fields() {
        let bytes = message("35=V|1180=310|262=310-1|1182=7|1183=9|");
        let (request, length) = parse(&bytes).unwrap().unwrap();
        assert_eq!(length, bytes.len());
        let expected = Request {
            kind: "V",
            channel: Some("310"),
            begin: Some("7"),
            end: Some("9"),
            ..Request::default()
        };
        assert_eq!(request, expected);
    }

    #[test]
    fn checks_fix_checksum_and_length() {
        // Computed by hand: the bytes of "9=5|35=5|" add up to 391.
        let bytes = b"9=5\x0135=5\x0110=135\x01";
        assert_eq!(parse(bytes).unwrap().unwrap().0.kind, "5");
        assert_eq!(parse(b"9=5\x0135=5\x0110=134\x01"), Err(Malformed::CheckSum));
        assert_eq!(parse(b"9=6\x0135=5\x0110=136\x01"), Err(Malformed::BodyLength));
    }

    #[test]
    fn begin_string_is_optional_and_first() {
        // The bytes of "8=FIX.4.2|" add up to 543, the ones after it to 391.
        let bytes = b"8=FIX.4.2\x019=5\x0135=5\x0110=166\x01";
        assert_eq!(parse(bytes).unwrap().unwrap().0.kind, "5");
        assert_eq!(parse(b"9=5\x018=FIX.4.2\x01"), Err(Malformed::Fields));
    }

    #[test]
    fn incomplete_message_is_none() {
        let bytes = message("35=A|553=CME|554=CME|");
        for length in 0..bytes.len() {
            assert_eq!(parse(&bytes[..length]), Ok(None), "{length}");
        }
    }

    #[test]
    fn rejects_malformed_fields() {
        for bytes in [&b"35=A\x01"[..], b"nonsense\x01", b"9=5\x01x=5\x01", b"9=5\x01553=A\x01"] {
            assert_eq!(parse(bytes), Err(Malformed::Fields));
        }
        assert_eq!(parse(b"9=x\x01"), Err(Malformed::BodyLength));
    }

    proptest! {
        #[test]
        fn never_panics(bytes: Vec<u8>) {
            let _ = parse(&bytes);
        }
    }
}
