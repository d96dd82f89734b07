//! The market of the feed benchmark: events of one book entry, each in one packet.

use std::collections::VecDeque;

use hairpin_exchange::{
    Instrument, MAX_PAYLOAD, Market, NewOrder, OrderId, Owner, Pace, PublisherSettings, Side,
    SimulatedMarket, SimulatedMarketSettings, Transmit,
};
use hairpin_time::{Instant, Now};

/// The number of instruments in the published tables.
pub(super) const INSTRUMENTS: u32 = 100;
/// The length of a packet with one book entry: packet header, size, message header, root, the group
/// with one entry, and the empty group of orders.
pub(super) const PACKET_BYTES: usize = 12 + 2 + 8 + 11 + (3 + 32) + 8;
/// The number of published levels.
const DEPTH: u64 = 10;
/// The number of resting orders; then one is canceled for each new order.
const RESTING: usize = 500;
/// The largest order quantity in contracts.
const QUANTITY: u64 = 20;
/// The owner of the orders.
const OWNER: Owner = Owner(1);

/// The exchange's books and publisher, with orders that join or leave a published level. Every
/// event is one entry of template 46 that changes a level, and ends in its packet.
pub(super) struct UpdateFlow {
    floor: SimulatedMarket,
    random: u64,
    resting: VecDeque<OrderId>,
}

impl UpdateFlow {
    /// Returns seeded books whose events are not sent yet.
    pub(super) fn new(seed: u64, now: Now) -> Self {
        let publisher = PublisherSettings { plain_endings: true, ..PublisherSettings::default() };
        let instruments = Instrument::numbered(INSTRUMENTS);
        let settings = SimulatedMarketSettings {
            instruments,
            seed,
            publisher,
            ..SimulatedMarketSettings::default()
        };
        let resting = VecDeque::with_capacity(RESTING);
        Self { floor: SimulatedMarket::new(&settings, now), random: seed, resting }
    }

    /// Creates the next event.
    pub(super) fn event(&mut self, now: Now) {
        if self.resting.len() == RESTING
            && let Some(order) = self.resting.pop_front()
        {
            self.floor.cancel(now, order, OWNER);
            return;
        }
        let order = self.order();
        // A valid order always fits: as many are canceled as entered.
        if let Ok(submitted) = self.floor.submit(now, &order) {
            self.resting.push_back(submitted.order);
        }
    }

    /// Returns an order at a published level of a random book.
    fn order(&mut self) -> NewOrder {
        let instrument = self.below(INSTRUMENTS.into()) as u32;
        let side = Side::BOTH[self.below(2) as usize];
        let place = self.below(DEPTH) as usize;
        let level = self.floor.matching().levels(instrument, side).nth(place);
        let price = level.map_or_else(Default::default, |level| level.price);
        let quantity = 1 + self.below(QUANTITY) as u32;
        NewOrder::limit(instrument, side, price, quantity, OWNER)
    }

    /// Returns `true` if packets of an event are pending.
    pub(super) fn has_event(&self) -> bool {
        self.floor.publisher().has_event()
    }

    /// Sets the pace of the definition and snapshot loops.
    pub(super) fn set_pace(&mut self, pace: Pace, now: Instant) {
        self.floor.publisher_mut().set_pace(pace, now);
    }

    /// Writes the next packet that is due, if any.
    pub(super) fn transmit(
        &mut self,
        now: Now,
        packet: &mut [u8; MAX_PAYLOAD],
    ) -> Option<Transmit> {
        self.floor.publisher_mut().poll_transmit(now, packet)
    }

    /// Returns a number below `bound` (splitmix64, high half of a product).
    fn below(&mut self, bound: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.random;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        ((u128::from(bits) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use hairpin_exchange::Feed;
    use hairpin_time::{Duration, Utc};

    use super::*;

    #[test]
    fn puts_each_event_in_one_packet() {
        let utc = Utc::from_nanos(1_800_000_000_000_000_000);
        let mut now = Now { monotonic: Instant::from_nanos(1), utc };
        let mut flow = UpdateFlow::new(7, now);
        let mut packet = [0; MAX_PAYLOAD];
        while flow.has_event() {
            flow.transmit(now, &mut packet).unwrap();
        }
        let mut templates = [0; 2];
        for _ in 0..4 * RESTING {
            now.monotonic += Duration::from_micros(10);
            flow.event(now);
            let sent = flow.transmit(now, &mut packet).unwrap();
            assert_eq!((sent.feed, sent.length), (Feed::Incremental, PACKET_BYTES));
            assert!(sent.event.is_some_and(|event| event.begins && event.ends));
            assert_eq!(packet[16..18], 46_u16.to_le_bytes());
            assert!(!flow.has_event());
            // MDUpdateAction: an existing level changes.
            templates[usize::from(packet[12 + 2 + 8 + 11 + 3 + 25])] += 1;
        }
        assert_eq!(templates, [0, 4 * RESTING]);
        assert_eq!(flow.resting.len(), RESTING);
    }
}
