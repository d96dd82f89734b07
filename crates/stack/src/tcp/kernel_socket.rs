//! The kernel's TCP socket: `TCP_REPAIR` and the state that it gives access to (tcp(7), CRIU).

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use socket2::{Protocol, SockAddr, SockRef, Socket, Type};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

const TCP_QUICKACK: i32 = 12;
const TCP_REPAIR: i32 = 19;
const TCP_REPAIR_QUEUE: i32 = 20;
const TCP_QUEUE_SEQ: i32 = 21;
const TCP_REPAIR_OPTIONS: i32 = 22;
const TCP_TIMESTAMP: i32 = 24;
const TCP_REPAIR_WINDOW: i32 = 29;
const TCP_ULP: i32 = 31;
const TCP_AO_INFO: i32 = 40;
const TCP_RTO_MAX_MS: i32 = 44;
const SO_MEMINFO: i32 = 55;
const SO_BUF_LOCK: i32 = 72;

/// `TCPI_OPT_*`: the options of a connection in [`Info`].
pub(super) const OPTION_TIMESTAMPS: u8 = 1;
pub(super) const OPTION_SACK: u8 = 2;
pub(super) const OPTION_ECN: u8 = 8;
pub(super) const OPTION_MICROSECONDS: u8 = 64;

/// `TCP_ESTABLISHED` and `TCP_CLOSE`.
pub(super) const ESTABLISHED: u8 = 1;
pub(super) const CLOSED: u8 = 7;

/// The size beyond which no send buffer grows here.
const SIZE_MAX: u32 = 256 << 20;

/// A queue of a socket in repair mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(super) enum Queue {
    Receive = 1,
    Send = 2,
}

/// `struct tcp_repair_window`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct RepairWindow {
    pub(super) send_window_update: u32,
    pub(super) send_window: u32,
    pub(super) send_window_max: u32,
    pub(super) receive_window: u32,
    pub(super) receive_window_update: u32,
}

/// `struct tcp_repair_opt`.
#[derive(Debug, Clone, Copy, Default, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct RepairOption {
    code: u32,
    value: u32,
}

/// The start of `struct tcp_info`, up to `tcpi_snd_wnd`.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Info {
    pub(super) state: u8,
    _congestion: [u8; 4],
    pub(super) options: u8,
    /// The peer's scale in the lower four bits, ours in the upper ones.
    pub(super) scales: u8,
    _flags: u8,
    /// The retransmission timeout in microseconds.
    pub(super) retransmission_timeout_us: u32,
    _acknowledgment_timeout: u32,
    /// The longest payload of a segment, after options.
    pub(super) send_mss: u32,
    _receive_mss: u32,
    /// The number of segments that are sent and not acknowledged.
    pub(super) unacknowledged: u32,
    _counts: [u32; 4],
    /// The milliseconds since data, an acknowledgment were last sent, and received.
    pub(super) times: [u32; 4],
    _mtu: [u32; 2],
    /// The smoothed round-trip time in microseconds.
    pub(super) round_trip_us: u32,
    _variation: [u32; 2],
    /// The congestion window in segments.
    pub(super) congestion_window: u32,
    _limits: [u32; 4],
    /// The number of segments sent again.
    pub(super) retransmitted: u32,
    /// The pacing rate in bytes per second, all ones without limit.
    pub(super) pacing_rate: u64,
    _pacing_max: u64,
    /// The number of bytes that the peer has acknowledged.
    pub(super) acknowledged: u64,
    /// The number of bytes received in order.
    pub(super) received: u64,
    pub(super) segments_sent: u32,
    pub(super) segments_received: u32,
    /// The number of bytes that were written and never sent.
    pub(super) unsent: u32,
    _round_trip_min: u32,
    _data_segments_received: u32,
    pub(super) data_segments_sent: u32,
    _rates: [u64; 4],
    _delivered: [u32; 2],
    /// The number of bytes sent, also again.
    pub(super) sent: u64,
    _sent_again: u64,
    _reordering: [u32; 2],
    /// The number of segments ever received out of order.
    pub(super) out_of_order: u32,
    _send_window: u32,
}

