//! Runs the certification scripts of `examples/certification` against a gateway on loopback, and
//! the display prices of scripts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{assert_done, assert_status, hairpin};
use crate::traded_session::{ACCESS_KEY_ID, KEY, Venue};

/// The page that maps CME's cases to scripts.
const PAGE: &str = include_str!("../../../../docs/reference/certification.md");

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/certification")
}

/// Returns the names of the scripts.
fn scripts() -> Vec<String> {
    let files = fs::read_dir(examples()).unwrap().map(|file| file.unwrap().file_name());
    let names = files.map(|name| name.into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.ends_with(".script")).collect();
    names.sort();
    names
}

/// The settings of `examples/certification` with the address and account of a gateway.
struct Certification {
    folder: tempfile::TempDir,
    _venue: Venue,
}

impl Certification {
    fn new() -> Self {
        let (folder, venue) = (tempfile::tempdir().unwrap(), Venue::open());
        let mut text = fs::read_to_string(examples().join("order.toml")).unwrap();
        for (from, to) in [
            ("127.0.0.1:9100", venue.gateway.to_string().as_str()),
            ("HAIRPIN-TRADER-00001", ACCESS_KEY_ID),
            ("\"H01\"", "\"ABC\""),
            ("HPIN0", "DEFGH"),
        ] {
            assert!(text.contains(from), "{from}");
            text = text.replace(from, to);
        }
        fs::write(folder.path().join("order.toml"), text).unwrap();
        Self { folder, _venue: venue }
    }

    fn command(&self, script: &Path) -> Command {
        let mut command = hairpin();
        command.arg("order").arg(self.folder.path().join("order.toml")).arg("--script").arg(script);
        command.env("HAIRPIN_SECRET_KEY", KEY);
        command
    }

    fn run(&self, script: &str) -> Output {
        self.command(&examples().join(script)).output().unwrap()
    }

    fn run_text(&self, script: &str, args: &[&str]) -> Output {
        let path = self.folder.path().join("script");
        fs::write(&path, script).unwrap();
        self.command(&path).args(args).output().unwrap()
    }
}

fn lines(output: &Output) -> Vec<String> {
    String::from_utf8(output.stdout.clone()).unwrap().lines().map(str::to_owned).collect()
}

/// Returns the direction and name of each message printed.
fn messages(output: &Output) -> Vec<String> {
    let all = lines(output);
    let words = all.iter().map(|line| line.split(' ').collect::<Vec<_>>());
    let messages = words.filter(|words| words[1] == "in" || words[1] == "out");
    messages.map(|words| format!("{} {}", words[1], words[4])).collect()
}

#[test]
fn certification_scripts_pass_at_the_simulated_gateway() {
    for script in scripts() {
        let certification = Certification::new();
        let text = fs::read_to_string(examples().join(&script)).unwrap();
        assert!(text.starts_with("# ") && text.contains("\nexpect "), "{script} expects nothing");
        let output = certification.run(&script);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let lines = lines(&output);
        assert!(output.status.success(), "{script}: {stderr}{lines:#?}");
        assert!(lines.last().unwrap().ends_with(" disconnected"), "{script}");
    }
}

#[test]
fn certification_page_lists_every_script() {
    let spans: BTreeSet<_> = PAGE.split('`').skip(1).step_by(2).collect();
    let listed = spans.into_iter().filter(|span| span.ends_with(".script"));
    assert_eq!(listed.collect::<Vec<_>>(), scripts());
}

#[test]
fn each_run_negotiates_a_new_uuid() {
    let certification = Certification::new();
    let uuid = |output: &Output| {
        assert_done(output);
        let line = lines(output).into_iter().find(|line| line.contains(" established")).unwrap();
        line.split(' ').nth(2).unwrap().parse::<u64>().unwrap()
    };
    let first = uuid(&certification.run("order-modification.script"));
    let second = uuid(&certification.run("order-modification.script"));
    assert!(second > first, "{second} {first}");
}

#[test]
fn details_on_demand_precede_their_order() {
    let certification = Certification::new();
    let output = certification.run("party-details-on-demand.script");
    assert_done(&output);
    let expected = [
        "out PartyDetailsDefinitionRequest518",
        "out NewOrderSingle514",
        "in PartyDetailsDefinitionRequestAck519",
        "in ExecutionReportNew522",
        "out PartyDetailsDefinitionRequest518",
        "out NewOrderSingle514",
        "in PartyDetailsDefinitionRequestAck519",
        "in ExecutionReportReject523",
        "out OrderMassActionRequest529",
        "in OrderMassActionReport562",
    ];
    assert_eq!(messages(&output), expected);
}

