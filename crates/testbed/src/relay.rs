//! The relay: a wire between two hosts that applies faults to frames.

use std::io::{self, PipeWriter};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::ethtool::{self, Offloads};
use crate::faults::Faults;
use crate::faulty_link::FaultyLink;
use crate::frame::{ETHERNET_HEADER, VLAN_TAG};
use crate::namespace;
use crate::packet_socket::{BATCH, PacketSocket};
use crate::relay_counters::{RelayCounters, SharedCounters};
use crate::rtnetlink::{Rtnetlink, Veth};
use crate::testbed::disable_ipv6;

/// The names of the relay's ends of the two veth pairs, after the host at the other end.
pub(crate) const INTERFACES: [&str; 2] = ["first", "second"];

/// The direction of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The direction from the first host of the testbed to the second.
    FirstToSecond,
    /// The direction from the second host of the testbed to the first.
    SecondToFirst,
}

impl Direction {
    /// Both directions.
    pub const BOTH: [Self; 2] = [Self::FirstToSecond, Self::SecondToFirst];
}

/// The initial settings of a relay.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct RelaySettings {
    /// The seed of all random draws.
    pub seed: u64,
    /// The faults of each [`Direction`].
    pub faults: [Faults; 2],
}

impl RelaySettings {
    /// Returns settings with a seed and without faults.
    #[must_use]
    pub const fn seeded(seed: u64) -> Self {
        Self { seed, faults: [Faults::NONE; 2] }
    }

    /// Sets the faults of one direction.
    #[must_use]
    pub const fn with(mut self, direction: Direction, faults: Faults) -> Self {
        self.faults[direction as usize] = faults;
        self
    }
}

/// A thread between two hosts that forwards frames in both directions and applies faults.
///
/// The thread has a network namespace of its own with two interfaces and no address. It forwards
/// frames between them with packet sockets, and sleeps while idle. First it does the work of a
/// network card: it segments frames of up to 64 KiB and completes checksums. So faults affect the
/// frames of a real wire, and the receiving kernel detects a flipped bit.
///
/// The faults of a frame depend only on the seed, the direction, and the frame's number among the
/// selected frames of that direction: the same frames in the same order have the same faults. The
/// times of departure also depend on the load of the machine.
#[derive(Debug)]
pub struct Relay {
    seed: u64,
    namespace: Arc<OwnedFd>,
    shared: Arc<Shared>,
    /// The thread ends when this is dropped, which happens first.
    alive: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

/// The state shared by the thread and its owner.
#[derive(Debug)]
struct Shared {
    control: Mutex<RelayControl>,
    /// The number of changes of `control`.
    changes: AtomicU64,
    counters: [SharedCounters; 2],
}

#[derive(Debug, Clone, Copy)]
struct RelayControl {
    faults: [Faults; 2],
    cut: [bool; 2],
    on: bool,
}

impl Shared {
    fn new(control: RelayControl) -> Self {
        let (control, changes) = (Mutex::new(control), AtomicU64::new(0));
        Self { control, changes, counters: [SharedCounters::new(), SharedCounters::new()] }
    }
}

impl Relay {
    /// Creates a namespace with a veth pair to each of `hosts`, named `interface` there, and starts
    /// the thread.
    pub(crate) fn start(
        settings: &RelaySettings,
        veth: Veth,
        hosts: [OwnedFd; 2],
        interface: &'static str,
    ) -> io::Result<Self> {
        let control = RelayControl { faults: settings.faults, cut: [false; 2], on: true };
        let shared = Arc::new(Shared::new(control));
        let (ended, alive) = io::pipe()?;
        let (prepared, outcome) = std::sync::mpsc::sync_channel(1);
        let (thread_shared, seed) = (Arc::clone(&shared), settings.seed);
        let thread = Builder::new().name("relay".into()).spawn(move || {
            let links = [0, 1].map(|index| FaultyLink::new(seed, index, control.faults[index]));
            let added = add_veths(veth, &hosts, interface);
            drop(hosts);
            let answer = added.map(|(namespace, sockets)| {
                (namespace, Forwarder::new(sockets, links, thread_shared, ended.into()))
            });
            match answer {
                Ok((namespace, mut forwarder)) => {
                    if prepared.send(Ok(namespace)).is_ok() {
                        forwarder.run();
                    }
                }
                // The caller waits for the answer, so sending cannot fail.
                Err(error) => drop(prepared.send(Err(error))),
            }
        })?;
        let ended = |_| io::Error::other("the relay's thread has ended");
        let namespace = Arc::new(outcome.recv().map_err(ended)??);
        Ok(Self { seed, namespace, shared, alive: Some(alive), thread: Some(thread) })
    }

    pub(crate) fn namespace(&self) -> &Arc<OwnedFd> {
        &self.namespace
    }

    /// Returns the seed of all random draws.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the counters of one direction, which are consistent with each other.
    ///
    /// The faults of a frame are counted before a copy of it arrives, and the arrival just after.
    #[must_use]
    pub fn counters(&self, direction: Direction) -> RelayCounters {
        self.shared.counters[direction as usize].read()
    }

