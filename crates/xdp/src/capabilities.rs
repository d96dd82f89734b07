//! The capabilities that opening an interface requires.

use std::fmt;
use std::io;

use crate::kernel_release;

/// `_LINUX_CAPABILITY_VERSION_3` of linux/capability.h: two words of 32 bits.
const VERSION: u32 = 0x2008_0522;

/// The required capabilities and their numbers in linux/capability.h.
const REQUIRED: [(Capability, u32); 3] =
    [(Capability::NetAdmin, 12), (Capability::NetRaw, 13), (Capability::Bpf, 39)];

/// `CAP_PERFMON`, without which kernels before Linux 6.6, but for those with a later fix, load no
/// program that compares the pointers of a packet.
const PERFMON: u32 = 38;

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
/// as [`drop_capabilities`] does. Before Linux 6.6 `CAP_PERFMON` stays permitted, but is effective
/// only while a program is loaded that requires it.
///
/// # Errors
/// The kernel's.
pub fn drop_other_capabilities() -> io::Result<()> {
    /// `CAP_NET_BIND_SERVICE` and `CAP_IPC_LOCK`, and the number of those that exist or may be
    /// added.
    const OTHERS: [u32; 2] = [10, 14];
    const COUNT: u32 = 64;
    let perfmon = (!kernel_release::is_at_least(6, 6)).then_some(PERFMON);
    let required = REQUIRED.iter().map(|(_, number)| *number);
    let kept: Vec<u32> = OTHERS.into_iter().chain(required).chain(perfmon).collect();
    drop_all((0..COUNT).filter(|number| !kept.contains(number)))?;
    set_effective(PERFMON, false)
}

/// Runs a function while `CAP_PERFMON` is effective for this thread. Returns `None` if it already
/// is, or is not permitted.
pub(crate) fn with_perfmon<T>(function: impl FnOnce() -> T) -> Option<T> {
    let [_, high] = capability_sets().ok()?;
    let bit = 1 << (PERFMON % 32);
    if high.effective & bit != 0 || high.permitted & bit == 0 {
        return None;
    }
    set_effective(PERFMON, true).ok()?;
    let result = function();
    // The thread may always lower it.
    let _ = set_effective(PERFMON, false);
    Some(result)
}

/// Makes a permitted capability of this thread effective, or not.
fn set_effective(number: u32, is_effective: bool) -> io::Result<()> {
    let mut sets = capability_sets()?;
    let (set, bit) = (&mut sets[number as usize / 32], 1 << (number % 32));
    set.effective = if is_effective { set.effective | bit } else { set.effective & !bit };
    set_capabilities(&sets)
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
    set_capabilities(&sets)
}

/// Sets the capability sets of the calling thread.
fn set_capabilities(sets: &[Sets; 2]) -> io::Result<()> {
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
    fn perfmon_is_effective_only_within_the_function() {
        // Capabilities are a thread's own.
        let [_, high] = capability_sets().unwrap();
        let is_permitted = high.permitted >> (PERFMON % 32) & 1 != 0;
        if set_effective(PERFMON, false).is_err() || !is_permitted {
            assert!(!is_permitted && with_perfmon(|| ()).is_none());
            return;
        }
        let is_effective = || effective().unwrap() >> PERFMON & 1 != 0;
        assert_eq!(with_perfmon(is_effective), Some(true));
        assert!(!is_effective());
        set_effective(PERFMON, true).unwrap();
        assert_eq!(with_perfmon(|| ()), None, "it already is effective");
    }

    #[test]
    fn effective_set_matches_proc() {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap();
        assert_eq!(effective().unwrap(), u64::from_str_radix(line.trim(), 16).unwrap());
    }
}
