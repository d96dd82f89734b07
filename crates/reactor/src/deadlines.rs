//! The deadlines of sources.

use hairpin_endpoint::SourceDeadline;
use hairpin_time::Instant;

use crate::sources::Sources;
use crate::{Interest, Ready, Token};

/// The sources that have a deadline. Most reactors have none, or one.
#[derive(Debug, Default)]
pub(crate) struct Deadlines(Vec<(Token, SourceDeadline)>);

impl Deadlines {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn add(&mut self, token: Token, deadline: Option<SourceDeadline>) {
        self.0.extend(deadline.map(|deadline| (token, deadline)));
    }

    pub(crate) fn remove(&mut self, token: Token) {
        self.0.retain(|&(other, _)| other != token);
    }

    /// Returns the earliest deadline of the sources in which there is interest.
    pub(crate) fn earliest(&self, sources: &Sources) -> Option<Instant> {
        self.0
            .iter()
            .filter(|&&(token, _)| sources.interest(token) != Interest::NONE)
            .filter_map(|(_, deadline)| deadline.get())
            .min()
    }

    /// Adds the sources whose deadline has passed at `now` to the result of a wait. Returns the
    /// first group of results; the next waits report the others.
    pub(crate) fn add_passed(
        &self,
        now: Option<Instant>,
        ready: Ready,
        sources: &mut Sources,
    ) -> Ready {
        let (_, groups) = sources.parts();
        groups.record_all(ready);
        for (token, deadline) in &self.0 {
            if now.zip(deadline.get()).is_some_and(|(now, deadline)| deadline <= now) {
                groups.record(*token, Interest::BOTH);
            }
        }
        groups.take_pending().unwrap_or(Ready::EMPTY)
    }
}
