//! Which cores a thread may run on.

use std::io;

use thiserror::Error;

/// Why a thread could not be pinned.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PinError {
    /// The core does not exist, or a container, `taskset` or cpuset keeps this process off it.
    #[error("core {core} is not one this process may use ({})", list(.allowed))]
    NotAllowed {
        /// The core that was asked for.
        core: usize,
        /// The cores that may be used, in order.
        allowed: Vec<usize>,
    },
    /// The kernel refused.
    #[error("cannot pin to core {core}: {source}")]
    Refused {
        /// The core that was asked for.
        core: usize,
        /// What the kernel said.
        source: io::Error,
    },
}

/// The cores the calling thread may run on, in order; after [`pin`], that one.
///
/// # Errors
/// The kernel's, if it knows more than 1,024 cores or denies the call.
pub fn allowed_cores() -> io::Result<Vec<usize>> {
    let set = affinity()?;
    // SAFETY: CPU_ISSET reads one bit of the set, and every index below CPU_SETSIZE is in it.
    Ok((0..libc::CPU_SETSIZE as usize)
        .filter(|&core| unsafe { libc::CPU_ISSET(core, &set) })
        .collect())
}

/// Keeps the calling thread on `core`, counted from 0 as the kernel does.
///
/// Threads started from this one afterwards inherit it.
///
/// # Errors
/// [`PinError::NotAllowed`] if the core is none of [`allowed_cores`], [`PinError::Refused`] with
/// the kernel's reason.
pub fn pin(core: usize) -> Result<(), PinError> {
    let refused = |source| PinError::Refused { core, source };
    let allowed = allowed_cores().map_err(refused)?;
    if !allowed.contains(&core) {
        return Err(PinError::NotAllowed { core, allowed });
    }
    let mut set = empty_set();
    // SAFETY: CPU_SET writes one bit of the set; `core` was found in one of the same size.
    unsafe { libc::CPU_SET(core, &mut set) };
    // SAFETY: thread 0 is the caller; the set is valid and of the size given.
    match unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) } {
        0 => Ok(()),
        _ => Err(refused(io::Error::last_os_error())),
    }
}

fn affinity() -> io::Result<libc::cpu_set_t> {
    let mut set = empty_set();
    // SAFETY: thread 0 is the caller; the set is valid for writes of the size given.
    match unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) } {
        0 => Ok(set),
        _ => Err(io::Error::last_os_error()),
    }
}

fn empty_set() -> libc::cpu_set_t {
    // SAFETY: a set of cores is an array of integers, for which zero is a value: no core.
    unsafe { core::mem::zeroed() }
}

/// `0, 1, 5`; a long list is cut, for it stands in a one-line message.
fn list(cores: &[usize]) -> String {
    const SHOWN: usize = 16;
    let shown: Vec<String> = cores.iter().take(SHOWN).map(usize::to_string).collect();
    let more = if cores.len() > SHOWN { ", ..." } else { "" };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_may_run_on_its_core_alone() {
        std::thread::spawn(|| {
            let core = *allowed_cores().unwrap().last().unwrap();
            pin(core).unwrap();
            assert_eq!(allowed_cores().unwrap(), [core]);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_core_that_is_not_there_is_refused_with_the_ones_that_are() {
        let error = pin(1_023).unwrap_err().to_string();
        let first = allowed_cores().unwrap()[0].to_string();
        assert!(error.starts_with("core 1023 is not one this process may use ("), "{error}");
        assert!(error.contains(&first), "{error}");
        assert!(matches!(pin(usize::MAX), Err(PinError::NotAllowed { .. })));
    }
}
