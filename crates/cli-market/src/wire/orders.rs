//! The requests and answers of iLink 3 sessions.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};

use hairpin_measure::RunningSummary;
use hairpin_sbe::MessageHeader;

use super::clock_steps::{ClockSteps, DelayWatch, LEAST_STEP};
use super::layouts::{Fields, Layouts, Request, Role};
use super::market::Tick;
use crate::decode::DecodeCounts;
use crate::decode::codecs::Codecs;
use crate::decode::framing::Frame;
use crate::decode::sink::{Addresses, MessageSink, Origin};

/// The most sessions.
const MOST_SESSIONS: usize = 256;
/// The TCP packets whose times are kept: those that wait for missing bytes, and those read ahead.
const MOST_CONTEXTS: usize = 1 << 15;

/// The spans that are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(usize)]
pub(super) enum Span {
    OrderAck,
    OrderFill,
    OrderReject,
    ReplaceAck,
    ReplaceReject,
    CancelAck,
    CancelReject,
    QuoteAck,
    BusinessReject,
}

impl Span {
    pub(super) const COUNT: usize = 9;
    /// The names, in the order of the spans.
    pub(super) const NAMES: [&str; Self::COUNT] = [
        "order to ack",
        "order to fill",
        "order to reject",
        "replace to ack",
        "replace to reject",
        "cancel to ack",
        "cancel to reject",
        "quote to ack",
        "request to business reject",
    ];

    /// Returns the spans of a kind of request.
    fn of(request: Request) -> &'static [Self] {
        match request {
            Request::New => {
                &[Self::OrderAck, Self::OrderReject, Self::BusinessReject, Self::OrderFill]
            }
            Request::Replace => &[Self::ReplaceAck, Self::ReplaceReject, Self::BusinessReject],
            Request::Cancel => &[Self::CancelAck, Self::CancelReject, Self::BusinessReject],
            Request::Quote => &[Self::QuoteAck, Self::BusinessReject],
            Request::Other => &[Self::BusinessReject],
        }
    }
}

/// A session: one client at one gateway.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// Session and firm, if a logon was captured.
    pub(super) name: Option<String>,
    pub(super) uuid: Option<u64>,
    pub(super) addresses: Option<Addresses>,
    pub(super) spans: [RunningSummary; Span::COUNT],
    pub(super) requests: u64,
    pub(super) answers: u64,
    /// Requests to which no answer was captured.
    pub(super) unanswered: u64,
    /// Answers whose request was not captured, or that none asked for.
    pub(super) unasked: u64,
    /// Fills after the first one, or of an order that was not captured.
    pub(super) later_fills: u64,
    /// Fills of replaced orders, which are not measured.
    pub(super) replaced_fills: u64,
    /// Answers that the exchange sent again.
    pub(super) retransmitted: u64,
    /// Answers before their request.
    pub(super) negative: u64,
    pub(super) across_steps: u64,
    /// Requests and answers whose packet has no time.
    pub(super) untimed: u64,
    /// TCP segments whose bytes were captured before.
    pub(super) repeated_segments: u64,
    /// Gaps in the bytes of the connections, the missing bytes, and those skipped after them.
    pub(super) gaps: u64,
    pub(super) missing_bytes: u64,
    pub(super) skipped_bytes: u64,
    delays: [DelayWatch; 2],
}

/// Identifies a request of a session.
type Key = (u32, Request, [u8; 20]);

/// A request.
#[derive(Debug, Clone, Copy)]
struct Open {
    time: u64,
    packet: u64,
    sequence: u32,
    answered: bool,
}

/// An answer.
#[derive(Debug, Clone, Copy)]
struct Answer {
    time: Option<u64>,
    packet: u64,
    /// The exchange sent the answer before.
    retransmitted: bool,
}

impl Answer {
    /// Returns `true` if two answers are to different requests with the same identifier.
    fn is_long_before(&self, later: &Self) -> bool {
        /// The longest time for which a request waits to be decoded, in nanoseconds.
        const LONG: u64 = 10_000_000_000;
        let times = self.time.zip(later.time);
        times.is_none_or(|(time, later)| time.saturating_add(LONG) < later)
    }
}

