//! The arguments of `hairpin pong`.

use std::net::{Ipv4Addr, SocketAddrV4};

use anyhow::{Context, Result};
use hairpin_cli_harness::args::{parse_address, parse_wait};
use hairpin_cli_harness::transport;
use hairpin_cli_harness::two_numbers::parse_two;
use hairpin_cli_harness::usage::usage_error;
use hairpin_host::interface_address;
use hairpin_reactor::Wait;

use super::{Slowness, Stall};
use crate::ping::{PongAddress, PongSetup, Protocol, SIZE_MAX};

/// The port on which a pong listens by default, and to which pings go by default.
pub(crate) const DEFAULT_PORT: u16 = 9200;
/// The longest delay of an answer: a second.
const DELAY_NS_MAX: u64 = 1_000_000_000;

/// `hairpin pong`: answers the pings of `hairpin ping ADDR` on this host or others, of any number
/// of pingers in turn or at once, until Ctrl-C.
///
/// An answer is the message itself. With multicast, ADDR:PORT is the group of the pings; answers
/// are sent to the same group at the next port. A TCP connection starts with eight bytes, the text
/// "ping" and the length of its messages, little-endian; a message is answered when it is complete.
/// Raw frames (--protocol raw --transport xdp --interface IF) are returned to the Ethernet address
/// that they came from.
#[derive(clap::Args, Debug, Clone)]
pub struct PongArgs {
    /// Address to listen on, or the multicast group; port 0 lets the kernel choose [default port:
    /// 9200] [default: 0.0.0.0:9200; with --transport xdp: that of the interface, port 9200]
    #[arg(long, value_name = "ADDR[:PORT]", value_parser = parse_listen)]
    listen: Option<SocketAddrV4>,

    /// Protocol of the pings
    #[arg(long, value_enum, default_value_t = Protocol::Udp)]
    protocol: Protocol,

    /// Wait for packets with: block, poll, epoll, spin, io_uring
    #[arg(long, value_name = "WAIT", default_value = "epoll", value_parser = parse_wait)]
    wait: Wait,

    /// Pin to core N [default: not pinned]
    #[arg(long, value_name = "N")]
    cpu: Option<usize>,

    /// Interface for multicast, --transport xdp and raw frames [default: that of the default route]
    #[arg(long, value_name = "IF")]
    interface: Option<String>,

    /// Count messages instead of answering them, and print their rate
    #[arg(long)]
    flood: bool,

    #[command(flatten)]
    transport: transport::TransportArgs,

    #[command(flatten)]
    slowness: SlownessArgs,
}

/// The arguments for injected delays.
#[derive(clap::Args, Debug, Clone, Copy)]
#[group(skip)]
pub(crate) struct SlownessArgs {
    /// Delay each answer of the pong by N nanoseconds, spinning
    #[arg(long, value_name = "N", default_value_t = 0,
          value_parser = clap::value_parser!(u64).range(0..=DELAY_NS_MAX))]
    delay_ns: u64,

    /// Stall the pong for M milliseconds every EVERY milliseconds
    #[arg(long, value_name = "M,EVERY", hide = true, value_parser = parse_stall)]
    stall_ms: Option<Stall>,
}

impl SlownessArgs {
    pub(crate) fn slowness(self) -> Slowness {
        Slowness { delay_ns: self.delay_ns, stall: self.stall_ms }
    }
}

impl PongArgs {
    pub(super) fn setup(&self) -> Result<PongSetup> {
        self.transport.check()?;
        let (address, interface) = match self.protocol {
            Protocol::Raw => self.check_raw()?,
            _ => self.addresses()?,
        };
        Ok(PongSetup {
            protocol: self.protocol,
            address,
            interface,
            device: self.interface.clone().unwrap_or_default(),
            transport: self.transport,
            wait: self.wait.to_string(),
            core: self.cpu,
            slowness: self.slowness.slowness(),
            is_flood: self.flood,
            size_max: SIZE_MAX,
        })
    }
}

