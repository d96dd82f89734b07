//! What `hairpin` says to bad arguments and bad surroundings: one clear line, and a status.

use std::net::TcpListener;
use std::process::{Command, Stdio};

fn hairpin(words: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_hairpin"))
        .args(words)
        .env_remove("HAIRPIN_SECRET_KEY")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// The one line that was said, after checking that it was one and the status was `status`.
fn line(words: &[&str], status: i32) -> String {
    let (code, _, said) = hairpin(words);
    assert_eq!(code, Some(status), "{words:?}: {said}");
    assert_eq!(said.lines().count(), 1, "{words:?}: {said}");
    assert!(said.starts_with("hairpin: "), "{words:?}: {said}");
    assert!(!said.contains("panicked"), "{words:?}: {said}");
    said
}

#[test]
fn help_and_version_go_to_standard_output() {
    for words in [
        &["--help"][..],
        &["--version"],
        &["t2t", "--help"],
        &["exchange", "--help"],
        &["trader", "--help"],
        &["feed", "--help"],
        &["decode", "--help"],
        &["report", "--help"],
    ] {
        let (code, out, said) = hairpin(words);
        assert_eq!((code, said.as_str()), (Some(0), ""), "{words:?}");
        assert!(out.contains("hairpin"), "{words:?}: {out}");
    }
}

#[test]
fn wrong_words_are_status_2() {
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
        &["t2t", "--quick", "--samples", "5"],
        &["decode"],
        &["decode", "--framing", "smoke", "file"],
        &["decode", "a", "b"],
        &["decode", "--schema"],
        &["t2t", "--feed", ""],
        &["t2t", "--full", "--quick"],
        &["t2t", "--cpus", "0,1", "--threads", "file"],
        &["t2t", "--rounds", "0"],
        &["bench"],
        &["bench", "--report", "t2t"],
        &["bench", "rds"],
        &["bench", "t2t", "--interval-us", "0"],
        &["bench", "t2t", "--from", "file", "--quick"],
        &["t2t-exchange"],
        &["t2t-trader", "--control", "x"],
        &["exchange", "surplus"],
        &["exchange", "--feed", "multicast,tcp"],
        &["exchange", "--traders", "0"],
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
    for words in wrong {
        assert!(line(words, 2).ends_with("try --help\n"), "{words:?}");
    }
}

#[test]
fn a_missing_interface_is_named() {
    assert!(line(&["t2t", "--quick", "--interface", "nope0"], 1).contains("nope0"));
}

/// A folder with a file of that text, and its path.
fn file(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn a_file_of_threads_that_says_something_else_is_named() {
    for (text, said) in [
        ("", "missing field"),
        ("[threads]\nbroker = 1\n", "unknown field"),
        ("[threads]\nexchange = 0\ntrader = 0\n", "a core each"),
        ("[threads]\nexchange = 4095\n", "4095"),
        ("[threads]\ntrader = \"one\"\n", "line 2"),
        ("threads", "line 1"),
    ] {
        let (_folder, path) = file(text);
        let words = ["t2t", "--quick", "--threads", &path];
        let line = line(&words, 1);
        assert!(line.contains(said), "{text:?}: {line}");
    }
    assert!(line(&["t2t", "--quick", "--threads", "no/such/file"], 1).contains("no/such/file"));
}

#[test]
fn a_configuration_that_leads_nowhere_is_named() {
    let gateway = ["--gateway", "127.0.0.1:1"];
    for (text, said) in [
        ("", ""),
        ("<configuration/>", "no channel"),
        ("<configuration><channel id='1'/></configuration>", "no incremental feed"),
    ] {
        let (_folder, path) = file(text);
        let words = [&["trader", "--config", &path][..], &gateway].concat();
        let line = line(&words, 1);
        assert!(line.contains(&path) && line.contains(said), "{text:?}: {line}");
    }
    let missing = [&["trader", "--config", "no/such/file"][..], &gateway].concat();
    assert!(line(&missing, 1).contains("no/such/file"));
}

#[test]
fn an_exchange_that_cannot_be_had_is_named() {
    assert!(line(&["exchange", "--interface", "nope0"], 1).contains("nope0"));
    assert!(line(&["exchange", "--cpus", "4095,0"], 1).contains("4095"));
    assert!(line(&["exchange", "--json", "no/such/results.json"], 1).contains("no/such"));
    let (_folder, path) = file("");
    assert!(line(&["exchange", "--report", &path], 1).contains(&path));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let said = line(&["exchange", "--gateway", &address.to_string()], 1);
    assert!(said.contains(&address.to_string()), "{said}");
    let port = address.port().to_string();
    let said = line(&["exchange", "--feed", "tcp", "--feed-port", &port], 1);
    assert!(said.contains(&port), "{said}");
    let (_, _, said) = hairpin(&["exchange", "--config-out", "no/such/config.xml"]);
    assert!(said.lines().count() == 1 && said.contains("no/such/config.xml"), "{said}");
}

#[test]
fn a_trader_whose_interface_is_not_there_names_it() {
    let text = "<configuration><channel id='1'><connections><connection id='1IA'>\
                <type feed-type='I'/><protocol>TCP/IP</protocol><host-ip>10.255.255.1</host-ip>\
                <port>1</port><feed>A</feed></connection></connections></channel></configuration>";
    let (_folder, path) = file(text);
    let said =
        line(&["trader", "--config", &path, "--gateway", "127.0.0.1:1", "--interface", "nope0"], 1);
    assert!(said.contains("nope0"), "{said}");
}

#[test]
fn a_busy_port_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let said = line(&["t2t", "--quick", "--interface", "lo", "--gateway", &address], 1);
    assert!(said.contains(&address), "{said}");
}

#[test]
fn a_core_that_is_not_there_is_named() {
    assert!(line(&["t2t", "--quick", "--cpus", "0,4095"], 1).contains("4095"));
}

#[test]
fn results_that_cannot_be_written_are_said_before_the_run() {
    let said = line(&["t2t", "--quick", "--json", "no/such/folder/results.json"], 1);
    assert!(said.contains("no/such/folder"), "{said}");
}

#[test]
fn a_bad_secret_key_is_refused_and_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, "secret!but?not#base64").unwrap();
    let said = line(&["t2t", "--quick", "--secret-key-file", path.to_str().unwrap()], 1);
    assert!(!said.contains("secret!but"), "{said}");
    let missing = folder.path().join("missing");
    let said = line(&["t2t", "--quick", "--secret-key-file", missing.to_str().unwrap()], 1);
    assert!(said.contains("missing"), "{said}");
}

#[test]
fn a_capture_that_is_none_is_an_error() {
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
fn a_port_without_permission_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("hairpin");
    std::fs::copy(env!("CARGO_BIN_EXE_hairpin"), &program).unwrap();
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
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("127.0.0.1:80"), "{said}");
}
