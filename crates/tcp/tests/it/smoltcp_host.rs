//! smoltcp as one end of a connection, over IP packets in memory.

use std::cell::Cell;
use std::collections::VecDeque;

use hairpin_time::Instant;
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{Socket, SocketBuffer};
use smoltcp::time::Instant as SmoltcpInstant;
use smoltcp::wire::{HardwareAddress, IpCidr, Ipv4Address};

pub(crate) const ETHERNET: usize = 14;

thread_local! {
    /// The timestamp clock: smoltcp calls a function without arguments.
    static TSVAL: Cell<u32> = const { Cell::new(0) };
}

/// Frames on their way from and to the interface.
#[derive(Default)]
struct Frames {
    arrived: VecDeque<Vec<u8>>,
    sent: VecDeque<Vec<u8>>,
    /// Buffers for reuse, and those that were read since.
    spare: Vec<Vec<u8>>,
    read: Vec<Vec<u8>>,
    mtu: usize,
}

struct Arrived<'d>(&'d mut Vec<Vec<u8>>, Vec<u8>);

impl RxToken for Arrived<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        let result = read(self.1.get(ETHERNET..).unwrap_or(&[]));
        self.0.push(self.1);
        result
    }
}

struct Sent<'d>(&'d mut VecDeque<Vec<u8>>, &'d mut Vec<Vec<u8>>);

impl TxToken for Sent<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        let Self(sent, spare) = self;
        let mut frame = spare.pop().unwrap_or_default();
        frame.resize(ETHERNET + length, 0);
        let result = write(&mut frame[ETHERNET..]);
        sent.push_back(frame);
        result
    }
}

impl Device for Frames {
    type RxToken<'d> = Arrived<'d>;
    type TxToken<'d> = Sent<'d>;

    fn receive(&mut self, _: SmoltcpInstant) -> Option<(Arrived<'_>, Sent<'_>)> {
        let frame = self.arrived.pop_front()?;
        self.spare.append(&mut self.read);
        Some((Arrived(&mut self.read, frame), Sent(&mut self.sent, &mut self.spare)))
    }

    fn transmit(&mut self, _: SmoltcpInstant) -> Option<Sent<'_>> {
        Some(Sent(&mut self.sent, &mut self.spare))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = self.mtu;
        capabilities
    }
}

/// A smoltcp interface with one socket. Its frames have an Ethernet header of zeros.
pub(crate) struct SmoltcpHost {
    frames: Frames,
    interface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
}

impl SmoltcpHost {
    /// Creates the interface `10.0.0.N` and a closed socket with two buffers of this length.
    pub(crate) fn new(now: Instant, number: u8, mtu: usize, buffer: usize, seed: u64) -> Self {
        let mut frames = Frames { mtu, ..Frames::default() };
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = seed;
        let mut interface = Interface::new(config, &mut frames, time(now));
        let address = Ipv4Address::new(10, 0, 0, number);
        interface.update_ip_addrs(|list| list.push(IpCidr::new(address.into(), 24)).unwrap());
        let buffer = || SocketBuffer::new(vec![0; buffer]);
        let mut sockets = SocketSet::new(Vec::new());
        let socket = sockets.add(Socket::new(buffer(), buffer()));
        Self { frames, interface, sockets, socket }
    }

    pub(crate) fn socket(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.socket)
    }

    /// Sends timestamps with the clock of the simulation.
    pub(crate) fn enable_timestamps(&mut self) {
        self.socket().set_tsval_generator(Some(|| TSVAL.get()));
    }

    /// Starts to connect to port 1000 of host 1 from port 2000.
    pub(crate) fn connect(&mut self) {
        let socket = self.sockets.get_mut::<Socket<'_>>(self.socket);
        let remote = (Ipv4Address::new(10, 0, 0, 1), 1_000);
        socket.connect(self.interface.context(), remote, 2_000).unwrap();
    }

    /// Processes what has arrived and expired.
    pub(crate) fn poll(&mut self, now: Instant) {
        TSVAL.set(900_000_u32.wrapping_add((now.as_nanos() / 1_000_000) as u32));
        self.interface.poll(time(now), &mut self.frames, &mut self.sockets);
    }

    /// Adds a frame for the next poll.
    pub(crate) fn arrive(&mut self, frame: &[u8]) {
        let mut buffer = self.frames.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(frame);
        self.frames.arrived.push_back(buffer);
    }

    /// Passes the next frame to send to `send`. Returns `false` if nothing is due.
    pub(crate) fn transmit(&mut self, send: impl FnOnce(&[u8])) -> bool {
        let Some(frame) = self.frames.sent.pop_front() else { return false };
        send(&frame);
        self.frames.spare.push(frame);
        true
    }

    /// Passes all frames to send to another host, without copying them.
    #[allow(dead_code, reason = "of the benchmark")]
    pub(crate) fn pass_to(&mut self, other: &mut Self) {
        other.frames.arrived.append(&mut self.frames.sent);
    }

    pub(crate) fn poll_timeout(&mut self, now: Instant) -> Option<Instant> {
        let at = self.interface.poll_at(time(now), &self.sockets)?;
        Some(Instant::from_nanos(at.total_micros().max(0) as u64 * 1_000))
    }
}

fn time(now: Instant) -> SmoltcpInstant {
    SmoltcpInstant::from_micros((now.as_nanos() / 1_000) as i64)
}
