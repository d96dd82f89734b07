//! What the programs of the guide must do, in every language.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::thread::sleep;
use std::time::Duration;

use hairpin::order_entry::{Orders, messages::ExecutionReportCancel534};
use hairpin_mapped::{Direction, Journal, JournalSettings};

use super::{Program, Venue};

/// Each line has a symbol, and bid and ask with quantities.
pub(crate) fn best_prices_prints_each_book(best_prices: &Program) {
    for feed in ["tcp", "multicast"] {
        prints_each_book(best_prices, &Venue::open(&["--traders", "0", "--feed", feed]));
    }
}

fn prints_each_book(best_prices: &Program, venue: &Venue) {
    let mut program = venue.start(best_prices);
    // Five books come into sync; the others are ticks.
    for line in program.lines().take(50) {
        let line = line.unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        let [symbol, bids, "x", bid, "|", asks, "x", ask] = words[..] else { panic!("{line}") };
        assert!(symbol.starts_with("HP00"), "{line}");
        assert!([bids, asks].iter().all(|it| it.parse::<u32>().unwrap() > 0), "{line}");
        let [bid, ask] = [bid, ask].map(|price| price.parse::<f64>().unwrap());
        assert!(bid < ask, "{line}");
    }
}

/// Two runs use one session, with different ClOrdIDs.
pub(crate) fn buyer_resumes_the_session_in_its_journal(buyer: &Program) {
    let venue = Venue::open(&[]);
    let mut ids = Vec::new();
    for _ in 0..2 {
        let mut program = venue.start(buyer);
        let lines: Vec<String> = program.lines().map(Result::unwrap).collect();
        assert!(program.wait().success());
        let [line] = &lines[..] else { panic!("{lines:?}") };
        let (id, rest) = line.split_once(' ').unwrap();
        assert!(rest.starts_with("buy 1 HP001 @ 900: working, OrderID "), "{line}");
        ids.push(id.to_owned());
    }
    assert_ne!(ids[0], ids[1]);
    let journal = venue.journal();
    let orders: Vec<u64> = journal
        .records()
        .map(|(record, _)| record)
        .filter(|record| record.direction() == Direction::Outbound)
        .map(|record| journal.tag(record).uuid)
        .collect();
    assert_eq!(orders.len(), 2, "{orders:?}");
    assert_eq!(orders[0], orders[1], "the second run resumes the session of the first");
    assert_eq!(Orders::from_journal(&journal, 10).working().count(), 2);
}

