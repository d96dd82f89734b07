//! TCP endpoints on the loopback interface.

use std::io::{self, IoSlice};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::loopback::{any_port, eventually, receive};
use hairpin_endpoint::{
    Receive, Source, Stream, TcpListener, TcpOptions, TcpStream, Timestamp, Timestamping, Transmit,
};
use hairpin_time::Duration;
use socket2::SockRef;

const LOCALHOST: Ipv4Addr = Ipv4Addr::LOCALHOST;

fn connect(address: SocketAddrV4, options: TcpOptions) -> TcpStream {
    let mut stream = TcpStream::connect(address, options).unwrap();
    eventually("a connection", || stream.finish_connect().unwrap());
    stream
}

fn accept(listener: &mut TcpListener, options: TcpOptions) -> TcpStream {
    let mut stream = None;
    eventually("a connection", || {
        stream = listener.accept(options).unwrap();
        stream.is_some()
    });
    stream.unwrap()
}

fn pair_with(options: TcpOptions) -> (TcpStream, TcpStream) {
    let mut listener = TcpListener::bind(any_port(LOCALHOST)).unwrap();
    let client = connect(listener.local_address(), options);
    (client, accept(&mut listener, options))
}

fn pair() -> (TcpStream, TcpStream) {
    pair_with(TcpOptions::default())
}

/// Reads to the end of the stream.
fn read_to_end(stream: &mut TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    eventually("the end of the stream", || {
        stream.receive(64, |_, bytes| all.extend_from_slice(bytes)).unwrap().closed
    });
    all
}

#[test]
fn both_ends_report_both_addresses() {
    let mut listener = TcpListener::bind(any_port(LOCALHOST)).unwrap();
    assert!(listener.accept(TcpOptions::default()).unwrap().is_none());
    let client = connect(listener.local_address(), TcpOptions::default());
    let server = accept(&mut listener, TcpOptions::default());
    assert!(client.is_connected() && server.is_connected());
    assert_eq!(client.peer_address(), listener.local_address());
    assert_eq!(server.peer_address(), client.local_address().unwrap());
    assert_eq!(server.local_address().unwrap(), listener.local_address());
}

#[test]
fn sends_small_writes_immediately() {
    let (client, server) = pair();
    for stream in [&client, &server] {
        assert!(SockRef::from(stream).tcp_nodelay().unwrap());
        assert!(SockRef::from(stream).nonblocking().unwrap());
    }
}

#[test]
fn message_has_peer_and_no_timestamp() {
    let (mut client, mut server) = pair();
    client.transmit(5, |bytes| bytes.copy_from_slice(b"order")).unwrap();
    let all = receive(&mut server, 1);
    assert_eq!(all[0].1, b"order");
    assert_eq!(all[0].0.source, client.local_address().unwrap());
    assert_eq!(all[0].0.timestamp, Timestamp::None);
}

#[test]
fn short_chunk_means_drained() {
    let options = TcpOptions { chunk_max: 4, ..TcpOptions::default() };
    let (mut client, mut server) = pair_with(options);
    client.write(b"abcdefghij").unwrap();
    let mut chunks = Vec::new();
    eventually("the first bytes", || {
        server.receive(1, |_, bytes| chunks.push(bytes.to_vec())).unwrap();
        !chunks.is_empty()
    });
    assert_eq!(chunks, [b"abcd"]);
    let received = server.receive(8, |_, bytes| chunks.push(bytes.to_vec())).unwrap();
    assert_eq!((received.count, received.drained, received.closed), (2, true, false));
    assert_eq!(chunks.concat(), b"abcdefghij");
    assert_eq!(server.receive(0, |_, _| {}).unwrap().count, 0);
}

#[test]
fn write_vectored_sends_parts_in_order() {
    let (mut client, mut server) = pair();
    let parts = [&b"abc"[..], b"", b"defg"].map(IoSlice::new);
    assert_eq!(client.write_vectored(&parts).unwrap(), 7);
    assert_eq!(receive(&mut server, 1)[0].1, b"abcdefg");
    let large = vec![7; 1_000_000];
    let parts = [&large[..]; 64].map(IoSlice::new);
    let sent = client.write_vectored(&parts).unwrap();
    assert!((1..64_000_000).contains(&sent), "{sent}");
    eventually("a full path", || match client.write_vectored(&parts) {
        Ok(count) => count == 0,
        Err(error) => error.kind() == io::ErrorKind::WouldBlock,
    });
}

