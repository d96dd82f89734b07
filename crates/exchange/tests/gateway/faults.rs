//! Faults on demand: each is made, and only it; the same seed makes the same.

use hairpin_cme_codecs::ilink3::{ExecutionReportNew522, RetransmitReject510};
use hairpin_exchange::{ConnectionId, GatewayFaultTally, GatewayFaults};
use hairpin_time::Duration;

use crate::bench::{Bench, UUID};
use crate::client::{Reply, establish, negotiate, order, replies, retransmit_request_of};
use crate::decode;

const ORDERS: u32 = 200;

/// Bytes that a client reads of a session of 200 orders, as they leave, and what was done to them.
/// The clock goes on by 100 µs with each order, and for as long as anything is held back.
struct Run {
    bench: Bench,
    id: ConnectionId,
    writes: Vec<Vec<u8>>,
}

impl Run {
    fn new(faults: Option<GatewayFaults>) -> Self {
        let mut bench = Bench::with(2, |settings| settings.faults = faults);
        let id = bench.connect();
        let mut run = Self { bench, id, writes: Vec::new() };
        let timestamp = run.bench.timestamp();
        run.send(&negotiate(UUID, timestamp));
        let timestamp = run.bench.timestamp();
        run.send(&establish(UUID, timestamp, 1));
        let price = run.bench.far();
        for number in 1..=ORDERS {
            run.send(&order(number, price));
        }
        // At most a second is held back.
        for _ in 0..400 {
            run.bench.pass(Duration::from_millis(5));
            run.bench.gateway.handle_timeout(run.bench.now, &mut run.bench.notes);
            run.take();
        }
        run
    }

    fn send(&mut self, bytes: &[u8]) {
        self.bench.pass(Duration::from_micros(100));
        let Bench { now, floor, gateway, notes } = &mut self.bench;
        gateway.handle_timeout(*now, notes);
        gateway.handle_bytes(*now, self.id, bytes, floor, notes);
        self.take();
    }

    fn take(&mut self) {
        if let Some(bytes) = self.bench.gateway.poll_transmit(self.id) {
            let bytes = bytes.to_vec();
            self.bench.gateway.handle_sent(self.id, bytes.len());
            self.writes.push(bytes);
        }
    }

    fn bytes(&self) -> Vec<u8> {
        self.writes.concat()
    }

    /// Numbers of the acknowledgements as they have come.
    fn numbers(&self) -> Vec<u32> {
        let replies = replies(&self.bytes());
        let reports = replies.iter().filter(|reply| reply.template() == 522);
        reports.map(|reply| decode!(ExecutionReportNew522, reply).seq_num()).collect()
    }

    fn tally(&self) -> GatewayFaultTally {
        *self.bench.gateway.fault_tally().unwrap()
    }
}

const TENTH: u32 = 100_000;
/// No faults, all of seed 0.
const NONE: GatewayFaults = GatewayFaults {
    seed: 0,
    drop_ppm: 0,
    double_ppm: 0,
    skip_ppm: 0,
    delay_ppm: 0,
    delay_max: Duration::ZERO,
    split_ppm: 0,
    coalesce_ppm: 0,
    silence_ppm: 0,
    silence: Duration::ZERO,
    cut_ppm: 0,
    refuse_ppm: 0,
};

fn of_writes(seed: u64) -> [(&'static str, GatewayFaults); 4] {
    let faults = GatewayFaults { seed, ..GatewayFaults::default() };
    let delay_max = Duration::from_millis(3);
    let silence = Duration::from_millis(7);
    [
        ("delay", GatewayFaults { delay_ppm: TENTH, delay_max, ..faults }),
        ("split", GatewayFaults { split_ppm: 5 * TENTH, ..faults }),
        ("coalesce", GatewayFaults { coalesce_ppm: 5 * TENTH, ..faults }),
        ("silence", GatewayFaults { silence_ppm: TENTH, silence, ..faults }),
    ]
}

#[test]
fn faults_of_writes_change_when_bytes_leave_and_nothing_else() {
    let plain = Run::new(None);
    assert_eq!(plain.numbers(), (1..=ORDERS).collect::<Vec<u32>>());
    for seed in 0..20 {
        for (what, faults) in of_writes(seed) {
            let run = Run::new(Some(faults));
            assert_eq!(run.bytes(), plain.bytes(), "{what} of seed {seed}");
            assert_ne!(run.writes, plain.writes, "{what} of seed {seed}");
            let GatewayFaultTally { delayed, split, coalesced, silences, .. } = run.tally();
            let happened = [delayed, split, coalesced, silences].map(|count| count > 0);
            let expected = ["delay", "split", "coalesce", "silence"].map(|name| name == what);
            assert_eq!(happened, expected, "{what} of seed {seed}");
        }
    }
}

#[test]
fn a_seed_makes_the_same_faults_again_and_another_makes_others() {
    let faults = |seed| GatewayFaults {
        seed,
        drop_ppm: TENTH,
        double_ppm: TENTH,
        skip_ppm: TENTH,
        delay_ppm: TENTH,
        delay_max: Duration::from_millis(1),
        split_ppm: TENTH,
        ..GatewayFaults::default()
    };
    let (one, two) = (Run::new(Some(faults(3))), Run::new(Some(faults(3))));
    assert_eq!((&one.writes, one.tally()), (&two.writes, two.tally()));
    assert_ne!(Run::new(Some(faults(4))).writes, one.writes);
}

#[test]
fn a_dropped_message_can_be_asked_for() {
    let faults = GatewayFaults { seed: 1, drop_ppm: TENTH, ..GatewayFaults::default() };
    let mut run = Run::new(Some(faults));
    let mut numbers = run.numbers();
    let missing: Vec<u32> = (1..=ORDERS).filter(|number| !numbers.contains(number)).collect();
    assert_eq!(missing.len() as u64, run.tally().dropped);
    assert!(missing.len() > 5);
    for number in missing {
        run.writes.clear();
        let timestamp = run.bench.timestamp();
        run.send(&retransmit_request_of(UUID, timestamp, None, number, 1));
        numbers.extend(run.numbers());
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=ORDERS).collect::<Vec<u32>>());
}

