//! The system calls of an AF_XDP socket.

use std::ffi::{c_int, c_void};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use crate::forked::ForkGuardedFd;
use crate::mapping::Mapping;
use crate::ring::Offsets;
use crate::umem::{TRANSMIT_METADATA, Umem};

/// What may be read and written as an option.
///
/// # Safety
/// The value is laid out as the kernel's option that it is used with, and any bits are a value.
unsafe trait SocketOption: Copy {}
// SAFETY: numbers of linux/if_xdp.h and socket(7), and three structures of the first.
unsafe impl SocketOption for u32 {}
// SAFETY: as above.
unsafe impl SocketOption for libc::xdp_umem_reg {}
// SAFETY: as above.
unsafe impl SocketOption for libc::xdp_mmap_offsets {}
// SAFETY: as above.
unsafe impl SocketOption for libc::xdp_statistics {}

/// Which of its four rings.
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

/// How far a kick has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The ring is empty.
    All,
    /// As many as one call sends, or the driver is busy.
    Some,
    /// Up to a frame that was dropped on its way: in copy mode the call ends there.
    ToDrop,
}

/// An AF_XDP socket as the kernel has it.
#[derive(Debug)]
pub(crate) struct KernelSocket(ForkGuardedFd);

impl KernelSocket {
    /// A new one; close-on-exec.
    pub(crate) fn open() -> io::Result<Self> {
        ForkGuardedFd::make(|| {
            // SAFETY: takes numbers and touches no memory of ours.
            let fd = unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            // SAFETY: the descriptor is new and nobody else's.
            Ok(unsafe { OwnedFd::from_raw_fd(fd) })
        })
        .map(Self)
    }

    /// The socket behind a descriptor that another process made.
    pub(crate) fn of(descriptor: OwnedFd) -> io::Result<Self> {
        ForkGuardedFd::make(|| Ok(descriptor)).map(Self)
    }

    pub(crate) fn register(&self, umem: &Umem) -> io::Result<()> {
        let settings = umem.settings();
        let stamps = settings.transmit_stamps;
        // SAFETY: a structure of numbers, for all of which zero is a value.
        let mut registration: libc::xdp_umem_reg = unsafe { std::mem::zeroed() };
        registration.addr = umem.start() as u64;
        registration.len = umem.bytes_in_all();
        registration.chunk_size = settings.frame_size;
        registration.headroom = settings.headroom;
        registration.flags = if stamps { libc::XDP_UMEM_TX_METADATA_LEN } else { 0 };
        registration.tx_metadata_len = if stamps { TRANSMIT_METADATA } else { 0 };
        self.set(libc::SOL_XDP, libc::XDP_UMEM_REG, &registration)
    }

    pub(crate) fn set_ring_size(&self, ring: Ring, entries: u32) -> io::Result<()> {
        self.set(libc::SOL_XDP, ring.option(), &entries)
    }

    /// Maps a ring whose size was set.
    pub(crate) fn map_ring<T>(&self, ring: Ring, entries: u32) -> io::Result<(Mapping, Offsets)> {
        // SAFETY: a structure of numbers, for all of which zero is a value.
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
        // SAFETY: the address is whole and lives through the call.
        match unsafe { libc::bind(self.0.as_raw_fd(), (&raw const address).cast(), length) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub(crate) fn is_zero_copy(&self) -> io::Result<bool> {
        Ok(self.option(libc::XDP_OPTIONS, 0_u32)? & libc::XDP_OPTIONS_ZEROCOPY != 0)
    }

    pub(crate) fn statistics(&self) -> io::Result<libc::xdp_statistics> {
        // SAFETY: a structure of numbers, for all of which zero is a value.
        self.option(libc::XDP_STATISTICS, unsafe { std::mem::zeroed() })
    }

    /// The descriptor's reading and writing calls poll the driver themselves.
    pub(crate) fn set_busy_polling(&self, microseconds: u32, budget: u32) -> io::Result<()> {
        self.set(libc::SOL_SOCKET, libc::SO_PREFER_BUSY_POLL, &1_u32)?;
        self.set(libc::SOL_SOCKET, libc::SO_BUSY_POLL, &microseconds)?;
        self.set(libc::SOL_SOCKET, libc::SO_BUSY_POLL_BUDGET, &budget)
    }

    /// Has the kernel go on with the transmit ring.
    #[inline]
    pub(crate) fn kick(&self) -> io::Result<Sent> {
        let (fd, flags) = (self.0.as_raw_fd(), libc::MSG_DONTWAIT);
        // The C library's sendto(2) can be cancelled, which nobody does and which takes time.
        // SAFETY: a message without bytes and without an address.
        let sent = unsafe {
            let (nothing, none) = (std::ptr::null::<c_void>(), 0_usize);
            libc::syscall(libc::SYS_sendto, fd, nothing, none, flags, nothing, none)
        };
        sent_by(sent as isize)
    }

    /// Has the kernel go on with the fill and receive rings.
    #[inline]
    pub(crate) fn wake(&self) -> io::Result<()> {
        let (fd, flags) = (self.0.as_raw_fd(), libc::MSG_DONTWAIT);
        let nowhere = std::ptr::null_mut::<c_void>();
        // SAFETY: room for no bytes, and no address is asked for.
        let received = unsafe {
            libc::recvfrom(fd, nowhere, 0, flags, std::ptr::null_mut(), std::ptr::null_mut())
        };
        sent_by(received).map(drop)
    }

    /// Sleeps until a frame is there, for so many milliseconds or, below nought, for good.
    pub(crate) fn wait(&self, milliseconds: c_int) -> io::Result<bool> {
        let (fd, events) = (self.0.as_raw_fd(), libc::POLLIN);
        let mut poll = libc::pollfd { fd, events, revents: 0 };
        // SAFETY: one entry, which lives through the call.
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
        // SAFETY: the value is laid out as the option is (`SocketOption`) and outlives the call.
        match unsafe { libc::setsockopt(fd, level, option, value, length) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The kernel writes as much as it knows of, and no more than there is room for.
    fn option<T: SocketOption>(&self, option: c_int, mut value: T) -> io::Result<T> {
        let mut length = size_of::<T>() as libc::socklen_t;
        let (fd, into) = (self.0.as_raw_fd(), (&raw mut value).cast());
        // SAFETY: `into` has room for `length` bytes and outlives the call; any bits are a value.
        match unsafe { libc::getsockopt(fd, libc::SOL_XDP, option, into, &raw mut length) } {
            0 => Ok(value),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl AsFd for KernelSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// What a kick came to, or a wake: the driver may be busy, or have no memory just now.
#[inline]
fn sent_by(result: isize) -> io::Result<Sent> {
    if result >= 0 { Ok(Sent::All) } else { sent_to() }
}

/// What the last call's error says.
#[cold]
fn sent_to() -> io::Result<Sent> {
    let reason = io::Error::last_os_error();
    match reason.raw_os_error() {
        Some(libc::EBUSY) => Ok(Sent::ToDrop),
        Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR) => Ok(Sent::Some),
        _ => Err(reason),
    }
}
