//! One connection of the replay service.

use hairpin_cme_codecs::mdp3::{AdminLogin15, AdminLogout16};
use hairpin_time::Now;
use thiserror::Error;

use super::history::History;
use super::request::{self, Malformed, Request};
use super::{REPLAY_MAX, ReplayCounters, ReplaySettings};
use crate::MAX_PAYLOAD;
use crate::publisher::Packet;

/// Bytes of the length before each packet, little-endian.
const PREFIX: usize = 2;
/// The longest request.
const REQUEST_MAX: usize = 1_024;
/// What the server says of its heartbeats: it sends none.
const HEARTBEAT_INTERVAL: i8 = 0;

/// Why a request was not served: the text of the logout that answers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReplayReject {
    /// It is no message of FIX, or longer than 1,024 bytes.
    #[error("malformed message")]
    Malformed,
    /// Tag 9 is wrong.
    #[error("BodyLength (9) is not the length of the body")]
    BodyLength,
    /// Tag 10 is wrong.
    #[error("CheckSum (10) is not the sum of the bytes before it")]
    CheckSum,
    /// Neither logon (A), request (V) nor logout (5), or not in that order.
    #[error("unexpected message")]
    Unexpected,
    /// User or password are others.
    #[error("unknown user or wrong password")]
    Credentials,
    /// Another channel, or none.
    #[error("ApplID (1180) is not this channel")]
    Channel,
    /// Numbers missing, 0, or the last before the first.
    #[error("ApplBegSeqNum (1182) and ApplEndSeqNum (1183) are no range")]
    Range,
    /// More than [`REPLAY_MAX`] packets.
    #[error("more than 2000 packets in a request")]
    TooMany,
    /// Not all of them are kept.
    #[error("packets no longer or not yet available")]
    Unavailable,
    /// One request a session.
    #[error("one request in a session")]
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
    /// Logon is awaited.
    New,
    /// Logon is to be answered, then the request is awaited.
    LoggedOn,
    /// Packets of this range are to be sent.
    Replaying { next: u32, last: u32 },
    /// Logout is to be sent, with a reason if there is one.
    Ending(Option<ReplayReject>),
    /// Logout is sent, or being sent.
    Over,
}

/// A connection: what has come of a message, what goes of a packet.
#[derive(Debug)]
pub(super) struct Session {
    state: State,
    input: Vec<u8>,
    output: Box<[u8; PREFIX + MAX_PAYLOAD]>,
    /// Bytes of the output that are there, and of these sent.
    length: usize,
    sent: usize,
    /// Number of the last packet of the service's own.
    sequence: u32,
}

