//! A TCP feed line: its listener and its subscribers.

use std::io;
use std::net::SocketAddrV4;

use hairpin_endpoint::{TcpListener, TcpOptions, TcpStream};
use hairpin_reactor::{Interest, Reactor, Ready, Token, Wait};
use hairpin_time::Instant;

use super::acceptor::{Accepted, Acceptor, CHECK_INTERVAL};
use super::counters::ExchangeCounters;
use super::settings::TcpFeed;
use super::subscriber::Subscriber;

/// Bytes of unexpected input read at once.
const CHUNK_MAX: usize = 256;

/// A listener and its accepted connections.
#[derive(Debug)]
pub(super) struct TcpLine {
    acceptor: Acceptor,
    subscribers: Vec<Registered>,
    backlog_max: usize,
    /// The time at which a spinning loop checks for closed connections next.
    next_check: Instant,
}

/// A connection and its registration with the reactor.
#[derive(Debug)]
struct Registered {
    subscriber: Subscriber,
    token: Token,
    interest: Interest,
}

impl TcpLine {
    pub(super) fn new(
        listener: TcpListener,
        feed: &TcpFeed,
        now: Instant,
        reactor: &mut Reactor,
    ) -> io::Result<Self> {
        let options = TcpOptions { chunk_max: CHUNK_MAX, message_max: 0, ..TcpOptions::default() };
        Ok(Self {
            acceptor: Acceptor::new(listener, options, now, reactor)?,
            subscribers: Vec::with_capacity(feed.connections as usize),
            backlog_max: feed.backlog,
            next_check: now,
        })
    }

    pub(super) fn address(&self) -> SocketAddrV4 {
        self.acceptor.address()
    }

    /// Returns the number of connections.
    pub(super) fn connections(&self) -> usize {
        self.subscribers.len()
    }

    /// Writes a packet with its length prefix to every connection.
    #[inline]
    pub(super) fn send(&mut self, frame: &[u8], skippable: bool, counters: &mut ExchangeCounters) {
        for registered in &mut self.subscribers {
            registered.subscriber.send(frame, skippable, counters);
        }
    }

    /// Returns the time at which [`TcpLine::poll`] has work to do even if nothing arrives.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let is_due = |registered: &Registered| {
            registered.subscriber.is_finished()
                || registered.subscriber.interest() != registered.interest
        };
        if self.subscribers.iter().any(is_due) {
            return Some(Instant::ZERO);
        }
        self.acceptor.poll_timeout()
    }

    /// Writes queued bytes, drops closed connections and accepts new ones.
    #[inline]
    pub(super) fn poll(
        &mut self,
        now: Instant,
        ready: Ready,
        reactor: &mut Reactor,
        counters: &mut ExchangeCounters,
    ) -> io::Result<()> {
        let is_early = reactor.kind() == Wait::Spin && now < self.next_check;
        if !is_early {
            self.next_check = now + CHECK_INTERVAL;
        }
        let mut index = 0;
        while let Some(registered) = self.subscribers.get_mut(index) {
            if registered.interest == Interest::BOTH && ready.is_writable(registered.token) {
                registered.subscriber.flush(counters);
            }
            if !is_early && ready.is_readable(registered.token) {
                registered.subscriber.read_input(counters);
            }
            if registered.subscriber.is_finished() {
                let Registered { subscriber, token, .. } = self.subscribers.swap_remove(index);
                reactor.remove(token, &mut subscriber.into_stream())?;
                continue;
            }
            let interest = registered.subscriber.interest();
            if interest != registered.interest {
                registered.interest = interest;
                reactor.set_interest(registered.token, registered.subscriber.stream(), interest)?;
            }
            index += 1;
        }
        match self.acceptor.accept(now, ready, reactor)? {
            Accepted::Stream(stream) => self.add(stream, reactor, counters),
            Accepted::None => {}
            Accepted::Exhausted | Accepted::Failed => counters.failed_accepts += 1,
        }
        Ok(())
    }

    /// Adds a connection. If all slots are taken, dropping the stream closes it.
    #[cold]
    fn add(
        &mut self,
        mut stream: TcpStream,
        reactor: &mut Reactor,
        counters: &mut ExchangeCounters,
    ) {
        if self.subscribers.len() == self.subscribers.capacity() {
            counters.refused_feed_connections += 1;
            return;
        }
        let interest = Interest::READABLE;
        let Ok(token) = reactor.add(&mut stream, interest) else {
            counters.failed_accepts += 1;
            return;
        };
        counters.feed_connections += 1;
        let subscriber = Subscriber::new(stream, self.backlog_max);
        self.subscribers.push(Registered { subscriber, token, interest });
    }
}
