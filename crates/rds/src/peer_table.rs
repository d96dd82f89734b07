//! The peers of a socket, found by address.

use alloc::boxed::Box;
use alloc::vec;
use core::net::{IpAddr, SocketAddr};

use hairpin_time::Instant;

use crate::peer::Peer;
use crate::pool::NIL;

/// A table of fixed capacity: open addressing with linear probing over indices of peers.
#[derive(Debug)]
pub(crate) struct PeerTable {
    peers: Box<[Peer]>,
    /// For each peer: `true` if it is in use.
    used: Box<[bool]>,
    /// Peer indices, `NIL` where empty. At least twice as many as peers.
    buckets: Box<[u32]>,
    /// The first free peer, linked by `next_ready`.
    free: u32,
    /// Mixed into hashes, so that a sender cannot choose addresses that collide.
    seed: u64,
    /// The peer found last.
    last: u32,
    /// The peer at which the search for an idle peer continues.
    hand: u32,
}

impl PeerTable {
    /// # Panics
    /// If `capacity` is 0 or above 2^30.
    pub(crate) fn new(capacity: usize, now: Instant) -> Self {
        assert!((1..=1 << 30).contains(&capacity), "the capacity is in range");
        let nowhere = SocketAddr::new(IpAddr::from([0; 4]), 0);
        let mut peers: Box<[Peer]> = (0..capacity).map(|_| Peer::new(nowhere, now)).collect();
        for (next, peer) in (1..).zip(&mut peers) {
            peer.next_ready = if next < capacity as u32 { next } else { NIL };
        }
        Self {
            peers,
            used: vec![false; capacity].into_boxed_slice(),
            buckets: vec![NIL; (2 * capacity).next_power_of_two()].into_boxed_slice(),
            free: 0,
            seed: 0,
            last: 0,
            hand: 0,
        }
    }

    /// Sets the secret of the hash. The table must be empty.
    pub(crate) fn set_seed(&mut self, seed: u32) {
        self.seed = u64::from(seed) << 32 | 0x9E37_79B9;
    }

    #[inline]
    pub(crate) fn peer(&self, index: u32) -> &Peer {
        &self.peers[index as usize]
    }

    #[inline]
    pub(crate) fn peer_mut(&mut self, index: u32) -> &mut Peer {
        &mut self.peers[index as usize]
    }

    /// Returns the first peer in use from an index on.
    pub(crate) fn first_used(&self, from: u32) -> Option<u32> {
        (from..self.peers.len() as u32).find(|&index| self.used[index as usize])
    }

    /// Returns the index of a peer.
    #[inline]
    pub(crate) fn find(&mut self, address: IpAddr, port: u16) -> Option<u32> {
        let last = &self.peers[self.last as usize];
        if last.address.port() == port
            && last.address.ip() == address
            && self.used[self.last as usize]
        {
            return Some(self.last);
        }
        let index = self.buckets[self.bucket_of(address, port)?];
        self.last = index;
        Some(index)
    }

    /// Returns the bucket of a peer, if present.
    fn bucket_of(&self, address: IpAddr, port: u16) -> Option<usize> {
        let mut bucket = self.first_bucket(address, port);
        loop {
            let index = self.buckets[bucket];
            if index == NIL {
                return None;
            }
            let found = self.peer(index).address;
            if found.port() == port && found.ip() == address {
                return Some(bucket);
            }
            bucket = self.after(bucket);
        }
    }

    #[inline]
    fn first_bucket(&self, address: IpAddr, port: u16) -> usize {
        let (high, low) = match address {
            IpAddr::V4(address) => (0, u64::from(address.to_bits())),
            IpAddr::V6(address) => {
                let bits = address.to_bits();
                ((bits >> 64) as u64, bits as u64)
            }
        };
        // Two rounds of a multiplicative hash with 128-bit products (as in wyhash).
        let mix = |a: u64, b: u64| {
            let product = u128::from(a) * u128::from(b);
            (product >> 64) as u64 ^ product as u64
        };
        let first = mix(low ^ self.seed, (high ^ u64::from(port)) | 0xD6E8_FEB8_6659_FD93);
        let hash = mix(first ^ self.seed.rotate_left(17), 0xE703_7ED1_A0B4_28DB);
        hash as usize & (self.buckets.len() - 1)
    }

    #[inline]
    fn after(&self, bucket: usize) -> usize {
        (bucket + 1) & (self.buckets.len() - 1)
    }

    /// Inserts a peer that is not present. Returns `None` if the table is full.
    pub(crate) fn insert(&mut self, address: SocketAddr, now: Instant) -> Option<u32> {
        let index = self.free;
        if index == NIL {
            return None;
        }
        self.free = self.peer(index).next_ready;
        *self.peer_mut(index) = Peer::new(address, now);
        self.used[index as usize] = true;
        let mut bucket = self.first_bucket(address.ip(), address.port());
        while self.buckets[bucket] != NIL {
            bucket = self.after(bucket);
        }
        self.buckets[bucket] = index;
        Some(index)
    }

    /// Removes a peer, and closes the gap in its probe sequence.
    ///
    /// # Panics
    /// If the peer is not in use.
    pub(crate) fn remove(&mut self, index: u32) {
        let address = self.peer(index).address;
        let found = self.bucket_of(address.ip(), address.port());
        let mut gap = found.expect("a peer in use has a bucket");
        let mask = self.buckets.len() - 1;
        let mut bucket = self.after(gap);
        while self.buckets[bucket] != NIL {
            let other = self.peer(self.buckets[bucket]).address;
            let first = self.first_bucket(other.ip(), other.port());
            // Move the entry if its probe sequence passes the gap.
            if bucket.wrapping_sub(first) & mask >= bucket.wrapping_sub(gap) & mask {
                self.buckets[gap] = self.buckets[bucket];
                gap = bucket;
            }
            bucket = self.after(bucket);
        }
        self.buckets[gap] = NIL;
        self.used[index as usize] = false;
        self.peer_mut(index).next_ready = self.free;
        self.free = index;
    }

    /// Returns a peer for which `is_evictable` is true, of the next 64 that it has not checked last
    /// time.
    pub(crate) fn find_idle(&mut self, is_evictable: impl Fn(&Peer) -> bool) -> Option<u32> {
        let count = self.peers.len() as u32;
        for _ in 0..count.min(64) {
            self.hand = (self.hand + 1) % count;
            if self.used[self.hand as usize] && is_evictable(self.peer(self.hand)) {
                return Some(self.hand);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn address(number: u8) -> SocketAddr {
        SocketAddr::new(IpAddr::from([10, 0, 0, number / 4]), 4_000 + u16::from(number % 4))
    }

    proptest! {
        #[test]
        fn finds_what_a_map_finds(
            steps in prop::collection::vec((0..40_u8, any::<bool>()), 1..300),
        ) {
            let mut table = PeerTable::new(16, Instant::from_nanos(0));
            table.set_seed(7);
            let mut map = BTreeMap::new();
            for (number, insert) in steps {
                let peer = address(number);
                prop_assert_eq!(table.find(peer.ip(), peer.port()), map.get(&number).copied());
                if insert && !map.contains_key(&number) {
                    let index = table.insert(peer, Instant::from_nanos(0));
                    prop_assert_eq!(index.is_some(), map.len() < 16);
                    index.map(|index| map.insert(number, index));
                } else if !insert && let Some(index) = map.remove(&number) {
                    table.remove(index);
                }
            }
            for number in 0..40 {
                let peer = address(number);
                prop_assert_eq!(table.find(peer.ip(), peer.port()), map.get(&number).copied());
            }
        }
    }
}
