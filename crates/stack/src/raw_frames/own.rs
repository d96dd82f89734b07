//! An interface of one's own, of which one EtherType is used: no lock, and no thread beside.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use hairpin_xdp::{
    FilterError, FilterSettings, Interface, InterfaceError, InterfaceSettings, Packet, Stamp,
    TxWakeup,
};

use crate::StackError;
use crate::core::is_down;
use crate::netlink::Netlink;
use crate::readiness::Epoll;

/// Looks that find nothing before it is asked whether the interface is there still: that takes a
/// system call, and so many looks at least half a millisecond.
const IDLE: u32 = 1 << 16;

/// The longest sleep: nobody is woken when the interface is taken away.
const NAP: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Own {
    interface: Interface,
    kicker: TxWakeup,
    queue: u32,
    mac: [u8; 6],
    epoll: Epoll,
    is_watching: bool,
    /// Looks that have found nothing since it was asked.
    idle: u32,
}

impl Own {
    pub(super) fn open(
        interface: &str,
        ether_type: u16,
        settings: &InterfaceSettings,
    ) -> Result<Self, StackError> {
        let mut settings = settings.clone();
        // Maps that nothing is looked up in need no room.
        let FilterSettings { flows, locals, groups, only, .. } = &mut settings.filter;
        (*flows, *locals, *groups, *only) = (1, 1, 1, Some(ether_type));
        let interface = Interface::open(interface, &settings).map_err(|error| match error {
            InterfaceError::Filter(FilterError::Only(error)) => StackError::Entry(error),
            error => StackError::Interface(error),
        })?;
        let index = interface.device().index;
        let queue = u32::from(ether_type) % interface.device().queues;
        let kicker = interface.kicker(queue).expect("an interface has all of its queues");
        let link = Netlink::open().and_then(|mut netlink| netlink.link(index));
        let mac = link.map_err(StackError::Netlink)?.mac;
        let epoll = Epoll::new().map_err(StackError::Epoll)?;
        let mut own = Self { interface, kicker, queue, mac, epoll, is_watching: false, idle: 0 };
        own.watch(true).map_err(StackError::Epoll)?;
        Ok(own)
    }

    #[inline(always)]
    pub(super) fn receive(&mut self) -> io::Result<Option<Packet>> {
        match self.interface.receive() {
            Ok(Some((_, packet))) => Ok(Some(packet)),
            Ok(None) => {
                self.idle += 1;
                if self.idle < IDLE { Ok(None) } else { self.check_gone().map(|()| None) }
            }
            // Which passes, unless the interface is gone.
            Err(error) if is_down(&error) => self.check_gone().map(|()| None),
            Err(error) => Err(error),
        }
    }

    #[cold]
    fn check_gone(&mut self) -> io::Result<()> {
        self.idle = 0;
        let is_gone = self.interface.is_gone();
        if is_gone { Err(io::Error::from_raw_os_error(libc::ENODEV)) } else { Ok(()) }
    }

    #[inline]
    pub(super) fn frame(&mut self, length: u32) -> Option<Packet> {
        self.interface.packet(length)
    }

    #[inline(always)]
    pub(super) fn transmit(&mut self, packet: Packet) -> io::Result<Result<(), Packet>> {
        match self.interface.post(self.queue, packet) {
            Ok(frames) => self.kicker.kick(frames).map(Ok),
            Err(packet) => self.transmit_again(packet),
        }
    }

    /// The ring was full. What is in it leaves, and then there is room, or the way is stuck.
    #[cold]
    fn transmit_again(&mut self, packet: Packet) -> io::Result<Result<(), Packet>> {
        if let Err(error) = self.flush() {
            self.give(packet);
            return Err(error);
        }
        match self.put(packet) {
            Ok(()) => self.flush().map(Ok),
            Err(packet) => Ok(Err(packet)),
        }
    }

    #[inline(always)]
    pub(super) fn put(&mut self, packet: Packet) -> Result<(), Packet> {
        self.interface.transmit(self.queue, packet)
    }

    #[inline(always)]
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.kicker.kick(self.interface.submit(self.queue))
    }

    #[inline]
    pub(super) fn give(&mut self, packet: Packet) {
        self.interface.give(packet.into_frame());
    }

    #[inline(always)]
    pub(super) fn bytes<'a>(&'a self, packet: &'a Packet) -> &'a [u8] {
        self.interface.bytes(packet)
    }

    #[inline(always)]
    pub(super) fn bytes_mut<'a>(&'a self, packet: &'a mut Packet) -> &'a mut [u8] {
        self.interface.bytes_mut(packet)
    }

    pub(super) fn receive_stamp(&self, packet: &Packet) -> Option<Stamp> {
        self.interface.receive_stamp(packet)
    }

    pub(super) fn longest(&self) -> u32 {
        self.interface.umem().settings().longest_frame()
    }

    pub(super) fn wait(&mut self, timeout: Option<Duration>) -> io::Result<bool> {
        self.watch(true)?;
        let until = timeout.map(|timeout| Instant::now() + timeout);
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 4];
        loop {
            match self.interface.look() {
                Ok(true) => return Ok(true),
                Err(error) if !is_down(&error) => return Err(error),
                Ok(false) | Err(_) => self.check_gone()?,
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Ok(false);
            }
            let begun = Instant::now();
            let nap = left.map_or(NAP, |left| left.min(NAP));
            let is_woken = !self.epoll.wait(&mut events, Some(nap))?.is_empty();
            // A signal: who waits without end may want to end.
            if !is_woken && left.is_none() && begun.elapsed() < nap {
                return Ok(false);
            }
        }
    }

    pub(super) fn set_spinning(&mut self, is_spinning: bool) {
        // What cannot be watched stays as it is, and `wait` tells.
        let _ = self.watch(!is_spinning);
    }

    /// Has the kernel wake whoever sleeps, or not.
    fn watch(&mut self, is_watching: bool) -> io::Result<()> {
        if is_watching != self.is_watching {
            self.epoll.watch(self.interface.sockets(), is_watching)?;
            self.is_watching = is_watching;
        }
        Ok(())
    }

    pub(super) fn lost(&self) -> u64 {
        let lost = self.interface.sockets().iter().map(|socket| {
            let counted = socket.statistics().unwrap_or_default();
            // For want of a frame, and for want of a place.
            counted.receive_dropped + counted.receive_ring_full
        });
        lost.sum()
    }

    pub(super) fn mac(&self) -> [u8; 6] {
        self.mac
    }

    pub(super) fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.interface, f)
    }
}

impl AsFd for Own {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}
