//! ethtool(8) requests about one interface. They change nothing and require no capability.
//!
//! Source: linux/ethtool.h.

use std::ffi::c_char;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// linux/sockios.h.
const SIOCETHTOOL: libc::Ioctl = 0x8946;
/// The commands, named as in linux/ethtool.h: `ETHTOOL_GCOALESCE` and so on.
const GET_COALESCING: u32 = 0x0e;
const GET_RINGS: u32 = 0x10;
const GET_STRINGS: u32 = 0x1b;
const GET_FLAGS: u32 = 0x25;
const GET_RX_RINGS: u32 = 0x2d;
const GET_SET_INFO: u32 = 0x37;
const GET_FEATURES: u32 = 0x3a;
const GET_CHANNELS: u32 = 0x3c;
/// `ETH_FLAG_RXVLAN`.
const FLAG_RECEIVE_VLAN: u32 = 1 << 8;
/// `ETH_SS_FEATURES` and `ETH_GSTRING_LEN`.
const FEATURE_NAMES: u32 = 4;
const NAME_WORDS: usize = 32 / 4;
/// The most features that are read. Linux 6.18 has 64.
const FEATURES_MAX: u32 = 256;

/// The settings of an interface's driver, as `ethtool -g`, `-c` and `-k` print them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DriverSettings {
    /// The sizes of the rings; `None` if the driver reports none.
    pub rings: Option<RingSizes>,
    /// Interrupt coalescing; `None` if the driver reports none.
    pub coalescing: Option<Coalescing>,
    /// The names of the active features, in the kernel's spelling, such as `rx-lro`.
    pub active: Vec<String>,
    /// The names of the features that no command changes (`[fixed]`).
    pub fixed: Vec<String>,
}

/// The sizes of the rings of each queue, in descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RingSizes {
    /// The receive ring.
    pub receive: u32,
    /// The largest receive ring.
    pub receive_max: u32,
    /// The transmit ring.
    pub transmit: u32,
    /// The largest transmit ring.
    pub transmit_max: u32,
}

/// The delay of receive interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coalescing {
    /// The longest delay after a frame, in microseconds.
    pub receive_us: u32,
    /// The number of frames that ends the delay; 0 if none does.
    pub receive_frames: u32,
    /// `true` if the driver adapts the delay to the load.
    pub adaptive: bool,
}

impl DriverSettings {
    /// Queries the settings of the interface of this name, in the calling thread's network
    /// namespace.
    ///
    /// # Errors
    /// The kernel's.
    pub fn query(name: &str) -> io::Result<Self> {
        let query = InterfaceQuery::new(name)?;
        let (active, fixed) = query.features()?;
        Ok(Self { rings: query.rings()?, coalescing: query.coalescing()?, active, fixed })
    }

    /// Returns `true` if the feature of this name is active.
    #[must_use]
    pub fn is_active(&self, name: &str) -> bool {
        self.active.iter().any(|active| active == name)
    }

    /// Returns `true` if no command changes the feature of this name.
    #[must_use]
    pub fn is_fixed(&self, name: &str) -> bool {
        self.fixed.iter().any(|fixed| fixed == name)
    }
}

/// An ioctl(2) request about one interface.
pub(crate) struct InterfaceQuery {
    socket: OwnedFd,
    request: libc::ifreq,
}

