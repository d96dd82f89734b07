//! Calls to a reactor thread from other threads, which wake it.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use hairpin_endpoint::{Blocker, Source};
use hairpin_time::Duration;
use thiserror::Error;

use crate::{Interest, Reactor, Ready, Token, Wait};

/// The stop flag. The other bits of the word are the number of calls queued or about to be queued.
const STOP: u32 = 1 << 31;

/// The error of a call to a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CallError {
    /// The queue is full.
    #[error("cannot call the thread: too many queued calls")]
    Full,
    /// The thread has ended.
    #[error("cannot call the thread: it has ended")]
    Ended,
}

/// Creates a queue of at most `max` calls to a thread that waits by `wait`. Returns the end for
/// other threads and the end for that thread.
///
/// A spinning thread checks the queue in each iteration, and a call costs no system call. Any other
/// thread is woken through a socket, which is written only if the queue was empty. Under
/// [`Wait::Block`] the wakeup may take until the blocking receive times out.
///
/// # Errors
/// The kernel's errors for the socket.
pub fn calls<C>(max: usize, wait: Wait) -> io::Result<(Caller<C>, Calls<C>)> {
    let pair = (wait != Wait::Spin).then(UnixStream::pair).transpose()?;
    for end in pair.iter().flat_map(|(ours, theirs)| [ours, theirs]) {
        end.set_nonblocking(true)?;
    }
    let (waker, woken) = pair.unzip();
    let (queue, waiting) = sync_channel(max);
    let word = Arc::new(AtomicU32::new(0));
    let waker = waker.map(Arc::new);
    // Kept here too: if the last owner closed the socket, it would always be readable.
    let socket = woken.zip(waker.clone()).map(|(woken, waker)| WakeSocket { woken, _waker: waker });
    let caller = Caller { queue, word: Arc::clone(&word), waker };
    Ok((caller, Calls { waiting, word, socket, token: None }))
}

/// The calling end of the queue. Each thread may have a clone.
#[derive(Debug)]
pub struct Caller<C> {
    queue: SyncSender<C>,
    word: Arc<AtomicU32>,
    waker: Option<Arc<UnixStream>>,
}

impl<C> Clone for Caller<C> {
    fn clone(&self) -> Self {
        let waker = self.waker.as_ref().map(Arc::clone);
        Self { queue: self.queue.clone(), word: Arc::clone(&self.word), waker }
    }
}

impl<C> Caller<C> {
    /// Queues a call and wakes the thread. Returns immediately. Calls of one caller keep their
    /// order.
    ///
    /// # Errors
    /// [`CallError`]; the call is dropped.
    pub fn call(&self, call: C) -> Result<(), CallError> {
        // Counted before it can be taken: the thread decrements the count, and does not wait while
        // it is above 0.
        let before = self.word.fetch_add(1, Ordering::AcqRel);
        let sent = self.queue.try_send(call);
        if let Err(error) = sent {
            self.word.fetch_sub(1, Ordering::AcqRel);
            return Err(match error {
                TrySendError::Full(_) => CallError::Full,
                TrySendError::Disconnected(_) => CallError::Ended,
            });
        }
        if before & !STOP == 0 {
            self.wake();
        }
        Ok(())
    }

    /// Requests the thread to stop. It may have ended already.
    pub fn stop(&self) {
        self.word.fetch_or(STOP, Ordering::AcqRel);
        self.wake();
    }

    fn wake(&self) {
        if let Some(mut waker) = self.waker.as_deref() {
            // If the socket is full, the thread is already woken. If the other end is closed, no
            // thread waits.
            let _ = waker.write(&[0]);
        }
    }
}

/// The receiving end of the queue, in the called thread.
#[derive(Debug)]
pub struct Calls<C> {
    waiting: Receiver<C>,
    word: Arc<AtomicU32>,
    socket: Option<WakeSocket>,
    token: Option<Token>,
}

#[derive(Debug)]
struct WakeSocket {
    woken: UnixStream,
    _waker: Arc<UnixStream>,
}

