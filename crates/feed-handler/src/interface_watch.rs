//! Whether an interface is still there.

use std::io;
use std::net::Ipv4Addr;

use hairpin_endpoint::Interface;
use hairpin_time::{Duration, Instant};

/// Silence on all lines of an interface after which it is looked at: twice the pause of an
/// exchange's heartbeats here, so that a feed that lives costs no look at all.
pub(crate) const SILENCE: Duration = Duration::from_secs(2);
/// The pause before a first look at an interface that has gone; each further one doubles it.
const PAUSE_FIRST: Duration = Duration::from_millis(50);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// What is to be done about an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finding {
    /// Nothing.
    Same,
    /// It has gone since the last look.
    Gone,
    /// It is there, and lines have to be opened anew.
    Returned,
}

/// Looks at an interface when nothing comes by it, and again and again while it is gone.
#[derive(Debug)]
pub(crate) struct InterfaceWatch {
    address: Ipv4Addr,
    /// The interface that lines were joined on; `None` while it is gone, or not known yet.
    joined: Option<u32>,
    is_gone: bool,
    pause: Duration,
    /// When to look next; `None` before the first turn.
    next_look: Option<Instant>,
}

impl InterfaceWatch {
    pub(crate) fn new(address: Ipv4Addr) -> Self {
        let joined = Interface::with_address(address).ok().flatten().map(|found| found.index);
        Self { address, joined, is_gone: false, pause: PAUSE_FIRST, next_look: None }
    }

    pub(crate) fn address(&self) -> Ipv4Addr {
        self.address
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Something has come. While the interface counts as gone this puts off no look: one that was
    /// down and is up again still has its memberships, and is known to be back only by a look.
    #[inline]
    pub(crate) fn hear(&mut self, now: Instant) {
        if !self.is_gone {
            self.next_look = Some(now + SILENCE);
        }
    }

    /// When [`InterfaceWatch::turn`] is due.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        // Where the kernel chooses the interface, there is none to look at.
        if self.address.is_unspecified() { None } else { self.next_look }
    }

    /// Looks, if it is time.
    #[inline]
    pub(crate) fn turn(&mut self, now: Instant) -> Finding {
        match self.next_look {
            Some(next_look) if now < next_look => Finding::Same,
            None => {
                self.next_look = Some(now + SILENCE);
                Finding::Same
            }
            Some(_) if self.address.is_unspecified() => Finding::Same,
            Some(_) => self.judge(now, Interface::with_address(self.address)),
        }
    }

    #[cold]
    fn judge(&mut self, now: Instant, found: io::Result<Option<Interface>>) -> Finding {
        self.next_look = Some(now + SILENCE);
        // A look that fails tells nothing.
        let Ok(found) = found else { return Finding::Same };
        let found = found.filter(|interface| interface.is_up).map(|interface| interface.index);
        match (found, self.is_gone) {
            (Some(index), false) if self.joined.is_none_or(|joined| joined == index) => {
                self.joined = Some(index);
                Finding::Same
            }
            (Some(_), _) => Finding::Returned,
            (None, was_gone) => {
                let pause = self.pause;
                self.next_look = Some(now + pause);
                self.pause = (pause * 2).min(PAUSE_MAX);
                self.is_gone = true;
                self.joined = None;
                if was_gone { Finding::Same } else { Finding::Gone }
            }
        }
    }

    /// All lines are open again; or some are not, and it is tried again after a pause.
    pub(crate) fn settle(&mut self, now: Instant, is_whole: bool) {
        if is_whole {
            self.is_gone = false;
            self.pause = PAUSE_FIRST;
            let found = Interface::with_address(self.address).ok().flatten();
            self.joined = found.map(|interface| interface.index);
            self.next_look = Some(now + SILENCE);
        } else {
            self.lose(now);
        }
    }

