//! Messages between programs and the keeper, with descriptors (unix(7), `SCM_RIGHTS`).

use std::borrow::Cow;
use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// The most descriptors of a message (`SCM_MAX_FD` of the kernel).
pub(super) const DESCRIPTORS_MAX: usize = 253;
/// The room for control data: a header, and the descriptors.
const CONTROL: usize = 16 + 4 * DESCRIPTORS_MAX + 4;

/// The longest text or IP packet of a message.
pub(super) const PAYLOAD: usize = 64 << 10;
/// The size of a message without text.
const NUMBERS: usize = size_of::<Numbers>();

/// What a program sends, with the meaning of the second number: a slot, if it is not named. All but
/// `AddBytes`, `Inject`, `InjectUdp` and `UseNeighbor` are answered: the second number is 0 or an
/// error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Request {
    /// Enter the flow of the descriptor's connection into the filter, take the connection from the
    /// kernel, and hold it. The third number is the
    /// count of segments that were received out of order, the fourth the index of the interface.
    /// The answer has a [`Taken`](crate::tcp::transfer::Taken).
    TakeOver = 1,
    /// Give the connection of this slot back to the kernel, and remove its flow. The payload is a
    /// [`Given`](crate::tcp::transfer::Given); its bytes came before. If the slot is not held, the
    /// connection's descriptor is passed. The answer has the number of bytes found beside, and the
    /// error of what was sent.
    GiveBack = 2,
    /// Undo the takeover of this slot, and remove its flow.
    Undo = 3,
    /// Close the descriptor of this slot, and remove its flow.
    Release = 4,
    /// Double the send buffer of this slot, or of the descriptor.
    GrowSendBuffer = 5,
    /// End repair mode of the descriptor, and remove its flow: the keeper before this one was
    /// killed meanwhile.
    EndRepair = 6,
    /// Present an IP packet of a connection's peer to the kernel.
    Inject = 7,
    /// Present an IP packet with UDP to the kernel, for the socket of the descriptor.
    InjectUdp = 8,
    /// Open the interface that the text names; [`OpenRequest`] follows. Answered with descriptors.
    OpenInterface = 9,
    /// Bind the sockets of the interface that the text names, after their rings have been mapped.
    /// The third number of the answer is 1 if long frames arrive in parts.
    BindInterface = 10,
    /// Confirm the neighbor whose address is the text. The number is the index of the interface.
    UseNeighbor = 11,
    /// Close all descriptors: the program ends in order.
    Leave = 12,
    /// Find the rules of the host that apply to a UDP socket, whose descriptor is passed, or to any
    /// flow. The number is the index of the interface. The answer has the sum of 1 if a rule
    /// restricts IPv4 and 2 for IPv6, the same for translations, and the first rule as text.
    FindRules = 13,
    /// Add the payload to the bytes of the next `GiveBack`. Not answered.
    AddBytes = 14,
    /// Redirect what the UDP socket of the descriptor receives, and hold the socket. The numbers
    /// are the index of the interface and one that distinguishes the users of the entry; the text
    /// is an [`Entry`](super::entry).
    Redirect = 15,
    /// Release the socket of such a user of the entry. The entry ends with the last one.
    EndRedirect = 16,
}

impl Request {
    pub(super) fn from_number(number: u32) -> Option<Self> {
        use Request::*;
        let all = [
            TakeOver,
            GiveBack,
            Undo,
            Release,
            GrowSendBuffer,
            EndRepair,
            Inject,
            InjectUdp,
            OpenInterface,
            BindInterface,
            UseNeighbor,
            Leave,
            FindRules,
            AddBytes,
            Redirect,
            EndRedirect,
        ];
        all.into_iter().find(|request| *request as u32 == number)
    }
}

/// The numbers of a message: the request, its argument, and more for some requests.
pub(super) type Numbers = [u32; 4];

/// A received message. The numbers are 0 if its length is wrong.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) numbers: Numbers,
    pub(super) payload: Vec<u8>,
    pub(super) descriptors: Vec<OwnedFd>,
    /// Some descriptors are missing, because this process has too many.
    pub(super) lacks_descriptors: bool,
}

