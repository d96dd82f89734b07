//! What opening an interface will do, decided from its properties.

use std::io;

use crate::device::Device;
use crate::filter::{LinkError, Mode};
use crate::interface::{InterfaceError, InterfaceSettings};
use crate::netdev::Features;
use crate::socket::CopyMode;
use crate::umem::UmemSettings;

/// The longest IP packet. The MTU of loopback is longer.
const PACKET_MAX: u32 = 65_535;
/// The driver of a bond, as ethtool names it.
const BOND: &str = "bonding";

/// What [`Interface::open`](crate::Interface::open) will do, as far as it is known before.
///
/// The kernel decides about native mode when the filter is attached: a driver can refuse because of
/// its rings or offloads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterfacePlan {
    /// The mode of the filter. `Auto` if the kernel does not report the driver's features: native
    /// if the driver supports it, otherwise generic.
    pub mode: Mode,
    /// The number of receive queues, each with a socket.
    pub queues: u32,
    /// The transfer of frames between driver and process.
    pub copy_mode: CopyMode,
    /// The highest MTU whose packets fit one frame of the UMEM, in bytes. Longer packets of TCP
    /// arrive in parts; the kernel receives longer datagrams.
    pub max_mtu: u32,
    /// The size of the locked memory, in bytes.
    pub locked_bytes: u64,
}

impl InterfacePlan {
    /// Plans the use of an interface. It changes nothing and requires no capability.
    ///
    /// # Errors
    /// `Mtu`, `Frames`; `Link` if native mode is set and the driver reports none.
    pub fn new(device: &Device, settings: &InterfaceSettings) -> Result<Self, InterfaceError> {
        let umem = settings.umem.for_mtu(device.mtu);
        check_mtu(device, &umem, settings.socket.long_frames)?;
        check_frames(device, &umem)?;
        let refused = |reason| InterfaceError::Link { name: device.name.clone(), reason };
        check_mode(device, settings.mode).map_err(refused)?;
        // A driver may have native mode for frames in one buffer only.
        let is_jumbo = device.mtu > umem.max_mtu();
        let features = device
            .features
            .map(|it| Features { native: it.native && (it.multi_buffer || !is_jumbo), ..it });
        let mode = match (resolve_mode(device, settings.mode), features) {
            (Mode::Auto, Some(features)) if features.native => Mode::Native,
            (Mode::Auto, Some(_)) => Mode::Generic,
            (Mode::Native, Some(features)) if !features.native => {
                let what = if is_jumbo { "not with this MTU" } else { "not in this driver" };
                let reason = io::Error::new(io::ErrorKind::Unsupported, what);
                return Err(refused(LinkError::Refused { mode: Mode::Native, reason }));
            }
            (mode, _) => mode,
        };
        let UmemSettings { frames, frame_size, .. } = umem;
        Ok(Self {
            mode,
            queues: device.queues,
            copy_mode: if mode == Mode::Generic {
                CopyMode::Copy
            } else {
                settings.socket.copy_mode
            },
            max_mtu: umem.for_mtu(u32::MAX).max_mtu(),
            locked_bytes: u64::from(frames) * u64::from(frame_size),
        })
    }
}

pub(crate) fn check_mtu(
    device: &Device,
    umem: &UmemSettings,
    takes_long_frames: bool,
) -> Result<(), InterfaceError> {
    let max_mtu = umem.max_mtu();
    let takes_parts = takes_long_frames && device.delivers_parts && device.mtu <= PACKET_MAX;
    if device.mtu <= max_mtu || takes_parts {
        return Ok(());
    }
    let (name, mtu, frame_size) = (device.name.clone(), device.mtu, umem.frame_size);
    Err(InterfaceError::Mtu { name, mtu, frame_size, max_mtu })
}

pub(crate) fn check_frames(device: &Device, umem: &UmemSettings) -> Result<(), InterfaceError> {
    let (queues, frames) = (device.queues, umem.frames);
    // Zero frames are reported by `UmemSettings`.
    if frames == 0 || frames >= queues.saturating_mul(2) {
        return Ok(());
    }
    Err(InterfaceError::Frames { name: device.name.clone(), queues, frames })
}

/// Refuses native mode on a bond: its members run the filter, and their frames do not reach a
/// socket of the bond, so that they would be lost.
pub(crate) fn check_mode(device: &Device, mode: Mode) -> Result<(), LinkError> {
    if mode != Mode::Native || device.driver.as_deref() != Some(BOND) {
        return Ok(());
    }
    let reason = "the members of a bond do not deliver to its sockets; use generic mode";
    Err(LinkError::Refused { mode, reason: io::Error::new(io::ErrorKind::Unsupported, reason) })
}

