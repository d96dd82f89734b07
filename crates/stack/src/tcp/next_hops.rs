//! The next hops of connections, cached for the next takeovers.

use std::collections::HashMap;
use std::net::IpAddr;

/// The most cached next hops. A cached one counts as in use in the table of neighbors, which has
/// four times as many.
const HOPS_MAX: usize = 1_024;

/// The next hops by the addresses of a connection, with the generation in which they were found.
#[derive(Debug)]
pub(super) struct NextHops<H> {
    hops: HashMap<[IpAddr; 2], (u64, H)>,
}

impl<H> Default for NextHops<H> {
    fn default() -> Self {
        Self { hops: HashMap::new() }
    }
}

impl<H> NextHops<H> {
    /// Returns the next hop, if it was found in this generation.
    pub(super) fn get(&self, addresses: &[IpAddr; 2], generation: u64) -> Option<&H> {
        let (found, hop) = self.hops.get(addresses)?;
        (*found == generation).then_some(hop)
    }

    /// Adds a next hop. If there are too many, those of earlier generations are forgotten, then
    /// all.
    pub(super) fn insert(&mut self, addresses: [IpAddr; 2], generation: u64, hop: H) {
        if self.hops.len() >= HOPS_MAX {
            self.hops.retain(|_, (found, _)| *found == generation);
        }
        if self.hops.len() >= HOPS_MAX {
            self.hops.clear();
        }
        self.hops.insert(addresses, (generation, hop));
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn addresses(number: u32) -> [IpAddr; 2] {
        [Ipv4Addr::LOCALHOST.into(), Ipv4Addr::from(0x0a00_0000 + number).into()]
    }

    #[test]
    fn forgets_hops_of_earlier_generations() {
        let mut hops = NextHops::default();
        hops.insert(addresses(1), 1, 'a');
        assert_eq!(hops.get(&addresses(1), 1), Some(&'a'));
        assert_eq!(hops.get(&addresses(1), 2), None);
        hops.insert(addresses(1), 2, 'b');
        assert_eq!(hops.get(&addresses(1), 2), Some(&'b'));
    }

    #[test]
    fn number_of_hops_is_bounded() {
        let mut hops = NextHops::default();
        let count = u32::try_from(HOPS_MAX).unwrap();
        (0..count).for_each(|number| hops.insert(addresses(number), 1, number));
        // The routes have changed: the newest hop stays, those before the change go.
        hops.insert(addresses(count), 2, count);
        assert_eq!((hops.hops.len(), hops.get(&addresses(count), 2)), (1, Some(&count)));
        for number in 0..3 * count {
            hops.insert(addresses(number), 2, number);
            assert!(hops.hops.len() <= HOPS_MAX);
            assert_eq!(hops.get(&addresses(number), 2), Some(&number));
        }
    }
}
