//! The words of `hairpin exchange` that choose the gateway's rules, and what a client sees of each.

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
/// Another key than the published one.
const OTHER_KEY: &str = "AQECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
/// 500.00, far below the market.
const FAR: i64 = 500_000_000_000;
const RULES: [&str; 3] = ["cme", "unlimited", "lenient"];

/// `hairpin exchange`, until it is dropped.
struct House {
    child: Child,
    gateway: SocketAddrV4,
    /// What it says of its gateway.
    rules: String,
    _turn: MutexGuard<'static, ()>,
}

impl House {
    fn open(words: &[&str]) -> Self {
        let turn = turn();
        // It waits for more traders than there will be: nothing happens but what is ordered.
        let mut command = hairpin();
        command.args(["exchange", "--feed", "tcp", "--traders", "16"]).args(words);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = said.next().unwrap().unwrap();
        // The rest is read, so that it may be said.
        std::thread::spawn(move || said.for_each(drop));
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

impl Drop for House {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn timestamp() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64
}

/// BusinessRejectReason of a BusinessReject521.
fn reason(message: &Message) -> u16 {
    assert_eq!(message.template, 521);
    message.u16(323)
}

/// Writes so many orders, a hundred at once; their answers.
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
fn cme_limits_messages_and_the_others_do_not() {
    for rules in RULES {
        let house = House::open(&["--gateway-rules", rules]);
        let mut client = house.log_on();
        // In a window of 3 s 1,500 orders pass, so that however slow this host is some time one
        // of these is the next.
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
fn all_but_the_lenient_close_ports_for_bad_logons() {
    for rules in RULES {
        let house = House::open(&["--gateway-rules", rules]);
        let mut client = house.connect();
        for _ in 0..4 {
            let answer = client.negotiate_signed_by(OTHER_KEY, timestamp());
            assert_eq!((answer.template, answer.u16(64)), (502, 0), "{rules}");
        }
        let fifth = client.negotiate_signed_by(OTHER_KEY, timestamp());
        let good = house.connect().negotiate(timestamp());
        if rules == "lenient" {
            assert_eq!((fifth.template, good.template), (502, 501));
        } else {
            assert_eq!((fifth.template, fifth.u16(64)), (507, 8), "{rules}");
            assert_eq!((good.template, good.u16(64)), (507, 8), "{rules}");
        }
    }
}

#[test]
fn all_but_the_lenient_cancel_the_orders_of_a_session_that_is_lost() {
    for rules in RULES {
        let house = House::open(&["--gateway-rules", rules]);
        let mut client = house.log_on();
        orders(&mut client, 1);
        drop(client);
        let mut client = house.connect();
        client.next = 2;
        let answer = client.establish(timestamp());
        // PreviousSeqNo: behind the acknowledgement came a cancel, or nothing.
        let published = if rules == "lenient" { 1 } else { 2 };
        assert_eq!((answer.template, answer.u32(20)), (504, published), "{rules}");
        if rules != "lenient" {
            client.request_retransmission(timestamp(), 2, 1);
            assert_eq!(client.receive().template, 509);
            let gone = client.receive();
            // ExecRestatementReason.
            assert_eq!((gone.template, gone.u8(199)), (534, 100), "{rules}");
        }
    }
}

#[test]
fn so_many_messages_are_kept() {
    for (words, oldest) in
        [(&["--kept-messages", "3"][..], 3), (&["--kept-messages", "5"], 1), (&[], 1)]
    {
        let house = House::open(words);
        let mut client = house.log_on();
        orders(&mut client, 5);
        if oldest > 1 {
            client.request_retransmission(timestamp(), oldest - 1, 1);
            let answer = client.receive();
            assert_eq!((answer.template, answer.u16(72)), (510, 0), "{words:?}");
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
fn the_first_line_says_which_rules_and_unlimited_is_the_default() {
    for (words, said) in [
        (&["--gateway-rules", "cme"][..], "with CME's limits"),
        (&["--gateway-rules", "unlimited"], "without rate limits"),
        (&["--gateway-rules", "lenient"], "without rate limits, lenient"),
        (&[], "without rate limits"),
    ] {
        assert_eq!(House::open(words).rules, said, "{words:?}");
    }
}

#[test]
fn wrong_words_are_refused_in_one_line_that_names_them() {
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
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{said}");
        assert!(said.contains(word) && said.contains(value), "{word} {value}: {said}");
        assert!(output.stdout.is_empty());
    }
}
