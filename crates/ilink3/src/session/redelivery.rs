//! Messages that an earlier process has kept, given to the listener of this one.

use hairpin_cme_codecs::ilink3::SCHEMA_ID;
use hairpin_time::Now;

use super::inbound::Frame;
use super::{Context, Session};
use crate::{Listener, OutboundSink, Warning};

impl Session {
    /// Calls the listener for a message that an earlier process was [given to
    /// keep](OutboundSink::keep) and never to [mark](OutboundSink::mark): it died before the
    /// callback had
    /// returned, or before it was called. The [`Message`](crate::Message) says so.
    ///
    /// `message` is as it was kept. The numbers stay as they are: what was kept is counted in the
    /// `progress` the session was made with. One that cannot be read is a warning. Redeliver all
    /// of them, in order, before the session connects.
    pub fn redeliver<L: Listener>(
        &mut self,
        now: Now,
        message: &[u8],
        outlet: &mut dyn OutboundSink,
        listener: &mut L,
    ) {
        let mut context = Context { now, outlet, listener };
        self.is_redelivering = true;
        match Frame::decode(message) {
            Ok(frame) if frame.header.schema_id == SCHEMA_ID => {
                self.handle_business_message(&mut context, frame);
            }
            _ => self.not_redelivered(&mut context, 0),
        }
        self.is_redelivering = false;
    }

    #[cold]
    pub(super) fn not_redelivered<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        template_id: u16,
    ) {
        self.inbound.counters.not_redelivered += 1;
        self.warn(context, Warning::NotRedelivered { template_id });
    }
}
