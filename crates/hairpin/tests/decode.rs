//! `hairpin decode` on CME's own packets, and on files that are none.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;
use std::process::Command;

/// Status, standard output, standard error.
fn decode(words: &[&str]) -> (Option<i32>, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_hairpin")).arg("decode").args(words).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The path of a capture, or `None`, said aloud, if real data is not at hand.
fn capture(file: &str) -> Option<String> {
    let folder = match std::env::var_os("HAIRPIN_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
    };
    if !folder.is_dir() {
        let is_required = std::env::var_os("HAIRPIN_DATA_REQUIRED").is_some();
        assert!(!is_required, "no real data at {}", folder.display());
        println!("skipped: no real data at {}", folder.display());
        return None;
    }
    Some(folder.join("captures").join(file).to_str().unwrap().to_owned())
}

#[test]
fn prints_every_message_of_cmes_packets() {
    for (file, templates, unknown) in [
        ("mdp3/v1.9/MdIncrementalRefreshBook.pcap", &["46", "46"][..], 0),
        ("mdp3/v1.9/MdIncrementalRefreshTradeSummary.pcap", &["48", "37", "47", "46", "46"], 0),
        ("mdp3/v1.9/MdIncrementalRefreshOrderBook.pcap", &["47"], 0),
        ("mdp3/v1.12/MdIncrementalRefreshBookLongQty.pcap", &["64"], 0),
        ("mdp3/v1.5/MdIncrementalRefreshVolume.pcap", &["37", "32"], 1),
        ("ilink3/Sequence.pcap", &["506"], 0),
        ("ilink3/ExecutionReportStatus.pcap", &["532"], 0),
    ] {
        let Some(path) = capture(file) else { return };
        let (status, out, err) = decode(&[&path]);
        assert_eq!((status, err.as_str()), (Some(0), ""), "{file}");
        let seen: Vec<_> = out.lines().filter_map(|line| line.split(' ').nth(2)).collect();
        assert_eq!(seen[..templates.len()], *templates, "{file}");
        let messages = templates.len() - unknown;
        let last = format!("1 packets, {messages} messages, {unknown} unknown, 0 errors\n");
        assert!(out.ends_with(&last), "{file}: {out}");
    }
}

#[test]
fn values_are_those_of_the_packets_bytes() {
    let Some(path) = capture("mdp3/v1.9/MdIncrementalRefreshTradeSummary.pcap") else { return };
    let (_, out, _) = decode(&[&path]);
    let lines: Vec<_> = out.lines().collect();
    assert!(lines[0].starts_with(
        "884140 1536760535682568739 48 MDIncrementalRefreshTradeSummary48 \
         TransactTime=1536760535670166278 MatchEventIndicator=LastTradeMsg \
         NoMDEntries[0].MDEntryPx=12952 NoMDEntries[0].MDEntrySize=2 \
         NoMDEntries[0].SecurityID=170506 NoMDEntries[0].RptSeq=20185 \
         NoMDEntries[0].NumberOfOrders=3 NoMDEntries[0].AggressorSide=Sell(2) "
    ));
    assert!(
        lines[0].ends_with("NoOrderIDEntries[2].OrderID=88463940665 NoOrderIDEntries[2].LastQty=1")
    );
    assert!(lines[4].contains(" MatchEventIndicator=LastImpliedMsg|EndOfEvent "));
    assert!(lines[4].contains(" NoMDEntries[0].MDEntryType=ImpliedBid(E) "));
    assert!(lines[4].ends_with(" NoMDEntries[0].TradeableSize=-"));

    let path = capture("ilink3/ExecutionReportStatus.pcap").unwrap();
    let (_, out, _) = decode(&[&path, "--framing", "ilink3"]);
    assert!(out.starts_with(
        "1 1585839231829734645 532 ExecutionReportStatus532 SeqNum=1 UUID=1585839227794207 \
         Text=\"Order Status Not Found\" ExecID=0 SenderID=TS ClOrdID=- "
    ));
    assert!(out.contains(" Location=US "));
    assert!(out.contains(" OrdStatus=Undefined(U) ExecType=I OrdType=- Side=Buy(1) "));
}

#[test]
fn a_bad_or_missing_file_is_one_line_and_status_1() {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    for (file, what) in [
        (source, "not a pcap or pcapng file"),
        ("no/such/file.pcap", "No such file or directory"),
        (env!("CARGO_MANIFEST_DIR"), "Is a directory"),
    ] {
        let (status, out, err) = decode(&[file]);
        assert_eq!((status, out.as_str()), (Some(1), ""), "{file}");
        assert!(err.starts_with(&format!("hairpin: {file}: {what}")), "{err}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }
}
