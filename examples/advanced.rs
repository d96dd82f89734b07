//! A complete strategy that sends orders from feed callbacks and from session callbacks.
//!
//! ```text
//! cargo run -p hairpin-examples --bin advanced -- config.xml GATEWAY
//! ```
//!
//! The strategy answers each new best price with an order far below the market, and cancels the
//! order when the exchange acknowledges it. A feed callback sends the order, a session callback the
//! cancel. The program logs on as trader 1 of `hairpin exchange` when its books are in sync, and
//! exits when the exchange ends the session.
//!
//! Prices are wire prices: PRICE9 mantissas, as CME sends them and iLink expects them. The display
//! price, which traders see, is the wire price times the instrument's DisplayFactor.
#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddrV4};

use anyhow::{Context, Result, bail};
use hairpin_feed_handler::config::Config;
use hairpin_feed_handler::{self as feed, ChannelState, EndOfEvent, FeedHandler};
use hairpin_host::Clock;
use hairpin_mapped::Journal;
use hairpin_order_entry::{
    self as order_entry, Binding, CancelOrder, ClOrdId, Decimal, ExecutionReportNew522,
    KEEP_ALIVE_DEFAULT, Logon, Message, NewOrder, Operator, OrderTracking, Orders, SecretKey,
    Sender, Session, SideReq, State, TrackOrders, WhenFull,
};
use hairpin_reactor::{Reactor, Wait};

/// The largest number of tracked orders.
const ORDERS_MAX: usize = 10_000;

/// The state of the strategy.
struct Strategy {
    /// The working orders, and the requests that are not answered.
    orders: Orders,
    /// The last ClOrdID. Orders and cancels share the numbers, so no two requests have the same ID.
    /// Their OrderRequestIDs default to the session's sequence numbers, which are unique too.
    last_id: u64,
    sent: u64,
    cancels: u64,
}

impl Strategy {
    fn new() -> Self {
        Self { orders: Orders::new(ORDERS_MAX), last_id: 0, sent: 0, cancels: 0 }
    }

    fn next_id(&mut self) -> ClOrdId {
        self.last_id += 1;
        ClOrdId::from(self.last_id)
    }
}

/// The feed's listener: the strategy and the sender of the session. It is created for each
/// iteration of the loop, so nothing is shared or locked.
struct Tick<'a>(&'a mut Strategy, Sender<'a>);

impl feed::Listener for Tick<'_> {
    // All messages of the event have been applied, so no book is crossed or incomplete.
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        let Self(strategy, sender) = self;
        for (instrument, book, _) in event.changed().filter(|(.., changes)| changes.best_price()) {
            let definition = event.instruments.definition(instrument);
            let tick = definition.and_then(|definition| definition.min_price_increment);
            let (Some(best), Some(tick)) = (book.best_bid(), tick) else { continue };
            // A wire price, 40 ticks below the best bid.
            let price = Decimal(best.price.0 - 40 * tick.0);
            let id = strategy.next_id();
            let order = NewOrder::limit(book.security_id(), SideReq::BUY, price, 1, id);
            // `Ok` means journaled and passed to the kernel. Before the logon, this is an error.
            strategy.sent += u64::from(strategy.orders.send(sender, &order).is_ok());
        }
    }
}

impl TrackOrders for Strategy {
    fn orders(&mut self) -> &mut Orders {
        &mut self.orders
    }
}

impl order_entry::Listener for Strategy {
    // The session lends its sender to the callback.
    fn on_execution_report_new(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        let id = self.next_id();
        let cancel = CancelOrder::new(report.order_id(), report.security_id(), report.side(), id);
        self.cancels += u64::from(self.orders.send(sender, &cancel).is_ok());
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [config, gateway] = &arguments[..] else { bail!("usage: advanced config.xml GATEWAY") };
    let config: Config = std::fs::read_to_string(config).context(config.clone())?.parse()?;
    let channel = config.channels.first().context("cannot read config.xml: no channel")?;
    // The host's routes select the interface.
    let addresses = channel.addresses(Ipv4Addr::UNSPECIFIED)?;

    let mut clock = Clock::new();
    let mut reactor = Reactor::new(Wait::Epoll)?;
    let mut feed = FeedHandler::new(feed::Settings::default(), addresses, &mut reactor)?;
    let mut session = session(gateway.parse().context("GATEWAY must be ADDRESS:PORT")?)?;
    let mut strategy = Strategy::new();
    let mut is_connecting = false;
    // This loop owns feed, session and strategy.
    loop {
        let deadline = [feed.next_deadline(), session.next_deadline()].into_iter().flatten().min();
        let ready = reactor.wait(clock.now().monotonic, deadline)?;
        // One clock reading per wakeup.
        let now = clock.now();
        let mut tick = Tick(&mut strategy, session.sender(now));
        feed.process(now, ready, &mut reactor, &mut tick)?;
        session.process(now, ready, &mut reactor, &mut OrderTracking::new(&mut strategy))?;
        clock.recalibrate_if_due(now.monotonic);
        if !is_connecting && feed.channel().state() == ChannelState::InSync {
            session.connect(now, Binding::New)?;
            is_connecting = true;
        } else if is_connecting && session.state() == State::Disconnected {
            break;
        }
    }
    let Strategy { sent, cancels, orders, .. } = strategy;
    let line = writeln!(
        io::stdout(),
        "{sent} orders, {cancels} cancels, {} working",
        orders.working().count()
    );
    line.context("cannot write")?;
    session.last_failure().map_or(Ok(()), |failure| bail!("connection failed: {failure}"))
}

/// Returns a session of trader 1 of `hairpin exchange` with a journal in memory. Every order is
/// journaled before it is sent. A journal from `Journal::create` survives the process.
fn session(gateway: SocketAddrV4) -> Result<Session> {
    // Do not put keys into programs. This key is a published test vector.
    const TEST_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
    let key = std::env::var("HAIRPIN_SECRET_KEY").unwrap_or_else(|_| TEST_KEY.to_owned());
    let logon = Logon {
        access_key_id: "HAIRPIN-TRADER-00001".to_owned(),
        secret_key: SecretKey::from_base64url(&key)?,
        session: "H01".to_owned(),
        firm: "HPIN0".to_owned(),
        trading_system_name: "Hairpin".to_owned(),
        trading_system_version: env!("CARGO_PKG_VERSION").to_owned(),
        trading_system_vendor: "Hairpin".to_owned(),
        keep_alive_interval: KEEP_ALIVE_DEFAULT,
        operator: Operator::automated("TRADER", "US,IL")?,
    };
    let settings = order_entry::Settings::new(gateway, logon);
    // A full journal rejects orders unless it may overwrite the oldest ones.
    let settings = order_entry::Settings { when_full: WhenFull::Restart, ..settings };
    Ok(Session::new(settings, Journal::anonymous(1 << 20)?)?)
}
