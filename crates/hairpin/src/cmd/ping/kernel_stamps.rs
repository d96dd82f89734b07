//! The kernel's stamps of what is received, which begin a while after they are asked for.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::thread::yield_now;

use hairpin_endpoint::{Receive, Timestamp, Timestamping, UdpOptions, UdpSocket};
use hairpin_host::Clock;
use hairpin_time::Duration;

/// How long to look for a stamp before it has to do without.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Waits until what this host receives is stamped, which a socket has asked for.
///
/// The first such socket of a host has Linux switch it on by a worker thread
/// (`net_enable_timestamp` of net/core/dev.c), which has to be let run first: where two sides spin
/// on two cores, some hundred pings can be over by then. Looked at is what a socket sends to itself
/// by the loopback interface; where that is down it is not waited for.
pub(super) fn await_begin(clock: &Clock) {
    let until = clock.instant() + TIMEOUT;
    while is_stamped().is_ok_and(|is_stamped| !is_stamped) && clock.instant() < until {
        yield_now();
    }
}

/// Whether a datagram is stamped now.
fn is_stamped() -> io::Result<bool> {
    let options = UdpOptions { timestamping: Timestamping::Software, ..UdpOptions::default() };
    let mut socket = UdpSocket::bind(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0), options)?;
    let itself = socket.local_address();
    socket.transmit_to(itself, 1, |payload| payload.fill(0))?;
    let mut stamp = Timestamp::None;
    // By the loopback interface it has arrived when it has been sent.
    socket.receive(1, |meta, _| stamp = meta.timestamp)?;
    Ok(stamp != Timestamp::None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_the_wait_stamps_have_begun() {
        // As long as it is there, they go on.
        let options = UdpOptions { timestamping: Timestamping::Software, ..UdpOptions::default() };
        let any = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
        let _asking = UdpSocket::bind(any, options).unwrap();
        await_begin(&Clock::new());
        assert!(is_stamped().unwrap());
    }
}
