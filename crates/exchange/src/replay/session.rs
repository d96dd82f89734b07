//! A connection of the replay service.

use hairpin_cme_codecs::mdp3::{AdminLogin15, AdminLogout16};
use hairpin_time::{Instant, Now};
use thiserror::Error;

use super::history::History;
use super::request::{self, Malformed, Request};
use super::{REPLAY_MAX, ReplayCounters, ReplaySchema, ReplaySettings};
use crate::MAX_PAYLOAD;
use crate::publisher::Packet;

/// The length of the little-endian length prefix of each packet.
const PREFIX: usize = 2;
/// The maximum length of a request.
const REQUEST_MAX: usize = 1_024;
/// HeartBtInt in the login: the server sends no heartbeats.
const HEARTBEAT_INTERVAL: i8 = 0;

/// The reason for a rejected request: the text of the logout that answers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReplayReject {
    /// The request is not a FIX message, or longer than 1,024 bytes.
    #[error("message is not a FIX message of up to 1024 bytes")]
    Malformed,
    /// BodyLength (tag 9) is wrong.
    #[error("BodyLength (9) differs from the length of the body")]
    BodyLength,
    /// CheckSum (tag 10) is wrong.
    #[error("CheckSum (10) differs from the sum of the bytes before it")]
    CheckSum,
    /// The message is neither logon (A), request (V) nor logout (5), or out of order.
    #[error("message type (35) is not expected now")]
    Unexpected,
    /// The user or the password is wrong.
    #[error("unknown user or wrong password")]
    Credentials,
    /// The channel is missing or wrong.
    #[error("ApplID (1180) is not the number of this channel")]
    Channel,
    /// A number is missing or 0, or the last is less than the first.
    #[error("ApplBegSeqNum (1182) to ApplEndSeqNum (1183) is not a range")]
    Range,
    /// The request is for more than [`REPLAY_MAX`] packets.
    #[error("request exceeds 2000 packets")]
    TooMany,
    /// Some of the packets are not stored.
    #[error("packets are not available")]
    Unavailable,
    /// The session has already made a request.
    #[error("session has already made a request")]
    SecondRequest,
}

impl From<Malformed> for ReplayReject {
    fn from(malformed: Malformed) -> Self {
        match malformed {
            Malformed::Fields => Self::Malformed,
            Malformed::BodyLength => Self::BodyLength,
            Malformed::CheckSum => Self::CheckSum,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Waits for the logon.
    New,
    /// The logon has to be answered; then the session waits for the request.
    LoggedOn,
    /// The packets of this range have to be sent. Then the session ends, with the reason if a later
    /// message was rejected.
    Replaying { next: u32, last: u32, reject: Option<ReplayReject> },
    /// The logout has to be sent, with the reason if there is one.
    Ending(Option<ReplayReject>),
    /// The logout has been written.
    Finished,
}

/// A connection: the incomplete message received, and the packet being sent.
#[derive(Debug)]
pub(super) struct Session {
    state: State,
    /// `true` from a valid logon on. It is answered, whatever follows.
    has_logged_on: bool,
    since: Instant,
    input: Vec<u8>,
    output: Box<[u8; PREFIX + MAX_PAYLOAD]>,
    /// The number of bytes in the output, and how many of them are sent.
    length: usize,
    sent: usize,
    /// The number of the last packet made by the service itself.
    sequence: u32,
}

impl Session {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            state: State::New,
            has_logged_on: false,
            since: now,
            input: Vec::with_capacity(REQUEST_MAX),
            output: Box::new([0; PREFIX + MAX_PAYLOAD]),
            length: 0,
            sent: 0,
            sequence: 0,
        }
    }

    /// Returns the time of the connection.
    pub(super) fn since(&self) -> Instant {
        self.since
    }

    /// Returns `true` if the client has not logged on.
    pub(super) fn is_new(&self) -> bool {
        self.state == State::New
    }

