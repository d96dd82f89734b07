//! Raw Ethernet over AF_XDP, without IP.
//!
//! ```text
//! | destination MAC 6 | source MAC 6 | EtherType 2 | family 2 | source IP | destination IP | packet |
//! ```
//! The family is 4 or 6; the addresses have 4 or 16 bytes. They name the endpoints, as in RDS over
//! InfiniBand, and are not used for routing.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_rds::packet::{self, HEADER};
use hairpin_rds::{Crc32c, Transmit};
use hairpin_stack::{InterfaceError, InterfaceSettings, Neighbors, RawFrames, StackError};

use super::carrier::Carrier;
use super::carrier_counters::CarrierCounters;
use super::options::{ETHER_TYPE, RdsOptions};
use crate::Received;

/// The bytes before the addresses.
const ADDRESSES_AT: usize = 16;
/// The number of transmissions after which a peer's MAC address is read again.
const REFRESH_AFTER: u32 = 100_000;

/// Raw frames of one interface.
pub(crate) struct EthernetCarrier {
    frames: RawFrames,
    neighbors: Neighbors,
    local: SocketAddr,
    /// The prepared headers of the peers, by slot.
    paths: Vec<Option<EthernetPath>>,
    crc32c: Crc32c,
    counters: CarrierCounters,
    interface: String,
}

/// The prepared header of a peer.
struct EthernetPath {
    to: SocketAddr,
    header: [u8; ADDRESSES_AT + 32],
    /// The transmissions until the MAC address is read again.
    left: u32,
}

impl EthernetCarrier {
    /// Opens an interface for this process.
    pub(crate) fn open(
        interface: &str,
        settings: &InterfaceSettings,
        mut local: SocketAddr,
        options: &RdsOptions,
    ) -> io::Result<Self> {
        let mut neighbors = Neighbors::open(interface).map_err(io_error)?;
        if !neighbors.has_address(local.ip())? {
            let reason = format!("not an address of {interface}");
            return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, reason));
        }
        if local.port() == 0 {
            // The process has the interface, so all ports are free.
            local.set_port(2);
        }
        let frames = RawFrames::open(interface, ETHER_TYPE, settings).map_err(io_error)?;
        Ok(Self {
            frames,
            neighbors,
            local,
            paths: (0..options.protocol.peers).map(|_| None).collect(),
            crc32c: options.protocol.crc32c,
            counters: CarrierCounters::default(),
            interface: interface.to_owned(),
        })
    }

    /// Returns the RDS port.
    pub(crate) fn port(&self) -> u16 {
        self.local.port()
    }
}

impl EthernetCarrier {
    /// Returns the bytes in front of a packet.
    fn prefix_length(&self) -> usize {
        ADDRESSES_AT + if self.local.is_ipv4() { 8 } else { 32 }
    }

    /// Prepares the header of frames to an address. Returns `None` while its MAC address is
    /// unresolved.
    fn header(&mut self, to: IpAddr) -> io::Result<Option<[u8; ADDRESSES_AT + 32]>> {
        let Some(mac) = self.neighbors.mac(to)? else { return Ok(None) };
        let mut header = [0; ADDRESSES_AT + 32];
        header[..6].copy_from_slice(&mac);
        header[6..12].copy_from_slice(&self.frames.mac());
        header[12..14].copy_from_slice(&ETHER_TYPE.to_be_bytes());
        match (self.local.ip(), to) {
            (IpAddr::V4(local), IpAddr::V4(to)) => {
                header[14..16].copy_from_slice(&4_u16.to_be_bytes());
                header[16..20].copy_from_slice(&local.octets());
                header[20..24].copy_from_slice(&to.octets());
            }
            (IpAddr::V6(local), IpAddr::V6(to)) => {
                header[14..16].copy_from_slice(&6_u16.to_be_bytes());
                header[16..32].copy_from_slice(&local.octets());
                header[32..48].copy_from_slice(&to.octets());
            }
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        }
        Ok(Some(header))
    }

    /// Sends to a peer without a prepared header. The packet is lost while the peer's MAC address
    /// is being resolved; the protocol repeats it.
    #[cold]
    fn send_to_new(&mut self, transmit: &Transmit<'_>) -> io::Result<()> {
        let Some(header) = self.header(transmit.to.ip())? else { return Ok(()) };
        let path = EthernetPath { to: transmit.to, header, left: REFRESH_AFTER };
        let prefix = self.prefix_length();
        let sent = send(&mut self.frames, &path.header[..prefix], transmit.packet);
        if let Some(slot) = transmit.slot {
            self.paths[slot as usize] = Some(path);
        }
        sent
    }
}

/// Returns the answer to a frame for a port that no socket of this process has: its header with
/// both pairs of addresses exchanged, and the packet. So a sender costs no neighbor lookup.
#[cold]
fn rejection(
    frame: &[u8],
    packet: &[u8],
    own: [u8; 6],
    crc32c: Crc32c,
) -> Option<([u8; ADDRESSES_AT + 32], [u8; HEADER])> {
    let mut answer = [0; HEADER];
    packet::reject(packet, &mut answer, crc32c)?;
    let mut header = [0; ADDRESSES_AT + 32];
    header[..6].copy_from_slice(&frame[6..12]);
    header[6..12].copy_from_slice(&own);
    header[12..ADDRESSES_AT].copy_from_slice(&frame[12..ADDRESSES_AT]);
    let length = if frame[ADDRESSES_AT - 1] == 4 { 4 } else { 16 };
    let addresses = &mut header[ADDRESSES_AT..][..2 * length];
    addresses.copy_from_slice(&frame[ADDRESSES_AT..][..2 * length]);
    addresses.rotate_left(length);
    Some((header, answer))
}

