//! Named threads on cores of their own.

use std::io;
use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};

use hairpin_host::{PinError, name_thread, pin, set_timer_slack};
use hairpin_time::Duration;
use thiserror::Error;

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
}
