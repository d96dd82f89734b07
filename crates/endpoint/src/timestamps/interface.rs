//! The timestamping capabilities of an interface.

use std::io;
use std::os::fd::AsRawFd;

use socket2::{Domain, Socket, Type};

use crate::error_context::Context;

/// The timestamping capabilities of an interface as reported by its driver (SIOCETHTOOL,
/// `ETHTOOL_GET_TS_INFO`), and its NIC's current setting (SIOCGHWTSTAMP). Both are only read, never
/// set.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct InterfaceTimestamping {
    /// The kernel can timestamp received packets.
    pub software_receive: bool,
    /// The driver lets the kernel timestamp sent packets.
    pub software_transmit: bool,
    /// The NIC can timestamp received packets.
    pub hardware_receive: bool,
    /// The NIC can timestamp sent packets.
    pub hardware_transmit: bool,
    /// The NIC timestamps received packets now, or at least some of them: its receive filter is not
    /// "none".
    pub receive_enabled: bool,
    /// The NIC timestamps sent packets on request now.
    pub transmit_enabled: bool,
    /// The number of the NIC's clock, `/dev/ptp<n>`, if it has one.
    pub clock: Option<u32>,
}

const ETHTOOL_GET_TS_INFO: u32 = 0x41;

/// The layout of `struct ethtool_ts_info` (linux/ethtool.h).
#[repr(C)]
#[derive(Default, Clone, Copy)]
struct TsInfo {
    command: u32,
    flags: u32,
    clock: i32,
    transmit_kinds: u32,
    _reserved: [u32; 3],
    receive_filters: u32,
    _reserved_too: [u32; 3],
}

/// The layout of `struct hwtstamp_config` (linux/net_tstamp.h).
#[repr(C)]
#[derive(Default, Clone, Copy)]
struct HwtstampConfig {
    flags: i32,
    transmit_kind: i32,
    receive_filter: i32,
}

/// The argument of both requests: `struct ifreq`, of which they use the name and the pointer.
///
/// ```text
/// 0      16        24      40
/// | name | pointer |  ...  |
/// ```
#[repr(C)]
struct Ifreq<T> {
    name: [u8; libc::IFNAMSIZ],
    data: *mut T,
    _rest: [u8; 16],
}

const _: () = assert!(size_of::<Ifreq<u8>>() == size_of::<libc::ifreq>());

impl InterfaceTimestamping {
    /// Queries the interface with this name in the network namespace of the calling thread.
    ///
    /// # Errors
    /// The kernel's errors, with the name: there is no such interface (`NotFound`, or ENODEV as an
    /// uncategorized error).
    pub fn query(interface: &str) -> io::Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
        let mut info = TsInfo { command: ETHTOOL_GET_TS_INFO, ..TsInfo::default() };
        ioctl(&socket, interface, libc::SIOCETHTOOL, &mut info)
            .context(format_args!("query the timestamping capabilities of {interface}"))?;
        let mut config = HwtstampConfig::default();
        // A driver without this setting takes no timestamps and returns an error.
        let config = ioctl(&socket, interface, libc::SIOCGHWTSTAMP, &mut config).map(|()| config);
        Ok(Self::from_kernel(info, config.unwrap_or_default()))
    }

    fn from_kernel(info: TsInfo, config: HwtstampConfig) -> Self {
        let can = |flag: u32| {
            let reported = flag & (HARDWARE_RECEIVE | HARDWARE_TRANSMIT) == 0
                || info.flags & libc::SOF_TIMESTAMPING_RAW_HARDWARE != 0;
            info.flags & flag != 0 && reported
        };
        let is_on = |choice: i32| choice != 0;
        Self {
            software_receive: can(libc::SOF_TIMESTAMPING_RX_SOFTWARE),
            software_transmit: can(libc::SOF_TIMESTAMPING_TX_SOFTWARE),
            hardware_receive: can(HARDWARE_RECEIVE),
            hardware_transmit: can(HARDWARE_TRANSMIT),
            receive_enabled: can(HARDWARE_RECEIVE) && is_on(config.receive_filter),
            transmit_enabled: can(HARDWARE_TRANSMIT) && is_on(config.transmit_kind),
            clock: u32::try_from(info.clock).ok(),
        }
    }
}

const HARDWARE_RECEIVE: u32 = libc::SOF_TIMESTAMPING_RX_HARDWARE;
const HARDWARE_TRANSMIT: u32 = libc::SOF_TIMESTAMPING_TX_HARDWARE;

/// Makes one ioctl request about an interface, which writes to `data`.
fn ioctl<T>(
    socket: &Socket,
    interface: &str,
    request: libc::c_ulong,
    data: &mut T,
) -> io::Result<()> {
    let mut name = [0; libc::IFNAMSIZ];
    // One byte stays zero as the terminator.
    let Some(place) = name[..libc::IFNAMSIZ - 1].get_mut(..interface.len()) else {
        return Err(io::ErrorKind::NotFound.into());
    };
    place.copy_from_slice(interface.as_bytes());
    let mut argument = Ifreq { name, data: &raw mut *data, _rest: [0; 16] };
    // SAFETY: the argument has the kernel's length and is valid until the call returns. Each of the
    // two requests made here writes no more than the struct that it receives.
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

    fn with(flags: u32, transmit_kind: i32, receive_filter: i32) -> InterfaceTimestamping {
        let info = TsInfo { flags, clock: 3, ..TsInfo::default() };
        let config = HwtstampConfig { flags: 0, transmit_kind, receive_filter };
        InterfaceTimestamping::from_kernel(info, config)
    }

    #[test]
    fn hardware_is_on_only_if_capable_reported_and_set() {
        let all = with(ALL, 1, 1);
        assert!(all.hardware_receive && all.hardware_transmit);
        assert!(all.receive_enabled && all.transmit_enabled);
        assert_eq!(all.clock, Some(3));
        let no_receive = with(ALL, 1, 0);
        assert!(
            no_receive.hardware_receive
                && !no_receive.receive_enabled
                && no_receive.transmit_enabled
        );
        let no_transmit = with(ALL, 0, 1);
        assert!(
            no_transmit.hardware_transmit
                && no_transmit.receive_enabled
                && !no_transmit.transmit_enabled
        );
        for flags in [SOFTWARE, ALL & !libc::SOF_TIMESTAMPING_RAW_HARDWARE] {
            let software = with(flags, 1, 1);
            assert!(software.software_receive && software.software_transmit);
            assert!(!software.hardware_receive && !software.hardware_transmit);
            assert!(!software.receive_enabled && !software.transmit_enabled);
        }
    }

    #[test]
    fn interface_without_clock_has_no_clock_number() {
        let info = TsInfo { clock: -1, ..TsInfo::default() };
        let interface = InterfaceTimestamping::from_kernel(info, HwtstampConfig::default());
        assert_eq!(interface, InterfaceTimestamping::default());
    }

    #[test]
    fn loopback_has_software_timestamps_only() {
        let lo = InterfaceTimestamping::query("lo").unwrap();
        assert!(lo.software_receive && lo.software_transmit);
        assert!(!lo.hardware_receive && !lo.hardware_transmit);
        assert!(!lo.receive_enabled && !lo.transmit_enabled);
    }

    #[test]
    fn error_names_missing_interface() {
        for name in ["nope0", "a-name-of-sixteen"] {
            let error = InterfaceTimestamping::query(name).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!(
                    "cannot query the timestamping capabilities of {name}: "
                )),
                "{error}"
            );
        }
    }
}
