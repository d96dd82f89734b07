//! Codecs against CME's own packets. The expected values were read manually from the packets'
//! bytes.

use crate::test_data::shared;
use hairpin_cme_codecs::ilink3::{self, *};
use hairpin_cme_codecs::mdp3::{self, *};
use hairpin_cme_copy::VisitLog;
use hairpin_sbe::MessageHeader;
use pcap_file::pcap::PcapReader;

/// The length of Ethernet, IPv4 and UDP headers without options.
const UDP: usize = 14 + 20 + 8;
/// The length of Ethernet, IPv4 and TCP headers without options.
const TCP: usize = 14 + 20 + 20;

/// Returns the payload of a capture's only packet, after `headers` bytes.
fn payload(file: &str, headers: usize) -> Option<Vec<u8>> {
    let capture = std::fs::File::open(shared(file)?).unwrap();
    let mut reader = PcapReader::new(capture).unwrap();
    let packet = reader.next_packet().unwrap().unwrap();
    Some(packet.data[headers..].to_vec())
}

/// Returns the messages after a packet header of `skip` bytes. Each must have exactly its declared
/// size.
fn messages(packet: &[u8], skip: usize) -> Vec<(MessageHeader, &[u8])> {
    let mut rest = &packet[skip..];
    let mut messages = Vec::new();
    while !rest.is_empty() {
        let size = usize::from(u16::from_le_bytes([rest[0], rest[1]]));
        let (message, behind) = rest.split_at(size);
        let (header, body) = MessageHeader::decode(&message[2..]).unwrap();
        let length = mdp3::visit(&header, body, &mut VisitLog::default());
        assert_eq!(length, Ok(size - 2), "template {}", header.template_id);
        messages.push((header, body));
        rest = behind;
    }
    messages
}

#[test]
fn decodes_book_update_of_version_9_with_end_of_event() {
    let Some(packet) = payload("captures/mdp3/v1.9/MdIncrementalRefreshBook.pcap", UDP) else {
        return;
    };
    let messages = messages(&packet, 12);
    let [(header, body), (last_header, last_body)] = messages[..] else { panic!("{messages:?}") };
    assert_eq!((header.template_id, header.version, header.block_length), (46, 9, 11));
    let mut scratch = MDIncrementalRefreshBook46::SCRATCH;
    let message = MDIncrementalRefreshBook46::decode(&header, body, &mut scratch).unwrap();
    assert_eq!(message.encoded_length(), 1150);
    assert_eq!(message.transact_time(), 1_536_760_535_644_820_404);
    assert_eq!(message.match_event_indicator(), MatchEventIndicator::LAST_QUOTE_MSG);

    let mut entries = message.no_md_entries();
    assert_eq!(entries.len(), 23);
    let mut scratch = md_incremental_refresh_book46::NoMDEntries::SCRATCH;
    let entry = entries.next(&mut scratch).unwrap();
    assert_eq!(entry.md_entry_px(), Some(mdp3::Price9(15_230_000_000_000)));
    assert_eq!(entry.md_entry_size(), Some(1));
    assert_eq!((entry.security_id(), entry.rpt_seq()), (157_660, 411));
    assert_eq!((entry.number_of_orders(), entry.md_price_level()), (Some(1), 1));
    assert_eq!(entry.md_update_action(), MDUpdateAction::DELETE);
    assert_eq!(entry.md_entry_type(), MDEntryTypeBook::OFFER);
    // Padding in version 9 is zero here; it must not decode as a size of zero.
    assert_eq!(entry.tradeable_size(), None);
    let entry = entries.next(&mut scratch).unwrap();
    assert_eq!(entry.md_entry_px().unwrap().to_string(), "15250");
    assert_eq!((entry.rpt_seq(), entry.md_update_action()), (412, MDUpdateAction::NEW));

    let mut orders = message.no_order_id_entries();
    assert_eq!(orders.len(), 16);
    let mut scratch = md_incremental_refresh_book46::NoOrderIDEntries::SCRATCH;
    let order = orders.next(&mut scratch).unwrap();
    assert_eq!(
        (order.order_id(), order.md_order_priority()),
        (563_189_401_446, Some(10_623_363_030))
    );
    assert_eq!((order.md_display_qty(), order.reference_id()), (Some(1), Some(2)));
    assert_eq!(order.order_update_action(), OrderUpdateAction::UPDATE);

    let mut scratch = MDIncrementalRefreshBook46::SCRATCH;
    let last = MDIncrementalRefreshBook46::decode(&last_header, last_body, &mut scratch).unwrap();
    assert_eq!(last.match_event_indicator(), MatchEventIndicator::END_OF_EVENT);
    assert!(last.no_md_entries().is_empty() && last.no_order_id_entries().is_empty());
}

