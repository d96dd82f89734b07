//! Words of the command line that several subcommands understand.

use std::str::FromStr;

use clap::ValueEnum;
use hairpin_reactor::Wait;

use crate::setup::Mute;

/// More would ask for gigabytes of journal.
pub(crate) const SAMPLES_MAX: u64 = 1_000_000;
/// Longest pause between ticks: a minute.
pub(crate) const INTERVAL_US_MAX: u64 = 60_000_000;
/// Ticks recorded per row unless told otherwise.
pub(crate) const SAMPLES: u64 = 2_000;
/// Ticks at the start of each round that are not recorded.
pub(crate) const WARM_UP: u64 = 100;

/// How market data travels from the exchange to the trader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FeedTransport {
    /// UDP multicast, sides A and B
    Multicast,
    /// TCP, a connection for each of sides A and B
    Tcp,
}

impl FeedTransport {
    /// Both, in the order of the table.
    pub(crate) const ALL: [Self; 2] = [Self::Multicast, Self::Tcp];

    /// The name in tables and results.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Multicast => "multicast",
            Self::Tcp => "tcp",
        }
    }
}

/// A wait by its name.
pub(crate) fn parse_wait(text: &str) -> Result<Wait, String> {
    Wait::from_str(text).map_err(|error| error.to_string())
}

/// `on` or `off`.
pub(crate) fn parse_switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("it is on or off".to_owned()),
    }
}

/// Two numbers of ticks: after how many a side falls silent, and for how many.
pub(crate) fn parse_mute(text: &str) -> Result<Mute, String> {
    let number = |text: &str| text.trim().parse().ok();
    let pair = text.split_once(',').and_then(|(a, b)| number(a).zip(number(b)));
    let (from_tick, ticks) = pair.ok_or("two numbers of ticks")?;
    Ok(Mute { from_tick, ticks })
}
