//! Definitions: one message per listed instrument, encoded by kind. They are sent in a loop, and on
//! the incremental feed when one changes.
//!
//! The lengths include MsgSize (schema 1 version 13). `feeds` is 1, or 2 with an implied book:
//!
//! ```text
//! all:         10 + block + (3 + 2 × 9) + (3 + 4 × feeds) + (3 + 4) + lots
//! 54 future:   block 224, lots 3 + 5
//! 55 option:   block 221, lots 3 + 5, then (3 + 24) + 3
//! 56 spread:   block 255, lots 3 + 5, then 3 + 18 × legs
//! 57 bond:     block 338, lots 3 + 5
//! 58 repo:     block 276, lots 3 + 5, then (3 + 118) + 3 + 3
//! 63 FX:       block 337, lots 3 + 9, then 3
//! ```

mod bond;
mod future;
mod fx;
mod listings;
mod option;
mod repo;
mod spread;

pub use listings::DefinitionChange;
pub(super) use listings::Listings;

use hairpin_cme_codecs::mdp3::SecurityUpdateAction;
use hairpin_sbe::EncodeError;
use hairpin_time::Utc;

use super::packet::{MAX_PAYLOAD, PACKET_HEADER, Packet};
use super::snapshots::Books;
use super::{Channel, DefinitionCount, PublisherSettings, TradingStatus};
use crate::instrument::MAX_LEGS;
use crate::{Instrument, InstrumentKind};

/// MsgSize, SBE header, and the groups of all kinds: two events, one attribute, and the feed type
/// of the direct book.
const SHARED: usize = 2 + 8 + (3 + 2 * 9) + (3 + 4) + (3 + 4);

/// The length of an entry of NoMDFeedTypes.
const FEED_TYPE: usize = 4;

/// Bits of InstAttribValue (tag 872).
const ELECTRONIC_MATCH_ELIGIBLE: u32 = 1 << 0;
const IMPLIED_MATCHING_ELIGIBLE: u32 = 1 << 19;

/// The longest definition fits in a packet.
const _: () = assert!(PACKET_HEADER + SHARED + FEED_TYPE + spread::length(MAX_LEGS) <= MAX_PAYLOAD);
const _: () = assert!(option::LENGTH <= spread::length(MAX_LEGS));
const _: () = assert!(fx::LENGTH <= spread::length(MAX_LEGS));
const _: () = assert!(PACKET_HEADER + SHARED + FEED_TYPE + repo::LENGTH <= MAX_PAYLOAD);
const _: () = assert!(bond::LENGTH <= repo::LENGTH);

/// The fields of a definition that do not come from the instrument.
struct Context<'a> {
    /// TotNumReports (tag 911); absent on the incremental feed.
    total: Option<u32>,
    /// SecurityUpdateAction (tag 980).
    action: SecurityUpdateAction,
    /// LastUpdateTime (tag 779).
    updated: Utc,
    /// MarketSegmentID (tag 1300).
    market_segment: u8,
    status: TradingStatus,
    channel: &'a Channel,
}

/// The data that definitions are encoded from.
pub(super) struct Source<'a> {
    pub(super) books: &'a Books,
    pub(super) instruments: &'a [Instrument],
    pub(super) listings: &'a Listings,
    pub(super) channel: &'a Channel,
}

impl Source<'_> {
    /// Returns the remaining fields of an instrument's definition, or `None` if it has none.
    fn context(&self, index: u32, total: Option<u32>) -> Option<Context<'_>> {
        let (action, updated) = self.listings.at(index)?;
        let market_segment = self.channel.market_segment_of(index);
        let status = self.books.at(index).status;
        Some(Context { total, action, updated, market_segment, status, channel: self.channel })
    }
}

/// Returns `true` if a definition can describe the instrument.
pub(super) fn is_valid(instrument: &Instrument) -> bool {
    let is_kind_valid = match &instrument.kind {
        InstrumentKind::Future | InstrumentKind::Bond { .. } | InstrumentKind::Fx { .. } => true,
        InstrumentKind::Option { underlying: (_, symbol), .. }
        | InstrumentKind::Repo { underlying: (_, symbol), .. } => symbol.len() <= 20,
        InstrumentKind::Spread { legs } => {
            (1..=MAX_LEGS).contains(&legs.len()) && legs.iter().all(|leg| leg.ratio > 0)
        }
    };
    instrument.symbol.len() <= 20 && is_kind_valid
}

/// Returns the number of definitions that a loop over `instruments` instruments repeats.
pub(super) fn repeats(settings: &PublisherSettings, instruments: u32) -> u32 {
    u32::from(settings.definition_count == DefinitionCount::Messages && instruments > 0)
}

