//! A connection of the TCP feed.

use std::collections::VecDeque;
use std::io;

use hairpin_endpoint::{Stream, TcpStream};
use hairpin_reactor::Interest;

use super::counters::ExchangeCounters;

/// Chunks of unexpected input read in one loop iteration.
const CHUNKS: usize = 4;

/// A trader's connection and its queue of unsent bytes.
///
/// A connection can fail while a packet is being sent to all of them. The next loop iteration
/// removes it from the reactor.
#[derive(Debug)]
pub(super) struct Subscriber<S = TcpStream> {
    stream: S,
    /// The unsent bytes. The queue never grows beyond its initial capacity.
    backlog: VecDeque<u8>,
    backlog_max: usize,
    finished: bool,
}

impl<S: Stream> Subscriber<S> {
    /// Allocates all the memory that the connection will ever use.
    pub(super) fn new(stream: S, backlog_max: usize) -> Self {
        let backlog = VecDeque::with_capacity(backlog_max);
        Self { stream, backlog, backlog_max, finished: false }
    }

    /// Writes a packet with its length prefix, and queues the bytes that the kernel does not
    /// accept.
    ///
    /// A `skippable` packet is dropped if none of its bytes can be written. Otherwise the feed
    /// loops at [`Pace::FlatOut`](crate::Pace::FlatOut) would fill every queue.
    #[inline]
    pub(super) fn send(&mut self, frame: &[u8], skippable: bool, counters: &mut ExchangeCounters) {
        if self.finished {
            return;
        }
        let sent = if self.backlog.is_empty() {
            write(&mut self.stream, frame, &mut self.finished, counters)
        } else {
            0
        };
        if sent < frame.len() && !self.finished {
            self.queue(&frame[sent..], sent == 0 && skippable, counters);
        }
    }

    #[cold]
    fn queue(&mut self, bytes: &[u8], skippable: bool, counters: &mut ExchangeCounters) {
        if skippable {
            counters.feed_packets_left_out += 1;
            return;
        }
        if self.backlog.len() + bytes.len() > self.backlog_max {
            counters.feed_overflows += 1;
            self.finished = true;
            return;
        }
        counters.feed_backlogs += 1;
        self.backlog.extend(bytes);
    }

    /// Writes queued bytes.
    #[cold]
    pub(super) fn flush(&mut self, counters: &mut ExchangeCounters) {
        while !self.finished && !self.backlog.is_empty() {
            let (first, _) = self.backlog.as_slices();
            let length = first.len();
            let sent = write(&mut self.stream, first, &mut self.finished, counters);
            self.backlog.drain(..sent);
            if sent < length {
                return;
            }
        }
    }

    /// Reads unexpected input, and detects that the trader has closed the connection.
    pub(super) fn read_input(&mut self, counters: &mut ExchangeCounters) {
        if self.finished {
            return;
        }
        let unexpected = &mut counters.unexpected_feed_bytes;
        let received = self.stream.receive(CHUNKS, |_, bytes| *unexpected += bytes.len() as u64);
        match received {
            Ok(received) if received.closed => counters.feed_connections_ended += 1,
            Ok(_) => return,
            Err(_) => counters.broken_feed_connections += 1,
        }
        self.finished = true;
    }

    /// Returns the readiness to wait for.
    #[inline]
    pub(super) fn interest(&self) -> Interest {
        if self.backlog.is_empty() { Interest::READABLE } else { Interest::BOTH }
    }

    /// Returns `true` if the connection has ended, failed or overflowed, and must be removed.
    #[inline]
    pub(super) fn is_finished(&self) -> bool {
        self.finished
    }

    pub(super) fn stream(&self) -> &S {
        &self.stream
    }

    pub(super) fn into_stream(self) -> S {
        self.stream
    }
}

/// Writes to the stream and returns the number of bytes accepted.
#[inline]
fn write(
    stream: &mut impl Stream,
    bytes: &[u8],
    finished: &mut bool,
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
            *finished = true;
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

    /// Returns the error and warning counters.
    fn error_counters(counters: &ExchangeCounters) -> [u64; 4] {
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
    fn writes_directly_while_the_kernel_has_room() {
        let (mut subscriber, mut trader) = pair(8, 8);
        let mut counters = ExchangeCounters::default();
        subscriber.send(b"abcd", false, &mut counters);
        subscriber.send(b"efgh", true, &mut counters);
        assert_eq!(read(&mut trader), b"abcdefgh");
        assert_eq!((counters.feed_bytes_sent, counters.feed_backlogs), (8, 0));
        assert_eq!(subscriber.interest(), Interest::READABLE);
    }

    #[test]
    fn sends_queued_bytes_before_newer_packets() {
        let (mut subscriber, mut trader) = pair(5, 8);
        let mut counters = ExchangeCounters::default();
        subscriber.send(b"abcd", false, &mut counters);
        subscriber.send(b"efgh", false, &mut counters);
        subscriber.send(b"ijkl", false, &mut counters);
        assert_eq!((subscriber.interest(), counters.feed_backlogs), (Interest::BOTH, 2));
        assert_eq!(read(&mut trader), b"abcde");
        // There is room, but older bytes are queued.
        subscriber.send(b"m", false, &mut counters);
        assert_eq!(read(&mut trader), b"");
        subscriber.flush(&mut counters);
        assert_eq!(read(&mut trader), b"fghij");
        subscriber.flush(&mut counters);
        assert_eq!(read(&mut trader), b"klm");
        assert_eq!((subscriber.interest(), counters.feed_bytes_sent), (Interest::READABLE, 13));
        assert!(!subscriber.is_finished() && error_counters(&counters) == [0; 4]);
    }

    #[test]
    fn skips_or_sends_skippable_packets_whole() {
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
        // The kernel had no room for any byte of the last packet.
        assert_eq!(
            (counters.feed_packets_left_out, subscriber.interest()),
            (2, Interest::READABLE)
        );
    }

    #[test]
    fn backlog_never_exceeds_its_capacity() {
        let (mut subscriber, _trader) = pair(4, 8);
        let capacity = subscriber.backlog.capacity();
        let mut counters = ExchangeCounters::default();
        for frame in [b"abcd", b"efgh", b"ijkl"] {
            subscriber.send(frame, false, &mut counters);
        }
        assert!(!subscriber.is_finished());
        subscriber.send(b"m", false, &mut counters);
        assert!(subscriber.is_finished());
        assert_eq!(
            (error_counters(&counters), subscriber.backlog.capacity()),
            ([0, 1, 0, 0], capacity)
        );
        // The overflow is counted once, and nothing more is sent.
        subscriber.send(b"n", false, &mut counters);
        subscriber.flush(&mut counters);
        subscriber.read_input(&mut counters);
        assert_eq!((error_counters(&counters), counters.feed_bytes_sent), ([0, 1, 0, 0], 4));
    }

    #[test]
    fn close_by_the_trader_is_not_an_error() {
        let (mut subscriber, mut trader) = pair(4, 8);
        let mut counters = ExchangeCounters::default();
        trader.shutdown().unwrap();
        subscriber.read_input(&mut counters);
        assert!(subscriber.is_finished());
        assert_eq!((counters.feed_connections_ended, error_counters(&counters)), (1, [0; 4]));
    }
}
