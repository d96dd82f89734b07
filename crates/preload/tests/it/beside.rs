//! Bytes written to a connection by calls that the library does not see.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};

use hairpin_testbed::Host;

use crate::support::{Compiled, TIMEOUT, alone, command, output, testbed};

/// The ways of writing, and whether the library sees the call.
const WAYS: [(&str, bool); 9] = [
    ("direct", false),
    ("long", false),
    ("dprintf", false),
    ("dlsym", false),
    ("pwritev2", true),
    ("aio", false),
    ("system", true),
    ("vfork", true),
    ("vfork-exec", true),
];
const ENDS: [&str; 6] = ["send", "answer", "shutdown", "close", "fork", "exit"];

/// Answers the messages of the start with their copies. Returns what follows, and whether it ended
/// in order.
fn receive(listener: &TcpListener, answered: usize) -> (Vec<u8>, bool) {
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut message = [0; 16];
    for _ in 0..60 {
        stream.read_exact(&mut message).unwrap();
        stream.write_all(&message).unwrap();
    }
    let (mut all, mut bytes) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => return (all, true),
            Ok(count) => all.extend(&bytes[..count]),
            Err(_) => return (all, false),
        }
        if all.len() == answered {
            stream.write_all(b"!").unwrap();
        }
    }
}

/// Returns what the peer receives and the log, of a run of the program.
fn run(
    program: &Compiled,
    [host, other]: &[Host; 2],
    how: &str,
    end: &str,
    accelerated: bool,
) -> ((Vec<u8>, bool), Option<i32>, String) {
    let listener = other.run(|| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))).unwrap().unwrap();
    let port = listener.local_addr().unwrap().port();
    let hidden = if how == "long" { 1 << 20 } else { 6 };
    let answered = if end == "answer" { "first".len() + hidden } else { usize::MAX };
    let peer = std::thread::spawn(move || receive(&listener, answered));
    let mut beside = command(&program.0, accelerated);
    beside.args([&other.address().to_string(), &port.to_string(), how, end]);
    beside.env_remove("HAIRPIN_STRICT");
    let output = output(host, beside);
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    (peer.join().unwrap(), output.status.code(), log)
}

#[test]
#[ignore = "needs root"]
fn bytes_written_beside_the_library_arrive_in_order() {
    let _alone = alone();
    let testbed = testbed(1);
    let program = Compiled::new("beside.c");
    for (how, is_seen) in WAYS {
        for end in ENDS {
            let [kernel, accelerated] =
                [false, true].map(|it| run(&program, testbed.hosts(), how, end, it));
            let (received, code, log) = &accelerated;
            println!("{how}, {end}: {} bytes, {code:?}", received.0.len());
            assert_eq!((kernel.1, kernel.2.as_str()), (Some(0), ""), "{how}, {end}");
            assert!(log.contains("is taken over"), "{how}, {end}: {log}");
            assert_eq!(received.1, kernel.0.1, "{how}, {end}: {log}");
            assert!(received.0 == kernel.0.0, "{how}, {end}: {:?}, {log}", received.0);
            assert_eq!(*code, kernel.1, "{how}, {end}: {log}");
            if !is_seen && matches!(end, "send" | "answer") {
                let line = "by calls that the library does not see";
                assert!(log.contains(line), "{how}, {end}: {log}");
            }
        }
    }
}
