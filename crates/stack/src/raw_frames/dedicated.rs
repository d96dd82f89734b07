//! Raw frames of a dedicated interface: one EtherType, no lock, no watcher thread.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use hairpin_xdp::{
    FilterError, FilterSettings, Interface, InterfaceError, InterfaceSettings, Packet, Stamp,
    TxWakeup,
};

use crate::StackError;
use crate::data_plane::is_down;
use crate::netlink::Netlink;
use crate::readiness::Epoll;

/// Empty polls between checks whether the interface still exists. A check takes a system call;
/// these polls take at least half a millisecond.
const POLLS_PER_CHECK: u32 = 1 << 16;

/// The longest wait between such checks, because the removal of the interface wakes no waiter.
const MAX_WAIT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct DedicatedSource {
    interface: Interface,
    tx_wakeup: TxWakeup,
    queue: u32,
    mac: [u8; 6],
    epoll: Epoll,
    watching: bool,
    /// Empty polls since the last check.
    idle_polls: u32,
}

impl DedicatedSource {
    pub(super) fn open(
        interface: &str,
        ether_type: u16,
        settings: &InterfaceSettings,
    ) -> Result<Self, StackError> {
        let mut settings = settings.clone();
        // The maps are never looked up, so they need no capacity.
        let FilterSettings { flows, locals, groups, only_ether_type, .. } = &mut settings.filter;
        (*flows, *locals, *groups, *only_ether_type) = (1, 1, 1, Some(ether_type));
        let interface = Interface::open(interface, &settings).map_err(|error| match error {
            InterfaceError::Filter(FilterError::OnlyEtherType(error)) => StackError::Entry(error),
            error => StackError::Interface(error),
        })?;
        let index = interface.device().index;
        let queue = u32::from(ether_type) % interface.device().queues;
        let tx_wakeup = interface.tx_wakeup(queue).expect("an interface has all of its queues");
        let link = Netlink::open().and_then(|mut netlink| netlink.link(index));
        let mac = link.map_err(StackError::Netlink)?.mac;
        let epoll = Epoll::new().map_err(StackError::Epoll)?;
        let mut dedicated =
            Self { interface, tx_wakeup, queue, mac, epoll, watching: false, idle_polls: 0 };
        dedicated.watch(true).map_err(StackError::Epoll)?;
        Ok(dedicated)
    }

    #[inline(always)]
    pub(super) fn receive(&mut self) -> io::Result<Option<Packet>> {
        match self.interface.receive() {
            Ok(Some((_, packet))) => Ok(Some(packet)),
            Ok(None) => {
                self.idle_polls += 1;
                if self.idle_polls < POLLS_PER_CHECK {
                    Ok(None)
                } else {
                    self.check_removed().map(|()| None)
                }
            }
            // The error is temporary unless the interface was removed.
            Err(error) if is_down(&error) => self.check_removed().map(|()| None),
            Err(error) => Err(error),
        }
    }

    #[cold]
    fn check_removed(&mut self) -> io::Result<()> {
        self.idle_polls = 0;
        let is_removed = self.interface.is_removed();
        if is_removed { Err(io::Error::from_raw_os_error(libc::ENODEV)) } else { Ok(()) }
    }

    #[inline]
    pub(super) fn frame(&mut self, length: u32) -> Option<Packet> {
        self.interface.packet(length)
    }

    #[inline(always)]
    pub(super) fn transmit(&mut self, packet: Packet) -> io::Result<Result<(), Packet>> {
        match self.interface.post(self.queue, packet) {
            Ok(frames) => self.tx_wakeup.kick(frames).map(Ok),
            Err(packet) => self.transmit_again(packet),
        }
    }

    /// The ring was full: sends it and retries once. Returns the packet if the ring is still full.
    #[cold]
    fn transmit_again(&mut self, packet: Packet) -> io::Result<Result<(), Packet>> {
        if let Err(error) = self.flush() {
            self.release(packet);
            return Err(error);
        }
        match self.enqueue(packet) {
            Ok(()) => self.flush().map(Ok),
            Err(packet) => Ok(Err(packet)),
        }
    }

    #[inline(always)]
    pub(super) fn enqueue(&mut self, packet: Packet) -> Result<(), Packet> {
        self.interface.transmit(self.queue, packet)
    }

    #[inline(always)]
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.tx_wakeup.kick(self.interface.submit(self.queue))
    }

    #[inline]
    pub(super) fn release(&mut self, packet: Packet) {
        self.interface.release(packet.into_frame());
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

    pub(super) fn max_length(&self) -> u32 {
        self.interface.umem().settings().longest_frame()
    }

    pub(super) fn wait(&mut self, timeout: Option<Duration>) -> io::Result<bool> {
        self.watch(true)?;
        let until = timeout.map(|timeout| Instant::now() + timeout);
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let limit = left.map_or(MAX_WAIT, |left| left.min(MAX_WAIT));
            let started = Instant::now();
            let Self { interface, epoll, .. } = self;
            let is_ready = epoll.wait_until(Some(limit), |_| match interface.poll() {
                Err(error) if is_down(&error) => Ok(false),
                polled => polled,
            })?;
            if is_ready {
                return Ok(true);
            }
            self.check_removed()?;
            // A shorter wait has ended by a signal.
            if left == Some(limit) || started.elapsed() < limit {
                return Ok(false);
            }
        }
    }

    pub(super) fn set_spinning(&mut self, spinning: bool) {
        // On failure the sockets stay as they are, and `wait` reports the error.
        let _ = self.watch(!spinning);
    }

    /// Makes the kernel wake waiters, or not.
    fn watch(&mut self, watching: bool) -> io::Result<()> {
        if watching != self.watching {
            self.epoll.watch(self.interface.sockets(), watching)?;
            self.watching = watching;
        }
        Ok(())
    }

    pub(super) fn dropped(&self) -> u64 {
        let dropped = self.interface.sockets().iter().map(|socket| {
            let counted = socket.statistics().unwrap_or_default();
            // Frames without a receive frame, and frames without a ring entry.
            counted.receive_dropped + counted.receive_ring_full
        });
        dropped.sum()
    }

    pub(super) fn mac(&self) -> [u8; 6] {
        self.mac
    }

    pub(super) fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.interface, f)
    }
}

impl AsFd for DedicatedSource {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}
