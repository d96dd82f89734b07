//! Runs the commands with `--transport xdp` between two hosts joined by a veth pair.
//!
//! The tests assert that packets bypass the kernel, or that the fallback is logged. They assert no
//! latency.

use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::{
    Process, TIMEOUT, assert_done, assert_status, copy_hairpin, counter, hairpin, rows, turn,
    wait_for_count,
};
use hairpin_reactor::Wait;
use hairpin_testbed::{Host, Testbed};
use serde_json::Value;

/// The first multicast group of the market data.
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 77, 1, 0);
const GROUPS: &str = "239.77.1.0:14310";
const GATEWAY: &str = "10.77.0.1:9100";
/// The flags that forbid a fallback to the kernel.
pub(crate) const STRICT: [&str; 3] = ["--transport", "xdp", "--strict"];

pub(crate) fn waits() -> impl Iterator<Item = Wait> {
    Wait::ALL.into_iter().filter(|wait| wait.probe().is_ok())
}

pub(crate) fn start(host: &Host, mut command: Command) -> Process {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Process::of(host.spawn(command, &[]).unwrap())
}

pub(crate) fn command<'a>(args: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = hairpin();
    command.args(args);
    command
}

/// Repeats a ping until the pong listens. Returns the output of the last.
pub(crate) fn ping_until_answered<'a>(
    host: &Host,
    pong: &mut Process,
    ping: impl Iterator<Item = &'a str> + Clone,
) -> Output {
    let until = Instant::now() + TIMEOUT;
    loop {
        let output = start(host, command(ping.clone())).output();
        if output.status.success() || Instant::now() > until || !pong.runs() {
            return output;
        }
    }
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Asserts that a process has logged its interface exactly once, without a fallback.
pub(crate) fn assert_interface_logged(output: &Output, side: &str) {
    let text = stderr(output);
    let begin = format!("xdp: {side}veth0: veth, ");
    let lines = text.lines().filter(|line| line.contains(&begin));
    assert_eq!(lines.count(), 1, "{begin}\n{text}");
    assert!(!text.contains("falls back to the kernel:"), "{text}");
}

/// Returns the datagrams that the kernel of a host has received and sent for its sockets.
pub(crate) fn kernel_datagrams(host: &Host) -> [u64; 2] {
    let read = || fs::read_to_string("/proc/thread-self/net/snmp");
    let text = host.run(read).unwrap().unwrap();
    let words = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let lines: Vec<Vec<&str>> = words.filter(|words| words[0] == "Udp:").collect();
    ["InDatagrams", "OutDatagrams"].map(|name| {
        let place = lines[0].iter().position(|&it| it == name).unwrap();
        lines[1][place].parse().unwrap()
    })
}

/// Asserts that the kernel has received and sent at most `most` datagrams since `before`.
pub(crate) fn assert_bypassed(host: &Host, before: [u64; 2], most: u64) {
    let after = kernel_datagrams(host);
    let more = [0, 1].map(|index| after[index] - before[index]);
    assert!(
        more.iter().all(|&more| more <= most),
        "too many datagrams through the kernel: {more:?}"
    );
}

/// Asserts that all rows have transport `xdp`, all samples and no loss.
pub(crate) fn assert_xdp_rows(rows: &[Value], samples: u64) {
    assert_rows(rows, "xdp", samples);
}

/// Asserts that all rows have this transport, all samples and no loss.
pub(crate) fn assert_rows(rows: &[Value], transport: &str, samples: u64) {
    assert!(!rows.is_empty());
    for row in rows {
        assert_eq!(row["transport"], transport, "{row}");
        assert_eq!((&row["failed"], row["lost"].as_u64()), (&Value::Null, Some(0)), "{row}");
        assert_eq!(row["samples"], samples, "{row}");
    }
}

/// Two hosts, an exchange on the first, and a folder shared by both.
pub(crate) struct Market {
    pub(crate) testbed: Testbed,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) exchange: Process,
}

