//! Detection of a lost network interface.

use std::io;
use std::net::Ipv4Addr;

use hairpin_endpoint::Interface;
use hairpin_time::{Duration, Instant};

/// The silence on all lines of an interface after which the interface is checked: twice the
/// heartbeat interval of the simulated exchange, so that a live feed costs no check.
pub(crate) const SILENCE: Duration = Duration::from_secs(2);
/// The delay before the first check of a lost interface; each further check doubles it.
const BACKOFF_FIRST: Duration = Duration::from_millis(50);
/// The longest delay between two checks.
const BACKOFF_MAX: Duration = Duration::from_secs(1);

/// The result of an interface check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InterfaceChange {
    /// No change.
    None,
    /// The interface is down or was removed since the last check.
    Lost,
    /// The interface is back, and its lines must be reopened.
    Returned,
}

/// A monitor that checks an interface during silence, and repeatedly while the interface is lost.
#[derive(Debug)]
pub(crate) struct InterfaceMonitor {
    address: Ipv4Addr,
    /// The index of the interface on which lines are joined; `None` while it is lost or unknown.
    joined: Option<u32>,
    lost: bool,
    backoff: Duration,
    /// The time of the next check; `None` before the first poll.
    next_check: Option<Instant>,
}

impl InterfaceMonitor {
    pub(crate) fn new(address: Ipv4Addr) -> Self {
        let joined = Interface::with_address(address).ok().flatten().map(|found| found.index);
        Self { address, joined, lost: false, backoff: BACKOFF_FIRST, next_check: None }
    }

    pub(crate) fn address(&self) -> Ipv4Addr {
        self.address
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    /// Postpones the next check after a packet.
    ///
    /// A packet does not postpone the check of a lost interface. An interface that was down keeps
    /// its memberships when it comes up, and only a check detects its return.
    #[inline]
    pub(crate) fn on_packet(&mut self, now: Instant) {
        if !self.lost {
            self.next_check = Some(now + SILENCE);
        }
    }

    /// Returns the time of the next check.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        // If the kernel chooses the interface, up is no interface to check.
        if self.address.is_unspecified() { None } else { self.next_check }
    }

    /// Checks the interface if a check is due.
    #[inline]
    pub(crate) fn poll(&mut self, now: Instant) -> InterfaceChange {
        match self.next_check {
            Some(next_check) if now < next_check => InterfaceChange::None,
            None => {
                self.next_check = Some(now + SILENCE);
                InterfaceChange::None
            }
            Some(_) if self.address.is_unspecified() => InterfaceChange::None,
            Some(_) => self.evaluate(now, Interface::with_address(self.address)),
        }
    }

    #[cold]
    fn evaluate(&mut self, now: Instant, found: io::Result<Option<Interface>>) -> InterfaceChange {
        self.next_check = Some(now + SILENCE);
        // A failed check gives no information.
        let Ok(found) = found else { return InterfaceChange::None };
        let found = found.filter(|interface| interface.up).map(|interface| interface.index);
        match (found, self.lost) {
            (Some(index), false) if self.joined.is_none_or(|joined| joined == index) => {
                self.joined = Some(index);
                InterfaceChange::None
            }
            (Some(_), _) => InterfaceChange::Returned,
            (None, was_lost) => {
                self.mark_lost(now);
                if was_lost { InterfaceChange::None } else { InterfaceChange::Lost }
            }
        }
    }

    /// Records the result of reopening all lines. If a line failed, the interface is checked again
    /// after the backoff.
    pub(crate) fn record_reopen(&mut self, now: Instant, all_open: bool) {
        if all_open {
            self.lost = false;
            self.backoff = BACKOFF_FIRST;
            let found = Interface::with_address(self.address).ok().flatten();
            self.joined = found.map(|interface| interface.index);
            self.next_check = Some(now + SILENCE);
        } else {
            self.mark_lost(now);
        }
    }

