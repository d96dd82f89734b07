//! Records of the schemas `statistics` and `status`.

use std::ffi::c_char;

use dbn::{
    RecordHeader, StatMsg, StatType, StatUpdateAction, StatusAction, StatusMsg, StatusReason,
    TradingEvent, TriState, rtype,
};
use hairpin_feed_handler::{
    HaltReason, MDUpdateAction, SecurityStatus, SecurityTradingEvent, SecurityTradingStatus,
    SettlPriceType, Statistic, StatisticKind,
};

use super::args::DAY;
use super::rows::{PUBLISHER, PacketFields, price};
use super::unheld::{Unheld, UnheldCounts};

/// Returns the type of a statistic, if DBN has it.
fn stat_type(kind: StatisticKind) -> Option<StatType> {
    match kind {
        StatisticKind::Open => Some(StatType::OpeningPrice),
        StatisticKind::IndicativeOpen => Some(StatType::IndicativeOpeningPrice),
        StatisticKind::High => Some(StatType::TradingSessionHighPrice),
        StatisticKind::Low => Some(StatType::TradingSessionLowPrice),
        StatisticKind::HighestBid => Some(StatType::HighestBid),
        StatisticKind::LowestOffer => Some(StatType::LowestOffer),
        StatisticKind::Vwap => Some(StatType::Vwap),
        StatisticKind::Settlement => Some(StatType::SettlementPrice),
        StatisticKind::ClearedVolume => Some(StatType::ClearedVolume),
        StatisticKind::OpenInterest => Some(StatType::OpenInterest),
        StatisticKind::FixingPrice => Some(StatType::FixingPrice),
        StatisticKind::HighLimit => Some(StatType::UpperPriceLimit),
        StatisticKind::LowLimit => Some(StatType::LowerPriceLimit),
        _ => None,
    }
}

/// Returns the record of a statistic, or counts that DBN has no type for it.
pub(super) fn statistic(
    statistic: &Statistic<'_>,
    packet: &PacketFields,
    channel: u8,
    unheld: &mut UnheldCounts,
) -> Option<StatMsg> {
    let Some(stat_type) = stat_type(statistic.kind) else {
        unheld.add(Unheld::Statistic);
        return None;
    };
    let value = &statistic.value;
    let (id, ts_event) = (statistic.security_id as u32, statistic.transact_time.as_nanos());
    let flags = match stat_type {
        StatType::SettlementPrice => value.settlement_type.0 & !SettlPriceType::NULL_VALUE.0,
        _ => 0,
    };
    let action = match statistic.action {
        MDUpdateAction::DELETE => StatUpdateAction::Delete,
        _ => StatUpdateAction::New,
    };
    let mut record = StatMsg {
        hd: RecordHeader::new::<StatMsg>(rtype::STATISTICS, PUBLISHER, id, ts_event),
        ts_recv: packet.ts_recv,
        price: price(value.price),
        sequence: packet.sequence,
        ts_in_delta: packet.ts_in_delta,
        stat_type: stat_type as u16,
        channel_id: channel.into(),
        update_action: action as u8,
        stat_flags: flags,
        ..StatMsg::default()
    };
    if let Some(quantity) = value.quantity {
        record.quantity = quantity.try_into().unwrap_or(i64::MAX);
    }
    if let Some(days) = value.reference_date {
        record.ts_ref = u64::from(days) * DAY;
    }
    Some(record)
}

/// Returns the record of a price limit.
pub(super) fn limit(
    (instrument, ts_event): (u32, u64),
    (kind, value): (StatType, i64),
    packet: &PacketFields,
    channel: u8,
) -> StatMsg {
    StatMsg {
        hd: RecordHeader::new::<StatMsg>(rtype::STATISTICS, PUBLISHER, instrument, ts_event),
        ts_recv: packet.ts_recv,
        price: value,
        sequence: packet.sequence,
        ts_in_delta: packet.ts_in_delta,
        stat_type: kind as u16,
        channel_id: channel.into(),
        update_action: StatUpdateAction::New as u8,
        ..StatMsg::default()
    }
}

