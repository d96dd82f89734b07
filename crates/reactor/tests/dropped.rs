//! A mistake of the user's, in a process of its own: elsewhere another test might be given the
//! descriptor in the meantime.

#![allow(clippy::unwrap_used, reason = "this is all tests")]

mod available;

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddrV4};

use available::available;
use hairpin_endpoint::{UdpOptions, UdpReceiver};
use hairpin_reactor::{Interest, Reactor, Wait};
use hairpin_time::Instant;

#[test]
fn a_source_dropped_without_removal_is_an_error_where_it_is_noticed() {
    for wait in available([Wait::Block, Wait::Poll, Wait::IoUring]) {
        let mut reactor = Reactor::new(wait).unwrap();
        let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
        let mut receiver = UdpReceiver::bind(address, UdpOptions::default()).unwrap();
        let _ = reactor.add(&mut receiver, Interest::READABLE).unwrap();
        drop(receiver);
        let error = reactor.wait(Instant::ZERO, None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{wait}");
    }
}
