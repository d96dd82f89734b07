//! Deadlines of peers, one per peer, in a hashed timer wheel.

use alloc::boxed::Box;
use alloc::vec;

use hairpin_time::Instant;

use crate::pool::NIL;

/// The width of a slot in nanoseconds, as a power of two: 65 µs. Shorter than the shortest probe
/// timeout, so that a deadline is at most this late.
const TICK_BITS: u32 = 16;
/// The number of slots: together 16.8 ms. Later deadlines move on once per turn.
const SLOTS: usize = 256;
/// The tick of a peer that is not in the wheel.
const ABSENT: u64 = u64::MAX;

/// A hashed timer wheel (Varghese and Lauck, scheme 6). An entry that fires too early is inserted
/// again by its owner, so a deadline can be postponed without touching the wheel. An advanced
/// deadline moves its entry.
#[derive(Debug)]
pub(crate) struct TimerWheel {
    heads: [u32; SLOTS],
    occupied: [u64; SLOTS / 64],
    entries: Box<[Entry]>,
    /// The tick up to which everything has fired.
    tick: u64,
    count: usize,
}

/// The entry of one peer.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// The tick at which the peer fires, or `ABSENT`.
    tick: u64,
    /// The next peer of the same slot.
    next: u32,
}

impl TimerWheel {
    pub(crate) fn new(peers: usize, now: Instant) -> Self {
        Self {
            heads: [NIL; SLOTS],
            occupied: [0; SLOTS / 64],
            entries: vec![Entry { tick: ABSENT, next: NIL }; peers].into_boxed_slice(),
            tick: now.as_nanos() >> TICK_BITS,
            count: 0,
        }
    }

    #[inline]
    pub(crate) fn is_present(&self, peer: u32) -> bool {
        self.entries[peer as usize].tick != ABSENT
    }

    /// Inserts a peer, or moves it if it would fire later. An earlier entry stays.
    #[inline]
    pub(crate) fn schedule(&mut self, now: Instant, peer: u32, deadline: Instant) {
        if self.count == 0 {
            // Without entries the owner need not call, so that the wheel stands still.
            self.tick = self.tick.max(now.as_nanos() >> TICK_BITS);
        }
        let tick = (deadline.as_nanos() >> TICK_BITS) + 1;
        let tick = tick.clamp(self.tick + 1, self.tick + SLOTS as u64 - 1);
        if tick >= self.entries[peer as usize].tick {
            return;
        }
        if self.is_present(peer) {
            self.remove(peer);
        }
        let slot = (tick % SLOTS as u64) as usize;
        self.entries[peer as usize].next = self.heads[slot];
        self.heads[slot] = peer;
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.entries[peer as usize].tick = tick;
        self.count += 1;
    }

    /// Removes a peer from its slot: after a longer timeout, which is rare.
    #[cold]
    fn remove(&mut self, peer: u32) {
        let slot = (self.entries[peer as usize].tick % SLOTS as u64) as usize;
        let next = self.entries[peer as usize].next;
        if self.heads[slot] == peer {
            self.heads[slot] = next;
        } else {
            let mut at = self.heads[slot];
            while self.entries[at as usize].next != peer {
                at = self.entries[at as usize].next;
            }
            self.entries[at as usize].next = next;
        }
        self.clear_if_empty(slot);
        self.entries[peer as usize].tick = ABSENT;
        self.count -= 1;
    }

    fn clear_if_empty(&mut self, slot: usize) {
        if self.heads[slot] == NIL {
            self.occupied[slot / 64] &= !(1 << (slot % 64));
        }
    }

