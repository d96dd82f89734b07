//! Kills a program with SIGKILL at random moments while its gateway injects faults, and starts it
//! again with the same command.
//!
//! Every order is accounted for, each fill counts once in the position, no ClOrdID repeats, and the
//! session keeps its UUID. `HAIRPIN_TEST_SCALE` multiplies the number of kills.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use hairpin::order_entry::messages::NewOrderSingle514;
use hairpin::order_entry::{ExecutionReportTradeOutright525, Orders, SideReq};
use hairpin::prelude::*;
use hairpin_exchange::{ConnectionId, GatewayFaults, Listener, OrderId as ExchangeOrderId};
use hairpin_mapped::{Direction, Journal};
use hairpin_netsim::Random;
use hairpin_sbe::MessageHeader;
use hairpin_testbed::scaled;
use hairpin_time::Duration as Nanos;
use support::Venue;

const FOLDER: &str = "HAIRPIN_SDK_FOLDER";
const FINAL: &str = "HAIRPIN_SDK_FINAL";
/// The time limit of the whole last run, and of the start of each run.
const TIMEOUT: Duration = Duration::from_secs(300);
/// The time in which the last run receives what it has missed.
const SETTLE: Nanos = Nanos::from_millis(500);

/// The orders and fills as the exchange knows them.
#[derive(Default)]
struct Truth {
    received: BTreeMap<String, u32>,
    working: BTreeSet<u64>,
    /// The filled contracts of each order, by ClOrdID.
    fills: BTreeMap<String, u32>,
}

fn text(id: &[u8]) -> String {
    String::from_utf8(id.to_vec()).unwrap()
}

impl Listener for Truth {
    fn on_order(&mut self, _: ConnectionId, id: &[u8]) {
        *self.received.entry(text(id)).or_default() += 1;
    }

    fn on_acknowledged(&mut self, _: ConnectionId, _: &[u8], order: ExchangeOrderId) {
        self.working.insert(order.0);
    }

    fn on_cancelled(&mut self, _: ConnectionId, _: &[u8], order: ExchangeOrderId) {
        self.working.remove(&order.0);
    }

    fn on_eliminated(&mut self, _: ConnectionId, _: &[u8], order: ExchangeOrderId) {
        self.working.remove(&order.0);
    }

    fn on_fill(&mut self, _: ConnectionId, id: &[u8], order: ExchangeOrderId, quantity: u32) {
        *self.fills.entry(text(id)).or_default() += quantity;
        // Every order is for one contract.
        self.working.remove(&order.0);
    }
}

/// Buys at the best ask, sells at the best bid, or bids far below the market, in turn. Cancels what
/// works.
struct Prober {
    count: u64,
}

impl Strategy for Prober {
    fn on_book(&mut self, book: &BookEvent<'_>, ctx: &mut Context<'_>) {
        let (Some(bid), Some(ask)) = (book.best_bid(), book.best_ask()) else { return };
        if !ctx.is_ready() || !book.best_price_changed() {
            return;
        }
        self.count += 1;
        let id = book.security_id();
        let below = book.instrument().add_ticks(bid.price, -40).unwrap();
        // A full queue or a lost session may refuse the order.
        let _ = match self.count % 3 {
            0 => ctx.buy(id, Quantity(1), ask.price),
            1 => ctx.sell(id, Quantity(1), bid.price),
            _ => ctx.buy(id, Quantity(1), below),
        };
        if self.count == 1 {
            println!("trades");
        }
    }

    fn on_order(&mut self, order: &OrderEvent<'_>, ctx: &mut Context<'_>) {
        if order.state() == OrderState::Working {
            let _ = ctx.cancel(order.cl_ord_id());
        }
    }

    fn on_problem(&mut self, problem: &Problem<'_>, _: &mut Context<'_>) {
        // A number that the gateway has repeated ends the session. If the program lives until the
        // next logon, it negotiates a new one.
        if let Problem::Session(hairpin::order_entry::Error::SeqNum { .. }) = problem {
            println!("repeated");
        }
    }
}

