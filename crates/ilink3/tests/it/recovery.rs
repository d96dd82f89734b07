//! A session against a simulated gateway that loses, delays, repeats and rejects. The listener
//! receives every message once and in order.

use std::collections::VecDeque;

use crate::test_session::{Discard, framed, now, settings};
use hairpin_cme_codecs::ilink3::*;
use hairpin_ilink3::*;
use hairpin_sbe::MessageHeader;
use hairpin_time::Duration;
use proptest::prelude::*;

/// An action of the gateway.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Publishes messages; each is sent immediately or lost.
    Publish { count: u8, is_lost: bool },
    /// Sends messages of a retransmission; the first may be lost.
    Replay { count: u16, loses_first: bool },
    /// Drops the retransmission.
    Stall,
    /// Repeats the last retransmitted message.
    Repeat,
    /// Rejects the next request temporarily.
    Reject,
    /// Sends a Sequence with the next number.
    Sequence,
    /// Breaks the connection and publishes messages; then the session is resumed, or a new one
    /// negotiated.
    Cut { published: u8, resumes: bool },
    /// Advances the time by seconds.
    Wait(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1_u8..9, any::<bool>()).prop_map(|(count, is_lost)| Step::Publish { count, is_lost }),
        6 => (1_u16..20, prop::bool::weighted(0.2))
            .prop_map(|(count, loses_first)| Step::Replay { count, loses_first }),
        1 => Just(Step::Stall),
        1 => Just(Step::Repeat),
        1 => Just(Step::Reject),
        2 => Just(Step::Sequence),
        2 => (0_u8..6, any::<bool>())
            .prop_map(|(published, resumes)| Step::Cut { published, resumes }),
        2 => (1_u8..6).prop_map(Step::Wait),
    ]
}

/// A message's UUID and SeqNum.
type Id = (u64, u32);

#[derive(Default)]
struct Gateway {
    /// All messages in the order of publication.
    published: Vec<Id>,
    uuid: u64,
    replay: VecDeque<Id>,
    replayed: Option<Id>,
    rejects_next: bool,
    requests: usize,
}

impl Gateway {
    fn last_of(&self, uuid: u64) -> u32 {
        self.published.iter().filter(|id| id.0 == uuid).map(|id| id.1).max().unwrap_or(0)
    }

    fn publish(&mut self) -> Id {
        let id = (self.uuid, self.last_of(self.uuid) + 1);
        self.published.push(id);
        id
    }

    /// Returns the response to a client frame.
    fn respond(&mut self, frame: &[u8]) -> Vec<u8> {
        let (header, body) = MessageHeader::decode(&frame[4..]).unwrap();
        match header.template_id {
            Negotiate500::TEMPLATE_ID => {
                let mut scratch = Negotiate500::SCRATCH;
                let request = Negotiate500::decode(&header, body, &mut scratch).unwrap();
                assert!(request.uuid() > self.uuid);
                framed(NegotiationResponse501::ENCODED_LENGTH, |buffer| {
                    let mut message = NegotiationResponse501::encode(buffer).unwrap();
                    message.set_uuid(request.uuid());
                    message.set_request_timestamp(request.request_timestamp());
                })
            }
            Establish503::TEMPLATE_ID => {
                let mut scratch = Establish503::SCRATCH;
                let request = Establish503::decode(&header, body, &mut scratch).unwrap();
                let previous = self.published.last().copied().unwrap_or((0, 0));
                self.uuid = request.uuid();
                self.replay.clear();
                framed(EstablishmentAck504::ENCODED_LENGTH, |buffer| {
                    let mut message = EstablishmentAck504::encode(buffer).unwrap();
                    message.set_uuid(self.uuid).set_request_timestamp(request.request_timestamp());
                    message.set_next_seq_no(self.last_of(self.uuid) + 1);
                    message.set_previous_uuid(previous.0).set_previous_seq_no(previous.1);
                    message.set_keep_alive_interval(request.keep_alive_interval());
                })
            }
            RetransmitRequest508::TEMPLATE_ID => self.retransmit(&header, body),
            Sequence506::TEMPLATE_ID => {
                let mut scratch = Sequence506::SCRATCH;
                let sequence = Sequence506::decode(&header, body, &mut scratch).unwrap();
                match sequence.keep_alive_interval_lapsed() {
                    KeepAliveLapsed::LAPSED => self.sequence(),
                    _ => Vec::new(),
                }
            }
            template_id => panic!("template {template_id} from a client that only listens"),
        }
    }

