//! Endpoints in memory, for tests of code that uses the endpoint traits.
//!
//! ```
//! use hairpin_endpoint::{Receive, Transmit, memory};
//!
//! let (mut publisher, mut handler) = memory::datagrams(16);
//! publisher.transmit(3, |bytes| bytes.copy_from_slice(b"abc"))?;
//! let received = handler.receive(8, |_, bytes| assert_eq!(bytes, b"abc"))?;
//! assert!(received.count == 1 && received.drained);
//! # Ok::<(), std::io::Error>(())
//! ```

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Meta, Receive, Received, Stream, Timestamp, Transmit};

/// Creates the two ends of a datagram path. Each end queues up to `capacity` datagrams for the
/// other.
#[must_use]
pub fn datagrams(capacity: usize) -> (DatagramEnd, DatagramEnd) {
    let (there, back) = (Queue::default(), Queue::default());
    let one = DatagramEnd {
        incoming: back.clone(),
        outgoing: there.clone(),
        capacity,
        meta: UNSPECIFIED,
    };
    let other = DatagramEnd { incoming: there, outgoing: back, capacity, meta: UNSPECIFIED };
    (one, other)
}

/// Creates the two ends of a connection. Each end queues up to `capacity` bytes for the other.
#[must_use]
pub fn streams(capacity: usize) -> (StreamEnd, StreamEnd) {
    let (there, back) = (Queue::default(), Queue::default());
    (StreamEnd::new(&back, &there, capacity), StreamEnd::new(&there, &back, capacity))
}

const UNSPECIFIED: Meta =
    Meta { source: SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0), timestamp: Timestamp::None };

/// An end of a datagram path.
#[derive(Debug)]
pub struct DatagramEnd {
    incoming: Queue<(Meta, Vec<u8>)>,
    outgoing: Queue<(Meta, Vec<u8>)>,
    capacity: usize,
    meta: Meta,
}

impl DatagramEnd {
    /// Sets the metadata with which the other end receives the datagrams sent from now on.
    pub fn set_meta(&mut self, meta: Meta) {
        self.meta = meta;
    }
}

impl Receive for DatagramEnd {
    fn receive(&mut self, budget: usize, mut on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        let mut count = 0;
        while count < budget {
            // Removed before it is delivered: `on` may use the other end.
            let Some((meta, bytes)) = self.incoming.open().items.pop_front() else { break };
            on(meta, &bytes);
            count += 1;
        }
        Ok(Received { count, drained: count < budget, closed: false })
    }
}

impl Transmit for DatagramEnd {
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        let mut bytes = vec![0; length];
        fill(&mut bytes);
        let mut outgoing = self.outgoing.open();
        if outgoing.items.len() >= self.capacity {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        outgoing.items.push_back((self.meta, bytes));
        Ok(())
    }
}

/// An end of a connection. Dropping it closes the connection.
#[derive(Debug)]
pub struct StreamEnd {
    incoming: Queue<u8>,
    outgoing: Queue<u8>,
    capacity: usize,
    pending: Vec<u8>,
    meta: Meta,
}

impl StreamEnd {
    fn new(incoming: &Queue<u8>, outgoing: &Queue<u8>, capacity: usize) -> Self {
        let (incoming, outgoing) = (incoming.clone(), outgoing.clone());
        Self { incoming, outgoing, capacity, pending: Vec::new(), meta: UNSPECIFIED }
    }

    /// Sets the metadata with which this end delivers received bytes.
    pub fn set_meta(&mut self, meta: Meta) {
        self.meta = meta;
    }

    fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut outgoing = self.outgoing.open();
        if outgoing.ended {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let room = self.capacity.saturating_sub(outgoing.items.len()).min(bytes.len());
        if room == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        outgoing.items.extend(&bytes[..room]);
        Ok(room)
    }
}

impl Receive for StreamEnd {
    fn receive(&mut self, budget: usize, mut on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        if budget == 0 {
            return Ok(Received::default());
        }
        let (bytes, closed) = {
            let mut incoming = self.incoming.open();
            (Vec::from(std::mem::take(&mut incoming.items)), incoming.ended)
        };
        if !bytes.is_empty() {
            on(self.meta, &bytes);
        }
        Ok(Received { count: usize::from(!bytes.is_empty()), drained: true, closed })
    }
}

