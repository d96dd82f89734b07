//! Raw frames as a source of a reactor.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use anyhow::Result;
use hairpin_endpoint::{Blocker, Source};
use hairpin_stack::RawFrames;
use hairpin_time::Duration;
use hairpin_wire::MacAddress;
use hairpin_xdp::Device;

use crate::transport;

/// The length of an Ethernet header.
const HEADER: usize = 14;

/// The frames of one EtherType on one interface.
#[derive(Debug)]
pub struct RawPort {
    /// The frames, to receive and to send.
    pub frames: RawFrames,
    /// The interface's Ethernet address.
    pub own: MacAddress,
    /// The longest frame of the interface, in bytes from the Ethernet header.
    pub longest: usize,
    /// A line with interface, driver, queues, mode, copies and timestamps.
    pub datapath: String,
}

impl RawPort {
    /// Starts to receive the frames of an EtherType from an interface.
    ///
    /// # Errors
    /// Those of the stack: no such interface, missing capabilities, used by another process.
    pub fn open(
        interface: &str,
        transport: &transport::TransportArgs,
        ether_type: u16,
    ) -> Result<Self> {
        let settings = transport.stack_settings().interface;
        let frames = RawFrames::open(interface, ether_type, &settings)?;
        let own = MacAddress(frames.mac());
        let longest = Device::from_name(interface)?.mtu as usize + HEADER;
        Ok(Self { datapath: frames.to_string(), frames, own, longest })
    }
}

impl AsFd for RawPort {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.frames.as_fd()
    }
}

/// Returns no blocker: a reactor polls the descriptor instead.
impl Source for RawPort {
    fn set_blocking(&mut self, _: Option<Duration>) -> io::Result<Option<Blocker>> {
        Ok(None)
    }

    fn set_spinning(&mut self, is_spinning: bool) {
        self.frames.set_spinning(is_spinning);
    }
}
