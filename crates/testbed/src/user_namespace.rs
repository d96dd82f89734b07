//! Network namespaces for an ordinary user, by way of a user namespace.

use std::fs;
use std::io::{self, Read, Write};

use crate::namespace::unshare;

/// The bits of `CapEff` in `/proc/self/status` that a network namespace takes: CAP_NET_ADMIN to
/// set it up and CAP_SYS_ADMIN to make and enter it (linux/capability.h).
const CAPABILITIES: u64 = 1 << 12 | 1 << 21;

/// Why the process is in no user namespace of its own.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UserNamespaceError {
    /// The process has more than one thread already.
    #[error("a user namespace must be entered before the process has {0} threads")]
    Threads(usize),
    /// The kernel, or whoever configured it, does not want it. Nothing has changed.
    #[error("{step}: {}", in_words(reason))]
    Refused {
        /// What was refused, in words.
        step: &'static str,
        /// The kernel's reason.
        reason: io::Error,
    },
}

/// A step on the way to network namespaces for an ordinary user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Looking at this process, and asking a child to try.
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

    const fn refusal(self) -> &'static str {
        match self {
            Self::Probe => "a user namespace cannot be tried",
            Self::User => "a user namespace is refused",
            Self::Map => "a user namespace cannot be mapped",
            Self::Network => "a network namespace in a user namespace is refused",
        }
    }
}

/// Lets an ordinary user's process make network namespaces, by moving it into a user namespace.
///
/// To be called first thing in `main`, while the process is single-threaded: the kernel moves no
/// others. A process that may make network namespaces as it is (root) is left alone.
///
/// The process keeps its user and group in there, sees other users' files as nobody's, and can
/// change no groups. Its children inherit the namespace, and at `exec` lose the privileges in it.
///
/// Whether the whole way is open cannot be known without going it: some kernels let anyone
/// make a user namespace and give no rights in it. So a forked child goes first, and this process
/// follows only where the child got through; a refusal changes nothing here.
///
/// # Errors
/// [`UserNamespaceError::Threads`] and [`Refused`](UserNamespaceError::Refused), each of one line.
pub fn enter_user_namespace() -> Result<(), UserNamespaceError> {
    if may_make_namespaces() {
        return Ok(());
    }
    let refused =
        |(step, reason): (Step, _)| UserNamespaceError::Refused { step: step.refusal(), reason };
    let tasks = fs::read_dir("/proc/self/task").map_err(|reason| refused((Step::Probe, reason)))?;
    match tasks.count() {
        1 => {}
        threads => return Err(UserNamespaceError::Threads(threads)),
    }
    probe().map_err(refused)?;
    enter().map_err(refused)
}

/// The kernel's reason; that of a limit reached, "No space left on device", needs translation.
fn in_words(reason: &io::Error) -> String {
    match reason.raw_os_error() {
        Some(libc::ENOSPC) => "a limit in /proc/sys/user is reached".into(),
        _ => reason.to_string(),
    }
}

/// True if this process sees its users through the map of a user namespace.
pub(crate) fn in_user_namespace() -> bool {
    let everyone = ["0", "0", "4294967295"];
    fs::read_to_string("/proc/self/uid_map").is_ok_and(|map| !map.split_whitespace().eq(everyone))
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
    // SAFETY: both take nothing and always succeed.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    unshare(libc::CLONE_NEWUSER).map_err(|reason| (Step::User, reason))?;
    let map = |file, line: String| {
        fs::write(format!("/proc/self/{file}"), line).map_err(|reason| (Step::Map, reason))
    };
    // Without this an ordinary user may not map a group: see user_namespaces(7).
    map("setgroups", "deny".into())?;
    map("uid_map", format!("{user} {user} 1"))?;
    map("gid_map", format!("{group} {group} 1"))
}

/// Goes the whole way in a forked child.
fn probe() -> Attempt {
    let (mut report, reporter) = io::pipe().map_err(|reason| (Step::Probe, reason))?;
    // SAFETY: the process is single-threaded, so that the child is a whole copy of it: no lock is
    // held by a thread that is not there.
    match unsafe { libc::fork() } {
        -1 => Err((Step::Probe, io::Error::last_os_error())),
        0 => {
            let outcome = enter().and_then(|()| {
                unshare(libc::CLONE_NEWNET).map_err(|reason| (Step::Network, reason))
            });
            // SAFETY: ends the child here and now: nothing that the parent will do at its end,
            // such as writing out buffers, is done twice.
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

/// Waits for the probe to be gone.
fn reap(child: libc::pid_t) {
    // SAFETY: a null status is allowed. Fails only if the child is already reaped, or by a signal.
    while unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) } < 0
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
}

/// What the child reports: nought, or the step and the error's number.
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
        // Killed before it could say a word, as some sandboxes do.
        _ => Err((Step::Probe, io::ErrorKind::UnexpectedEof.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_carries_step_and_reason() {
        for step in Step::ALL {
            let sent = Err((step, io::Error::from_raw_os_error(libc::ENOSPC)));
            let (found, reason) = decode(&encode(&sent)).unwrap_err();
            assert_eq!((found, reason.raw_os_error()), (step, Some(libc::ENOSPC)));
        }
        assert!(decode(&encode(&Ok(()))).is_ok());
    }

    #[test]
    fn a_probe_that_says_nothing_has_failed() {
        for answer in [&[][..], &[0, 1], &[4, 1, 0, 0, 0], &[0; 6]] {
            assert_eq!(decode(answer).unwrap_err().0, Step::Probe, "{answer:?}");
        }
    }
}
