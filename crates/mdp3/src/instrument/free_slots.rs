//! The slots of deleted instruments, and their reuse for others.
//!
//! CME does not reuse a SecurityID before the next trade date (Client Systems Wiki, page
//! 457640217), and user-defined instruments come and go all week. A deleted instrument keeps its
//! slot, with its last definition, until no unused slot is left. The slot deleted first is reused
//! first.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use crate::market::{InstrumentRecovery, Market};
use crate::{InstrumentIndex, InstrumentReplaced, Listener};

/// The slots of deleted instruments, first deleted first.
#[derive(Debug)]
pub(crate) struct FreeSlots {
    /// The slots, and the number of ended events from which each may be reused.
    slots: VecDeque<(InstrumentIndex, u64)>,
    queued: Vec<bool>,
}

impl FreeSlots {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { slots: VecDeque::with_capacity(capacity), queued: vec![false; capacity] }
    }

    /// Adds the slot of a deleted instrument.
    fn add(&mut self, instrument: InstrumentIndex, from_event: u64) {
        if !core::mem::replace(&mut self.queued[instrument.as_usize()], true) {
            self.slots.push_back((instrument, from_event));
        }
    }

    /// Takes the first slot whose instrument is still deleted, as `is_free` states.
    fn take(
        &mut self,
        events: u64,
        is_free: impl Fn(InstrumentIndex) -> bool,
    ) -> Option<InstrumentIndex> {
        while let Some(&(instrument, from_event)) = self.slots.front() {
            if from_event > events {
                return None;
            }
            self.slots.pop_front();
            self.queued[instrument.as_usize()] = false;
            if is_free(instrument) {
                return Some(instrument);
            }
        }
        None
    }
}

impl Market {
    /// Allows the reuse of a deleted instrument's slot: after the event, if the deletion is part of
    /// one.
    pub(crate) fn free_slot(&mut self, instrument: InstrumentIndex, in_event: bool) {
        let from_event = self.counters.events + u64::from(in_event);
        self.free_slots.add(instrument, from_event);
    }

    /// Gives the slot of a deleted instrument to another. Returns `None` if all
    /// instruments are in force.
    #[cold]
    pub(crate) fn reuse_slot(
        &mut self,
        security_id: i32,
        listener: &mut impl Listener,
    ) -> Option<InstrumentIndex> {
        let instruments = &self.instruments;
        let instrument =
            self.free_slots.take(self.counters.events, |slot| instruments.is_deleted(slot))?;
        let before = self.instruments.book(instrument).security_id();
        let is_other = |other: &InstrumentIndex| *other != instrument;
        self.changed_in_message.retain(is_other);
        self.changed_in_event.retain(is_other);
        self.recovery[instrument.as_usize()] = InstrumentRecovery::default();
        if let Some(natural) = self.natural.get_mut(instrument.as_usize()) {
            *natural = crate::book::natural_refresh_book::NaturalRefreshBook::UNKNOWN;
        }
        self.queue.discard(instrument);
        self.forget_order_book(instrument);
        let depth = self.settings.depth_unless_defined();
        self.instruments.reuse(instrument, security_id, depth);
        self.counters.slots_reused += 1;
        listener.on_instrument_replaced(&InstrumentReplaced {
            instrument,
            before,
            security_id,
            generation: self.instruments.generation(instrument),
        });
        Some(instrument)
    }

    /// Removes the instruments of an earlier week: those without a definition since packet
    /// numbering restarted.
    #[cold]
    pub(crate) fn remove_undefined_instruments(&mut self, listener: &mut impl Listener) {
        for instrument in self.instruments.iter() {
            if self.recovery[instrument.as_usize()].defined_in != self.week {
                self.instruments.definitions[instrument.as_usize()].action =
                    crate::DefinitionAction::Delete;
                self.remove_instrument(instrument, listener);
                self.free_slot(instrument, false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_deleted_slots_in_order_after_their_event() {
        let mut slots = FreeSlots::new(4);
        let [first, second, third] = [0, 1, 2].map(InstrumentIndex);
        slots.add(first, 5);
        slots.add(second, 5);
        slots.add(first, 5);
        slots.add(third, 6);
        assert_eq!(slots.take(4, |_| true), None, "the event has not ended");
        assert_eq!(slots.take(5, |slot| slot != first), Some(second), "the first is defined again");
        assert_eq!(slots.take(5, |_| true), None);
        slots.add(first, 5);
        assert_eq!(slots.take(6, |_| true), Some(third));
        assert_eq!(slots.take(6, |_| true), Some(first));
    }
}
