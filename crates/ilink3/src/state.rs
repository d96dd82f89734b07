//! The session's state, progress and binding.

use core::fmt;

use crate::Gap;

/// A session's state, in logon order.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// No connection is open or requested.
    #[default]
    Disconnected,
    /// A connection was requested and is not open yet.
    Connecting,
    /// Negotiate is queued or sent; NegotiationResponse is pending.
    Negotiating,
    /// Establish is queued or sent; EstablishmentAck is pending.
    Establishing,
    /// Business messages flow in both directions.
    Established,
    /// A Terminate was sent or queued by either side. Nothing more may be sent.
    Terminating,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Disconnected => "disconnected",
            Self::Connecting => "connecting",
            Self::Negotiating => "negotiating",
            Self::Establishing => "establishing",
            Self::Established => "established",
            Self::Terminating => "terminating",
        })
    }
}

/// The state that must outlive the connection and the process: the FIXP session's UUID and the
/// sequence numbers of its two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// UUID of the last Negotiate; 0 if there was none.
    pub uuid: u64,
    /// The last used RequestTimestamp, nanoseconds since the epoch.
    pub request_timestamp: u64,
    /// The SeqNum of our next business message.
    pub next_outgoing: u32,
    /// The SeqNum of the exchange's next business message.
    pub next_incoming: u32,
    /// The exchange's streams under previous UUIDs, with their gaps.
    pub previous_uuids: PreviousUuids,
}

/// The progress before the first logon: both streams start at 1.
impl Default for Progress {
    fn default() -> Self {
        let previous_uuids = PreviousUuids::default();
        Self { uuid: 0, request_timestamp: 0, next_outgoing: 1, next_incoming: 1, previous_uuids }
    }
}

/// The receive position in the exchange's stream under one UUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    /// The UUID; 0 for no stream.
    pub uuid: u64,
    /// The SeqNum of the first message that has not arrived and is not in a known gap.
    pub next_incoming: u32,
}

/// The exchange's streams under previous UUIDs (CME: PreviousUUID).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PreviousUuids {
    /// The last established UUID before the current one, and the last UUID before that under which
    /// a message arrived.
    pub streams: [Stream; 2],
    /// The SeqNum of the next message under UUID 0: the messages published this week before its
    /// first logon.
    pub next_default: u32,
    /// The gaps under previous UUIDs, in the order of their requests. A gap takes a place if a new
    /// UUID is negotiated before the gap is closed.
    pub missing: [Option<Gap>; Self::PLACES],
}

/// No message has arrived and none is missing.
impl Default for PreviousUuids {
    fn default() -> Self {
        let none = Stream { uuid: 0, next_incoming: 1 };
        Self { streams: [none; 2], next_default: 1, missing: [None; Self::PLACES] }
    }
}

impl PreviousUuids {
    /// The number of places for gaps. Without a free place, a new gap is
    /// [lost](crate::Listener::on_lost).
    pub const PLACES: usize = 8;

    /// Adds a UUID that the session leaves, with its receive position.
    pub(crate) fn push(&mut self, stream: Stream) {
        let [last, _] = self.streams;
        // CME names only UUIDs under which it has published, so a stream without messages is
        // dropped.
        if last.next_incoming > 1 {
            self.streams[1] = last;
        }
        self.streams[0] = stream;
    }

    /// Records a gap that reaches to the end of its UUID's stream. Returns `false` if no place is
    /// free; the gap is then never requested.
    pub(crate) fn record_gap(&mut self, gap: Gap) -> bool {
        let next_incoming = gap.to.saturating_add(1);
        match self.streams.iter_mut().find(|stream| stream.uuid == gap.uuid) {
            _ if gap.uuid == 0 => self.next_default = next_incoming,
            Some(stream) => stream.next_incoming = next_incoming,
            None => self.push(Stream { uuid: gap.uuid, next_incoming }),
        }
        let place = self.missing.iter_mut().find(|place| place.is_none());
        place.map(|place| *place = Some(gap)).is_some()
    }

    /// Returns the first gap to request.
    pub(crate) fn first_gap(&self) -> Option<Gap> {
        self.missing[0]
    }

    /// Removes the messages up to `last` from the first gap, because they have arrived or are lost.
    pub(crate) fn close_to(&mut self, last: u32) {
        let rest = self.missing[0].filter(|gap| gap.to > last);
        match rest {
            Some(gap) => self.missing[0] = Some(Gap { from: last + 1, ..gap }),
            None => {
                self.missing.rotate_left(1);
                self.missing[Self::PLACES - 1] = None;
            }
        }
    }
}

