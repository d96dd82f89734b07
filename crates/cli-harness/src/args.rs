//! Arguments and limits that several subcommands share.

use std::net::{SocketAddr, SocketAddrV4, ToSocketAddrs};
use std::str::FromStr;

use clap::ValueEnum;
use hairpin_reactor::Wait;

use crate::t2t_setup::LineOutage;
use crate::two_numbers::parse_two;

/// The largest number of samples per row: more would need gigabytes of journal.
pub const SAMPLES_MAX: u64 = 1_000_000;
/// The longest interval between ticks: a minute.
pub const INTERVAL_US_MAX: u64 = 60_000_000;
/// The default number of ticks recorded per row.
pub const SAMPLES: u64 = 2_000;
/// The number of ticks at the start of each round that are not recorded.
pub const WARM_UP: u64 = 100;

/// The transport of market data from the exchange to the trader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FeedTransport {
    /// UDP multicast, feed lines A and B
    Multicast,
    /// TCP, one connection for each of feed lines A and B
    Tcp,
}

impl FeedTransport {
    /// Both transports, in the order of the table.
    pub const ALL: [Self; 2] = [Self::Multicast, Self::Tcp];

    /// Returns the name in tables and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Multicast => "multicast",
            Self::Tcp => "tcp",
        }
    }
}

/// Parses a wait by its name.
pub fn parse_wait(text: &str) -> Result<Wait, String> {
    Wait::from_str(text).map_err(|error| error.to_string())
}

/// Parses the Ethernet address of one host: six hexadecimal bytes separated by colons.
pub fn parse_mac(text: &str) -> Result<[u8; 6], String> {
    let is_byte = |part: &&str| part.len() == 2 && part.bytes().all(|it| it.is_ascii_hexdigit());
    let parts: Vec<&str> = text.split(':').collect();
    let bytes = parts.iter().filter(|part| is_byte(part));
    let bytes: Vec<u8> = bytes.filter_map(|part| u8::from_str_radix(part, 16).ok()).collect();
    let mac = <[u8; 6]>::try_from(bytes).ok().filter(|_| parts.len() == 6);
    let mac = mac.filter(|mac| mac[0] & 1 == 0 && *mac != [0; 6]);
    mac.ok_or_else(|| {
        "expected the Ethernet address of one host, such as 02:00:00:00:00:01".to_owned()
    })
}

/// Parses `on` or `off`.
pub fn parse_switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("expected on or off".to_owned()),
    }
}

/// Parses `HOST:PORT`, the address or the name of a host with a port.
pub fn parse_host_and_port(text: &str) -> Result<SocketAddrV4, String> {
    parse_address(text, None)
}

/// Parses `HOST:PORT`, or `HOST` if there is a default port. A name is resolved to its first IPv4
/// address.
pub fn parse_address(text: &str, port: Option<u16>) -> Result<SocketAddrV4, String> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) => {
            (host, port.parse().map_err(|_| format!("'{port}' is not a port from 0 to 65535"))?)
        }
        None => (text, port.ok_or("expected a host and a port, such as 10.0.0.1:9100")?),
    };
    if let Ok(address) = host.parse() {
        return Ok(SocketAddrV4::new(address, port));
    }
    // Numbers alone are no name; the resolver would accept some of them as addresses.
    if !host.contains(|it: char| it.is_ascii_alphabetic()) {
        return Err(format!("'{host}' is neither an IPv4 address nor the name of a host"));
    }
    let found = (host, port).to_socket_addrs();
    let mut found = found.map_err(|error| format!("cannot resolve {host}: {error}"))?;
    let is_v4 = |address| match address {
        SocketAddr::V4(address) => Some(address),
        SocketAddr::V6(_) => None,
    };
    found.find_map(is_v4).ok_or_else(|| format!("{host} has no IPv4 address"))
}

/// Parses two numbers of ticks: the tick after which a feed line is silenced, and for how many.
pub fn parse_line_outage(text: &str) -> Result<LineOutage, String> {
    let (from_tick, ticks) = parse_two(text, "two numbers of ticks, such as 100,50")?;
    Ok(LineOutage { from_tick, ticks })
}

/// Parses a command line into the arguments of a command, for tests.
///
/// # Errors
/// Those of clap.
pub fn parse_line<'a, A: clap::Args>(
    args: impl IntoIterator<Item = &'a str>,
) -> Result<A, clap::Error> {
    let command = A::augment_args(clap::Command::new("words").no_binary_name(true));
    A::from_arg_matches(&command.try_get_matches_from(args)?)
}

#[cfg(test)]
mod tests {
    use super::{parse_address, parse_host_and_port, parse_mac, parse_two};

    #[test]
    fn parses_addresses_and_names_of_hosts() {
        let parse = |text| parse_address(text, Some(9_200)).map(|address| address.to_string());
        assert_eq!(parse("10.0.0.7").as_deref(), Ok("10.0.0.7:9200"));
        assert_eq!(parse("10.0.0.7:80").as_deref(), Ok("10.0.0.7:80"));
        assert_eq!(parse("localhost").as_deref(), Ok("127.0.0.1:9200"));
        assert_eq!(parse("localhost:80").as_deref(), Ok("127.0.0.1:80"));
        for (text, error) in [
            ("10.0.0", "'10.0.0' is neither an IPv4 address nor the name of a host"),
            ("10.0.0.7:65536", "'65536' is not a port from 0 to 65535"),
            (":80", "'' is neither an IPv4 address nor the name of a host"),
        ] {
            assert_eq!(parse(text), Err(error.to_owned()), "{text}");
        }
        assert!(parse_host_and_port("10.0.0.7").is_err_and(|it| it.contains("a host and a port")));
    }

    #[test]
    fn names_the_wrong_number_of_two() {
        let parse = |text| parse_two::<u32>(text, "two cores, such as 0,1");
        assert_eq!(parse("3, 4"), Ok((3, 4)));
        for (text, error) in [
            ("3", "expected two cores, such as 0,1"),
            ("x,4", "'x' is not a whole number; expected two cores, such as 0,1"),
            ("3,-4", "'-4' is not a whole number; expected two cores, such as 0,1"),
            ("3,4,5", "'4,5' is not a whole number; expected two cores, such as 0,1"),
        ] {
            assert_eq!(parse(text), Err(error.to_owned()), "{text}");
        }
    }

    #[test]
    fn parses_unicast_ethernet_address() {
        assert_eq!(parse_mac("02:0a:ff:00:1F:9c"), Ok([2, 0x0a, 0xff, 0, 0x1f, 0x9c]));
        for text in [
            "",
            "02:00:00:00:00",
            "02:00:00:00:00:00:01",
            "02:00:00:00:00:1",
            "02:00:00:00:00:+1",
            "02-00-00-00-00-01",
            "ff:ff:ff:ff:ff:ff",
            "01:00:5e:00:00:01",
            "00:00:00:00:00:00",
        ] {
            assert!(parse_mac(text).is_err(), "{text}");
        }
    }
}
