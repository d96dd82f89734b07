//! Payloads of journal records, as a session reads them when it resumes.
//!
//! Checks:
//!
//! - No payload makes the recovery of a session or of its orders panic.
//! - Each message whose callback had not returned is delivered at most once, and is marked.
//! - The session continues: it has a next deadline, and can connect.
//!
//! Input: records of a kind, a sequence number, a UUID and a length, then the payload.

use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_cme_codecs::ilink3::{ExecutionReportNew522, NewOrderSingle514};
use hairpin_mapped::{Direction, Journal, Tag};
use hairpin_order_entry::{
    Binding, CONTROL_RECORD, FILL_RECORD, KEEP_ALIVE_DEFAULT, Listener, Logon, MESSAGE_RECORD,
    Message, Operator, OrderTracking, Orders, SecretKey, Sender, Session, Settings, TrackOrders,
    snapshot_from_record,
};
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_time::{Instant, Now, Utc};

use crate::Seed;
use crate::script::Script;

/// The bytes of the journal: more than an input of libFuzzer.
const JOURNAL_BYTES: usize = 1 << 18;
/// The largest payload: a frame's length is a word.
const PAYLOAD_MAX: usize = 4_096;
const ORDERS_MAX: usize = 64;
const NOW: Now = Now { monotonic: Instant::from_nanos(1), utc: Utc::from_nanos(1 << 60) };

/// A strategy that counts messages.
struct Counter {
    orders: Orders,
    delivered: usize,
}

impl Listener for Counter {
    fn on_message(&mut self, _: &mut Sender<'_>, message: &Message<'_>) {
        assert!(message.redelivered);
        self.delivered += 1;
    }
}

impl TrackOrders for Counter {
    fn orders(&mut self) -> &mut Orders {
        &mut self.orders
    }
}

fn settings() -> Settings {
    let logon = Logon {
        access_key_id: "K".to_owned(),
        secret_key: SecretKey::from_base64url("AAECAwQFBgcICQoLDA0ODw").expect("a key"),
        session: "ABC".to_owned(),
        firm: "F".to_owned(),
        trading_system_name: "N".to_owned(),
        trading_system_version: "1".to_owned(),
        trading_system_vendor: "V".to_owned(),
        keep_alive_interval: KEEP_ALIVE_DEFAULT,
        operator: Operator::automated("T", "US,IL").expect("an operator"),
    };
    Settings::new(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1), logon)
}

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let mut journal = Journal::anonymous(JOURNAL_BYTES).expect("there is memory");
    let mut script = Script(bytes);
    while !script.is_over() {
        let kind = script.byte();
        let (seq_num, uuid) = (u32::from(script.byte()), u64::from(script.byte()));
        let length = usize::from(script.word()) % PAYLOAD_MAX;
        let payload = script.bytes(length);
        let (direction, number) = match kind % 4 {
            0 => (Direction::Outbound, MESSAGE_RECORD),
            1 => (Direction::Inbound, MESSAGE_RECORD),
            2 => (Direction::Control, CONTROL_RECORD),
            _ => (Direction::Outbound, FILL_RECORD),
        };
        let tag = Tag { direction, kind: number, seq_num, uuid, now: NOW };
        let Ok(mut claim) = journal.claim(payload.len()) else { return };
        claim.payload()[..payload.len()].copy_from_slice(payload);
        let record = claim.commit_as(&tag, payload.len());
        let _ = snapshot_from_record(payload);
        if kind & 0x80 != 0 && direction == Direction::Inbound {
            journal.mark(record);
        }
    }
    resume(journal);
}

fn resume(journal: Journal) {
    let unmarked = journal.unmarked().count();
    let orders = Orders::from_journal(&journal, ORDERS_MAX);
    let mut counter = Counter { orders, delivered: 0 };
    let mut session = Session::new(settings(), journal).expect("the settings are valid");
    let mut reactor = Reactor::new(Wait::Spin).expect("there are descriptors");
    let mut tracking = OrderTracking::new(&mut counter);
    session.process(NOW, Ready::EMPTY, &mut reactor, &mut tracking).expect("nothing is open");
    assert_eq!(session.journal().unmarked().count(), 0);
    let before = session.progress();
    let _ = session.next_deadline();
    session.process(NOW, Ready::EMPTY, &mut reactor, &mut tracking).expect("nothing is open");
    assert_eq!(session.progress(), before);
    let _ = (session.connect(NOW, Binding::New), session.next_deadline());
    assert!(counter.delivered <= unmarked, "each message is delivered once");
}

fn record(kind: u8, seq_num: u8, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(payload.len()).expect("a short payload");
    [&[kind, seq_num, 7][..], &length.to_le_bytes(), payload].concat()
}

fn frame(length: usize, encode: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let whole = length + 4;
    let mut frame = vec![0; whole];
    frame[..2].copy_from_slice(&(whole as u16).to_le_bytes());
    frame[2..4].copy_from_slice(&[0xFE, 0xCA]);
    encode(&mut frame[4..]);
    frame
}

/// Returns the snapshot of a session with UUID 7, as `docs/design/journal.md` describes it.
fn snapshot(next_outgoing: u32, next_incoming: u32) -> Vec<u8> {
    let mut bytes = [1_u64, 7, 70].map(u64::to_le_bytes).concat();
    bytes.extend([next_outgoing, next_incoming].map(u32::to_le_bytes).concat());
    bytes.resize(188, 0);
    bytes
}

/// Returns the initial corpus.
pub fn seeds() -> Vec<Seed> {
    let order = frame(NewOrderSingle514::ENCODED_LENGTH, |buffer| {
        let mut order = NewOrderSingle514::encode(buffer).expect("the buffer has room");
        order.set_seq_num(1).set_security_id(42).set_order_qty(5);
    });
    let report = frame(ExecutionReportNew522::ENCODED_LENGTH, |buffer| {
        let mut report = ExecutionReportNew522::encode(buffer).expect("the buffer has room");
        report.set_uuid(7).set_seq_num(1).set_order_id(9).set_security_id(42);
    });
    let logon = |next_outgoing, next_incoming| {
        let mut request = frame(36, |buffer| buffer.fill(0xEE));
        request.extend(snapshot(next_outgoing, next_incoming));
        record(2, 0, &request)
    };
    let session = [
        logon(1, 1),
        record(0, 1, &order),
        record(0x81, 1, &report),
        record(1, 2, &report),
        logon(2, 3),
        record(3, 1, &report[..20]),
    ];
    vec![
        ("empty".to_owned(), Vec::new()),
        ("session".to_owned(), session.concat()),
        ("edges".to_owned(), [logon(u32::MAX, u32::MAX), record(1, 255, &report)].concat()),
        ("short".to_owned(), (0..64).flat_map(|length| record(1, 1, &report[..length])).collect()),
    ]
}
