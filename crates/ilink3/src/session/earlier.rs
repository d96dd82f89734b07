//! What arrived under UUIDs before the present one.

use crate::listener::{Established, Gap};
use crate::{Progress, Stream, Warning};

/// What this process knows of logons, beyond what [`Progress`] keeps.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Earlier {
    /// The first UUID negotiated since one was established, unless one of those was established.
    ///
    /// A UUID that was negotiated and never established does not take the place of the last one:
    /// nothing was received under it, though the exchange may have published under it.
    unacknowledged: Option<u64>,
    /// What is missing under the present UUID's predecessors is known.
    is_told: bool,
}

/// What an acknowledgement says of earlier UUIDs.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Missing {
    pub(crate) gap: Option<Gap>,
    /// Too much is missing already: the gap will not be asked for.
    pub(crate) is_lost: bool,
    pub(crate) warning: Option<Warning>,
}

impl Earlier {
    /// The session leaves its present UUID behind and negotiates `uuid`.
    pub(crate) fn negotiate(&mut self, progress: &mut Progress, uuid: u64) {
        if self.unacknowledged.is_none() {
            let Progress { uuid: present, next_incoming, .. } = *progress;
            progress.earlier.push(Stream { uuid: present, next_incoming });
            self.unacknowledged = Some(uuid);
        }
        self.is_told = false;
    }

    /// The exchange agrees to `uuid` and says what it has published last: what is not known to
    /// have arrived of it. The acknowledgement says so again, unless it is lost: then the next one
    /// speaks of `uuid`.
    pub(crate) fn agree(
        &mut self,
        progress: &mut Progress,
        uuid: u64,
        previous: (u64, u32),
    ) -> Missing {
        let mut missing = self.missing(progress, uuid, previous);
        if let Some(gap) = missing.gap {
            missing.is_lost = !progress.earlier.note(gap);
        }
        missing
    }

    /// The session is established: what is not known to have arrived of what was published under
    /// an earlier UUID, or before the first logon of the week. Told once a UUID, and from then on
    /// in `progress`.
    pub(crate) fn acknowledge(
        &mut self,
        progress: &mut Progress,
        established: &Established,
    ) -> Missing {
        let Established { uuid, previous_uuid, previous_seq_no, .. } = *established;
        let missing = match self.is_told {
            true => Missing::default(),
            false => self.agree(progress, uuid, (previous_uuid, previous_seq_no)),
        };
        if established.previous_uuid != 0 {
            // Something was published under a UUID of ours this week; should the exchange speak
            // of UUID 0 again, that is another week's.
            progress.earlier.next_default = 1;
        }
        self.unacknowledged = None;
        self.is_told = true;
        missing
    }

    fn missing(&self, progress: &Progress, uuid: u64, (previous, to): (u64, u32)) -> Missing {
        let earlier = &progress.earlier;
        let since = self.unacknowledged.unwrap_or(uuid);
        let [last, before] = earlier.streams;
        let (from, warning) = match previous {
            present if present == uuid => return Missing::default(),
            0 => (earlier.next_default, None),
            known if known == last.uuid => (last.next_incoming, None),
            known if known == before.uuid => (before.next_incoming, None),
            unacknowledged if (since..uuid).contains(&unacknowledged) => {
                let Stream { uuid, next_incoming: from } = last;
                (1, (uuid != 0).then_some(Warning::UnknownEnd { uuid, from }))
            }
            ours if before.uuid != 0 && (before.uuid..uuid).contains(&ours) => (1, None),
            _ => return Missing::default(),
        };
        let gap = (to >= from).then_some(Gap { uuid: previous, from, to });
        Missing { gap, is_lost: false, warning }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_a_uuid_of_ours_was_named_uuid_0_is_that_of_another_week() {
        let mut progress = Progress { uuid: 8, ..Progress::default() };
        progress.earlier.next_default = 3;
        let said = |previous_uuid| Established {
            uuid: 8,
            next_seq_no: 1,
            previous_seq_no: 2,
            previous_uuid,
            secret_key_expiration: None,
            fault_tolerance: None,
            environment: None,
        };
        assert_eq!(Earlier::default().acknowledge(&mut progress, &said(0)).gap, None);
        Earlier::default().acknowledge(&mut progress, &said(8));
        let gap = Earlier::default().acknowledge(&mut progress, &said(0)).gap;
        assert_eq!(gap, Some(Gap { uuid: 0, from: 1, to: 2 }));
    }
}
