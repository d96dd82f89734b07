//! A host for tests: an engine and a recording listener.
#![allow(unreachable_pub, reason = "the modules of this program share it")]

use std::net::IpAddr;

use hairpin_netstack::{
    Address, Datagram, DeviceId, DeviceSettings, Engine, Listener, PathError, Route, Settings,
    SocketAddress, SocketId, SocketOptions,
};
use hairpin_time::{Instant, Now, Utc};
use hairpin_wire::MacAddress;

pub const NOW: Now = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };
pub const OURS: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
pub const THEIRS: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);
pub const SMALL: Settings =
    Settings { devices: 4, addresses: 8, sockets: 16, memberships: 16, sources: 16, seed: 0x5EED };
pub const DEVICE: DeviceSettings = DeviceSettings { mac: OURS, mtu: 1_500, vlan: None };

pub fn ip(text: &str) -> Address {
    text.parse::<IpAddr>().unwrap().into()
}

pub fn at(text: &str, port: u16) -> SocketAddress {
    SocketAddress::new(ip(text), port)
}

/// Creates an engine with one device, whose addresses are 10.0.0.1 and fd00::1.
pub fn engine() -> (Engine, DeviceId) {
    let mut engine = Engine::new(&SMALL);
    let device = engine.add_device(&DEVICE).unwrap();
    let broadcast = Some(ip("10.0.0.255"));
    engine.add_address(device, ip("10.0.0.1"), broadcast).unwrap();
    engine.add_address(device, ip("fd00::1"), None).unwrap();
    (engine, device)
}

pub fn bound(engine: &mut Engine, local: SocketAddress) -> SocketId {
    let socket = engine.open_socket(&SocketOptions::default()).unwrap();
    engine.bind(socket, local).unwrap();
    socket
}

pub fn shared_socket(engine: &mut Engine, local: SocketAddress) -> SocketId {
    let options = SocketOptions { reuse_address: true, ..SocketOptions::default() };
    let socket = engine.open_socket(&options).unwrap();
    engine.bind(socket, local).unwrap();
    socket
}

pub fn route(device: DeviceId, source: &str, destination: SocketAddress) -> Route {
    Route { device, source: ip(source), destination, next_hop: THEIRS, is_broadcast: false }
}

/// A listener that records all callbacks.
#[derive(Default, Debug)]
pub struct Seen {
    pub datagrams: Vec<(SocketId, SocketAddress, SocketAddress, Vec<u8>)>,
    pub errors: Vec<(SocketId, PathError)>,
    pub ttl: u8,
    pub traffic_class: u8,
    pub device: Option<DeviceId>,
}

impl Seen {
    /// Returns the sockets that received datagrams since the last call.
    pub fn sockets(&mut self) -> Vec<SocketId> {
        self.datagrams.drain(..).map(|(socket, ..)| socket).collect()
    }
}

impl Listener for Seen {
    fn on_datagram(&mut self, _: Now, socket: SocketId, datagram: &Datagram<'_>) {
        let Datagram { source, destination, payload, .. } = *datagram;
        self.datagrams.push((socket, source, destination, payload.to_vec()));
        (self.ttl, self.traffic_class) = (datagram.ttl, datagram.traffic_class);
        self.device = Some(datagram.device);
    }

    fn on_path_error(&mut self, _: Now, socket: SocketId, error: &PathError) {
        self.errors.push((socket, *error));
    }
}

/// Builds a frame with etherparse, addressed to our Ethernet address.
pub fn frame(source: SocketAddress, destination: SocketAddress, payload: &[u8]) -> Vec<u8> {
    use etherparse::PacketBuilder;
    let builder = PacketBuilder::ethernet2(THEIRS.0, OURS.0);
    let mut frame = Vec::new();
    match (source.address.to_ip(), destination.address.to_ip()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => builder
            .ipv4(from.octets(), to.octets(), 9)
            .udp(source.port, destination.port)
            .write_to_vec(&mut frame, payload),
        (IpAddr::V6(from), IpAddr::V6(to)) => builder
            .ipv6(from.octets(), to.octets(), 9)
            .udp(source.port, destination.port)
            .write_to_vec(&mut frame, payload),
        both => panic!("{both:?}"),
    }
    .unwrap();
    frame
}

/// Recomputes the header checksum of an IPv4 frame after a change.
pub fn fix_header_checksum(frame: &mut [u8]) {
    hairpin_wire::Ipv4Header::split_mut(&mut frame[14..]).unwrap().0.fill_checksum();
}
