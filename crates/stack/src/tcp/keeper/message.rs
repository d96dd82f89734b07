//! Messages between programs and the keeper, with descriptors (unix(7), `SCM_RIGHTS`).

use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// The most descriptors of a message (`SCM_MAX_FD` of the kernel).
pub(super) const DESCRIPTORS_MAX: usize = 253;
/// The room for control data: a header, and the descriptors.
const CONTROL: usize = 16 + 4 * DESCRIPTORS_MAX + 4;

/// What a program sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Request {
    /// Hold the descriptor of a connection for this slot.
    Hold = 1,
    /// Close the descriptor of this slot. Answered.
    Release = 2,
    /// Hold the descriptors of an interface.
    HoldInterface = 3,
    /// Close all descriptors: the program ends in order. Answered.
    Leave = 4,
}

impl Request {
    pub(super) fn from_number(number: u32) -> Option<Self> {
        [Self::Hold, Self::Release, Self::HoldInterface, Self::Leave]
            .into_iter()
            .find(|request| *request as u32 == number)
    }
}

/// A control buffer with the alignment of its headers.
#[repr(C, align(8))]
struct Control([u8; CONTROL]);

/// Creates a pair of sockets for messages, close-on-exec.
pub(super) fn pair() -> io::Result<[OwnedFd; 2]> {
    let mut fds = [0; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: the kernel writes two integers.
    check(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, fds.as_mut_ptr()) })?;
    // SAFETY: the descriptors are new, and no other code owns them.
    Ok(fds.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }))
}

/// Sends a message of two numbers with at most [`DESCRIPTORS_MAX`] descriptors; `flags` as for
/// send(2).
pub(super) fn send(
    to: BorrowedFd<'_>,
    numbers: [u32; 2],
    descriptors: &[BorrowedFd<'_>],
    flags: libc::c_int,
) -> io::Result<()> {
    let mut control = Control([0; CONTROL]);
    let mut part = libc::iovec {
        iov_base: numbers.as_ptr().cast_mut().cast(),
        iov_len: size_of_val(&numbers),
    };
    // SAFETY: a header consists of integers and pointers, for which zero is a valid value.
    let mut header: libc::msghdr = unsafe { zeroed() };
    (header.msg_iov, header.msg_iovlen) = (&raw mut part, 1);
    if !descriptors.is_empty() {
        let length = (descriptors.len() * size_of::<i32>()) as u32;
        header.msg_control = control.0.as_mut_ptr().cast();
        // SAFETY: the buffer has room for a header and the most descriptors, which is asserted.
        unsafe {
            assert!(descriptors.len() <= DESCRIPTORS_MAX, "too many descriptors");
            header.msg_controllen = libc::CMSG_SPACE(length) as usize;
            let first = libc::CMSG_FIRSTHDR(&raw const header);
            (*first).cmsg_level = libc::SOL_SOCKET;
            (*first).cmsg_type = libc::SCM_RIGHTS;
            (*first).cmsg_len = libc::CMSG_LEN(length) as usize;
            for (at, descriptor) in descriptors.iter().enumerate() {
                let place = libc::CMSG_DATA(first).cast::<i32>().add(at);
                place.write_unaligned(descriptor.as_raw_fd());
            }
        }
    }
    loop {
        // SAFETY: the header and what it refers to outlive the call.
        let sent =
            unsafe { libc::sendmsg(to.as_raw_fd(), &raw const header, flags | libc::MSG_NOSIGNAL) };
        match check_length(sent) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            sent => return sent.map(drop),
        }
    }
}

/// Receives a message. Returns `None` at the end, and numbers of 0 for a message of another length.
///
/// # Errors
/// The kernel's; `InvalidData` if descriptors were lost, because this process has too many.
pub(super) fn receive(from: BorrowedFd<'_>) -> io::Result<Option<([u32; 2], Vec<OwnedFd>)>> {
    let mut numbers = [0_u32; 2];
    let mut control = Control([0; CONTROL]);
    let mut part =
        libc::iovec { iov_base: numbers.as_mut_ptr().cast(), iov_len: size_of_val(&numbers) };
    // SAFETY: as in `send`.
    let mut header: libc::msghdr = unsafe { zeroed() };
    (header.msg_iov, header.msg_iovlen) = (&raw mut part, 1);
    (header.msg_control, header.msg_controllen) = (control.0.as_mut_ptr().cast(), CONTROL);
    let received = loop {
        let flags = libc::MSG_CMSG_CLOEXEC;
        // SAFETY: the header and what it refers to outlive the call.
        let count = unsafe { libc::recvmsg(from.as_raw_fd(), &raw mut header, flags) };
        match check_length(count) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            count => break count?,
        }
    };
    let descriptors = descriptors(&header);
    if header.msg_flags & libc::MSG_CTRUNC != 0 {
        return Err(io::ErrorKind::InvalidData.into());
    }
    if received == 0 && descriptors.is_empty() {
        return Ok(None);
    }
    if received != size_of_val(&numbers) || header.msg_flags & libc::MSG_TRUNC != 0 {
        numbers = [0; 2];
    }
    Ok(Some((numbers, descriptors)))
}

/// Takes ownership of the descriptors of a received message.
fn descriptors(header: &libc::msghdr) -> Vec<OwnedFd> {
    let mut found = Vec::new();
    // SAFETY: the kernel has written valid control headers and new descriptors, which no other code
    // owns.
    unsafe {
        let mut control = libc::CMSG_FIRSTHDR(header);
        while let Some(part) = control.as_ref() {
            if (part.cmsg_level, part.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
                let length = part.cmsg_len - libc::CMSG_LEN(0) as usize;
                let first = libc::CMSG_DATA(control).cast::<i32>();
                for at in 0..length / size_of::<i32>() {
                    found.push(OwnedFd::from_raw_fd(first.add(at).read_unaligned()));
                }
            }
            control = libc::CMSG_NXTHDR(header, control);
        }
    }
    found
}

fn check(result: i32) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn check_length(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn numbers_and_descriptors_arrive() {
        let [a, b] = pair().unwrap();
        let [c, d] = pair().unwrap();
        let many: Vec<_> = std::iter::repeat_n(c.as_fd(), DESCRIPTORS_MAX).collect();
        send(a.as_fd(), [1, 2], &many, 0).unwrap();
        send(a.as_fd(), [3, 4], &[], 0).unwrap();
        let (numbers, descriptors) = receive(b.as_fd()).unwrap().unwrap();
        assert_eq!((numbers, descriptors.len()), ([1, 2], DESCRIPTORS_MAX));
        send(descriptors[252].as_fd(), [5, 6], &[], 0).unwrap();
        assert_eq!(receive(d.as_fd()).unwrap().unwrap().0, [5, 6]);
        assert_eq!(receive(b.as_fd()).unwrap().unwrap().0, [3, 4]);
        drop(a);
        assert!(receive(b.as_fd()).unwrap().is_none());
        assert!(send(b.as_fd(), [0, 0], &[], 0).is_err());
    }

    #[test]
    fn message_of_another_length_has_no_numbers() {
        let [a, b] = pair().unwrap();
        for bytes in [&b"1234567"[..], b"123456789"] {
            let (at, length) = (bytes.as_ptr().cast(), bytes.len());
            // SAFETY: the kernel reads the bytes.
            assert!(unsafe { libc::send(a.as_raw_fd(), at, length, 0) } > 0);
            assert_eq!(receive(b.as_fd()).unwrap().unwrap().0, [0, 0]);
        }
    }
}
