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
    let options = UdpOptions { batch: 1, receive_buffer: None, ..UdpOptions::default() };
    let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
    // Of many, only those that are told apart notice it of one that is not the first.
    let few = [Wait::Block, Wait::Poll, Wait::IoUring].map(|wait| (wait, 1));
    let many = [Wait::Poll, Wait::IoUring].map(|wait| (wait, 130));
    for (wait, count) in few.into_iter().chain(many) {
        if available([wait]).next().is_none() {
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
