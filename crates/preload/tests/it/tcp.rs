//! TCP connections of unmodified programs, taken over and handed back.

use std::io::Read as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use hairpin_testbed::{Host, Testbed};

use crate::support::{
    Running, command, counter, echo, installed, interrupt, output, settled, testbed, wait_for_port,
};

/// Checks that all bytes of a process but the first bypass the kernel, or at least 99 %. One
/// that was held up for 100 ms has its connection handed back, and receives more messages before
/// the next takeover.
fn assert_bypass(process: u32, what: &str) {
    let value = |name: String| counter(process, &name);
    let both = settled(|| {
        ["received", "sent"].map(|direction| {
            ["bypass", "kernel"].map(|path| value(format!("tcp.{direction}_{path}_bytes")))
        })
    });
    let held_up = value("handbacks.idle".to_owned());
    let first = (FIRST + AFTER_HANDBACK * held_up) * LENGTH;
    for [bypass, kernel] in both {
        let is_bypass = kernel <= first || bypass >= 99 * kernel;
        let what = || format!("{held_up} times held up, received and sent {both:?}: {what}");
        assert!(bypass > 1_000 && is_bypass, "{}", what());
    }
}

/// The messages from a handback to the next takeover, at most.
const AFTER_HANDBACK: u64 = 64 + FIRST;

/// The messages that a run must have at least.
const ENOUGH: u64 = 200;
/// The messages before the first one that bypasses the kernel, at most. In a run of more than a
/// hundred times as many, the kernel may have a hundredth.
const FIRST: u64 = 20;
/// The length of a message.
const LENGTH: u64 = 64;

/// Runs ping-pong: for a second, or longer if the machine is busy.
fn ping_pong(testbed: &Testbed, arguments: &[&str], accelerated: [bool; 2]) {
    let is_enough = |seconds| ping_pong_for(testbed, seconds, arguments, accelerated) >= ENOUGH;
    assert!(["1", "5", "20", "60"].into_iter().any(is_enough), "too few messages: {arguments:?}");
}

/// Runs ping-pong, and checks it if there were enough messages. Returns their number.
fn ping_pong_for(
    testbed: &Testbed,
    seconds: &str,
    arguments: &[&str],
    accelerated: [bool; 2],
) -> u64 {
    let [server_host, client_host] = testbed.hosts();
    let mut server = command("sockperf", accelerated[0]);
    server.arg("server").args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    let server = Running(server_host.spawn(server, &[]).unwrap());
    wait_for_port(server_host, 11_211);
    let mut client = command("sockperf", accelerated[1]);
    client.arg("ping-pong").args(arguments);
    client.args(["-m", &LENGTH.to_string(), "--mps=3000000", "-t", seconds]);
    let client = output(client_host, client);
    let (text, error) =
        (String::from_utf8_lossy(&client.stdout), String::from_utf8_lossy(&client.stderr));
    let what = format!("{arguments:?} {accelerated:?}: {text}{error}");
    if text.contains("No valid observations") {
        // The machine was busy after the warm-up.
        interrupt(&server.0).unwrap();
        return 0;
    }
    assert!(client.status.success() && text.contains("dropped messages = 0"), "{what}");
    let messages = text.split("ReceivedMessages=").nth(1).and_then(|it| it.split('\n').next());
    let messages = messages.unwrap().trim().parse().unwrap();
    if messages >= ENOUGH {
        assert_eq!(accelerated[1], error.contains("is taken over"), "{what}");
        if accelerated[0] {
            assert_bypass(server.0.id(), &what);
        }
    }
    interrupt(&server.0).unwrap();
    messages
}

#[test]
#[ignore = "needs root"]
fn sockperf_over_tcp_bypasses_the_kernel_with_every_wait() {
    if installed("sockperf").is_none() {
        return;
    }
    let testbed = testbed(1);
    let address = testbed.hosts()[0].address().to_string();
    let endpoint = ["--tcp", "-i", &address, "-p", "11211"];
    for accelerated in [[true, false], [false, true], [true, true]] {
        ping_pong(&testbed, &endpoint, accelerated);
    }
    ping_pong(&testbed, &[&endpoint[..], &["--nonblocked"]].concat(), [true, true]);
    // sockperf waits by these calls only if it has a list of sockets.
    let path = std::env::temp_dir().join(format!("hairpin-tcp-{}", std::process::id()));
    let line = |port| format!("T:{address}:{port}\n");
    std::fs::write(&path, [line(11_211), line(11_212)].concat()).unwrap();
    for wait in ["select", "poll", "epoll"] {
        ping_pong(&testbed, &["-f", path.to_str().unwrap(), "-F", wait], [true, true]);
    }
    std::fs::remove_file(path).unwrap();
}

