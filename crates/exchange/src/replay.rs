//! The replay service: packets of the incremental feed on request, over TCP, for clients that
//! missed some.
//!
//! Sans-IO. One request per connection, as in CME's service:
//!
//! ```text
//! client, FIX in ASCII, fields end with 0x01          server, each u16 length (LE) + a packet
//! 9=…|35=A|553=user|554=password|10=…|          →     AdminLogin15, packet 1
//! 9=…|35=V|1180=310|262=310-1|1182=7|1183=9|10=…| →   packets 7, 8 and 9 as they were sent, then
//!                                                     AdminLogout16, packet 2; the connection ends
//! 9=…|35=5|10=…|                                →     AdminLogout16, if it was not sent yet
//! ```
//!
//! With [`ReplaySchema::Foreign`], login and logout are of another schema.
//!
//! A rejected request is answered by AdminLogout16 with the reason as its text. The latest packets
//! are stored in a ring, of the current packet sequence only. Packets from before a channel reset
//! cannot be requested by number.

mod history;
mod request;
mod session;

pub use session::ReplayReject;

use hairpin_time::{Duration, Instant, Now};

use history::History;
use session::Session;

/// The maximum number of packets in a request.
pub const REPLAY_MAX: u32 = 2_000;

/// The time limit for a request, from the connection on. CME publishes no limit.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// The schema of the administrative answers: login and logout.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReplaySchema {
    /// The core schema's AdminLogin15 and AdminLogout16.
    #[default]
    Core,
    /// A schema of its own, like CME's Global TCP Recovery schema (page 467992896), with blocks of
    /// the same lengths: 1 byte for a login, 180 for a logout. CME's file is not public, so the ids
    /// are made up: [`ReplaySchema::FOREIGN_SCHEMA_ID`] and the template ids next to it.
    Foreign,
}

impl ReplaySchema {
    /// The schema id of [`ReplaySchema::Foreign`], made up.
    pub const FOREIGN_SCHEMA_ID: u16 = 9_999;
    /// The template id of a login of [`ReplaySchema::Foreign`], made up.
    pub const FOREIGN_LOGIN_ID: u16 = 9_915;
    /// The template id of a logout of [`ReplaySchema::Foreign`], made up.
    pub const FOREIGN_LOGOUT_ID: u16 = 9_916;
    /// The version of [`ReplaySchema::Foreign`], made up.
    pub const FOREIGN_VERSION: u16 = 1;
}

/// The settings of a replay server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplaySettings {
    /// ApplID, the number of the channel (tag 1180).
    pub channel: i16,
    /// The user that may log on (tag 553).
    pub user: String,
    /// The user's password (tag 554).
    pub password: String,
    /// The number of packets to store, at least 1.
    pub packets: u32,
    /// The maximum number of connections.
    pub sessions: u32,
    /// The schema of the administrative answers.
    pub schema: ReplaySchema,
}

impl Default for ReplaySettings {
    /// Returns channel 310, user and password `CME`, 65,536 packets (about 90 MiB), eight
    /// connections, the core schema.
    fn default() -> Self {
        let name = || "CME".to_owned();
        let schema = ReplaySchema::Core;
        let (packets, sessions) = (65_536, 8);
        Self { channel: 310, user: name(), password: name(), packets, sessions, schema }
    }
}

/// A connection of the replay service: its slot, starting at 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReplayId(pub u32);

/// Counters of the replay service.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct ReplayCounters {
    /// Connections accepted.
    pub connections: u64,
    /// Requests served.
    pub requests: u64,
    /// Packets replayed.
    pub packets: u64,
    /// Warnings: connections refused because all slots were taken.
    pub refused: u64,
    /// Warnings: connections without a logon closed in favor of new ones, because all slots or
    /// descriptors were taken.
    pub idle_closed: u64,
    /// Errors: connections without a request within 10 s.
    pub timeouts: u64,
    /// Errors: requests rejected with a reason.
    pub rejected: u64,
}

/// A server that stores packets and sends them again on request.
#[derive(Debug)]
pub struct ReplayServer {
    settings: ReplaySettings,
    history: History,
    sessions: Box<[Option<Session>]>,
    counters: ReplayCounters,
}

