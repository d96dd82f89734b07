//! The history of logons: messages missing under previous UUIDs.

use crate::listener::{Established, Gap};
use crate::{Progress, Stream, Warning};

/// The logons of this process, as far as [`Progress`] does not contain them.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct LogonHistory {
    /// The first UUID negotiated since the last established one.
    ///
    /// A UUID that was negotiated but never established does not replace the last established one:
    /// nothing was received under it, although the exchange may have published under it.
    unacknowledged: Option<u64>,
    /// The missing messages of the current UUID's predecessors were reported.
    reported: bool,
}

/// The messages of previous UUIDs that a logon response reveals as missing.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct MissingMessages {
    pub(crate) gap: Option<Gap>,
    /// All places for gaps are used: the gap will not be requested.
    pub(crate) lost: bool,
    pub(crate) warning: Option<Warning>,
}

impl LogonHistory {
    /// Records that the session leaves its current UUID and negotiates `uuid`.
    pub(crate) fn record_negotiate(&mut self, progress: &mut Progress, uuid: u64) {
        if self.unacknowledged.is_none() {
            let Progress { uuid: present, next_incoming, .. } = *progress;
            progress.previous_uuids.push(Stream { uuid: present, next_incoming });
            self.unacknowledged = Some(uuid);
        }
        self.reported = false;
    }

    /// Handles a NegotiationResponse, whose `previous` names the last published message. Returns
    /// the messages not known to have arrived. The EstablishmentAck repeats this information. If it
    /// does not arrive, the next acknowledgment refers to `uuid`.
    pub(crate) fn handle_negotiation_response(
        &mut self,
        progress: &mut Progress,
        uuid: u64,
        previous: (u64, u32),
    ) -> MissingMessages {
        let mut missing = self.find_missing(progress, uuid, previous);
        if let Some(gap) = missing.gap {
            missing.lost = !progress.previous_uuids.record_gap(gap);
        }
        missing
    }

    /// Handles an EstablishmentAck. Returns the missing messages of a previous UUID, or of the time
    /// before the first logon of the week. Each is returned once per UUID and then stays in
    /// `progress`.
    pub(crate) fn handle_establishment_ack(
        &mut self,
        progress: &mut Progress,
        established: &Established,
    ) -> MissingMessages {
        let Established { uuid, previous_uuid, previous_seq_no, .. } = *established;
        let missing = match self.reported {
            true => MissingMessages::default(),
            false => {
                self.handle_negotiation_response(progress, uuid, (previous_uuid, previous_seq_no))
            }
        };
        if established.previous_uuid != 0 {
            // The exchange has published under one of our UUIDs this week. A later UUID 0 therefore
            // belongs to another week.
            progress.previous_uuids.next_default = 1;
        }
        self.unacknowledged = None;
        self.reported = true;
        missing
    }

    fn find_missing(
        &self,
        progress: &Progress,
        uuid: u64,
        (previous, to): (u64, u32),
    ) -> MissingMessages {
        let uuids = &progress.previous_uuids;
        let since = self.unacknowledged.unwrap_or(uuid);
        let [last, before] = uuids.streams;
        let (from, warning) = match previous {
            present if present == uuid => return MissingMessages::default(),
            0 => (uuids.next_default, None),
            known if known == last.uuid => (last.next_incoming, None),
            known if known == before.uuid => (before.next_incoming, None),
            unacknowledged if (since..uuid).contains(&unacknowledged) => {
                let Stream { uuid, next_incoming: from } = last;
                (1, (uuid != 0).then_some(Warning::UnknownEnd { uuid, from }))
            }
            ours if before.uuid != 0 && (before.uuid..uuid).contains(&ours) => (1, None),
            _ => return MissingMessages::default(),
        };
        let gap = (to >= from).then_some(Gap { uuid: previous, from, to });
        MissingMessages { gap, lost: false, warning }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuid_0_restarts_after_one_of_our_uuids_was_named() {
        let mut progress = Progress { uuid: 8, ..Progress::default() };
        progress.previous_uuids.next_default = 3;
        let ack = |previous_uuid| Established {
            uuid: 8,
            next_seq_no: 1,
            previous_seq_no: 2,
            previous_uuid,
            secret_key_expiration: None,
            fault_tolerance: None,
            environment: None,
        };
        assert_eq!(
            LogonHistory::default().handle_establishment_ack(&mut progress, &ack(0)).gap,
            None
        );
        LogonHistory::default().handle_establishment_ack(&mut progress, &ack(8));
        let gap = LogonHistory::default().handle_establishment_ack(&mut progress, &ack(0)).gap;
        assert_eq!(gap, Some(Gap { uuid: 0, from: 1, to: 2 }));
    }
}
