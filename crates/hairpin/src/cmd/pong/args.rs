//! The words of `hairpin pong`.

use std::net::{Ipv4Addr, SocketAddrV4};

use anyhow::{Context, Result};
use hairpin_host::interface_address;
use hairpin_reactor::Wait;

use super::{Slowness, Stall};
use crate::cmd::ping::{PongAddress, PongSetup, Protocol, SIZE_MAX};
use crate::harness::args::parse_wait;
use crate::harness::transport;
use crate::harness::usage::usage_error;

/// The longest delay of an answer: a second.
const DELAY_NS_MAX: u64 = 1_000_000_000;

/// `hairpin pong`: answers the pings of `hairpin ping ADDR` on this host or others, any number of
/// pingers, one after the other or at once, until Ctrl-C.
///
/// An answer is the message itself. By multicast, ADDR:PORT is the group that pings come by;
/// answers leave to the same group at the next port. By TCP a connection begins with eight bytes,
/// the text "ping" and the length of its messages, little-endian: a message is answered when all of
/// it is there. Raw frames (--protocol raw --transport xdp --interface IF) go back to the Ethernet
/// address that they came from.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct PongArgs {
    /// Where to listen, by multicast the group; port 0 has the kernel choose
    #[arg(long, value_name = "ADDR:PORT", required_unless_present = "interface")]
    listen: Option<SocketAddrV4>,

    /// How pings travel
    #[arg(long, value_enum, default_value_t = Protocol::Udp)]
    protocol: Protocol,

    /// How to wait: block, poll, epoll, spin, io_uring
    #[arg(long, value_name = "WAIT", default_value = "epoll", value_parser = parse_wait)]
    wait: Wait,

    /// The core to run on [default: wherever the kernel puts it]
    #[arg(long, value_name = "N")]
    cpu: Option<usize>,

    /// The interface for multicast [default: the one of the default route], for --transport xdp and
    /// for raw frames
    #[arg(long, value_name = "IF")]
    interface: Option<String>,

    /// Count messages instead of answering them, and print their rate when they end
    #[arg(long)]
    flood: bool,

    #[command(flatten)]
    transport: transport::TransportArgs,

    #[command(flatten)]
    slowness: SlownessArgs,
}

/// The words about how slow a pong is.
#[derive(clap::Args, Debug, Clone, Copy)]
#[group(skip)]
pub(crate) struct SlownessArgs {
    /// Have the pong answer N nanoseconds later, spinning: to see whether a comparison finds it
    #[arg(long, value_name = "N", default_value_t = 0,
          value_parser = clap::value_parser!(u64).range(0..=DELAY_NS_MAX))]
    delay_ns: u64,

    /// Have the pong do nothing for M milliseconds every EVERY milliseconds
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
    /// Where to listen, and the address to join groups by.
    fn addresses(&self) -> Result<(SocketAddrV4, Ipv4Addr)> {
        self.transport.check_interface(self.interface.as_deref())?;
        if self.transport.is_xdp() && self.protocol == Protocol::Tcp {
            usage_error!(
                "TCP goes through the kernel: --transport xdp is for udp, multicast and raw"
            );
        }
        let Some(listen) = self.listen else {
            usage_error!("say where to listen: --listen ADDR:PORT")
        };
        let is_group = listen.ip().is_multicast();
        if is_group != (self.protocol == Protocol::Multicast) {
            let which = if is_group { "a" } else { "no" };
            usage_error!("{} is {which} multicast group", listen.ip());
        }
        let interface = match &self.interface {
            Some(name) => interface_address(name).context("groups cannot be joined")?,
            None => Ipv4Addr::UNSPECIFIED,
        };
        Ok((listen, interface))
    }

    /// Raw frames have no addresses of their own.
    fn check_raw(&self) -> Result<(SocketAddrV4, Ipv4Addr)> {
        if !self.transport.is_xdp() {
            usage_error!("raw frames go past the kernel: --transport xdp");
        }
        if let Some(listen) = self.listen {
            usage_error!("raw frames know no {listen}: say --interface IF alone");
        }
        Ok((PongAddress::NOWHERE.address, Ipv4Addr::UNSPECIFIED))
    }
}

/// Two numbers of milliseconds: for how long, and how often.
fn parse_stall(text: &str) -> Result<Stall, String> {
    let number = |text: &str| text.trim().parse().ok();
    let pair = text.split_once(',').and_then(|(a, b)| number(a).zip(number(b)));
    match pair {
        Some((length_ms, every_ms)) if length_ms < every_ms => Ok(Stall { length_ms, every_ms }),
        _ => Err("two numbers of milliseconds, the first less, such as 10,1000".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_is_shorter_than_what_it_comes_in() {
        assert_eq!(parse_stall("10, 1000"), Ok(Stall { length_ms: 10, every_ms: 1_000 }));
        assert!(["10", "10,10", "10,9", "a,b", "", "-1,5"].iter().all(|t| parse_stall(t).is_err()));
    }
}
