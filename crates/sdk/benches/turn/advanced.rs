//! The strategy on the low-level crates, with the loop of `examples/advanced.rs`.

use std::net::Ipv4Addr;

use hairpin::Wait;
use hairpin::feed_handler::config::Config;
use hairpin::feed_handler::{self as feed, ChannelState, EndOfEvent, FeedHandler};
use hairpin::order_entry::{
    self as order_entry, Binding, CancelOrder, ClOrdId, Decimal, ExecutionReportCancel534,
    ExecutionReportNew522, Message, NewOrder, Sender, Session, SideReq, State, WhenFull,
};
use hairpin_host::Clock;
use hairpin_mapped::Journal;
use hairpin_reactor::Reactor;

use crate::case::Case;
use crate::support::Venue;

#[derive(Default)]
struct Strategy {
    last_id: u64,
    sent: u64,
    canceled: u64,
}

impl Strategy {
    fn next_id(&mut self) -> ClOrdId {
        self.last_id += 1;
        ClOrdId::from(self.last_id)
    }
}

struct Tick<'a>(&'a mut Strategy, Sender<'a>);

impl feed::Listener for Tick<'_> {
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        let Self(strategy, sender) = self;
        for (instrument, book, _) in event.changed().filter(|(.., changes)| changes.best_price()) {
            let definition = event.instruments.definition(instrument);
            let tick = definition.and_then(|definition| definition.min_price_increment);
            let (Some(best), Some(tick)) = (book.best_bid(), tick) else { continue };
            let price = Decimal(best.price.0 - 40 * tick.0);
            let id = strategy.next_id();
            let order = NewOrder::limit(book.security_id(), SideReq::BUY, price, 1, id);
            strategy.sent += u64::from(sender.send(&order).is_ok());
        }
    }
}

impl order_entry::Listener for Strategy {
    fn on_execution_report_new(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        let id = self.next_id();
        let cancel = CancelOrder::new(report.order_id(), report.security_id(), report.side(), id);
        sender.send(&cancel).unwrap();
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

pub(crate) struct Advanced {
    clock: Clock,
    reactor: Reactor,
    feed: FeedHandler,
    session: Session,
    strategy: Strategy,
}

impl Advanced {
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
        Self { clock, reactor, feed, session, strategy: Strategy::default() }
    }

    #[inline(always)]
    fn once(&mut self) {
        let Self { clock, reactor, feed, session, strategy } = self;
        let deadline = [feed.next_deadline(), session.next_deadline()].into_iter().flatten().min();
        let ready = reactor.wait(clock.now().monotonic, deadline).unwrap();
        let now = clock.now();
        let mut tick = Tick(strategy, session.sender(now));
        feed.process(now, ready, reactor, &mut tick).unwrap();
        session.process(now, ready, reactor, strategy).unwrap();
        clock.recalibrate_if_due(now.monotonic);
    }

    #[inline(never)]
    fn measured_advanced(&mut self) {
        self.once();
    }
}

impl Case for Advanced {
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
