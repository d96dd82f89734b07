//! Counts of the filter's entries by kind, the first few EtherTypes, and [exact
//! flows](super::inline_flows). The program reads them before any lookup. It writes the
//! [connections that it sees](super::seen_flows).
//!
//! They are the only value of an array map, mapped into this process and changed by atomics, so the
//! program never sees half a change. An entry is counted before it is inserted and uncounted after
//! it is removed. So a count can be too high for a short time, or permanently if its owner dies in
//! between, which costs an unnecessary lookup. A count is never too low.

use std::io;
use std::mem::offset_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::bpf;
use super::entry::{EntryKind, Protocol};
use super::inline_flows::InlineFlows;
use super::seen_flows::SeenFlows;
use crate::fork_guard::ForkGuardedFd;
use crate::mapping::Mapping;

/// The EtherTypes stored inline: the program compares them instead of looking them up.
pub(super) const INLINE_ETHER_TYPES: usize = 4;
/// A free inline slot. No EtherType and VLAN have this lower half.
const EMPTY: u64 = u64::MAX;

/// The entry counts of one protocol.
#[repr(C)]
pub(super) struct ProtocolCounts {
    flows: AtomicU32,
    ports: AtomicU32,
    any_address: AtomicU32,
    group_ports: AtomicU32,
    groups: AtomicU32,
    _padding: u32,
}

impl ProtocolCounts {
    pub(super) const FLOWS: i16 = offset_of!(Self, flows) as i16;
    pub(super) const PORTS: i16 = offset_of!(Self, ports) as i16;
    pub(super) const ANY_ADDRESS: i16 = offset_of!(Self, any_address) as i16;
    pub(super) const GROUP_PORTS: i16 = offset_of!(Self, group_ports) as i16;
    pub(super) const GROUPS: i16 = offset_of!(Self, groups) as i16;
}

/// The map's value.
#[repr(C)]
pub(super) struct SharedCounts {
    udp: ProtocolCounts,
    /// The group counts of TCP stay 0.
    tcp: ProtocolCounts,
    /// EtherTypes without an inline slot.
    other_ether_types: AtomicU32,
    _padding: u32,
    /// The inline slots, from the lowest bit: EtherType, 16 bits; VLAN, 16 bits; the entry's value,
    /// 32 bits.
    ether_types: [AtomicU64; INLINE_ETHER_TYPES],
    flows: InlineFlows,
    seen: SeenFlows,
}

impl SharedCounts {
    pub(super) const UDP: i32 = offset_of!(Self, udp) as i32;
    pub(super) const TCP: i32 = offset_of!(Self, tcp) as i32;
    pub(super) const OTHER_ETHER_TYPES: i32 = offset_of!(Self, other_ether_types) as i32;
    pub(super) const INLINE_ETHER_TYPES: i32 = offset_of!(Self, ether_types) as i32;
    pub(super) const INLINE_FLOWS: i32 = offset_of!(Self, flows) as i32;
    pub(super) const SEEN_FLOWS: i32 = offset_of!(Self, seen) as i32;
}

/// The entry counts. Any number of handles may count; only one at a time may change EtherTypes.
#[derive(Debug)]
pub(super) struct EntryCounts {
    map: ForkGuardedFd,
    mapping: Mapping,
}

impl EntryCounts {
    pub(super) fn create() -> io::Result<Self> {
        let size = size_of::<SharedCounts>() as u32;
        let map = bpf::create_map(bpf::ARRAY, 4, size, 1, bpf::MAPPABLE, "hairpin_kinds")?;
        let counts = Self::from_fd(map)?;
        for slot in &counts.value().ether_types {
            slot.store(EMPTY, Ordering::SeqCst);
        }
        Ok(counts)
    }

    /// Maps the counts of another process's filter.
    pub(super) fn from_fd(map: ForkGuardedFd) -> io::Result<Self> {
        let mapping = Mapping::shared(map.as_fd(), size_of::<SharedCounts>(), 0)?;
        Ok(Self { map, mapping })
    }

    fn value(&self) -> &SharedCounts {
        // SAFETY: the mapping has this length, starts on a page and lives as long as `self`. All
        // users access it atomically, and every bit pattern is a valid value.
        unsafe { &*self.mapping.start().cast::<SharedCounts>() }
    }

    /// Returns the flows that the program compares.
    pub(super) fn flows(&self) -> &InlineFlows {
        &self.value().flows
    }

    /// Returns the connections that the program has passed to the kernel.
    pub(super) fn seen(&self) -> &SeenFlows {
        &self.value().seen
    }

    /// Returns the count of a kind.
    pub(super) fn count(&self, kind: EntryKind) -> u32 {
        self.value().counter(kind).load(Ordering::SeqCst)
    }

    /// Counts an entry of a kind; call it before the insertion.
    pub(super) fn increment(&self, kind: EntryKind) {
        self.value().counter(kind).fetch_add(1, Ordering::SeqCst);
    }

    /// Uncounts an entry of a kind; call it after the removal, or if the entry already existed.
    pub(super) fn decrement(&self, kind: EntryKind) {
        self.value().counter(kind).fetch_sub(1, Ordering::SeqCst);
    }

    /// Records that a counted entry was inserted with `value`. An EtherType that gets an inline
    /// slot needs no lookup and is uncounted.
    pub(super) fn record_insert(&self, kind: EntryKind, entry_value: u32) {
        if let Some(key) = key(kind)
            && self.value().replace_inline(key, EMPTY as u32, entry_value)
        {
            self.decrement(kind);
        }
    }

