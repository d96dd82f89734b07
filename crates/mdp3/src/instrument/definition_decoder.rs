//! A decoder from all definition templates to one type.

use alloc::vec::Vec;

use hairpin_cme_codecs::mdp3 as codec;
use hairpin_cme_codecs::mdp3::{
    EventType, InstAttribValue, md_instrument_definition_fx63 as fx63,
    md_instrument_definition_repo58 as repo58,
};
use hairpin_sbe::{DecodeError, MessageHeader};
use hairpin_time::Utc;

use crate::instrument::definition::NO_MATURITY;
use crate::instrument::definition_details::{
    Details, FixedIncomeDetails, FutureDetails, FxDetails, OptionDetails, RepoDetails,
    SpreadDetails,
};
use crate::instrument::lot_type_rules::LotSize;
use crate::instrument::related_instruments::{
    BrokenDate, Leg, Related, TradingSession, Underlying, UnderlyingSecurity,
};
use crate::{Definition, DefinitionAction, MatchEvent, Text};

/// A decoded definition, and the fields that concern the message rather than the instrument.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DecodedDefinition {
    pub(crate) definition: Definition,
    pub(crate) match_event: MatchEvent,
    /// TotNumReports (911): the number of definitions in a complete loop.
    pub(crate) total_reports: Option<u32>,
}

/// Decodes a definition of any template; `None` for another template. Replaces the contents of
/// `related` by the definition's legs, underlyings and related instruments.
pub(crate) fn decode(
    header: &MessageHeader,
    body: &[u8],
    related: &mut Vec<Related>,
) -> Option<Result<DecodedDefinition, DecodeError>> {
    let decoder = match header.template_id {
        codec::MDInstrumentDefinitionFuture54::TEMPLATE_ID => future,
        codec::MDInstrumentDefinitionOption55::TEMPLATE_ID => option,
        codec::MDInstrumentDefinitionSpread56::TEMPLATE_ID => spread,
        codec::MDInstrumentDefinitionFixedIncome57::TEMPLATE_ID => fixed_income,
        codec::MDInstrumentDefinitionRepo58::TEMPLATE_ID => repo,
        codec::MDInstrumentDefinitionFX63::TEMPLATE_ID => fx,
        _ => return None,
    };
    related.clear();
    Some(decoder(header, body, related))
}

/// Copies a string.
macro_rules! text {
    ($chars:expr) => {
        Text::from_bytes($chars.as_bytes())
    };
}

/// Iterates over a group.
macro_rules! each {
    ($entries:expr, $group:path, |$entry:ident| $body:block) => {{
        let mut entries = $entries;
        let mut scratch = <$group>::SCRATCH;
        while let Some($entry) = entries.next(&mut scratch) {
            $body
        }
    }};
}

/// Pushes the entries of a group that names instruments.
macro_rules! underlyings {
    ($entries:expr, $group:path, $id:ident, $symbol:ident, $related:ident, $kind:path) => {
        each!($entries, $group, |entry| {
            let security_id = entry.$id().into();
            let symbol = Text::from_bytes(entry.$symbol().as_bytes());
            $related.push($kind(Underlying::new(security_id, symbol)));
        })
    };
}

