//! Programs that limit themselves, or end their threads, while a connection is taken over.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::time::Instant;

use crate::support::{Compiled, command, output, testbed};

/// What the program does, and the reason for which its connections stay with the kernel afterwards,
/// if they do.
const KINDS: [(&str, Option<&str>); 12] = [
    ("address-space", Some("a limit of memory leaves too little for the library")),
    ("data", Some("a limit of memory leaves too little for the library")),
    ("descriptors", None),
    ("prctl", Some("the process installs a filter of system calls (seccomp)")),
    ("seccomp", Some("the process installs a filter of system calls (seccomp)")),
    ("keepalive", Some("cannot take over: the connection uses a keep-alive within a minute")),
    ("user-timeout", Some("cannot take over: the connection uses TCP_USER_TIMEOUT")),
    ("recv", None),
    ("read", None),
    ("recvmsg", None),
    ("poll", None),
    ("epoll", None),
];

/// Answers messages of 16 bytes with their copies.
fn answer(listener: &TcpListener) {
    while let Ok((mut stream, _)) = listener.accept() {
        stream.set_nodelay(true).unwrap();
        std::thread::spawn(move || {
            let mut message = [0; 16];
            while stream.read_exact(&mut message).is_ok() {
                if stream.write_all(&message).is_err() {
                    return;
                }
            }
        });
    }
}

#[test]
#[ignore = "needs root"]
fn limited_programs_and_canceled_threads_continue_as_with_the_kernel() {
    let testbed = testbed(1);
    let [host, other] = testbed.hosts();
    let program = Compiled::new("limits.c");
    let listener = other.run(|| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))).unwrap().unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || answer(&listener));
    for (what, reason) in KINDS {
        for accelerated in [false, true] {
            let mut limits = command(&program.0, accelerated);
            limits.args([&other.address().to_string(), &port.to_string(), what]);
            limits.env_remove("HAIRPIN_STRICT");
            let output = output(host, limits);
            let log = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{what}: {:?} {log}", output.status);
            assert_eq!(output.stdout, b"ok\n", "{what}: {log}");
            assert_eq!(log.contains("is taken over"), accelerated, "{what}: {log}");
            if let Some(reason) = reason.filter(|_| accelerated) {
                assert!(log.contains(reason), "{what}: {log}");
            }
        }
    }
}

/// Programs on rustix use such calls for `O_NONBLOCK` and for epoll.
#[test]
#[ignore = "needs root"]
fn unseen_calls_do_what_they_do_on_the_kernel() {
    let testbed = testbed(1);
    let [host, other] = testbed.hosts();
    let program = Compiled::new("unseen.c");
    let listener = other.run(|| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))).unwrap().unwrap();
    let port = listener.local_addr().unwrap().port();
    let socket = other.run(|| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port))).unwrap().unwrap();
    std::thread::spawn(move || answer(&listener));
    std::thread::spawn(move || {
        let mut message = [0; 16];
        while let Ok((length, from)) = socket.recv_from(&mut message) {
            let _ = socket.send_to(&message[..length], from);
        }
    });
    let run = |kind: &str, what: &str, accelerated: bool| {
        let mut unseen = command(&program.0, accelerated);
        unseen.args([&other.address().to_string(), &port.to_string(), kind, what]);
        unseen.env_remove("HAIRPIN_STRICT");
        let begin = Instant::now();
        let output = output(host, unseen);
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        println!("{kind}, {what}: {:?}", begin.elapsed());
        assert_eq!(output.status.code(), Some(0), "{kind}, {what}: {log}");
        (String::from_utf8(output.stdout).unwrap(), log)
    };
    const UNSEEN: &str = "the program waits for them by system calls beside the C library";
    for (kind, line) in [("tcp", "is taken over"), ("udp", "is accelerated")] {
        let [(kernel, _), (accelerated, log)] = [false, true].map(|it| run(kind, "flags", it));
        assert!(log.contains(line), "{kind}: {log}");
        assert_eq!(kernel.matches("Resource temporarily").count(), 5, "{kernel}");
        assert_eq!(accelerated, kernel, "{kind}");
        let (printed, log) = run(kind, "epoll", true);
        assert_eq!(printed, "500 answers\n", "{kind}: {log}");
        assert!(log.contains(UNSEEN), "{kind}: {log}");
        // The instance is older than a takeover.
        assert!(!log.contains("is taken over"), "{kind}: {log}");
    }
}
