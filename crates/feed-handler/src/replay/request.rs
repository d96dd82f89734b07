//! The protocol of one replay request, without I/O.

use std::fmt;

use hairpin_mdp3::{Messages, PacketHeader};
use hairpin_time::{Duration, Instant};

use super::admin::{Admin, AdminTemplates};
use super::{ReplayError, ReplaySettings, fix};
use crate::frame_decoder::FrameDecoder;

/// The longest chunk passed at once, in bytes.
const CHUNK_MAX: usize = 64 << 10;

/// A replay request: logon, request for a range of packets, and logout.
///
/// ```text
/// client  → Logon     … server → packet with AdminLogin
///         → Request   …        → the packets, each behind its length, u16 little-endian
///         → Logout    …        ← packet with AdminLogout, with a text if refused
/// ```
///
/// AdminLogin and AdminLogout are of the core schema (15, 16) or of the Global TCP Recovery schema.
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
    templates: Option<AdminTemplates>,
}

/// Hides the messages: a logon contains a password.
impl fmt::Debug for Dialogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { state, request: _, to_send: _, next, last, templates: _ } = self;
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
                templates: settings.admin_templates,
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
    /// [`ReplayError::NoLogin`], [`ReplayError::LoginRefused`], [`ReplayError::Refused`],
    /// [`ReplayError::Frame`]: the connection cannot be used any more.
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
        match first.and_then(|message| Admin::read(&message, self.templates)) {
            Some(Admin::Logout(text)) => {
                return match self.state {
                    // After the last packet, a logout is the answer to the client's logout.
                    State::Complete => Ok(()),
                    State::Connecting | State::LoggingOn => Err(ReplayError::LoginRefused(text)),
                    State::Receiving => Err(ReplayError::Refused(text)),
                };
            }
            Some(Admin::Login) if self.state == State::LoggingOn => {
                self.state = State::Receiving;
                self.to_send = Some(core::mem::take(&mut self.request));
                return Ok(());
            }
            Some(_) => return Ok(()),
            None => {}
        }
        match self.state {
            State::LoggingOn => return Err(ReplayError::NoLogin),
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
        let outcome = sequences(&mut request(7, 9), &heartbeat(7)).1;
        assert!(matches!(outcome, Err(ReplayError::NoLogin)));
    }

    /// Returns a packet with a message of another schema, of a made-up template.
    fn foreign(template: u16, block: usize) -> Vec<u8> {
        let mut body = vec![0; block];
        let text = b"invalid password";
        if block >= 180 {
            body[..text.len()].copy_from_slice(text);
        }
        let mut bytes = frame(8, template, &body);
        // The schema id is behind the length, packet header, MsgSize, block length and template.
        bytes[2 + 12 + 6..][..2].copy_from_slice(&9_u16.to_le_bytes());
        bytes
    }

    #[test]
    fn accepts_admin_messages_of_foreign_schema() {
        // The templates are unknown: the blocks of login and logout have any length allowed.
        for (login, logout) in [(1, 180), (8, 200)] {
            let mut active = request(7, 9);
            let bytes = [foreign(901, 0), foreign(902, login), heartbeat(7)].concat();
            let (received, outcome) = sequences(&mut active, &bytes);
            assert_eq!((received, outcome.is_ok()), (vec![7], true));
            // Not market data, although packet 8 is wanted.
            let bytes = [foreign(901, 0), foreign(902, login), heartbeat(8), heartbeat(9)].concat();
            assert_eq!(sequences(&mut active, &bytes).0, [8, 9]);
            assert!(active.is_complete());
            assert!(sequences(&mut active, &foreign(903, logout)).1.is_ok());
        }
    }

    #[test]
    fn foreign_templates_can_be_set() {
        let admin_templates = Some(AdminTemplates { login: 905, logout: 906 });
        let settings = ReplaySettings { admin_templates, ..ReplaySettings::default() };
        let mut active = ReplayRequest::new(&settings, "310", "1", (7, 8), NOW).unwrap();
        active.handle_connected(NOW);
        let bytes = [foreign(904, 8), foreign(905, 0), heartbeat(7)].concat();
        assert_eq!(sequences(&mut active, &bytes).0, [7]);
        let error = sequences(&mut active, &foreign(906, 180)).1.unwrap_err();
        assert_eq!(error.to_string(), "replay server refused the request: invalid password");
    }

    #[test]
    fn refused_login_has_the_server_text() {
        let expected = "replay server refused the login: invalid password";
        let mut core = [0; 180];
        core[..16].copy_from_slice(b"invalid password");
        for refusal in [foreign(903, 180), frame(1, 16, &core)] {
            let error = sequences(&mut request(7, 9), &refusal).1.unwrap_err();
            assert_eq!(error.to_string(), expected);
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
