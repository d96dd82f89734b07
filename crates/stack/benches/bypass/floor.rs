//! The system calls alone that a takeover and a handback cannot go without, with no engine between.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::time::Instant;

use socket2::SockRef;

use crate::tcp::{KernelTcp, SETTLED};

const TCP_REPAIR: i32 = 19;
const TCP_REPAIR_QUEUE: i32 = 20;
const TCP_QUEUE_SEQ: i32 = 21;
const TCP_REPAIR_OPTIONS: i32 = 22;
const TCP_TIMESTAMP: i32 = 24;
const TCP_REPAIR_WINDOW: i32 = 29;
const SO_MEMINFO: i32 = 55;
const RECEIVE: u32 = 1;
const SEND: u32 = 2;
const NONE: u32 = 0;

/// The state between the two transitions.
struct State {
    numbers: [u32; 2],
    window: [u32; 5],
    timestamp: u32,
    segment_size: u32,
    scales: u8,
}

/// Takes the state out of a connection and puts it back, between two requests. Returns the times
/// of both, in nanoseconds.
pub(crate) fn transition(tcp: &mut KernelTcp) -> io::Result<[u128; 2]> {
    let stream = &tcp.stream;
    let (local, remote) = (stream.local_addr()?, stream.peer_addr()?);
    // The caches are as cold as after the same time with an engine.
    spin();
    let start = Instant::now();
    let state = take_over(stream)?;
    let takeover = start.elapsed();
    spin();
    let start = Instant::now();
    hand_back(stream, &state, local, remote)?;
    Ok([takeover.as_nanos(), start.elapsed().as_nanos()])
}

fn spin() {
    let start = Instant::now();
    while start.elapsed() < SETTLED {
        std::hint::spin_loop();
    }
}

fn take_over(stream: &TcpStream) -> io::Result<State> {
    let info: [u32; 58] = get(stream, libc::IPPROTO_TCP, libc::TCP_INFO)?;
    let _: [u32; 9] = get(stream, libc::SOL_SOCKET, SO_MEMINFO)?;
    let mut unacknowledged = 0_i32;
    // SAFETY: the kernel writes an integer to a local variable.
    check(unsafe { libc::ioctl(stream.as_raw_fd(), libc::TIOCOUTQ, &raw mut unacknowledged) })?;
    set_tcp(stream, TCP_REPAIR, 1)?;
    let mut numbers = [0; 2];
    for (queue, number) in [SEND, RECEIVE].into_iter().zip(&mut numbers) {
        set_tcp(stream, TCP_REPAIR_QUEUE, queue)?;
        *number = tcp(stream, TCP_QUEUE_SEQ)?;
    }
    let _: [u32; 9] = get(stream, libc::SOL_SOCKET, SO_MEMINFO)?;
    let window = get(stream, libc::IPPROTO_TCP, TCP_REPAIR_WINDOW)?;
    let timestamp = tcp(stream, TCP_TIMESTAMP)?;
    let segment_size = tcp(stream, libc::TCP_MAXSEG)?;
    set_tcp(stream, TCP_REPAIR_QUEUE, NONE)?;
    set_tcp(stream, TCP_REPAIR, u32::MAX)?;
    let scales = info[1].to_ne_bytes()[2];
    Ok(State { numbers, window, timestamp, segment_size, scales })
}

fn hand_back(
    stream: &TcpStream,
    state: &State,
    local: SocketAddr,
    remote: SocketAddr,
) -> io::Result<()> {
    set_tcp(stream, TCP_REPAIR, 1)?;
    // SAFETY: all zeros is a valid address, of no family.
    let none: libc::sockaddr = unsafe { std::mem::zeroed() };
    let length = size_of::<libc::sockaddr>() as u32;
    // SAFETY: the kernel reads a local variable of this length.
    check(unsafe { libc::connect(stream.as_raw_fd(), &raw const none, length) })?;
    let _: [u32; 1] = get(stream, libc::SOL_SOCKET, libc::SO_ERROR)?;
    set_tcp(stream, TCP_REPAIR, 1)?;
    let socket = SockRef::from(stream);
    let _ = socket.bind(&local.into());
    for (queue, number) in [SEND, RECEIVE].into_iter().zip(state.numbers) {
        set_tcp(stream, TCP_REPAIR_QUEUE, queue)?;
        set_tcp(stream, TCP_QUEUE_SEQ, number)?;
    }
    set_tcp(stream, libc::TCP_MAXSEG, state.segment_size)?;
    socket.connect(&remote.into())?;
    let (sent, received) = (u32::from(state.scales & 0xF), u32::from(state.scales >> 4));
    let options = [2, state.segment_size, 3, sent | received << 16, 4, 0, 8, 0_u32];
    set(stream, libc::IPPROTO_TCP, TCP_REPAIR_OPTIONS, &options)?;
    set(stream, libc::IPPROTO_TCP, TCP_REPAIR_WINDOW, &state.window)?;
    set_tcp(stream, TCP_TIMESTAMP, state.timestamp + (state.timestamp & 1))?;
    set_tcp(stream, TCP_REPAIR_QUEUE, NONE)?;
    set_tcp(stream, TCP_REPAIR, u32::MAX)
}

fn get<const N: usize>(stream: &TcpStream, level: i32, name: i32) -> io::Result<[u32; N]> {
    let mut value = [0; N];
    let mut length = size_of_val(&value) as u32;
    let at = value.as_mut_ptr().cast();
    // SAFETY: the kernel writes at most `length` bytes of the array.
    check(unsafe { libc::getsockopt(stream.as_raw_fd(), level, name, at, &raw mut length) })?;
    Ok(value)
}

fn set(stream: &TcpStream, level: i32, name: i32, value: &[u32]) -> io::Result<()> {
    let (at, length) = (value.as_ptr().cast(), size_of_val(value) as u32);
    // SAFETY: the kernel reads this number of bytes of the slice.
    check(unsafe { libc::setsockopt(stream.as_raw_fd(), level, name, at, length) })
}

fn tcp(stream: &TcpStream, name: i32) -> io::Result<u32> {
    get(stream, libc::IPPROTO_TCP, name).map(|[value]| value)
}

fn set_tcp(stream: &TcpStream, name: i32, value: u32) -> io::Result<()> {
    set(stream, libc::IPPROTO_TCP, name, &[value])
}

fn check(result: i32) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
