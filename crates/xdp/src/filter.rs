//! The filter that chooses, of all frames an interface receives, those that are ours.
//!
//! It is a program in the kernel, assembled here ([`program`]) and checked by the kernel when it is
//! loaded, and maps that it looks into, which change while it runs. Whatever no entry names, and
//! whatever is not understood, the kernel has as if there were no filter.
//!
//! Ethernet addresses are not looked at: on an interface that takes frames for others
//! (promiscuous), an entry finds those too.
//!
//! A driver that takes VLAN tags off (`ethtool -k`: rx-vlan-offload) shows the program frames
//! without; entries for a VLAN then find nothing, and those for none find tagged frames as well.

mod assembler;
mod bpf;
mod entry;
mod kinds;
mod link;
mod maps;
mod program;

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

pub use entry::{Entry, EntryError, Protocol};
pub use link::{Link, LinkError, Mode};
pub(crate) use program::STAMP as STAMP_BYTES;

use crate::forked::ForkGuardedFd;
use bpf::Refusal;
use maps::{Capacity, Maps};
use program::{Parts, Stamper};

/// Who says when a frame came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Stamping {
    /// Nobody.
    #[default]
    Off,
    /// The driver of the interface of this number, on the device's clock. The program can then be
    /// attached there only, and in native mode.
    Driver(u32),
    /// The kernel, when the filter runs, on `CLOCK_TAI` (Linux 6.1): a time of software.
    Kernel,
}

/// What a [`Filter`] is to have room for. All of it is taken at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilterSettings {
    /// Exact flows, at least 1.
    pub flows: u32,
    /// Ports and EtherTypes, at least 1.
    pub locals: u32,
    /// Groups, at least 1.
    pub groups: u32,
    /// Sets of sockets that frames can be sent to, at least 1.
    pub slots: u32,
    /// Receive queues of the interface, at least 1: sockets of a slot. A frame of a queue beyond is
    /// the kernel's.
    pub queues: u32,
    /// Who is to stamp the frames that are ours.
    pub receive_stamps: Stamping,
    /// Untagged frames of this EtherType are slot 0's, and all others the kernel's, for good: the
    /// filter has no entries, and is the quicker for it.
    pub only: Option<u16>,
}

impl Default for FilterSettings {
    /// Some 600 KiB of maps in the kernel.
    fn default() -> Self {
        let (flows, locals, groups) = (4_096, 1_024, 1_024);
        let receive_stamps = Stamping::Off;
        Self { flows, locals, groups, slots: 16, queues: 1, receive_stamps, only: None }
    }
}

/// Why there is no filter.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// None of something, or more sockets than can be counted.
    #[error("a filter with {0:?}")]
    Settings(FilterSettings),
    /// A map.
    #[error("the filter's maps: {0}")]
    Maps(io::Error),
    /// The program. A kernel that refuses it is older than what the documentation asks for, or
    /// does not trust this process.
    #[error("the filter's program: {reason}{}", told(.log))]
    Program {
        /// The kernel's answer.
        reason: io::Error,
        /// What its verifier said, if anything; many lines.
        log: String,
    },
    /// Stamped by a driver, the program is longer than what can safely be bound to a device. It was
    /// not loaded.
    #[error("the filter's program has {0} instructions, too many to be bound to a device")]
    TooLong(usize),
    /// The only EtherType is the kernel's.
    #[error(transparent)]
    Only(EntryError),
    /// The kernel does not describe the function that tells receive times.
    #[error("receive stamps: {0}")]
    Stamps(#[from] crate::btf::BtfError),
}

impl From<Refusal> for FilterError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::TooLong(instructions) => Self::TooLong(instructions),
            Refusal::Kernel { reason, log } => Self::Program { reason, log },
        }
    }
}

fn told(log: &str) -> String {
    let last = log.lines().rfind(|line| !line.is_empty() && !line.starts_with("processed"));
    last.map_or(String::new(), |line| format!(" ({line})"))
}