    /// Records that an entry's value was changed.
    pub(super) fn record_update(&self, kind: EntryKind, entry_value: u32) {
        if let Some(key) = key(kind) {
            self.value().replace_inline(key, key, entry_value);
        }
    }

    /// Prepares the removal of an entry: an inline EtherType is counted again and its slot freed.
    pub(super) fn prepare_remove(&self, kind: EntryKind) {
        if let Some(slot) = key(kind).and_then(|key| self.value().inline_slot(key)) {
            self.increment(kind);
            slot.store(EMPTY, Ordering::SeqCst);
        }
    }
}

impl SharedCounts {
    fn counter(&self, kind: EntryKind) -> &AtomicU32 {
        let counts_of = |protocol| if protocol == Protocol::Udp { &self.udp } else { &self.tcp };
        match kind {
            EntryKind::Flow(protocol) => &counts_of(protocol).flows,
            EntryKind::Port(protocol) => &counts_of(protocol).ports,
            EntryKind::AnyAddress(protocol) => &counts_of(protocol).any_address,
            EntryKind::GroupPort => &self.udp.group_ports,
            EntryKind::Group => &self.udp.groups,
            EntryKind::EtherType { .. } => &self.other_ether_types,
        }
    }

    /// Returns the inline slot with this lower half.
    fn inline_slot(&self, key: u32) -> Option<&AtomicU64> {
        self.ether_types.iter().find(|slot| slot.load(Ordering::SeqCst) as u32 == key)
    }

    /// Replaces the inline slot of `old_key`. Returns `false` if no slot contains it.
    fn replace_inline(&self, key: u32, old_key: u32, entry_value: u32) -> bool {
        let word = u64::from(key) | u64::from(entry_value) << 32;
        let slot = self.inline_slot(old_key);
        slot.inspect(|slot| slot.store(word, Ordering::SeqCst)).is_some()
    }
}

/// Returns the lower half of an EtherType's word.
fn key(kind: EntryKind) -> Option<u32> {
    match kind {
        EntryKind::EtherType { vlan, ether_type } => {
            Some(u32::from(vlan) << 16 | u32::from(ether_type))
        }
        _ => None,
    }
}

impl AsFd for EntryCounts {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.map.as_fd()
    }
}

impl AsRawFd for EntryCounts {
    fn as_raw_fd(&self) -> RawFd {
        self.map.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a value in ordinary memory instead of a map.
    fn value() -> SharedCounts {
        // SAFETY: a structure of integers, for which zero is a valid value.
        let value: SharedCounts = unsafe { std::mem::zeroed() };
        value.ether_types.iter().for_each(|slot| slot.store(EMPTY, Ordering::SeqCst));
        value
    }

    fn slots(value: &SharedCounts) -> Vec<u64> {
        value.ether_types.iter().map(|slot| slot.load(Ordering::SeqCst)).collect()
    }

    #[test]
    fn inline_word_is_ether_type_vlan_and_value() {
        let key = key(EntryKind::EtherType { vlan: 0x0102, ether_type: 0x88b5 }).unwrap();
        let value = value();
        assert!(value.replace_inline(key, EMPTY as u32, 7));
        assert_eq!(slots(&value), [0x7_0102_88b5, EMPTY, EMPTY, EMPTY]);
        assert!(value.replace_inline(key, key, u32::MAX));
        assert_eq!(slots(&value)[0], 0xffff_ffff_0102_88b5);
        assert!(!value.replace_inline(key, key + 1, 7), "no slot has this key");
    }

    #[test]
    fn kinds_have_separate_counts() {
        let (udp, tcp) = (Protocol::Udp, Protocol::Tcp);
        let counts = [
            EntryKind::Flow(udp),
            EntryKind::Flow(tcp),
            EntryKind::Port(udp),
            EntryKind::Port(tcp),
            EntryKind::AnyAddress(udp),
            EntryKind::AnyAddress(tcp),
            EntryKind::GroupPort,
            EntryKind::Group,
            EntryKind::EtherType { vlan: 0, ether_type: 0x88b5 },
        ];
        let value = value();
        for kind in counts {
            value.counter(kind).fetch_add(1, Ordering::SeqCst);
        }
        assert!(counts.iter().all(|kind| value.counter(*kind).load(Ordering::SeqCst) == 1));
    }

    /// Checks on a real map that inserted EtherTypes are counted and that the counts return to
    /// zero.
    #[test]
    #[ignore = "needs root"]
    fn ether_types_without_an_inline_slot_are_counted() {
        let counts = EntryCounts::create().unwrap();
        let kind = |number: u16| EntryKind::EtherType { vlan: 0, ether_type: 0x9000 + number };
        let more = || counts.value().other_ether_types.load(Ordering::SeqCst);
        let enter = |number| {
            counts.increment(kind(number));
            counts.record_insert(kind(number), 0);
        };
        let remove = |number| {
            counts.prepare_remove(kind(number));
            counts.decrement(kind(number));
        };
        (0..6).for_each(enter);
        assert_eq!(more(), 2);
        remove(1);
        assert_eq!((more(), slots(counts.value())[1]), (2, EMPTY));
        remove(5);
        assert_eq!(more(), 1);
        enter(7);
        assert_eq!((more(), slots(counts.value())[1]), (1, 0x9007));
        [0, 2, 3, 4, 7].into_iter().for_each(remove);
        assert_eq!((more(), slots(counts.value())), (0, vec![EMPTY; 4]));
        counts.increment(EntryKind::Group);
        counts.record_insert(EntryKind::Group, 0);
        counts.prepare_remove(EntryKind::Group);
        assert_eq!(counts.value().udp.groups.load(Ordering::SeqCst), 1);
    }
}
