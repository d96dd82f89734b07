//! The tie between a child process and the one that started it.

use std::io;

use thiserror::Error;

/// Why this process is not tied to its parent.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ParentError {
    /// The parent had ended before the tie was made.
    #[error("process {0}, which started this one, has ended")]
    Gone(u32),
    /// The kernel refused.
    #[error("cannot ask for a signal at the parent's end: {0}")]
    Refused(#[from] io::Error),
}

/// Has the kernel kill this process as soon as the process `parent` ends, however it ends.
///
/// For the first lines of a child's `main`; `parent` is the parent's id, handed over by it, since
/// a child that asks for its parent may already be told its next one. The kernel follows the
/// *thread* that started the child: it must live as long as the child shall.
///
/// # Errors
/// [`ParentError::Gone`] if `parent` is not the parent (any more): the child should end.
pub fn die_with_parent(parent: u32) -> Result<(), ParentError> {
    let signal = libc::c_ulong::try_from(libc::SIGKILL).expect("signals are positive");
    // SAFETY: PR_SET_PDEATHSIG takes a number and touches no memory of ours.
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, signal) } != 0 {
        return Err(io::Error::last_os_error().into());
    }
    // Only now: had it ended between the question and the request, no signal would come.
    if std::os::unix::process::parent_id() == parent {
        Ok(())
    } else {
        Err(ParentError::Gone(parent))
    }
}
