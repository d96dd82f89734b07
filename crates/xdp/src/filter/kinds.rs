//! Which kinds of entries there are at all, for the program to read before it looks anything up.
//!
//! It is the only value of an array, which is mapped here and changed by atomics, so that the
//! program never sees half of a change. Who enters an entry counts it first and who removes one
//! discounts it last: a count may be too high for a moment, or for good when its owner dies in
//! between, which costs a look in vain, and is never too low.

use std::io;
use std::mem::offset_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::bpf;
use super::entry::{Kind, Protocol};
use crate::forked::ForkGuardedFd;
use crate::mapping::Mapping;

/// EtherTypes that the program compares with, in place of looking them up.
pub(super) const ETHER_TYPES: usize = 4;
/// No EtherType and VLAN have this lower half.
const NONE: u64 = u64::MAX;

/// Of one protocol, how many entries there are.
#[repr(C)]
pub(super) struct Counts {
    flows: AtomicU32,
    ports: AtomicU32,
    any_address: AtomicU32,
    group_ports: AtomicU32,
    groups: AtomicU32,
    _padding: u32,
}

impl Counts {
    pub(super) const FLOWS: i16 = offset_of!(Self, flows) as i16;
    pub(super) const PORTS: i16 = offset_of!(Self, ports) as i16;
    pub(super) const ANY_ADDRESS: i16 = offset_of!(Self, any_address) as i16;
    pub(super) const GROUP_PORTS: i16 = offset_of!(Self, group_ports) as i16;
    pub(super) const GROUPS: i16 = offset_of!(Self, groups) as i16;
}

/// The value.
#[repr(C)]
pub(super) struct Value {
    udp: Counts,
    /// No group is among them.
    tcp: Counts,
    /// EtherTypes for which there is no place below.
    more_ether_types: AtomicU32,
    _padding: u32,
    /// From the lowest bit: EtherType, 16 bits; VLAN, 16; what the entry says, 32.
    ether_types: [AtomicU64; ETHER_TYPES],
}

impl Value {
    pub(super) const UDP: i32 = offset_of!(Self, udp) as i32;
    pub(super) const TCP: i32 = offset_of!(Self, tcp) as i32;
    pub(super) const MORE_ETHER_TYPES: i32 = offset_of!(Self, more_ether_types) as i32;
    pub(super) const ETHER_TYPES: i32 = offset_of!(Self, ether_types) as i32;
}

/// Any number of handles may count; one at a time changes EtherTypes.
#[derive(Debug)]
pub(super) struct Kinds {
    map: ForkGuardedFd,
    mapping: Mapping,
}

impl Kinds {
    pub(super) fn create() -> io::Result<Self> {
        let size = size_of::<Value>() as u32;
        let map = bpf::create_map(bpf::ARRAY, 4, size, 1, bpf::MAPPABLE, "hairpin_kinds")?;
        let kinds = Self::of(map)?;
        for place in &kinds.value().ether_types {
            place.store(NONE, Ordering::SeqCst);
        }
        Ok(kinds)
    }

    /// Those of another process.
    pub(super) fn of(map: ForkGuardedFd) -> io::Result<Self> {
        let mapping = Mapping::shared(map.as_fd(), size_of::<Value>(), 0)?;
        Ok(Self { map, mapping })
    }

    fn value(&self) -> &Value {
        // SAFETY: the mapping is as long, begins on a page, and lives as long as this; everybody
        // reaches what is in it atomically, and any bits are a value.
        unsafe { &*self.mapping.start().cast::<Value>() }
    }

    /// How many of a kind are counted.
    #[cfg(test)]
    pub(super) fn counted(&self, kind: Kind) -> u32 {
        self.value().count_of(kind).load(Ordering::SeqCst)
    }

    /// One more of a kind; before it is entered.
    pub(super) fn count(&self, kind: Kind) {
        self.value().count_of(kind).fetch_add(1, Ordering::SeqCst);
    }

    /// One less; when it has been removed, or was there before.
    pub(super) fn discount(&self, kind: Kind) {
        self.value().count_of(kind).fetch_sub(1, Ordering::SeqCst);
    }

    /// An entry that was counted has been entered and says `says`. An EtherType for which there is
    /// a place need not be looked up, and is not counted.
    pub(super) fn entered(&self, kind: Kind, says: u32) {
        if let Some(key) = key(kind)
            && self.value().put(key, NONE as u32, says)
        {
            self.discount(kind);
        }
    }

    /// What an entry says has been changed.
    pub(super) fn changed(&self, kind: Kind, says: u32) {
        if let Some(key) = key(kind) {
            self.value().put(key, key, says);
        }
    }

    /// An entry is about to be removed. From now on it is counted.
    pub(super) fn removing(&self, kind: Kind) {
        if let Some(place) = key(kind).and_then(|key| self.value().place(key)) {
            self.count(kind);
            place.store(NONE, Ordering::SeqCst);
        }
    }
}

