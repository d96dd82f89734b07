//! Measures the latency of an order through the kernel and with kernel bypass (AF_XDP).
//!
//! ```text
//! cargo build --release -p hairpin-order-entry --example kernel_bypass
//! sudo target/release/examples/kernel_bypass
//! ```
//!
//! Exchange and trader run on two hosts, network namespaces joined by a veth. On a real network
//! only [`trade`] is needed, with the name of the interface and the address of the gateway. Order
//! entry over AF_XDP differs from order entry through the kernel in one value: the transport of the
//! connections. `hairpin bench order` measures more precisely.
#![forbid(unsafe_code)]

#[allow(dead_code, unreachable_pub, clippy::expect_used, reason = "each example uses its part")]
mod venue;

use std::error::Error as AnyError;

use hairpin_endpoint::Transport;
use hairpin_endpoint::xdp::{Stack, StackSettings};
use hairpin_host::Clock;
use hairpin_mapped::Journal;
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Wait};
use hairpin_testbed::{Host, Offloads, Testbed};
use hairpin_time::{Duration, Instant};
use venue::{INSTRUMENT, Venue};

/// The number of orders, and of warm-up orders among them.
const ORDERS: usize = 2_000;
const WARM_UP: usize = 200;

/// Records the time of the callback.
struct Trader {
    clock: Clock,
    reported: Option<Instant>,
}

impl Listener for Trader {
    fn on_execution_report_new(
        &mut self,
        _: &mut Sender<'_>,
        _: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        self.reported = Some(self.clock.instant());
    }
}

/// Opens AF_XDP on an interface. An order that cannot bypass the kernel is an error.
fn bypass(interface: &str) -> Result<Stack, Box<dyn AnyError>> {
    Ok(Stack::open(interface, &StackSettings { strict: true, ..StackSettings::default() })?)
}

/// Sends one order after the other. Returns the times from the send call to the callback.
fn trade(settings: Settings, transport: Transport) -> Result<Vec<Duration>, Box<dyn AnyError>> {
    let clock = Clock::new();
    let mut trader = Trader { clock: clock.clone(), reported: None };
    let mut reactor = Reactor::new(Wait::Spin)?;
    let connect = TcpConnect { transport, ..TcpConnect::default() };
    let mut session = Session::with_connect(settings, Journal::anonymous(8 << 20)?, connect)?;
    session.connect(clock.now(), Binding::New)?;
    let (mut latencies, mut sent) = (Vec::with_capacity(ORDERS), None);
    while session.state() != State::Disconnected {
        let ready = reactor.wait(clock.now().monotonic, session.next_deadline())?;
        session.process(clock.now(), ready, &mut reactor, &mut trader)?;
        if let Some((reported, sent_at)) = trader.reported.take().zip(sent) {
            latencies.push(reported - sent_at);
            sent = None;
        }
        if session.state() == State::Established && sent.is_none() {
            if latencies.len() == ORDERS {
                session.terminate(clock.now());
                continue;
            }
            // CME wire price (PRICE9): integer mantissa, implied exponent -9. This is 900.
            let (price, id) = (Decimal(900_000_000_000), ClOrdId::from(latencies.len() as u64));
            let order = NewOrder::limit(INSTRUMENT, SideReq::BUY, price, 1, id);
            sent = Some(clock.instant());
            session.sender(clock.now()).send(&order)?;
        }
    }
    Ok(latencies)
}

fn main() -> Result<(), Box<dyn AnyError>> {
    let testbed = Testbed::builder().offloads(Offloads::OFF).build()?;
    let [exchange, trader] = testbed.hosts();
    println!("{} orders, microseconds from send to report: min, median, p99", ORDERS - WARM_UP);
    let [kernel, _] =
        measure("kernel", [exchange, trader], [Transport::Kernel, Transport::Kernel])?;
    let open = |host: &Host| {
        let stack = host.run(|| bypass(host.interface()).map_err(|error| error.to_string()))?;
        Ok::<_, Box<dyn AnyError>>(stack?)
    };
    let stacks = [open(exchange)?, open(trader)?];
    let transports = stacks.clone().map(Transport::Xdp);
    let [xdp, _] = measure("xdp", [exchange, trader], transports)?;
    let counters = stacks[1].tcp_counters();
    println!("connections taken over: {}", counters.taken_over);
    println!("median, xdp to kernel: {:.2}", xdp.as_nanos() as f64 / kernel.as_nanos() as f64);
    Ok(())
}

/// Runs exchange and trader over transports. Prints and returns the median and the 99th percentile.
fn measure(
    name: &str,
    [exchange, trader]: [&Host; 2],
    [near, far]: [Transport; 2],
) -> Result<[Duration; 2], Box<dyn AnyError>> {
    let venue = exchange.run(|| Venue::quiet_at(exchange.address(), near))?;
    let run = || trade(venue.settings(), far).map_err(|error| error.to_string());
    let mut latencies = trader.run(run)??.split_off(WARM_UP);
    latencies.sort_unstable();
    let at = |share: usize| latencies[share * (latencies.len() - 1) / 100];
    let [min, median, p99] = [0, 50, 99].map(at);
    let micros = |time: Duration| time.as_nanos() as f64 / 1e3;
    println!("{name}: {:.1}, {:.1}, {:.1}", micros(min), micros(median), micros(p99));
    Ok([median, p99])
}
