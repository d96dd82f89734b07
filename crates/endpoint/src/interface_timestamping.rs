//! What an interface can stamp.

use std::io;
use std::os::fd::AsRawFd;

use socket2::{Domain, Socket, Type};

use crate::context::Context;

/// Which timestamps an interface can take, by its driver's word (SIOCETHTOOL,
/// `ETHTOOL_GET_TS_INFO`), and whether its NIC takes them now (SIOCGHWTSTAMP). Only read, never
/// set.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct InterfaceTimestamping {
    /// The kernel can take a time when a packet is handed up.
    pub can_receive_software: bool,
    /// The driver has the kernel take a time when it takes a packet.
    pub can_transmit_software: bool,
    /// The NIC can take a time when a packet comes off the wire.
    pub can_receive_hardware: bool,
    /// The NIC can take a time when a packet goes onto the wire.
    pub can_transmit_hardware: bool,
    /// The NIC does so for packets that arrive, for some of them at least: its receive filter is
    /// not "none".
    pub is_receive_on: bool,
    /// The NIC does so for packets that leave and want it.
    pub is_transmit_on: bool,
    /// The number of the NIC's clock, `/dev/ptp<n>`, where it has one.
    pub clock: Option<u32>,
}

const ETHTOOL_GET_TS_INFO: u32 = 0x41;

/// struct ethtool_ts_info (linux/ethtool.h).
#[repr(C)]
#[derive(Default, Clone, Copy)]
struct Abilities {
    command: u32,
    stamps: u32,
    clock: i32,
    transmit_kinds: u32,
    _reserved: [u32; 3],
    receive_filters: u32,
    _reserved_too: [u32; 3],
}

/// struct hwtstamp_config (linux/net_tstamp.h).
#[repr(C)]
#[derive(Default, Clone, Copy)]
struct Setting {
    flags: i32,
    transmit_kind: i32,
    receive_filter: i32,
}

/// What both requests take: struct ifreq, of which they use the name and the pointer.
///
/// ```text
/// 0      16        24      40
/// | name | pointer |  ...  |
/// ```
#[repr(C)]
struct Request<T> {
    name: [u8; libc::IFNAMSIZ],
    data: *mut T,
    _rest: [u8; 16],
}

const _: () = assert!(size_of::<Request<u8>>() == size_of::<libc::ifreq>());

impl InterfaceTimestamping {
    /// Asks about the interface of this name, of the network namespace of this thread.
    ///
    /// # Errors
    /// The kernel's, with the name: there is no such interface (`NotFound`, or ENODEV as an
    /// uncategorised error).
    pub fn of(interface: &str) -> io::Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
        let mut abilities = Abilities { command: ETHTOOL_GET_TS_INFO, ..Abilities::default() };
        ask(&socket, interface, libc::SIOCETHTOOL, &mut abilities)
            .context(format_args!("ask what {interface} can stamp"))?;
        let mut setting = Setting::default();
        // A driver that has no such setting takes no stamps, and says that it does not know it.
        let setting = ask(&socket, interface, libc::SIOCGHWTSTAMP, &mut setting).map(|()| setting);
        Ok(Self::from_kernel(abilities, setting.unwrap_or_default()))
    }

    fn from_kernel(abilities: Abilities, setting: Setting) -> Self {
        let can = |stamp: u32| {
            let reported = stamp & (HARDWARE_RECEIVE | HARDWARE_TRANSMIT) == 0
                || abilities.stamps & libc::SOF_TIMESTAMPING_RAW_HARDWARE != 0;
            abilities.stamps & stamp != 0 && reported
        };
        let is_on = |choice: i32| choice != 0;
        Self {
            can_receive_software: can(libc::SOF_TIMESTAMPING_RX_SOFTWARE),
            can_transmit_software: can(libc::SOF_TIMESTAMPING_TX_SOFTWARE),
            can_receive_hardware: can(HARDWARE_RECEIVE),
            can_transmit_hardware: can(HARDWARE_TRANSMIT),
            is_receive_on: can(HARDWARE_RECEIVE) && is_on(setting.receive_filter),
            is_transmit_on: can(HARDWARE_TRANSMIT) && is_on(setting.transmit_kind),
            clock: u32::try_from(abilities.clock).ok(),
        }
    }
}

