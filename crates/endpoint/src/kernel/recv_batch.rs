//! Receives many datagrams with one recvmmsg(2), or one with recvmsg(2).

use std::io;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{self, NonNull};

use crate::kernel::address;
use crate::kernel::ancillary::{ANCILLARY_LENGTH, Ancillary, AncillaryBuffer};
use crate::kernel::datagram::Datagram;
use crate::raw_array::{CacheLine, RawArray};

/// Slots for datagrams, each with space for payload, source address and control messages, and the
/// kernel's table of their locations.
///
/// ```text
/// headers  | mmsghdr 0 | mmsghdr 1 | ...      what recvmmsg reads and writes
/// slots    | iovec, sender, control 0 | ...   pointed to by the headers
/// bytes    | datagram 0 | datagram 1 | ...    pointed to by the iovecs
/// ```
/// The tables point into each other for the lifetime of the batch. So they are accessed only
/// through the pointers with which they were made, never through a reference to a whole table.
pub(crate) struct RecvBatch {
    headers: RawArray<libc::mmsghdr>,
    /// The slots, to which the headers point.
    _slots: RawArray<Slot>,
    /// The payloads, to which the slots point.
    bytes: RawArray<CacheLine>,
    /// The number of headers that the kernel has written since the last reset.
    used: usize,
}

#[repr(C)]
struct Slot {
    iovec: libc::iovec,
    /// An address of either family: a `sockaddr_in` occupies the first bytes.
    source: libc::sockaddr_in6,
    control: AncillaryBuffer,
}

// SAFETY: the headers and slots contain pointers, but only into the arrays of this batch, which it
// owns and which move with it.
unsafe impl Send for RecvBatch {}

impl RecvBatch {
    /// Allocates `count` slots of `length` bytes, rounded up to a cache line.
    pub(crate) fn new(count: usize, length: usize) -> Self {
        let lines = length.div_ceil(size_of::<CacheLine>()).max(1);
        let bytes = RawArray::from_fn(count * lines, |_| CacheLine([0; 64]));
        let slots = RawArray::from_fn(count, |index| Slot {
            iovec: libc::iovec {
                iov_base: bytes.element(index * lines).as_ptr().cast(),
                iov_len: lines * size_of::<CacheLine>(),
            },
            source: zero_address(),
            control: AncillaryBuffer([0; ANCILLARY_LENGTH]),
        });
        let headers = RawArray::from_fn(count, |index| header(slots.element(index)));
        Self { headers, _slots: slots, bytes, used: 0 }
    }

    /// Returns the number of slots.
    pub(crate) fn count(&self) -> usize {
        self.headers.length()
    }

    /// Returns the payload length of each slot in bytes.
    pub(crate) fn length(&self) -> usize {
        self.bytes.length() / self.count() * size_of::<CacheLine>()
    }

    /// Receives up to `limit` datagrams, at most the number of slots, into the first slots and
    /// returns their number. Overwrites what was in them.
    pub(crate) fn receive(
        &mut self,
        socket: BorrowedFd<'_>,
        limit: usize,
        flags: libc::c_int,
    ) -> io::Result<usize> {
        self.reset();
        let limit = limit.min(self.count());
        let received = if limit == 1 {
            self.receive_one(socket, flags)?
        } else {
            self.receive_many(socket, limit, flags)?
        };
        self.used = received;
        Ok(received)
    }

    /// Receives one datagram with recvmsg(2), which does less work: it has no count and no timeout.
    #[inline]
    fn receive_one(&mut self, socket: BorrowedFd<'_>, flags: libc::c_int) -> io::Result<usize> {
        let header = self.headers.first().as_ptr();
        // SAFETY: same as in `receive_many`, for the first header, which always exists.
        let length = unsafe {
            libc::recvmsg(
                socket.as_raw_fd(),
                &raw mut (*header).msg_hdr,
                flags & !libc::MSG_WAITFORONE,
            )
        };
        // A datagram is never longer than 2^16.
        let length = u32::try_from(length).map_err(|_| io::Error::last_os_error())?;
        // SAFETY: the header is valid, and `self` is borrowed mutably.
        unsafe { (*header).msg_len = length };
        Ok(1)
    }

    /// Receives one datagram into the first slot with recvfrom(2), without ancillary data: a
    /// quarter less work for the kernel than recvmsg(2).
    #[inline]
    pub(crate) fn receive_plain(
        &mut self,
        socket: BorrowedFd<'_>,
        flags: libc::c_int,
    ) -> io::Result<()> {
        self.reset();
        let header = self.headers.first().as_ptr();
        // SAFETY: the first header always exists. It and all that it points to are valid for the
        // lifetime of `self`, which is borrowed mutably. The kernel writes at most `iov_len` bytes,
        // and an address of at most `ADDRESS_LENGTH`.
        let length = unsafe {
            let message = &mut (*header).msg_hdr;
            let iovec = &*message.msg_iov;
            libc::recvfrom(
                socket.as_raw_fd(),
                iovec.iov_base,
                iovec.iov_len,
                flags | libc::MSG_TRUNC,
                message.msg_name.cast(),
                &raw mut message.msg_namelen,
            )
        };
        // A datagram is never longer than 2^16.
        let length = u32::try_from(length).map_err(|_| io::Error::last_os_error())?;
        // SAFETY: the header is valid, and `self` is borrowed mutably.
        unsafe {
            let is_truncated = length as usize > (*(*header).msg_hdr.msg_iov).iov_len;
            (*header).msg_len = length;
            (*header).msg_hdr.msg_controllen = 0;
            (*header).msg_hdr.msg_flags = if is_truncated { libc::MSG_TRUNC } else { 0 };
        }
        self.used = 1;
        Ok(())
    }