impl Market {
    pub(crate) fn open<'a>(args: impl IntoIterator<Item = &'a str>) -> Self {
        let testbed = Testbed::namespaces().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let usual = ["exchange", "--interface", "veth0", "--gateway", GATEWAY, "--groups", GROUPS];
        let mut command = command(usual.into_iter().chain(args));
        command.arg("--config-out").arg(folder.path().join("config.xml"));
        command.arg("--json").arg(folder.path().join("results.json"));
        let mut exchange = start(&testbed.hosts()[0], command);
        let until = Instant::now() + TIMEOUT;
        while !folder.path().join("config.xml").exists() {
            if !exchange.runs() {
                panic!("{}", stderr(&exchange.output()));
            }
            assert!(Instant::now() < until, "the exchange did not start to listen");
            sleep(Duration::from_millis(5));
        }
        Self { testbed, folder, exchange }
    }

    /// Returns the host that receives.
    pub(crate) fn host(&self) -> &Host {
        &self.testbed.hosts()[1]
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("config.xml")
    }

    pub(crate) fn results(&self) -> PathBuf {
        self.folder.path().join("results.json")
    }

    pub(crate) fn feed<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = command(["feed", "--interface", "veth0"]);
        command.args(["--format", "json", "--stats"]).args(args);
        command.arg("--config").arg(self.config());
        command
    }

    /// Runs a feed until it is in sync, and has several times the packets that the kernel delivers
    /// for some milliseconds after a join. Returns its output.
    pub(crate) fn feed_in_sync<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Output {
        let [before, _] = kernel_datagrams(self.host());
        let feed = start(self.host(), self.feed(args));
        wait_for_count(feed.id(), "feed.in_sync", 1);
        let [by_kernel, _] = kernel_datagrams(self.host());
        wait_for_count(feed.id(), "capture.packets", 4 * (by_kernel - before) + 100);
        self.end_in_sync(feed)
    }

    /// Ends a feed once it is in sync. Returns its output.
    fn end_in_sync(&self, feed: Process) -> Output {
        wait_for_count(feed.id(), "feed.in_sync", 1);
        feed.signal("INT");
        let output = feed.output();
        assert_status(&output, 130);
        assert_eq!(in_sync(&output), 100, "{output:?}");
        output
    }

    pub(crate) fn trader<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Process {
        let mut command = command(["trader", "--interface", "veth0", "--gateway", GATEWAY]);
        command.args(args).arg("--config").arg(self.config());
        start(self.host(), command)
    }
}

/// Returns a count of the last JSON line of a feed that has the member `line`.
fn count(output: &Output, line: &str, name: &str) -> u64 {
    let text = stdout(output);
    let mut lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let last = lines.rfind(|object| object.get(line).is_some());
    last.and_then(|object| object[name].as_u64()).unwrap_or_else(|| panic!("{output:?}"))
}

/// Returns the number of instruments in sync at the end of a feed.
pub(crate) fn in_sync(output: &Output) -> u64 {
    count(output, "best_price_changes", "in_sync")
}

/// Returns the number of packets that a feed has received.
pub(crate) fn packets(output: &Output) -> u64 {
    count(output, "packets", "packets")
}

#[test]
#[ignore = "needs root"]
fn feed_synchronizes_with_every_wait() {
    let _turn = turn();
    let market = Market::open([]);
    for wait in waits() {
        let args = STRICT.into_iter().chain(["--wait", wait.name()]);
        let before = kernel_datagrams(market.host());
        let output = market.feed_in_sync(args);
        assert_interface_logged(&output, "");
        // For some milliseconds after a join, the kernel still delivers the packets of the group.
        assert_bypassed(market.host(), before, packets(&output) / 3);
    }
}

/// Joins the hosts of a testbed by a second veth.
fn add_wire(testbed: &Testbed) {
    let [host, peer] = testbed.hosts();
    host.rtnetlink().unwrap().add_wire("veth1", peer).unwrap();
    for (host, address) in [(host, [10, 78, 0, 1]), (peer, [10, 78, 0, 2])] {
        let mut rtnetlink = host.rtnetlink().unwrap();
        let index = rtnetlink.link("veth1").unwrap().index;
        rtnetlink.add_address(index, Ipv4Addr::from(address).into(), 24).unwrap();
        rtnetlink.set_up(index).unwrap();
    }
}