impl PongArgs {
    /// Returns the address to listen on and the address of the interface that joins groups.
    fn addresses(&self) -> Result<(SocketAddrV4, Ipv4Addr)> {
        self.transport.check_interface(self.interface.as_deref())?;
        let interface = match &self.interface {
            Some(name) => interface_address(name).context("cannot join groups")?,
            None => Ipv4Addr::UNSPECIFIED,
        };
        let listen = match (self.listen, self.protocol) {
            (Some(listen), _) => listen,
            (None, Protocol::Multicast) => {
                usage_error!("multicast needs a group, such as --listen 239.1.1.1:{DEFAULT_PORT}")
            }
            (None, Protocol::Rds | Protocol::RdsEthernet) => {
                usage_error!("reliable datagrams need an address: --listen ADDR:{DEFAULT_PORT}")
            }
            // The kernel receives for any address, AF_XDP for that of its interface.
            (None, _) if self.transport.bypasses_kernel() => {
                SocketAddrV4::new(interface, DEFAULT_PORT)
            }
            (None, _) => SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, DEFAULT_PORT),
        };
        let is_group = listen.ip().is_multicast();
        if is_group != (self.protocol == Protocol::Multicast) {
            let which = if is_group { "is a" } else { "is not a" };
            usage_error!("{} {which} multicast group: use another --protocol", listen.ip());
        }
        Ok((listen, interface))
    }

    /// Checks the arguments for raw frames, which have no addresses of their own.
    fn check_raw(&self) -> Result<(SocketAddrV4, Ipv4Addr)> {
        match (self.transport.is_xdp(), &self.interface) {
            (true, Some(_)) => {}
            (true, None) => usage_error!("raw frames need --interface IF"),
            (false, Some(_)) => usage_error!("raw frames need --transport xdp"),
            (false, None) => usage_error!("raw frames need --transport xdp and --interface IF"),
        }
        if let Some(listen) = self.listen {
            usage_error!(
                "raw frames have no address: use --interface instead of --listen {listen}"
            );
        }
        Ok((PongAddress::NOWHERE.address, Ipv4Addr::UNSPECIFIED))
    }
}

/// Parses `ADDR:PORT`, or `ADDR` for the default port.
fn parse_listen(text: &str) -> Result<SocketAddrV4, String> {
    parse_address(text, Some(DEFAULT_PORT))
}

/// Parses two numbers of milliseconds: the length of a stall and its period.
fn parse_stall(text: &str) -> Result<Stall, String> {
    match parse_two(text, "two numbers of milliseconds, such as 10,1000")? {
        (length_ms, every_ms) if length_ms < every_ms => Ok(Stall { length_ms, every_ms }),
        (length_ms, every_ms) => Err(format!("{length_ms} is not less than {every_ms}")),
    }
}

#[cfg(test)]
mod tests {
    use hairpin_cli_harness::args::parse_line;

    use super::*;

    #[test]
    fn requires_stall_shorter_than_period() {
        assert_eq!(parse_stall("10, 1000"), Ok(Stall { length_ms: 10, every_ms: 1_000 }));
        assert!(["10", "10,10", "10,9", "a,b", "", "-1,5"].iter().all(|t| parse_stall(t).is_err()));
    }

    #[test]
    fn listens_on_default_port() {
        let setup = |words: &str| {
            let args: PongArgs = parse_line(words.split_whitespace()).unwrap();
            args.setup().map(|setup| setup.address.to_string())
        };
        assert_eq!(setup("").unwrap(), "0.0.0.0:9200");
        assert_eq!(setup("--protocol tcp").unwrap(), "0.0.0.0:9200");
        assert_eq!(setup("--listen 127.0.0.1:1").unwrap(), "127.0.0.1:1");
        assert!(setup("--protocol multicast").is_err(), "there is no default group");
    }
}
