//! The thread that forks a host's child processes.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

/// A thread in its host's network namespace that forks the host's child processes.
///
/// A child asks the kernel for SIGKILL at the death of its parent (`PR_SET_PDEATHSIG`). For the
/// kernel, the parent is the *thread* that forked the child. So children are forked by this thread,
/// which lives exactly as long as its host.
#[derive(Debug)]
pub(crate) struct Spawner {
    /// Dropped first, which ends the thread.
    requests: Option<Sender<Request>>,
    thread: Option<JoinHandle<()>>,
}

struct Request {
    command: Command,
    reply: SyncSender<io::Result<Child>>,
}

impl Spawner {
    /// Starts the thread, which first runs `prepare`.
    ///
    /// # Errors
    /// The error of `prepare`, or the kernel's if the thread cannot be started.
    pub(crate) fn start<T: Send + 'static>(
        prepare: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<(Self, T)> {
        let (requests, inbox) = channel();
        let (prepared, outcome) = sync_channel(1);
        let thread = Builder::new().name("host".into()).spawn(move || {
            let result = prepare();
            let is_prepared = result.is_ok();
            if prepared.send(result).is_ok() && is_prepared {
                serve(&inbox);
            }
        })?;
        let spawner = Self { requests: Some(requests), thread: Some(thread) };
        let value = outcome.recv().map_err(|_| thread_ended())??;
        Ok((spawner, value))
    }

    /// Starts `command` from the thread; see [`crate::Host::spawn`].
    pub(crate) fn spawn(
        &self,
        mut command: Command,
        inherit: &[BorrowedFd<'_>],
    ) -> io::Result<Child> {
        let inherit: Vec<RawFd> = inherit.iter().map(AsRawFd::as_raw_fd).collect();
        if inherit.iter().any(|&fd| fd <= libc::STDERR_FILENO) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let parent = std::process::id();
        // SAFETY: between fork and exec, the closure makes only system calls and allocates nothing
        // (an `io::Error` with an errno is a plain number). The descriptors are open: they are
        // borrowed until the answer arrives, and the command is dropped with this closure before.
        unsafe {
            command.pre_exec(move || {
                kill_with_parent(parent)?;
                inherit.iter().try_for_each(|&fd| keep_across_exec(fd))
            });
        }
        let (reply, answer) = sync_channel(1);
        let requests = self.requests.as_ref().ok_or_else(thread_ended)?;
        requests.send(Request { command, reply }).map_err(|_| thread_ended())?;
        answer.recv().map_err(|_| thread_ended())?
    }
}

impl Drop for Spawner {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has already been printed.
            let _ = thread.join();
        }
    }
}

fn serve(inbox: &Receiver<Request>) {
    while let Ok(Request { mut command, reply }) = inbox.recv() {
        let child = command.spawn();
        drop(command);
        // The caller waits for the answer, so sending cannot fail.
        let _ = reply.send(child);
    }
}

#[cold]
fn thread_ended() -> io::Error {
    io::Error::other("the host's thread has ended")
}

/// Requests SIGKILL for the calling process when the thread that forked it ends.
fn kill_with_parent(parent: u32) -> io::Result<()> {
    // SAFETY: the call takes two integers and accesses no memory of the process.
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // If the parent died before the request, the signal is never sent.
    // SAFETY: the call takes no argument and always succeeds.
    if unsafe { libc::getppid() }.cast_unsigned() != parent {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}

/// Clears the close-on-exec flag. Runs in the child, which has its own descriptor table.
fn keep_across_exec(fd: RawFd) -> io::Result<()> {
    // SAFETY: the call takes integers and accesses no memory of the process.
    match unsafe { libc::fcntl(fd, libc::F_SETFD, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
