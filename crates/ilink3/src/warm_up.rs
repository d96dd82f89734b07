//! Warm-up of the send path.

use crate::sender::Outgoing;
use crate::{FRAMING_HEADER_LENGTH, SendError, Sender};

impl Sender<'_> {
    /// Executes [`send`](Self::send) without visible effects: checks, encodes, numbers and stamps
    /// the message in the sink's buffer. No number is used, and nothing is kept, counted, throttled
    /// or written. The next message overwrites the buffer.
    ///
    /// Use it to keep the send path in the CPU caches. A strategy that sends rarely calls it
    /// between sends, with the message type that it will send.
    ///
    /// # Errors
    /// [`SendError`], if `send` would be rejected too or would have to wait for room in the
    /// journal. The error is not counted.
    pub fn warm_up<M: Outgoing>(&mut self, message: &M) -> Result<(), SendError> {
        let counters = self.outbound.counters;
        let result = self.encode_for_warm_up(message);
        self.outbound.counters = counters;
        result
    }

    /// Encodes like [`send`](Self::send) in the sink's buffer, without visible effects except for
    /// the counters of refused messages.
    pub(crate) fn encode_for_warm_up<M: Outgoing>(&mut self, message: &M) -> Result<(), SendError> {
        self.outbound.check(self.now, message, false)?;
        let room = self.sink.warm_up(FRAMING_HEADER_LENGTH + M::MAX_LENGTH);
        let length = self.outbound.encode(self.now, message, room.map_err(SendError::Sink)?)?;
        let seq_num = self.outbound.progress.next_outgoing;
        core::hint::black_box(message.request_id(seq_num));
        self.sink.warm_up_commit(length, seq_num);
        Ok(())
    }
}
