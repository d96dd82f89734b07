//! An engine of UDP sockets.

use std::io;
use std::net::Ipv4Addr;

use hairpin_endpoint::UdpOptions;
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_time::{Instant, Now};

use crate::interface_monitor::{InterfaceChange, InterfaceMonitor};
use crate::line_socket::LineSocket;
use crate::multicast_sockets::{BUDGET, ROUNDS};
use crate::{Arrival, EngineError, FeedEngine, LineAddress, LineCounters, LineId};

/// The line index of a token that belongs to no line.
const NO_LINE: u32 = u32::MAX;

/// An engine with one socket per line, over the kernel or kernel bypass, in one reactor.
///
/// Each socket is bound to its group's address and port and ignores other sockets' memberships, so
/// lines that share a port receive only their own packets. The reactor can also serve other
/// endpoints of the loop, such as an order-entry session: see [`SocketEngine::reactor`] and
/// [`SocketEngine::ready`].
#[derive(Debug)]
pub struct SocketEngine {
    reactor: Reactor,
    ready: Ready,
    options: UdpOptions,
    lines: Vec<LineSocket>,
    /// Line indices by token; [`NO_LINE`] for other tokens.
    line_by_token: Vec<u32>,
    /// A flag per line: `true` if the last receive left packets unread.
    unread: Vec<bool>,
    watches: Vec<InterfaceMonitor>,
}

impl SocketEngine {
    /// Creates an engine without lines, with default socket sizes (see [`UdpOptions`]).
    ///
    /// # Errors
    /// The errors of [`Reactor::new`]: this host does not support the wait.
    pub fn new(wait: Wait) -> io::Result<Self> {
        Self::with_options(wait, UdpOptions::default())
    }

    /// Creates an engine without lines, with these socket options.
    ///
    /// # Errors
    /// The errors of [`Reactor::new`]: this host does not support the wait.
    pub fn with_options(wait: Wait, options: UdpOptions) -> io::Result<Self> {
        Ok(Self {
            reactor: Reactor::new(wait)?,
            ready: Ready::EMPTY,
            options,
            lines: Vec::new(),
            line_by_token: Vec::new(),
            unread: Vec::new(),
            watches: Vec::new(),
        })
    }

    /// Returns the reactor, to add other endpoints.
    pub fn reactor(&mut self) -> &mut Reactor {
        &mut self.reactor
    }

    /// Returns the result of the last wait, for other endpoints.
    #[must_use]
    pub fn ready(&self) -> Ready {
        self.ready
    }

    fn watch_interface(&mut self, interface: Ipv4Addr) {
        if !self.watches.iter().any(|watch| watch.address() == interface) {
            self.watches.push(InterfaceMonitor::new(interface));
        }
    }

    fn map_token(&mut self, line: usize) {
        let token = self.lines[line].token().index();
        if self.line_by_token.len() <= token {
            self.line_by_token.resize(token + 1, NO_LINE);
        }
        self.line_by_token[token] = line as u32;
    }

    /// Checks interfaces without recent packets.
    #[inline]
    fn poll_interfaces(&mut self, now: Instant) -> Result<(), EngineError> {
        let mut outcome = Ok(());
        for watch in 0..self.watches.len() {
            match self.watches[watch].poll(now) {
                InterfaceChange::None => {}
                InterfaceChange::Lost => {
                    let interface = self.watches[watch].address();
                    outcome = outcome.and(Err(EngineError::InterfaceLost { interface }));
                }
                InterfaceChange::Returned => self.reopen_lines(watch, now),
            }
        }
        outcome
    }

    /// Reopens the lines of an interface. Failures are retried.
    #[cold]
    fn reopen_lines(&mut self, watch: usize, now: Instant) {
        let interface = self.watches[watch].address();
        let mut all_open = true;
        for line in 0..self.lines.len() {
            if self.lines[line].address().interface == interface {
                let old = self.lines[line].token().index();
                all_open &= self.lines[line].reopen(&mut self.reactor).is_ok();
                self.line_by_token[old] = NO_LINE;
                self.map_token(line);
            }
        }
        self.watches[watch].record_reopen(now, all_open);
    }
}

