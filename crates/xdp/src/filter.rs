//! The flow filter: decides for each received frame whether an AF_XDP socket or the kernel gets it.
//!
//! It is an XDP program, assembled here ([`program`]) and verified by the kernel when loaded, and
//! maps that can change while it runs. Frames that match no entry, and frames that the filter does
//! not understand, go to the kernel as without a filter.
//!
//! The filter ignores Ethernet addresses: on an interface in promiscuous mode an entry also matches
//! frames for other hosts.
//!
//! If the driver strips VLAN tags (`ethtool -k`: rx-vlan-offload), the program sees frames without
//! tags. Entries with a VLAN then match nothing, and entries without one also match tagged frames.

mod assembler;
mod bpf;
mod entry;
mod entry_counts;
mod inline_flows;
mod link;
mod link_owner;
mod maps;
mod program;
mod seen_flows;

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

pub use entry::{Entry, EntryError, Protocol};
pub use link::{Link, LinkError, Mode};
pub use link_owner::LinkOwner;
pub(crate) use program::STAMP as STAMP_BYTES;

use crate::fork_guard::ForkGuardedFd;
use crate::kernel_release;
use bpf::LoadError;
use maps::{Capacity, Maps};
use program::{ProgramSpec, StampClock};

/// The source of receive timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Stamping {
    /// No timestamps.
    #[default]
    Off,
    /// The driver of the interface with this index, on the device's clock. The program can then be
    /// attached only to that interface and only in native mode.
    Driver(u32),
    /// The kernel, when the filter runs, on `CLOCK_TAI` (Linux 6.1): a software timestamp.
    Kernel,
}

/// The capacities of a [`Filter`]. All memory is allocated at creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilterSettings {
    /// Exact flows, at least 1.
    pub flows: u32,
    /// Ports and EtherTypes, at least 1.
    pub locals: u32,
    /// Groups, at least 1.
    pub groups: u32,
    /// Slots, that is sets of sockets that frames can be redirected to; at least 1.
    pub slots: u32,
    /// Receive queues of the interface, at least 1: the sockets per slot. Frames on other queues go
    /// to the kernel.
    pub queues: u32,
    /// The source of receive timestamps for redirected frames.
    pub receive_stamps: Stamping,
    /// Redirects only this EtherType, if set: its untagged frames go to slot 0 and all others to
    /// the kernel,
    /// permanently. The filter then has no entries and is faster.
    pub only_ether_type: Option<u16>,
    /// The longest UDP datagram that is redirected, with its header, in bytes. The kernel receives
    /// longer ones.
    pub longest_datagram: u16,
    /// Accepts frames in several buffers in native mode (`BPF_F_XDP_HAS_FRAGS`, Linux 5.18), as
    /// drivers require it above an MTU.
    pub long_frames: bool,
}

impl Default for FilterSettings {
    /// Returns capacities that need about 600 KiB of kernel memory.
    fn default() -> Self {
        let (flows, locals, groups) = (4_096, 1_024, 1_024);
        Self {
            flows,
            locals,
            groups,
            slots: 16,
            queues: 1,
            receive_stamps: Stamping::Off,
            only_ether_type: None,
            longest_datagram: u16::MAX,
            long_frames: false,
        }
    }
}

/// The reason why a filter cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// A capacity is zero, or there are more sockets than a map can index.
    #[error("cannot create a filter with {0:?}: a capacity is zero or too large")]
    Settings(FilterSettings),
    /// The kernel is older than supported.
    #[error("Linux 5.11 or newer is required")]
    Release,
    /// The maps cannot be created.
    #[error("cannot create the filter's maps: {0}")]
    Maps(io::Error),
    /// The kernel rejects the program: the kernel is older than documented, or does not trust this
    /// process.
    #[error("cannot load the filter's program: {reason}{}", explanation(.log))]
    Program {
        /// The kernel's error.
        reason: io::Error,
        /// The verifier's log, possibly empty or many lines.
        log: String,
    },
    /// The program with driver timestamps exceeds the length that is safe for a device-bound
    /// program. It was not loaded.
    #[error("cannot bind the filter's program to a device: {0} instructions are too many")]
    TooLong(usize),
    /// The single EtherType is reserved for the kernel.
    #[error(transparent)]
    OnlyEtherType(EntryError),
    /// The kernel function that returns receive timestamps is missing.
    #[error("cannot enable driver receive timestamps: {0}")]
    Stamps(#[from] crate::btf::BtfError),
}

impl From<LoadError> for FilterError {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::TooLong(instructions) => Self::TooLong(instructions),
            LoadError::Kernel { reason, log } => Self::Program { reason, log },
        }
    }
}