    /// Returns the time at which the next slot fires.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        if self.count == 0 {
            return None;
        }
        let first = ((self.tick + 1) % SLOTS as u64) as usize;
        let distance = (0..SLOTS).step_by(64).find_map(|skip| {
            // 64 slots from `first + skip` on, across the border of two words.
            let at = (first + skip) % SLOTS;
            let (word, bit) = (at / 64, at % 64);
            let low = self.occupied[word] >> bit;
            let high = match bit {
                0 => 0,
                bit => self.occupied[(word + 1) % (SLOTS / 64)] << (64 - bit),
            };
            let bits = low | high;
            (bits != 0).then(|| skip as u64 + u64::from(bits.trailing_zeros()))
        })?;
        Some(Instant::from_nanos((self.tick + 1 + distance) << TICK_BITS))
    }

    /// Removes and returns a peer whose slot has fired by `now`.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<u32> {
        let current = now.as_nanos() >> TICK_BITS;
        while self.tick < current {
            if self.count == 0 {
                self.tick = current;
                return None;
            }
            let slot = ((self.tick + 1) % SLOTS as u64) as usize;
            let peer = self.heads[slot];
            if peer != NIL {
                self.heads[slot] = self.entries[peer as usize].next;
                self.clear_if_empty(slot);
                self.entries[peer as usize].tick = ABSENT;
                self.count -= 1;
                return Some(peer);
            }
            self.tick += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use hairpin_time::Duration;

    use super::*;

    /// The longest time by which a deadline fires late.
    const LATENESS: Duration = Duration::from_nanos(2 << TICK_BITS);

    #[test]
    fn fires_each_deadline_once_and_on_time() {
        let start = Instant::from_nanos(123_456_789);
        let mut wheel = TimerWheel::new(400, start);
        let deadline = |peer: u32| start + Duration::from_micros(u64::from(peer) * 40 + 1);
        (0..400).for_each(|peer| wheel.schedule(start, peer, deadline(peer)));
        let mut fired = alloc::vec::Vec::new();
        let mut now = start;
        while let Some(next) = wheel.next_deadline() {
            assert!(next > now, "time moves");
            now = next;
            while let Some(peer) = wheel.pop(now) {
                assert!(deadline(peer) <= now && now - deadline(peer) <= LATENESS, "{peer}");
                fired.push(peer);
            }
        }
        fired.sort_unstable();
        assert_eq!(fired, (0..400).collect::<alloc::vec::Vec<_>>());
    }

    #[test]
    fn deadline_beyond_the_wheel_fires_early() {
        let start = Instant::from_nanos(0);
        let mut wheel = TimerWheel::new(1, start);
        wheel.schedule(start, 0, start + Duration::from_secs(5));
        let next = wheel.next_deadline().unwrap();
        assert!(next < start + Duration::from_millis(20));
        assert_eq!((wheel.pop(next), wheel.pop(next)), (Some(0), None));
        assert!(!wheel.is_present(0));
    }
    #[test]
    fn advanced_deadline_moves_its_entry() {
        let start = Instant::from_nanos(0);
        let mut wheel = TimerWheel::new(3, start);
        let later = start + Duration::from_millis(10);
        (0..3).for_each(|peer| wheel.schedule(start, peer, later));
        let earlier = start + Duration::from_millis(1);
        wheel.schedule(start, 1, earlier);
        wheel.schedule(start, 1, later);
        let next = wheel.next_deadline().unwrap();
        assert!(next >= earlier && next - earlier <= LATENESS);
        assert_eq!((wheel.pop(next), wheel.pop(next)), (Some(1), None));
        let mut rest = [wheel.pop(later + LATENESS), wheel.pop(later + LATENESS)];
        rest.sort_unstable();
        assert_eq!((rest, wheel.next_deadline()), ([Some(0), Some(2)], None));
    }

    #[test]
    fn empty_wheel_follows_the_clock() {
        let mut wheel = TimerWheel::new(1, Instant::from_nanos(0));
        let now = Instant::from_nanos(0) + Duration::from_secs(3_600);
        wheel.schedule(now, 0, now + Duration::from_millis(1));
        assert!(wheel.next_deadline().unwrap() > now);
        assert_eq!(wheel.pop(now), None);
    }
}
