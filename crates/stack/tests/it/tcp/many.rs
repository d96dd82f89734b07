//! Many connections.

#[cfg(target_arch = "x86_64")]
#[path = "../../../../mapped/src/single_step.rs"]
mod single_step;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;

use hairpin_stack::{AdoptedTcp, Mode, TcpSocket};
use hairpin_testbed::Host;

use super::{bytes, expect, send_all, testbed};
use crate::support::{addresses, eventually, stack};

/// The most connections taken over at once.
const CONNECTIONS: usize = 1_024;

/// Raises the limit of descriptors.
fn allow_descriptors() {
    let limit = libc::rlimit { rlim_cur: 16_384, rlim_max: 16_384 };
    // SAFETY: the kernel reads a local variable.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }, 0);
}

/// Polls all connections, so that none is handed back as unattended.
fn poll(sockets: &mut [TcpSocket]) {
    for socket in sockets {
        let _ = socket.receive(|_| panic!("nothing was sent"));
    }
}

/// Connects the first host to the second. Returns both ends.
fn connections([client, server]: &[Host; 2], count: usize) -> Vec<[TcpStream; 2]> {
    let listener = server.run(|| TcpListener::bind((addresses(server)[0], 0))).unwrap().unwrap();
    let address = listener.local_addr().unwrap();
    let connect = || {
        let ends = [TcpStream::connect(address).unwrap(), listener.accept().unwrap().0];
        ends.iter().for_each(|end| end.set_nodelay(true).unwrap());
        ends
    };
    client.run(|| (0..count).map(|_| connect()).collect()).unwrap()
}

/// Returns the instructions of the cheapest of some answers to two requests, without the kernel's.
#[cfg(target_arch = "x86_64")]
fn instructions(socket: &mut AdoptedTcp, peer: &mut TcpStream) -> u64 {
    let mut answer = || {
        // The stack's thread takes no frames of sockets that were polled just now.
        assert_eq!(socket.receive(<[u8]>::len).unwrap(), Some(0));
        peer.write_all(&bytes(0, 64)).unwrap();
        peer.write_all(&bytes(64, 64)).unwrap();
        let (mut count, mut parts, mut sent) = (0_u64, 0, false);
        // A panic would unwind one instruction at a time.
        let work = || {
            let received = socket.receive(|part| {
                parts += 1;
                part.len()
            });
            sent = received.is_ok() && socket.transmit(64, |to| to.fill(7)).is_ok_and(|sent| sent);
        };
        single_step::each_instruction(work, || count += 1);
        if !sent {
            assert_eq!(socket.send(&[7; 64]).unwrap(), Some(64));
        }
        peer.read_exact(&mut [0; 64]).unwrap();
        (sent && parts == 2).then_some(count)
    };
    (0..4).filter_map(|_| answer()).min().expect("frames usually arrive at once")
}

#[test]
#[ignore = "needs root"]
#[cfg(target_arch = "x86_64")]
fn active_connection_costs_the_same_among_a_thousand_idle_ones() {
    allow_descriptors();
    for mode in [Mode::Generic, Mode::Native] {
        let testbed = testbed(1);
        let stack = stack(&testbed.hosts()[0], mode);
        let mut alone = 0;
        // Adopted connections stay taken over without polls. An answer takes long here.
        let mut ends = Vec::new();
        for [near, mut far] in connections(testbed.hosts(), 1_000) {
            let near: &'static TcpStream = Box::leak(Box::new(near));
            let mut socket = stack.adopt_tcp_descriptor(near.as_fd(), || ());
            assert!(eventually(|| socket.take_over().is_ok()));
            if ends.is_empty() {
                alone = instructions(&mut socket, &mut far);
            }
            ends.push((socket, far));
        }
        let (socket, far) = &mut ends[0];
        let among = instructions(socket, far);
        println!("{mode:?}: {alone} instructions alone, {among} among 1,000 connections");
        assert!(among * 100 <= alone * 105, "{alone}, {among}");
        assert_eq!(stack.tcp_counters().bypassing, 1_000, "none was handed back");
    }
}

#[test]
#[ignore = "needs root"]
fn thousand_connections_exchange_bytes_and_the_longest_idle_is_handed_back() {
    allow_descriptors();
    for mode in [Mode::Generic, Mode::Native] {
        let testbed = testbed(1);
        let [client, _] = testbed.hosts();
        let stack = stack(client, mode);
        let (mut sockets, mut peers): (Vec<_>, Vec<_>) =
            connections(testbed.hosts(), CONNECTIONS + 6)
                .into_iter()
                .map(|[near, far]| (stack.adopt_tcp(near).unwrap(), far))
                .unzip();
        super::take_over(client, &mut sockets[0]);
        for at in 1..sockets.len() {
            sockets[at].take_over().unwrap();
            if at % 32 == 0 {
                poll(&mut sockets);
            }
        }
        let counters = stack.tcp_counters();
        println!("{mode:?}: {counters:?}");
        assert!(counters.displaced + counters.abandoned >= 6, "{counters:?}");
        assert!(counters.bypassing <= CONNECTIONS as u64 && counters.full == 0, "{counters:?}");
        assert!(!sockets[0].is_bypassing(), "the first was idle longest");
        for round in 0..3 {
            for (at, socket) in sockets.iter_mut().enumerate() {
                send_all(socket, &bytes((at * 100 + round * 16) as u64, 16));
            }
            for peer in &mut peers {
                let mut message = [0; 16];
                peer.read_exact(&mut message).unwrap();
                peer.write_all(&message).unwrap();
            }
            for (at, socket) in sockets.iter_mut().enumerate() {
                expect(socket, (at * 100 + round * 16) as u64, 16);
            }
        }
    }
}
