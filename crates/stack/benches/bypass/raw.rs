//! Raw frames, as the crate hands them out.

use std::io;

use hairpin_stack::{RawFrames, Stack, StackSettings};

use crate::frame::{self, ETHER_TYPE, LENGTH};
use crate::port::Port;

/// Frames of one EtherType.
#[derive(Debug)]
pub(crate) struct Raw(RawFrames);

impl Raw {
    pub(crate) fn open(interface: &str, settings: &StackSettings) -> io::Result<Self> {
        let stack = Stack::open(interface, settings).map_err(io::Error::other)?;
        let mut frames = stack.raw_frames(ETHER_TYPE)?;
        frames.set_spinning(true);
        Ok(Self(frames))
    }
}

impl Port for Raw {
    #[inline]
    fn send(&mut self, number: u64) -> io::Result<()> {
        let mut packet = self.0.frame(LENGTH as u32).expect("a frame is free");
        let bytes = self.0.bytes_mut(&mut packet);
        frame::write(bytes.first_chunk_mut().expect("so many bytes"), number);
        self.0.transmit(packet)?.expect("room in the ring");
        Ok(())
    }

    #[inline]
    fn receive(&mut self) -> io::Result<Option<u64>> {
        let Some(packet) = self.0.receive()? else { return Ok(None) };
        let number = self.0.bytes(&packet).try_into().ok().and_then(frame::number);
        self.0.give(packet);
        Ok(number)
    }

    #[inline]
    fn echo(&mut self) -> io::Result<bool> {
        let Some(mut packet) = self.0.receive()? else { return Ok(false) };
        frame::turn_round(self.0.bytes_mut(&mut packet));
        self.0.transmit(packet)?.expect("room in the ring");
        Ok(true)
    }
}