/// Prints the working orders and the positions once it has received what it missed.
struct Auditor;

impl Strategy for Auditor {
    fn on_ready(&mut self, ctx: &mut Context<'_>) {
        ctx.set_timer(0, SETTLE).unwrap();
    }

    fn on_timer(&mut self, _: u64, ctx: &mut Context<'_>) {
        for order in ctx.working() {
            println!("working {}", order.order_id.unwrap());
        }
        for id in (1_001..=1_004).map(SecurityId) {
            println!("position {}", ctx.position(id));
        }
        println!("end");
        ctx.stop();
    }

    fn on_problem(&mut self, _: &Problem<'_>, _: &mut Context<'_>) {}
}

/// The program that is killed: this test as a child process. Does nothing without its folder.
#[test]
fn program() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    // The test runner may have printed the start of a line.
    println!();
    let folder = Path::new(&folder);
    let trader =
        || Trader::open(folder.join("config.xml"), 310, folder.join("order.toml")).unwrap();
    match std::env::var(FINAL) {
        Ok(_) => trader().run(&mut Auditor).unwrap(),
        Err(_) => trader().run(&mut Prober { count: 0 }).unwrap(),
    }
}

/// A run of the program, with the lines that it prints.
struct Run {
    child: Child,
    lines: Receiver<String>,
}

impl Run {
    fn start(folder: &Path, is_final: bool) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "program", "--nocapture"]).env(FOLDER, folder);
        if is_final {
            command.env(FINAL, "1");
        }
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let output: ChildStdout = child.stdout.take().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    /// Waits until the program has sent its first order. Returns the count of repeated numbers.
    fn wait_until_trading(&self, venue: &mut Venue, truth: &mut Truth) -> usize {
        let until = Instant::now() + TIMEOUT;
        let mut repeated = 0;
        loop {
            match self.lines.try_recv().as_deref() {
                Ok("trades") => return repeated,
                Ok("repeated") => repeated += 1,
                _ => venue.tick_with(truth),
            }
            assert!(Instant::now() < until, "the program does not trade");
        }
    }

    /// Kills the program. Returns the lines that it has printed and that were not taken.
    fn kill(mut self) -> Vec<String> {
        let lines = std::mem::replace(&mut self.lines, channel().1);
        drop(self);
        lines.iter().collect()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn killed_program_accounts_for_every_order() {
    let kills = scaled(25);
    let mut venue = Venue::open("folder = \"journal\"");
    let faults = GatewayFaults {
        seed: 7,
        drop_ppm: 10_000,
        double_ppm: 10_000,
        skip_ppm: 0,
        delay_ppm: 50_000,
        delay_max: Nanos::from_millis(2),
        split_ppm: 50_000,
        coalesce_ppm: 50_000,
        silence_ppm: 0,
        silence: Nanos::ZERO,
        cut_ppm: 2_000,
        refuse_ppm: 50_000,
    };
    venue.set_gateway_faults(faults);
    let mut truth = Truth::default();
    let mut random = Random::new(11);
    let mut repeated = 0;
    for _ in 0..kills {
        let run = Run::start(venue.folder.path(), false);
        repeated += run.wait_until_trading(&mut venue, &mut truth);
        let until = Instant::now() + Duration::from_micros(random.below(100_000));
        while Instant::now() < until {
            venue.tick_with(&mut truth);
        }
        repeated += run.kill().iter().filter(|line| *line == "repeated").count();
    }
    venue.exchange.gateway_mut().end_faults();
    let mut run = Run::start(venue.folder.path(), true);
    let until = Instant::now() + TIMEOUT;
    let mut lines = Vec::new();
    while lines.last().is_none_or(|line| line != "end") {
        assert!(Instant::now() < until, "{lines:?}");
        venue.step_with(&mut truth);
        lines.extend(run.lines.try_iter());
    }
    while run.child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < until, "the last run does not end");
        venue.step_with(&mut truth);
    }
    let values = |name: &str| -> Vec<String> {
        let lines = lines.iter().filter_map(|line| line.strip_prefix(name));
        lines.map(|value| value.trim().to_owned()).collect()
    };
    let working: BTreeSet<u64> = values("working").iter().map(|id| id.parse().unwrap()).collect();
    // The exchange does not notify the listener of trades while no session is established.
    let unreported = venue.exchange.gateway_counters().unreported;
    assert!(working.is_subset(&truth.working), "{working:?} {:?}", truth.working);
    assert!(truth.working.len() - working.len() <= unreported as usize, "{working:?}");
    let positions: Vec<i64> = values("position").iter().map(|it| it.parse().unwrap()).collect();
    check_journal(&venue, &truth, working.len(), &positions, repeated);
    let tally = venue.exchange.gateway_mut().fault_tally().unwrap();
    println!(
        "{kills} kills: {} orders, {} of them filled, {} working; {tally:?}",
        truth.received.len(),
        truth.fills.len(),
        working.len(),
    );
    assert!(truth.fills.len() as u64 > kills, "the orders trade");
    assert!(tally.dropped > 0 && tally.doubled > 0 && tally.delayed > 0, "{tally:?}");
}

