//! Runs `hairpin decode` on CME's packets and on invalid files.

use std::path::PathBuf;
use std::process::Command;

use hairpin_measure::counted;

/// Returns the exit status, standard output and standard error.
fn decode(args: &[&str]) -> (Option<i32>, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_hairpin")).arg("decode").args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Returns the path of a capture. Prints a note and returns `None` if CME's data is not available.
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
fn decode_prints_every_message_of_cme_packets() {
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
        let messages = counted(templates.len() - unknown, "message");
        let last = format!("1 packet, {messages}, {unknown} unknown, 0 errors\n");
        assert!(out.ends_with(&last), "{file}: {out}");
    }
}

#[test]
fn printed_values_match_packet_bytes() {
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
fn invalid_file_exits_with_one_line_and_status_1() {
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

#[test]
fn capture_ending_in_a_tcp_frame_prints_a_note() {
    // A complete Sequence506 of iLink 3 and the first 9 bytes of a second one.
    let mut frame = vec![26, 0, 0xfe, 0xca, 14, 0, 0xfa, 1, 8, 0, 8, 0];
    frame.extend([7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]);
    let segment = [&frame[..], &frame[..9]].concat();
    let mut packet = Vec::new();
    etherparse::PacketBuilder::ethernet2([0; 6], [1; 6])
        .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        .tcp(1, 2, 1, 1_000)
        .write(&mut packet, &segment)
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = write_capture(folder.path(), "cut.pcap", &packet);
    let (status, out, err) = decode(&["--framing", "ilink3", &path]);
    assert_eq!(err, "hairpin: note: the capture ends 9 bytes into a frame\n");
    assert!(out.ends_with("1 packet, 1 message, 0 unknown, 0 errors\n"), "{out}");
    assert_eq!(status, Some(0), "{out}");
    // `feed` needs market data over UDP, and names the command for other captures.
    let feed = crate::support::hairpin().args(["feed", "--pcap", path.as_str()]).output().unwrap();
    let err = String::from_utf8_lossy(&feed.stderr).into_owned();
    assert_eq!(feed.status.code(), Some(1), "{err}");
    assert!(err.ends_with("`hairpin decode` prints order entry and replays\n"), "{err}");
}

/// An invented big-endian schema with a nested group and a composite.
const SCHEMA: &str = r#"<?xml version="1.0"?>
<sbe:messageSchema xmlns:sbe="http://fixprotocol.io/2016/sbe" package="p" id="4660"
                   version="VERSION" byteOrder="bigEndian">
  <types>
    <composite name="groupSizeEncoding">
      <type name="blockLength" primitiveType="uint16"/>
      <type name="numInGroup" primitiveType="uint16"/>
    </composite>
    <composite name="Place">
      <type name="Row" primitiveType="uint8"/><type name="Seat" primitiveType="int16"/>
    </composite>
    <type name="Codes" primitiveType="uint8" length="2"/>
  </types>
  <sbe:message name="PlanVERSION" id="7">
    <field name="Number" id="1" type="uint32"/>
    <field name="Place" id="2" type="Place"/>
    <field name="Codes" id="3" type="Codes"/>
    <group name="Outer" id="4">
      <field name="A" id="5" type="char"/>
      <group name="Inner" id="6"><field name="B" id="7" type="double"/></group>
    </group>
  </sbe:message>
</sbe:messageSchema>
"#;

/// Writes a capture of one datagram: a packet header and a message of [`SCHEMA`].
fn own_capture(folder: &std::path::Path, version: u8) -> String {
    let message = [
        &[0, 9, 0, 7, 0x12, 0x34, 0, version][..],
        &[0, 1, 0, 0, 12, 0xff, 0xfe, 3, 4],
        &[0, 1, 0, 2, b'x', 0, 8, 0, 1, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0, b'y', 0, 8, 0, 0],
    ]
    .concat();
    let size = (message.len() as u16 + 2).to_le_bytes();
    let datagram = [&7_u32.to_le_bytes()[..], &9_u64.to_le_bytes(), &size, &message].concat();
    let mut packet = Vec::new();
    etherparse::PacketBuilder::ethernet2([0; 6], [1; 6])
        .ipv4([10, 0, 0, 1], [224, 0, 28, 5], 1)
        .udp(1, 2)
        .write(&mut packet, &datagram)
        .unwrap();
    write_capture(folder, &format!("v{version}.pcap"), &packet)
}

/// Writes a capture of one packet and returns its path.
fn write_capture(folder: &std::path::Path, name: &str, packet: &[u8]) -> String {
    let path = folder.join(name);
    let mut writer =
        pcap_file::pcap::PcapWriter::new(std::fs::File::create(&path).unwrap()).unwrap();
    let length = packet.len() as u32;
    let packet = pcap_file::pcap::PcapPacket::new(std::time::Duration::ZERO, length, packet);
    writer.write_packet(&packet).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Writes the schema in several versions and returns the `--schema` arguments for them.
fn own_schemas(folder: &std::path::Path, versions: &[u8]) -> Vec<String> {
    let args = versions.iter().flat_map(|version| {
        let path = folder.join(format!("v{version}.xml"));
        std::fs::write(&path, SCHEMA.replace("VERSION", &version.to_string())).unwrap();
        ["--schema".to_owned(), path.to_str().unwrap().to_owned()]
    });
    args.collect()
}

#[test]
fn messages_of_any_schema_are_printed() {
    let folder = tempfile::tempdir().unwrap();
    let path = own_capture(folder.path(), 2);
    let schemas = own_schemas(folder.path(), &[2]);
    let args = [&path, &schemas[0], &schemas[1], "--format"];
    let (status, out, err) = decode(&[&args[..], &["text"]].concat());
    assert_eq!((status, err.as_str()), (Some(0), ""));
    assert_eq!(
        out,
        "7 9 7 Plan2 Number=65536 Place.Row=12 Place.Seat=-2 Codes=3,4 Outer[0].A=x \
         Outer[0].Inner[0].B=1.5 Outer[1].A=y\n1 packet, 1 message, 0 unknown, 0 errors\n"
    );
    let (_, out, _) = decode(&[&args[..], &["json"]].concat());
    let line: serde_json::Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    let fields = serde_json::json!({
        "Number": 65536, "Place": {"Row": 12, "Seat": -2}, "Codes": [3, 4],
        "Outer": [{"A": "x", "Inner": [{"B": "1.5"}]}, {"A": "y", "Inner": []}]
    });
    assert_eq!((&line["name"], &line["fields"]), (&"Plan2".into(), &fields));
    // Without the schema nothing is decoded.
    let (status, out, err) = decode(&[&path]);
    assert_eq!(status, Some(1));
    assert!(err.ends_with("hairpin: nothing of CME's protocols in 1 packet\n"), "{err}");
    assert!(out.ends_with("1 packet, 0 messages, 0 unknown, 0 errors\n"), "{out}");
}

#[test]
fn schema_is_selected_by_message_version() {
    let folder = tempfile::tempdir().unwrap();
    for (given, version, taken) in [
        (&[1, 5, 9][..], 5, "Plan5"),
        (&[9, 5, 1], 4, "Plan5"),
        (&[1, 9, 5], 6, "Plan9"),
        (&[1, 9, 5], 12, "Plan9"),
        (&[5, 1], 9, "Plan5"),
    ] {
        let path = own_capture(folder.path(), version);
        let schemas = own_schemas(folder.path(), given);
        let args: Vec<_> = schemas.iter().map(String::as_str).chain([path.as_str()]).collect();
        let (_, out, _) = decode(&args);
        assert_eq!(out.split(' ').nth(3), Some(taken), "{given:?} {version}");
    }
}

#[test]
fn older_schema_decodes_removed_templates() {
    let Some(path) = capture("mdp3/v1.5/MdIncrementalRefreshVolume.pcap") else { return };
    let schema = path.replace(
        "captures/mdp3/v1.5/MdIncrementalRefreshVolume.pcap",
        "schemas/Cme.Futures.Mdp3.Sbe.v1.9.xml",
    );
    let (status, out, err) = decode(&[&path, "--schema", &schema]);
    assert_eq!((status, err.as_str()), (Some(0), ""));
    assert!(out.ends_with("1 packet, 2 messages, 0 unknown, 0 errors\n"), "{out}");
    assert!(out.lines().nth(1).unwrap().starts_with(
        "19321379 1446234284406158799 32 MDIncrementalRefreshBook32 \
         TransactTime=1446234284405794767 MatchEventIndicator=LastQuoteMsg|EndOfEvent \
         NoMDEntries[0].MDEntryPx=207800 NoMDEntries[0].MDEntrySize=85 "
    ));
}

#[test]
fn invalid_schema_exits_with_one_line_and_status_1() {
    let folder = tempfile::tempdir().unwrap();
    let path = own_capture(folder.path(), 1);
    let file = |name: &str, bytes: &[u8]| {
        let file = folder.path().join(name);
        std::fs::write(&file, bytes).unwrap();
        file.to_str().unwrap().to_owned()
    };
    for (schema, what) in [
        (file("empty", b""), "not XML: "),
        (file("binary", &[0xff, 0xfe, 0]), "not text in UTF-16"),
        (file("other", b"<a/>"), "line 1: messageSchema is missing"),
        (file("cut", &SCHEMA.as_bytes()[..400]), "not XML: "),
        (folder.path().to_str().unwrap().to_owned(), "Is a directory"),
        ("no/such/file.xml".to_owned(), "No such file or directory"),
    ] {
        let (status, out, err) = decode(&[&path, "--schema", &schema]);
        assert_eq!((status, out.as_str(), err.lines().count()), (Some(1), "", 1), "{err}");
        assert!(err.starts_with(&format!("hairpin: {schema}: {what}")), "{err}");
    }
}
