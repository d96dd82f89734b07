//! A line, and who receives it.

use std::hint::black_box;

use hairpin_endpoint::ReceiveBuffer;
use hairpin_mdp3::{Feed, FeedLine};

use crate::{LineAddress, LineFigures, LineStatistics};

/// A line of an engine, opened once for all the feeds on it.
#[derive(Debug)]
pub(crate) struct SharedLine {
    pub(crate) address: LineAddress,
    pub(crate) subscriptions: Vec<Subscription>,
    /// What the engine has been told.
    pub(crate) is_joined: bool,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

/// A side of a feed of a channel that comes by a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subscription {
    pub(crate) handler: usize,
    pub(crate) feed: Feed,
    pub(crate) side: FeedLine,
    /// Whether the channel wants it now.
    pub(crate) is_joined: bool,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

impl Subscription {
    pub(crate) fn new(handler: usize, feed: Feed, side: FeedLine) -> Self {
        Self { handler, feed, side, is_joined: false, packets: 0, bytes: 0 }
    }

    #[inline]
    pub(crate) fn is_incremental(&self) -> bool {
        self.feed == Feed::Incremental
    }
}

impl SharedLine {
    pub(crate) fn new(address: LineAddress) -> Self {
        Self { address, subscriptions: Vec::new(), is_joined: false, packets: 0, bytes: 0 }
    }

    /// Reads what the next packet on it will read.
    #[inline]
    pub(crate) fn prefetch(&self) {
        black_box((self.packets, self.subscriptions.first().map(|first| first.packets)));
    }

    /// Whether any channel wants it now.
    pub(crate) fn is_wanted(&self) -> bool {
        self.subscriptions.iter().any(|subscription| subscription.is_joined)
    }

    /// What a channel has received by it.
    pub(crate) fn statistics(
        &self,
        handler: usize,
        figures: LineFigures,
    ) -> impl Iterator<Item = LineStatistics> {
        let of = self.subscriptions.iter().filter(move |it| it.handler == handler);
        of.map(move |subscription| LineStatistics {
            feed: subscription.feed,
            side: subscription.side,
            group: self.address.group,
            is_joined: subscription.is_joined,
            datagrams: subscription.packets,
            bytes: subscription.bytes,
            receive_buffer: figures.receive_buffer.unwrap_or(ReceiveBuffer::NONE),
            kernel_drops: figures.drops,
            truncated: figures.truncated,
        })
    }
}
