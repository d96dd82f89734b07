//! Devices: where frames come from, and what the host is called there.

use hairpin_wire::MacAddress;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::Address;
use crate::index::NONE;

/// A device of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeviceId(pub(crate) u32);

/// What a device is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceSettings {
    /// Its Ethernet address.
    pub mac: MacAddress,
    /// The longest IP packet, header included.
    pub mtu: u16,
    /// Whether what it receives is believed without a look at checksums: a veth's peer leaves them
    /// unfinished, and some cards have checked them.
    pub trusts_checksums: bool,
    /// For a VLAN of another device: that device, and the identifier, 1 to 4094.
    pub vlan: Option<(DeviceId, u16)>,
}

/// What a device has seen.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, FromBytes, IntoBytes, KnownLayout, Immutable,
)]
#[repr(C)]
pub struct DeviceCounters {
    /// Frames handed in, those of its VLANs counted there.
    pub frames: u64,
    /// Frames of which a socket got something.
    pub delivered: u64,
    /// Frames left to the kernel.
    pub to_kernel: u64,
    /// Frames dropped because a length in them cannot be.
    pub malformed: u64,
    /// Frames dropped because a checksum is wrong.
    pub wrong_checksum: u64,
    /// Frames sent.
    pub sent: u64,
}

/// A device as it lies in the arena.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Device {
    pub(crate) mac: MacAddress,
    pub(crate) mtu: u16,
    /// 1 once it has been added.
    pub(crate) is_used: u8,
    pub(crate) trusts_checksums: u8,
    /// 0: no VLAN.
    pub(crate) vlan: u16,
    pub(crate) parent: u32,
    pub(crate) counters: DeviceCounters,
}

impl Device {
    pub(crate) fn new(settings: &DeviceSettings) -> Self {
        let (parent, vlan) = settings.vlan.map_or((NONE, 0), |(parent, vlan)| (parent.0, vlan));
        Self {
            mac: settings.mac,
            mtu: settings.mtu,
            is_used: 1,
            trusts_checksums: settings.trusts_checksums.into(),
            vlan,
            parent,
            counters: DeviceCounters::default(),
        }
    }
}

/// An address of the host on a device.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct LocalAddress {
    pub(crate) address: Address,
    /// The broadcast address of its net; [`Address::ANY_IPV6`]: none.
    pub(crate) broadcast: Address,
    pub(crate) device: u32,
    pub(crate) is_used: u32,
}
