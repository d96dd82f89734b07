//! A multicast group: one sender, a link to each receiver.

use hairpin_time::Instant;

use crate::{Census, Link};

/// The id of a receiver in a [`Group`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReceiverId(usize);

/// A multicast group. Every receiver that has joined gets each datagram over its own link.
///
/// ```
/// use hairpin_netsim::{Faults, Group, Link, Random};
/// use hairpin_time::{Duration, Instant};
///
/// let mut random = Random::new(1);
/// let mut group = Group::new();
/// let near = group.add(Link::new(random.split(), Faults::LAN));
/// let far = group.add(Link::new(random.split(), Faults::LAN));
/// group.set_joined(near, true);
/// group.send(Instant::ZERO, b"tick");
/// let later = Instant::ZERO + Duration::from_millis(1);
/// group.receive(near, later, |_, datagram| assert_eq!(datagram, b"tick"));
/// group.receive(far, later, |_, _| unreachable!("not joined"));
/// ```
#[derive(Debug, Default)]
pub struct Group {
    receivers: Vec<(Link, bool)>,
}

impl Group {
    /// Returns a group without receivers.
    #[must_use]
    pub const fn new() -> Self {
        Self { receivers: Vec::new() }
    }

    /// Adds a receiver at the end of `link`, not joined yet.
    pub fn add(&mut self, link: Link) -> ReceiverId {
        self.receivers.push((link, false));
        ReceiverId(self.receivers.len() - 1)
    }

    /// Joins or leaves for a receiver. On leaving, datagrams in flight to it are lost.
    ///
    /// # Panics
    /// If the receiver belongs to another group. The same holds for all methods.
    pub fn set_joined(&mut self, receiver: ReceiverId, joined: bool) {
        let (link, is_member) = &mut self.receivers[receiver.0];
        *is_member = joined;
        if !joined {
            link.clear();
        }
    }

    /// Sends a datagram to all receivers that have joined.
    pub fn send(&mut self, now: Instant, datagram: &[u8]) {
        for (link, joined) in &mut self.receivers {
            if *joined {
                link.send(now, datagram);
            }
        }
    }

    /// Passes every datagram that has arrived at a receiver to `on`: see [`Link::receive`].
    pub fn receive(&mut self, receiver: ReceiverId, now: Instant, on: impl FnMut(Instant, &[u8])) {
        self.receivers[receiver.0].0.receive(now, on);
    }

    /// Returns a receiver's link, with which to change its faults.
    pub fn link_mut(&mut self, receiver: ReceiverId) -> &mut Link {
        &mut self.receivers[receiver.0].0
    }

    /// Returns the next arrival at a receiver.
    #[must_use]
    pub fn poll_timeout(&self, receiver: ReceiverId) -> Option<Instant> {
        self.receivers[receiver.0].0.poll_timeout()
    }

    /// Adds the counters of all links to a census: see [`Link::report`].
    pub fn report(&self, census: &mut Census) {
        self.receivers.iter().for_each(|(link, _)| link.report(census));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Chance, Faults, Random};
    use hairpin_time::Duration;

    #[test]
    fn receivers_have_separate_faults_and_memberships() {
        let mut random = Random::new(1);
        let lossy = Faults { loss: Chance::ALWAYS, ..Faults::LAN };
        let mut group = Group::new();
        let good = group.add(Link::new(random.split(), Faults::LAN));
        let bad = group.add(Link::new(random.split(), lossy));
        let late = group.add(Link::new(random.split(), Faults::LAN));
        let later = Instant::ZERO + Duration::from_millis(1);
        group.set_joined(good, true);
        group.set_joined(bad, true);
        group.send(Instant::ZERO, b"1");
        group.set_joined(late, true);
        group.send(Instant::ZERO, b"2");
        let mut received = |receiver| {
            let mut all = Vec::new();
            group.receive(receiver, later, |_, datagram| all.extend_from_slice(datagram));
            all
        };
        assert_eq!([good, bad, late].map(&mut received), [&b"12"[..], b"", b"2"]);
        group.send(later, b"3");
        group.set_joined(good, false);
        assert_eq!(group.poll_timeout(good), None);
        assert!(group.poll_timeout(late).is_some());
        let mut census = Census::new();
        group.report(&mut census);
        assert_eq!((census.of("lost"), census.of("sent")), (3, 8));
    }
}
