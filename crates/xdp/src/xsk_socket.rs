//! The system calls of an AF_XDP socket.

use std::ffi::{c_int, c_void};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use crate::fork_guard::ForkGuardedFd;
use crate::mapping::Mapping;
use crate::ring::Offsets;
use crate::umem::{TRANSMIT_METADATA, Umem};

/// A type that can be read or written as a socket option.
///
/// # Safety
/// The type has the layout of the kernel's option that it is used with, and every bit pattern is a
/// valid value.
unsafe trait SocketOption: Copy {}
// SAFETY: a plain number, as linux/if_xdp.h and socket(7) define these options.
unsafe impl SocketOption for u32 {}
// SAFETY: the C structure of linux/if_xdp.h, which contains only integers.
unsafe impl SocketOption for libc::xdp_umem_reg {}
// SAFETY: as above.
unsafe impl SocketOption for libc::xdp_mmap_offsets {}
// SAFETY: as above.
unsafe impl SocketOption for libc::xdp_statistics {}

/// A ring of the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ring {
    Fill,
    Completion,
    Receive,
    Transmit,
}

impl Ring {
    fn option(self) -> c_int {
        match self {
            Self::Fill => libc::XDP_UMEM_FILL_RING,
            Self::Completion => libc::XDP_UMEM_COMPLETION_RING,
            Self::Receive => libc::XDP_RX_RING,
            Self::Transmit => libc::XDP_TX_RING,
        }
    }

    fn page_offset(self) -> i64 {
        match self {
            Self::Fill => libc::XDP_UMEM_PGOFF_FILL_RING as i64,
            Self::Completion => libc::XDP_UMEM_PGOFF_COMPLETION_RING as i64,
            Self::Receive => libc::XDP_PGOFF_RX_RING,
            Self::Transmit => libc::XDP_PGOFF_TX_RING,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fill => "fill",
            Self::Completion => "completion",
            Self::Receive => "receive",
            Self::Transmit => "transmit",
        }
    }
}

/// The outcome of a transmit wakeup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KickOutcome {
    /// The transmit ring is empty.
    Drained,
    /// The call sent its maximum, or the driver is busy.
    Partial,
    /// The call stopped at a frame that was dropped (copy mode only).
    Dropped,
}

/// The file descriptor of an AF_XDP socket.
#[derive(Debug)]
pub(crate) struct XskSocket(ForkGuardedFd);

impl XskSocket {
    /// Creates a socket; close-on-exec.
    pub(crate) fn new() -> io::Result<Self> {
        ForkGuardedFd::from_fn(|| {
            // SAFETY: the call takes integers and accesses no memory of this process.
            let fd = unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            // SAFETY: the descriptor is new and has no other owner.
            Ok(unsafe { OwnedFd::from_raw_fd(fd) })
        })
        .map(Self)
    }

    /// Wraps the descriptor of a socket that another process created.
    pub(crate) fn from_fd(descriptor: OwnedFd) -> io::Result<Self> {
        ForkGuardedFd::from_fn(|| Ok(descriptor)).map(Self)
    }

    pub(crate) fn register(&self, umem: &Umem) -> io::Result<()> {
        let settings = umem.settings();
        let stamps = settings.transmit_stamps;
        // SAFETY: a structure of integers, for which zero is a valid value.
        let mut registration: libc::xdp_umem_reg = unsafe { std::mem::zeroed() };
        registration.addr = umem.start() as u64;
        registration.len = umem.total_bytes();
        registration.chunk_size = settings.frame_size;
        registration.headroom = settings.headroom;
        registration.flags = if stamps { libc::XDP_UMEM_TX_METADATA_LEN } else { 0 };
        registration.tx_metadata_len = if stamps { TRANSMIT_METADATA } else { 0 };
        self.set(libc::SOL_XDP, libc::XDP_UMEM_REG, &registration)
    }

    pub(crate) fn set_ring_size(&self, ring: Ring, entries: u32) -> io::Result<()> {
        self.set(libc::SOL_XDP, ring.option(), &entries)
    }

    /// Maps a ring whose size has been set.
    pub(crate) fn map_ring<T>(&self, ring: Ring, entries: u32) -> io::Result<(Mapping, Offsets)> {
        // SAFETY: a structure of integers, for which zero is a valid value.
        let all: libc::xdp_mmap_offsets = unsafe { std::mem::zeroed() };
        let all = self.option(libc::XDP_MMAP_OFFSETS, all)?;
        let offsets = match ring {
            Ring::Fill => all.fr,
            Ring::Completion => all.cr,
            Ring::Receive => all.rx,
            Ring::Transmit => all.tx,
        };
        let offsets = Offsets {
            producer: offsets.producer as usize,
            consumer: offsets.consumer as usize,
            flags: offsets.flags as usize,
            entries: offsets.desc as usize,
        };
        let length = offsets.entries + entries as usize * size_of::<T>();
        Ok((Mapping::shared(self.0.as_fd(), length, ring.page_offset())?, offsets))
    }

