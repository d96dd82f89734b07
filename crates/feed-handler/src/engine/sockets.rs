//! Sockets as an engine.

use std::io;
use std::net::Ipv4Addr;

use hairpin_endpoint::UdpOptions;
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_time::{Instant, Now};

use crate::groups::{BUDGET, ROUNDS};
use crate::interface_watch::{Finding, InterfaceWatch};
use crate::socket_line::SocketLine;
use crate::{Arrival, EngineError, FeedEngine, LineAddress, LineFigures, LineId};

/// A token that is no line's.
const FOREIGN: u32 = u32::MAX;

/// A socket for each line, of the kernel or past it, in one reactor.
///
/// A socket is bound to the group's own address and port and takes no part in the memberships of
/// others, so that lines that share a port see each their own. Other endpoints of a loop, such as a
/// session's, can be in the same reactor: see [`SocketEngine::reactor`] and
/// [`SocketEngine::ready`].
#[derive(Debug)]
pub struct SocketEngine {
    reactor: Reactor,
    ready: Ready,
    options: UdpOptions,
    lines: Vec<SocketLine>,
    /// By token; [`FOREIGN`] where there is none of ours.
    by_token: Vec<u32>,
    /// Those that the last receive has left unread.
    unread: Vec<bool>,
    watches: Vec<InterfaceWatch>,
}

impl SocketEngine {
    /// An engine without lines, whose sockets are sized as usual (see [`UdpOptions`]).
    ///
    /// # Errors
    /// Those of [`Reactor::new`]: this host has no such wait.
    pub fn new(wait: Wait) -> io::Result<Self> {
        Self::with_options(wait, UdpOptions::default())
    }

    /// An engine without lines, whose sockets are sized so.
    ///
    /// # Errors
    /// Those of [`Reactor::new`]: this host has no such wait.
    pub fn with_options(wait: Wait, options: UdpOptions) -> io::Result<Self> {
        Ok(Self {
            reactor: Reactor::new(wait)?,
            ready: Ready::NOTHING,
            options,
            lines: Vec::new(),
            by_token: Vec::new(),
            unread: Vec::new(),
            watches: Vec::new(),
        })
    }

    /// The reactor, for endpoints of others.
    pub fn reactor(&mut self) -> &mut Reactor {
        &mut self.reactor
    }

    /// What the last wait has found, for endpoints of others.
    #[must_use]
    pub fn ready(&self) -> Ready {
        self.ready
    }

    fn watch(&mut self, interface: Ipv4Addr) {
        if !self.watches.iter().any(|watch| watch.address() == interface) {
            self.watches.push(InterfaceWatch::new(interface));
        }
    }

    fn note_token(&mut self, line: usize) {
        let token = self.lines[line].token().index();
        if self.by_token.len() <= token {
            self.by_token.resize(token + 1, FOREIGN);
        }
        self.by_token[token] = line as u32;
    }

    /// Looks after interfaces from which nothing has come.
    #[inline]
    fn tend(&mut self, now: Instant) -> Result<(), EngineError> {
        let mut outcome = Ok(());
        for watch in 0..self.watches.len() {
            match self.watches[watch].turn(now) {
                Finding::Same => {}
                Finding::Gone => {
                    let interface = self.watches[watch].address();
                    outcome = outcome.and(Err(EngineError::InterfaceGone { interface }));
                }
                Finding::Returned => self.renew(watch, now),
            }
        }
        outcome
    }

    /// Opens the lines of an interface anew. What fails is tried again.
    #[cold]
    fn renew(&mut self, watch: usize, now: Instant) {
        let interface = self.watches[watch].address();
        let mut is_whole = true;
        for line in 0..self.lines.len() {
            if self.lines[line].address().interface == interface {
                let old = self.lines[line].token().index();
                is_whole &= self.lines[line].renew(&mut self.reactor).is_ok();
                self.by_token[old] = FOREIGN;
                self.note_token(line);
            }
        }
        self.watches[watch].settle(now, is_whole);
    }
}

impl FeedEngine for SocketEngine {
    fn open(&mut self, address: &LineAddress) -> io::Result<LineId> {
        let line = SocketLine::open(address.clone(), self.options, &mut self.reactor)?;
        self.lines.push(line);
        self.unread.push(false);
        self.note_token(self.lines.len() - 1);
        self.watch(address.interface);
        Ok(LineId::new(self.lines.len() - 1))
    }

    fn join(&mut self, line: LineId) -> io::Result<()> {
        let Self { reactor, lines, watches, .. } = self;
        let line = &mut lines[line.as_usize()];
        let interface = line.address().interface;
        let joined = line.join(reactor);
        let watch = watches.iter_mut().find(|watch| watch.address() == interface);
        match (joined, watch) {
            // It is known to be gone, and has been told.
            (Err(_), Some(watch)) if watch.is_gone() => Ok(()),
            (joined, _) => joined,
        }
    }

    fn leave(&mut self, line: LineId) -> io::Result<()> {
        self.unread[line.as_usize()] = false;
        let Self { reactor, lines, .. } = self;
        lines[line.as_usize()].leave(reactor)
    }