impl Info {
    /// Changes a `struct tcp_info`, of which `bytes` may be only the start.
    pub(super) fn change(bytes: &mut [u8], change: impl FnOnce(&mut Self)) {
        let mut info = Self::new_zeroed();
        let known = bytes.len().min(size_of::<Self>());
        info.as_mut_bytes()[..known].copy_from_slice(&bytes[..known]);
        change(&mut info);
        bytes[..known].copy_from_slice(&info.as_bytes()[..known]);
    }
}

/// What a program has written to a socket whose connection is taken over, by calls that were not
/// seen.
#[derive(Debug, Default)]
pub(super) struct Beside {
    pub(super) bytes: Vec<u8>,
    /// The program has ended its side (shutdown(2)).
    pub(super) ends: bool,
    /// The number of bytes when the stack's thread looked last.
    pub(super) queued: u32,
}

impl Beside {
    /// Adds what was written later.
    pub(super) fn extend(&mut self, later: Self) {
        self.bytes.extend(later.bytes);
        self.ends |= later.ends;
    }
}

/// A kernel socket.
#[derive(Debug, Clone, Copy)]
pub(super) struct KernelSocket<'s> {
    pub(super) fd: BorrowedFd<'s>,
}

impl<'s> KernelSocket<'s> {
    pub(super) fn new(fd: BorrowedFd<'s>) -> Self {
        Self { fd }
    }

    fn value<T: FromBytes + IntoBytes>(&self, level: i32, name: i32) -> io::Result<T> {
        let mut value = T::new_zeroed();
        let mut length = size_of::<T>() as libc::socklen_t;
        let at = (&raw mut value).cast();
        // SAFETY: the kernel writes at most `length` bytes of the value, for which any bytes are
        // valid.
        let result =
            unsafe { libc::getsockopt(self.fd.as_raw_fd(), level, name, at, &raw mut length) };
        check(result).map(|()| value)
    }

    fn set<T: IntoBytes + Immutable>(&self, level: i32, name: i32, value: &T) -> io::Result<()> {
        let bytes = value.as_bytes();
        let length = bytes.len() as libc::socklen_t;
        let at = bytes.as_ptr().cast();
        // SAFETY: the kernel reads `length` bytes of the value.
        check(unsafe { libc::setsockopt(self.fd.as_raw_fd(), level, name, at, length) })
    }

    fn tcp<T: FromBytes + IntoBytes>(&self, name: i32) -> io::Result<T> {
        self.value(libc::IPPROTO_TCP, name)
    }

    fn set_tcp<T: IntoBytes + Immutable>(&self, name: i32, value: T) -> io::Result<()> {
        self.set(libc::IPPROTO_TCP, name, &value)
    }

    fn count(&self, request: libc::Ioctl) -> io::Result<u32> {
        let mut count = 0_i32;
        // SAFETY: the kernel writes an integer to a local variable.
        check(unsafe { libc::ioctl(self.fd.as_raw_fd(), request, &raw mut count) })?;
        Ok(count as u32)
    }

    /// Returns the number of bytes that are unsent or unacknowledged (`SIOCOUTQ`).
    pub(super) fn unacknowledged(&self) -> io::Result<u32> {
        self.count(libc::TIOCOUTQ)
    }

    /// Returns `true` if a call may wait until it can write to the socket, which sends nothing: a
    /// dissolution would end the call with an error, so it needs a larger buffer.
    pub(super) fn may_have_waiter(&self) -> io::Result<bool> {
        let size: u32 = self.value(libc::SOL_SOCKET, libc::SO_SNDBUF)?;
        let [_, queued] = self.memory()?;
        // sk_stream_is_writeable
        Ok(queued + queued / 2 > size && size < SIZE_MAX)
    }

    /// Returns what the program has written since the takeover, which found the queue empty. The
    /// socket is in repair mode.
    pub(super) fn beside(&self) -> io::Result<Beside> {
        let count = self.unacknowledged()?;
        if count == 0 {
            return Ok(Beside::default());
        }
        // An end counts as a byte (tcp_send_fin).
        let ends = self.info()?.state != ESTABLISHED;
        self.select(Queue::Send)?;
        let mut bytes = vec![0; count as usize];
        let (fd, flags) = (self.fd.as_raw_fd(), libc::MSG_PEEK | libc::MSG_DONTWAIT);
        // SAFETY: the kernel writes at most `count` bytes to the buffer.
        let read = unsafe { libc::recv(fd, bytes.as_mut_ptr().cast(), bytes.len(), flags) };
        bytes.truncate(usize::try_from(read).map_err(|_| io::Error::last_os_error())?);
        Ok(Beside { bytes, ends, queued: count })
    }

