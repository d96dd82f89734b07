//! One request for packets, without IO.

use std::fmt;

use hairpin_cme_codecs::mdp3::{AdminLogin15, AdminLogout16};
use hairpin_mdp3::{Messages, PacketHeader};
use hairpin_time::{Duration, Instant};

use super::{ReplayError, ReplaySettings, fix};
use crate::frames::Frames;

/// The longest chunk that is handed over at once.
const CHUNK_MAX: usize = 64 << 10;

/// A request to be logged on, for a range of packets, and to be logged out.
///
/// ```text
/// client  → Logon     … server → packet 1 with AdminLogin (15)
///         → Request   …        → the packets, each behind its length, u16 little-endian
///         → Logout    …        ← packet with AdminLogout (16), with words if it was refused
/// ```
#[derive(Debug)]
pub struct ReplayRequest {
    dialogue: Dialogue,
    frames: Frames,
    patience: Duration,
    deadline: Instant,
}

/// What has been said, and what is to be said next.
struct Dialogue {
    state: State,
    /// What is asked for once the login has come.
    request: Vec<u8>,
    to_send: Option<Vec<u8>>,
    /// The packet that comes next, and the last one asked for.
    next: u32,
    last: u32,
}

/// Without what is to be said: a logon has a password in it.
impl fmt::Debug for Dialogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { state, request: _, to_send: _, next, last } = self;
        let mut shown = f.debug_struct("Dialogue");
        shown.field("state", state).field("next", next).field("last", last).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Connecting,
    LoggingOn,
    Receiving,
    Over,
}

impl ReplayRequest {
    /// A request for the packets `range.0` to `range.1` of a channel. The connection is to be made
    /// within the patience.
    ///
    /// # Errors
    /// [`ReplayError::BadRange`], [`ReplayError::TooMany`].
    pub fn new(
        settings: &ReplaySettings,
        channel: &str,
        id: &str,
        (first, last): (u32, u32),
        now: Instant,
    ) -> Result<Self, ReplayError> {
        if first == 0 || first > last {
            return Err(ReplayError::BadRange { first, last });
        }
        let count = u64::from(last - first) + 1;
        if count > u64::from(settings.packets_max) {
            return Err(ReplayError::TooMany { count, max: settings.packets_max });
        }
        Ok(Self {
            dialogue: Dialogue {
                state: State::Connecting,
                request: fix::request(channel, id, first, last),
                to_send: Some(fix::logon(&settings.user, &settings.password)),
                next: first,
                last,
            },
            frames: Frames::new(settings.max_packet, CHUNK_MAX),
            patience: settings.patience,
            deadline: now + settings.patience,
        })
    }

    /// The connection stands.
    pub fn handle_connected(&mut self, now: Instant) {
        self.dialogue.state = State::LoggingOn;
        self.deadline = now + self.patience;
    }

    /// What is to be sent now, whole.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        let Dialogue { state, to_send, .. } = &mut self.dialogue;
        if *state == State::Connecting { None } else { to_send.take() }
    }

    /// Takes bytes of the connection, cut anywhere, up to 64 KiB at once; hands each packet of the
    /// range to `on`, in the order in which they come.
    ///
    /// # Errors
    /// [`ReplayError::NoLogin`], [`ReplayError::Refused`], [`ReplayError::Frame`]: the connection
    /// is of no further use.
    pub fn handle_bytes(
        &mut self,
        now: Instant,
        bytes: &[u8],
        mut on: impl FnMut(&[u8]),
    ) -> Result<(), ReplayError> {
        self.deadline = now + self.patience;
        let (dialogue, mut outcome) = (&mut self.dialogue, Ok(()));
        let framed = self.frames.handle_bytes(bytes, |packet| {
            if outcome.is_ok() {
                outcome = dialogue.handle_packet(packet, &mut on);
            }
            true
        });
        outcome?;
        Ok(framed?)
    }

    /// Gives up if nothing has come for too long.
    ///
    /// # Errors
    /// [`ReplayError::Silent`].
    pub fn handle_timeout(&mut self, now: Instant) -> Result<(), ReplayError> {
        if now < self.deadline { Ok(()) } else { Err(ReplayError::Silent(self.patience)) }
    }

    /// When [`ReplayRequest::handle_timeout`] is due.
    #[must_use]
    pub fn poll_timeout(&self) -> Instant {
        self.deadline
    }

    /// Whether the last packet has come. What is to be sent then may still be.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.dialogue.state == State::Over
    }

    /// The first packet of the range that has not come.
    #[must_use]
    pub fn next(&self) -> u32 {
        self.dialogue.next
    }
}

