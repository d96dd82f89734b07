//! The commands with `--transport xdp`, between two hosts joined by a veth.
//!
//! What is asserted is that packets went past the kernel, or that it was said that they did not;
//! never how fast they were.

use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::{Process, assert_done, assert_status, hairpin, rows, turn};
use hairpin_reactor::Wait;
use hairpin_testbed::{Host, Testbed};
use serde_json::Value;

/// The first of the groups that market data goes to.
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 77, 1, 0);
const GROUPS: &str = "239.77.1.0:14310";
const GATEWAY: &str = "10.77.0.1:9100";
/// Past the kernel or not at all.
const STRICT: [&str; 3] = ["--transport", "xdp", "--strict"];

fn waits() -> impl Iterator<Item = Wait> {
    Wait::ALL.into_iter().filter(|wait| wait.probe().is_ok())
}

fn start(host: &Host, mut command: Command) -> Process {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Process::of(host.spawn(command, &[]).unwrap())
}

fn command<'a>(words: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = hairpin();
    command.args(words);
    command
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// That a side has said, once, what it stands on.
fn assert_introduced(output: &Output, side: &str) {
    let text = said(output);
    let begin = format!("xdp: {side}veth0: veth, ");
    let lines = text.lines().filter(|line| line.contains(&begin));
    assert_eq!(lines.count(), 1, "{begin}\n{text}");
    assert!(!text.contains("falls back to the kernel:"), "{text}");
}

/// Datagrams that the kernel of a host has received and sent for its sockets.
fn by_kernel(host: &Host) -> [u64; 2] {
    let read = || fs::read_to_string("/proc/thread-self/net/snmp");
    let text = host.run(read).unwrap().unwrap();
    let words = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let lines: Vec<Vec<&str>> = words.filter(|words| words[0] == "Udp:").collect();
    ["InDatagrams", "OutDatagrams"].map(|name| {
        let place = lines[0].iter().position(|&it| it == name).unwrap();
        lines[1][place].parse().unwrap()
    })
}

/// That so few have gone through the kernel since.
fn assert_few(host: &Host, before: [u64; 2], most: u64) {
    let after = by_kernel(host);
    let more = [0, 1].map(|way| after[way] - before[way]);
    assert!(more.iter().all(|&more| more <= most), "received and sent by the kernel: {more:?}");
}

/// Rows of what went past the kernel, all of it.
fn assert_past_the_kernel(rows: &[Value], samples: u64) {
    assert!(!rows.is_empty());
    for row in rows {
        assert_eq!(row["transport"], "xdp", "{row}");
        assert_eq!((&row["failed"], row["lost"].as_u64()), (&Value::Null, Some(0)), "{row}");
        assert_eq!(row["samples"], samples, "{row}");
    }
}

/// Two hosts, an exchange on the first, and the folder that both see.
struct Market {
    bed: Testbed,
    folder: tempfile::TempDir,
    exchange: Process,
}

impl Market {
    fn open<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let bed = Testbed::namespaces().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let usual = ["exchange", "--interface", "veth0", "--gateway", GATEWAY, "--groups", GROUPS];
        let mut command = command(usual.into_iter().chain(words));
        command.arg("--config-out").arg(folder.path().join("config.xml"));
        command.arg("--json").arg(folder.path().join("results.json"));
        let mut exchange = start(&bed.hosts()[0], command);
        let until = Instant::now() + Duration::from_secs(20);
        while !folder.path().join("config.xml").exists() {
            if !exchange.runs() {
                panic!("{}", said(&exchange.output()));
            }
            assert!(Instant::now() < until, "the exchange does not listen");
            sleep(Duration::from_millis(5));
        }
        Self { bed, folder, exchange }
    }

    /// The host that receives.
    fn host(&self) -> &Host {
        &self.bed.hosts()[1]
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("config.xml")
    }

    fn results(&self) -> PathBuf {
        self.folder.path().join("results.json")
    }

    fn feed<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = command(["feed", "--interface", "veth0"]);
        command.args(["--format", "json", "--stats"]).args(words);
        command.arg("--config").arg(self.config());
        command
    }

    fn trader<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Process {
        let mut command = command(["trader", "--interface", "veth0", "--gateway", GATEWAY]);
        command.args(words).arg("--config").arg(self.config());
        start(self.host(), command)
    }
}

/// A count of the last line of a feed that has the member `line`.
fn count(output: &Output, line: &str, name: &str) -> u64 {
    let text = out(output);
    let mut lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let last = lines.rfind(|object| object.get(line).is_some());
    last.and_then(|object| object[name].as_u64()).unwrap_or_else(|| panic!("{output:?}"))
}

/// Instruments in sync at the end of a feed.
fn in_sync(output: &Output) -> u64 {
    count(output, "best_price_changes", "in_sync")
}

