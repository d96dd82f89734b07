//! The interfaces that the keeper holds, for the process that replaces it.
//!
//! Both processes have both ends of a socket pair. The one that serves sends itself the descriptors
//! of each interface, and they outlive it there. Only the process that serves reads and writes.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use hairpin_xdp::KeptInterface;

use super::message::{self, Message};

#[derive(Debug)]
pub(super) struct Vault([OwnedFd; 2]);

/// An interface of a process that has not registered at the replacement yet.
#[derive(Debug)]
pub(super) struct Unclaimed {
    pub(super) name: String,
    pub(super) process_id: i32,
    /// Readable when the process has ended.
    pub(super) process: OwnedFd,
    pub(super) interface: KeptInterface,
}

impl Vault {
    pub(super) fn new() -> io::Result<Self> {
        message::pair().map(Self)
    }

    /// Returns the descriptors that both processes keep open.
    pub(super) fn descriptors(&self) -> [i32; 2] {
        self.0.each_ref().map(AsRawFd::as_raw_fd)
    }

    /// Adds the interface of a process.
    pub(super) fn add(
        &self,
        name: &str,
        (process_id, process): (i32, BorrowedFd<'_>),
        interface: &KeptInterface,
    ) -> io::Result<()> {
        let mut all = vec![process];
        all.extend(interface.descriptors());
        if all.len() > message::DESCRIPTORS_MAX {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let numbers = [0, process_id.cast_unsigned(), interface.index(), 0];
        message::send(self.0[0].as_fd(), numbers, name.as_bytes(), &all, libc::MSG_DONTWAIT)
    }

    /// Removes an interface.
    pub(super) fn remove(&self, name: &str) {
        for Message { numbers, payload, descriptors, .. } in self.drain() {
            if payload != name.as_bytes() {
                let all: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
                let to = self.0[0].as_fd();
                // It fitted before.
                let _ = message::send(to, numbers, &payload, &all, libc::MSG_DONTWAIT);
            }
        }
    }

    /// Returns all interfaces, which stay here too.
    pub(super) fn all(&self) -> Vec<Unclaimed> {
        let found = self.drain().into_iter().filter_map(|message| {
            let name = message.text().into_owned();
            let [_, process_id, index, _] = message.numbers;
            let mut descriptors = message.descriptors.into_iter();
            let process = descriptors.next()?;
            // SAFETY: the process before this one has sent them in this order.
            let interface = unsafe { KeptInterface::from_fds(index, descriptors.collect()).ok()? };
            Some(Unclaimed { name, process_id: process_id.cast_signed(), process, interface })
        });
        let found: Vec<_> = found.collect();
        for Unclaimed { name, process_id, process, interface } in &found {
            let _ = self.add(name, (*process_id, process.as_fd()), interface);
        }
        found
    }

    fn drain(&self) -> Vec<Message> {
        let receive = || message::receive(self.0[1].as_fd(), libc::MSG_DONTWAIT).ok()?;
        std::iter::from_fn(receive).collect()
    }
}
