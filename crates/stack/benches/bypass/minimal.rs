//! The lower bound: an AF_XDP socket with minimal code around it.

use std::io;

use hairpin_testbed::MinimalSocket;

use crate::frame::{self, LENGTH};
use crate::port::Port;

impl Port for MinimalSocket {
    #[inline]
    fn send(&mut self, number: u64) -> io::Result<()> {
        self.send(LENGTH, |bytes| {
            if let Some(bytes) = bytes.first_chunk_mut() {
                frame::write(bytes, number);
            }
        })
    }

    #[inline]
    fn receive(&mut self) -> io::Result<Option<u64>> {
        Ok(self.receive(|bytes| frame::number(bytes.try_into().ok()?)).flatten())
    }

    #[inline]
    fn echo(&mut self) -> io::Result<bool> {
        self.echo(|bytes| {
            let is_ours = bytes.len() == LENGTH;
            if is_ours {
                frame::swap_addresses(bytes);
            }
            is_ours
        })
    }
}
