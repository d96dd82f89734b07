//! Programs that limit themselves, or end their threads, while a connection is taken over.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};

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

#[test]
#[ignore = "needs root"]
fn limited_programs_and_canceled_threads_continue_as_with_the_kernel() {
    let testbed = testbed(1);
    let [host, other] = testbed.hosts();
    let program = Compiled::new("limits.c");
    let listener = other.run(|| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))).unwrap().unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
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
    });
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
