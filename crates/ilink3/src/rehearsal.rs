//! A send without sending.

use crate::sender::Outgoing;
use crate::{FRAMING_HEADER_LENGTH, SendError, Sender};

impl Sender<'_> {
    /// Does all that [`send`](Self::send) does up to the point where others could see it: checks
    /// the message, encodes it in the room of the outlet's next one, numbers and stamps it. Then it
    /// is as if nothing had happened: no number is used, nothing is kept, counted, limited or
    /// written, and the next message takes its place.
    ///
    /// What it is for: the code and the memory a send needs are in the processor's caches only for
    /// as long as nothing else drives them out. Who sends rarely calls this in between, often
    /// enough, with the kind of message that is to be sent.
    ///
    /// # Errors
    /// [`SendError`], for which `send` would be refused too, or would have to wait for a journal
    /// to make room. It is not counted.
    pub fn warm_up<M: Outgoing>(&mut self, message: &M) -> Result<(), SendError> {
        let counters = self.outbound.counters;
        let rehearsed = self.rehearse(message);
        self.outbound.counters = counters;
        rehearsed
    }

    fn rehearse<M: Outgoing>(&mut self, message: &M) -> Result<(), SendError> {
        self.outbound.check(self.now, message, false)?;
        let room = self.outlet.rehearse(FRAMING_HEADER_LENGTH + M::MAX_LENGTH);
        let length =
            self.outbound.encode(self.now, message, room.map_err(SendError::OutboundSink)?)?;
        let seq_num = self.outbound.progress.next_outgoing;
        core::hint::black_box(message.request_id(seq_num));
        self.outlet.rehearse_commit(length, seq_num);
        Ok(())
    }
}
