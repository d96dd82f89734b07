//! One side of the feeds by TCP: who listens to it.

use std::io;
use std::net::SocketAddrV4;

use hairpin_endpoint::{TcpListener, TcpOptions, TcpStream};
use hairpin_reactor::{Interest, Reactor, Ready, Token, Wait};
use hairpin_time::Instant;

use super::acceptor::{Accepted, Acceptor, RARELY};
use super::counters::ExchangeCounters;
use super::settings::TcpFeed;
use super::subscriber::Subscriber;

/// Bytes read at once of what a trader should not send.
const CHUNK_MAX: usize = 256;

/// A listener and the connections it has brought.
#[derive(Debug)]
pub(super) struct TcpSide {
    acceptor: Acceptor,
    subscribers: Vec<Place>,
    backlog_max: usize,
    /// When a spinning loop looks for ended connections next.
    next_look: Instant,
}

/// A connection, and how the reactor knows it.
#[derive(Debug)]
struct Place {
    subscriber: Subscriber,
    token: Token,
    interest: Interest,
}

impl TcpSide {
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
            next_look: now,
        })
    }

    pub(super) fn address(&self) -> SocketAddrV4 {
        self.acceptor.address()
    }

    /// Connections at present.
    pub(super) fn connections(&self) -> usize {
        self.subscribers.len()
    }

    /// Writes a packet behind its length to every connection.
    #[inline]
    pub(super) fn send(
        &mut self,
        frame: &[u8],
        comes_again: bool,
        counters: &mut ExchangeCounters,
    ) {
        for place in &mut self.subscribers {
            place.subscriber.send(frame, comes_again, counters);
        }
    }

    /// When [`TcpSide::tend`] has something to do although nothing arrives.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let is_due = |place: &Place| {
            place.subscriber.is_over() || place.subscriber.interest() != place.interest
        };
        if self.subscribers.iter().any(is_due) {
            return Some(Instant::ZERO);
        }
        self.acceptor.poll_timeout()
    }

    /// Writes what was kept, drops who has gone, and lets in who has come.
    #[inline]
    pub(super) fn tend(
        &mut self,
        now: Instant,
        ready: Ready,
        reactor: &mut Reactor,
        counters: &mut ExchangeCounters,
    ) -> io::Result<()> {
        let is_early = reactor.kind() == Wait::Spin && now < self.next_look;
        if !is_early {
            self.next_look = now + RARELY;
        }
        let mut index = 0;
        while let Some(place) = self.subscribers.get_mut(index) {
            if place.interest == Interest::BOTH && ready.is_writable(place.token) {
                place.subscriber.flush(counters);
            }
            if !is_early && ready.is_readable(place.token) {
                place.subscriber.listen(counters);
            }
            if place.subscriber.is_over() {
                let Place { subscriber, token, .. } = self.subscribers.swap_remove(index);
                reactor.remove(token, &mut subscriber.into_stream())?;
                continue;
            }
            let interest = place.subscriber.interest();
            if interest != place.interest {
                place.interest = interest;
                reactor.set_interest(place.token, place.subscriber.stream(), interest)?;
            }
            index += 1;
        }
        match self.acceptor.accept(now, ready, reactor)? {
            Accepted::Stream(stream) => self.admit(stream, reactor, counters),
            Accepted::Nobody => {}
            Accepted::Failed => counters.failed_accepts += 1,
        }
        Ok(())
    }

    /// Gives a connection a place; without one the stream is dropped, which closes it.
    #[cold]
    fn admit(
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
        self.subscribers.push(Place { subscriber, token, interest });
    }
}
