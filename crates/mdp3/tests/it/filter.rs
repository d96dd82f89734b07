//! Filters, and user data of instruments.

#![allow(clippy::unwrap_used, reason = "a name that is too long is an error in the test")]

use crate::support::*;
use hairpin_mdp3::{
    Action, Channel, ChannelState, DefinitionUpdate, EndOfEvent, Feed, Filter, LateJoin, Listener,
    SecurityStatus, Settings, Text,
};
use hairpin_time::{Duration, Instant, Now};

fn text(text: &str) -> Text<6> {
    Text::new(text).unwrap()
}

fn filtered(filter: Filter) -> Trace {
    let mut trace = Trace::new(SETTINGS);
    trace.channel = Channel::new_with_filter(SETTINGS, filter);
    trace
}

/// Returns a trace in sync. Futures 7 and 8 are in group ES, option 10 is in EZ; the asset of all
/// is ES.
fn in_sync_with(filter: Filter) -> Trace {
    let mut trace = filtered(filter);
    trace.a(&packet(100).heartbeat());
    let futures = packet(1).definition(7, 3, 10).definition(8, 3, 10);
    trace.instrument(&futures.option(10, 3, 7));
    let books = packet(1).snapshot(7, 100, 3, 0, &[]).snapshot(8, 100, 3, 0, &[]);
    trace.snapshot(&books.snapshot(10, 100, 3, 0, &[]));
    trace
}

#[test]
fn reports_wanted_instruments_only() {
    for filter in [
        Filter::default().with_security_id(10),
        Filter::default().with_group(text("EZ")),
        Filter::default().with_group(text("EZ")).with_asset(text("NQ")),
    ] {
        let mut trace = in_sync_with(filter);
        trace.assert_callbacks([
            "definition 10 ESZ6 C4500 Add",
            "channel Recovering",
            "10 in sync",
            "restored 10 -: |",
            "channel InSync",
        ]);
        assert_eq!((trace.channel.instruments().len(), trace.channel.find(7)), (1, None));
        assert_eq!(trace.counter("unwanted_definitions"), 2);
    }
}

#[test]
fn accepts_all_groups_of_asset() {
    let trace = in_sync_with(Filter::default().with_asset(text("ES")));
    assert_eq!(trace.channel.instruments().len(), 3);
    assert_eq!(trace.counter("unwanted_definitions"), 0);
}

#[test]
fn drops_unwanted_entries_without_recovery() {
    let mut trace = in_sync_with(Filter::default().with_group(text("EZ")));
    trace.actions();
    trace.recorder.take();
    let unwanted = packet(101).book(MORE, &[bid(7, 1).add(1, 50, 1), bid(99, 1).add(1, 50, 1)]);
    let unwanted = unwanted.trade(MORE, 7, 2, 50, 3).volume(MORE, 7, 3, 3);
    let unwanted = unwanted.statistics(MORE, 7, 4).limits(7, 5, [None; 3]);
    trace.a(&unwanted.quote_request(&[7, 8]).workup(7, 17, 0).book(END, &[]));
    let ends = ["end 101"; 4];
    trace.assert_callbacks(ends);
    assert_eq!(trace.counter("unwanted_entries"), 6);
    for name in ["trades", "volumes", "statistics", "limits", "quote_requests", "workups"] {
        assert_eq!(trace.counter(name), 0, "{name}");
    }
    assert_eq!((trace.actions(), trace.counter("unknown_securities")), (vec![], 0));
    // Between other entries they do not affect the accepted instrument.
    trace.a(&packet(102).book(END, &[bid(7, 6).add(1, 51, 1), bid(10, 1).add(1, 9, 1)]));
    trace.assert_callbacks(["book 10 B: 1@9 |", "end 102 10B"]);
}

#[test]
fn reports_quote_request_with_any_wanted_instrument() {
    let mut trace = in_sync_with(Filter::default().with_security_id(8));
    trace.a(&packet(101).quote_request(&[7, 8]).quote_request(&[7, 10]));
    assert_eq!(trace.counter("quote_requests"), 1);
}

