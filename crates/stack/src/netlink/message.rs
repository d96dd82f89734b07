//! Netlink messages, one or more per datagram (netlink(7)).

use std::io;

use netlink_packet_core::{
    NLM_F_DUMP_INTR, NLMSG_ALIGNTO, NLMSG_DONE, NLMSG_ERROR, NLMSG_NOOP, NLMSG_OVERRUN,
    NetlinkBuffer,
};

/// A message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Message<'a> {
    pub(crate) kind: u16,
    flags: u16,
    sequence: u32,
    port: u32,
    pub(crate) payload: &'a [u8],
}

/// The identity of a request: its sequence number and the port of its socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestId {
    pub(crate) sequence: u32,
    pub(crate) port: u32,
}

/// The kernel's reply to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer<'a> {
    /// A message, or one of several.
    Message { kind: u16, payload: &'a [u8] },
    /// The end of a dump, or an acknowledgment.
    Done,
    /// An error number.
    Refused(i32),
    /// A malformed reply.
    Malformed,
}

/// Returns the messages of a datagram, up to the first incomplete one.
pub(crate) fn messages(datagram: &[u8]) -> impl Iterator<Item = Message<'_>> {
    let mut rest = datagram;
    std::iter::from_fn(move || {
        let buffer = NetlinkBuffer::new_checked(rest).ok()?;
        let length = (buffer.length() as usize).next_multiple_of(usize::from(NLMSG_ALIGNTO));
        rest = rest.get(length..).unwrap_or_default();
        Some(Message {
            kind: buffer.message_type(),
            flags: buffer.flags(),
            sequence: buffer.sequence_number(),
            port: buffer.port_number(),
            payload: buffer.payload(),
        })
    })
}

impl<'a> Message<'a> {
    /// Returns the reply to a request; `None` if the message belongs to another request.
    pub(crate) fn answer(&self, request_id: RequestId) -> Option<Answer<'a>> {
        if (self.sequence, self.port) != (request_id.sequence, request_id.port) {
            return None;
        }
        let answer = match self.kind {
            NLMSG_NOOP => return None,
            NLMSG_ERROR => self.error_number().map_or(Answer::Malformed, Answer::from_error_number),
            NLMSG_DONE => Answer::from_error_number(self.error_number().unwrap_or(0)),
            NLMSG_OVERRUN => Answer::Malformed,
            kind => Answer::Message { kind, payload: self.payload },
        };
        Some(answer)
    }

    /// Returns `true` if the dumped data changed meanwhile, so that entries may be missing.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.flags & NLM_F_DUMP_INTR != 0
    }

    /// Returns the negative error number at the start of an error or of the end of a dump.
    fn error_number(&self) -> Option<i32> {
        self.payload.first_chunk().map(|number| i32::from_ne_bytes(*number))
    }
}

impl Answer<'_> {
    fn from_error_number(number: i32) -> Self {
        match number {
            0 => Self::Done,
            number => Self::Refused(number.saturating_neg()),
        }
    }
}

/// Parses the reply to a request that has one reply.
///
/// # Errors
/// The kernel's; `InvalidData` if the reply is malformed or only an acknowledgment.
pub(crate) fn single<T>(
    answer: Answer<'_>,
    parse: impl FnOnce(u16, &[u8]) -> Option<T>,
) -> io::Result<T> {
    match answer {
        Answer::Message { kind, payload } => parse(kind, payload).ok_or_else(malformed),
        Answer::Refused(number) => Err(io::Error::from_raw_os_error(number)),
        Answer::Done | Answer::Malformed => Err(malformed()),
    }
}

/// A dump in progress.
#[derive(Debug)]
pub(crate) struct Dump<E> {
    request_id: RequestId,
    entries: Vec<E>,
    is_interrupted: bool,
}

impl<E> Dump<E> {
    pub(crate) fn new(request_id: RequestId) -> Self {
        Self { request_id, entries: Vec::new(), is_interrupted: false }
    }

    /// Adds a datagram. Returns `true` if it was the last. Entries that `parse` rejects are
    /// skipped.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn take(
        &mut self,
        datagram: &[u8],
        parse: &mut impl FnMut(u16, &[u8]) -> Option<E>,
    ) -> io::Result<bool> {
        for message in messages(datagram) {
            let Some(answer) = message.answer(self.request_id) else { continue };
            self.is_interrupted |= message.is_interrupted();
            match answer {
                Answer::Message { kind, payload } => self.entries.extend(parse(kind, payload)),
                Answer::Done => return Ok(true),
                Answer::Refused(number) => return Err(io::Error::from_raw_os_error(number)),
                Answer::Malformed => return Err(malformed()),
            }
        }
        Ok(false)
    }

    /// Returns all entries; `None` if some may be missing.
    pub(crate) fn finish(self) -> Option<Vec<E>> {
        (!self.is_interrupted).then_some(self.entries)
    }
}