    /// Writes what was found by [`beside`](Self::beside).
    pub(super) fn write_beside(&self, beside: &Beside) -> io::Result<()> {
        self.write_all(&beside.bytes)?;
        if beside.ends {
            SockRef::from(&self.fd).shutdown(std::net::Shutdown::Write)?;
        }
        Ok(())
    }

    /// Returns the number of bytes received in order and not read (`SIOCINQ`).
    pub(super) fn unread(&self) -> io::Result<u32> {
        self.count(libc::FIONREAD)
    }

    /// Returns the memory of all received data, also out of order (`SK_MEMINFO_RMEM_ALLOC`), and
    /// that of all data to send or sent and not acknowledged (`SK_MEMINFO_WMEM_QUEUED`).
    pub(super) fn memory(&self) -> io::Result<[u32; 2]> {
        let all = self.value::<[u32; 9]>(libc::SOL_SOCKET, SO_MEMINFO)?;
        Ok([all[0], all[5]])
    }

    pub(super) fn info(&self) -> io::Result<Info> {
        self.tcp(libc::TCP_INFO)
    }

    /// Returns the protocol number: not 6 for MPTCP.
    pub(super) fn protocol(&self) -> io::Result<i32> {
        self.value(libc::SOL_SOCKET, libc::SO_PROTOCOL)
    }

    /// Returns `true` if an upper layer protocol, such as TLS, processes the data.
    pub(super) fn has_upper_layer(&self) -> bool {
        self.tcp::<[u8; 16]>(TCP_ULP).is_ok_and(|name| name[0] != 0)
    }

    /// Returns `true` if the connection uses TCP-AO. Older kernels do not have the option.
    pub(super) fn has_authentication(&self) -> bool {
        self.tcp::<[u64; 8]>(TCP_AO_INFO).is_ok()
    }

    /// Returns the longest retransmission timeout in milliseconds (Linux 6.15).
    pub(super) fn timeout_max(&self) -> io::Result<i32> {
        self.tcp(TCP_RTO_MAX_MS)
    }

    pub(super) fn set_timeout_max(&self, milliseconds: i32) -> io::Result<()> {
        self.set_tcp(TCP_RTO_MAX_MS, milliseconds)
    }

    /// Wakes threads that wait for bytes: those queued in repair mode wake none, and a thread that
    /// the dissolution has woken may have looked before they were queued. Setting `SO_RCVLOWAT`
    /// signals what is readable (`tcp_set_rcvlowat` in net/ipv4/tcp.c).
    pub(super) fn signal_readers(&self) -> io::Result<()> {
        let bytes: i32 = self.value(libc::SOL_SOCKET, libc::SO_RCVLOWAT)?;
        self.set(libc::SOL_SOCKET, libc::SO_RCVLOWAT, &bytes)
    }

    /// Returns the interface that the socket is bound to; 0 for none.
    pub(super) fn bound_interface(&self) -> io::Result<i32> {
        self.value(libc::SOL_SOCKET, libc::SO_BINDTOIFINDEX)
    }

    /// Returns TTL or hop limit, and TOS or traffic class.
    pub(super) fn ip_options(&self, is_ipv4: bool) -> io::Result<(u8, u8)> {
        let names = if is_ipv4 {
            [(libc::IPPROTO_IP, libc::IP_TTL), (libc::IPPROTO_IP, libc::IP_TOS)]
        } else {
            let (hops, class) = (libc::IPV6_UNICAST_HOPS, libc::IPV6_TCLASS);
            [(libc::IPPROTO_IPV6, hops), (libc::IPPROTO_IPV6, class)]
        };
        let [ttl, class] = names.map(|(level, name)| self.value::<i32>(level, name));
        Ok((ttl? as u8, class? as u8))
    }

    pub(super) fn has_nodelay(&self) -> io::Result<bool> {
        self.tcp::<i32>(libc::TCP_NODELAY).map(|value| value != 0)
    }

    /// Returns and clears the pending error.
    pub(super) fn take_error(&self) -> io::Result<i32> {
        self.value(libc::SOL_SOCKET, libc::SO_ERROR)
    }

