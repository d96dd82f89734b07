//! Injected faults: each kind separately; the same seed gives the same faults.

use hairpin_cme_codecs::ilink3::{ExecutionReportNew522, RetransmitReject510};
use hairpin_exchange::{ConnectionId, GatewayFaultTally, GatewayFaults};
use hairpin_time::Duration;

use super::harness::{Harness, UUID};
use crate::client::{Reply, establish, negotiate, order, replies, retransmit_request_of};
use crate::decode;

const ORDERS: u32 = 200;

/// The bytes that a client reads of a session with 200 orders, by write, and the counted faults.
/// The clock advances by 100 µs per order, and on while bytes are held back.
struct Run {
    harness: Harness,
    id: ConnectionId,
    writes: Vec<Vec<u8>>,
}

impl Run {
    fn new(faults: Option<GatewayFaults>) -> Self {
        let mut harness = Harness::with(2, |settings| settings.faults = faults);
        let id = harness.connect();
        let mut run = Self { harness, id, writes: Vec::new() };
        let timestamp = run.harness.timestamp();
        run.send(&negotiate(UUID, timestamp));
        let timestamp = run.harness.timestamp();
        run.send(&establish(UUID, timestamp, 1));
        let price = run.harness.far_price();
        for number in 1..=ORDERS {
            run.send(&order(number, price));
        }
        // Bytes are held back for at most a second.
        for _ in 0..400 {
            run.harness.pass(Duration::from_millis(5));
            run.harness.gateway.handle_timeout(run.harness.now, &mut run.harness.listener);
            run.take();
        }
        run
    }

    fn send(&mut self, bytes: &[u8]) {
        self.harness.pass(Duration::from_micros(100));
        let Harness { now, market, gateway, listener } = &mut self.harness;
        gateway.handle_timeout(*now, listener);
        gateway.handle_bytes(*now, self.id, bytes, market, listener);
        self.take();
    }

    fn take(&mut self) {
        if let Some(bytes) = self.harness.gateway.poll_transmit(self.id) {
            let bytes = bytes.to_vec();
            self.harness.gateway.handle_sent(self.id, bytes.len());
            self.writes.push(bytes);
        }
    }

    fn bytes(&self) -> Vec<u8> {
        self.writes.concat()
    }

    /// Returns the sequence numbers of the acknowledgements in order of arrival.
    fn numbers(&self) -> Vec<u32> {
        let replies = replies(&self.bytes());
        let reports = replies.iter().filter(|reply| reply.template() == 522);
        reports.map(|reply| decode!(ExecutionReportNew522, reply).seq_num()).collect()
    }

    fn tally(&self) -> GatewayFaultTally {
        *self.harness.gateway.fault_tally().unwrap()
    }
}

const TENTH: u32 = 100_000;
/// No faults, with seed 0.
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

