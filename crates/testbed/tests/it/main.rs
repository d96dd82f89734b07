//! The testbed in namespaces, as root, and over loopback, as any user.
#![expect(clippy::unwrap_used, reason = "all of this program is tests")]

mod fixtures;
mod hosts;
mod interfaces;
mod killed_owner;
mod relay;
mod relay_frames;
mod rtnetlink;
mod xdp_queues;