/// Generates the decoder of a template. The templates share field names but no type. `$field` are
/// fields that some templates lack; `$lists` decodes the lists.
macro_rules! decoder {
    (
        $name:ident, $message:ident, $module:ident, |$decoded:ident| $details:expr,
        { $($field:ident: $value:expr),* },
        |$related:ident| $lists:block
    ) => {
        fn $name(
            header: &MessageHeader,
            body: &[u8],
            $related: &mut Vec<Related>,
        ) -> Result<DecodedDefinition, DecodeError> {
            let mut scratch = codec::$message::SCRATCH;
            let $decoded = codec::$message::decode(header, body, &mut scratch)?;
            let mut definition = Definition {
                symbol: Text::from_bytes($decoded.symbol().as_bytes()),
                security_group: Text::from_bytes($decoded.security_group().as_bytes()),
                asset: Text::from_bytes($decoded.asset().as_bytes()),
                security_exchange: Text::from_bytes($decoded.security_exchange().as_bytes()),
                security_type: Text::from_bytes($decoded.security_type().as_bytes()),
                cfi_code: Text::from_bytes($decoded.cfi_code().as_bytes()),
                currency: Text::from_bytes($decoded.currency().as_bytes()),
                market_segment_id: $decoded.market_segment_id(),
                underlying_product: $decoded.underlying_product().into(),
                match_algorithm: $decoded.match_algorithm(),
                min_trade_vol: $decoded.min_trade_vol(),
                max_trade_vol: $decoded.max_trade_vol(),
                min_price_increment: $decoded.min_price_increment().into(),
                display_factor: $decoded.display_factor(),
                high_limit_price: $decoded.high_limit_price(),
                low_limit_price: $decoded.low_limit_price(),
                user_defined: $decoded.user_defined_instrument() == b'Y',
                instrument_guid: $decoded.instrument_guid(),
                appl_id: $decoded.appl_id(),
                unit_of_measure: text!($decoded.unit_of_measure()),
                details: $details,
                trading_status: $decoded.md_security_trading_status(),
                last_update_time: Utc::from_nanos($decoded.last_update_time()),
                action: action($decoded.security_update_action().0),
                template_id: header.template_id,
                $($field: $value,)*
                ..Definition::undefined($decoded.security_id())
            };
            each!($decoded.no_events(), codec::$module::NoEvents, |event| {
                let time = Some(Utc::from_nanos(event.event_time()));
                match event.event_type() {
                    EventType::ACTIVATION => definition.activation = time,
                    EventType::LAST_ELIGIBLE_TRADE_DATE => definition.last_trade = time,
                    _ => {}
                }
            });
            each!($decoded.no_md_feed_types(), codec::$module::NoMDFeedTypes, |feed_type| {
                let levels = u8::try_from(feed_type.market_depth()).unwrap_or(0);
                match feed_type.md_feed_type().as_bytes() {
                    b"GBX" => definition.depth = levels,
                    b"GBI" => definition.implied_depth = levels,
                    _ => {}
                }
            });
            each!($decoded.no_inst_attrib(), codec::$module::NoInstAttrib, |attribute| {
                let all = definition.attributes.0 | attribute.inst_attrib_value().0;
                definition.attributes = InstAttribValue(all);
            });
            each!($decoded.no_lot_type_rules(), codec::$module::NoLotTypeRules, |rule| {
                definition.lots.push(rule.lot_type(), rule.min_lot_size().lot_size());
            });
            $lists
            Ok(DecodedDefinition {
                definition,
                match_event: MatchEvent($decoded.match_event_indicator().0),
                total_reports: $decoded.tot_num_reports(),
            })
        }
    };
}

decoder!(
    future, MDInstrumentDefinitionFuture54, md_instrument_definition_future54,
    |future| Details::Future(FutureDetails {
        decay_quantity: future.decay_quantity(),
        decay_start_date: future.decay_start_date(),
        original_contract_size: future.original_contract_size(),
        contract_multiplier: future.contract_multiplier(),
        contract_multiplier_unit: future.contract_multiplier_unit(),
        flow_schedule_type: future.flow_schedule_type(),
    }),
    {
        maturity: future.maturity_month_year(),
        main_fraction: future.main_fraction(),
        sub_fraction: future.sub_fraction(),
        price_display_format: future.price_display_format(),
        max_price_variation: future.max_price_variation(),
        settl_currency: text!(future.settl_currency()),
        unit_of_measure_qty: future.unit_of_measure_qty(),
        min_price_increment_amount: future.min_price_increment_amount(),
        trading_reference_price: future.trading_reference_price(),
        trading_reference_date: future.trading_reference_date(),
        settl_price_type: future.settl_price_type(),
        open_interest_qty: future.open_interest_qty(),
        cleared_volume: future.cleared_volume()
    },
    |_related| {}
);

