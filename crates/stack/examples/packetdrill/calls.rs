//! The functions of `struct packetdrill_interface`.

use std::ffi::{c_char, c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::endpoint::Endpoint;

/// The longest wait of a call, after which it fails.
const TURNS: u32 = 100_000;
const TURN: Duration = Duration::from_micros(100);

type Length = libc::socklen_t;

/// `struct packetdrill_interface` of packetdrill.h. A call that is not implemented is null: a
/// script that needs it ends packetdrill.
#[repr(C)]
pub(crate) struct Interface {
    userdata: *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
    socket: unsafe extern "C" fn(*mut c_void, c_int, c_int, c_int) -> c_int,
    bind: unsafe extern "C" fn(*mut c_void, c_int, *const libc::sockaddr, Length) -> c_int,
    listen: unsafe extern "C" fn(*mut c_void, c_int, c_int) -> c_int,
    accept: unsafe extern "C" fn(*mut c_void, c_int, *mut libc::sockaddr, *mut Length) -> c_int,
    connect: Option<unsafe extern "C" fn()>,
    read: unsafe extern "C" fn(*mut c_void, c_int, *mut c_void, usize) -> isize,
    /// readv, recv, recvfrom, recvmsg.
    reads: [Option<unsafe extern "C" fn()>; 4],
    write: unsafe extern "C" fn(*mut c_void, c_int, *const c_void, usize) -> isize,
    writev: Option<unsafe extern "C" fn()>,
    send: unsafe extern "C" fn(*mut c_void, c_int, *const c_void, usize, c_int) -> isize,
    /// sendto, sendmsg.
    sends: [Option<unsafe extern "C" fn()>; 2],
    fcntl: unsafe extern "C" fn(*mut c_void, c_int, c_int) -> c_int,
    ioctl: Option<unsafe extern "C" fn()>,
    close: unsafe extern "C" fn(*mut c_void, c_int) -> c_int,
    shutdown: Option<unsafe extern "C" fn()>,
    getsockopt:
        unsafe extern "C" fn(*mut c_void, c_int, c_int, c_int, *mut c_void, *mut Length) -> c_int,
    setsockopt:
        unsafe extern "C" fn(*mut c_void, c_int, c_int, c_int, *const c_void, Length) -> c_int,
    poll: Option<unsafe extern "C" fn()>,
    netdev_send: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> c_int,
    netdev_receive: unsafe extern "C" fn(*mut c_void, *mut c_void, *mut usize, *mut i64) -> c_int,
    usleep: unsafe extern "C" fn(*mut c_void, libc::useconds_t) -> c_int,
    gettimeofday: unsafe extern "C" fn(*mut c_void, *mut libc::timeval, *mut c_void) -> c_int,
    /// epoll_create, epoll_ctl, epoll_wait, pipe, splice.
    others: [Option<unsafe extern "C" fn()>; 5],
}

/// Fills in the interface.
///
/// # Safety
/// `interface` points to a `struct packetdrill_interface`.
#[unsafe(no_mangle)]
unsafe extern "C" fn packetdrill_interface_init(_: *const c_char, interface: *mut Interface) {
    let userdata = Box::into_raw(Box::new(Mutex::new(Endpoint::new()))).cast();
    let filled = Interface {
        userdata,
        free,
        socket,
        bind,
        listen,
        accept,
        connect: None,
        read,
        reads: [None; 4],
        write,
        writev: None,
        send,
        sends: [None; 2],
        fcntl,
        ioctl: None,
        close,
        shutdown: None,
        getsockopt,
        setsockopt,
        poll: None,
        netdev_send,
        netdev_receive,
        usleep,
        gettimeofday,
        others: [None; 5],
    };
    // SAFETY: guaranteed by the caller.
    unsafe { interface.write(filled) };
}

/// # Safety
/// `userdata` is the pointer of `packetdrill_interface_init`.
unsafe fn endpoint<'e>(userdata: *mut c_void) -> MutexGuard<'e, Endpoint> {
    // SAFETY: guaranteed by the caller; it is freed by the last call only.
    let endpoint = unsafe { &*userdata.cast::<Mutex<Endpoint>>() };
    endpoint.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fails with an error number.
fn fail(error: c_int) -> c_int {
    // SAFETY: the location of this thread's error number is always valid.
    unsafe { *libc::__errno_location() = error };
    -1
}

unsafe extern "C" fn free(userdata: *mut c_void) {
    // SAFETY: `packetdrill_interface_init` has allocated it, and this is the last call.
    drop(unsafe { Box::from_raw(userdata.cast::<Mutex<Endpoint>>()) });
}

/// Returns a descriptor that stands for a socket: packetdrill closes it at the end.
fn descriptor() -> c_int {
    // SAFETY: the call takes integers only.
    unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) }
}

