//! Enters an order, replaces it and takes it back: each step in the callback of the one before.
//!
//! ```text
//! cargo run --example order_entry
//! ```
#![forbid(unsafe_code)]

#[allow(dead_code, unreachable_pub, clippy::expect_used, reason = "each example uses its part")]
mod venue;

use std::error::Error as AnyError;

use hairpin_host::Clock;
use hairpin_mapped::Journal;
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Wait};
use venue::{INSTRUMENT, Venue};

/// Five contracts, far too cheap to be sold to us. Prices are exact: nine digits behind the point.
fn order(price: i64, id: u64) -> NewOrder {
    let price = Decimal(price * 1_000_000_000);
    NewOrder::limit(INSTRUMENT, SideReq::BUY, price, 5, ClOrdId::from(id))
}

/// Knows its orders: each is up to date before a callback is told of it.
struct Trader {
    orders: Orders,
}

impl Trader {
    fn print(&self, what: &str) {
        println!("{what}; {} of our orders work", self.orders.iter().count());
    }
}

impl TrackOrders for Trader {
    fn orders(&mut self) -> &mut Orders {
        &mut self.orders
    }
}

impl Listener for Trader {
    fn on_established(&mut self, sender: &mut Sender<'_>, _: &Established) {
        // What stands in the way is in the error: not sent is not sent.
        match self.orders.send(sender, &order(900, 1)) {
            Ok(sent) => println!("sent under number {}", sent.seq_num),
            Err(error) => println!("not sent: {error}"),
        }
    }

    fn on_execution_report_new(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        self.print("the order is in the book");
        let replace = ReplaceOrder::with_terms_of(report.order_id(), &order(901, 2));
        if let Err(error) = self.orders.send(sender, &replace) {
            println!("not replaced: {error}");
        }
    }

    fn on_execution_report_modify(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportModify531<'_>,
        _: &Message<'_>,
    ) {
        self.print(&format!("it is at {} now", report.price()));
        let id = ClOrdId::from(3);
        let cancel = CancelOrder::new(report.order_id(), INSTRUMENT, SideReq::BUY, id);
        if let Err(error) = self.orders.send(sender, &cancel) {
            println!("not cancelled: {error}");
        }
    }

    fn on_execution_report_cancel(
        &mut self,
        sender: &mut Sender<'_>,
        _: ExecutionReportCancel534<'_>,
        _: &Message<'_>,
    ) {
        self.print("it is cancelled");
        sender.terminate();
    }
}

fn main() -> Result<(), Box<dyn AnyError>> {
    let venue = Venue::quiet();
    let (clock, mut trader) = (Clock::new(), Trader { orders: Orders::new(16) });
    let mut reactor = Reactor::new(Wait::Epoll)?;
    let mut session = Session::new(venue.settings(), Journal::anonymous(1 << 20)?)?;
    session.connect(clock.now(), Binding::New)?;
    while session.state() != State::Disconnected {
        let ready = reactor.wait(clock.now().monotonic, session.next_deadline())?;
        let mut listener = OrderTracking::new(&mut trader);
        session.process(clock.now(), ready, &mut reactor, &mut listener)?;
    }
    Ok(())
}
