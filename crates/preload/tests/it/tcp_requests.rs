//! Requests of programs of others that once stayed with the kernel, or stalled.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Stdio;

use hairpin_testbed::Host;

use crate::support::{
    Running, TIMEOUT, alone, command, counter, eventually, installed, output, testbed,
};

/// Answers each message, which has a header of five bytes with the length, as TLS has.
const SERVER: &str = "
import socket, sys
listener = socket.create_server((sys.argv[1], 4100))
print('listens', flush=True)
stream, _ = listener.accept()
def receive(length):
    data = b''
    while len(data) < length:
        part = stream.recv(length - len(data))
        if not part:
            sys.exit()
        data += part
    return data
while True:
    body = receive(int(receive(5)))
    stream.sendall(b'%05d' % sum(body[::100]))
";

/// Answers each line on a thread per connection.
const THREADS: &str = "
import socket, sys, threading
listener = socket.create_server((sys.argv[1], 4100))
print('listens', flush=True)
def serve(stream):
    while line := stream.recv(100):
        stream.sendall(line)
while True:
    stream, _ = listener.accept()
    threading.Thread(target=serve, args=[stream], daemon=True).start()
";

/// Forks children while a thread opens the interface. Each opens it for itself.
const FORKS: &str = "
import os, socket, sys, threading
def open():
    return socket.socket(type=socket.SOCK_DGRAM).bind((sys.argv[1], 0))
thread = threading.Thread(target=open)
thread.start()
children = []
while thread.is_alive() or not children:
    child = os.fork()
    if child == 0:
        open()
        os._exit(0)
    children.append(child)
thread.join()
print(all(os.waitpid(child, 0)[1] == 0 for child in children))
";

/// Opens an io_uring by syscall(2), whose number is 425 on all architectures.
const IO_URING: &str = "
import ctypes
ctypes.CDLL(None).syscall(425, 4, ctypes.create_string_buffer(120))
";

/// A kernel peer sends requests of this length as one frame of several segments.
const BODY: usize = 4_000;
const MESSAGES: usize = 500;

#[test]
#[ignore = "needs root"]
fn long_requests_read_in_two_receives_bypass_the_kernel() {
    let _alone = alone();
    if installed("python3").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [host, other] = testbed.hosts();
    let server = start(host, SERVER);
    let address = SocketAddr::from((host.address(), 4_100));
    let mut stream = other.run(|| TcpStream::connect(address)).unwrap().unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    for message in 0..MESSAGES {
        let body: Vec<u8> = (0..BODY).map(|at| (at / 100 + message) as u8).collect();
        let sum: usize = body.iter().step_by(100).map(|byte| usize::from(*byte)).sum();
        stream.write_all(&[format!("{BODY:05}").as_bytes(), &body].concat()).unwrap();
        let mut answer = [0; 5];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(answer, format!("{sum:05}").as_bytes(), "message {message}");
    }
    let value = |name: &str| counter(server.0.id(), name);
    let received = || ["bypass", "kernel"].map(|path| value(&format!("tcp.received_{path}_bytes")));
    let all = (MESSAGES * (BODY + 5)) as u64;
    assert!(eventually(|| received().iter().sum::<u64>() == all), "{:?} of {all}", received());
    let [bypass, kernel] = received();
    // A frame that is dropped stalls the program, whose connection is then handed back. So does a
    // machine that does not run the program for 100 ms.
    assert_eq!(value("xdp.dropped_tcp.long_frames"), 0);
    let is_stalled = value("handbacks.idle") > 0;
    assert!(bypass > 9 * kernel || is_stalled && bypass > 0, "{bypass} bypass, {kernel} not");
}

#[test]
#[ignore = "needs root"]
fn threads_that_open_the_interface_together_all_use_it() {
    const CONNECTIONS: u64 = 8;
    let _alone = alone();
    if installed("python3").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [host, other] = testbed.hosts();
    let server = start(host, THREADS);
    let address = SocketAddr::from((host.address(), 4_100));
    let connect = |_| other.run(|| TcpStream::connect(address)).unwrap().unwrap();
    let mut streams: Vec<TcpStream> = (0..CONNECTIONS).map(connect).collect();
    for message in 0..300_u32 {
        // All threads receive at the same time.
        let line = format!("{message:06}\n");
        streams.iter_mut().for_each(|stream| stream.write_all(line.as_bytes()).unwrap());
        for stream in &mut streams {
            let mut answer = [0; 7];
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(answer, line.as_bytes());
        }
    }
    let taken_over = || counter(server.0.id(), "connections.taken_over");
    assert!(eventually(|| taken_over() >= CONNECTIONS), "{} taken over", taken_over());
    drop(streams);
}

/// Starts a Python server, and waits until it listens.
fn start(host: &Host, script: &str) -> Running {
    let mut server = command("/usr/bin/python3", true);
    server.args(["-S", "-E", "-c", script, &host.address().to_string()]);
    server.env("HAIRPIN_PROFILE", "safe").stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = Running(host.spawn(server, &[]).unwrap());
    let mut line = [0; 8];
    server.0.stdout.as_mut().unwrap().read_exact(&mut line).unwrap();
    server
}

#[test]
#[ignore = "needs root"]
fn children_forked_while_a_thread_opens_do_not_wait_for_it() {
    let _alone = alone();
    if installed("python3").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [host, _] = testbed.hosts();
    let mut python = command("/usr/bin/python3", true);
    python.args(["-S", "-E", "-c", FORKS, &host.address().to_string()]);
    // The parent has the interface.
    python.env("HAIRPIN_STRICT", "0");
    let output = output(host, python);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "True\n", "{output:?}");
}

#[test]
#[ignore = "needs root"]
fn io_uring_is_reported() {
    let _alone = alone();
    if installed("python3").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [host, _] = testbed.hosts();
    let mut python = command("/usr/bin/python3", true);
    python.args(["-S", "-E", "-c", IO_URING]);
    let output = output(host, python);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && error.contains("uses io_uring"), "{error}");
}
