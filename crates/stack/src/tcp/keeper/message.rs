//! Messages between programs and the keeper, with descriptors (unix(7), `SCM_RIGHTS`).

use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// The most descriptors of a message (`SCM_MAX_FD` of the kernel).
pub(super) const DESCRIPTORS_MAX: usize = 253;
/// The room for control data: a header, and the descriptors.
const CONTROL: usize = 16 + 4 * DESCRIPTORS_MAX + 4;

/// The longest text of a message.
const TEXT: usize = 512;
/// The size of a message without text.
const NUMBERS: usize = size_of::<Numbers>();

/// What a program sends, with the meaning of the second number: a slot, if it is not named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Request {
    /// Hold the descriptor of a connection for this slot.
    Hold = 1,
    /// Close the descriptor of this slot. Answered.
    Release = 2,
    /// Open the interface that the text names; [`OpenRequest`] follows. Answered, with descriptors.
    OpenInterface = 3,
    /// Close all descriptors: the program ends in order. Answered.
    Leave = 4,
    /// Start repair mode for this slot, or for a descriptor in the message. Answered.
    StartRepair = 5,
    /// End repair mode. Answered.
    EndRepair = 6,
    /// Double the send buffer. Answered.
    GrowSendBuffer = 7,
    /// Confirm the neighbor whose address is the text. The number is the index of the interface.
    UseNeighbor = 8,
    /// Bind the socket of this slot to its local address again. Answered.
    Bind = 9,
    /// Start repair mode and keep the local port of the socket until repair mode ends. Answered.
    StartRestoring = 10,
    /// Bind the sockets of the interface that the text names, after their rings have been mapped.
    /// Answered: 1 as the third number if long frames arrive in parts.
    BindInterface = 11,
}

impl Request {
    pub(super) fn from_number(number: u32) -> Option<Self> {
        use Request::{
            Bind, BindInterface, EndRepair, GrowSendBuffer, Hold, Leave, OpenInterface, Release,
            StartRepair, StartRestoring, UseNeighbor,
        };
        let connection =
            [Hold, Release, StartRepair, StartRestoring, EndRepair, GrowSendBuffer, Bind];
        connection
            .into_iter()
            .chain([OpenInterface, BindInterface, UseNeighbor, Leave])
            .find(|request| *request as u32 == number)
    }
}

/// The numbers of a message: the request, its argument, and more for some requests.
pub(super) type Numbers = [u32; 4];

/// A received message. The numbers are 0 if its length is wrong.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) numbers: Numbers,
    pub(super) text: String,
    pub(super) descriptors: Vec<OwnedFd>,
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

/// Sends a message with at most [`DESCRIPTORS_MAX`] descriptors; `flags` as for send(2). A text is
/// cut to its greatest length.
pub(super) fn send(
    to: BorrowedFd<'_>,
    numbers: Numbers,
    text: &str,
    descriptors: &[BorrowedFd<'_>],
    flags: libc::c_int,
) -> io::Result<()> {
    let mut control = Control([0; CONTROL]);
    let text = &text.as_bytes()[..text.len().min(TEXT)];
    let mut parts = [
        libc::iovec { iov_base: numbers.as_ptr().cast_mut().cast(), iov_len: NUMBERS },
        libc::iovec { iov_base: text.as_ptr().cast_mut().cast(), iov_len: text.len() },
    ];
    // SAFETY: a header consists of integers and pointers, for which zero is a valid value.
    let mut header: libc::msghdr = unsafe { zeroed() };
    (header.msg_iov, header.msg_iovlen) = (parts.as_mut_ptr(), parts.len());
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

/// Waits for a message or the end.
///
/// # Errors
/// The kernel's; `TimedOut`.
pub(super) fn await_message(from: BorrowedFd<'_>, timeout: Duration) -> io::Result<()> {
    let mut fd = libc::pollfd { fd: from.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    loop {
        // SAFETY: one element.
        match unsafe { libc::poll(&raw mut fd, 1, timeout.as_millis() as i32) } {
            0 => return Err(io::ErrorKind::TimedOut.into()),
            1 => return Ok(()),
            _ => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => {}
                error => return Err(error),
            },
        }
    }
}

/// Receives a message. Returns `None` at the end.
///
/// # Errors
/// The kernel's; `InvalidData` if descriptors were lost, because this process has too many.
pub(super) fn receive(from: BorrowedFd<'_>) -> io::Result<Option<Message>> {
    let (mut numbers, mut text) = ([0; 4], [0_u8; TEXT]);
    let mut control = Control([0; CONTROL]);
    let mut parts = [
        libc::iovec { iov_base: numbers.as_mut_ptr().cast(), iov_len: NUMBERS },
        libc::iovec { iov_base: text.as_mut_ptr().cast(), iov_len: TEXT },
    ];
    // SAFETY: as in `send`.
    let mut header: libc::msghdr = unsafe { zeroed() };
    (header.msg_iov, header.msg_iovlen) = (parts.as_mut_ptr(), parts.len());
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
    if received < NUMBERS || header.msg_flags & libc::MSG_TRUNC != 0 {
        numbers = [0; 4];
    }
    let text = text.get(..received.saturating_sub(NUMBERS)).unwrap_or_default();
    let text = String::from_utf8_lossy(text).into_owned();
    Ok(Some(Message { numbers, text, descriptors }))
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
        send(a.as_fd(), [1, 2, 3, 4], "", &many, 0).unwrap();
        send(a.as_fd(), [3, 4, 0, 0], "text", &[], 0).unwrap();
        let first = receive(b.as_fd()).unwrap().unwrap();
        assert_eq!((first.numbers, first.descriptors.len()), ([1, 2, 3, 4], DESCRIPTORS_MAX));
        send(first.descriptors[252].as_fd(), [5, 6, 0, 0], "", &[], 0).unwrap();
        assert_eq!(receive(d.as_fd()).unwrap().unwrap().numbers, [5, 6, 0, 0]);
        let second = receive(b.as_fd()).unwrap().unwrap();
        assert_eq!((second.numbers, second.text.as_str()), ([3, 4, 0, 0], "text"));
        drop(a);
        assert!(receive(b.as_fd()).unwrap().is_none());
        assert!(send(b.as_fd(), [0; 4], "", &[], 0).is_err());
    }

    #[test]
    fn message_of_another_length_has_no_numbers() {
        let [a, b] = pair().unwrap();
        for bytes in [&[1; 15][..], &[1; NUMBERS + TEXT + 1]] {
            let (at, length) = (bytes.as_ptr().cast(), bytes.len());
            // SAFETY: the kernel reads the bytes.
            assert!(unsafe { libc::send(a.as_raw_fd(), at, length, 0) } > 0);
            assert_eq!(receive(b.as_fd()).unwrap().unwrap().numbers, [0; 4]);
        }
    }
}