#[test]
fn requests_without_order_id_have_none() {
    for script in ["cancel-without-order-id.script", "cancel-replace-without-order-id.script"] {
        let certification = Certification::new();
        let output = certification.run(script);
        assert_done(&output);
        let sent: Vec<_> =
            lines(&output).into_iter().filter(|line| line.contains(" out ")).collect();
        assert!(!sent[1].contains(" OrderID="), "{}", sent[1]);
    }
}

#[test]
fn registered_party_details_are_used_by_the_next_messages() {
    let certification = Certification::new();
    assert_done(&certification.run("party-details-pre-registered.script"));
    // The audit trail has the party details of each message.
    let out = certification.folder.path().join("trail");
    let mut command = hairpin();
    command.args(["order", "--audit-trail", "--journal"]);
    command.arg(certification.folder.path().join("journal")).arg("--output").arg(&out);
    assert_done(&command.output().unwrap());
    let file = fs::read_dir(&out).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(file).unwrap();
    let lines: Vec<_> = text.lines().skip(1).collect();
    assert_eq!(lines.len(), 6, "{lines:#?}");
    assert!(lines.iter().all(|line| line.contains(",7,")), "{lines:#?}");
    assert!(lines[0].contains(",CX,") && lines[0].contains(",DEFGH,ACCOUNT1,"), "{}", lines[0]);
}

/// Writes a capture with one definition: instrument 1001 with display factor 0.01.
fn definitions(path: &Path) {
    use hairpin_cme_codecs::mdp3::MDInstrumentDefinitionFuture54;
    use hairpin_sbe::Decimal;
    let mut message = [0; 1_024];
    let length = {
        let (mut root, mut groups) = MDInstrumentDefinitionFuture54::encode(&mut message).unwrap();
        root.set_security_id(1_001).set_display_factor(Decimal(10_000_000));
        groups.no_events().unwrap();
        groups.finish().unwrap()
    };
    let mut packet = vec![1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    packet.extend(u16::try_from(length + 2).unwrap().to_le_bytes());
    packet.extend(&message[..length]);
    let builder = etherparse::PacketBuilder::ethernet2([2; 6], [1, 0, 94, 0, 0, 1])
        .ipv4([10, 0, 0, 1], [224, 0, 0, 1], 1)
        .udp(14_310, 14_310);
    let mut frame = Vec::new();
    builder.write(&mut frame, &packet).unwrap();
    let file = fs::File::create(path).unwrap();
    let mut writer = pcap_file::pcap::PcapWriter::new(file).unwrap();
    let time = std::time::Duration::from_secs(1);
    let length = u32::try_from(frame.len()).unwrap();
    writer.write_packet(&pcap_file::pcap::PcapPacket::new(time, length, &frame)).unwrap();
}

#[test]
fn display_prices_are_converted_by_the_definition() {
    let certification = Certification::new();
    let path = certification.folder.path().join("definitions.pcap");
    definitions(&path);
    let args = ["--display-prices", path.to_str().unwrap()];
    let script = "buy 5 @ 9.005 HP001\nexpect new\nreplace last @ 9.01\nexpect replace\n\
                  cancel last\nexpect cancel\n";
    let output = certification.run_text(script, &args);
    assert_done(&output);
    let lines = lines(&output);
    let prices = [" Price=900.5 ", " Price=901 "];
    assert!(prices.iter().all(|price| lines.iter().any(|line| line.contains(price))), "{lines:#?}");
}

#[test]
fn display_prices_without_a_wire_price_are_errors() {
    let certification = Certification::new();
    let path = certification.folder.path().join("definitions.pcap");
    definitions(&path);
    let args = ["--display-prices", path.to_str().unwrap()];
    let output = certification.run_text("buy 5 @ 9 HP001\nbuy 5 @ 9 HP002\n", &args);
    assert_status(&output, 1);
    let stderr = String::from_utf8(output.stderr).unwrap();
    let expected = "line 2: cannot convert 9: no definition of 1002 with a display factor\n";
    assert!(stderr.ends_with(expected), "{stderr}");
    assert!(!certification.folder.path().join("journal").exists(), "nothing may be sent");
    let output = certification.run_text("quit\n", &["--display-prices", "order.toml"]);
    assert_status(&output, 1);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("cannot read definitions from order.toml"), "{stderr}");
}