/// Packets that a feed has received.
fn packets(output: &Output) -> u64 {
    count(output, "packets", "packets")
}

#[test]
#[ignore = "needs root"]
fn the_feed_comes_in_sync_under_every_wait() {
    let _turn = turn();
    let market = Market::open([]);
    for wait in waits() {
        let words = STRICT.into_iter().chain(["--wait", wait.name(), "--for", "1"]);
        let before = by_kernel(market.host());
        let output = start(market.host(), market.feed(words)).output();
        assert_done(&output);
        assert_introduced(&output, "");
        assert_eq!(in_sync(&output), 100, "{wait}: {output:?}");
        // Until a group that was joined is sent here the kernel brings it, for milliseconds.
        assert_few(market.host(), before, packets(&output) / 3);
    }
}

#[test]
#[ignore = "needs root"]
fn a_trader_answers_every_tick_of_an_exchange_past_the_kernel() {
    let _turn = turn();
    for mode in ["generic", "native"] {
        let way = STRICT.into_iter().chain(["--xdp-mode", mode]);
        let load = ["--samples", "300", "--rounds", "1", "--interval-us", "1000"];
        let market = Market::open(way.clone().chain(load));
        let trader = market.trader(way.chain(["--wait", "epoll"]));
        let results = market.results();
        let Market { bed, folder: _folder, exchange } = market;
        let exchange = exchange.output();
        let trader = trader.output();
        assert_done(&exchange);
        assert_done(&trader);
        for output in [&exchange, &trader] {
            assert_introduced(output, "");
            assert!(said(output).contains(&format!("{mode} mode")), "{}", said(output));
        }
        // Of 400 ticks and what came before them.
        bed.hosts().iter().for_each(|host| assert_few(host, [0, 0], 200));
        let rows = rows(&results);
        assert_eq!(rows.len(), 2);
        assert_past_the_kernel(&rows, 300);
    }
}

#[test]
#[ignore = "needs root"]
fn t2t_answers_every_tick_under_every_wait() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let words = ["t2t", "--samples", "40", "--interval-us", "2000", "--json"];
    let output = command(words).arg(&results).args(STRICT).output().unwrap();
    assert_done(&output);
    assert_introduced(&output, "exchange: ");
    assert_introduced(&output, "trader: ");
    let rows = rows(&results);
    for wait in waits() {
        let of = rows.iter().filter(|row| row["wait"] == wait.name()).count();
        // What was late was run again.
        assert!(of == 2 || of == 4, "{wait}: {rows:?}");
    }
    assert!(rows.iter().all(|row| row["feed"] == "multicast"));
    assert_past_the_kernel(&rows, 40);
}

#[test]
#[ignore = "needs root"]
fn pings_by_udp_and_multicast_are_answered_under_every_wait() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let words = ["ping", "--protocol", "udp,multicast", "--samples", "40", "--rounds", "2"];
    let output = command(words).arg("--json").arg(&results).args(STRICT).output().unwrap();
    assert_done(&output);
    assert_introduced(&output, "ping: ");
    assert_introduced(&output, "pong: ");
    let rows = rows(&results);
    assert_eq!(rows.len(), 2 * waits().count());
    assert_past_the_kernel(&rows, 40);
}

#[test]
#[ignore = "needs root"]
fn a_pong_answers_pings_of_either_way_and_says_how_many() {
    let _turn = turn();
    let bed = Testbed::namespaces().unwrap();
    let [first, second] = bed.hosts();
    for (protocol, at) in [("udp", "10.77.0.1:5000"), ("multicast", "239.77.2.1:5000")] {
        let words = ["pong", "--listen", at, "--protocol", protocol, "--interface", "veth0"];
        let mut pong = start(first, command(words.into_iter().chain(STRICT)));
        let words = ["ping", at, "--protocol", protocol, "--interface", "veth0", "--wait", "epoll"];
        let words = words.into_iter().chain(["--samples", "40", "--rounds", "1"]);
        // Until the pong listens there is nobody.
        let until = Instant::now() + Duration::from_secs(20);
        let through_it = loop {
            let output = start(second, command(words.clone())).output();
            if output.status.success() || Instant::now() > until || !pong.runs() {
                break output;
            }
        };
        assert_done(&through_it);
        let before = bed.hosts().each_ref().map(by_kernel);
        let past_it = start(second, command(words.chain(STRICT))).output();
        assert_done(&past_it);
        // The first to a neighbour that is not known yet may.
        let hosts = bed.hosts().iter().zip(before);
        hosts.for_each(|(host, before)| assert_few(host, before, 10));
        assert_introduced(&past_it, "ping: ");
        pong.signal("INT");
        let pong = pong.output();
        assert_status(&pong, 130);
        assert_introduced(&pong, "");
        let answered: u64 = out(&pong)
            .lines()
            .filter_map(|line| line.split_once(" answered")?.0.parse::<u64>().ok())
            .sum();
        assert!(answered >= 2 * (40 + 200), "{pong:?}");
    }
}