#[test]
fn decodes_trade_of_version_9_with_volume_orders_books() {
    let Some(packet) = payload("captures/mdp3/v1.9/MdIncrementalRefreshTradeSummary.pcap", UDP)
    else {
        return;
    };
    assert_eq!(packet[..4], 884_140_u32.to_le_bytes());
    let messages = messages(&packet, 12);
    let templates: Vec<_> = messages.iter().map(|(header, _)| header.template_id).collect();
    assert_eq!(templates, [48, 37, 47, 46, 46]);

    let mut scratch = MDIncrementalRefreshTradeSummary48::SCRATCH;
    let trade =
        MDIncrementalRefreshTradeSummary48::decode(&messages[0].0, messages[0].1, &mut scratch)
            .unwrap();
    let mut scratch = md_incremental_refresh_trade_summary48::NoMDEntries::SCRATCH;
    let entry = trade.no_md_entries().next(&mut scratch).unwrap();
    assert_eq!(entry.md_entry_px(), mdp3::Price9(12_952_000_000_000));
    assert_eq!((entry.md_entry_size(), entry.security_id(), entry.rpt_seq()), (2, 170_506, 20_185));
    assert_eq!((entry.number_of_orders(), entry.aggressor_side()), (3, Some(AggressorSide::SELL)));
    assert_eq!(entry.md_trade_entry_id(), Some(341_412));
    let mut orders = trade.no_order_id_entries();
    let mut scratch = md_incremental_refresh_trade_summary48::NoOrderIDEntries::SCRATCH;
    let mut filled = Vec::new();
    while let Some(order) = orders.next(&mut scratch) {
        filled.push((order.order_id(), order.last_qty()));
    }
    assert_eq!(filled, [(88_463_941_745, 2), (88_463_939_692, 1), (88_463_940_665, 1)]);

    let mut scratch = MDIncrementalRefreshVolume37::SCRATCH;
    let volume =
        MDIncrementalRefreshVolume37::decode(&messages[1].0, messages[1].1, &mut scratch).unwrap();
    let mut scratch = md_incremental_refresh_volume37::NoMDEntries::SCRATCH;
    let entry = volume.no_md_entries().next(&mut scratch).unwrap();
    assert_eq!(
        (entry.md_entry_size(), entry.security_id(), entry.rpt_seq()),
        (3765, 170_506, 20_186)
    );
    assert_eq!(md_incremental_refresh_volume37::NoMDEntries::MD_ENTRY_TYPE, b'e');

    let (header, body) = messages[4];
    let mut scratch = MDIncrementalRefreshBook46::SCRATCH;
    let implied = MDIncrementalRefreshBook46::decode(&header, body, &mut scratch).unwrap();
    let both = MatchEventIndicator::END_OF_EVENT | MatchEventIndicator::LAST_IMPLIED_MSG;
    assert_eq!(implied.match_event_indicator(), both);
    let mut scratch = md_incremental_refresh_book46::NoMDEntries::SCRATCH;
    let entry = implied.no_md_entries().next(&mut scratch).unwrap();
    assert_eq!(entry.md_entry_type(), MDEntryTypeBook::IMPLIED_BID);
    assert_eq!((entry.security_id(), entry.number_of_orders()), (5893, None));
}

#[test]
fn decodes_order_book_update_of_version_9() {
    let Some(packet) = payload("captures/mdp3/v1.9/MdIncrementalRefreshOrderBook.pcap", UDP) else {
        return;
    };
    let (header, body) = messages(&packet, 12)[0];
    let mut scratch = MDIncrementalRefreshOrderBook47::SCRATCH;
    let message = MDIncrementalRefreshOrderBook47::decode(&header, body, &mut scratch).unwrap();
    let mut scratch = md_incremental_refresh_order_book47::NoMDEntries::SCRATCH;
    let entry = message.no_md_entries().next(&mut scratch).unwrap();
    assert_eq!(
        (entry.order_id(), entry.md_order_priority()),
        (Some(76_662_054_355), Some(641_463_012))
    );
    assert_eq!(entry.md_entry_px(), Some(mdp3::Price9(12_068_000_000_000)));
    assert_eq!((entry.md_display_qty(), entry.security_id()), (Some(4), 532_259));
}

#[test]
fn decodes_book_update_of_version_12_with_long_quantities() {
    let Some(packet) = payload("captures/mdp3/v1.12/MdIncrementalRefreshBookLongQty.pcap", TCP)
    else {
        return;
    };
    assert_eq!(packet[..6], [0xfe, 0xca, 119, 0, 0, 0]);
    let (header, body) = messages(&packet, 14)[0];
    assert_eq!((header.template_id, header.version), (64, 12));
    let mut scratch = MDIncrementalRefreshBookLongQty64::SCRATCH;
    let message = MDIncrementalRefreshBookLongQty64::decode(&header, body, &mut scratch).unwrap();
    assert_eq!(message.transact_time(), 1_631_080_342_472_742_285);
    let mut scratch = md_incremental_refresh_book_long_qty64::NoMDEntries::SCRATCH;
    let entry = message.no_md_entries().next(&mut scratch).unwrap();
    assert_eq!(entry.md_entry_px().unwrap().to_string(), "1.20815");
    assert_eq!((entry.md_entry_size(), entry.security_id()), (Some(6_000_000), 11_827_320));
    assert_eq!((entry.rpt_seq(), entry.number_of_orders(), entry.md_price_level()), (0, None, 4));
}

