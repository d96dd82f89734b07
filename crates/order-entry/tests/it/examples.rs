//! The examples print the documented output. Each one is started like its reader starts it.
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The time limit of an example.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Returns the program of an example, from the folder `HAIRPIN_EXAMPLES`. Without that variable,
/// builds the examples once, like `cargo run`, into the target folder of the tests.
fn program(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let build = || {
        let tests = std::env::current_exe().unwrap();
        let profile = tests.parent().unwrap().parent().unwrap();
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--package", "hairpin-order-entry", "--examples"]);
        cargo.arg("--target-dir").arg(profile.parent().unwrap());
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(cargo.status().unwrap().success(), "cannot build the examples");
        profile.join("examples")
    };
    let folder = || std::env::var_os("HAIRPIN_EXAMPLES").map_or_else(build, PathBuf::from);
    FOLDER.get_or_init(folder).join(name)
}

/// Returns the lines printed by an example. Numbers of more than eight digits are replaced by `N`.
#[track_caller]
fn printed(name: &str) -> Vec<String> {
    let mut command = Command::new(program(name));
    let mut example = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let until = Instant::now() + TIMEOUT;
    while example.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            example.kill().unwrap();
            panic!("{name} does not end within {TIMEOUT:?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = example.wait_with_output().unwrap();
    assert!(output.status.success(), "{name}: {}", output.status);
    let text = String::from_utf8(output.stdout).unwrap();
    let is_long = |word: &str| word.len() > 8 && word.bytes().all(|byte| byte.is_ascii_digit());
    let word = |word| if is_long(word) { "N" } else { word };
    text.lines().map(|line| line.split(' ').map(word).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn connect_logs_on_and_off() {
    let expected = [
        "connecting",
        "negotiating",
        "establishing",
        "established",
        "UUID: N",
        "next message: outbound 1, inbound 1",
        "terminating",
        "disconnected",
    ];
    let printed = printed("connect");
    let without_goodbye: Vec<_> =
        printed.iter().filter(|line| !line.starts_with("Terminate from the exchange")).collect();
    assert_eq!(without_goodbye, expected.iter().collect::<Vec<_>>(), "{printed:#?}");
}

#[test]
fn order_entry_enters_replaces_and_cancels() {
    let expected = [
        "sent order 1 as message 1: limit 900 (mantissa 900000000000)",
        "order accepted; orders working: 1",
        "order replaced, limit 901 (mantissa 901000000000); orders working: 1",
        "order canceled; orders working: 0",
    ];
    assert_eq!(printed("order_entry"), expected);
}

#[test]
fn storage_resumes_an_existing_journal() {
    let printed = printed("storage");
    assert_eq!(printed[..2], ["logged on with UUID N", "order 1 accepted"], "{printed:#?}");
    assert_eq!(printed[2], "records in the journal: 5");
    assert_eq!(printed[3..5], ["logged on with UUID N", "order 2 accepted"]);
    let of = |direction: &str| {
        printed.iter().filter(|line| line.starts_with(direction) && line.contains("bytes")).count()
    };
    assert_eq!((of("Outbound"), of("Inbound"), of("Control")), (2, 2, 6), "{printed:#?}");
    assert_eq!(printed.last().unwrap(), "records with an unfinished callback: 0");
}

#[test]
fn decoding_reads_what_was_written() {
    let printed = printed("decoding");
    let expected = "buy 5 at 450025 (mantissa 450025000000000): order 42";
    assert_eq!(printed[1], expected, "{printed:#?}");
    assert_eq!(printed[2], "display quantity: None");
    assert!(printed.contains(&"  Price = 450025".to_owned()), "{printed:#?}");
    let last = printed.last().unwrap();
    assert!(last.starts_with("truncated report: ") && !last.contains("decoded"), "{printed:#?}");
}

#[test]
fn trading_client_answers_prices_with_orders() {
    let printed = printed("trading_client");
    assert_eq!(printed[0], "books in sync");
    let working = printed.iter().filter(|line| line.ends_with(" accepted")).count();
    assert_eq!(working, 10, "{printed:#?}");
    assert_eq!(printed.last().unwrap(), "orders: 10, cancels: 10");
}

#[test]
fn scheduling_continues_on_the_backup() {
    let printed = printed("scheduling");
    let place = |start: &str| printed.iter().position(|line| line.starts_with(start));
    let steps = ["backup established", "order 1 accepted", "active again", "order 2 accepted"];
    let places = steps.map(place);
    assert!(places.is_sorted() && places[0].is_some(), "{printed:#?}");
}

#[test]
fn thread_pool_sends_two_orders_per_session() {
    let printed = printed("thread_pool");
    for account in ["ABC", "ABD", "ABE"] {
        let has = |line: &str| printed.contains(&format!("{account}: {line}"));
        assert!(has("order 1 accepted") && has("order 2 accepted"), "{printed:#?}");
        let end = format!("{account} ended after 2 reports");
        assert!(printed.iter().any(|line| line.ends_with(&end)), "{printed:#?}");
    }
}

#[test]
fn latency_measures_every_order() {
    let printed = printed("latency");
    assert_eq!(printed[0], "1800 orders, microseconds: min, median, p99");
    for (line, name) in printed[1..].iter().zip(["send: ", "send to report: "]) {
        let figures: Vec<f64> =
            line.strip_prefix(name).unwrap().split(", ").map(|it| it.parse().unwrap()).collect();
        assert!(figures.is_sorted() && figures.len() == 3 && figures[0] > 0.0, "{line}");
    }
    assert_eq!(printed.len(), 3);
}

#[test]
#[ignore = "needs root"]
fn kernel_bypass_measures_every_order_over_both_transports() {
    let printed = printed("kernel_bypass");
    assert_eq!(printed[0], "1800 orders, microseconds from send to report: min, median, p99");
    for (line, name) in printed[1..].iter().zip(["kernel: ", "xdp: "]) {
        let figures: Vec<f64> =
            line.strip_prefix(name).unwrap().split(", ").map(|it| it.parse().unwrap()).collect();
        assert!(figures.is_sorted() && figures.len() == 3 && figures[0] > 0.0, "{line}");
    }
    assert_eq!(printed[3], "connections taken over: 1");
    assert_eq!(printed.len(), 5);
}