/// Sends a header and a packet in one frame.
#[inline]
fn send(frames: &mut RawFrames, header: &[u8], packet: &[u8]) -> io::Result<()> {
    let length = (header.len() + packet.len()).max(FRAME_MIN);
    let Some(mut frame) = frames.frame(length as u32) else {
        return Err(match length as u32 > frames.max_length() {
            true => io::ErrorKind::InvalidInput.into(),
            false => io::ErrorKind::WouldBlock.into(),
        });
    };
    let bytes = frames.bytes_mut(&mut frame);
    bytes[..header.len()].copy_from_slice(header);
    bytes[header.len()..][..packet.len()].copy_from_slice(packet);
    bytes[header.len() + packet.len()..].fill(0);
    match frames.transmit(frame)? {
        Ok(()) => Ok(()),
        Err(frame) => {
            frames.release(frame);
            Err(io::ErrorKind::WouldBlock.into())
        }
    }
}

/// Returns the error with its kind.
fn io_error(error: StackError) -> io::Error {
    let kind = match &error {
        StackError::Interface(InterfaceError::Capabilities(_)) => io::ErrorKind::PermissionDenied,
        StackError::Interface(InterfaceError::Device(_)) => io::ErrorKind::NotFound,
        StackError::Interface(InterfaceError::Link { .. }) => io::ErrorKind::ResourceBusy,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}

/// The shortest Ethernet frame without its check sequence (IEEE 802.3): a veth does not pad.
const FRAME_MIN: usize = 60;

/// Splits a frame into source address, destination address and packet. Returns `None` if the frame
/// is malformed.
#[inline]
fn parse(frame: &[u8]) -> Option<(IpAddr, IpAddr, &[u8])> {
    let rest = frame.get(ADDRESSES_AT..)?;
    match frame[14..16] {
        [0, 4] => {
            let (source, rest) = rest.split_first_chunk::<4>()?;
            let (destination, rest) = rest.split_first_chunk::<4>()?;
            Some((IpAddr::from(*source), IpAddr::from(*destination), rest))
        }
        [0, 6] => {
            let (source, rest) = rest.split_first_chunk::<16>()?;
            let (destination, rest) = rest.split_first_chunk::<16>()?;
            Some((IpAddr::from(*source), IpAddr::from(*destination), rest))
        }
        _ => None,
    }
}

impl Carrier for EthernetCarrier {
    fn check_path(&mut self, to: SocketAddr) -> io::Result<()> {
        self.neighbors.check_on_link(to.ip())?;
        self.neighbors.mac(to.ip()).map(drop)
    }

    #[inline]
    fn transmit(&mut self, transmit: &Transmit<'_>) -> io::Result<()> {
        let prefix = self.prefix_length();
        let path = transmit.slot.and_then(|slot| self.paths[slot as usize].as_mut());
        match path {
            Some(path) if path.to == transmit.to && path.left > 0 => {
                path.left -= 1;
                send(&mut self.frames, &path.header[..prefix], transmit.packet)
            }
            _ => self.send_to_new(transmit),
        }
    }

    #[inline]
    fn receive(
        &mut self,
        budget: usize,
        mut on: impl FnMut(IpAddr, &[u8]),
    ) -> io::Result<Received> {
        for count in 0..budget {
            let frame = match self.frames.receive() {
                Ok(Some(frame)) => frame,
                Ok(None) => return Ok(Received { count, drained: true, closed: false }),
                Err(error) if count > 0 => {
                    self.counters.count(&error);
                    return Ok(Received { count, ..Received::default() });
                }
                Err(error) => return Err(error),
            };
            let mut rejected = None;
            match parse(self.frames.bytes(&frame)) {
                Some((source, destination, packet)) if destination == self.local.ip() => {
                    let port = packet::destination_port(packet);
                    if port.is_some_and(|port| port != self.local.port()) {
                        let bytes = self.frames.bytes(&frame);
                        rejected = rejection(bytes, packet, self.frames.mac(), self.crc32c);
                    }
                    on(source, packet);
                }
                _ => self.counters.dropped_frames += 1,
            }
            self.frames.release(frame);
            if let Some((header, answer)) = rejected {
                let prefix = self.prefix_length();
                // A lost answer is repeated with the next packet.
                let _ = send(&mut self.frames, &header[..prefix], &answer);
            }
        }
        Ok(Received { count: budget, drained: false, closed: false })
    }

    /// Does nothing: answers to unbound ports are packets of the protocol.
    fn icmp_errors(&mut self, _on: impl FnMut(SocketAddr, bool, &[u8])) {}

    fn set_spinning(&mut self, is_spinning: bool) {
        self.frames.set_spinning(is_spinning);
    }

    fn counters(&self) -> &CarrierCounters {
        &self.counters
    }

    fn counters_mut(&mut self) -> &mut CarrierCounters {
        &mut self.counters
    }

    fn describe(&self) -> String {
        format!("rds: carrier: raw Ethernet on {}, {}, {}", self.interface, self.local, self.frames)
    }
}

impl AsFd for EthernetCarrier {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.frames.as_fd()
    }
}

impl fmt::Debug for EthernetCarrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EthernetCarrier")
            .field("interface", &self.interface)
            .field("local", &self.local)
            .finish_non_exhaustive()
    }
}