unsafe extern "C" fn socket(_: *mut c_void, _: c_int, _: c_int, _: c_int) -> c_int {
    descriptor()
}

unsafe extern "C" fn bind(_: *mut c_void, _: c_int, _: *const libc::sockaddr, _: Length) -> c_int {
    0
}

unsafe extern "C" fn listen(userdata: *mut c_void, _: c_int, _: c_int) -> c_int {
    // SAFETY: packetdrill passes the pointer of the interface.
    unsafe { endpoint(userdata) }.listen();
    0
}

/// Waits until a call returns something.
unsafe fn wait<T>(
    userdata: *mut c_void,
    mut call: impl FnMut(&mut Endpoint) -> Option<T>,
) -> Option<T> {
    for _ in 0..TURNS {
        // SAFETY: as for `listen`.
        let mut endpoint = unsafe { endpoint(userdata) };
        if let Some(result) = call(&mut endpoint) {
            return Some(result);
        }
        drop(endpoint);
        std::thread::sleep(TURN);
    }
    None
}

unsafe extern "C" fn accept(
    userdata: *mut c_void,
    _: c_int,
    address: *mut libc::sockaddr,
    length: *mut Length,
) -> c_int {
    // SAFETY: as for `listen`.
    let Some(remote) = (unsafe { wait(userdata, |it| it.remote()) }) else {
        return fail(libc::EAGAIN);
    };
    let found = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: remote.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(remote.ip().octets()) },
        sin_zero: [0; 8],
    };
    if !address.is_null() {
        // SAFETY: packetdrill passes places for an address of any family and its length.
        unsafe {
            address.cast::<libc::sockaddr_in>().write_unaligned(found);
            *length = size_of::<libc::sockaddr_in>() as Length;
        }
    }
    let connection = descriptor();
    // SAFETY: as for `listen`.
    unsafe { endpoint(userdata) }.descriptor = Some(connection);
    connection
}

unsafe extern "C" fn read(
    userdata: *mut c_void,
    _: c_int,
    buffer: *mut c_void,
    length: usize,
) -> isize {
    // SAFETY: packetdrill passes a buffer of this length.
    let buffer = unsafe { std::slice::from_raw_parts_mut(buffer.cast(), length) };
    // SAFETY: as for `listen`.
    match unsafe { wait(userdata, |it| it.read(buffer)) } {
        Some(count) => count as isize,
        None => fail(libc::EAGAIN) as isize,
    }
}

unsafe extern "C" fn write(
    userdata: *mut c_void,
    _: c_int,
    bytes: *const c_void,
    length: usize,
) -> isize {
    // SAFETY: packetdrill passes bytes of this length.
    let bytes = unsafe { std::slice::from_raw_parts(bytes.cast(), length) };
    // SAFETY: as for `listen`.
    match unsafe { endpoint(userdata) }.write(bytes) {
        Some(count) => count as isize,
        None => fail(libc::ENOTCONN) as isize,
    }
}

