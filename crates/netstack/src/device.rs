//! Devices: the interfaces that frames arrive on, and their local addresses.

use hairpin_wire::MacAddress;
use zerocopy::FromZeros;

use crate::index::NONE;
use crate::{Address, Engine, Error};

/// The identifier of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeviceId(pub(crate) u32);

/// The configuration of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceSettings {
    /// The Ethernet address.
    pub mac: MacAddress,
    /// The MTU: the longest IP packet in bytes, header included.
    pub mtu: u16,
    /// The parent device and the VLAN identifier (1 to 4094), for a VLAN device.
    pub vlan: Option<(DeviceId, u16)>,
}

/// The counters of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, FromZeros)]
#[repr(C)]
pub struct DeviceCounters {
    /// Frames received; those of a VLAN count at the VLAN device.
    pub frames: u64,
    /// Frames passed to the kernel.
    pub to_kernel: u64,
    /// Frames delivered to at least one socket.
    pub delivered: u64,
    /// Frames dropped because of an invalid length.
    pub malformed: u64,
    /// Frames dropped because of a wrong checksum.
    pub wrong_checksum: u64,
    /// Frames dropped because no group member accepts their source.
    pub unwanted: u64,
    /// Frames dropped because no wire may carry their source or destination address.
    pub martian: u64,
    /// Frames sent.
    pub sent: u64,
}

/// A device.
#[derive(Debug, Clone, Copy, FromZeros)]
#[repr(C)]
pub(crate) struct Device {
    /// The Ethernet address, packed by [`pack_mac`].
    pub(crate) mac: u64,
    pub(crate) mtu: u16,
    /// 1 if the entry is in use.
    pub(crate) is_used: u8,
    /// 1 after a frame with a partial checksum: the fast path then compares that first.
    pub(crate) has_partial: u8,
    /// The VLAN identifier; 0 if the device is not a VLAN.
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
            mac: pack_mac(settings.mac),
            mtu: settings.mtu,
            is_used: 1,
            has_partial: 0,
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
            vlan: (self.vlan != 0).then_some((DeviceId(self.parent), self.vlan)),
        }
    }

    pub(crate) const fn mac(&self) -> MacAddress {
        let [a, b, c, d, e, f, ..] = self.mac.to_ne_bytes();
        MacAddress([a, b, c, d, e, f])
    }
}

/// Packs an Ethernet address and two zero bytes into a word.
#[inline]
pub(crate) const fn pack_mac(MacAddress([a, b, c, d, e, f]): MacAddress) -> u64 {
    u64::from_ne_bytes([a, b, c, d, e, f, 0, 0])
}

/// A local address of a device.
#[derive(Debug, Clone, Copy, FromZeros)]
#[repr(C)]
pub(crate) struct LocalAddress {
    pub(crate) address: Address,
    /// The subnet's broadcast address; [`Address::ANY_IPV6`] if there is no such address.
    pub(crate) broadcast: Address,
    pub(crate) device: u32,
    pub(crate) is_used: u32,
}

impl Engine {
    /// Adds a device.
    ///
    /// # Errors
    /// [`Error::Full`], [`Error::NoSuchDevice`] for an unknown parent, [`Error::NoSuchVlan`] for an
    /// identifier outside 1 to 4094.
    pub fn add_device(&mut self, settings: &DeviceSettings) -> Result<DeviceId, Error> {
        if let Some((parent, identifier)) = settings.vlan {
            self.device(parent)?;
            if !(1..=4094).contains(&identifier) {
                return Err(Error::NoSuchVlan);
            }
        }
        let free = self.tables.devices.iter().position(|device| device.is_used == 0);
        let free = free.ok_or(Error::Full)?;
        self.tables.devices[free] = Device::new(settings);
        Ok(DeviceId(free as u32))
    }

