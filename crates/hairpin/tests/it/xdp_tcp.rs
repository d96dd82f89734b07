//! Runs the commands that use TCP with `--transport xdp` between two hosts joined by a veth pair.
//!
//! The tests assert that segments bypass the kernel. They assert no latency.

use std::fs;
use std::process::Output;

use crate::support::{Process, assert_done, assert_status, rows, turn, wait_for_count};
use crate::xdp::{
    Market, STRICT, assert_interface_logged, assert_xdp_rows, command, ping_until_answered, start,
    stderr,
};
use crate::xdp::{stdout, waits};
use hairpin_testbed::{Host, Testbed};

/// The settings of a session at the gateway of a market.
pub(crate) const ORDER_SETTINGS: &str = "[gateway]\nprimary = [\"10.77.0.1:9100\"]\n\
     [logon]\naccess_key_id = \"HAIRPIN-TRADER-00001\"\nsecret_env = \"HAIRPIN_TEST_KEY\"\n\
     session = \"H01\"\nfirm = \"HPIN0\"\nsystem_name = \"Test\"\n\
     system_version = \"1\"\nsystem_vendor = \"Test\"\n\
     [operator]\nsender_id = \"TRADER\"\nlocation = \"US,IL\"\n";

/// Returns the TCP segments that the kernel of a host has received and sent.
fn kernel_segments(host: &Host) -> [u64; 2] {
    let read = || fs::read_to_string("/proc/thread-self/net/snmp");
    let text = host.run(read).unwrap().unwrap();
    let words = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let lines: Vec<Vec<&str>> = words.filter(|words| words[0] == "Tcp:").collect();
    ["InSegs", "OutSegs"].map(|name| {
        let place = lines[0].iter().position(|&it| it == name).unwrap();
        lines[1][place].parse().unwrap()
    })
}

/// Asserts that in one of several runs the kernels of both hosts have received and sent a part of
/// the messages at most. A run returns their number; `None` if it lost packets because its trader
/// was held up.
///
/// A connection is taken over while it is quiet, and handed back if its process is held up for
/// 100 ms. On a busy machine the kernel may carry most of a short run, but not of every one.
pub(crate) fn assert_segments_bypass(mut run: impl FnMut() -> Option<(Testbed, u64)>) {
    let bypasses = |_| {
        let Some((testbed, messages)) = run() else { return false };
        let segments = testbed.hosts().each_ref().map(kernel_segments);
        println!("{segments:?} segments of {messages} messages by the kernel");
        segments.iter().flatten().all(|&count| count <= messages / 2)
    };
    assert!((0..10).any(bypasses), "most segments do not bypass the kernel");
}

/// Returns `true` if a trader did not read for so long that its sockets had no more room.
pub(crate) fn is_held_up(trader: &Output) -> bool {
    let text = stdout(trader);
    text.contains(" dropped at the sockets") && !text.contains(" 0 packets dropped at the sockets")
}

#[test]
#[ignore = "needs root"]
fn pings_are_answered_with_every_wait() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let args = ["ping", "--protocol", "tcp", "--samples", "40", "--rounds", "2", "--json"];
    let output = command(args).arg(&results).args(STRICT).output().unwrap();
    assert_done(&output);
    assert_interface_logged(&output, "ping: ");
    assert_interface_logged(&output, "pong: ");
    let rows = rows(&results);
    assert_eq!(rows.len(), waits().count());
    assert!(rows.iter().all(|row| row["protocol"] == "tcp"));
    assert_xdp_rows(&rows, 40);
}

#[test]
#[ignore = "needs root"]
fn pings_of_several_connections_and_sizes_bypass_the_kernel() {
    let _turn = turn();
    let run = |mode| {
        let testbed = Testbed::namespaces().unwrap();
        let [first, second] = testbed.hosts();
        let flags = STRICT.into_iter().chain(["--xdp-mode", mode, "--interface", "veth0"]);
        let at = "10.77.0.1:5000";
        let args = ["pong", "--listen", at, "--protocol", "tcp", "--wait", "epoll"];
        let mut pong = start(first, command(args.into_iter().chain(flags.clone())));
        let args = ["ping", at, "--protocol", "tcp", "--wait", "spin,poll", "--size", "14,1400"];
        let args = args.into_iter().chain(["--connections", "3", "--samples", "300"]);
        let args = args.chain(["--rounds", "1"]).chain(flags);
        let output = ping_until_answered(second, &mut pong, args);
        assert_done(&output);
        assert_interface_logged(&output, "ping: ");
        let stat = command(["stat", "--name", "tcp"]).output().unwrap();
        let stat = stdout(&stat);
        let taken_over = stat.lines().filter(|line| line.contains(" tcp.taken_over ")).count();
        assert!(taken_over > 0, "{stat}");
        pong.signal("INT");
        let pong = pong.output();
        assert_status(&pong, 130);
        assert_interface_logged(&pong, "");
        // Four cases of 300 pings and 200 for warm-up.
        (testbed, 2_000)
    };
    for mode in ["native", "generic"] {
        assert_segments_bypass(|| Some(run(mode)));
    }
}

