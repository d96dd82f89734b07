//! Many connections.

use std::io::{Read, Write};
use std::net::TcpListener;

use hairpin_stack::{Mode, TcpSocket};

use super::{bytes, expect, send_all, testbed};
use crate::support::{addresses, stack};

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

#[test]
#[ignore = "needs root"]
fn thousand_connections_exchange_bytes_and_the_longest_idle_is_handed_back() {
    allow_descriptors();
    for mode in [Mode::Generic, Mode::Native] {
        let testbed = testbed(1);
        let [client, server] = testbed.hosts();
        let stack = stack(client, mode);
        let listener =
            server.run(|| TcpListener::bind((addresses(server)[0], 0))).unwrap().unwrap();
        let address = listener.local_addr().unwrap();
        let mut ends: Vec<_> = (0..CONNECTIONS + 6)
            .map(|_| {
                let near = client.run(|| std::net::TcpStream::connect(address)).unwrap().unwrap();
                let (far, _) = listener.accept().unwrap();
                near.set_nodelay(true).unwrap();
                far.set_nodelay(true).unwrap();
                (stack.adopt_tcp(near).unwrap(), far)
            })
            .collect();
        let (mut sockets, mut peers): (Vec<_>, Vec<_>) = ends.drain(..).unzip();
        super::take_over(client, &mut sockets[0]);
        for at in 1..sockets.len() {
            // Frames of other connections may have hidden that one of this has arrived.
            let (socket, peer, mut message) = (&mut sockets[at], &mut peers[at], [0; 16]);
            send_all(socket, &bytes((at * 100) as u64, 16));
            peer.read_exact(&mut message).unwrap();
            peer.write_all(&message).unwrap();
            expect(socket, (at * 100) as u64, 16);
            super::take_over(client, socket);
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
