//! Measures the latency of an order: the send call, and the time to the callback of its report.
//!
//! ```text
//! cargo run --release -p hairpin-order-entry --example latency
//! ```
//!
//! One order is in flight at a time. `hairpin bench order` measures more precisely: in rounds, per
//! stage, between two processes on separate cores.
#![forbid(unsafe_code)]

#[allow(dead_code, unreachable_pub, clippy::expect_used, reason = "each example uses its part")]
mod venue;

use std::error::Error as AnyError;

use hairpin_host::Clock;
use hairpin_mapped::Journal;
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Wait};
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

fn main() -> Result<(), Box<dyn AnyError>> {
    let venue = Venue::quiet();
    let clock = Clock::new();
    let mut trader = Trader { clock: clock.clone(), reported: None };
    let mut reactor = Reactor::new(Wait::Epoll)?;
    let mut session = Session::new(venue.settings(), Journal::anonymous(8 << 20)?)?;
    session.connect(clock.now(), Binding::New)?;
    let (mut sends, mut round_trips) = (Vec::with_capacity(ORDERS), Vec::with_capacity(ORDERS));
    let mut started = None;
    while session.state() != State::Disconnected {
        let ready = reactor.wait(clock.now().monotonic, session.next_deadline())?;
        session.process(clock.now(), ready, &mut reactor, &mut trader)?;
        if let Some((reported, started)) = trader.reported.take().zip(started) {
            round_trips.push(reported - started);
        }
        // Send the next order as soon as the last one was answered.
        if session.state() == State::Established && round_trips.len() == sends.len() {
            if sends.len() == ORDERS {
                session.terminate(clock.now());
                continue;
            }
            // CME wire price (PRICE9): integer mantissa, implied exponent -9. This is 900.
            let (price, id) = (Decimal(900_000_000_000), ClOrdId::from(sends.len() as u64));
            let order = NewOrder::limit(INSTRUMENT, SideReq::BUY, price, 1, id);
            let before = clock.instant();
            session.sender(clock.now()).send(&order)?;
            sends.push(clock.instant() - before);
            started = Some(before);
        }
    }
    println!("{} orders, microseconds: min, median, p99", ORDERS - WARM_UP);
    print("send", &mut sends[WARM_UP..]);
    print("send to report", &mut round_trips[WARM_UP..]);
    Ok(())
}

fn print(name: &str, samples: &mut [Duration]) {
    samples.sort_unstable();
    let micros = |share: usize| samples[share * (samples.len() - 1) / 100].as_nanos() as f64 / 1e3;
    println!("{name}: {:.1}, {:.1}, {:.1}", micros(0), micros(50), micros(99));
}