#[cold]
pub(crate) fn malformed() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: RequestId = RequestId { sequence: 7, port: 9 };
    const ADDRESS: u16 = 20;

    fn message(kind: u16, flags: u16, request_id: RequestId, payload: &[u8]) -> Vec<u8> {
        let mut bytes = (16 + payload.len() as u32).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        bytes.extend(request_id.sequence.to_ne_bytes());
        bytes.extend(request_id.port.to_ne_bytes());
        bytes.extend(payload);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn dump(datagrams: &[Vec<u8>]) -> (io::Result<bool>, Option<Vec<Vec<u8>>>) {
        let mut dump = Dump::new(ASKED);
        let mut ended = Ok(false);
        for datagram in datagrams {
            ended = dump
                .take(datagram, &mut |kind, payload| (kind == ADDRESS).then(|| payload.to_vec()));
        }
        (ended, dump.finish())
    }

    fn done(number: i32) -> Vec<u8> {
        message(NLMSG_DONE, 0, ASKED, &number.to_ne_bytes())
    }

    #[test]
    fn messages_are_padded_to_four_bytes() {
        let datagram = [message(1, 2, ASKED, b"one"), message(3, 4, ASKED, b"other")].concat();
        let found: Vec<_> = messages(&datagram).map(|m| (m.kind, m.flags, m.payload)).collect();
        assert_eq!(found, [(1, 2, &b"one"[..]), (3, 4, b"other")]);
        // The last message may lack its padding.
        assert_eq!(messages(&datagram[..datagram.len() - 3]).count(), 2);
        assert_eq!(messages(&datagram[..datagram.len() - 4]).count(), 1);
    }

    #[test]
    fn incomplete_message_ends_the_datagram() {
        for length in [0_u32, 15, 17, u32::MAX] {
            let mut bytes = message(1, 0, ASKED, b"");
            bytes[..4].copy_from_slice(&length.to_ne_bytes());
            assert_eq!(messages(&bytes).count(), 0, "{length}");
        }
    }

    #[test]
    fn replies_to_other_requests_are_ignored() {
        for stranger in [RequestId { sequence: 6, ..ASKED }, RequestId { port: 8, ..ASKED }] {
            let bytes = message(ADDRESS, 0, stranger, b"a");
            assert_eq!(messages(&bytes).next().unwrap().answer(ASKED), None);
        }
        let bytes = message(NLMSG_NOOP, 0, ASKED, b"");
        assert_eq!(messages(&bytes).next().unwrap().answer(ASKED), None);
        let bytes = message(ADDRESS, 0, ASKED, b"a");
        let answer = Answer::Message { kind: ADDRESS, payload: b"a" };
        assert_eq!(messages(&bytes).next().unwrap().answer(ASKED), Some(answer));
    }

    #[test]
    fn error_numbers_are_negated_and_zero_is_success() {
        let answer = |kind, payload: &[u8]| {
            let bytes = message(kind, 0, ASKED, payload);
            messages(&bytes).next().unwrap().answer(ASKED).map(|answer| format!("{answer:?}"))
        };
        let number = |number: i32| number.to_ne_bytes();
        assert_eq!(answer(NLMSG_ERROR, &number(-101)).unwrap(), "Refused(101)");
        assert_eq!(answer(NLMSG_ERROR, &number(0)).unwrap(), "Done");
        assert_eq!(answer(NLMSG_ERROR, &number(i32::MIN)).unwrap(), "Refused(2147483647)");
        assert_eq!(answer(NLMSG_ERROR, b"abc").unwrap(), "Malformed");
        assert_eq!(answer(NLMSG_DONE, b"").unwrap(), "Done");
        assert_eq!(answer(NLMSG_DONE, &number(-19)).unwrap(), "Refused(19)");
        assert_eq!(answer(NLMSG_OVERRUN, b"").unwrap(), "Malformed");
    }

    #[test]
    fn single_reply_is_parsed_or_an_error() {
        let parse = |_: u16, payload: &[u8]| payload.first().copied();
        let kind = |answer| single(answer, parse).unwrap_err().kind();
        let one = Answer::Message { kind: 1, payload: &[5] };
        assert_eq!(single(one, parse).unwrap(), 5);
        let empty = Answer::Message { kind: 1, payload: &[] };
        for answer in [empty, Answer::Done, Answer::Malformed] {
            assert_eq!(kind(answer), io::ErrorKind::InvalidData);
        }
        assert_eq!(kind(Answer::Refused(libc::EACCES)), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn dump_continues_until_done() {
        let first = message(ADDRESS, 0, ASKED, b"one!");
        let other = message(99, 0, ASKED, b"link");
        let strange = message(ADDRESS, 0, RequestId { sequence: 1, ..ASKED }, b"late");
        let (ended, entries) = dump(&[[first.clone(), other, strange].concat()]);
        assert!(!ended.unwrap());
        assert_eq!(entries.unwrap(), [b"one!"]);
        let (ended, entries) = dump(&[first.clone(), first, done(0)]);
        assert!(ended.unwrap());
        assert_eq!(entries.unwrap(), [b"one!", b"one!"]);
        assert_eq!(dump(&[done(-libc::ENODEV)]).0.unwrap_err().raw_os_error(), Some(libc::ENODEV));
    }

    #[test]
    fn interrupted_dump_is_discarded() {
        let interrupted = |kind, payload: &[u8]| message(kind, NLM_F_DUMP_INTR, ASKED, payload);
        let complete = message(ADDRESS, 0, ASKED, b"one!");
        for datagrams in [
            [interrupted(ADDRESS, b"one!"), complete.clone(), done(0)],
            [complete.clone(), complete.clone(), interrupted(NLMSG_DONE, &[0; 4])],
        ] {
            let (ended, entries) = dump(&datagrams);
            assert!(ended.unwrap());
            assert_eq!(entries, None);
        }
    }
}
