//! Queues and offloads of an interface, by the ioctl that ethtool(8) uses too.

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
/// The set of the features' names, each in 32 bytes.
const FEATURE_NAMES: u32 = 4;
const NAME_WORDS: usize = 8;

/// How many queues an interface has in each direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queues {
    /// Those it receives by, at least 1.
    pub rx: u32,
    /// Those it transmits by, at least 1.
    pub tx: u32,
}

impl Queues {
    /// So many in each direction.
    #[must_use]
    pub const fn pairs(count: u32) -> Self {
        Self { rx: count, tx: count }
    }

    /// Those of the other end.
    pub(crate) const fn matching(self) -> Self {
        Self { rx: self.tx, tx: self.rx }
    }
}

/// What an interface takes off its host's hands, each on or off, in the words of `ethtool -k`.
///
/// Some need others: the kernel gives no `tso` without `scatter_gather` and `tx_checksum`, and no
/// `gso` without `scatter_gather`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offloads {
    /// rx-checksumming. On a veth it says only that finished checksums may be verified late.
    pub rx_checksum: bool,
    /// tx-checksumming: frames leave with an unfinished UDP or TCP checksum.
    pub tx_checksum: bool,
    /// scatter-gather: a frame need not lie in one piece.
    pub scatter_gather: bool,
    /// tcp-segmentation-offload: up to 64 KiB of a TCP stream leave as one frame.
    pub tso: bool,
    /// generic-segmentation-offload: the same of any protocol, cut up just before the device.
    pub gso: bool,
    /// generic-receive-offload: frames of one stream are joined. On a veth it is what polls.
    pub gro: bool,
}

impl Offloads {
    /// None: what leaves a host is what a wire would carry.
    pub const OFF: Self = Self::all(false);
    /// All six. The kernel's own choice for a new veth is all but `gro`.
    pub const ON: Self = Self::all(true);

    const fn all(on: bool) -> Self {
        Self { rx_checksum: on, tx_checksum: on, scatter_gather: on, tso: on, gso: on, gro: on }
    }

    /// Each with its name, and how the names of the kernel's features begin and end that it is
    /// made of. The older commands for the six do not reach all of these.
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

/// Those that are on, by the names of `ethtool -k`, or `none`.
impl fmt::Display for Offloads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut copy = *self;
        let on = copy.table().into_iter().filter(|(.., on)| **on);
        let names: Vec<_> = on.map(|(name, ..)| name).collect();
        f.write_str(if names.is_empty() { "none" } else { "" })?;
        f.write_str(&names.join(", "))
    }
}

/// The queues that are there, and how many there may be.
pub(crate) fn queues(interface: &str) -> io::Result<(Queues, Queues)> {
    let mut channels = Channels { command: GET_CHANNELS, ..Channels::default() };
    call(interface, &mut channels)?;
    let real = Queues { rx: channels.rx_count, tx: channels.tx_count };
    Ok((real, Queues { rx: channels.max_rx, tx: channels.max_tx }))
}

/// Switches so many queues on and the others off, and looks whether that is so.
pub(crate) fn set_queues(interface: &str, wanted: Queues) -> io::Result<()> {
    let Queues { rx, tx } = wanted;
    if queues(interface)?.0 == wanted {
        return Ok(());
    }
    let command = SET_CHANNELS;
    let mut channels = Channels { command, rx_count: rx, tx_count: tx, ..Channels::default() };
    call(interface, &mut channels)?;
    let (real, _) = queues(interface)?;
    let refusal = || io::Error::other(format!("asked for {wanted:?}, the kernel has {real:?}"));
    if real == wanted { Ok(()) } else { Err(refusal()) }
}

/// The offloads that are in force: of each, any of the features that it is made of.
pub(crate) fn offloads(interface: &str) -> io::Result<Offloads> {
    let features = Features::of(interface)?;
    let mut offloads = Offloads::OFF;
    for (_, name, on) in offloads.table() {
        *on = features.called(name).any(|feature| features.has(Feature::ACTIVE, feature));
    }
    Ok(offloads)
}

