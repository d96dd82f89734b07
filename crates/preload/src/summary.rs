//! The counts of the run, and its last line.

use std::ffi::c_int;
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use hairpin_stack::{RunCount, RunSummary};

use crate::settings::settings;
use crate::{addresses, counters, guard, log};

/// The counts once opened, never freed.
static SUMMARY: AtomicPtr<RunSummary> = AtomicPtr::new(null_mut());
/// The messages of this process that the run's counts include: bypassing, and through the kernel.
static INCLUDED: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// Runs [`print`] when the process exits.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = {
    extern "C" fn at_exit() {
        print();
    }
    at_exit
};

/// Returns the counts of the run; `None` if it prints no last line.
fn summary() -> Option<&'static RunSummary> {
    let descriptor = settings().summary?;
    // SAFETY: a published value is never freed.
    if let Some(summary) = unsafe { SUMMARY.load(Ordering::Acquire).as_ref() } {
        return Some(summary);
    }
    // SAFETY: the program cannot close the descriptor. This value is never dropped: two threads
    // that open the counts at the same time keep both.
    let opened = RunSummary::open(unsafe { OwnedFd::from_raw_fd(descriptor) }).ok()?;
    let opened = Box::into_raw(Box::new(opened));
    SUMMARY.store(opened, Ordering::Release);
    // SAFETY: as above.
    unsafe { opened.as_ref() }
}

/// Counts one of a kind. The caller is inside the library.
pub(crate) fn count(count: RunCount) {
    if let Some(summary) = summary() {
        summary.add(count, 1);
    }
}

/// Returns `true` if a socket's local address is loopback and the run counts that.
pub(crate) fn is_on_loopback(fd: c_int) -> bool {
    settings().summary.is_some()
        && addresses::local(fd).is_some_and(|local| local.ip().to_canonical().is_loopback())
}

/// Adds the messages since the last call to the run's counts. The caller is inside the library.
pub(crate) fn include_messages() {
    let Some(summary) = summary() else { return };
    let counts = [RunCount::Bypassed, RunCount::Kernel];
    for ((count, now), included) in counts.into_iter().zip(counters::messages()).zip(&INCLUDED) {
        let before = included.fetch_max(now, Ordering::Relaxed);
        summary.add(count, now.saturating_sub(before));
    }
}

/// Excludes the messages of the parent, in a forked child.
pub(crate) fn forget() {
    if settings().summary.is_some() {
        for (now, included) in counters::messages().into_iter().zip(&INCLUDED) {
            included.store(now, Ordering::Relaxed);
        }
    }
}

/// Prints the last line if the first process of the run ends.
#[cold]
pub(crate) fn print() {
    let Some(_inside) = guard::enter() else { return };
    include_messages();
    let Some(summary) = summary().filter(|summary| summary.is_first_process()) else { return };
    let command = std::fs::read_to_string("/proc/self/comm").unwrap_or_default();
    if let Some(line) = summary.take_line(command.trim()) {
        log::print(&line);
    }
}