/// What is known of a TCP packet until its messages are complete.
#[derive(Debug)]
struct Context {
    packet: u64,
    time: Option<u64>,
    /// The last packet of each feed before it.
    ticks: Box<[Tick]>,
}

/// The state of all sessions.
pub(super) struct Orders<'a> {
    codecs: &'a Codecs<'a>,
    layouts: Layouts,
    pub(super) sessions: Vec<Session>,
    /// The session of each client and gateway.
    connections: HashMap<Addresses, usize>,
    /// The session of each name and gateway.
    names: HashMap<(String, IpAddr), usize>,
    open: HashMap<Key, Open>,
    by_sequence: HashMap<(u32, u32), Key>,
    /// The requests in their order, to forget the oldest.
    order: VecDeque<(Key, u32)>,
    /// Answers without a request so far: the bytes of the request may wait for others before them.
    early_answers: HashMap<(Key, Span), Answer>,
    early_order: VecDeque<(Key, Span)>,
    most_open: usize,
    /// Requests that were forgotten before their answer, because of too many.
    pub(super) evicted: u64,
    contexts: VecDeque<Context>,
    pub(super) steps: ClockSteps,
    /// The time from the last packet of each feed to each order, and to each cancel.
    pub(super) ticks: Vec<[RunningSummary; 2]>,
    /// Orders that were captured before the tick that precedes them.
    pub(super) negative_ticks: u64,
    /// Orders with a step of the clock between them and a tick.
    pub(super) ticks_across_steps: u64,
    /// Messages of sessions beyond the most.
    pub(super) other_messages: u64,
    /// Segments and gaps of connections without messages so far.
    early: HashMap<Addresses, [u64; 4]>,
}

impl<'a> Orders<'a> {
    pub(super) fn new(codecs: &'a Codecs<'a>, most_open: usize) -> Self {
        Self {
            codecs,
            layouts: Layouts::new(),
            sessions: Vec::new(),
            connections: HashMap::new(),
            names: HashMap::new(),
            open: HashMap::new(),
            by_sequence: HashMap::new(),
            order: VecDeque::new(),
            early_answers: HashMap::new(),
            early_order: VecDeque::new(),
            most_open,
            evicted: 0,
            contexts: VecDeque::new(),
            steps: ClockSteps::default(),
            ticks: Vec::new(),
            negative_ticks: 0,
            ticks_across_steps: 0,
            other_messages: 0,
            early: HashMap::new(),
        }
    }

    /// Records a TCP packet with data, before it is decoded.
    pub(super) fn record_packet(&mut self, packet: u64, time: Option<u64>, ticks: &[Tick]) {
        if self.contexts.len() == MOST_CONTEXTS {
            self.contexts.pop_front();
        }
        self.contexts.push_back(Context { packet, time, ticks: ticks.into() });
    }

    fn context(&self, packet: u64) -> Option<&Context> {
        let place = self.contexts.binary_search_by_key(&packet, |it| it.packet).ok()?;
        self.contexts.get(place)
    }

    /// Returns the session of a client and a gateway.
    fn session(&mut self, connection: Addresses) -> Option<usize> {
        if let Some(&session) = self.connections.get(&connection) {
            return Some(session);
        }
        if self.sessions.len() == MOST_SESSIONS {
            return None;
        }
        self.sessions.push(Session { addresses: Some(connection), ..Session::default() });
        self.connections.insert(connection, self.sessions.len() - 1);
        let session = self.sessions.len() - 1;
        for addresses in [connection, (connection.1, connection.0)] {
            if let Some(early) = self.early.remove(&addresses) {
                self.add_stream(session, early);
            }
        }
        Some(session)
    }

