use std::net::SocketAddrV4;

use hairpin_cme_codecs::mdp3::*;
use hairpin_endpoint::capture::{CaptureClock, CaptureFormat, CaptureWriter};
use hairpin_time::Utc;

use super::*;

/// The group with this last byte and this port.
fn group(number: u8) -> SocketAddr {
    SocketAddr::from(([239, 1, 1, number], 14_310))
}

/// A message, from MsgSize on.
fn message(encode: impl FnOnce(&mut [u8]) -> usize) -> Vec<u8> {
    let mut buffer = [0; 1_024];
    let length = encode(&mut buffer);
    [&(length as u16 + 2).to_le_bytes()[..], &buffer[..length]].concat()
}

fn heartbeat() -> Vec<u8> {
    message(|buffer| {
        AdminHeartbeat12::encode(buffer).unwrap();
        AdminHeartbeat12::ENCODED_LENGTH
    })
}

/// A definition of channel 310, in the loop with TotNumReports (911).
fn definition(id: i32, reports: Option<u32>) -> Vec<u8> {
    definition_of(310, id, reports)
}

fn definition_of(channel: i16, id: i32, reports: Option<u32>) -> Vec<u8> {
    message(|buffer| {
        let (mut root, groups) = MDInstrumentDefinitionFuture54::encode(buffer).unwrap();
        root.set_security_id(id).set_tot_num_reports(reports).set_appl_id(channel);
        groups.finish().unwrap()
    })
}

/// A book entry, whose RptSeq makes it different from others.
fn book(id: i32, rpt_seq: u32) -> Vec<u8> {
    message(|buffer| {
        let (_, mut groups) = MDIncrementalRefreshBook46::encode(buffer).unwrap();
        let mut entries = groups.no_md_entries().unwrap();
        entries.push().unwrap().set_security_id(id).set_rpt_seq(rpt_seq);
        groups.finish().unwrap()
    })
}

fn prices(id: i32, last: u32, reports: u32) -> Vec<u8> {
    message(|buffer| {
        let (mut root, groups) = SnapshotFullRefresh52::encode(buffer).unwrap();
        root.set_security_id(id).set_last_msg_seq_num_processed(last).set_tot_num_reports(reports);
        groups.finish().unwrap()
    })
}

fn orders(id: i32, last: u32, reports: u32) -> Vec<u8> {
    message(|buffer| {
        let (mut root, groups) = SnapshotFullRefreshOrderBook53::encode(buffer).unwrap();
        root.set_security_id(id).set_last_msg_seq_num_processed(last).set_tot_num_reports(reports);
        groups.finish().unwrap()
    })
}

/// Datagrams with their group.
#[derive(Default)]
struct Script(Vec<(u8, Vec<u8>)>);

impl Script {
    /// Adds a packet of group `to`: its number, its SendingTime in ms, and its messages.
    fn packet(&mut self, to: u8, number: u32, sent: u64, messages: &[Vec<u8>]) -> &mut Self {
        let header = [&number.to_le_bytes()[..], &(sent * 1_000_000).to_le_bytes()].concat();
        self.0.push((to, [header, messages.concat()].concat()));
        self
    }

    /// Adds a packet to several groups.
    fn both(&mut self, to: [u8; 2], number: u32, sent: u64, messages: &[Vec<u8>]) -> &mut Self {
        for to in to {
            self.packet(to, number, sent, messages);
        }
        self
    }

    /// Detects the groups of a file without interface names.
    fn detect(&self) -> Result<Vec<(u8, Feed, FeedLine)>, String> {
        self.detect_named(CaptureFormat::Pcap, |_| String::new())
    }

