//! Recovery: RptSeq checks, sync states, TCP replay, snapshots, and the queue of entries that wait
//! for them.

pub(crate) mod queued_entry;
pub(crate) mod recovery_queue;
pub(crate) mod rpt_seq_check;
pub(crate) mod snapshot;
pub(crate) mod snapshot_loop;
pub(crate) mod sync_state;
pub(crate) mod tcp_replay;
