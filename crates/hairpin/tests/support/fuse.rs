//! The moment at which a process dies: between any two things it does.
#![allow(dead_code, reason = "each simulation uses its part")]

use std::cell::{Cell, RefCell};
use std::panic::resume_unwind;

use hairpin_netsim::Census;

/// The process has died.
#[derive(Debug)]
pub(crate) struct Died;

/// Counts what a process does, and ends it in between when it is told to.
#[derive(Debug, Default)]
pub(crate) struct Fuse {
    /// Steps that it still makes.
    left: Cell<Option<u64>>,
    /// Only steps of this class count.
    only: Cell<Option<&'static str>>,
    pub(crate) census: RefCell<Census>,
}

impl Fuse {
    /// The process dies after so many steps more.
    pub(crate) fn light(&self, steps: u64) {
        self.left.set(Some(steps));
        self.only.set(None);
    }

    /// The process dies after so many steps of `class` more.
    pub(crate) fn light_at(&self, class: &'static str, steps: u64) {
        self.left.set(Some(steps));
        self.only.set(Some(class));
    }

    /// It does not die.
    pub(crate) fn put_out(&self) {
        self.left.set(None);
    }

    /// The process is about to do, or has done, what `class` says; here it dies, or goes on.
    pub(crate) fn step(&self, class: &'static str) {
        match self.left.get() {
            None => {}
            Some(_) if self.only.get().is_some_and(|only| only != class) => {}
            Some(0) => {
                self.left.set(None);
                self.census.borrow_mut().count(class);
                resume_unwind(Box::new(Died));
            }
            Some(left) => self.left.set(Some(left - 1)),
        }
    }
}
