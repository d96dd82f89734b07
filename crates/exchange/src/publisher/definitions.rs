//! The loop of definitions: one message for every instrument, by its kind.
//!
//! Lengths, MsgSize included (schema 1 version 13); `feeds` is 1, or 2 with an implied book:
//!
//! ```text
//! all:         10 + block + (3 + 2 × 9) + (3 + 4 × feeds) + (3 + 4) + lots
//! 54 future:   block 224, lots 3 + 5
//! 55 option:   block 221, lots 3 + 5, then (3 + 24) + 3
//! 56 spread:   block 255, lots 3 + 5, then 3 + 18 × legs
//! 63 FX:       block 337, lots 3 + 9, then 3
//! ```

mod future;
mod fx;
mod option;
mod spread;

use super::packet::{MAX_PAYLOAD, PACKET_HEADER, Packet};
use super::snapshots::Books;
use super::{Channel, TradingStatus};
use crate::instrument::MAX_LEGS;
use crate::{Instrument, InstrumentKind};

/// MsgSize, SBE header, and the groups that all kinds have: two events, one attribute, and the
/// feed type of the book itself.
const SHARED: usize = 2 + 8 + (3 + 2 * 9) + (3 + 4) + (3 + 4);

/// An entry of NoMDFeedTypes.
const FEED_TYPE: usize = 4;

/// Bits of tag 872.
const ELECTRONIC_MATCH_ELIGIBLE: u32 = 1 << 0;
const IMPLIED_MATCHING_ELIGIBLE: u32 = 1 << 19;

/// The longest definition fits in a packet.
const _: () = assert!(PACKET_HEADER + SHARED + FEED_TYPE + spread::length(MAX_LEGS) <= MAX_PAYLOAD);
const _: () = assert!(option::LENGTH <= spread::length(MAX_LEGS));
const _: () = assert!(fx::LENGTH <= spread::length(MAX_LEGS));

/// What every kind of definition says besides the instrument.
struct Context<'a> {
    /// Tag 911.
    total: u32,
    status: TradingStatus,
    channel: &'a Channel,
}

/// Whether a definition can say what the instrument is.
pub(super) fn is_sound(instrument: &Instrument) -> bool {
    let is_kind_sound = match &instrument.kind {
        InstrumentKind::Future | InstrumentKind::Fx { .. } => true,
        InstrumentKind::Option { underlying: (_, symbol), .. } => symbol.len() <= 20,
        InstrumentKind::Spread { legs } => {
            (1..=MAX_LEGS).contains(&legs.len()) && legs.iter().all(|leg| leg.ratio > 0)
        }
    };
    instrument.symbol.len() <= 20 && is_kind_sound
}

/// Appends the definitions from `first` on that fit; returns the index behind the last.
pub(super) fn fill(
    packet: &mut Packet<'_>,
    books: &Books,
    instruments: &[Instrument],
    first: u32,
    channel: &Channel,
) -> u32 {
    let mut next = first;
    while let Some(instrument) = instruments.get(next as usize)
        && packet.room() >= length(instrument)
    {
        let total = instruments.len() as u32;
        let context = Context { total, status: books.at(next).status, channel };
        packet
            .append(|buffer| match &instrument.kind {
                InstrumentKind::Future => future::encode(buffer, instrument, &context),
                &InstrumentKind::Option { right, strike, ref underlying } => {
                    option::encode(buffer, instrument, &context, (right, strike, underlying))
                }
                InstrumentKind::Spread { legs } => {
                    spread::encode(buffer, instrument, &context, legs)
                }
                InstrumentKind::Fx { currency, price_currency } => {
                    fx::encode(buffer, instrument, &context, (currency, price_currency))
                }
            })
            .expect("the room for it was compared before");
        next += 1;
    }
    next
}

fn length(instrument: &Instrument) -> usize {
    let feeds = if instrument.has_implied { FEED_TYPE } else { 0 };
    SHARED
        + feeds
        + match &instrument.kind {
            InstrumentKind::Future => future::LENGTH,
            InstrumentKind::Option { .. } => option::LENGTH,
            InstrumentKind::Spread { legs } => spread::length(legs.len()),
            InstrumentKind::Fx { .. } => fx::LENGTH,
        }
}

/// Tag 872.
fn attributes(instrument: &Instrument) -> u32 {
    let implied = if instrument.has_implied { IMPLIED_MATCHING_ELIGIBLE } else { 0 };
    ELECTRONIC_MATCH_ELIGIBLE | implied
}

/// The fields that all four root blocks have.
macro_rules! shared_fields {
    ($root:expr, $instrument:expr, $context:expr) => {
        $root
            .set_match_event_indicator(MatchEventIndicator(0x80))
            .set_tot_num_reports($context.total)
            .set_security_update_action(SecurityUpdateAction::ADD)
            .set_last_update_time($context.channel.started.as_nanos())
            .set_md_security_trading_status($context.status.code())
            .set_appl_id($context.channel.id)
            .set_market_segment_id($context.channel.market_segment)
            .set_underlying_product(2_u8)
            .set_security_exchange(b"XHPN")
            .set_security_group(crate::publisher::SECURITY_GROUP)
            .set_asset(b"HP")
            .set_symbol(&$instrument.symbol)
            .set_security_id($instrument.security_id)
            .set_maturity_month_year($context.channel.maturity)
            .set_match_algorithm(b'F')
            .set_min_trade_vol(1)
            .set_max_trade_vol(crate::NewOrder::MAX_QUANTITY)
            .set_min_price_increment($instrument.tick)
            .set_display_factor(Decimal(1_000_000_000))
            .set_unit_of_measure(b"CTRCT")
            .set_user_defined_instrument(b'N')
    };
}

/// The groups that all four messages begin with, each with types of its own.
macro_rules! shared_groups {
    ($groups:expr, $instrument:expr, $context:expr) => {{
        let mut events = $groups.no_events()?;
        events
            .push()?
            .set_event_type(EventType::ACTIVATION)
            .set_event_time($context.channel.activation.as_nanos());
        events
            .push()?
            .set_event_type(EventType::LAST_ELIGIBLE_TRADE_DATE)
            .set_event_time($context.channel.expiry.as_nanos());
        let mut feeds = $groups.no_md_feed_types()?;
        feeds.push()?.set_md_feed_type(b"GBX").set_market_depth(crate::publisher::DEPTH as i8);
        if $instrument.has_implied {
            let depth = crate::publisher::IMPLIED_DEPTH as i8;
            feeds.push()?.set_md_feed_type(b"GBI").set_market_depth(depth);
        }
        $groups
            .no_inst_attrib()?
            .push()?
            .set_inst_attrib_value(InstAttribValue(super::attributes($instrument)));
    }};
}

use {shared_fields, shared_groups};
