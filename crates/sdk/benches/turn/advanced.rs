//! The strategy on the low-level crates, with the loop of `examples/advanced.rs`: with its order
//! tracker, and without one.

use std::net::Ipv4Addr;

use hairpin::Wait;
use hairpin::feed_handler::config::Config;
use hairpin::feed_handler::{self as feed, ChannelState, EndOfEvent, FeedHandler};
use hairpin::order_entry::{
    self as order_entry, Binding, CancelOrder, ClOrdId, Decimal, ExecutionReportCancel534,
    ExecutionReportNew522, Message, NewOrder, OrderRequest, OrderTracking, Orders, SendError,
    Sender, Session, SideReq, State, TrackOrders, WhenFull,
};
use hairpin_host::Clock;
use hairpin_mapped::Journal;
use hairpin_reactor::Reactor;

use crate::case::Case;
use crate::support::Venue;

/// The largest number of tracked orders: the default of `Trader`.
const ORDERS_MAX: usize = 10_000;

struct Strategy<const TRACKED: bool> {
    orders: Orders,
    last_id: u64,
    sent: u64,
    canceled: u64,
}

impl<const TRACKED: bool> Strategy<TRACKED> {
    fn new() -> Self {
        Self { orders: Orders::new(ORDERS_MAX), last_id: 0, sent: 0, canceled: 0 }
    }

    #[inline]
    fn send<M: OrderRequest>(
        &mut self,
        sender: &mut Sender<'_>,
        message: &M,
    ) -> Result<(), SendError> {
        let sent = if TRACKED { self.orders.send(sender, message) } else { sender.send(message) };
        sent.map(drop)
    }

    fn next_id(&mut self) -> ClOrdId {
        self.last_id += 1;
        ClOrdId::from(self.last_id)
    }
}

struct Tick<'a, const TRACKED: bool>(&'a mut Strategy<TRACKED>, Sender<'a>);

impl<const TRACKED: bool> feed::Listener for Tick<'_, TRACKED> {
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        let Self(strategy, sender) = self;
        for (instrument, book, _) in event.changed().filter(|(.., changes)| changes.best_price()) {
            let definition = event.instruments.definition(instrument);
            let tick = definition.and_then(|definition| definition.min_price_increment);
            let (Some(best), Some(tick)) = (book.best_bid(), tick) else { continue };
            let price = Decimal(best.price.0 - 40 * tick.0);
            let id = strategy.next_id();
            let order = NewOrder::limit(book.security_id(), SideReq::BUY, price, 1, id);
            strategy.sent += u64::from(strategy.send(sender, &order).is_ok());
        }
    }
}

impl<const TRACKED: bool> TrackOrders for Strategy<TRACKED> {
    fn orders(&mut self) -> &mut Orders {
        &mut self.orders
    }
}

impl<const TRACKED: bool> order_entry::Listener for Strategy<TRACKED> {
    fn on_execution_report_new(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        let id = self.next_id();
        let cancel = CancelOrder::new(report.order_id(), report.security_id(), report.side(), id);
        self.send(sender, &cancel).unwrap();
    }

    fn on_execution_report_cancel(
        &mut self,
        _: &mut Sender<'_>,
        _: ExecutionReportCancel534<'_>,
        _: &Message<'_>,
    ) {
        self.canceled += 1;
    }
}

pub(crate) struct Advanced<const TRACKED: bool> {
    clock: Clock,
    reactor: Reactor,
    feed: FeedHandler,
    session: Session,
    strategy: Strategy<TRACKED>,
}

impl<const TRACKED: bool> Advanced<TRACKED> {
    pub(crate) fn open(venue: &Venue) -> Self {
        let folder = venue.folder.path();
        let config = Config::read(&folder.join("config.xml")).unwrap();
        let addresses = config.channels[0].addresses(Ipv4Addr::UNSPECIFIED).unwrap();
        let (clock, mut reactor) = (Clock::new(), Reactor::new(Wait::Spin).unwrap());
        let feed = FeedHandler::new(feed::Settings::default(), addresses, &mut reactor).unwrap();
        let settings = order_entry::Config::read(folder.join("order.toml")).unwrap().session;
        let settings = order_entry::Settings { when_full: WhenFull::Restart, ..settings };
        let mut session = Session::new(settings, Journal::anonymous(16 << 20).unwrap()).unwrap();
        session.connect(clock.now(), Binding::New).unwrap();
        Self { clock, reactor, feed, session, strategy: Strategy::new() }
    }

    #[inline(always)]
    fn once(&mut self) {
        let Self { clock, reactor, feed, session, strategy } = self;
        let deadline = [feed.next_deadline(), session.next_deadline()].into_iter().flatten().min();
        let ready = reactor.wait(clock.now().monotonic, deadline).unwrap();
        let now = clock.now();
        let mut tick = Tick(strategy, session.sender(now));
        feed.process(now, ready, reactor, &mut tick).unwrap();
        if TRACKED {
            let mut tracking = OrderTracking::new(strategy);
            session.process(now, ready, reactor, &mut tracking).unwrap();
        } else {
            session.process(now, ready, reactor, strategy).unwrap();
        }
        clock.recalibrate_if_due(now.monotonic);
    }

    #[inline(never)]
    fn measured_advanced(&mut self) {
        self.once();
    }
}

impl<const TRACKED: bool> Case for Advanced<TRACKED> {
    fn turn(&mut self) {
        self.once();
    }

    fn measured_turn(&mut self) {
        self.measured_advanced();
    }

    fn is_ready(&self) -> bool {
        self.session.state() == State::Established
            && self.feed.channel().state() == ChannelState::InSync
    }

    fn counts(&self) -> (u64, u64) {
        (self.strategy.sent, self.strategy.canceled)
    }
}
