//! Queues and offloads of an interface, with the ioctl of ethtool(8).

use std::ffi::{c_char, c_ulong};
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;

/// Commands of linux/ethtool.h.
const GET_CHANNELS: u32 = 0x3c;
const SET_CHANNELS: u32 = 0x3d;
const GET_STRING_SET_INFO: u32 = 0x37;
const GET_STRINGS: u32 = 0x1b;
const GET_FEATURES: u32 = 0x3a;
const SET_FEATURES: u32 = 0x3b;
/// The string set with the names of features, each of 32 bytes.
const FEATURE_NAMES: u32 = 4;
const NAME_WORDS: usize = 8;

/// The number of queues of an interface in each direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queues {
    /// The receive queues, at least 1.
    pub rx: u32,
    /// The transmit queues, at least 1.
    pub tx: u32,
}

impl Queues {
    /// Returns the same number of queues for each direction.
    #[must_use]
    pub const fn pairs(count: u32) -> Self {
        Self { rx: count, tx: count }
    }

    /// Returns the queues of the other end of a veth.
    pub(crate) const fn matching(self) -> Self {
        Self { rx: self.tx, tx: self.rx }
    }
}

/// The offloads of an interface, each on or off, with the names of `ethtool -k`.
///
/// Some require others: `tso` requires `scatter_gather` and `tx_checksum`, and `gso` requires
/// `scatter_gather`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offloads {
    /// rx-checksumming. On a veth, complete checksums may be verified later.
    pub rx_checksum: bool,
    /// tx-checksumming: frames leave with an incomplete UDP or TCP checksum.
    pub tx_checksum: bool,
    /// scatter-gather: a frame may consist of several pieces of memory.
    pub scatter_gather: bool,
    /// tcp-segmentation-offload: up to 64 KiB of a TCP stream leave as one frame.
    pub tso: bool,
    /// generic-segmentation-offload: the same for any protocol, segmented just before the device.
    pub gso: bool,
    /// generic-receive-offload: frames of one stream are merged. On a veth, it enables NAPI
    /// polling.
    pub gro: bool,
}

impl Offloads {
    /// All offloads off: a host sends frames as on a wire.
    pub const OFF: Self = Self::all(false);
    /// All offloads on. The kernel's default for a new veth is all except `gro`.
    pub const ON: Self = Self::all(true);

    const fn all(on: bool) -> Self {
        Self { rx_checksum: on, tx_checksum: on, scatter_gather: on, tso: on, gso: on, gro: on }
    }

    /// Returns each offload with its name, and with the prefix and suffix of the kernel features
    /// that it consists of. The older ioctl commands do not cover all of these features.
    fn table(&mut self) -> [(&'static str, [&'static str; 2], &mut bool); 6] {
        [
            ("rx-checksumming", ["rx-checksum", ""], &mut self.rx_checksum),
            ("tx-checksumming", ["tx-checksum-", ""], &mut self.tx_checksum),
            ("scatter-gather", ["tx-scatter-gather", ""], &mut self.scatter_gather),
            ("tcp-segmentation-offload", ["tx-tcp", "-segmentation"], &mut self.tso),
            ("generic-segmentation-offload", ["tx-generic-segmentation", ""], &mut self.gso),
            ("generic-receive-offload", ["rx-gro", "rx-gro"], &mut self.gro),
        ]
    }
}

/// Formats the offloads that are on, with the names of `ethtool -k`, or `none`.
impl fmt::Display for Offloads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut copy = *self;
        let on = copy.table().into_iter().filter(|(.., on)| **on);
        let names: Vec<_> = on.map(|(name, ..)| name).collect();
        f.write_str(if names.is_empty() { "none" } else { "" })?;
        f.write_str(&names.join(", "))
    }
}

