//! Complete frames from and to an interface: packet(7).

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::null_mut;

use crate::Host;
use crate::frame::VLAN_TAG;
use crate::vnet_header::VnetHeader;

/// The most frames per system call.
pub(crate) const BATCH: usize = 32;
/// Room for the longest frame of segmentation offload (64 KiB), its headers and the vnet header.
const SLOT: usize = 66 << 10;
/// The socket buffers: room for tens of thousands of small frames while the thread is not
/// scheduled. An ordinary user gets at most `net.core.rmem_max`.
const BUFFER_BYTES: libc::c_int = 64 << 20;
/// The vnet header of a complete frame.
const COMPLETE: [u8; VnetHeader::LENGTH] = [0; VnetHeader::LENGTH];
/// The size of an aligned buffer for a control message, `struct tpacket_auxdata`, in 64-bit words.
const CONTROL_WORDS: usize = 8;

/// A packet socket that receives every frame arriving at an interface and sends frames from it.
pub(crate) struct PacketSocket {
    fd: OwnedFd,
    slots: Box<[u8]>,
    received: [Slot; BATCH],
}

/// Sends complete frames from an interface of a host, whatever they contain.
pub struct FrameSender(PacketSocket);

impl FrameSender {
    /// Opens a sender on an interface of a host.
    ///
    /// # Errors
    /// The kernel's.
    pub fn open(host: &Host, interface: u32) -> io::Result<Self> {
        host.run(|| PacketSocket::open(interface)).flatten().map(Self)
    }

    /// Sends a frame. Waits for room in the socket's buffer.
    ///
    /// # Errors
    /// The kernel's: the frame is shorter than its Ethernet header, or longer than the MTU permits.
    pub fn send(&self, frame: &[u8]) -> io::Result<()> {
        self.send_all(&COMPLETE, frame)
    }

    /// Sends a frame of which the checksum field has the partial sum, as the kernel passes those of
    /// its own sockets to a device (`VIRTIO_NET_HDR_F_NEEDS_CSUM`). `start` is the offset of the
    /// transport header, and `field` that of the checksum in it.
    ///
    /// # Errors
    /// As for [`send`](Self::send).
    pub fn send_partial(&self, frame: &[u8], start: u16, field: u16) -> io::Result<()> {
        self.send_all(&VnetHeader::partial(start, field), frame)
    }

    fn send_all(&self, vnet: &[u8; VnetHeader::LENGTH], frame: &[u8]) -> io::Result<()> {
        let frames = [frame.to_vec()];
        loop {
            match self.0.send_with(vnet, &frames) {
                Ok(0) => {}
                Ok(_) => return Ok(()),
                Err(error) if is_full(&error) => {}
                Err(error) => return Err(error),
            }
            std::thread::yield_now();
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(libc::ENOBUFS)
}

impl std::fmt::Debug for FrameSender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FrameSender")
    }
}

/// The frame in one receive slot.
#[derive(Debug, Default, Clone, Copy)]
struct Slot {
    length: usize,
    complete: bool,
    vlan: Option<[u8; VLAN_TAG]>,
}

/// A received frame.
pub(crate) struct Received<'a> {
    pub(crate) vnet: VnetHeader,
    pub(crate) bytes: &'a mut [u8],
    /// The 802.1Q tag that the kernel removed in front of the EtherType.
    pub(crate) vlan: Option<[u8; VLAN_TAG]>,
}