impl Dialogue {
    fn handle_packet(
        &mut self,
        packet: &[u8],
        on: &mut impl FnMut(&[u8]),
    ) -> Result<(), ReplayError> {
        let Ok((header, messages)) = PacketHeader::decode(packet) else { return Ok(()) };
        let first = Messages::new(messages).next().and_then(Result::ok);
        let template = first.map(|message| message.header.template_id);
        if template == Some(AdminLogout16::TEMPLATE_ID) {
            // After the last packet it is the server's goodbye.
            let text = first.map_or_else(String::new, |message| words(message.body));
            return if self.state == State::Over {
                Ok(())
            } else {
                Err(ReplayError::Refused(text))
            };
        }
        match self.state {
            State::LoggingOn => {
                if header.sequence != 1 || template != Some(AdminLogin15::TEMPLATE_ID) {
                    return Err(ReplayError::NoLogin);
                }
                self.state = State::Receiving;
                self.to_send = Some(core::mem::take(&mut self.request));
            }
            State::Receiving if (self.next..=self.last).contains(&header.sequence) => {
                on(packet);
                self.next = header.sequence.saturating_add(1);
                if header.sequence == self.last {
                    self.state = State::Over;
                    self.to_send = Some(fix::logout());
                }
            }
            // Packets that nobody has asked for, or that have come.
            State::Connecting | State::Receiving | State::Over => {}
        }
        Ok(())
    }
}

/// Text (58) of a logout, without what pads it.
fn words(body: &[u8]) -> String {
    const TEXT_MAX: usize = 180;
    let text = &body[..body.len().min(TEXT_MAX)];
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    let text = String::from_utf8_lossy(&text[..end]);
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.trim().is_empty() { "without a reason".to_owned() } else { text.trim().to_owned() }
}

#[cfg(test)]
mod tests {
    use hairpin_time::Utc;

    use super::*;

    const NOW: Instant = Instant::ZERO;

    fn frame(sequence: u32, template: u16, body: &[u8]) -> Vec<u8> {
        let header = PacketHeader { sequence, sending_time: Utc::EPOCH }.encode();
        let size = (10 + body.len()) as u16;
        let block = body.len() as u16;
        let message = [size, block, template, 1, 13].map(u16::to_le_bytes).concat();
        let packet = [&header[..], &message, body].concat();
        [&(packet.len() as u16).to_le_bytes()[..], &packet].concat()
    }

    fn login() -> Vec<u8> {
        frame(1, 15, &[30])
    }

    fn logout(text: &str) -> Vec<u8> {
        let mut body = [0; 180];
        body[..text.len()].copy_from_slice(text.as_bytes());
        frame(2, 16, &body)
    }

    fn heartbeat(sequence: u32) -> Vec<u8> {
        frame(sequence, 12, &[])
    }

    fn request(first: u32, last: u32) -> ReplayRequest {
        let settings = ReplaySettings::default();
        let mut request =
            ReplayRequest::new(&settings, "310", "310-1", (first, last), NOW).unwrap();
        assert_eq!(request.poll_transmit(), None);
        request.handle_connected(NOW);
        assert!(request.poll_transmit().unwrap().starts_with(b"9=21\x0135=A\x01553=CME"));
        request
    }

