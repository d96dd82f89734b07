//! Definitions of four kinds, with the fields that a receiver of books needs.

use hairpin_cme_codecs::mdp3::{
    LegSide, MDInstrumentDefinitionFX63, MDInstrumentDefinitionFuture54,
    MDInstrumentDefinitionOption55, MDInstrumentDefinitionSpread56,
    md_instrument_definition_future54, md_instrument_definition_fx63,
    md_instrument_definition_option55, md_instrument_definition_spread56,
};
use hairpin_sbe::MessageHeader;

/// A decoded definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Definition {
    pub template: u16,
    pub security_id: i32,
    pub symbol: String,
    pub group: String,
    pub total: u32,
    pub status: u8,
    pub tick: i64,
    /// MDFeedType and MarketDepth.
    pub depths: Vec<(String, i8)>,
    /// SecurityID, bought or not, ratio.
    pub legs: Vec<(i32, bool, i8)>,
    /// SecurityID and symbol of the underlying; put or call (0, 1); strike.
    pub option: Option<(i32, String, u8, i64)>,
    /// Currency, currency of the price, decimals.
    pub fx: Option<(String, String, u8)>,
}

/// Decodes the fields that the four messages have under the same names.
macro_rules! shared {
    ($message:expr, $module:ident, $body:expr, $tick:expr) => {{
        let message = &$message;
        assert_eq!(message.encoded_length(), $body.len() + 8);
        assert_eq!(message.match_event_indicator().0, 0x80);
        let mut feeds = message.no_md_feed_types();
        let mut scratch = $module::NoMDFeedTypes::SCRATCH;
        let mut depths = Vec::new();
        while let Some(feed) = feeds.next(&mut scratch) {
            depths.push((feed.md_feed_type().to_string(), feed.market_depth()));
        }
        Definition {
            template: 0,
            security_id: message.security_id(),
            symbol: message.symbol().to_string(),
            group: message.security_group().to_string(),
            total: message.tot_num_reports().unwrap(),
            status: message.md_security_trading_status().unwrap().0,
            tick: $tick,
            depths,
            legs: Vec::new(),
            option: None,
            fx: None,
        }
    }};
}

impl Definition {
    pub(crate) fn decode(header: &MessageHeader, body: &[u8]) -> Self {
        let definition = match header.template_id {
            54 => Self::future(header, body),
            55 => Self::option(header, body),
            56 => Self::spread(header, body),
            63 => Self::fx(header, body),
            other => panic!("template {other} on the instrument feed"),
        };
        assert!(definition.tick > 0 && definition.depths[0] == ("GBX".into(), 10));
        Self { template: header.template_id, ..definition }
    }

    fn future(header: &MessageHeader, body: &[u8]) -> Self {
        let mut scratch = MDInstrumentDefinitionFuture54::SCRATCH;
        let message = MDInstrumentDefinitionFuture54::decode(header, body, &mut scratch).unwrap();
        let tick = message.min_price_increment().0;
        shared!(message, md_instrument_definition_future54, body, tick)
    }

    fn option(header: &MessageHeader, body: &[u8]) -> Self {
        let mut scratch = MDInstrumentDefinitionOption55::SCRATCH;
        let message = MDInstrumentDefinitionOption55::decode(header, body, &mut scratch).unwrap();
        let mut underlyings = message.no_underlyings();
        let mut scratch = md_instrument_definition_option55::NoUnderlyings::SCRATCH;
        let of = underlyings.next(&mut scratch).unwrap();
        let option = Some((
            of.underlying_security_id(),
            of.underlying_symbol().to_string(),
            message.put_or_call().0,
            message.strike_price().unwrap().0,
        ));
        let tick = message.min_price_increment().unwrap().0;
        Self { option, ..shared!(message, md_instrument_definition_option55, body, tick) }
    }

    fn spread(header: &MessageHeader, body: &[u8]) -> Self {
        let mut scratch = MDInstrumentDefinitionSpread56::SCRATCH;
        let message = MDInstrumentDefinitionSpread56::decode(header, body, &mut scratch).unwrap();
        let mut entries = message.no_legs();
        let mut scratch = md_instrument_definition_spread56::NoLegs::SCRATCH;
        let mut legs = Vec::new();
        while let Some(leg) = entries.next(&mut scratch) {
            let is_bought = leg.leg_side() == LegSide::BUY_SIDE;
            legs.push((leg.leg_security_id(), is_bought, leg.leg_ratio_qty()));
        }
        let tick = message.min_price_increment().unwrap().0;
        Self { legs, ..shared!(message, md_instrument_definition_spread56, body, tick) }
    }

    fn fx(header: &MessageHeader, body: &[u8]) -> Self {
        let mut scratch = MDInstrumentDefinitionFX63::SCRATCH;
        let message = MDInstrumentDefinitionFX63::decode(header, body, &mut scratch).unwrap();
        let (base, price) = (message.currency(), message.price_quote_currency());
        let fx = Some((base.to_string(), price.to_string(), message.price_precision()));
        let tick = message.min_price_increment().0;
        Self { fx, ..shared!(message, md_instrument_definition_fx63, body, tick) }
    }
}
