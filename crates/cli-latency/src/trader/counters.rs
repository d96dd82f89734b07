//! The live counters of a running trader, for `hairpin stat`.

use hairpin_feed_handler::{ChannelState, FeedHandler};
use hairpin_mapped::{CounterWriter, Unit};
use hairpin_order_entry::{Session, State};

use crate::strategy::{Trader, TraderCounts};

/// Writes the counters of the strategy, the market data and the session.
pub(super) fn write(writer: &mut CounterWriter<'_>, trader: &Trader) {
    write_strategy(writer, trader.counts());
    write_feed(writer, trader.feed());
    write_session(writer, trader.session());
}

fn write_strategy(writer: &mut CounterWriter<'_>, counts: &TraderCounts) {
    let TraderCounts { orders, acknowledgements, cancels, rejects, gaps, unsynced, errors, .. } =
        counts;
    let outstanding = orders.saturating_sub(cancels + rejects);
    writer.gauge("trader", "outstanding", Unit::Orders, outstanding);
    let counters = [
        ("orders", *orders),
        ("acknowledgements", *acknowledgements),
        ("cancels", *cancels),
        ("rejects", *rejects),
        ("gaps", *gaps),
        ("unsynced", *unsynced),
        ("errors", *errors),
    ];
    writer.counters("trader", counters.into_iter());
}

fn write_feed(writer: &mut CounterWriter<'_>, feed: &FeedHandler) {
    let channel = feed.channel();
    let is_in_sync = channel.state() == ChannelState::InSync;
    writer.gauge("feed", "in_sync", Unit::Flag, is_in_sync.into());
    writer.gauge("feed", "instruments", Unit::Count, channel.instruments().len() as u64);
    writer.counters("feed", channel.counters().iter());
    writer.counters("feed.sockets", feed.statistics().iter());
}

fn write_session(writer: &mut CounterWriter<'_>, session: &Session) {
    let is_established = session.state() == State::Established;
    writer.gauge("session", "established", Unit::Flag, is_established.into());
    writer.gauge("session", "waiting", Unit::Bytes, session.waiting() as u64);
    writer.counters("session.in", session.inbound_counters().iter());
    writer.counters("session.out", session.outbound_counters().iter());
    writer.counters("session.connection", session.counters().iter());
}
