//! Arguments and limits that several subcommands share.

use std::str::FromStr;

use clap::ValueEnum;
use hairpin_reactor::Wait;

use crate::harness::t2t_setup::LineOutage;

/// The largest number of samples per row: more would need gigabytes of journal.
pub(crate) const SAMPLES_MAX: u64 = 1_000_000;
/// The longest interval between ticks: a minute.
pub(crate) const INTERVAL_US_MAX: u64 = 60_000_000;
/// The default number of ticks recorded per row.
pub(crate) const SAMPLES: u64 = 2_000;
/// The number of ticks at the start of each round that are not recorded.
pub(crate) const WARM_UP: u64 = 100;

/// The transport of market data from the exchange to the trader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FeedTransport {
    /// UDP multicast, feed lines A and B
    Multicast,
    /// TCP, one connection for each of feed lines A and B
    Tcp,
}

impl FeedTransport {
    /// Both transports, in the order of the table.
    pub(crate) const ALL: [Self; 2] = [Self::Multicast, Self::Tcp];

    /// Returns the name in tables and results.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Multicast => "multicast",
            Self::Tcp => "tcp",
        }
    }
}

/// Parses a wait by its name.
pub(crate) fn parse_wait(text: &str) -> Result<Wait, String> {
    Wait::from_str(text).map_err(|error| error.to_string())
}

/// Parses the Ethernet address of one host: six hexadecimal bytes separated by colons.
pub(crate) fn parse_mac(text: &str) -> Result<[u8; 6], String> {
    let is_byte = |part: &&str| part.len() == 2 && part.bytes().all(|it| it.is_ascii_hexdigit());
    let parts: Vec<&str> = text.split(':').collect();
    let bytes = parts.iter().filter(|part| is_byte(part));
    let bytes: Vec<u8> = bytes.filter_map(|part| u8::from_str_radix(part, 16).ok()).collect();
    let mac = <[u8; 6]>::try_from(bytes).ok().filter(|_| parts.len() == 6);
    let mac = mac.filter(|mac| mac[0] & 1 == 0 && *mac != [0; 6]);
    mac.ok_or_else(|| "the Ethernet address of one host, such as 02:00:00:00:00:01".to_owned())
}

/// Parses `on` or `off`.
pub(crate) fn parse_switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("expected on or off".to_owned()),
    }
}

/// Parses two numbers of ticks: the tick after which a feed line is silenced, and for how many.
pub(crate) fn parse_line_outage(text: &str) -> Result<LineOutage, String> {
    let number = |text: &str| text.trim().parse().ok();
    let pair = text.split_once(',').and_then(|(a, b)| number(a).zip(number(b)));
    let (from_tick, ticks) = pair.ok_or("two numbers of ticks")?;
    Ok(LineOutage { from_tick, ticks })
}

/// Parses a command line into the arguments of a command.
#[cfg(test)]
pub(crate) fn parse_line<'a, A: clap::Args>(
    args: impl IntoIterator<Item = &'a str>,
) -> Result<A, clap::Error> {
    let command = A::augment_args(clap::Command::new("words").no_binary_name(true));
    A::from_arg_matches(&command.try_get_matches_from(args)?)
}

#[cfg(test)]
mod tests {
    use super::parse_mac;

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
