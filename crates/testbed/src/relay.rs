//! The wire between two hosts on which things happen to frames.

use std::io::{self, PipeWriter};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::ethtool::{self, Offloads};
use crate::faults::Faults;
use crate::frame::{ETHERNET_HEADER, VLAN_TAG};
use crate::line::Line;
use crate::namespace;
use crate::packet_socket::{BATCH, PacketSocket};
use crate::rtnetlink::{Rtnetlink, Veth};
use crate::tally::{Board, Tally};
use crate::testbed::switch_ipv6_off;

/// The relay's own ends of the two veths, each named after the host that it leads to.
pub(crate) const INTERFACES: [&str; 2] = ["first", "second"];

/// Which way a frame goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the first host of the bed to the second.
    FirstToSecond,
    /// From the second host of the bed to the first.
    SecondToFirst,
}

impl Direction {
    /// Both of them.
    pub const BOTH: [Self; 2] = [Self::FirstToSecond, Self::SecondToFirst];
}

/// What a relay begins with.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct RelaySettings {
    /// Where all its chance comes from.
    pub seed: u64,
    /// What may happen from the first host to the second, and on the way back.
    pub faults: [Faults; 2],
}

impl RelaySettings {
    /// A relay on which nothing happens yet.
    #[must_use]
    pub const fn seeded(seed: u64) -> Self {
        Self { seed, faults: [Faults::NONE; 2] }
    }

    /// The same with these faults in one direction.
    #[must_use]
    pub const fn with(mut self, direction: Direction, faults: Faults) -> Self {
        self.faults[direction as usize] = faults;
        self
    }
}

/// A thread between two hosts that hands on what each sends to the other, or does not.
///
/// It has a network namespace of its own with two interfaces and no address, and takes frames from
/// one and gives them to the other by packet sockets. It sleeps while there is nothing to do. What
/// a network card would have done before the wire is done first: frames of up to 64 KiB are cut
/// into segments, and unfinished checksums are finished. So faults strike what a wire would carry,
/// and a flipped bit is one that the receiving kernel sees.
///
/// The fate of a frame depends on the seed, the direction and its number among the frames of that
/// direction that the filter chooses, and on nothing else: the same frames in the same order have
/// the same fates. How they fall in time is the machine's affair.
#[derive(Debug)]
pub struct Relay {
    seed: u64,
    namespace: Arc<OwnedFd>,
    shared: Arc<Shared>,
    /// Dropped first, which ends the thread.
    alive: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread and its owner have in common.
#[derive(Debug)]
struct Shared {
    orders: Mutex<Orders>,
    /// Goes up with every change of `orders`.
    changes: AtomicU64,
    boards: [Board; 2],
}

#[derive(Debug, Clone, Copy)]
struct Orders {
    faults: [Faults; 2],
    is_cut: [bool; 2],
    is_on: bool,
}

impl Shared {
    fn new(orders: Orders) -> Self {
        let (orders, changes) = (Mutex::new(orders), AtomicU64::new(0));
        Self { orders, changes, boards: [Board::new(), Board::new()] }
    }
}

impl Relay {
    /// Makes a namespace with a veth to each of `hosts`, whose end is called `interface`, and
    /// starts the thread.
    pub(crate) fn start(
        settings: &RelaySettings,
        veth: Veth,
        hosts: [OwnedFd; 2],
        interface: &'static str,
    ) -> io::Result<Self> {
        let orders = Orders { faults: settings.faults, is_cut: [false; 2], is_on: true };
        let shared = Arc::new(Shared::new(orders));
        let (ended, alive) = io::pipe()?;
        let (prepared, outcome) = std::sync::mpsc::sync_channel(1);
        let (theirs, seed) = (Arc::clone(&shared), settings.seed);
        let thread = Builder::new().name("relay".into()).spawn(move || {
            let lines = [0, 1].map(|line| Line::new(seed, line, orders.faults[line]));
            let made = lay_veths(veth, &hosts, interface);
            drop(hosts);
            let answer = made.map(|(namespace, sockets)| {
                (namespace, Forwarder::new(sockets, lines, theirs, ended.into()))
            });
            match answer {
                Ok((namespace, mut forwarder)) => {
                    if prepared.send(Ok(namespace)).is_ok() {
                        forwarder.run();
                    }
                }
                // Whoever asked is waiting for the answer.
                Err(refused) => drop(prepared.send(Err(refused))),
            }
        })?;
        let gone = |_| io::Error::other("the relay's thread has ended");
        let namespace = Arc::new(outcome.recv().map_err(gone)??);
        Ok(Self { seed, namespace, shared, alive: Some(alive), thread: Some(thread) })
    }

