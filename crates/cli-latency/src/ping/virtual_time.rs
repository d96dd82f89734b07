//! Pings against a stalling pong on a virtual clock: an open loop shows the stall, a closed loop
//! hides it.

use std::collections::VecDeque;

use hairpin_cli_harness::transport;
use hairpin_measure::{Row, Summary};
use hairpin_time::{Duration, Instant};

use super::ping_loop::{Load, PingLoop};
use super::setup::{PingSetup, PongAddress, Protocol, Stamping};
use super::stall_check;
use crate::pong::{ResponseDelay, Slowness, Stall};

const SAMPLES: u64 = 200_000;
const MILLISECOND: u64 = 1_000_000;
/// The one-way delay of the wire.
const WAY: Duration = Duration::from_micros(5);

/// A single-threaded pong: it reads a ping, may stall, and answers.
struct VirtualPong {
    pause: ResponseDelay,
    free_at: Instant,
}

impl VirtualPong {
    /// Returns the arrival time of the answer to a ping sent at `sent`.
    fn answered_at(&mut self, sent: Instant) -> Instant {
        let read_at = (sent + WAY).max(self.free_at);
        let answered = self.pause.answer_at(read_at);
        self.free_at = answered + Duration::from_nanos(500);
        answered + WAY
    }
}

const STALL: Stall = Stall { length_ms: 10, every_ms: 1_000 };

/// Returns the rows of a round against a pong that stalls for 10 ms once a second.
fn against_a_stall(interval_ns: u64) -> Vec<Row> {
    against(interval_ns, Some(STALL))
}

/// Returns the rows of a round against a pong with this stall.
fn against(interval_ns: u64, stall: Option<Stall>) -> Vec<Row> {
    let load = Load { interval_ns, warm_up: 10, samples: SAMPLES, connections: 1 };
    let mut ping_loop = PingLoop::new(load);
    let pause = ResponseDelay::new(Slowness { delay_ns: 0, stall });
    let mut pong = VirtualPong { pause, free_at: Instant::ZERO };
    let mut under_way: VecDeque<(u64, Instant)> = VecDeque::new();
    let mut now = Instant::ZERO;
    while !ping_loop.is_over() {
        if let Some(departure) = ping_loop.depart(now) {
            under_way.push_back((departure.sequence, pong.answered_at(now)));
            continue;
        }
        let arrival = under_way.front().map(|&(_, at)| at);
        let due = [arrival, ping_loop.poll_timeout()].into_iter().flatten().min();
        now = due.expect("a ping is in flight or due").max(now);
        while let Some((sequence, at)) = under_way.pop_front_if(|&mut (_, at)| at <= now) {
            ping_loop.answer(0, sequence, at);
        }
        ping_loop.handle_timeout(now);
    }
    assert_eq!((ping_loop.counts().lost, ping_loop.counts().answered), (0, SAMPLES));
    ping_loop.rows(setup(load).settings(hairpin_host::ClockSource::Kernel))
}

fn setup(load: Load) -> PingSetup {
    PingSetup {
        protocol: Protocol::Udp,
        remote: PongAddress::NOWHERE,
        interface: *PongAddress::NOWHERE.address.ip(),
        device: "lo".to_owned(),
        transport: transport::TransportArgs::default(),
        wait: "spin".to_owned(),
        core: None,
        size: 14,
        load,
        flood_ms: None,
        stamping: Stamping::None,
    }
}

fn tail(row: &Row) -> (u64, u64) {
    let Summary { p99_9, max, .. } = row.summary;
    (p99_9.unwrap(), max.unwrap())
}

#[test]
fn open_loop_shows_stall_in_all_waiting_pings() {
    let rows = against_a_stall(100_000);
    let (p99_9, max) = tail(&rows[0]);
    let nine = 9 * MILLISECOND;
    assert!(p99_9.abs_diff(nine) <= nine / 10, "p99.9 {p99_9} ns");
    assert!(max >= 10 * MILLISECOND, "max {max} ns");
    assert_eq!(rows.len(), 2);
}

#[test]
fn closed_loop_hardly_shows_stall() {
    let rows = against_a_stall(0);
    let (p99_9, max) = tail(&rows[0]);
    assert!(p99_9 < MILLISECOND, "p99.9 {p99_9} ns");
    assert!(max >= 10 * MILLISECOND, "the one that was caught: max {max} ns");
}

/// Returns the lines that the command prints below the table.
fn check_text(rows: &[Row]) -> String {
    stall_check::lines(Some(STALL), rows)
}

#[test]
fn reports_expected_stall() {
    let open = check_text(&against_a_stall(100_000));
    assert!(open.contains("p99.9 must be 9.00 ms ± 10 %, is 9.0"), "{open}");
    assert!(open.ends_with(" ms: as it must be\n") && open.lines().count() == 1, "{open}");
    let closed = check_text(&against_a_stall(0));
    assert!(closed.contains("p99.9 must be below 1.00 ms, is 0.01 ms; max is 10.0"), "{closed}");
    assert!(closed.ends_with(" ms: as it must be\n"), "{closed}");
}

#[test]
fn detects_other_stalls() {
    for stall in
        [None, Some(Stall { length_ms: 20, ..STALL }), Some(Stall { length_ms: 8, ..STALL })]
    {
        let open = check_text(&against(100_000, stall));
        assert!(open.ends_with(" ms: not as it must be\n"), "{open}");
    }
}
