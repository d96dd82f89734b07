//! Sends datagrams in both directions over the loopback interface, to count instructions.
//!
//! ```text
//! valgrind --tool=callgrind target/release/examples/datagrams
//! ```

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_endpoint::{
    MulticastGroup, Receive, Transmit, UdpOptions, UdpReceiver, UdpSender, UdpSocket,
};

const ROUNDS: usize = 2_000;

/// Receives one datagram, spinning until it arrives.
fn one(endpoint: &mut impl Receive) -> io::Result<usize> {
    let mut length = 0;
    while endpoint.receive(1, |_, datagram| length = datagram.len())?.count == 0 {}
    Ok(length)
}

fn main() -> io::Result<()> {
    let any_port = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
    let mut pong = UdpSocket::bind(any_port, UdpOptions::default())?;
    let mut ping = UdpSocket::connect(any_port, pong.local_address(), UdpOptions::default())?;
    let port = pong.local_address().port();
    let group = SocketAddrV4::new(Ipv4Addr::new(239, 192, 7, 7), port);
    let interface = Ipv4Addr::LOCALHOST;
    let joined = MulticastGroup { group, interface, sources: &[] };
    let mut feed = UdpReceiver::join(joined, UdpOptions::default())?;
    let mut publisher = UdpSender::new(group, interface, 1)?;
    let mut sum = 0;
    for _ in 0..ROUNDS {
        ping.transmit(64, |bytes| bytes.fill(1))?;
        sum += one(&mut pong)?;
        pong.transmit_to(ping.local_address(), 64, |bytes| bytes.fill(2))?;
        sum += one(&mut ping)?;
        publisher.transmit(64, |bytes| bytes.fill(3))?;
        sum += one(&mut feed)?;
    }
    println!("{sum} bytes received");
    Ok(())
}
