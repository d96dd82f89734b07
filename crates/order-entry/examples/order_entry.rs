//! Sends an order, replaces it and cancels it: each step in the callback of the previous one.
//!
//! ```text
//! cargo run -p hairpin-order-entry --example order_entry
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

/// Returns an order for five contracts, far below the market so that it does not trade.
///
/// `price` is the display price. The message has CME's wire price (PRICE9): an integer mantissa
/// with the implied exponent -9.
fn order(price: i64, id: u64) -> NewOrder {
    let price = Decimal(price * 1_000_000_000);
    NewOrder::limit(INSTRUMENT, SideReq::BUY, price, 5, ClOrdId::from(id))
}

/// A trader with tracked orders: each order is updated before the callback.
struct Trader {
    orders: Orders,
}

impl Trader {
    fn print(&self, event: &str) {
        println!("{event}; orders working: {}", self.orders.iter().count());
    }
}

impl TrackOrders for Trader {
    fn orders(&mut self) -> &mut Orders {
        &mut self.orders
    }
}

impl Listener for Trader {
    fn on_established(&mut self, sender: &mut Sender<'_>, _: &Established) {
        // A send error means that nothing was sent.
        let order = order(900, 1);
        match self.orders.send(sender, &order) {
            Ok(sent) => {
                let price = order.pricing.price().unwrap_or_default();
                let (number, mantissa) = (sent.seq_num, price.0);
                println!("sent order 1 as message {number}: limit {price} (mantissa {mantissa})");
            }
            Err(error) => println!("cannot send the order: {error}"),
        }
    }

    fn on_execution_report_new(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        self.print("order accepted");
        let replace = ReplaceOrder::from_order(report.order_id(), &order(901, 2));
        if let Err(error) = self.orders.send(sender, &replace) {
            println!("cannot replace the order: {error}");
        }
    }

    fn on_execution_report_modify(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportModify531<'_>,
        _: &Message<'_>,
    ) {
        let price = report.price();
        self.print(&format!("order replaced, limit {price} (mantissa {})", price.0));
        let id = ClOrdId::from(3);
        let cancel = CancelOrder::new(report.order_id(), INSTRUMENT, SideReq::BUY, id);
        if let Err(error) = self.orders.send(sender, &cancel) {
            println!("cannot cancel the order: {error}");
        }
    }

    fn on_execution_report_cancel(
        &mut self,
        sender: &mut Sender<'_>,
        _: ExecutionReportCancel534<'_>,
        _: &Message<'_>,
    ) {
        self.print("order canceled");
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