    /// Handles a logon: connections of one session at one gateway are one session.
    fn log_on(&mut self, connection: Addresses, fields: &Fields<'_>) {
        let Some((session, firm)) = fields.session else { return };
        let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
        let name = format!("{}/{}", text(session), text(firm));
        let key = (name, connection.1.ip());
        if let Some(&known) = self.names.get(&key) {
            self.connections.insert(connection, known);
            self.sessions[known].uuid = fields.uuid;
        } else if let Some(session) = self.session(connection) {
            self.sessions[session].name.get_or_insert_with(|| key.0.clone());
            self.sessions[session].uuid = fields.uuid;
            self.names.insert(key, session);
        }
    }

    fn request(&mut self, kind: Request, fields: &Fields<'_>, origin: Origin) {
        let Some(session) = self.session(origin.addresses) else {
            self.other_messages += 1;
            return;
        };
        self.sessions[session].requests += 1;
        let Some(context) = self.context(origin.packet) else { return self.untimed(session) };
        let Some(time) = context.time else { return self.untimed(session) };
        let packet = origin.packet;
        if let Some(sent) = fields.sending_time {
            self.sessions[session].delays[0].record(time, sent, packet, &mut self.steps);
        }
        if kind != Request::Other {
            self.record_ticks(packet, time, kind);
        }
        let sequence = fields.seq_num.unwrap_or(u32::MAX);
        let key = match kind {
            Request::Other => numbered(session as u32, sequence),
            _ => (session as u32, kind, fields.id.unwrap_or_default()),
        };
        let replaced = self.open.insert(key, Open { time, packet, sequence, answered: false });
        if replaced.is_some_and(|open| !open.answered) && kind != Request::Other {
            self.sessions[session].unanswered += 1;
        }
        self.by_sequence.insert((session as u32, sequence), key);
        self.order.push_back((key, sequence));
        if self.order.len() > self.most_open
            && let Some((key, sequence)) = self.order.pop_front()
        {
            self.forget(key, sequence);
        }
        self.pair_early(key, sequence, time);
    }

    /// Pairs a request with the answers that were decoded before it.
    fn pair_early(&mut self, key: Key, sequence: u32, time: u64) {
        if self.early_answers.is_empty() {
            return;
        }
        for &span in Span::of(key.1) {
            let answered =
                if span == Span::BusinessReject { numbered(key.0, sequence) } else { key };
            let Some(answer) = self.early_answers.get(&(answered, span)).copied() else { continue };
            // An older answer is to another request with the same identifier.
            if answer.time.is_some_and(|it| it.saturating_add(LEAST_STEP) < time) {
                continue;
            }
            self.early_answers.remove(&(answered, span));
            let replacement = ((key.0, Request::Replace, key.2), Span::ReplaceAck);
            let replaced = self.early_answers.get(&replacement);
            if span == Span::OrderFill && replaced.is_some_and(|it| it.packet < answer.packet) {
                self.sessions[key.0 as usize].replaced_fills += 1;
            } else {
                self.pair(key, span, answer);
            }
        }
    }

    /// Keeps an answer whose request was not decoded so far.
    fn keep_early(&mut self, key: Key, span: Span, answer: Answer) {
        if self.early_order.len() == self.most_open
            && let Some(oldest) = self.early_order.pop_front()
            && self.early_answers.remove(&oldest).is_some()
        {
            self.count_unasked(oldest);
        }
        match self.early_answers.entry((key, span)) {
            // The first of several fills counts.
            Entry::Occupied(known) if !known.get().is_long_before(&answer) => {}
            entry => {
                let is_known = matches!(entry, Entry::Occupied(_));
                entry.insert_entry(answer);
                self.early_order.push_back((key, span));
                if !is_known {
                    return;
                }
            }
        }
        self.count_unasked((key, span));
    }

    /// Counts an answer without a request.
    fn count_unasked(&mut self, (key, span): (Key, Span)) {
        let session = &mut self.sessions[key.0 as usize];
        match span {
            Span::OrderFill => session.later_fills += 1,
            _ => session.unasked += 1,
        }
    }

