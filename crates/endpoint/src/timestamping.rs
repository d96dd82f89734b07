//! Which times to have taken, and which are.

use std::io;
use std::net::Ipv4Addr;

use hairpin_host::address_interface;
use socket2::Socket;

use crate::InterfaceTimestamping;
use crate::socket_option::set;

/// Which timestamps to ask for.
///
/// To ask is all that is done: whether a NIC stamps at all is a setting of the whole device
/// (SIOCSHWTSTAMP, as `hwstamp_ctl` does), which programs share, so it is never changed here.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Timestamping {
    /// None: saves the kernel a reading of its clock, and some 90 bytes per datagram.
    Off,
    /// The kernel's.
    #[default]
    Software,
    /// The NIC's where it takes one, else the kernel's.
    Hardware,
}

/// What a socket's stamps are asked for, and what comes of that.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stamping {
    pub(crate) receive: Timestamping,
    pub(crate) transmit: Timestamping,
    /// A stream, whose stamps are named by their bytes.
    pub(crate) is_stream: bool,
}

/// Linux, `Documentation/networking/timestamping.rst`, 1.3: which stamps to make, which to report.
const RECEIVE_SOFTWARE: u32 = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
const RECEIVE_HARDWARE: u32 =
    libc::SOF_TIMESTAMPING_RX_HARDWARE | libc::SOF_TIMESTAMPING_RAW_HARDWARE;
const TRANSMIT_SOFTWARE: u32 = libc::SOF_TIMESTAMPING_TX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
const TRANSMIT_HARDWARE: u32 =
    libc::SOF_TIMESTAMPING_TX_HARDWARE | libc::SOF_TIMESTAMPING_RAW_HARDWARE;
/// With a number, and without the packet.
const TRANSMIT_REPORT: u32 = libc::SOF_TIMESTAMPING_OPT_ID | libc::SOF_TIMESTAMPING_OPT_TSONLY;

impl Stamping {
    pub(crate) fn of_datagrams(receive: Timestamping) -> Self {
        Self { receive, transmit: Timestamping::Off, is_stream: false }
    }

    pub(crate) fn of_stream(receive: Timestamping) -> Self {
        Self { is_stream: true, ..Self::of_datagrams(receive) }
    }

    /// Asks the kernel for it.
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
        // Counted from the bytes written so far, not from those acknowledged (Linux 6.2).
        let origin = if self.is_stream { libc::SOF_TIMESTAMPING_OPT_ID_TCP } else { 0 };
        receive | transmit | TRANSMIT_REPORT | origin
    }

    /// What is in force on receipt, on the interface with this local address.
    pub(crate) fn received_on(self, interface: Ipv4Addr) -> Timestamping {
        in_force(self.receive, || on(interface)?.is_receive_on.then_some(()))
    }

    /// The same of transmission.
    pub(crate) fn sent_on(self, interface: Ipv4Addr) -> Timestamping {
        in_force(self.transmit, || on(interface)?.is_transmit_on.then_some(()))
    }
}

fn in_force(asked: Timestamping, hardware: impl FnOnce() -> Option<()>) -> Timestamping {
    match asked {
        Timestamping::Hardware if hardware().is_none() => Timestamping::Software,
        other => other,
    }
}

/// What is known of the interface with this local address, if there is one.
fn on(interface: Ipv4Addr) -> Option<InterfaceTimestamping> {
    let name = address_interface(interface).ok()?;
    InterfaceTimestamping::of(&name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Timestamping; 3] =
        [Timestamping::Off, Timestamping::Software, Timestamping::Hardware];

    #[test]
    fn nothing_is_asked_for_unless_wanted() {
        assert_eq!(Stamping::of_datagrams(Timestamping::Off).flags(), 0);
        let transmitting = libc::SOF_TIMESTAMPING_TX_SOFTWARE | libc::SOF_TIMESTAMPING_TX_HARDWARE;
        let receiving = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_RX_HARDWARE;
        for wanted in ALL {
            let flags = Stamping::of_datagrams(wanted).flags();
            assert_eq!(flags & (transmitting | TRANSMIT_REPORT), 0);
            let stamping = Stamping { transmit: wanted, ..Stamping::of_stream(Timestamping::Off) };
            assert_eq!(stamping.flags() & receiving, 0);
        }
    }

    #[test]
    fn hardware_is_asked_for_beside_software_and_both_are_reported() {
        for (receive, transmit) in ALL.into_iter().flat_map(|one| ALL.map(|other| (one, other))) {
            let flags = Stamping { receive, transmit, is_stream: false }.flags();
            let has = |bits: u32| flags & bits == bits;
            assert_eq!(has(RECEIVE_SOFTWARE), receive != Timestamping::Off);
            assert_eq!(has(TRANSMIT_SOFTWARE | TRANSMIT_REPORT), transmit != Timestamping::Off);
            assert_eq!(has(RECEIVE_HARDWARE), receive == Timestamping::Hardware);
            assert_eq!(has(TRANSMIT_HARDWARE), transmit == Timestamping::Hardware);
            assert!(!has(libc::SOF_TIMESTAMPING_OPT_ID_TCP));
        }
    }

    #[test]
    fn hardware_is_in_force_only_where_it_is() {
        for asked in ALL {
            assert_eq!(in_force(asked, || Some(())), asked);
        }
        assert_eq!(in_force(Timestamping::Hardware, || None), Timestamping::Software);
        assert_eq!(in_force(Timestamping::Off, || None), Timestamping::Off);
    }
}
