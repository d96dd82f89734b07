//! ICMP errors about what sockets have sent.

use hairpin_time::Now;
use hairpin_wire::{
    Icmpv4Header, Icmpv4Message, Icmpv6Header, Icmpv6Message, Protocol, QuotedPacket, Sum,
};

use crate::receive::{Arrival, CHECKSUM, MALFORMED};
use crate::{
    Engine, Kernel, Listener, PathError, PathErrorReason, SocketAddress, SocketId, Verdict,
};

impl Engine<'_> {
    /// An ICMP message without its IP header, as the kernel's raw socket has it, checked by that.
    /// An error goes to the socket that has sent what it quotes, if that is the engine's.
    pub fn handle_icmpv4(
        &mut self,
        now: Now,
        message: &[u8],
        listener: &mut impl Listener,
    ) -> Verdict {
        let verdict = match Icmpv4Header::split(message) {
            Ok((header, data)) => self.tell_ipv4(now, header.message(data), listener),
            Err(_) => Err(MALFORMED),
        };
        verdict.unwrap_or_else(|verdict| verdict)
    }

    /// The same of ICMPv6.
    pub fn handle_icmpv6(
        &mut self,
        now: Now,
        message: &[u8],
        listener: &mut impl Listener,
    ) -> Verdict {
        let verdict = match Icmpv6Header::split(message) {
            Ok((header, data)) => self.tell_ipv6(now, header.message(data), listener),
            Err(_) => Err(MALFORMED),
        };
        verdict.unwrap_or_else(|verdict| verdict)
    }

    #[cold]
    pub(crate) fn handle_icmpv4_body(
        &mut self,
        arrival: Arrival,
        body: &[u8],
        listener: &mut impl Listener,
    ) -> Result<Verdict, Verdict> {
        let (header, data) = Icmpv4Header::split(body).map_err(|_| MALFORMED)?;
        if !arrival.trusts_checksums && !header.is_checksum_valid(data) {
            return Err(CHECKSUM);
        }
        self.tell_ipv4(arrival.now, header.message(data), listener)
    }

    #[cold]
    pub(crate) fn handle_icmpv6_body(
        &mut self,
        arrival: Arrival,
        pseudo: Sum,
        body: &[u8],
        listener: &mut impl Listener,
    ) -> Result<Verdict, Verdict> {
        let (header, data) = Icmpv6Header::split(body).map_err(|_| MALFORMED)?;
        if !arrival.trusts_checksums && !header.is_checksum_valid(pseudo, data) {
            return Err(CHECKSUM);
        }
        self.tell_ipv6(arrival.now, header.message(data), listener)
    }

    fn tell_ipv4(
        &mut self,
        now: Now,
        message: Icmpv4Message<'_>,
        listener: &mut impl Listener,
    ) -> Result<Verdict, Verdict> {
        let (reason, quoted) = match message {
            Icmpv4Message::DestinationUnreachable { code: 4, next_hop_mtu, quoted } => {
                (PathErrorReason::TooBig { mtu: next_hop_mtu.into() }, quoted)
            }
            Icmpv4Message::DestinationUnreachable { code, quoted, .. } => {
                (PathErrorReason::Unreachable { code }, quoted)
            }
            Icmpv4Message::TimeExceeded { code, quoted } => {
                (PathErrorReason::TimeExceeded { code }, quoted)
            }
            Icmpv4Message::ParameterProblem { code, quoted, .. } => {
                (PathErrorReason::ParameterProblem { code }, quoted)
            }
            _ => return Err(Verdict::Kernel(Kernel::OtherProtocol)),
        };
        let quoted = QuotedPacket::parse_ipv4(quoted).map_err(|_| MALFORMED)?;
        self.tell(now, &quoted, reason, listener)
    }

    fn tell_ipv6(
        &mut self,
        now: Now,
        message: Icmpv6Message<'_>,
        listener: &mut impl Listener,
    ) -> Result<Verdict, Verdict> {
        let (reason, quoted) = match message {
            Icmpv6Message::DestinationUnreachable { code, quoted } => {
                (PathErrorReason::Unreachable { code }, quoted)
            }
            Icmpv6Message::PacketTooBig { mtu, quoted } => {
                (PathErrorReason::TooBig { mtu }, quoted)
            }
            Icmpv6Message::TimeExceeded { code, quoted } => {
                (PathErrorReason::TimeExceeded { code }, quoted)
            }
            Icmpv6Message::ParameterProblem { code, quoted, .. } => {
                (PathErrorReason::ParameterProblem { code }, quoted)
            }
            _ => return Err(Verdict::Kernel(Kernel::OtherProtocol)),
        };
        let quoted = QuotedPacket::parse_ipv6(quoted).map_err(|_| MALFORMED)?;
        self.tell(now, &quoted, reason, listener)
    }

    /// Believed only if a socket of ours may have sent the datagram: it came from where that is
    /// bound, and went where that is connected to, if it is.
    fn tell(
        &mut self,
        now: Now,
        quoted: &QuotedPacket<'_>,
        reason: PathErrorReason,
        listener: &mut impl Listener,
    ) -> Result<Verdict, Verdict> {
        let no_socket = Verdict::Kernel(Kernel::NoSocket);
        let ports = quoted.ports().filter(|_| quoted.protocol == Protocol::UDP);
        let (source_port, destination_port) = ports.ok_or(no_socket)?;
        let source = SocketAddress::new(quoted.source, source_port);
        let destination = SocketAddress::new(quoted.destination, destination_port);
        let index = self.lookup(source, destination).ok_or(no_socket)?;
        let socket = self.parts.sockets.get_mut(index as usize).ok_or(no_socket)?;
        let errors = &mut socket.counters.path_errors;
        *errors = errors.wrapping_add(1);
        let id = SocketId { index, generation: socket.generation };
        listener.on_path_error(now, id, &PathError { destination, reason });
        Ok(Verdict::Delivered(1))
    }
}
