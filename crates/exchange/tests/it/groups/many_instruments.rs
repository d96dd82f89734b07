//! Many instruments on all feeds.

use hairpin_exchange::{Instrument, Pace, PublisherSettings};
use hairpin_testbed::scaled;
use hairpin_time::Duration;

use super::harness::Harness;

/// Follows complete loops while the market moves.
#[test]
fn follows_many_instruments_on_all_feeds() {
    let count = scaled(1_000) as u32;
    for settings in [PublisherSettings::premium(), PublisherSettings::brokertec()] {
        let mut harness = Harness::new(settings, Instrument::numbered(count), 1);
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
            assert!(packets < scaled(100_000), "{:?}", harness.loops);
        }
        println!("{packets} packets, {:?} loops, {:?}", harness.loops, harness.follower.census);
        assert_eq!(harness.defined.len(), count as usize);
        assert_eq!(harness.follower.books.len(), count as usize);
        assert!(harness.compared > u64::from(count));
    }
}