    /// Records the time since the last packet of each feed.
    fn record_ticks(&mut self, packet: u64, time: u64, kind: Request) {
        let step = self.steps.packet;
        let Ok(place) = self.contexts.binary_search_by_key(&packet, |it| it.packet) else { return };
        let ticks = &self.contexts[place].ticks;
        self.ticks.resize_with(self.ticks.len().max(ticks.len()), Default::default);
        let kind = usize::from(kind == Request::Cancel);
        let ticks = ticks.iter().zip(&mut self.ticks).filter(|(tick, _)| tick.time > 0);
        for (tick, summary) in ticks {
            match time.checked_sub(tick.time) {
                _ if tick.packet < step && step <= packet => self.ticks_across_steps += 1,
                Some(span) => summary[kind].record(span),
                None => self.negative_ticks += 1,
            }
        }
    }

    /// Forgets the oldest request.
    fn forget(&mut self, key: Key, sequence: u32) {
        let session = key.0;
        if self.by_sequence.get(&(session, sequence)) == Some(&key) {
            self.by_sequence.remove(&(session, sequence));
        }
        if self.open.get(&key).is_none_or(|open| open.sequence != sequence) {
            return;
        }
        if self.open.remove(&key).is_some_and(|open| !open.answered) && key.1 != Request::Other {
            self.sessions[session as usize].unanswered += 1;
            self.evicted += 1;
        }
    }

    fn untimed(&mut self, session: usize) {
        self.sessions[session].untimed += 1;
    }

    fn answer(&mut self, fields: &Fields<'_>, origin: Origin) {
        let (gateway, client) = origin.addresses;
        let Some(session) = self.session((client, gateway)) else {
            self.other_messages += 1;
            return;
        };
        let state = &mut self.sessions[session];
        state.answers += 1;
        state.uuid = fields.uuid.filter(|uuid| *uuid != 0).or(state.uuid);
        if fields.role == Role::Report {
            return;
        }
        let time = self.context(origin.packet).and_then(|context| context.time);
        let sent = fields.sending_time.filter(|_| !fields.retransmitted);
        if let Some((time, sent)) = time.zip(sent) {
            let watch = &mut self.sessions[session].delays[1];
            watch.record(time, sent, origin.packet, &mut self.steps);
        }
        let (packet, retransmitted) = (origin.packet, fields.retransmitted);
        let answer = Answer { time, packet, retransmitted };
        let session = session as u32;
        let key = |kind: Request| (session, kind, fields.id.unwrap_or_default());
        let (key, span) = match fields.role {
            Role::Accept(kind @ Request::New) => (key(kind), Span::OrderAck),
            Role::Accept(kind @ Request::Replace) => (key(kind), Span::ReplaceAck),
            Role::Accept(kind @ Request::Cancel) => (key(kind), Span::CancelAck),
            Role::Accept(kind) => (key(kind), Span::QuoteAck),
            Role::Reject(kind @ Request::Replace) => (key(kind), Span::ReplaceReject),
            Role::Reject(kind @ Request::Cancel) => (key(kind), Span::CancelReject),
            Role::Reject(kind) => (key(kind), Span::OrderReject),
            Role::Fill if self.open.contains_key(&key(Request::New)) => {
                (key(Request::New), Span::OrderFill)
            }
            Role::Fill if self.open.contains_key(&key(Request::Replace)) => {
                self.sessions[session as usize].replaced_fills += 1;
                return;
            }
            Role::Fill => (key(Request::New), Span::OrderFill),
            Role::Elimination => {
                // It follows the acknowledgment, so it answers nothing.
                self.open.remove(&key(Request::New));
                return;
            }
            _ => {
                let sequence = fields.ref_seq_num.unwrap_or(u32::MAX);
                let known = self.by_sequence.get(&(session, sequence)).copied();
                (known.unwrap_or(numbered(session, sequence)), Span::BusinessReject)
            }
        };
        self.pair(key, span, answer);
    }