#[test]
fn a_doubled_message_has_one_number_and_a_skipped_number_no_message() {
    let double = GatewayFaults { seed: 1, double_ppm: TENTH, ..GatewayFaults::default() };
    let run = Run::new(Some(double));
    let mut numbers = run.numbers();
    assert!(run.tally().doubled > 5);
    assert_eq!(numbers.len() as u64, u64::from(ORDERS) + run.tally().doubled);
    numbers.dedup();
    assert_eq!(numbers, (1..=ORDERS).collect::<Vec<u32>>());

    let skip = GatewayFaults { seed: 1, skip_ppm: TENTH, ..GatewayFaults::default() };
    let mut run = Run::new(Some(skip));
    let numbers = run.numbers();
    let skipped = run.tally().skipped;
    assert!(skipped > 5 && numbers.len() as u32 == ORDERS);
    assert_eq!(u64::from(*numbers.last().unwrap()), u64::from(ORDERS) + skipped);
    let missing = (1..).find(|number| !numbers.contains(number)).unwrap();
    run.writes.clear();
    let timestamp = run.bench.timestamp();
    run.send(&retransmit_request_of(UUID, timestamp, None, missing, 1));
    let answer: Vec<Reply> = replies(&run.bytes());
    assert_eq!(decode!(RetransmitReject510, answer[0]).error_codes(), 0);
}

#[test]
fn connections_are_refused_and_cut() {
    let refuse = GatewayFaults { refuse_ppm: 5 * TENTH, ..GatewayFaults::default() };
    let mut bench = Bench::with(2, |settings| settings.faults = Some(refuse));
    let mut refused = 0;
    for _ in 0..100 {
        match bench.gateway.handle_connected(bench.now, &mut bench.notes) {
            Some(id) => bench.gateway.handle_closed(id, &mut bench.notes),
            None => refused += 1,
        }
    }
    assert!((30..70).contains(&refused));
    assert_eq!(bench.gateway.fault_tally().unwrap().refused, refused);

    let cut = GatewayFaults { cut_ppm: 1_000_000, ..GatewayFaults::default() };
    let mut bench = Bench::with(2, |settings| settings.faults = Some(cut));
    let id = bench.connect();
    let timestamp = bench.timestamp();
    assert_eq!(bench.send(id, &negotiate(UUID, timestamp)), []);
    assert!(bench.gateway.poll_action(&mut bench.notes).is_some());
    assert_eq!(bench.gateway.fault_tally().unwrap().cut, 1);
}

/// A gateway that does this to every write, and a connection on which a Negotiate was answered.
fn answered(faults: GatewayFaults) -> (Bench, ConnectionId) {
    let mut bench = Bench::with(2, |settings| settings.faults = Some(faults));
    let id = bench.connect();
    let timestamp = bench.timestamp();
    assert_eq!(bench.send(id, &negotiate(UUID, timestamp)), []);
    (bench, id)
}

/// What leaves at the deadline and not before, so much later.
fn at_deadline(bench: &mut Bench, id: ConnectionId) -> (Duration, Vec<u16>) {
    let deadline = bench.gateway.poll_timeout().unwrap();
    let span = deadline.saturating_since(bench.now.monotonic);
    bench.pass(span - Duration::from_nanos(1));
    assert_eq!(bench.timeout(id), []);
    bench.pass(Duration::from_nanos(1));
    (span, bench.timeout(id).iter().map(Reply::template).collect())
}

#[test]
fn a_delayed_write_leaves_when_its_time_has_come() {
    const MOST: Duration = Duration::from_millis(3);
    let mut spans = Vec::new();
    for seed in 0..8 {
        let faults = GatewayFaults { seed, delay_ppm: 1_000_000, delay_max: MOST, ..NONE };
        let (mut bench, id) = answered(faults);
        let (span, told) = at_deadline(&mut bench, id);
        assert!(span > Duration::ZERO && span <= MOST, "{span:?}");
        assert_eq!(told, [501]);
        spans.push(span);
    }
    spans.dedup();
    assert_eq!(spans.len(), 8);
}

#[test]
fn in_a_silence_nothing_leaves_until_its_end() {
    let silence = Duration::from_secs(7);
    let (mut bench, id) = answered(GatewayFaults { silence_ppm: 1_000_000, silence, ..NONE });
    // More is written meanwhile.
    bench.pass(Duration::from_secs(1));
    let timestamp = bench.timestamp();
    assert_eq!(bench.send(id, &establish(UUID, timestamp, 1)), []);
    let (span, told) = at_deadline(&mut bench, id);
    assert_eq!(span, Duration::from_secs(6) - Duration::from_micros(1));
    assert_eq!(told, [501, 504]);
}

#[test]
fn a_write_that_is_coalesced_leaves_with_the_next_or_after_20_ms() {
    let faults = GatewayFaults { coalesce_ppm: 1_000_000, ..NONE };
    let (mut bench, id) = answered(faults);
    assert_eq!(at_deadline(&mut bench, id), (Duration::from_millis(20), vec![501]));
    let (mut bench, id) = answered(faults);
    let timestamp = bench.timestamp();
    let replies = bench.send(id, &establish(UUID, timestamp, 1));
    assert_eq!(replies.iter().map(Reply::template).collect::<Vec<_>>(), [501, 504]);
}