impl PacketSocket {
    /// Opens a socket on the interface `index` in the calling thread's namespace.
    pub(crate) fn open(index: u32) -> io::Result<Self> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // Protocol 0: no frame arrives before all options are set.
        // SAFETY: the call takes integers.
        let fd = check(unsafe { libc::socket(libc::AF_PACKET, kind, 0) })?;
        // SAFETY: the descriptor is new and has no other owner.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        for option in [libc::PACKET_VNET_HDR, libc::PACKET_IGNORE_OUTGOING, libc::PACKET_AUXDATA] {
            set(&fd, libc::SOL_PACKET, option, 1)?;
        }
        // The second pair exceeds the limit, which only root may do.
        let both = [libc::SO_RCVBUF, libc::SO_SNDBUF];
        both.iter().try_for_each(|&option| set(&fd, libc::SOL_SOCKET, option, BUFFER_BYTES))?;
        for option in [libc::SO_RCVBUFFORCE, libc::SO_SNDBUFFORCE] {
            let _ = set(&fd, libc::SOL_SOCKET, option, BUFFER_BYTES);
        }
        bind(&fd, index)?;
        let slots = vec![0; SLOT * BATCH].into_boxed_slice();
        Ok(Self { fd, slots, received: [Slot::default(); BATCH] })
    }

    /// Receives up to a batch of frames without waiting. Returns their number.
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
        // SAFETY: every message points to a piece and to a control buffer that live to the end of
        // this function. Each piece points to a slot of its own, which is not accessed meanwhile. A
        // null pointer means no timeout.
        let count = check(unsafe {
            libc::recvmmsg(fd, messages.as_mut_ptr(), count as u32, libc::MSG_DONTWAIT, null_mut())
        })? as usize;
        for (slot, message) in self.received.iter_mut().zip(&messages[..count]) {
            let complete = message.msg_hdr.msg_flags & libc::MSG_TRUNC == 0;
            let length = (message.msg_len as usize).min(SLOT);
            *slot = Slot { length, complete, vlan: vlan_tag(&message.msg_hdr) };
        }
        Ok(count)
    }

    /// Returns a frame of the latest batch; `None` if the frame was truncated.
    pub(crate) fn frame(&mut self, index: usize) -> Option<Received<'_>> {
        let Slot { length, complete, vlan } = self.received[index];
        let slot = self.slots[index * SLOT..][..length].split_first_chunk_mut();
        let (vnet, bytes) = slot.filter(|_| complete)?;
        Some(Received { vnet: VnetHeader::parse(*vnet), bytes, vlan })
    }

    /// Sends up to a batch of complete frames. Returns how many of the first frames were sent.
    pub(crate) fn send(&self, frames: &[Vec<u8>]) -> io::Result<usize> {
        self.send_with(&COMPLETE, frames)
    }

    /// Sends up to a batch of frames with this vnet header.
    fn send_with(&self, vnet: &[u8; VnetHeader::LENGTH], frames: &[Vec<u8>]) -> io::Result<usize> {
        let piece = |bytes: &[u8]| libc::iovec {
            iov_base: bytes.as_ptr().cast_mut().cast(),
            iov_len: bytes.len(),
        };
        let count = frames.len().min(BATCH);
        let mut pieces: [[libc::iovec; 2]; BATCH] = std::array::from_fn(|index| {
            [piece(vnet), piece(frames.get(index).map_or(&[], Vec::as_slice))]
        });
        let mut messages = pieces.each_mut().map(|pieces| message(pieces));
        let fd = self.fd.as_raw_fd();
        // SAFETY: the first `count` messages, one per frame, point to pieces that point to bytes
        // that live during the call. The kernel only reads the bytes of a message to send.
        check(unsafe {
            libc::sendmmsg(fd, messages.as_mut_ptr(), count as u32, libc::MSG_DONTWAIT)
        })
        .map(|count| count as usize)
    }

    /// Returns the number of frames that the kernel dropped since the last call.
    pub(crate) fn take_missed(&self) -> io::Result<u64> {
        // SAFETY: the structure contains only integers, so zero bytes are a valid value.
        let mut statistics: libc::tpacket_stats = unsafe { zeroed() };
        let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        // SAFETY: the kernel writes at most `length` bytes, the size of the value.
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

/// Returns a message that points to these pieces.
fn message(pieces: &mut [libc::iovec]) -> libc::mmsghdr {
    // SAFETY: the structure contains integers and pointers, so zero bytes are a valid value.
    let mut message: libc::mmsghdr = unsafe { zeroed() };
    message.msg_hdr.msg_iov = pieces.as_mut_ptr();
    message.msg_hdr.msg_iovlen = pieces.len();
    message
}

/// Returns the tag that the kernel removed from a frame.
fn vlan_tag(message: &libc::msghdr) -> Option<[u8; VLAN_TAG]> {
    // SAFETY: the kernel has filled the message's control buffer, which is still alive, aligned,
    // and of the length in the message.
    let control = unsafe { libc::CMSG_FIRSTHDR(message).as_ref() }?;
    if (control.cmsg_level, control.cmsg_type) != (libc::SOL_PACKET, libc::PACKET_AUXDATA) {
        return None;
    }
    // SAFETY: a message of this type contains a `tpacket_auxdata`, which has only integers.
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
    // SAFETY: the kernel reads one integer, which lives during the call.
    check(unsafe { libc::setsockopt(fd, level, option, (&raw const value).cast(), length) })?;
    Ok(())
}

/// Binds the socket to an interface, for every protocol.
fn bind(fd: &OwnedFd, index: u32) -> io::Result<()> {
    // SAFETY: the structure contains only integers, so zero bytes are a valid value.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = index.cast_signed();
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the kernel reads an address of this length, which lives during the call.
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

    /// Returns a socket on `lo` in a new namespace of the calling thread, and a sender over `lo`.
    fn open_on_lo() -> (PacketSocket, UdpSocket) {
        namespace::unshare(libc::CLONE_NEWNET).unwrap();
        let mut rtnetlink = Rtnetlink::open().unwrap();
        let lo = rtnetlink.link("lo").unwrap().index;
        rtnetlink.set_up(lo).unwrap();
        let socket = PacketSocket::open(lo).unwrap();
        let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 7)).unwrap();
        sender.connect((Ipv4Addr::LOCALHOST, 7)).unwrap();
        (socket, sender)
    }

    fn on_new_thread(test: impl FnOnce() + Send + 'static) {
        std::thread::spawn(test).join().unwrap();
    }

    #[test]
    #[ignore = "needs root"]
    fn frames_are_received_once_and_in_batches() {
        on_new_thread(|| {
            let (mut socket, sender) = open_on_lo();
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
    fn dropped_frames_are_counted_once() {
        on_new_thread(|| {
            let (mut socket, sender) = open_on_lo();
            for option in [libc::SO_RCVBUF, libc::SO_RCVBUFFORCE] {
                set(&socket.fd, libc::SOL_SOCKET, option, 1 << 14).unwrap();
            }
            for _ in 0..500 {
                sender.send(&[1; 1_000]).unwrap();
            }
            let received: u64 = std::iter::from_fn(|| socket.receive().ok()).sum::<usize>() as u64;
            let missed = socket.take_missed().unwrap();
            assert!(missed > 0 && received + missed == 500, "{received} {missed}");
            assert_eq!(socket.take_missed().unwrap(), 0);
        });
    }

    #[test]
    #[ignore = "needs root"]
    fn frames_that_are_too_long_are_rejected() {
        on_new_thread(|| {
            let (mut socket, _) = open_on_lo();
            assert!(socket.send(&[vec![0; 70_000], vec![0; 60]]).is_err());
            // `lo` returns every frame.
            let frames = [1_u8, 2].map(|byte| vec![byte; 60 + usize::from(byte)]);
            assert_eq!(socket.send(&frames).unwrap(), 2);
            assert_eq!(socket.receive().unwrap(), 2);
            for (index, frame) in frames.iter().enumerate() {
                assert_eq!(socket.frame(index).unwrap().bytes, frame);
            }
        });
    }
}