/// Returns the record of a status for one instrument.
pub(super) fn status(
    status: &SecurityStatus<'_>,
    instrument: u32,
    packet: &PacketFields,
    unheld: &mut UnheldCounts,
) -> StatusMsg {
    let ts_event = status.transact_time.as_nanos();
    let (action, is_trading, is_quoting) = trading_status(status.trading_status, unheld);
    StatusMsg {
        hd: RecordHeader::new::<StatusMsg>(rtype::STATUS, PUBLISHER, instrument, ts_event),
        ts_recv: packet.ts_recv,
        action: action as u16,
        reason: reason(status.halt_reason, unheld) as u16,
        trading_event: trading_event(status.event, unheld) as u16,
        is_trading: is_trading as u8 as c_char,
        is_quoting: is_quoting as u8 as c_char,
        ..StatusMsg::default()
    }
}

/// Returns the action, and whether the instrument trades and is quoted.
fn trading_status(
    status: Option<SecurityTradingStatus>,
    unheld: &mut UnheldCounts,
) -> (StatusAction, TriState, TriState) {
    use TriState::{No, NotAvailable, Yes};
    match status {
        Some(SecurityTradingStatus::READY_TO_TRADE) => (StatusAction::Trading, Yes, Yes),
        Some(SecurityTradingStatus::PRE_OPEN) => (StatusAction::PreOpen, No, Yes),
        Some(SecurityTradingStatus::PRE_CROSS) => (StatusAction::PreCross, Yes, Yes),
        Some(SecurityTradingStatus::CROSS) => (StatusAction::Cross, Yes, Yes),
        Some(SecurityTradingStatus::NEW_PRICE_INDICATION) => {
            (StatusAction::NewPriceIndication, No, Yes)
        }
        Some(SecurityTradingStatus::TRADING_HALT) => (StatusAction::Halt, No, No),
        Some(SecurityTradingStatus::CLOSE) => (StatusAction::Close, No, No),
        Some(SecurityTradingStatus::POST_CLOSE) => (StatusAction::PostClose, No, No),
        Some(SecurityTradingStatus::NOT_AVAILABLE_FOR_TRADING) => {
            (StatusAction::NotAvailableForTrading, No, No)
        }
        None | Some(SecurityTradingStatus::NO_CHANGE) => {
            (StatusAction::None, NotAvailable, NotAvailable)
        }
        Some(_) => {
            unheld.add(Unheld::Status);
            (StatusAction::None, NotAvailable, NotAvailable)
        }
    }
}

fn reason(reason: Option<HaltReason>, unheld: &mut UnheldCounts) -> StatusReason {
    match reason {
        Some(HaltReason::GROUP_SCHEDULE) => StatusReason::Scheduled,
        Some(HaltReason::SURVEILLANCE_INTERVENTION) => StatusReason::SurveillanceIntervention,
        Some(HaltReason::MARKET_EVENT) => StatusReason::MarketEvent,
        Some(HaltReason::INSTRUMENT_ACTIVATION) => StatusReason::InstrumentActivation,
        Some(HaltReason::INSTRUMENT_EXPIRATION) => StatusReason::InstrumentExpiration,
        Some(HaltReason::RECOVERY_IN_PROCESS) => StatusReason::RecoveryInProcess,
        None | Some(HaltReason::UNKNOWN) => StatusReason::None,
        Some(_) => {
            unheld.add(Unheld::Status);
            StatusReason::None
        }
    }
}

fn trading_event(event: Option<SecurityTradingEvent>, unheld: &mut UnheldCounts) -> TradingEvent {
    match event {
        Some(SecurityTradingEvent::NO_CANCEL) => TradingEvent::NoCancel,
        Some(SecurityTradingEvent::RESET_STATISTICS) => TradingEvent::ChangeTradingSession,
        Some(SecurityTradingEvent::IMPLIED_MATCHING_ON) => TradingEvent::ImpliedMatchingOn,
        Some(SecurityTradingEvent::IMPLIED_MATCHING_OFF) => TradingEvent::ImpliedMatchingOff,
        None | Some(SecurityTradingEvent::NO_EVENT) => TradingEvent::None,
        Some(_) => {
            unheld.add(Unheld::Status);
            TradingEvent::None
        }
    }
}
