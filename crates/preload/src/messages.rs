//! Datagrams to and from the program's buffers.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr};

use hairpin_stack::IpFields;
use libc::{cmsghdr, iovec, msghdr};

use crate::addresses;
use crate::clock;
use crate::errno::fail;
use crate::memory::{self, Access};
use crate::options::{SO_RXQ_OVFL, SocketState, Timestamp};
use crate::socket::Datagram;

/// Copies a payload into buffers. Returns how many bytes fit.
///
/// # Safety
/// Each part is valid for writes of its length.
pub(crate) unsafe fn scatter(payload: &[u8], parts: &[iovec]) -> usize {
    let mut done = 0;
    for part in parts {
        let count = part.iov_len.min(payload.len() - done);
        if count > 0 {
            // SAFETY: the caller guarantees the part; the source has that many bytes.
            unsafe {
                let to = part.iov_base.cast::<u8>();
                std::ptr::copy_nonoverlapping(payload[done..].as_ptr(), to, count);
            }
            done += count;
        }
    }
    done
}

/// Copies buffers into a payload of their total length.
///
/// # Safety
/// Each part is valid for reads of its length.
pub(crate) unsafe fn gather(parts: &[iovec], payload: &mut [u8]) {
    let mut done = 0;
    for part in parts {
        let count = part.iov_len.min(payload.len() - done);
        if count > 0 {
            // SAFETY: the caller guarantees the part; the target has that many bytes.
            unsafe {
                let to = payload[done..].as_mut_ptr();
                std::ptr::copy_nonoverlapping(part.iov_base.cast::<u8>(), to, count);
            }
            done += count;
        }
    }
}

/// The most parts of a message (`UIO_MAXIOV`). The kernel refuses a call with more.
pub(crate) const PARTS_MAX: usize = 1_024;

/// Returns `true` if readv(2) and its relatives permit this number of parts, and it is not 0.
pub(crate) fn is_count_of_parts(count: c_int) -> bool {
    usize::try_from(count).is_ok_and(|count| (1..=PARTS_MAX).contains(&count))
}

/// Returns the buffers as a slice.
///
/// # Safety
/// `parts` points to `count` structures.
pub(crate) unsafe fn parts<'a>(parts: *const iovec, count: usize) -> &'a [iovec] {
    if parts.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller guarantees the structures.
    unsafe { std::slice::from_raw_parts(parts, count) }
}

/// Returns the result of a receive: the bytes delivered, or with MSG_TRUNC the datagram's length.
pub(crate) fn received_length(flags: c_int, payload: &[u8], copied: usize) -> isize {
    (if flags & libc::MSG_TRUNC != 0 { payload.len() } else { copied }) as isize
}

/// Returns the header and the parts of a message if their pointers are valid, and they are not too
/// many; otherwise the kernel's call fails.
///
/// # Safety
/// `message` points to a header, or to nothing.
pub(crate) unsafe fn header<'a>(message: *const msghdr) -> Option<(&'a msghdr, &'a [iovec])> {
    if !memory::is_valid(message.cast(), size_of::<msghdr>(), Access::Read) {
        return None;
    }
    // SAFETY: the caller guarantees the header; its memory is valid.
    let header = unsafe { &*message };
    // SAFETY: as above.
    unsafe { valid_parts(header.msg_iov, header.msg_iovlen) }.map(|parts| (header, parts))
}

/// Returns the parts if the pointer to them is valid, and they are not too many.
///
/// # Safety
/// As for [`parts`], or the pointer is wrong.
pub(crate) unsafe fn valid_parts<'a>(list: *const iovec, count: usize) -> Option<&'a [iovec]> {
    let is_valid = count <= PARTS_MAX
        && memory::is_valid(list.cast(), count * size_of::<iovec>(), Access::Read);
    // SAFETY: the caller's guarantee.
    is_valid.then(|| unsafe { parts(list, count) })
}

