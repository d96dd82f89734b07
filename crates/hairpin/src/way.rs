//! The way of a process's datagrams, through the kernel or past it, and what is said of it.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};
use std::net::Ipv4Addr;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use hairpin_endpoint::Transport;
use hairpin_feed_handler::Addresses;
use hairpin_host::address_interface;
use hairpin_stack::{Stack, StackError};
use hairpin_time::{Duration, Instant};
use hairpin_xdp::{InterfaceError, ReceiveStamps, SocketError};

use crate::transport::Arguments;

/// What each line about a way begins with.
const WORD: &str = "xdp: ";
/// Between looks whether there is something to be said.
const LOOK: Duration = Duration::from_millis(100);

/// Ample: 32 MiB of memory, of which half is for receiving into.
const AMPLE_FRAMES: u32 = 16_384;

/// Room for frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// The stack's own measure.
    Usual,
    /// For what market data's loops bring flat out while sockets are still opened one by one.
    Ample,
}

/// A way that is open. What becomes of it is said on standard error.
#[derive(Debug)]
pub(crate) struct Way {
    transport: Transport,
    next_look: Instant,
}

impl Way {
    /// The way that `words` ask for, by way of the interface of this name; what was received is to
    /// be stamped by `stamps`, if it comes past the kernel. A user who may not lock as much memory
    /// as `room` takes has the usual room.
    ///
    /// # Errors
    /// The stack's, in one line: capabilities that are missing, no such interface.
    pub(crate) fn open(
        words: &Arguments,
        interface: &str,
        room: Room,
        stamps: ReceiveStamps,
    ) -> Result<Self> {
        if !words.is_xdp() {
            return Ok(Self::by(Transport::Kernel));
        }
        let mut settings = words.stack_settings();
        settings.interface.receive_stamps = stamps;
        if room == Room::Ample {
            settings.interface.umem.frames = AMPLE_FRAMES;
            settings.interface.socket.ring = AMPLE_FRAMES / 2;
        }
        match Stack::open(interface, &settings) {
            Err(StackError::Interface(InterfaceError::Socket {
                reason: SocketError::MemlockLimit(bytes),
                ..
            })) if room == Room::Ample => {
                say(&format_args!(
                    "{interface}: {bytes} bytes of frames cannot be locked (ulimit -l); with fewer"
                ));
                Self::open(words, interface, Room::Usual, stamps)
            }
            stack => {
                let stack = stack?;
                say(&stack);
                Ok(Self::by(Transport::Xdp(stack)))
            }
        }
    }

    fn by(transport: Transport) -> Self {
        Self { transport, next_look: Instant::ZERO }
    }

    /// The same, by way of the interface that has this address.
    ///
    /// # Errors
    /// As [`Way::open`]; no interface has it.
    pub(crate) fn at(
        words: &Arguments,
        address: Ipv4Addr,
        room: Room,
        stamps: ReceiveStamps,
    ) -> Result<Self> {
        let interface = if words.is_xdp() { address_interface(address)? } else { String::new() };
        Self::open(words, &interface, room, stamps)
    }

    /// What endpoints are made by.
    pub(crate) fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Has market data come this way, if it comes by multicast.
    pub(crate) fn bring(&self, addresses: &mut Addresses) {
        if let Addresses::Multicast(feeds) = addresses {
            feeds.transport = self.transport.clone();
        }
    }

    /// Says what has fallen back to the kernel, and come back, in a quiet turn now and then. Else
    /// it costs a comparison.
    #[inline]
    pub(crate) fn tell_if_due(&mut self, now: Instant, is_quiet: bool) {
        if is_quiet && now >= self.next_look {
            self.next_look = now + LOOK;
            self.tell();
        }
    }

    /// Says all that is to be said now.
    #[cold]
    pub(crate) fn tell(&self) {
        let Transport::Xdp(stack) = &self.transport else { return };
        std::iter::from_fn(|| stack.next_event()).for_each(|notice| say(&notice));
    }
}

/// Nothing is left unsaid.
impl Drop for Way {
    fn drop(&mut self) {
        self.tell();
    }
}

fn say(what: &impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{WORD}{what}");
}

/// Says what a child has said of its way, once of all who say it; false if the line is not about
/// that.
pub(crate) fn relay(child: &str, line: &str) -> bool {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let Some(what) = line.strip_prefix(WORD) else { return false };
    let line = format!("{WORD}{child}: {what}");
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if !said.contains(&line) {
        // Over the bar, if one is being drawn; it is drawn again.
        let clear = if io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
        let _ = writeln!(io::stderr(), "{clear}{line}");
        said.insert(line);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_about_a_way_is_relayed() {
        assert!(relay("trader", "xdp: veth0: veth, 1 queue, generic mode, copy"));
        assert!(!relay("trader", "hairpin: xdp: no"));
        assert!(!relay("trader", "interface veth7 does not exist"));
    }

    #[test]
    fn by_the_kernel_nothing_is_opened() {
        let (words, room, stamps) = (Arguments::default(), Room::Usual, ReceiveStamps::Off);
        let way = Way::open(&words, "nowhere0", room, stamps).unwrap();
        assert!(matches!(way.transport(), Transport::Kernel));
        let nowhere = Ipv4Addr::new(192, 0, 2, 1);
        assert!(Way::at(&words, nowhere, room, stamps).is_ok());
    }
}