impl<C> Calls<C> {
    /// Registers the queue with `reactor`, so that a call ends its wait.
    ///
    /// # Errors
    /// The reactor's errors.
    pub fn register(&mut self, reactor: &mut Reactor) -> io::Result<()> {
        if let Some(socket) = &mut self.socket {
            self.token = Some(reactor.add(socket, Interest::READABLE)?);
        }
        Ok(())
    }

    /// Removes the queue from the reactor. Required before the queue is dropped.
    ///
    /// # Errors
    /// The reactor's errors.
    pub fn remove(&mut self, reactor: &mut Reactor) -> io::Result<()> {
        match (&mut self.socket, self.token.take()) {
            (Some(socket), Some(token)) => reactor.remove(token, socket),
            _ => Ok(()),
        }
    }

    /// Handles the result of a wait, so that the next wait blocks again.
    #[inline]
    pub fn handle_ready(&mut self, ready: Ready) {
        if let (Some(socket), Some(token)) = (&mut self.socket, self.token)
            && ready.is_readable(token)
        {
            socket.drain();
        }
    }

    /// Returns `true` if a call is queued or about to be queued. The thread must not wait then.
    #[inline]
    #[must_use]
    pub fn has_calls(&self) -> bool {
        self.word.load(Ordering::Acquire) & !STOP != 0
    }

    /// Returns `true` if the thread was requested to stop.
    #[inline]
    #[must_use]
    pub fn is_stop_requested(&self) -> bool {
        self.word.load(Ordering::Acquire) & STOP != 0
    }

    /// Takes the next call, if one is queued.
    pub fn take(&mut self) -> Option<C> {
        let call = self.waiting.try_recv().ok()?;
        self.word.fetch_sub(1, Ordering::AcqRel);
        Some(call)
    }
}

impl WakeSocket {
    #[cold]
    fn drain(&mut self) {
        // There is one byte for each time the queue was empty. The rest is readable again.
        let _ = self.woken.read(&mut [0; 64]);
    }
}

impl AsFd for WakeSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.woken.as_fd()
    }
}

impl Source for WakeSocket {
    fn set_blocking(&mut self, _: Option<Duration>) -> io::Result<Option<Blocker>> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairpin_time::Instant;

    #[test]
    fn call_ends_every_wait_once() {
        for wait in Wait::ALL {
            if let Err(reason) = wait.probe() {
                println!("skipped: {wait}: {reason}");
                continue;
            }
            let (caller, mut calls) = calls(4, wait).unwrap();
            let mut reactor = Reactor::new(wait).unwrap();
            calls.register(&mut reactor).unwrap();
            let thread =
                std::thread::spawn(move || (1..=3).for_each(|it| caller.call(it).unwrap()));
            let mut taken = Vec::new();
            while taken.len() < 3 {
                let deadline = calls.has_calls().then_some(Instant::ZERO);
                let ready = reactor.wait(Instant::from_nanos(1), deadline).unwrap();
                calls.handle_ready(ready);
                taken.extend(calls.take());
            }
            assert_eq!(taken, [1, 2, 3], "{wait}");
            thread.join().unwrap();
            assert!(!calls.has_calls());
            if ![Wait::Spin, Wait::Block].contains(&wait) {
                let soon = Some(Instant::from_nanos(2));
                let ready = reactor.wait(Instant::from_nanos(1), soon).unwrap();
                calls.handle_ready(ready);
                let ready = reactor.wait(Instant::from_nanos(1), soon).unwrap();
                assert!(ready.is_empty(), "{wait}");
            }
            calls.remove(&mut reactor).unwrap();
            assert_eq!(reactor.count(), 0);
        }
    }

    #[test]
    fn rejected_call_is_not_counted() {
        let (caller, mut calls) = calls(2, Wait::Epoll).unwrap();
        assert_eq!((caller.call('a'), caller.clone().call('b')), (Ok(()), Ok(())));
        assert_eq!(caller.call('c'), Err(CallError::Full));
        assert_eq!((calls.take(), calls.has_calls()), (Some('a'), true));
        assert_eq!((calls.take(), calls.take()), (Some('b'), None));
        assert!(!calls.has_calls() && !calls.is_stop_requested());
        caller.stop();
        assert!(!calls.has_calls() && calls.is_stop_requested());
        drop(calls);
        assert_eq!(caller.call('d'), Err(CallError::Ended));
        caller.stop();
    }
}
