//! Trading statuses: reported, and stored per instrument.

use crate::support::*;
use hairpin_cme_codecs::mdp3::{HaltReason, SecurityTradingEvent, SecurityTradingStatus};
use hairpin_time::Duration;

const HALT: u8 = 2;
const READY: u8 = 17;
const PRE_OPEN: u8 = 21;
const NO_CHANGE: u8 = 103;

#[test]
fn status_encoding_matches_layout() {
    let packet = packet(101).status(0x0102_0304, HALT, 1, 4);
    // After the packet and message headers: SecurityID at 20, then TradeDate, the indicator,
    // status, reason and event.
    let body = &packet.bytes()[12 + 10..];
    assert_eq!(body.len(), 30);
    assert_eq!(body[20..], [4, 3, 2, 1, 0xE6, 0x4F, END, 2, 1, 4]);
    let group = packet.group_status("ES", "MES", READY);
    let body = &group.bytes()[12 + 40 + 10..];
    assert_eq!(body[8..24], *b"ES\0\0\0\0MES\0\0\0\xFF\xFF\xFF\x7F");
}

#[test]
fn reports_and_stores_instrument_status() {
    let mut trace = Trace::in_sync();
    assert_eq!(trace.status(7), None);
    trace.a(&packet(101).status(7, HALT, 1, 0));
    trace.assert_callbacks(["status 7: 2 1 0", "end 101"]);
    assert_eq!((trace.status(7), trace.status(8)), (Some(HALT), None));
    let instruments = trace.channel.instruments();
    let status = instruments.status(trace.channel.find(7).unwrap());
    assert_eq!(status.trading_status, Some(SecurityTradingStatus::TRADING_HALT));
    assert_eq!(status.halt_reason, Some(HaltReason::SURVEILLANCE_INTERVENTION));
    assert_eq!(status.event, Some(SecurityTradingEvent::NO_EVENT));
    assert_eq!(status.trade_date, Some(20_454));
    assert_eq!(trace.counter("statuses"), 1);
}

#[test]
fn status_without_instrument_applies_to_group() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).spread(9, 3, &[7, 8]).option(10, 4, 7));
    trace.recorder.take();
    // Instruments 7, 8 and 9 are in group ES, 10 in EZ; the asset of all is ES.
    trace.a(&packet(102).group_status("ES", "", PRE_OPEN));
    trace.assert_callbacks(["status ES/: 21 0 0", "end 102"]);
    assert_eq!([7, 8, 9, 10].map(|id| trace.status(id)), [Some(PRE_OPEN); 4]);
    trace.a(&packet(103).group_status("ES", "ES", READY));
    assert_eq!([7, 8, 9].map(|id| trace.status(id)), [Some(READY); 3]);
    assert_eq!(trace.status(10), Some(PRE_OPEN), "as its definition says");
    trace.a(&packet(104).group_status("", "ES", HALT));
    assert_eq!([7, 8, 9, 10].map(|id| trace.status(id)), [Some(HALT); 4]);
    trace.a(&packet(105).group_status("ES", "NQ", READY).group_status("NQ", "", READY));
    assert_eq!([7, 8, 9, 10].map(|id| trace.status(id)), [Some(HALT); 4]);
}

#[test]
fn last_status_of_any_scope_wins() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).group_status("ES", "", HALT).status(7, READY, 0, 0));
    assert_eq!((trace.status(7), trace.status(8)), (Some(READY), Some(HALT)));
    trace.a(&packet(102).group_status("ES", "", PRE_OPEN));
    assert_eq!((trace.status(7), trace.status(8)), (Some(PRE_OPEN), Some(PRE_OPEN)));
}

#[test]
fn event_alone_keeps_status() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).status(7, READY, 0, 0).status(7, NO_CHANGE, 0, 4));
    trace.assert_callbacks(["status 7: 17 0 0", "end 101", "status 7: 103 0 4", "end 101"]);
    assert_eq!(trace.status(7), Some(READY));
    let instrument = trace.channel.find(7).unwrap();
    let event = trace.channel.instruments().status(instrument).event;
    assert_eq!(event, Some(SecurityTradingEvent::RESET_STATISTICS));
}

#[test]
fn reports_status_of_unknown_instrument() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).status(55, HALT, 1, 0));
    trace.assert_callbacks(["status 55: 2 1 0", "end 101"]);
}

#[test]
fn status_ends_event_with_book_changes() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).book(MORE, &[bid(7, 1).add(1, 50, 1)]).status(7, HALT, 1, 0));
    trace.assert_callbacks(["book 7 B: 1@50 |", "status 7: 2 1 0", "end 101 7B"]);
}