#[test]
fn accepts_id_before_definition() {
    let filter = Filter::default().with_security_id(7).with_group(text("EZ"));
    let mut trace = filtered(filter);
    let entries = [bid(7, 1).add(1, 50, 1), bid(10, 1).add(1, 9, 1)];
    trace.a(&packet(100).book(END, &entries));
    assert_eq!(trace.counter("withheld_entries"), 1, "of 7, which the pass names");
    trace.instrument(&packet(1).definition(7, 3, 10).definition(8, 3, 10).option(10, 3, 7));
    // As of before the first packet: 7 has everything since, 10 does not.
    let books = packet(1).snapshot(7, 99, 3, 0, &[]).snapshot(8, 99, 3, 0, &[]);
    trace.snapshot(&books.snapshot(10, 99, 3, 0, &[]));
    assert_eq!(trace.book(7), "1@50 |");
    assert!(!trace.channel.book_of(10).unwrap().is_in_sync());
    trace.snapshot(&sent_at(1, 200).snapshot(10, 100, 3, 1, &[(b'0', 1, 9, 1)]));
    assert_eq!(trace.book(10), "1@9 |");
    assert_eq!(trace.channel.state(), ChannelState::InSync);
}

#[test]
fn definition_collection_counts_unwanted() {
    let mut trace = filtered(Filter::default().with_security_id(8));
    trace.actions();
    trace.a(&packet(100).heartbeat());
    trace.instrument(&packet(1).definition(7, 3, 10));
    trace.instrument(&packet(2).definition(8, 3, 10));
    // The third is lost; the repeated first counts once.
    trace.instrument(&sent_at(1, 50).definition(7, 3, 10));
    assert_eq!(trace.channel.state(), ChannelState::CollectingDefinitions);
    trace.instrument(&sent_at(3, 52).definition(9, 3, 10));
    assert_eq!(trace.channel.state(), ChannelState::Recovering);
    assert!(trace.actions().contains(&Action::Leave(Feed::Instrument)));
}

#[test]
fn unwanted_instruments_take_no_slots() {
    let filter = Filter::default().with_security_id(1_007);
    let mut trace = filtered(filter);
    trace.a(&packet(100).heartbeat());
    for (sequence, id) in (1..).zip(1_000..1_020) {
        trace.instrument(&packet(sequence).definition(id, 20, 10));
    }
    assert_eq!(trace.counter("instruments_over_capacity"), 0, "of 8 places");
    assert_eq!(trace.channel.instruments().len(), 1);
    assert_eq!(trace.channel.state(), ChannelState::Recovering);
}

#[test]
fn collection_completes_with_full_channel() {
    let mut trace = filtered(Filter::default().with_group(text("ES")));
    trace.a(&packet(100).heartbeat());
    for (sequence, id) in (1..).zip(1_000..1_010) {
        trace.instrument(&packet(sequence).definition(id, 10, 10));
    }
    assert_eq!(trace.counter("instruments_over_capacity"), 2);
    assert_eq!(trace.channel.state(), ChannelState::Recovering);
}

#[test]
fn snapshot_pass_counts_unwanted() {
    let mut trace = filtered(Filter::default().with_security_id(10));
    trace.a(&packet(100).heartbeat());
    trace.instrument(&packet(1).definition(7, 2, 10).option(10, 2, 7));
    // Instrument 10 is not in the loop, so it is empty.
    trace.snapshot(&packet(1).snapshot(7, 100, 2, 5, &[]));
    trace.snapshot(&packet(2).snapshot(8, 100, 2, 5, &[]));
    assert!(trace.channel.book_of(10).unwrap().is_in_sync());
    assert_eq!(trace.counter("empty_by_absence"), 1);
}

#[test]
fn group_status_applies_to_wanted() {
    let mut trace = in_sync_with(Filter::default().with_group(text("EZ")));
    trace.recorder.take();
    trace.a(&packet(101).group_status("", "ES", 2).group_status("ES", "", 17).status(7, 17, 0, 0));
    trace.assert_callbacks(["status /ES: 2 0 0", "end 101", "end 101", "end 101"]);
    assert_eq!((trace.status(10), trace.counter("statuses")), (Some(2), 1));
}

#[test]
fn accepts_wanted_intraday_definition() {
    let mut trace = in_sync_with(Filter::default().with_group(text("EZ")));
    trace.recorder.take();
    trace.a(&packet(101).option(11, 4, 7).definition(9, 4, 10));
    trace.a(&packet(102).book(END, &[bid(11, 1).add(1, 9, 1), bid(9, 1).add(1, 9, 1)]));
    trace.assert_callbacks([
        "definition 11 ESZ6 C4500 Add",
        "11 in sync",
        "end 101",
        "end 101",
        "book 11 B: 1@9 |",
        "end 102 11B",
    ]);
}

