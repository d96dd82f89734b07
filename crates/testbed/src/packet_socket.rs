//! Whole frames from and to an interface: packet(7).

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::null_mut;

use crate::frame::VLAN_TAG;
use crate::wire::Unfinished;

/// Frames taken or given by one system call.
pub(crate) const BATCH: usize = 32;
/// Room for a frame that holds as much of a stream as the kernel puts into one (64 KiB), its
/// headers, and what the kernel says of it.
const SLOT: usize = 66 << 10;
/// What may wait to be taken and given: tens of thousands of small frames, should the thread not
/// get its turn for a while. An ordinary user gets what `net.core.rmem_max` allows.
const BUFFER_BYTES: libc::c_int = 64 << 20;
/// What is said of a frame that goes out: it is finished.
const FINISHED: [u8; Unfinished::LENGTH] = [0; Unfinished::LENGTH];
/// Room for one control message, `struct tpacket_auxdata`, and aligned for it.
const CONTROL_WORDS: usize = 8;

/// Every frame that arrives at one interface, and a way out of it.
pub(crate) struct PacketSocket {
    fd: OwnedFd,
    slots: Box<[u8]>,
    received: [Slot; BATCH],
}

/// What has been received into one slot.
#[derive(Debug, Default, Clone, Copy)]
struct Slot {
    length: usize,
    is_whole: bool,
    vlan: Option<[u8; VLAN_TAG]>,
}

/// A frame as the kernel had it.
pub(crate) struct Received<'a> {
    pub(crate) unfinished: Unfinished,
    pub(crate) bytes: &'a mut [u8],
    /// The 802.1Q tag that stood in front of the EtherType and was taken out.
    pub(crate) vlan: Option<[u8; VLAN_TAG]>,
}