#[test]
#[ignore = "needs root"]
fn each_side_of_a_channel_bypasses_the_kernel_on_its_own_interface() {
    let _turn = turn();
    let testbed = Testbed::namespaces().unwrap();
    add_wire(&testbed);
    let [publisher, receiver] = testbed.hosts();
    let folder = tempfile::tempdir().unwrap();
    let [capture, config] = ["feed.pcap", "config.xml"].map(|name| folder.path().join(name));
    let (capture, config) = (capture.to_str().unwrap(), config.to_str().unwrap());
    let generate = ["generate", "--megabytes", "1", "--instruments", "5", capture];
    assert_done(&command(generate).output().unwrap());
    // Both sides, on each interface: a side that arrives on the other interface must not count.
    let publish = |interface, args: &[&str]| {
        let publish = ["exchange", "--publish", capture, "--interface", interface];
        start(publisher, command(publish.into_iter().chain(args.iter().copied())))
    };
    let played = publish("veth0", &["--speed", "max", "--config-out", config]).output();
    assert_done(&played);
    // Each side has another sender here.
    let text = fs::read_to_string(config).unwrap();
    let any_sender = text.lines().filter(|line| !line.contains("host-ip"));
    fs::write(config, any_sender.collect::<Vec<_>>().join("\n")).unwrap();
    let sides = ["feed", "--interface-a", "veth0", "--interface-b", "veth1", "--config", config];
    let before = kernel_datagrams(receiver);
    let feed = start(receiver, command(sides.into_iter().chain(["--stats"]).chain(STRICT)));
    wait_for_count(feed.id(), "feed.packets_a", 0);
    let until = Instant::now() + TIMEOUT;
    let has_both = || {
        let counts = ["feed.packets_a", "feed.packets_b"].map(|name| counter(feed.id(), name));
        counts.into_iter().all(|count| count.is_some_and(|count| count > 1_000))
    };
    while !has_both() {
        assert!(Instant::now() < until, "no packets of both sides");
        // Again, if the groups were joined only after the last packet.
        let both = ["veth0", "veth1"].map(|interface| publish(interface, &["--speed", "0.2"]));
        both.into_iter().for_each(|publish| assert_done(&publish.output()));
    }
    feed.signal("INT");
    let output = feed.output();
    let text = stderr(&output);
    for interface in ["veth0", "veth1"] {
        assert_eq!(text.matches(&format!("xdp: {interface}: veth, ")).count(), 1, "{text}");
    }
    assert!(!text.contains("falls back to the kernel:"), "{text}");
    // For some milliseconds after a join, the kernel still delivers the packets of the group.
    assert_bypassed(receiver, before, 300);
}

#[test]
#[ignore = "needs root"]
fn trader_answers_every_tick_over_xdp() {
    let _turn = turn();
    for mode in ["generic", "native"] {
        let flags = STRICT.into_iter().chain(["--xdp-mode", mode]);
        let load = ["--samples", "300", "--rounds", "1", "--interval-us", "1000"];
        let market = Market::open(flags.clone().chain(load));
        let trader = market.trader(flags.chain(["--wait", "epoll"]));
        let results = market.results();
        let Market { testbed, folder: _folder, exchange } = market;
        let exchange = exchange.output();
        let trader = trader.output();
        assert_done(&exchange);
        assert_done(&trader);
        for output in [&exchange, &trader] {
            assert_interface_logged(output, "");
            assert!(stderr(output).contains(&format!("{mode} mode")), "{}", stderr(output));
        }
        // The run has 400 ticks after the startup.
        testbed.hosts().iter().for_each(|host| assert_bypassed(host, [0, 0], 200));
        let rows = rows(&results);
        assert_eq!(rows.len(), 2);
        assert_xdp_rows(&rows, 300);
    }
}

#[test]
#[ignore = "needs root"]
fn t2t_answers_every_tick_with_every_wait() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let args = ["t2t", "--quick", "--samples", "40", "--interval-us", "2000", "--json"];
    let output = command(args).arg(&results).args(STRICT).output().unwrap();
    assert_done(&output);
    assert_interface_logged(&output, "exchange: ");
    assert_interface_logged(&output, "trader: ");
    let rows = rows(&results);
    for wait in waits() {
        let of = rows.iter().filter(|row| row["wait"] == wait.name()).count();
        assert_eq!(of, 2, "{wait}: {rows:?}");
    }
    assert!(rows.iter().all(|row| row["feed"] == "multicast"));
    assert_xdp_rows(&rows, 40);
}

