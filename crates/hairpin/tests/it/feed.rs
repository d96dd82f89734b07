//! Runs `hairpin feed --pcap` on CME's packets and on recordings of the simulated exchange.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use etherparse::PacketBuilder;
use hairpin_exchange::{
    Feed, MAX_PAYLOAD, Pace, Publication, SimulatedMarket, SimulatedMarketSettings,
};
use hairpin_measure::counted;
use hairpin_testkit::Random;
use hairpin_time::{Duration, Instant, Now, Utc};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, TsResolution};

/// Returns the exit status, standard output and standard error.
fn feed(args: &[&str]) -> (Option<i32>, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_hairpin")).arg("feed").args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Returns the path of a file of CME's data. Prints a note and returns `None` if it is not
/// available.
fn data(file: &str) -> Option<String> {
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
    Some(folder.join(file).to_str().unwrap().to_owned())
}

#[test]
fn feed_prints_every_udp_capture_of_cme() {
    let schema = data("schemas/Cme.Futures.Mdp3.Sbe.v1.9.xml");
    for (file, templates, unknown) in [
        ("v1.5/MdIncrementalRefreshBook.pcap", &["32"][..], 1),
        ("v1.5/MdIncrementalRefreshTradeSummary.pcap", &["42"], 1),
        ("v1.5/MdIncrementalRefreshVolume.pcap", &["37", "32"], 1),
        ("v1.9/MdIncrementalRefreshBook.pcap", &["46", "46"], 0),
        ("v1.9/MdIncrementalRefreshOrderBook.pcap", &["47"], 0),
        ("v1.9/MdIncrementalRefreshTradeSummary.pcap", &["48", "37", "47", "46", "46"], 0),
    ] {
        let Some(path) = data(&format!("captures/mdp3/{file}")) else { return };
        let (status, out, err) = feed(&["--pcap", &path]);
        // Messages that the current schema lacks are not processed, which is an error.
        let expected = match unknown {
            0 => String::new(),
            _ => format!(
                "hairpin: 1 message not processed: version 9 of the schema removed their \
                 templates, such as {}; `decode --schema` prints them\n",
                templates.iter().find(|name| ["32", "42"].contains(name)).unwrap()
            ),
        };
        assert_eq!((status, err), (Some(unknown as i32), expected), "{file}");
        let seen: Vec<_> = out.lines().filter_map(|line| line.split(' ').nth(2)).collect();
        assert_eq!(seen[..templates.len()], *templates, "{file}");
        let known = templates.len() - unknown;
        let (known, errors) = (counted(known, "message"), counted(unknown, "error"));
        let last = format!("\n1 packet, {known}, {unknown} unknown, {errors}\n");
        assert!(out.ends_with(&last), "{file}: {out}");
        // With the schema of that version no template is unknown. Books are of the current one.
        let (_, out, _) = feed(&["--pcap", &path, "--schema", schema.as_ref().unwrap()]);
        let count = counted(templates.len(), "message");
        let last = format!("\n1 packet, {count}, 0 unknown, {errors}\n");
        assert!(out.ends_with(&last), "{file}: {out}");
    }
}

#[test]
fn messages_are_printed_as_decode_prints_them() {
    let Some(path) = data("captures/mdp3/v1.9/MdIncrementalRefreshBook.pcap") else { return };
    let decoded = Command::new(env!("CARGO_BIN_EXE_hairpin")).args(["decode", &path]).output();
    let decoded = String::from_utf8(decoded.unwrap().stdout).unwrap();
    let (_, out, _) = feed(&["--pcap", &path, "--books"]);
    let (callbacks, messages): (Vec<_>, Vec<_>) =
        out.lines().partition(|line| line.split(' ').nth(2) == Some("-"));
    assert_eq!(messages[..2], decoded.lines().collect::<Vec<_>>()[..2]);
    // The books start empty. After the event they contain the levels of its entries.
    assert_eq!(
        callbacks[0],
        "1028095 1536760535685381248 - TopOfBook SecurityID=157660 Symbol=- BidPx=- BidSize=- \
         BidOrders=- AskPx=15250 AskSize=1 AskOrders=1"
    );
    // Eight of the fourteen books have an entry that adds a level. The others delete unknown
    // levels.
    assert_eq!(callbacks.len(), 8);
    assert!(messages[2].ends_with(" 1 event, 1 best-price change, 15 entries for unknown levels"));
}

#[test]
fn invalid_capture_exits_with_one_line_and_status_1() {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    for (file, what) in
        [(source, "not a pcap or pcapng file"), ("no/such/file.pcap", "No such file or directory")]
    {
        let (status, out, err) = feed(&["--pcap", file]);
        assert_eq!((status, out.as_str(), err.lines().count()), (Some(1), "", 1), "{err}");
        assert!(err.starts_with(&format!("hairpin: {file}: {what}")), "{err}");
    }
    let (status, _, err) = feed(&[]);
    assert_eq!((status, err.lines().count()), (Some(2), 1), "{err}");
    let Some(path) = data("captures/ilink3/Sequence.pcap") else { return };
    let (status, _, err) = feed(&["--pcap", &path]);
    assert_eq!(status, Some(1));
    let other = "1 TCP packet found: `hairpin decode` prints order entry and replays";
    let expected = format!("hairpin: {path}: no market data over UDP in this capture; {other}\n");
    assert_eq!(err, expected);
}

/// Writes a configuration with one channel whose sides have one group each.
fn two_sides(folder: &Path) -> String {
    let path = folder.join("channel.toml");
    let side = |side, number| {
        format!(
            "[[channel.connection]]\nfeed = \"I\"\nside = \"{side}\"\n\
             group = \"239.196.0.{number}\"\nport = 14330\n"
        )
    };
    let text = format!("[[channel]]\nid = \"310\"\n{}{}", side('A', 1), side('B', 2));
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn two_interfaces_are_given_together() {
    let folder = tempfile::tempdir().unwrap();
    let config = two_sides(folder.path());
    let args = ["--config", &config, "--interface-a", "lo", "--interface-b", "lo", "--for", "0.1"];
    let (status, out, err) = feed(&args);
    assert_eq!((status, err.as_str()), (Some(0), ""), "{out}");
    for wrong in [
        &["--config", &config, "--interface-a", "lo"][..],
        &["--config", &config, "--interface-b", "lo"],
        &["--config", &config, "--interface", "lo", "--interface-a", "lo", "--interface-b", "lo"],
        &["--pcap", "-", "--interface-a", "lo", "--interface-b", "lo"],
        &["--pcap", "-", "--timestamps", "hardware"],
    ] {
        let (status, _, err) = feed(wrong);
        assert_eq!((status, err.lines().count()), (Some(2), 1), "{wrong:?}: {err}");
    }
    let (status, _, err) =
        feed(&["--config", &config, "--interface-a", "lo", "--interface-b", "none0"]);
    assert_eq!(status, Some(1));
    assert!(err.contains("none0"), "{err}");
}

#[test]
fn hardware_timestamps_need_a_capable_interface() {
    let folder = tempfile::tempdir().unwrap();
    let config = two_sides(folder.path());
    let args = ["--config", &config, "--interface", "lo", "--timestamps", "hardware"];
    let (status, out, err) = feed(&args);
    assert_eq!((status, out.as_str()), (Some(1), ""));
    let expected = "hairpin: cannot use hardware timestamps of lo: the NIC or its driver takes \
                    none of received packets; use --timestamps software\n";
    assert_eq!(err, expected);
}

/// A channel of the simulated exchange and its captured packets.
struct Recording {
    market: SimulatedMarket,
    now: Now,
    random: Random,
    /// The capture time in nanoseconds and the complete frame of each packet.
    frames: Vec<(u64, Vec<u8>)>,
    lost: u64,
}

/// The time between two packets of the exchange.
const STEP: Duration = Duration::from_micros(50);

impl Recording {
    fn new(settings: &SimulatedMarketSettings) -> Self {
        let now = Now {
            monotonic: Instant::from_nanos(1_000_000_000),
            utc: Utc::from_nanos(1_767_225_600_000_000_000),
        };
        let market = SimulatedMarket::new(settings, now);
        Self { market, now, random: Random::new(5), frames: Vec::new(), lost: 0 }
    }

    /// Sends the next due packet, and returns `false` if there is no due packet.
    ///
    /// Line A never loses packets. Line B is later and loses one packet in ten. Either line may
    /// delay a packet.
    fn send(&mut self) -> bool {
        let mut packet = [0; MAX_PAYLOAD];
        let transmit = self.market.publisher_mut().poll_transmit(self.now, &mut packet);
        let Some(transmit) = transmit else { return false };
        let port = match transmit.feed {
            Feed::Incremental => 1,
            Feed::Instruments => 2,
            Feed::Snapshots | Feed::SnapshotOrders => 3,
        };
        for side in [1, 2] {
            if side == 2 && self.random.one_in(10) {
                self.lost += 1;
                continue;
            }
            let late = if self.random.one_in(20) { self.random.below(400_000) } else { 0 };
            let at = self.now.utc.as_nanos() + u64::from(side) * 7_000 + late;
            let builder = PacketBuilder::ethernet2([0; 6], [1; 6])
                .ipv4([10, 0, 0, 1], [239, 192, 0, side], 1)
                .udp(9_000, port);
            let mut frame = Vec::new();
            builder.write(&mut frame, &packet[..transmit.length]).unwrap();
            self.frames.push((at, frame));
        }
        self.now = Now { monotonic: self.now.monotonic + STEP, utc: self.now.utc + STEP };
        true
    }

    /// Advances the order flow by one step and sends its packets and the due packets of the loops.
    fn tick(&mut self) {
        self.now = Now { monotonic: self.now.monotonic + STEP, utc: self.now.utc + STEP };
        let (_, publication) = self.market.step(self.now).unwrap();
        assert!(matches!(publication, Publication::Event(_)));
        while self.send() {}
    }

    fn write(&mut self, path: &Path) {
        self.frames.sort_by_key(|(at, _)| *at);
        let file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
        let header = PcapHeader {
            datalink: DataLink::ETHERNET,
            ts_resolution: TsResolution::NanoSecond,
            ..PcapHeader::default()
        };
        let mut writer = PcapWriter::with_header(file, header).unwrap();
        for (at, frame) in &self.frames {
            let at = std::time::Duration::from_nanos(*at);
            writer.write_packet(&PcapPacket::new(at, frame.len() as u32, frame)).unwrap();
        }
    }

    /// Records `ticks` ticks, after enough of the loops for a channel to synchronize.
    fn run(&mut self, ticks: u64) {
        while self.market.publisher().has_event() {
            self.send();
        }
        for _ in 0..200 {
            self.send();
        }
        self.market.publisher_mut().set_pace(Pace::Paced, self.now.monotonic);
        for _ in 0..ticks {
            self.tick();
        }
    }
}

#[test]
fn recording_has_a_best_price_change_per_tick() {
    const TICKS: u64 = 10_000;
    let settings = SimulatedMarketSettings::default();
    let mut recording = Recording::new(&settings);
    recording.run(TICKS);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recording.pcap");
    recording.write(&path);
    assert!(recording.lost > 500, "too few lost packets: {}", recording.lost);

    let (status, out, err) = feed(&["--pcap", path.to_str().unwrap(), "--books"]);
    assert_eq!((status, err.as_str()), (Some(0), ""));
    let lines: Vec<_> = out.lines().collect();
    let [.., market, counts] = lines[..] else { panic!("{out}") };
    let events = recording.market.publisher().events();
    assert_eq!(
        market,
        format!(
            "100 of 100 instruments in sync, 0 gaps, {events} events, {TICKS} best-price changes, \
             0 entries for unknown levels"
        )
    );
    let packets = recording.frames.len();
    assert!(counts.starts_with(&format!("{packets} packets, ")), "{counts}");
    assert!(counts.ends_with(" messages, 0 unknown, 0 errors"), "{counts}");
    check_books(&recording.market, &settings, &lines);
}

/// Checks that the last printed top of each book equals the last one published.
fn check_books(market: &SimulatedMarket, settings: &SimulatedMarketSettings, lines: &[&str]) {
    let mut last = HashMap::new();
    for line in lines.iter().filter(|line| line.contains(" - TopOfBook ")) {
        let (_, book) = line.split_once("SecurityID=").unwrap();
        let (id, book) = book.split_once(' ').unwrap();
        last.insert(id.parse::<i32>().unwrap(), book.to_owned());
    }
    for (index, instrument) in (0..).zip(&settings.instruments) {
        let published = market.publisher().published(index);
        let [bid, ask] = published.sides.map(|side| side.levels()[0]);
        let book = format!(
            "Symbol={} BidPx={} BidSize={} BidOrders={} AskPx={} AskSize={} AskOrders={}",
            instrument.symbol,
            bid.price,
            bid.quantity,
            bid.orders,
            ask.price,
            ask.quantity,
            ask.orders
        );
        assert_eq!(last[&instrument.security_id], book);
    }
}