/// Returns the real queues and the maximum.
pub(crate) fn queues(interface: &str) -> io::Result<(Queues, Queues)> {
    let mut channels = Channels { command: GET_CHANNELS, ..Channels::default() };
    call(interface, &mut channels)?;
    let real = Queues { rx: channels.rx_count, tx: channels.tx_count };
    Ok((real, Queues { rx: channels.max_rx, tx: channels.max_tx }))
}

/// Sets the number of real queues and verifies it.
pub(crate) fn set_queues(interface: &str, wanted: Queues) -> io::Result<()> {
    let Queues { rx, tx } = wanted;
    if queues(interface)?.0 == wanted {
        return Ok(());
    }
    let command = SET_CHANNELS;
    let mut channels = Channels { command, rx_count: rx, tx_count: tx, ..Channels::default() };
    call(interface, &mut channels)?;
    let (real, _) = queues(interface)?;
    let error = || io::Error::other(format!("cannot set {wanted:?}: the kernel has {real:?}"));
    if real == wanted { Ok(()) } else { Err(error()) }
}

/// Returns the active offloads. An offload is active if one of its features is.
pub(crate) fn offloads(interface: &str) -> io::Result<Offloads> {
    let features = Features::read(interface)?;
    let mut offloads = Offloads::OFF;
    for (_, name, on) in offloads.table() {
        *on = features.matching(name).any(|feature| features.has(Feature::ACTIVE, feature));
    }
    Ok(offloads)
}

/// Turns offloads on and off and verifies them.
pub(crate) fn set_offloads(interface: &str, mut wanted: Offloads) -> io::Result<()> {
    let features = Features::read(interface)?;
    // struct ethtool_sfeatures: command, number of blocks, and per block a mask and the values.
    let count = features.blocks.len();
    let mut request = vec![0; 2 + 2 * count];
    (request[0], request[1]) = (SET_FEATURES, count as u32);
    for (_, name, on) in wanted.table() {
        let changeable = |&index: &usize| features.has(Feature::AVAILABLE, index);
        for feature in features.matching(name).filter(changeable) {
            let (block, bit) = (2 + feature / 32 * 2, 1 << (feature % 32));
            request[block] |= bit;
            request[block + 1] |= if *on { bit } else { 0 };
        }
    }
    call(interface, request.as_mut_slice())?;
    // `offloads` would hide a single feature that stayed on, so all requested features are
    // verified.
    let real = Features::read(interface)?;
    let is_requested = |feature: usize| request[2 + feature / 32 * 2] >> (feature % 32) & 1 == 1;
    let is_wanted = |feature: usize| request[3 + feature / 32 * 2] >> (feature % 32) & 1 == 1;
    let unchanged: Vec<&str> = (0..features.names.len())
        .filter(|&feature| is_requested(feature))
        .filter(|&feature| real.has(Feature::ACTIVE, feature) != is_wanted(feature))
        .map(|feature| features.names[feature].as_str())
        .collect();
    if unchanged.is_empty() {
        return Ok(());
    }
    let unchanged = unchanged.join(", ");
    Err(io::Error::other(format!("cannot set the offloads {wanted}: unchanged: {unchanged}")))
}

/// The kernel's features of an interface.
#[derive(Debug)]
struct Features {
    names: Vec<String>,
    /// `struct ethtool_get_features_block`, each for 32 features.
    blocks: Vec<[u32; 4]>,
}

/// The fields of a block.
struct Feature;

impl Feature {
    /// Features that can be changed.
    const AVAILABLE: usize = 0;
    /// Features that are on.
    const ACTIVE: usize = 2;
}

