//! UDP over AF_XDP.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_rds::Transmit;
use hairpin_stack::{Destination, SocketOptions, Stack, UdpSocket};

use super::carrier::Carrier;
use super::carrier_counters::CarrierCounters;
use super::kernel_carrier::udp_address;
use super::options::RdsOptions;
use crate::Received;
use crate::kernel::icmp_errors::IcmpErrors;

/// A UDP socket of a stack, with a prepared destination for each peer.
pub(crate) struct XdpCarrier {
    socket: UdpSocket,
    icmp_errors: IcmpErrors,
    /// The peers' destinations, by slot, with the RDS address.
    paths: Vec<Option<(SocketAddr, Destination)>>,
    udp_port_offset: u16,
    counters: CarrierCounters,
}

impl XdpCarrier {
    /// Binds a UDP socket of a stack. `local` has the UDP port.
    pub(crate) fn bind(stack: &Stack, local: SocketAddr, options: &RdsOptions) -> io::Result<Self> {
        let socket_options = SocketOptions {
            receive_buffer: options.receive_buffer,
            // The CRC-32C of the packet is stronger.
            checksum: false,
            ..SocketOptions::default()
        };
        let socket = stack.bind(local, &socket_options)?;
        Ok(Self {
            icmp_errors: IcmpErrors::enable(socket.kernel_socket(), local.is_ipv4())?,
            paths: (0..options.protocol.peers).map(|_| None).collect(),
            udp_port_offset: options.udp_port_offset,
            counters: CarrierCounters::default(),
            socket,
        })
    }

    /// Returns the bound UDP address.
    pub(crate) fn udp_address(&self) -> SocketAddr {
        self.socket.local_address()
    }

    #[cold]
    fn send_to_new(&mut self, transmit: &Transmit<'_>) -> io::Result<()> {
        let to = udp_address(transmit.to, self.udp_port_offset)?;
        let Some(slot) = transmit.slot else {
            return self.socket.send_to(transmit.packet, to);
        };
        let destination = self.socket.destination(to)?;
        self.paths[slot as usize] = Some((transmit.to, destination));
        self.transmit(transmit)
    }
}

impl Carrier for XdpCarrier {
    fn check_path(&mut self, to: SocketAddr) -> io::Result<()> {
        self.socket.destination(udp_address(to, self.udp_port_offset)?).map(drop)
    }

    #[inline]
    fn transmit(&mut self, transmit: &Transmit<'_>) -> io::Result<()> {
        let path = transmit.slot.and_then(|slot| self.paths[slot as usize].as_mut());
        let packet = transmit.packet;
        match path {
            Some((address, destination)) if *address == transmit.to => {
                let fill = |bytes: &mut [u8]| bytes.copy_from_slice(packet);
                self.socket.transmit_to(destination, packet.len(), fill)
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
        let received = self.socket.receive(budget, |meta, bytes| on(meta.source.ip(), bytes))?;
        Ok(Received { count: received.count, drained: received.drained, closed: false })
    }

    fn icmp_errors(&mut self, mut on: impl FnMut(SocketAddr, bool, &[u8])) {
        let offset = self.udp_port_offset;
        self.icmp_errors.drain(self.socket.kernel_socket(), |mut peer, is_unbound, quote| {
            peer.set_port(peer.port().wrapping_sub(offset));
            on(peer, is_unbound, quote);
        });
    }

    fn set_spinning(&mut self, is_spinning: bool) {
        self.socket.set_spinning(is_spinning);
    }

    fn counters(&self) -> &CarrierCounters {
        &self.counters
    }

    fn counters_mut(&mut self) -> &mut CarrierCounters {
        &mut self.counters
    }

    fn describe(&self) -> String {
        let path = if self.socket.receives_over_xdp() { "AF_XDP" } else { "the kernel: fallback" };
        format!("rds: carrier: UDP over {path}, {}", self.socket.local_address())
    }
}

impl AsFd for XdpCarrier {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl fmt::Debug for XdpCarrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("XdpCarrier").field("socket", &self.socket).finish_non_exhaustive()
    }
}