/// The order that a run leaves is reported; with `cancel_on_quit` it is canceled, and that of the
/// earlier run too.
pub(crate) fn orders_left_are_reported_or_canceled(buyer: &Program) {
    let venue = Venue::open(&[]);
    let run = || {
        let output = buyer.command().current_dir(venue.folder.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let left = run();
    assert!(left.starts_with("hairpin: 1 order stays working at the exchange: "), "{left}");
    assert_eq!(left.lines().count(), 1, "{left}");
    let path = venue.folder.path().join("order.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let comment = "# cancel_on_quit = true ";
    assert!(text.contains(comment), "{text}");
    std::fs::write(&path, text.replace(comment, "cancel_on_quit = true ")).unwrap();
    assert_eq!(run(), "");
    assert_eq!(Orders::from_journal(&venue.journal(), 10).iter().count(), 0);
}

/// Every acknowledged order is canceled, and SIGINT ends the run gracefully.
pub(crate) fn quoter_cancels_each_order_and_stops_on_a_signal(quoter: &Program) {
    let venue = Venue::open(&["--interval-us", "2000"]);
    let mut program = venue.start(quoter);
    sleep(Duration::from_secs(3));
    program.signal("-INT");
    assert!(program.wait().success(), "a signal ends the run gracefully");
    let journal = venue.journal();
    let orders = Orders::from_journal(&journal, 10);
    let cancels = journal.records().filter(|(record, bytes)| {
        let template = bytes.get(6..8).map(|it| u16::from_le_bytes([it[0], it[1]]));
        record.direction() == Direction::Inbound
            && template == Some(ExecutionReportCancel534::TEMPLATE_ID)
    });
    let (requests, cancels) = (orders.counters().requests, cancels.count() as u64);
    assert!(cancels > 50, "{cancels} cancels of {requests} requests");
    assert!(orders.iter().count() as u64 <= requests - 2 * cancels, "orders without an answer");
}

/// Runs a program in a folder with these files, and returns its error message.
fn error_of(program: &Program, files: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        // A key file that other users can read is refused.
        std::fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
    }
    let output = program.command().current_dir(folder.path()).output().unwrap();
    assert!(!output.status.success() && output.status.signal().is_none(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Wrong files are errors of one line. `feed` opens config.xml, and `buyer` opens order.toml.
pub(crate) fn bad_input_is_an_error_of_one_line(feed: &Program, buyer: &Program) {
    const CONFIG: &str =
        "<configuration><channel id=\"318\"/><channel id=\"320\"/></configuration>";
    const ORDER: &str = "[gateway]\nprimary = [\"127.0.0.1:1\"]\n[logon]\naccess_key_id = \"K\"\n\
        secret_file = \"key\"\nsession = \"ABC\"\nfirm = \"123\"\nsystem_name = \"n\"\n\
        system_version = \"1\"\nsystem_vendor = \"v\"\n[operator]\nsender_id = \"T\"\n\
        location = \"US,IL\"\n";
    let key = ("key", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8");
    let bad_key = ("key", "not*a*key");
    let unknown = ORDER.replace("firm", "frim");
    for (program, files, expected) in [
        (feed, vec![], "cannot read config.xml: No such file or directory (os error 2)"),
        (
            feed,
            vec![("config.xml", CONFIG)],
            "cannot use config.xml: cannot find channel 310: the file has channels 318, 320",
        ),
        (buyer, vec![], "cannot read order.toml: No such file or directory (os error 2)"),
        (buyer, vec![("order.toml", &*unknown)], "cannot use order.toml: line 7: unknown field"),
        (buyer, vec![("order.toml", ORDER)], "cannot read key: No such file or directory"),
        (
            buyer,
            vec![("order.toml", ORDER), bad_key],
            "cannot use order.toml: cannot use the secret key in key: ",
        ),
        (
            buyer,
            vec![("order.toml", ORDER), key],
            "cannot use order.toml: no [journal]: give its `folder`, or `in_memory = true`",
        ),
    ] {
        let error = error_of(program, &files);
        assert!(error.starts_with(&format!("Error: {expected}")), "{error}");
        assert!(error.lines().count() == 1 && !error.contains(bad_key.1), "{error}");
    }
}

/// Rejected credentials are an error of one line, without the key.
pub(crate) fn wrong_secret_ends_the_run_without_showing_it(buyer: &Program) {
    const OTHER: &str = "HgECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
    let venue = Venue::open(&[]);
    std::fs::write(venue.folder.path().join("order.key"), OTHER).unwrap();
    let output = buyer.command().current_dir(venue.folder.path()).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.starts_with("Error: cannot log on: 0 (signature does not match)"), "{error}");
    assert!(error.lines().count() == 1 && !error.contains(OTHER), "{error}");
}

/// A journal of another process is an error of one line.
pub(crate) fn journal_in_use_is_an_error_of_one_line(buyer: &Program) {
    let venue = Venue::open(&[]);
    let settings = JournalSettings::default();
    let _journal = Journal::create_with(venue.folder.path().join("journal"), settings).unwrap();
    let output = buyer.command().current_dir(venue.folder.path()).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.starts_with("Error: cannot open the journal in journal: already open"),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1, "{error}");
}

/// An unknown interface is an error of one line: `name` receives on nope0, and `address` on
/// 192.0.2.1.
pub(crate) fn wrong_interface_is_an_error_of_one_line(name: &Program, address: &Program) {
    let venue = Venue::open(&[]);
    for (program, expected) in [
        (name, "cannot use interface nope0: interface nope0 does not exist"),
        (address, "cannot use interface 192.0.2.1: no interface has the address 192.0.2.1"),
    ] {
        let output = program.command().current_dir(venue.folder.path()).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(error, format!("Error: {expected}\n"));
    }
}

/// The journals of market segments 64 and 80 each have so many orders and cancels, and the caches
/// of both channels exist.
pub(crate) fn each_segment_has_orders(venue: &Venue, orders: u64) {
    for segment in ["64", "80"] {
        let journal = Journal::open(venue.folder.path().join("journal").join(segment)).unwrap();
        let tracked = Orders::from_journal(&journal, 10);
        assert_eq!(tracked.counters().requests, 2 * orders, "segment {segment}");
        assert_eq!(tracked.working().count(), 0, "segment {segment}");
    }
    for channel in ["310", "311"] {
        assert!(venue.folder.path().join(format!("{channel}.definitions")).exists(), "{channel}");
    }
}