    /// Pairs an answer with its request.
    fn pair(&mut self, key: Key, span: Span, answer: Answer) {
        let is_fill = span == Span::OrderFill;
        // A fill follows the acknowledgment, or is the only answer.
        let Some(open) = self.open.get_mut(&key).filter(|open| is_fill || !open.answered) else {
            return self.keep_early(key, span, answer);
        };
        open.answered = true;
        let open = *open;
        record(&mut self.sessions[key.0 as usize], span, open, answer, self.steps.packet);
        if !matches!(span, Span::OrderAck | Span::ReplaceAck) {
            self.open.remove(&key);
        }
        if span == Span::ReplaceAck {
            // A replacement may keep the order's identifier: fills are of the replaced order now.
            self.open.remove(&(key.0, Request::New, key.2));
        }
    }

    /// Adds repeated segments, gaps, missing and skipped bytes to a session.
    fn add_stream(&mut self, session: usize, [repeated, gaps, missing, skipped]: [u64; 4]) {
        let state = &mut self.sessions[session];
        state.repeated_segments += repeated;
        state.gaps += gaps;
        state.missing_bytes += missing;
        state.skipped_bytes += skipped;
    }

    /// Records events of a stream, whose session may not be known yet.
    fn stream(&mut self, addresses: Addresses, events: [u64; 4]) {
        let reverse = (addresses.1, addresses.0);
        let known = [addresses, reverse].iter().find_map(|it| self.connections.get(it).copied());
        if let Some(session) = known {
            self.add_stream(session, events);
        } else if self.early.len() < MOST_SESSIONS {
            let early = self.early.entry(addresses).or_default();
            early.iter_mut().zip(events).for_each(|(sum, event)| *sum += event);
        }
    }

    /// Counts the requests without an answer, at the end of the capture.
    pub(super) fn finish_sessions(&mut self) {
        for ((session, kind, _), open) in self.open.drain() {
            if !open.answered && kind != Request::Other {
                self.sessions[session as usize].unanswered += 1;
            }
        }
        for early in std::mem::take(&mut self.early_answers).into_keys() {
            self.count_unasked(early);
        }
    }
}

/// Returns the key of a request that is known by its number alone.
fn numbered(session: u32, sequence: u32) -> Key {
    let mut id = [0; 20];
    id[..4].copy_from_slice(&sequence.to_le_bytes());
    (session, Request::Other, id)
}

/// Records a span, or the reason for which it is not measured.
fn record(session: &mut Session, span: Span, open: Open, answer: Answer, step: u64) {
    match answer.time {
        _ if answer.retransmitted => session.retransmitted += 1,
        None => session.untimed += 1,
        Some(_) if open.packet < step && step <= answer.packet => session.across_steps += 1,
        Some(time) => match time.checked_sub(open.time) {
            Some(nanos) => session.spans[span as usize].record(nanos),
            None => session.negative += 1,
        },
    }
}

impl MessageSink for Orders<'_> {
    fn message(&mut self, frame: &Frame<'_>, origin: Origin) -> io::Result<Result<bool, String>> {
        let known = match self.codecs.check(frame.message) {
            Ok(known) => known,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let Ok((header, body)) = MessageHeader::decode(frame.message) else { return Ok(Ok(false)) };
        if let Some(fields) = self.layouts.fields(&header, body) {
            match fields.role {
                Role::Logon => self.log_on(origin.addresses, &fields),
                Role::Request(kind) => self.request(kind, &fields, origin),
                _ => self.answer(&fields, origin),
            }
        }
        Ok(Ok(known))
    }

    fn gap(&mut self, addresses: Addresses, missing: u32, skipped: usize) {
        self.stream(addresses, [0, 1, missing.into(), skipped as u64]);
    }

    fn repeated(&mut self, addresses: Addresses) {
        self.stream(addresses, [1, 0, 0, 0]);
    }

    fn finish(&mut self, _: &DecodeCounts) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the text that names a session.
pub(super) fn label(session: &Session) -> String {
    let ports = |(client, gateway): (SocketAddr, SocketAddr)| format!("{client}>{gateway}");
    match (&session.name, session.uuid) {
        (Some(name), _) => name.clone(),
        (None, Some(uuid)) => format!("UUID {uuid}"),
        (None, None) => session.addresses.map(ports).unwrap_or_default(),
    }
}