#[test]
#[ignore = "needs root"]
fn udp_and_multicast_pings_are_answered_with_every_wait() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let args = ["ping", "--protocol", "udp,multicast", "--samples", "40", "--rounds", "2"];
    let output = command(args).arg("--json").arg(&results).args(STRICT).output().unwrap();
    assert_done(&output);
    assert_interface_logged(&output, "ping: ");
    assert_interface_logged(&output, "pong: ");
    let rows = rows(&results);
    assert_eq!(rows.len(), 2 * waits().count());
    assert_xdp_rows(&rows, 40);
}

#[test]
#[ignore = "needs root"]
fn pong_answers_xdp_and_kernel_pings_and_counts_them() {
    let _turn = turn();
    let testbed = Testbed::namespaces().unwrap();
    let [first, second] = testbed.hosts();
    for (protocol, at) in [("udp", "10.77.0.1:5000"), ("multicast", "239.77.2.1:5000")] {
        let args = ["pong", "--listen", at, "--protocol", protocol, "--interface", "veth0"];
        let mut pong = start(first, command(args.into_iter().chain(STRICT)));
        let args = ["ping", at, "--protocol", protocol, "--interface", "veth0", "--wait", "epoll"];
        let args = args.into_iter().chain(["--samples", "40", "--rounds", "1"]);
        let over_kernel = ping_until_answered(second, &mut pong, args.clone());
        assert_done(&over_kernel);
        let before = testbed.hosts().each_ref().map(kernel_datagrams);
        let over_xdp = start(second, command(args.chain(STRICT))).output();
        assert_done(&over_xdp);
        // The first datagrams to an unresolved neighbor may use the kernel.
        let hosts = testbed.hosts().iter().zip(before);
        hosts.for_each(|(host, before)| assert_bypassed(host, before, 10));
        assert_interface_logged(&over_xdp, "ping: ");
        pong.signal("INT");
        let pong = pong.output();
        assert_status(&pong, 130);
        assert_interface_logged(&pong, "");
        let answered: u64 = stdout(&pong)
            .lines()
            .filter_map(|line| line.split_once(" answered")?.0.parse::<u64>().ok())
            .sum();
        assert!(answered >= 2 * (40 + 200), "{pong:?}");
    }
}

/// Joins the groups of a market with a kernel socket, like another program on the host.
fn join(host: &Host) -> UdpSocket {
    let join = || {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        for place in 0..6 {
            let group = Ipv4Addr::from(GROUP.to_bits() + place);
            socket.join_multicast_v4(&group, &host.address()).unwrap();
        }
        socket
    };
    host.run(join).unwrap()
}

#[test]
#[ignore = "needs root"]
fn fallback_is_logged_and_fails_in_strict_mode() {
    let _turn = turn();
    let market = Market::open([]);
    let member = join(market.host());
    let args = ["--transport", "xdp"];
    let output = market.end_in_sync(start(market.host(), market.feed(args)));
    assert!(kernel_datagrams(market.host())[0] > packets(&output) / 3);
    let line = "xdp: group 239.77.1.0:14310 falls back to the kernel: other members on this host\n";
    assert!(stderr(&output).contains(line), "{}", stderr(&output));

    let refused = start(market.host(), market.feed(args.into_iter().chain(["--strict"]))).output();
    assert_status(&refused, 1);
    let text = stderr(&refused);
    let last = text.lines().last().unwrap_or_default();
    assert!(last.starts_with("hairpin: ") && last.contains("falls back to the kernel"), "{text}");
    drop(member);
    market.feed_in_sync(args.into_iter().chain(["--strict"]));
}

#[test]
#[ignore = "needs root"]
fn later_group_member_ends_strict_mode() {
    let _turn = turn();
    let market = Market::open([]);
    let feed = start(market.host(), market.feed(STRICT));
    wait_for_count(feed.id(), "feed.in_sync", 1);
    let _member = join(market.host());
    let output = feed.output();
    assert_status(&output, 1);
    assert!(stderr(&output).contains("strict: "), "{}", stderr(&output));
}

/// Copies the command so that every user can run it, and lets every user write to the folder.
fn copy_for_all_users(folder: &Path) -> PathBuf {
    let program = folder.join("hairpin");
    copy_hairpin(&program);
    for path in [folder, &program] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    }
    program
}

