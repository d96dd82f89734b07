//! The business messages of a trader in both directions, and who has received each.

use std::collections::{BTreeMap, VecDeque};

use hairpin_cme_codecs::ilink3::{
    Establish503, Negotiate500, NewOrderSingle514, OrderCancelRequest516,
};
use hairpin_exchange as exchange;
use hairpin_exchange::OrderId;
use hairpin_mapped::{Direction, Journal};
use hairpin_netsim::Census;
use hairpin_sbe::MessageHeader;

/// The length of the framing header in bytes.
const FRAMING: usize = 4;

/// A client's business message as received by the gateway or recorded in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientMessage {
    template: u16,
    pub(crate) seq_num: u32,
    cl_ord_id: [u8; 20],
    frame: Vec<u8>,
}

/// The kind of a client's frame, as far as the message log needs it.
#[derive(Debug)]
enum FrameKind {
    LogOn(u64),
    Business(ClientMessage),
    Other,
}

/// Decodes the fields of a client's frame that the message log needs.
fn frame_kind(frame: &[u8]) -> Option<FrameKind> {
    let (header, body) = MessageHeader::decode(frame.get(FRAMING..)?).ok()?;
    let business = |seq_num, cl_ord_id: &[u8]| {
        let mut id = [0; 20];
        id[..cl_ord_id.len()].copy_from_slice(cl_ord_id);
        let (template, frame) = (header.template_id, frame.to_vec());
        FrameKind::Business(ClientMessage { template, seq_num, cl_ord_id: id, frame })
    };
    Some(match header.template_id {
        Negotiate500::TEMPLATE_ID => {
            let mut scratch = Negotiate500::SCRATCH;
            FrameKind::LogOn(Negotiate500::decode(&header, body, &mut scratch).ok()?.uuid())
        }
        Establish503::TEMPLATE_ID => {
            let mut scratch = Establish503::SCRATCH;
            FrameKind::LogOn(Establish503::decode(&header, body, &mut scratch).ok()?.uuid())
        }
        NewOrderSingle514::TEMPLATE_ID => {
            let mut scratch = NewOrderSingle514::SCRATCH;
            let order = NewOrderSingle514::decode(&header, body, &mut scratch).ok()?;
            business(order.seq_num(), order.cl_ord_id().as_bytes())
        }
        OrderCancelRequest516::TEMPLATE_ID => {
            let mut scratch = OrderCancelRequest516::SCRATCH;
            let cancel = OrderCancelRequest516::decode(&header, body, &mut scratch).ok()?;
            business(cancel.seq_num(), cancel.cl_ord_id().as_bytes())
        }
        _ => FrameKind::Other,
    })
}

/// The frames received on one connection that the gateway has not reported yet.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    bytes: Vec<u8>,
    uuid: u64,
    waiting: VecDeque<ClientMessage>,
}

impl Frames {
    /// Returns the UUID of the trader's logon.
    pub(crate) fn uuid(&self) -> u64 {
        self.uuid
    }

    /// Adds received bytes that the gateway handles next.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let mut start = 0;
        while let Some(length) = self.bytes[start..].first_chunk().copied() {
            let length = usize::from(u16::from_le_bytes(length));
            let Some(frame) = self.bytes.get(start..start + length).filter(|_| length >= FRAMING)
            else {
                break;
            };
            match frame_kind(frame) {
                Some(FrameKind::LogOn(uuid)) => self.uuid = uuid,
                Some(FrameKind::Business(message)) => self.waiting.push_back(message),
                Some(FrameKind::Other) | None => {}
            }
            start += length;
        }
        self.bytes.drain(..start);
    }

    /// Returns the message that the gateway reports. The gateway has ignored all frames before it.
    fn take(&mut self, template: u16, cl_ord_id: &[u8]) -> Option<ClientMessage> {
        let is_it = |message: &ClientMessage| {
            message.template == template && message.cl_ord_id.starts_with(cl_ord_id)
        };
        let place = self.waiting.iter().position(is_it)?;
        self.waiting.drain(..place);
        self.waiting.pop_front()
    }
}

