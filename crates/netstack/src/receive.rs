//! The receive path for all frames.

use hairpin_time::Now;
use hairpin_wire::{
    EtherType, EthernetHeader, Ipv4Header, Ipv6Header, Protocol, Sum, UdpHeader, VlanTag,
};

use crate::device::pack_mac;
use crate::fast_path::RecipientRecorder;
use crate::index::NONE;
use crate::martian;
use crate::membership::Membership;
use crate::socket::{Key, Socket};
use crate::table;
use crate::{
    Address, Datagram, DeviceId, Dropped, Engine, Kernel, Listener, SocketAddress, SocketCounters,
    SocketId, Verdict,
};

/// The context of a received frame.
#[derive(Clone, Copy)]
pub(crate) struct FrameContext {
    pub(crate) now: Now,
    pub(crate) device: u32,
    /// The offset of the IP packet in the frame.
    pub(crate) packet: usize,
}

impl Engine {
    /// Handles a received frame and delivers it to its sockets. The caller passes frames with
    /// [`Verdict::Kernel`] to the kernel unchanged.
    ///
    /// A plain frame with exactly one recipient makes its flow a known one, for
    /// [`deliver_known_flow`](Self::deliver_known_flow).
    pub fn handle_frame(
        &mut self,
        now: Now,
        device: DeviceId,
        frame: &[u8],
        listener: &mut impl Listener,
    ) -> Verdict {
        let mut recorder = RecipientRecorder { listener, socket: NONE };
        let (at, verdict) = match self.parse_ethernet(now, device, frame) {
            Ok((context, ether_type, packet)) => {
                let verdict = self.dispatch(context, ether_type, packet, &mut recorder);
                (context.device, verdict.unwrap_or_else(|verdict| verdict))
            }
            Err(verdict) => (device.0, verdict),
        };
        self.count(at, verdict);
        if verdict == Verdict::Delivered(1) {
            self.learn_flow(device, frame, recorder.socket);
        }
        verdict
    }

    #[inline]
    pub(crate) fn count(&mut self, device: u32, verdict: Verdict) {
        let Some(device) = self.tables.devices.get_mut(device as usize) else { return };
        let counters = &mut device.counters;
        let counter = match verdict {
            Verdict::Delivered(_) => &mut counters.delivered,
            Verdict::Kernel(_) => &mut counters.to_kernel,
            Verdict::Dropped(Dropped::Malformed) => &mut counters.malformed,
            Verdict::Dropped(Dropped::Checksum) => &mut counters.wrong_checksum,
            Verdict::Dropped(Dropped::Martian) => &mut counters.martian,
            Verdict::Dropped(Dropped::Unwanted) => &mut counters.unwanted,
        };
        *counter = counter.wrapping_add(1);
        counters.frames = counters.frames.wrapping_add(1);
    }

