//! The live counters of this process, which `hairpin stat` shows.

use std::io::Write;

use hairpin_mapped::{CounterPage, CounterWriter};
use hairpin_time::Instant;

/// The counter page of this thread, or `None` if the kernel refuses one: a command runs without it.
#[derive(Debug, Default)]
pub struct CounterPublisher(Option<CounterPage>);

impl CounterPublisher {
    /// Creates the page with the counters and values that `write` writes.
    ///
    /// `title` is the command and the arguments that distinguish this process from others of its
    /// kind, as on a command line. Every user who may read the page sees it, so it is built from
    /// values that are no secret and never copied from the command line. `name` is the thread's.
    pub fn new(title: &str, name: &str, write: impl Fn(&mut CounterWriter<'_>)) -> Self {
        let page = CounterPage::create(title, name, write);
        if let Err(error) = &page {
            let _ = writeln!(
                std::io::stderr(),
                "hairpin: cannot publish live counters for `stat`: {error}"
            );
        }
        Self(page.ok())
    }

    /// Updates the page if that is due: at most every 10 ms if `idle`, and every 100 ms otherwise.
    /// Costs one comparison if it is not due.
    #[inline]
    pub fn update_if_due(
        &mut self,
        now: Instant,
        idle: bool,
        write: impl FnOnce(&mut CounterWriter<'_>),
    ) {
        if let Some(page) = &mut self.0 {
            page.update_if_due(now, idle, write);
        }
    }

    /// Updates the page now, so that it shows the final values of what has just ended.
    pub fn update(&mut self, now: Instant, write: impl FnOnce(&mut CounterWriter<'_>)) {
        if let Some(page) = &mut self.0 {
            page.update(now, write);
        }
    }
}

#[cfg(test)]
mod tests {
    use hairpin_mapped::Unit;

    use super::*;

    #[test]
    fn runs_without_a_page() {
        let mut counters = CounterPublisher::new("", "no title", |writer| {
            writer.counter("a", "b", Unit::Count, 1);
        });
        assert!(counters.0.is_none());
        counters.update_if_due(Instant::from_nanos(1 << 40), true, |_| unreachable!());
        counters.update(Instant::ZERO, |_| unreachable!());
    }
}