#[test]
fn without_definitions_only_ids_are_accepted() {
    let settings = Settings { late_join: LateJoin::Nothing, ..SETTINGS };
    let filter = Filter::default().with_security_id(8).with_group(text("ES"));
    let mut trace = Trace::new(settings);
    trace.channel = Channel::new_with_filter(settings, filter);
    trace.a(&packet(1).book(END, &[bid(7, 1).add(1, 50, 1), bid(8, 1).add(1, 20, 1)]));
    assert_eq!((trace.book(8).as_str(), trace.channel.find(7)), ("1@20 |", None));
}

/// Sets the first letter of each symbol as user data, and reads it later.
#[derive(Default)]
struct Marks {
    ends: Vec<u64>,
    seen: Vec<u64>,
}

impl Listener for Marks {
    fn user_data(&mut self, update: &DefinitionUpdate<'_>, current: u64) -> u64 {
        self.seen.push(current);
        u64::from(update.definition.symbol.as_bytes()[0])
    }
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        let instruments = event.instruments;
        self.ends.extend(event.changed().map(|(index, ..)| instruments.user_data(index)));
    }
    fn on_security_status(&mut self, _: &SecurityStatus<'_>) {}
}

#[test]
fn user_data_is_available_in_callbacks() {
    let (mut trace, mut marks) = (Trace::in_sync(), Marks::default());
    let seven = trace.channel.find(7).unwrap();
    assert_eq!(trace.channel.instruments().user_data(seven), 0);
    trace.channel.set_user_data(seven, 42);
    let mut deliver = |packet: &PacketBuilder| {
        let now = Now { monotonic: Instant::ZERO, utc: YEAR_2026 + Duration::from_secs(3_600) };
        let input = hairpin_mdp3::Input {
            feed: Feed::Incremental,
            line: hairpin_mdp3::FeedLine::A,
            received: None,
        };
        trace.channel.handle_packet(now, input, packet.bytes(), &mut marks);
    };
    deliver(&packet(101).book(END, &[bid(7, 1).add(1, 50, 1), bid(8, 1).add(1, 20, 1)]));
    deliver(&packet(102).renamed(7, 2, "NQ", 5));
    deliver(&packet(103).book(END, &[bid(7, 2).add(1, 51, 1)]));
    assert_eq!(marks.ends, [42, 0, u64::from(b'N')]);
    assert_eq!(marks.seen, [42]);
    // By default the value stays.
    trace.channel.set_user_data(seven, 43);
    trace.a(&packet(104).renamed(7, 2, "ES", 6));
    assert_eq!(trace.channel.instruments().user_data(seven), 43);
}

#[test]
fn names_of_no_instrument_are_known_after_all_definitions() {
    let symbol = |symbol: &str| Text::<20>::new(symbol).unwrap();
    let filter = Filter::default()
        .with_security_id(7)
        .with_security_id(11)
        .with_symbol(symbol("ES8"))
        .with_symbol(symbol("NOSUCH"))
        .with_group(text("EZ"))
        .with_group(text("XX"))
        .with_asset(text("ES"))
        .with_asset(text("NQ"));
    let trace = filtered(filter.clone());
    assert!(trace.channel.unmatched_names().is_none());
    let trace = in_sync_with(filter);
    let names: Vec<_> = trace.channel.unmatched_names().unwrap().map(|it| it.to_string()).collect();
    let expected = ["SecurityID 11", "symbol NOSUCH", "security group XX", "asset NQ"];
    assert_eq!(names, expected);
    // Without an instrument feed, names are never complete.
    let settings = Settings { late_join: LateJoin::Books, ..SETTINGS };
    let channel = Channel::new_with_filter(settings, Filter::default().with_asset(text("NQ")));
    assert!(channel.unmatched_names().is_none());
}

#[test]
fn instruments_without_room_are_reported_each_time() {
    #[derive(Default)]
    struct Ignored(Vec<i32>);
    impl Listener for Ignored {
        fn on_instrument_over_capacity(&mut self, security_id: i32) {
            self.0.push(security_id);
        }
    }
    let mut channel = Channel::new(Settings { max_instruments: 1, ..SETTINGS });
    let mut ignored = Ignored::default();
    let now = Now { monotonic: Instant::ZERO, utc: YEAR_2026 + Duration::from_secs(60) };
    let input = hairpin_mdp3::Input {
        feed: Feed::Instrument,
        line: hairpin_mdp3::FeedLine::A,
        received: None,
    };
    let definitions = packet(1).definition(7, 3, 10).definition(8, 3, 10).definition(9, 3, 10);
    channel.handle_packet(now, input, definitions.bytes(), &mut ignored);
    assert_eq!((channel.instruments().len(), ignored.0), (1, vec![8, 9]));
}