    /// Sets the faults of one direction for every frame that is sent after this returns. Frames in
    /// flight keep their departures.
    pub fn set_faults(&self, direction: Direction, faults: Faults) {
        self.change(|control| control.faults[direction as usize] = faults);
    }

    /// Cuts one direction, so that all selected frames are lost, or ends the cut. Frames in flight
    /// still arrive.
    pub fn set_cut(&self, direction: Direction, cut: bool) {
        self.change(|control| control.cut[direction as usize] = cut);
    }

    /// Turns all faults off, so that frames pass unchanged, or on again. Frames that pass meanwhile
    /// have no number. Frames in flight keep their departures.
    pub fn set_on(&self, on: bool) {
        self.change(|control| control.on = on);
    }

    fn change(&self, change: impl FnOnce(&mut RelayControl)) {
        let mut control = self.shared.control.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut control);
        self.shared.changes.fetch_add(1, Ordering::Release);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.alive = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has already been printed.
            let _ = thread.join();
        }
    }
}

/// Moves the calling thread into a new namespace with a veth pair to each host.
fn add_veths(
    veth: Veth,
    hosts: &[OwnedFd; 2],
    interface: &str,
) -> io::Result<(OwnedFd, [PacketSocket; 2])> {
    namespace::unshare(libc::CLONE_NEWNET)?;
    disable_ipv6();
    let mut rtnetlink = Rtnetlink::open()?;
    let mut sockets = Vec::with_capacity(2);
    for (name, host) in INTERFACES.into_iter().zip(hosts) {
        rtnetlink.add_veth([veth.matching(), veth], [name, interface], host.as_fd())?;
        // GRO would merge frames that are separate on a wire.
        let ours = Offloads { gro: false, ..ethtool::offloads(name)? };
        ethtool::set_offloads(name, ours)?;
        let link = rtnetlink.link(name)?;
        rtnetlink.set_up(link.index)?;
        sockets.push(PacketSocket::open(link.index)?);
    }
    let sockets = sockets.try_into().map_err(|_| io::ErrorKind::NotFound)?;
    Ok((namespace::current()?, sockets))
}

/// The state of the thread. Link 0 leads from socket 0 to socket 1, link 1 back.
struct Forwarder {
    started: Instant,
    sockets: [PacketSocket; 2],
    /// `false` after an interface was removed.
    open: [bool; 2],
    links: [FaultyLink; 2],
    shared: Arc<Shared>,
    changes: u64,
    /// The reading end of a pipe, which hangs up to end the relay.
    ended: OwnedFd,
    leaving: Vec<Vec<u8>>,
    segment: Vec<u8>,
    tagged: Vec<u8>,
}

impl Forwarder {
    fn new(
        sockets: [PacketSocket; 2],
        links: [FaultyLink; 2],
        shared: Arc<Shared>,
        ended: OwnedFd,
    ) -> Self {
        Self {
            started: Instant::now(),
            sockets,
            open: [true; 2],
            links,
            shared,
            changes: 0,
            ended,
            leaving: Vec::with_capacity(BATCH),
            segment: Vec::new(),
            tagged: Vec::new(),
        }
    }

    fn run(&mut self) {
        minimize_timer_slack();
        while let Ok([first, second, false]) = self.wait() {
            for (direction, is_ready) in [first, second].into_iter().enumerate() {
                if is_ready {
                    self.receive(direction);
                    self.publish_counters(direction);
                }
                self.transmit(direction);
                self.publish_counters(direction);
            }
        }
    }

    fn publish_counters(&self, direction: usize) {
        self.shared.counters[direction].write(self.links[direction].counters());
    }