impl Message {
    /// Returns the payload as text.
    pub(super) fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.payload)
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

/// Sends a message with at most [`DESCRIPTORS_MAX`] descriptors; `flags` as for send(2).
///
/// # Errors
/// The kernel's; `InvalidInput` for a payload beyond the limit.
pub(super) fn send(
    to: BorrowedFd<'_>,
    numbers: Numbers,
    payload: &[u8],
    descriptors: &[BorrowedFd<'_>],
    flags: libc::c_int,
) -> io::Result<()> {
    let mut control = Control([0; CONTROL]);
    if payload.len() > PAYLOAD {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut parts = [
        libc::iovec { iov_base: numbers.as_ptr().cast_mut().cast(), iov_len: NUMBERS },
        libc::iovec { iov_base: payload.as_ptr().cast_mut().cast(), iov_len: payload.len() },
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

/// Receives a message; `flags` as for recv(2). Returns `None` at the end.
///
/// # Errors
/// The kernel's.
pub(super) fn receive(from: BorrowedFd<'_>, flags: libc::c_int) -> io::Result<Option<Message>> {
    let (mut numbers, mut payload) = ([0; 4], vec![0_u8; PAYLOAD]);
    let mut control = Control([0; CONTROL]);
    let mut parts = [
        libc::iovec { iov_base: numbers.as_mut_ptr().cast(), iov_len: NUMBERS },
        libc::iovec { iov_base: payload.as_mut_ptr().cast(), iov_len: PAYLOAD },
    ];
    // SAFETY: as in `send`.
    let mut header: libc::msghdr = unsafe { zeroed() };
    (header.msg_iov, header.msg_iovlen) = (parts.as_mut_ptr(), parts.len());
    (header.msg_control, header.msg_controllen) = (control.0.as_mut_ptr().cast(), CONTROL);
    let received = loop {
        let flags = flags | libc::MSG_CMSG_CLOEXEC;
        // SAFETY: the header and what it refers to outlive the call.
        let count = unsafe { libc::recvmsg(from.as_raw_fd(), &raw mut header, flags) };
        match check_length(count) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            count => break count?,
        }
    };
    let descriptors = descriptors(&header);
    let lacks_descriptors = header.msg_flags & libc::MSG_CTRUNC != 0;
    if received == 0 && descriptors.is_empty() && !lacks_descriptors {
        return Ok(None);
    }
    if received < NUMBERS || header.msg_flags & libc::MSG_TRUNC != 0 {
        numbers = [0; 4];
    }
    payload.truncate(received.saturating_sub(NUMBERS));
    Ok(Some(Message { numbers, payload, descriptors, lacks_descriptors }))
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
        send(a.as_fd(), [1, 2, 3, 4], &[], &many, 0).unwrap();
        send(a.as_fd(), [3, 4, 0, 0], b"text", &[], 0).unwrap();
        let first = receive(b.as_fd(), 0).unwrap().unwrap();
        assert_eq!((first.numbers, first.descriptors.len()), ([1, 2, 3, 4], DESCRIPTORS_MAX));
        send(first.descriptors[252].as_fd(), [5, 6, 0, 0], &[], &[], 0).unwrap();
        assert_eq!(receive(d.as_fd(), 0).unwrap().unwrap().numbers, [5, 6, 0, 0]);
        let second = receive(b.as_fd(), 0).unwrap().unwrap();
        assert_eq!((second.numbers, &*second.text()), ([3, 4, 0, 0], "text"));
        drop(a);
        assert!(receive(b.as_fd(), 0).unwrap().is_none());
        assert!(send(b.as_fd(), [0; 4], &[], &[], 0).is_err());
    }

    #[test]
    fn message_of_another_length_has_no_numbers() {
        let [a, b] = pair().unwrap();
        for bytes in [&[1; 15][..], &[1; NUMBERS + PAYLOAD + 1]] {
            let (at, length) = (bytes.as_ptr().cast(), bytes.len());
            // SAFETY: the kernel reads the bytes.
            assert!(unsafe { libc::send(a.as_raw_fd(), at, length, 0) } > 0);
            assert_eq!(receive(b.as_fd(), 0).unwrap().unwrap().numbers, [0; 4]);
        }
    }
}
