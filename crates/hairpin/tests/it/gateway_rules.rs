//! The flags of `hairpin exchange` that select the gateway's rules, seen from a client.

use std::io::{BufRead, BufReader};
use std::net::SocketAddrV4;
use std::process::{Child, Stdio};
use std::sync::MutexGuard;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::by_hand::{Account, Client, Message};
use crate::support::{hairpin, turn};

const TRADER: Account =
    Account { access_key: "HAIRPIN-TRADER-00001", session: "H01", firm: "HPIN0" };
const UUID: u64 = 1_700_000_000_000_000;
/// A key that differs from the published one.
const OTHER_KEY: &str = "AQECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
/// 500.00, far below the market.
const FAR: i64 = 500_000_000_000;
const RULES: [&str; 3] = ["cme", "unlimited", "lenient"];

/// A running `hairpin exchange`, killed when dropped.
struct RunningExchange {
    child: Child,
    gateway: SocketAddrV4,
    /// The gateway's rules as printed at startup.
    rules: String,
    _turn: MutexGuard<'static, ()>,
}

impl RunningExchange {
    fn open(args: &[&str]) -> Self {
        let turn = turn();
        // The exchange waits for 16 traders, so its own rounds never start.
        let mut command = hairpin();
        command.args(["exchange", "--feed", "tcp", "--traders", "16"]).args(args);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = stderr.next().unwrap().unwrap();
        // The remaining lines are drained, so that the exchange can write them.
        std::thread::spawn(move || stderr.for_each(drop));
        let (_, words) = line.split_once("gateway ").unwrap_or_else(|| panic!("{line}"));
        let (address, rest) = words.split_once(' ').unwrap();
        let rules = rest.split_once(", market data").unwrap().0.to_owned();
        Self { child, gateway: address.parse().unwrap(), rules, _turn: turn }
    }

    fn connect(&self) -> Client {
        Client::connect(self.gateway, TRADER, 9, UUID)
    }

    fn log_on(&self) -> Client {
        let mut client = self.connect();
        assert_eq!(client.negotiate(timestamp()).template, 501);
        assert_eq!(client.establish(timestamp()).template, 504);
        client
    }
}

impl Drop for RunningExchange {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn timestamp() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64
}

/// Returns the BusinessRejectReason of a BusinessReject521.
fn reason(message: &Message) -> u16 {
    assert_eq!(message.template, 521);
    message.u16(323)
}

/// Sends `count` orders in batches of a hundred and returns the answers.
fn orders(client: &mut Client, count: u32) -> Vec<Message> {
    let mut answers = Vec::new();
    while (answers.len() as u32) < count {
        let some = (count - answers.len() as u32).min(100);
        client.buy_often(FAR, 1, some);
        answers.extend((0..some).map(|_| client.receive()));
    }
    answers
}

#[test]
fn cme_rules_limit_the_message_rate() {
    for rules in RULES {
        let exchange = RunningExchange::open(&["--gateway-rules", rules]);
        let mut client = exchange.log_on();
        // The limit is 1,500 orders in 3 s. A slow host may need several attempts to exceed it.
        let mut refused = None;
        for _ in 0..if rules == "cme" { 10 } else { 1 } {
            let answers = orders(&mut client, 1_600);
            refused = answers.into_iter().find(|answer| answer.template != 522);
            if refused.is_some() {
                break;
            }
        }
        assert_eq!(refused.as_ref().map(reason), (rules == "cme").then_some(8), "{rules}");
    }
}

#[test]
fn rejected_logons_close_ports_unless_lenient() {
    for rules in RULES {
        let exchange = RunningExchange::open(&["--gateway-rules", rules]);
        let mut client = exchange.connect();
        for _ in 0..4 {
            let answer = client.negotiate_signed_by(OTHER_KEY, timestamp());
            assert_eq!((answer.template, answer.u16(64)), (502, 0), "{rules}");
        }
        let fifth = client.negotiate_signed_by(OTHER_KEY, timestamp());
        let good = exchange.connect().negotiate(timestamp());
        if rules == "lenient" {
            assert_eq!((fifth.template, good.template), (502, 501));
        } else {
            assert_eq!((fifth.template, fifth.u16(64)), (507, 8), "{rules}");
            assert_eq!((good.template, good.u16(64)), (507, 8), "{rules}");
        }
    }
}

#[test]
fn lost_session_cancels_orders_unless_lenient() {
    for rules in RULES {
        let exchange = RunningExchange::open(&["--gateway-rules", rules]);
        let mut client = exchange.log_on();
        orders(&mut client, 1);
        drop(client);
        let mut client = exchange.connect();
        client.next = 2;
        let answer = client.establish(timestamp());
        // PreviousSeqNo: the acknowledgment was followed by a cancel, or by no message.
        let published = if rules == "lenient" { 1 } else { 2 };
        assert_eq!((answer.template, answer.u32(20)), (504, published), "{rules}");
        if rules != "lenient" {
            client.request_retransmission(timestamp(), 2, 1);
            assert_eq!(client.receive().template, 509);
            let canceled = client.receive();
            // The ExecRestatementReason is 100.
            assert_eq!((canceled.template, canceled.u8(199)), (534, 100), "{rules}");
        }
    }
}

#[test]
fn gateway_retains_the_configured_number_of_messages() {
    for (args, oldest) in
        [(&["--kept-messages", "3"][..], 3), (&["--kept-messages", "5"], 1), (&[], 1)]
    {
        let exchange = RunningExchange::open(args);
        let mut client = exchange.log_on();
        orders(&mut client, 5);
        if oldest > 1 {
            client.request_retransmission(timestamp(), oldest - 1, 1);
            let answer = client.receive();
            assert_eq!((answer.template, answer.u16(72)), (510, 0), "{args:?}");
        }
        client.request_retransmission(timestamp(), oldest, 0);
        let announced = client.receive();
        assert_eq!((announced.template, u32::from(announced.u16(28))), (509, 6 - oldest));
        for number in oldest..=5 {
            assert_eq!(client.receive().u32(0), number);
        }
    }
}

#[test]
fn first_line_names_the_rules_and_default_is_unlimited() {
    for (args, expected) in [
        (&["--gateway-rules", "cme"][..], "with CME's limits"),
        (&["--gateway-rules", "unlimited"], "without rate limits"),
        (&["--gateway-rules", "lenient"], "without rate limits, lenient"),
        (&[], "without rate limits"),
    ] {
        assert_eq!(RunningExchange::open(args).rules, expected, "{args:?}");
    }
}

#[test]
fn invalid_values_are_rejected_in_one_line() {
    for [word, value] in [
        ["--gateway-rules", "strict"],
        ["--gateway-rules", "CME"],
        ["--gateway-rules", ""],
        ["--kept-messages", "0"],
        ["--kept-messages", "1000001"],
        ["--kept-messages", "many"],
        ["--kept-messages", "4,096"],
    ] {
        let output = hairpin().args(["exchange", word, value]).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), stderr.lines().count()), (Some(2), 1), "{stderr}");
        assert!(stderr.contains(word) && stderr.contains(value), "{word} {value}: {stderr}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn venue_decides_whether_a_cancel_needs_the_order_id() {
    for venue in ["futures", "brokertec"] {
        let exchange = RunningExchange::open(&["--venue", venue]);
        let mut client = exchange.log_on();
        // The null value of OrderID (tag 37).
        client.cancel(u64::MAX);
        let answer = client.receive();
        match venue {
            "brokertec" => assert_eq!(reason(&answer), 5),
            _ => assert_eq!(answer.template, 535),
        }
    }
}
