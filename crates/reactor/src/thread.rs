//! Named threads on cores of their own.

use std::any::Any;
use std::io;
use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};

use hairpin_host::{PinError, name_thread, pin, set_timer_slack};
use hairpin_time::Duration;
use thiserror::Error;

use crate::Wait;

/// Why a thread was not started.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// It cannot run on the core it was to run on.
    #[error("thread {name}: {source}")]
    Pin {
        /// The thread's name.
        name: String,
        /// Why not.
        source: PinError,
    },
    /// The kernel refused a thread.
    #[error("thread {name}: cannot start: {source}")]
    Start {
        /// The thread's name.
        name: String,
        /// What the kernel said.
        source: io::Error,
    },
}

/// Why threads cannot all spin.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SpinError {
    /// More threads would spin than there are cores for them.
    #[error("{asked} threads cannot spin on {cores} cores; let some wait by epoll")]
    TooMany {
        /// Threads that were to spin.
        asked: usize,
        /// Cores that this process may use.
        cores: usize,
    },
    /// Two threads would spin on one core.
    #[error("threads {} and {} cannot both spin on core {core}", names[0], names[1])]
    SameCore {
        /// The core.
        core: usize,
        /// The threads.
        names: [String; 2],
    },
}

/// Whether of threads with these names, cores and waits those that spin have a core each.
///
/// # Errors
/// [`SpinError`] with the first that have not.
pub fn check_spinning<'a>(
    threads: impl Iterator<Item = (&'a str, Option<usize>, Wait)>,
) -> Result<(), SpinError> {
    let spinning: Vec<_> = threads.filter(|(.., wait)| *wait == Wait::Spin).collect();
    let (asked, cores) =
        (spinning.len(), std::thread::available_parallelism().map_or(1, usize::from));
    if asked > cores {
        return Err(SpinError::TooMany { asked, cores });
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

/// A thread's body has panicked, with these words.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("panicked: {0}")]
pub struct Panic(pub String);

impl Panic {
    /// The words of what [`Thread::join`] gives as an error.
    #[must_use]
    pub fn of(payload: &(dyn Any + Send)) -> Self {
        let words = payload.downcast_ref::<&str>().map(|words| (*words).to_owned());
        let words = words.or_else(|| payload.downcast_ref::<String>().cloned());
        Self(words.unwrap_or_else(|| "without words".to_owned()))
    }
}

/// A thread started by [`spawn`]. Dropped, it runs on by itself.
#[derive(Debug)]
pub struct Thread<T>(JoinHandle<Option<T>>);

impl<T> Thread<T> {
    /// Waits for the thread to end and returns what its body did.
    ///
    /// # Errors
    /// What the body panicked with.
    pub fn join(self) -> std::thread::Result<T> {
        self.0.join().map(|outcome| outcome.expect("spawn returns threads whose body has begun"))
    }

    /// Whether the body has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

/// Starts a thread with a name and, if `core` is given, on that core alone; returns when `body`
/// is about to begin there. Its timers are as exact as the kernel can make them.
///
/// `ps -L`, `top -H` and `perf` show the first 15 bytes of the name.
///
/// # Errors
/// [`SpawnError::Pin`] if the core is not one this process may use, with those that are.
pub fn spawn<T: Send + 'static>(
    name: &str,
    core: Option<usize>,
    body: impl FnOnce() -> T + Send + 'static,
) -> Result<Thread<T>, SpawnError> {
    let (report, settled) = mpsc::sync_channel(1);
    let label = name.to_owned();
    let start = move || {
        let outcome = settle(&label, core);
        let may_begin = outcome.is_ok();
        // Whoever starts the thread is waiting for this, or is ending with the whole process.
        let _ = report.send(outcome);
        may_begin.then(body)
    };
    let thread = Builder::new()
        .spawn(start)
        .map_err(|source| SpawnError::Start { name: name.to_owned(), source })?;
    settled.recv().expect("the thread reports before it can end")?;
    Ok(Thread(thread))
}

/// What the new thread does for itself before its body begins.
fn settle(name: &str, core: Option<usize>) -> Result<(), SpawnError> {
    let refused = |source| SpawnError::Start { name: name.to_owned(), source };
    name_thread(name).map_err(refused)?;
    set_timer_slack(Duration::from_nanos(1)).map_err(refused)?;
    core.map_or(Ok(()), pin).map_err(|source| SpawnError::Pin { name: name.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_its_name_and_its_core() {
        let core = hairpin_host::allowed_cores().unwrap()[0];
        let thread = spawn("trader", Some(core), || {
            let name = std::fs::read_to_string("/proc/thread-self/comm").unwrap();
            (name.trim_end().to_owned(), hairpin_host::allowed_cores().unwrap())
        });
        assert_eq!(thread.unwrap().join().unwrap(), ("trader".to_owned(), vec![core]));
    }

    #[test]
    fn a_thread_without_a_core_may_run_on_all() {
        let allowed = hairpin_host::allowed_cores().unwrap();
        let thread = spawn("floating", None, || hairpin_host::allowed_cores().unwrap());
        assert_eq!(thread.unwrap().join().unwrap(), allowed);
    }

    #[test]
    fn a_core_that_is_not_allowed_is_an_error_and_the_body_never_begins() {
        let outcome = spawn("trader", Some(1_023), || panic!("must not begin"));
        let error = outcome.unwrap_err().to_string();
        assert!(error.starts_with("thread trader: core 1023 is not one this process"), "{error}");
    }

    #[test]
    fn a_panic_comes_out_of_join() {
        let thread = spawn("doomed", None, || std::panic::resume_unwind(Box::new("gone"))).unwrap();
        let reason: Box<dyn std::any::Any + Send> = Thread::<()>::join(thread).unwrap_err();
        assert_eq!(reason.downcast_ref(), Some(&"gone"));
    }

    #[test]
    fn threads_that_spin_have_a_core_each() {
        let cores = std::thread::available_parallelism().unwrap().get();
        let many = |count, wait| check_spinning((0..count).map(move |_| ("t", None, wait)));
        assert_eq!(many(cores, Wait::Spin), Ok(()));
        assert_eq!(many(cores + 1, Wait::Epoll), Ok(()));
        let error = many(cores + 1, Wait::Spin).unwrap_err();
        assert_eq!(error, SpinError::TooMany { asked: cores + 1, cores });
        if cores > 1 {
            let two = |core, wait| {
                check_spinning([("a", Some(0), Wait::Spin), ("b", core, wait)].into_iter())
            };
            assert_eq!((two(Some(1), Wait::Spin), two(None, Wait::Spin)), (Ok(()), Ok(())));
            assert_eq!(two(Some(0), Wait::Epoll), Ok(()));
            let error = two(Some(0), Wait::Spin).unwrap_err().to_string();
            assert_eq!(error, "threads a and b cannot both spin on core 0");
        }
    }

    #[test]
    fn a_panic_has_its_words() {
        let words = |payload: Box<dyn Any + Send>| Panic::of(&*payload).to_string();
        assert_eq!(words(Box::new("plain")), "panicked: plain");
        assert_eq!(words(Box::new(String::from("made"))), "panicked: made");
        assert_eq!(words(Box::new(7)), "panicked: without words");
    }
}
