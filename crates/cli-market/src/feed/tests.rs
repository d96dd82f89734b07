//! Tests with captures built here, and with captures of random bytes.

use std::io::Seek;

use etherparse::PacketBuilder;
use hairpin_cme_codecs::mdp3::{
    AdminHeartbeat12, MDEntryTypeBook, MDIncrementalRefreshBook46, MDUpdateAction,
    MatchEventIndicator, Price9,
};
use hairpin_feed_handler::{Feed, FeedLine, Input};
use hairpin_time::{Instant, Now, Utc};
use pcap_file::pcap::{PcapPacket, PcapWriter};
use proptest::prelude::*;

use super::*;

/// Returns a packet of the incremental feed: one price level of instrument 5, and the event's end.
fn packet(sequence: u32, action: MDUpdateAction, price: i64) -> Vec<u8> {
    let mut buffer = [0; 128];
    let (mut root, mut groups) = MDIncrementalRefreshBook46::encode(&mut buffer).unwrap();
    root.set_match_event_indicator(MatchEventIndicator::END_OF_EVENT);
    let mut entries = groups.no_md_entries().unwrap();
    let mut entry = entries.push().unwrap();
    entry.set_security_id(5).set_rpt_seq(sequence).set_md_entry_px(Price9(price));
    entry.set_md_entry_size(2).set_md_price_level(1).set_md_update_action(action);
    entry.set_md_entry_type(MDEntryTypeBook::BID);
    let length = groups.finish().unwrap();
    framed(sequence, &buffer[..length])
}

fn heartbeat(sequence: u32) -> Vec<u8> {
    let mut buffer = [0; AdminHeartbeat12::ENCODED_LENGTH];
    AdminHeartbeat12::encode(&mut buffer).unwrap();
    framed(sequence, &buffer)
}

fn framed(sequence: u32, message: &[u8]) -> Vec<u8> {
    let (time, size) = (u64::from(sequence) * 10, message.len() as u16 + 2);
    [&sequence.to_le_bytes()[..], &time.to_le_bytes(), &size.to_le_bytes(), message].concat()
}

/// Returns a capture of datagrams: milliseconds, last byte of the group, payload.
fn captured(datagrams: &[(u64, u8, Vec<u8>)]) -> Vec<u8> {
    let mut writer = PcapWriter::new(Vec::new()).unwrap();
    for (at, group, payload) in datagrams {
        let mut frame = Vec::new();
        PacketBuilder::ethernet2([0; 6], [1; 6])
            .ipv4([10, 0, 0, 1], [239, 192, 0, *group], 1)
            .udp(1, 2)
            .write(&mut frame, payload)
            .unwrap();
        let at = std::time::Duration::from_millis(*at);
        writer.write_packet(&PcapPacket::new(at, frame.len() as u32, &frame)).unwrap();
    }
    writer.into_writer()
}

#[test]
fn missing_hardware_timestamps_have_a_cause() {
    let missing = |state| missing_timestamps("eth0", state);
    let cause = missing(InterfaceTimestamping::default()).unwrap();
    assert!(cause.starts_with("the NIC or its driver takes none"), "{cause}");
    let capable = InterfaceTimestamping { hardware_receive: true, ..Default::default() };
    assert_eq!(missing(capable).unwrap(), "the NIC has no clock (/dev/ptp)");
    let off = InterfaceTimestamping { clock: Some(0), ..capable };
    let expected = "they are off; enable them by hwstamp_ctl -i eth0 -r 1";
    assert_eq!(missing(off).unwrap(), expected);
    assert_eq!(missing(InterfaceTimestamping { receive_enabled: true, ..off }), None);
}

static NO_NAMES: Names = Names { securities: Vec::new(), groups: Vec::new(), assets: Vec::new() };

/// Returns options for lines of text.
fn options<'a>(codecs: &'a Codecs<'a>, filter: &'a Filter, books: bool) -> PrintOptions<'a> {
    PrintOptions {
        codecs,
        format: Format::Text,
        messages: true,
        books,
        callbacks: false,
        filter,
        names: &NO_NAMES,
        instruments: CaptureGroups::MAX_INSTRUMENTS,
        orders: OrderBooks::None,
        statistics: None,
        watch: None,
    }
}

/// Returns standard output, standard error, and the counts.
fn feed_bytes(bytes: &[u8], books: bool) -> io::Result<(String, String, DecodeCounts)> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    let (codecs, filter) = (Codecs::default(), Filter::default());
    let options = options(&codecs, &filter, books);
    let (mut counts, mut out, mut err) = (DecodeCounts::default(), Vec::new(), Vec::new());
    let paths = [file.path().to_owned()];
    let source = (&paths[..], Speed::FlatOut, None);
    feed(source, None, options, &mut counts, (&mut out, &mut err), &|| false)?;
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ok((text(out), text(err), counts))
}

