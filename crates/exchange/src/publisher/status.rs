//! Whether instruments trade, and the message that says so (template 30).

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
    /// Trading is interrupted: orders may be cancelled, nothing else.
    TradingHalt = 2,
    /// The session has ended.
    Close = 4,
    /// Orders are matched.
    #[default]
    ReadyToTrade = 17,
    /// Not traded now.
    NotAvailable = 18,
    /// Before the opening. CME takes orders then and matches none; here none are taken.
    PreOpen = 21,
}

impl TradingStatus {
    /// Whether orders are taken and matched.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::ReadyToTrade)
    }

    pub(super) const fn code(self) -> SecurityTradingStatus {
        SecurityTradingStatus(self as u8)
    }
}

/// The bytes of the message, MsgSize included.
pub(super) const LENGTH: usize = 2 + 8 + 30;

/// Writes template 30, alone in its event. Of one instrument: its SecurityID, and a halt is said
/// to be surveillance's; of the group: no SecurityID, and the schedule is the reason.
pub(super) fn encode(
    buffer: &mut [u8],
    transact_time: Utc,
    security_id: Option<i32>,
    status: TradingStatus,
    channel: &Channel,
) -> Result<usize, EncodeError> {
    let reason = match (security_id, status) {
        (Some(_), TradingStatus::TradingHalt) => HaltReason::SURVEILLANCE_INTERVENTION,
        _ => HaltReason::GROUP_SCHEDULE,
    };
    SecurityStatus30::encode(buffer)?
        .set_transact_time(transact_time.as_nanos())
        .set_security_group(SECURITY_GROUP)
        .set_security_id(security_id)
        .set_trade_date(channel.trade_date())
        .set_match_event_indicator(MatchEventIndicator(0x80))
        .set_security_trading_status(status.code())
        .set_halt_reason(reason)
        .set_security_trading_event(SecurityTradingEvent::NO_EVENT);
    Ok(SecurityStatus30::ENCODED_LENGTH)
}
