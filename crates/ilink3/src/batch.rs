//! Batches: several business messages in one write.

use crate::{Delivery, Sender};

/// The result of [`Sender::batch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Batched<T> {
    /// The closure's return value.
    pub value: T,
    /// The delivery state of the batch. A nested batch reports `Waiting` until the outermost batch
    /// ends.
    pub delivery: Delivery,
}

impl Sender<'_> {
    /// Runs `send` and writes all messages that it sends with one write, if the sink supports it.
    /// The sink keeps each message at once and writes all of them when `send` returns. No other
    /// message is written in between.
    ///
    /// Each message in `send` is checked, numbered, kept and throttled as usual, and its
    /// [`Sent`](crate::Sent) reports that it is waiting. A rejected message does not affect the
    /// others in the batch.
    ///
    /// Without a batch, each message has its own write, and on TCP its own segment. The exchange
    /// can read it immediately. A batch costs one system call: the last message leaves earlier, the
    /// first one later.
    ///
    /// ```
    /// # use hairpin_ilink3::{NewOrder, SendError, Sender};
    /// # type Outcome = Result<(), SendError>;
    /// # fn quote(sender: &mut Sender<'_>, bid: NewOrder, offer: NewOrder) -> Outcome {
    /// let batched = sender.batch(|sender| {
    ///     sender.send(&bid)?;
    ///     sender.send(&offer)
    /// });
    /// batched.value?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn batch<T>(&mut self, send: impl FnOnce(&mut Self) -> T) -> Batched<T> {
        self.sink.begin_batch();
        self.outbound.batches += 1;
        let mut open = OpenBatch { sender: self, delivery: None };
        let value = send(open.sender);
        let delivery = open.close();
        Batched { value, delivery }
    }
}

/// An open batch. Dropping it ends the batch, also on a panic.
struct OpenBatch<'a, 'b> {
    sender: &'a mut Sender<'b>,
    delivery: Option<Delivery>,
}

impl OpenBatch<'_, '_> {
    fn close(&mut self) -> Delivery {
        if let Some(delivery) = self.delivery {
            return delivery;
        }
        let (delivery, left) = self.sender.sink.end_batch();
        self.sender.outbound.batches -= 1;
        self.sender.outbound.record_unwritten(delivery, left);
        *self.delivery.insert(delivery)
    }
}

impl Drop for OpenBatch<'_, '_> {
    fn drop(&mut self) {
        self.close();
    }
}
