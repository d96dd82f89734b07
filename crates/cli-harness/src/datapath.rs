//! The datapath of a process's sockets, through the kernel or AF_XDP, and its notices.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};
use std::net::Ipv4Addr;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use hairpin_endpoint::Transport;
use hairpin_feed_handler::Addresses;
use hairpin_host::address_interface;
use hairpin_mapped::{CounterWriter, Unit};
use hairpin_measure::Style;
use hairpin_stack::{Stack, StackError};
use hairpin_time::{Duration, Instant};
use hairpin_xdp::{InterfaceError, ReceiveStamps, SocketError};

use crate::preload;
use crate::transport::TransportArgs;

/// The prefix of each line about the datapath.
const PREFIX: &str = "xdp: ";
/// The interval at which pending notices are printed.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The number of frames of a large buffer: 32 MiB of memory, half of it for receiving.
const LARGE_FRAMES: u32 = 16_384;

/// The size of the frame memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferSize {
    /// The default of the stack.
    Default,
    /// Enough for the snapshot loops at full speed while sockets are still being opened.
    Large,
}

/// An open transport. Its fallbacks to the kernel are printed on standard error.
#[derive(Debug)]
pub struct OpenTransport {
    transport: Transport,
    /// That of side B, if it arrives on an interface of its own.
    side_b: Option<Transport>,
    next_poll: Instant,
}

impl OpenTransport {
    /// Opens the transport that `args` select, on the interface of this name. `stamps` selects the
    /// receive timestamps of AF_XDP. Falls back to the default buffer if the user may not lock the
    /// memory of a large one. For `preload` it starts this program again under `hairpin run`.
    ///
    /// # Errors
    /// Those of the stack: missing capabilities, no such interface.
    pub fn open(
        args: &TransportArgs,
        interface: &str,
        buffer: BufferSize,
        stamps: ReceiveStamps,
    ) -> Result<Self> {
        if !args.is_xdp() {
            if args.bypasses_kernel() {
                preload::ensure(interface)?;
            }
            return Ok(Self::new(Transport::Kernel));
        }
        let mut settings = args.stack_settings();
        settings.interface.receive_stamps = stamps;
        if buffer == BufferSize::Large {
            settings.interface.umem.frames = LARGE_FRAMES;
            settings.interface.socket.ring = LARGE_FRAMES / 2;
        }
        match Stack::open(interface, &settings) {
            Err(StackError::Interface(InterfaceError::Socket {
                reason: SocketError::MemlockLimit(bytes),
                ..
            })) if buffer == BufferSize::Large => {
                print(&format_args!(
                    "{interface}: {bytes} bytes of frames exceed the lock limit (ulimit -l); \
                     using fewer"
                ));
                Self::open(args, interface, BufferSize::Default, stamps)
            }
            stack => {
                let stack = stack?;
                print(&stack);
                Ok(Self::new(Transport::Xdp(stack)))
            }
        }
    }

    fn new(transport: Transport) -> Self {
        Self { transport, side_b: None, next_poll: Instant::ZERO }
    }

    /// Opens the transport of side A and that of side B, on the interfaces of these names.
    ///
    /// # Errors
    /// Those of [`OpenTransport::open`].
    pub fn open_sides(
        args: &TransportArgs,
        [a, b]: [&str; 2],
        buffer: BufferSize,
        stamps: ReceiveStamps,
    ) -> Result<Self> {
        let mut opened = Self::open(args, a, buffer, stamps)?;
        if args.is_xdp() && b != a {
            opened.side_b = Some(Self::open(args, b, buffer, stamps)?.transport.clone());
        }
        Ok(opened)
    }

    /// Opens the transport on the interface with this address.
    ///
    /// # Errors
    /// Those of [`OpenTransport::open`]; no interface has the address.
    pub fn open_at(
        args: &TransportArgs,
        address: Ipv4Addr,
        buffer: BufferSize,
        stamps: ReceiveStamps,
    ) -> Result<Self> {
        let interface =
            if args.bypasses_kernel() { address_interface(address)? } else { String::new() };
        Self::open(args, &interface, buffer, stamps)
    }

    /// Returns the transport for endpoints.
    pub fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Makes multicast market data use this transport.
    pub fn apply_to(&self, addresses: &mut Addresses) {
        if let Addresses::Multicast(feeds) = addresses {
            feeds.transport = self.transport.clone();
            if let Some(side_b) = &self.side_b {
                feeds.set_transports(&self.transport, side_b);
            }
        }
    }

    /// Writes the counters of the connections that AF_XDP carries, and of the frames that it drops.
    pub(crate) fn write_counters(&self, writer: &mut CounterWriter<'_>) {
        if let Transport::Xdp(stack) = &self.transport {
            let counters = stack.tcp_counters();
            writer.gauge("tcp", "bypassing", Unit::Connections, counters.bypassing);
            writer.counters("tcp", counters.iter().filter(|(name, _)| *name != "bypassing"));
            writer.counters("xdp.dropped", stack.drop_counters().iter());
        }
        if let Some(Transport::Xdp(stack)) = &self.side_b {
            writer.counters("xdp_b.dropped", stack.drop_counters().iter());
        }
    }

    /// Prints pending fallback notices, at most every 100 ms and only when the loop is idle.
    /// Otherwise costs one comparison.
    #[inline]
    pub fn print_pending_notices(&mut self, now: Instant, is_quiet: bool) {
        if is_quiet && now >= self.next_poll {
            self.next_poll = now + POLL_INTERVAL;
            self.print_notices();
        }
    }

    /// Prints all pending notices.
    #[cold]
    pub fn print_notices(&self) {
        for transport in [Some(&self.transport), self.side_b.as_ref()].into_iter().flatten() {
            let Transport::Xdp(stack) = transport else { continue };
            std::iter::from_fn(|| stack.next_event()).for_each(|notice| print(&notice));
        }
    }
}

/// Prints the notices that are still pending.
impl Drop for OpenTransport {
    fn drop(&mut self) {
        self.print_notices();
    }
}

fn print(line: &impl std::fmt::Display) {
    let line = Style::for_stderr().wrap(&format!("{PREFIX}{line}"));
    let _ = writeln!(io::stderr(), "{line}");
}

/// Prints a child's line about its datapath, once per distinct line. Returns `false` if the line is
/// not about the datapath.
pub(crate) fn forward_notice(child: &str, line: &str) -> bool {
    static PRINTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let Some(line) = line.strip_prefix(PREFIX) else { return false };
    let line = format!("{PREFIX}{child}: {line}");
    let mut printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    if !printed.contains(&line) {
        // The line replaces the progress bar, which is drawn again.
        let clear = if io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
        let _ = writeln!(io::stderr(), "{clear}{}", Style::for_stderr().wrap(&line));
        printed.insert(line);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forwards_datapath_notices_only() {
        assert!(forward_notice("trader", "xdp: veth0: veth, 1 queue, generic mode, copy"));
        assert!(!forward_notice("trader", "hairpin: xdp: no"));
        assert!(!forward_notice("trader", "interface veth7 does not exist"));
    }

    #[test]
    fn opens_nothing_for_kernel_transport() {
        let (args, buffer, stamps) =
            (TransportArgs::default(), BufferSize::Default, ReceiveStamps::Off);
        let datapath = OpenTransport::open(&args, "nowhere0", buffer, stamps).unwrap();
        assert!(matches!(datapath.transport(), Transport::Kernel));
        let nowhere = Ipv4Addr::new(192, 0, 2, 1);
        assert!(OpenTransport::open_at(&args, nowhere, buffer, stamps).is_ok());
    }
}
