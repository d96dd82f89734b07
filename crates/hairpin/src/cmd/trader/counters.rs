//! What `hairpin stat` sees of a running trader.

use hairpin_feed_handler::{ChannelState, FeedHandler};
use hairpin_mapped::{CounterWriter, Unit};
use hairpin_order_entry::{Session, State};
use hairpin_time::Instant;

use crate::harness::counter_publisher::Live;
use crate::harness::t2t_setup::TraderSetup;
use crate::trader::{Counts, Trader, Turn};

/// Publishes live counters of a trader that is about to run.
pub(super) fn publish(command: &str, setup: &TraderSetup, trader: &Trader) -> Live {
    let TraderSetup { id, gateway, wait, .. } = setup;
    let title = format!("{command} --id {id} --gateway {gateway} --wait {wait}");
    let turn = Turn {
        now: Instant::ZERO,
        is_quiet: true,
        feed: &trader.feed,
        session: &trader.session,
        counts: &Counts::default(),
    };
    Live::publish(&title, "trader", |sheet| tell(sheet, &turn))
}

/// Brings them up to date at the end of a turn, if that is due.
pub(super) fn update(live: &mut Live, turn: &Turn<'_>) {
    live.update_if_due(turn.now, turn.is_quiet, |sheet| tell(sheet, turn));
}

/// States all figures: of the strategy, the market data and the session.
fn tell(sheet: &mut CounterWriter<'_>, turn: &Turn<'_>) {
    tell_strategy(sheet, turn.counts);
    tell_feed(sheet, turn.feed);
    tell_session(sheet, turn.session);
}

fn tell_strategy(sheet: &mut CounterWriter<'_>, counts: &Counts) {
    let Counts { orders, acknowledgements, cancels, rejects, gaps, unsynced, errors, .. } = counts;
    let outstanding = orders.saturating_sub(cancels + rejects);
    sheet.gauge("trader", "outstanding", Unit::Orders, outstanding);
    let counters = [
        ("orders", *orders),
        ("acknowledgements", *acknowledgements),
        ("cancels", *cancels),
        ("rejects", *rejects),
        ("gaps", *gaps),
        ("unsynced", *unsynced),
        ("errors", *errors),
    ];
    sheet.counters("trader", counters.into_iter());
}

fn tell_feed(sheet: &mut CounterWriter<'_>, feed: &FeedHandler) {
    let channel = feed.channel();
    let is_in_sync = channel.state() == ChannelState::InSync;
    sheet.gauge("feed", "in_sync", Unit::Flag, is_in_sync.into());
    sheet.gauge("feed", "instruments", Unit::Count, channel.instruments().len() as u64);
    sheet.counters("feed", channel.counters().iter());
    sheet.counters("feed.sockets", feed.statistics().iter());
}

fn tell_session(sheet: &mut CounterWriter<'_>, session: &Session) {
    let is_established = session.state() == State::Established;
    sheet.gauge("session", "established", Unit::Flag, is_established.into());
    sheet.gauge("session", "waiting", Unit::Bytes, session.waiting() as u64);
    sheet.counters("session.in", session.inbound_counters().iter());
    sheet.counters("session.out", session.outbound_counters().iter());
    sheet.counters("session.connection", session.counters().iter());
}
