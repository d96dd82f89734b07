//! A source dropped without removal, in a process of its own: in another process, a concurrent test
//! could get the same descriptor number.

#![allow(clippy::unwrap_used, reason = "this is all tests")]

#[path = "it/supported_waits.rs"]
mod supported_waits;

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_endpoint::{UdpOptions, UdpReceiver};
use hairpin_reactor::{Interest, Reactor, Wait};
use hairpin_time::Instant;
use supported_waits::supported;

#[test]
fn dropped_source_is_an_error_where_detected() {
    let options = UdpOptions { batch: 1, receive_buffer: None, ..UdpOptions::default() };
    let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
    // With many sources, only the selective waits detect this for a source other than the first.
    let few = [Wait::Block, Wait::Poll, Wait::IoUring].map(|wait| (wait, 1));
    let many = [Wait::Poll, Wait::IoUring].map(|wait| (wait, 130));
    for (wait, count) in few.into_iter().chain(many) {
        if supported([wait]).next().is_none() {
            continue;
        }
        let mut reactor = Reactor::new(wait).unwrap();
        let mut all: Vec<UdpReceiver> =
            (0..count).map(|_| UdpReceiver::bind(address, options).unwrap()).collect();
        for receiver in &mut all {
            let _ = reactor.add(receiver, Interest::READABLE).unwrap();
        }
        drop(all.pop());
        let error = reactor.wait(Instant::ZERO, None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{wait} of {count}");
    }
}