/// Returns the lines that are not messages, without the packet's time.
fn told(out: &str) -> Vec<&str> {
    out.lines().filter_map(|line| line.split_once(" - ")).map(|(_, told)| told).collect()
}

#[test]
fn sides_are_arbitrated_and_books_told_at_the_events_end() {
    let new = packet(1, MDUpdateAction::NEW, 3_000_000_000);
    let change = packet(2, MDUpdateAction::CHANGE, 3_000_000_000);
    let next = packet(3, MDUpdateAction::NEW, 4_000_000_000);
    let bytes = captured(&[
        (1, 1, new.clone()),
        (1, 2, new),
        (2, 2, next.clone()),
        (3, 1, change.clone()),
        (4, 2, change),
        (4, 1, next),
        (5, 1, heartbeat(4)),
    ]);
    let (out, err, counts) = feed_bytes(&bytes, true).unwrap();
    assert_eq!((err.as_str(), counts.packets, counts.messages), ("", 7, 4));
    let sequences: Vec<_> = out.lines().filter(|line| !line.contains(" - ")).collect();
    let sequences: Vec<_> = sequences.iter().map(|line| &line[..5]).collect();
    assert_eq!(sequences[..4], ["1 10 ", "2 20 ", "3 30 ", "4 40 "]);
    let top = |price| {
        format!(
            "TopOfBook SecurityID=5 Symbol=- BidPx={price} BidSize=2 BidOrders=- AskPx=- \
             AskSize=- AskOrders=-"
        )
    };
    assert_eq!(told(&out), [top(3), top(3), top(4)]);
    let market = "1 of 1 instrument in sync, 0 gaps, 3 events, 2 best-price changes, \
                  0 entries for unknown levels\n7 packets, 4 messages, 0 unknown, 0 errors\n";
    assert!(out.ends_with(market), "{out}");
}

#[test]
fn detects_gap_by_capture_time() {
    let [one, three] = [1, 3].map(|sequence| packet(sequence, MDUpdateAction::NEW, 1));
    let late = packet(2, MDUpdateAction::NEW, 1);
    let of = |at| captured(&[(1, 1, one.clone()), (2, 1, three.clone()), (at, 1, late.clone())]);
    let (out, _, counts) = feed_bytes(&of(3), true).unwrap();
    assert_eq!(
        (told(&out).iter().any(|told| told.starts_with("Gap")), counts.messages),
        (false, 3)
    );
    let (out, _, counts) = feed_bytes(&of(30), true).unwrap();
    assert!(told(&out).contains(&"Gap First=2 Count=1"), "{out}");
    assert_eq!(counts.messages, 2);
    assert!(out.contains(", 1 gap, "), "{out}");
    // Waiting ends with the capture.
    let (out, _, counts) = feed_bytes(&captured(&[(1, 1, one), (2, 1, three)]), true).unwrap();
    assert!(told(&out).contains(&"Gap First=2 Count=1"), "{out}");
    assert_eq!(counts.messages, 2);
}

#[test]
fn reports_and_counts_error_once() {
    let mut malformed = packet(2, MDUpdateAction::NEW, 1);
    // The group's block length.
    malformed[33] = 0xff;
    let mut foreign = heartbeat(3);
    foreign[18] = 9;
    let deletion = packet(4, MDUpdateAction::DELETE, 1);
    let bytes = captured(&[
        (1, 1, heartbeat(1)),
        (2, 1, malformed),
        (3, 1, foreign),
        (4, 1, deletion),
        (5, 1, heartbeat(5)[..11].to_vec()),
        (6, 9, b"not market data".to_vec()),
    ]);
    let (out, err, counts) = feed_bytes(&bytes, false).unwrap();
    assert_eq!(
        err,
        "hairpin: packet 2: template 46: group with tag 268 is truncated\n\
         hairpin: packet 5: cannot decode packet: 11 bytes are fewer than the 12 of its header\n"
    );
    assert_eq!(counts, DecodeCounts { packets: 6, messages: 2, unknown: 1, errors: 2 });
    assert!(out.contains("1 entry for unknown levels"), "{out}");
}

/// A channel on the network, with its own clock.
struct Received<'a> {
    channel: Channel,
    printer: Printer<'a, &'a mut Vec<u8>, &'a mut Vec<u8>>,
    now: Now,
}