#[test]
fn write_sends_what_fits() {
    let (mut client, mut server) = pair();
    let all: Vec<u8> = (0..32_000_000_u32).map(|index| index as u8).collect();
    let mut sent = client.write(&all).unwrap();
    assert!(0 < sent && sent < all.len(), "{sent}");
    eventually("a full path", || match client.write(&all[sent..]) {
        Ok(count) => {
            sent += count;
            false
        }
        Err(error) => error.kind() == io::ErrorKind::WouldBlock,
    });
    assert!(sent < all.len());

    let mut seen = Vec::new();
    eventually("all the bytes", || {
        server.receive(64, |_, bytes| seen.extend_from_slice(bytes)).unwrap();
        match client.write(&all[sent..]) {
            Ok(count) => sent += count,
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
        }
        seen.len() == all.len()
    });
    assert!(seen == all);
}

#[test]
fn pending_message_is_sent_whole_before_next() {
    let (mut client, mut server) = pair();
    let mut taken = 0_u8;
    eventually("a full path", || {
        let outcome = client.transmit(60_000, |bytes| bytes.fill(taken));
        taken += u8::from(outcome.is_ok());
        outcome.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    });
    let refused = client.transmit(1, |_| panic!("fill must not be called")).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
    assert_eq!(client.write(b"x").unwrap_err().kind(), io::ErrorKind::WouldBlock);

    let mut seen = Vec::new();
    eventually("room for one byte more", || {
        server.receive(64, |_, bytes| seen.extend_from_slice(bytes)).unwrap();
        client.write(b"x").is_ok()
    });
    assert!(client.flush().unwrap());
    client.shutdown().unwrap();
    seen.extend(read_to_end(&mut server));
    let messages = (0..taken).flat_map(|message| vec![message; 60_000]);
    let expected: Vec<u8> = messages.chain([b'x']).collect();
    assert!(seen == expected, "{} bytes of {}", seen.len(), expected.len());
}

#[test]
fn rejects_message_longer_than_buffer() {
    let (mut client, _server) = pair_with(TcpOptions { message_max: 8, ..TcpOptions::default() });
    let error = client.transmit(9, |_| panic!("fill must not be called")).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    client.transmit(8, |bytes| bytes.fill(0)).unwrap();
}

#[test]
fn half_closed_connection_reads_to_end_and_writes() {
    let (mut client, mut server) = pair();
    client.write(b"goodbye").unwrap();
    client.shutdown().unwrap();
    assert_eq!(read_to_end(&mut server), b"goodbye");
    assert!(
        server.receive(8, |_, _| panic!("no more data may follow")).unwrap().closed,
        "the end of stream persists"
    );
    server.write(b"too").unwrap();
    assert_eq!(receive(&mut client, 1)[0].1, b"too");
}

#[test]
fn write_to_closed_peer_fails_without_signal() {
    static SIGNALLED: AtomicBool = AtomicBool::new(false);
    extern "C" fn on_signal(_signal: libc::c_int) {
        SIGNALLED.store(true, Ordering::Relaxed);
    }
    // SAFETY: the handler only sets a flag. Tests otherwise ignore the signal.
    unsafe { libc::signal(libc::SIGPIPE, on_signal as *const () as libc::sighandler_t) };
    let (mut client, server) = pair();
    drop(server);
    let mut kind = None;
    eventually("the reset", || {
        kind = client.write(b"hello?").err().map(|error| error.kind());
        kind.is_some()
    });
    // The first write returns the reset or is followed by it.
    let expected = [io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset];
    assert!(kind.is_some_and(|kind| expected.contains(&kind)), "{kind:?}");
    let again = client.write(b"hello?").unwrap_err().kind();
    assert_eq!(again, io::ErrorKind::BrokenPipe);
    let error = client.transmit(1, |_| {}).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    assert!(!SIGNALLED.load(Ordering::Relaxed));
}

#[test]
fn receive_returns_reset() {
    let (client, mut server) = pair();
    SockRef::from(&client).set_linger(Some(std::time::Duration::ZERO)).unwrap();
    drop(client);
    let mut outcome = None;
    eventually("the reset", || {
        outcome = server.receive(8, |_, _| {}).err();
        outcome.is_some()
    });
    assert_eq!(outcome.unwrap().kind(), io::ErrorKind::ConnectionReset);
}

