//! The lower bound: an AF_XDP socket with minimal code around it.
//!
//! It is written from the kernel's `af_xdp.rst` and `bpf(2)` alone, without the crate `xdp`: one
//! queue, a few frames, a program of six instructions that redirects every frame, and a system call
//! per message sent. It serves only this measurement.

mod program;
mod ring;

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use program::Program;
use ring::{Region, Ring};

use crate::frame::{self, LENGTH};
use crate::port::Port;

/// The size of a frame in bytes, the smallest that the kernel accepts.
const CHUNK: usize = 2_048;
/// The entries of each ring, and the number of receive frames.
const RING: u32 = 64;
/// An additional frame, from which messages are sent.
const FRAMES: usize = RING as usize + 1;
const SENT_FROM: u64 = RING as u64 * CHUNK as u64;

/// `struct xdp_desc`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Descriptor {
    address: u64,
    length: u32,
    options: u32,
}

/// A socket on queue 0 of an interface, and all its frames.
#[derive(Debug)]
pub(crate) struct Minimal {
    receive: Ring<Descriptor>,
    transmit: Ring<Descriptor>,
    fill: Ring<u64>,
    completion: Ring<u64>,
    frames: Region,
    socket: OwnedFd,
    _program: Program,
}

impl Minimal {
    /// Opens the interface with this index, in native or generic mode.
    pub(crate) fn open(interface: u32, is_native: bool) -> io::Result<Self> {
        // SAFETY: the call takes integers, and the descriptor is new and has no other owner.
        let socket = unsafe {
            let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
            OwnedFd::from_raw_fd(check(libc::socket(libc::AF_XDP, kind, 0))?)
        };
        let frames = Region::anonymous(FRAMES * CHUNK)?;
        register(&socket, &frames)?;
        let sizes = [
            libc::XDP_UMEM_FILL_RING,
            libc::XDP_UMEM_COMPLETION_RING,
            libc::XDP_RX_RING,
            libc::XDP_TX_RING,
        ];
        for ring in sizes {
            set(&socket, ring, &RING)?;
        }
        let offsets = offsets(&socket)?;
        let (fill_page, done_page) =
            (libc::XDP_UMEM_PGOFF_FILL_RING, libc::XDP_UMEM_PGOFF_COMPLETION_RING);
        let mut fill = Ring::<u64>::map(&socket, fill_page as i64, offsets.fr, RING)?;
        let completion = Ring::map(&socket, done_page as i64, offsets.cr, RING)?;
        let receive = Ring::map(&socket, libc::XDP_PGOFF_RX_RING, offsets.rx, RING)?;
        let transmit = Ring::map(&socket, libc::XDP_PGOFF_TX_RING, offsets.tx, RING)?;
        for frame in 0..RING {
            fill.put(u64::from(frame) * CHUNK as u64);
        }
        bind(&socket, interface)?;
        let program = Program::attach(&socket, interface, is_native)?;
        Ok(Self { receive, transmit, fill, completion, frames, socket, _program: program })
    }

    /// Returns the bytes of a received message or one to send.
    #[inline]
    fn bytes(&mut self, address: u64) -> &mut [u8; LENGTH] {
        // SAFETY: the kernel has returned the frame at this address, and every frame has room for
        // the longest packet of the interface.
        unsafe { &mut *self.frames.start().add(address as usize).cast() }
    }

    #[inline]
    fn kick(&self) -> io::Result<()> {
        let (fd, flags) = (self.socket.as_raw_fd(), libc::MSG_DONTWAIT);
        // SAFETY: the message has no bytes and no address.
        let sent = unsafe { libc::sendto(fd, std::ptr::null(), 0, flags, std::ptr::null(), 0) };
        check(sent as i32).map(drop)
    }
}

impl Port for Minimal {
    #[inline]
    fn send(&mut self, number: u64) -> io::Result<()> {
        frame::write(self.bytes(SENT_FROM), number);
        self.completion.take();
        self.transmit.put(Descriptor { address: SENT_FROM, length: LENGTH as u32, options: 0 });
        self.kick()
    }

    #[inline]
    fn receive(&mut self) -> io::Result<Option<u64>> {
        let Some(Descriptor { address, length, .. }) = self.receive.take() else { return Ok(None) };
        let bytes = self.bytes(address);
        let number = (length as usize == LENGTH).then(|| frame::number(bytes)).flatten();
        self.fill.put(address);
        Ok(number)
    }

    #[inline]
    fn echo(&mut self) -> io::Result<bool> {
        let Some(Descriptor { address, length, .. }) = self.receive.take() else {
            return Ok(false);
        };
        if length as usize != LENGTH {
            self.fill.put(address);
            return Ok(false);
        }
        frame::swap_addresses(self.bytes(address));
        self.transmit.put(Descriptor { address, length, options: 0 });
        self.kick()?;
        // Transmitted frames are posted for reception again.
        while let Some(address) = self.completion.take() {
            self.fill.put(address);
        }
        Ok(true)
    }
}

fn register(socket: &OwnedFd, frames: &Region) -> io::Result<()> {
    // SAFETY: a structure of integers, for which zero is a valid value.
    let mut registration: libc::xdp_umem_reg = unsafe { std::mem::zeroed() };
    registration.addr = frames.start() as u64;
    registration.len = frames.len() as u64;
    registration.chunk_size = CHUNK as u32;
    set(socket, libc::XDP_UMEM_REG, &registration)
}

fn offsets(socket: &OwnedFd) -> io::Result<libc::xdp_mmap_offsets> {
    // SAFETY: a structure of integers, for which zero is a valid value.
    let mut offsets: libc::xdp_mmap_offsets = unsafe { std::mem::zeroed() };
    let mut length = size_of_val(&offsets) as libc::socklen_t;
    let (into, option) = ((&raw mut offsets).cast(), libc::XDP_MMAP_OFFSETS);
    // SAFETY: `into` has room for `length` bytes and outlives the call.
    check(unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_XDP, option, into, &raw mut length)
    })?;
    Ok(offsets)
}

fn set<T: Copy>(socket: &OwnedFd, option: i32, value: &T) -> io::Result<()> {
    let (value, length) = (std::ptr::from_ref(value).cast(), size_of::<T>() as libc::socklen_t);
    // SAFETY: the value has the stated length and outlives the call.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_XDP, option, value, length) })
        .map(drop)
}

/// Binds to queue 0. The kernel releases a closed socket of the queue asynchronously, so the call
/// retries.
fn bind(socket: &OwnedFd, interface: u32) -> io::Result<()> {
    let address = libc::sockaddr_xdp {
        sxdp_family: libc::AF_XDP as u16,
        sxdp_flags: libc::XDP_USE_NEED_WAKEUP | libc::XDP_COPY,
        sxdp_ifindex: interface,
        sxdp_queue_id: 0,
        sxdp_shared_umem_fd: 0,
    };
    let length = size_of_val(&address) as libc::socklen_t;
    let mut tries = 1_000;
    loop {
        tries -= 1;
        // SAFETY: the address is initialized and outlives the call.
        let bound =
            check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) });
        match bound {
            Err(reason) if reason.raw_os_error() == Some(libc::EBUSY) && tries > 0 => {
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            bound => return bound.map(drop),
        }
    }
}

pub(crate) fn check(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
