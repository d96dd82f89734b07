//! iperf3, socat, ncat, memcached and OpenSSL.

use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::interop::Side;
use crate::interop::case::{Case, Expected, Outcome, await_counters};
use crate::interop::trial::{Trial, number_after};

const LIMIT: u64 = 60;
const PORT: u16 = 7_000;
const BULK: Expected = Expected::Kernel("bulk data: the kernel has segmentation offload");

pub(super) fn udp() -> Vec<Case> {
    vec![
        Case::new("iperf3 -u", Expected::Datagrams, |trial: &Trial| iperf3(trial, true)),
        Case::new("socat over UDP", Expected::Datagrams, socat_udp),
        Case::new("ncat over UDP", Expected::Datagrams, ncat_udp)
            .kernel_side(Side::Server, "ncat forks to execute a program for its peer"),
    ]
}

pub(super) fn tcp() -> Vec<Case> {
    vec![
        Case::new("iperf3", BULK, |trial: &Trial| iperf3(trial, false)).goal(0.95, true),
        Case::new("socat, requests and answers", Expected::Bytes, socat_tcp),
        Case::new("memcached + memcslap", Expected::Bytes, memcached_load).goal(0.95, false),
        Case::new("memcached, Python client", Expected::Bytes, memcached_values),
        Case::new("openssl, requests and answers", Expected::Bytes, openssl_lines),
        Case::new("openssl, 100 MB", BULK, openssl_bulk),
    ]
}

fn iperf3(trial: &Trial, is_udp: bool) -> Result<Outcome> {
    let address = trial.server();
    let server = trial.serve(&["iperf3", "-s", "-1", "-B", &address], 5_201)?;
    let mut client = vec!["iperf3", "-c", &address, "-t", "4", "-J"];
    if is_udp {
        client.extend(["-u", "-b", "20M", "-l", "1000"]);
    }
    let text = trial.run(&client, LIMIT)?;
    await_counters();
    server.wait(Duration::from_secs(LIMIT))?;
    let report: serde_json::Value = serde_json::from_str(&text)?;
    let end = &report["end"];
    if is_udp {
        let number = |name: &str| end["sum"][name].as_f64().context("no counts");
        let (lost, sent) = (number("lost_packets")?, number("packets")?);
        ensure!(sent > 1_000.0, "{sent} datagrams");
        return Ok(Outcome::new(format!("datagrams lost: {lost}")));
    }
    let speed = end["sum_received"]["bits_per_second"].as_f64().context("no speed")?;
    Ok(Outcome::with_speed("received", speed / 1e6, "Mbit/s"))
}

/// Sends numbered lines to a program and returns a digest of what it prints.
fn echo_lines(trial: &Trial, client: &str, count: u32) -> Result<Outcome> {
    // Each line is sent after the answer to the line before.
    let script = trial.write("lines.py", LINES)?;
    let words: Vec<&str> = client.split(' ').collect();
    let count = count.to_string();
    let program = [&["/usr/bin/python3", &script, &count][..], &words].concat();
    let text = trial.run(&program, LIMIT)?;
    await_counters();
    Ok(Outcome::new(text.trim()))
}

/// Writes lines to a child's input, and reads the answer to each from its output.
const LINES: &str = "
import hashlib, select, subprocess, sys, time
count, command = int(sys.argv[1]), sys.argv[2:]
child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
answers, digest = 0, hashlib.sha256()
for number in range(count):
    child.stdin.write(b'%06d %s\\n' % (number, b'x' * (number % 100)))
    line = b''
    while not line.endswith(b'\\n') and select.select([child.stdout], [], [], 5)[0]:
        part = child.stdout.read(4096)
        if not part:
            break
        line += part
    answers += line.endswith(b'\\n')
    digest.update(line)
# The child's counters are published at most a second later.
time.sleep(1.5)
child.stdin.close()
child.terminate()
child.wait(10)
print(answers, 'answers, sha256', digest.hexdigest()[:16])
";

fn socat_udp(trial: &Trial) -> Result<Outcome> {
    let address = trial.server();
    let listen = format!("UDP4-LISTEN:{PORT},bind={address}");
    let server = trial.serve_udp(&["socat", &listen, "PIPE"], PORT)?;
    let outcome = echo_lines(trial, &format!("socat STDIO UDP4:{address}:{PORT}"), 2_000)?;
    server.stop("TERM")?;
    Ok(outcome)
}

fn ncat_udp(trial: &Trial) -> Result<Outcome> {
    let address = trial.server();
    let server = ["ncat", "-u", "-l", &address, "7000", "-e", "/bin/cat"];
    let server = trial.serve_udp(&server, PORT)?;
    let outcome = echo_lines(trial, &format!("ncat -u {address} {PORT}"), 2_000)?;
    server.stop("KILL")?;
    Ok(outcome)
}

fn socat_tcp(trial: &Trial) -> Result<Outcome> {
    let address = trial.server();
    let listen = format!("TCP4-LISTEN:{PORT},bind={address},reuseaddr");
    let server = trial.serve(&["socat", &listen, "PIPE"], PORT)?;
    let outcome = echo_lines(trial, &format!("socat STDIO TCP4:{address}:{PORT}"), 5_000)?;
    server.stop("TERM")?;
    Ok(outcome)
}

