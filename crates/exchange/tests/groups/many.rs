//! Thousands of instruments, all feeds.

use hairpin_exchange::{Instrument, Pace, PublisherSettings};
use hairpin_time::Duration;

use crate::stage::Stage;

const INSTRUMENTS: u32 = if cfg!(debug_assertions) { 2_000 } else { 10_000 };

/// Loops are followed from the first packet to the last while the market moves.
#[test]
fn thousands_of_instruments_are_followed_on_all_feeds() {
    for settings in [PublisherSettings::premium(), PublisherSettings::brokertec()] {
        let mut stage = Stage::new(settings, Instrument::numbered(INSTRUMENTS), 1);
        stage.drain();
        stage.floor.publisher_mut().set_pace(Pace::FlatOut, stage.now.monotonic);
        let wanted = if stage.floor.publisher().published_top_orders(0).is_some() { 0 } else { 2 };
        let mut packets = 0_u64;
        while stage.loops[0] < 2 || stage.loops[1] < 2 || stage.loops[2] < wanted {
            stage.pass(Duration::from_micros(20));
            if packets.is_multiple_of(5) {
                stage.floor.step(stage.now).unwrap();
            }
            stage.poll();
            packets += 1;
            assert!(packets < 200_000, "{:?}", stage.loops);
        }
        println!("{packets} packets, {:?} loops, {:?}", stage.loops, stage.follower.census);
        assert_eq!(stage.defined.len(), INSTRUMENTS as usize);
        assert_eq!(stage.follower.books.len(), INSTRUMENTS as usize);
        assert!(stage.compared > u64::from(INSTRUMENTS));
    }
}
