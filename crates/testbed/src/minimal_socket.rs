//! An AF_XDP socket with minimal code around it: the lower bound of benchmarks.
//!
//! It is written from the kernel's `af_xdp.rst` and `bpf(2)` alone, without the crate `xdp`.

mod program;
mod ring;

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use program::Program;
use ring::{Region, Ring};

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

/// An AF_XDP socket on queue 0 of an interface, the lower bound of benchmarks: a few frames, a
/// program of six instructions that redirects every frame of the interface, and a system call per
/// frame sent. One frame is in flight at a time.
#[derive(Debug)]
pub struct MinimalSocket {
    receive: Ring<Descriptor>,
    transmit: Ring<Descriptor>,
    fill: Ring<u64>,
    completion: Ring<u64>,
    frames: Region,
    socket: OwnedFd,
    _program: Program,
}

impl MinimalSocket {
    /// Opens the interface with this index, in native or generic mode.
    ///
    /// # Errors
    /// The kernel's: no such interface, missing capabilities, an interface with a program.
    pub fn open(interface: u32, is_native: bool) -> io::Result<Self> {
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

    /// Sends a frame of `length` bytes, which `write` fills.
    ///
    /// # Errors
    /// The kernel's.
    ///
    /// # Panics
    /// If `length` exceeds 2,048.
    #[inline]
    pub fn send(&mut self, length: usize, write: impl FnOnce(&mut [u8])) -> io::Result<()> {
        write(self.bytes(SENT_FROM, length));
        self.completion.take();
        self.transmit.put(Descriptor { address: SENT_FROM, length: length as u32, options: 0 });
        self.kick()
    }

    /// Passes the next frame to `read`, if there is one, and returns its result.
    #[inline]
    pub fn receive<R>(&mut self, read: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let Descriptor { address, length, .. } = self.receive.take()?;
        let outcome = read(self.bytes(address, length as usize));
        self.fill.put(address);
        Some(outcome)
    }

    /// Sends the next frame back in place if `edit` returns `true` for it. Returns `true` if a
    /// frame was sent.
    ///
    /// # Errors
    /// The kernel's.
    #[inline]
    pub fn echo(&mut self, edit: impl FnOnce(&mut [u8]) -> bool) -> io::Result<bool> {
        let Some(Descriptor { address, length, .. }) = self.receive.take() else {
            return Ok(false);
        };
        if !edit(self.bytes(address, length as usize)) {
            self.fill.put(address);
            return Ok(false);
        }
        self.transmit.put(Descriptor { address, length, options: 0 });
        self.kick()?;
        // Transmitted frames are posted for reception again.
        while let Some(address) = self.completion.take() {
            self.fill.put(address);
        }
        Ok(true)
    }

    /// Returns the bytes of a received frame or one to send.
    #[inline]
    fn bytes(&mut self, address: u64, length: usize) -> &mut [u8] {
        assert!(length <= CHUNK, "a frame has at most 2,048 bytes");
        // SAFETY: the kernel has returned the frame at this address, and a frame has this length.
        unsafe { std::slice::from_raw_parts_mut(self.frames.start().add(address as usize), length) }
    }

    #[inline]
    fn kick(&self) -> io::Result<()> {
        let (fd, flags) = (self.socket.as_raw_fd(), libc::MSG_DONTWAIT);
        // SAFETY: the message has no bytes and no address.
        let sent = unsafe { libc::sendto(fd, std::ptr::null(), 0, flags, std::ptr::null(), 0) };
        check(sent as i32).map(drop)
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

fn check(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