const HARDWARE_RECEIVE: u32 = libc::SOF_TIMESTAMPING_RX_HARDWARE;
const HARDWARE_TRANSMIT: u32 = libc::SOF_TIMESTAMPING_TX_HARDWARE;

/// Has the kernel write to `data` what it knows of an interface.
fn ask<T>(
    socket: &Socket,
    interface: &str,
    request: libc::c_ulong,
    data: &mut T,
) -> io::Result<()> {
    let mut name = [0; libc::IFNAMSIZ];
    // One byte stays zero, to end it.
    let Some(place) = name[..libc::IFNAMSIZ - 1].get_mut(..interface.len()) else {
        return Err(io::ErrorKind::NotFound.into());
    };
    place.copy_from_slice(interface.as_bytes());
    let mut argument = Request { name, data: &raw mut *data, _rest: [0; 16] };
    // SAFETY: the argument is as long as the kernel's and valid until the call returns; of the two
    // requests made here each writes to the data no more than the struct that it is given.
    let status =
        unsafe { libc::ioctl(socket.as_raw_fd(), request as libc::Ioctl, &raw mut argument) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u32 = u32::MAX;
    const SOFTWARE: u32 = libc::SOF_TIMESTAMPING_RX_SOFTWARE
        | libc::SOF_TIMESTAMPING_TX_SOFTWARE
        | libc::SOF_TIMESTAMPING_SOFTWARE;

    fn of(stamps: u32, transmit_kind: i32, receive_filter: i32) -> InterfaceTimestamping {
        let abilities = Abilities { stamps, clock: 3, ..Abilities::default() };
        let setting = Setting { flags: 0, transmit_kind, receive_filter };
        InterfaceTimestamping::from_kernel(abilities, setting)
    }

    #[test]
    fn hardware_is_on_only_where_it_is_able_reported_and_set() {
        let all = of(ALL, 1, 1);
        assert!(all.can_receive_hardware && all.can_transmit_hardware);
        assert!(all.is_receive_on && all.is_transmit_on);
        assert_eq!(all.clock, Some(3));
        let deaf = of(ALL, 1, 0);
        assert!(deaf.can_receive_hardware && !deaf.is_receive_on && deaf.is_transmit_on);
        let mute = of(ALL, 0, 1);
        assert!(mute.can_transmit_hardware && mute.is_receive_on && !mute.is_transmit_on);
        for stamps in [SOFTWARE, ALL & !libc::SOF_TIMESTAMPING_RAW_HARDWARE] {
            let software = of(stamps, 1, 1);
            assert!(software.can_receive_software && software.can_transmit_software);
            assert!(!software.can_receive_hardware && !software.can_transmit_hardware);
            assert!(!software.is_receive_on && !software.is_transmit_on);
        }
    }

    #[test]
    fn an_interface_without_a_clock_has_none() {
        let abilities = Abilities { clock: -1, ..Abilities::default() };
        let known = InterfaceTimestamping::from_kernel(abilities, Setting::default());
        assert_eq!(known, InterfaceTimestamping::default());
    }

    #[test]
    fn the_loopback_interface_stamps_by_software_alone() {
        let known = InterfaceTimestamping::of("lo").unwrap();
        assert!(known.can_receive_software && known.can_transmit_software);
        assert!(!known.can_receive_hardware && !known.can_transmit_hardware);
        assert!(!known.is_receive_on && !known.is_transmit_on);
    }

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        for name in ["nope0", "a-name-of-sixteen"] {
            let error = InterfaceTimestamping::of(name).unwrap_err().to_string();
            assert!(error.starts_with(&format!("cannot ask what {name} can stamp: ")), "{error}");
        }
    }
}
