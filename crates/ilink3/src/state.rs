//! Where a session stands.

use core::fmt;

use crate::Gap;

/// The states of a session, in the order of a logon.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// No connection, and none asked for.
    #[default]
    Disconnected,
    /// A connection was asked for and is not there yet.
    Connecting,
    /// Negotiate is on its way; NegotiationResponse is awaited.
    Negotiating,
    /// Establish is on its way; EstablishmentAck is awaited.
    Establishing,
    /// Business messages flow both ways.
    Established,
    /// One side has sent Terminate, or will now: nothing more may be sent.
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

/// What outlives a connection, and is to outlive the process: the identity of the FIXP session
/// and the numbers of its two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// UUID of the last Negotiate; 0 if there was none.
    pub uuid: u64,
    /// RequestTimestamp last used in any message, nanoseconds since the epoch.
    pub request_timestamp: u64,
    /// SeqNum of the next business message we send.
    pub next_outgoing: u32,
    /// SeqNum of the next business message the exchange sends.
    pub next_incoming: u32,
    /// What arrived under earlier UUIDs, and what is missing of it.
    pub earlier: PreviousUuids,
}

/// Nothing negotiated yet: both streams begin at 1.
impl Default for Progress {
    fn default() -> Self {
        let earlier = PreviousUuids::default();
        Self { uuid: 0, request_timestamp: 0, next_outgoing: 1, next_incoming: 1, earlier }
    }
}

/// How far the exchange's messages under a UUID have arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    /// The UUID; 0 stands for no stream.
    pub uuid: u64,
    /// SeqNum of the first message that is neither there nor known to be missing.
    pub next_incoming: u32,
}

/// The exchange's streams before the present one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PreviousUuids {
    /// The UUID that was established last before the present one, and the last one before that
    /// under which anything arrived.
    pub streams: [Stream; 2],
    /// SeqNum of the next message under UUID 0: what was published this week before its first
    /// logon.
    pub next_default: u32,
    /// Messages under earlier UUIDs that are to be asked for, in this order. A place is taken where
    /// a new UUID is negotiated before what was missing under the last has come.
    pub missing: [Option<Gap>; Self::PLACES],
}

/// Nothing arrived, nothing is missing.
impl Default for PreviousUuids {
    fn default() -> Self {
        let none = Stream { uuid: 0, next_incoming: 1 };
        Self { streams: [none; 2], next_default: 1, missing: [None; Self::PLACES] }
    }
}

impl PreviousUuids {
    /// Gaps there is room for; of more than these the last is [lost](crate::Listener::on_lost).
    pub const PLACES: usize = 8;

    /// A UUID under which `stream` has arrived is left behind.
    pub(crate) fn push(&mut self, stream: Stream) {
        let [last, _] = self.streams;
        // CME names the last UUID under which it has published: of one with nothing, no word.
        if last.next_incoming > 1 {
            self.streams[1] = last;
        }
        self.streams[0] = stream;
    }

    /// Notes messages that are to be asked for: all of their UUID that is not there. `false` if as
    /// many gaps as there are places wait already, and these will not be asked for.
    pub(crate) fn note(&mut self, gap: Gap) -> bool {
        let next_incoming = gap.to.saturating_add(1);
        match self.streams.iter_mut().find(|stream| stream.uuid == gap.uuid) {
            _ if gap.uuid == 0 => self.next_default = next_incoming,
            Some(stream) => stream.next_incoming = next_incoming,
            None => self.push(Stream { uuid: gap.uuid, next_incoming }),
        }
        let place = self.missing.iter_mut().find(|place| place.is_none());
        place.map(|place| *place = Some(gap)).is_some()
    }

    /// The first gap to be asked for.
    pub(crate) fn first_missing(&self) -> Option<Gap> {
        self.missing[0]
    }

