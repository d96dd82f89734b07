//! The capabilities that opening an interface requires.

use std::fmt;
use std::io;

/// `_LINUX_CAPABILITY_VERSION_3` of linux/capability.h: two words of 32 bits.
const VERSION: u32 = 0x2008_0522;

/// The required capabilities and their numbers in linux/capability.h.
const REQUIRED: [(Capability, u32); 3] =
    [(Capability::NetAdmin, 12), (Capability::NetRaw, 13), (Capability::Bpf, 39)];

/// A capability that the kernel requires. These three are sufficient; `CAP_IPC_LOCK` is needed only
/// to exceed the locked-memory limit (`ulimit -l`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Capability {
    /// `CAP_NET_ADMIN`: attach a program to an interface.
    NetAdmin,
    /// `CAP_NET_RAW`: open an AF_XDP socket.
    NetRaw,
    /// `CAP_BPF`: load a program and create its maps.
    Bpf,
}

/// The result of a failed capability check.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CapabilityError {
    /// Some capabilities are not in this thread's effective set.
    #[error(
        "cannot open an interface: missing {0} (run as root, or give them to the program by setcap)"
    )]
    Missing(MissingCapabilities),
    /// The kernel does not report the thread's capabilities.
    #[error("cannot read capabilities: {0}")]
    Unknown(#[from] io::Error),
}

/// The missing capabilities, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingCapabilities(Vec<Capability>);

impl MissingCapabilities {
    /// Returns the missing capabilities.
    #[must_use]
    pub fn capabilities(&self) -> &[Capability] {
        &self.0
    }
}

/// Checks that this thread has every required capability.
///
/// Inside a user namespace the check can succeed although the kernel refuses: loading programs
/// requires the capability in the initial user namespace.
///
/// # Errors
/// See [`CapabilityError`].
pub fn check_capabilities() -> Result<(), CapabilityError> {
    let missing = missing_from(effective()?);
    if missing.is_empty() {
        Ok(())
    } else {
        Err(CapabilityError::Missing(MissingCapabilities(missing)))
    }
}

fn missing_from(effective: u64) -> Vec<Capability> {
    let lacks = |&(_, number): &(Capability, u32)| effective >> number & 1 == 0;
    REQUIRED.into_iter().filter(lacks).map(|(capability, _)| capability).collect()
}

/// Takes these capabilities from this process and from the programs that it executes, also from
/// root's. Call it while the process has one thread.
///
/// They leave the ambient, inheritable, permitted and effective sets, and the bounding set where
/// that is permitted: otherwise root's programs would receive them again.
///
/// # Errors
/// The kernel's.
pub fn drop_capabilities() -> io::Result<()> {
    drop_all(REQUIRED.into_iter().map(|(_, number)| number))
}

/// Takes all capabilities from this process but these, `CAP_NET_BIND_SERVICE` and `CAP_IPC_LOCK`,
/// as [`drop_capabilities`] does.
///
/// # Errors
/// The kernel's.
pub fn drop_other_capabilities() -> io::Result<()> {
    /// `CAP_NET_BIND_SERVICE` and `CAP_IPC_LOCK`, and the number of those that exist or may be
    /// added.
    const OTHERS: [u32; 2] = [10, 14];
    const COUNT: u32 = 64;
    let is_kept =
        |number| OTHERS.contains(&number) || REQUIRED.iter().any(|(_, kept)| *kept == number);
    drop_all((0..COUNT).filter(|number| !is_kept(*number)))
}

fn drop_all(numbers: impl Iterator<Item = u32>) -> io::Result<()> {
    let mut sets = capability_sets()?;
    for number in numbers {
        let none: libc::c_ulong = 0;
        let number = number as libc::c_ulong;
        // SAFETY: the calls take integers of the width that the kernel reads. Without
        // `CAP_SETPCAP` the second one fails, and an ordinary user does not need it.
        unsafe {
            let lower = libc::PR_CAP_AMBIENT_LOWER as libc::c_ulong;
            libc::prctl(libc::PR_CAP_AMBIENT, lower, number, none, none);
            libc::prctl(libc::PR_CAPBSET_DROP, number, none, none, none);
        }
        let set = &mut sets[number as usize / 32];
        let others = !(1 << (number % 32));
        set.effective &= others;
        set.permitted &= others;
        set.inheritable &= others;
    }
    let header = Header { version: VERSION, thread: 0 };
    // SAFETY: both structures have the layout of linux/capability.h, and outlive the call.
    match unsafe { libc::syscall(libc::SYS_capset, &raw const header, sets.as_ptr()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[repr(C)]
struct Header {
    version: u32,
    thread: i32,
}

/// 32 capabilities.
#[repr(C)]
#[derive(Default, Clone, Copy)]
struct Sets {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Returns the capability sets of the calling thread.
fn capability_sets() -> io::Result<[Sets; 2]> {
    let mut header = Header { version: VERSION, thread: 0 };
    let mut sets = [Sets::default(); 2];
    // SAFETY: both structures have the layout of linux/capability.h for this version, which writes
    // two sets, and outlive the call.
    match unsafe { libc::syscall(libc::SYS_capget, &raw mut header, sets.as_mut_ptr()) } {
        0 => Ok(sets),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns the effective capability set of the calling thread.
fn effective() -> io::Result<u64> {
    let [low, high] = capability_sets()?;
    Ok(u64::from(low.effective) | u64::from(high.effective) << 32)
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NetAdmin => "CAP_NET_ADMIN",
            Self::NetRaw => "CAP_NET_RAW",
            Self::Bpf => "CAP_BPF",
        })
    }
}

impl fmt::Display for MissingCapabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, capability) in self.0.iter().enumerate() {
            let between = if index == 0 { "" } else { ", " };
            write!(f, "{between}{capability}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_capabilities_are_named_and_no_others() {
        let all = 1 << 12 | 1 << 13 | 1 << 39;
        assert_eq!(missing_from(all), []);
        assert_eq!(missing_from(all & !(1 << 13)), [Capability::NetRaw]);
        assert_eq!(
            MissingCapabilities(missing_from(!all)).to_string(),
            "CAP_NET_ADMIN, CAP_NET_RAW, CAP_BPF"
        );
        assert_eq!(
            MissingCapabilities(missing_from(1 << 12 | 1 << 38)).to_string(),
            "CAP_NET_RAW, CAP_BPF"
        );
    }

    #[test]
    fn effective_set_matches_proc() {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap();
        assert_eq!(effective().unwrap(), u64::from_str_radix(line.trim(), 16).unwrap());
    }
}
