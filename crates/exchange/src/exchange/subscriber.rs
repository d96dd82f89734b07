//! One connection of the feed by TCP.

use std::collections::VecDeque;
use std::io;

use hairpin_endpoint::{Stream, TcpStream};
use hairpin_reactor::Interest;

use super::counters::ExchangeCounters;

/// Chunks of what a trader should not send that are read in one turn.
const CHUNKS: usize = 4;

/// A trader's connection, and what it has yet to take.
///
/// It may fail in the midst of a packet's way to all; it is taken from the reactor in the next
/// turn of the loop.
#[derive(Debug)]
pub(super) struct Subscriber<S = TcpStream> {
    stream: S,
    /// Never grows beyond what it was made with.
    backlog: VecDeque<u8>,
    backlog_max: usize,
    is_over: bool,
}

impl<S: Stream> Subscriber<S> {
    /// All the memory that the connection will ever use is taken here.
    pub(super) fn new(stream: S, backlog_max: usize) -> Self {
        let backlog = VecDeque::with_capacity(backlog_max);
        Self { stream, backlog, backlog_max, is_over: false }
    }

    /// Writes a packet behind its length, or keeps what the kernel does not take.
    ///
    /// A packet that `comes_again` is left out where there is no room for any of it: else loops
    /// that go flat out would fill every backlog there is.
    #[inline]
    pub(super) fn send(
        &mut self,
        frame: &[u8],
        comes_again: bool,
        counters: &mut ExchangeCounters,
    ) {
        if self.is_over {
            return;
        }
        let sent = if self.backlog.is_empty() {
            write(&mut self.stream, frame, &mut self.is_over, counters)
        } else {
            0
        };
        if sent < frame.len() && !self.is_over {
            self.keep(&frame[sent..], sent == 0 && comes_again, counters);
        }
    }

    #[cold]
    fn keep(&mut self, bytes: &[u8], may_be_left_out: bool, counters: &mut ExchangeCounters) {
        if may_be_left_out {
            counters.feed_packets_left_out += 1;
            return;
        }
        if self.backlog.len() + bytes.len() > self.backlog_max {
            counters.feed_overflows += 1;
            self.is_over = true;
            return;
        }
        counters.feed_backlogs += 1;
        self.backlog.extend(bytes);
    }

    /// Writes what was kept.
    #[cold]
    pub(super) fn flush(&mut self, counters: &mut ExchangeCounters) {
        while !self.is_over && !self.backlog.is_empty() {
            let (first, _) = self.backlog.as_slices();
            let length = first.len();
            let sent = write(&mut self.stream, first, &mut self.is_over, counters);
            self.backlog.drain(..sent);
            if sent < length {
                return;
            }
        }
    }

    /// Reads what nobody should have sent, to learn of the end.
    pub(super) fn listen(&mut self, counters: &mut ExchangeCounters) {
        if self.is_over {
            return;
        }
        let unexpected = &mut counters.unexpected_feed_bytes;
        let received = self.stream.receive(CHUNKS, |_, bytes| *unexpected += bytes.len() as u64);
        match received {
            Ok(received) if received.closed => counters.feed_connections_ended += 1,
            Ok(_) => return,
            Err(_) => counters.broken_feed_connections += 1,
        }
        self.is_over = true;
    }

    /// What there is to wait for.
    #[inline]
    pub(super) fn interest(&self) -> Interest {
        if self.backlog.is_empty() { Interest::READABLE } else { Interest::BOTH }
    }

    /// Whether it has ended, failed or overflowed, and is to be dropped.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    pub(super) fn stream(&self) -> &S {
        &self.stream
    }

    pub(super) fn into_stream(self) -> S {
        self.stream
    }
}

