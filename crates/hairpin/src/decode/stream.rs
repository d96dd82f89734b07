//! One direction of a TCP connection, put together from its segments.

use super::Framing;

/// A stream: the bytes that are not yet whole frames.
///
/// Segments have to come in order: one that comes after a later one counts as missing, then as sent
/// again. A capture may begin in the middle of a connection.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// How its messages are framed, once that is known.
    pub(super) framing: Option<Framing>,
    /// Sequence number and sending time of the packet that the next message is in, if it is in one
    /// that has begun.
    pub(super) packet: Option<(u32, u64)>,
    /// Whether it was already said that this stream has no known framing.
    pub(super) is_foreign: bool,
    next: Option<u32>,
    bytes: Vec<u8>,
}

/// What became of a segment.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pushed {
    /// It followed, perhaps overlapping, what was there.
    Whole,
    /// This many bytes are missing; the stream begins anew behind them.
    Gap(u32),
}

impl Stream {
    /// Takes a segment whose first byte, or SYN, has this sequence number.
    pub(super) fn push(&mut self, sequence: u32, is_syn: bool, bytes: &[u8]) -> Pushed {
        let start = sequence.wrapping_add(u32::from(is_syn));
        let next = match self.next {
            Some(next) if !is_syn => next,
            _ => {
                self.bytes.clear();
                start
            }
        };
        // A probe of an idle connection carries a byte that was sent before, or none.
        let ahead = start.wrapping_sub(next).cast_signed();
        if ahead > 0 && !bytes.is_empty() {
            self.bytes = bytes.to_vec();
            self.next = Some(start.wrapping_add(bytes.len() as u32));
            return Pushed::Gap(ahead.unsigned_abs());
        }
        let known = (ahead.min(0).unsigned_abs() as usize).min(bytes.len());
        let fresh = &bytes[known..];
        self.bytes.extend_from_slice(fresh);
        self.next = Some(next.wrapping_add(fresh.len() as u32));
        Pushed::Whole
    }

    /// Bytes not yet consumed.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Forgets the first `count` bytes.
    pub(super) fn consume(&mut self, count: usize) {
        self.bytes.drain(..count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn puts_segments_together_across_the_wrap() {
        let mut stream = Stream::default();
        assert_eq!(stream.push(u32::MAX - 1, false, &[1, 2, 3]), Pushed::Whole);
        assert_eq!(stream.push(1, false, &[4]), Pushed::Whole);
        assert_eq!(stream.bytes(), [1, 2, 3, 4]);
        stream.consume(3);
        assert_eq!(stream.bytes(), [4]);
    }

    #[test]
    fn what_was_sent_before_is_left_out() {
        let mut stream = Stream::default();
        stream.push(10, true, &[]);
        assert_eq!(stream.push(11, false, &[1, 2]), Pushed::Whole);
        assert_eq!(stream.push(11, false, &[1, 2]), Pushed::Whole);
        assert_eq!(stream.push(12, false, &[2, 3]), Pushed::Whole);
        assert_eq!(stream.bytes(), [1, 2, 3]);
    }

    #[test]
    fn begins_anew_behind_a_gap() {
        let mut stream = Stream::default();
        stream.push(0, false, &[1]);
        assert_eq!(stream.push(5, false, &[9]), Pushed::Gap(4));
        assert_eq!(stream.bytes(), [9]);
        assert_eq!(stream.push(6, false, &[10]), Pushed::Whole);
        assert_eq!(stream.bytes(), [9, 10]);
    }

    #[test]
    fn a_bare_acknowledgement_is_no_gap() {
        let mut stream = Stream::default();
        stream.push(0, false, &[1]);
        assert_eq!(stream.push(7, false, &[]), Pushed::Whole);
        assert_eq!(stream.push(1, false, &[2]), Pushed::Whole);
    }
}
