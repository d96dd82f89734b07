//! Packet and message times in all callbacks.

use crate::support::*;
use hairpin_mdp3::{
    BookUpdate, Channel, ChannelReset, Collateral, DefinitionUpdate, EndOfEvent, Feed, FeedLine,
    Input, LimitsUpdate, Listener, Message, OrderBooks, OrderUpdate, Packet, QuoteRequest,
    SecurityStatus, Settings, Statistic, Trade, Volume, Workup,
};
use hairpin_time::{Duration, Instant, Now, Utc};

/// The delay from sending to the receive timestamp.
const NETWORK_DELAY: Duration = Duration::from_micros(70);
/// The loop's time when it passes packets to the channel.
const HANDED_OVER: Instant = Instant::from_nanos(5_000_000_000);

/// The callbacks with their packets and TransactTime.
#[derive(Default)]
struct Times(Vec<(&'static str, Packet, Option<Utc>)>);

impl Times {
    fn note(&mut self, name: &'static str, packet: &Packet, transact_time: Option<Utc>) {
        self.0.push((name, *packet, transact_time));
    }
}

impl Listener for Times {
    fn on_packet(&mut self, packet: &Packet) {
        self.note("packet", packet, None);
    }
    fn on_message(&mut self, packet: &Packet, _: &Message<'_>) {
        self.note("message", packet, None);
    }
    fn on_end_of_message(&mut self, packet: &Packet, _: &Message<'_>) {
        self.note("end of message", packet, None);
    }
    fn on_end_of_packet(&mut self, packet: &Packet) {
        self.note("end of packet", packet, None);
    }
    fn on_heartbeat(&mut self, packet: &Packet) {
        self.note("heartbeat", packet, None);
    }
    fn on_definition(&mut self, update: &DefinitionUpdate<'_>) {
        self.note("definition", update.packet, None);
    }
    fn on_book_update(&mut self, update: &BookUpdate<'_>) {
        self.note("book", update.packet, Some(update.transact_time));
    }
    fn on_order_update(&mut self, update: &OrderUpdate<'_>) {
        self.note("orders", update.packet, Some(update.transact_time));
    }
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        self.note("end of event", event.packet, Some(event.transact_time));
    }
    fn on_trade(&mut self, trade: &Trade<'_>) {
        self.note("trade", trade.packet, Some(trade.transact_time));
    }
    fn on_volume(&mut self, volume: &Volume<'_>) {
        self.note("volume", volume.packet, Some(volume.transact_time));
    }
    fn on_statistic(&mut self, statistic: &Statistic<'_>) {
        self.note("statistic", statistic.packet, Some(statistic.transact_time));
    }
    fn on_limits(&mut self, limits: &LimitsUpdate<'_>) {
        self.note("limits", limits.packet, Some(limits.transact_time));
    }
    fn on_security_status(&mut self, status: &SecurityStatus<'_>) {
        self.note("status", status.packet, Some(status.transact_time));
    }
    fn on_quote_request(&mut self, request: &QuoteRequest<'_>) {
        self.note("quote request", request.packet, Some(request.transact_time));
    }
    fn on_workup(&mut self, workup: &Workup<'_>) {
        self.note("workup", workup.packet, Some(workup.transact_time));
    }
    fn on_collateral(&mut self, collateral: &Collateral<'_>) {
        self.note("collateral", collateral.packet, Some(collateral.transact_time));
    }
    fn on_channel_reset(&mut self, reset: &ChannelReset<'_>) {
        self.note("reset", reset.packet, Some(reset.transact_time));
    }
}

/// Returns a channel that stores all orders.
fn channel() -> Channel {
    Channel::new(Settings {
        order_books: OrderBooks::Full,
        max_orders: 16,
        order_snapshots: Feed::Snapshot,
        ..SETTINGS
    })
}

/// Returns the callbacks that a packet causes, after checking the packet's times.
fn callbacks_of(channel: &mut Channel, feed: Feed, packet: &PacketBuilder) -> Vec<&'static str> {
    let sent = packet.transact_time() + Duration::from_micros(1);
    let received = Some(sent + NETWORK_DELAY);
    let now = Now { monotonic: HANDED_OVER, utc: YEAR_2026 + Duration::from_secs(3_600) };
    let mut times = Times::default();
    let input = Input { feed, line: FeedLine::B, received };
    channel.handle_packet(now, input, packet.bytes(), &mut times);
    for (name, of, transact_time) in &times.0 {
        assert_eq!((of.feed, of.line), (feed, FeedLine::B), "{name}");
        assert_eq!((of.sending_time, of.received), (sent, received), "{name}");
        assert_eq!(of.handed_over, HANDED_OVER, "{name}");
        assert!(transact_time.is_none_or(|time| time == packet.transact_time()), "{name}");
    }
    let around = ["packet", "message", "end of message", "end of packet"];
    let names = times.0.into_iter().map(|(name, ..)| name);
    names.filter(|name| !around.contains(name)).collect()
}

#[test]
fn callbacks_have_packet_and_message_times() {
    let mut channel = channel();
    // Each packet has its own sending time.
    let heartbeat = sent_at(100, 10).heartbeat();
    assert_eq!(callbacks_of(&mut channel, Feed::Incremental, &heartbeat), ["heartbeat"]);
    let definition = sent_at(1, 20).definition(7, 1, 10);
    assert_eq!(callbacks_of(&mut channel, Feed::Instrument, &definition), ["definition"]);
    let book = sent_at(1, 30).snapshot_with((7, Some(17)), 100, 1, 0, &[(b'0', 1, 50, 1)]);
    let book = book.order_snapshot(7, 100, 1, &[buy(7, 9, 50, 1)]);
    let restored = callbacks_of(&mut channel, Feed::Snapshot, &book);
    assert_eq!(restored, ["status", "statistic", "book", "orders"], "of the snapshot");

    let entry = bid(7, 1).add(1, 51, 1);
    let cases = [
        (sent_at(101, 40).book(END, &[entry]), &["book", "end of event"][..]),
        (sent_at(102, 50).trade(0, 7, 2, 51, 1), &["trade"]),
        (sent_at(103, 60).volume(0, 7, 3, 1), &["volume"]),
        (sent_at(104, 70).limits(7, 4, [Some(1), None, None]), &["limits", "end of event"]),
        (sent_at(105, 80).status(7, 17, 0, 0), &["status"]),
        (sent_at(106, 90).quote_request(&[7]), &["quote request", "end of event"]),
        (sent_at(107, 100).workup(7, 17, 0), &["workup"]),
        (sent_at(108, 110).collateral(), &["collateral"]),
        (sent_at(109, 120).orders(END, &[buy(7, 1, 50, 1)]), &["orders", "end of event"]),
        (sent_at(110, 130).statistics(0, 7, 5), &["statistic"]),
        (sent_at(111, 140).channel_reset(), &["reset"]),
    ];
    for (packet, expected) in cases {
        let mut callbacks_of = callbacks_of(&mut channel, Feed::Incremental, &packet);
        callbacks_of.dedup();
        for name in expected {
            assert!(callbacks_of.contains(name), "{name} of {expected:?}: {callbacks_of:?}");
        }
    }
}
