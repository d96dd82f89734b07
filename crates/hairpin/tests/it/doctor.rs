//! Runs `hairpin doctor` and `hairpin check`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::{assert_status, hairpin, turn};
use crate::xdp::{stderr, stdout};

fn run(args: &[&str]) -> Output {
    hairpin().args(args).output().unwrap()
}

#[test]
fn missing_interface_is_one_line() {
    let output = run(&["doctor", "nope0"]);
    assert_status(&output, 1);
    assert_eq!(stderr(&output), "hairpin: cannot find interface nope0: no such interface\n");
    assert_status(&run(&["doctor", "eth0", "eth1"]), 2);
    assert_status(&run(&["doctor", "--json", "--bundle", "file"]), 2);
    assert_status(&run(&["check"]), 2);
}

#[test]
fn document_has_the_findings_of_the_text() {
    let _turn = turn();
    let output = run(&["doctor", "lo", "--json"]);
    // Loopback is no interface for AF_XDP.
    assert_status(&output, 1);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["format"], "hairpin.doctor/1");
    assert_eq!(document["interfaces"][0]["name"], "lo");
    let findings = document["findings"].as_array().unwrap();
    let loopback = findings.iter().find(|finding| finding["id"] == "interface.loopback").unwrap();
    assert_eq!(loopback["severity"], "important");
    let text = stdout(&run(&["doctor", "lo"]));
    for part in ["lo: kernel sockets, because of: loopback interface", "\nImportant\n", "costs: "] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Returns `true` for a call in the output of `strace -y` that changes something outside of the
/// process.
fn changes_something(call: &str) -> bool {
    let name = call.split_once('(').map_or("", |(name, _)| name);
    let name = name.rsplit(' ').next().unwrap_or_default();
    match name {
        "open" | "openat" | "creat" | "openat2" => {
            ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].iter().any(|flag| call.contains(flag))
        }
        "write" | "writev" | "pwrite64" => !(call.contains("(1<") || call.contains("(2<")),
        // Requests that read, to the kernel.
        "sendto" | "sendmsg" => ["_NEW", "_SET", "_DEL"].iter().any(|kind| call.contains(kind)),
        // SIOCETHTOOL: hairpin-xdp has only its commands that read.
        "ioctl" => {
            let reading =
                ["SIOCETHTOOL", "SIOCGIFMTU", "SIOCGIFINDEX", "TCGETS", "TIOCGWINSZ", "FIONBIO"];
            !reading.iter().any(|request| call.contains(request))
        }
        "adjtimex" => !call.contains("modes=0"),
        "bpf" | "connect" => call.contains("bpf(") || !call.contains("AF_NETLINK"),
        _ => true,
    }
}

#[test]
fn doctor_and_check_write_nothing() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.toml");
    fs::write(&file, "[threads]\ntrader = 0\n").unwrap();
    let file = file.to_str().unwrap().to_owned();
    for args in [&["doctor"][..], &["doctor", "lo", "--json"], &["check", &file]] {
        let log = folder.path().join("strace");
        let calls = "trace=open,openat,openat2,creat,write,writev,pwrite64,sendto,sendmsg,ioctl,\
                     adjtimex,bpf,connect,mkdir,rename,unlink,rmdir,link,symlink,chmod,fchmod,\
                     mount,truncate,ftruncate,sethostname,settimeofday,clock_settime";
        let program = hairpin();
        let status = Command::new("strace")
            .args(["-f", "-qq", "-y", "-s", "300", "-e", calls, "-o"])
            .arg(&log)
            .arg(program.get_program())
            .args(args)
            .output();
        let Ok(output) = status else {
            println!("skipped: strace is not installed");
            return;
        };
        let log = fs::read_to_string(log).unwrap_or_default();
        if output.stdout.is_empty() && log.is_empty() {
            println!("skipped: strace must not trace");
            return;
        }
        assert!(!output.stdout.is_empty(), "{}", stderr(&output));
        let calls = log.lines().filter(|line| line.contains('(') && !line.contains("+++"));
        let changes: Vec<&str> = calls.filter(|line| changes_something(line)).collect();
        assert!(changes.is_empty(), "{args:?}: {changes:#?}");
        assert!(log.contains("openat("), "{log}");
    }
}

#[test]
fn strace_lines_that_change_something_are_found() {
    for line in [
        "12 openat(AT_FDCWD</>, \"/proc/sys/net/core/rmem_max\", O_WRONLY|O_CLOEXEC) = 3</a>",
        "12 write(3</proc/sys/net/core/rmem_max>, \"1\", 1) = 1",
        "12 sendto(3<NETLINK>, [{nlmsg_len=40, nlmsg_type=RTM_NEWLINK}], 40) = 40",
        "ioctl(4<socket>, SIOCSIFMTU, {ifr_name=\"eth0\"}) = 0",
        "unlink(\"a\") = 0",
    ] {
        assert!(changes_something(line), "{line}");
    }
    for line in [
        "12 openat(AT_FDCWD</>, \"/proc/cpuinfo\", O_RDONLY|O_CLOEXEC) = 3</proc/cpuinfo>",
        "12 write(1<pipe:[5]>, \"eth0\", 4) = 4",
        "12 sendto(3<NETLINK>, [{nlmsg_type=RTM_GETLINK}], 40) = 40",
    ] {
        assert!(!changes_something(line), "{line}");
    }
}