    pub(crate) fn namespace(&self) -> &Arc<OwnedFd> {
        &self.namespace
    }

    /// Where all its chance comes from.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What has happened in one direction so far.
    ///
    /// It is a view of one moment. What became of a frame is there before any copy of it arrives,
    /// and that it has arrived just after.
    #[must_use]
    pub fn tally(&self, direction: Direction) -> Tally {
        self.shared.boards[direction as usize].read()
    }

    /// What may happen in one direction from now on: to every frame that is sent after this
    /// returns. Those under way keep their time.
    pub fn set_faults(&self, direction: Direction, faults: Faults) {
        self.order(|orders| orders.faults[direction as usize] = faults);
    }

    /// Cuts one direction, so that all frames are lost that the filter chooses, or mends it. What
    /// is under way arrives all the same.
    pub fn set_cut(&self, direction: Direction, is_cut: bool) {
        self.order(|orders| orders.is_cut[direction as usize] = is_cut);
    }

    /// Switches it off, so that all frames pass untouched, or on again, when it goes on with the
    /// next number. What is under way arrives in its time all the same.
    pub fn set_on(&self, is_on: bool) {
        self.order(|orders| orders.is_on = is_on);
    }

    fn order(&self, change: impl FnOnce(&mut Orders)) {
        let mut orders = self.shared.orders.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut orders);
        self.shared.changes.fetch_add(1, Ordering::Release);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.alive = None;
        if let Some(thread) = self.thread.take() {
            // Were it to panic, the panic has been printed where it happened.
            let _ = thread.join();
        }
    }
}

/// Moves the calling thread into a new namespace and joins that to two others.
fn lay_veths(
    veth: Veth,
    hosts: &[OwnedFd; 2],
    interface: &str,
) -> io::Result<(OwnedFd, [PacketSocket; 2])> {
    namespace::unshare(libc::CLONE_NEWNET)?;
    switch_ipv6_off();
    let mut rtnetlink = Rtnetlink::open()?;
    let mut sockets = Vec::with_capacity(2);
    for (name, host) in INTERFACES.into_iter().zip(hosts) {
        rtnetlink.add_veth([veth.matching(), veth], [name, interface], host.as_fd())?;
        // Nothing may be joined on the way that comes apart on the wire.
        let ours = Offloads { gro: false, ..ethtool::offloads(name)? };
        ethtool::set_offloads(name, ours)?;
        let link = rtnetlink.link(name)?;
        rtnetlink.set_up(link.index)?;
        sockets.push(PacketSocket::open(link.index)?);
    }
    let sockets = sockets.try_into().map_err(|_| io::ErrorKind::NotFound)?;
    Ok((namespace::current()?, sockets))
}

/// The thread's own: line 0 leads from socket 0 to socket 1, line 1 back.
struct Forwarder {
    started: Instant,
    sockets: [PacketSocket; 2],
    /// False once an interface is gone.
    is_open: [bool; 2],
    lines: [Line; 2],
    shared: Arc<Shared>,
    changes: u64,
    /// Hangs up when the relay is to end.
    ended: OwnedFd,
    leaving: Vec<Vec<u8>>,
    segment: Vec<u8>,
    tagged: Vec<u8>,
}

impl Forwarder {
    fn new(
        sockets: [PacketSocket; 2],
        lines: [Line; 2],
        shared: Arc<Shared>,
        ended: OwnedFd,
    ) -> Self {
        Self {
            started: Instant::now(),
            sockets,
            is_open: [true; 2],
            lines,
            shared,
            changes: 0,
            ended,
            leaving: Vec::with_capacity(BATCH),
            segment: Vec::new(),
            tagged: Vec::new(),
        }
    }

