//! UDP sockets of the crate: payloads read in their frames, headers prepared in advance.

use std::io;
use std::net::SocketAddrV4;
use std::time::{Duration, Instant};

use hairpin_stack::{Destination, SocketOptions, Stack, StackSettings, UdpSocket};

use crate::frame::{MESSAGE, message_number};
use crate::port::Port;

/// The time limit for resolving the neighbor.
const TIMEOUT: Duration = Duration::from_secs(3);

/// A socket with one destination.
#[derive(Debug)]
pub(crate) struct Udp {
    socket: UdpSocket,
    to: Destination,
}

impl Udp {
    pub(crate) fn open(
        interface: &str,
        settings: &StackSettings,
        local: SocketAddrV4,
        remote: SocketAddrV4,
    ) -> io::Result<Self> {
        let stack = Stack::open(interface, settings).map_err(io::Error::other)?;
        let mut socket = stack.bind(local.into(), &SocketOptions::default())?;
        socket.set_spinning(true);
        let to = socket.destination(remote.into())?;
        let mut udp = Self { socket, to };
        udp.wait_for_path()?;
        Ok(udp)
    }

    /// Sends uncounted messages until the path bypasses the kernel.
    fn wait_for_path(&mut self) -> io::Result<()> {
        let until = Instant::now() + TIMEOUT;
        loop {
            self.send(u64::MAX)?;
            match self.to.fallback_reason() {
                None => return Ok(()),
                Some(reason) if Instant::now() > until => {
                    return Err(io::Error::other(reason.to_string()));
                }
                Some(_) => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }
}

impl Port for Udp {
    #[inline]
    fn send(&mut self, number: u64) -> io::Result<()> {
        let fill = |message: &mut [u8]| message[..8].copy_from_slice(&number.to_le_bytes());
        self.socket.transmit_to(&mut self.to, MESSAGE, fill)
    }

    #[inline]
    fn receive(&mut self) -> io::Result<Option<u64>> {
        let mut number = None;
        self.socket.receive(1, |_, message| {
            number = (message.len() == MESSAGE).then(|| message_number(message));
        })?;
        Ok(number)
    }

    #[inline]
    fn echo(&mut self) -> io::Result<bool> {
        let number = self.receive()?;
        number.map_or(Ok(()), |number| self.send(number))?;
        Ok(number.is_some())
    }
}
