//! Thousands of instruments on all feeds.

use hairpin_exchange::{Instrument, Pace, PublisherSettings};
use hairpin_time::Duration;

use super::harness::Harness;

const INSTRUMENTS: u32 = if cfg!(debug_assertions) { 2_000 } else { 10_000 };

/// Follows complete loops while the market moves.
#[test]
fn follows_thousands_of_instruments_on_all_feeds() {
    for settings in [PublisherSettings::premium(), PublisherSettings::brokertec()] {
        let mut harness = Harness::new(settings, Instrument::numbered(INSTRUMENTS), 1);
        harness.drain();
        harness.market.publisher_mut().set_pace(Pace::FlatOut, harness.now.monotonic);
        let wanted =
            if harness.market.publisher().published_top_orders(0).is_some() { 0 } else { 2 };
        let mut packets = 0_u64;
        while harness.loops[0] < 2 || harness.loops[1] < 2 || harness.loops[2] < wanted {
            harness.pass(Duration::from_micros(20));
            if packets.is_multiple_of(5) {
                harness.market.step(harness.now).unwrap();
            }
            harness.poll();
            packets += 1;
            assert!(packets < 200_000, "{:?}", harness.loops);
        }
        println!("{packets} packets, {:?} loops, {:?}", harness.loops, harness.follower.census);
        assert_eq!(harness.defined.len(), INSTRUMENTS as usize);
        assert_eq!(harness.follower.books.len(), INSTRUMENTS as usize);
        assert!(harness.compared > u64::from(INSTRUMENTS));
    }
}
