//! Behavior specific to io_uring: requests that outlive an iteration, and the memory that they
//! write to.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_endpoint::{
    Receive, Received, Source, Stream, TcpListener, TcpOptions, TcpStream, Timestamp, Timestamping,
    Transmit, UdpOptions, UdpReceiver, UdpSender,
};
use hairpin_host::Clock;
use hairpin_reactor::{Interest, Reactor, Ready, Token, Wait};
use hairpin_time::{Duration, Instant};

const ANY_PORT: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);

/// Creates a reactor where the kernel supports and permits io_uring.
fn reactor() -> Option<Reactor> {
    let outcome = Reactor::new(Wait::IoUring);
    if let Err(reason) = &outcome {
        println!("skipped: {reason}");
    }
    outcome.ok()
}

fn udp_with(options: UdpOptions) -> (UdpReceiver, UdpSender) {
    let receiver = UdpReceiver::bind(ANY_PORT, options).unwrap();
    let sender = UdpSender::connect(receiver.local_address(), Ipv4Addr::LOCALHOST).unwrap();
    (receiver, sender)
}

fn udp() -> (UdpReceiver, UdpSender) {
    udp_with(UdpOptions::default())
}

fn tcp_with(options: TcpOptions) -> (TcpStream, TcpStream) {
    let mut listener = TcpListener::bind(ANY_PORT).unwrap();
    let mut client = TcpStream::connect(listener.local_address(), options).unwrap();
    loop {
        let server = listener.accept(options).unwrap();
        if let (true, Some(server)) = (client.finish_connect().unwrap(), server) {
            return (client, server);
        }
    }
}

fn send(sender: &mut UdpSender, bytes: &[u8]) {
    sender.transmit(bytes.len(), |buffer| buffer.copy_from_slice(bytes)).unwrap();
}

/// Returns what one call delivers.
fn receive(endpoint: &mut impl Receive, budget: usize) -> (Received, Vec<Vec<u8>>) {
    let mut all = Vec::new();
    let received = endpoint.receive(budget, |_, bytes| all.push(bytes.to_vec())).unwrap();
    assert_eq!(received.count, all.len());
    assert!(received.count <= budget);
    (received, all)
}

/// Runs one iteration that does not wait.
fn iterate(reactor: &mut Reactor) -> Ready {
    reactor.wait(Instant::ZERO, Some(Instant::ZERO)).unwrap()
}

/// Iterates for up to a minute until `is_over`.
fn iterate_until(reactor: &mut Reactor, mut is_over: impl FnMut(Ready) -> bool) {
    let clock = Clock::from_kernel();
    let end = clock.instant() + Duration::from_secs(60);
    loop {
        let now = clock.instant();
        assert!(now < end, "timed out");
        if is_over(reactor.wait(now, Some(now + Duration::from_millis(5))).unwrap()) {
            return;
        }
    }
}

/// Receives exactly the expected data, one iteration at a time.
fn collect(
    reactor: &mut Reactor,
    token: Token,
    endpoint: &mut impl Receive,
    count: usize,
) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    iterate_until(reactor, |ready| {
        if ready.is_readable(token) {
            all.extend(receive(endpoint, 64).1);
        }
        all.len() >= count
    });
    all
}

fn numbered(count: u8) -> Vec<Vec<u8>> {
    (0..count).map(|number| vec![number]).collect()
}

#[test]
fn receive_uses_system_calls_only_before_first_wait() {
    let Some(mut reactor) = reactor() else { return };
    let (mut receiver, mut sender) = udp();
    let token = reactor.add(&mut receiver, Interest::READABLE).unwrap();
    send(&mut sender, b"before");
    assert_eq!(receive(&mut receiver, 8).1, [b"before"]);
    assert!(iterate(&mut reactor).is_empty());
    send(&mut sender, b"after");
    let nothing = Received { count: 0, drained: true, closed: false };
    assert_eq!(receive(&mut receiver, 8).0, nothing);
    assert!(iterate(&mut reactor).is_readable(token));
    assert_eq!(receive(&mut receiver, 8).1, [b"after"]);
    reactor.remove(token, &mut receiver).unwrap();
}

