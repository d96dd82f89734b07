//! The trading status of instruments, and its message (template 30).

use hairpin_cme_codecs::mdp3::{
    HaltReason, MatchEventIndicator, SecurityStatus30, SecurityTradingEvent, SecurityTradingStatus,
};
use hairpin_sbe::EncodeError;
use hairpin_time::Utc;

use super::{Channel, SECURITY_GROUP};

/// SecurityTradingStatus (tags 326 and 1682), as far as this exchange uses it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TradingStatus {
    /// Trading is interrupted; only cancels are accepted.
    TradingHalt = 2,
    /// The session has ended.
    Close = 4,
    /// A price is indicated before the market reopens.
    NewPriceIndication = 15,
    /// Orders are matched.
    #[default]
    ReadyToTrade = 17,
    /// The instrument is not available for trading.
    NotAvailable = 18,
    /// Before the opening. CME accepts orders then without matching; this exchange accepts none.
    PreOpen = 21,
    /// Before a cross.
    PreCross = 24,
    /// During a cross.
    Cross = 25,
    /// After the close.
    PostClose = 26,
}

impl TradingStatus {
    /// Returns `true` if orders are accepted and matched.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::ReadyToTrade)
    }

    pub(super) const fn code(self) -> SecurityTradingStatus {
        SecurityTradingStatus(self as u8)
    }
}

/// The subject of a SecurityStatus message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatusNotice {
    /// A new trading status.
    Status(TradingStatus),
    /// The session statistics are reset; the trading status stays.
    StatisticsReset,
}

/// The length of the message, including MsgSize.
pub(super) const LENGTH: usize = 2 + 8 + 30;

/// Encodes template 30, an event of one message. For one instrument it has a SecurityID, and a halt
/// has the reason surveillance. For the group it has no SecurityID, and the reason is the schedule.
pub(super) fn encode(
    buffer: &mut [u8],
    transact_time: Utc,
    security_id: Option<i32>,
    notice: StatusNotice,
    channel: &Channel,
) -> Result<usize, EncodeError> {
    let reason = match (security_id, notice) {
        (Some(_), StatusNotice::Status(TradingStatus::TradingHalt)) => {
            HaltReason::SURVEILLANCE_INTERVENTION
        }
        _ => HaltReason::GROUP_SCHEDULE,
    };
    let (status, event) = match notice {
        StatusNotice::Status(status) => (status.code(), SecurityTradingEvent::NO_EVENT),
        StatusNotice::StatisticsReset => {
            (SecurityTradingStatus::NO_CHANGE, SecurityTradingEvent::RESET_STATISTICS)
        }
    };
    SecurityStatus30::encode(buffer)?
        .set_transact_time(transact_time.as_nanos())
        .set_security_group(SECURITY_GROUP)
        .set_security_id(security_id)
        .set_trade_date(channel.trade_date())
        .set_match_event_indicator(MatchEventIndicator(0x80))
        .set_security_trading_status(status)
        .set_halt_reason(reason)
        .set_security_trading_event(event);
    Ok(SecurityStatus30::ENCODED_LENGTH)
}
