//! Finds the protocol of a running pong, so that `hairpin ping ADDR` needs no `--protocol`.
//!
//! Each protocol that has addresses is tried with one ping, over kernel sockets; a pong answers
//! only its own. Other services on the port do not answer as a pong does.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use hairpin_endpoint::Receive;
use hairpin_endpoint::rds::RdsTransport as Carrier;

use super::message::{self, HEADER};
use super::ping_transport::{GREETING, GREETING_LENGTH};
use super::rds_transport::RdsTransport;
use super::setup::Protocol;

/// The longest wait for an answer; as long as a ping waits for its own.
const TIMEOUT: Duration = Duration::from_secs(1);
/// The time after which a datagram without an answer is sent again.
const RESEND: Duration = Duration::from_millis(200);
/// The pause between two checks of a reliable socket.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Returns the protocol of the pong at `remote`, reached from the address `local` of this host.
///
/// # Errors
/// No pong answers there.
pub(super) fn detect(remote: SocketAddrV4, local: Ipv4Addr) -> Result<Protocol> {
    if remote.ip().is_multicast() {
        return Ok(Protocol::Multicast);
    }
    let local = SocketAddrV4::new(local, 0);
    // A socket that fails, as one whose datagram is refused, has no answer.
    if answers_udp(remote, local).unwrap_or(false) {
        return Ok(Protocol::Udp);
    }
    if answers_tcp(remote).unwrap_or(false) {
        return Ok(Protocol::Tcp);
    }
    if answers_rds(remote, local).unwrap_or(false) {
        return Ok(Protocol::Rds);
    }
    bail!(
        "cannot find a pong at {remote}: no answer over udp, tcp or rds; start `hairpin pong` there"
    );
}

/// Returns a ping.
fn ping() -> [u8; HEADER] {
    let mut ping = [0; HEADER];
    message::write(&mut ping, 0, std::process::id());
    ping
}

/// Returns `true` if a message is the answer of a pong to [`ping`].
fn is_answer(bytes: &[u8]) -> bool {
    let is_own = message::read(bytes, 0, std::process::id()) == Some(0);
    bytes.len() == HEADER && message::is_answer(bytes) && is_own
}

fn answers_udp(remote: SocketAddrV4, local: SocketAddrV4) -> io::Result<bool> {
    let socket = UdpSocket::bind(local)?;
    socket.connect(remote)?;
    socket.set_read_timeout(Some(RESEND))?;
    let mut answer = [0; 2 * HEADER];
    for _ in 0..TIMEOUT.as_millis() / RESEND.as_millis() {
        socket.send(&ping())?;
        match socket.recv(&mut answer) {
            Ok(length) => return Ok(is_answer(&answer[..length])),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

fn answers_tcp(remote: SocketAddrV4) -> io::Result<bool> {
    let mut stream = TcpStream::connect_timeout(&remote.into(), TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    let mut request = [0; GREETING_LENGTH + HEADER];
    request[..4].copy_from_slice(&GREETING);
    request[4..GREETING_LENGTH].copy_from_slice(&(HEADER as u32).to_le_bytes());
    request[GREETING_LENGTH..].copy_from_slice(&ping());
    stream.write_all(&request)?;
    let mut answer = [0; HEADER];
    stream.read_exact(&mut answer)?;
    // Over TCP an answer has no mark.
    Ok(answer == ping())
}

fn answers_rds(remote: SocketAddrV4, local: SocketAddrV4) -> Result<bool> {
    let mut socket = RdsTransport::bind(&Carrier::Kernel, local, HEADER)?;
    socket.send(remote.into(), HEADER, |bytes| bytes.copy_from_slice(&ping()))?;
    let until = Instant::now() + TIMEOUT;
    let mut is_answered = false;
    while !is_answered && Instant::now() < until {
        socket.receive(1, |_, bytes| is_answered = is_answer(bytes))?;
        std::thread::sleep(POLL_INTERVAL);
    }
    Ok(is_answered)
}
