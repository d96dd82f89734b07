//! CPU affinity: the cores on which a thread may run.

use std::io;

use thiserror::Error;

/// The error of pinning a thread.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PinError {
    /// The core does not exist, or a container, `taskset` or a cpuset excludes it.
    #[error("cannot pin to core {core}: allowed cores are {}", ranges(.allowed))]
    NotAllowed {
        /// The requested core.
        core: usize,
        /// The allowed cores in ascending order.
        allowed: Vec<usize>,
    },
    /// The kernel returned an error.
    #[error("cannot pin to core {core}: {source}")]
    Refused {
        /// The requested core.
        core: usize,
        /// The kernel's error.
        source: io::Error,
    },
}

/// Returns the cores on which the calling thread may run, in ascending order. After [`pin`] there
/// is one.
///
/// # Errors
/// The kernel's errors, if it has more than 1,024 cores or denies the call.
pub fn allowed_cores() -> io::Result<Vec<usize>> {
    let set = affinity()?;
    // SAFETY: CPU_ISSET reads one bit of the set, which contains every index below CPU_SETSIZE.
    Ok((0..libc::CPU_SETSIZE as usize)
        .filter(|&core| unsafe { libc::CPU_ISSET(core, &set) })
        .collect())
}

/// Pins the calling thread to `core`, counted from 0 like the kernel does.
///
/// Threads that this thread starts later inherit the setting.
///
/// # Errors
/// [`PinError::NotAllowed`] if the core is not one of [`allowed_cores`], [`PinError::Refused`] with
/// the kernel's error.
pub fn pin(core: usize) -> Result<(), PinError> {
    let error = |source| PinError::Refused { core, source };
    let allowed = allowed_cores().map_err(error)?;
    if !allowed.contains(&core) {
        return Err(PinError::NotAllowed { core, allowed });
    }
    let mut set = empty_set();
    // SAFETY: CPU_SET writes one bit of the set; `core` was found in a set of the same size.
    unsafe { libc::CPU_SET(core, &mut set) };
    // SAFETY: thread 0 is the caller; the set is valid and has the given size.
    match unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) } {
        0 => Ok(()),
        _ => Err(error(io::Error::last_os_error())),
    }
}

fn affinity() -> io::Result<libc::cpu_set_t> {
    let mut set = empty_set();
    // SAFETY: thread 0 is the caller; the set is valid for writes of the given size.
    match unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) } {
        0 => Ok(set),
        _ => Err(io::Error::last_os_error()),
    }
}

fn empty_set() -> libc::cpu_set_t {
    // SAFETY: a CPU set is an array of integers, for which zero is valid: no core.
    unsafe { core::mem::zeroed() }
}

/// Formats cores in ascending order as ranges: `0-1, 5`. A long list is cut, because it is part of
/// a one-line message.
fn ranges(cores: &[usize]) -> String {
    const SHOWN: usize = 16;
    let mut ranges = cores.chunk_by(|before, after| before + 1 == *after);
    let shown: Vec<String> = ranges
        .by_ref()
        .take(SHOWN)
        .map(|range| match range {
            [core] => core.to_string(),
            [first, .., last] => format!("{first}-{last}"),
            [] => String::new(),
        })
        .collect();
    let more = if ranges.next().is_some() { ", ..." } else { "" };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pinned_thread_has_one_allowed_core() {
        std::thread::spawn(|| {
            let core = *allowed_cores().unwrap().last().unwrap();
            pin(core).unwrap();
            assert_eq!(allowed_cores().unwrap(), [core]);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn formats_cores_as_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), "0-2, 5, 7-8");
        assert_eq!(ranges(&[3]), "3");
        let odd: Vec<usize> = (0..20).map(|index| 2 * index + 1).collect();
        assert!(ranges(&odd).ends_with(", 31, ..."));
        assert_eq!(ranges(&odd[..16]).split(", ").count(), 16);
    }

    #[test]
    fn error_lists_allowed_cores() {
        let error = pin(1_023).unwrap_err().to_string();
        let first = allowed_cores().unwrap()[0].to_string();
        assert!(error.starts_with("cannot pin to core 1023: allowed cores are "), "{error}");
        assert!(error.contains(&first), "{error}");
        assert!(matches!(pin(usize::MAX), Err(PinError::NotAllowed { .. })));
    }
}
