//! The protocol of one replay request, without I/O.

use std::fmt;

use hairpin_cme_codecs::mdp3::{AdminLogin15, AdminLogout16};
use hairpin_mdp3::{Messages, PacketHeader};
use hairpin_time::{Duration, Instant};

use super::{ReplayError, ReplaySettings, fix};
use crate::frame_decoder::FrameDecoder;

/// The longest chunk passed at once, in bytes.
const CHUNK_MAX: usize = 64 << 10;

/// A replay request: logon, request for a range of packets, and logout.
///
/// ```text
/// client  → Logon     … server → packet 1 with AdminLogin (15)
///         → Request   …        → the packets, each behind its length, u16 little-endian
///         → Logout    …        ← packet with AdminLogout (16), with a text if refused
/// ```
#[derive(Debug)]
pub struct ReplayRequest {
    dialogue: Dialogue,
    frames: FrameDecoder,
    timeout: Duration,
    deadline: Instant,
}

/// The protocol state, and the next messages to send.
struct Dialogue {
    state: State,
    /// The Market Data Request, sent after AdminLogin.
    request: Vec<u8>,
    to_send: Option<Vec<u8>>,
    /// The next expected packet, and the last packet of the range.
    next: u32,
    last: u32,
}

/// Hides the messages: a logon contains a password.
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
    Complete,
}

impl ReplayRequest {
    /// Creates a request for the packets `first` to `last` of a channel. The connection must be
    /// established within the timeout.
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
            frames: FrameDecoder::new(settings.max_packet, CHUNK_MAX),
            timeout: settings.timeout,
            deadline: now + settings.timeout,
        })
    }

    /// Starts the logon on an established connection.
    pub fn handle_connected(&mut self, now: Instant) {
        self.dialogue.state = State::LoggingOn;
        self.deadline = now + self.timeout;
    }

    /// Returns the next message to send, or `None`.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        let Dialogue { state, to_send, .. } = &mut self.dialogue;
        if *state == State::Connecting { None } else { to_send.take() }
    }

    /// Processes up to 64 KiB of received bytes, split at any position. Passes each packet of the
    /// range to `on`, in order of arrival.
    ///
    /// # Errors
    /// [`ReplayError::NoLogin`], [`ReplayError::Refused`], [`ReplayError::Frame`]: the connection
    /// cannot be used any more.
    pub fn handle_bytes(
        &mut self,
        now: Instant,
        bytes: &[u8],
        mut on: impl FnMut(&[u8]),
    ) -> Result<(), ReplayError> {
        self.deadline = now + self.timeout;
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

    /// Checks the silence timeout.
    ///
    /// # Errors
    /// [`ReplayError::Silent`].
    pub fn handle_timeout(&mut self, now: Instant) -> Result<(), ReplayError> {
        if now < self.deadline { Ok(()) } else { Err(ReplayError::Silent(self.timeout)) }
    }

    /// Returns the deadline of the silence timeout.
    #[must_use]
    pub fn poll_timeout(&self) -> Instant {
        self.deadline
    }

    /// Returns `true` if the last packet was received. A logout may still be pending.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.dialogue.state == State::Complete
    }

    /// Returns the first packet of the range that was not received.
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
            // After the last packet, AdminLogout is the answer to the client's logout.
            let text = first.map_or_else(String::new, |message| logout_text(message.body));
            return if self.state == State::Complete {
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
                    self.state = State::Complete;
                    self.to_send = Some(fix::logout());
                }
            }
            // Packets that were not requested, or were received already.
            State::Connecting | State::Receiving | State::Complete => {}
        }
        Ok(())
    }
}

/// Returns Text (58) of a logout without padding.
fn logout_text(body: &[u8]) -> String {
    const TEXT_MAX: usize = 180;
    let text = &body[..body.len().min(TEXT_MAX)];
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    let text = String::from_utf8_lossy(&text[..end]);
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.trim().is_empty() { "no reason given".to_owned() } else { text.trim().to_owned() }
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
            sequences.push(crate::frame_decoder::packet_sequence(packet));
        });
        (sequences, outcome)
    }

    #[test]
    fn requests_range_after_login_and_then_logs_out() {
        let mut active = request(7, 9);
        assert!(sequences(&mut active, &login()).1.is_ok());
        let sent = String::from_utf8(active.poll_transmit().unwrap()).unwrap();
        assert!(sent.contains("\x0135=V\x01") || sent.contains("35=V\x01"), "{sent}");
        assert!(sent.contains("1182=7\x011183=9\x01"), "{sent}");
        let packets = [heartbeat(7), heartbeat(8), heartbeat(9)].concat();
        let (received, outcome) = sequences(&mut active, &packets);
        assert_eq!((received, outcome.is_ok()), (vec![7, 8, 9], true));
        assert!(active.is_complete());
        assert_eq!(active.poll_transmit().unwrap(), fix::logout());
        assert!(sequences(&mut active, &logout("")).1.is_ok());
    }

    #[test]
    fn bytes_may_be_split_anywhere() {
        let all = [login(), heartbeat(7), heartbeat(8)].concat();
        for size in 1..all.len() {
            let mut active = request(7, 8);
            let mut received = Vec::new();
            for chunk in all.chunks(size) {
                received.extend(sequences(&mut active, chunk).0);
            }
            assert_eq!((received, active.is_complete()), (vec![7, 8], true), "chunks of {size}");
        }
    }

    #[test]
    fn ignores_packets_outside_the_range() {
        let mut active = request(7, 9);
        let bytes = [login(), heartbeat(6), heartbeat(7), heartbeat(7), heartbeat(10)].concat();
        assert_eq!(sequences(&mut active, &bytes).0, [7]);
        assert_eq!((active.next(), active.is_complete()), (8, false));
    }

    #[test]
    fn rejects_server_that_does_not_start_with_a_login() {
        for first in [heartbeat(1), frame(2, 15, &[30])] {
            let outcome = sequences(&mut request(7, 9), &first).1;
            assert!(matches!(outcome, Err(ReplayError::NoLogin)));
        }
    }

    #[test]
    fn refusal_has_the_server_text() {
        let mut active = request(7, 9);
        let bytes = [login(), logout("too old\x01")].concat();
        let error = sequences(&mut active, &bytes).1.unwrap_err();
        assert_eq!(error.to_string(), "replay server refused the request: too old");
    }

    #[test]
    fn rejects_empty_and_too_long_ranges() {
        let settings = ReplaySettings::default();
        let new = |first, last| ReplayRequest::new(&settings, "310", "1", (first, last), NOW);
        assert!(new(1, 2_000).is_ok());
        let error = new(1, 2_001).unwrap_err();
        assert_eq!(error.to_string(), "cannot request 2001 packets: limit is 2000 per request");
        let expected = "cannot request packets 0 to 5: not a valid range";
        assert_eq!(new(0, 5).unwrap_err().to_string(), expected);
        assert!(matches!(new(6, 5), Err(ReplayError::BadRange { .. })));
        assert!(matches!(new(1, u32::MAX), Err(ReplayError::TooMany { .. })));
    }

    #[test]
    fn silence_times_out_and_every_byte_restarts_the_timer() {
        let mut active = request(7, 9);
        let at = |seconds| NOW + Duration::from_secs(seconds);
        assert!(active.handle_timeout(at(3)).is_ok());
        active.handle_bytes(at(3), &login()[..1], |_| {}).unwrap();
        assert_eq!(active.poll_timeout(), at(7));
        let error = active.handle_timeout(at(7)).unwrap_err();
        assert!(error.to_string().starts_with("no data from the replay server for 4"));
    }
}
