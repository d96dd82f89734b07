//! The error messages of `hairpin` for invalid arguments and a faulty environment: one line, and an
//! exit status.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use crate::support::copy_hairpin;

fn hairpin(args: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_hairpin"))
        .args(args)
        .env_remove("HAIRPIN_SECRET_KEY")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Returns the error message after checking that it is one line and the exit status is `status`.
fn line(args: &[&str], status: i32) -> String {
    let (code, _, stderr) = hairpin(args);
    assert_eq!(code, Some(status), "{args:?}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{args:?}: {stderr}");
    assert!(stderr.starts_with("hairpin: "), "{args:?}: {stderr}");
    assert!(!stderr.contains("panicked"), "{args:?}: {stderr}");
    stderr
}

#[test]
fn help_and_version_go_to_standard_output() {
    for args in [
        &["--help"][..],
        &["--version"],
        &["t2t", "--help"],
        &["exchange", "--help"],
        &["trader", "--help"],
        &["feed", "--help"],
        &["decode", "--help"],
        &["report", "--help"],
    ] {
        let (code, out, stderr) = hairpin(args);
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{args:?}");
        assert!(out.contains("hairpin"), "{args:?}: {out}");
    }
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    for args in [&["--help"][..], &["--version"], &["t2t", "--help"], &["help", "order"], &["-h"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_hairpin")).args(args).stdout(full).output();
        let output = output.unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {stderr}");
        assert!(stderr.starts_with("hairpin: cannot write to standard output: "), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

#[test]
fn invalid_arguments_exit_with_status_2() {
    let wrong: &[&[&str]] = &[
        &["nonsense"],
        &["t2t", "--nonsense"],
        &["t2t", "surplus"],
        &["t2t", "--wait", "sometimes"],
        &["t2t", "--wait", ""],
        &["t2t", "--feed", "pigeon"],
        &["t2t", "--samples", "0"],
        &["t2t", "--samples", "-1"],
        &["t2t", "--samples", "many"],
        &["t2t", "--samples", "99999999999999999999"],
        &["t2t", "--interval-us", "-5"],
        &["t2t", "--interval-us", "1e3"],
        &["t2t", "--interval-us", "999999999999"],
        &["t2t", "--cpus", "1"],
        &["t2t", "--cpus", "1,1"],
        &["t2t", "--cpus", "a,b"],
        &["t2t", "--gateway", "nowhere"],
        &["t2t", "--gateway", "127.0.0.1:99999"],
        &["t2t", "--matching", "maybe"],
        &["t2t", "--json"],
        &["t2t", "--full", "--samples", "5"],
        &["decode"],
        &["decode", "--framing", "smoke", "file"],
        &["decode", "--schema"],
        &["t2t", "--feed", ""],
        &["t2t", "--full", "--quick"],
        &["t2t", "--cpus", "0,1", "--threads", "file"],
        &["t2t", "--rounds", "0"],
        &["bench"],
        &["bench", "--report", "t2t"],
        &["bench", "nothing"],
        &["bench", "t2t", "--interval-us", "0"],
        &["bench", "t2t", "--from", "file", "--quick"],
        &["t2t-exchange"],
        &["t2t-trader", "--control", "x"],
        &["exchange", "surplus"],
        &["exchange", "--feed", "multicast,tcp"],
        &["exchange", "--traders", "x"],
        &["exchange", "--traders", "17"],
        &["exchange", "--rounds", "0"],
        &["exchange", "--samples", "0"],
        &["exchange", "--interval-us", "-1"],
        &["exchange", "--groups", "10.0.0.1:5000"],
        &["exchange", "--groups", "239.1.1.1"],
        &["exchange", "--groups", "239.1.1.1:65535"],
        &["exchange", "--feed-port", "0"],
        &["exchange", "--feed-port", "65535"],
        &["exchange", "--wait", "never"],
        &["exchange", "--seed", "x"],
        &["trader"],
        &["trader", "--config", "file"],
        &["trader", "--gateway", "127.0.0.1:1"],
        &["trader", "--config", "file", "--gateway", "nowhere"],
        &["trader", "--config", "file", "--gateway", "127.0.0.1:1", "--id", "0"],
        &["trader", "--config", "file", "--gateway", "127.0.0.1:1", "--id", "17"],
        &["trader", "--config", "file", "--gateway", "127.0.0.1:1", "--wait", "x"],
        &["feed"],
        &["feed", "--pcap"],
        &["feed", "--pcap", "file", "--channel", "1"],
        &["feed", "--pcap", "file", "--format", "smoke"],
        &["report"],
        &["report", "--report"],
    ];
    for args in wrong {
        assert!(line(args, 2).ends_with("try --help\n"), "{args:?}");
    }
}

#[test]
fn error_names_the_nearest_flag_every_choice_and_every_missing_argument() {
    for (args, expected) in [
        (&["generate", "--megabyte", "3", "f"][..], ": the nearest is '--megabytes'"),
        (&["order", "--segement", "3"], ": the nearest is '--segment'"),
        (&["t2t", "--wiat", "spin"], ": the nearest is '--wait'"),
        (&["exchnage"], "unknown command 'exchnage': the nearest is 'exchange'"),
        (&["t2t-exchang"], "unknown command 't2t-exchang': the nearest is 'exchange'"),
        (&["tt2"], "unknown command 'tt2': the nearest is 't2t'"),
        (&["bench", "oder"], ": the nearest is 'order'; use t2t, feed, order, rds, sockets or all"),
        (&["bench"], "use t2t, feed, order, rds, sockets or all"),
        (&["decode", "--framing", "x", "f"], ": use udp, conflated-tcp, ilink3 or replay"),
        (&["trader"], "--config <FILE> and --gateway <HOST:PORT> are required;"),
        (&["feed"], ": --pcap <FILE>..., --interface <IF> or --interface-a <IF> is required;"),
        (&["t2t", "--cpus", "0,x"], "'x' is not a whole number; expected two core numbers"),
        (&["t2t", "--interval-us", "5,2x"], "invalid value '2x' for '--interval-us <N>'"),
        (&["exchange", "--mute-a", "1"], "expected two numbers of ticks"),
        (&["t2t", "--full", "--quick"], "conflicts with --quick"),
    ] {
        let text = line(args, 2);
        assert!(text.contains(expected), "{args:?}: {text}");
    }
}

#[test]
fn error_contains_missing_interface() {
    assert!(line(&["t2t", "--quick", "--interface", "nope0"], 1).contains("nope0"));
}

/// Writes `text` to a file in a temporary folder and returns both.
fn file(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn error_contains_fault_in_threads_file() {
    for (text, expected) in [
        ("", "missing field"),
        ("[threads]\nbroker = 1\n", "unknown field"),
        ("[threads]\nexchange = 0\ntrader = 0\n", "a core each"),
        ("[threads]\nexchange = 4095\n", "4095"),
        ("[threads]\ntrader = \"one\"\n", "line 2"),
        ("threads", "line 1"),
    ] {
        let (_folder, path) = file(text);
        let args = ["t2t", "--quick", "--threads", &path];
        let line = line(&args, 1);
        assert!(line.contains(expected), "{text:?}: {line}");
    }
    assert!(line(&["t2t", "--quick", "--threads", "no/such/file"], 1).contains("no/such/file"));
}

#[test]
fn error_contains_path_of_unusable_configuration() {
    let gateway = ["--gateway", "127.0.0.1:1"];
    for (text, expected) in [
        ("", ""),
        ("<configuration/>", "no channel"),
        ("<configuration><channel id='1'/></configuration>", "no incremental feed"),
    ] {
        let (_folder, path) = file(text);
        let args = [&["trader", "--config", &path][..], &gateway].concat();
        let line = line(&args, 1);
        assert!(line.contains(&path) && line.contains(expected), "{text:?}: {line}");
    }
    let missing = [&["trader", "--config", "no/such/file"][..], &gateway].concat();
    assert!(line(&missing, 1).contains("no/such/file"));
}

#[test]
fn exchange_error_contains_the_invalid_value() {
    assert!(line(&["exchange", "--interface", "nope0"], 1).contains("nope0"));
    assert!(line(&["exchange", "--cpus", "4095,0"], 1).contains("4095"));
    assert!(line(&["exchange", "--json", "no/such/results.json"], 1).contains("no/such"));
    let (_folder, path) = file("");
    assert!(line(&["exchange", "--report", &path], 1).contains(&path));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let stderr = line(&["exchange", "--gateway", &address.to_string()], 1);
    assert!(stderr.contains(&address.to_string()), "{stderr}");
    let port = address.port().to_string();
    let stderr = line(&["exchange", "--feed", "tcp", "--feed-port", &port], 1);
    assert!(stderr.contains(&port), "{stderr}");
    let (_, _, stderr) = hairpin(&["exchange", "--config-out", "no/such/config.xml"]);
    assert!(stderr.lines().count() == 1 && stderr.contains("no/such/config.xml"), "{stderr}");
}

#[test]
fn trader_error_contains_missing_interface() {
    let text = "<configuration><channel id='1'><connections><connection id='1IA'>\
                <type feed-type='I'/><protocol>TCP/IP</protocol><host-ip>10.255.255.1</host-ip>\
                <port>1</port><feed>A</feed></connection></connections></channel></configuration>";
    let (_folder, path) = file(text);
    let stderr =
        line(&["trader", "--config", &path, "--gateway", "127.0.0.1:1", "--interface", "nope0"], 1);
    assert!(stderr.contains("nope0"), "{stderr}");
}

#[test]
fn error_contains_occupied_port() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let stderr = line(&["t2t", "--quick", "--interface", "lo", "--gateway", &address], 1);
    assert!(stderr.contains(&address), "{stderr}");
}

#[test]
fn error_contains_missing_core() {
    assert!(line(&["t2t", "--quick", "--cpus", "0,4095"], 1).contains("4095"));
}

#[test]
fn unwritable_results_fail_before_the_run() {
    let stderr = line(&["t2t", "--quick", "--json", "no/such/folder/results.json"], 1);
    assert!(stderr.contains("no/such/folder"), "{stderr}");
}

#[test]
fn invalid_secret_key_is_rejected_and_not_printed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, "secret!but?not#base64").unwrap();
    // A key file that other users can read is refused.
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    let stderr = line(&["t2t", "--quick", "--secret-key-file", path.to_str().unwrap()], 1);
    assert!(!stderr.contains("secret!but"), "{stderr}");
    let missing = folder.path().join("missing");
    let stderr = line(&["t2t", "--quick", "--secret-key-file", missing.to_str().unwrap()], 1);
    assert!(stderr.contains("missing"), "{stderr}");
}

#[test]
fn invalid_capture_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capture.pcap");
    let file = path.to_str().unwrap();
    assert!(line(&["decode", file], 1).contains("capture.pcap"));
    std::fs::write(&path, b"").unwrap();
    assert!(line(&["decode", file], 1).contains("capture.pcap"));
    std::fs::write(&path, [7; 100]).unwrap();
    assert!(line(&["decode", file], 1).contains("capture.pcap"));
    line(&["decode", folder.path().to_str().unwrap()], 1);
}

#[test]
#[ignore = "needs root"]
fn error_contains_forbidden_port() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("hairpin");
    copy_hairpin(&program);
    for path in [folder.path(), &program] {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let output = Command::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .arg(&program)
        .args(["t2t", "--quick", "--interface", "lo", "--gateway", "127.0.0.1:80"])
        .current_dir("/")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.contains("127.0.0.1:80"), "{stderr}");
}
