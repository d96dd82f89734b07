//! A strategy that sends from both kinds of callback, as a whole program.
//!
//! ```text
//! cargo run -p hairpin-examples --bin strategy -- config.xml GATEWAY
//! ```
//!
//! It answers each new best price with an order that is far too low to trade, and takes the order
//! back once the exchange has acknowledged it: the first is sent from a callback of the feed, the
//! second from one of the session. It logs on as trader 1 of `hairpin exchange` when its books are
//! in sync, and ends when the exchange ends the session.
#![forbid(unsafe_code)]

use std::net::{Ipv4Addr, SocketAddrV4};

use anyhow::{Context, Result, bail};
use hairpin_feed_handler::config::Config;
use hairpin_feed_handler::{self as feed, ChannelState, EndOfEvent, FeedHandler};
use hairpin_host::Clock;
use hairpin_mapped::Journal;
use hairpin_order_entry::{
    self as order_entry, Binding, CancelOrder, ClOrdId, Decimal, ExecutionReportNew522,
    KEEP_ALIVE_DEFAULT, Logon, Message, NewOrder, Operator, SecretKey, Sender, Session, SideReq,
    State, WhenFull,
};
use hairpin_reactor::{Reactor, Wait};

/// The strategy: what it knows from one callback to the next.
#[derive(Default)]
struct Strategy {
    orders: u64,
    cancels: u64,
}

/// What a callback of the feed reaches: the strategy and the sending half of the session. Made anew
/// for each wake: nothing is shared and nothing is locked.
struct Tick<'a>(&'a mut Strategy, Sender<'a>);

impl feed::Listener for Tick<'_> {
    // All messages of the event are applied: no book is crossed or half changed.
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        let Self(strategy, sender) = self;
        for (instrument, book, _) in event.changed().filter(|(.., changes)| changes.best_price()) {
            let definition = event.instruments.definition(instrument);
            let tick = definition.and_then(|definition| definition.min_price_increment);
            let (Some(best), Some(tick)) = (book.best_bid(), tick) else { continue };
            let (price, id) = (Decimal(best.price.0 - 40 * tick.0), strategy.orders + 1);
            let order = NewOrder::limit(book.security_id(), SideReq::BUY, price, 1, id.into());
            // Sent: in the journal, and its bytes with the kernel. Refused before the logon.
            strategy.orders += u64::from(sender.send(&order).is_ok());
        }
    }
}

impl order_entry::Listener for Strategy {
    // The session itself is busy calling: it lends its sending half.
    fn on_execution_report_new(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        let id = ClOrdId::from(self.cancels + 1);
        let cancel = CancelOrder::new(report.order_id(), report.security_id(), report.side(), id);
        self.cancels += u64::from(sender.send(&cancel).is_ok());
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [config, gateway] = &arguments[..] else { bail!("usage: strategy config.xml GATEWAY") };
    let config: Config = std::fs::read_to_string(config).context(config.clone())?.parse()?;
    let channel = config.channels.first().context("config.xml names no channel")?;
    // By whatever interface the host's routes lead to the feeds.
    let addresses = channel.addresses(Ipv4Addr::UNSPECIFIED)?;

    let mut clock = Clock::new();
    let mut reactor = Reactor::new(Wait::Epoll)?;
    let mut feed = FeedHandler::new(feed::Settings::default(), addresses, &mut reactor)?;
    let mut session = session(gateway.parse().context("GATEWAY is ADDRESS:PORT")?)?;
    let mut strategy = Strategy::default();
    let mut has_asked = false;
    // Feed, session and strategy lie side by side; this loop owns all three.
    loop {
        let deadline = [feed.next_deadline(), session.next_deadline()].into_iter().flatten().min();
        let ready = reactor.wait(clock.now().monotonic, deadline)?;
        // One reading of the clock for all that this wake brings.
        let now = clock.now();
        let mut tick = Tick(&mut strategy, session.sender(now));
        feed.process(now, ready, &mut reactor, &mut tick)?;
        session.process(now, ready, &mut reactor, &mut strategy)?;
        clock.recalibrate_if_due(now.monotonic);
        if !has_asked && feed.channel().state() == ChannelState::InSync {
            session.connect(now, Binding::New)?;
            has_asked = true;
        } else if has_asked && session.state() == State::Disconnected {
            break;
        }
    }
    let Strategy { orders, cancels } = strategy;
    println!("{orders} orders, {cancels} cancels");
    session.last_failure().map_or(Ok(()), |failure| bail!("the connection failed: {failure}"))
}

/// A session of trader 1 of `hairpin exchange`, with its journal in memory: every order is there
/// before it is on the wire. With `Journal::create` it would outlive the process.
fn session(gateway: SocketAddrV4) -> Result<Session> {
    // Keys do not belong into programs. This is the one of the published test vectors.
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
        operator: Operator::automated("TRADER", "US,IL"),
    };
    let settings = order_entry::Settings::new(gateway, logon);
    // A full journal refuses orders, unless it may forget the oldest ones.
    let settings = order_entry::Settings { when_full: WhenFull::Restart, ..settings };
    Ok(Session::new(settings, Journal::anonymous(1 << 20)?)?)
}
