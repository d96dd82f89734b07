//! Raw frames as something that a reactor waits for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use anyhow::Result;
use hairpin_endpoint::{Blocker, Source};
use hairpin_stack::RawFrames;
use hairpin_time::Duration;
use hairpin_wire::MacAddress;
use hairpin_xdp::Device;

use crate::transport;

/// An Ethernet header.
const HEADER: usize = 14;

/// Frames of one EtherType on one interface, and what is known of that.
#[derive(Debug)]
pub(crate) struct RawPort {
    pub(crate) frames: RawFrames,
    /// The interface's Ethernet address.
    pub(crate) own: MacAddress,
    /// The longest frame that the interface carries, in bytes from the Ethernet header on.
    pub(crate) longest: usize,
    /// Interface, driver, queues, mode, copies and stamps, in a line.
    pub(crate) way: String,
}

impl RawPort {
    /// Takes the frames of an EtherType off the interface of this name.
    ///
    /// # Errors
    /// The stack's: no such interface, no right to it; another process has it.
    pub(crate) fn open(
        interface: &str,
        transport: &transport::Arguments,
        ether_type: u16,
    ) -> Result<Self> {
        let settings = transport.stack_settings().interface;
        let frames = RawFrames::open(interface, ether_type, &settings)?;
        let own = MacAddress(frames.mac());
        let longest = Device::from_name(interface)?.mtu as usize + HEADER;
        Ok(Self { way: frames.to_string(), frames, own, longest })
    }
}

impl AsFd for RawPort {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.frames.as_fd()
    }
}

/// It cannot block in its receive: a reactor polls for it.
impl Source for RawPort {
    fn set_blocking(&mut self, _: Option<Duration>) -> io::Result<Option<Blocker>> {
        Ok(None)
    }

    fn set_spinning(&mut self, is_spinning: bool) {
        self.frames.set_spinning(is_spinning);
    }
}