/// A place for the sockets of one user of the filter, one for each receive queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Slot(u32);

/// What becomes of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The kernel keeps it.
    Kernel,
    /// It is sent to the sockets of this slot.
    Slot(Slot),
}

/// A loaded filter, which a forked child does not have. It is on no interface before
/// [`attach`](Self::attach), and on none any more when the [`Link`] is gone.
#[derive(Debug)]
pub struct Filter {
    maps: Maps,
    program: ForkGuardedFd,
    settings: FilterSettings,
}

impl Filter {
    /// Makes the maps and loads the program, with no entry.
    ///
    /// # Errors
    /// See [`FilterError`]; without the capabilities, `PermissionDenied` in it.
    pub fn load(settings: &FilterSettings) -> Result<Self, FilterError> {
        let refused = || FilterError::Settings(*settings);
        let FilterSettings { flows, locals, groups, slots, queues, receive_stamps, only } =
            *settings;
        if let Some(ether_type) = only {
            Entry::EtherType { vlan: None, ether_type }.key().map_err(FilterError::Only)?;
        }
        let sockets = slots.checked_mul(queues).ok_or_else(refused)?;
        if [flows, locals, groups, sockets].contains(&0) || i32::try_from(sockets).is_err() {
            return Err(refused());
        }
        let (receive_stamp, bound_to) = match receive_stamps {
            Stamping::Off => (None, None),
            Stamping::Kernel => (Some(Stamper::Clock), None),
            Stamping::Driver(interface) => {
                let function = crate::btf::function("bpf_xdp_metadata_rx_timestamp")?;
                (Some(Stamper::Driver(function)), Some(interface))
            }
        };
        let maps =
            Maps::create(Capacity { flows, locals, groups, sockets }).map_err(FilterError::Maps)?;
        let parts = Parts {
            flows: maps.flows.as_raw_fd(),
            locals: maps.locals.as_raw_fd(),
            groups: maps.groups.as_raw_fd(),
            kinds: maps.kinds.as_raw_fd(),
            sockets: maps.sockets.as_raw_fd(),
            queues,
            receive_stamp,
        };
        let code = match only {
            Some(ether_type) => program::assemble_only(&parts, ether_type),
            None => program::assemble(&parts),
        };
        let program =
            bpf::load_program(&code, "hairpin_filter", bound_to).map_err(FilterError::from)?;
        Ok(Self { maps, program, settings: *settings })
    }

    /// What another process needs to change and to attach the filter: the maps of flows, of ports
    /// and EtherTypes, of groups, of the kinds of entries and of sockets, and the program.
    #[must_use]
    pub fn descriptors(&self) -> [BorrowedFd<'_>; 6] {
        let [flows, locals, groups, kinds, sockets] = self.maps.descriptors();
        [flows, locals, groups, kinds, sockets, self.program.as_fd()]
    }

    /// Takes over a filter that another process has loaded with these settings. Threads of one
    /// process may change entries at the same time, and several processes must take turns.
    ///
    /// # Safety
    /// They are the [`descriptors`](Self::descriptors) of such a filter, in their order: what is
    /// written into a map is as long as that one's entries.
    ///
    /// # Errors
    /// Those of [`ForkGuardedFd::make`], and of mapping the kinds.
    pub unsafe fn adopt(descriptors: [OwnedFd; 6], settings: &FilterSettings) -> io::Result<Self> {
        let [flows, locals, groups, kinds, sockets, program] = descriptors;
        let maps = Maps::adopt([flows, locals, groups, kinds, sockets])?;
        let program = ForkGuardedFd::make(|| Ok(program))?;
        Ok(Self { maps, program, settings: *settings })
    }

    /// Puts the filter on an interface, by its number in the calling thread's network namespace.
    ///
    /// # Errors
    /// See [`LinkError`].
    pub fn attach(&self, interface: u32, mode: Mode) -> Result<Link, LinkError> {
        Link::create(self.program.as_fd(), interface, mode)
    }