/// The messages under one UUID.
#[derive(Debug, Default)]
pub(crate) struct UuidMessages {
    /// The number of messages that the trader has committed.
    pub(crate) sent: u32,
    /// The messages that the gateway has accepted in sequence.
    pub(crate) accepted: Vec<ClientMessage>,
    /// The ranges that the gateway has reported as not applied: first number and count.
    pub(crate) not_applied: Vec<(u32, u32)>,
    /// The last number that the trader had given up when it received the first NotApplied after its
    /// logon.
    pub(crate) skipped: u32,
    /// The trader has received a NotApplied since its logon.
    pub(crate) has_skipped: bool,
    /// The number of times that the gateway has accepted a message again after a NotApplied.
    answered: u64,
    /// The number of business messages of the gateway.
    pub(crate) reported: u32,
    /// The number of those messages that the trader has received.
    pub(crate) received: u32,
    /// The reason that messages of this UUID may be lost, if there is one.
    pub(crate) broken: Option<&'static str>,
}

/// The message log of one trader.
#[derive(Debug, Default)]
pub(crate) struct MessageLog {
    pub(crate) by_uuid: BTreeMap<u64, UuidMessages>,
    /// The acknowledged orders by OrderID, each with `true` if it was canceled later.
    orders: BTreeMap<u64, bool>,
    pub(crate) fills: u64,
    pub(crate) rejects: u64,
}

impl MessageLog {
    pub(crate) fn uuid_messages(&mut self, uuid: u64) -> &mut UuidMessages {
        self.by_uuid.entry(uuid).or_default()
    }

    /// Allows messages of this UUID to be lost from now on.
    pub(crate) fn allow_loss(&mut self, uuid: u64, why: &'static str) {
        if uuid != 0 {
            self.uuid_messages(uuid).broken.get_or_insert(why);
        }
    }

    /// Returns `true` if no message of this UUID is in flight.
    pub(crate) fn is_settled(&self, uuid: u64) -> bool {
        self.by_uuid.get(&uuid).is_none_or(|messages| {
            messages.is_accepted_or_skipped() && messages.received == messages.reported
        })
    }

    /// Checks that each sent message arrived and was answered, or that there is a reason for its
    /// loss. Each received message must be in the journal, byte for byte.
    pub(crate) fn check(&self, journal: &Journal, market: &exchange::Matching) {
        let journaled = messages_of(journal);
        for (uuid, messages) in &self.by_uuid {
            messages.check(*uuid);
            assert_eq!(
                messages.received, messages.reported,
                "{uuid}: the trader has not received every report"
            );
            let Some(journaled) = journaled.get(uuid) else {
                assert!(
                    messages.accepted.is_empty(),
                    "{uuid}: the journal has no messages of this UUID"
                );
                continue;
            };
            assert_eq!(
                journaled.len(),
                messages.sent as usize,
                "{uuid}: the journal lacks sent messages"
            );
            for message in &messages.accepted {
                let place = message.seq_num as usize - 1;
                assert_eq!(
                    Some(message),
                    journaled.get(place),
                    "{uuid}: an accepted message differs from the journal"
                );
            }
        }
        assert_eq!((self.fills, self.rejects), (0, 0), "fills and rejects");
        for (order, is_canceled) in &self.orders {
            let rests = market.order(OrderId(*order)).is_some();
            assert_eq!(rests, !is_canceled, "order {order} rests although canceled, or is missing");
        }
    }

    /// Adds the counts to the census.
    pub(crate) fn report(&self, census: &mut Census) {
        for messages in self.by_uuid.values() {
            census.add("business messages of traders", messages.sent.into());
            census.add("business messages of the exchange", messages.reported.into());
            census.add("NotApplied followed by a Sequence", messages.answered);
            // With a corrupt stream, both ends may have accepted messages that were never sent.
            let lost = messages.sent.saturating_sub(messages.accepted.len() as u32);
            census.add("orders and cancels lost with a connection", lost.into());
        }
        let resting = self.orders.values().filter(|is_canceled| !**is_canceled).count();
        census.add("orders left resting by a lost connection", resting as u64);
    }
}

impl UuidMessages {
    /// Returns `true` if each sent message was accepted or given up.
    pub(crate) fn is_accepted_or_skipped(&self) -> bool {
        self.last_accepted().max(self.skipped) >= self.sent
    }

    /// Returns the number of the last message that the gateway has accepted, or 0.
    pub(crate) fn last_accepted(&self) -> u32 {
        self.accepted.last().map_or(0, |message| message.seq_num)
    }