impl PacketSocket {
    /// Listens at the interface `index` of the calling thread's namespace, from now on.
    pub(crate) fn open(index: u32) -> io::Result<Self> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // Protocol 0: nothing arrives before all is set.
        // SAFETY: takes integers.
        let fd = check(unsafe { libc::socket(libc::AF_PACKET, kind, 0) })?;
        // SAFETY: the descriptor is new and nobody else's.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        for option in [libc::PACKET_VNET_HDR, libc::PACKET_IGNORE_OUTGOING, libc::PACKET_AUXDATA] {
            set(&fd, libc::SOL_PACKET, option, 1)?;
        }
        // Twice: for root beyond the limit, for others up to it.
        let both = [libc::SO_RCVBUF, libc::SO_SNDBUF];
        both.iter().try_for_each(|&option| set(&fd, libc::SOL_SOCKET, option, BUFFER_BYTES))?;
        for option in [libc::SO_RCVBUFFORCE, libc::SO_SNDBUFFORCE] {
            let _ = set(&fd, libc::SOL_SOCKET, option, BUFFER_BYTES);
        }
        bind(&fd, index)?;
        let slots = vec![0; SLOT * BATCH].into_boxed_slice();
        Ok(Self { fd, slots, received: [Slot::default(); BATCH] })
    }

    /// Takes what has arrived, up to a batch, without waiting; how many frames that are.
    pub(crate) fn receive(&mut self) -> io::Result<usize> {
        let mut controls = [[0_u64; CONTROL_WORDS]; BATCH];
        let mut slots = self.slots.chunks_exact_mut(SLOT);
        let mut pieces: [libc::iovec; BATCH] = std::array::from_fn(|_| {
            let slot = slots.next().expect("a slot for each frame of a batch");
            libc::iovec { iov_base: slot.as_mut_ptr().cast(), iov_len: SLOT }
        });
        let mut messages: [libc::mmsghdr; BATCH] = std::array::from_fn(|index| {
            let mut message = message(std::slice::from_mut(&mut pieces[index]));
            message.msg_hdr.msg_control = controls[index].as_mut_ptr().cast();
            message.msg_hdr.msg_controllen = size_of_val(&controls[index]);
            message
        });
        let [fd, count] = [self.fd.as_raw_fd(), BATCH as libc::c_int];
        // SAFETY: every message points to a piece and to room for control messages that live to
        // the end of this function, and each piece to a slot of its own that nobody reads or
        // writes meanwhile. No timeout is a null pointer.
        let count = check(unsafe {
            libc::recvmmsg(fd, messages.as_mut_ptr(), count as u32, libc::MSG_DONTWAIT, null_mut())
        })? as usize;
        for (slot, message) in self.received.iter_mut().zip(&messages[..count]) {
            let is_whole = message.msg_hdr.msg_flags & libc::MSG_TRUNC == 0;
            let length = (message.msg_len as usize).min(SLOT);
            *slot = Slot { length, is_whole, vlan: vlan_of(&message.msg_hdr) };
        }
        Ok(count)
    }

    /// A frame of the latest batch; `None` if it did not fit or is none.
    pub(crate) fn frame(&mut self, index: usize) -> Option<Received<'_>> {
        let Slot { length, is_whole, vlan } = self.received[index];
        let slot = self.slots[index * SLOT..][..length].split_first_chunk_mut();
        let (unfinished, bytes) = slot.filter(|_| is_whole)?;
        Some(Received { unfinished: Unfinished::parse(*unfinished), bytes, vlan })
    }

    /// Gives finished frames, up to a batch, to the interface; how many of the first were taken.
    pub(crate) fn send(&self, frames: &[Vec<u8>]) -> io::Result<usize> {
        let piece = |bytes: &[u8]| libc::iovec {
            iov_base: bytes.as_ptr().cast_mut().cast(),
            iov_len: bytes.len(),
        };
        let count = frames.len().min(BATCH);
        let mut pieces: [[libc::iovec; 2]; BATCH] = std::array::from_fn(|index| {
            [piece(&FINISHED), piece(frames.get(index).map_or(&[], Vec::as_slice))]
        });
        let mut messages = pieces.each_mut().map(|pieces| message(pieces));
        let fd = self.fd.as_raw_fd();
        // SAFETY: the first `count` messages, all there are frames for, point to pieces that point
        // to bytes that live through the call; the kernel only reads those of a message to send.
        check(unsafe {
            libc::sendmmsg(fd, messages.as_mut_ptr(), count as u32, libc::MSG_DONTWAIT)
        })
        .map(|count| count as usize)
    }

    /// How many frames the kernel has thrown away since this was last asked.
    pub(crate) fn take_missed(&self) -> io::Result<u64> {
        // SAFETY: numbers only: all bytes zero is a valid value.
        let mut statistics: libc::tpacket_stats = unsafe { zeroed() };
        let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        // SAFETY: the kernel writes at most `length` bytes of the value, which is that long.
        check(unsafe {
            libc::getsockopt(
                self.fd.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut statistics).cast(),
                &raw mut length,
            )
        })?;
        Ok(statistics.tp_drops.into())
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// A message of these pieces, which it points to.
fn message(pieces: &mut [libc::iovec]) -> libc::mmsghdr {
    // SAFETY: numbers and null pointers: all bytes zero is a valid value.
    let mut message: libc::mmsghdr = unsafe { zeroed() };
    message.msg_hdr.msg_iov = pieces.as_mut_ptr();
    message.msg_hdr.msg_iovlen = pieces.len();
    message
}

/// The tag that the kernel has taken out of a frame.
fn vlan_of(message: &libc::msghdr) -> Option<[u8; VLAN_TAG]> {
    // SAFETY: the kernel has filled the message's control part, which is still there, aligned, and
    // as long as the message says.
    let control = unsafe { libc::CMSG_FIRSTHDR(message).as_ref() }?;
    if (control.cmsg_level, control.cmsg_type) != (libc::SOL_PACKET, libc::PACKET_AUXDATA) {
        return None;
    }
    // SAFETY: a message of this type holds one `tpacket_auxdata`, numbers only.
    let auxiliary =
        unsafe { libc::CMSG_DATA(control).cast::<libc::tpacket_auxdata>().read_unaligned() };
    if auxiliary.tp_status & libc::TP_STATUS_VLAN_VALID == 0 {
        return None;
    }
    let [[a, b], [c, d]] = [auxiliary.tp_vlan_tpid, auxiliary.tp_vlan_tci].map(u16::to_be_bytes);
    Some([a, b, c, d])
}