/// Bytes that the stream has taken.
#[inline]
fn write(
    stream: &mut impl Stream,
    bytes: &[u8],
    is_over: &mut bool,
    counters: &mut ExchangeCounters,
) -> usize {
    match stream.write(bytes) {
        Ok(count) => {
            counters.feed_bytes_sent += count as u64;
            count
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
        Err(_) => {
            counters.broken_feed_connections += 1;
            *is_over = true;
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use hairpin_endpoint::Receive;
    use hairpin_endpoint::memory::{StreamEnd, streams};

    use super::*;

    fn pair(kernel: usize, backlog: usize) -> (Subscriber<StreamEnd>, StreamEnd) {
        let (ours, theirs) = streams(kernel);
        (Subscriber::new(ours, backlog), theirs)
    }

    fn read(end: &mut StreamEnd) -> Vec<u8> {
        let mut all = Vec::new();
        end.receive(8, |_, bytes| all.extend_from_slice(bytes)).unwrap();
        all
    }

    /// The counters of what is wrong.
    fn wrong(counters: &ExchangeCounters) -> [u64; 4] {
        let ExchangeCounters {
            broken_feed_connections,
            feed_overflows,
            refused_feed_connections,
            unexpected_feed_bytes,
            ..
        } = *counters;
        [broken_feed_connections, feed_overflows, refused_feed_connections, unexpected_feed_bytes]
    }

    #[test]
    fn what_fits_is_written_and_nothing_kept() {
        let (mut subscriber, mut trader) = pair(8, 8);
        let mut counters = ExchangeCounters::default();
        subscriber.send(b"abcd", false, &mut counters);
        subscriber.send(b"efgh", true, &mut counters);
        assert_eq!(read(&mut trader), b"abcdefgh");
        assert_eq!((counters.feed_bytes_sent, counters.feed_backlogs), (8, 0));
        assert_eq!(subscriber.interest(), Interest::READABLE);
    }

    #[test]
    fn what_was_kept_leaves_before_what_came_later() {
        let (mut subscriber, mut trader) = pair(5, 8);
        let mut counters = ExchangeCounters::default();
        subscriber.send(b"abcd", false, &mut counters);
        subscriber.send(b"efgh", false, &mut counters);
        subscriber.send(b"ijkl", false, &mut counters);
        assert_eq!((subscriber.interest(), counters.feed_backlogs), (Interest::BOTH, 2));
        assert_eq!(read(&mut trader), b"abcde");
        // There is room, but not for what came last.
        subscriber.send(b"m", false, &mut counters);
        assert_eq!(read(&mut trader), b"");
        subscriber.flush(&mut counters);
        assert_eq!(read(&mut trader), b"fghij");
        subscriber.flush(&mut counters);
        assert_eq!(read(&mut trader), b"klm");
        assert_eq!((subscriber.interest(), counters.feed_bytes_sent), (Interest::READABLE, 13));
        assert!(!subscriber.is_over() && wrong(&counters) == [0; 4]);
    }

    #[test]
    fn a_packet_that_comes_again_is_left_out_whole_or_sent_whole() {
        let (mut subscriber, mut trader) = pair(6, 8);
        let mut counters = ExchangeCounters::default();
        subscriber.send(b"abcd", true, &mut counters);
        subscriber.send(b"efgh", true, &mut counters);
        subscriber.send(b"ijkl", true, &mut counters);
        assert_eq!(counters.feed_packets_left_out, 1);
        assert_eq!(read(&mut trader), b"abcdef");
        subscriber.flush(&mut counters);
        subscriber.send(b"mnop", true, &mut counters);
        subscriber.send(b"qrst", true, &mut counters);
        assert_eq!(read(&mut trader), b"ghmnop");
        // Not a byte of the last one had room.
        assert_eq!(
            (counters.feed_packets_left_out, subscriber.interest()),
            (2, Interest::READABLE)
        );
    }

    #[test]
    fn a_backlog_holds_as_much_as_was_said_and_grows_never() {
        let (mut subscriber, _trader) = pair(4, 8);
        let capacity = subscriber.backlog.capacity();
        let mut counters = ExchangeCounters::default();
        for frame in [b"abcd", b"efgh", b"ijkl"] {
            subscriber.send(frame, false, &mut counters);
        }
        assert!(!subscriber.is_over());
        subscriber.send(b"m", false, &mut counters);
        assert!(subscriber.is_over());
        assert_eq!((wrong(&counters), subscriber.backlog.capacity()), ([0, 1, 0, 0], capacity));
        // It is counted once, and nothing more is sent.
        subscriber.send(b"n", false, &mut counters);
        subscriber.flush(&mut counters);
        subscriber.listen(&mut counters);
        assert_eq!((wrong(&counters), counters.feed_bytes_sent), ([0, 1, 0, 0], 4));
    }

    #[test]
    fn the_end_that_a_trader_makes_is_no_error() {
        let (mut subscriber, mut trader) = pair(4, 8);
        let mut counters = ExchangeCounters::default();
        trader.shutdown().unwrap();
        subscriber.listen(&mut counters);
        assert!(subscriber.is_over());
        assert_eq!((counters.feed_connections_ended, wrong(&counters)), (1, [0; 4]));
    }
}