decoder!(
    option, MDInstrumentDefinitionOption55, md_instrument_definition_option55,
    |option| Details::Option(OptionDetails {
        put_or_call: option.put_or_call(),
        strike_price: option.strike_price(),
        strike_currency: Text::from_bytes(option.strike_currency().as_bytes()),
        min_cab_price: option.min_cab_price(),
        tick_rule: option.tick_rule(),
    }),
    {
        maturity: option.maturity_month_year(),
        main_fraction: option.main_fraction(),
        sub_fraction: option.sub_fraction(),
        price_display_format: option.price_display_format(),
        settl_currency: text!(option.settl_currency()),
        unit_of_measure_qty: option.unit_of_measure_qty(),
        min_price_increment_amount: option.min_price_increment_amount(),
        trading_reference_price: option.trading_reference_price(),
        trading_reference_date: option.trading_reference_date(),
        settl_price_type: option.settl_price_type(),
        open_interest_qty: option.open_interest_qty(),
        cleared_volume: option.cleared_volume()
    },
    |related| {
        underlyings!(
            option.no_underlyings(), codec::md_instrument_definition_option55::NoUnderlyings,
            underlying_security_id, underlying_symbol, related, Related::Underlying
        );
        underlyings!(
            option.no_related_instruments(),
            codec::md_instrument_definition_option55::NoRelatedInstruments,
            related_security_id, related_symbol, related, Related::Instrument
        );
    }
);

decoder!(
    spread, MDInstrumentDefinitionSpread56, md_instrument_definition_spread56,
    |spread| Details::Spread(SpreadDetails {
        sub_type: Text::from_bytes(spread.security_sub_type().as_bytes()),
        price_ratio: spread.price_ratio(),
        tick_rule: spread.tick_rule(),
        full_name: Text::from_bytes(spread.financial_instrument_full_name().as_bytes()),
    }),
    {
        maturity: spread.maturity_month_year(),
        main_fraction: spread.main_fraction(),
        sub_fraction: spread.sub_fraction(),
        price_display_format: spread.price_display_format(),
        max_price_variation: spread.max_price_variation(),
        trading_reference_price: spread.trading_reference_price(),
        trading_reference_date: spread.trading_reference_date(),
        settl_price_type: spread.settl_price_type(),
        open_interest_qty: spread.open_interest_qty(),
        cleared_volume: spread.cleared_volume(),
        price_quote_method: text!(spread.price_quote_method()),
        risk_set: text!(spread.risk_set()),
        market_set: text!(spread.market_set())
    },
    |related| {
        each!(spread.no_legs(), codec::md_instrument_definition_spread56::NoLegs, |leg| {
            related.push(Related::Leg(Leg {
                security_id: leg.leg_security_id(),
                side: leg.leg_side(),
                ratio: leg.leg_ratio_qty(),
                price: leg.leg_price(),
                option_delta: leg.leg_option_delta(),
            }));
        });
    }
);

decoder!(
    fixed_income, MDInstrumentDefinitionFixedIncome57, md_instrument_definition_fixed_income57,
    |bond| Details::FixedIncome(FixedIncomeDetails {
        issue_date: bond.issue_date(),
        maturity_date: bond.maturity_date(),
        coupon_rate: bond.coupon_rate(),
        par_value: bond.par_value(),
        full_name: Text::from_bytes(bond.financial_instrument_full_name().as_bytes()),
        dated_date: bond.dated_date(),
        coupon_frequency_unit: text!(bond.coupon_frequency_unit()),
        coupon_frequency_period: bond.coupon_frequency_period(),
        coupon_day_count: text!(bond.coupon_day_count()),
        country_of_issue: text!(bond.country_of_issue()),
        issuer: text!(bond.issuer()),
        security_alt_id: text!(bond.security_alt_id()),
        security_alt_id_source: bond.security_alt_id_source(),
    }),
    {
        maturity: NO_MATURITY,
        main_fraction: bond.main_fraction(),
        sub_fraction: bond.sub_fraction(),
        price_display_format: bond.price_display_format(),
        max_price_variation: bond.max_price_variation(),
        settl_currency: text!(bond.settl_currency()),
        unit_of_measure_qty: bond.unit_of_measure_qty(),
        min_price_increment_amount: bond.min_price_increment_amount(),
        trading_reference_price: bond.trading_reference_price(),
        trading_reference_date: bond.trading_reference_date(),
        price_quote_method: text!(bond.price_quote_method()),
        risk_set: text!(bond.risk_set()),
        market_set: text!(bond.market_set()),
        party_role_clearing_org: text!(bond.party_role_clearing_org())
    },
    |_related| {}
);

