//! The messages that the exchange accepted and published and that the trader received, and checks
//! of their agreement.

use std::collections::{BTreeMap, BTreeSet};

use hairpin_cme_codecs::ilink3::NewOrderSingle514;
use hairpin_mapped::{Direction, MemoryStorage, Storage, Tag};
use hairpin_netsim::Census;
use hairpin_order_entry::{ClOrdId, Gap, MESSAGE_RECORD, Message, NotApplied, State};
use hairpin_sbe::MessageHeader;

use crate::frames::{client_number, exchange_number, message, template};
use crate::journal::{self, all};

/// The messages under one UUID.
#[derive(Debug)]
pub(crate) struct UuidMessages {
    /// The next sequence number that the gateway accepts.
    pub(crate) expected: u32,
    /// The frames that the gateway has accepted.
    accepted: BTreeMap<u32, Vec<u8>>,
    /// The numbers of messages that the gateway has refused without using their numbers.
    refused: BTreeSet<u32>,
    /// The logons, by number of a committed message, in which the trader was notified that the
    /// message is not applied.
    not_applied: BTreeMap<u32, Vec<u64>>,
    /// The numbers that the gateway has reported as not applied, each with the last logon of such a
    /// report.
    declared: BTreeMap<u32, u64>,
    /// The last published number, as far as known.
    pub(crate) published: u32,
    /// The messages that the exchange has sent, each from its SBE header on.
    sent: BTreeMap<u32, Vec<u8>>,
    /// The next number that the trader receives.
    pub(crate) next: u32,
    /// The last number whose callback has run, in any process.
    delivered: u32,
    /// The numbers reported to the trader as lost, which the exchange has never used.
    lost: BTreeSet<u32>,
    /// The numbers of messages whose records were lost in a power cut.
    forgotten: BTreeSet<u32>,
    /// The marks of received messages were lost in a power cut, and no message was received since.
    has_lost_marks: bool,
    /// A request with the trader's state of previous UUIDs was also lost. Once the trader begins
    /// another session, it does not receive the remaining messages of this UUID.
    may_be_unknown: bool,
}

impl Default for UuidMessages {
    fn default() -> Self {
        Self {
            expected: 1,
            accepted: BTreeMap::new(),
            refused: BTreeSet::new(),
            not_applied: BTreeMap::new(),
            declared: BTreeMap::new(),
            published: 0,
            sent: BTreeMap::new(),
            next: 1,
            delivered: 0,
            lost: BTreeSet::new(),
            forgotten: BTreeSet::new(),
            has_lost_marks: false,
            may_be_unknown: false,
        }
    }
}

/// The messages of the trader and of the exchange.
#[derive(Debug, Default)]
pub(crate) struct MessageLog {
    /// The messages by week and UUID.
    by_uuid: BTreeMap<(u32, u64), UuidMessages>,
    week: u32,
    /// The number of journal records of previous weeks.
    week_begins_at: usize,
    /// The week and UUID of the last received message.
    last_delivered: (u32, u64),
    /// The number of logons.
    pub(crate) logon: u64,
    /// The number that the last Establish named, which no message had used yet.
    named: u32,
    cl_ord_ids: BTreeSet<[u8; 20]>,
    /// The UUID that was established last in this week.
    established: Option<u64>,
    /// The previous UUID and its last number in a NegotiationResponse that is on its way.
    previous: Option<(u64, u32)>,
    /// The exchange has reported an unknown session or unusable sequence numbers.
    pub(crate) may_begin: bool,
    /// The exchange may skip sequence numbers.
    pub(crate) skips: bool,
    /// Messages that are not applied are never sent again.
    pub(crate) only_fills: bool,
    /// The machine has lost power, and the journal has lost marks.
    has_lost_power: bool,
    /// A published message was never delivered to the trader.
    lacks_message: bool,
    pub(crate) census: Census,
}

impl MessageLog {
    pub(crate) fn uuid_messages(&mut self, uuid: u64) -> &mut UuidMessages {
        // Numbering under UUID 0 restarts each week.
        self.by_uuid.entry((self.week, uuid)).or_default()
    }

