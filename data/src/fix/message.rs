//! Messages in a stream of bytes.

use super::{BEGIN_STRING, SOH, tag};

/// The most bytes of one message.
pub(crate) const MESSAGE_MAX: usize = 1 << 16;
/// How a message begins, up to the version.
const START: &[u8] = b"8=FIX";
/// The length of CheckSum (10), with its separator.
const TRAILER: usize = 7;
/// The most digits of BodyLength (9).
const LENGTH_DIGITS: usize = 6;
/// Tags of lengths, each with the tag of the data that follows and may contain separators.
const DATA: [(u32, u32); 8] =
    [(90, 91), (93, 89), (95, 96), (212, 213), (348, 349), (350, 351), (354, 355), (364, 365)];

/// The content at the start of received bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scan {
    /// A complete message of so many bytes, whose length and checksum are right.
    Message(usize),
    /// The start of a message.
    Incomplete,
    /// So many bytes that are no message. FIX ignores them: a garbled message.
    Garbled(usize),
}

/// Looks for a message at the start of received bytes.
pub(crate) fn scan(bytes: &[u8]) -> Scan {
    match complete(bytes) {
        Ok(Some(length)) => Scan::Message(length),
        Ok(None) => Scan::Incomplete,
        Err(()) => Scan::Garbled(next_start(bytes)),
    }
}

/// Returns the offset after the first byte at which a message may begin.
fn next_start(bytes: &[u8]) -> usize {
    let is_start = |at: &usize| {
        let rest = &bytes[*at..];
        rest.starts_with(START) || START.starts_with(rest)
    };
    (1..bytes.len()).find(is_start).unwrap_or(bytes.len())
}

/// Returns the length of the complete message at the start, `None` if it is incomplete.
fn complete(bytes: &[u8]) -> Result<Option<usize>, ()> {
    let common = bytes.len().min(START.len());
    if bytes[..common] != START[..common] {
        return Err(());
    }
    let Some(version) = bytes.iter().position(|&byte| byte == SOH) else {
        return if bytes.len() > 16 { Err(()) } else { Ok(None) };
    };
    let rest = &bytes[version + 1..];
    let common = rest.len().min(2);
    if rest[..common] != b"9="[..common] {
        return Err(());
    }
    let rest = &rest[common..];
    let Some(digits) = rest.iter().position(|&byte| byte == SOH) else {
        return if rest.len() > LENGTH_DIGITS { Err(()) } else { Ok(None) };
    };
    if digits > LENGTH_DIGITS {
        return Err(());
    }
    let body = number(&rest[..digits]).ok_or(())? as usize;
    let end = version + 1 + 2 + digits + 1 + body;
    if end + TRAILER > MESSAGE_MAX {
        return Err(());
    }
    let Some(trailer) = bytes.get(end..end + TRAILER) else { return Ok(None) };
    let expected = format!("10={:03}\u{1}", checksum(&bytes[..end]));
    let is_right = trailer == expected.as_bytes() && bytes[end - 1] == SOH;
    if is_right { Ok(Some(end + TRAILER)) } else { Err(()) }
}

/// Returns the sum of the bytes modulo 256.
pub(crate) fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte))
}

/// Returns an unsigned number without sign or blanks.
fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 18 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(digits.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
}

/// A complete message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message<'a>(pub(crate) &'a [u8]);

