//! Checks every line that `hairpin feed --callbacks` prints, with one message per callback.

use std::path::Path;

use crate::market_data::*;
use crate::support::{assert_done, hairpin};
use etherparse::PacketBuilder as Frame;
use pcap_file::pcap::{PcapPacket, PcapWriter};

const INCREMENTAL: u8 = 1;
const INSTRUMENT: u8 = 2;
const SNAPSHOT: u8 = 3;

/// Writes a capture of the packets, one per millisecond.
fn write(path: &Path, packets: &[(u8, PacketBuilder)]) {
    let file = std::fs::File::create(path).unwrap();
    let mut writer = PcapWriter::new(file).unwrap();
    for (at, (group, packet)) in (1..).zip(packets) {
        let mut frame = Vec::new();
        Frame::ethernet2([0; 6], [1; 6])
            .ipv4([10, 0, 0, 1], [239, 192, 0, *group], 1)
            .udp(9_000, 9_001)
            .write(&mut frame, packet.bytes())
            .unwrap();
        let at = std::time::Duration::from_millis(at);
        writer.write_packet(&PcapPacket::new(at, frame.len() as u32, &frame)).unwrap();
    }
}

/// Prints the packets after instruments 7 and 8 have joined at packet 100.
fn printed(packets: &[(u8, PacketBuilder)], args: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.pcap");
    let definitions = packet(1).definition(7, 2, 10).definition(8, 2, 10);
    let books = packet(1).snapshot(7, 100, 2, 0, &[]).snapshot(8, 100, 2, 0, &[]);
    let orders = books.order_snapshot(7, 100, 2, &[]).order_snapshot(8, 100, 2, &[]);
    let join =
        [(INCREMENTAL, packet(100).heartbeat()), (INSTRUMENT, definitions), (SNAPSHOT, orders)];
    write(&path, &[&join, packets].concat());
    let mut command = hairpin();
    command.args(["feed", "--callbacks", "--pcap"]).arg(&path).args(args);
    let output = command.output().unwrap();
    assert_done(&output);
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the callback lines, without messages and packet times.
fn callbacks(packets: &[(u8, PacketBuilder)], args: &[&str]) -> Vec<String> {
    let text = printed(packets, args);
    let callbacks = text.lines().filter_map(|line| {
        let mut parts = line.splitn(4, ' ');
        let (sequence, _, template) = (parts.next()?, parts.next()?, parts.next()?);
        (template == "-").then(|| format!("{sequence} {}", parts.next().unwrap_or_default()))
    });
    callbacks.collect()
}

/// The callbacks of the join.
const JOINED: [&str; 12] = [
    "1 Definition SecurityID=7 Symbol=ES7 SecurityGroup=ES Asset=ES Action=Add",
    "1 Definition SecurityID=8 Symbol=ES8 SecurityGroup=ES Asset=ES Action=Add",
    "1 ChannelState State=Recovering",
    "1 Statistic SecurityID=7 Symbol=ES7 Kind=LastTrade Px=1 Size=- Action=New(0)",
    "1 Statistic SecurityID=8 Symbol=ES8 Kind=LastTrade Px=1 Size=- Action=New(0)",
    "1 InstrumentState SecurityID=7 Symbol=ES7 State=InSync",
    "1 InstrumentState SecurityID=8 Symbol=ES8 State=InSync",
    "1 OrderBookState SecurityID=7 Symbol=ES7 State=InSync",
    "1 TopOrders SecurityID=7 Symbol=ES7 Rank=1 BidOrderID=- BidPx=- BidSize=- AskOrderID=- \
     AskPx=- AskSize=-",
    "1 OrderBookState SecurityID=8 Symbol=ES8 State=InSync",
    "1 TopOrders SecurityID=8 Symbol=ES8 Rank=1 BidOrderID=- BidPx=- BidSize=- AskOrderID=- \
     AskPx=- AskSize=-",
    "1 ChannelState State=InSync",
];

/// Assigns packets to the incremental feed.
fn incremental<const N: usize>(packets: [PacketBuilder; N]) -> [(u8, PacketBuilder); N] {
    packets.map(|packet| (INCREMENTAL, packet))
}

#[test]
fn other_callbacks_print_a_line_with_their_fields() {
    let packets = incremental([
        packet(101).status(7, 2, 1, 5),
        packet(102).group_status("ES", "", 17),
        packet(103).limits(7, 1, [Some(60), None, Some(5)]),
        packet(104).session_statistics(7, 2, &[statistic(b'7', None, 55)]),
        packet(105).trade(END, 7, 3, 50, 4),
        packet(106).volume(END, 7, 4, 9),
        packet(107).quote_request(&[7, 9]),
        packet(108).workup(8, 201, 0),
        packet(109).collateral(),
    ]);
    let callbacks = callbacks(&packets, &["--orders", "full"]);
    assert_eq!(callbacks[..12], JOINED);
    assert_eq!(
        callbacks[12..],
        [
            "101 Status SecurityID=7 Symbol=ES7 TradingStatus=TradingHalt(2) \
             HaltReason=SurveillanceIntervention(1) Event=ImpliedMatchingON(5)",
            "102 Status SecurityGroup=ES Asset=- TradingStatus=ReadyToTrade(17) \
             HaltReason=GroupSchedule(0) Event=NoEvent(0)",
            "103 Limits SecurityID=7 Symbol=ES7 High=60 Low=- MaxPriceVariation=5",
            "104 Statistic SecurityID=7 Symbol=ES7 Kind=High Px=55 Size=- Action=New(0)",
            "105 Trade SecurityID=7 Symbol=ES7 Px=50 Size=4 Orders=2 AggressorSide=Buy(1) \
             Action=New(0) TransactTime=1767225600104999000",
            "106 Volume SecurityID=7 Symbol=ES7 Size=9 Action=New(0)",
            "107 QuoteRequest QuoteReqID=4711 SecurityID=7 Symbol=ES7 Side=Bid Size=10 QuoteType=1",
            "107 QuoteRequest QuoteReqID=4711 SecurityID=9 Symbol=ES9 Side=Bid Size=10 QuoteType=1",
            "108 Workup SecurityID=8 Symbol=ES8 Px=99 TradeLinkID=77 \
             TradingStatus=PrivateWorkup(201) Event=NoEvent(0)",
            "108 WorkupOrder SecurityID=8 Symbol=ES8 OrderID=501 Side=Bid",
            "108 WorkupOrder SecurityID=8 Symbol=ES8 OrderID=502 Side=Ask",
            "109 Collateral AltID=US912828 InstrumentGUID=9 MarketPx=99 DirtyPx=101",
        ]
    );
}

#[test]
fn orders_and_states_print_a_line_with_their_fields() {
    let two = [buy(7, 5, 50, 3), sell(7, 6, 51, 2)];
    let packets = incremental([
        packet(101).orders(END, &two),
        packet(102).orders(END, &[buy(7, 5, 50, 1).changed(), sell(7, 6, 51, 2).deleted()]),
        packet(103).book(END, &[bid(7, 1).add(1, 50, 3)]),
        packet(104).book(END, &[bid(7, 2).with_entry_type(b'J')]),
        packet(105).channel_reset(),
        packet(107).heartbeat(),
    ]);
    let callbacks = callbacks(&packets, &["--orders", "full"]);
    assert_eq!(
        callbacks[12..],
        [
            "101 Order SecurityID=7 Symbol=ES7 Action=New(0) Side=Bid OrderID=5 Px=50 Size=3 \
             Priority=5",
            "101 Order SecurityID=7 Symbol=ES7 Action=New(0) Side=Ask OrderID=6 Px=51 Size=2 \
             Priority=6",
            "102 Order SecurityID=7 Symbol=ES7 Action=Change(1) Side=Bid OrderID=5 Px=50 Size=1 \
             Priority=5",
            "102 Order SecurityID=7 Symbol=ES7 Action=Delete(2) Side=Ask OrderID=6 Px=51 Size=2 \
             Priority=6",
            "103 TopOfBook SecurityID=7 Symbol=ES7 BidPx=50 BidSize=3 BidOrders=1 AskPx=- \
             AskSize=- AskOrders=-",
            "104 TopOrders SecurityID=7 Symbol=ES7 Rank=1 BidOrderID=- BidPx=- BidSize=- \
             AskOrderID=- AskPx=- AskSize=-",
            "104 TopOfBook SecurityID=7 Symbol=ES7 BidPx=- BidSize=- BidOrders=- AskPx=- \
             AskSize=- AskOrders=-",
            "105 ChannelReset",
            "105 Gap First=106 Count=1",
            "105 OrderBookState SecurityID=7 Symbol=ES7 State=OutOfSync",
            "105 OrderBookState SecurityID=8 Symbol=ES8 State=OutOfSync",
            "105 InstrumentState SecurityID=7 Symbol=ES7 State=OutOfSync",
            "105 InstrumentState SecurityID=8 Symbol=ES8 State=OutOfSync",
            "105 ChannelState State=Recovering",
        ]
    );
}

#[test]
fn top_orders_print_a_line_per_rank() {
    let orders = [buy(7, 5, 50, 3), buy(7, 6, 49, 1), sell(7, 7, 51, 2)];
    let packets = incremental([
        packet(101).top_orders(END, 7, &orders),
        packet(102).raw([0, 99, 1, 13], &[0; 8]),
    ]);
    let callbacks = callbacks(&packets, &["--orders", "top"]);
    assert_eq!(
        callbacks[12..],
        [
            "101 TopOrders SecurityID=7 Symbol=ES7 Rank=1 BidOrderID=5 BidPx=50 BidSize=3 \
             AskOrderID=7 AskPx=51 AskSize=2",
            "101 TopOrders SecurityID=7 Symbol=ES7 Rank=2 BidOrderID=6 BidPx=49 BidSize=1 \
             AskOrderID=- AskPx=- AskSize=-",
            "102 Warning Text=\"skipped message of unknown template 99\"",
        ]
    );
}

#[test]
fn json_format_prints_an_object_per_line() {
    let packets = incremental([
        packet(101).quote_request(&[7]),
        packet(102).workup(8, 201, 0),
        packet(103).limits(7, 1, [Some(60), None, Some(5)]),
        packet(104).group_status("ES", "", 17),
    ]);
    let output = printed(&packets, &["--format", "json"]);
    let lines = output.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let of = |name: &str| {
        let line = lines.clone().find(|line| line["name"] == name);
        line.unwrap_or_else(|| panic!("no {name}: {output}"))["fields"].clone()
    };
    let request = of("QuoteRequest");
    let expected = serde_json::json!({"QuoteReqID": "4711", "SecurityID": 7, "Symbol": "ES7",
        "Side": "Bid", "Size": 10, "QuoteType": 1});
    assert_eq!(request, expected);
    assert_eq!(of("WorkupOrder")["OrderID"], 501);
    let limits = of("Limits");
    assert_eq!((&limits["High"], &limits["Low"]), (&"60".into(), &serde_json::Value::Null));
    assert_eq!(of("Status")["TradingStatus"], "ReadyToTrade(17)");
}