#[test]
fn source_is_ready_until_drained() {
    let Some(mut reactor) = reactor() else { return };
    let (mut receiver, mut sender) = udp();
    let token = reactor.add(&mut receiver, Interest::READABLE).unwrap();
    (0..5).for_each(|number| send(&mut sender, &[number]));
    for number in 0..5 {
        // If the source were not ready, this would block without limit.
        assert!(reactor.wait(Instant::ZERO, None).unwrap().is_readable(token));
        let (received, all) = receive(&mut receiver, 1);
        assert_eq!((all, received.drained), (vec![vec![number]], number == 4));
    }
    assert!(iterate(&mut reactor).is_empty());
    assert_eq!(receive(&mut receiver, 0).0, Received::default());
    reactor.remove(token, &mut receiver).unwrap();
}

#[test]
fn counts_exhausted_buffers_without_loss() {
    let Some(mut reactor) = reactor() else { return };
    let options = UdpOptions { batch: 2, ..UdpOptions::default() };
    let (mut receiver, mut sender) = udp_with(options);
    let token = reactor.add(&mut receiver, Interest::READABLE).unwrap();
    (0..3).for_each(|number| send(&mut sender, &[number]));
    assert_eq!(collect(&mut reactor, token, &mut receiver, 3), numbered(3));
    assert_eq!(reactor.exhausted(), 0);
    (0..200).for_each(|number| send(&mut sender, &[number]));
    iterate(&mut reactor);
    assert_eq!(reactor.exhausted(), 1);
    // Nothing is delivered, so there is no free buffer and no request.
    iterate(&mut reactor);
    assert_eq!(reactor.exhausted(), 1);
    assert_eq!(collect(&mut reactor, token, &mut receiver, 200), numbered(200));
    assert!(reactor.exhausted() > 10, "{}", reactor.exhausted());
    assert_eq!(receiver.dropped(), 0);
    reactor.remove(token, &mut receiver).unwrap();
}

#[test]
fn completion_overflow_loses_nothing() {
    let Some(mut reactor) = reactor() else { return };
    let mut ends: Vec<_> = (0..40).map(|_| udp()).collect();
    let mut tokens = Vec::new();
    for (receiver, sender) in &mut ends {
        tokens.push(reactor.add(receiver, Interest::READABLE).unwrap());
        (0..100).for_each(|number| send(sender, &[number]));
    }
    let mut seen = vec![Vec::new(); ends.len()];
    iterate_until(&mut reactor, |ready| {
        for (index, (receiver, _)) in ends.iter_mut().enumerate() {
            if ready.is_readable(tokens[index]) {
                seen[index].extend(receive(receiver, 64).1);
            }
        }
        seen.iter().all(|seen| seen.len() >= 100)
    });
    assert!(seen.iter().all(|seen| *seen == numbered(100)));
    for (index, (receiver, _)) in ends.iter_mut().enumerate() {
        reactor.remove(tokens[index], receiver).unwrap();
    }
}