/// Resolves [`Mode::Auto`]: generic on a veth, whose native mode copies each frame once more;
/// otherwise native if the driver supports it.
pub(crate) fn resolve_mode(device: &Device, mode: Mode) -> Mode {
    match (mode, device.driver.as_deref()) {
        (Mode::Auto, Some("veth" | BOND)) => Mode::Generic,
        (mode, _) => mode,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netdev::Features;

    fn device(mtu: u32) -> Device {
        Device { mtu, ..Device::from_name("lo").unwrap() }
    }

    #[test]
    fn mode_follows_the_features_of_the_driver() {
        let plan = |driver: Option<&str>, native: Option<bool>, mode| {
            let features = native.map(|native| Features { native, ..Features::default() });
            let driver = driver.map(str::to_owned);
            let device = Device { driver, features, ..device(1_500) };
            let settings = InterfaceSettings { mode, ..InterfaceSettings::default() };
            InterfacePlan::new(&device, &settings).map(|plan| plan.mode).ok()
        };
        assert_eq!(plan(Some("ice"), Some(true), Mode::Auto), Some(Mode::Native));
        assert_eq!(plan(Some("e1000"), Some(false), Mode::Auto), Some(Mode::Generic));
        assert_eq!(plan(Some("old"), None, Mode::Auto), Some(Mode::Auto));
        assert_eq!(plan(Some("veth"), Some(true), Mode::Auto), Some(Mode::Generic));
        assert_eq!(plan(Some("veth"), Some(true), Mode::Native), Some(Mode::Native));
        assert_eq!(plan(Some("e1000"), Some(false), Mode::Native), None);
        assert_eq!(plan(Some(BOND), Some(true), Mode::Native), None);
    }

    #[test]
    fn plan_has_the_limits_of_the_frame_memory() {
        let plan = InterfacePlan::new(&device(1_500), &InterfaceSettings::default()).unwrap();
        assert_eq!((plan.max_mtu, plan.locked_bytes, plan.queues), (3_822, 4 << 20, 1));
        let error = InterfacePlan::new(&device(9_000), &InterfaceSettings::default());
        assert!(matches!(error, Err(InterfaceError::Mtu { .. })), "{error:?}");
    }

    #[test]
    fn bond_has_generic_mode_only() {
        let bond = Device { driver: Some(BOND.to_string()), ..device(1_500) };
        assert_eq!(resolve_mode(&bond, Mode::Auto), Mode::Generic);
        let error = check_mode(&bond, Mode::Native).unwrap_err().to_string();
        assert!(error.starts_with("native mode: the members of a bond"), "{error}");
        assert!(check_mode(&bond, Mode::Generic).is_ok());
        assert!(check_mode(&device(1_500), Mode::Native).is_ok());
    }

    #[test]
    fn mtu_check_names_the_largest_mtu_that_fits() {
        let umem = UmemSettings::default();
        assert!(check_mtu(&device(1_774), &umem, false).is_ok());
        let large = umem.for_mtu(1_775);
        assert_eq!((large.frame_size, large.frames), (4_096, 1_024));
        assert!(check_mtu(&device(3_822), &large, false).is_ok());
        let error = check_mtu(&device(3_823), &large, false).unwrap_err().to_string();
        assert_eq!(
            error,
            "cannot use lo: MTU 3823 exceeds 3822, the most that frames of 4096 bytes hold \
             (longer ones arrive in parts on Linux 6.6 or newer)"
        );
        for delivers_parts in [false, true] {
            let device = Device { delivers_parts, ..device(9_000) };
            assert_eq!(check_mtu(&device, &large, true).is_ok(), delivers_parts);
            assert!(check_mtu(&device, &large, false).is_err());
            assert!(check_mtu(&Device { mtu: 65_536, ..device }, &large, true).is_err());
        }
    }

    #[test]
    fn frame_check_requires_two_frames_per_queue() {
        let device = Device { queues: 4, ..device(1_500) };
        let umem = |frames| UmemSettings { frames, ..UmemSettings::default() };
        assert!(check_frames(&device, &umem(8)).is_ok());
        let error = check_frames(&device, &umem(7)).unwrap_err().to_string();
        assert_eq!(
            error,
            "cannot use lo: 7 frames are too few for 4 queues, use at least two per queue"
        );
    }
}