    fn sequences(request: &mut ReplayRequest, bytes: &[u8]) -> (Vec<u32>, Result<(), ReplayError>) {
        let mut sequences = Vec::new();
        let outcome = request.handle_bytes(NOW, bytes, |packet| {
            sequences.push(crate::frames::sequence_of(packet));
        });
        (sequences, outcome)
    }

    #[test]
    fn a_range_is_asked_for_after_the_login_and_ends_with_a_logout() {
        let mut asked = request(7, 9);
        assert!(sequences(&mut asked, &login()).1.is_ok());
        let sent = String::from_utf8(asked.poll_transmit().unwrap()).unwrap();
        assert!(sent.contains("\x0135=V\x01") || sent.contains("35=V\x01"), "{sent}");
        assert!(sent.contains("1182=7\x011183=9\x01"), "{sent}");
        let packets = [heartbeat(7), heartbeat(8), heartbeat(9)].concat();
        let (come, outcome) = sequences(&mut asked, &packets);
        assert_eq!((come, outcome.is_ok()), (vec![7, 8, 9], true));
        assert!(asked.is_over());
        assert_eq!(asked.poll_transmit().unwrap(), fix::logout());
        assert!(sequences(&mut asked, &logout("")).1.is_ok());
    }

    #[test]
    fn bytes_may_be_cut_anywhere() {
        let all = [login(), heartbeat(7), heartbeat(8)].concat();
        for size in 1..all.len() {
            let mut asked = request(7, 8);
            let mut come = Vec::new();
            for chunk in all.chunks(size) {
                come.extend(sequences(&mut asked, chunk).0);
            }
            assert_eq!((come, asked.is_over()), (vec![7, 8], true), "chunks of {size}");
        }
    }

    #[test]
    fn packets_that_nobody_asked_for_are_passed_over() {
        let mut asked = request(7, 9);
        let bytes = [login(), heartbeat(6), heartbeat(7), heartbeat(7), heartbeat(10)].concat();
        assert_eq!(sequences(&mut asked, &bytes).0, [7]);
        assert_eq!((asked.next(), asked.is_over()), (8, false));
    }

    #[test]
    fn a_server_that_does_not_begin_with_a_login_is_none() {
        for first in [heartbeat(1), frame(2, 15, &[30])] {
            let outcome = sequences(&mut request(7, 9), &first).1;
            assert!(matches!(outcome, Err(ReplayError::NoLogin)));
        }
    }

    #[test]
    fn a_refusal_comes_with_its_words() {
        let mut asked = request(7, 9);
        let bytes = [login(), logout("too old\x01")].concat();
        let error = sequences(&mut asked, &bytes).1.unwrap_err();
        assert_eq!(error.to_string(), "the replay server has refused: too old");
    }

    #[test]
    fn a_range_is_one_and_not_too_long() {
        let settings = ReplaySettings::default();
        let new = |first, last| ReplayRequest::new(&settings, "310", "1", (first, last), NOW);
        assert!(new(1, 2_000).is_ok());
        let error = new(1, 2_001).unwrap_err();
        assert_eq!(error.to_string(), "2001 packets are more than the 2000 of one replay");
        assert_eq!(new(0, 5).unwrap_err().to_string(), "packets 0 to 5 are no range");
        assert!(matches!(new(6, 5), Err(ReplayError::BadRange { .. })));
        assert!(matches!(new(1, u32::MAX), Err(ReplayError::TooMany { .. })));
    }

    #[test]
    fn silence_ends_it_and_every_byte_begins_it_anew() {
        let mut asked = request(7, 9);
        let at = |seconds| NOW + Duration::from_secs(seconds);
        assert!(asked.handle_timeout(at(3)).is_ok());
        asked.handle_bytes(at(3), &login()[..1], |_| {}).unwrap();
        assert_eq!(asked.poll_timeout(), at(7));
        let error = asked.handle_timeout(at(7)).unwrap_err();
        assert!(error.to_string().starts_with("the replay server has sent nothing for 4"));
    }
}
