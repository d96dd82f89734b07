//! Datagrams to two receivers in one reactor, the same for every wait.

use std::net::SocketAddrV4;

use hairpin_endpoint::{Receive, Source, Transmit};
use hairpin_host::Clock;
use hairpin_reactor::{Interest, Reactor, Ready, Token, Wait};
use hairpin_testkit::Random;
use hairpin_time::{Duration, Instant};

const DATAGRAMS: usize = 10_000;

/// Runs the loop until `is_over`. Fails on a timeout.
pub(crate) fn iterate_until(
    reactor: &mut Reactor,
    mut is_over: impl FnMut(Instant, Ready) -> bool,
) {
    let clock = Clock::from_kernel();
    let end = clock.instant() + Duration::from_secs(60);
    loop {
        let now = clock.instant();
        assert!(now < end, "{}: timed out", reactor.kind());
        if is_over(now, reactor.wait(now, Some(now + Duration::from_millis(5))).unwrap()) {
            return;
        }
    }
}

/// The datagrams delivered to two receivers.
pub(crate) type Seen = [Vec<Vec<u8>>; 2];

/// Two receivers, with a sender and its address for each.
pub(crate) type Ends<I, O> = ([I; 2], [(O, SocketAddrV4); 2]);

/// Two receivers in one reactor, with a sender for each.
pub(crate) struct Traffic<I, O> {
    reactor: Reactor,
    receivers: [I; 2],
    senders: [(O, SocketAddrV4); 2],
    tokens: [Token; 2],
    seen: Seen,
    /// The random numbers for the datagrams to send, the same for every wait.
    traffic: Random,
    /// The random numbers for the loop's actions between iterations.
    actions: Random,
    sent: usize,
    /// The maximum number of datagrams in a burst and in flight.
    burst: usize,
}

impl<I: Receive + Source, O: Transmit> Traffic<I, O> {
    pub(crate) fn new(
        wait: Wait,
        seed: u64,
        burst: usize,
        open: impl FnOnce(&mut Random) -> Ends<I, O>,
    ) -> Self {
        let (traffic, mut actions) = (Random::new(seed), Random::new(!seed));
        let mut reactor = Reactor::new(wait).unwrap();
        let (mut receivers, senders) = open(&mut actions);
        let tokens =
            receivers.each_mut().map(|receiver| reactor.add(receiver, Interest::READABLE).unwrap());
        let seen = Seen::default();
        Self { reactor, receivers, senders, tokens, seen, traffic, actions, sent: 0, burst }
    }

    /// Sends and receives all datagrams. Returns the receivers, removed from the reactor, and what
    /// they received.
    pub(crate) fn deliver(mut self) -> ([I; 2], Seen) {
        let clock = Clock::from_kernel();
        let end = clock.instant() + Duration::from_secs(60);
        while self.count() < DATAGRAMS {
            let now = clock.instant();
            assert!(now < end, "{} of {} of {DATAGRAMS} arrived", self.count(), self.sent);
            self.send();
            self.act(now);
            self.iterate(now);
        }
        for (receiver, token) in self.receivers.iter_mut().zip(self.tokens) {
            self.reactor.remove(token, receiver).unwrap();
            assert_eq!(receiver.receive(8, |_, _| {}).unwrap().count, 0);
        }
        (self.receivers, self.seen)
    }

    fn count(&self) -> usize {
        self.seen.iter().map(Vec::len).sum()
    }

    /// Sends a burst of any size of datagrams of any length, some empty and some too long, but no
    /// more than the receivers can hold.
    fn send(&mut self) {
        if self.sent - self.count() > self.burst {
            return;
        }
        let burst = self.traffic.below(self.burst as u64).min((DATAGRAMS - self.sent) as u64);
        for _ in 0..burst {
            let to = self.traffic.below(2) as usize;
            let length = self.traffic.below(600).saturating_sub(20) as usize;
            let number = (self.sent as u32).to_ne_bytes();
            let fill = |bytes: &mut [u8]| {
                bytes.chunks_mut(4).for_each(|chunk| chunk.copy_from_slice(&number[..chunk.len()]));
            };
            self.senders[to].0.transmit(length, fill).unwrap();
            self.sent += 1;
        }
    }

    /// Sometimes removes a receiver from the reactor, or clears its interest for one iteration.
    fn act(&mut self, now: Instant) {
        let index = self.actions.below(2) as usize;
        let (receiver, token) = (&mut self.receivers[index], self.tokens[index]);
        match self.actions.below(8) {
            0 => {
                self.reactor.remove(token, receiver).unwrap();
                self.tokens[index] = self.reactor.add(receiver, Interest::READABLE).unwrap();
            }
            1 => {
                self.reactor.set_interest(token, receiver, Interest::NONE).unwrap();
                let ready = self.reactor.wait(now, Some(now)).unwrap();
                assert!(!ready.is_readable(token));
                self.reactor.set_interest(token, receiver, Interest::READABLE).unwrap();
            }
            _ => {}
        }
    }

    /// Receives from the ready sources, with any budget.
    fn iterate(&mut self, now: Instant) {
        let timeout = Duration::from_micros(if self.sent < DATAGRAMS { 0 } else { 1_000 });
        let ready = self.reactor.wait(now, Some(now + timeout)).unwrap();
        for index in 0..2 {
            if ready.is_readable(self.tokens[index]) {
                let budget = self.actions.below(70) as usize;
                let (seen, from) = (&mut self.seen[index], self.senders[index].1);
                let received = self.receivers[index].receive(budget, |meta, bytes| {
                    assert_eq!(meta.source, from);
                    seen.push(bytes.to_vec());
                });
                assert!(received.unwrap().count <= budget);
            }
        }
    }
}