    /// Detects the groups of a file that Hairpin's recorder could have written, with interfaces
    /// named by `name`.
    fn detect_named(
        &self,
        format: CaptureFormat,
        name: impl Fn(u8) -> String,
    ) -> Result<Vec<(u8, Feed, FeedLine)>, String> {
        let mut file = Vec::new();
        let mut writer = CaptureWriter::new(&mut file, format).unwrap();
        let sender: SocketAddrV4 = "10.0.0.1:1".parse().unwrap();
        for (at, (to, bytes)) in (1_u64..).zip(&self.0) {
            let name = name(*to);
            let channel = name.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
            let description = format!("channel {channel}, group {to}");
            let interface = writer.interface(&name, &description, CaptureClock::Software).unwrap();
            let SocketAddr::V4(group) = group(*to) else { unreachable!() };
            writer.datagram(interface, Utc::from_nanos(at), [sender, group], bytes).unwrap();
        }
        drop(writer);
        let groups = CaptureGroups::detect(&file[..]).map_err(|error| error.to_string())?;
        let of = |(address, feed, line): &(SocketAddr, Feed, FeedLine)| {
            let SocketAddr::V4(address) = address else { unreachable!() };
            (address.ip().octets()[3], *feed, *line)
        };
        Ok(groups.0.iter().map(of).collect())
    }
}

const A: FeedLine = FeedLine::A;
const B: FeedLine = FeedLine::B;

/// Adds a whole channel: lines A and B of the incremental feed (1, 2), of the instruments (3, 4),
/// of S (5, 6) and of SMBO (7, 8), with two instruments. Line B has SendingTimes of its own.
fn whole_channel(smbo_has_prices: bool) -> Script {
    let mut script = Script::default();
    script.packet(1, 100, 0, &[heartbeat()]).packet(2, 100, 3, &[heartbeat()]);
    for pass in [10, 20, 30] {
        let last = 100 + pass as u32;
        for (line, late) in [(0, 0), (1, 4)] {
            for (number, id) in [(1, 1_001), (2, 1_002)] {
                let sent = pass + late + u64::from(number);
                script.packet(3 + line, number, sent, &[definition(id, Some(2))]);
                script.packet(5 + line, number, sent, &[prices(id, last, 2)]);
                let mut messages = vec![orders(id, last, 2)];
                if smbo_has_prices {
                    messages.insert(0, prices(id, last, 2));
                }
                script.packet(7 + line, number, sent, &messages);
            }
            script.packet(1 + line, last + 1, pass + late, &[book(1_001, last)]);
        }
    }
    script
}

const WHOLE: [(u8, Feed, FeedLine); 8] = [
    (1, Feed::Incremental, A),
    (2, Feed::Incremental, B),
    (3, Feed::Instrument, A),
    (4, Feed::Instrument, B),
    (5, Feed::Snapshot, A),
    (6, Feed::Snapshot, B),
    (7, Feed::SnapshotOrders, A),
    (8, Feed::SnapshotOrders, B),
];

#[test]
fn feeds_follow_from_messages_and_lines_from_equal_packets() {
    for smbo_has_prices in [true, false] {
        let script = whole_channel(smbo_has_prices);
        assert_eq!(script.detect().unwrap(), WHOLE);
        // Each part of the channel: any set of groups.
        for groups in 1..256_u32 {
            let has = |group: u8| groups >> (group - 1) & 1 == 1;
            let part = Script(script.0.iter().filter(|(to, _)| has(*to)).cloned().collect());
            let mut expected: Vec<_> = WHOLE.iter().filter(|(to, ..)| has(*to)).copied().collect();
            for (group, feed, line) in &mut expected {
                // Without its line A, line B is the first.
                *line = if group.is_multiple_of(2) && has(*group - 1) { B } else { A };
                // One loop with both is that of a conflated group.
                if smbo_has_prices && *feed == Feed::SnapshotOrders && !has(5) && !has(6) {
                    *feed = Feed::Snapshot;
                }
            }
            assert_eq!(part.detect().unwrap(), expected, "{groups:b}");
        }
    }
}