impl Received<'_> {
    fn packet(&mut self, feed: Feed, side: FeedLine, packet: &[u8]) {
        let input = Input { feed, line: side, received: None };
        self.channel.handle_packet(self.now, input, packet, &mut self.printer);
        while self.channel.poll_action().is_some() {}
    }

    /// Lets time pass, and handles each deadline when it is due.
    fn wait(&mut self, span: Duration) {
        let end = self.now.monotonic + span;
        while let Some(due) = self.channel.poll_timeout().filter(|&due| due <= end) {
            self.now.monotonic = due.max(self.now.monotonic);
            self.channel.handle_timeout(self.now, &mut self.printer);
        }
        self.now.monotonic = end;
    }
}

/// Returns the lines of `--books` while `play` runs.
fn received(settings: Settings, play: impl FnOnce(&mut Received<'_>)) -> Vec<String> {
    let (codecs, filter) = (Codecs::default(), Filter::default());
    let (mut counts, mut out, mut err) = (DecodeCounts::default(), Vec::new(), Vec::new());
    let options = options(&codecs, &filter, true);
    let printer = Printer::new(options, "", settings.late_join, &mut counts, (&mut out, &mut err));
    let now = Now { monotonic: Instant::from_nanos(1_000_000_000), utc: Utc::EPOCH };
    let printer = printer.unwrap().of_network();
    let mut received = Received { channel: Channel::new(settings), printer, now };
    play(&mut received);
    received.printer.outcome().unwrap();
    drop(received);
    told(&String::from_utf8(out).unwrap()).into_iter().map(str::to_owned).collect()
}

#[test]
fn silence_is_told_of_a_side_a_feed_and_the_channel() {
    let settings = Settings { silence: Duration::from_secs(30), ..live_settings() };
    let told = received(settings, |it| {
        for side in FeedLine::ALL {
            it.packet(Feed::Incremental, side, &heartbeat(1));
        }
        it.wait(Duration::from_secs(20));
        it.packet(Feed::Incremental, FeedLine::B, &heartbeat(2));
        it.wait(Duration::from_secs(60));
        it.packet(Feed::Incremental, FeedLine::A, &heartbeat(3));
        it.wait(Duration::from_secs(5));
    });
    assert_eq!(
        told,
        [
            "Silence State=Begins Feed=incremental Side=A",
            "Silence State=Begins Feed=incremental Side=B",
            "Silence State=Begins Feed=incremental Side=-",
            "Silence State=Begins Feed=- Side=-",
            "Silence State=Ends Feed=incremental Side=A",
            "Silence State=Ends Feed=incremental Side=-",
            "Silence State=Ends Feed=- Side=-",
        ]
    );
}

#[test]
fn prints_outcome_of_replay() {
    let settings = Settings { replay: Some(Refill::default()), ..live_settings() };
    let told = received(settings, |it| {
        it.packet(Feed::Incremental, FeedLine::A, &heartbeat(1));
        it.packet(Feed::Incremental, FeedLine::A, &heartbeat(4));
        it.wait(Duration::from_secs(1));
        it.packet(Feed::Replay, FeedLine::A, &heartbeat(2));
        it.packet(Feed::Replay, FeedLine::A, &heartbeat(3));
        it.packet(Feed::Incremental, FeedLine::A, &heartbeat(6));
        it.wait(Duration::from_secs(20));
    });
    assert_eq!(
        told,
        [
            "Replay Update=Requested First=2 Last=3 Attempt=1",
            "Replay Update=Filled First=2 Last=3",
            "Replay Update=Requested First=5 Last=5 Attempt=1",
            "Replay Update=Requested First=5 Last=5 Attempt=2",
            "Replay Update=Requested First=5 Last=5 Attempt=3",
            "Replay Update=GivenUp First=5 Last=5 Reason=TimedOut",
            "Gap First=5 Count=1",
        ]
    );
}

/// Returns the settings of a channel on the network of which only the incremental feed is
/// available.
fn live_settings() -> Settings {
    let group = "239.1.1.1:1".parse().unwrap();
    CaptureGroups::new([(group, Feed::Incremental, FeedLine::A)]).settings(OrderBooks::None)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn changed_captures_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
    ) {
        let mut bytes = captured(&[
            (1, 1, packet(1, MDUpdateAction::NEW, 1)),
            (1, 2, packet(1, MDUpdateAction::NEW, 1)),
            (2, 1, packet(3, MDUpdateAction::OVERLAY, 2)),
            (3, 1, heartbeat(4)),
        ]);
        for (place, value) in changes {
            *place.get_mut(&mut bytes) = value;
        }
        let _ = feed_bytes(&bytes, true);
    }
}
