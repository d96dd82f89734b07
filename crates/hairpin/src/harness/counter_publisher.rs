//! Live counters of this process: what `hairpin stat` shows while a command runs.

use std::io::Write;

use hairpin_mapped::{CounterPage, CounterWriter};
use hairpin_time::Instant;

/// The page of this thread, or none where the kernel refuses: no command fails for want of it.
#[derive(Debug, Default)]
pub(crate) struct Live(Option<CounterPage>);

impl Live {
    /// Publishes what `tell` names and states from now on.
    ///
    /// `title` is the command's word and what tells this process from others of its kind, in the
    /// form of a command line. Everybody who may look sees it: it is put together from what is
    /// known to be no secret, and never copied from the words of the command. `name` is the
    /// thread's.
    pub(crate) fn publish(title: &str, name: &str, tell: impl Fn(&mut CounterWriter<'_>)) -> Self {
        let page = CounterPage::create(title, name, tell);
        if let Err(error) = &page {
            let _ = writeln!(std::io::stderr(), "hairpin: no live counters for `stat`: {error}");
        }
        Self(page.ok())
    }

    /// Brings the page up to date if that is due: at most every 10 ms in turns at leisure
    /// (`is_quiet`), and every 100 ms in any case. Otherwise it costs a comparison.
    #[inline]
    pub(crate) fn update_if_due(
        &mut self,
        now: Instant,
        is_quiet: bool,
        tell: impl FnOnce(&mut CounterWriter<'_>),
    ) {
        if let Some(page) = &mut self.0 {
            page.update_if_due(now, is_quiet, tell);
        }
    }

    /// Brings the page up to date: what has just ended is to be seen as it ended.
    pub(crate) fn update(&mut self, now: Instant, tell: impl FnOnce(&mut CounterWriter<'_>)) {
        if let Some(page) = &mut self.0 {
            page.update(now, tell);
        }
    }
}

#[cfg(test)]
mod tests {
    use hairpin_mapped::Unit;

    use super::*;

    #[test]
    fn a_command_goes_on_without_a_page() {
        let mut live = Live::publish("", "no title", |sheet| {
            sheet.counter("a", "b", Unit::Count, 1);
        });
        assert!(live.0.is_none());
        live.update_if_due(Instant::from_nanos(1 << 40), true, |_| unreachable!());
        live.update(Instant::ZERO, |_| unreachable!());
    }
}