#[test]
fn line_with_losses_is_a_line() {
    let script = whole_channel(true);
    // Every third packet is lost, in each phase.
    for lost in 0..3 {
        let kept = (0..).zip(&script.0).filter(|(place, _)| place % 3 != lost);
        let part = Script(kept.map(|(_, packet)| packet.clone()).collect());
        let detected = part.detect().unwrap();
        // Line A is the one that came first.
        let feeds = |lines: &[(u8, Feed, FeedLine)]| {
            let mut feeds: Vec<_> = lines.iter().map(|&(group, feed, _)| (group, feed)).collect();
            feeds.sort_unstable_by_key(|(group, _)| *group);
            feeds
        };
        assert_eq!(feeds(&detected), feeds(&WHOLE), "{lost}");
    }
    // A line that ends where the other begins.
    let mut halves = Script::default();
    halves.packet(1, 7, 70, &[book(1, 7)]).packet(2, 8, 80, &[book(1, 8)]);
    let expected = [(1, Feed::Incremental, A), (2, Feed::Incremental, B)];
    assert_eq!(halves.detect().unwrap(), expected);
}

#[test]
fn incremental_feed_may_have_definitions_or_heartbeats_alone() {
    let mut script = Script::default();
    for (number, sent) in [(1, 10), (2, 20), (3, 30)] {
        script.both([1, 2], number, sent, &[definition(1_000 + number as i32, None)]);
        script.both([3, 4], 1, sent, &[definition(1_001, Some(1))]);
    }
    assert_eq!(script.detect().unwrap(), WHOLE[..4]);
    let mut quiet = Script::default();
    quiet.both([1, 2], 500, 10, &[heartbeat()]).both([1, 2], 501, 20, &[heartbeat()]);
    assert_eq!(quiet.detect().unwrap(), WHOLE[..2]);
}

/// On Sunday the loops have heartbeats alone, numbered 1 in each pass.
#[test]
fn loops_of_heartbeats_are_the_missing_loops() {
    let mut script = Script::default();
    for sent in [0, 30, 60] {
        script.both([3, 4], 1, sent, &[heartbeat()]).both([5, 6], 1, sent, &[heartbeat()]);
    }
    script.both([1, 2], 1, 1, &[definition(1_001, None)]);
    script.both([1, 2], 2, 100, &[book(1_001, 1)]);
    let detected = script.detect().unwrap();
    assert_eq!(detected.len(), 6);
    assert!(WHOLE[..6].iter().all(|(_, feed, line)| {
        detected.iter().any(|(_, other, on)| (other, on) == (feed, line))
    }));
    // With definitions, they are of the snapshots.
    let mut script = Script::default();
    for sent in [0, 30] {
        script.both([3, 4], 1, sent, &[definition(1_001, Some(1))]);
        script.both([5, 6], 1, sent, &[heartbeat()]);
    }
    assert_eq!(script.detect().unwrap(), WHOLE[2..6]);
    // An active channel has no such loop: it is another's.
    script.both([1, 2], 900, 10, &[book(1_001, 1)]);
    let error = script.detect().unwrap_err();
    assert!(error.starts_with("more than one channel: the loop on 239.1.1.5:14310"), "{error}");
}

#[test]
fn two_channels_are_refused_with_the_groups_of_the_capture() {
    let mut script = Script::default();
    script.packet(1, 7, 70, &[book(1, 1)]).packet(1, 8, 80, &[book(1, 2)]);
    script.packet(2, 7, 70, &[book(1, 3)]);
    let error = script.detect().unwrap_err();
    let expected = "more than one channel: the incremental feed is on 239.1.1.1:14310, \
                    239.1.1.2:14310; use a configuration file, or filter the capture by group; \
                    it has 239.1.1.1:14310 (2 packets of updates), 239.1.1.2:14310 (1 packet of \
                    updates)";
    assert_eq!(error, expected);
    assert_eq!(Script::default().detect().unwrap_err(), "no market data over UDP in this capture");
    let mut distant = Script::default();
    distant.packet(1, 7, 70, &[book(1, 1)]).packet(2, 70_000, 71, &[book(2, 1)]);
    let mut quiet = Script::default();
    quiet.packet(1, 7, 70, &[book(1, 1)]).packet(2, 9, 71, &[heartbeat()]);
    let mut definitions = Script::default();
    definitions.packet(1, 1, 1, &[definition_of(310, 1, Some(1))]);
    definitions.packet(2, 1, 1, &[definition_of(320, 1, Some(1))]);
    let mut mixed = Script::default();
    mixed.packet(1, 1, 1, &[definition(1, Some(1))]).packet(2, 1, 1, &[prices(2, 5, 1)]);
    let mut snapshots = Script::default();
    snapshots.packet(1, 1, 1, &[prices(1, 50, 1)]).packet(2, 1, 1, &[prices(2, 70, 1)]);
    let mut unrelated = Script::default();
    unrelated.packet(1, 7, 70, &[book(1, 1)]).packet(2, 1, 71, &[prices(1, 9_000, 1)]);
    for script in [distant, quiet, definitions, mixed, snapshots, unrelated] {
        let error = script.detect().unwrap_err();
        assert!(error.starts_with("more than one channel: "), "{error}");
        assert!(error.contains("it has 239.1.1.1:14310 (1 packet of "), "{error}");
    }
    let mut three = whole_channel(true);
    three.packet(9, 5, 10, &[heartbeat()]).packet(9, 6, 11, &[heartbeat()]);
    assert!(three.detect().is_err());
}

