//! Runs the commands with `--transport preload`: kernel sockets under `hairpin run`, between two
//! hosts joined by a veth pair.
//!
//! The tests assert that packets bypass the kernel. They assert no latency.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::support::{
    Process, TIMEOUT, assert_done, assert_status, copy_hairpin, hairpin, rows, turn,
};
use crate::xdp::{
    Market, assert_bypassed, assert_rows, command, kernel_datagrams, packets, ping_until_answered,
    start, stderr, stdout, waits,
};
use crate::xdp_tcp::{assert_segments_bypass, is_held_up};
use hairpin_reactor::Wait;
use hairpin_testbed::Testbed;
use serde_json::Value;

const PRELOAD: [&str; 2] = ["--transport", "preload"];

#[test]
#[ignore = "needs root"]
fn preload_pings_are_answered_with_every_wait() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let args = ["ping", "--protocol", "udp,multicast,tcp", "--samples", "40", "--rounds", "2"];
    let output = command(args).args(PRELOAD).arg("--json").arg(&results).output().unwrap();
    assert_done(&output);
    let rows = rows(&results);
    let accelerated = waits().filter(|wait| *wait != Wait::IoUring).count();
    assert_eq!(rows.len(), 3 * accelerated);
    assert_rows(&rows, "preload", 40);
}

#[test]
#[ignore = "needs root"]
fn preload_trader_answers_every_tick_bypassing_the_kernel() {
    let _turn = turn();
    assert_segments_bypass(|| {
        let load = ["--samples", "500", "--rounds", "1", "--interval-us", "1000"];
        let market = Market::open(PRELOAD.into_iter().chain(load));
        let trader = market.trader(PRELOAD.into_iter().chain(["--wait", "spin"]));
        let results = market.results();
        let Market { testbed, folder: _folder, exchange } = market;
        let outputs = [exchange, trader].map(Process::output);
        if is_held_up(&outputs[1]) {
            return None;
        }
        outputs.iter().for_each(assert_done);
        let rows = rows(&results);
        assert_eq!(rows.len(), 2);
        assert_rows(&rows, "preload", 500);
        // The run has 600 ticks after the startup, each with an order and a cancel.
        testbed.hosts().iter().for_each(|host| assert_bypassed(host, [0, 0], 300));
        Some((testbed, 1_200))
    });
}

#[test]
#[ignore = "needs root"]
fn preload_feed_synchronizes_bypassing_the_kernel() {
    let _turn = turn();
    let market = Market::open([]);
    let before = kernel_datagrams(market.host());
    let output = market.feed_in_sync(PRELOAD.into_iter().chain(["--wait", "epoll"]));
    assert_bypassed(market.host(), before, packets(&output) / 3);
}

#[test]
#[ignore = "needs root"]
fn t2t_and_benchmarks_have_preload_columns() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let t2t = ["t2t", "--quick", "--samples", "40", "--interval-us", "2000", "--against-kernel"];
    let t2t = t2t.into_iter().chain(["--wait", "epoll"]).chain(PRELOAD).collect();
    let order = vec!["bench", "order", "--samples", "20", "--interval-us", "0", "--rounds", "1"];
    let feed = vec!["bench", "feed", "--samples", "20", "--rounds", "1"];
    // t2t: two stages, market data over multicast and TCP. Order: five stages at either gateway,
    // two of bare sockets. Feed: two spans, with and without a delay.
    for (args, count, samples) in [(t2t, 4, [40, 40]), (order, 12, [20, 20]), (feed, 4, [20, 200])]
    {
        let output = command(args).arg("--json").arg(&results).output().unwrap();
        assert_done(&output);
        assert!(stdout(&output).contains("preload"), "{}", stdout(&output));
        let rows = rows(&results);
        let rows: Vec<_> = rows.into_iter().filter(|row| row["transport"] == "preload").collect();
        assert_eq!(rows.len(), count);
        assert_rows(&rows[..count / 2], "preload", samples[0]);
        assert_rows(&rows[count / 2..], "preload", samples[1]);
    }
}

#[test]
#[ignore = "needs root"]
fn io_uring_program_leaves_its_sockets_to_the_kernel() {
    if Wait::IoUring.probe().is_err() {
        return;
    }
    let _turn = turn();
    let testbed = Testbed::namespaces().unwrap();
    let [first, second] = testbed.hosts();
    let run = ["run", "--interface", "veth0"];
    let pong = ["pong", "--listen", "10.77.0.1:5000", "--wait", "io_uring"];
    for protocol in ["udp", "tcp"] {
        let words = |flags: &'static [&'static str]| {
            let program = ["--", env!("CARGO_BIN_EXE_hairpin")];
            let words = run.into_iter().chain(flags.iter().copied()).chain(program);
            words.chain(pong).chain(["--protocol", protocol])
        };
        let mut pong = start(first, command(words(&[])));
        let args = ["ping", "10.77.0.1:5000", "--protocol", protocol, "--wait", "epoll"];
        let args = args.into_iter().chain(["--samples", "40", "--rounds", "1"]);
        let output = ping_until_answered(second, &mut pong, args);
        assert_done(&output);
        pong.signal("INT");
        let pong = pong.output();
        assert_status(&pong, 130);
        let line = "all sockets stay with the kernel: the process uses io_uring";
        assert_eq!(stderr(&pong).matches(line).count(), 1, "{}", stderr(&pong));

        let strict = start(first, command(words(&["--strict"]))).output();
        assert_status(&strict, 1);
        assert!(stderr(&strict).contains("strict: the process uses io_uring"), "{strict:?}");
    }
}

