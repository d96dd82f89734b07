//! Devices: where frames come from, and what the host is called there.

use hairpin_wire::MacAddress;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::index::NONE;
use crate::{Address, Engine, Error};

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
    /// Frames left to the kernel.
    pub to_kernel: u64,
    /// Frames of which a socket got something.
    pub delivered: u64,
    /// Frames dropped because a length in them cannot be.
    pub malformed: u64,
    /// Frames dropped because a checksum is wrong.
    pub wrong_checksum: u64,
    /// Frames dropped because no member of their group wants them.
    pub unwanted: u64,
    /// Frames sent.
    pub sent: u64,
}

/// A device as it lies in the arena.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Device {
    /// As [`word`] has it.
    pub(crate) mac: u64,
    pub(crate) mtu: u16,
    /// 1 once it has been added.
    pub(crate) is_used: u8,
    pub(crate) trusts_checksums: u8,
    /// 0: no VLAN.
    pub(crate) vlan: u16,
    pub(crate) padding: u16,
    pub(crate) parent: u32,
    pub(crate) more_padding: u32,
    pub(crate) counters: DeviceCounters,
}

impl Device {
    pub(crate) fn new(settings: &DeviceSettings) -> Self {
        let (parent, vlan) = settings.vlan.map_or((NONE, 0), |(parent, vlan)| (parent.0, vlan));
        Self {
            mac: word(settings.mac),
            mtu: settings.mtu,
            is_used: 1,
            trusts_checksums: settings.trusts_checksums.into(),
            vlan,
            padding: 0,
            parent,
            more_padding: 0,
            counters: DeviceCounters::default(),
        }
    }
}

impl Device {
    pub(crate) fn settings(&self) -> DeviceSettings {
        DeviceSettings {
            mac: self.mac(),
            mtu: self.mtu,
            trusts_checksums: self.trusts_checksums != 0,
            vlan: (self.vlan != 0).then_some((DeviceId(self.parent), self.vlan)),
        }
    }

    pub(crate) const fn mac(&self) -> MacAddress {
        let [a, b, c, d, e, f, ..] = self.mac.to_ne_bytes();
        MacAddress([a, b, c, d, e, f])
    }
}

/// An Ethernet address in a word, and zeros.
#[inline]
pub(crate) const fn word(MacAddress([a, b, c, d, e, f]): MacAddress) -> u64 {
    u64::from_ne_bytes([a, b, c, d, e, f, 0, 0])
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

impl Engine<'_> {
    /// Adds a device.
    ///
    /// # Errors
    /// [`Error::Full`], [`Error::NoSuchDevice`] for a VLAN of none, [`Error::NoSuchVlan`] for one
    /// that is not 1 to 4094.
    pub fn add_device(&mut self, settings: &DeviceSettings) -> Result<DeviceId, Error> {
        if let Some((parent, identifier)) = settings.vlan {
            self.device(parent)?;
            if !(1..=4094).contains(&identifier) {
                return Err(Error::NoSuchVlan);
            }
        }
        let free = self.parts.devices.iter().position(|device| device.is_used == 0);
        let free = free.ok_or(Error::Full)?;
        self.parts.devices[free] = Device::new(settings);
        Ok(DeviceId(free as u32))
    }

    /// Gives a device another Ethernet address and another MTU. Headers already prepared stay as
    /// they are.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`].
    pub fn set_device(&mut self, id: DeviceId, mac: MacAddress, mtu: u16) -> Result<(), Error> {
        self.device(id)?;
        let device = &mut self.parts.devices[id.0 as usize];
        (device.mac, device.mtu) = (word(mac), mtu);
        Ok(())
    }

    /// Takes a device away, with the addresses and memberships on it. Its number may be the next
    /// one's: headers prepared for it are to be forgotten.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`], [`Error::HasVlans`], [`Error::Corrupt`].
    pub fn remove_device(&mut self, id: DeviceId) -> Result<(), Error> {
        self.device(id)?;
        let is_vlan = |d: &Device| d.is_used == 1 && d.vlan != 0 && d.parent == id.0;
        if self.parts.devices.iter().any(is_vlan) {
            return Err(Error::HasVlans);
        }
        self.end_memberships(|member| member.key.padding == id.0)?;
        for own in self.parts.addresses.iter_mut().filter(|own| own.device == id.0) {
            own.is_used = 0;
        }
        self.parts.devices[id.0 as usize].is_used = 0;
        self.parts.flows.forget();
        Ok(())
    }

    /// The devices, in the order of their numbers: for whoever opens an arena.
    pub fn device_ids(&self) -> impl Iterator<Item = DeviceId> {
        let devices = self.parts.devices.iter().enumerate();
        devices.filter(|(_, device)| device.is_used == 1).map(|(at, _)| DeviceId(at as u32))
    }

    /// What a device is like.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`].
    pub fn device_settings(&self, id: DeviceId) -> Result<DeviceSettings, Error> {
        Ok(self.device(id)?.settings())
    }

    /// What a device has seen.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`].
    pub fn device_counters(&self, id: DeviceId) -> Result<DeviceCounters, Error> {
        Ok(self.device(id)?.counters)
    }

    /// Says that the host has an address on a device, and what its net's broadcast address is.
    ///
    /// # Errors
    /// [`Error::Full`], [`Error::NoSuchDevice`], [`Error::WrongAddress`] if it is not a host's.
    pub fn add_address(
        &mut self,
        device: DeviceId,
        address: Address,
        broadcast: Option<Address>,
    ) -> Result<(), Error> {
        self.device(device)?;
        if address.is_any() || address.is_multicast() {
            return Err(Error::WrongAddress);
        }
        let free = self.parts.addresses.iter_mut().find(|address| address.is_used == 0);
        let broadcast = broadcast.unwrap_or(Address::ANY_IPV6);
        *free.ok_or(Error::Full)? =
            LocalAddress { address, broadcast, device: device.0, is_used: 1 };
        self.parts.flows.forget();
        Ok(())
    }

    /// Takes an address away again; nothing happens if it is not there.
    pub fn remove_address(&mut self, device: DeviceId, address: Address) {
        for own in self.parts.addresses.iter_mut() {
            if (own.device, own.address) == (device.0, address) {
                own.is_used = 0;
            }
        }
        self.parts.flows.forget();
    }

    /// The addresses of the host on a device.
    pub fn addresses(&self, device: DeviceId) -> impl Iterator<Item = Address> {
        let all = self.parts.addresses.iter();
        all.filter(move |own| (own.is_used, own.device) == (1, device.0)).map(|own| own.address)
    }

    #[inline]
    pub(crate) fn device(&self, id: DeviceId) -> Result<&Device, Error> {
        let device = self.parts.devices.get(id.0 as usize);
        device.filter(|device| device.is_used == 1).ok_or(Error::NoSuchDevice)
    }
}