    pub(crate) fn bind(
        &self,
        interface: u32,
        queue: u32,
        flags: u16,
        umem_of: Option<BorrowedFd<'_>>,
    ) -> io::Result<()> {
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            sxdp_flags: flags,
            sxdp_ifindex: interface,
            sxdp_queue_id: queue,
            sxdp_shared_umem_fd: umem_of.map_or(0, |fd| fd.as_raw_fd() as u32),
        };
        let length = size_of_val(&address) as libc::socklen_t;
        // SAFETY: the address is initialized and outlives the call.
        match unsafe { libc::bind(self.0.as_raw_fd(), (&raw const address).cast(), length) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub(crate) fn is_zero_copy(&self) -> io::Result<bool> {
        Ok(self.option(libc::XDP_OPTIONS, 0_u32)? & libc::XDP_OPTIONS_ZEROCOPY != 0)
    }

    pub(crate) fn statistics(&self) -> io::Result<libc::xdp_statistics> {
        // SAFETY: a structure of integers, for which zero is a valid value.
        self.option(libc::XDP_STATISTICS, unsafe { std::mem::zeroed() })
    }

    /// Enables busy polling: read and write calls on the descriptor poll the driver.
    pub(crate) fn set_busy_polling(&self, microseconds: u32, budget: u32) -> io::Result<()> {
        self.set(libc::SOL_SOCKET, libc::SO_PREFER_BUSY_POLL, &1_u32)?;
        self.set(libc::SOL_SOCKET, libc::SO_BUSY_POLL, &microseconds)?;
        self.set(libc::SOL_SOCKET, libc::SO_BUSY_POLL_BUDGET, &budget)
    }

    /// Makes the kernel process the transmit ring.
    #[inline]
    pub(crate) fn kick(&self) -> io::Result<KickOutcome> {
        let (fd, flags) = (self.0.as_raw_fd(), libc::MSG_DONTWAIT);
        // The C library's sendto(2) is a cancellation point, which costs time and is not needed
        // here. SAFETY: the message has no bytes and no address.
        let sent = unsafe {
            let (nothing, none) = (std::ptr::null::<c_void>(), 0_usize);
            libc::syscall(libc::SYS_sendto, fd, nothing, none, flags, nothing, none)
        };
        kick_outcome(sent as isize)
    }

    /// Makes the kernel process the fill and receive rings.
    #[inline]
    pub(crate) fn wake(&self) -> io::Result<()> {
        let (fd, flags) = (self.0.as_raw_fd(), libc::MSG_DONTWAIT);
        let buffer = std::ptr::null_mut::<c_void>();
        // SAFETY: the buffer has length 0 and no address is requested.
        let received = unsafe {
            libc::recvfrom(fd, buffer, 0, flags, std::ptr::null_mut(), std::ptr::null_mut())
        };
        kick_outcome(received).map(drop)
    }

    /// Sleeps until a frame arrives or `milliseconds` have passed; a negative value means no limit.
    pub(crate) fn wait(&self, milliseconds: c_int) -> io::Result<bool> {
        let (fd, events) = (self.0.as_raw_fd(), libc::POLLIN);
        let mut poll = libc::pollfd { fd, events, revents: 0 };
        // SAFETY: one entry, which outlives the call.
        match unsafe { libc::poll(&raw mut poll, 1, milliseconds) } {
            0 => Ok(false),
            1 if poll.revents & libc::POLLIN != 0 => Ok(true),
            1 => Err(io::ErrorKind::NetworkDown.into()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn set<T: SocketOption>(&self, level: c_int, option: c_int, value: &T) -> io::Result<()> {
        let length = size_of::<T>() as libc::socklen_t;
        let (fd, value) = (self.0.as_raw_fd(), std::ptr::from_ref(value).cast());
        // SAFETY: the value has the option's layout (`SocketOption`) and outlives the call.
        match unsafe { libc::setsockopt(fd, level, option, value, length) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Reads an option. The kernel writes at most `size_of::<T>()` bytes.
    fn option<T: SocketOption>(&self, option: c_int, mut value: T) -> io::Result<T> {
        let mut length = size_of::<T>() as libc::socklen_t;
        let (fd, into) = (self.0.as_raw_fd(), (&raw mut value).cast());
        // SAFETY: `into` has room for `length` bytes and outlives the call; every bit pattern is a
        // valid value.
        match unsafe { libc::getsockopt(fd, libc::SOL_XDP, option, into, &raw mut length) } {
            0 => Ok(value),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl AsFd for XskSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Converts the result of a wakeup. A busy driver or a temporary lack of memory is not an error.
#[inline]
fn kick_outcome(result: isize) -> io::Result<KickOutcome> {
    if result >= 0 { Ok(KickOutcome::Drained) } else { classify_error() }
}

/// Classifies the error of the last call.
#[cold]
fn classify_error() -> io::Result<KickOutcome> {
    let reason = io::Error::last_os_error();
    match reason.raw_os_error() {
        Some(libc::EBUSY) => Ok(KickOutcome::Dropped),
        Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR) => Ok(KickOutcome::Partial),
        _ => Err(reason),
    }
}