    /// Changes a device's Ethernet address and MTU. Prepared headers keep the old values.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`].
    pub fn set_device(&mut self, id: DeviceId, mac: MacAddress, mtu: u16) -> Result<(), Error> {
        self.device(id)?;
        let device = &mut self.tables.devices[id.0 as usize];
        (device.mac, device.mtu) = (pack_mac(mac), mtu);
        Ok(())
    }

    /// Removes a device with its addresses and memberships. The next device added may reuse its
    /// identifier, so headers prepared for it must be discarded.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`], [`Error::HasVlans`].
    pub fn remove_device(&mut self, id: DeviceId) -> Result<(), Error> {
        self.device(id)?;
        let is_vlan = |d: &Device| d.is_used == 1 && d.vlan != 0 && d.parent == id.0;
        if self.tables.devices.iter().any(is_vlan) {
            return Err(Error::HasVlans);
        }
        self.end_memberships(|member| member.key.padding == id.0);
        self.retain_addresses(|own| own.device != id.0);
        self.tables.devices[id.0 as usize].is_used = 0;
        self.tables.flows.invalidate();
        Ok(())
    }

    /// Returns all devices in index order.
    pub fn device_ids(&self) -> impl Iterator<Item = DeviceId> {
        let devices = self.tables.devices.iter().enumerate();
        devices.filter(|(_, device)| device.is_used == 1).map(|(at, _)| DeviceId(at as u32))
    }

    /// Returns the configuration of a device.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`].
    pub fn device_settings(&self, id: DeviceId) -> Result<DeviceSettings, Error> {
        Ok(self.device(id)?.settings())
    }

    /// Returns the counters of a device.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`].
    pub fn device_counters(&self, id: DeviceId) -> Result<DeviceCounters, Error> {
        Ok(self.device(id)?.counters)
    }

    /// Adds a local address to a device, with its subnet's broadcast address.
    ///
    /// # Errors
    /// [`Error::Full`], [`Error::NoSuchDevice`], [`Error::WrongAddress`] for an unspecified or
    /// multicast address.
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
        let free = self.tables.addresses.iter_mut().find(|address| address.is_used == 0);
        let broadcast = broadcast.unwrap_or(Address::ANY_IPV6);
        *free.ok_or(Error::Full)? =
            LocalAddress { address, broadcast, device: device.0, is_used: 1 };
        self.tables.flows.invalidate();
        Ok(())
    }

    /// Removes a local address, if present.
    pub fn remove_address(&mut self, device: DeviceId, address: Address) {
        self.retain_addresses(|own| (own.device, own.address) != (device.0, address));
        self.tables.flows.invalidate();
    }

    /// Removes addresses. Those in use stay in front of the unused entries.
    fn retain_addresses(&mut self, is_kept: impl Fn(&LocalAddress) -> bool) {
        let addresses = &mut *self.tables.addresses;
        let mut kept = 0;
        for at in 0..addresses.len() {
            let own = addresses[at];
            addresses[at].is_used = 0;
            if own.is_used == 1 && is_kept(&own) {
                addresses[kept] = own;
                kept += 1;
            }
        }
    }

    /// Returns the local addresses of all devices, which precede the unused entries.
    #[inline]
    pub(crate) fn local_addresses(&self) -> impl Iterator<Item = &LocalAddress> {
        self.tables.addresses.iter().take_while(|own| own.is_used == 1)
    }

    /// Forgets all known flows, after an answer of [`Listener::accepts_source`] may have changed.
    ///
    /// [`Listener::accepts_source`]: crate::Listener::accepts_source
    pub fn forget_flows(&mut self) {
        self.tables.flows.invalidate();
    }

    /// Returns the local addresses of a device.
    pub fn addresses(&self, device: DeviceId) -> impl Iterator<Item = Address> {
        let all = self.local_addresses();
        all.filter(move |own| own.device == device.0).map(|own| own.address)
    }

    #[inline]
    pub(crate) fn device(&self, id: DeviceId) -> Result<&Device, Error> {
        let device = self.tables.devices.get(id.0 as usize);
        device.filter(|device| device.is_used == 1).ok_or(Error::NoSuchDevice)
    }
}