    /// Records a frame that the gateway has accepted in sequence.
    pub(crate) fn accept(&mut self, uuid: u64, frame: &[u8]) {
        let (number, only_fills) = (client_number(frame), self.only_fills);
        let messages = self.uuid_messages(uuid);
        assert_eq!(number, messages.expected, "{uuid}: the gateway accepted a number out of order");
        messages.expected += 1;
        let was_reported = messages.not_applied.contains_key(&number);
        assert_eq!(
            messages.accepted.insert(number, frame.to_vec()),
            None,
            "{uuid}: {number} was accepted twice"
        );
        // Another message now has the number that the journal has lost.
        let may_be_accepted = !was_reported || !only_fills || messages.forgotten.contains(&number);
        assert!(may_be_accepted, "{uuid}: {number} was given up and accepted");
        if let Some(id) = cl_ord_id(frame) {
            assert!(self.cl_ord_ids.insert(id), "ClOrdID {:?} was applied twice", ClOrdId(id));
        }
        self.census.count("messages accepted");
        self.census
            .add("messages accepted after retransmission by the trader", was_reported.into());
    }

    /// Records a frame that the gateway has refused without using its number.
    pub(crate) fn refuse(&mut self, uuid: u64, frame: &[u8]) {
        self.census.count("messages refused without using their number");
        self.uuid_messages(uuid).refused.insert(client_number(frame));
    }

    /// Records the gateway's report that a message and those before it are not applied.
    pub(crate) fn declare(&mut self, uuid: u64, number: u32) {
        let logon = self.logon;
        let messages = self.uuid_messages(uuid);
        messages.declared.extend((messages.expected..=number).map(|number| (number, logon)));
    }

    /// Records that a Sequence of the trader moved the gateway's next number to `next`.
    pub(crate) fn fill(&mut self, uuid: u64, next: u32) {
        self.census.count("gaps filled");
        self.uuid_messages(uuid).expected = next;
    }

    /// Records that the exchange has published under `uuid` up to `last`.
    pub(crate) fn publish(&mut self, uuid: u64, last: u32) {
        let messages = self.uuid_messages(uuid);
        messages.published = messages.published.max(last);
    }

    /// Records the previous UUID and its last number in a NegotiationResponse that the exchange has
    /// sent. If the response is lost, and a message is published before the next logon, nothing
    /// names them again: the trader cannot know of the messages.
    pub(crate) fn send_previous(&mut self, uuid: u64, last: u32) {
        self.previous = Some((uuid, last));
    }

    /// Records a state of the trader: in `Establishing` it has received the NegotiationResponse.
    pub(crate) fn change_state(&mut self, state: State) {
        if let Some((uuid, last)) = self.previous.take()
            && state == State::Establishing
        {
            self.publish(uuid, last);
        }
    }

    /// Records a business message that the exchange has sent.
    pub(crate) fn send(&mut self, frame: &[u8]) {
        let (uuid, number) = exchange_number(frame);
        let messages = self.uuid_messages(uuid);
        messages.published = messages.published.max(number);
        assert!(
            !messages.lost.contains(&number),
            "{uuid}: {number} was reported as lost and exists"
        );
        let message = message(frame);
        let known = messages.sent.entry(number).or_insert_with(|| message.to_vec());
        assert!(is_same(known, message), "{uuid}: {number} differs from the message sent before");
    }

