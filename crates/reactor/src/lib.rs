//! The event loop: waits, deadlines and named pinned threads.