impl Progress {
    /// Records a delivered message: this message and all before it have arrived. Used when a
    /// journal is read after a restart. Never moves backward.
    pub fn record_received(&mut self, uuid: u64, seq_num: u32) {
        if uuid == self.uuid {
            if seq_num >= self.next_incoming {
                self.next_incoming = seq_num.saturating_add(1);
                // Gaps of previous UUIDs were closed before this message.
                self.previous_uuids.missing = Default::default();
            }
            return;
        }
        let is_in = |gap: &Gap| gap.uuid == uuid && (gap.from..=gap.to).contains(&seq_num);
        if self.previous_uuids.missing.iter().flatten().any(is_in) {
            while self.previous_uuids.first_gap().is_some_and(|gap| !is_in(&gap)) {
                self.previous_uuids.close_to(u32::MAX);
            }
            self.previous_uuids.close_to(seq_num);
        }
    }

    /// Returns the UUID for a new session: `utc_nanos` in microseconds, but always above the last
    /// UUID, even if the clock has stepped back.
    pub(crate) fn new_uuid(&self, utc_nanos: u64) -> u64 {
        (utc_nanos / 1_000).max(self.uuid.saturating_add(1))
    }

    /// Returns a RequestTimestamp for `utc_nanos`, above the last one.
    pub(crate) fn new_request_timestamp(&self, utc_nanos: u64) -> u64 {
        utc_nanos.max(self.request_timestamp.saturating_add(1))
    }
}

/// The binding of a connection to a FIXP session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// Negotiate a new UUID, then establish it; both streams start at 1. Used at the start of the
    /// week, and mid-week for a fresh session.
    New,
    /// Like [`New`](Self::New), for the first logon of a week. Previous UUIDs are dropped, because
    /// CME retransmits nothing of an earlier week, and the numbering under UUID 0 restarts at 1.
    NewWeek,
    /// Establish the previously negotiated UUID; both streams continue.
    Resume,
    /// Establish the primary's UUID on the backup gateway while the primary is established: see
    /// [`Session::follow`](crate::Session::follow). NextSeqNo is 0 in both directions and no
    /// business message flows until the exchange promotes the backup:
    /// [`Listener::on_failover`](crate::Listener::on_failover).
    Backup,
}

/// An action that only the owner of the connection can execute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Open a connection, then call `handle_connected`, or `handle_disconnected` if it fails.
    Connect,
    /// Close the connection, then call `handle_disconnected`.
    Close,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delivered_messages_leave_the_gaps() {
        let mut progress = Progress { uuid: 9, next_incoming: 4, ..Progress::default() };
        let gap = |uuid, from, to| Gap { uuid, from, to };
        progress.previous_uuids.missing[..3].copy_from_slice(&[
            Some(gap(0, 1, 1)),
            Some(gap(7, 3, 6)),
            Some(gap(8, 2, 2)),
        ]);
        let missing = |progress: &Progress| progress.previous_uuids.missing;
        for (uuid, seq_num) in [(7, 2), (7, 7), (6, 4), (9, 3)] {
            let before = progress;
            progress.record_received(uuid, seq_num);
            assert_eq!(progress, before, "{seq_num} of {uuid} is known");
        }
        progress.record_received(7, 4);
        assert_eq!(missing(&progress)[..3], [Some(gap(7, 5, 6)), Some(gap(8, 2, 2)), None]);
        progress.record_received(7, 6);
        assert_eq!(missing(&progress)[..2], [Some(gap(8, 2, 2)), None]);
        progress.record_received(9, 4);
        assert_eq!((progress.next_incoming, missing(&progress)[0]), (5, None));
        progress.record_received(9, 4);
        assert_eq!(progress.next_incoming, 5);
    }

    #[test]
    fn uuid_without_messages_takes_no_place() {
        let mut previous = PreviousUuids::default();
        for (uuid, next_incoming) in [(5, 4), (6, 1), (7, 1)] {
            previous.push(Stream { uuid, next_incoming });
        }
        assert_eq!(previous.streams.map(|stream| stream.uuid), [7, 5]);
    }

    #[test]
    fn uuid_and_timestamp_increase_if_utc_steps_back() {
        let hour = 3_600_000_000_000;
        let noon = 1_700_000_000_000_000_000;
        let first = Progress::default();
        assert_eq!(first.new_uuid(noon), noon / 1_000);
        let later = Progress { uuid: noon / 1_000, request_timestamp: noon, ..first };
        assert_eq!(later.new_uuid(noon - hour), noon / 1_000 + 1);
        assert_eq!(later.new_request_timestamp(noon - hour), noon + 1);
        assert_eq!(later.new_request_timestamp(noon + hour), noon + hour);
    }
}
