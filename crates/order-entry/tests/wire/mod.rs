//! A connection that takes as much as it is given room for, and a session on it.

#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "all of this file is tests")]

use std::fs::File;
use std::io::{self, IoSlice};
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::exchange::{self, Exchange, frames, now, seq_num, template_id};
use hairpin_endpoint::{Blocker, Meta, Receive, Received, Source, Stream, Timestamp, Transmit};
use hairpin_mapped::{Journal, Storage};
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::Duration;

/// What both the test and the connection see.
#[derive(Default)]
pub(crate) struct Wire {
    pub(crate) exchange: Exchange,
    /// Bytes the connection still takes.
    pub(crate) room: usize,
    /// The next write fails so.
    pub(crate) failure: Option<io::ErrorKind>,
    /// No connection can be made, for this reason.
    pub(crate) refusal: Option<io::ErrorKind>,
    /// All it has taken, and with how many writes.
    pub(crate) taken: Vec<u8>,
    pub(crate) writes: usize,
    /// What is to be received, and whether the stream ends after it.
    pub(crate) incoming: Vec<u8>,
    pub(crate) is_ended: bool,
    /// How often what comes has more behind it, which is the same again.
    pub(crate) repeats: usize,
    /// Where connections were asked for.
    pub(crate) dialled: Vec<SocketAddrV4>,
}

#[derive(Clone, Default)]
pub(crate) struct Shared(Arc<Mutex<Wire>>);

impl Shared {
    pub(crate) fn wire(&self) -> MutexGuard<'_, Wire> {
        self.0.lock().unwrap()
    }

    /// Templates, and for orders numbers, of all whole frames that were taken.
    pub(crate) fn taken(&self) -> Vec<(u16, u32)> {
        let wire = self.wire();
        let number = |frame: &[u8]| if template_id(frame) < 514 { 0 } else { seq_num(frame) };
        frames(&wire.taken).iter().map(|frame| (template_id(frame), number(frame))).collect()
    }
}

pub(crate) struct Connection {
    shared: Shared,
    descriptor: File,
}

impl Receive for Connection {
    fn receive(&mut self, _: usize, mut on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        let mut wire = self.shared.wire();
        let meta = Meta { source: SocketAddrV4::new([0; 4].into(), 0), timestamp: Timestamp::None };
        let is_last = wire.repeats == 0;
        wire.repeats = wire.repeats.saturating_sub(1);
        let incoming = match is_last {
            true => std::mem::take(&mut wire.incoming),
            false => wire.incoming.clone(),
        };
        let closed = wire.is_ended;
        drop(wire);
        if !incoming.is_empty() {
            on(meta, &incoming);
        }
        Ok(Received { count: usize::from(!incoming.is_empty()), drained: is_last, closed })
    }
}