impl InterfaceQuery {
    pub(crate) fn new(name: &str) -> io::Result<Self> {
        let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
        // SAFETY: the call takes integers and accesses no memory of this process.
        let fd = unsafe { libc::socket(libc::AF_INET, kind, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and has no other owner.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: a request consists of integers, pointers and bytes, for which zero is a valid
        // value.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        // The last byte stays NUL; interface names are shorter.
        let room = request.ifr_name.len() - 1;
        for (to, from) in request.ifr_name[..room].iter_mut().zip(name.bytes()) {
            *to = from.cast_signed() as c_char;
        }
        Ok(Self { socket, request })
    }

    pub(crate) fn mtu(&self) -> io::Result<u32> {
        let mut request = self.request;
        // SAFETY: the request outlives the call.
        let result =
            unsafe { libc::ioctl(self.socket.as_raw_fd(), libc::SIOCGIFMTU, &raw mut request) };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel wrote this member.
        u32::try_from(unsafe { request.ifr_ifru.ifru_mtu }).map_err(io::Error::other)
    }

    /// Returns the current and the maximum number of receive queues. An interface that reports none
    /// has one.
    pub(crate) fn queues(&self) -> io::Result<(u32, u32)> {
        // max_rx, max_tx, max_other, max_combined; rx, tx, other, combined.
        if let Some(channels) = self.numbers::<8>(GET_CHANNELS)? {
            let [max_receive, _, _, max_combined, receive, _, _, combined] = channels;
            let now = (receive + combined).max(1);
            return Ok((now, (max_receive + max_combined).max(now)));
        }
        // The flow type, and the count in 64 bits. The structure has 192 bytes.
        let rings = self.numbers::<47>(GET_RX_RINGS)?;
        let count = rings.map_or(1, |rings| rings[1].max(1));
        Ok((count, count))
    }

    pub(crate) fn strips_vlan(&self) -> io::Result<bool> {
        let flags = self.numbers::<1>(GET_FLAGS)?;
        Ok(flags.is_some_and(|[flags]| flags & FLAG_RECEIVE_VLAN != 0))
    }

    fn rings(&self) -> io::Result<Option<RingSizes>> {
        // rx_max, mini_max, jumbo_max, tx_max; rx, mini, jumbo, tx.
        let rings = self.numbers::<8>(GET_RINGS)?;
        Ok(rings.map(|[receive_max, _, _, transmit_max, receive, _, _, transmit]| RingSizes {
            receive,
            receive_max,
            transmit,
            transmit_max,
        }))
    }

    fn coalescing(&self) -> io::Result<Option<Coalescing>> {
        // rx_usecs, rx_frames, and further ones; use_adaptive_rx is the tenth.
        let numbers = self.numbers::<22>(GET_COALESCING)?;
        Ok(numbers.map(|numbers| Coalescing {
            receive_us: numbers[0],
            receive_frames: numbers[1],
            adaptive: numbers[9] != 0,
        }))
    }

    /// Returns the names of the active features, and of those that no command changes.
    fn features(&self) -> io::Result<(Vec<String>, Vec<String>)> {
        // Reserved, the mask of string sets in 64 bits, and the number of strings of the set.
        let mut info = [GET_SET_INFO, 0, 1 << FEATURE_NAMES, 0, 0];
        let Some(true) = self.ethtool(&mut info)? else { return Ok(Default::default()) };
        // The kernel writes this many strings, whatever the length in the structure is.
        let count = info[4];
        if count > FEATURES_MAX {
            return Ok(Default::default());
        }
        let mut strings = vec![0; 3 + count as usize * NAME_WORDS];
        strings[..3].copy_from_slice(&[GET_STRINGS, FEATURE_NAMES, count]);
        let blocks = count.div_ceil(32);
        // Each block: available, requested, active, never changed.
        let mut features = vec![0; 2 + blocks as usize * 4];
        features[..2].copy_from_slice(&[GET_FEATURES, blocks]);
        if self.ethtool(&mut strings)? != Some(true) || self.ethtool(&mut features)? != Some(true) {
            return Ok(Default::default());
        }
        let named = |is_set: &dyn Fn(&[u32], usize) -> bool| {
            let names = strings[3..].chunks_exact(NAME_WORDS).enumerate();
            let set = names.filter(|(index, _)| {
                let block = &features[2 + index / 32 * 4..][..4];
                is_set(block, index % 32)
            });
            set.map(|(_, name)| text(name)).filter(|name| !name.is_empty()).collect()
        };
        let active = |block: &[u32], bit: usize| block[2] >> bit & 1 != 0;
        let fixed =
            |block: &[u32], bit: usize| block[0] >> bit & 1 == 0 || block[3] >> bit & 1 != 0;
        Ok((named(&active), named(&fixed)))
    }

    /// Returns the numbers after the command in the structure of a command that has `N` of them;
    /// `None` if the driver does not support it.
    fn numbers<const N: usize>(&self, command: u32) -> io::Result<Option<[u32; N]>> {
        let mut structure = vec![0; N + 1];
        structure[0] = command;
        let supported = self.ethtool(&mut structure)? == Some(true);
        Ok(structure[1..].first_chunk().filter(|_| supported).copied())
    }

    /// Runs a command that reads, on the structure that its first word names. Returns `None` for a
    /// structure that is too short for its command, and `false` if the driver does not support it.
    fn ethtool(&self, structure: &mut [u32]) -> io::Result<Option<bool>> {
        if words_of(structure).is_none_or(|words| structure.len() < words) {
            return Ok(None);
        }
        let mut request = self.request;
        request.ifr_ifru.ifru_data = structure.as_mut_ptr().cast();
        // SAFETY: the request and the structure outlive the call, and the structure has the length
        // that the kernel writes for its command, as checked above.
        match unsafe { libc::ioctl(self.socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) } {
            0.. => Ok(Some(true)),
            _ => match io::Error::last_os_error() {
                reason if reason.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(Some(false)),
                reason => Err(reason),
            },
        }
    }
}

/// Returns the number of words that the kernel writes for a structure's command; `None` for a
/// command that is not one of these.
fn words_of(structure: &[u32]) -> Option<usize> {
    let [command, rest @ ..] = structure else { return None };
    Some(match *command {
        GET_COALESCING => 23,
        GET_RINGS | GET_CHANNELS => 9,
        GET_FLAGS => 2,
        GET_RX_RINGS => 48,
        GET_SET_INFO => 5,
        // As many strings as GET_SET_INFO has reported, a constant of the kernel.
        GET_STRINGS => 3 + *rest.get(1)? as usize * NAME_WORDS,
        GET_FEATURES => 2 + *rest.first()? as usize * 4,
        _ => return None,
    })
}

/// Returns the text up to the first NUL.
fn text(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let text = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_features_and_no_rings() {
        let settings = DriverSettings::query("lo").unwrap();
        assert_eq!((settings.rings, settings.coalescing), (None, None));
        // As `ethtool -k lo` prints them: a loopback is its own network namespace's for good.
        for name in ["loopback", "netns-local"] {
            let known = settings.is_active(name) || settings.active.iter().any(|it| it == "rx-gro");
            assert!(known, "{name}: {settings:?}");
        }
        assert!(settings.is_fixed("vlan-challenged") && !settings.is_active("rx-lro"));
    }

    #[test]
    fn missing_interface_is_an_error() {
        assert!(DriverSettings::query("nope0").is_err());
    }

    #[test]
    fn structures_shorter_than_their_command_are_not_passed() {
        assert_eq!(words_of(&[GET_STRINGS, FEATURE_NAMES, 2]), Some(3 + 16));
        assert_eq!(words_of(&[GET_FEATURES, 2]), Some(10));
        assert_eq!([words_of(&[]), words_of(&[GET_STRINGS]), words_of(&[0x5a])], [None; 3]);
        let query = InterfaceQuery::new("lo").unwrap();
        assert_eq!(query.ethtool(&mut [GET_RINGS, 0, 0]).unwrap(), None);
        assert_eq!(query.ethtool(&mut [GET_STRINGS, FEATURE_NAMES, 2, 0]).unwrap(), None);
    }
}
