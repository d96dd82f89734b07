//! Network namespaces for an ordinary user, in a user namespace.

use std::fs;
use std::io::{self, Read, Write};

use crate::namespace::unshare;

/// The bits of `CapEff` in `/proc/self/status` that a network namespace requires: CAP_NET_ADMIN to
/// set it up, CAP_SYS_ADMIN to create and enter it (linux/capability.h).
const CAPABILITIES: u64 = 1 << 12 | 1 << 21;

/// The reason for which the process cannot enter a user namespace of its own.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UserNamespaceError {
    /// The process has more than one thread.
    #[error("cannot enter a user namespace: the process has {0} threads, must have 1")]
    Threads(usize),
    /// The kernel or its configuration rejects it. The process is unchanged.
    #[error("cannot {step}: {}", describe(reason))]
    Refused {
        /// The rejected step.
        step: &'static str,
        /// The kernel's error.
        reason: io::Error,
    },
}

/// A step towards network namespaces for an ordinary user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Reading this process's state and trying the other steps in a child.
    Probe,
    /// unshare(CLONE_NEWUSER).
    User,
    /// Writing setgroups, uid_map and gid_map.
    Map,
    /// unshare(CLONE_NEWNET) inside the user namespace.
    Network,
}

impl Step {
    const ALL: [Self; 4] = [Self::Probe, Self::User, Self::Map, Self::Network];

    const fn description(self) -> &'static str {
        match self {
            Self::Probe => "probe a user namespace",
            Self::User => "create a user namespace",
            Self::Map => "map the user in a user namespace",
            Self::Network => "create a network namespace in a user namespace",
        }
    }
}

/// Moves an ordinary user's process into a user namespace, in which it may create network
/// namespaces.
///
/// Call this at the start of `main`: the kernel moves only a single-threaded process. A process
/// that may create network namespaces already (root) stays unchanged.
///
/// The process keeps its user and group. Files of other users appear as owned by `nobody`, and
/// groups cannot be changed. Children inherit the namespace and lose the privileges in it at
/// `exec`.
///
/// Some kernels let every user create a user namespace but give no rights in it. So a forked child
/// tries all steps first, and this process follows only if the child succeeded. A rejection
/// therefore leaves this process unchanged.
///
/// # Errors
/// [`UserNamespaceError::Threads`] and [`Refused`](UserNamespaceError::Refused), one line each.
pub fn enter_user_namespace() -> Result<(), UserNamespaceError> {
    if may_make_namespaces() {
        return Ok(());
    }
    let refused = |(step, reason): (Step, _)| UserNamespaceError::Refused {
        step: step.description(),
        reason,
    };
    let tasks = fs::read_dir("/proc/self/task").map_err(|reason| refused((Step::Probe, reason)))?;
    match tasks.count() {
        1 => {}
        threads => return Err(UserNamespaceError::Threads(threads)),
    }
    probe().map_err(refused)?;
    enter().map_err(refused)
}

/// Returns the text of the kernel's error. For a limit, the text would be the misleading "No space
/// left on device".
fn describe(reason: &io::Error) -> String {
    match reason.raw_os_error() {
        Some(libc::ENOSPC) => "a limit in /proc/sys/user is reached".into(),
        _ => reason.to_string(),
    }
}

/// Returns `true` if the users of this process are mapped by a user namespace.
pub(crate) fn in_user_namespace() -> bool {
    let identity = ["0", "0", "4294967295"];
    fs::read_to_string("/proc/self/uid_map").is_ok_and(|map| !map.split_whitespace().eq(identity))
}

fn may_make_namespaces() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    effective
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & CAPABILITIES == CAPABILITIES)
}

type Attempt = Result<(), (Step, io::Error)>;

/// Moves this process into a user namespace in which it keeps its user and group.
fn enter() -> Attempt {
    // SAFETY: both calls take no argument and always succeed.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    unshare(libc::CLONE_NEWUSER).map_err(|reason| (Step::User, reason))?;
    let map = |file, line: String| {
        fs::write(format!("/proc/self/{file}"), line).map_err(|reason| (Step::Map, reason))
    };
    // Otherwise an ordinary user must not map a group: see user_namespaces(7).
    map("setgroups", "deny".into())?;
    map("uid_map", format!("{user} {user} 1"))?;
    map("gid_map", format!("{group} {group} 1"))
}

/// Tries all steps in a forked child.
fn probe() -> Attempt {
    let (mut report, reporter) = io::pipe().map_err(|reason| (Step::Probe, reason))?;
    // SAFETY: the process is single-threaded, so the child is a complete copy: no lock is held by a
    // thread that the child lacks.
    match unsafe { libc::fork() } {
        -1 => Err((Step::Probe, io::Error::last_os_error())),
        0 => {
            let outcome = enter().and_then(|()| {
                unshare(libc::CLONE_NEWNET).map_err(|reason| (Step::Network, reason))
            });
            // SAFETY: ends the child at once. Exit handlers and buffers stay the parent's alone.
            unsafe { libc::_exit(i32::from((&reporter).write_all(&encode(&outcome)).is_err())) }
        }
        child => {
            drop(reporter);
            let mut answer = Vec::new();
            let read = report.read_to_end(&mut answer);
            reap(child);
            read.map_err(|reason| (Step::Probe, reason))?;
            decode(&answer)
        }
    }
}

/// Waits for the child to exit.
fn reap(child: libc::pid_t) {
    // SAFETY: a null status is allowed.
    while unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) } < 0
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
}

/// Encodes the child's report: the step (255 for success) and the errno in little-endian order.
fn encode(outcome: &Attempt) -> [u8; 5] {
    let (step, errno) = match outcome {
        Ok(()) => (u8::MAX, 0),
        Err((step, reason)) => (*step as u8, reason.raw_os_error().unwrap_or(0)),
    };
    let [a, b, c, d] = errno.to_le_bytes();
    [step, a, b, c, d]
}

fn decode(answer: &[u8]) -> Attempt {
    match *answer {
        [u8::MAX, ..] => Ok(()),
        [step, a, b, c, d] if usize::from(step) < Step::ALL.len() => {
            let reason = io::Error::from_raw_os_error(i32::from_le_bytes([a, b, c, d]));
            Err((Step::ALL[usize::from(step)], reason))
        }
        // The child was killed before its report, as some sandboxes do.
        _ => Err((Step::Probe, io::ErrorKind::UnexpectedEof.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_contain_step_and_errno() {
        for step in Step::ALL {
            let sent = Err((step, io::Error::from_raw_os_error(libc::ENOSPC)));
            let (found, reason) = decode(&encode(&sent)).unwrap_err();
            assert_eq!((found, reason.raw_os_error()), (step, Some(libc::ENOSPC)));
        }
        assert!(decode(&encode(&Ok(()))).is_ok());
    }

    #[test]
    fn incomplete_reports_are_failures() {
        for answer in [&[][..], &[0, 1], &[4, 1, 0, 0, 0], &[0; 6]] {
            assert_eq!(decode(answer).unwrap_err().0, Step::Probe, "{answer:?}");
        }
    }
}