/// Switches offloads on and off, and looks whether that is so.
pub(crate) fn set_offloads(interface: &str, mut wanted: Offloads) -> io::Result<()> {
    let features = Features::of(interface)?;
    // struct ethtool_sfeatures: command, number of blocks, and in each what counts and what is on.
    let count = features.blocks.len();
    let mut request = vec![0; 2 + 2 * count];
    (request[0], request[1]) = (SET_FEATURES, count as u32);
    for (_, name, on) in wanted.table() {
        let changeable = |&index: &usize| features.has(Feature::AVAILABLE, index);
        for feature in features.called(name).filter(changeable) {
            let (block, bit) = (2 + feature / 32 * 2, 1 << (feature % 32));
            request[block] |= bit;
            request[block + 1] |= if *on { bit } else { 0 };
        }
    }
    call(interface, request.as_mut_slice())?;
    // Some of what an offload is made of may be on, and it would count as on.
    let real = Features::of(interface)?;
    let is_asked = |feature: usize| request[2 + feature / 32 * 2] >> (feature % 32) & 1 == 1;
    let is_wished = |feature: usize| request[3 + feature / 32 * 2] >> (feature % 32) & 1 == 1;
    let other: Vec<&str> = (0..features.names.len())
        .filter(|&feature| is_asked(feature))
        .filter(|&feature| real.has(Feature::ACTIVE, feature) != is_wished(feature))
        .map(|feature| features.names[feature].as_str())
        .collect();
    if other.is_empty() {
        return Ok(());
    }
    let other = other.join(", ");
    Err(io::Error::other(format!("asked for {wanted}; the kernel does not switch {other}")))
}

/// All that the kernel can switch on and off at an interface.
#[derive(Debug)]
struct Features {
    names: Vec<String>,
    /// `struct ethtool_get_features_block`: 32 features each.
    blocks: Vec<[u32; 4]>,
}

/// Words of a block.
struct Feature;

impl Feature {
    /// It can be changed.
    const AVAILABLE: usize = 0;
    const ACTIVE: usize = 2;
}

impl Features {
    fn of(interface: &str) -> io::Result<Self> {
        // struct ethtool_sset_info: command, nothing, the sets asked for in 64 bits, one length.
        let [low, high] = if cfg!(target_endian = "little") { [2, 3] } else { [3, 2] };
        let mut lengths = [GET_STRING_SET_INFO, 0, 0, 0, 0];
        (lengths[low], lengths[high]) = (1 << FEATURE_NAMES, 0);
        call(interface, lengths.as_mut_slice())?;
        let count = lengths[4] as usize;
        // struct ethtool_gstrings: command, set, how many, and the names.
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

    fn called(&self, [beginning, end]: [&str; 2]) -> impl Iterator<Item = usize> {
        let is_meant = move |name: &String| name.starts_with(beginning) && name.ends_with(end);
        self.names.iter().enumerate().filter(move |(_, name)| is_meant(name)).map(|(at, _)| at)
    }

    fn has(&self, word: usize, feature: usize) -> bool {
        self.blocks[feature / 32][word] >> (feature % 32) & 1 == 1
    }
}

/// The name in 32 bytes, which zeros end.
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

/// What may be handed to the ioctl.
///
/// # Safety
/// The value is laid out as the structure that its `command`, its first word, reads and writes, and
/// as long as the lengths in it say.
unsafe trait Command {}

// SAFETY: only made with ETHTOOL_GCHANNELS and ETHTOOL_SCHANNELS, whose structure it is.
unsafe impl Command for Channels {}
// SAFETY: made in this file alone, each to the structure named beside it, which is of such words
// and of bytes in fours, and with as many entries behind as its count says.
unsafe impl Command for [u32] {}

/// Asks about an interface in the namespace of the calling thread.
fn call<C: Command + ?Sized>(interface: &str, command: &mut C) -> io::Result<()> {
    // Any socket of the namespace will do.
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    // SAFETY: numbers and a null pointer: all bytes zero is a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte stays zero and ends the name.
    let room = request.ifr_name.len() - 1;
    for (place, byte) in request.ifr_name[..room].iter_mut().zip(interface.bytes()) {
        *place = byte.cast_signed();
    }
    request.ifr_ifru.ifru_data = std::ptr::from_mut(command).cast::<c_char>();
    // SAFETY: the request is whole and lives through the call, and so does the command it points
    // to, which has the layout that the kernel expects (`Command`).
    match unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL as c_ulong, &mut request) } {
        // Above nought: something is wished for that is not to be had; it is looked at afterwards.
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offloads_are_told_by_the_names_of_ethtool() {
        assert_eq!(Offloads::OFF.to_string(), "none");
        let some = Offloads { tx_checksum: true, gro: true, ..Offloads::OFF };
        assert_eq!(some.to_string(), "tx-checksumming, generic-receive-offload");
        assert_eq!(Offloads::ON.to_string().matches(", ").count(), 5);
    }

    #[test]
    fn the_other_end_receives_by_what_this_one_transmits_by() {
        assert_eq!(Queues { rx: 4, tx: 3 }.matching(), Queues { rx: 3, tx: 4 });
    }

    #[test]
    fn an_interface_that_is_not_there_is_an_error() {
        let error = offloads("no-such-if").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENODEV));
    }
}
