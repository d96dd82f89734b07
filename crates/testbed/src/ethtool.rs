//! Queues and offloads of an interface, by the ioctl that ethtool(8) uses too.

use std::ffi::{c_char, c_ulong};
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;

/// Commands of linux/ethtool.h.
const GET_CHANNELS: u32 = 0x3c;
const SET_CHANNELS: u32 = 0x3d;

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

    /// Each with its name, and the commands of linux/ethtool.h that ask for it and set it.
    fn table(&mut self) -> [(&'static str, [u32; 2], &mut bool); 6] {
        [
            ("rx-checksumming", [0x14, 0x15], &mut self.rx_checksum),
            ("tx-checksumming", [0x16, 0x17], &mut self.tx_checksum),
            ("scatter-gather", [0x18, 0x19], &mut self.scatter_gather),
            ("tcp-segmentation-offload", [0x1e, 0x1f], &mut self.tso),
            ("generic-segmentation-offload", [0x23, 0x24], &mut self.gso),
            ("generic-receive-offload", [0x2b, 0x2c], &mut self.gro),
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

/// The offloads that are in force.
pub(crate) fn offloads(interface: &str) -> io::Result<Offloads> {
    let mut offloads = Offloads::OFF;
    for (_, [get, _], on) in offloads.table() {
        let mut value = Value { command: get, data: 0 };
        call(interface, &mut value)?;
        *on = value.data != 0;
    }
    Ok(offloads)
}

/// Switches offloads on and off, and looks whether that is so.
pub(crate) fn set_offloads(interface: &str, mut wanted: Offloads) -> io::Result<()> {
    for (_, [_, set], on) in wanted.table() {
        call(interface, &mut Value { command: set, data: u32::from(*on) })?;
    }
    let real = offloads(interface)?;
    let refusal = || io::Error::other(format!("asked for {wanted}; the kernel has {real}"));
    if real == wanted { Ok(()) } else { Err(refusal()) }
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

/// `struct ethtool_value` of linux/ethtool.h.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// What may be handed to the ioctl.
///
/// # Safety
/// The type is laid out as the structure that its `command`, its first word, reads and writes.
unsafe trait Command {}

// SAFETY: only made with ETHTOOL_GCHANNELS and ETHTOOL_SCHANNELS, whose structure it is.
unsafe impl Command for Channels {}
// SAFETY: only made with the commands of `Offloads::table`, which take `struct ethtool_value`.
unsafe impl Command for Value {}

/// Asks about an interface in the namespace of the calling thread.
fn call<C: Command>(interface: &str, command: &mut C) -> io::Result<()> {
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
        0 => Ok(()),
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
    fn an_interface_that_is_not_there_is_an_error() {
        let error = offloads("no-such-if").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENODEV));
    }
}