unsafe extern "C" fn send(
    userdata: *mut c_void,
    descriptor: c_int,
    bytes: *const c_void,
    length: usize,
    flags: c_int,
) -> isize {
    if flags != 0 {
        return fail(libc::EOPNOTSUPP) as isize;
    }
    // SAFETY: the same contract.
    unsafe { write(userdata, descriptor, bytes, length) }
}

unsafe extern "C" fn fcntl(_: *mut c_void, _: c_int, _: c_int) -> c_int {
    fail(libc::EOPNOTSUPP)
}

unsafe extern "C" fn close(userdata: *mut c_void, descriptor: c_int) -> c_int {
    // SAFETY: as for `listen`.
    let mut endpoint = unsafe { endpoint(userdata) };
    if endpoint.descriptor.take_if(|it| *it == descriptor).is_some() {
        endpoint.close();
    }
    // SAFETY: `descriptor` has opened it.
    unsafe { libc::close(descriptor) }
}

unsafe extern "C" fn getsockopt(
    _: *mut c_void,
    _: c_int,
    _: c_int,
    _: c_int,
    _: *mut c_void,
    _: *mut Length,
) -> c_int {
    fail(libc::ENOPROTOOPT)
}

unsafe extern "C" fn setsockopt(
    userdata: *mut c_void,
    _: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: Length,
) -> c_int {
    match (level, name) {
        (libc::SOL_SOCKET, libc::SO_REUSEADDR) => 0,
        (libc::IPPROTO_TCP, libc::TCP_NODELAY) if length as usize == size_of::<c_int>() => {
            // SAFETY: packetdrill passes a value of this length.
            let value = unsafe { value.cast::<c_int>().read_unaligned() };
            // SAFETY: as for `listen`.
            unsafe { endpoint(userdata) }.nodelay = value != 0;
            0
        }
        _ => fail(libc::ENOPROTOOPT),
    }
}

unsafe extern "C" fn netdev_send(
    userdata: *mut c_void,
    packet: *const c_void,
    length: usize,
) -> c_int {
    // SAFETY: packetdrill passes a packet of this length.
    let packet = unsafe { std::slice::from_raw_parts(packet.cast(), length) };
    // SAFETY: as for `listen`.
    unsafe { endpoint(userdata) }.handle(packet);
    0
}

unsafe extern "C" fn netdev_receive(
    userdata: *mut c_void,
    buffer: *mut c_void,
    length: *mut usize,
    time: *mut i64,
) -> c_int {
    let next = |endpoint: &mut Endpoint| {
        endpoint.transmit();
        endpoint.sent.pop_front()
    };
    // SAFETY: as for `listen`.
    let Some((at, packet)) = (unsafe { wait(userdata, next) }) else {
        eprintln!("packetdrill: no packet within {:?}", TURN * TURNS);
        std::process::exit(1);
    };
    // SAFETY: packetdrill passes a buffer of this length, and the places for length and time.
    unsafe {
        let count = packet.len().min(*length);
        std::ptr::copy_nonoverlapping(packet.as_ptr(), buffer.cast(), count);
        *length = count;
        *time = at;
    }
    0
}

unsafe extern "C" fn usleep(userdata: *mut c_void, time: libc::useconds_t) -> c_int {
    let end = Instant::now() + Duration::from_micros(time.into());
    while let Some(rest) = end.checked_duration_since(Instant::now()) {
        // Timers expire meanwhile.
        // SAFETY: as for `listen`.
        unsafe { endpoint(userdata) }.transmit();
        std::thread::sleep(rest.min(TURN));
    }
    0
}

unsafe extern "C" fn gettimeofday(
    _: *mut c_void,
    time: *mut libc::timeval,
    _: *mut c_void,
) -> c_int {
    // SAFETY: packetdrill passes a place for the time.
    unsafe { libc::gettimeofday(time, std::ptr::null_mut()) }
}