    /// Marks the interface as lost and schedules the next check.
    fn mark_lost(&mut self, now: Instant) {
        self.lost = true;
        self.joined = None;
        self.next_check = Some(now + self.backoff);
        self.backoff = (self.backoff * 2).min(BACKOFF_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABSENT: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 7);

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn up(index: u32) -> io::Result<Option<Interface>> {
        Ok(Some(Interface { index, up: true }))
    }

    #[test]
    fn interface_with_packets_is_not_checked() {
        let mut watch = InterfaceMonitor::new(ABSENT);
        assert_eq!(watch.poll(at(0)), InterfaceChange::None);
        for second in 0..10 {
            watch.on_packet(at(second * 1_000));
            assert_eq!(watch.poll(at(second * 1_000 + 1_999)), InterfaceChange::None);
        }
        assert_eq!(watch.poll(at(9_000 + 2_000)), InterfaceChange::Lost);
    }

    #[test]
    fn loss_is_reported_once_and_checks_back_off() {
        let mut watch = InterfaceMonitor::new(ABSENT);
        assert_eq!(watch.evaluate(at(0), up(3)), InterfaceChange::None);
        assert_eq!(watch.evaluate(at(0), Ok(None)), InterfaceChange::Lost);
        let mut checks = Vec::new();
        for _ in 0..7 {
            let next = watch.next_deadline().unwrap();
            checks.push((next - at(0)).as_nanos() / 1_000_000);
            assert_eq!(watch.evaluate(next, Ok(None)), InterfaceChange::None);
        }
        assert_eq!(checks, [50, 150, 350, 750, 1_550, 2_550, 3_550]);
        assert_eq!(watch.evaluate(at(9_000), up(4)), InterfaceChange::Returned);
    }

    #[test]
    fn down_interface_is_lost_and_new_index_is_returned() {
        let mut watch = InterfaceMonitor::new(ABSENT);
        assert_eq!(watch.evaluate(at(0), up(3)), InterfaceChange::None);
        assert_eq!(watch.evaluate(at(0), up(4)), InterfaceChange::Returned);
        watch.record_reopen(at(0), true);
        assert_eq!(watch.evaluate(at(0), up(4)), InterfaceChange::None);
        let down = Ok(Some(Interface { index: 4, up: false }));
        assert_eq!(watch.evaluate(at(0), down), InterfaceChange::Lost);
        assert_eq!(watch.evaluate(at(1), up(4)), InterfaceChange::Returned);
    }

    #[test]
    fn returned_interface_is_monitored_again() {
        let mut watch = InterfaceMonitor::new(ABSENT);
        assert_eq!(watch.evaluate(at(0), up(3)), InterfaceChange::None);
        assert_eq!(watch.evaluate(at(0), Ok(None)), InterfaceChange::Lost);
        watch.on_packet(at(10));
        assert_eq!(watch.next_deadline(), Some(at(50)));
        assert_eq!(watch.evaluate(at(50), up(3)), InterfaceChange::Returned);
        watch.record_reopen(at(50), true);
        watch.on_packet(at(60));
        assert_eq!(watch.next_deadline(), Some(at(2_060)));
        assert_eq!(watch.evaluate(at(2_060), Ok(None)), InterfaceChange::Lost);
    }

    #[test]
    fn failed_reopen_is_retried() {
        let mut watch = InterfaceMonitor::new(ABSENT);
        assert_eq!(watch.evaluate(at(0), Ok(None)), InterfaceChange::Lost);
        assert_eq!(watch.evaluate(at(50), up(3)), InterfaceChange::Returned);
        watch.record_reopen(at(50), false);
        assert_eq!(watch.next_deadline(), Some(at(150)));
        assert_eq!(watch.evaluate(at(150), up(3)), InterfaceChange::Returned);
    }

    #[test]
    fn unspecified_interface_is_not_monitored() {
        let mut watch = InterfaceMonitor::new(Ipv4Addr::UNSPECIFIED);
        watch.on_packet(at(0));
        assert_eq!(watch.poll(at(9_000)), InterfaceChange::None);
        assert_eq!(watch.next_deadline(), None);
    }
}