    fn retransmit(&mut self, header: &MessageHeader, body: &[u8]) -> Vec<u8> {
        let mut scratch = RetransmitRequest508::SCRATCH;
        let request = RetransmitRequest508::decode(header, body, &mut scratch).unwrap();
        assert_eq!(request.uuid(), self.uuid);
        let (from, count) = (request.from_seq_no(), u32::from(request.msg_count()));
        assert!(from > 0 && (1..=2_500).contains(&count));
        self.requests += 1;
        if core::mem::take(&mut self.rejects_next) || !self.replay.is_empty() {
            return framed(RetransmitReject510::ENCODED_LENGTH, |buffer| {
                let mut message = RetransmitReject510::encode(buffer).unwrap();
                message.set_uuid(self.uuid).set_request_timestamp(request.request_timestamp());
                message.set_last_uuid(request.last_uuid()).set_error_codes(3);
            });
        }
        let uuid = request.last_uuid().unwrap_or(self.uuid);
        assert!(from + count - 1 <= self.last_of(uuid), "request beyond the published messages");
        self.replay = (from..from + count).map(|number| (uuid, number)).collect();
        framed(Retransmission509::ENCODED_LENGTH, |buffer| {
            let mut message = Retransmission509::encode(buffer).unwrap();
            message.set_uuid(self.uuid).set_last_uuid(request.last_uuid());
            message.set_request_timestamp(request.request_timestamp());
            message.set_from_seq_no(from).set_msg_count(request.msg_count());
        })
    }

    fn sequence(&self) -> Vec<u8> {
        framed(Sequence506::ENCODED_LENGTH, |buffer| {
            let mut message = Sequence506::encode(buffer).unwrap();
            message.set_uuid(self.uuid).set_next_seq_no(self.last_of(self.uuid) + 1);
            message.set_keep_alive_interval_lapsed(KeepAliveLapsed::NOT_LAPSED);
        })
    }
}

fn report((uuid, seq_num): Id, flag: BooleanFlag) -> Vec<u8> {
    framed(ExecutionReportNew522::ENCODED_LENGTH, |buffer| {
        let mut message = ExecutionReportNew522::encode(buffer).unwrap();
        message.set_uuid(uuid).set_seq_num(seq_num).set_poss_retrans_flag(flag);
    })
}

#[derive(Default)]
struct ReceivedLog {
    messages: Vec<Id>,
    lost: Vec<Gap>,
    errors: Vec<Error>,
}

impl Listener for ReceivedLog {
    fn on_message(&mut self, _: &mut Sender<'_>, message: &Message<'_>) {
        self.messages.push((message.uuid, message.seq_num));
    }
    fn on_lost(&mut self, _: &mut Sender<'_>, gap: Gap) {
        self.lost.push(gap);
    }
    fn on_error(&mut self, _: &mut Sender<'_>, error: &Error) {
        self.errors.push(*error);
    }
}

struct World {
    session: Session,
    gateway: Gateway,
    received: ReceivedLog,
    seconds: u64,
}

impl World {
    fn new(held_bytes: usize) -> Self {
        let policy = SessionPolicy {
            held_bytes,
            retransmission_timeout: Duration::from_secs(2),
            retransmission_attempts: u32::MAX,
            ..SessionPolicy::default()
        };
        Self {
            session: Session::with_policy(settings(), Progress::default(), policy).unwrap(),
            gateway: Gateway::default(),
            received: ReceivedLog::default(),
            seconds: 0,
        }
    }

    fn receive(&mut self, bytes: &[u8]) {
        let now = now(self.seconds * 1_000);
        self.session.handle_bytes(now, bytes, &mut Discard::default(), &mut self.received);
    }

    /// Exchanges session messages until both sides are idle.
    fn settle(&mut self) {
        let mut buffer = [0; CONTROL_LENGTH];
        let now = now(self.seconds * 1_000);
        while let Some(length) = self.session.poll_transmit(now, &mut buffer) {
            let response = self.gateway.respond(&buffer[..length]);
            self.receive(&response);
        }
    }