/// Delivers a datagram as recvmsg(2) does.
///
/// # Safety
/// The header can be read, and the parts are valid; other pointers may be wrong.
pub(crate) unsafe fn deliver(
    message: *mut msghdr,
    flags: c_int,
    datagram: &Datagram<'_>,
    state: &SocketState,
) -> isize {
    if !memory::is_valid(message.cast(), size_of::<msghdr>(), Access::Write) {
        return fail(libc::EFAULT);
    }
    // SAFETY: the pointer is valid.
    let message = unsafe { &mut *message };
    // SAFETY: the caller guarantees the buffers.
    let parts = unsafe { parts(message.msg_iov, message.msg_iovlen) };
    let name = addresses::size(datagram.source).min(message.msg_namelen as usize);
    if !memory::are_valid(parts, datagram.payload.len(), Access::Write)
        || !message.msg_name.is_null() && !memory::is_valid(message.msg_name, name, Access::Write)
    {
        return fail(libc::EFAULT);
    }
    // SAFETY: as above.
    let copied = unsafe { scatter(datagram.payload, parts) };
    let truncated = if copied < datagram.payload.len() { libc::MSG_TRUNC } else { 0 };
    message.msg_flags = truncated | flags & libc::MSG_CMSG_CLOEXEC;
    if message.msg_name.is_null() {
        message.msg_namelen = 0;
    } else {
        // SAFETY: the caller guarantees the name's buffer.
        unsafe {
            addresses::write(datagram.source, message.msg_name.cast(), &mut message.msg_namelen);
        }
    }
    let mut control = Control { message, used: 0 };
    if state.control {
        // SAFETY: the caller guarantees the control buffer.
        unsafe { control.put_all(datagram, state) };
    }
    let used = control.used;
    message.msg_controllen = used;
    received_length(flags, datagram.payload, copied)
}

/// The control messages of a datagram.
struct Control<'a> {
    message: &'a mut msghdr,
    used: usize,
}