    /// A line could not be joined: the interface may be on its way out, or not quite back.
    pub(crate) fn lose(&mut self, now: Instant) {
        self.is_gone = true;
        self.joined = None;
        self.next_look = Some(now + self.pause);
        self.pause = (self.pause * 2).min(PAUSE_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOBODY: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 7);

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn there(index: u32) -> io::Result<Option<Interface>> {
        Ok(Some(Interface { index, is_up: true }))
    }

    #[test]
    fn an_interface_that_is_heard_is_not_looked_at() {
        let mut watch = InterfaceWatch::new(NOBODY);
        assert_eq!(watch.turn(at(0)), Finding::Same);
        for second in 0..10 {
            watch.hear(at(second * 1_000));
            assert_eq!(watch.turn(at(second * 1_000 + 1_999)), Finding::Same);
        }
        assert_eq!(watch.turn(at(9_000 + 2_000)), Finding::Gone);
    }

    #[test]
    fn that_it_is_gone_is_told_once_and_the_looks_become_rarer() {
        let mut watch = InterfaceWatch::new(NOBODY);
        assert_eq!(watch.judge(at(0), there(3)), Finding::Same);
        assert_eq!(watch.judge(at(0), Ok(None)), Finding::Gone);
        let mut looks = Vec::new();
        for _ in 0..7 {
            let next = watch.next_deadline().unwrap();
            looks.push((next - at(0)).as_nanos() / 1_000_000);
            assert_eq!(watch.judge(next, Ok(None)), Finding::Same);
        }
        assert_eq!(looks, [50, 150, 350, 750, 1_550, 2_550, 3_550]);
        assert_eq!(watch.judge(at(9_000), there(4)), Finding::Returned);
    }

    #[test]
    fn an_interface_that_is_down_is_gone_and_one_with_another_number_has_returned() {
        let mut watch = InterfaceWatch::new(NOBODY);
        assert_eq!(watch.judge(at(0), there(3)), Finding::Same);
        assert_eq!(watch.judge(at(0), there(4)), Finding::Returned);
        watch.settle(at(0), true);
        assert_eq!(watch.judge(at(0), there(4)), Finding::Same);
        let down = Ok(Some(Interface { index: 4, is_up: false }));
        assert_eq!(watch.judge(at(0), down), Finding::Gone);
        assert_eq!(watch.judge(at(1), there(4)), Finding::Returned);
    }

    #[test]
    fn one_that_is_heard_again_is_looked_at_and_can_go_once_more() {
        let mut watch = InterfaceWatch::new(NOBODY);
        assert_eq!(watch.judge(at(0), there(3)), Finding::Same);
        assert_eq!(watch.judge(at(0), Ok(None)), Finding::Gone);
        watch.hear(at(10));
        assert_eq!(watch.next_deadline(), Some(at(50)));
        assert_eq!(watch.judge(at(50), there(3)), Finding::Returned);
        watch.settle(at(50), true);
        watch.hear(at(60));
        assert_eq!(watch.next_deadline(), Some(at(2_060)));
        assert_eq!(watch.judge(at(2_060), Ok(None)), Finding::Gone);
    }

    #[test]
    fn lines_that_could_not_be_opened_are_tried_again() {
        let mut watch = InterfaceWatch::new(NOBODY);
        assert_eq!(watch.judge(at(0), Ok(None)), Finding::Gone);
        assert_eq!(watch.judge(at(50), there(3)), Finding::Returned);
        watch.settle(at(50), false);
        assert_eq!(watch.next_deadline(), Some(at(150)));
        assert_eq!(watch.judge(at(150), there(3)), Finding::Returned);
    }

    #[test]
    fn where_the_kernel_chooses_there_is_nothing_to_look_at() {
        let mut watch = InterfaceWatch::new(Ipv4Addr::UNSPECIFIED);
        watch.hear(at(0));
        assert_eq!(watch.turn(at(9_000)), Finding::Same);
        assert_eq!(watch.next_deadline(), None);
    }
}