    pub(super) fn keepalive(&self) -> io::Result<i32> {
        self.value(libc::SOL_SOCKET, libc::SO_KEEPALIVE)
    }

    /// Returns the seconds of silence before keep-alives.
    pub(super) fn keepalive_idle(&self) -> io::Result<i32> {
        self.tcp(libc::TCP_KEEPIDLE)
    }

    /// Returns the milliseconds for which sent data may stay unacknowledged; 0 for the system's
    /// limit.
    pub(super) fn user_timeout(&self) -> io::Result<i32> {
        self.tcp(libc::TCP_USER_TIMEOUT)
    }

    pub(super) fn set_keepalive(&self, keepalive: i32) -> io::Result<()> {
        self.set(libc::SOL_SOCKET, libc::SO_KEEPALIVE, &keepalive)
    }

    pub(super) fn reuse_address(&self) -> io::Result<i32> {
        self.value(libc::SOL_SOCKET, libc::SO_REUSEADDR)
    }

    pub(super) fn set_reuse_address(&self, reuse: i32) -> io::Result<()> {
        self.set(libc::SOL_SOCKET, libc::SO_REUSEADDR, &reuse)
    }

    /// Doubles the send buffer, beyond the system's limit. The kernel still grows it by itself
    /// (Linux 5.14) unless the program has set its size.
    pub(super) fn grow_send_buffer(&self) -> io::Result<()> {
        let locks = self.value::<i32>(libc::SOL_SOCKET, SO_BUF_LOCK);
        // The kernel doubles it.
        let size: u32 = self.value(libc::SOL_SOCKET, libc::SO_SNDBUF)?;
        self.set(libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &size.min(SIZE_MAX))?;
        locks.map_or(Ok(()), |locks| self.set(libc::SOL_SOCKET, SO_BUF_LOCK, &locks))
    }

    /// Sends a delayed acknowledgment now. The socket delays later ones as before.
    pub(super) fn send_delayed_acknowledgment(&self) -> io::Result<()> {
        // An even number that is not zero: the mode remains.
        self.set_tcp(TCP_QUICKACK, 2_i32)
    }

    /// Starts repair mode, in which no queue is selected at first. The selection matters in repair
    /// mode only.
    pub(super) fn start_repair(&self) -> io::Result<()> {
        self.set_tcp(TCP_REPAIR, 1_i32)
    }

    /// Binds another socket to the local address. When a connection is dissolved, the kernel
    /// releases the port of a socket that was not bound explicitly, and could give it to another
    /// connection to the same peer before the socket is bound again. This thread must be in the
    /// network namespace of the connection.
    pub(super) fn reserve_port(&self, local: SocketAddr) -> io::Result<OwnedFd> {
        let local = SockAddr::from(local);
        let socket = Socket::new(local.domain(), Type::STREAM, Some(Protocol::TCP))?;
        // In repair mode bind(2) accepts an address in use.
        KernelSocket::new(socket.as_fd()).start_repair()?;
        socket.bind(&local)?;
        Ok(socket.into())
    }

    /// Ends repair mode without a window probe.
    pub(super) fn end_repair(&self) -> io::Result<()> {
        self.set_tcp(TCP_REPAIR, -1_i32)
    }

    pub(super) fn is_repairing(&self) -> bool {
        self.tcp::<i32>(TCP_REPAIR).is_ok_and(|mode| mode != 0)
    }

    pub(super) fn select(&self, queue: Queue) -> io::Result<()> {
        self.set_tcp(TCP_REPAIR_QUEUE, queue as i32)
    }

    /// Returns the next sequence number of the selected queue.
    pub(super) fn sequence(&self) -> io::Result<u32> {
        self.tcp(TCP_QUEUE_SEQ)
    }

    pub(super) fn set_sequence(&self, sequence: u32) -> io::Result<()> {
        self.set_tcp(TCP_QUEUE_SEQ, sequence)
    }

    pub(super) fn window(&self) -> io::Result<RepairWindow> {
        self.tcp(TCP_REPAIR_WINDOW)
    }

    pub(super) fn set_window(&self, window: RepairWindow) -> io::Result<()> {
        self.set_tcp(TCP_REPAIR_WINDOW, window)
    }

    pub(super) fn timestamp(&self) -> io::Result<u32> {
        self.tcp(TCP_TIMESTAMP)
    }

