//! A complete trader: answers each new best bid with an order, and cancels the order.
//!
//! ```text
//! cargo run -p hairpin-order-entry --example trading_client
//! ```
//!
//! Feed callbacks send orders, and session callbacks send cancels. The program ends after ten
//! orders.
#![forbid(unsafe_code)]

#[allow(dead_code, unreachable_pub, clippy::expect_used, reason = "each example uses its part")]
mod venue;

use std::error::Error as AnyError;
use std::net::Ipv4Addr;

use hairpin_feed_handler::{self as feed, ChannelState, EndOfEvent, FeedHandler, TcpLines};
use hairpin_host::Clock;
use hairpin_mapped::Journal;
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Wait};
use venue::Venue;

const ORDERS: u64 = 10;

/// The strategy's state between callbacks.
#[derive(Default)]
struct Strategy {
    orders: u64,
    cancels: u64,
}

/// The view of a feed callback: the strategy and the session's sending half. Created for each
/// wakeup, so nothing is shared or locked.
struct Tick<'a>(&'a mut Strategy, Sender<'a>);

impl feed::Listener for Tick<'_> {
    // All messages of the event are applied, so no book is crossed or partly updated.
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        let Self(strategy, sender) = self;
        for (_, book, _) in event.changed().filter(|(.., changes)| changes.best_price()) {
            let Some(best) = book.best_bid().filter(|_| strategy.orders < ORDERS) else { continue };
            // Prices are CME wire prices (PRICE9, implied exponent -9): bid 10 below the best bid.
            let (price, id) = (Decimal(best.price.0 - 10_000_000_000), strategy.orders + 1);
            let order = NewOrder::limit(book.security_id(), SideReq::BUY, price, 1, id.into());
            // Sent means journaled and written to the socket. Refused before the logon.
            strategy.orders += u64::from(sender.send(&order).is_ok());
        }
    }
}

impl Listener for Strategy {
    // The session calls this listener, so it passes its sending half.
    fn on_execution_report_new(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        let price = report.price();
        println!("order {} at {price} (mantissa {}) accepted", report.cl_ord_id(), price.0);
        let id = ClOrdId::from(ORDERS + report.order_id());
        let cancel = CancelOrder::new(report.order_id(), report.security_id(), report.side(), id);
        if let Err(error) = sender.send(&cancel) {
            println!("cannot cancel the order: {error}");
        }
    }

    fn on_execution_report_cancel(
        &mut self,
        sender: &mut Sender<'_>,
        _: ExecutionReportCancel534<'_>,
        _: &Message<'_>,
    ) {
        self.cancels += 1;
        if self.cancels == ORDERS {
            sender.terminate();
        }
    }
}

fn main() -> Result<(), Box<dyn AnyError>> {
    let venue = Venue::busy();
    let [a, b] = venue.feed;
    let lines = TcpLines { interface: Ipv4Addr::LOCALHOST, ..TcpLines::both(a, b) };
    let (clock, mut strategy) = (Clock::new(), Strategy::default());
    let mut reactor = Reactor::new(Wait::Epoll)?;
    let mut feed = FeedHandler::new(feed::Settings::default(), lines, &mut reactor)?;
    let mut session = Session::new(venue.settings(), Journal::anonymous(1 << 20)?)?;
    let mut has_asked = false;
    // The loop owns feed, session and strategy as separate values.
    while !has_asked || session.state() != State::Disconnected {
        let deadline = [feed.next_deadline(), session.next_deadline()].into_iter().flatten().min();
        let ready = reactor.wait(clock.now().monotonic, deadline)?;
        // One clock read per wakeup.
        let now = clock.now();
        let mut tick = Tick(&mut strategy, session.sender(now));
        feed.process(now, ready, &mut reactor, &mut tick)?;
        session.process(now, ready, &mut reactor, &mut strategy)?;
        if !has_asked && feed.channel().state() == ChannelState::InSync {
            println!("books in sync");
            session.connect(now, Binding::New)?;
            has_asked = true;
        }
    }
    println!("orders: {}, cancels: {}", strategy.orders, strategy.cancels);
    Ok(())
}
