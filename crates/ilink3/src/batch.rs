//! Several messages that leave together.

use crate::{Delivery, Sender};

/// What has become of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Batched<T> {
    /// What the closure has returned.
    pub value: T,
    /// How far the bytes of its messages are; of a batch within another they wait for its end.
    pub delivery: Delivery,
}

impl Sender<'_> {
    /// Sends what `send` sends with one write, as far as the outlet can: all of it is kept first,
    /// and leaves when `send` returns. In between nothing else leaves.
    ///
    /// Within `send` each message is checked, numbered, kept and limited as ever, and its
    /// [`Sent`](crate::Sent) says that it waits. One that is refused is refused alone: those before
    /// it leave, and so do those after it.
    ///
    /// Without a batch each message has a write of its own, and on TCP a segment of its own: the
    /// exchange reads it as soon as it can. Together they cost one system call, and the last of
    /// them leaves earlier, the first later.
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
        self.outlet.begin_batch();
        self.outbound.batches += 1;
        let mut open = Open { sender: self, delivery: None };
        let value = send(open.sender);
        let delivery = open.close();
        Batched { value, delivery }
    }
}

/// A batch that has to be ended, whatever happens in it.
struct Open<'a, 'b> {
    sender: &'a mut Sender<'b>,
    delivery: Option<Delivery>,
}

impl Open<'_, '_> {
    fn close(&mut self) -> Delivery {
        if let Some(delivery) = self.delivery {
            return delivery;
        }
        let (delivery, left) = self.sender.outlet.end_batch();
        self.sender.outbound.batches -= 1;
        self.sender.outbound.not_written(delivery, left);
        *self.delivery.insert(delivery)
    }
}

impl Drop for Open<'_, '_> {
    fn drop(&mut self) {
        self.close();
    }
}