impl Features {
    fn read(interface: &str) -> io::Result<Self> {
        // struct ethtool_sset_info: command, reserved, 64-bit mask of the sets, one length.
        let [low, high] = if cfg!(target_endian = "little") { [2, 3] } else { [3, 2] };
        let mut lengths = [GET_STRING_SET_INFO, 0, 0, 0, 0];
        (lengths[low], lengths[high]) = (1 << FEATURE_NAMES, 0);
        call(interface, lengths.as_mut_slice())?;
        let count = lengths[4] as usize;
        // struct ethtool_gstrings: command, set, number of names, and the names.
        let mut strings = vec![0; 3 + NAME_WORDS * count];
        (strings[0], strings[1], strings[2]) = (GET_STRINGS, FEATURE_NAMES, count as u32);
        call(interface, strings.as_mut_slice())?;
        let names = strings[3..].chunks_exact(NAME_WORDS).map(name_in).collect();
        // struct ethtool_gfeatures: command, number of blocks, and the blocks.
        let blocks = count.div_ceil(32);
        let mut features = vec![0; 2 + 4 * blocks];
        (features[0], features[1]) = (GET_FEATURES, blocks as u32);
        call(interface, features.as_mut_slice())?;
        Ok(Self { names, blocks: features[2..].as_chunks::<4>().0.to_vec() })
    }

    fn matching(&self, [prefix, suffix]: [&str; 2]) -> impl Iterator<Item = usize> {
        let matches = move |name: &String| name.starts_with(prefix) && name.ends_with(suffix);
        self.names.iter().enumerate().filter(move |(_, name)| matches(name)).map(|(at, _)| at)
    }

    fn has(&self, word: usize, feature: usize) -> bool {
        self.blocks[feature / 32][word] >> (feature % 32) & 1 == 1
    }
}

/// Returns a name, which ends with zero bytes.
fn name_in(words: &[u32]) -> String {
    let bytes = words.iter().flat_map(|word| word.to_ne_bytes());
    bytes.take_while(|&byte| byte != 0).map(char::from).collect()
}

/// `struct ethtool_channels` of linux/ethtool.h.
#[derive(Debug, Default)]
#[repr(C)]
struct Channels {
    command: u32,
    max_rx: u32,
    max_tx: u32,
    max_other: u32,
    max_combined: u32,
    rx_count: u32,
    tx_count: u32,
    other_count: u32,
    combined_count: u32,
}

/// An argument of the ioctl.
///
/// # Safety
/// The value has the layout of the structure that its command, the first 32-bit word, reads and
/// writes, and the length that its counts require.
unsafe trait Command {}

// SAFETY: used only with ETHTOOL_GCHANNELS and ETHTOOL_SCHANNELS, whose structure this is.
unsafe impl Command for Channels {}
// SAFETY: created only in this file, each for the structure named in the comment there. These
// structures consist of 32-bit words and of names of whole words, followed by as many entries as
// their count.
unsafe impl Command for [u32] {}

/// Runs a command for an interface in the namespace of the calling thread.
fn call<C: Command + ?Sized>(interface: &str, command: &mut C) -> io::Result<()> {
    // The ioctl accepts any socket of the namespace.
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    // SAFETY: the structure contains integers and pointers, so zero bytes are a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte stays zero and terminates the name.
    let room = request.ifr_name.len() - 1;
    for (place, byte) in request.ifr_name[..room].iter_mut().zip(interface.bytes()) {
        *place = byte.cast_signed();
    }
    request.ifr_ifru.ifru_data = std::ptr::from_mut(command).cast::<c_char>();
    // SAFETY: the request and the command that it points to live during the call. The command has
    // the layout that the kernel expects (`Command`).
    match unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL as c_ulong, &mut request) } {
        // Positive: the kernel changed only some features. The caller verifies them.
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_uses_the_names_of_ethtool() {
        assert_eq!(Offloads::OFF.to_string(), "none");
        let some = Offloads { tx_checksum: true, gro: true, ..Offloads::OFF };
        assert_eq!(some.to_string(), "tx-checksumming, generic-receive-offload");
        assert_eq!(Offloads::ON.to_string().matches(", ").count(), 5);
    }

    #[test]
    fn matching_swaps_receive_and_transmit() {
        assert_eq!(Queues { rx: 4, tx: 3 }.matching(), Queues { rx: 3, tx: 4 });
    }

    #[test]
    fn offloads_fail_without_the_interface() {
        let error = offloads("no-such-if").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENODEV));
    }
}