#[test]
fn decodes_order_entry_messages_of_version_5() {
    let Some(frame) = payload("captures/ilink3/Sequence.pcap", TCP) else { return };
    let (header, body) = MessageHeader::decode(&frame[4..]).unwrap();
    assert_eq!((usize::from(frame[0]), header.template_id, header.version), (frame.len(), 506, 5));
    let mut scratch = Sequence506::SCRATCH;
    let sequence = Sequence506::decode(&header, body, &mut scratch).unwrap();
    assert_eq!(sequence.encoded_length() + 4, frame.len());
    assert_eq!((sequence.uuid(), sequence.next_seq_no()), (1_585_839_227_794_207, 3));
    assert_eq!(sequence.fault_tolerance_indicator(), Some(FTI::PRIMARY));
    assert_eq!(sequence.keep_alive_interval_lapsed(), KeepAliveLapsed::NOT_LAPSED);

    let frame = payload("captures/ilink3/ExecutionReportStatus.pcap", TCP).unwrap();
    let (header, body) = MessageHeader::decode(&frame[4..]).unwrap();
    assert_eq!((header.block_length, header.template_id, header.version), (480, 532, 5));
    let mut scratch = ExecutionReportStatus532::SCRATCH;
    let status = ExecutionReportStatus532::decode(&header, body, &mut scratch).unwrap();
    assert_eq!(ilink3::visit(&header, body, &mut VisitLog::default()), Ok(frame.len() - 4));
    assert_eq!((status.seq_num(), status.uuid()), (1, 1_585_839_227_794_207));
    assert_eq!(status.text(), "Order Status Not Found");
    assert_eq!(status.exec_id(), "0");
    assert_eq!(status.sender_id(), "TS");
    assert_eq!((status.price(), status.stop_px()), (None, None));
    assert_eq!(status.sending_time_epoch(), 1_585_839_231_829_734_645);
    assert_eq!(status.location(), "US");
    assert_eq!(status.ord_status(), OrderStatus::UNDEFINED);
    // Absent enumerations are 0x00 in this packet.
    assert_eq!((status.ord_type(), status.execution_mode()), (None, None));
    assert_eq!((status.time_in_force(), status.expire_date()), (None, None));
    assert_eq!(ExecutionReportStatus532::EXEC_TYPE, b'I');
    // The fields of versions 6 and 8 are after the end of this block.
    assert_eq!((status.discretion_price(), status.priority_indicator()), (None, None));
    assert!(status.cancel_text().is_empty());
}

/// A message of a capture.
pub(crate) struct Sample {
    pub(crate) file: &'static str,
    pub(crate) header: MessageHeader,
    /// The message's bytes, SBE header included.
    pub(crate) message: Vec<u8>,
}

impl Sample {
    pub(crate) fn body(&self) -> &[u8] {
        &self.message[MessageHeader::LENGTH..]
    }
}

/// Returns every message of every capture. Prints a notice and returns nothing if the captures are
/// not available.
pub(crate) fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    let mut add = |file, message: &[u8]| {
        let (header, _) = MessageHeader::decode(message).unwrap();
        samples.push(Sample { file, header, message: message.into() });
    };
    for (file, headers) in [
        ("captures/mdp3/v1.5/MdIncrementalRefreshBook.pcap", UDP + 12),
        ("captures/mdp3/v1.5/MdIncrementalRefreshTradeSummary.pcap", UDP + 12),
        ("captures/mdp3/v1.5/MdIncrementalRefreshVolume.pcap", UDP + 12),
        ("captures/mdp3/v1.9/MdIncrementalRefreshBook.pcap", UDP + 12),
        ("captures/mdp3/v1.9/MdIncrementalRefreshOrderBook.pcap", UDP + 12),
        ("captures/mdp3/v1.9/MdIncrementalRefreshTradeSummary.pcap", UDP + 12),
        ("captures/mdp3/v1.12/MdIncrementalRefreshBookLongQty.pcap", TCP + 14),
    ] {
        let Some(packet) = payload(file, headers) else { return Vec::new() };
        let mut rest = &packet[..];
        while !rest.is_empty() {
            let (message, behind) = rest.split_at(u16::from_le_bytes([rest[0], rest[1]]).into());
            add(file, &message[2..]);
            rest = behind;
        }
    }
    for file in ["captures/ilink3/Sequence.pcap", "captures/ilink3/ExecutionReportStatus.pcap"] {
        add(file, &payload(file, TCP + 4).unwrap());
    }
    samples
}