#[test]
fn stream_continues_after_exhausted_buffers() {
    let Some(mut reactor) = reactor() else { return };
    let (mut client, mut server) = tcp_with(TcpOptions { chunk_max: 100, ..TcpOptions::default() });
    let token = reactor.add(&mut server, Interest::READABLE).unwrap();
    let all: Vec<u8> = (0..1_000_000_u32).map(|index| (index >> 3) as u8).collect();
    let (mut sent, mut seen) = (0, Vec::new());
    iterate_until(&mut reactor, |ready| {
        let end = all.len().min(sent + 1 + sent % 9_973);
        match client.write(&all[sent..end]) {
            Ok(count) => sent += count,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
        if ready.is_readable(token) {
            let (_, chunks) = receive(&mut server, 7);
            assert!(chunks.iter().all(|chunk| (1..=100).contains(&chunk.len())));
            seen.extend(chunks.concat());
        }
        seen.len() == all.len()
    });
    assert!(seen == all);
    assert!(reactor.exhausted() > 0);
    reactor.remove(token, &mut server).unwrap();
}

#[test]
fn datagram_has_source_time_and_truncation() {
    let Some(mut reactor) = reactor() else { return };
    let (mut receiver, mut sender) =
        udp_with(UdpOptions { datagram_max: 64, ..UdpOptions::default() });
    let token = reactor.add(&mut receiver, Interest::READABLE).unwrap();
    let (mut rounds, mut stamped, mut lengths) = (0, false, Vec::new());
    iterate_until(&mut reactor, |ready| {
        if lengths.len() == 5 * rounds {
            // An empty datagram ends a request. Timestamps start some time after they are
            // requested.
            [64, 65, 0, 1, 0].into_iter().for_each(|length| send(&mut sender, &vec![7; length]));
            rounds += 1;
        }
        if ready.is_readable(token) {
            receiver
                .receive(64, |meta, bytes| {
                    assert_eq!(meta.source, sender.local_address());
                    assert!(bytes.iter().all(|&byte| byte == 7));
                    stamped |= matches!(meta.timestamp, Timestamp::Software(_));
                    lengths.push(bytes.len());
                })
                .unwrap();
        }
        stamped && lengths.len() == 5 * rounds
    });
    assert!(lengths.chunks(5).all(|lengths| lengths == [64, 64, 0, 1, 0]), "{lengths:?}");
    assert_eq!(receiver.truncated(), rounds as u64);
    reactor.remove(token, &mut receiver).unwrap();
}

#[test]
fn counts_kernel_drops() {
    let Some(mut reactor) = reactor() else { return };
    let options = UdpOptions { receive_buffer: Some(8_192), batch: 1, ..UdpOptions::default() };
    let (mut receiver, mut sender) = udp_with(options);
    let token = reactor.add(&mut receiver, Interest::READABLE).unwrap();
    iterate(&mut reactor);
    (0..100).for_each(|_| send(&mut sender, &[0; 1_000]));
    let mut kept = 0;
    iterate_until(&mut reactor, |ready| {
        kept += receive(&mut receiver, 64).0.count;
        ready.is_empty()
    });
    // The kernel reports drops with the next datagram that it delivers.
    send(&mut sender, &[1]);
    assert_eq!(collect(&mut reactor, token, &mut receiver, 1).len(), 1);
    assert!(kept < 100);
    assert_eq!(receiver.dropped(), 100 - kept as u64);
    reactor.remove(token, &mut receiver).unwrap();
}

#[test]
fn chunk_has_requested_time_and_stream_its_end() {
    let Some(mut reactor) = reactor() else { return };
    let options = TcpOptions { timestamping: Timestamping::Software, ..TcpOptions::default() };
    let (mut client, mut server) = tcp_with(options);
    let token = reactor.add(&mut server, Interest::READABLE).unwrap();
    let mut stamped = false;
    iterate_until(&mut reactor, |ready| {
        client.write(b"order").unwrap();
        if ready.is_readable(token) {
            server
                .receive(64, |meta, bytes| {
                    assert!(bytes.starts_with(b"order"));
                    stamped |= matches!(meta.timestamp, Timestamp::Software(_));
                })
                .unwrap();
        }
        stamped
    });
    client.shutdown().unwrap();
    let mut closed = false;
    for _ in 0..2 {
        iterate_until(&mut reactor, |ready| {
            if ready.is_readable(token) {
                closed = server.receive(64, |_, bytes| assert_eq!(bytes[0], b'o')).unwrap().closed;
            }
            closed
        });
    }
    reactor.remove(token, &mut server).unwrap();
}

#[test]
fn removed_source_delivers_leftover_data() {
    let Some(mut reactor) = reactor() else { return };
    let (mut receiver, mut sender) = udp();
    let token = reactor.add(&mut receiver, Interest::READABLE).unwrap();
    (0..3).for_each(|number| send(&mut sender, &[number]));
    assert!(iterate(&mut reactor).is_readable(token));
    assert_eq!(receive(&mut receiver, 1).1, [[0]]);
    // The next datagram is received by a request or stays in the socket: it is not lost.
    send(&mut sender, &[3]);
    reactor.remove(token, &mut receiver).unwrap();
    send(&mut sender, &[4]);
    let mut all = Vec::new();
    while all.len() < 4 {
        all.extend(receive(&mut receiver, 64).1);
    }
    assert_eq!(all, [[1], [2], [3], [4]]);
    assert!(iterate(&mut reactor).is_empty());
}

#[test]
fn source_added_again_keeps_data() {
    let Some(mut first) = reactor() else { return };
    let mut second = Reactor::new(Wait::IoUring).unwrap();
    let (mut receiver, mut sender) = udp_with(UdpOptions { batch: 2, ..UdpOptions::default() });
    let mut expected = 0_u8;
    for round in 0..20_u8 {
        let reactor = if round % 3 == 0 { &mut second } else { &mut first };
        let token = reactor.add(&mut receiver, Interest::READABLE).unwrap();
        (0..5).for_each(|number| send(&mut sender, &[5 * round + number]));
        let budget = 1 + usize::from(round % 4);
        for _ in 0..round % 3 {
            assert!(reactor.wait(Instant::ZERO, None).unwrap().is_readable(token));
            for datagram in receive(&mut receiver, budget).1 {
                assert_eq!(datagram, [expected]);
                expected += 1;
            }
        }
        reactor.remove(token, &mut receiver).unwrap();
    }
    while expected < 100 {
        for datagram in receive(&mut receiver, 64).1 {
            assert_eq!(datagram, [expected]);
            expected += 1;
        }
    }
}

#[test]
fn source_is_in_one_ring_at_a_time() {
    let Some(mut first) = reactor() else { return };
    let mut second = Reactor::new(Wait::IoUring).unwrap();
    let (mut receiver, mut sender) = udp();
    let token = first.add(&mut receiver, Interest::READABLE).unwrap();
    let error = second.add(&mut receiver, Interest::READABLE).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    send(&mut sender, &[0]);
    assert_eq!(collect(&mut first, token, &mut receiver, 1), [[0]]);
    first.remove(token, &mut receiver).unwrap();
    let token = second.add(&mut receiver, Interest::READABLE).unwrap();
    send(&mut sender, &[1]);
    assert_eq!(collect(&mut second, token, &mut receiver, 1), [[1]]);
}

#[test]
fn dropped_reactor_leaves_data_to_sources() {
    let Some(mut reactor) = reactor() else { return };
    let (mut receiver, mut sender) = udp();
    let (mut client, mut server) = tcp_with(TcpOptions::default());
    let mut listener = TcpListener::bind(ANY_PORT).unwrap();
    for source in [&mut client, &mut server] {
        let _ = reactor.add(source, Interest::BOTH).unwrap();
    }
    let _ = reactor.add(&mut listener, Interest::READABLE).unwrap();
    let _ = reactor.add(&mut receiver, Interest::READABLE).unwrap();
    send(&mut sender, b"one");
    client.write(b"two").unwrap();
    iterate(&mut reactor);
    drop(reactor);
    send(&mut sender, b"three");
    server.write(b"four").unwrap();
    let mut all = receive(&mut receiver, 64).1;
    all.extend(receive(&mut receiver, 64).1);
    assert_eq!(all, [b"one".as_slice(), b"three"]);
    assert_eq!(receive(&mut server, 64).1, [b"two"]);
    assert_eq!(receive(&mut client, 64).1, [b"four"]);
    // The sources can be added to another reactor.
    let mut reactor = Reactor::new(Wait::IoUring).unwrap();
    let token = reactor.add(&mut receiver, Interest::READABLE).unwrap();
    send(&mut sender, b"five");
    assert_eq!(collect(&mut reactor, token, &mut receiver, 1), [b"five"]);
}

/// An allocation of the same size and alignment as the buffers of the source below: freed memory is
/// immediately allocated again, and must keep its content.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Canary([u8; 8 * 2_240]);

#[test]
fn kernel_never_writes_freed_memory() {
    let Some(_) = reactor() else { return };
    let mut canaries = Vec::new();
    for round in 0..40 {
        let mut reactor = Reactor::new(Wait::IoUring).unwrap();
        let (mut other, mut to_other) = udp();
        let (mut receiver, mut sender) = udp_with(UdpOptions { batch: 4, ..UdpOptions::default() });
        let other_token = reactor.add(&mut other, Interest::READABLE).unwrap();
        let token = reactor.add(&mut receiver, Interest::READABLE).unwrap();
        send(&mut sender, &[0xee; 2_000]);
        assert_eq!(collect(&mut reactor, token, &mut receiver, 1).len(), 1);
        match round % 3 {
            0 => {
                reactor.remove(token, &mut receiver).unwrap();
                drop(receiver);
            }
            1 => drop(receiver),
            _ => {
                reactor.remove(other_token, &mut other).unwrap();
                drop(reactor);
                reactor = Reactor::new(Wait::IoUring).unwrap();
                reactor.add(&mut other, Interest::READABLE).unwrap();
                drop(receiver);
            }
        }
        canaries.extend((0..4).map(|_| Box::new(Canary([0x11; 8 * 2_240]))));
        // Sends to a closed socket, if the code is correct. The kernel works in the wait.
        for _ in 0..4 {
            let _ = sender.transmit(2_000, |bytes| bytes.fill(0xee));
        }
        send(&mut to_other, b"tick");
        let outcome = reactor.wait(Instant::ZERO, Some(Instant::ZERO));
        assert_eq!(outcome.is_err(), round % 3 == 1, "{outcome:?}");
    }
    assert!(canaries.iter().all(|canary| canary.0 == [0x11; 8 * 2_240]));
}

#[test]
fn dropped_source_is_closed_when_detected() {
    let Some(mut reactor) = reactor() else { return };
    let (mut receiver, _sender) = udp();
    let (mut client, mut server) = tcp_with(TcpOptions::default());
    let address = receiver.local_address();
    let _ = reactor.add(&mut receiver, Interest::READABLE).unwrap();
    let _ = reactor.add(&mut client, Interest::READABLE).unwrap();
    iterate(&mut reactor);
    drop((receiver, client));
    for _ in 0..2 {
        let error = reactor.wait(Instant::ZERO, None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains("without being removed"), "{error}");
    }
    assert!(UdpReceiver::bind(address, UdpOptions::default()).is_ok());
    assert!((0..10_000).any(|_| server.receive(8, |_, _| {}).map_or(true, |r| r.closed)));
}

#[test]
fn peer_sees_end_of_removed_stream() {
    let Some(mut reactor) = reactor() else { return };
    let (mut client, mut server) = tcp_with(TcpOptions::default());
    let removed = reactor.add(&mut client, Interest::BOTH).unwrap();
    let token = reactor.add(&mut server, Interest::READABLE).unwrap();
    iterate(&mut reactor);
    reactor.remove(removed, &mut client).unwrap();
    drop(client);
    iterate_until(&mut reactor, |ready| {
        ready.is_readable(token) && server.receive(8, |_, _| {}).unwrap().closed
    });
    reactor.remove(token, &mut server).unwrap();
}

#[test]
fn keeps_data_of_source_without_interest() {
    let Some(mut reactor) = reactor() else { return };
    let (mut receiver, mut sender) = udp();
    let token = reactor.add(&mut receiver, Interest::READABLE).unwrap();
    iterate(&mut reactor);
    reactor.set_interest(token, &receiver, Interest::NONE).unwrap();
    let sending = std::thread::spawn(move || {
        for number in 0..10 {
            std::thread::sleep(std::time::Duration::from_millis(2));
            send(&mut sender, &[number]);
        }
    });
    let clock = Clock::from_kernel();
    let deadline = clock.instant() + Duration::from_millis(60);
    assert!(reactor.wait(clock.instant(), Some(deadline)).unwrap().is_empty());
    assert!(clock.instant() >= deadline);
    sending.join().unwrap();
    reactor.set_interest(token, &receiver, Interest::READABLE).unwrap();
    assert_eq!(collect(&mut reactor, token, &mut receiver, 10), numbered(10));
    reactor.remove(token, &mut receiver).unwrap();
}

#[test]
fn waits_for_far_deadline() {
    let Some(mut reactor) = reactor() else { return };
    let (mut receiver, mut sender) = udp();
    let token = reactor.add(&mut receiver, Interest::READABLE).unwrap();
    let sending = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(20));
        send(&mut sender, &[0]);
    });
    let ready = reactor.wait(Clock::from_kernel().instant(), Some(Instant::MAX)).unwrap();
    assert!(ready.is_readable(token));
    sending.join().unwrap();
    reactor.remove(token, &mut receiver).unwrap();
}

