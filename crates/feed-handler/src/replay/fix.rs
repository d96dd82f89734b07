//! The FIX messages of a replay session.
//!
//! ```text
//! 9=<length>|35=<type>|…fields…|10=<sum>|       each | is SOH, 0x01; no BeginString (8)
//! ```
//!
//! BodyLength (9) counts the bytes from after its own SOH to the SOH before CheckSum (10). CheckSum
//! is the sum of all bytes before it modulo 256, in three digits.

use std::fmt::Write;

const SOH: char = '\x01';

/// Returns `true` if a text is a valid field value.
pub(super) fn is_valid(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_control())
}

/// Encodes Logon (A).
pub(super) fn logon(user: &str, password: &str) -> Vec<u8> {
    message(&[(35, "A"), (553, user), (554, password)])
}

/// Encodes Market Data Request (V) for packets of a channel (ApplID 1180), from ApplBegSeqNum
/// (1182) to ApplEndSeqNum (1183).
pub(super) fn request(channel: &str, id: &str, first: u32, last: u32) -> Vec<u8> {
    let (first, last) = (first.to_string(), last.to_string());
    message(&[(35, "V"), (1180, channel), (262, id), (1182, &first), (1183, &last)])
}

/// Encodes Logout (5).
pub(super) fn logout() -> Vec<u8> {
    message(&[(35, "5")])
}

fn message(fields: &[(u32, &str)]) -> Vec<u8> {
    let mut body = String::new();
    for (tag, value) in fields {
        write!(body, "{tag}={value}{SOH}").expect("writing to a String cannot fail");
    }
    let message = format!("9={}{SOH}{body}", body.len());
    let sum = message.bytes().fold(0u8, u8::wrapping_add);
    format!("{message}10={sum:03}{SOH}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(message: Vec<u8>) -> String {
        String::from_utf8(message).unwrap().replace(SOH, "|")
    }

    #[test]
    fn messages_have_body_length_and_checksum() {
        // 35=5| is five bytes; the bytes of 9=5|35=5| add up to 391.
        assert_eq!(shown(logout()), "9=5|35=5|10=135|");
        let logon = shown(logon("CME", "CME"));
        assert!(logon.starts_with("9=21|35=A|553=CME|554=CME|10="), "{logon}");
        let request = shown(request("310", "310-1", 7, 4_294_967_295));
        let body = "35=V|1180=310|262=310-1|1182=7|1183=4294967295|";
        assert!(request.starts_with(&format!("9={}|{body}10=", body.len())), "{request}");
    }

    #[test]
    fn rejects_text_that_would_end_its_field() {
        assert!(is_valid("C M E"));
        assert!(!is_valid("C\x01E") && !is_valid("C\nE") && !is_valid(""));
    }
}