    /// Waits for a frame at either socket, for a departure, or for the end of the relay. Returns
    /// which descriptors are ready.
    fn wait(&self) -> io::Result<[bool; 3]> {
        let due = self.links.iter().filter_map(FaultyLink::poll_timeout).min();
        let timeout = due.map(|due| due.saturating_sub(self.started.elapsed()));
        let [first, second] = &self.sockets;
        // poll(2) ignores a negative descriptor.
        let socket = |index: usize, fd: BorrowedFd<'_>| {
            if self.open[index] { fd.as_raw_fd() } else { -1 }
        };
        poll([socket(0, first.as_fd()), socket(1, second.as_fd()), self.ended.as_raw_fd()], timeout)
    }

    /// Receives a batch of frames from one host.
    fn receive(&mut self, direction: usize) {
        let count = match self.sockets[direction].receive() {
            Ok(count) => count,
            Err(error) => return self.record_error(direction, &error),
        };
        // After receiving: this batch may contain frames that were sent after a change of the
        // control, and these must see the change.
        self.update_control();
        let now = self.started.elapsed();
        for index in 0..count {
            let Self { sockets, links, segment, tagged, .. } = self;
            let link = &mut links[direction];
            let completed = sockets[direction].frame(index).is_some_and(|frame| {
                let on = |bytes: &[u8]| link.send(now, with_tag(bytes, frame.vlan, tagged));
                frame.vnet.complete(frame.bytes, segment, on).is_ok()
            });
            link.counters_mut().malformed += u64::from(!completed);
        }
        if let Ok(missed) = self.sockets[direction].take_missed() {
            self.links[direction].counters_mut().missed += missed;
        }
    }

    fn record_error(&mut self, direction: usize, error: &io::Error) {
        match (error.kind(), error.raw_os_error()) {
            (io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted, _) => {}
            // The kernel cannot describe the frame in a vnet header and has dropped it.
            (_, Some(libc::EINVAL)) => self.links[direction].counters_mut().malformed += 1,
            _ => self.open[direction] = false,
        }
    }

    fn update_control(&mut self) {
        let changes = self.shared.changes.load(Ordering::Acquire);
        if changes == self.changes {
            return;
        }
        self.changes = changes;
        let control = *self.shared.control.lock().unwrap_or_else(PoisonError::into_inner);
        for (direction, link) in self.links.iter_mut().enumerate() {
            link.set(control.faults[direction], control.cut[direction], control.on);
        }
    }

    /// Sends the frames whose departure has come to the other host.
    fn transmit(&mut self, direction: usize) {
        let now = self.started.elapsed();
        loop {
            let link = &mut self.links[direction];
            self.leaving.extend(std::iter::from_fn(|| link.receive(now)).take(BATCH));
            let socket = &self.sockets[1 - direction];
            link.counters_mut().refused += send_all(socket, &self.leaving);
            let is_last_batch = self.leaving.len() < BATCH;
            self.leaving.drain(..).for_each(|frame| link.recycle(frame));
            if is_last_batch {
                return;
            }
        }
    }
}

/// Sends frames to an interface. Returns how many the interface rejected.
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

/// Returns the frame with the tag that the kernel removed.
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

/// Sets the timer slack of the thread to 1 ns; the default is 50 µs.
fn minimize_timer_slack() {
    // SAFETY: PR_SET_TIMERSLACK takes an integer and accesses no memory of the process. On failure,
    // only delays are longer.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
}

/// Waits until a descriptor is readable or has an error, or for the timeout. Returns which
/// descriptors are ready.
fn poll(fds: [i32; 3], timeout: Option<Duration>) -> io::Result<[bool; 3]> {
    let mut polled = fds.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: timeout.as_secs().cast_signed(),
        tv_nsec: timeout.subsec_nanos().into(),
    });
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the pointers are to three descriptors and to a timeout or null, all of which live
    // during the call. A null pointer means no signal mask.
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

    /// Reduces the receive buffer to a few frames.
    fn shrink_buffer(socket: &PacketSocket) {
        let (fd, value, length) = (socket.as_fd().as_raw_fd(), 1 << 14, size_of::<i32>() as u32);
        for option in [libc::SO_RCVBUF, libc::SO_RCVBUFFORCE] {
            let value: *const i32 = &raw const value;
            // SAFETY: the kernel reads one integer, which lives during the call.
            let result =
                unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, option, value.cast(), length) };
            assert_eq!(result, 0);
        }
    }

    #[test]
    #[ignore = "needs root"]
    fn missed_frames_are_counted() {
        // The namespace ends with its thread.
        let test = || {
            namespace::unshare(libc::CLONE_NEWNET).unwrap();
            let mut rtnetlink = Rtnetlink::open().unwrap();
            let lo = rtnetlink.link("lo").unwrap().index;
            rtnetlink.set_up(lo).unwrap();
            let sockets = [(); 2].map(|()| PacketSocket::open(lo).unwrap());
            shrink_buffer(&sockets[0]);
            let links = [0, 1].map(|index| FaultyLink::new(7, index, Faults::NONE));
            let control = RelayControl { faults: [Faults::NONE; 2], cut: [false; 2], on: true };
            let shared = Arc::new(Shared::new(control));
            let (ended, _alive) = io::pipe().unwrap();
            let mut forwarder = Forwarder::new(sockets, links, shared, ended.into());
            let sender = std::net::UdpSocket::bind("127.0.0.1:7").unwrap();
            (0..500).for_each(|_| drop(sender.send_to(&[1; 1_000], "127.0.0.1:7")));
            while forwarder.wait().unwrap()[0] {
                forwarder.receive(0);
            }
            let RelayCounters { sent, missed, .. } = *forwarder.links[0].counters();
            assert!(missed > 0 && sent + missed == 500, "{sent} {missed}");
        };
        std::thread::spawn(test).join().unwrap();
    }

    #[test]
    fn tag_is_restored_before_the_ethertype() {
        let bytes: Vec<u8> = (0..20).collect();
        let tag = Some([0x81, 0, 0, 5]);
        let mut tagged = Vec::new();
        let whole = with_tag(&bytes, tag, &mut tagged);
        assert_eq!((&whole[..12], &whole[12..16]), (&bytes[..12], &[0x81, 0, 0, 5][..]));
        assert_eq!(whole[16..], bytes[12..]);
        assert_eq!(with_tag(&bytes, None, &mut Vec::new()), &bytes[..]);
    }
}