impl Control<'_> {
    /// Appends the messages that the program requested, in the kernel's order.
    #[cold]
    unsafe fn put_all(&mut self, datagram: &Datagram<'_>, state: &SocketState) {
        // SAFETY: the caller guarantees the control buffer.
        unsafe { self.timestamps(datagram, state) };
        // The kernel omits the message while nothing was dropped.
        if state.overflow && datagram.dropped != 0 {
            // SAFETY: the caller guarantees the control buffer.
            unsafe { self.put(libc::SOL_SOCKET, SO_RXQ_OVFL, &datagram.dropped) };
        }
        let (v4, v6) = (libc::IPPROTO_IP, libc::IPPROTO_IPV6);
        let is_ipv4 = addresses::canonical(datagram.source).is_ipv4();
        let requested = if is_ipv4 { state.ipv4 } else { state.ipv6 };
        // An IPv6 socket receives the mapped destination of an IPv4 datagram too.
        if state.ipv6.packet_info {
            // SAFETY: the caller guarantees the control buffer.
            unsafe { self.packet_info_v6(datagram) };
        }
        if is_ipv4 && state.ipv4.packet_info {
            // SAFETY: the caller guarantees the control buffer.
            unsafe { self.packet_info_v4(datagram) };
        }
        let IpFields { ttl, traffic_class } = datagram.fields;
        if requested.ttl {
            let (level, kind) =
                if is_ipv4 { (v4, libc::IP_TTL) } else { (v6, libc::IPV6_HOPLIMIT) };
            // SAFETY: the caller guarantees the control buffer.
            unsafe { self.put(level, kind, &c_int::from(ttl)) };
        }
        if requested.traffic_class {
            // In IPv4 the kernel passes one byte.
            if is_ipv4 {
                // SAFETY: the caller guarantees the control buffer.
                unsafe { self.put(v4, libc::IP_TOS, &traffic_class) };
            } else {
                // SAFETY: the caller guarantees the control buffer.
                unsafe { self.put(v6, libc::IPV6_TCLASS, &c_int::from(traffic_class)) };
            }
        }
    }

    unsafe fn timestamps(&mut self, datagram: &Datagram<'_>, state: &SocketState) {
        if state.timestamp == Timestamp::Off && !state.timestamping {
            return;
        }
        let time = clock::realtime_ns(datagram.stamp.map(|stamp| stamp.nanoseconds));
        let (seconds, nanos) = ((time / 1_000_000_000) as i64, (time % 1_000_000_000) as i64);
        let time = libc::timespec { tv_sec: seconds, tv_nsec: nanos };
        match state.timestamp {
            Timestamp::Off => {}
            Timestamp::Microseconds => {
                let time = libc::timeval { tv_sec: seconds, tv_usec: nanos / 1_000 };
                // SAFETY: the caller guarantees the control buffer.
                unsafe { self.put(libc::SOL_SOCKET, libc::SCM_TIMESTAMP, &time) };
            }
            Timestamp::Nanoseconds => {
                // SAFETY: the caller guarantees the control buffer.
                unsafe { self.put(libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS, &time) };
            }
        }
        if state.timestamping {
            // `struct scm_timestamping`: software, unused, hardware.
            let none = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            let times = [time, none, none];
            // SAFETY: the caller guarantees the control buffer.
            unsafe { self.put(libc::SOL_SOCKET, libc::SCM_TIMESTAMPING, &times) };
        }
    }

    unsafe fn packet_info_v4(&mut self, datagram: &Datagram<'_>) {
        let Some(IpAddr::V4(destination)) = datagram.destination.map(|it| it.to_canonical()) else {
            return;
        };
        let address = |address: Ipv4Addr| libc::in_addr { s_addr: u32::from(address).to_be() };
        let info = libc::in_pktinfo {
            ipi_ifindex: datagram.interface as c_int,
            ipi_spec_dst: address(datagram.reply_address().unwrap_or(destination)),
            ipi_addr: address(destination),
        };
        // SAFETY: the caller guarantees the control buffer.
        unsafe { self.put(libc::IPPROTO_IP, libc::IP_PKTINFO, &info) };
    }

    unsafe fn packet_info_v6(&mut self, datagram: &Datagram<'_>) {
        let Some(IpAddr::V6(destination)) = datagram.destination else { return };
        let address = libc::in6_addr { s6_addr: destination.octets() };
        let info = libc::in6_pktinfo { ipi6_addr: address, ipi6_ifindex: datagram.interface };
        // SAFETY: the caller guarantees the control buffer.
        unsafe { self.put(libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, &info) };
    }

    /// Appends a control message, or marks the message as cut.
    ///
    /// # Safety
    /// The message's control buffer is valid for writes.
    unsafe fn put<T>(&mut self, level: c_int, kind: c_int, value: &T) {
        // SAFETY: the macros compute lengths only.
        let (space, length) = unsafe {
            (libc::CMSG_SPACE(size_of::<T>() as u32), libc::CMSG_LEN(size_of::<T>() as u32))
        };
        let left = self.message.msg_controllen - self.used;
        if self.message.msg_control.is_null() || left < length as usize {
            self.message.msg_flags |= libc::MSG_CTRUNC;
            return;
        }
        // SAFETY: within the buffer.
        let place = unsafe { self.message.msg_control.byte_add(self.used) };
        if !memory::is_valid(place, length as usize, Access::Write) {
            // The kernel omits the message too.
            return;
        }
        let mut header = MaybeUninit::<cmsghdr>::zeroed();
        // SAFETY: a zeroed header is valid; the buffer has room for header and value.
        unsafe {
            let fields = header.assume_init_mut();
            (fields.cmsg_len, fields.cmsg_level, fields.cmsg_type) = (length as usize, level, kind);
            let at: *mut c_void = self.message.msg_control.byte_add(self.used);
            at.cast::<cmsghdr>().write_unaligned(*fields);
            at.byte_add(libc::CMSG_LEN(0) as usize)
                .cast::<T>()
                .write_unaligned(std::ptr::read(value));
        }
        self.used += (space as usize).min(left);
    }
}
