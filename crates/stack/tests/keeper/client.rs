//! A connection to the keeper that sends any bytes and descriptors.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::zeroed;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// The number of the longest message.
pub(crate) const LONGEST: usize = 16 + (64 << 10);
/// The most descriptors of a message (`SCM_MAX_FD`).
pub(crate) const DESCRIPTORS_MAX: usize = 253;
const CONTROL: usize = 16 + 4 * DESCRIPTORS_MAX + 4;

/// A message: four numbers, and more.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) numbers: [u32; 4],
    pub(crate) descriptors: Vec<OwnedFd>,
}

#[repr(C, align(8))]
struct Control([u8; CONTROL]);

/// Creates a pair of sockets as the library does.
pub(crate) fn pair(kind: libc::c_int) -> [OwnedFd; 2] {
    let mut fds = [0; 2];
    // SAFETY: the kernel writes two integers.
    let made =
        unsafe { libc::socketpair(libc::AF_UNIX, kind | libc::SOCK_CLOEXEC, 0, fds.as_mut_ptr()) };
    assert_eq!(made, 0);
    // SAFETY: the descriptors are new.
    fds.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Returns the bytes of a request.
pub(crate) fn message(numbers: [u32; 4], payload: &[u8]) -> Vec<u8> {
    let mut bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
    bytes.extend(payload);
    bytes
}

/// Sends bytes with descriptors, and waits for room.
pub(crate) fn send(to: BorrowedFd<'_>, bytes: &[u8], all: &[BorrowedFd<'_>]) -> io::Result<()> {
    send_with(to, bytes, all, 0)
}

/// Sends bytes with descriptors; `flags` as for send(2).
pub(crate) fn send_with(
    to: BorrowedFd<'_>,
    bytes: &[u8],
    all: &[BorrowedFd<'_>],
    flags: libc::c_int,
) -> io::Result<()> {
    assert!(all.len() <= DESCRIPTORS_MAX);
    let mut control = Control([0; CONTROL]);
    let mut part = IoSlice::new(bytes);
    // SAFETY: a header consists of integers and pointers, for which zero is a valid value.
    let mut header: libc::msghdr = unsafe { zeroed() };
    (header.msg_iov, header.msg_iovlen) = ((&raw mut part).cast(), 1);
    if !all.is_empty() {
        let length = (all.len() * size_of::<i32>()) as u32;
        header.msg_control = control.0.as_mut_ptr().cast();
        // SAFETY: the buffer has room for a header and the most descriptors.
        unsafe {
            header.msg_controllen = libc::CMSG_SPACE(length) as usize;
            let first = libc::CMSG_FIRSTHDR(&raw const header);
            (*first).cmsg_level = libc::SOL_SOCKET;
            (*first).cmsg_type = libc::SCM_RIGHTS;
            (*first).cmsg_len = libc::CMSG_LEN(length) as usize;
            for (at, fd) in all.iter().enumerate() {
                libc::CMSG_DATA(first).cast::<i32>().add(at).write_unaligned(fd.as_raw_fd());
            }
        }
    }
    let flags = flags | libc::MSG_NOSIGNAL;
    // SAFETY: the header and what it refers to outlive the call.
    match unsafe { libc::sendmsg(to.as_raw_fd(), &raw const header, flags) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Waits until a descriptor is readable, or for some milliseconds.
pub(crate) fn is_readable(descriptor: &impl AsRawFd, milliseconds: i32) -> bool {
    let mut fd = libc::pollfd { fd: descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one element.
    unsafe { libc::poll(&raw mut fd, 1, milliseconds) == 1 }
}

/// Waits for the next message; `None` at the end.
///
/// # Panics
/// If no message arrives within a minute: the keeper always answers.
pub(crate) fn receive(from: BorrowedFd<'_>) -> Option<Received> {
    assert!(is_readable(&from, 60_000), "the keeper does not answer");
    let (mut bytes, mut control) = (vec![0; LONGEST], Control([0; CONTROL]));
    let mut part = IoSliceMut::new(&mut bytes);
    // SAFETY: as in `send`.
    let mut header: libc::msghdr = unsafe { zeroed() };
    (header.msg_iov, header.msg_iovlen) = ((&raw mut part).cast(), 1);
    (header.msg_control, header.msg_controllen) = (control.0.as_mut_ptr().cast(), CONTROL);
    // SAFETY: the header and what it refers to outlive the call.
    let length =
        unsafe { libc::recvmsg(from.as_raw_fd(), &raw mut header, libc::MSG_CMSG_CLOEXEC) };
    let descriptors = descriptors(&header);
    if length < 16 {
        return None;
    }
    let number = |at: usize| u32::from_ne_bytes(bytes[4 * at..4 * at + 4].try_into().unwrap());
    Some(Received { numbers: [0, 1, 2, 3].map(number), descriptors })
}

fn descriptors(header: &libc::msghdr) -> Vec<OwnedFd> {
    let mut found = Vec::new();
    // SAFETY: the kernel has written valid control headers and new descriptors.
    unsafe {
        let mut control = libc::CMSG_FIRSTHDR(header);
        while let Some(part) = control.as_ref() {
            if part.cmsg_type == libc::SCM_RIGHTS {
                let length = part.cmsg_len - libc::CMSG_LEN(0) as usize;
                for at in 0..length / size_of::<i32>() {
                    let fd = libc::CMSG_DATA(control).cast::<i32>().add(at).read_unaligned();
                    found.push(OwnedFd::from_raw_fd(fd));
                }
            }
            control = libc::CMSG_NXTHDR(header, control);
        }
    }
    found
}

/// A registered client.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) socket: OwnedFd,
}

impl Client {
    /// Registers this process.
    pub(crate) fn new(run: &OwnedFd) -> Self {
        let [socket, theirs] = pair(libc::SOCK_SEQPACKET);
        send(run.as_fd(), &[0; 16], &[theirs.as_fd()]).unwrap();
        drop(theirs);
        assert_eq!(receive(socket.as_fd()).unwrap().descriptors.len(), 1, "the state file");
        Self { socket }
    }

    pub(crate) fn send(&self, numbers: [u32; 4], payload: &[u8], all: &[BorrowedFd<'_>]) {
        send(self.socket.as_fd(), &message(numbers, payload), all).unwrap();
    }

    /// Returns `true` if an answer has arrived.
    pub(crate) fn is_answered(&self) -> bool {
        is_readable(&self.socket, 0)
    }

    /// Returns the error number of the next answer.
    pub(crate) fn answer(&self) -> i32 {
        receive(self.socket.as_fd()).unwrap().numbers[1].cast_signed()
    }

    pub(crate) fn ask(&self, numbers: [u32; 4], payload: &[u8], all: &[BorrowedFd<'_>]) -> i32 {
        self.send(numbers, payload, all);
        self.answer()
    }
}