fn set(fd: &OwnedFd, level: i32, option: i32, value: libc::c_int) -> io::Result<()> {
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    let fd = fd.as_raw_fd();
    // SAFETY: the kernel reads one integer, which lives through the call.
    check(unsafe { libc::setsockopt(fd, level, option, (&raw const value).cast(), length) })?;
    Ok(())
}

/// Every protocol, one interface.
fn bind(fd: &OwnedFd, index: u32) -> io::Result<()> {
    // SAFETY: numbers only: all bytes zero is a valid value.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = index.cast_signed();
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the kernel reads an address of this length, which lives through the call.
    check(unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) })?;
    Ok(())
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, UdpSocket};

    use super::*;
    use crate::namespace;
    use crate::rtnetlink::Rtnetlink;

    /// A socket at `lo` of a namespace that the calling thread has to itself, and a sender whose
    /// datagrams pass there.
    fn at_lo() -> (PacketSocket, UdpSocket) {
        namespace::unshare(libc::CLONE_NEWNET).unwrap();
        let mut rtnetlink = Rtnetlink::open().unwrap();
        let lo = rtnetlink.link("lo").unwrap().index;
        rtnetlink.set_up(lo).unwrap();
        let socket = PacketSocket::open(lo).unwrap();
        let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 7)).unwrap();
        sender.connect((Ipv4Addr::LOCALHOST, 7)).unwrap();
        (socket, sender)
    }

    fn on_a_thread_of_its_own(test: impl FnOnce() + Send + 'static) {
        std::thread::spawn(test).join().unwrap();
    }

    #[test]
    #[ignore = "needs root"]
    fn frames_are_taken_in_batches_and_once() {
        on_a_thread_of_its_own(|| {
            let (mut socket, sender) = at_lo();
            assert_eq!(socket.receive().unwrap_err().kind(), io::ErrorKind::WouldBlock);
            for number in 0..40_u8 {
                sender.send(&[number; 100]).unwrap();
            }
            let mut numbers = Vec::new();
            while let Ok(count) = socket.receive() {
                assert!(count <= BATCH);
                numbers.extend((0..count).map(|index| {
                    let frame = socket.frame(index).unwrap();
                    assert_eq!((frame.bytes.len(), frame.vlan), (142, None));
                    frame.bytes[141]
                }));
            }
            assert_eq!(numbers, Vec::from_iter(0..40));
            assert_eq!(socket.take_missed().unwrap(), 0);
        });
    }

    #[test]
    #[ignore = "needs root"]
    fn what_the_kernel_had_no_room_for_is_counted_once() {
        on_a_thread_of_its_own(|| {
            let (mut socket, sender) = at_lo();
            for option in [libc::SO_RCVBUF, libc::SO_RCVBUFFORCE] {
                set(&socket.fd, libc::SOL_SOCKET, option, 1 << 14).unwrap();
            }
            for _ in 0..500 {
                sender.send(&[1; 1_000]).unwrap();
            }
            let taken: u64 = std::iter::from_fn(|| socket.receive().ok()).sum::<usize>() as u64;
            let missed = socket.take_missed().unwrap();
            assert!(missed > 0 && taken + missed == 500, "{taken} {missed}");
            assert_eq!(socket.take_missed().unwrap(), 0);
        });
    }

    #[test]
    #[ignore = "needs root"]
    fn a_frame_that_is_too_long_is_refused_and_the_next_is_not() {
        on_a_thread_of_its_own(|| {
            let (mut socket, _) = at_lo();
            assert!(socket.send(&[vec![0; 70_000], vec![0; 60]]).is_err());
            // lo gives back what it is sent.
            let frames = [1_u8, 2].map(|byte| vec![byte; 60 + usize::from(byte)]);
            assert_eq!(socket.send(&frames).unwrap(), 2);
            assert_eq!(socket.receive().unwrap(), 2);
            for (index, frame) in frames.iter().enumerate() {
                assert_eq!(socket.frame(index).unwrap().bytes, frame);
            }
        });
    }
}
