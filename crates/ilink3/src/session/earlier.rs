//! What arrived under UUIDs before the present one.

use crate::listener::{Established, Gap};
use crate::{Progress, Warning};

/// The end of what arrived under the UUID that was established last before the present one.
///
/// A UUID that was negotiated and never established does not take its place: nothing was received
/// under it, though the exchange may have published under it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Earlier {
    last: Progress,
    /// The first UUID negotiated since, unless one of those was established.
    unacknowledged: Option<u64>,
    /// The listener knows what is missing.
    is_told: bool,
}

/// What an acknowledgement says of earlier UUIDs.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Missing {
    pub(crate) gap: Option<Gap>,
    pub(crate) warning: Option<Warning>,
}

impl Earlier {
    /// A session goes on from `progress`.
    pub(crate) fn new(progress: Progress) -> Self {
        Self { last: progress, unacknowledged: None, is_told: false }
    }

    /// The session leaves `present` behind and negotiates `uuid`.
    pub(crate) fn negotiate(&mut self, present: Progress, uuid: u64) {
        if self.unacknowledged.is_none() {
            self.last = present;
            self.unacknowledged = Some(uuid);
        }
        self.is_told = false;
    }

    /// The session is established: what is not known to have arrived of what was published under
    /// an earlier UUID, or before the first logon of the week. Told once a UUID.
    pub(crate) fn acknowledge(&mut self, established: &Established) -> Missing {
        let missing = if self.is_told { Missing::default() } else { self.missing(established) };
        self.unacknowledged = None;
        self.is_told = true;
        missing
    }

    fn missing(&self, established: &Established) -> Missing {
        let Established { uuid, previous_uuid, previous_seq_no: to, .. } = *established;
        let since = self.unacknowledged.unwrap_or(uuid);
        let Progress { uuid: last, next_incoming, .. } = self.last;
        let (from, warning) = match previous_uuid {
            present if present == uuid => return Missing::default(),
            0 => (1, None),
            known if known == last => (next_incoming, None),
            unacknowledged if (since..uuid).contains(&unacknowledged) => {
                let unknown_end = Warning::UnknownEnd { uuid: last, from: next_incoming };
                (1, (last != 0).then_some(unknown_end))
            }
            _ => return Missing::default(),
        };
        let gap = (to >= from).then_some(Gap { uuid: previous_uuid, from, to });
        Missing { gap, warning }
    }
}