#[test]
fn preload_requires_interface_that_leaves_this_host() {
    for (args, named) in [
        ("pong --transport preload", "--interface IF"),
        ("pong --transport preload --interface lo", "not lo"),
        ("ping 10.0.0.1:1 --protocol udp --transport preload", "--interface IF"),
        ("t2t --transport preload --interface eth0", "needs two"),
        ("pong --transport preload --interface lo --xdp-mode native", "--xdp-mode is for"),
    ] {
        let output = hairpin().args(args.split(' ')).output().unwrap();
        assert_status(&output, 2);
        let text = stderr(&output);
        assert!(text.contains(named) && text.lines().count() == 1, "{args}: {text}");
    }
}

#[test]
#[ignore = "needs root"]
fn preload_order_script_runs_bypassing_the_kernel() {
    let _turn = turn();
    let market = Market::open([]);
    let path = |name: &str| market.folder.path().join(name);
    fs::write(path("order.toml"), crate::xdp_tcp::ORDER_SETTINGS).unwrap();
    let script = "buy 5 @ 1.25 1001 id first\nexpect new within 60s\nquit\n";
    fs::write(path("script"), script).unwrap();
    let mut order = command(["order", "--interface", "veth0"]);
    order.args(PRELOAD).env("HAIRPIN_TEST_KEY", crate::traded_session::KEY);
    order.arg(path("order.toml")).arg("--script").arg(path("script"));
    let output = start(market.host(), order).output();
    assert_done(&output);
    assert!(stdout(&output).contains("ExecutionReportNew522"), "{}", stdout(&output));
    market.exchange.signal("INT");
}

/// Starts `ls` in each usual way to let it inherit no descriptor. `ls` prints one line of error.
const CHILDREN: [&[&str]; 10] = [
    &["ls", "/nonexistent"],
    &["env", "-i", "/bin/ls", "/nonexistent"],
    &["sh", "-c", "ls /nonexistent | cat; echo a | grep -c a"],
    &["sh", "-c", "exec 3>&- 4>&- 9>&-; ls /nonexistent"],
    &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "ls", "/nonexistent"],
    &["python3", "-c", "import subprocess; subprocess.run(['ls', '/nonexistent'])"],
    &["python3", "-c", CLOSE_EACH],
    &["python3", "-c", SPAWN],
    // A limit and a filter (PR_SET_SECCOMP without one) of programs without sockets.
    &["sh", "-c", "ulimit -v 400000; ls /nonexistent"],
    &[
        "python3",
        "-c",
        "import ctypes, os; print(ctypes.CDLL(None).prctl(22, 2, 0, 0, 0)); \
                        os.execvp('ls', ['ls', '/nonexistent'])",
    ],
];
const CLOSE_EACH: &str = "
import os, subprocess
os.closerange(3, 5_000)
for fd in range(3, 2_000):
    try:
        os.close(fd)
    except OSError:
        pass
subprocess.run(['ls', '/nonexistent'], close_fds=False)
";
const SPAWN: &str = "
import ctypes, os
library = ctypes.CDLL(None)
actions = ctypes.create_string_buffer(256)
library.posix_spawn_file_actions_init(actions)
print(library.posix_spawn_file_actions_addclosefrom_np(actions, 3))
strings = lambda texts: (ctypes.c_char_p * (len(texts) + 1))(*texts, None)
environment = strings([b'%s=%s' % pair for pair in os.environb.items()])
child = ctypes.c_int()
library.posix_spawn(ctypes.byref(child), b'/bin/ls', actions, None,
                    strings([b'ls', b'/nonexistent']), environment)
os.waitpid(child.value, 0)
";

#[test]
#[ignore = "needs root"]
fn children_print_what_they_print_without_run() {
    let testbed = Testbed::namespaces().unwrap();
    let [host, _] = testbed.hosts();
    // The command alone, with nothing next to it.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hairpin");
    copy_hairpin(&path);
    for child in CHILDREN {
        let mut plain = Command::new(child[0]);
        plain.args(&child[1..]);
        let mut run = Command::new(&path);
        run.args(["run", "--strict", "--interface", "veth0", "--"]).args(child);
        let [plain, run] = [plain, run].map(|command| start(host, command).output());
        assert!(stderr(&plain).contains("nonexistent"), "{child:?}: {plain:?}");
        assert_eq!((stdout(&run), stderr(&run)), (stdout(&plain), stderr(&plain)), "{child:?}");
        assert_eq!(run.status, plain.status, "{child:?}");
    }
}