    /// The slot of this number; `None` if the filter has fewer.
    #[must_use]
    pub fn slot(&self, number: u32) -> Option<Slot> {
        (number < self.settings.slots).then_some(Slot(number))
    }

    /// Enters what becomes of some frames, or changes it. It holds for the next frame.
    ///
    /// # Errors
    /// See [`EntryError`].
    pub fn enter(&self, entry: &Entry, verdict: Verdict) -> Result<(), EntryError> {
        if let Some(ether_type) = self.settings.only {
            return Err(EntryError::Only(ether_type));
        }
        let value = match verdict {
            Verdict::Kernel => program::KERNEL,
            Verdict::Slot(Slot(number)) => number * self.settings.queues,
        };
        self.maps.enter(entry.kind(), &entry.key()?, value)
    }

    /// Takes an entry away; false if there was none.
    ///
    /// # Errors
    /// See [`EntryError`].
    pub fn remove(&self, entry: &Entry) -> Result<bool, EntryError> {
        self.maps.remove(entry.kind(), &entry.key()?)
    }

    /// What an entry says, if there is one.
    ///
    /// # Errors
    /// See [`EntryError`].
    pub fn verdict(&self, entry: &Entry) -> Result<Option<Verdict>, EntryError> {
        let value = self.maps.value(&entry.key()?)?;
        Ok(value.map(|value| match value {
            program::KERNEL => Verdict::Kernel,
            base => Verdict::Slot(Slot(base / self.settings.queues)),
        }))
    }

    /// Frames of the slot that come in by receive queue `queue` go to `socket`, which must be bound
    /// to that queue. The kernel forgets it when the socket is closed.
    ///
    /// # Errors
    /// The kernel's; `InvalidInput` if the filter has no such slot or queue.
    pub fn set_socket(&self, slot: Slot, queue: u32, socket: BorrowedFd<'_>) -> io::Result<()> {
        let index = self.index(slot, queue).ok_or(io::ErrorKind::InvalidInput)?;
        self.maps.set_socket(index, socket)
    }

    /// Frames of the slot that come in by this queue go to the kernel again; false if they did.
    ///
    /// # Errors
    /// The kernel's.
    pub fn clear_socket(&self, slot: Slot, queue: u32) -> Result<bool, EntryError> {
        self.index(slot, queue).map_or(Ok(false), |index| self.maps.clear_socket(index))
    }

    fn index(&self, Slot(number): Slot, queue: u32) -> Option<u32> {
        let is_there = number < self.settings.slots && queue < self.settings.queues;
        is_there.then(|| number * self.settings.queues + queue)
    }

    /// Asks the program, in the kernel, whether it would redirect this frame, which goes nowhere:
    /// false if the kernel would keep it. `from` is an interface, in native mode and up, and the
    /// receive queue by which the frame is to have come; without, it is queue 0 of `lo`.
    ///
    /// # Errors
    /// The kernel's: `InvalidInput` for frames of less than 14 bytes or more than a page holds, and
    /// for queues that are not there; where the program is for one interface only.
    pub fn would_redirect(&self, frame: &[u8], from: Option<(u32, u32)>) -> io::Result<bool> {
        match bpf::test_run(self.program.as_fd(), frame, from, 1)?.verdict.cast_signed() {
            program::REDIRECT => Ok(true),
            program::PASS => Ok(false),
            other => Err(io::Error::other(format!("the program's verdict is {other}"))),
        }
    }

    /// How long the program takes for this frame, in nanoseconds: the mean of so many runs in the
    /// kernel, one after another, which is the best that can be.
    ///
    /// # Errors
    /// As [`would_redirect`](Self::would_redirect), from queue 0 of `lo`.
    pub fn cost_ns(&self, frame: &[u8], runs: u32) -> io::Result<u32> {
        Ok(bpf::test_run(self.program.as_fd(), frame, None, runs)?.nanoseconds)
    }
}