/// Returns what the end of the verifier's log says.
fn explanation(log: &str) -> String {
    // A kernel before Linux 6.6.
    if log.contains("pointer comparison prohibited") {
        return ": this kernel requires CAP_PERFMON too".to_owned();
    }
    let last = log.lines().rfind(|line| !line.is_empty() && !line.starts_with("processed"));
    last.map_or(String::new(), |line| format!(" ({line})"))
}

/// The sockets of one user of the filter, one per receive queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Slot(u32);

/// The destination of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The kernel's network stack.
    Kernel,
    /// The sockets of this slot.
    Slot(Slot),
}

/// A loaded filter, which a forked child does not inherit. It is attached to an interface by
/// [`attach`](Self::attach) and detached when the [`Link`] is dropped.
#[derive(Debug)]
pub struct Filter {
    maps: Maps,
    program: ForkGuardedFd,
    settings: FilterSettings,
}

impl Filter {
    /// Creates the maps and loads the program, without entries.
    ///
    /// # Errors
    /// See [`FilterError`]; without the capabilities it contains `PermissionDenied`.
    pub fn load(settings: &FilterSettings) -> Result<Self, FilterError> {
        if !kernel_release::is_at_least(5, 11) {
            return Err(FilterError::Release);
        }
        let invalid = || FilterError::Settings(*settings);
        let FilterSettings {
            flows,
            locals,
            groups,
            slots,
            queues,
            receive_stamps,
            only_ether_type,
            longest_datagram,
            long_frames,
        } = *settings;
        if let Some(ether_type) = only_ether_type {
            Entry::EtherType { vlan: None, ether_type }
                .key()
                .map_err(FilterError::OnlyEtherType)?;
        }
        let sockets = slots.checked_mul(queues).ok_or_else(invalid)?;
        if [flows, locals, groups, sockets].contains(&0) || i32::try_from(sockets).is_err() {
            return Err(invalid());
        }
        let (receive_stamp, bound_to) = match receive_stamps {
            Stamping::Off => (None, None),
            Stamping::Kernel => (Some(StampClock::Clock), None),
            Stamping::Driver(interface) => {
                let function = crate::btf::function_type_id("bpf_xdp_metadata_rx_timestamp")?;
                (Some(StampClock::Driver(function)), Some(interface))
            }
        };
        let maps =
            Maps::create(Capacity { flows, locals, groups, sockets }).map_err(FilterError::Maps)?;
        let spec = ProgramSpec {
            flows: maps.flows.as_raw_fd(),
            locals: maps.locals.as_raw_fd(),
            groups: maps.groups.as_raw_fd(),
            counts: maps.counts.as_raw_fd(),
            sockets: maps.sockets.as_raw_fd(),
            queues,
            receive_stamp,
            longest_datagram,
        };
        let code = match only_ether_type {
            Some(ether_type) => program::assemble_single_ether_type(&spec, ether_type),
            None => program::assemble(&spec),
        };
        let program = bpf::load_program(&code, "hairpin_filter", bound_to, long_frames)
            .map_err(FilterError::from)?;
        Ok(Self { maps, program, settings: *settings })
    }

    /// Returns the descriptors that another process needs to change and attach the filter: the maps
    /// of flows, of ports and EtherTypes, of groups, of entry counts and of sockets, and the
    /// program.
    #[must_use]
    pub fn descriptors(&self) -> [BorrowedFd<'_>; 6] {
        let [flows, locals, groups, counts, sockets] = self.maps.descriptors();
        [flows, locals, groups, counts, sockets, self.program.as_fd()]
    }

    /// Takes over a filter that another process loaded with these settings.
    ///
    /// Threads of one process may change entries concurrently; processes must not.
    ///
    /// # Safety
    /// The descriptors are those of [`descriptors`](Self::descriptors), in the same order, because
    /// writes to a map use that map's key and value sizes.
    ///
    /// # Errors
    /// Those of [`ForkGuardedFd::from_fn`] and of mapping the entry counts.
    pub unsafe fn from_fds(
        descriptors: [OwnedFd; 6],
        settings: &FilterSettings,
    ) -> io::Result<Self> {
        let [flows, locals, groups, counts, sockets, program] = descriptors;
        let maps = Maps::from_fds([flows, locals, groups, counts, sockets])?;
        let program = ForkGuardedFd::from_fn(|| Ok(program))?;
        Ok(Self { maps, program, settings: *settings })
    }

    /// Attaches the filter to an interface, by its index in the calling thread's network namespace.
    ///
    /// # Errors
    /// See [`LinkError`].
    pub fn attach(&self, interface: u32, mode: Mode) -> Result<Link, LinkError> {
        Link::create(self.program.as_fd(), interface, mode)
    }

    /// Returns the slot of this number; `None` if the filter has fewer.
    #[must_use]
    pub fn slot(&self, number: u32) -> Option<Slot> {
        (number < self.settings.slots).then_some(Slot(number))
    }