    #[inline]
    fn receive_many(
        &mut self,
        socket: BorrowedFd<'_>,
        limit: usize,
        flags: libc::c_int,
    ) -> io::Result<usize> {
        let headers = self.headers.first().as_ptr();
        // SAFETY: the first `limit` headers and all that they point to are valid for the lifetime
        // of `self`. Nothing borrows from them, since `self` is borrowed mutably.
        let received = unsafe {
            let no_timeout = ptr::null_mut();
            libc::recvmmsg(socket.as_raw_fd(), headers, limit as libc::c_uint, flags, no_timeout)
        };
        usize::try_from(received).map_err(|_| io::Error::last_os_error())
    }

    /// Returns a datagram of the last [`RecvBatch::receive`].
    #[inline]
    pub(crate) fn datagram(&self, index: usize) -> Datagram<'_> {
        assert!(index < self.used, "the index must be below the number of received datagrams");
        // SAFETY: the header and all that it points to are initialized and live as long as `self`.
        // Nothing writes to them while `self` is borrowed. The kernel has written no more payload
        // and control messages than the header had room for, whatever lengths it reports.
        unsafe {
            let header = self.headers.element(index).as_ref();
            let message = &header.msg_hdr;
            let iovec = &*message.msg_iov;
            let length = (header.msg_len as usize).min(iovec.iov_len);
            let bytes = std::slice::from_raw_parts(iovec.iov_base.cast::<u8>(), length);
            let control_length = message.msg_controllen.min(ANCILLARY_LENGTH);
            let control =
                std::slice::from_raw_parts(message.msg_control.cast::<u8>(), control_length);
            Datagram {
                bytes,
                source: address::from_kernel(&*message.msg_name.cast::<libc::sockaddr_in>()),
                ancillary: Ancillary::parse(control),
                truncated: message.msg_flags & libc::MSG_TRUNC != 0,
            }
        }
    }

    /// Returns the control messages of a datagram.
    pub(crate) fn control(&self, index: usize) -> &[u8] {
        assert!(index < self.used, "the index must be below the number of received datagrams");
        // SAFETY: same as in `datagram`.
        unsafe {
            let message = &self.headers.element(index).as_ref().msg_hdr;
            let length = message.msg_controllen.min(ANCILLARY_LENGTH);
            std::slice::from_raw_parts(message.msg_control.cast::<u8>(), length)
        }
    }

    /// Returns the sender of a datagram, of either family.
    #[inline]
    pub(crate) fn source(&self, index: usize) -> SocketAddr {
        assert!(index < self.used, "the index must be below the number of received datagrams");
        // SAFETY: same as in `datagram`. The kernel has written an address of the socket's family.
        let name = unsafe {
            &*self.headers.element(index).as_ref().msg_hdr.msg_name.cast::<libc::sockaddr_in6>()
        };
        address::from_kernel_v6(name)
    }

    /// Restores the lengths in the headers, which the kernel has overwritten with the lengths used.
    #[inline]
    fn reset(&mut self) {
        for index in 0..self.used {
            // SAFETY: same as in `datagram`. `self` is borrowed mutably, so nothing else reads the
            // header.
            let message = unsafe { &mut self.headers.element(index).as_mut().msg_hdr };
            message.msg_namelen = ADDRESS_LENGTH;
            message.msg_controllen = ANCILLARY_LENGTH;
        }
        self.used = 0;
    }
}

const ADDRESS_LENGTH: libc::socklen_t = size_of::<libc::sockaddr_in6>() as libc::socklen_t;

fn header(slot: NonNull<Slot>) -> libc::mmsghdr {
    let slot = slot.as_ptr();
    // SAFETY: a header consists of integers and pointers, for all of which zero is valid. Some
    // systems have padding in it, so it is not written as a literal.
    let mut header: libc::mmsghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: `slot` is valid, and only addresses of its fields are taken.
    unsafe {
        header.msg_hdr.msg_iov = &raw mut (*slot).iovec;
        header.msg_hdr.msg_name = (&raw mut (*slot).source).cast();
        header.msg_hdr.msg_control = (&raw mut (*slot).control).cast();
    }
    header.msg_hdr.msg_iovlen = 1;
    header.msg_hdr.msg_namelen = ADDRESS_LENGTH;
    header.msg_hdr.msg_controllen = ANCILLARY_LENGTH;
    header
}

fn zero_address() -> libc::sockaddr_in6 {
    // SAFETY: an address consists of integers, for which zero is valid.
    unsafe { MaybeUninit::zeroed().assume_init() }
}
