//! ICMP errors about sent datagrams.

use hairpin_time::Now;
use hairpin_wire::{
    Icmpv4Header, Icmpv4Message, Icmpv6Header, Icmpv6Message, Protocol, QuotedPacket, Sum,
};

use crate::receive::{FrameContext, MALFORMED, WRONG_CHECKSUM};
use crate::{
    Engine, Kernel, Listener, PathError, PathErrorReason, SocketAddress, SocketId, Verdict,
};

impl Engine {
    /// Handles an ICMP message without IP header, as a raw socket of the kernel delivers it, with a
    /// checksum that the kernel has validated. An error goes to the socket that sent the quoted
    /// datagram, if it belongs to the engine.
    pub fn handle_icmpv4(
        &mut self,
        now: Now,
        message: &[u8],
        listener: &mut impl Listener,
    ) -> Verdict {
        let verdict = match Icmpv4Header::split(message) {
            Ok((header, data)) => self.notify_ipv4(now, header.message(data), listener),
            Err(_) => Err(MALFORMED),
        };
        verdict.unwrap_or_else(|verdict| verdict)
    }

    /// Handles an ICMPv6 message in the same way.
    pub fn handle_icmpv6(
        &mut self,
        now: Now,
        message: &[u8],
        listener: &mut impl Listener,
    ) -> Verdict {
        let verdict = match Icmpv6Header::split(message) {
            Ok((header, data)) => self.notify_ipv6(now, header.message(data), listener),
            Err(_) => Err(MALFORMED),
        };
        verdict.unwrap_or_else(|verdict| verdict)
    }

    #[cold]
    pub(crate) fn handle_icmpv4_body(
        &mut self,
        context: FrameContext,
        body: &[u8],
        listener: &mut impl Listener,
    ) -> Result<Verdict, Verdict> {
        let (header, data) = Icmpv4Header::split(body).map_err(|_| MALFORMED)?;
        if !header.is_checksum_valid(data) {
            return Err(WRONG_CHECKSUM);
        }
        self.notify_ipv4(context.now, header.message(data), listener)
    }

    #[cold]
    pub(crate) fn handle_icmpv6_body(
        &mut self,
        context: FrameContext,
        pseudo: Sum,
        body: &[u8],
        listener: &mut impl Listener,
    ) -> Result<Verdict, Verdict> {
        let (header, data) = Icmpv6Header::split(body).map_err(|_| MALFORMED)?;
        if !header.is_checksum_valid(pseudo, data) {
            return Err(WRONG_CHECKSUM);
        }
        self.notify_ipv6(context.now, header.message(data), listener)
    }

    fn notify_ipv4(
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
        self.notify(now, &quoted, reason, listener)
    }

    fn notify_ipv6(
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
        self.notify(now, &quoted, reason, listener)
    }

    /// Reports an error to a socket. The quoted datagram must match: its source is the socket's
    /// binding, and its destination is the socket's peer if it has one.
    fn notify(
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
        let socket = self.tables.sockets.get_mut(index as usize).ok_or(no_socket)?;
        let errors = &mut socket.counters.path_errors;
        *errors = errors.wrapping_add(1);
        let id = SocketId { index, generation: socket.generation };
        listener.on_path_error(now, id, &PathError { destination, reason });
        Ok(Verdict::Delivered(1))
    }
}