#[test]
fn snapshot_restores_lost_status() {
    let mut trace = Trace::in_sync_late();
    trace.a(&packet(101).status(7, READY, 0, 0).status(8, READY, 0, 0));
    // Packet 102, a halt of 7, is lost; the entries of both instruments continue.
    trace.a(&packet(103).book(END, &[bid(7, 1_001).add(1, 50, 1), bid(8, 1_001).add(1, 20, 1)]));
    trace.wait(Duration::from_millis(10));
    assert!(trace.channel.book_of(7).unwrap().is_in_sync());
    trace.recorder.take();
    let books = sent_at(1, 200).snapshot_with((7, Some(HALT)), 103, 2, 1_001, &[]);
    trace.snapshot(&books.snapshot_with((8, Some(READY)), 103, 2, 1_001, &[]));
    trace.assert_callbacks(["status restored 7: 2 - -"]);
    assert_eq!((trace.status(7), trace.status(8)), (Some(HALT), Some(READY)));
    // All statuses are known; snapshots are no longer needed.
    use hairpin_mdp3::{Action, Feed};
    let actions = trace.actions();
    assert!(!actions.contains(&Action::Join(Feed::Snapshot)), "{actions:?}");
}

#[test]
fn stays_on_snapshot_feed_for_one_complete_pass() {
    use hairpin_mdp3::{Action, Feed};
    let mut trace = Trace::in_sync_late();
    trace.a(&packet(102).book(END, &[bid(7, 1_001).add(1, 50, 1), bid(8, 1_001).add(1, 20, 1)]));
    trace.wait(Duration::from_millis(10));
    assert_eq!(trace.channel.state(), hairpin_mdp3::ChannelState::InSync);
    assert!(trace.actions().contains(&Action::Join(Feed::Snapshot)));
    trace.snapshot(&sent_at(1, 200).snapshot(7, 102, 2, 1_001, &[]));
    assert_eq!(trace.actions(), []);
    trace.snapshot(&sent_at(2, 201).snapshot(8, 102, 2, 1_001, &[]));
    assert_eq!(trace.actions(), [Action::Leave(Feed::Snapshot)]);
}

#[test]
fn later_of_message_and_snapshot_wins() {
    let mut trace = Trace::in_sync_late();
    trace.a(&packet(102).status(7, READY, 0, 0));
    trace.wait(Duration::from_millis(10));
    // As of 101, before the message.
    trace.snapshot(&sent_at(1, 200).snapshot_with((7, Some(HALT)), 101, 2, 1_000, &[]));
    assert_eq!(trace.status(7), Some(READY));
    // As of 104, ahead of the stream: the message in 103 is known to be outdated.
    trace.snapshot(&sent_at(2, 201).snapshot_with((7, Some(PRE_OPEN)), 104, 2, 1_000, &[]));
    trace.a(&packet(103).status(7, HALT, 0, 0));
    assert_eq!(trace.status(7), Some(PRE_OPEN));
    trace.a(&packet(105).status(7, HALT, 0, 0));
    trace.wait(Duration::from_millis(10));
    assert_eq!(trace.status(7), Some(HALT));
}

#[test]
fn restart_accepts_low_sequences() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).status(7, READY, 0, 0));
    trace.a(&packet(102).channel_reset());
    trace.a(&sent_at(1, 9_000).status(7, HALT, 0, 0));
    assert_eq!(trace.status(7), Some(HALT));
}

#[test]
fn definition_sets_initial_status() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).option(9, 3, 7));
    assert_eq!(trace.status(9), Some(PRE_OPEN));
    trace.a(&packet(102).status(9, READY, 0, 0));
    assert_eq!(trace.status(9), Some(READY));
}

#[test]
fn loop_definition_does_not_override_status() {
    let mut trace = Trace::new(SETTINGS);
    // Instrument 9 is known before its definition, which the loop sent before the message.
    trace.a(&packet(100).book(END, &[bid(9, 1).add(1, 50, 1)]));
    trace.a(&packet(101).status(9, READY, 0, 0));
    trace.instrument(&packet(1).option(9, 1, 7));
    assert_eq!(trace.status(9), Some(READY));
}

#[test]
fn deleted_instrument_has_no_status() {
    use hairpin_cme_codecs::mdp3::SecurityUpdateAction;
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).status(7, READY, 0, 0));
    trace.a(&packet(102).definition_with(7, None, 10, SecurityUpdateAction::DELETE));
    assert_eq!(trace.status(7), None);
}