/// Binds a UDP socket to an address, and ends as given.
const BIND: &str = "
import os, socket, sys
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind((sys.argv[1], 0))
if sys.argv[2] == 'kill':
    os.kill(os.getpid(), 9)
elif sys.argv[2] == '_exit':
    os._exit(0)
";

#[test]
#[ignore = "needs root"]
fn last_line_names_what_was_accelerated() {
    let testbed = Testbed::namespaces().unwrap();
    let [host, _] = testbed.hosts();
    let last_line = |flags: &'static [&'static str], address, end| {
        let mut run = hairpin();
        run.args(["run", "--interface", "veth0"]).args(flags);
        run.args(["--", "python3", "-c", BIND, address, end]).env("HAIRPIN_LOG", "off");
        stderr(&start(host, run).output())
    };
    let always = &["--summary=always"];
    let accelerated =
        "hairpin: 1 of 1 sockets accelerated; 0.0 % of 0 messages bypassed the kernel\n";
    for end in ["exit", "_exit", "kill"] {
        assert_eq!(last_line(always, "10.77.0.1", end), accelerated, "{end}");
    }
    let loopback = last_line(always, "127.0.0.1", "exit");
    assert_eq!(
        loopback,
        "hairpin: nothing of python3 was accelerated: its addresses are loopback, which never \
         leaves the kernel\n"
    );
    let not_named = last_line(&["--summary=always", "--accelerate", "tcp:*"], "10.77.0.1", "exit");
    assert!(not_named.ends_with(": --accelerate names none of its sockets\n"), "{not_named}");
    let mut wrong = hairpin();
    let wrong = wrong.args(["run", "--accelerate", "tcp:*,udp:x", "--", "true"]).output().unwrap();
    assert_status(&wrong, 2);
    assert!(stderr(&wrong).contains("expected as the port"), "{wrong:?}");
    let mut strict = hairpin();
    strict.args(["run", "--strict", "--interface", "lo", "--", "true"]);
    let strict = start(host, strict).output();
    assert_status(&strict, 1);
    assert!(stderr(&strict).contains("lo cannot be accelerated"), "{strict:?}");
    // Standard error is a pipe.
    assert_eq!(last_line(&[], "10.77.0.1", "exit"), "");
    assert_eq!(last_line(&["--summary=never"], "10.77.0.1", "exit"), "");
}

/// Binds a UDP socket to each of two ports and listens at the second, until its standard input
/// ends.
const SOCKETS: &str = "
import socket, sys
sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
for sock, port in zip(sockets, (7000, 7001)):
    sock.bind(('10.77.0.1', port))
listener = socket.create_server(('10.77.0.1', 7001))
sys.stdin.read()
";

#[test]
#[ignore = "needs root"]
fn stat_shows_the_path_of_each_socket() {
    let testbed = Testbed::namespaces().unwrap();
    let [host, _] = testbed.hosts();
    let mut run = hairpin();
    run.args(["run", "--interface", "veth0", "--accelerate", "udp:7000,tcp:1-9", "--"]);
    run.args(["python3", "-c", SOCKETS]).stdin(Stdio::piped());
    let program = start(host, run);
    let pid = program.id().to_string();
    let until = Instant::now() + TIMEOUT;
    let sockets = loop {
        let json = command(["stat", "--sockets", "--format", "json", &pid]).output().unwrap();
        let document: Value = serde_json::from_str(&stdout(&json)).unwrap();
        match document["sockets"].as_array().unwrap() {
            sockets if sockets.len() == 3 => break sockets.clone(),
            _ => assert!(Instant::now() < until, "{json:?}"),
        }
    };
    let text = |socket: &Value, name| socket[name].as_str().unwrap().to_owned();
    let paths = sockets.iter().map(|socket| {
        assert_eq!(socket["pid"], program.id());
        assert_eq!(socket["command"], "python3");
        ["local", "protocol", "state", "path"].map(|name| text(socket, name)).join(" ")
    });
    let expected = [
        "10.77.0.1:7000 udp unconnected bypass",
        "10.77.0.1:7001 udp unconnected kernel",
        "10.77.0.1:7001 tcp listen kernel",
    ];
    assert_eq!(paths.collect::<Vec<_>>(), expected);
    let output = command(["stat", "--sockets", &pid]).output().unwrap();
    assert_done(&output);
    assert_eq!(stdout(&output).matches(" bypass ").count(), 1 + 2, "with two headings: {output:?}");
    // A stopped program does not answer.
    program.signal("STOP");
    let output = command(["stat", "--sockets", &pid]).output().unwrap();
    program.signal("CONT");
    assert_done(&output);
    assert!(stderr(&output).contains("does not answer"), "{output:?}");
    assert_eq!(stdout(&output).matches(" unknown ").count(), 3, "{output:?}");
    let output = command(["stat", "--sockets", "4294967295"]).output().unwrap();
    assert_status(&output, 1);
    assert!(stderr(&output).contains("was not started by hairpin run"), "{output:?}");
}
