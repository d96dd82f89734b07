//! The thread from which a host's children are forked.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

/// One thread, in its host's network namespace, that forks the host's children.
///
/// A child is told to die with its parent, and for that (`PR_SET_PDEATHSIG`) the kernel takes the
/// *thread* that forked it for its parent. So no child is forked by a thread that comes and goes:
/// this one lives exactly as long as its host.
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
    /// Starts the thread and runs `prepare` on it before all else.
    ///
    /// # Errors
    /// That of `prepare`, or that of starting a thread.
    pub(crate) fn start<T: Send + 'static>(
        prepare: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<(Self, T)> {
        let (requests, inbox) = channel();
        let (prepared, outcome) = sync_channel(1);
        let thread = Builder::new().name("host".into()).spawn(move || {
            let result = prepare();
            let goes_on = result.is_ok();
            if prepared.send(result).is_ok() && goes_on {
                serve(&inbox);
            }
        })?;
        let spawner = Self { requests: Some(requests), thread: Some(thread) };
        let value = outcome.recv().map_err(|_| gone())??;
        Ok((spawner, value))
    }

    /// Forks and executes `command` on the thread; see [`crate::Host::spawn`].
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
        // SAFETY: between fork and exec only system calls are made and nothing is allocated (an
        // `io::Error` of an errno is a plain number). The descriptors are open then: they are
        // borrowed until the answer comes, and the command is dropped with this closure before.
        unsafe {
            command.pre_exec(move || {
                die_with(parent)?;
                inherit.iter().try_for_each(|&fd| keep_across_exec(fd))
            });
        }
        let (reply, answer) = sync_channel(1);
        let requests = self.requests.as_ref().ok_or_else(gone)?;
        requests.send(Request { command, reply }).map_err(|_| gone())?;
        answer.recv().map_err(|_| gone())?
    }
}

impl Drop for Spawner {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            // It does not panic; were it to, the panic has been printed where it happened.
            let _ = thread.join();
        }
    }
}

fn serve(inbox: &Receiver<Request>) {
    while let Ok(Request { mut command, reply }) = inbox.recv() {
        let child = command.spawn();
        drop(command);
        // Whoever asked is waiting for the answer.
        let _ = reply.send(child);
    }
}

#[cold]
fn gone() -> io::Error {
    io::Error::other("the host's thread has ended")
}

/// Has the kernel kill the calling process as soon as the thread that forked it ends.
fn die_with(parent: u32) -> io::Result<()> {
    // SAFETY: takes two integers and touches no memory of ours.
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // The parent may have died in between, and then nothing will ever be sent.
    // SAFETY: takes nothing and always succeeds.
    if unsafe { libc::getppid() }.cast_unsigned() != parent {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}

/// Clears close-on-exec; called in the child, whose table of descriptors is its own.
fn keep_across_exec(fd: RawFd) -> io::Result<()> {
    // SAFETY: takes integers and touches no memory of ours.
    match unsafe { libc::fcntl(fd, libc::F_SETFD, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