impl Transmit for Connection {
    fn transmit(&mut self, _: usize, _: impl FnOnce(&mut [u8])) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Stream for Connection {
    fn is_connected(&self) -> bool {
        true
    }
    fn finish_connect(&mut self) -> io::Result<bool> {
        Ok(true)
    }
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut wire = self.shared.wire();
        if let Some(failure) = wire.failure {
            return Err(failure.into());
        }
        let count = bytes.len().min(wire.room);
        if count == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        wire.room -= count;
        wire.writes += 1;
        wire.taken.extend_from_slice(&bytes[..count]);
        Ok(count)
    }
    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        self.write(&parts.iter().flat_map(|part| part.to_vec()).collect::<Vec<u8>>())
    }
    fn flush(&mut self) -> io::Result<bool> {
        Ok(true)
    }
    fn shutdown(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl Source for Connection {
    fn set_blocking(&mut self, _: Option<Duration>) -> io::Result<Option<Blocker>> {
        Ok(None)
    }
}

impl Connect for Shared {
    type Stream = Connection;
    fn dial(&mut self, gateway: SocketAddrV4) -> io::Result<Connection> {
        self.wire().dialled.push(gateway);
        let refusal = self.wire().refusal;
        match refusal {
            Some(refusal) => Err(refusal.into()),
            None => Ok(Connection { shared: self.clone(), descriptor: File::open("/dev/null")? }),
        }
    }
}

#[derive(Default)]
pub(crate) struct Told(pub(crate) Vec<String>);

impl Listener for Told {
    fn on_error(&mut self, _: &mut Sender<'_>, error: &Error) {
        self.0.push(error.to_string());
    }
    fn on_terminate(&mut self, _: &mut Sender<'_>, terminated: &Terminated<'_>) {
        self.0.push(format!("terminated {}", terminated.code.0));
    }
}

pub(crate) struct Bench<J: Storage = Journal> {
    pub(crate) session: Session<Shared, J>,
    pub(crate) reactor: Reactor,
    pub(crate) shared: Shared,
    pub(crate) told: Told,
    pub(crate) time: u64,
}

/// Bytes of an order's frame.
pub(crate) const ORDER: usize = 12 + 132;

impl Bench {
    /// Established, all taken forgotten, no more room.
    pub(crate) fn established(waiting_max: usize) -> Self {
        Self::connecting(waiting_max).establish()
    }

    /// Established, with a journal that begins again when it is full.
    pub(crate) fn forgetful(waiting_max: usize) -> Self {
        let when_full = WhenFull::Restart;
        Self::with(Settings { waiting_max, when_full, ..exchange::settings(1) }).establish()
    }

    /// Established, and sends again what was not applied.
    pub(crate) fn replaying(waiting_max: usize) -> Self {
        let conduct =
            SessionPolicy { not_applied: NotAppliedAnswer::Replay, ..SessionPolicy::default() };
        Self::with(Settings { waiting_max, conduct, ..exchange::settings(1) }).establish()
    }

    pub(crate) fn connecting(waiting_max: usize) -> Self {
        Self::with(Settings { waiting_max, ..exchange::settings(1) })
    }

    pub(crate) fn with(settings: Settings) -> Self {
        Self::on(settings, Journal::anonymous(1 << 12).unwrap())
    }
}

impl<J: Storage> Bench<J> {
    /// Connecting, with a storage of one's choice.
    pub(crate) fn on(settings: Settings, journal: J) -> Self {
        let shared = Shared::default();
        let session = Session::with_connect(settings, journal, shared.clone()).unwrap();
        let reactor = Reactor::new(Wait::Spin).unwrap();
        let mut bench = Self { session, reactor, shared, told: Told::default(), time: 1 };
        bench.session.connect(now(1), Binding::New).unwrap();
        bench
    }

    pub(crate) fn establish(self) -> Self {
        let mut bench = self;
        bench.shared.wire().room = usize::MAX;
        while bench.session.state() != State::Established {
            bench.turn();
            bench.answer();
        }
        let mut wire = bench.shared.wire();
        wire.taken.clear();
        (wire.room, wire.writes) = (0, 0);
        drop(wire);
        bench
    }

    /// Has the exchange answer what it has taken.
    pub(crate) fn answer(&mut self) {
        let mut wire = self.shared.wire();
        let taken = std::mem::take(&mut wire.taken);
        for frame in frames(&taken) {
            let answer = wire.exchange.answer(frame);
            wire.incoming.extend(answer);
        }
    }

    pub(crate) fn turn(&mut self) {
        self.time += 1;
        let ready = self.reactor.wait(now(self.time).monotonic, None).unwrap();
        self.session.process(now(self.time), ready, &mut self.reactor, &mut self.told).unwrap();
    }

    pub(crate) fn at_millis(&mut self, millis: u64) {
        self.time = millis * 1_000_000;
        self.turn();
    }

    pub(crate) fn send(&mut self) -> Result<Sent, SendError> {
        let order = NewOrder::limit(42, SideReq::BUY, Decimal(1), 1, ClOrdId::from(1));
        self.session.sender(now(self.time)).send(&order)
    }

    /// Gives room for `bytes` more and lets the session write: in the first turn it may learn only
    /// that it has to wait for room.
    pub(crate) fn give(&mut self, bytes: usize) {
        self.shared.wire().room += bytes;
        self.turn();
        self.turn();
    }
}