decoder!(
    repo, MDInstrumentDefinitionRepo58, md_instrument_definition_repo58,
    |repo| Details::Repo(RepoDetails {
        sub_type: repo.security_sub_type(),
        start_date: repo.start_date(),
        end_date: repo.end_date(),
        term_code: Text::from_bytes(repo.term_code().as_bytes()),
        full_name: Text::from_bytes(repo.financial_instrument_full_name().as_bytes()),
        termination_type: text!(repo.termination_type()),
        money_or_par: repo.money_or_par(),
        max_substitutions: repo.max_no_of_substitutions(),
        broken_date_term_type: repo.broken_date_term_type(),
    }),
    {
        max_price_variation: repo.max_price_variation(),
        settl_currency: text!(repo.settl_currency()),
        unit_of_measure_qty: repo.unit_of_measure_qty(),
        trading_reference_price: repo.trading_reference_price(),
        trading_reference_date: repo.trading_reference_date(),
        price_quote_method: text!(repo.price_quote_method()),
        risk_set: text!(repo.risk_set()),
        market_set: text!(repo.market_set()),
        party_role_clearing_org: text!(repo.party_role_clearing_org())
    },
    |related| {
        each!(repo.no_underlyings(), repo58::NoUnderlyings, |entry| {
            let symbol = text!(entry.underlying_symbol());
            let underlying = Underlying {
                instrument_guid: entry.underlying_instrument_guid(),
                security: UnderlyingSecurity {
                    alt_id: text!(entry.underlying_security_alt_id()),
                    alt_id_source: entry.underlying_security_alt_id_source(),
                    full_name: text!(entry.underlying_financial_instrument_full_name()),
                    security_type: text!(entry.underlying_security_type()),
                    country_of_issue: text!(entry.underlying_country_of_issue()),
                    issuer: text!(entry.underlying_issuer()),
                    max_life_time: entry.underlying_max_life_time(),
                    min_days_to_maturity: entry.underlying_min_days_to_maturity(),
                    maturity_date: entry.underlying_maturity_date(),
                },
                ..Underlying::new(entry.underlying_security_id(), symbol)
            };
            related.push(Related::Underlying(underlying));
        });
        each!(
            repo.no_related_instruments(),
            repo58::NoRelatedInstruments,
            |entry| {
                let symbol = text!(entry.related_symbol());
                related.push(Related::Instrument(Underlying {
                    instrument_guid: entry.related_instrument_guid(),
                    ..Underlying::new(Some(entry.related_security_id()), symbol)
                }));
            }
        );
        each!(repo.no_broken_dates(), repo58::NoBrokenDates, |entry| {
            related.push(Related::BrokenDate(BrokenDate {
                guid: entry.broken_date_guid(),
                security_id: entry.broken_date_security_id(),
                start: entry.broken_date_start(),
                end: entry.broken_date_end(),
            }));
        });
    }
);

