//! A channel over multicast: one socket per side of each feed.

use std::io;

use hairpin_endpoint::UdpOptions;
use hairpin_endpoint::capture::{Recorder, RecorderSettings};
use hairpin_mdp3::{Action, Feed, Listener};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Instant, Now};

use crate::channel_input::ChannelInput;
use crate::feed_socket::FeedSocket;
use crate::interface_monitor::{InterfaceChange, InterfaceMonitor};
use crate::unread_sockets::UnreadSockets;
use crate::{EngineError, FeedError, LineStatistics, Multicast};

/// The datagrams read from one line before the next line has its turn: one batch, and half of the
/// smallest reorder window of a preset. A packet lost on one side is then read from the other side,
/// where it may be buffered, before the window is full.
pub(crate) const BUDGET: usize = 32;

/// The number of turns per line in one call.
pub(crate) const ROUNDS: usize = 16;

/// The multicast sockets. All are opened at startup; groups are joined and left as the channel
/// requests.
#[derive(Debug)]
pub(crate) struct MulticastSockets {
    /// The sockets, one per side of each feed, the incremental feed first.
    /// [`Wait::Block`](hairpin_reactor::Wait::Block) blocks on the first socket.
    lines: Vec<FeedSocket>,
    watches: Vec<InterfaceMonitor>,
    recorder: Option<Recorder>,
}

impl MulticastSockets {
    pub(crate) fn open(
        addresses: &Multicast,
        options: UdpOptions,
        reactor: &mut Reactor,
    ) -> Result<Self, FeedError> {
        let lines = Vec::with_capacity(addresses.groups().count());
        let mut groups = Self { lines, watches: Vec::new(), recorder: None };
        for (feed, side, group) in addresses.groups() {
            let address = addresses.line(group);
            let interface = address.interface;
            match FeedSocket::open((feed, side), address, options, reactor) {
                Ok(line) => groups.lines.push(line),
                Err(error) => {
                    // The first error is the cause; a close error would hide it.
                    let _ = groups.close(reactor);
                    return Err(error);
                }
            }
            if !groups.watches.iter().any(|watch| watch.address() == interface) {
                groups.watches.push(InterfaceMonitor::new(interface));
            }
        }
        Ok(groups)
    }

    /// Reads every ready line in turn, until all are drained or the round limit is reached.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        channel_input: &mut ChannelInput,
        listener: &mut impl Listener,
    ) -> (Result<(), FeedError>, UnreadSockets) {
        let readable = self.lines.iter().enumerate().filter(|(_, line)| line.is_readable(ready));
        let mut pending = readable.fold(0u64, |pending, (position, _)| pending | 1 << position);
        let (mut outcome, mut received_on) = (Ok(()), 0u64);
        for _ in 0..ROUNDS {
            if pending == 0 {
                break;
            }
            for (position, line) in self.lines.iter_mut().enumerate() {
                if pending >> position & 1 == 0 {
                    continue;
                }
                let recorder = (&mut self.recorder, position);
                let received = line.receive(now, BUDGET, recorder, channel_input, listener);
                if !matches!(received, Ok((_, false))) {
                    pending &= !(1 << position);
                }
                received_on |= u64::from(matches!(received, Ok((1.., _)))) << position;
                outcome = outcome.and(received.map(|_| ()));
            }
        }
        let outcome = outcome.and(self.poll_interfaces(now.monotonic, received_on, reactor));
        let is_pending = |position: usize| pending >> position & 1 == 1;
        let mut lines = self.lines.iter().enumerate();
        let may_fill_gap =
            lines.any(|(position, line)| is_pending(position) && line.is(Feed::Incremental));
        (outcome, UnreadSockets { any: pending != 0, may_fill_gap, idle: received_on == 0 })
    }

    /// Checks interfaces without recent packets. Bit n of `received_on` is set if line n received
    /// packets.
    #[inline]
    fn poll_interfaces(
        &mut self,
        now: Instant,
        received_on: u64,
        reactor: &mut Reactor,
    ) -> Result<(), FeedError> {
        if let [watch] = &mut self.watches[..] {
            // The common case: all lines are on one interface.
            if received_on != 0 && !watch.is_lost() {
                watch.on_packet(now);
                return Ok(());
            }
        } else if received_on != 0 {
            self.record_packets(now, received_on);
        }
        let mut outcome = Ok(());
        for watch in 0..self.watches.len() {
            match self.watches[watch].poll(now) {
                InterfaceChange::None => {}
                InterfaceChange::Lost => {
                    let interface = self.watches[watch].address();
                    let lost = EngineError::InterfaceLost { interface };
                    outcome = outcome.and(Err(lost.into()));
                }
                InterfaceChange::Returned => self.reopen_lines(watch, now, reactor),
            }
        }
        outcome
    }

    #[cold]
    fn record_packets(&mut self, now: Instant, received_on: u64) {
        for (position, line) in self.lines.iter_mut().enumerate() {
            let interface = line.socket().address().interface;
            if received_on >> position & 1 == 1 {
                let watch = self.watches.iter_mut().find(|it| it.address() == interface);
                watch.into_iter().for_each(|watch| watch.on_packet(now));
            }
        }
    }

    /// Reopens the lines of an interface. Failures are retried.
    #[cold]
    fn reopen_lines(&mut self, watch: usize, now: Instant, reactor: &mut Reactor) {
        let watch = &mut self.watches[watch];
        let mut all_open = true;
        for line in &mut self.lines {
            if line.socket().address().interface == watch.address() {
                all_open &= line.socket().reopen(reactor).is_ok();
            }
        }
        watch.record_reopen(now, all_open);
    }

    /// Returns the next time at which [`MulticastSockets::receive`] must run without input.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.watches.iter().filter_map(InterfaceMonitor::next_deadline).min()
    }

    /// Joins or leaves a feed on all of its sides.
    pub(crate) fn handle_action(
        &mut self,
        action: Action,
        reactor: &mut Reactor,
    ) -> Result<(), FeedError> {
        let mut outcome = Ok(());
        for line in &mut self.lines {
            let interface = line.socket().address().interface;
            let done = match action {
                Action::Join(feed) if line.is(feed) => line.join(reactor),
                Action::Leave(feed) if line.is(feed) => line.leave(reactor),
                _ => Ok(()),
            };
            let mut watches = self.watches.iter();
            let is_lost = watches.any(|watch| watch.address() == interface && watch.is_lost());
            // The loss was reported already; the group is joined when the interface returns.
            outcome = outcome.and(if is_lost { Ok(()) } else { done });
        }
        outcome
    }

    /// Starts to record received datagrams.
    pub(crate) fn record(&mut self, settings: &RecorderSettings, channel: &str) -> io::Result<()> {
        let lines = self.lines.iter().map(|line| line.capture_interface(channel)).collect();
        self.recorder = Some(Recorder::start(settings, lines)?);
        Ok(())
    }

    /// Returns the recorder, if one was started.
    pub(crate) fn recorder(&mut self) -> &mut Option<Recorder> {
        &mut self.recorder
    }

    pub(crate) fn close(&mut self, reactor: &mut Reactor) -> Result<(), FeedError> {
        self.lines.iter_mut().map(|line| line.close(reactor)).fold(Ok(()), Result::and)
    }

    pub(crate) fn statistics(&self) -> impl Iterator<Item = LineStatistics> {
        self.lines.iter().map(FeedSocket::statistics)
    }
}