#[test]
fn refused_connection_error_has_address() {
    let listener = TcpListener::bind(any_port(LOCALHOST)).unwrap();
    let address = listener.local_address();
    drop(listener);
    let outcome = TcpStream::connect(address, TcpOptions::default());
    let error = match outcome {
        Err(error) => error,
        Ok(mut stream) => {
            let mut outcome = None;
            eventually("the refusal", || {
                outcome = stream.finish_connect().err();
                outcome.is_some()
            });
            outcome.unwrap()
        }
    };
    assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    assert!(error.to_string().starts_with(&format!("cannot connect to {address}: ")), "{error}");
}

#[test]
fn listen_error_has_address() {
    let listener = TcpListener::bind(any_port(LOCALHOST)).unwrap();
    let address = listener.local_address();
    let error = TcpListener::bind(address).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    assert!(error.to_string().starts_with(&format!("cannot listen on {address}: ")), "{error}");
}

#[test]
fn connects_from_given_local_address() {
    let local = Ipv4Addr::new(127, 0, 0, 3);
    let mut listener = TcpListener::bind(any_port(LOCALHOST)).unwrap();
    let options = TcpOptions { local: Some(any_port(local)), ..TcpOptions::default() };
    let client = connect(listener.local_address(), options);
    let server = accept(&mut listener, TcpOptions::default());
    assert_eq!(*server.peer_address().ip(), local);
    assert_eq!(client.local_address().unwrap(), server.peer_address());
}

#[test]
fn receives_timestamps_if_requested() {
    let options = TcpOptions { timestamping: Timestamping::Software, ..TcpOptions::default() };
    let (mut client, mut server) = pair_with(options);
    eventually("a timestamp", || {
        client.write(b"order").unwrap();
        let all = receive(&mut server, 1);
        assert_eq!(all[0].1, b"order");
        matches!(all[0].0.timestamp, Timestamp::Software(_))
    });
}

#[test]
fn blocking_receive_keeps_data_and_end_of_stream() {
    let (mut client, mut server) = pair();
    let blocker = server.set_blocking(Some(Duration::from_millis(1))).unwrap().unwrap();
    assert!(blocker.block());
    assert_eq!(server.receive(8, |_, _| {}).unwrap().count, 0);
    client.write(b"ab").unwrap();
    assert!(blocker.block());
    client.write(b"cd").unwrap();
    // The held data have not been delivered: blocking again must not lose or reorder them.
    assert!(blocker.block());
    let mut all = Vec::new();
    server.receive(1, |_, bytes| all.extend_from_slice(bytes)).unwrap();
    assert_eq!(all, b"ab");
    server.receive(8, |_, bytes| all.extend_from_slice(bytes)).unwrap();
    assert_eq!(all, b"abcd");
    drop(client);
    let mut closed = false;
    eventually("the end", || {
        assert!(blocker.block());
        closed = server.receive(8, |_, _| {}).unwrap().closed;
        closed
    });
    assert!(!SockRef::from(&server).nonblocking().unwrap());
    server.set_blocking(None).unwrap();
    assert!(SockRef::from(&server).nonblocking().unwrap());
}

#[test]
fn blocking_receive_keeps_error() {
    let (client, mut server) = pair();
    let blocker = server.set_blocking(Some(Duration::from_millis(1))).unwrap().unwrap();
    SockRef::from(&client).set_linger(Some(std::time::Duration::ZERO)).unwrap();
    drop(client);
    let mut outcome = None;
    eventually("the reset", || {
        assert!(blocker.block());
        outcome = server.receive(8, |_, _| {}).err();
        outcome.is_some()
    });
    assert_eq!(outcome.unwrap().kind(), io::ErrorKind::ConnectionReset);
    assert!(server.as_fd().try_clone_to_owned().is_ok());
}

#[test]
fn reports_the_segment_size_of_the_connection() {
    let listener = std::net::TcpListener::bind((LOCALHOST, 0)).unwrap();
    SockRef::from(&listener).set_tcp_mss(500).unwrap();
    let std::net::SocketAddr::V4(address) = listener.local_addr().unwrap() else {
        panic!("an IPv4 listener")
    };
    let stream = connect(address, TcpOptions::default());
    let size = stream.segment_size().unwrap();
    assert!((400..=500).contains(&size), "{size}");
}