impl ReplayServer {
    /// Creates a server without packets. Allocates all memory that it will ever use, except for
    /// connections.
    ///
    /// # Panics
    /// If `settings.packets` is 0.
    #[must_use]
    pub fn new(settings: ReplaySettings) -> Self {
        assert!(settings.packets > 0, "capacity of 0 packets");
        Self {
            history: History::new(settings.packets),
            sessions: (0..settings.sessions).map(|_| None).collect(),
            settings,
            counters: ReplayCounters::default(),
        }
    }

    /// Stores a sent packet of the incremental feed. If the number is not the next one, as after a
    /// channel reset, the history restarts.
    pub fn store(&mut self, sequence: u32, packet: &[u8]) {
        self.history.store(sequence, packet);
    }

    /// Returns `true` if a new connection has a free slot.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.sessions.iter().any(Option::is_none)
    }

    /// Closes the oldest connection that has not logged on, so that a new connection can take its
    /// slot. The caller closes its stream. Returns `None` if each connection has logged on.
    pub fn close_idle(&mut self) -> Option<ReplayId> {
        let id = self.oldest(Session::is_new)?.0;
        self.counters.idle_closed += 1;
        self.handle_closed(id);
        Some(id)
    }

    /// Closes a connection without a request in time. The caller closes its stream. Call until the
    /// result is `None`.
    pub fn handle_timeout(&mut self, now: Instant) -> Option<ReplayId> {
        let (id, since) = self.oldest(Session::is_waiting)?;
        if now < since + REQUEST_TIMEOUT {
            return None;
        }
        self.counters.timeouts += 1;
        self.handle_closed(id);
        Some(id)
    }

    /// Returns the time at which [`ReplayServer::handle_timeout`] has work to do.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.oldest(Session::is_waiting).map(|(_, since)| since + REQUEST_TIMEOUT)
    }

    /// Returns the oldest connection in a state, and its start.
    fn oldest(&self, is_in_state: impl Fn(&Session) -> bool) -> Option<(ReplayId, Instant)> {
        let sessions = (0..).map(ReplayId).zip(&self.sessions);
        let matching = sessions.filter_map(|(id, session)| Some((id, session.as_ref()?)));
        let since = matching.filter(|(_, session)| is_in_state(session));
        since.map(|(id, session)| (id, session.since())).min_by_key(|&(_, since)| since)
    }

    /// Handles a new connection. Returns `None` if no slot is free; the caller then closes the
    /// connection.
    pub fn handle_connected(&mut self, now: Instant) -> Option<ReplayId> {
        let Some(slot) = self.sessions.iter().position(Option::is_none) else {
            self.counters.refused += 1;
            return None;
        };
        self.sessions[slot] = Some(Session::new(now));
        self.counters.connections += 1;
        // The number was given as a `u32`.
        Some(ReplayId(slot as u32))
    }

    /// Handles received bytes, in chunks of any size. Input of an ending connection is ignored.
    pub fn handle_bytes(&mut self, id: ReplayId, bytes: &[u8]) {
        let Self { settings, history, sessions, counters } = self;
        if let Some(Some(session)) = sessions.get_mut(id.0 as usize) {
            session.handle_bytes(bytes, settings, history, counters);
        }
    }

    /// Returns the next bytes to write to a connection, or `None`.
    pub fn poll_transmit(&mut self, now: Now, id: ReplayId) -> Option<&[u8]> {
        let Self { settings, history, sessions, counters } = self;
        let session = sessions.get_mut(id.0 as usize)?.as_mut()?;
        session.poll_transmit((now, settings.schema), history, counters)
    }

    /// Removes the first `count` bytes, which have been written.
    pub fn handle_sent(&mut self, id: ReplayId, count: usize) {
        if let Some(Some(session)) = self.sessions.get_mut(id.0 as usize) {
            session.handle_sent(count);
        }
    }

    /// Returns `true` if all output is written and the connection must be closed.
    #[must_use]
    pub fn is_finished(&self, id: ReplayId) -> bool {
        let session = self.sessions.get(id.0 as usize).and_then(Option::as_ref);
        session.is_none_or(Session::is_finished)
    }

    /// Frees the slot of a closed connection.
    pub fn handle_closed(&mut self, id: ReplayId) {
        if let Some(slot) = self.sessions.get_mut(id.0 as usize) {
            *slot = None;
        }
    }

    /// Returns the first and last number of the stored packets.
    #[must_use]
    pub fn stored(&self) -> Option<(u32, u32)> {
        self.history.range()
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> &ReplayCounters {
        &self.counters
    }
}

#[cfg(test)]
mod tests;