/// Returns the same command run by an ordinary user with these capabilities.
pub(crate) fn as_unprivileged(command: &Command, folder: &Path, capabilities: &[&str]) -> Command {
    let program = copy_for_all_users(folder);
    let list: String = capabilities.iter().map(|name| format!(",+{name}")).collect();
    let mut unprivileged = Command::new("setpriv");
    unprivileged.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    unprivileged.args(["--inh-caps", &format!("-all{list}")]);
    unprivileged.args(["--ambient-caps", &format!("-all{list}")]);
    unprivileged.args(["--bounding-set", &format!("-all{list}")]);
    unprivileged.arg(program).args(command.get_args()).current_dir("/").stdin(Stdio::null());
    unprivileged
}

#[test]
#[ignore = "needs root"]
fn ordinary_user_needs_exactly_three_capabilities() {
    let _turn = turn();
    let market = Market::open([]);
    let feed = market.feed(STRICT);
    for path in [market.folder.path(), &market.config()] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let run = |capabilities: &[&str]| {
        start(market.host(), as_unprivileged(&feed, folder.path(), capabilities))
    };
    let lacking = run(&[]).output();
    assert_status(&lacking, 1);
    let expected = "cannot open an interface: missing CAP_NET_ADMIN, CAP_NET_RAW, CAP_BPF \
                    (run as root, or give them to the program by setcap)";
    let text = stderr(&lacking);
    assert!(text.contains(expected) && text.lines().count() == 1, "{text}");
    let lacking = run(&["net_admin", "net_raw"]).output();
    assert_status(&lacking, 1);
    let expected = "cannot open an interface: missing CAP_BPF (run as root, or give them to the \
                    program by setcap)";
    assert!(stderr(&lacking).contains(expected), "{}", stderr(&lacking));

    let able = market.end_in_sync(run(&["net_admin", "net_raw", "bpf"]));
    assert_interface_logged(&able, "");
}

#[test]
#[ignore = "needs root"]
fn commands_check_capabilities_before_creating_hosts() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    for args in [["t2t", "--samples", "10"], ["ping", "--samples", "10"]] {
        let command = command(args.into_iter().chain(["--transport", "xdp"]));
        let output = as_unprivileged(&command, folder.path(), &[]).output().unwrap();
        assert_status(&output, 1);
        let text = stderr(&output);
        assert!(text.contains("missing CAP_NET_ADMIN") && text.lines().count() == 1, "{text}");
        // The hosts of an ordinary user are in a user namespace, where XDP programs cannot be
        // loaded.
        let able = ["net_admin", "net_raw", "bpf"];
        let output = as_unprivileged(&command, folder.path(), &able).output().unwrap();
        assert_status(&output, 1);
        let text = stderr(&output);
        assert!(text.contains("needs two hosts made by root"), "{text}");
    }
}

#[test]
#[ignore = "needs root"]
fn feed_tables_have_an_xdp_row_or_its_failure_reason() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let args = ["bench", "feed", "--samples", "10", "--rounds", "1", "--keep-warm", "off"];
    let mut bench = command(args);
    bench.arg("--json").arg(&results);
    let xdp_rows = || {
        let rows = rows(&results);
        rows.into_iter().filter(|row| row["transport"] == "xdp").collect::<Vec<_>>()
    };
    let measured = bench.output().unwrap();
    assert_done(&measured);
    assert_interface_logged(&measured, "receiver: ");
    let measured = xdp_rows();
    assert_eq!(measured.len(), 4);
    for row in &measured {
        assert_eq!((&row["failed"], row["samples"].as_u64() > Some(0)), (&Value::Null, true));
    }

    fs::remove_file(&results).unwrap();
    let output = as_unprivileged(&bench, folder.path(), &[]).output().unwrap();
    assert_done(&output);
    for row in xdp_rows() {
        let reason = row["failed"].as_str().unwrap_or_default();
        assert!(reason.starts_with("xdp is not available: "), "{row}");
        let failed_line = format!("  xdp, spin: failed: {reason}\n");
        assert!(stdout(&output).contains(&failed_line), "{}", stdout(&output));
    }
    assert_eq!(xdp_rows().len(), 4);
}

