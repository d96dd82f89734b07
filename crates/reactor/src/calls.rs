//! Calls from other threads, which end the wait of the one that is called.

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

/// An end is asked for. The rest of the word is the number of calls that wait, or are about to.
const STOP: u32 = 1 << 31;

/// Why a thread could not be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CallError {
    /// As many calls as there may be wait already.
    #[error("too many calls wait for the thread")]
    Full,
    /// The thread has ended.
    #[error("the thread has ended")]
    Ended,
}

/// A queue of at most `max` calls to a thread that is to wait by `wait`: the end for other threads
/// and the end for that one.
///
/// A thread that spins looks at the queue in each turn, and a call costs no system call. Any other
/// is woken by a socket, which is written to only if the queue was empty; under [`Wait::Block`] it
/// may take a timeout of the source that is blocked in.
///
/// # Errors
/// The kernel's, for the socket.
pub fn calls<C>(max: usize, wait: Wait) -> io::Result<(Caller<C>, Calls<C>)> {
    let pair = (wait != Wait::Spin).then(UnixStream::pair).transpose()?;
    for end in pair.iter().flat_map(|(ours, theirs)| [ours, theirs]) {
        end.set_nonblocking(true)?;
    }
    let (waker, woken) = pair.unzip();
    let (queue, waiting) = sync_channel(max);
    let word = Arc::new(AtomicU32::new(0));
    let waker = waker.map(Arc::new);
    // Kept here too: with its last owner the socket would end, and be ready forever.
    let socket = woken.zip(waker.clone()).map(|(woken, waker)| WakeSocket { woken, _waker: waker });
    let caller = Caller { queue, word: Arc::clone(&word), waker };
    Ok((caller, Calls { waiting, word, socket, token: None }))
}

/// The end of a queue of calls that other threads have; each may have its own.
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
    /// Puts a call into the queue and ends the thread's wait; returns at once. Calls of one caller
    /// are found in their order.
    ///
    /// # Errors
    /// [`CallError`], and the call is gone.
    pub fn call(&self, call: C) -> Result<(), CallError> {
        // Before it can be taken: the thread counts it off, and does not wait while it is above 0.
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

    /// Asks the thread to end; it may have ended already.
    pub fn stop(&self) {
        self.word.fetch_or(STOP, Ordering::AcqRel);
        self.wake();
    }

    fn wake(&self) {
        if let Some(mut waker) = self.waker.as_deref() {
            // If it takes no more it is readable, and if nobody has the other end nobody waits.
            let _ = waker.write(&[0]);
        }
    }
}

/// The end of a queue of calls that the called thread has.
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
    /// Has `reactor` end its wait when there is a call.
    ///
    /// # Errors
    /// The reactor's.
    pub fn register(&mut self, reactor: &mut Reactor) -> io::Result<()> {
        if let Some(socket) = &mut self.socket {
            self.token = Some(reactor.add(socket, Interest::READABLE)?);
        }
        Ok(())
    }

    /// Leaves the reactor; to be done before this is dropped.
    ///
    /// # Errors
    /// The reactor's.
    pub fn remove(&mut self, reactor: &mut Reactor) -> io::Result<()> {
        match (&mut self.socket, self.token.take()) {
            (Some(socket), Some(token)) => reactor.remove(token, socket),
            _ => Ok(()),
        }
    }

    /// What a wait has brought: the next one waits again.
    #[inline]
    pub fn handle_ready(&mut self, ready: Ready) {
        if let (Some(socket), Some(token)) = (&mut self.socket, self.token)
            && ready.is_readable(token)
        {
            socket.drain();
        }
    }

    /// Whether a call waits or is about to: then the thread must not.
    #[inline]
    #[must_use]
    pub fn is_called(&self) -> bool {
        self.word.load(Ordering::Acquire) & !STOP != 0
    }

    /// Whether the thread was asked to end.
    #[inline]
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.word.load(Ordering::Acquire) & STOP != 0
    }

    /// Takes the next call, if it has arrived.
    pub fn take(&mut self) -> Option<C> {
        let call = self.waiting.try_recv().ok()?;
        self.word.fetch_sub(1, Ordering::AcqRel);
        Some(call)
    }
}

impl WakeSocket {
    #[cold]
    fn drain(&mut self) {
        // One byte for each time the queue was empty; what is left is readable again.
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
    fn a_call_ends_every_wait_and_the_next_one_waits_again() {
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
                let deadline = calls.is_called().then_some(Instant::ZERO);
                let ready = reactor.wait(Instant::from_nanos(1), deadline).unwrap();
                calls.handle_ready(ready);
                taken.extend(calls.take());
            }
            assert_eq!(taken, [1, 2, 3], "{wait}");
            thread.join().unwrap();
            assert!(!calls.is_called());
            if ![Wait::Spin, Wait::Block].contains(&wait) {
                let soon = Some(Instant::from_nanos(2));
                let ready = reactor.wait(Instant::from_nanos(1), soon).unwrap();
                calls.handle_ready(ready);
                let ready = reactor.wait(Instant::from_nanos(1), soon).unwrap();
                assert!(ready.is_nothing(), "{wait}");
            }
            calls.remove(&mut reactor).unwrap();
            assert_eq!(reactor.count(), 0);
        }
    }

    #[test]
    fn what_is_refused_is_not_counted() {
        let (caller, mut calls) = calls(2, Wait::Epoll).unwrap();
        assert_eq!((caller.call('a'), caller.clone().call('b')), (Ok(()), Ok(())));
        assert_eq!(caller.call('c'), Err(CallError::Full));
        assert_eq!((calls.take(), calls.is_called()), (Some('a'), true));
        assert_eq!((calls.take(), calls.take()), (Some('b'), None));
        assert!(!calls.is_called() && !calls.is_stopped());
        caller.stop();
        assert!(!calls.is_called() && calls.is_stopped());
        drop(calls);
        assert_eq!(caller.call('d'), Err(CallError::Ended));
        caller.stop();
    }
}