    fn run(&mut self) {
        wake_in_time();
        while let Ok([first, second, false]) = self.wait() {
            for (direction, is_ready) in [first, second].into_iter().enumerate() {
                if is_ready {
                    self.receive(direction);
                    self.tell(direction);
                }
                self.transmit(direction);
                self.tell(direction);
            }
        }
    }

    fn tell(&self, direction: usize) {
        self.shared.boards[direction].write(self.lines[direction].tally());
    }

    /// Waits for a frame, for the time of one, or for the end; which of them it is.
    fn wait(&self) -> io::Result<[bool; 3]> {
        let due = self.lines.iter().filter_map(Line::poll_timeout).min();
        let timeout = due.map(|due| due.saturating_sub(self.started.elapsed()));
        let [first, second] = &self.sockets;
        // A negative descriptor is passed over.
        let socket = |index: usize, fd: BorrowedFd<'_>| {
            if self.is_open[index] { fd.as_raw_fd() } else { -1 }
        };
        poll([socket(0, first.as_fd()), socket(1, second.as_fd()), self.ended.as_raw_fd()], timeout)
    }

    /// Takes a batch of frames from one host.
    fn receive(&mut self, direction: usize) {
        let count = match self.sockets[direction].receive() {
            Ok(count) => count,
            Err(error) => return self.note_error(direction, &error),
        };
        // Only now: what was sent before a change may have either fate, what was sent after it may
        // be in this very batch.
        self.follow_orders();
        let now = self.started.elapsed();
        for index in 0..count {
            let Self { sockets, lines, segment, tagged, .. } = self;
            let line = &mut lines[direction];
            let finished = sockets[direction].frame(index).is_some_and(|frame| {
                let on = |bytes: &[u8]| line.send(now, with_tag(bytes, frame.vlan, tagged));
                frame.unfinished.finish(frame.bytes, segment, on).is_ok()
            });
            line.tally_mut().malformed += u64::from(!finished);
        }
        if let Ok(missed) = self.sockets[direction].take_missed() {
            self.lines[direction].tally_mut().missed += missed;
        }
    }

    fn note_error(&mut self, direction: usize, error: &io::Error) {
        match (error.kind(), error.raw_os_error()) {
            (io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted, _) => {}
            // A frame that the kernel cannot describe; it is gone.
            (_, Some(libc::EINVAL)) => self.lines[direction].tally_mut().malformed += 1,
            _ => self.is_open[direction] = false,
        }
    }

    fn follow_orders(&mut self) {
        let changes = self.shared.changes.load(Ordering::Acquire);
        if changes == self.changes {
            return;
        }
        self.changes = changes;
        let orders = *self.shared.orders.lock().unwrap_or_else(PoisonError::into_inner);
        for (direction, line) in self.lines.iter_mut().enumerate() {
            line.set(orders.faults[direction], orders.is_cut[direction], orders.is_on);
        }
    }

    /// Gives to the other host what its time has come for.
    fn transmit(&mut self, direction: usize) {
        let now = self.started.elapsed();
        loop {
            let line = &mut self.lines[direction];
            self.leaving.extend(std::iter::from_fn(|| line.receive(now)).take(BATCH));
            let socket = &self.sockets[1 - direction];
            line.tally_mut().refused += send_all(socket, &self.leaving);
            let is_all = self.leaving.len() < BATCH;
            self.leaving.drain(..).for_each(|frame| line.recycle(frame));
            if is_all {
                return;
            }
        }
    }
}