impl Value {
    fn count_of(&self, kind: Kind) -> &AtomicU32 {
        let of = |protocol| if protocol == Protocol::Udp { &self.udp } else { &self.tcp };
        match kind {
            Kind::Flow(protocol) => &of(protocol).flows,
            Kind::Port(protocol) => &of(protocol).ports,
            Kind::AnyAddress(protocol) => &of(protocol).any_address,
            Kind::GroupPort => &self.udp.group_ports,
            Kind::Group => &self.udp.groups,
            Kind::EtherType { .. } => &self.more_ether_types,
        }
    }

    /// Where the lower half is so.
    fn place(&self, key: u32) -> Option<&AtomicU64> {
        self.ether_types.iter().find(|place| place.load(Ordering::SeqCst) as u32 == key)
    }

    /// Puts an EtherType in place of another; false if that has none.
    fn put(&self, key: u32, instead_of: u32, says: u32) -> bool {
        let word = u64::from(key) | u64::from(says) << 32;
        let place = self.place(instead_of);
        place.inspect(|place| place.store(word, Ordering::SeqCst)).is_some()
    }
}

/// The lower half of an EtherType's word.
fn key(kind: Kind) -> Option<u32> {
    match kind {
        Kind::EtherType { vlan, ether_type } => Some(u32::from(vlan) << 16 | u32::from(ether_type)),
        _ => None,
    }
}

impl AsFd for Kinds {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.map.as_fd()
    }
}

impl AsRawFd for Kinds {
    fn as_raw_fd(&self) -> RawFd {
        self.map.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Over memory that is no map's.
    fn value() -> Value {
        // SAFETY: numbers, for all of which zero is a value.
        let value: Value = unsafe { std::mem::zeroed() };
        value.ether_types.iter().for_each(|place| place.store(NONE, Ordering::SeqCst));
        value
    }

    fn places(value: &Value) -> Vec<u64> {
        value.ether_types.iter().map(|place| place.load(Ordering::SeqCst)).collect()
    }

    #[test]
    fn a_word_is_ether_type_vlan_and_what_it_says() {
        let key = key(Kind::EtherType { vlan: 0x0102, ether_type: 0x88b5 }).unwrap();
        let value = value();
        assert!(value.put(key, NONE as u32, 7));
        assert_eq!(places(&value), [0x7_0102_88b5, NONE, NONE, NONE]);
        assert!(value.put(key, key, u32::MAX));
        assert_eq!(places(&value)[0], 0xffff_ffff_0102_88b5);
        assert!(!value.put(key, key + 1, 7), "no place has another's key");
    }

    #[test]
    fn each_kind_has_a_count_of_its_own() {
        let (udp, tcp) = (Protocol::Udp, Protocol::Tcp);
        let kinds = [
            Kind::Flow(udp),
            Kind::Flow(tcp),
            Kind::Port(udp),
            Kind::Port(tcp),
            Kind::AnyAddress(udp),
            Kind::AnyAddress(tcp),
            Kind::GroupPort,
            Kind::Group,
            Kind::EtherType { vlan: 0, ether_type: 0x88b5 },
        ];
        let value = value();
        for kind in kinds {
            value.count_of(kind).fetch_add(1, Ordering::SeqCst);
        }
        assert!(kinds.iter().all(|kind| value.count_of(*kind).load(Ordering::SeqCst) == 1));
    }

    /// As root it is asked of a map: what is entered is counted, and nothing is when all is
    /// removed.
    #[test]
    #[ignore = "needs root"]
    fn what_has_a_place_is_not_counted_and_the_rest_is() {
        let kinds = Kinds::create().unwrap();
        let kind = |number: u16| Kind::EtherType { vlan: 0, ether_type: 0x9000 + number };
        let more = || kinds.value().more_ether_types.load(Ordering::SeqCst);
        let enter = |number| {
            kinds.count(kind(number));
            kinds.entered(kind(number), 0);
        };
        let remove = |number| {
            kinds.removing(kind(number));
            kinds.discount(kind(number));
        };
        (0..6).for_each(enter);
        assert_eq!(more(), 2);
        remove(1);
        assert_eq!((more(), places(kinds.value())[1]), (2, NONE));
        remove(5);
        assert_eq!(more(), 1);
        enter(7);
        assert_eq!((more(), places(kinds.value())[1]), (1, 0x9007));
        [0, 2, 3, 4, 7].into_iter().for_each(remove);
        assert_eq!((more(), places(kinds.value())), (0, vec![NONE; 4]));
        kinds.count(Kind::Group);
        kinds.entered(Kind::Group, 0);
        kinds.removing(Kind::Group);
        assert_eq!(kinds.value().udp.groups.load(Ordering::SeqCst), 1);
    }
}
