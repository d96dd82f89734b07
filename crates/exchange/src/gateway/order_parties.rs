//! The party details of orders that may rest beyond their week.
//!
//! Details are stored once, however many orders have them: a session uses few, and the matching
//! engine may hold millions of orders.

use super::party_details::PartyDetails;

/// The maximum number of different party details. Orders with further ones are reported in later
/// weeks as if their details had no fields.
const DETAILS_MAX: usize = 4_096;

/// Different party details, addressed by index. The first one is empty.
#[derive(Debug)]
pub(super) struct OrderParties {
    known: Vec<PartyDetails>,
    max: usize,
}

impl OrderParties {
    pub(super) fn new() -> Self {
        Self::with_max(DETAILS_MAX)
    }

    fn with_max(max: usize) -> Self {
        let mut known = Vec::with_capacity(max);
        known.push(PartyDetails::empty(0));
        Self { known, max }
    }

    /// Stores party details under id 0, and returns their index.
    pub(super) fn store(&mut self, details: &PartyDetails) -> u32 {
        let details = details.carried();
        // The latest ones are the most likely ones.
        let index = match self.known.iter().rposition(|known| *known == details) {
            Some(index) => index,
            None if self.known.len() < self.max => {
                self.known.push(details);
                self.known.len() - 1
            }
            None => 0,
        };
        // The index is less than the maximum.
        index as u32
    }

    /// Returns stored party details.
    pub(super) fn at(&self, index: u32) -> &PartyDetails {
        &self.known[index as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_details_are_stored_once_under_id_0() {
        let mut parties = OrderParties::with_max(4);
        let first = parties.store(&PartyDetails::empty(7));
        assert_eq!((first, parties.at(first).id), (0, 0));
        let mut store = |id, executor| parties.store(&PartyDetails::with_executor(id, executor));
        assert_eq!([store(7, 1), store(7, 2), store(8, 1), store(7, 3)], [1, 2, 1, 3]);
        // Without room for others, the details are empty.
        assert_eq!([store(7, 4), store(9, 3)], [0, 3]);
    }
}