#[test]
#[ignore = "needs root"]
fn interrupted_run_prints_and_saves_completed_rounds() {
    let _turn = turn();
    let market = Market::open(STRICT.into_iter().chain(["--interval-us", "1000"]));
    let trader = market.trader(STRICT);
    // After the ticks that are not recorded.
    wait_for_count(market.exchange.id(), "exchange.ticks", 200);
    market.exchange.signal("INT");
    let results = market.results();
    let exchange = market.exchange.output();
    assert_status(&exchange, 130);
    assert_interface_logged(&exchange, "");
    assert!(stdout(&exchange).contains("round 1, trader 1: "), "{exchange:?}");
    let rows = rows(&results);
    assert!(rows.iter().all(|row| row["transport"] == "xdp" && row["interrupted"] == true));
    assert!(rows.iter().all(|row| row["samples"].as_u64() > Some(0)), "{rows:?}");
    let trader = trader.output();
    assert_done(&trader);
    assert!(stdout(&trader).starts_with("trader 1: "), "{trader:?}");
}

#[test]
#[ignore = "needs root"]
fn killed_process_leaves_no_program_on_the_interface() {
    let _turn = turn();
    let market = Market::open([]);
    let victim = start(market.host(), market.feed(STRICT));
    wait_for_count(victim.id(), "feed.in_sync", 1);
    // A second process cannot open the interface while the first runs.
    let other = start(market.host(), market.feed(STRICT)).output();
    assert_status(&other, 1);
    assert!(stderr(&other).contains("veth0: "), "{}", stderr(&other));
    victim.signal("KILL");
    assert!(victim.output().status.code().is_none());
    market.end_in_sync(start(market.host(), market.feed([])));
    market.feed_in_sync(STRICT);
}

#[test]
fn conflicting_flags_are_rejected_in_one_line() {
    let live = "feed --config none.xml --interface eth9";
    let trader = "trader --config none.xml --gateway 10.0.0.1:9";
    let remote = "10.0.0.1:9 --protocol udp";
    for (args, expected) in [
        ("feed --pcap none.pcap --transport xdp", "a capture needs no network"),
        ("feed --config none.xml --interface lo --transport xdp", "not lo"),
        (&format!("{live} --strict"), "--strict is for --transport xdp"),
        (&format!("{live} --xdp-mode native"), "--xdp-mode is for --transport xdp"),
        (&format!("{live} --transport ip"), "invalid value 'ip'"),
        (&format!("{live} --transport xdp --xdp-mode fast"), "invalid value 'fast'"),
        ("exchange --transport xdp", "not lo"),
        ("exchange --interface eth9 --feed tcp --transport xdp", "over TCP"),
        ("exchange --strict", "--strict is for --transport xdp"),
        (&format!("{trader} --transport xdp"), "not lo"),
        (&format!("{trader} --interface eth9 --strict"), "--strict is for --transport xdp"),
        ("t2t --transport xdp --feed tcp --samples 1 --wait epoll", "over TCP"),
        ("t2t --transport xdp --interface eth9", "both ends at eth9 are this host"),
        ("t2t --strict", "--strict is for --transport xdp"),
        ("t2t --against-kernel", "--against-kernel is for --transport xdp"),
        ("bench t2t --xdp-mode auto", "--xdp-mode is for --transport xdp"),
        ("ping --transport xdp --timestamps software", "--timestamps"),
        ("ping --transport xdp --interface eth9", "both ends at eth9 are this host"),
        (&format!("ping {remote} --transport xdp"), "--interface IF"),
        (&format!("ping {remote} --strict"), "--strict is for --transport xdp"),
        ("pong --listen 10.0.0.1:9 --transport xdp", "--interface IF"),
        ("pong --listen 10.0.0.1:9 --interface lo --transport xdp", "not lo"),
        ("order none.toml --transport xdp", "--interface IF"),
        ("order none.toml --transport xdp --interface lo", "not lo"),
        ("order none.toml --interface eth9", "--interface is for --transport xdp"),
    ] {
        let output = command(args.split(' ')).output().unwrap();
        let text = stderr(&output);
        assert_status(&output, 2);
        assert!(text.contains(expected) && text.lines().count() == 1, "{args}: {text}");
        assert_eq!(stdout(&output), "", "{args}");
    }
}
