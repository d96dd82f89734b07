//! The packets of the default market, by hash: published measurements depend on them.

use hairpin_exchange::{MAX_PAYLOAD, Pace, SimulatedMarket, SimulatedMarketSettings};
use hairpin_time::{Duration, Instant, Now, Utc};
use sha2::{Digest, Sha256};

/// SHA-256 of the packets below, as recorded with the first version of the publisher.
const EXPECTED: &str = "8df38682bc5c35dbe57d7ac33fb138fe3dd776f253e8fa8cb91028d09f1d0bea";

const PACKETS: u32 = 10_000;

/// The feed, sequence number, length and bytes of ten thousand packets of seed 1: the seeded books,
/// then a tick every 500 µs between paced loops, with occasional silence.
#[test]
fn packets_of_seed_one_have_the_recorded_hash() {
    let mut now =
        Now { monotonic: Instant::from_nanos(1), utc: Utc::from_nanos(1_700_000_000_000_000_000) };
    let mut market = SimulatedMarket::new(&SimulatedMarketSettings::default(), now);
    market.publisher_mut().set_pace(Pace::Paced, now.monotonic);
    let mut packet = [0; MAX_PAYLOAD];
    let mut digest = Sha256::new();
    let mut packets = [0_u32; 3];
    let mut ticks = 0;
    while packets.iter().sum::<u32>() < PACKETS {
        if let Some(transmit) = market.publisher_mut().poll_transmit(now, &mut packet) {
            digest.update([transmit.feed as u8]);
            digest.update(transmit.sequence.to_le_bytes());
            digest.update((transmit.length as u64).to_le_bytes());
            digest.update(&packet[..transmit.length]);
            packets[transmit.feed as usize] += 1;
            continue;
        }
        let is_silent = ticks % 1_000 == 999;
        let span = Duration::from_micros(if is_silent { 2_000_000 } else { 500 });
        now = Now { monotonic: now.monotonic + span, utc: now.utc + span };
        if !is_silent {
            market.step(now).unwrap();
        }
        ticks += 1;
    }
    println!("{packets:?} packets of {ticks} ticks");
    assert!(packets.iter().all(|&count| count > 100), "{packets:?}");
    let hash: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hash, EXPECTED, "{packets:?}");
}