/// Compares the orders and trades in the journal with those that the exchange has received and
/// reported. The session has another UUID at most after each number that was `repeated`.
fn check_journal(venue: &Venue, truth: &Truth, working: usize, positions: &[i64], repeated: usize) {
    let journal = Journal::open(venue.folder.path().join("journal")).unwrap();
    let (mut ids, mut uuids) = (BTreeSet::new(), BTreeSet::new());
    let mut trades = BTreeMap::new();
    for (record, frame) in journal.records() {
        let Ok((header, body)) = MessageHeader::decode(&frame[4..]) else { continue };
        match (record.direction(), header.template_id) {
            (Direction::Outbound, NewOrderSingle514::TEMPLATE_ID) => {
                let mut scratch = NewOrderSingle514::SCRATCH;
                let order = NewOrderSingle514::decode(&header, body, &mut scratch).unwrap();
                uuids.insert(journal.tag(record).uuid);
                let id = order.cl_ord_id().to_string();
                assert!(ids.insert(id.clone()), "ClOrdID {id} repeats");
            }
            (Direction::Inbound, ExecutionReportTradeOutright525::TEMPLATE_ID) => {
                let mut scratch = ExecutionReportTradeOutright525::SCRATCH;
                let trade =
                    ExecutionReportTradeOutright525::decode(&header, body, &mut scratch).unwrap();
                let sign = if trade.side() == SideReq::BUY { 1 } else { -1 };
                let change = (trade.security_id(), sign * i64::from(trade.last_qty()));
                trades.insert(trade.exec_id().to_string(), change);
            }
            _ => {}
        }
    }
    assert!(uuids.len() <= 1 + repeated, "the session keeps its UUID: {repeated}, {uuids:?}");
    assert!(truth.received.values().all(|count| *count == 1), "the exchange received an id twice");
    assert!(truth.received.keys().all(|id| ids.contains(id)));
    let counters = venue.exchange.gateway_counters();
    let reported = counters.fills + counters.unreported;
    assert_eq!(trades.len() as u64, reported, "trades received and reported");
    let mut expected = vec![0; positions.len()];
    for (security_id, change) in trades.values() {
        expected[(security_id - 1_001) as usize] += change;
    }
    assert_eq!(positions, expected, "positions of the program and of the exchange");
    let orders = Orders::from_journal(&journal, 100_000);
    assert_eq!(orders.working().count(), working);
    assert_eq!(orders.counters().lost, 0);
}
