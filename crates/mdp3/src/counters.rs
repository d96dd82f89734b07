//! The counters of a channel.

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counters of a channel since its creation. They only increase.
        ///
        /// "Sequenced" packets are those of the incremental feed, the only feed arbitrated between
        /// lines A and B.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Counters {
            /// Returns all counters with their names, in order of declaration.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }
        }
    };
}

counters! {
    /// Sequenced packets received on line A, including duplicates.
    packets_a,
    /// Sequenced packets received on line B, including duplicates.
    packets_b,
    /// Sequenced packets that arrived first on line A, so that this copy was processed.
    first_a,
    /// Sequenced packets that arrived first on line B, so that this copy was processed.
    first_b,
    /// Sequenced packets dropped as already received on either line, or as belonging to an epoch
    /// that their line has left.
    duplicates,
    /// Sequenced packets dropped because their line has not restarted its numbering yet.
    older_epoch_packets,
    /// Sequenced packets that arrived early and were buffered until the gap before them was filled.
    held_packets,
    /// Buffered packets of the lines discarded because numbering restarted before they were
    /// processed.
    abandoned_packets,
    /// Gaps: runs of sequenced packets that neither line delivered.
    gaps,
    /// Sequenced packets that neither line delivered.
    missed_packets,
    /// Gaps requested by TCP replay.
    replays,
    /// Gaps filled during their TCP replay.
    replays_filled,
    /// Gaps that TCP replay did not fill, entirely or in part.
    replays_given_up,
    /// TCP replay attempts that failed or timed out.
    replay_failures,
    /// Sequenced packets that TCP replay delivered first, so that this copy was processed.
    replayed_packets,
    /// TCP replay packets dropped as already received.
    replay_duplicates,
    /// Restarts of the incremental feed's numbering.
    restarts,
    /// ChannelReset messages applied.
    resets,
    /// Packets of the instrument feed.
    instrument_packets,
    /// Packets of the snapshot feed.
    snapshot_packets,
    /// Packets of the instrument or snapshot feed that the loop already delivered.
    loop_duplicates,
    /// Packets of the instrument, snapshot or replay feed received while the feed was not needed.
    unwanted_packets,
    /// Messages with a valid frame, of all feeds and templates.
    messages,
    /// AdminHeartbeat messages.
    heartbeats,
    /// Events ended by MatchEventIndicator bit 0x80, by another TransactTime or by a gap.
    events,
    /// Events among them without bit 0x80: ended by another TransactTime or by a gap.
    unfinished_events,
    /// Price level entries of the incremental feed that changed a direct book.
    book_entries,
    /// Price level entries of the incremental feed that changed an implied book.
    implied_entries,
    /// Price level entries with MDUpdateAction DeleteThru (3) or DeleteFrom (4). CME does not state
    /// their exact meaning, and no public capture contains any.
    level_range_deletes,
    /// Entries of the best market prices (MDEntryType `w` and `x`) applied.
    market_best_entries,
    /// BookReset entries applied, each of which empties both books of one instrument.
    book_resets,
    /// SecurityStatus messages.
    statuses,
    /// Trade entries.
    trades,
    /// Electronic volume entries.
    volumes,
    /// Entries of session and daily statistics.
    statistics,
    /// Entries of price limits and bands.
    limits,
    /// QuoteRequest messages.
    quote_requests,
    /// SecurityStatusWorkup messages.
    workups,
    /// CollateralMarketValue messages.
    collaterals,
    /// Instrument definitions, including repetitions.
    definitions,
    /// Slots of deleted instruments reused for others, because all slots were in use.
    slots_reused,
    /// Definitions of instruments that the filter rejects.
    unwanted_definitions,
    /// Entries of instruments that the filter rejects, or cannot accept before their definition.
    unwanted_entries,
    /// Books loaded from a snapshot.
    snapshots_applied,
    /// Snapshots rejected as older than the first available packet.
    snapshots_too_old,
    /// Snapshots rejected as too far ahead of the incremental feed to connect to it.
    snapshots_too_far_ahead,
    /// Instruments found empty and in sync because a complete snapshot pass did not name them.
    empty_by_absence,
    /// Books that started a natural refresh.
    refreshes,
    /// Books of depth 1 completed by natural refresh alone.
    refreshes_completed,
    /// Snapshots whose queued entries did not continue the snapshot's RptSeq.
    snapshots_not_continued,
    /// Changes of the channel from in sync to recovering.
    recoveries,
    /// Instruments that lost sync.
    instruments_out_of_sync,
    /// Instruments whose next RptSeq proved that a gap did not affect them.
    found_unaffected,
    /// Entries whose RptSeq was not the next of their instrument.
    rpt_seq_gaps,
    /// Entries dropped because a snapshot already contained them.
    entries_in_snapshot,
    /// Entries queued because their instrument was not in sync.
    withheld_entries,
    /// Packets of the order snapshot feed.
    order_snapshot_packets,
    /// Order entries of the incremental feed that changed an order book.
    order_entries,
    /// Top-order messages that replaced an instrument's top orders.
    order_overlays,
    /// Order entries and top orders dropped because a snapshot already contained them.
    orders_in_snapshot,
    /// Order entries queued because their order book was not in sync.
    withheld_orders,
    /// Order books that lost sync.
    order_books_out_of_sync,
    /// Order books found empty and in sync because a complete snapshot pass did not name them.
    order_books_empty_by_absence,
    /// Order books loaded from all chunks of a snapshot.
    order_snapshots_applied,
    /// Order snapshots discarded because another began before their last chunk arrived.
    order_snapshots_torn,
    /// Order snapshot chunks rejected as older than the first available packet.
    order_snapshots_too_old,
    /// Order snapshot chunks rejected as too far ahead of the incremental feed to connect to it.
    order_snapshots_too_far_ahead,
    /// Order snapshots whose queued entries could not be applied.
    order_snapshots_not_continued,
    /// Errors: packets shorter than the 12 bytes of a packet header.
    packets_too_short,
    /// Errors: messages whose MsgSize is smaller than the 10 bytes of a message header.
    message_sizes_too_small,
    /// Errors: messages whose MsgSize exceeds the packet.
    truncated_messages,
    /// Errors: packets with one to nine bytes after the last message.
    trailing_bytes,
    /// Errors: messages of a schema other than CME's market data schema.
    foreign_schemas,
    /// Errors: messages whose block or group does not fit in MsgSize.
    malformed_messages,
    /// Errors: book entries with an unknown action, level 0, no price, or no valid quantity.
    invalid_entries,
    /// Errors: book entries that name a level the book does not have.
    inapplicable_entries,
    /// Errors: snapshots with gaps between their levels.
    invalid_snapshots,
    /// Errors: new orders that were already in the book.
    existing_orders,
    /// Errors: changes and deletions of orders that were not in the book.
    missing_orders,
    /// Errors: order entries with an unknown action, no side, no price, or no valid quantity.
    invalid_orders,
    /// Errors: order entries that refer to a price level missing from their message.
    dangling_orders,
    /// Errors: order snapshots with an invalid chunk number or order.
    invalid_order_snapshots,
    /// Warnings: messages of templates that schema version 13 does not have.
    unknown_templates,
    /// Warnings: messages of a version newer than 13, decoded as version 13.
    newer_versions,
    /// Warnings: price level entries below the instrument's depth, dropped.
    beyond_depth,
    /// Warnings: Change entries with a price other than the level's; the entry's price was applied.
    prices_changed,
    /// Warnings: entries and snapshots of instruments without a definition, dropped.
    unknown_securities,
    /// Warnings: instruments ignored because the channel's memory is full.
    instruments_over_capacity,
    /// Warnings: definitions deeper than a book can be, reduced to its depth.
    depths_cut,
    /// Warnings: definitions whose legs or underlyings exceeded the channel's memory.
    related_over_capacity,
    /// Warnings: packets too long to buffer, processed out of order.
    oversized_packets,
    /// Warnings: packets whose number or SendingTime does not continue the stream, kept until
    /// another confirms them.
    doubtful_packets,
    /// Warnings: queued entries dropped because the recovery queue was full.
    queue_overflows,
    /// Warnings: TCP replays given up because more packets arrived than could be buffered.
    replay_holdings_full,
    /// Warnings: feeds that were needed but are absent by the settings.
    missing_feeds,
    /// Warnings: lines that delivered no packet for `Settings::silence`.
    silences,
    /// Warnings: orders that exceeded the channel's memory; their instrument's order book is then
    /// empty.
    orders_over_capacity,
    /// Warnings: queued order entries dropped because their queue was full.
    order_queue_overflows,
    /// Warnings: loop passes with more packets than `Settings::max_loop_packets`.
    loops_too_long,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterates_over_names_and_values() {
        let counters = Counters { gaps: 3, ..Counters::default() };
        assert_eq!(counters.iter().find(|(name, _)| *name == "gaps"), Some(("gaps", 3)));
        assert_eq!(counters.iter().map(|(_, value)| value).sum::<u64>(), 3);
    }
}
