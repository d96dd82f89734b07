//! Three sessions to three gateways on one reactor.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod exchange;
mod house;

use hairpin_exchange::Designation;
use hairpin_mapped::MemoryStorage;
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Ready, Wait};
use house::{House, now};

const SEGMENTS: [u8; 3] = [64, 68, 80];

/// What the listeners of all segments were told, each with its segment.
#[derive(Default)]
struct Told {
    states: Vec<(u8, State)>,
    reports: Vec<(u8, u32)>,
}

struct On<'a>(&'a mut Told, u8);

impl Listener for On<'_> {
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

impl Listeners for Told {
    type Of<'a> = On<'a>;
    fn of(&mut self, segment: u8) -> On<'_> {
        On(self, segment)
    }
}

struct World {
    houses: [House; 3],
    segments: Segments<House, MemoryStorage, FixedZone>,
    reactor: Reactor,
    told: Told,
    millis: u64,
}

impl World {
    fn new() -> Self {
        let houses = SEGMENTS.map(|_| House::new());
        let mut segments = Segments::default();
        for (segment, house) in SEGMENTS.into_iter().zip(&houses) {
            let journal = MemoryStorage::new(false);
            let session = Session::with_connect(exchange::settings(9), journal, house.clone());
            let connector = house::connector();
            let kept = ReconnectingSession::new(session.unwrap(), connector, FixedZone(0));
            segments.add(segment, kept).unwrap();
        }
        let reactor = Reactor::new(Wait::Spin).unwrap();
        let mut world = Self { houses, segments, reactor, told: Told::default(), millis: 0 };
        world.segments.start(now(0));
        world.pass(15);
        assert!(
            world.segments.iter().all(|(_, kept)| kept.session().state() == State::Established)
        );
        assert_eq!(world.reactor.count(), 6, "three primaries and their backups");
        world.told.states.clear();
        world
    }

    fn pass(&mut self, millis: u64) {
        for _ in 0..millis {
            self.millis += 1;
            let now = now(self.millis);
            let ready = match self.reactor.count() {
                0 => Ready::NOTHING,
                _ => self.reactor.wait(now.monotonic, None).unwrap(),
            };
            self.segments.process(now, ready, &mut self.reactor, &mut self.told).unwrap();
            self.houses.iter().for_each(|house| house.turn(now));
        }
    }

    fn send(&mut self, segment: u8, id: u64) -> Result<Sent, SendError> {
        let order = NewOrder::limit(1_001, SideReq::BUY, Decimal(1_000_000_000), 1, id.into());
        self.segments.sender(segment, now(self.millis)).unwrap().send(&order)
    }
}

#[test]
fn each_segment_has_its_numbers_and_its_gateway() {
    let mut world = World::new();
    for (count, segment) in (1..).zip(SEGMENTS) {
        (1..=count).for_each(|id| assert_eq!(world.send(segment, id).unwrap().seq_num, id as u32));
    }
    world.pass(5);
    for (count, house) in (1..).zip(&world.houses) {
        assert!(house.inner().accepted.0.iter().copied().eq(1..=count));
    }
    let expected = [(64, 1), (68, 1), (68, 2), (80, 1), (80, 2), (80, 3)];
    assert_eq!(world.told.reports, expected);
    assert!(world.segments.sender(7, now(0)).is_none());
    assert!(world.told.states.is_empty());
}

#[test]
fn one_that_dies_and_comes_back_is_not_noticed_by_the_others() {
    let mut world = World::new();
    SEGMENTS.iter().for_each(|&segment| assert!(world.send(segment, 1).is_ok()));
    world.pass(5);
    world.houses[1].inner().dead = vec![house::host(1), house::host(9)];
    world.houses[1].cut(Designation::Primary);
    for id in 2..=30 {
        world.pass(100);
        assert!(world.send(64, id).is_ok() && world.send(80, id).is_ok());
        assert!(matches!(world.send(68, id), Err(SendError::NotEstablished(_))));
    }
    world.houses[1].inner().dead.clear();
    world.pass(1_500);
    assert_eq!(world.send(68, 2).unwrap().seq_num, 2, "it was resumed");
    world.pass(5);
    assert!(world.told.states.iter().all(|(segment, _)| *segment == 68));
    assert_eq!(world.told.states.last(), Some(&(68, State::Established)));
    let counts = world.houses.each_ref().map(|house| house.inner().accepted.0.len());
    assert_eq!(counts, [30, 2, 30]);
    assert_eq!(world.told.reports.len(), 62);
    for (segment, kept) in world.segments.iter() {
        let lost = kept.session().inbound_counters().connections_lost;
        assert_eq!(lost > 0, segment == 68);
    }
}

#[test]
fn one_is_stopped_alone_and_all_together() {
    let mut world = World::new();
    world.segments.session_mut(68).unwrap().stop();
    world.pass(10);
    assert!(world.segments.session(68).unwrap().is_idle() && !world.segments.is_idle());
    assert_eq!(world.reactor.count(), 4);
    world.segments.session_mut(64).unwrap().stop();
    world.pass(10);
    let due = world.segments.session(80).unwrap().next_deadline();
    assert!(due.is_some() && world.segments.next_deadline() == due);
    world.segments.stop();
    world.pass(10);
    assert!(world.segments.is_idle());
    assert_eq!((world.reactor.count(), world.segments.next_deadline()), (0, None));
}

#[test]
fn abandoned_they_have_left_the_reactor() {
    let mut world = World::new();
    let World { segments, reactor, told, .. } = &mut world;
    segments.abandon(now(20), reactor, told).unwrap();
    assert!(segments.is_idle());
    assert_eq!(reactor.count(), 0);
}

#[test]
fn a_segment_has_one_session() {
    let mut world = World::new();
    let session = Session::with_connect(
        exchange::settings(9),
        MemoryStorage::new(false),
        world.houses[0].clone(),
    );
    let kept = ReconnectingSession::new(session.unwrap(), house::connector(), FixedZone(0));
    let error = world.segments.add(68, kept).unwrap_err();
    assert_eq!(error.to_string(), "market segment 68 has a session already");
}

#[test]
fn the_one_that_is_due_first_is_what_is_waited_for() {
    let mut world = World::new();
    world.houses[1].cut(Designation::Primary);
    world.pass(2_000);
    let each = world.segments.iter().filter_map(|(_, kept)| kept.next_deadline());
    let each: Vec<_> = each.collect();
    assert!(each[1] > each[0], "it has logged on again, later");
    assert_eq!(world.segments.next_deadline(), each.iter().min().copied());
}