    /// The messages of the first gap up to `last` are there, or lost.
    pub(crate) fn settle(&mut self, last: u32) {
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
    /// A business message of the exchange was delivered since this was kept: it and all that came
    /// before it are there. For a journal that is read again; nothing goes back.
    pub fn received(&mut self, uuid: u64, seq_num: u32) {
        if uuid == self.uuid {
            if seq_num >= self.next_incoming {
                self.next_incoming = seq_num.saturating_add(1);
                // What was missing under earlier UUIDs came before.
                self.earlier.missing = Default::default();
            }
            return;
        }
        let is_in = |gap: &Gap| gap.uuid == uuid && (gap.from..=gap.to).contains(&seq_num);
        if self.earlier.missing.iter().flatten().any(is_in) {
            while self.earlier.first_missing().is_some_and(|gap| !is_in(&gap)) {
                self.earlier.settle(u32::MAX);
            }
            self.earlier.settle(seq_num);
        }
    }

    /// The UUID for a new session: microseconds of `utc_nanos`, but above the last one even if
    /// the clock has stepped back.
    pub(crate) fn new_uuid(&self, utc_nanos: u64) -> u64 {
        (utc_nanos / 1_000).max(self.uuid.saturating_add(1))
    }

    /// The RequestTimestamp for a message of `utc_nanos`, above the last one.
    pub(crate) fn new_request_timestamp(&self, utc_nanos: u64) -> u64 {
        utc_nanos.max(self.request_timestamp.saturating_add(1))
    }
}

/// How a connection is bound to a FIXP session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// Negotiate a new UUID, then establish; both streams begin at 1. At the beginning of the
    /// week, and mid-week for a fresh start.
    New,
    /// Like [`New`](Self::New), at the first logon of a week: what is known of earlier UUIDs is
    /// forgotten, for CME sends nothing of an earlier week again, and UUID 0 begins at 1 anew.
    NewWeek,
    /// Establish the UUID negotiated before; both streams go on.
    Resume,
    /// Establish the primary's UUID on the backup gateway, beside an established primary: see
    /// [`Session::follow`](crate::Session::follow). NextSeqNo is 0 both ways and no business
    /// message flows, until the exchange makes it the primary:
    /// [`Listener::on_failover`](crate::Listener::on_failover).
    Backup,
}

/// What only the owner of the connection can do.
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
    fn what_was_delivered_since_is_not_missing() {
        let mut progress = Progress { uuid: 9, next_incoming: 4, ..Progress::default() };
        let gap = |uuid, from, to| Gap { uuid, from, to };
        progress.earlier.missing[..3].copy_from_slice(&[
            Some(gap(0, 1, 1)),
            Some(gap(7, 3, 6)),
            Some(gap(8, 2, 2)),
        ]);
        let missing = |progress: &Progress| progress.earlier.missing;
        for (uuid, seq_num) in [(7, 2), (7, 7), (6, 4), (9, 3)] {
            let before = progress;
            progress.received(uuid, seq_num);
            assert_eq!(progress, before, "{seq_num} of {uuid} is known");
        }
        progress.received(7, 4);
        assert_eq!(missing(&progress)[..3], [Some(gap(7, 5, 6)), Some(gap(8, 2, 2)), None]);
        progress.received(7, 6);
        assert_eq!(missing(&progress)[..2], [Some(gap(8, 2, 2)), None]);
        progress.received(9, 4);
        assert_eq!((progress.next_incoming, missing(&progress)[0]), (5, None));
        progress.received(9, 4);
        assert_eq!(progress.next_incoming, 5);
    }

    #[test]
    fn a_uuid_under_which_nothing_came_takes_no_place() {
        let mut earlier = PreviousUuids::default();
        for (uuid, next_incoming) in [(5, 4), (6, 1), (7, 1)] {
            earlier.push(Stream { uuid, next_incoming });
        }
        assert_eq!(earlier.streams.map(|stream| stream.uuid), [7, 5]);
    }

    #[test]
    fn uuid_and_timestamp_rise_even_when_utc_steps_back_an_hour() {
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
