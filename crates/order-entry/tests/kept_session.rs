//! A session is kept connected: by the schedule, again after a failure, to the next host. Its
//! backup is in `failover.rs`.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod exchange;
mod wire;

use std::net::{Ipv4Addr, SocketAddrV4};

use exchange::frames;
use hairpin_mapped::MemoryStorage;
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_time::{Duration, Instant, Now, Utc};
use wire::{Shared, Told};

/// A Wednesday, noon UTC.
const NOON: u64 = 1_700_049_600;

fn now(seconds: u64) -> Now {
    let utc = Utc::from_nanos((NOON + seconds) * 1_000_000_000);
    Now { monotonic: Instant::from_nanos(seconds * 1_000_000_000 + 1), utc }
}

fn host(last: u8) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::new(127, 0, 0, last), 9)
}

fn settings() -> ConnectorSettings<SocketAddrV4> {
    ConnectorSettings {
        primary: vec![host(1), host(2)],
        backup: Vec::new(),
        attempts: None,
        interval: Duration::from_secs(5),
        schedule: None,
    }
}

struct World {
    kept: ReconnectingSession<Shared, MemoryStorage, FixedZone>,
    shared: Shared,
    reactor: Reactor,
    told: Told,
}

impl World {
    fn new(settings: ConnectorSettings<SocketAddrV4>) -> Self {
        let shared = Shared::default();
        shared.wire().room = usize::MAX;
        let storage = MemoryStorage::new(false);
        let session =
            Session::with_connect(exchange::settings(1), storage, shared.clone()).unwrap();
        let kept = ReconnectingSession::new(session, settings, FixedZone(0));
        let reactor = Reactor::new(Wait::Spin).unwrap();
        Self { kept, shared, reactor, told: Told::default() }
    }

    /// A turn at `seconds` after noon, and the exchange's answer to what has left.
    fn turn(&mut self, seconds: u64) {
        let now = now(seconds);
        let ready = match self.kept.session().state() {
            State::Disconnected => Ready::NOTHING,
            _ => self.reactor.wait(now.monotonic, None).unwrap(),
        };
        self.kept.process(now, ready, &mut self.reactor, &mut self.told).unwrap();
        let mut wire = self.shared.wire();
        let taken = std::mem::take(&mut wire.taken);
        for frame in frames(&taken) {
            let answer = wire.exchange.answer(frame);
            wire.incoming.extend(answer);
        }
    }

    /// Turns until nothing changes any more.
    fn settle(&mut self, seconds: u64) -> State {
        (0..8).for_each(|_| self.turn(seconds));
        self.kept.session().state()
    }

    fn dialled(&self) -> Vec<SocketAddrV4> {
        std::mem::take(&mut self.shared.wire().dialled)
    }

    /// Seconds after noon at which it is due.
    fn due(&self) -> Option<u64> {
        let deadline = self.kept.next_deadline()?;
        Some(deadline.saturating_since(now(0).monotonic).as_nanos().div_ceil(1_000_000_000))
    }
}

#[test]
fn nothing_is_connected_before_it_is_started_or_after_it_is_stopped() {
    let mut world = World::new(settings());
    assert_eq!((world.settle(0), world.due()), (State::Disconnected, None));
    assert_eq!(world.dialled(), []);
    world.kept.start(now(1));
    assert_eq!(world.settle(1), State::Established);
    assert_eq!(world.dialled(), [host(1)]);
    world.kept.stop();
    assert_eq!(world.settle(2), State::Disconnected);
    assert_eq!((world.settle(100), world.due()), (State::Disconnected, None));
    assert_eq!(world.dialled(), []);
    world.kept.start(now(101));
    assert_eq!(world.settle(101), State::Established);
}

#[test]
fn a_connection_that_broke_is_made_again_and_resumes() {
    let mut world = World::new(settings());
    world.kept.start(now(0));
    world.settle(0);
    let uuid = world.kept.session().progress().uuid;
    world.shared.wire().is_ended = true;
    world.turn(10);
    assert_eq!(world.kept.session().state(), State::Disconnected);
    world.shared.wire().is_ended = false;
    assert_eq!((world.settle(14), world.due()), (State::Disconnected, Some(15)));
    assert_eq!(world.settle(15), State::Established);
    assert_eq!(world.kept.session().progress().uuid, uuid, "the session was resumed");
    assert_eq!(world.dialled(), [host(1), host(1)], "it had been a good host");
}

#[test]
fn a_session_that_is_established_and_lost_within_one_turn_is_resumed() {
    let mut world = World::new(ConnectorSettings { attempts: Some(1), ..settings() });
    world.kept.start(now(0));
    world.settle(0);
    // Its numbers are wrong: another one is to begin.
    let terminate = world.shared.wire().exchange.terminate(11, 5);
    world.shared.wire().incoming = terminate;
    assert_eq!(world.settle(10), State::Disconnected);
    let mut wire = world.shared.wire();
    wire.incoming.clear();
    wire.exchange.received.clear();
    drop(wire);
    while world.kept.session().state() != State::Establishing {
        assert!(!world.kept.has_given_up());
        world.turn(15);
    }
    // The answer is there, and the end behind it.
    assert_eq!(world.shared.wire().exchange.received, [500, 503]);
    world.shared.wire().is_ended = true;
    world.turn(16);
    assert_eq!(world.kept.session().state(), State::Disconnected);
    assert!(world.kept.session().was_established() && !world.kept.has_given_up());
    let uuid = world.kept.session().progress().uuid;
    world.shared.wire().is_ended = false;
    world.dialled();
    assert_eq!(world.settle(21), State::Established);
    assert_eq!(world.kept.session().progress().uuid, uuid);
    assert_eq!(world.shared.wire().exchange.received, [500, 503, 503], "the last resumes");
    assert_eq!(world.dialled(), [host(1)], "it had been a good host");
}

#[test]
fn hosts_take_turns_until_attempts_are_used_up() {
    let mut world = World::new(ConnectorSettings { attempts: Some(3), ..settings() });
    world.shared.wire().refusal = Some(std::io::ErrorKind::ConnectionRefused);
    world.kept.start(now(0));
    for seconds in 0..30 {
        world.settle(seconds);
    }
    assert_eq!(world.dialled(), [host(1), host(2), host(1)]);
    assert!(world.kept.has_given_up());
    assert_eq!(world.due(), None);
    world.shared.wire().refusal = None;
    world.kept.start(now(30));
    assert!(!world.kept.has_given_up());
    assert_eq!(world.settle(30), State::Established);
    assert_eq!(world.dialled(), [host(2)]);
}

#[test]
fn the_schedule_opens_and_closes_it() {
    let at = |day, hour| WeekTime::new(day, hour, 0).unwrap();
    // Wednesday is day 3: from 13:00 to 14:00.
    let schedule = Schedule::weekly(at(0, 0), &[(at(3, 13), at(3, 14))]).unwrap();
    let mut world = World::new(ConnectorSettings { schedule: Some(schedule), ..settings() });
    world.kept.start(now(0));
    assert_eq!((world.settle(0), world.due()), (State::Disconnected, Some(3_600)));
    assert_eq!(world.settle(3_600), State::Established);
    let first = world.kept.session().progress().uuid;
    assert_eq!(world.settle(7_200), State::Disconnected);
    // A week later it is another week: nothing is resumed.
    let week = 7 * 24 * 3_600;
    assert_eq!(world.due(), Some(week + 3_600));
    assert_eq!(world.settle(week + 3_600), State::Established);
    assert!(world.kept.session().progress().uuid > first);
}
