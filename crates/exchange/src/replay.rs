//! The replay service: packets of the incremental feed again, over TCP, for whoever has missed
//! some.
//!
//! Sans-IO. One request a connection, as CME has it:
//!
//! ```text
//! client, FIX in ASCII, fields end with 0x01          server, each u16 length (LE) + a packet
//! 9=…|35=A|553=user|554=password|10=…|          →     AdminLogin15, packet 1
//! 9=…|35=V|1180=310|262=310-1|1182=7|1183=9|10=…| →   packets 7, 8 and 9 as they were sent, then
//!                                                     AdminLogout16, packet 2; the connection ends
//! 9=…|35=5|10=…|                                →     AdminLogout16, if it was not sent yet
//! ```
//!
//! A request that cannot be served is answered by AdminLogout16 with the reason as its text. The
//! latest packets are kept in a ring: those of the present numbering only, since what was numbered
//! before a reset of the channel cannot be asked for by number.

mod history;
mod request;
mod session;

pub use session::ReplayReject;

use hairpin_time::Now;

use history::History;
use session::Session;

/// The most packets of one request.
pub const REPLAY_MAX: u32 = 2_000;

/// What a replay server needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplaySettings {
    /// The channel's number (tag 1180).
    pub channel: i16,
    /// Who may log on (tag 553).
    pub user: String,
    /// With which password (tag 554).
    pub password: String,
    /// Packets that are kept, at least 1.
    pub packets: u32,
    /// Connections at once.
    pub sessions: u32,
}

impl Default for ReplaySettings {
    /// Channel 310, CME with the password CME, 65,536 packets (some 90 MiB), eight connections.
    fn default() -> Self {
        let name = || "CME".to_owned();
        Self { channel: 310, user: name(), password: name(), packets: 65_536, sessions: 8 }
    }
}

/// A connection of the replay service: its place, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReplayId(pub u32);

/// What the replay service has done.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct ReplayCounters {
    /// Connections that have come.
    pub connections: u64,
    /// Requests that were served.
    pub requests: u64,
    /// Packets replayed.
    pub packets: u64,
    /// Warnings: connections refused since all places were taken.
    pub refused: u64,
    /// Errors: requests that were rejected, each with a text.
    pub rejected: u64,
}

/// Keeps packets, and sends them again to those who ask.
#[derive(Debug)]
pub struct ReplayServer {
    settings: ReplaySettings,
    history: History,
    sessions: Box<[Option<Session>]>,
    counters: ReplayCounters,
}

impl ReplayServer {
    /// A server without packets. All memory that will ever be used is taken here, but for what a
    /// connection needs.
    ///
    /// # Panics
    /// If no packet is to be kept.
    #[must_use]
    pub fn new(settings: ReplaySettings) -> Self {
        assert!(settings.packets > 0, "a history of nothing");
        Self {
            history: History::new(settings.packets),
            sessions: (0..settings.sessions).map(|_| None).collect(),
            settings,
            counters: ReplayCounters::default(),
        }
    }

    /// A packet of the incremental feed leaves. A number that is not the next begins the history
    /// anew: after a reset of the channel, or a pause.
    pub fn keep(&mut self, sequence: u32, packet: &[u8]) {
        self.history.keep(sequence, packet);
    }

    /// Somebody has connected; `None` if all places are taken: close the connection.
    pub fn handle_connected(&mut self) -> Option<ReplayId> {
        let Some(place) = self.sessions.iter().position(Option::is_none) else {
            self.counters.refused += 1;
            return None;
        };
        self.sessions[place] = Some(Session::new());
        self.counters.connections += 1;
        // As many places as settings asked for in a `u32`.
        Some(ReplayId(place as u32))
    }

    /// Bytes of a connection, in any pieces. Those of one that is ending are ignored.
    pub fn handle_bytes(&mut self, id: ReplayId, bytes: &[u8]) {
        let Self { settings, history, sessions, counters } = self;
        if let Some(Some(session)) = sessions.get_mut(id.0 as usize) {
            session.handle_bytes(bytes, settings, history, counters);
        }
    }

    /// Bytes that are to be written to a connection next; `None` if there are none.
    pub fn poll_transmit(&mut self, now: Now, id: ReplayId) -> Option<&[u8]> {
        let Self { history, sessions, counters, .. } = self;
        sessions.get_mut(id.0 as usize)?.as_mut()?.poll_transmit(now, history, counters)
    }

    /// So many of these bytes are written.
    pub fn handle_sent(&mut self, id: ReplayId, count: usize) {
        if let Some(Some(session)) = self.sessions.get_mut(id.0 as usize) {
            session.handle_sent(count);
        }
    }

    /// Whether all is written that the connection will ever get: close it.
    #[must_use]
    pub fn is_over(&self, id: ReplayId) -> bool {
        let session = self.sessions.get(id.0 as usize).and_then(Option::as_ref);
        session.is_none_or(Session::is_over)
    }

    /// The connection is closed; its place is free.
    pub fn handle_closed(&mut self, id: ReplayId) {
        if let Some(place) = self.sessions.get_mut(id.0 as usize) {
            *place = None;
        }
    }

    /// First and last number of the packets that can be had.
    #[must_use]
    pub fn kept(&self) -> Option<(u32, u32)> {
        self.history.range()
    }

    /// What has happened.
    #[must_use]
    pub fn counters(&self) -> &ReplayCounters {
        &self.counters
    }
}

#[cfg(test)]
mod tests;