impl Transmit for StreamEnd {
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        if !self.flush()? {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.pending.resize(length, 0);
        fill(&mut self.pending);
        self.flush().map(drop)
    }
}

impl Stream for StreamEnd {
    fn is_connected(&self) -> bool {
        true
    }

    fn finish_connect(&mut self) -> io::Result<bool> {
        Ok(true)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.flush()? {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.send(bytes)
    }

    fn flush(&mut self) -> io::Result<bool> {
        if !self.pending.is_empty() {
            match self.send(&self.pending) {
                Ok(count) => drop(self.pending.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.pending.is_empty())
    }

    fn shutdown(&mut self) -> io::Result<()> {
        self.outgoing.open().ended = true;
        Ok(())
    }
}

impl Drop for StreamEnd {
    fn drop(&mut self) {
        self.outgoing.open().ended = true;
        // No process reads further data: the peer's writes fail with a broken pipe.
        self.incoming.open().ended = true;
    }
}

/// A direction of a path, shared by both ends, which may be on different threads.
#[derive(Debug)]
struct Queue<T>(Arc<Mutex<Contents<T>>>);

#[derive(Debug)]
struct Contents<T> {
    items: VecDeque<T>,
    ended: bool,
}

impl<T> Queue<T> {
    fn open(&self) -> MutexGuard<'_, Contents<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Contents { items: VecDeque::new(), ended: false })))
    }
}

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(end: &mut StreamEnd) -> (Vec<u8>, bool) {
        let mut all = Vec::new();
        let received = end.receive(8, |_, bytes| all.extend_from_slice(bytes)).unwrap();
        (all, received.closed)
    }

    #[test]
    fn datagrams_keep_order_and_boundaries() {
        let (mut one, mut other) = datagrams(8);
        for length in [1, 0, 3] {
            one.transmit(length, |bytes| bytes.fill(length as u8)).unwrap();
        }
        let mut lengths = Vec::new();
        let received = other.receive(2, |_, bytes| lengths.push(bytes.len())).unwrap();
        assert_eq!(received, Received { count: 2, drained: false, closed: false });
        let received = other.receive(2, |_, bytes| lengths.push(bytes.len())).unwrap();
        assert_eq!(received, Received { count: 1, drained: true, closed: false });
        assert_eq!(lengths, [1, 0, 3]);
    }

    #[test]
    fn transmit_fails_when_path_is_full() {
        let (mut one, mut other) = datagrams(1);
        one.transmit(1, |_| {}).unwrap();
        let error = one.transmit(1, |_| {}).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        assert_eq!(other.receive(8, |_, _| {}).unwrap().count, 1);
        one.transmit(1, |_| {}).unwrap();
    }

    #[test]
    fn write_is_partial_when_connection_is_nearly_full() {
        let (mut one, mut other) = streams(4);
        assert_eq!(one.write(b"abcdef").unwrap(), 4);
        assert_eq!(one.write(b"ef").unwrap_err().kind(), io::ErrorKind::WouldBlock);
        assert_eq!(read(&mut other), (b"abcd".to_vec(), false));
        assert_eq!(one.write(b"ef").unwrap(), 2);
    }

    #[test]
    fn pending_message_is_sent_whole_before_next() {
        let (mut one, mut other) = streams(4);
        one.transmit(6, |bytes| bytes.copy_from_slice(b"abcdef")).unwrap();
        let refused = one.transmit(1, |_| panic!("fill must not be called")).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
        assert_eq!(one.write(b"g").unwrap_err().kind(), io::ErrorKind::WouldBlock);
        assert_eq!(read(&mut other).0, b"abcd");
        assert!(one.flush().unwrap());
        assert_eq!(one.write(b"g").unwrap(), 1);
        assert_eq!(read(&mut other).0, b"efg");
    }

    #[test]
    fn delivers_data_before_end_of_stream() {
        let (mut one, mut other) = streams(4);
        one.write(b"ab").unwrap();
        one.shutdown().unwrap();
        assert_eq!(other.write(b"cd").unwrap(), 2);
        assert_eq!(read(&mut other), (b"ab".to_vec(), true));
        assert_eq!(read(&mut one), (b"cd".to_vec(), false));
        drop(one);
        assert_eq!(other.write(b"e").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