/// Gives frames to an interface; how many it did not take.
fn send_all(socket: &PacketSocket, mut frames: &[Vec<u8>]) -> u64 {
    let mut refused = 0;
    while !frames.is_empty() {
        match socket.send(frames) {
            Ok(count) => frames = &frames[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => {
                refused += 1;
                frames = &frames[1..];
            }
        }
    }
    refused
}

/// The frame with the tag that was taken out of it.
fn with_tag<'a>(
    bytes: &'a [u8],
    vlan: Option<[u8; VLAN_TAG]>,
    tagged: &'a mut Vec<u8>,
) -> &'a [u8] {
    let Some(tag) = vlan else { return bytes };
    let (addresses, rest) = bytes.split_at(bytes.len().min(ETHERNET_HEADER - 2));
    tagged.clear();
    [addresses, &tag, rest].into_iter().for_each(|part| tagged.extend_from_slice(part));
    tagged
}

/// Asks the kernel for wakes at the very time: 50 µs late is its default.
fn wake_in_time() {
    // SAFETY: PR_SET_TIMERSLACK takes a number and touches no memory of ours. A refusal makes
    // delays longer and nothing else.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
}

/// Waits until one of these can be read or has an error, or for a time; which of them it is.
fn poll(fds: [i32; 3], timeout: Option<Duration>) -> io::Result<[bool; 3]> {
    let mut polled = fds.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: timeout.as_secs().cast_signed(),
        tv_nsec: timeout.subsec_nanos().into(),
    });
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: three descriptions and a time or null, all of which live through the call. No signal
    // mask is a null pointer.
    match unsafe { libc::ppoll(polled.as_mut_ptr(), 3, timeout, std::ptr::null()) } {
        0.. => Ok(polled.map(|polled| polled.revents != 0)),
        _ => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok([false; 3]),
            error => Err(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Room for a few frames only.
    fn shrink(socket: &PacketSocket) {
        let (fd, value, length) = (socket.as_fd().as_raw_fd(), 1 << 14, size_of::<i32>() as u32);
        for option in [libc::SO_RCVBUF, libc::SO_RCVBUFFORCE] {
            let value: *const i32 = &raw const value;
            // SAFETY: the kernel reads one integer, which lives through the call.
            let result =
                unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, option, value.cast(), length) };
            assert_eq!(result, 0);
        }
    }

    #[test]
    #[ignore = "needs root"]
    fn frames_that_come_faster_than_they_are_taken_are_counted() {
        // A namespace of its own, which ends with the thread.
        let test = || {
            namespace::unshare(libc::CLONE_NEWNET).unwrap();
            let mut rtnetlink = Rtnetlink::open().unwrap();
            let lo = rtnetlink.link("lo").unwrap().index;
            rtnetlink.set_up(lo).unwrap();
            let sockets = [(); 2].map(|()| PacketSocket::open(lo).unwrap());
            shrink(&sockets[0]);
            let lines = [0, 1].map(|line| Line::new(7, line, Faults::NONE));
            let orders = Orders { faults: [Faults::NONE; 2], is_cut: [false; 2], is_on: true };
            let shared = Arc::new(Shared::new(orders));
            let (ended, _alive) = io::pipe().unwrap();
            let mut forwarder = Forwarder::new(sockets, lines, shared, ended.into());
            let sender = std::net::UdpSocket::bind("127.0.0.1:7").unwrap();
            (0..500).for_each(|_| drop(sender.send_to(&[1; 1_000], "127.0.0.1:7")));
            while forwarder.wait().unwrap()[0] {
                forwarder.receive(0);
            }
            let Tally { sent, missed, .. } = *forwarder.lines[0].tally();
            assert!(missed > 0 && sent + missed == 500, "{sent} {missed}");
        };
        std::thread::spawn(test).join().unwrap();
    }

    #[test]
    fn a_tag_is_put_back_in_front_of_the_ethertype() {
        let bytes: Vec<u8> = (0..20).collect();
        let tag = Some([0x81, 0, 0, 5]);
        let mut tagged = Vec::new();
        let whole = with_tag(&bytes, tag, &mut tagged);
        assert_eq!((&whole[..12], &whole[12..16]), (&bytes[..12], &[0x81, 0, 0, 5][..]));
        assert_eq!(whole[16..], bytes[12..]);
        assert_eq!(with_tag(&bytes, None, &mut Vec::new()), &bytes[..]);
    }
}