#[test]
fn one_heartbeat_is_in_doubt_unless_both_lines_are_known() {
    let mut script = Script::default();
    script.packet(1, 1, 1, &[definition(1, None)]).packet(3, 1, 1, &[heartbeat()]);
    let error = script.detect().unwrap_err();
    assert!(error.starts_with("the feed of 239.1.1.3:14310 is in doubt; "), "{error}");
    script.packet(2, 1, 1, &[definition(1, None)]);
    let expected = [WHOLE[0], WHOLE[1], (3, Feed::Snapshot, A)];
    assert_eq!(script.detect().unwrap(), expected);
}

#[test]
fn recorded_interfaces_name_feeds_and_lines() {
    let name = |to: u8| {
        let codes = ["IB", "IA", "NB", "NA", "SB", "SA", "SMBOB", "SMBOA"];
        format!("310{}", codes[usize::from(to) - 1])
    };
    // The contents show neither which line is A, nor which of two loops is which.
    let mut script = Script::default();
    for to in 1..=8 {
        script.packet(to, 1, 1, &[heartbeat()]);
    }
    assert!(script.detect().is_err());
    let detected = script.detect_named(CaptureFormat::Pcapng, name).unwrap();
    let expected =
        WHOLE.map(|(to, feed, line)| (if line == A { to + 1 } else { to - 1 }, feed, line));
    assert_eq!(detected, expected);
    let two = |to: u8| if to == 8 { "311IA".to_owned() } else { name(to) };
    let error = script.detect_named(CaptureFormat::Pcapng, two).unwrap_err();
    assert!(error.starts_with("more than one channel: 310 and 311; "), "{error}");
    let twice = |to: u8| if to == 8 { "310IA".to_owned() } else { name(to) };
    let error = script.detect_named(CaptureFormat::Pcapng, twice).unwrap_err();
    let expected = "239.1.1.2:14310 and 239.1.1.8:14310 are both recorded as line A of the \
                    incremental feed; ";
    assert!(error.starts_with(expected), "{error}");
    // Names that the packets contradict, and names of another program.
    script.packet(5, 2, 2, &[book(1, 1)]);
    let error = script.detect_named(CaptureFormat::Pcapng, name).unwrap_err();
    assert!(error.starts_with("239.1.1.5:14310 is recorded as the snapshot feed, "), "{error}");
    let whole = whole_channel(false);
    let other = |to: u8| format!("eth{to}");
    assert_eq!(whole.detect_named(CaptureFormat::Pcapng, other).unwrap(), WHOLE);
}

#[test]
fn market_data_is_a_packet_of_whole_messages() {
    let packet = [&[0; 12][..], &heartbeat()].concat();
    assert!(CaptureGroups::is_market_data(&packet));
    assert!(CaptureGroups::is_market_data(&[&packet[..], &heartbeat()].concat()));
    for (at, value) in [(12, 9), (12, 11), (18, 2)] {
        let mut other = packet.clone();
        other[at] = value;
        assert!(!CaptureGroups::is_market_data(&other), "{at}");
    }
    assert!((0..packet.len()).all(|length| !CaptureGroups::is_market_data(&packet[..length])));
}
