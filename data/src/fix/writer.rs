//! Writing of messages.

use std::fmt::{Display, Write};

use hairpin_time::Utc;

use super::message::checksum;
use super::{SOH, timestamp_millis};

/// The fields of a body, in the order in which they were added.
#[derive(Debug, Clone, Default)]
pub(crate) struct Body(String);

impl Body {
    /// Adds a field. Bytes that FIX does not allow in a value become question marks.
    pub(crate) fn field(&mut self, tag: u32, value: impl Display) -> &mut Self {
        let _ = write!(self.0, "{tag}=");
        let start = self.0.len();
        let _ = write!(self.0, "{value}");
        let is_plain = |byte: u8| (b' '..=b'~').contains(&byte);
        if !self.0.as_bytes()[start..].iter().all(|&byte| is_plain(byte)) {
            let plain = self.0[start..].chars().map(|it| match u8::try_from(it) {
                Ok(byte) if is_plain(byte) => it,
                _ => '?',
            });
            let plain: String = plain.collect();
            self.0.replace_range(start.., &plain);
        }
        self.0.push(char::from(SOH));
        self
    }

    /// Adds a field if it has a value.
    pub(crate) fn optional(&mut self, tag: u32, value: Option<impl Display>) -> &mut Self {
        if let Some(value) = value {
            self.field(tag, value);
        }
        self
    }
}

/// The fields of a header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header<'a> {
    pub(crate) msg_type: &'a str,
    pub(crate) sender: &'a str,
    pub(crate) target: &'a str,
    pub(crate) seq_num: u32,
    pub(crate) sending_time: Utc,
    /// OrigSendingTime of a message that is sent again, with PossDupFlag.
    pub(crate) original: Option<Utc>,
}

/// Appends a message.
pub(crate) fn write(out: &mut Vec<u8>, header: &Header<'_>, body: &Body) {
    let mut head = Body::default();
    head.field(35, header.msg_type).field(49, header.sender).field(56, header.target);
    head.field(34, header.seq_num);
    if header.original.is_some() {
        head.field(43, 'Y');
    }
    head.field(52, timestamp_millis(header.sending_time));
    head.optional(122, header.original.map(timestamp_millis));
    let start = out.len();
    let length = head.0.len() + body.0.len();
    out.extend(format!("8=FIX.4.4\u{1}9={length}\u{1}{}{}", head.0, body.0).into_bytes());
    let sum = checksum(&out[start..]);
    out.extend(format!("10={sum:03}\u{1}").into_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::{Message, Scan, scan};

    #[test]
    fn written_messages_are_accepted() {
        let mut header = Header {
            msg_type: "8",
            sender: "US",
            target: "THEM",
            seq_num: 7,
            sending_time: Utc::from_nanos(1_764_021_600_000_000_000),
            original: None,
        };
        let mut body = Body::default();
        body.field(58, "a\u{1}b=\u{e9}").optional(44, None::<u8>).optional(31, Some("1.5"));
        let mut out = b"before".to_vec();
        write(&mut out, &header, &body);
        let first = &out[6..];
        assert_eq!(scan(first), Scan::Message(first.len()));
        let text = String::from_utf8(first.to_vec()).unwrap().replace('\u{1}', "|");
        let expected = "8=FIX.4.4|9=65|35=8|49=US|56=THEM|34=7|52=20251124-22:00:00.000|\
                        58=a?b=?|31=1.5|10=";
        assert_eq!(&text[..text.len() - 4], expected);
        header.original = Some(Utc::EPOCH);
        let mut again = Vec::new();
        write(&mut again, &header, &body);
        assert_eq!(scan(&again), Scan::Message(again.len()));
        assert!(Message(&again).is_set(43));
        assert_eq!(Message(&again).text(122), "19700101-00:00:00.000");
    }
}
