//! Templates 52 and 69: the price books and statistics of one instrument.

use hairpin_cme_codecs::mdp3::{
    MDEntryType, OpenCloseSettlFlag, SettlPriceType, SnapshotFullRefresh52,
    SnapshotFullRefreshLongQty69,
};
use hairpin_sbe::EncodeError;

use super::super::encode::{size, volume_size};
use super::super::ladder::{DEPTH, IMPLIED_DEPTH};
use super::super::packet::{MAX_PAYLOAD, PACKET_HEADER, Packet};
use super::super::statistics::{DailyStatistic, SETTLEMENTS_MAX, SessionStatistic};
use super::{Published, Source};
use crate::matching::Side;

/// The length of MsgSize, SBE header, root block and the dimension of the group.
const FIXED: usize = 2 + 8 + 59 + 3;
/// The length of an entry, indexed by [`Channel::long_quantity_index`](super::super::Channel).
const ENTRY: [usize; 2] = [22, 23];
/// The maximum number of entries without a level: volume, last trade, market best prices and
/// statistics.
const OTHERS_MAX: usize = 2 + 2 + SessionStatistic::KINDS + SETTLEMENTS_MAX + 3;

/// The longest snapshot fits in a packet.
const _: () = assert!(
    PACKET_HEADER + FIXED + ENTRY[1] * (2 * DEPTH + 2 * IMPLIED_DEPTH + OTHERS_MAX) <= MAX_PAYLOAD
);

/// Appends the snapshot of an instrument. Returns `false` if it does not fit.
pub(super) fn append(
    packet: &mut Packet<'_>,
    source: &Source<'_>,
    instrument: u32,
    published: &Published,
) -> bool {
    if packet.room() < FIXED + ENTRY[source.channel.long_quantity_index()] * entries(published) {
        return false;
    }
    let security_id = source.instruments[instrument as usize].security_id;
    packet
        .append(|buffer| {
            if source.channel.long_quantities {
                encode_long(buffer, source, security_id, published)
            } else {
                encode(buffer, source, security_id, published)
            }
        })
        .expect("the length was compared with the room");
    true
}

/// Returns the highest number of entries: levels, implied levels, volume, last trade, market best
/// prices and statistics.
fn entries(published: &Published) -> usize {
    let direct: usize = published.sides.iter().map(|side| side.levels().len()).sum();
    let implied: usize = published.implied.iter().map(|side| side.levels().len()).sum();
    let others = usize::from(published.volume > 0)
        + usize::from(published.last_trade.is_some())
        + published.market_best.iter().flatten().count();
    let statistics = &published.statistics;
    direct + implied + others + statistics.session.iter().count() + statistics.daily.iter().count()
}

/// Defines the encoder of one of the two templates. `$size` and `$volume` convert quantities and
/// volumes; `$level` is the type of level numbers.
macro_rules! encode {
    (
        $name:ident, $message:ident, $size:expr, $volume:expr, $level:ty, $day:ident, $daily:ident
    ) => {
        fn $name(
            buffer: &mut [u8],
            source: &Source<'_>,
            security_id: i32,
            published: &Published,
        ) -> Result<usize, EncodeError> {
            let (mut root, mut groups) = $message::encode(buffer)?;
            let limits = &published.statistics.limits;
            root.set_last_msg_seq_num_processed(source.header.last_processed)
                .set_tot_num_reports(source.header.total)
                .set_security_id(security_id)
                .set_rpt_seq(published.rpt_seq)
                .set_transact_time(published.transact_time.as_nanos())
                .set_last_update_time(source.channel.started.as_nanos())
                .set_trade_date(source.channel.trade_date())
                .set_md_security_trading_status(published.status.code())
                .set_high_limit_price(limits.high)
                .set_low_limit_price(limits.low)
                .set_max_price_variation(limits.max_variation);
            let mut entries = groups.no_md_entries()?;
            push_levels!(entries, published, $size, $level);
            // After a channel reset there is a volume, but no last trade.
            if published.volume > 0 {
                entries
                    .push()?
                    .set_md_entry_size($volume(published.volume))
                    .set_md_entry_type(MDEntryType::ELECTRONIC_VOLUME);
            }
            if let Some((price, quantity)) = published.last_trade {
                entries
                    .push()?
                    .set_md_entry_px(price)
                    .set_md_entry_size($size(quantity))
                    .set_md_entry_type(MDEntryType::TRADE);
            }
            for statistic in published.statistics.session.iter() {
                let (entry_type, flag) = session_type(statistic);
                entries
                    .push()?
                    .set_md_entry_px(statistic.price())
                    .set_open_close_settl_flag(flag)
                    .set_md_entry_type(entry_type);
            }
            push_best!(entries, published, $size, $day);
            for statistic in published.statistics.daily.$daily() {
                let mut entry = entries.push()?;
                push_daily!(entry, statistic, source.channel.trade_date(), $size, $day);
            }
            groups.finish()
        }
    };
}