fn write_faults(seed: u64) -> [(&'static str, GatewayFaults); 4] {
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
fn write_faults_change_timing_only() {
    let plain = Run::new(None);
    assert_eq!(plain.numbers(), (1..=ORDERS).collect::<Vec<u32>>());
    for seed in 0..20 {
        for (what, faults) in write_faults(seed) {
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
fn seed_determines_gateway_faults() {
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
fn dropped_message_can_be_retransmitted() {
    let faults = GatewayFaults { seed: 1, drop_ppm: TENTH, ..GatewayFaults::default() };
    let mut run = Run::new(Some(faults));
    let mut numbers = run.numbers();
    let missing: Vec<u32> = (1..=ORDERS).filter(|number| !numbers.contains(number)).collect();
    assert_eq!(missing.len() as u64, run.tally().dropped);
    assert!(missing.len() > 5);
    for number in missing {
        run.writes.clear();
        let timestamp = run.harness.timestamp();
        run.send(&retransmit_request_of(UUID, timestamp, None, number, 1));
        numbers.extend(run.numbers());
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=ORDERS).collect::<Vec<u32>>());
}

#[test]
fn doubled_and_skipped_messages_have_consistent_numbers() {
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
    let timestamp = run.harness.timestamp();
    run.send(&retransmit_request_of(UUID, timestamp, None, missing, 1));
    let answer: Vec<Reply> = replies(&run.bytes());
    assert_eq!(decode!(RetransmitReject510, answer[0]).error_codes(), 0);
}

#[test]
fn refuses_and_cuts_connections() {
    let refuse = GatewayFaults { refuse_ppm: 5 * TENTH, ..GatewayFaults::default() };
    let mut harness = Harness::with(2, |settings| settings.faults = Some(refuse));
    let mut refused = 0;
    for _ in 0..100 {
        match harness.gateway.handle_connected(harness.now, &mut harness.listener) {
            Some(id) => harness.gateway.handle_closed(id, &mut harness.listener),
            None => refused += 1,
        }
    }
    assert!((30..70).contains(&refused));
    assert_eq!(harness.gateway.fault_tally().unwrap().refused, refused);

    let cut = GatewayFaults { cut_ppm: 1_000_000, ..GatewayFaults::default() };
    let mut harness = Harness::with(2, |settings| settings.faults = Some(cut));
    let id = harness.connect();
    let timestamp = harness.timestamp();
    assert_eq!(harness.send(id, &negotiate(UUID, timestamp)), []);
    assert!(harness.gateway.poll_action(&mut harness.listener).is_some());
    assert_eq!(harness.gateway.fault_tally().unwrap().cut, 1);
}

/// Creates a gateway with these faults, and a connection whose Negotiate was answered.
fn with_answered_negotiate(faults: GatewayFaults) -> (Harness, ConnectionId) {
    let mut harness = Harness::with(2, |settings| settings.faults = Some(faults));
    let id = harness.connect();
    let timestamp = harness.timestamp();
    assert_eq!(harness.send(id, &negotiate(UUID, timestamp)), []);
    (harness, id)
}

/// Returns the messages sent at the deadline, which is so much later. Nothing is sent before.
fn at_deadline(harness: &mut Harness, id: ConnectionId) -> (Duration, Vec<u16>) {
    let deadline = harness.gateway.poll_timeout().unwrap();
    let span = deadline.saturating_since(harness.now.monotonic);
    harness.pass(span - Duration::from_nanos(1));
    assert_eq!(harness.timeout(id), []);
    harness.pass(Duration::from_nanos(1));
    (span, harness.timeout(id).iter().map(Reply::template).collect())
}

#[test]
fn delayed_write_is_sent_at_its_deadline() {
    const DELAY_MAX: Duration = Duration::from_millis(3);
    let mut spans = Vec::new();
    for seed in 0..8 {
        let faults = GatewayFaults { seed, delay_ppm: 1_000_000, delay_max: DELAY_MAX, ..NONE };
        let (mut harness, id) = with_answered_negotiate(faults);
        let (span, reported) = at_deadline(&mut harness, id);
        assert!(span > Duration::ZERO && span <= DELAY_MAX, "{span:?}");
        assert_eq!(reported, [501]);
        spans.push(span);
    }
    spans.dedup();
    assert_eq!(spans.len(), 8);
}

#[test]
fn silence_holds_all_writes_until_its_end() {
    let silence = Duration::from_secs(7);
    let (mut harness, id) =
        with_answered_negotiate(GatewayFaults { silence_ppm: 1_000_000, silence, ..NONE });
    // More is written during the silence.
    harness.pass(Duration::from_secs(1));
    let timestamp = harness.timestamp();
    assert_eq!(harness.send(id, &establish(UUID, timestamp, 1)), []);
    let (span, reported) = at_deadline(&mut harness, id);
    assert_eq!(span, Duration::from_secs(6) - Duration::from_micros(1));
    assert_eq!(reported, [501, 504]);
}

#[test]
fn coalesced_write_is_sent_with_the_next_or_after_20_ms() {
    let faults = GatewayFaults { coalesce_ppm: 1_000_000, ..NONE };
    let (mut harness, id) = with_answered_negotiate(faults);
    assert_eq!(at_deadline(&mut harness, id), (Duration::from_millis(20), vec![501]));
    let (mut harness, id) = with_answered_negotiate(faults);
    let timestamp = harness.timestamp();
    let replies = harness.send(id, &establish(UUID, timestamp, 1));
    assert_eq!(replies.iter().map(Reply::template).collect::<Vec<_>>(), [501, 504]);
}