/// Appends the definitions from place `first` of the loop that fit, and returns the place after the
/// last. The last `repeats` places repeat the first instruments.
pub(super) fn fill(packet: &mut Packet<'_>, source: &Source<'_>, repeats: u32, first: u32) -> u32 {
    // The first instrument of a loop with definitions need not have one.
    let repeated = (0..repeats).filter(|&index| source.listings.at(index).is_some()).count();
    let total = Some(source.listings.count() + repeated as u32);
    // The number was given as a `u32`.
    let instruments = source.instruments.len() as u32;
    let mut next = first;
    while next < instruments + repeats {
        let index = next % instruments;
        let instrument = &source.instruments[index as usize];
        if let Some(context) = source.context(index, total) {
            if packet.room() < length(instrument) {
                break;
            }
            packet
                .append(|buffer| encode(buffer, instrument, &context))
                .expect("the length was compared with the room");
        }
        next += 1;
    }
    next
}

/// Encodes the definition of a listed instrument for the incremental feed.
pub(super) fn encode_incremental(
    buffer: &mut [u8],
    source: &Source<'_>,
    index: u32,
) -> Result<usize, EncodeError> {
    match source.context(index, None) {
        Some(context) => encode(buffer, &source.instruments[index as usize], &context),
        None => Ok(0),
    }
}

fn encode(
    buffer: &mut [u8],
    instrument: &Instrument,
    context: &Context<'_>,
) -> Result<usize, EncodeError> {
    match &instrument.kind {
        InstrumentKind::Future => future::encode(buffer, instrument, context),
        &InstrumentKind::Option { right, strike, ref underlying } => {
            option::encode(buffer, instrument, context, (right, strike, underlying))
        }
        InstrumentKind::Spread { legs } => spread::encode(buffer, instrument, context, legs),
        &InstrumentKind::Bond { coupon } => bond::encode(buffer, instrument, context, coupon),
        &InstrumentKind::Repo { special, ref underlying } => {
            repo::encode(buffer, instrument, context, (special, underlying))
        }
        InstrumentKind::Fx { currency, price_currency } => {
            fx::encode(buffer, instrument, context, (currency, price_currency))
        }
    }
}

fn length(instrument: &Instrument) -> usize {
    let feeds = if instrument.implied_book { FEED_TYPE } else { 0 };
    SHARED
        + feeds
        + match &instrument.kind {
            InstrumentKind::Future => future::LENGTH,
            InstrumentKind::Option { .. } => option::LENGTH,
            InstrumentKind::Spread { legs } => spread::length(legs.len()),
            InstrumentKind::Bond { .. } => bond::LENGTH,
            InstrumentKind::Repo { .. } => repo::LENGTH,
            InstrumentKind::Fx { .. } => fx::LENGTH,
        }
}

/// Returns InstAttribValue (tag 872).
fn attributes(instrument: &Instrument) -> u32 {
    let implied = if instrument.implied_book { IMPLIED_MATCHING_ELIGIBLE } else { 0 };
    ELECTRONIC_MATCH_ELIGIBLE | implied
}

/// Writes the fields that all six root blocks have.
macro_rules! shared_fields {
    ($root:expr, $instrument:expr, $context:expr) => {
        $root
            .set_match_event_indicator(MatchEventIndicator(0x80))
            .set_tot_num_reports($context.total)
            .set_security_update_action($context.action)
            .set_last_update_time($context.updated.as_nanos())
            .set_md_security_trading_status($context.status.code())
            .set_appl_id($context.channel.id)
            .set_market_segment_id($context.market_segment)
            .set_underlying_product(2_u8)
            .set_security_exchange(b"XHPN")
            .set_security_group(crate::publisher::SECURITY_GROUP)
            .set_asset(b"HP")
            .set_symbol(&$instrument.symbol)
            .set_security_id($instrument.security_id)
            .set_match_algorithm(b'F')
            .set_min_trade_vol(1)
            .set_max_trade_vol(crate::NewOrder::MAX_QUANTITY)
            .set_min_price_increment($instrument.tick)
            .set_display_factor($instrument.display.factor)
            .set_unit_of_measure(b"CTRCT")
            .set_user_defined_instrument(b'N')
    };
}

/// Writes the leading groups of all six messages, which have different types.
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
        if $instrument.implied_book {
            let depth = crate::publisher::IMPLIED_DEPTH as i8;
            feeds.push()?.set_md_feed_type(b"GBI").set_market_depth(depth);
        }
        $groups
            .no_inst_attrib()?
            .push()?
            .set_inst_attrib_value(InstAttribValue(super::attributes($instrument)));
    }};
}

/// Writes the fields for prices that are displayed with fractions.
macro_rules! display_fields {
    ($root:expr, $instrument:expr) => {{
        let fraction = $instrument.display.fraction;
        $root
            .set_main_fraction(fraction.map(|it| it.0))
            .set_sub_fraction(fraction.map(|it| it.1))
            .set_price_display_format(fraction.map(|it| it.2))
    }};
}

use {display_fields, shared_fields, shared_groups};