    /// Checks and records a message that the trader receives.
    pub(crate) fn take(&mut self, it: &Message<'_>) {
        let Message { uuid, seq_num, redelivered, .. } = *it;
        let place = (if redelivered { self.week_of(uuid, seq_num) } else { self.week }, uuid);
        let messages = self.by_uuid.entry(place).or_default();
        if redelivered {
            assert!(seq_num < messages.next, "{uuid}: {seq_num} was never recorded");
            // Only the last callback of a process can have begun without returning.
            let is_possible = seq_num >= messages.delivered || self.has_lost_power;
            assert!(
                is_possible,
                "{uuid}: {seq_num} was delivered again after its callback had returned"
            );
            self.census.count(if seq_num <= messages.delivered {
                "messages delivered again"
            } else {
                "messages delivered by the next process"
            });
            messages.delivered = messages.delivered.max(seq_num);
            messages.has_lost_marks = false;
            return;
        }
        // A lost number need not be reported again, because a request may have recorded it.
        while messages.next < seq_num && messages.lost.contains(&messages.next) {
            (messages.next, messages.delivered) =
                (messages.next + 1, messages.delivered.max(messages.next));
        }
        assert_eq!(seq_num, messages.next, "{uuid}: a message was delivered out of order");
        let is_complete = seq_num <= messages.delivered + 1 || messages.has_lost_marks;
        assert!(is_complete, "{uuid}: {seq_num} was delivered after {}", messages.delivered);
        assert!(
            uuid >= self.last_delivered.1 || place.0 > self.last_delivered.0,
            "UUIDs are out of order"
        );
        let sent = messages.sent.get(&seq_num).expect("the message was sent");
        let header = it.header.to_bytes();
        assert!(
            is_same(sent, &[&header[..], it.body].concat()),
            "the delivered message differs from the sent one"
        );
        messages.next += 1;
        messages.has_lost_marks = false;
        messages.delivered = messages.delivered.max(seq_num);
        self.last_delivered = place;
        self.census.count("messages delivered");
        let is_again = it.possible_retransmission;
        self.census.add("messages delivered by retransmission", is_again.into());
    }

    /// Returns the week of a recorded message. The marks of the last messages of the previous week
    /// may have been lost in a power cut.
    fn week_of(&self, uuid: u64, seq_num: u32) -> u32 {
        let is_of = |week: &u32| {
            self.by_uuid.get(&(*week, uuid)).is_some_and(|messages| seq_num < messages.next)
        };
        (0..=self.week).rev().find(is_of).unwrap_or(self.week)
    }

    /// Checks and records a gap of lost messages: numbers that the gateway skipped.
    pub(crate) fn record_lost(&mut self, gap: Gap) {
        let Gap { uuid, from, to } = gap;
        assert!(self.skips, "the session reported {gap:?} as lost");
        let messages = self.uuid_messages(uuid);
        // No journal contains the losses that were reported to the previous process.
        let is_repeated = from < messages.next && messages.lost.contains(&from);
        assert!(
            from == messages.next || is_repeated,
            "the session reported {gap:?}, and {} is next",
            messages.next
        );
        let sent = messages.sent.range(from..=to).next();
        assert!(sent.is_none(), "{gap:?} was reported as lost and exists");
        (messages.next, messages.delivered) =
            (messages.next.max(to + 1), messages.delivered.max(to));
        messages.lost.extend(from..=to);
        self.census.count("numbers reported as never used");
    }

    /// Returns the number of messages that were reported to the trader as lost.
    pub(crate) fn lost(&self) -> u64 {
        self.by_uuid.values().map(|messages| messages.lost.len() as u64).sum()
    }

    /// Records the loss of a journal record in a power cut.
    pub(crate) fn forget_record(&mut self, tag: Tag) {
        if (tag.direction, tag.kind) == (Direction::Outbound, MESSAGE_RECORD) {
            self.uuid_messages(tag.uuid).forgotten.insert(tag.seq_num);
        }
        if tag.direction == Direction::Control {
            let week = self.week;
            let here = self.by_uuid.iter_mut().filter(|((of, _), _)| *of == week);
            here.for_each(|(_, messages)| messages.may_be_unknown = true);
        }
    }

    /// Returns `true` if the trader may reuse numbers of this session, because the journal has lost
    /// them.
    pub(crate) fn may_reuse_numbers(&mut self, uuid: u64) -> bool {
        !self.uuid_messages(uuid).forgotten.is_empty()
    }

