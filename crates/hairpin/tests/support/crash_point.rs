//! The crash point of a simulated process, which lies between any two of its steps.
#![allow(dead_code, reason = "each simulation uses a part")]

use std::cell::{Cell, RefCell};
use std::panic::resume_unwind;

use hairpin_netsim::Census;

/// The process crashed.
#[derive(Debug)]
pub(crate) struct Crashed;

/// Counts the steps of a process, and crashes the process at an armed step.
#[derive(Debug, Default)]
pub(crate) struct CrashPoint {
    /// The number of steps before the crash.
    left: Cell<Option<u64>>,
    /// The class of the steps that count, or all classes.
    only: Cell<Option<&'static str>>,
    pub(crate) census: RefCell<Census>,
}

impl CrashPoint {
    /// Crashes the process after `steps` further steps.
    pub(crate) fn arm(&self, steps: u64) {
        self.left.set(Some(steps));
        self.only.set(None);
    }

    /// Crashes the process after `steps` further steps of `class`.
    pub(crate) fn arm_at(&self, class: &'static str, steps: u64) {
        self.left.set(Some(steps));
        self.only.set(Some(class));
    }

    /// Disarms the crash point.
    pub(crate) fn disarm(&self) {
        self.left.set(None);
    }

    /// Counts a step of `class`. Panics with [`Crashed`] if the process crashes here.
    pub(crate) fn step(&self, class: &'static str) {
        match self.left.get() {
            None => {}
            Some(_) if self.only.get().is_some_and(|only| only != class) => {}
            Some(0) => {
                self.left.set(None);
                self.census.borrow_mut().count(class);
                resume_unwind(Box::new(Crashed));
            }
            Some(left) => self.left.set(Some(left - 1)),
        }
    }
}