    /// Returns `true` if the client has not made its request.
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.state, State::New | State::LoggedOn)
    }

    pub(super) fn is_finished(&self) -> bool {
        self.state == State::Finished && self.sent == self.length
    }

    pub(super) fn handle_bytes(
        &mut self,
        mut bytes: &[u8],
        settings: &ReplaySettings,
        history: &History,
        counters: &mut ReplayCounters,
    ) {
        while !bytes.is_empty() && !self.ignores_input() {
            let (head, rest) = bytes.split_at(bytes.len().min(REQUEST_MAX - self.input.len()));
            self.input.extend_from_slice(head);
            bytes = rest;
            let outcome = self.handle_messages(settings, history, counters);
            let is_full = self.input.len() == REQUEST_MAX;
            let outcome = if is_full { outcome.and(Err(ReplayReject::Malformed)) } else { outcome };
            if let Err(reject) = outcome {
                counters.rejected += 1;
                let reject = Some(reject);
                self.state = match self.state {
                    State::Replaying { next, last, .. } => State::Replaying { next, last, reject },
                    _ => State::Ending(reject),
                };
            }
        }
    }

    fn ignores_input(&self) -> bool {
        match self.state {
            State::Ending(_) | State::Finished | State::Replaying { reject: Some(_), .. } => true,
            State::New | State::LoggedOn | State::Replaying { reject: None, .. } => false,
        }
    }

    /// Handles the complete messages in the input.
    fn handle_messages(
        &mut self,
        settings: &ReplaySettings,
        history: &History,
        counters: &mut ReplayCounters,
    ) -> Result<(), ReplayReject> {
        while !self.ignores_input() {
            let Some((request, length)) = request::parse(&self.input)? else { break };
            self.state = next_state(self.state, &request, settings, history)?;
            self.has_logged_on = true;
            counters.requests += u64::from(request.kind == "V");
            self.input.drain(..length);
        }
        Ok(())
    }

    pub(super) fn poll_transmit(
        &mut self,
        stamp: (Now, ReplaySchema),
        history: &History,
        counters: &mut ReplayCounters,
    ) -> Option<&[u8]> {
        if self.sent == self.length {
            (self.sent, self.length) = (0, 0);
            self.write_next(stamp, history, counters);
        }
        Some(&self.output[self.sent..self.length]).filter(|bytes| !bytes.is_empty())
    }

    pub(super) fn handle_sent(&mut self, count: usize) {
        self.sent = (self.sent + count).min(self.length);
    }

    /// Writes the next packet, if there is one.
    fn write_next(
        &mut self,
        stamp: (Now, ReplaySchema),
        history: &History,
        counters: &mut ReplayCounters,
    ) {
        // A rejected logon is answered by the logout alone.
        if self.sequence == 0 && self.has_logged_on {
            return self.write_login(stamp);
        }
        match self.state {
            State::New | State::LoggedOn | State::Finished => {}
            State::Replaying { next, last, reject } => {
                let Some(packet) = history.at(next) else {
                    // The packet was overwritten in the meantime.
                    counters.rejected += 1;
                    self.state = State::Ending(Some(ReplayReject::Unavailable));
                    return self.write_next(stamp, history, counters);
                };
                self.output[PREFIX..PREFIX + packet.len()].copy_from_slice(packet);
                self.finish(packet.len());
                counters.packets += 1;
                let is_last = next == last;
                self.state = match is_last {
                    true => State::Ending(reject),
                    false => State::Replaying { next: next + 1, last, reject },
                };
            }
            State::Ending(reject) => self.write_logout(stamp, reject),
        }
    }

    fn write_login(&mut self, stamp: (Now, ReplaySchema)) {
        self.write_message(stamp, ReplaySchema::FOREIGN_LOGIN_ID, |buffer| {
            let mut message = AdminLogin15::encode(buffer)?;
            message.set_heart_bt_int(HEARTBEAT_INTERVAL);
            Ok(AdminLogin15::ENCODED_LENGTH)
        });
    }

    fn write_logout(&mut self, stamp: (Now, ReplaySchema), reject: Option<ReplayReject>) {
        self.write_message(stamp, ReplaySchema::FOREIGN_LOGOUT_ID, |buffer| {
            let mut message = AdminLogout16::encode(buffer)?;
            let text = reject.map_or_else(String::new, |reject| reject.to_string());
            message.set_text(text);
            Ok(AdminLogout16::ENCODED_LENGTH)
        });
        self.state = State::Finished;
    }

    fn write_message(
        &mut self,
        (now, schema): (Now, ReplaySchema),
        foreign_id: u16,
        encode: impl FnOnce(&mut [u8]) -> Result<usize, hairpin_sbe::EncodeError>,
    ) {
        self.sequence += 1;
        let mut packet = Packet::new(&mut self.output[PREFIX..]);
        let encode = |buffer: &mut [u8]| {
            let length = encode(buffer)?;
            if schema == ReplaySchema::Foreign {
                // TemplateID, SchemaID and Version follow BlockLength.
                let (id, version) =
                    (ReplaySchema::FOREIGN_SCHEMA_ID, ReplaySchema::FOREIGN_VERSION);
                for (field, value) in buffer[2..8].chunks_mut(2).zip([foreign_id, id, version]) {
                    field.copy_from_slice(&value.to_le_bytes());
                }
            }
            Ok(length)
        };
        packet.append(encode).expect("a packet has room for one message");
        let length = packet.finish(self.sequence, now.utc);
        self.finish(length);
    }

    /// Writes the length prefix of a packet.
    fn finish(&mut self, length: usize) {
        // The length is at most the payload of a datagram.
        self.output[..PREFIX].copy_from_slice(&(length as u16).to_le_bytes());
        (self.sent, self.length) = (0, PREFIX + length);
    }
}

/// Returns the state after a message.
fn next_state(
    state: State,
    request: &Request<'_>,
    settings: &ReplaySettings,
    history: &History,
) -> Result<State, ReplayReject> {
    match (request.kind, state) {
        ("A", State::New) => {
            let is_valid = request.user == Some(&settings.user)
                && request.password == Some(&settings.password);
            is_valid.then_some(State::LoggedOn).ok_or(ReplayReject::Credentials)
        }
        ("V", State::LoggedOn) => range(request, settings, history),
        ("V", State::Replaying { .. }) => Err(ReplayReject::SecondRequest),
        ("5", State::LoggedOn) => Ok(State::Ending(None)),
        // The client will send nothing more; the requested packets are still sent.
        ("5", replaying @ State::Replaying { .. }) => Ok(replaying),
        _ => Err(ReplayReject::Unexpected),
    }
}

/// Returns the requested range, if all its packets are stored.
fn range(
    request: &Request<'_>,
    settings: &ReplaySettings,
    history: &History,
) -> Result<State, ReplayReject> {
    if request.channel.and_then(|channel| channel.parse().ok()) != Some(settings.channel) {
        return Err(ReplayReject::Channel);
    }
    let number = |text: Option<&str>| {
        let number = text.and_then(|text| text.parse::<u32>().ok());
        number.filter(|&number| number > 0).ok_or(ReplayReject::Range)
    };
    let (next, last) = (number(request.begin)?, number(request.end)?);
    if last < next {
        return Err(ReplayReject::Range);
    }
    if last - next >= REPLAY_MAX {
        return Err(ReplayReject::TooMany);
    }
    let is_stored = history.at(next).is_some() && history.at(last).is_some();
    let replaying = State::Replaying { next, last, reject: None };
    is_stored.then_some(replaying).ok_or(ReplayReject::Unavailable)
}
