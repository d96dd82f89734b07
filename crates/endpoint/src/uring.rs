//! Receiving with io_uring(7): the ring, and the shared state of each source's requests.

pub(crate) mod buffer_ring;
pub(crate) mod completion_queue;
pub(crate) mod multishot_receive;
pub(crate) mod receiver;
pub(crate) mod requests;
pub(crate) mod ring;
