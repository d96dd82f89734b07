//! Endings of events.

use hairpin_exchange::{
    Feed, MAX_PAYLOAD, PublisherSettings, SimulatedMarket, SimulatedMarketSettings,
};
use hairpin_time::{Instant, Now, Utc};

use crate::receiver;

/// Publishes 800 events. Returns the number of packets, and of packets with several messages whose
/// last one is empty.
fn packets(plain_endings: bool) -> (u64, u64) {
    let now = Now { monotonic: Instant::ZERO, utc: Utc::from_nanos(1_800_000_000_000_000_000) };
    let publisher = PublisherSettings { plain_endings, ..PublisherSettings::default() };
    let mut market = SimulatedMarket::new(
        &SimulatedMarketSettings { publisher, ..SimulatedMarketSettings::default() },
        now,
    );
    let mut buffer = [0; MAX_PAYLOAD];
    let (mut packets, mut with_empty_end) = (0, 0);
    let seeded = market.publisher().events();
    while market.publisher().events() < seeded + 800 {
        while market.publisher().has_event() {
            let sent = market.publisher_mut().poll_transmit(now, &mut buffer).unwrap();
            assert_eq!(sent.feed, Feed::Incremental);
            if sent.event.is_some_and(|event| event.number > seeded) {
                packets += 1;
                let packet = receiver::open(&buffer[..sent.length]);
                let (header, body) = packet.messages.last().unwrap();
                // A book message without entries: its root block and two empty groups.
                let is_empty = header.template_id == 46 && body.len() == 11 + 3 + 8;
                with_empty_end += u64::from(is_empty);
            }
        }
        market.step(now).unwrap();
    }
    (packets, with_empty_end)
}

#[test]
fn plain_endings_use_the_last_message_with_data() {
    // The last event is not sent yet.
    assert_eq!(packets(true), (799, 0));
    let (packets, with_empty_end) = packets(false);
    assert!((895..=900).contains(&packets), "one of eight ends in a separate packet: {packets}");
    assert!((295..=300).contains(&with_empty_end), "three of eight: {with_empty_end}");
}
