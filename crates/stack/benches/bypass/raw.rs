//! Raw frames of the crate.

use std::io;

use hairpin_stack::{InterfaceSettings, RawFrames, Stack, StackSettings};

use crate::frame::{self, ETHER_TYPE, LENGTH};
use crate::port::Port;

/// Frames of one EtherType.
#[derive(Debug)]
pub(crate) struct Raw(RawFrames);

impl Raw {
    /// Opens a dedicated interface.
    pub(crate) fn open(interface: &str, settings: &InterfaceSettings) -> io::Result<Self> {
        let frames = RawFrames::open(interface, ETHER_TYPE, settings).map_err(io::Error::other)?;
        Ok(Self::spinning(frames))
    }

    /// Opens a stack, which other sockets could share.
    pub(crate) fn shared(interface: &str, settings: &StackSettings) -> io::Result<Self> {
        let stack = Stack::open(interface, settings).map_err(io::Error::other)?;
        Ok(Self::spinning(stack.raw_frames(ETHER_TYPE)?))
    }

    fn spinning(mut frames: RawFrames) -> Self {
        frames.set_spinning(true);
        Self(frames)
    }
}

impl Port for Raw {
    #[inline]
    fn send(&mut self, number: u64) -> io::Result<()> {
        let mut packet = self.0.frame(LENGTH as u32).expect("a frame is free");
        let bytes = self.0.bytes_mut(&mut packet);
        frame::write(bytes.first_chunk_mut().expect("the frame has this length"), number);
        self.0.transmit(packet)?.expect("the ring is not full");
        Ok(())
    }

    #[inline]
    fn receive(&mut self) -> io::Result<Option<u64>> {
        let Some(packet) = self.0.receive()? else { return Ok(None) };
        let number = self.0.bytes(&packet).try_into().ok().and_then(frame::number);
        self.0.release(packet);
        Ok(number)
    }

    #[inline]
    fn echo(&mut self) -> io::Result<bool> {
        let Some(mut packet) = self.0.receive()? else { return Ok(false) };
        frame::swap_addresses(self.0.bytes_mut(&mut packet));
        self.0.transmit(packet)?.expect("the ring is not full");
        Ok(true)
    }
}
