//! What a channel has counted since it began.

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What a channel has counted since it began; every counter only grows.
        ///
        /// "Sequenced" packets are those of the incremental feed, the only feed whose packet
        /// sequence is arbitrated between A and B.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Counters {
            /// Every counter with its name, in the order of declaration.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }
        }
    };
}

counters! {
    /// Sequenced packets received on side A, duplicates included.
    packets_a,
    /// Sequenced packets received on side B, duplicates included.
    packets_b,
    /// Sequenced packets that side A delivered first, so that its copy was the one processed.
    first_a,
    /// Sequenced packets that side B delivered first, so that its copy was the one processed.
    first_b,
    /// Sequenced packets dropped because the other side, or the same, had delivered them before,
    /// or because they are of a numbering that their side has left.
    duplicates,
    /// Sequenced packets dropped because their side has not restarted its numbering yet.
    older_epoch_packets,
    /// Sequenced packets that came early and were held for the other side to fill the hole.
    held_packets,
    /// Held packets of the sides thrown away because the numbering restarted before they could be
    /// processed.
    abandoned_packets,
    /// Runs of sequenced packets that neither side delivered.
    gaps,
    /// Sequenced packets that neither side delivered.
    missed_packets,
    /// Gaps asked for by TCP replay.
    replays,
    /// Gaps that were filled while TCP replay was asked for them.
    replays_filled,
    /// Gaps that were asked for in vain, as a whole or in part.
    replays_given_up,
    /// Attempts at TCP replay that failed or took too long.
    replay_failures,
    /// Sequenced packets that TCP replay delivered first, so that its copy was the one processed.
    replayed_packets,
    /// Packets of TCP replay dropped because they were at hand.
    replay_duplicates,
    /// Restarts of the incremental feed's numbering.
    restarts,
    /// ChannelReset messages obeyed.
    resets,
    /// Packets of the instrument feed.
    instrument_packets,
    /// Packets of the snapshot feed.
    snapshot_packets,
    /// Packets of the instrument or snapshot feed that repeated what the loop had already told.
    loop_duplicates,
    /// Packets of the instrument, snapshot or replay feed while nothing was wanted from it.
    unwanted_packets,
    /// Messages whose frame was sound, of all feeds, whatever their template.
    messages,
    /// AdminHeartbeat messages.
    heartbeats,
    /// Events ended by a message with MatchEventIndicator bit 0x80.
    events,
    /// Price level entries of the incremental feed that changed a direct book.
    book_entries,
    /// Price level entries of the incremental feed that changed an implied book.
    implied_entries,
    /// BookReset entries obeyed, which empty both books of one instrument.
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
    /// Instrument definitions, repeated ones included.
    definitions,
    /// Instrument definitions of instruments that the filter does not want.
    unwanted_definitions,
    /// Entries of instruments that the filter does not want, or does not know yet to want.
    unwanted_entries,
    /// Times a book was loaded from a snapshot.
    snapshots_applied,
    /// Snapshots that stated a book from before the first packet at hand.
    snapshots_too_old,
    /// Snapshots that stated a book so far ahead of the incremental feed that nothing connects.
    snapshots_too_far_ahead,
    /// Instruments found in sync and empty because a whole loop of snapshots did not name them.
    empty_by_absence,
    /// Times a book began anew by natural refresh.
    refreshes,
    /// Books of depth 1 that natural refresh alone brought in sync.
    refreshes_completed,
    /// Snapshots whose queued entries did not continue the snapshot's RptSeq.
    snapshots_not_continued,
    /// Times the channel fell from in sync to recovering.
    recoveries,
    /// Times an instrument fell out of sync.
    instruments_out_of_sync,
    /// Times an instrument's next RptSeq proved that a gap had not concerned it.
    found_unaffected,
    /// Times an entry's RptSeq was not the next of its instrument.
    rpt_seq_gaps,
    /// Entries that repeated what a snapshot had already stated.
    entries_in_snapshot,
    /// Entries put into the recovery queue because their instrument was not in sync.
    withheld_entries,
    /// Packets of the order snapshot feed.
    order_snapshot_packets,
    /// Order entries of the incremental feed that changed an order book.
    order_entries,
    /// Times top orders replaced those known.
    order_overlays,
    /// Order entries and top orders that a snapshot had already stated.
    orders_in_snapshot,
    /// Order entries put into the queue because their order book was not in sync.
    withheld_orders,
    /// Times an order book fell out of sync.
    order_books_out_of_sync,
    /// Order books found in sync and empty because a whole loop of snapshots did not name them.
    order_books_empty_by_absence,
    /// Times an order book was loaded from all chunks of a snapshot.
    order_snapshots_applied,
    /// Order snapshots given up because another one began before their last chunk came.
    order_snapshots_torn,
    /// Chunks of order snapshots from before the first packet at hand.
    order_snapshots_too_old,
    /// Chunks of order snapshots so far ahead of the incremental feed that nothing connects.
    order_snapshots_too_far_ahead,
    /// Order snapshots whose queued entries did not fit.
    order_snapshots_not_continued,
    /// Errors: packets shorter than the 12 bytes of a packet header.
    packets_too_short,
    /// Errors: messages whose MsgSize is smaller than the 10 bytes of a message header.
    message_sizes_too_small,
    /// Errors: messages whose MsgSize reaches beyond the packet.
    truncated_messages,
    /// Errors: packets with one to nine bytes after the last message.
    trailing_bytes,
    /// Errors: messages of another schema than CME's market data.
    foreign_schemas,
    /// Errors: messages whose block or group does not fit in MsgSize.
    malformed_messages,
    /// Errors: book entries with an unknown action, level 0, no price, or no sound quantity.
    invalid_entries,
    /// Errors: book entries that name a level the book does not have.
    inapplicable_entries,
    /// Errors: snapshots whose levels have holes.
    invalid_snapshots,
    /// Errors: new orders that were in the book already.
    existing_orders,
    /// Errors: changes and deletions of orders that were not in the book.
    missing_orders,
    /// Errors: order entries with an unknown action, no side, no price, or no sound quantity.
    invalid_orders,
    /// Errors: order entries that refer to a price level their message does not have.
    dangling_orders,
    /// Errors: order snapshots with a chunk of a wrong number or an order that cannot be.
    invalid_order_snapshots,
    /// Warnings: messages of templates that schema version 13 does not have.
    unknown_templates,
    /// Warnings: messages of a newer version than 13, read as far as version 13 knows.
    newer_versions,
    /// Warnings: price level entries below the instrument's depth, dropped.
    beyond_depth,
    /// Warnings: Change entries whose price was not the level's; the entry's price was taken.
    prices_changed,
    /// Warnings: entries and snapshots of instruments without a definition, dropped.
    unknown_securities,
    /// Warnings: instruments that did not fit in the channel's memory, ignored.
    instruments_over_capacity,
    /// Warnings: definitions deeper than a book can hold, cut to its depth.
    depths_cut,
    /// Warnings: definitions whose legs or underlyings did not fit in the channel's memory.
    related_over_capacity,
    /// Warnings: packets too long to be held, processed out of turn.
    oversized_packets,
    /// Warnings: packets whose number or SendingTime does not go with what came before, set aside
    /// until another confirms them.
    doubtful_packets,
    /// Warnings: queued entries dropped because the recovery queue was full.
    queue_overflows,
    /// Warnings: TCP replays given up because more came meanwhile than could be held.
    replay_holdings_full,
    /// Warnings: feeds that were needed, though the settings say there are none.
    missing_feeds,
    /// Warnings: sides of a feed that brought nothing for `Settings::silence`.
    silences,
    /// Warnings: orders that did not fit in the channel's memory; their instrument has none then.
    orders_over_capacity,
    /// Warnings: queued order entries dropped because their queue was full.
    order_queue_overflows,
    /// Warnings: loops with more packets than can be kept account of.
    loops_too_long,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_with_their_values() {
        let counters = Counters { gaps: 3, ..Counters::default() };
        assert_eq!(counters.iter().find(|(name, _)| *name == "gaps"), Some(("gaps", 3)));
        assert_eq!(counters.iter().map(|(_, value)| value).sum::<u64>(), 3);
    }
}
