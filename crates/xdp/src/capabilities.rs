//! What this process may do.

use std::fmt;
use std::io;

/// `_LINUX_CAPABILITY_VERSION_3` of linux/capability.h: two words of 32.
const VERSION: u32 = 0x2008_0522;

/// Each that is needed, its number in linux/capability.h, and what for.
const NEEDED: [(Capability, u32); 3] =
    [(Capability::NetAdmin, 12), (Capability::NetRaw, 13), (Capability::Bpf, 39)];

/// A right that the kernel asks for. These three are all that is ever needed; `CAP_IPC_LOCK` only
/// for more frame memory than may be locked (`ulimit -l`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Capability {
    /// `CAP_NET_ADMIN`: to attach a program to an interface.
    NetAdmin,
    /// `CAP_NET_RAW`: to open an AF_XDP socket.
    NetRaw,
    /// `CAP_BPF`: to load a program and make its maps.
    Bpf,
}

/// Why nothing can be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CapabilityError {
    /// Some are not in the effective set of this thread.
    #[error("this process lacks {0}; with them an ordinary user needs no more")]
    Missing(Missing),
    /// The kernel does not say what this thread may do.
    #[error("capget: {0}")]
    Unknown(#[from] io::Error),
}

/// The capabilities that are missing, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing(Vec<Capability>);

impl Missing {
    /// Which they are.
    #[must_use]
    pub fn capabilities(&self) -> &[Capability] {
        &self.0
    }
}

/// Looks whether this thread may set everything up. In a user namespace the answer may be yes and
/// the kernel's still no: to load programs takes the capability in the first of them.
///
/// # Errors
/// See [`CapabilityError`].
pub fn check_capabilities() -> Result<(), CapabilityError> {
    let missing = missing_of(effective()?);
    if missing.is_empty() { Ok(()) } else { Err(CapabilityError::Missing(Missing(missing))) }
}

fn missing_of(effective: u64) -> Vec<Capability> {
    let lacks = |&(_, number): &(Capability, u32)| effective >> number & 1 == 0;
    NEEDED.into_iter().filter(lacks).map(|(capability, _)| capability).collect()
}

/// The effective set of the calling thread.
fn effective() -> io::Result<u64> {
    #[repr(C)]
    struct Header {
        version: u32,
        thread: i32,
    }
    #[repr(C)]
    #[derive(Default, Clone, Copy)]
    struct Sets {
        effective: u32,
        _permitted: u32,
        _inheritable: u32,
    }
    let mut header = Header { version: VERSION, thread: 0 };
    let mut sets = [Sets::default(); 2];
    // SAFETY: both are laid out as linux/capability.h has them for this version, which writes two
    // sets, and live through the call.
    match unsafe { libc::syscall(libc::SYS_capget, &raw mut header, sets.as_mut_ptr()) } {
        0 => Ok(u64::from(sets[0].effective) | u64::from(sets[1].effective) << 32),
        _ => Err(io::Error::last_os_error()),
    }
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

impl fmt::Display for Missing {
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
    fn each_that_is_missing_is_named_and_no_other() {
        let all = 1 << 12 | 1 << 13 | 1 << 39;
        assert_eq!(missing_of(all), []);
        assert_eq!(missing_of(all & !(1 << 13)), [Capability::NetRaw]);
        assert_eq!(Missing(missing_of(!all)).to_string(), "CAP_NET_ADMIN, CAP_NET_RAW, CAP_BPF");
        assert_eq!(Missing(missing_of(1 << 12 | 1 << 38)).to_string(), "CAP_NET_RAW, CAP_BPF");
    }

    #[test]
    fn the_effective_set_is_that_of_proc() {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap();
        assert_eq!(effective().unwrap(), u64::from_str_radix(line.trim(), 16).unwrap());
    }
}
