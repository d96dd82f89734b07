//! The examples do what they say: each is started as its reader starts it, and ends by itself.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// After which an example will not end.
const PATIENCE: Duration = Duration::from_secs(60);

/// The examples, built once as `cargo run` builds them, beside the folder of the tests.
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
        assert!(cargo.status().unwrap().success(), "the examples are not built");
        profile.join("examples")
    };
    FOLDER.get_or_init(build).join(name)
}

/// What an example printed, line by line, with every number of more than eight digits as `N`.
#[track_caller]
fn printed(name: &str) -> Vec<String> {
    let mut command = Command::new(program(name));
    let mut example = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let until = Instant::now() + PATIENCE;
    while example.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            example.kill().unwrap();
            panic!("{name} does not end");
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
        "our UUID is N",
        "our next message is 1, the exchange's 1",
        "terminating",
        "disconnected",
    ];
    let printed = printed("connect");
    let without_goodbye: Vec<_> =
        printed.iter().filter(|line| !line.starts_with("the exchange says goodbye")).collect();
    assert_eq!(without_goodbye, expected.iter().collect::<Vec<_>>(), "{printed:#?}");
}

#[test]
fn order_entry_enters_replaces_and_cancels() {
    let expected = [
        "sent under number 1",
        "the order is in the book; 1 of our orders work",
        "it is at 901 now; 1 of our orders work",
        "it is cancelled; 0 of our orders work",
    ];
    assert_eq!(printed("order_entry"), expected);
}

#[test]
fn storage_goes_on_from_what_was_written() {
    let printed = printed("storage");
    assert_eq!(printed[..2], ["logged on as N", "order 1 is in the book"], "{printed:#?}");
    assert_eq!(printed[2], "5 records are there");
    assert_eq!(printed[3..5], ["logged on as N", "order 2 is in the book"]);
    let of = |direction: &str| {
        printed.iter().filter(|line| line.starts_with(direction) && line.contains("bytes")).count()
    };
    assert_eq!((of("Outbound"), of("Inbound"), of("Control")), (2, 2, 6), "{printed:#?}");
    assert_eq!(printed.last().unwrap(), "0 of them wait for their callback");
}

#[test]
fn decoding_reads_what_was_written() {
    let printed = printed("decoding");
    assert_eq!(printed[1], "buy 5 at 4500.25: order 42", "{printed:#?}");
    assert_eq!(printed[2], "to be seen: None");
    assert!(printed.contains(&"  Price = 4500.25".to_owned()), "{printed:#?}");
    let last = printed.last().unwrap();
    assert!(last.starts_with("half a report: ") && !last.contains("read"), "{printed:#?}");
}

#[test]
fn trading_client_answers_prices_with_orders() {
    let printed = printed("trading_client");
    assert_eq!(printed[0], "the books are in sync");
    let working = printed.iter().filter(|line| line.ends_with(" is in the book")).count();
    assert_eq!(working, 10, "{printed:#?}");
    assert_eq!(printed.last().unwrap(), "10 orders, 10 cancels");
}

#[test]
fn scheduling_goes_on_over_the_backup() {
    let printed = printed("scheduling");
    let place = |words: &str| printed.iter().position(|line| line.starts_with(words));
    let steps = ["backup established", "order 1 is working", "active again", "order 2 is working"];
    let places = steps.map(place);
    assert!(places.is_sorted() && places[0].is_some(), "{printed:#?}");
}

#[test]
fn thread_pool_has_two_orders_of_each_session() {
    let printed = printed("thread_pool");
    for account in ["ABC", "ABD", "ABE"] {
        let of = |words: &str| printed.contains(&format!("{account}: {words}"));
        assert!(of("order 1 is working") && of("order 2 is working"), "{printed:#?}");
        let end = format!("{account} has ended after 2 reports");
        assert!(printed.iter().any(|line| line.ends_with(&end)), "{printed:#?}");
    }
}

#[test]
fn latency_measures_every_order() {
    let printed = printed("latency");
    assert_eq!(printed[0], "1800 orders, microseconds: min, median, 99 %");
    for (line, name) in printed[1..].iter().zip(["send: ", "send to report: "]) {
        let figures: Vec<f64> =
            line.strip_prefix(name).unwrap().split(", ").map(|it| it.parse().unwrap()).collect();
        assert!(figures.is_sorted() && figures.len() == 3 && figures[0] > 0.0, "{line}");
    }
    assert_eq!(printed.len(), 3);
}
