//! Sessions to three gateways on one reactor.

use crate::in_memory_gateway::{self, InMemoryGateway, now};
use crate::mock_exchange;
use hairpin_exchange::Designation;
use hairpin_mapped::MemoryStorage;
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Ready, Wait};

const SEGMENTS: [u8; 3] = [64, 68, 80];

/// The events of all segments' listeners, each with its segment.
#[derive(Default)]
struct RecordedEvents {
    states: Vec<(u8, State)>,
    reports: Vec<(u8, u32)>,
}

struct SegmentView<'a>(&'a mut RecordedEvents, u8);

impl Listener for SegmentView<'_> {
    fn on_state(&mut self, _: &mut Sender<'_>, state: State) {
        self.0.states.push((self.1, state));
    }
    fn on_execution_report_new(
        &mut self,
        _: &mut Sender<'_>,
        _: ExecutionReportNew522<'_>,
        message: &Message<'_>,
    ) {
        self.0.reports.push((self.1, message.seq_num));
    }
}

impl Listeners for RecordedEvents {
    type SegmentListener<'a> = SegmentView<'a>;
    fn listener(&mut self, segment: u8) -> SegmentView<'_> {
        SegmentView(self, segment)
    }
}

struct Harness {
    gateways: [InMemoryGateway; 3],
    segments: SegmentSessions<InMemoryGateway, MemoryStorage, FixedZone>,
    reactor: Reactor,
    events: RecordedEvents,
    millis: u64,
}

impl Harness {
    fn new() -> Self {
        let gateways = SEGMENTS.map(|_| InMemoryGateway::new());
        let mut segments = SegmentSessions::default();
        for (segment, gateway) in SEGMENTS.into_iter().zip(&gateways) {
            let journal = MemoryStorage::new(false);
            let session =
                Session::with_connect(mock_exchange::settings(9), journal, gateway.clone());
            let connector = in_memory_gateway::connector();
            let reconnecting = ReconnectingSession::new(session.unwrap(), connector, FixedZone(0));
            segments.add(segment, reconnecting).unwrap();
        }
        let reactor = Reactor::new(Wait::Spin).unwrap();
        let mut harness =
            Self { gateways, segments, reactor, events: RecordedEvents::default(), millis: 0 };
        harness.segments.start(now(0));
        harness.run_millis(15);
        assert!(
            harness
                .segments
                .iter()
                .all(|(_, reconnecting)| reconnecting.session().state() == State::Established)
        );
        assert_eq!(harness.reactor.count(), 6, "three primaries with their backups");
        harness.events.states.clear();
        harness
    }

    fn run_millis(&mut self, millis: u64) {
        for _ in 0..millis {
            self.millis += 1;
            let now = now(self.millis);
            let ready = match self.reactor.count() {
                0 => Ready::EMPTY,
                _ => self.reactor.wait(now.monotonic, None).unwrap(),
            };
            self.segments.process(now, ready, &mut self.reactor, &mut self.events).unwrap();
            self.gateways.iter().for_each(|gateway| gateway.poll(now));
        }
    }

    fn send(&mut self, segment: u8, id: u64) -> Result<Sent, SendError> {
        let order = NewOrder::limit(1_001, SideReq::BUY, Decimal(1_000_000_000), 1, id.into());
        self.segments.sender(segment, now(self.millis)).unwrap().send(&order)
    }
}

#[test]
fn segment_has_its_own_numbers_and_gateway() {
    let mut harness = Harness::new();
    for (count, segment) in (1..).zip(SEGMENTS) {
        (1..=count)
            .for_each(|id| assert_eq!(harness.send(segment, id).unwrap().seq_num, id as u32));
    }
    harness.run_millis(5);
    for (count, gateway) in (1..).zip(&harness.gateways) {
        assert!(gateway.inner().accepted.0.iter().copied().eq(1..=count));
    }
    let expected = [(64, 1), (68, 1), (68, 2), (80, 1), (80, 2), (80, 3)];
    assert_eq!(harness.events.reports, expected);
    assert!(harness.segments.sender(7, now(0)).is_none());
    assert!(harness.events.states.is_empty());
}

#[test]
fn failure_of_one_segment_does_not_affect_the_others() {
    let mut harness = Harness::new();
    SEGMENTS.iter().for_each(|&segment| assert!(harness.send(segment, 1).is_ok()));
    harness.run_millis(5);
    harness.gateways[1].inner().refusing_hosts =
        vec![in_memory_gateway::host(1), in_memory_gateway::host(9)];
    harness.gateways[1].cut(Designation::Primary);
    for id in 2..=30 {
        harness.run_millis(100);
        assert!(harness.send(64, id).is_ok() && harness.send(80, id).is_ok());
        assert!(matches!(harness.send(68, id), Err(SendError::NotEstablished(_))));
    }
    harness.gateways[1].inner().refusing_hosts.clear();
    harness.run_millis(1_500);
    assert_eq!(harness.send(68, 2).unwrap().seq_num, 2, "the session was resumed");
    harness.run_millis(5);
    assert!(harness.events.states.iter().all(|(segment, _)| *segment == 68));
    assert_eq!(harness.events.states.last(), Some(&(68, State::Established)));
    let counts = harness.gateways.each_ref().map(|gateway| gateway.inner().accepted.0.len());
    assert_eq!(counts, [30, 2, 30]);
    assert_eq!(harness.events.reports.len(), 62);
    for (segment, reconnecting) in harness.segments.iter() {
        let lost = reconnecting.session().inbound_counters().connections_lost;
        assert_eq!(lost > 0, segment == 68);
    }
}

#[test]
fn segments_stop_separately_and_together() {
    let mut harness = Harness::new();
    harness.segments.session_mut(68).unwrap().stop();
    harness.run_millis(10);
    assert!(harness.segments.session(68).unwrap().is_idle() && !harness.segments.is_idle());
    assert_eq!(harness.reactor.count(), 4);
    harness.segments.session_mut(64).unwrap().stop();
    harness.run_millis(10);
    let due = harness.segments.session(80).unwrap().next_deadline();
    assert!(due.is_some() && harness.segments.next_deadline() == due);
    harness.segments.stop();
    harness.run_millis(10);
    assert!(harness.segments.is_idle());
    assert_eq!((harness.reactor.count(), harness.segments.next_deadline()), (0, None));
}

#[test]
fn abandon_leaves_the_reactor() {
    let mut harness = Harness::new();
    let Harness { segments, reactor, events, .. } = &mut harness;
    segments.abandon(now(20), reactor, events).unwrap();
    assert!(segments.is_idle());
    assert_eq!(reactor.count(), 0);
}

#[test]
fn rejects_a_second_session_for_a_segment() {
    let mut harness = Harness::new();
    let session = Session::with_connect(
        mock_exchange::settings(9),
        MemoryStorage::new(false),
        harness.gateways[0].clone(),
    );
    let reconnecting =
        ReconnectingSession::new(session.unwrap(), in_memory_gateway::connector(), FixedZone(0));
    let error = harness.segments.add(68, reconnecting).unwrap_err();
    assert_eq!(error.to_string(), "cannot add market segment 68: it already has a session");
}

#[test]
fn deadline_is_the_earliest_of_all_segments() {
    let mut harness = Harness::new();
    harness.gateways[1].cut(Designation::Primary);
    harness.run_millis(2_000);
    let each = harness.segments.iter().filter_map(|(_, reconnecting)| reconnecting.next_deadline());
    let each: Vec<_> = each.collect();
    assert!(each[1] > each[0], "this session logged on again later");
    assert_eq!(harness.segments.next_deadline(), each.iter().min().copied());
}
