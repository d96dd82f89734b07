//! Sends many datagrams with one sendmmsg(2).

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

use socket2::SockAddr;

/// The most datagrams of a batch.
const DATAGRAMS: usize = 32;

/// Datagrams that wait to be sent together.
pub(crate) struct SendBatch {
    bytes: Box<[u8]>,
    datagram_max: usize,
    /// The length and the destination of each datagram; none through a connected socket.
    datagrams: Vec<(usize, Option<SockAddr>)>,
}

impl SendBatch {
    pub(crate) fn new(datagram_max: usize) -> Self {
        let bytes = vec![0; DATAGRAMS * datagram_max].into_boxed_slice();
        Self { bytes, datagram_max, datagrams: Vec::with_capacity(DATAGRAMS) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.datagrams.is_empty()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.datagrams.len() == DATAGRAMS
    }

    /// Adds a datagram.
    ///
    /// # Panics
    /// If the batch is full or the datagram is too long.
    pub(crate) fn push(&mut self, datagram: &[u8], to: Option<&SockAddr>) {
        assert!(!self.is_full(), "a full batch is sent first");
        let at = self.datagrams.len() * self.datagram_max;
        self.bytes[at..at + self.datagram_max][..datagram.len()].copy_from_slice(datagram);
        self.datagrams.push((datagram.len(), to.cloned()));
    }

    /// Sends the batch and empties it. `on_error` decides after an error whether the rest is sent;
    /// otherwise the rest is lost. A datagram is tried twice, since the kernel returns an error
    /// about an earlier one instead of sending. If it fails twice, only this datagram is lost.
    pub(crate) fn send(
        &mut self,
        socket: BorrowedFd<'_>,
        flags: libc::c_int,
        mut on_error: impl FnMut(&io::Error) -> bool,
    ) -> io::Result<()> {
        let mut iovecs = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; DATAGRAMS];
        // SAFETY: a header consists of integers and pointers, for all of which zero is valid.
        let mut headers: [libc::mmsghdr; DATAGRAMS] =
            unsafe { MaybeUninit::zeroed().assume_init() };
        let count = self.datagrams.len();
        for (index, (length, to)) in self.datagrams.iter().enumerate() {
            let bytes = &mut self.bytes[index * self.datagram_max..][..*length];
            iovecs[index].iov_base = bytes.as_mut_ptr().cast();
            iovecs[index].iov_len = *length;
            let header = &mut headers[index].msg_hdr;
            header.msg_iov = &raw mut iovecs[index];
            header.msg_iovlen = 1;
            if let Some(to) = to {
                header.msg_name = to.as_ptr().cast_mut().cast();
                header.msg_namelen = to.len();
            }
        }
        let mut sent = 0;
        let mut failed_at = None;
        let mut outcome = Ok(());
        while sent < count {
            let rest = &mut headers[sent..count];
            // SAFETY: the headers point to addresses and buffers of this batch, which live through
            // the call. The kernel reads them and writes only the headers' lengths.
            let result = unsafe {
                let length = rest.len() as libc::c_uint;
                libc::sendmmsg(socket.as_raw_fd(), rest.as_mut_ptr(), length, flags)
            };
            match usize::try_from(result) {
                Ok(number) => sent += number,
                Err(_) => {
                    let error = io::Error::last_os_error();
                    if !on_error(&error) {
                        outcome = Err(error);
                        break;
                    }
                    if failed_at.replace(sent) == Some(sent) {
                        sent += 1;
                    }
                }
            }
        }
        self.datagrams.clear();
        outcome
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn sends_all_datagrams_in_order() {
        let (sender, receiver) =
            (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        receiver.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
        let to = SockAddr::from(receiver.local_addr().unwrap());
        let mut batch = SendBatch::new(100);
        for length in 0..DATAGRAMS {
            batch.push(&vec![length as u8; length], Some(&to));
        }
        assert!(batch.is_full());
        batch.send(sender.as_fd(), libc::MSG_DONTWAIT, |_| false).unwrap();
        assert!(batch.is_empty());
        let mut buffer = [0; 200];
        for length in 0..DATAGRAMS {
            assert_eq!(receiver.recv(&mut buffer).unwrap(), length);
            assert!(buffer[..length].iter().all(|&byte| byte == length as u8));
        }
    }
}