#[test]
fn check_prints_a_line_per_finding() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let core = hairpin_host::allowed_cores().unwrap()[0];
    let threads = write("threads.toml", &format!("[threads]\ntrader = {core}\n"));
    let output = run(&["check", &threads]);
    assert_status(&output, 0);
    assert_eq!(stdout(&output), format!("{threads}: found: threads file: cores {core}\n"));
    let broken = write("broken.toml", "[threads]\ntrader = 100000\n");
    let output = run(&["check", &threads, &broken]);
    assert_status(&output, 1);
    assert!(stdout(&output).contains(&format!("{broken}: wrong: cannot pin to core 100000")));
}

#[test]
fn check_refuses_a_key_file_that_others_can_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (order, key) = (path("order.toml"), path("secret.key"));
    fs::write(&key, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8").unwrap();
    fs::write(&order, ORDER).unwrap();
    let mode = |mode| fs::set_permissions(&key, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o644);
    let output = run(&["check", &order]);
    assert_status(&output, 1);
    assert!(stdout(&output).contains("wrong: cannot use the key file"), "{}", stdout(&output));
    mode(0o600);
    let output = run(&["check", &order]);
    assert!(stdout(&output).contains("found: order entry: session ABC"), "{}", stdout(&output));
    assert!(!stdout(&output).contains("AAEC"));
}

const ORDER: &str = "[gateway]\nprimary = [\"192.0.2.10:9000\"]\n[logon]\n\
    access_key_id = \"ACCESS-KEY-ID-123456\"\nsecret_file = \"secret.key\"\nsession = \"ABC\"\n\
    firm = \"DEFGH\"\nsystem_name = \"a\"\nsystem_version = \"1\"\nsystem_vendor = \"a\"\n\
    [operator]\nsender_id = \"TRADER\"\nlocation = \"US,IL\"\nmanual = false\n";

/// Returns the names of this host's interfaces except `lo`, its name, and the Ethernet addresses.
fn private_words() -> Vec<String> {
    let table = fs::read_to_string("/proc/net/dev").unwrap();
    let interfaces = table.lines().filter_map(|line| line.split_once(':'));
    let interfaces = interfaces.map(|(name, _)| name.trim().to_owned());
    let mut words: Vec<String> = interfaces.filter(|name| name != "lo").collect();
    words.push(fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned());
    for name in fs::read_dir("/sys/class/net").unwrap().flatten() {
        let address = fs::read_to_string(name.path().join("address")).unwrap_or_default();
        words.push(address.trim().to_owned());
    }
    words.retain(|word| word.len() > 1);
    words
}

#[test]
#[ignore = "needs root"]
fn bundle_has_pings_and_no_names_or_addresses() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle.json");
    let output = hairpin().args(["doctor", "--bundle"]).arg(&path).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", stderr(&output));
    let text = fs::read_to_string(&path).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["format"], "hairpin.bundle/1");
    assert_eq!(document["doctor"]["format"], "hairpin.doctor/1");
    let pings = document["pings"].as_array().unwrap();
    assert_eq!(pings.len(), 18);
    for (transport, protocol) in [
        ("kernel", "udp"),
        ("kernel", "multicast"),
        ("kernel", "tcp"),
        ("kernel", "rds"),
        ("xdp", "udp"),
        ("xdp", "multicast"),
        ("xdp", "tcp"),
        ("xdp", "raw"),
        ("preload", "udp"),
        ("preload", "tcp"),
    ] {
        let is_it = |ping: &&Value| ping["transport"] == transport && ping["protocol"] == protocol;
        let ping = pings.iter().find(is_it).unwrap();
        let rows = ping["results"]["rows"].as_array();
        assert!(rows.is_some_and(|rows| !rows.is_empty()), "{transport} {protocol}: {ping}");
    }
    let is_bounded = |letter: Option<char>| letter.is_none_or(|it| !it.is_alphanumeric());
    for word in private_words() {
        for (at, _) in text.match_indices(&word) {
            let (before, after) = (&text[..at], &text[at + word.len()..]);
            let stands_alone =
                is_bounded(before.chars().next_back()) && is_bounded(after.chars().next());
            assert!(!stands_alone, "{word}: {}", &text[at.saturating_sub(40)..at + word.len()]);
        }
    }
    let quoted = ["10.77.0.", "127.0.0.1", folder.path().to_str().unwrap()];
    for address in quoted {
        assert!(!text.contains(address), "{address}");
    }
    assert!(!Path::new(&format!("{}.ping", path.display())).exists());
}
