//! Many datagrams with one system call: recvmmsg(2) into one arena; recvmsg(2) for one.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{self, NonNull};

use crate::address;
use crate::ancillary::{ANCILLARY_LENGTH, Ancillary, AncillaryBuffer};
use crate::datagram::Datagram;
use crate::table::{Line, Table};

/// Slots for datagrams, each with room for its bytes, its sender and its control messages, and
/// the kernel's table of where these are.
///
/// ```text
/// headers  | mmsghdr 0 | mmsghdr 1 | ...      what recvmmsg reads and writes
/// slots    | iovec, sender, control 0 | ...   pointed to by the headers
/// bytes    | datagram 0 | datagram 1 | ...    pointed to by the iovecs
/// ```
/// The tables point into each other for the life of the batch, so everything is reached through
/// the pointers they were made with and never through a reference to a whole table.
pub(crate) struct Batch {
    headers: Table<libc::mmsghdr>,
    /// Owns what the headers point to.
    _slots: Table<Slot>,
    /// What the slots point to.
    bytes: Table<Line>,
    /// Headers that the kernel has written to since they were last reset.
    used: usize,
}

#[repr(C)]
struct Slot {
    iovec: libc::iovec,
    source: libc::sockaddr_in,
    control: AncillaryBuffer,
}

impl Batch {
    /// `count` slots of `length` bytes, the latter rounded up to a cache line.
    pub(crate) fn new(count: usize, length: usize) -> Self {
        let lines = length.div_ceil(size_of::<Line>()).max(1);
        let bytes = Table::filled(count * lines, |_| Line([0; 64]));
        let slots = Table::filled(count, |index| Slot {
            iovec: libc::iovec {
                iov_base: bytes.at(index * lines).as_ptr().cast(),
                iov_len: lines * size_of::<Line>(),
            },
            source: zeroed_address(),
            control: AncillaryBuffer([0; ANCILLARY_LENGTH]),
        });
        let headers = Table::filled(count, |index| header(slots.at(index)));
        Self { headers, _slots: slots, bytes, used: 0 }
    }

    /// Slots.
    pub(crate) fn count(&self) -> usize {
        self.headers.length()
    }

    /// Bytes in each.
    pub(crate) fn length(&self) -> usize {
        self.bytes.length() / self.count() * size_of::<Line>()
    }

    /// Receives up to `limit` datagrams, no more than there are slots, into the slots from the
    /// first on, and returns how many. What was in them is gone.
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

    /// For one the older call does less: it neither counts nor looks for a time limit.
    #[inline]
    fn receive_one(&mut self, socket: BorrowedFd<'_>, flags: libc::c_int) -> io::Result<usize> {
        let header = self.headers.first().as_ptr();
        // SAFETY: as in `receive_many`, of the first header, which is always there.
        let length = unsafe {
            libc::recvmsg(
                socket.as_raw_fd(),
                &raw mut (*header).msg_hdr,
                flags & !libc::MSG_WAITFORONE,
            )
        };
        // No datagram is longer than 2^16.
        let length = u32::try_from(length).map_err(|_| io::Error::last_os_error())?;
        // SAFETY: the header is valid, and `self` is borrowed mutably.
        unsafe { (*header).msg_len = length };
        Ok(1)
    }

    #[inline]
    fn receive_many(
        &mut self,
        socket: BorrowedFd<'_>,
        limit: usize,
        flags: libc::c_int,
    ) -> io::Result<usize> {
        let headers = self.headers.first().as_ptr();
        // SAFETY: the first `limit` headers are valid and so is what they point to, for both live
        // as long as `self`; nothing borrows from them, for `self` is borrowed mutably.
        let received = unsafe {
            let no_timeout = ptr::null_mut();
            libc::recvmmsg(socket.as_raw_fd(), headers, limit as libc::c_uint, flags, no_timeout)
        };
        usize::try_from(received).map_err(|_| io::Error::last_os_error())
    }

    /// A datagram of the last [`Batch::receive`].
    #[inline]
    pub(crate) fn datagram(&self, index: usize) -> Datagram<'_> {
        assert!(index < self.used, "only what was received is there");
        // SAFETY: the header and all it points to is initialised and lives as long as `self`;
        // nothing writes to it while `self` is borrowed. The kernel has written no more bytes and
        // control messages than the header had room for, whatever it says of their lengths.
        unsafe {
            let header = self.headers.at(index).as_ref();
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
                is_truncated: message.msg_flags & libc::MSG_TRUNC != 0,
            }
        }
    }

    /// Gives the kernel the lengths again that it has overwritten with what it used of them.
    #[inline]
    fn reset(&mut self) {
        for index in 0..self.used {
            // SAFETY: as in `datagram`; `self` is borrowed mutably, so nothing else reads it.
            let message = unsafe { &mut self.headers.at(index).as_mut().msg_hdr };
            message.msg_namelen = ADDRESS_LENGTH;
            message.msg_controllen = ANCILLARY_LENGTH;
        }
        self.used = 0;
    }
}

const ADDRESS_LENGTH: libc::socklen_t = size_of::<libc::sockaddr_in>() as libc::socklen_t;

fn header(slot: NonNull<Slot>) -> libc::mmsghdr {
    let slot = slot.as_ptr();
    // SAFETY: a header is integers and pointers, for all of which zero is a value; it has padding
    // on some systems, which is why it is not written out as a literal.
    let mut header: libc::mmsghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: `slot` is valid, and only addresses of its parts are taken.
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

fn zeroed_address() -> libc::sockaddr_in {
    // SAFETY: an address is integers, for which zero is a value.
    unsafe { MaybeUninit::zeroed().assume_init() }
}