#[test]
fn polls_source_without_requests() {
    /// A socket that is not an endpoint.
    struct Plain(std::net::UdpSocket);
    impl std::os::fd::AsFd for Plain {
        fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
            self.0.as_fd()
        }
    }
    impl Source for Plain {
        fn set_blocking(
            &mut self,
            _timeout: Option<Duration>,
        ) -> io::Result<Option<hairpin_endpoint::Blocker>> {
            Ok(None)
        }
    }
    let Some(mut reactor) = reactor() else { return };
    let mut plain = Plain(std::net::UdpSocket::bind(ANY_PORT).unwrap());
    let std::net::SocketAddr::V4(address) = plain.0.local_addr().unwrap() else { panic!() };
    let mut sender = UdpSender::connect(address, Ipv4Addr::LOCALHOST).unwrap();
    let token = reactor.add(&mut plain, Interest::READABLE).unwrap();
    let writer = reactor.add(&mut sender, Interest::WRITABLE).unwrap();
    assert!(!iterate(&mut reactor).is_readable(token));
    send(&mut sender, b"tick");
    for _ in 0..3 {
        let ready = reactor.wait(Instant::ZERO, None).unwrap();
        assert!(ready.is_readable(token) && ready.is_writable(writer));
    }
    assert_eq!(plain.0.recv(&mut [0; 8]).unwrap(), 4);
    let ready = reactor.wait(Instant::ZERO, None).unwrap();
    assert!(!ready.is_readable(token) && ready.is_writable(writer));
    reactor.remove(token, &mut plain).unwrap();
    reactor.remove(writer, &mut sender).unwrap();
}