fn memcached_load(trial: &Trial) -> Result<Outcome> {
    let address = trial.server();
    let server = trial.serve(&["memcached", "-u", "root", "-l", &address], 11_211)?;
    let client = [
        "memcslap",
        "--servers",
        &address,
        "--concurrency=4",
        "--execute-number=20000",
        "--test=set",
    ];
    let text = trial.run(&client, LIMIT)?;
    await_counters();
    server.stop("TERM")?;
    let (_, times) = text.split_once("Time to set").context("no time")?;
    let seconds = number_after(times, "threads:")?;
    Ok(Outcome::with_speed("stored", 80_000.0 / seconds, "requests/s"))
}

/// Stores, reads, changes and removes values, and compares each answer with a dictionary.
const MEMCACHED: &str = "
import hashlib, random, socket, sys, time
sock = socket.create_connection((sys.argv[1], 11211))
stream, model, random_ = b'', {}, random.Random(7)
def line():
    global stream
    while b'\\r\\n' not in stream:
        stream += sock.recv(65536)
    head, stream = stream.split(b'\\r\\n', 1)
    return head
def block(length):
    global stream
    while len(stream) < length + 2:
        stream += sock.recv(65536)
    data, stream = stream[:length], stream[length + 2:]
    return data
digest = hashlib.sha256()
for step in range(20000):
    key = b'key%d' % random_.randrange(500)
    kind = random_.choice(['set', 'get', 'get', 'delete'])
    if kind == 'set':
        value = bytes([step % 256]) * random_.choice([1, 100, 1000, 20000])
        sock.sendall(b'set %s 0 0 %d\\r\\n%s\\r\\n' % (key, len(value), value))
        assert line() == b'STORED'
        model[key] = value
    elif kind == 'delete':
        sock.sendall(b'delete %s\\r\\n' % key)
        assert line() == (b'DELETED' if model.pop(key, None) is not None else b'NOT_FOUND')
    else:
        sock.sendall(b'get %s\\r\\n' % key)
        head = line()
        value = None
        if head != b'END':
            value = block(int(head.split()[3]))
            assert line() == b'END'
        assert value == model.get(key), key
        digest.update(value or b'-')
# The counters are published at most a second later.
time.sleep(1.5)
print('20000 answers as expected, sha256', digest.hexdigest()[:16])
";

fn memcached_values(trial: &Trial) -> Result<Outcome> {
    let address = trial.server();
    let server = trial.serve(&["memcached", "-u", "root", "-l", &address], 11_211)?;
    let script = trial.write("values.py", MEMCACHED)?;
    let text = trial.run(&["/usr/bin/python3", &script, &address], LIMIT)?;
    await_counters();
    server.stop("TERM")?;
    Ok(Outcome::new(text.trim()))
}

/// Creates a key and a certificate. Returns their paths.
fn certificate(trial: &Trial) -> Result<[String; 2]> {
    let (key, certificate) = (trial.path("key.pem"), trial.path("cert.pem"));
    let program = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        &key,
        "-out",
        &certificate,
        "-subj",
        "/CN=interop",
        "-days",
        "2",
    ];
    trial.run_plain(Side::Server, &program, LIMIT)?;
    Ok([key, certificate])
}

/// s_server answers each line of the client with the line reversed.
fn openssl_lines(trial: &Trial) -> Result<Outcome> {
    let [key, certificate] = certificate(trial)?;
    let at = format!("{}:4433", trial.server());
    let server = [
        "openssl",
        "s_server",
        "-accept",
        &at,
        "-key",
        &key,
        "-cert",
        &certificate,
        "-rev",
        "-quiet",
    ];
    let server = trial.serve(&server, 4_433)?;
    let client =
        format!("openssl s_client -connect {at} -CAfile {certificate} -verify_return_error -quiet");
    let outcome = echo_lines(trial, &client, 6_000)?;
    server.stop("KILL")?;
    Ok(outcome)
}

/// The server sends 100 MB after the handshake.
fn openssl_bulk(trial: &Trial) -> Result<Outcome> {
    let [key, certificate] = certificate(trial)?;
    let bytes: Vec<u8> = (0..100_000_000_u32).map(|at| (at / 7 * 31 % 251) as u8).collect();
    trial.write("bulk", bytes)?;
    let at = format!("{}:4433", trial.server());
    let script = "cd \"$0\" && exec openssl s_server -accept \"$1\" -key \"$2\" -cert \"$3\" -WWW";
    let folder = trial.path("");
    let server = trial.serve(&["sh", "-c", script, &folder, &at, &key, &certificate], 4_433)?;
    let client = "printf 'GET /bulk HTTP/1.0\\r\\n\\r\\n' | openssl s_client -connect \"$0\" \
                  -CAfile \"$1\" -verify_return_error -quiet -ign_eof 2>/dev/null | sha256sum";
    let text = trial.run(&["sh", "-c", client, &at, &certificate], LIMIT)?;
    await_counters();
    server.stop("KILL")?;
    Ok(Outcome::new(format!("sha256 {}", text.trim())))
}