    /// Parses Ethernet and VLAN; returns the device and the packet.
    #[inline]
    fn parse_ethernet<'f>(
        &self,
        now: Now,
        device: DeviceId,
        frame: &'f [u8],
    ) -> Result<(FrameContext, EtherType, &'f [u8]), Verdict> {
        let other_device = Verdict::Kernel(Kernel::OtherDevice);
        let mut number = device.0;
        let mut settings = self.device(device).map_err(|_| other_device)?;
        let (ethernet, mut packet) = EthernetHeader::split(frame).map_err(|_| MALFORMED)?;
        let mut ether_type = ethernet.ether_type();
        if ether_type.is_vlan() {
            let (tag, rest) = VlanTag::split(packet).map_err(|_| MALFORMED)?;
            let inner = tag.ether_type();
            if ether_type != EtherType::VLAN || inner.is_vlan() {
                return Err(other_device);
            }
            if tag.identifier() != 0 {
                number = self.vlan(device, tag.identifier()).ok_or(other_device)?;
                settings = &self.tables.devices[number as usize];
            }
            (ether_type, packet) = (inner, rest);
        }
        let destination = ethernet.destination();
        if pack_mac(destination) != settings.mac && !destination.is_group() {
            return Err(Verdict::Kernel(Kernel::OtherMac));
        }
        let at = frame.len() - packet.len();
        Ok((FrameContext { now, device: number, packet: at }, ether_type, packet))
    }

    #[cold]
    fn vlan(&self, device: DeviceId, identifier: u16) -> Option<u32> {
        let mut devices = self.tables.devices.iter();
        let found = devices.position(|other| {
            (other.is_used, other.parent, other.vlan) == (1, device.0, identifier)
        });
        found.map(|found| found as u32)
    }

    #[inline]
    fn dispatch(
        &mut self,
        context: FrameContext,
        ether_type: EtherType,
        packet: &[u8],
        listener: &mut impl Listener,
    ) -> Result<Verdict, Verdict> {
        match ether_type {
            EtherType::IPV4 => self.handle_ipv4(context, packet, listener),
            EtherType::IPV6 => self.handle_ipv6(context, packet, listener),
            _ => Err(Verdict::Kernel(Kernel::OtherProtocol)),
        }
    }

    #[inline]
    fn handle_ipv4(
        &mut self,
        context: FrameContext,
        packet: &[u8],
        listener: &mut impl Listener,
    ) -> Result<Verdict, Verdict> {
        let (ip, options, body) = Ipv4Header::parse(packet).map_err(|_| MALFORMED)?;
        if !options.is_empty() {
            return Err(Verdict::Kernel(Kernel::Options));
        }
        if ip.is_fragment() {
            return Err(Verdict::Kernel(Kernel::Fragment));
        }
        if !ip.sum().is_valid() {
            return Err(WRONG_CHECKSUM);
        }
        let is_martian = martian::is_ipv4(ip.source(), ip.destination());
        self.check_source(is_martian, ip.source().into(), ip.destination().into(), listener)?;
        match ip.protocol() {
            Protocol::UDP => {}
            Protocol::ICMPV4 => return self.handle_icmpv4_body(context, body, listener),
            _ => return Err(Verdict::Kernel(Kernel::OtherProtocol)),
        }
        let (udp, payload) = UdpHeader::parse(body).map_err(|_| MALFORMED)?;
        if udp.checksum() != 0 {
            let (source, destination) = (ip.source(), ip.destination());
            let sum = Sum::pseudo_ipv4(source, destination, Protocol::UDP, udp.length());
            self.check_udp(context.device, udp, sum, payload)?;
        }
        let datagram = Datagram {
            device: DeviceId(context.device),
            source: SocketAddress::new(ip.source(), udp.source_port()),
            destination: SocketAddress::new(ip.destination(), udp.destination_port()),
            ttl: ip.ttl(),
            traffic_class: ip.traffic_class(),
            offset: (context.packet + Ipv4Header::SIZE + UdpHeader::SIZE) as u32,
            payload,
        };
        Ok(self.deliver(context.now, &datagram, listener))
    }

    #[inline]
    fn handle_ipv6(
        &mut self,
        context: FrameContext,
        packet: &[u8],
        listener: &mut impl Listener,
    ) -> Result<Verdict, Verdict> {
        let (ip, body) = Ipv6Header::parse(packet).map_err(|_| MALFORMED)?;
        let is_martian = martian::is_ipv6(ip.source(), ip.destination());
        self.check_source(is_martian, ip.source().into(), ip.destination().into(), listener)?;
        let pseudo =
            |length| Sum::pseudo_ipv6(ip.source(), ip.destination(), ip.next_header(), length);
        match ip.next_header() {
            Protocol::UDP => {}
            Protocol::ICMPV6 => {
                let sum = pseudo(body.len() as u32);
                return self.handle_icmpv6_body(context, sum, body, listener);
            }
            Protocol::IPV6_FRAGMENT => return Err(Verdict::Kernel(Kernel::Fragment)),
            _ => return Err(Verdict::Kernel(Kernel::OtherProtocol)),
        }
        // A length of 0 is that of the packet, for jumbograms (RFC 2675 §4).
        let (udp, payload) = match UdpHeader::split(body) {
            Ok((udp, payload)) if udp.length() == 0 => (udp, payload),
            _ => UdpHeader::parse(body).map_err(|_| MALFORMED)?,
        };
        // IPv6 requires a UDP checksum (RFC 8200 §8.1): zero is invalid.
        let sum = pseudo((UdpHeader::SIZE + payload.len()) as u32);
        self.check_udp(context.device, udp, sum, payload)?;
        let datagram = Datagram {
            device: DeviceId(context.device),
            source: SocketAddress::new(ip.source(), udp.source_port()),
            destination: SocketAddress::new(ip.destination(), udp.destination_port()),
            ttl: ip.hop_limit(),
            traffic_class: ip.traffic_class(),
            offset: (context.packet + Ipv6Header::SIZE + UdpHeader::SIZE) as u32,
            payload,
        };
        Ok(self.deliver(context.now, &datagram, listener))
    }

    /// Drops packets with an address that no wire may carry.
    #[inline]
    fn check_source(
        &self,
        is_martian: bool,
        source: Address,
        destination: Address,
        listener: &mut impl Listener,
    ) -> Result<(), Verdict> {
        let is_accepted =
            !is_martian && !self.is_local(source) && listener.accepts_source(source, destination);
        if is_accepted { Ok(()) } else { Err(MARTIAN) }
    }

    /// Checks that a UDP checksum is valid or the partial sum, and notes the latter for the fast
    /// path. `sum` is the sum of the pseudo header.
    #[inline]
    fn check_udp(
        &mut self,
        device: u32,
        udp: &UdpHeader,
        sum: Sum,
        payload: &[u8],
    ) -> Result<(), Verdict> {
        if sum.is_partial(udp.checksum()) {
            if let Some(device) = self.tables.devices.get_mut(device as usize) {
                device.has_partial = 1;
            }
            return Ok(());
        }
        if udp.is_checksum_valid(sum, payload) { Ok(()) } else { Err(WRONG_CHECKSUM) }
    }

    #[inline]
    pub(crate) fn deliver(
        &mut self,
        now: Now,
        datagram: &Datagram<'_>,
        listener: &mut impl Listener,
    ) -> Verdict {
        let destination = datagram.destination;
        if destination.address.is_multicast() {
            return self.deliver_to_members(now, datagram, listener);
        }
        let delivered = if let Some(socket) = self.lookup(destination, datagram.source) {
            self.deliver_to_socket(now, socket, datagram, listener).into()
        } else if self.is_broadcast(datagram.device.0, destination.address) {
            self.deliver_broadcast(now, datagram, listener)
        } else {
            0
        };
        if delivered == 0 {
            Verdict::Kernel(Kernel::NoSocket)
        } else {
            Verdict::Delivered(delivered)
        }
    }

    /// Returns the socket for datagrams from `remote` to `local`: connected, else bound to the
    /// address, else bound to the unspecified address if `local` is a local address, else a
    /// dual-stack socket bound to that of IPv6.
    #[inline]
    pub(crate) fn lookup(&self, local: SocketAddress, remote: SocketAddress) -> Option<u32> {
        let connected = Key::connected(local, remote);
        let hash = connected.hash(self.tables.seed);
        let found = self.first_with_hash(&connected, hash);
        let found = found.or_else(|| self.first(&Key::bound(local)));
        let found = found.or_else(|| self.first_wildcard(local));
        match found {
            Some(first) => self.select_sharer(first, hash, |_| true),
            None => self.lookup_dual_stack(local, hash),
        }
    }

    /// Returns `true` if datagrams between these addresses have a recipient, and it has received
    /// nothing yet: the socket since it was opened, or each member of the group since it joined.
    #[must_use]
    pub fn is_waiting(
        &self,
        device: DeviceId,
        source: SocketAddress,
        destination: SocketAddress,
    ) -> bool {
        if !destination.address.is_multicast() {
            let socket = self.lookup(destination, source);
            let socket = socket.and_then(|at| self.tables.sockets.get(at as usize));
            return socket.is_some_and(|socket| socket.counters.received == 0);
        }
        let key = Membership::key(device.0, destination);
        let (slots, members) = (&*self.tables.membership_slots, &*self.tables.memberships);
        let first = table::find(slots, members, &key, key.hash(self.tables.seed));
        first.is_some_and(|(_, first)| {
            let mut chain = table::chain(members, first);
            chain.all(|at| members[at as usize].has_delivered == 0)
        })
    }

    #[inline]
    fn first_wildcard(&self, local: SocketAddress) -> Option<u32> {
        let any = SocketAddress { address: local.address.any(), port: local.port };
        let found = self.first(&Key::bound(any))?;
        self.is_local(local.address).then_some(found)
    }

    fn lookup_dual_stack(&self, local: SocketAddress, hash: u32) -> Option<u32> {
        let any = SocketAddress { address: Address::ANY_IPV6, port: local.port };
        let first = self.first(&Key::bound(any)).filter(|_| local.address.is_ipv4())?;
        let found = self.select_sharer(first, hash, |socket| socket.dual_stack != 0)?;
        self.is_local(local.address).then_some(found)
    }

    #[inline]
    fn is_local(&self, address: Address) -> bool {
        self.local_addresses().any(|own| own.address == address)
    }

    #[inline]
    fn first(&self, key: &Key) -> Option<u32> {
        self.first_with_hash(key, key.hash(self.tables.seed))
    }

    #[inline]
    fn first_with_hash(&self, key: &Key, hash: u32) -> Option<u32> {
        table::find(&self.tables.socket_slots, &self.tables.sockets, key, hash)
            .map(|(_, first)| first)
    }

    /// Selects one of the sockets that share a key and can receive the datagram, by the hash of
    /// the addresses.
    #[inline]
    fn select_sharer(
        &self,
        first: u32,
        hash: u32,
        can_receive: impl Fn(&Socket) -> bool,
    ) -> Option<u32> {
        let sockets = &*self.tables.sockets;
        let only = sockets.get(first as usize).filter(|socket| socket.next == NONE);
        if let Some(only) = only {
            return can_receive(only).then_some(first);
        }
        let sharers =
            || table::chain(sockets, first).filter(|&at| can_receive(&sockets[at as usize]));
        // The low bits have already selected the slot.
        let chosen = (u64::from(hash.rotate_right(16)) * sharers().count() as u64) >> 32;
        sharers().nth(chosen as usize)
    }

    #[inline(always)]
    pub(crate) fn deliver_to_socket(
        &mut self,
        now: Now,
        index: u32,
        datagram: &Datagram<'_>,
        listener: &mut impl Listener,
    ) -> bool {
        let Some(id) = self.count_received(index, datagram.payload.len()) else { return false };
        listener.on_datagram(now, id, datagram);
        true
    }

    /// Counts a received datagram for a socket.
    #[inline(always)]
    pub(crate) fn count_received(&mut self, index: u32, length: usize) -> Option<SocketId> {
        let socket = self.tables.sockets.get_mut(index as usize)?;
        let SocketCounters { received, received_bytes, .. } = &mut socket.counters;
        *received = received.wrapping_add(1);
        *received_bytes = received_bytes.wrapping_add(length as u64);
        Some(SocketId { index, generation: socket.generation })
    }

    /// Delivers to every member of the group on this device whose binding and peer match, and to
    /// the sockets of the port that receive all groups.
    fn deliver_to_members(
        &mut self,
        now: Now,
        datagram: &Datagram<'_>,
        listener: &mut impl Listener,
    ) -> Verdict {
        let Datagram { device, source, destination, .. } = *datagram;
        let key = Membership::key(device.0, destination);
        let (slots, members) = (&*self.tables.membership_slots, &*self.tables.memberships);
        let Some((_, first)) = table::find(slots, members, &key, key.hash(self.tables.seed)) else {
            return Verdict::Kernel(Kernel::NoSocket);
        };
        let (mut at, mut delivered) = (first, 0);
        while let Some(&member) = self.tables.memberships.get(at as usize) {
            if self.accepts(&member, source, destination) {
                delivered +=
                    u32::from(self.deliver_to_socket(now, member.socket, datagram, listener));
                if let Some(member) = self.tables.memberships.get_mut(at as usize) {
                    member.has_delivered = 1;
                }
            }
            at = member.next;
        }
        delivered += self.deliver_to_listeners(now, first, datagram, listener);
        match delivered {
            0 => Verdict::Dropped(Dropped::Unwanted),
            delivered => Verdict::Delivered(delivered),
        }
    }

    /// Delivers to the sockets that receive groups without being members. `first` is the first
    /// membership of the group.
    fn deliver_to_listeners(
        &mut self,
        now: Now,
        first: u32,
        datagram: &Datagram<'_>,
        listener: &mut impl Listener,
    ) -> u32 {
        let destination = datagram.destination;
        let mut delivered = 0;
        for address in [destination.address, destination.address.any()] {
            let local = SocketAddress { address, ..destination };
            let Some(mut at) = self.first(&Key::bound(local)) else { continue };
            while let Some(&Socket { multicast_all, next, .. }) =
                self.tables.sockets.get(at as usize)
            {
                let members = &*self.tables.memberships;
                let is_member = || {
                    table::chain(members, first).any(|member| members[member as usize].socket == at)
                };
                if multicast_all != 0 && !is_member() {
                    delivered += u32::from(self.deliver_to_socket(now, at, datagram, listener));
                }
                at = next;
            }
        }
        delivered
    }

    fn is_broadcast(&self, device: u32, address: Address) -> bool {
        address == Address::BROADCAST
            || address.is_ipv4()
                && self
                    .local_addresses()
                    .any(|own| (own.device, own.broadcast) == (device, address))
    }

    /// Returns `true` for a broadcast address of any device.
    pub(crate) fn is_broadcast_anywhere(&self, address: Address) -> bool {
        (0..self.tables.devices.len()).any(|device| self.is_broadcast(device as u32, address))
    }

    /// Delivers to every socket bound to the unspecified address and the port, and to the
    /// dual-stack ones bound to that of IPv6.
    #[cold]
    fn deliver_broadcast(
        &mut self,
        now: Now,
        datagram: &Datagram<'_>,
        listener: &mut impl Listener,
    ) -> u32 {
        let mut delivered = 0;
        for address in [Address::ANY_IPV4, Address::ANY_IPV6] {
            let local = SocketAddress { address, ..datagram.destination };
            let Some(mut at) = self.first(&Key::bound(local)) else { continue };
            for _ in 0..self.tables.sockets.len() {
                let Some(&socket) = self.tables.sockets.get(at as usize) else { break };
                if socket.has_family_of(datagram.destination.address) {
                    delivered += u32::from(self.deliver_to_socket(now, at, datagram, listener));
                }
                at = socket.next;
            }
        }
        delivered
    }
}

pub(crate) const MALFORMED: Verdict = Verdict::Dropped(Dropped::Malformed);
const MARTIAN: Verdict = Verdict::Dropped(Dropped::Martian);
pub(crate) const WRONG_CHECKSUM: Verdict = Verdict::Dropped(Dropped::Checksum);
