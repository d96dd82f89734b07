//! The response to NotApplied.

use hairpin_cme_codecs::ilink3::NotApplied513;

use super::{Context, Session};
use crate::listener::NotApplied;
use crate::{Listener, NotAppliedAnswer, Warning};

impl Session {
    /// Fills the gap with a Sequence or replays the messages before the listener can send anything.
    /// Until then the exchange accepts no message.
    pub(super) fn handle_not_applied<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        message: NotApplied513<'_>,
    ) {
        if !self.check_uuid(context, message.uuid()) {
            return;
        }
        self.inbound.counters.not_applied += 1;
        let not_applied =
            NotApplied { from_seq_no: message.from_seq_no(), count: message.msg_count() };
        let last = not_applied.from_seq_no.saturating_add(not_applied.count).saturating_sub(1);
        if !self.outbound.has_replayed(last) {
            self.answer_not_applied(context, not_applied);
        }
        self.notify(context, |listener, sender| listener.on_not_applied(sender, not_applied));
    }

    fn answer_not_applied<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        not_applied: NotApplied,
    ) {
        let from = not_applied.from_seq_no;
        let preferred = self.policy.not_applied;
        let can_replay = self.outbound.can_replay(from);
        let answer = match preferred {
            NotAppliedAnswer::Replay if !can_replay => {
                self.outbound.counters.not_replayed += 1;
                self.warn(context, Warning::NotReplayed { from });
                NotAppliedAnswer::FillGap
            }
            preferred if can_replay => context.listener.answer_not_applied(not_applied, preferred),
            preferred => preferred,
        };
        match answer {
            NotAppliedAnswer::FillGap => self.outbound.fill_gap(context.now, &mut *context.sink),
            NotAppliedAnswer::Replay => {
                self.outbound.replay(context.now, &mut *context.sink, from);
            }
        }
    }
}