/// Joins the groups of a market on a host, as another program of the kernel's.
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
fn a_fall_back_is_told_and_by_the_strict_refused() {
    let _turn = turn();
    let market = Market::open([]);
    let member = join(market.host());
    let words = ["--transport", "xdp", "--for", "1"];
    let told = start(market.host(), market.feed(words)).output();
    assert_done(&told);
    assert_eq!(in_sync(&told), 100, "{told:?}");
    assert!(by_kernel(market.host())[0] > packets(&told) / 3);
    let line = "xdp: group 239.77.1.0:14310 falls back to the kernel: other members on this host\n";
    assert!(said(&told).contains(line), "{}", said(&told));

    let refused = start(market.host(), market.feed(words.into_iter().chain(["--strict"]))).output();
    assert_status(&refused, 1);
    let text = said(&refused);
    let last = text.lines().last().unwrap_or_default();
    assert!(last.starts_with("hairpin: ") && last.contains("falls back to the kernel"), "{text}");
    drop(member);
    let alone = start(market.host(), market.feed(words.into_iter().chain(["--strict"]))).output();
    assert_done(&alone);
}

#[test]
#[ignore = "needs root"]
fn a_member_who_comes_later_ends_what_is_strict() {
    let _turn = turn();
    let market = Market::open([]);
    let mut feed = start(market.host(), market.feed(STRICT));
    sleep(Duration::from_millis(500));
    assert!(feed.runs());
    let _member = join(market.host());
    let output = feed.output();
    assert_status(&output, 1);
    assert!(said(&output).contains("strict: "), "{}", said(&output));
}

/// A copy of the command that everybody may run, in a folder where everybody may write.
fn for_everybody(folder: &Path) -> PathBuf {
    let program = folder.join("hairpin");
    fs::copy(env!("CARGO_BIN_EXE_hairpin"), &program).unwrap();
    for path in [folder, &program] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    }
    program
}

/// The same command by an ordinary user with these capabilities.
fn as_nobody(command: &Command, folder: &Path, capabilities: &[&str]) -> Command {
    let program = for_everybody(folder);
    let list: String = capabilities.iter().map(|name| format!(",+{name}")).collect();
    let mut nobody = Command::new("setpriv");
    nobody.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    nobody.args(["--inh-caps", &format!("-all{list}")]);
    nobody.args(["--ambient-caps", &format!("-all{list}")]);
    nobody.args(["--bounding-set", &format!("-all{list}")]);
    nobody.arg(program).args(command.get_args()).current_dir("/").stdin(Stdio::null());
    nobody
}

#[test]
#[ignore = "needs root"]
fn an_ordinary_user_needs_three_capabilities_and_no_more() {
    let _turn = turn();
    let market = Market::open([]);
    let words = STRICT.into_iter().chain(["--for", "1"]);
    let feed = market.feed(words);
    for path in [market.folder.path(), &market.config()] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let run = |capabilities: &[&str]| {
        start(market.host(), as_nobody(&feed, folder.path(), capabilities)).output()
    };
    let lacking = run(&[]);
    assert_status(&lacking, 1);
    let expected = "cannot open an interface: missing CAP_NET_ADMIN, CAP_NET_RAW, CAP_BPF \
                    (root is not required)";
    let text = said(&lacking);
    assert!(text.contains(expected) && text.lines().count() == 1, "{text}");
    let lacking = run(&["net_admin", "net_raw"]);
    assert_status(&lacking, 1);
    assert!(
        said(&lacking).contains("cannot open an interface: missing CAP_BPF (root is not required)"),
        "{}",
        said(&lacking)
    );

    let able = run(&["net_admin", "net_raw", "bpf"]);
    assert_done(&able);
    assert_introduced(&able, "");
    assert_eq!(in_sync(&able), 100, "{able:?}");
}

#[test]
#[ignore = "needs root"]
fn those_who_make_hosts_look_for_capabilities_before() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    for words in [["t2t", "--samples", "10"], ["ping", "--samples", "10"]] {
        let command = command(words.into_iter().chain(["--transport", "xdp"]));
        let output = as_nobody(&command, folder.path(), &[]).output().unwrap();
        assert_status(&output, 1);
        let text = said(&output);
        assert!(text.contains("lacks CAP_NET_ADMIN") && text.lines().count() == 1, "{text}");
        // Hosts of an ordinary user are in a user namespace, where nobody may load a program.
        let able = ["net_admin", "net_raw", "bpf"];
        let output = as_nobody(&command, folder.path(), &able).output().unwrap();
        assert_status(&output, 1);
        let text = said(&output);
        assert!(text.contains("needs two hosts made by root"), "{text}");
    }
}