impl FeedEngine for SocketEngine {
    fn open(&mut self, address: &LineAddress) -> io::Result<LineId> {
        let line = LineSocket::open(address.clone(), self.options, &mut self.reactor)?;
        self.lines.push(line);
        self.unread.push(false);
        self.map_token(self.lines.len() - 1);
        self.watch_interface(address.interface);
        Ok(LineId::new(self.lines.len() - 1))
    }

    fn join(&mut self, line: LineId) -> io::Result<()> {
        let Self { reactor, lines, watches, .. } = self;
        let line = &mut lines[line.as_usize()];
        let interface = line.address().interface;
        let joined = line.join(reactor);
        let watch = watches.iter_mut().find(|watch| watch.address() == interface);
        match (joined, watch) {
            // The loss of the interface was reported already.
            (Err(_), Some(watch)) if watch.is_lost() => Ok(()),
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
        self.line_by_token.clear();
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
            let line = self.line_by_token.get(token.index()).copied().unwrap_or(NO_LINE);
            if let Some(unread) = self.unread.get_mut(line as usize) {
                *unread = true;
            }
        }
        let mut active = None;
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
                    Ok(received) if received.count > 0 => active = Some(line.address().interface),
                    Ok(_) => {}
                    Err(error) => {
                        let address = line.address().clone();
                        outcome = outcome.and(Err(EngineError::Line { address, error }));
                    }
                }
                if let Some(interface) = active.take() {
                    let watch = self.watches.iter_mut().find(|it| it.address() == interface);
                    watch.into_iter().for_each(|watch| watch.on_packet(now.monotonic));
                }
            }
            if !is_any {
                break;
            }
        }
        outcome.and(self.poll_interfaces(now.monotonic))
    }

    #[inline]
    fn has_more(&self, line: LineId) -> bool {
        self.unread[line.as_usize()]
    }

    #[inline]
    fn next_deadline(&self) -> Option<Instant> {
        self.watches.iter().filter_map(InterfaceMonitor::next_deadline).min()
    }

    #[inline]
    fn streams(&mut self) -> Option<(&mut Reactor, Ready)> {
        Some((&mut self.reactor, self.ready))
    }

    fn line_counters(&self, line: LineId) -> LineCounters {
        let line = &self.lines[line.as_usize()];
        LineCounters {
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

    /// Waits until any socket is readable.
    fn wait(engine: &mut SocketEngine) {
        let deadline = Instant::ZERO + Duration::from_secs(10);
        engine.wait(Instant::ZERO, Some(deadline)).unwrap();
        assert!(engine.ready().readable().next().is_some(), "no packet within 10 s");
    }

    /// Returns the number of packets delivered.
    fn receive(engine: &mut SocketEngine) -> usize {
        let mut count = 0;
        let now = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };
        engine.receive(now, &mut |_, _| count += 1).unwrap();
        count
    }

    #[test]
    fn reused_token_belongs_to_its_new_owner_only() {
        let mut engine = SocketEngine::new(Wait::Epoll).unwrap();
        let before = joined(&mut engine);
        engine.close().unwrap();
        let (interface, sources) = (Ipv4Addr::LOCALHOST, &[][..]);
        let group = MulticastGroup { group: OTHER, interface, sources };
        let mut other = UdpReceiver::join(group, UdpOptions::default()).unwrap();
        let token = engine.reactor().add(&mut other, Interest::READABLE).unwrap();
        assert_eq!(token.index(), before, "the token is reused");
        assert_ne!(joined(&mut engine), before);
        // Only the other socket is readable; a later packet needs another wait.
        send(OTHER);
        wait(&mut engine);
        send(LINE);
        assert_eq!(receive(&mut engine), 0);
        wait(&mut engine);
        assert_eq!(receive(&mut engine), 1);
    }
}