    fn accept(&mut self, message: ClientMessage) {
        let (known, skipped) = (self.last_accepted(), self.skipped);
        let is_first_after = known <= skipped && skipped < message.seq_num;
        self.answered += u64::from(skipped > 0 && is_first_after);
        self.accepted.push(message);
    }

    fn check(&self, uuid: u64) {
        let Self { sent, accepted, not_applied, reported, received, broken, .. } = self;
        let count = accepted.len() as u32;
        assert_eq!(*reported, count, "{uuid}: accepted messages and reports differ in number");
        assert!(
            count <= *sent && received <= reported,
            "{uuid}: more messages arrived than were sent"
        );
        let numbers = accepted.iter().map(|message| message.seq_num);
        assert!(
            numbers.clone().is_sorted_by(|a, b| a < b),
            "{uuid}: a message was accepted out of order"
        );
        let last = numbers.clone().next_back().unwrap_or(0);
        let numbers: Vec<_> = numbers.collect();
        for missing in (1..=last).filter(|number| numbers.binary_search(number).is_err()) {
            let is_reported =
                not_applied.iter().any(|&(from, n)| (from..from + n).contains(&missing));
            assert!(is_reported, "{uuid}: message {missing} was skipped without a NotApplied");
        }
        if broken.is_none() {
            assert_eq!(
                (count, received),
                (*sent, reported),
                "{uuid}: messages were lost without a fault"
            );
        }
    }
}

/// Returns the business messages of a journal by UUID, in order.
fn messages_of(journal: &Journal) -> BTreeMap<u64, Vec<ClientMessage>> {
    let (mut uuid, mut messages) = (0, BTreeMap::<u64, Vec<ClientMessage>>::new());
    let ours = journal.records().filter(|(record, _)| record.direction() != Direction::Inbound);
    for (_, frame) in ours {
        match frame_kind(frame) {
            Some(FrameKind::LogOn(next)) => uuid = next,
            Some(FrameKind::Business(message)) => messages.entry(uuid).or_default().push(message),
            Some(FrameKind::Other) | None => {}
        }
    }
    messages
}

/// Records the gateway's callbacks for one connection.
pub(crate) struct GatewayRecorder<'a> {
    pub(crate) message_log: &'a mut MessageLog,
    pub(crate) frames: &'a mut Frames,
    /// The connection may have carried corrupt bytes, so that no check is strict.
    pub(crate) is_lenient: bool,
}

impl GatewayRecorder<'_> {
    fn accept(&mut self, template: u16, cl_ord_id: &[u8]) {
        match self.frames.take(template, cl_ord_id) {
            Some(message) => self.message_log.uuid_messages(self.frames.uuid).accept(message),
            None => {
                assert!(self.is_lenient, "the gateway accepted a message that it had not received")
            }
        }
    }

    fn report(&mut self) {
        self.message_log.uuid_messages(self.frames.uuid).reported += 1;
    }
}

impl exchange::Listener for GatewayRecorder<'_> {
    fn on_order(&mut self, _: exchange::ConnectionId, cl_ord_id: &[u8]) {
        self.accept(NewOrderSingle514::TEMPLATE_ID, cl_ord_id);
    }

    fn on_cancel(&mut self, _: exchange::ConnectionId, cl_ord_id: &[u8]) {
        self.accept(OrderCancelRequest516::TEMPLATE_ID, cl_ord_id);
    }

    fn on_acknowledged(&mut self, _: exchange::ConnectionId, _: &[u8], order: OrderId) {
        self.report();
        assert_eq!(
            self.message_log.orders.insert(order.0, false),
            None,
            "an order was acknowledged twice"
        );
    }

    fn on_cancelled(&mut self, _: exchange::ConnectionId, _: &[u8], order: OrderId) {
        self.report();
        assert_eq!(
            self.message_log.orders.insert(order.0, true),
            Some(false),
            "canceled the unknown order {order:?}"
        );
    }

    fn on_fill(&mut self, _: exchange::ConnectionId, _: &[u8], _: OrderId, _: u32) {
        self.message_log.fills += 1;
    }

    fn on_rejected(&mut self, _: exchange::ConnectionId, _: exchange::Rejected<'_>) {
        self.report();
        self.message_log.rejects += 1;
    }
}