    fn connect(&mut self, binding: Binding) {
        let now = now(self.seconds * 1_000);
        self.session.connect(now, binding).unwrap();
        self.session.poll_action();
        self.session.handle_connected(now, &mut Discard::default(), &mut self.received);
        self.settle();
        assert_eq!(self.session.state(), State::Established);
    }

    fn wait(&mut self, seconds: u64) {
        self.seconds += seconds;
        let now = now(self.seconds * 1_000);
        self.session.handle_timeout(now, &mut Discard::default(), &mut self.received);
    }

    fn replay(&mut self, count: usize, loses_first: bool) {
        for sent in 0..count {
            let Some(id) = self.gateway.replay.pop_front() else { return };
            self.gateway.replayed = Some(id);
            if sent > 0 || !loses_first {
                self.receive(&report(id, BooleanFlag::TRUE));
            }
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Publish { count, is_lost } => {
                for _ in 0..count {
                    let id = self.gateway.publish();
                    if !is_lost {
                        self.receive(&report(id, BooleanFlag::FALSE));
                    }
                }
            }
            Step::Replay { count, loses_first } => self.replay(usize::from(count), loses_first),
            Step::Stall => self.gateway.replay.clear(),
            Step::Repeat => {
                if let Some(id) = self.gateway.replayed {
                    self.receive(&report(id, BooleanFlag::TRUE));
                }
            }
            Step::Reject => self.gateway.rejects_next = true,
            Step::Sequence => {
                let sequence = self.gateway.sequence();
                self.receive(&sequence);
            }
            Step::Cut { published, resumes } => {
                let now = now(self.seconds * 1_000);
                self.session.handle_disconnected(now, &mut Discard::default(), &mut self.received);
                (0..published).for_each(|_| _ = self.gateway.publish());
                // With all places used, another gap would be lost.
                let is_full = self.session.progress().previous_uuids.missing[6].is_some();
                self.connect(if resumes || is_full { Binding::Resume } else { Binding::New });
            }
            Step::Wait(seconds) => self.wait(u64::from(seconds)),
        }
        self.settle();
    }

    /// Ends all faults, so that missing messages arrive.
    fn finish(&mut self) {
        self.gateway.rejects_next = false;
        for _ in 0..200 {
            let sequence = self.gateway.sequence();
            self.receive(&sequence);
            self.settle();
            self.replay(usize::MAX, false);
            self.settle();
            if self.received.messages.len() >= self.gateway.published.len() {
                return;
            }
            self.wait(2);
            self.settle();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn listener_receives_each_message_once_in_order(
        before in 0_u8..4,
        held_bytes in prop_oneof![Just(0_usize), 200_usize..2_000, Just(1 << 16)],
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let mut world = World::new(held_bytes);
        (0..before).for_each(|_| _ = world.gateway.publish());
        world.connect(Binding::NewWeek);
        for step in steps {
            world.step(step);
        }
        world.finish();
        prop_assert_eq!(&world.received.messages, &world.gateway.published);
        let is_lost = |error: &&Error| !matches!(error, Error::ConnectionLost(_));
        prop_assert_eq!(world.received.errors.iter().find(is_lost), None);
        prop_assert!(world.received.lost.is_empty());
        prop_assert_eq!(world.session.progress().previous_uuids.missing[0], None);
    }
}

#[test]
fn scripts_reach_every_intended_event() {
    let mut world = World::new(600);
    world.connect(Binding::NewWeek);
    world.step(Step::Publish { count: 3, is_lost: true });
    world.step(Step::Publish { count: 8, is_lost: false });
    world.step(Step::Replay { count: 2, loses_first: true });
    world.step(Step::Stall);
    world.step(Step::Wait(3));
    world.step(Step::Cut { published: 2, resumes: false });
    world.finish();
    assert_eq!(world.received.messages, world.gateway.published);
    let counters = *world.session.inbound_counters();
    assert!(counters.held > 0 && counters.undelivered > 0 && counters.held_overflows > 0);
    assert!(counters.retransmission_gaps > 0 && counters.retransmissions_stalled > 0);
    assert!(world.gateway.requests > 2);
}