    /// Returns the slot that every filter has.
    pub(crate) fn first_slot(&self) -> Slot {
        Slot(0)
    }

    /// Inserts or replaces an entry. It applies from the next frame on.
    ///
    /// # Errors
    /// See [`EntryError`].
    pub fn insert(&self, entry: &Entry, verdict: Verdict) -> Result<(), EntryError> {
        if let Some(ether_type) = self.settings.only_ether_type {
            return Err(EntryError::OnlyEtherType(ether_type));
        }
        let value = match verdict {
            Verdict::Kernel => program::KERNEL,
            Verdict::Slot(Slot(number)) => number * self.settings.queues,
        };
        self.maps.insert(entry.kind(), &entry.key()?, value)
    }

    /// Removes an entry. Returns `false` if there was no such entry.
    ///
    /// # Errors
    /// See [`EntryError`].
    pub fn remove(&self, entry: &Entry) -> Result<bool, EntryError> {
        self.maps.remove(entry.kind(), &entry.key()?)
    }

    /// Returns the verdict of an entry; `None` if there is no such entry.
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

    /// Returns `true` if a TCP frame of a flow without an entry has arrived on the interface since
    /// the filter was attached. It may be `false` although one has arrived, if a frame of a flow
    /// with similar ports followed.
    ///
    /// # Errors
    /// See [`EntryError`].
    pub fn has_arrived(&self, flow: &Entry) -> Result<bool, EntryError> {
        Ok(self.maps.seen().contains(&flow.key()?))
    }

    /// Redirects frames of the slot that arrive on receive queue `queue` to `socket`, which must be
    /// bound to that queue. The kernel removes the socket when it is closed.
    ///
    /// # Errors
    /// The kernel's; `InvalidInput` if the filter has no such slot or queue.
    pub fn set_socket(&self, slot: Slot, queue: u32, socket: BorrowedFd<'_>) -> io::Result<()> {
        let index = self.index(slot, queue).ok_or(io::ErrorKind::InvalidInput)?;
        self.maps.set_socket(index, socket)
    }

    /// Passes frames of the slot that arrive on this queue to the kernel again. Returns `false` if
    /// no socket was set.
    ///
    /// # Errors
    /// The kernel's.
    pub fn clear_socket(&self, slot: Slot, queue: u32) -> Result<bool, EntryError> {
        self.index(slot, queue).map_or(Ok(false), |index| self.maps.clear_socket(index))
    }

    fn index(&self, Slot(number): Slot, queue: u32) -> Option<u32> {
        let exists = number < self.settings.slots && queue < self.settings.queues;
        exists.then(|| number * self.settings.queues + queue)
    }

    /// Runs the program in the kernel on a test frame and returns `true` if it would redirect the
    /// frame, `false` if the kernel would keep it. The frame is not delivered.
    ///
    /// `from` is an interface, up and in native mode, and the receive queue that the frame arrives
    /// on; without it, queue 0 of `lo`.
    ///
    /// # Errors
    /// The kernel's: `InvalidInput` for frames shorter than 14 bytes or longer than a page, for a
    /// queue that does not exist, and for a program that is bound to one interface.
    pub fn would_redirect(&self, frame: &[u8], from: Option<(u32, u32)>) -> io::Result<bool> {
        match bpf::test_run(self.program.as_fd(), frame, from, 1)?.verdict.cast_signed() {
            program::REDIRECT => Ok(true),
            program::PASS => Ok(false),
            other => Err(io::Error::other(format!(
                "unexpected verdict of the filter's program: {other}"
            ))),
        }
    }

    /// Measures the program's run time for a frame in nanoseconds: the mean of `runs` back-to-back
    /// runs in the kernel, which is a best case.
    ///
    /// # Errors
    /// As for [`would_redirect`](Self::would_redirect) on queue 0 of `lo`.
    pub fn cost_ns(&self, frame: &[u8], runs: u32) -> io::Result<u32> {
        Ok(bpf::test_run(self.program.as_fd(), frame, None, runs)?.nanoseconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejected_program_names_the_capability_or_the_verifiers_last_line() {
        let message = |log: &str| {
            let reason = io::Error::from_raw_os_error(libc::EACCES);
            let text = FilterError::Program { reason, log: log.to_owned() }.to_string();
            text.split_once("(os error 13)").unwrap().1.to_owned()
        };
        let log =
            "5: (2d) if r1 > r8 goto pc+9\nR8 pointer comparison prohibited\nprocessed 6 insns\n";
        assert_eq!(message(log), ": this kernel requires CAP_PERFMON too");
        assert_eq!(message("0: (95) exit\nR0 !read_ok\nprocessed 1 insns\n"), " (R0 !read_ok)");
        assert_eq!(message(""), "");
    }
}
