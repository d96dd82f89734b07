//! Recovery of books and of lost packets.

pub(crate) mod queued_entry;
pub(crate) mod recovery_queue;
pub(crate) mod rpt_seq_check;
pub(crate) mod snapshot;
pub(crate) mod snapshot_loop;
pub(crate) mod sync_state;
pub(crate) mod tcp_replay;
