//! Captures with changed bytes.

use etherparse::PacketBuilder;
use hairpin_cme_codecs::ilink3::{ExecutionReportNew522, NewOrderSingle514};
use pcap_file::pcap::{PcapPacket, PcapWriter};
use proptest::prelude::*;

use super::*;

/// Returns a packet of a heartbeat.
fn heartbeat(sequence: u32) -> Vec<u8> {
    let header = [&sequence.to_le_bytes()[..], &u64::from(sequence).to_le_bytes()].concat();
    [&header[..], &[10, 0, 0, 0, 12, 0, 1, 0, 13, 0]].concat()
}

/// Returns a message after its frame header.
fn framed(message: &[u8]) -> Vec<u8> {
    let size = (4 + message.len() as u16).to_le_bytes();
    [&size[..], &[0xfe, 0xca], message].concat()
}

fn order() -> Vec<u8> {
    let mut buffer = [0; NewOrderSingle514::ENCODED_LENGTH];
    let mut root = NewOrderSingle514::encode(&mut buffer).unwrap();
    root.set_cl_ord_id("1").set_seq_num(1);
    framed(&buffer)
}

fn report() -> Vec<u8> {
    let mut buffer = [0; ExecutionReportNew522::ENCODED_LENGTH];
    let mut root = ExecutionReportNew522::encode(&mut buffer).unwrap();
    root.set_cl_ord_id("1").set_uuid(7);
    framed(&buffer)
}

/// Returns frames of two lines, and of both directions of a session.
fn frames() -> Vec<Vec<u8>> {
    let ethernet = || PacketBuilder::ethernet2([0; 6], [1; 6]);
    let mut frames = Vec::new();
    let (order, report) = (order(), report());
    for number in 1..20 {
        for group in [1, 2] {
            let mut frame = Vec::new();
            let builder = ethernet().ipv4([10, 0, 0, 1], [239, 0, 0, group], 1).udp(1, 14_310);
            builder.write(&mut frame, &heartbeat(number)).unwrap();
            frames.push(frame);
        }
        let (client, gateway) = ([10, 0, 0, 2], [10, 0, 0, 3]);
        let sequence = |message: &[u8]| number * message.len() as u32;
        let mut frame = Vec::new();
        let builder = ethernet().ipv4(client, gateway, 64);
        builder.tcp(40_000, 9_000, sequence(&order), 99).write(&mut frame, &order).unwrap();
        frames.push(frame);
        let mut frame = Vec::new();
        let builder = ethernet().ipv4(gateway, client, 64);
        builder.tcp(9_000, 40_000, sequence(&report), 99).write(&mut frame, &report).unwrap();
        frames.push(frame);
    }
    frames
}

/// Measures frames that are a microsecond apart.
fn measured(frames: &[Vec<u8>]) -> Figures {
    let mut file = PcapWriter::new(tempfile::NamedTempFile::new().unwrap()).unwrap();
    for (frame, micros) in frames.iter().zip(1..) {
        let time = std::time::Duration::from_micros(micros);
        file.write_packet(&PcapPacket::new(time, frame.len() as u32, frame)).unwrap();
    }
    let mut command = <WireArgs as clap::Args>::augment_args(clap::Command::new("wire"));
    let file = file.into_writer();
    let matches = command.try_get_matches_from_mut(["wire".as_ref(), file.path().as_os_str()]);
    let arguments = <WireArgs as clap::FromArgMatches>::from_arg_matches(&matches.unwrap());
    measure(&arguments.unwrap(), None).unwrap().0
}

#[test]
fn orders_and_reports_are_paired_and_lines_compared() {
    let figures = measured(&frames());
    let [session] = &figures.sessions[..] else { panic!("{:?}", figures.sessions) };
    assert_eq!((session.requests, session.answers, session.unanswered), (19, 19, 0));
    let summary = session.spans[0].summary();
    assert_eq!(
        (session.spans[0].count(), summary.min, summary.max),
        (19, Some(1_000), Some(1_000))
    );
    let [feed] = &figures.market.feeds[..] else { panic!("{:?}", figures.market) };
    assert_eq!((feed.pairs(), feed.ahead[0].count(), feed.merged.missing), (19, 19, 0));
    // Heartbeats are no ticks.
    assert_eq!(figures.ticks().count(), 0);
    assert!(tables::text(&figures, Style::Plain).contains("order to ack"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn never_panics_on_any_bytes(
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 1..200,
        ),
    ) {
        let mut frames = frames();
        for (frame, place, value) in changes {
            let frame = frame.get_mut(&mut frames[..]);
            *place.get_mut(&mut frame[..]) = value;
        }
        let figures = measured(&frames);
        prop_assert_eq!(figures.packets, frames.len() as u64);
        let _ = (tables::text(&figures, Style::Terminal { columns: 40 }), rows::rows(&figures));
        let document = rows::document(&figures);
        prop_assert!(document.is_object());
    }
}