#[test]
#[ignore = "needs root"]
fn the_feeds_tables_have_a_column_past_the_kernel_or_say_why_not() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let words = ["bench", "feed", "--samples", "10", "--rounds", "1", "--keep-warm", "off"];
    let mut bench = command(words);
    bench.arg("--json").arg(&results);
    let past_the_kernel = || {
        let rows = rows(&results);
        rows.into_iter().filter(|row| row["transport"] == "xdp").collect::<Vec<_>>()
    };
    let measured = bench.output().unwrap();
    assert_done(&measured);
    assert_introduced(&measured, "receiver: ");
    let measured = past_the_kernel();
    assert_eq!(measured.len(), 4);
    for row in &measured {
        assert_eq!((&row["failed"], row["samples"].as_u64() > Some(0)), (&Value::Null, true));
    }

    fs::remove_file(&results).unwrap();
    let output = as_nobody(&bench, folder.path(), &[]).output().unwrap();
    assert_done(&output);
    for row in past_the_kernel() {
        let reason = row["failed"].as_str().unwrap_or_default();
        assert!(reason.starts_with("xdp is not available: "), "{row}");
        let told = format!("  xdp, spin: failed: {reason}\n");
        assert!(out(&output).contains(&told), "{}", out(&output));
    }
    assert_eq!(past_the_kernel().len(), 4);
}

#[test]
#[ignore = "needs root"]
fn interrupted_it_prints_and_saves_what_is_done() {
    let _turn = turn();
    let market = Market::open(STRICT.into_iter().chain(["--interval-us", "1000"]));
    let trader = market.trader(STRICT);
    sleep(Duration::from_millis(1_500));
    market.exchange.signal("INT");
    let results = market.results();
    let exchange = market.exchange.output();
    assert_status(&exchange, 130);
    assert_introduced(&exchange, "");
    assert!(out(&exchange).contains("round 1, trader 1: "), "{exchange:?}");
    let rows = rows(&results);
    assert!(rows.iter().all(|row| row["transport"] == "xdp" && row["interrupted"] == true));
    assert!(rows.iter().all(|row| row["samples"].as_u64() > Some(0)), "{rows:?}");
    let trader = trader.output();
    assert_done(&trader);
    assert!(out(&trader).starts_with("trader 1: "), "{trader:?}");
}

#[test]
#[ignore = "needs root"]
fn who_is_killed_leaves_no_program_on_the_interface() {
    let _turn = turn();
    let market = Market::open([]);
    let mut victim = start(market.host(), market.feed(STRICT));
    sleep(Duration::from_millis(700));
    assert!(victim.runs());
    // While it runs the interface is its own.
    let words = || STRICT.into_iter().chain(["--for", "1"]);
    let other = start(market.host(), market.feed(words())).output();
    assert_status(&other, 1);
    assert!(said(&other).contains("veth0: "), "{}", said(&other));
    victim.signal("KILL");
    assert!(victim.output().status.code().is_none());
    let by_kernel = start(market.host(), market.feed(["--for", "1"])).output();
    assert_done(&by_kernel);
    assert_eq!(in_sync(&by_kernel), 100, "{by_kernel:?}");
    let heir = start(market.host(), market.feed(words())).output();
    assert_done(&heir);
    assert_eq!(in_sync(&heir), 100, "{heir:?}");
}

#[test]
fn words_that_do_not_go_together_are_refused_in_one_line() {
    let live = "feed --config none.xml --interface eth9";
    let trader = "trader --config none.xml --gateway 10.0.0.1:9";
    let remote = "10.0.0.1:9 --protocol udp";
    for (words, expected) in [
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
        ("bench t2t --xdp-mode auto", "--xdp-mode is for --transport xdp"),
        ("ping --transport xdp --protocol udp,tcp", "TCP needs kernel sockets"),
        ("ping --transport xdp --timestamps software", "--timestamps"),
        ("ping --transport xdp --interface eth9", "both ends at eth9 are this host"),
        (&format!("ping {remote} --transport xdp"), "--interface IF"),
        (&format!("ping {remote} --strict"), "--strict is for --transport xdp"),
        ("pong --listen 10.0.0.1:9 --transport xdp", "--interface IF"),
        ("pong --listen 10.0.0.1:9 --interface lo --transport xdp", "not lo"),
        (
            "pong --listen 10.0.0.1:9 --interface eth9 --protocol tcp --transport xdp",
            "TCP needs kernel sockets",
        ),
    ] {
        let output = command(words.split(' ')).output().unwrap();
        let text = said(&output);
        assert_status(&output, 2);
        assert!(text.contains(expected) && text.lines().count() == 1, "{words}: {text}");
        assert_eq!(out(&output), "", "{words}");
    }
}
