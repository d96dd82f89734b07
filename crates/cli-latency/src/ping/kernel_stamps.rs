//! The kernel's receive timestamps, which start some time after a socket enables them.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::thread::yield_now;

use hairpin_endpoint::{Receive, Timestamp, Timestamping, UdpOptions, UdpSocket};
use hairpin_host::Clock;
use hairpin_time::Duration;

/// The longest wait for the first timestamp; then the round runs without.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Waits until this host timestamps received packets, which a socket has enabled.
///
/// The first such socket of a host makes Linux enable timestamps from a worker thread
/// (`net_enable_timestamp` in net/core/dev.c), which must be scheduled first. Where both processes
/// spin on two cores, some hundred pings can pass before that. The check sends a datagram over
/// loopback from a socket to itself; if loopback is down, it does not wait.
pub(super) fn await_begin(clock: &Clock) {
    let until = clock.instant() + TIMEOUT;
    while is_stamped().is_ok_and(|is_stamped| !is_stamped) && clock.instant() < until {
        yield_now();
    }
}

/// Returns `true` if a received datagram has a timestamp.
fn is_stamped() -> io::Result<bool> {
    let options = UdpOptions { timestamping: Timestamping::Software, ..UdpOptions::default() };
    let mut socket = UdpSocket::bind(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0), options)?;
    let itself = socket.local_address();
    socket.transmit_to(itself, 1, |payload| payload.fill(0))?;
    let mut stamp = Timestamp::None;
    // Over loopback a datagram has arrived when the send call returns.
    socket.receive(1, |meta, _| stamp = meta.timestamp)?;
    Ok(stamp != Timestamp::None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_the_wait_stamps_have_begun() {
        // Timestamps stay enabled as long as this socket exists.
        let options = UdpOptions { timestamping: Timestamping::Software, ..UdpOptions::default() };
        let any = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
        let _asking = UdpSocket::bind(any, options).unwrap();
        await_begin(&Clock::new());
        assert!(is_stamped().unwrap());
    }
}