    /// Checks and records a NotApplied that the trader receives when it has committed up to
    /// `committed`.
    pub(crate) fn record_not_applied(&mut self, uuid: u64, it: NotApplied, committed: u32) {
        self.census.count("NotApplied delivered");
        let (logon, only_fills, named) = (self.logon, self.only_fills, self.named);
        let messages = self.uuid_messages(uuid);
        assert!(it.count > 0, "{it:?} names no message");
        let mut last = (it.from_seq_no + it.count - 1).min(committed);
        // At logon, the count of messages that are not applied includes that number.
        last -= u32::from(last == named && it.from_seq_no < named);
        for number in it.from_seq_no..=last {
            assert!(
                !only_fills || !messages.accepted.contains_key(&number),
                "{uuid}: {number} was applied, and the session reported {it:?}"
            );
            let logons = messages.not_applied.entry(number).or_default();
            assert!(
                !only_fills || !logons.contains(&logon),
                "{uuid}: {number} was reported twice: {it:?}"
            );
            logons.push(logon);
        }
    }

    /// Starts a process with this journal, which contains the messages that the trader has
    /// received.
    pub(crate) fn begin_process(&mut self, journal: &MemoryStorage, has_lost_power: bool) {
        self.has_lost_power = has_lost_power;
        if has_lost_power {
            self.last_delivered = (0, 0);
            let week = self.week;
            let here = self.by_uuid.iter_mut().filter(|((of, _), _)| *of == week);
            here.for_each(|(_, messages)| {
                (messages.next, messages.delivered, messages.has_lost_marks) = (1, 0, true)
            });
        }
        self.read(journal);
    }

    /// Records an established session in which the trader named `next` as its next number. A
    /// session that can be resumed must be resumed, unless the trader `may_begin` another.
    pub(crate) fn log_on(&mut self, uuid: u64, next: u32, may_begin: bool) {
        let before = self.established.replace(uuid).unwrap_or(uuid);
        let may_begin = may_begin || self.may_begin || self.may_reuse_numbers(before);
        assert!(uuid == before || may_begin, "{before} could have been resumed, and {uuid} began");
        self.may_begin = false;
        (self.logon, self.named) = (self.logon + 1, next);
        self.census.count("logons");
    }

    /// Records a takeover by the backup. A NotApplied may repeat, because the Sequence that filled
    /// the gap may have been lost with the primary.
    pub(crate) fn fail_over(&mut self) {
        (self.logon, self.named) = (self.logon + 1, 0);
    }

    /// Returns the undelivered messages: UUID, next number, last published number.
    pub(crate) fn missing(&self) -> Vec<(u64, u32, u32)> {
        let here = self.by_uuid.iter().filter(|((week, _), _)| *week == self.week);
        let here = here.filter(|((_, uuid), messages)| !self.is_unknown(*uuid, messages));
        let rows = here.map(|((_, uuid), messages)| (*uuid, messages.next, messages.published));
        rows.filter(|(_, next, published)| *next != published + 1).collect()
    }

    /// Returns `true` if a published message will never be delivered, so that the state of its
    /// order is unknown.
    pub(crate) fn lacks_message(&mut self) -> bool {
        let here = self.by_uuid.iter().filter(|((week, _), _)| *week == self.week);
        let is_short = |messages: &UuidMessages| messages.next != messages.published + 1;
        let mut unknown = here.filter(|((_, uuid), messages)| self.is_unknown(*uuid, messages));
        let lacks = unknown.any(|(_, messages)| is_short(messages));
        self.lacks_message |= lacks;
        self.lacks_message
    }

    /// Returns `true` if the trader has lost the state of a previous UUID and has received no
    /// message of it since.
    fn is_unknown(&self, uuid: u64, messages: &UuidMessages) -> bool {
        messages.may_be_unknown && self.established != Some(uuid)
    }

    /// Returns `true` if the trader has received all published messages.
    pub(crate) fn is_complete(&self) -> bool {
        self.missing().is_empty()
    }

    /// Returns the next number that the trader receives under a UUID.
    pub(crate) fn next(&mut self, uuid: u64) -> u32 {
        self.uuid_messages(uuid).next
    }