    fn close(&mut self) -> io::Result<()> {
        let Self { reactor, lines, .. } = self;
        let closed = lines.iter_mut().map(|line| line.close(reactor)).fold(Ok(()), Result::and);
        self.lines.clear();
        self.by_token.clear();
        self.unread.clear();
        self.watches.clear();
        closed
    }

    #[inline]
    fn wait(&mut self, now: Instant, deadline: Option<Instant>) -> io::Result<()> {
        self.ready = self.reactor.wait(now, deadline)?;
        Ok(())
    }

    #[inline]
    fn receive(
        &mut self,
        now: Now,
        on: &mut impl FnMut(Now, Arrival<'_>),
    ) -> Result<(), EngineError> {
        let mut outcome = Ok(());
        for token in self.ready.readable() {
            let line = self.by_token.get(token.index()).copied().unwrap_or(FOREIGN);
            if let Some(unread) = self.unread.get_mut(line as usize) {
                *unread = true;
            }
        }
        let mut heard = None;
        for _ in 0..ROUNDS {
            let mut is_any = false;
            for (number, line) in self.lines.iter_mut().enumerate() {
                if !self.unread[number] {
                    continue;
                }
                let id = LineId::new(number);
                let received = line.receive(BUDGET, |meta, bytes| {
                    let (source, timestamp) = (meta.source, meta.timestamp);
                    on(now, Arrival { line: id, source, timestamp, bytes });
                });
                self.unread[number] = matches!(&received, Ok(received) if !received.drained);
                is_any |= self.unread[number];
                match received {
                    Ok(received) if received.count > 0 => heard = Some(line.address().interface),
                    Ok(_) => {}
                    Err(error) => {
                        let address = line.address().clone();
                        outcome = outcome.and(Err(EngineError::Line { address, error }));
                    }
                }
                if let Some(interface) = heard.take() {
                    let watch = self.watches.iter_mut().find(|it| it.address() == interface);
                    watch.into_iter().for_each(|watch| watch.hear(now.monotonic));
                }
            }
            if !is_any {
                break;
            }
        }
        outcome.and(self.tend(now.monotonic))
    }

    #[inline]
    fn has_more(&self, line: LineId) -> bool {
        self.unread[line.as_usize()]
    }

    #[inline]
    fn next_deadline(&self) -> Option<Instant> {
        self.watches.iter().filter_map(InterfaceWatch::next_deadline).min()
    }

    #[inline]
    fn streams(&mut self) -> Option<(&mut Reactor, Ready)> {
        Some((&mut self.reactor, self.ready))
    }

    fn figures(&self, line: LineId) -> LineFigures {
        let line = &self.lines[line.as_usize()];
        LineFigures {
            receive_buffer: Some(line.receive_buffer()),
            drops: line.drops(),
            truncated: line.truncated(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddrV4;

    use hairpin_endpoint::{MulticastGroup, Transmit, Transport, UdpReceiver, UdpSender};
    use hairpin_reactor::Interest;
    use hairpin_time::{Duration, Utc};

    use super::*;

    const LINE: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(239, 192, 77, 2), 27_711);
    const OTHER: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(239, 192, 77, 3), 27_712);

    fn joined(engine: &mut SocketEngine) -> usize {
        let (interface, sources) = (Ipv4Addr::LOCALHOST, Vec::new());
        let transport = Transport::Kernel;
        let address = LineAddress { group: LINE, interface, sources, transport };
        let line = engine.open(&address).unwrap();
        engine.join(line).unwrap();
        engine.lines[line.as_usize()].token().index()
    }

    fn send(group: SocketAddrV4) {
        let mut sender = UdpSender::new(group, Ipv4Addr::LOCALHOST, 1).unwrap();
        sender.transmit(1, |buffer| buffer.fill(7)).unwrap();
    }

    /// Waits for anything.
    fn wait(engine: &mut SocketEngine) {
        let deadline = Instant::ZERO + Duration::from_secs(10);
        engine.wait(Instant::ZERO, Some(deadline)).unwrap();
        assert!(engine.ready().readable().next().is_some(), "nothing arrives");
    }

    /// How many packets are handed on.
    fn receive(engine: &mut SocketEngine) -> usize {
        let mut count = 0;
        let now = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };
        engine.receive(now, &mut |_, _| count += 1).unwrap();
        count
    }

    #[test]
    fn a_closed_lines_token_is_only_anothers() {
        let mut engine = SocketEngine::new(Wait::Epoll).unwrap();
        let before = joined(&mut engine);
        engine.close().unwrap();
        let (interface, sources) = (Ipv4Addr::LOCALHOST, &[][..]);
        let group = MulticastGroup { group: OTHER, interface, sources };
        let mut other = UdpReceiver::join(group, UdpOptions::default()).unwrap();
        let token = engine.reactor().add(&mut other, Interest::READABLE).unwrap();
        assert_eq!(token.index(), before, "the token is used again");
        assert_ne!(joined(&mut engine), before);
        // Only the other is known to have anything; what comes later is for the next wait.
        send(OTHER);
        wait(&mut engine);
        send(LINE);
        assert_eq!(receive(&mut engine), 0);
        wait(&mut engine);
        assert_eq!(receive(&mut engine), 1);
    }
}