#[test]
fn reactor_moves_before_first_wait() {
    let Some(mut reactor) = reactor() else { return };
    let (mut receiver, mut sender) = udp();
    let token = reactor.add(&mut receiver, Interest::READABLE).unwrap();
    let waiting = std::thread::spawn(move || {
        send(&mut sender, &[0]);
        assert_eq!(collect(&mut reactor, token, &mut receiver, 1), [[0]]);
        (reactor, receiver, sender)
    });
    let (mut reactor, mut receiver, _sender) = waiting.join().unwrap();
    let error = reactor.wait(Instant::ZERO, None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    assert!(error.to_string().contains("the thread that waited first"), "{error}");
    let error = reactor.remove(token, &mut receiver).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    // The kernel may still write to the buffers, so they leak and are never reused.
    let mut another = Reactor::new(Wait::IoUring).unwrap();
    let error = another.add(&mut receiver, Interest::READABLE).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
}

#[test]
fn ring_setup_error_has_reason() {
    for (number, kind, text) in [
        (libc::EPERM, ErrorKind::PermissionDenied, "forbidden by sysctl"),
        (libc::ENOSYS, ErrorKind::Unsupported, "the kernel has no io_uring"),
        (libc::EINVAL, ErrorKind::Unsupported, "Linux 6.1 or newer"),
        (libc::ENOMEM, ErrorKind::OutOfMemory, "ulimit -l"),
    ] {
        let refused = std::thread::spawn(move || {
            refuse_rings(number);
            (Wait::IoUring.probe().unwrap_err(), Wait::Epoll.probe().is_ok())
        });
        let (error, has_epoll) = refused.join().unwrap();
        assert_eq!(error.kind(), kind, "{error}");
        let expected = error.to_string();
        assert!(expected.starts_with("cannot wait with io_uring: "), "{expected}");
        assert!(expected.contains(text), "{expected}");
        assert!(has_epoll);
    }
}

/// Makes io_uring_setup(2) fail in this thread from now on.
fn refuse_rings(number: i32) {
    let statement =
        |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter { code: code as u16, jt, jf, k };
    let refusal = libc::SECCOMP_RET_ERRNO | number.cast_unsigned();
    let mut filter = [
        // The system call number is the first word of the filter's data.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JEQ, libc::SYS_io_uring_setup as u32, 0, 1),
        statement(libc::BPF_RET, refusal, 0, 0),
        statement(libc::BPF_RET, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program is valid until the calls return, and applies to this thread only.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let mode = libc::SECCOMP_MODE_FILTER;
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program), 0);
    }
}