    /// Records the journal's messages of this week, whose first delivery is complete.
    fn read(&mut self, journal: &MemoryStorage) {
        let week = self.week;
        let of_this_week = all(journal).filter(|record| record.offset() >= self.week_begins_at);
        for record in of_this_week.filter(|it| it.direction() == Direction::Inbound) {
            let Tag { uuid, seq_num, .. } = journal.tag(record);
            let messages = self.by_uuid.entry((week, uuid)).or_default();
            messages.next = messages.next.max(seq_num + 1);
            self.last_delivered = self.last_delivered.max((week, uuid));
        }
    }

    /// Begins another week, after which no message of the previous one arrives.
    pub(crate) fn begin_week(&mut self, journal: &MemoryStorage) {
        self.week += 1;
        self.established = None;
        self.week_begins_at = all(journal).count();
    }

    /// Checks the session `uuid` when it is established and idle, with `committed` as its last
    /// number.
    pub(crate) fn check(&mut self, uuid: u64, committed: u32, journal: &MemoryStorage) {
        journal::check(journal);
        for (&(week, of), messages) in &self.by_uuid {
            if week == self.week {
                let (next, published) = (messages.next, messages.published);
                let is_all = next == published + 1 || self.is_unknown(of, messages);
                assert!(is_all, "{of}: {next} is next, {published} were published");
                assert!(
                    messages.delivered < next,
                    "{of}: messages were delivered without a record"
                );
                let is_delivered = messages.delivered + 1 == next || messages.has_lost_marks;
                assert!(
                    is_delivered,
                    "{of}: recorded up to {next}, delivered up to {}",
                    messages.delivered
                );
            }
        }
        let (logon, mut unheard) = (self.logon, 0);
        let Some(messages) = self.by_uuid.get(&(self.week, uuid)) else { return };
        assert_eq!(messages.expected, committed + 1, "{uuid}: the gateway expects another number");
        for number in 1..=committed {
            let is_delivered =
                messages.not_applied.contains_key(&number) || messages.refused.contains(&number);
            let is_accepted = messages.accepted.contains_key(&number);
            // The exchange's NotApplied may be lost with the connection, and a heartbeat may fill
            // the gap before that.
            let is_lost = messages.declared.get(&number).is_some_and(|of| *of < logon);
            let is_known = is_accepted || is_delivered || is_lost;
            assert!(is_known, "{uuid}: {number} was not applied and not reported");
            unheard += u64::from(!is_accepted && !is_delivered);
        }
        self.census.add("not applied, and the NotApplied lost with its connection", unheard);
        let journaled = journaled(journal, uuid);
        for (number, frame) in &messages.accepted {
            let is_there = journaled.contains(&(*number, &frame[..]));
            let is_known = is_there || messages.forgotten.contains(number);
            assert!(is_known, "{uuid}: {number} is not in the journal");
        }
    }
}

/// Returns the numbers of a session's messages in a journal.
fn journaled(journal: &MemoryStorage, uuid: u64) -> BTreeSet<(u32, &[u8])> {
    let is_ours = |record: &hairpin_mapped::Record| {
        let tag = journal.tag(*record);
        (tag.direction, tag.kind, tag.uuid) == (Direction::Outbound, MESSAGE_RECORD, uuid)
    };
    let of = |record| (journal.tag(record).seq_num, journal.bytes(record));
    all(journal).filter(is_ours).map(of).collect()
}

/// Returns `true` if two messages are equal, apart from their PossRetransFlag.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differing = one.iter().zip(other).filter(|(a, b)| a != b).count();
    one.len() == other.len() && differing <= 1
}

/// Returns the ClOrdID of a new order.
fn cl_ord_id(frame: &[u8]) -> Option<[u8; 20]> {
    if template(frame) != NewOrderSingle514::TEMPLATE_ID {
        return None;
    }
    let (header, body) = MessageHeader::decode(message(frame)).ok()?;
    let mut scratch = NewOrderSingle514::SCRATCH;
    let order = NewOrderSingle514::decode(&header, body, &mut scratch).ok()?;
    let mut id = [0; 20];
    let text = order.cl_ord_id();
    id[..text.as_bytes().len()].copy_from_slice(text.as_bytes());
    Some(id)
}
