//! A receiver's connection to the replay server.

use hairpin_exchange::{ReplayId, ReplayServer};
use hairpin_mdp3::ReplayOutcome;
use hairpin_netsim::{Chance, Connection, ConnectionState, End, Random, Reading, StreamFaults};
use hairpin_time::{Instant, Now};

/// The probability that an attempt is refused or breaks off.
const REFUSED: Chance = Chance::percent(15);
const BROKEN: Chance = Chance::percent(10);
/// The template id of AdminLogout, and the offset of the template id in a packet.
const LOGOUT: u16 = 16;
const TEMPLATE: usize = 16;
/// The offset of a logout's text: after the packet header, MsgSize and the SBE header.
const TEXT: usize = 22;

/// A replay connection.
#[derive(Debug)]
pub(crate) struct ReplayConnection {
    connection: Connection,
    place: Option<ReplayId>,
    to_send: Vec<u8>,
    received: Vec<u8>,
    breaks: bool,
    /// The server has sent its last byte.
    is_done: bool,
}

/// Returns a FIX message with this body, in which `|` ends a field.
fn message(body: &str) -> Vec<u8> {
    let mut bytes = format!("9={}|{body}", body.len()).replace('|', "\u{1}").into_bytes();
    let sum = bytes.iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte));
    bytes.extend_from_slice(format!("10={sum:03}\u{1}").as_bytes());
    bytes
}

impl ReplayConnection {
    pub(crate) fn new(now: Instant, random: &mut Random, (first, last): (u32, u32)) -> Self {
        let (is_refused, breaks) = (random.happens(REFUSED), random.happens(BROKEN));
        let attempt = if is_refused { Connection::refused } else { Connection::open };
        let logon = message("35=A|553=CME|554=CME|");
        let request = message(&format!("35=V|1180=310|262=310-1|1182={first}|1183={last}|"));
        Self {
            connection: attempt(now, random.split(), StreamFaults::LAN),
            place: None,
            to_send: [logon, request].concat(),
            received: Vec::new(),
            breaks,
            is_done: false,
        }
    }

    pub(crate) fn next_at(&self, now: Instant) -> Option<Instant> {
        let ends = [End::Client, End::Server].map(|end| self.connection.poll_timeout(now, end));
        ends.into_iter().flatten().min()
    }

    /// Closes the connection and its session at the server.
    pub(crate) fn close(&mut self, server: &mut ReplayServer) {
        if let Some(place) = self.place.take() {
            server.handle_closed(place);
        }
    }

    /// Handles all due events and passes each packet to `on`. Returns the outcome after the end.
    pub(crate) fn run(
        &mut self,
        now: Now,
        server: &mut ReplayServer,
        mut on: impl FnMut(&[u8]),
    ) -> Option<ReplayOutcome> {
        match self.connection.state(now.monotonic) {
            ConnectionState::Connecting => return None,
            ConnectionState::Open => {}
            _ => return Some(ReplayOutcome::Failed),
        }
        if !self.to_send.is_empty() {
            self.place = server.handle_connected(now.monotonic);
            let sent = self.connection.write(now.monotonic, End::Client, &self.to_send);
            assert_eq!(sent, Ok(self.to_send.len()), "a request fits in the window");
            self.to_send.clear();
        }
        self.run_io(now, server);
        let (connection, received) = (&mut self.connection, &mut self.received);
        let mut is_over = false;
        loop {
            let take = |bytes: &[u8]| received.extend_from_slice(bytes);
            match connection.read(now.monotonic, End::Client, 4_096, take) {
                Ok(Reading::Bytes(_)) => {}
                Ok(Reading::Nothing) => break,
                _ => {
                    is_over = true;
                    break;
                }
            }
        }
        if self.breaks && !self.received.is_empty() {
            self.close(server);
            return Some(ReplayOutcome::Failed);
        }
        let outcome = self.take_packets(&mut on);
        outcome.or(is_over.then_some(ReplayOutcome::Failed))
    }

    /// Runs the server's end of the connection.
    fn run_io(&mut self, now: Now, server: &mut ReplayServer) {
        let Some(place) = self.place else { return };
        let mut bytes = Vec::new();
        while let Ok(Reading::Bytes(_)) =
            self.connection.read(now.monotonic, End::Server, 4_096, |b| bytes.extend_from_slice(b))
        {
        }
        server.handle_bytes(place, &bytes);
        while let Some(bytes) = server.poll_transmit(now, place) {
            let Ok(count) = self.connection.write(now.monotonic, End::Server, bytes) else { break };
            if count == 0 {
                break;
            }
            server.handle_sent(place, count);
        }
        if server.is_finished(place) && !self.is_done {
            self.is_done = true;
            self.connection.shut(now.monotonic, End::Server);
            self.close(server);
        }
    }

    /// Passes complete packets to `on`. Returns the outcome if a packet is a logout.
    fn take_packets(&mut self, on: &mut impl FnMut(&[u8])) -> Option<ReplayOutcome> {
        let mut outcome = None;
        while let Some((length, rest)) = self.received.split_first_chunk::<2>() {
            let length = usize::from(u16::from_le_bytes(*length));
            let Some(packet) = rest.get(..length) else { break };
            on(packet);
            let template = u16::from_le_bytes([packet[TEMPLATE], packet[TEMPLATE + 1]]);
            if template == LOGOUT {
                let is_refusal = packet[TEXT] != 0;
                outcome = Some(match is_refusal {
                    true => ReplayOutcome::Failed,
                    false => ReplayOutcome::Complete,
                });
            }
            self.received.drain(..2 + length);
        }
        outcome
    }
}