fn program(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name);
    path.to_str().unwrap().to_owned()
}

fn python(accelerated: bool, arguments: &[&str]) -> Command {
    let mut command = command("/usr/bin/python3", accelerated);
    command.env("HAIRPIN_STRICT", "0").env("HAIRPIN_PROFILE", "safe").arg("-u").args(arguments);
    command
}

/// The port of `streams.py`.
const STREAMS_PORT: u16 = 7_700;

/// Starts the server of `streams.py`.
fn stream_server(host: &Host, address: &str, accelerated: bool) -> Running {
    let server = python(accelerated, &[&program("streams.py"), "server", address]);
    let server = Running(host.spawn(server, &[]).unwrap());
    wait_for_port(host, STREAMS_PORT);
    server
}

/// Ends a server, in which no thread must have failed.
fn end(mut server: Running) {
    assert_eq!(server.0.try_wait().unwrap(), None, "the server has failed");
}

/// Runs the scenarios of `streams.py` against its own server on the other host.
fn run_scenarios(hosts: [&Host; 2], address: &str, accelerated: [bool; 2]) -> String {
    let server = stream_server(hosts[0], address, accelerated[0]);
    let client = python(accelerated[1], &[&program("streams.py"), "client", address]);
    let client = output(hosts[1], client);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, error) = (text(&client.stdout), text(&client.stderr));
    assert!(client.status.success(), "{accelerated:?}: {}\n{out}\n{error}", client.status);
    if accelerated[1] {
        assert!(error.contains("is taken over"), "{error}");
    }
    end(server);
    out
}

#[test]
#[ignore = "needs root"]
fn streams_are_the_same_as_with_the_kernel() {
    if installed("python3").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [server, client] = testbed.hosts();
    let addresses = [server.address().to_string(), server.address_v6().unwrap().to_string()];
    for address in addresses {
        let expected = run_scenarios([server, client], &address, [false, false]);
        for accelerated in [[false, true], [true, false], [true, true]] {
            let found = run_scenarios([server, client], &address, accelerated);
            assert_eq!(expected, found, "{accelerated:?}");
        }
    }
}

/// A receive that has slept ends with the kernel's error, not with one of the library's own calls,
/// or with the bytes before it; the error then is the next receive's.
#[test]
#[ignore = "needs root"]
fn sleeping_receives_see_the_reset() {
    if installed("python3").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [server_host, client_host] = testbed.hosts();
    let (address, script) = (server_host.address().to_string(), program("resets.py"));
    let log = tempfile::NamedTempFile::new().unwrap();
    for accelerated in [false, true] {
        let mut server = python(accelerated, &[&script, "server", &address]);
        server.stdout(Stdio::piped()).stderr(log.reopen().unwrap());
        let mut server = Running(server_host.spawn(server, &[]).unwrap());
        wait_for_port(server_host, 7_701);
        let client = output(client_host, python(false, &[&script, "client", &address]));
        let error = String::from_utf8_lossy(&client.stderr);
        assert!(client.status.success(), "{accelerated}: {error}");
        let mut out = String::new();
        server.0.stdout.as_mut().unwrap().read_to_string(&mut out).unwrap();
        assert_eq!(out, "[(' ECONNRESET', 256), ('last ECONNRESET', 256)]\n", "{accelerated}");
        let error = std::fs::read_to_string(log.path()).unwrap();
        assert_eq!(accelerated, error.contains("is taken over"), "{error}");
    }
}

/// A call that the kernel refuses has its error, and changes neither a connection nor an instance.
#[test]
#[ignore = "needs root"]
fn refused_calls_change_nothing() {
    if installed("python3").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [peer, host] = testbed.hosts();
    let (address, port, script) =
        (peer.address().to_string(), echo(peer).to_string(), program("wrong_calls.py"));
    let run = |accelerated| {
        let client = output(host, python(accelerated, &[&script, &address, &port]));
        let error = String::from_utf8_lossy(&client.stderr).into_owned();
        assert!(client.status.success(), "{accelerated}: {error}");
        assert_eq!(accelerated, error.contains("is taken over"), "{error}");
        String::from_utf8_lossy(&client.stdout).into_owned()
    };
    let expected = run(false);
    assert_eq!(expected.lines().filter(|line| line.contains(" -1 E")).count(), 17, "{expected}");
    assert_eq!(run(true), expected);
}