impl Session {
    pub(super) fn new() -> Self {
        Self {
            state: State::New,
            input: Vec::with_capacity(REQUEST_MAX),
            output: Box::new([0; PREFIX + MAX_PAYLOAD]),
            length: 0,
            sent: 0,
            sequence: 0,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.state == State::Over && self.sent == self.length
    }

    pub(super) fn handle_bytes(
        &mut self,
        mut bytes: &[u8],
        settings: &ReplaySettings,
        history: &History,
        counters: &mut ReplayCounters,
    ) {
        while !bytes.is_empty() && !matches!(self.state, State::Ending(_) | State::Over) {
            let (some, rest) = bytes.split_at(bytes.len().min(REQUEST_MAX - self.input.len()));
            self.input.extend_from_slice(some);
            bytes = rest;
            let outcome = self.handle_messages(settings, history, counters);
            let is_full = self.input.len() == REQUEST_MAX;
            let outcome = if is_full { outcome.and(Err(ReplayReject::Malformed)) } else { outcome };
            if let Err(reject) = outcome {
                counters.rejected += 1;
                self.state = State::Ending(Some(reject));
            }
        }
    }

    /// Handles whole messages.
    fn handle_messages(
        &mut self,
        settings: &ReplaySettings,
        history: &History,
        counters: &mut ReplayCounters,
    ) -> Result<(), ReplayReject> {
        while !matches!(self.state, State::Ending(_) | State::Over) {
            let Some((request, length)) = request::parse(&self.input)? else { break };
            self.state = next_state(self.state, &request, settings, history)?;
            counters.requests += u64::from(request.kind == "V");
            self.input.drain(..length);
        }
        Ok(())
    }

    pub(super) fn poll_transmit(
        &mut self,
        now: Now,
        history: &History,
        counters: &mut ReplayCounters,
    ) -> Option<&[u8]> {
        if self.sent == self.length {
            (self.sent, self.length) = (0, 0);
            self.write_next(now, history, counters);
        }
        Some(&self.output[self.sent..self.length]).filter(|bytes| !bytes.is_empty())
    }

    pub(super) fn handle_sent(&mut self, count: usize) {
        self.sent = (self.sent + count).min(self.length);
    }

    /// Writes the packet that comes next, if one does.
    fn write_next(&mut self, now: Now, history: &History, counters: &mut ReplayCounters) {
        if self.sequence == 0 && self.state != State::New {
            // The answer to a logon that was refused is the logout alone.
            if !matches!(self.state, State::Ending(_)) {
                return self.write_login(now);
            }
        }
        match self.state {
            State::New | State::LoggedOn | State::Over => {}
            State::Replaying { next, last } => {
                let Some(packet) = history.at(next) else {
                    // It was let go of meanwhile.
                    counters.rejected += 1;
                    self.state = State::Ending(Some(ReplayReject::Unavailable));
                    return self.write_next(now, history, counters);
                };
                self.output[PREFIX..PREFIX + packet.len()].copy_from_slice(packet);
                self.finish(packet.len());
                counters.packets += 1;
                let is_last = next == last;
                self.state = match is_last {
                    true => State::Ending(None),
                    false => State::Replaying { next: next + 1, last },
                };
            }
            State::Ending(reject) => self.write_logout(now, reject),
        }
    }

    fn write_login(&mut self, now: Now) {
        self.write_own(now, |buffer| {
            let mut message = AdminLogin15::encode(buffer)?;
            message.set_heart_bt_int(HEARTBEAT_INTERVAL);
            Ok(AdminLogin15::ENCODED_LENGTH)
        });
    }

    fn write_logout(&mut self, now: Now, reject: Option<ReplayReject>) {
        self.write_own(now, |buffer| {
            let mut message = AdminLogout16::encode(buffer)?;
            let text = reject.map_or_else(String::new, |reject| reject.to_string());
            message.set_text(text);
            Ok(AdminLogout16::ENCODED_LENGTH)
        });
        self.state = State::Over;
    }

    fn write_own(
        &mut self,
        now: Now,
        encode: impl FnOnce(&mut [u8]) -> Result<usize, hairpin_sbe::EncodeError>,
    ) {
        self.sequence += 1;
        let mut packet = Packet::new(&mut self.output[PREFIX..]);
        packet.append(encode).expect("a packet has room for one message");
        let length = packet.finish(self.sequence, now.utc);
        self.finish(length);
    }

    /// A packet is written; its length comes before it.
    fn finish(&mut self, length: usize) {
        // Never longer than the payload of a datagram.
        self.output[..PREFIX].copy_from_slice(&(length as u16).to_le_bytes());
        (self.sent, self.length) = (0, PREFIX + length);
    }
}

/// What a message makes of a session.
fn next_state(
    state: State,
    request: &Request<'_>,
    settings: &ReplaySettings,
    history: &History,
) -> Result<State, ReplayReject> {
    match (request.kind, state) {
        ("A", State::New) => {
            let is_known = request.user == Some(&settings.user)
                && request.password == Some(&settings.password);
            is_known.then_some(State::LoggedOn).ok_or(ReplayReject::Credentials)
        }
        ("V", State::LoggedOn) => range(request, settings, history),
        ("V", State::Replaying { .. }) => Err(ReplayReject::SecondRequest),
        ("5", State::LoggedOn) => Ok(State::Ending(None)),
        // The client has said all it will; what it asked for is still sent.
        ("5", replaying @ State::Replaying { .. }) => Ok(replaying),
        _ => Err(ReplayReject::Unexpected),
    }
}

/// The packets that a request asks for, if they can be had.
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
    let is_kept = history.at(next).is_some() && history.at(last).is_some();
    is_kept.then_some(State::Replaying { next, last }).ok_or(ReplayReject::Unavailable)
}
