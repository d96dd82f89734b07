//! A line and the feeds that receive it.

use std::hint::black_box;

use hairpin_endpoint::ReceiveBuffer;
use hairpin_mdp3::{Feed, FeedLine};

use crate::{LineAddress, LineCounters, LineStatistics};

/// A line of an engine, opened once for all of its feeds.
#[derive(Debug)]
pub(crate) struct SharedLine {
    pub(crate) address: LineAddress,
    pub(crate) subscriptions: Vec<Subscription>,
    /// `true` after the line was joined in the engine.
    pub(crate) joined: bool,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

/// A side of a channel's feed on a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subscription {
    pub(crate) handler: usize,
    pub(crate) feed: Feed,
    pub(crate) side: FeedLine,
    /// `true` while the channel needs the feed.
    pub(crate) joined: bool,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

impl Subscription {
    pub(crate) fn new(handler: usize, feed: Feed, side: FeedLine) -> Self {
        Self { handler, feed, side, joined: false, packets: 0, bytes: 0 }
    }

    #[inline]
    pub(crate) fn is_incremental(&self) -> bool {
        self.feed == Feed::Incremental
    }
}

impl SharedLine {
    pub(crate) fn new(address: LineAddress) -> Self {
        Self { address, subscriptions: Vec::new(), joined: false, packets: 0, bytes: 0 }
    }

    /// Reads the memory that the line's next packet will read.
    #[inline]
    pub(crate) fn prefetch(&self) {
        black_box((self.packets, self.subscriptions.first().map(|first| first.packets)));
    }

    /// Returns `true` if any feed needs the line.
    pub(crate) fn is_wanted(&self) -> bool {
        self.subscriptions.iter().any(|subscription| subscription.joined)
    }

    /// Returns the counters of a channel's feeds on this line.
    pub(crate) fn statistics(
        &self,
        handler: usize,
        counters: LineCounters,
    ) -> impl Iterator<Item = LineStatistics> {
        let matching = self.subscriptions.iter().filter(move |it| it.handler == handler);
        matching.map(move |subscription| LineStatistics {
            feed: subscription.feed,
            side: subscription.side,
            group: self.address.group,
            joined: subscription.joined,
            datagrams: subscription.packets,
            bytes: subscription.bytes,
            receive_buffer: counters.receive_buffer.unwrap_or(ReceiveBuffer::NONE),
            kernel_drops: counters.drops,
            truncated: counters.truncated,
        })
    }
}
