//! Redelivery of messages kept by a previous process.

use hairpin_cme_codecs::ilink3::SCHEMA_ID;
use hairpin_time::Now;

use super::inbound::Frame;
use super::{Context, Session};
use crate::{Listener, OutboundSink, Warning};

impl Session {
    /// Delivers a message that a previous process [kept](OutboundSink::keep) but never
    /// [marked](OutboundSink::mark): the process ended before the callback returned.
    /// [`Message::redelivered`](crate::Message::redelivered) is `true`.
    ///
    /// `message` is as it was kept. The sequence numbers do not change, because the session's
    /// initial `progress` includes kept messages. A message that cannot be decoded causes a
    /// warning. Redeliver all such messages, in order, before the session connects.
    pub fn redeliver<L: Listener>(
        &mut self,
        now: Now,
        message: &[u8],
        sink: &mut dyn OutboundSink,
        listener: &mut L,
    ) {
        let mut context = Context { now, sink, listener };
        self.redelivering = true;
        match Frame::decode(message) {
            Ok(frame) if frame.header.schema_id == SCHEMA_ID => {
                self.handle_business_message(&mut context, frame);
            }
            _ => self.report_not_redelivered(&mut context, 0),
        }
        self.redelivering = false;
    }

    #[cold]
    pub(super) fn report_not_redelivered<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        template_id: u16,
    ) {
        self.inbound.counters.not_redelivered += 1;
        self.warn(context, Warning::NotRedelivered { template_id });
    }
}
