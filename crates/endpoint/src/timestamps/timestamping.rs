//! The timestamps to request from the kernel.

use std::io;
use std::net::Ipv4Addr;

use hairpin_host::address_interface;
use socket2::Socket;

use crate::InterfaceTimestamping;
use crate::kernel::socket_option::set;

/// The kind of timestamps to request.
///
/// This is only a request. Whether a NIC takes timestamps at all is a setting of the whole device
/// (SIOCSHWTSTAMP, see `hwstamp_ctl`). Programs share that setting, so it is never changed here.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Timestamping {
    /// No timestamps. Saves the kernel a clock reading and about 90 bytes per datagram.
    Off,
    /// The kernel's timestamps.
    #[default]
    Software,
    /// The NIC's timestamps where available, otherwise the kernel's.
    Hardware,
}

/// The timestamps that a socket requests, converted to flags.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimestampFlags {
    pub(crate) receive: Timestamping,
    pub(crate) transmit: Timestamping,
    /// `true` for a stream, whose timestamp ids count bytes.
    pub(crate) stream: bool,
}

/// The flags to generate and to report timestamps (Linux,
/// `Documentation/networking/timestamping.rst`, 1.3).
const RECEIVE_SOFTWARE: u32 = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
const RECEIVE_HARDWARE: u32 =
    libc::SOF_TIMESTAMPING_RX_HARDWARE | libc::SOF_TIMESTAMPING_RAW_HARDWARE;
const TRANSMIT_SOFTWARE: u32 = libc::SOF_TIMESTAMPING_TX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
const TRANSMIT_HARDWARE: u32 =
    libc::SOF_TIMESTAMPING_TX_HARDWARE | libc::SOF_TIMESTAMPING_RAW_HARDWARE;
/// The flags to report an id and no packet data.
const TRANSMIT_REPORT: u32 = libc::SOF_TIMESTAMPING_OPT_ID | libc::SOF_TIMESTAMPING_OPT_TSONLY;

impl TimestampFlags {
    pub(crate) fn for_datagrams(receive: Timestamping) -> Self {
        Self { receive, transmit: Timestamping::Off, stream: false }
    }

    pub(crate) fn for_stream(receive: Timestamping) -> Self {
        Self { stream: true, ..Self::for_datagrams(receive) }
    }

    /// Sets the socket option.
    pub(crate) fn request(self, socket: &Socket) -> io::Result<()> {
        set(socket, libc::SO_TIMESTAMPING, self.flags().cast_signed())
    }

    fn flags(self) -> u32 {
        let receive = match self.receive {
            Timestamping::Off => 0,
            Timestamping::Software => RECEIVE_SOFTWARE,
            Timestamping::Hardware => RECEIVE_SOFTWARE | RECEIVE_HARDWARE,
        };
        let transmit = match self.transmit {
            Timestamping::Off => return receive,
            Timestamping::Software => TRANSMIT_SOFTWARE,
            Timestamping::Hardware => TRANSMIT_SOFTWARE | TRANSMIT_HARDWARE,
        };
        // Ids count from the bytes written so far, not from those acknowledged (Linux 6.2).
        let origin = if self.stream { libc::SOF_TIMESTAMPING_OPT_ID_TCP } else { 0 };
        receive | transmit | TRANSMIT_REPORT | origin
    }

    /// Returns the active receive timestamping on the interface with this local address.
    pub(crate) fn receive_timestamping_on(self, interface: Ipv4Addr) -> Timestamping {
        active(self.receive, || query(interface)?.receive_enabled.then_some(()))
    }

    /// Returns the active transmit timestamping on the interface with this local address.
    pub(crate) fn transmit_timestamping_on(self, interface: Ipv4Addr) -> Timestamping {
        active(self.transmit, || query(interface)?.transmit_enabled.then_some(()))
    }
}

fn active(requested: Timestamping, hardware: impl FnOnce() -> Option<()>) -> Timestamping {
    match requested {
        Timestamping::Hardware if hardware().is_none() => Timestamping::Software,
        other => other,
    }
}

/// Returns the timestamping state of the interface with this local address, if there is one.
fn query(interface: Ipv4Addr) -> Option<InterfaceTimestamping> {
    let name = address_interface(interface).ok()?;
    InterfaceTimestamping::query(&name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Timestamping; 3] =
        [Timestamping::Off, Timestamping::Software, Timestamping::Hardware];

    #[test]
    fn requests_no_flags_when_off() {
        assert_eq!(TimestampFlags::for_datagrams(Timestamping::Off).flags(), 0);
        let transmitting = libc::SOF_TIMESTAMPING_TX_SOFTWARE | libc::SOF_TIMESTAMPING_TX_HARDWARE;
        let receiving = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_RX_HARDWARE;
        for wanted in ALL {
            let flags = TimestampFlags::for_datagrams(wanted).flags();
            assert_eq!(flags & (transmitting | TRANSMIT_REPORT), 0);
            let flags = TimestampFlags {
                transmit: wanted,
                ..TimestampFlags::for_stream(Timestamping::Off)
            };
            assert_eq!(flags.flags() & receiving, 0);
        }
    }

    #[test]
    fn hardware_requests_software_timestamps_too() {
        for (receive, transmit) in ALL.into_iter().flat_map(|one| ALL.map(|other| (one, other))) {
            let flags = TimestampFlags { receive, transmit, stream: false }.flags();
            let has = |bits: u32| flags & bits == bits;
            assert_eq!(has(RECEIVE_SOFTWARE), receive != Timestamping::Off);
            assert_eq!(has(TRANSMIT_SOFTWARE | TRANSMIT_REPORT), transmit != Timestamping::Off);
            assert_eq!(has(RECEIVE_HARDWARE), receive == Timestamping::Hardware);
            assert_eq!(has(TRANSMIT_HARDWARE), transmit == Timestamping::Hardware);
            assert!(!has(libc::SOF_TIMESTAMPING_OPT_ID_TCP));
        }
    }

    #[test]
    fn hardware_falls_back_to_software() {
        for requested in ALL {
            assert_eq!(active(requested, || Some(())), requested);
        }
        assert_eq!(active(Timestamping::Hardware, || None), Timestamping::Software);
        assert_eq!(active(Timestamping::Off, || None), Timestamping::Off);
    }
}