/// Writes the levels of both books.
macro_rules! push_levels {
    ($entries:expr, $published:expr, $size:expr, $level:ty) => {
        for side in Side::BOTH {
            for (number, level) in (1..).zip($published.sides[side.index()].levels()) {
                let number: $level = number;
                $entries
                    .push()?
                    .set_md_entry_px(level.price)
                    .set_md_entry_size($size(level.quantity))
                    .set_number_of_orders(size(level.orders))
                    .set_md_price_level(number)
                    .set_md_entry_type(DIRECT[side.index()]);
            }
        }
        for (ladder, entry_type) in $published.implied.iter().zip(IMPLIED) {
            for (number, level) in (1..).zip(ladder.levels()) {
                let number: $level = number;
                $entries
                    .push()?
                    .set_md_entry_px(level.price)
                    .set_md_entry_size($size(level.quantity))
                    .set_md_price_level(number)
                    .set_md_entry_type(entry_type);
            }
        }
    };
}

/// Writes the market best prices: only template 69 has them.
macro_rules! push_best {
    ($entries:expr, $published:expr, $size:expr, set_day) => {};
    ($entries:expr, $published:expr, $size:expr, set_no_day) => {
        for (best, entry_type) in $published.market_best.iter().zip(MARKET_BEST) {
            if let &Some((price, quantity)) = best {
                $entries
                    .push()?
                    .set_md_entry_px(price)
                    .set_md_entry_size(quantity.map($size))
                    .set_md_entry_type(entry_type);
            }
        }
    };
}

/// Writes a daily statistic.
macro_rules! push_daily {
    ($entry:expr, $statistic:expr, $date:expr, $size:expr, $set_day:ident) => {{
        let mut date = $date;
        let kind = match $statistic {
            DailyStatistic::Settlement(settlement) => {
                $entry.set_md_entry_px(settlement.price);
                $entry.set_md_entry_type(MDEntryType::SETTLEMENT_PRICE);
                date = settlement.date.unwrap_or(date);
                settlement.kind()
            }
            DailyStatistic::OpenInterest(contracts) => {
                $entry.set_md_entry_size($size(contracts));
                $entry.set_md_entry_type(MDEntryType::OPEN_INTEREST);
                0
            }
            DailyStatistic::ClearedVolume(contracts) => {
                $entry.set_md_entry_size($size(contracts));
                $entry.set_md_entry_type(MDEntryType::CLEARED_VOLUME);
                0
            }
            DailyStatistic::Fixing(price) => {
                $entry.set_md_entry_px(price).set_md_entry_type(MDEntryType::FIXING_PRICE);
                0
            }
        };
        $set_day!($entry, date, kind);
    }};
}

/// Writes the date of a statistic and the kind of a price (tags 5796 and 731).
macro_rules! set_day {
    ($entry:expr, $date:expr, $kind:expr) => {
        $entry.set_trading_reference_date($date).set_settl_price_type(SettlPriceType($kind))
    };
}

/// Writes nothing: template 69 has no such fields.
macro_rules! set_no_day {
    ($entry:expr, $date:expr, $kind:expr) => {
        let _ = ($date, $kind);
    };
}

encode!(encode, SnapshotFullRefresh52, size, volume_size, i8, set_day, iter);
encode!(encode_long, SnapshotFullRefreshLongQty69, u64::from, u64::from, u8, set_no_day, latest);

const DIRECT: [MDEntryType; 2] = [MDEntryType::BID, MDEntryType::OFFER];
const MARKET_BEST: [MDEntryType; 2] =
    [MDEntryType::MARKET_BEST_BID, MDEntryType::MARKET_BEST_OFFER];
const IMPLIED: [MDEntryType; 2] = [MDEntryType::IMPLIED_BID, MDEntryType::IMPLIED_OFFER];

fn session_type(statistic: SessionStatistic) -> (MDEntryType, Option<OpenCloseSettlFlag>) {
    match statistic {
        SessionStatistic::Open(_) => {
            (MDEntryType::OPEN_PRICE, Some(OpenCloseSettlFlag::DAILY_OPEN_PRICE))
        }
        SessionStatistic::High(_) => (MDEntryType::TRADING_SESSION_HIGH_PRICE, None),
        SessionStatistic::Low(_) => (MDEntryType::TRADING_SESSION_LOW_PRICE, None),
        SessionStatistic::HighestBid(_) => (MDEntryType::SESSION_HIGH_BID, None),
        SessionStatistic::LowestOffer(_) => (MDEntryType::SESSION_LOW_OFFER, None),
    }
}