#[test]
#[ignore = "needs root"]
fn exit_after_a_send_delivers_all_bytes() {
    if installed("python3").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [server_host, client_host] = testbed.hosts();
    let (address, script) = (server_host.address().to_string(), program("streams.py"));
    let server = stream_server(server_host, &address, false);
    for (length, how) in [("1000", "exit"), ("10000000", "exit"), ("10000000", "_exit")] {
        let run = |arguments: &[&str], accelerated| {
            let output = output(client_host, python(accelerated, arguments));
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{length} {how}: {error}");
            (String::from_utf8_lossy(&output.stdout).into_owned(), error)
        };
        let stored = |accelerated| {
            let (_, log) = run(&[&script, "push", &address, length, how], accelerated);
            assert_eq!(log.contains("is taken over"), accelerated, "{log}");
            run(&[&script, "recall", &address], false).0
        };
        assert_eq!(stored(false), stored(true), "{length} {how}");
    }
    end(server);
}

#[test]
#[ignore = "needs root"]
fn strict_run_rejects_what_only_the_kernel_can_do() {
    if installed("python3").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [server_host, client_host] = testbed.hosts();
    let (address, script) = (server_host.address().to_string(), program("streams.py"));
    let server = stream_server(server_host, &address, false);
    let mut client = python(true, &[&script, "strict", &address]);
    client.env("HAIRPIN_STRICT", "1");
    let client = output(client_host, client);
    let (out, error) =
        (String::from_utf8_lossy(&client.stdout), String::from_utf8_lossy(&client.stderr));
    assert_eq!(out, "True\nTrue\nTrue\nb'abc'\n", "{error}");
    assert!(error.contains("strict: TCP_INQ is not supported"), "{error}");
    end(server);
}

#[test]
#[ignore = "needs root"]
fn curl_downloads_the_same_file() {
    if installed("python3").is_none() || installed("curl").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [server_host, client_host] = testbed.hosts();
    let folder = std::env::temp_dir().join(format!("hairpin-curl-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let bytes: Vec<u8> = (0..20_000_000_u32).map(|at| (at / 7 * 31) as u8).collect();
    std::fs::write(folder.join("file"), &bytes).unwrap();
    let (address, path) = (server_host.address().to_string(), folder.to_str().unwrap());
    let arguments = ["-m", "http.server", "-b", &address, "-d", path, "8080"];
    let mut server = python(true, &arguments);
    server.stdout(Stdio::null()).stderr(Stdio::null());
    let server = Running(server_host.spawn(server, &[]).unwrap());
    wait_for_port(server_host, 8_080);
    let mut client = command("curl", true);
    client.env("HAIRPIN_STRICT", "0").env("HAIRPIN_TAKE_AFTER", "1").env("HAIRPIN_LOG", "off");
    let url = format!("http://{address}:8080/file");
    client.args(["-s", "--http1.1", &url, "-o", "-", "-r", "0-9999", "--next", "-s", &url]);
    let client = output(client_host, client);
    let error = String::from_utf8_lossy(&client.stderr);
    let expected = [&bytes[..], &bytes[..]].concat();
    assert!(client.status.success() && client.stdout == expected, "{error}");
    end(server);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
#[ignore = "needs root"]
fn loopback_connections_stay_with_the_kernel() {
    if installed("python3").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [host, _] = testbed.hosts();
    let listener = host.run(|| TcpListener::bind("127.0.0.1:0")).unwrap().unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let echo = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut copy = stream.try_clone().unwrap();
        std::io::copy(&mut copy, &mut stream).unwrap();
    });
    let arguments = [&program("streams.py"), "loopback", &port];
    let client = output(host, python(true, &arguments.map(|it| it as &str)));
    let error = String::from_utf8_lossy(&client.stderr);
    assert!(client.status.success() && !error.contains("taken over"), "{error}");
    echo.join().unwrap();
}