#[test]
#[ignore = "needs root"]
fn orders_bypass_the_kernel() {
    let _turn = turn();
    assert_segments_bypass(|| {
        let flags = STRICT.into_iter().chain(["--xdp-mode", "native"]);
        let load = ["--samples", "500", "--rounds", "1", "--interval-us", "500"];
        let market = Market::open(flags.clone().chain(load));
        let trader = market.trader(flags.chain(["--wait", "spin"]));
        let Market { testbed, folder: _folder, exchange } = market;
        let outputs = [exchange, trader].map(Process::output);
        if is_held_up(&outputs[1]) {
            return None;
        }
        for output in &outputs {
            assert_done(output);
            assert_interface_logged(output, "");
        }
        // An order and a cancel for each of 600 ticks.
        Some((testbed, 1_200))
    });
}

#[test]
#[ignore = "needs root"]
fn order_script_runs_over_xdp() {
    let _turn = turn();
    let market = Market::open(STRICT);
    let path = |name: &str| market.folder.path().join(name);
    fs::write(path("order.toml"), ORDER_SETTINGS).unwrap();
    // A pause hands the connection back; the next message takes it over again.
    let script = "buy 5 @ 1.25 1001 id first\nexpect new within 60s\nsleep 300ms\n\
         replace first qty 7 @ 2\nexpect replace within 60s\n\
         cancel first\nexpect cancel within 60s\nquit\n";
    fs::write(path("script"), script).unwrap();
    let mut order = command(["order", "--interface", "veth0"]);
    order.args(STRICT).env("HAIRPIN_TEST_KEY", crate::traded_session::KEY);
    order.arg(path("order.toml")).arg("--script").arg(path("script"));
    let output = start(market.host(), order).output();
    assert_done(&output);
    assert_interface_logged(&output, "");
    for message in ["ExecutionReportNew522", "ExecutionReportModify531", "ExecutionReportCancel534"]
    {
        assert!(stdout(&output).contains(message), "{}", stdout(&output));
    }
    wait_for_count(market.exchange.id(), "tcp.taken_over", 1);
    market.exchange.signal("INT");
    assert!(!stderr(&output).contains("falls back"), "{}", stderr(&output));
}

#[test]
#[ignore = "needs root"]
fn bench_order_measures_columns_over_xdp() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let args = ["bench", "order", "--samples", "20", "--rounds", "1", "--interval-us", "0"];
    let output = command(args).arg("--json").arg(&results).output().unwrap();
    assert_done(&output);
    assert!(stdout(&output).contains("bare gateway, xdp, spin"), "{}", stdout(&output));
    let rows = rows(&results);
    let over_xdp: Vec<_> = rows.into_iter().filter(|row| row["transport"] == "xdp").collect();
    // Five stages at either gateway, two of bare sockets.
    assert_eq!(over_xdp.len(), 12);
    assert_xdp_rows(&over_xdp, 20);
}

#[test]
#[ignore = "needs root"]
fn t2t_measures_kernel_sockets_in_the_same_run() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let args = ["t2t", "--quick", "--samples", "40", "--interval-us", "2000", "--wait", "epoll"];
    let args = args.into_iter().chain(["--against-kernel", "--rounds", "2", "--json"]);
    let output = command(args).arg(&results).args(STRICT).output().unwrap();
    assert_done(&output);
    let rows = rows(&results);
    let (over_xdp, over_kernel): (Vec<_>, Vec<_>) =
        rows.into_iter().partition(|row| row["transport"] == "xdp");
    assert_xdp_rows(&over_xdp, 40);
    assert_eq!((over_xdp.len(), over_kernel.len()), (2, 2));
    assert!(over_kernel.iter().all(|row| row["transport"] == "kernel"), "{over_kernel:?}");
    assert!(stdout(&output).contains("against kernel"), "{}", stdout(&output));
}
