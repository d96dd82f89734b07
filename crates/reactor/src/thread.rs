//! Named, pinned threads.

use std::any::Any;
use std::io;
use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};

use hairpin_host::{PinError, name_thread, pin, set_timer_slack};
use hairpin_time::Duration;
use thiserror::Error;

use crate::Wait;

/// The error of starting a thread.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// The thread cannot be pinned to its core.
    #[error("cannot start thread {name}: {source}")]
    Pin {
        /// The thread's name.
        name: String,
        /// The cause.
        source: PinError,
    },
    /// The kernel cannot start a thread.
    #[error("cannot start thread {name}: {source}")]
    Start {
        /// The thread's name.
        name: String,
        /// The kernel's error.
        source: io::Error,
    },
}

/// The error of too many spinning threads.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SpinError {
    /// More threads would spin than there are cores.
    #[error("cannot spin {requested} threads on {cores} cores: let some wait with epoll")]
    TooMany {
        /// The number of threads that would spin.
        requested: usize,
        /// The number of cores that this process may use.
        cores: usize,
    },
    /// Two threads would spin on one core.
    #[error(
        "cannot spin threads {} and {} on core {core}: a spinning thread needs its own core",
        names[0], names[1]
    )]
    SameCore {
        /// The core.
        core: usize,
        /// The names of the threads.
        names: [String; 2],
    },
}

/// Checks that each spinning thread among these has a core of its own. Each item is a name, a core
/// and a wait.
///
/// # Errors
/// [`SpinError`] for the first conflict.
pub fn check_spinning<'a>(
    threads: impl Iterator<Item = (&'a str, Option<usize>, Wait)>,
) -> Result<(), SpinError> {
    let spinning: Vec<_> = threads.filter(|(.., wait)| *wait == Wait::Spin).collect();
    let (requested, cores) =
        (spinning.len(), std::thread::available_parallelism().map_or(1, usize::from));
    if requested > cores {
        return Err(SpinError::TooMany { requested, cores });
    }
    for (position, &(name, core, _)) in spinning.iter().enumerate() {
        let Some(core) = core else { continue };
        let other = spinning[..position].iter().find(|(_, theirs, _)| *theirs == Some(core));
        if let Some(&(other, ..)) = other {
            return Err(SpinError::SameCore { core, names: [other.to_owned(), name.to_owned()] });
        }
    }
    Ok(())
}

/// The message of a panic in a thread's body.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("panicked: {0}")]
pub struct Panic(pub String);

impl Panic {
    /// Extracts the message from an error of [`Thread::join`].
    #[must_use]
    pub fn from_payload(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Self(text.unwrap_or_else(|| "no message".to_owned()))
    }
}

/// A thread started by [`spawn`]. If the handle is dropped, the thread continues.
#[derive(Debug)]
pub struct Thread<T>(JoinHandle<Option<T>>);

impl<T> Thread<T> {
    /// Waits for the thread to end and returns the result of its body.
    ///
    /// # Errors
    /// The payload of a panic in the body.
    pub fn join(self) -> std::thread::Result<T> {
        self.0
            .join()
            .map(|outcome| outcome.expect("spawn returns only threads whose body has started"))
    }

    /// Returns `true` if the body has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

/// Starts a thread with a name and pins it to `core` if one is given. Returns when `body` is about
/// to begin. The thread's timers have minimum slack.
///
/// `ps -L`, `top -H` and `perf` show the first 15 bytes of the name.
///
/// # Errors
/// [`SpawnError::Pin`] if this process may not use the core, with the allowed cores.
pub fn spawn<T: Send + 'static>(
    name: &str,
    core: Option<usize>,
    body: impl FnOnce() -> T + Send + 'static,
) -> Result<Thread<T>, SpawnError> {
    let (report, outcome_receiver) = mpsc::sync_channel(1);
    let label = name.to_owned();
    let start = move || {
        let outcome = init_thread(&label, core);
        let may_begin = outcome.is_ok();
        // The starting thread waits for this message, or the process is ending.
        let _ = report.send(outcome);
        may_begin.then(body)
    };
    let thread = Builder::new()
        .spawn(start)
        .map_err(|source| SpawnError::Start { name: name.to_owned(), source })?;
    outcome_receiver.recv().expect("the thread reports before it ends")?;
    Ok(Thread(thread))
}

/// Sets the thread's name, timer slack and core, before its body begins.
fn init_thread(name: &str, core: Option<usize>) -> Result<(), SpawnError> {
    let refused = |source| SpawnError::Start { name: name.to_owned(), source };
    name_thread(name).map_err(refused)?;
    set_timer_slack(Duration::from_nanos(1)).map_err(refused)?;
    core.map_or(Ok(()), pin).map_err(|source| SpawnError::Pin { name: name.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_has_name_and_core() {
        let core = hairpin_host::allowed_cores().unwrap()[0];
        let thread = spawn("trader", Some(core), || {
            let name = std::fs::read_to_string("/proc/thread-self/comm").unwrap();
            (name.trim_end().to_owned(), hairpin_host::allowed_cores().unwrap())
        });
        assert_eq!(thread.unwrap().join().unwrap(), ("trader".to_owned(), vec![core]));
    }

    #[test]
    fn thread_without_core_may_run_on_all() {
        let allowed = hairpin_host::allowed_cores().unwrap();
        let thread = spawn("floating", None, || hairpin_host::allowed_cores().unwrap());
        assert_eq!(thread.unwrap().join().unwrap(), allowed);
    }

    #[test]
    fn fails_on_forbidden_core_before_body_starts() {
        let outcome = spawn("trader", Some(1_023), || panic!("the body must not start"));
        let error = outcome.unwrap_err().to_string();
        assert!(
            error.starts_with("cannot start thread trader: cannot pin to core 1023: "),
            "{error}"
        );
    }

    #[test]
    fn join_returns_panic() {
        let thread =
            spawn("doomed", None, || std::panic::resume_unwind(Box::new("reason"))).unwrap();
        let reason: Box<dyn std::any::Any + Send> = Thread::<()>::join(thread).unwrap_err();
        assert_eq!(reason.downcast_ref(), Some(&"reason"));
    }

    #[test]
    fn spinning_threads_need_own_cores() {
        let cores = std::thread::available_parallelism().unwrap().get();
        let many = |count, wait| check_spinning((0..count).map(move |_| ("t", None, wait)));
        assert_eq!(many(cores, Wait::Spin), Ok(()));
        assert_eq!(many(cores + 1, Wait::Epoll), Ok(()));
        let error = many(cores + 1, Wait::Spin).unwrap_err();
        assert_eq!(error, SpinError::TooMany { requested: cores + 1, cores });
        if cores > 1 {
            let two = |core, wait| {
                check_spinning([("a", Some(0), Wait::Spin), ("b", core, wait)].into_iter())
            };
            assert_eq!((two(Some(1), Wait::Spin), two(None, Wait::Spin)), (Ok(()), Ok(())));
            assert_eq!(two(Some(0), Wait::Epoll), Ok(()));
            let error = two(Some(0), Wait::Spin).unwrap_err().to_string();
            assert_eq!(
                error,
                "cannot spin threads a and b on core 0: a spinning thread needs its own core"
            );
        }
    }

    #[test]
    fn panic_has_message() {
        let text = |payload: Box<dyn Any + Send>| Panic::from_payload(&*payload).to_string();
        assert_eq!(text(Box::new("plain")), "panicked: plain");
        assert_eq!(text(Box::new(String::from("made"))), "panicked: made");
        assert_eq!(text(Box::new(7)), "panicked: no message");
    }
}