    pub(super) fn set_timestamp(&self, value: u32) -> io::Result<()> {
        self.set_tcp(TCP_TIMESTAMP, value)
    }

    /// Returns the MSS clamp in repair mode.
    pub(super) fn segment_size(&self) -> io::Result<u32> {
        self.tcp(libc::TCP_MAXSEG)
    }

    pub(super) fn set_segment_size(&self, size: u32) -> io::Result<()> {
        self.set_tcp(libc::TCP_MAXSEG, size)
    }

    /// Sets the options that the handshake would have negotiated.
    pub(super) fn set_options(
        &self,
        segment_size: u32,
        scales: (u8, u8),
        selective: bool,
        timestamps: bool,
    ) -> io::Result<()> {
        let mut options = [RepairOption::default(); 4];
        let (send_scale, receive_scale) = (u32::from(scales.0), u32::from(scales.1));
        options[0] = RepairOption { code: 2, value: segment_size };
        options[1] = RepairOption { code: 3, value: send_scale | receive_scale << 16 };
        let mut count = 2;
        for (wanted, code) in [(selective, 4), (timestamps, 8)] {
            if wanted {
                options[count] = RepairOption { code, value: 0 };
                count += 1;
            }
        }
        let bytes = options[..count].as_bytes();
        let (level, length) = (libc::IPPROTO_TCP, bytes.len() as libc::socklen_t);
        let at = bytes.as_ptr().cast();
        let fd = self.fd.as_raw_fd();
        // SAFETY: the kernel reads `length` bytes.
        check(unsafe { libc::setsockopt(fd, level, TCP_REPAIR_OPTIONS, at, length) })
    }

    /// Dissolves the connection; in repair mode, which continues, no segment is sent.
    pub(super) fn disconnect(&self) -> io::Result<()> {
        let address =
            libc::sockaddr { sa_family: libc::AF_UNSPEC as libc::sa_family_t, sa_data: [0; 14] };
        let length = size_of::<libc::sockaddr>() as libc::socklen_t;
        // SAFETY: the kernel reads an address of this length.
        check(unsafe { libc::connect(self.fd.as_raw_fd(), &raw const address, length) })
    }

    /// Binds to an address again. A socket that was bound explicitly still is.
    pub(super) fn bind(&self, local: SocketAddr) -> io::Result<()> {
        match SockRef::from(&self.fd).bind(&local.into()) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            result => result,
        }
    }

    pub(super) fn connect(&self, remote: SocketAddr) -> io::Result<()> {
        SockRef::from(&self.fd).connect(&remote.into())
    }

    /// Writes all bytes, growing the send buffer if it is too small. Never waits.
    pub(super) fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        const GROWTHS_MAX: u32 = 16;
        let mut growths = 0;
        while !bytes.is_empty() {
            let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
            match SockRef::from(&self.fd).send_with_flags(bytes, flags) {
                Ok(count) => bytes = &bytes[count..],
                Err(error)
                    if error.kind() == io::ErrorKind::WouldBlock && growths < GROWTHS_MAX =>
                {
                    growths += 1;
                    self.grow_send_buffer()?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads what has arrived; `None` if nothing, 0 at the end of the stream.
    pub(super) fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let (fd, length) = (self.fd.as_raw_fd(), buffer.len());
        let at = buffer.as_mut_ptr().cast();
        // SAFETY: the kernel writes at most `length` bytes to the buffer.
        let count = unsafe { libc::recv(fd, at, length, libc::MSG_DONTWAIT) };
        match usize::try_from(count) {
            Ok(count) => Ok(Some(count)),
            Err(_) => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
                error if error.kind() == io::ErrorKind::Interrupted => Ok(None),
                error => Err(error),
            },
        }
    }
}

fn check(result: i32) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    #[test]
    fn info_has_the_kernel_layout() {
        // uapi/linux/tcp.h
        assert_eq!(offset_of!(Info, options), 5);
        assert_eq!(offset_of!(Info, send_mss), 16);
        assert_eq!(offset_of!(Info, round_trip_us), 68);
        assert_eq!(offset_of!(Info, unacknowledged), 24);
        assert_eq!(offset_of!(Info, pacing_rate), 104);
        assert_eq!(offset_of!(Info, unsent), 144);
        assert_eq!(offset_of!(Info, out_of_order), 224);
    }
}
