//! A custom feed engine: a feed handler with packets from any source.
//!
//! `engine` reads packets from standard input, one per line: the number of the feed (0 incremental,
//! 1 instruments, 2 snapshots) and hexadecimal digits, `0 0a00000000…`. For another source, such as
//! AF_XDP, a vendor's library or a bus between processes, only `receive` differs.
#![forbid(unsafe_code)]

use std::io::{self, BufRead, StdinLock, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::process::exit;

use anyhow::Result;
use hairpin_feed_handler::{
    Arrival, EndOfEvent, EngineError, FeedEngine, FeedHandlers, LineAddress, LineId, Lines,
    Listener, Multicast, Settings, Timestamp,
};
use hairpin_host::Clock;
use hairpin_time::{Instant, Now};

struct Stdin {
    input: StdinLock<'static>,
    lines: Vec<SocketAddrV4>,
    finished: bool,
}

impl FeedEngine for Stdin {
    fn open(&mut self, address: &LineAddress) -> io::Result<LineId> {
        self.lines.push(address.group);
        Ok(LineId::new(self.lines.len() - 1))
    }

    fn join(&mut self, _: LineId) -> io::Result<()> {
        Ok(()) // standard input has no groups
    }

    fn leave(&mut self, _: LineId) -> io::Result<()> {
        Ok(())
    }

    fn wait(&mut self, _: Instant, _: Option<Instant>) -> io::Result<()> {
        Ok(()) // reading blocks
    }

    fn receive(
        &mut self,
        now: Now,
        on: &mut impl FnMut(Now, Arrival<'_>),
    ) -> Result<(), EngineError> {
        let mut text = String::new();
        self.finished = self.input.read_line(&mut text)? == 0;
        let packet = text.trim().split_once(' ').and_then(|(line, digits)| {
            Some((line.parse().ok().filter(|line| *line < self.lines.len())?, bytes(digits)?))
        });
        if let Some((line, bytes)) = packet {
            let (source, line) = (self.lines[line], LineId::new(line));
            on(now, Arrival { line, source, timestamp: Timestamp::None, bytes: &bytes });
        }
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.finished
    }
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()).collect()
}

struct Printer;

impl Listener for Printer {
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        for (_, book, _) in event.changed() {
            let (bid, ask) = (book.best_bid(), book.best_ask());
            let line = writeln!(io::stdout(), "{} {bid:?} {ask:?}", book.security_id());
            line.unwrap_or_else(|_| exit(0)); // the reader has closed the pipe
        }
    }
}

fn main() -> Result<()> {
    let line = |number| Lines::only_a(SocketAddrV4::new(Ipv4Addr::new(239, 0, 0, number), 1));
    let addresses = Multicast {
        incremental: line(1),
        instrument: line(2),
        snapshot: line(3),
        snapshot_orders: Lines::default(),
        interface: Ipv4Addr::UNSPECIFIED,
        transport: Default::default(),
        replay: None,
    };
    let stdin = Stdin { input: io::stdin().lock(), lines: Vec::new(), finished: false };
    let (clock, mut feeds) = (Clock::new(), FeedHandlers::new(stdin));
    let handler = feeds.add(Settings::default(), &addresses)?;
    while !feeds.engine().is_finished() {
        feeds.process(clock.now(), &mut [Printer])?;
    }
    Ok(writeln!(io::stdout(), "{:?}", feeds.channel(handler).state())?)
}