impl<'a> Message<'a> {
    /// Returns the first value of a tag.
    pub(crate) fn field(&self, wanted: u32) -> Option<&'a [u8]> {
        let mut rest = self.0;
        let mut data: Option<(u32, usize)> = None;
        while !rest.is_empty() {
            let equals = rest.iter().position(|&byte| byte == b'=')?;
            let found = u32::try_from(number(&rest[..equals])?).ok()?;
            let value = &rest[equals + 1..];
            let length = match data.take() {
                Some((tag, length)) if tag == found && value.get(length) == Some(&SOH) => length,
                _ => value.iter().position(|&byte| byte == SOH)?,
            };
            if found == wanted {
                return Some(&value[..length]);
            }
            if let Some((_, tag)) = DATA.iter().find(|(of, _)| *of == found) {
                data = number(&value[..length]).map(|length| (*tag, length as usize));
            }
            rest = &value[length + 1..];
        }
        None
    }

    /// Returns the first value of a tag as a number.
    pub(crate) fn number(&self, tag: u32) -> Option<u64> {
        number(self.field(tag)?)
    }

    /// Returns the first value of a tag as text.
    pub(crate) fn text(&self, tag: u32) -> String {
        String::from_utf8_lossy(self.field(tag).unwrap_or_default()).into_owned()
    }

    /// Returns `true` if the value of a tag is Y.
    pub(crate) fn is_set(&self, tag: u32) -> bool {
        self.field(tag) == Some(b"Y")
    }

    /// Returns MsgType (35), or an empty value.
    pub(crate) fn msg_type(&self) -> &'a [u8] {
        self.field(tag::MSG_TYPE).unwrap_or_default()
    }

    /// Returns `true` if the message is of FIX 4.4.
    pub(crate) fn is_fix44(&self) -> bool {
        self.field(tag::BEGIN_STRING) == Some(BEGIN_STRING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGON: &str = "35=A|34=1|49=CLIENT|52=20100225-19:41:57.316|56=B|98=0|108=30|";

    fn bytes(text: &str) -> Vec<u8> {
        text.replace('|', "\u{1}").into_bytes()
    }

    /// Returns a message with this body.
    fn message(body: &str) -> Vec<u8> {
        let start = bytes(&format!("8=FIX.4.4|9={}|{body}", body.len()));
        let sum = checksum(&start);
        [start, bytes(&format!("10={sum:03}|"))].concat()
    }

    #[test]
    fn accepts_published_messages() {
        // Wikipedia, "Financial Information eXchange", an ExecutionReport of FIX 4.2 and an order.
        let execution = bytes(
            "8=FIX.4.2|9=178|35=8|49=PHLX|56=PERS|52=20071123-05:30:00.000|11=ATOMNOCCC9990900|\
             20=3|150=E|39=E|55=MSFT|167=CS|54=1|38=15|40=2|44=15|58=PHLX EQUITY TESTING|59=0|\
             47=C|32=0|31=0|151=15|14=0|6=0|10=128|",
        );
        assert_eq!(scan(&execution), Scan::Message(execution.len()));
        assert!(!Message(&execution).is_fix44());
        assert_eq!(Message(&execution).field(58), Some(&b"PHLX EQUITY TESTING"[..]));
        let order = bytes(
            "8=FIX.4.2|9=65|35=A|49=SERVER|56=CLIENT|34=177|52=20090107-18:15:16|98=0|108=30|\
             10=062|",
        );
        assert_eq!(scan(&order), Scan::Message(order.len()));
        assert_eq!(Message(&order).number(108), Some(30));
    }

    #[test]
    fn every_prefix_of_a_message_is_incomplete() {
        let logon = message(LOGON);
        for length in 0..logon.len() {
            assert_eq!(scan(&logon[..length]), Scan::Incomplete, "{length}");
        }
        assert_eq!(scan(&[&logon[..], b"8=F"].concat()), Scan::Message(logon.len()));
    }

    #[test]
    fn any_changed_byte_is_garbled_or_incomplete() {
        let logon = message(LOGON);
        for at in 0..logon.len() {
            let mut changed = logon.clone();
            changed[at] ^= 4;
            assert!(!matches!(scan(&changed), Scan::Message(_)), "{at}");
        }
    }

    #[test]
    fn garbled_bytes_end_at_the_next_message() {
        let logon = message(LOGON);
        let garbled = [b"x8=FIX.4.4\x019=5\x0135=0\x0110=000\x01", &logon[..]].concat();
        let mut at = 0;
        while let Scan::Garbled(length) = scan(&garbled[at..]) {
            at += length;
        }
        assert_eq!(at, garbled.len() - logon.len());
        assert_eq!(scan(&garbled[at..]), Scan::Message(logon.len()));
        assert_eq!(scan(b"8=FIX.4.4\x019=999999\x01"), Scan::Garbled(19));
    }

    #[test]
    fn data_may_contain_separators() {
        let logon = message("35=A|95=8|96=a|98=1|b|98=0|141=Y|");
        let message = Message(&logon);
        assert_eq!(scan(&logon), Scan::Message(logon.len()));
        assert_eq!(message.field(96), Some(&b"a\x0198=1\x01b"[..]));
        assert_eq!(message.number(98), Some(0));
        assert!(message.is_set(141) && !message.is_set(98));
    }

    #[test]
    fn no_bytes_panic() {
        let logon = message(LOGON);
        for at in 0..logon.len() {
            for byte in [0, 1, b'=', b'9', 255] {
                let mut changed = logon.clone();
                changed[at] = byte;
                let _ = scan(&changed);
                for tag in [8, 9, 35, 34, 108, 96] {
                    let _ = Message(&changed).field(tag);
                }
            }
        }
    }
}
