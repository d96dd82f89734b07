//! What a network interface is and can do, as its driver says.

use std::ffi::c_char;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// An interface's driver and its abilities to stamp packets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NicFacts {
    /// The driver's name, `veth` or `virtio_net`; `None` if it has none to tell (`lo`).
    pub driver: Option<String>,
    /// Who can stamp packets here.
    pub stamps: Stamps,
}

/// Which time stamps an interface has for SO_TIMESTAMPING (ethtool's `-T`).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Stamps {
    /// The kernel stamps what arrives.
    pub software_receive: bool,
    /// The driver has the kernel stamp what leaves.
    pub software_transmit: bool,
    /// The card stamps what arrives, all packets or some.
    pub hardware_receive: bool,
    /// The card stamps what leaves.
    pub hardware_transmit: bool,
    /// The number N of the card's clock, /dev/ptpN.
    pub ptp_clock: Option<u32>,
}

impl NicFacts {
    /// Asks the driver of the interface called `name`, in the calling thread's network namespace.
    ///
    /// # Errors
    /// `NotFound` if there is no such interface; the kernel's.
    pub fn read(name: &str) -> io::Result<Self> {
        let socket = control_socket()?;
        let mut driver = DriverInfo { command: GET_DRIVER_INFO, bytes: [0; 192] };
        let known = request(&socket, name, (&raw mut driver).cast())?;
        let mut info = StampInfo { command: GET_STAMP_INFO, ..StampInfo::default() };
        let answered = request(&socket, name, (&raw mut info).cast())?;
        let driver = known.then(|| text(&driver.bytes[..NAME_LENGTH])).flatten();
        Ok(Self { driver, stamps: if answered { info.into() } else { Stamps::default() } })
    }
}

/// linux/ethtool.h: ETHTOOL_GDRVINFO and ETHTOOL_GET_TS_INFO.
const GET_DRIVER_INFO: u32 = 0x3;
const GET_STAMP_INFO: u32 = 0x41;
/// linux/sockios.h.
const SIOCETHTOOL: libc::Ioctl = 0x8946;
/// Bytes of a driver's name.
const NAME_LENGTH: usize = 32;

/// `struct ethtool_drvinfo`, 196 bytes: the driver's name is the first 32 of these.
#[repr(C)]
struct DriverInfo {
    command: u32,
    bytes: [u8; 192],
}

/// `struct ethtool_ts_info`.
#[repr(C)]
#[derive(Default, Clone, Copy)]
struct StampInfo {
    command: u32,
    /// Bits of SOF_TIMESTAMPING_*.
    abilities: u32,
    /// -1: the card has no clock.
    ptp_clock: i32,
    transmit_types: u32,
    reserved: [u32; 3],
    receive_filters: u32,
    reserved_too: [u32; 3],
}

impl From<StampInfo> for Stamps {
    fn from(info: StampInfo) -> Self {
        // A card that stamps has its own way to say so, and a reading of its own clock to give.
        let can = |bits: libc::c_uint| info.abilities & bits == bits;
        let hardware = libc::SOF_TIMESTAMPING_RAW_HARDWARE;
        Self {
            software_receive: can(libc::SOF_TIMESTAMPING_RX_SOFTWARE),
            software_transmit: can(libc::SOF_TIMESTAMPING_TX_SOFTWARE),
            hardware_receive: can(libc::SOF_TIMESTAMPING_RX_HARDWARE | hardware),
            hardware_transmit: can(libc::SOF_TIMESTAMPING_TX_HARDWARE | hardware),
            ptp_clock: u32::try_from(info.ptp_clock).ok(),
        }
    }
}

/// Any socket will do to speak to an interface by.
fn control_socket() -> io::Result<OwnedFd> {
    // SAFETY: takes numbers and touches no memory of ours.
    let fd = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Has the driver of `name` fill in the structure at `data`, which begins with its command; false
/// if the driver does not know the command.
fn request(socket: &OwnedFd, name: &str, data: *mut c_char) -> io::Result<bool> {
    let missing =
        || io::Error::new(io::ErrorKind::NotFound, format!("interface {name} does not exist"));
    // SAFETY: a request is integers, pointers and bytes, for all of which zero is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte stays the NUL that ends the name.
    if name.is_empty() || name.len() >= request.ifr_name.len() {
        return Err(missing());
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from.cast_signed() as c_char;
    }
    request.ifr_ifru.ifru_data = data;
    // SAFETY: the request is valid until the call returns, and so is what `data` points to: both
    // callers pass a structure as large as their command has the kernel write.
    if unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) } == 0 {
        return Ok(true);
    }
    match io::Error::last_os_error() {
        error if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(false),
        error if error.raw_os_error() == Some(libc::ENODEV) => Err(missing()),
        error => Err(error),
    }
}

/// The text up to the first NUL; `None` if there is none.
fn text(bytes: &[u8]) -> Option<String> {
    let bytes = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_stamped_by_the_kernel_and_by_no_card() {
        let Stamps { software_receive, hardware_receive, hardware_transmit, ptp_clock, .. } =
            NicFacts::read("lo").unwrap().stamps;
        assert!(software_receive);
        assert!(!hardware_receive && !hardware_transmit);
        assert_eq!(ptp_clock, None);
    }

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        for name in ["nope0", "a-name-of-sixteen", ""] {
            let error = NicFacts::read(name).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
            assert_eq!(error.to_string(), format!("interface {name} does not exist"));
        }
    }

    #[test]
    fn a_card_needs_a_clock_of_its_own_to_stamp() {
        let of =
            |abilities| Stamps::from(StampInfo { abilities, ptp_clock: 3, ..Default::default() });
        let raw = libc::SOF_TIMESTAMPING_RAW_HARDWARE;
        let [rx, tx] = [libc::SOF_TIMESTAMPING_RX_HARDWARE, libc::SOF_TIMESTAMPING_TX_HARDWARE];
        assert!(!of(rx | tx).hardware_receive && !of(rx | tx).hardware_transmit);
        assert!(of(rx | raw).hardware_receive && !of(rx | raw).hardware_transmit);
        assert!(!of(tx | raw).hardware_receive && of(tx | raw).hardware_transmit);
        assert_eq!(of(0).ptp_clock, Some(3));
        assert!(!of(0).software_receive && !of(0).software_transmit);
    }

    #[test]
    fn a_drivers_name_ends_at_the_first_nul() {
        assert_eq!(text(b"veth\0\0rest").as_deref(), Some("veth"));
        assert_eq!(text(&[0; 32]), None);
    }
}