decoder!(
    fx, MDInstrumentDefinitionFX63, md_instrument_definition_fx63,
    |fx| Details::Fx(FxDetails {
        currency_symbol: Text::from_bytes(fx.fx_currency_symbol().as_bytes()),
        price_quote_currency: Text::from_bytes(fx.price_quote_currency().as_bytes()),
        settl_type: Text::from_bytes(fx.settl_type().as_bytes()),
        intervening_days: fx.intervening_days(),
        price_precision: fx.price_precision(),
        alt_min_price_increment: fx.alt_min_price_increment(),
        full_name: Text::from_bytes(fx.financial_instrument_full_name().as_bytes()),
        benchmark_rate_fix: text!(fx.fx_benchmark_rate_fix()),
        rate_source: text!(fx.rate_source()),
        fix_rate_local_time: text!(fx.fix_rate_local_time()),
        fix_rate_local_time_zone: text!(fx.fix_rate_local_time_zone()),
        min_quote_life: fx.min_quote_life(),
        max_price_discretion_offset: fx.max_price_discretion_offset(),
        settlement_locale: text!(fx.settlement_locale()),
        alt_min_quote_life: fx.alt_min_quote_life(),
        alt_price_increment_constraint: fx.alt_price_increment_constraint(),
        max_bid_ask_constraint: fx.max_bid_ask_constraint(),
    }),
    {
        maturity: fx.maturity_month_year(),
        max_price_variation: fx.max_price_variation(),
        settl_currency: text!(fx.settl_currency()),
        unit_of_measure_qty: fx.unit_of_measure_qty()
    },
    |related| {
        each!(fx.no_trading_sessions(), fx63::NoTradingSessions, |entry| {
            related.push(Related::TradingSession(TradingSession {
                trade_date: entry.trade_date(),
                settl_date: entry.settl_date(),
                maturity_date: entry.maturity_date(),
                security_alt_id: text!(entry.security_alt_id()),
            }));
        });
    }
);

/// Converts `A`, `M` or `D`. Any other value counts as an addition, which states the most.
fn action(wire: u8) -> DefinitionAction {
    match wire {
        b'M' => DefinitionAction::Modify,
        b'D' => DefinitionAction::Delete,
        _ => DefinitionAction::Add,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairpin_sbe::{BlockLayout, Message};

    /// Appends a block of zeros with the values that other fields depend on.
    fn push_block(body: &mut Vec<u8>, block: &BlockLayout) {
        let start = body.len();
        body.resize(start + usize::from(block.length), 0);
        for field in block.fields {
            let at = start + usize::from(field.offset);
            match field.name {
                "MDFeedType" => body[at..at + 3].copy_from_slice(b"GBX"),
                "MarketDepth" => body[at] = 7,
                "EventType" => body[at] = EventType::ACTIVATION.0,
                "UserDefinedInstrument" => body[at] = b'Y',
                "SecurityUpdateAction" => body[at] = b'D',
                _ => {}
            }
        }
    }

    /// Decodes a message, with everything that the view has of it as text.
    fn decoded(message: &Message, body: &[u8]) -> alloc::string::String {
        let header = MessageHeader {
            block_length: message.block.length,
            template_id: message.template_id,
            schema_id: message.schema_id,
            version: message.version,
        };
        let mut related = Vec::new();
        let decoded = decode(&header, body, &mut related).unwrap().unwrap();
        alloc::format!("{decoded:?} {related:?}")
    }

    #[test]
    fn every_field_of_every_template_reaches_view() {
        for message in [
            &codec::md_instrument_definition_future54::MESSAGE,
            &codec::md_instrument_definition_option55::MESSAGE,
            &codec::md_instrument_definition_spread56::MESSAGE,
            &codec::md_instrument_definition_fixed_income57::MESSAGE,
            &codec::md_instrument_definition_repo58::MESSAGE,
            &codec::md_instrument_definition_fx63::MESSAGE,
        ] {
            let mut body = Vec::new();
            let mut blocks = alloc::vec![(0, &message.block)];
            push_block(&mut body, &message.block);
            for group in message.groups {
                body.extend_from_slice(&group.block.length.to_le_bytes());
                body.push(1);
                blocks.push((body.len(), &group.block));
                push_block(&mut body, &group.block);
            }
            let base = decoded(message, &body);
            for (start, block) in blocks {
                for field in block.fields.iter().filter(|field| field.kind.size > 0) {
                    let at = start + usize::from(field.offset);
                    let before = body[at];
                    body[at] ^= 0x41;
                    let name = field.name;
                    assert_ne!(decoded(message, &body), base, "{name} of {}", message.name);
                    body[at] = before;
                }
            }
        }
    }
}
