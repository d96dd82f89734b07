//! The trading status of an instrument, a group, or a product of a group.

use hairpin_cme_codecs::mdp3 as codec;
use hairpin_cme_codecs::mdp3::{HaltReason, SecurityTradingEvent, SecurityTradingStatus};
use hairpin_sbe::DecodeError;
use hairpin_time::Utc;

use crate::market::Market;
use crate::message::entries::Root;
use crate::{
    Definition, InstrumentIndex, Listener, MatchEvent, Message, Packet, SecurityStatus, Text,
    UpdateSource,
};

/// The trading status of an instrument. It is that of the last message about the instrument, its
/// group or its product; before the first, that of its definition or snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct InstrumentStatus {
    /// SecurityTradingStatus (326), or MDSecurityTradingStatus (1682) of a definition or snapshot.
    pub trading_status: Option<SecurityTradingStatus>,
    /// HaltReason (327); `None` if the present status did not come from a message.
    pub halt_reason: Option<HaltReason>,
    /// SecurityTradingEvent (1174) of the last message.
    pub event: Option<SecurityTradingEvent>,
    /// TradeDate (75): days since 1970-01-01.
    pub trade_date: Option<u16>,
}

impl InstrumentStatus {
    pub(crate) const UNKNOWN: Self =
        Self { trading_status: None, halt_reason: None, event: None, trade_date: None };
}

/// The instruments that a status applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatusScope {
    /// A single instrument.
    Instrument {
        /// SecurityID (48).
        security_id: i32,
        /// The instrument, `None` if not yet known.
        instrument: Option<InstrumentIndex>,
    },
    /// All instruments of a group or a product.
    Group {
        /// SecurityGroup (1151); empty: any group.
        security_group: Text<6>,
        /// Asset (6937), the product within the group; empty: all products of the group.
        asset: Text<6>,
    },
}

impl StatusScope {
    /// Returns `true` if the status applies to an instrument with this definition.
    #[must_use]
    pub fn includes(&self, definition: &Definition) -> bool {
        match self {
            Self::Instrument { security_id, .. } => *security_id == definition.security_id,
            Self::Group { security_group, asset } => {
                let is_any = |text: &Text<6>| text.as_bytes().is_empty();
                (is_any(security_group) || *security_group == definition.security_group)
                    && (is_any(asset) || *asset == definition.asset)
                    && !(is_any(security_group) && is_any(asset))
            }
        }
    }
}

impl Market {
    /// Applies a SecurityStatus (template 30) of the incremental feed.
    #[cold]
    pub(crate) fn apply_security_status(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        listener: &mut impl Listener,
    ) -> Result<Root, DecodeError> {
        let mut scratch = codec::SecurityStatus30::SCRATCH;
        let decoded = codec::SecurityStatus30::decode(&message.header, message.body, &mut scratch)?;
        let root = Root {
            transact_time: Utc::from_nanos(decoded.transact_time()),
            match_event: MatchEvent(decoded.match_event_indicator().0),
        };
        let scope = match decoded.security_id() {
            Some(security_id) => {
                let instrument = self.instruments.find(security_id);
                StatusScope::Instrument { security_id, instrument }
            }
            None => StatusScope::Group {
                security_group: Text::from_bytes(decoded.security_group().as_bytes()),
                asset: Text::from_bytes(decoded.asset().as_bytes()),
            },
        };
        let status = SecurityStatus {
            packet,
            transact_time: root.transact_time,
            match_event: root.match_event,
            scope,
            trading_status: decoded.security_trading_status(),
            halt_reason: Some(decoded.halt_reason()),
            event: Some(decoded.security_trading_event()),
            trade_date: decoded.trade_date(),
            source: UpdateSource::Incremental,
        };
        if !self.is_wanted_status(&scope) {
            return Ok(root);
        }
        self.counters.statuses += 1;
        self.apply_status(packet.sequence, &status);
        listener.on_security_status(&status);
        Ok(root)
    }

    /// Records a status for each instrument it applies to, except those with a later snapshot.
    pub(crate) fn apply_status(&mut self, sequence: u32, status: &SecurityStatus<'_>) {
        match status.scope {
            StatusScope::Instrument { instrument, .. } => {
                if let Some(instrument) = instrument {
                    self.record_status(instrument, sequence, status);
                }
            }
            StatusScope::Group { .. } => {
                for instrument in self.instruments.iter() {
                    if status.scope.includes(&self.instruments.definitions[instrument.as_usize()]) {
                        self.record_status(instrument, sequence, status);
                    }
                }
            }
        }
    }

    fn record_status(
        &mut self,
        instrument: InstrumentIndex,
        sequence: u32,
        status: &SecurityStatus<'_>,
    ) {
        let recovery = &mut self.recovery[instrument.as_usize()];
        if sequence < recovery.status_sequence {
            return;
        }
        recovery.status_sequence = sequence;
        if status.event == Some(SecurityTradingEvent::RESET_STATISTICS) {
            self.instruments.statistics[instrument.as_usize()].reset_session(sequence);
        }
        let known = &mut self.instruments.statuses[instrument.as_usize()];
        *known = InstrumentStatus {
            trading_status: stated_status(status.trading_status).or(known.trading_status),
            halt_reason: status.halt_reason,
            event: status.event,
            trade_date: status.trade_date.or(known.trade_date),
        };
    }

    /// Applies the status of a snapshot as of packet `sequence`, and reports it if it differs. This
    /// repairs a status lost in a gap.
    pub(crate) fn apply_snapshot_status(
        &mut self,
        packet: &Packet,
        instrument: InstrumentIndex,
        sequence: u32,
        (transact_time, trading_status): (Utc, Option<SecurityTradingStatus>),
        listener: &mut impl Listener,
    ) {
        let recovery = &mut self.recovery[instrument.as_usize()];
        let known = &mut self.instruments.statuses[instrument.as_usize()];
        let trading_status = stated_status(trading_status);
        if sequence < recovery.status_sequence || trading_status.is_none() {
            return;
        }
        recovery.status_sequence = sequence;
        if trading_status == known.trading_status {
            return;
        }
        known.trading_status = trading_status;
        (known.halt_reason, known.event) = (None, None);
        let trade_date = known.trade_date;
        let security_id = self.instruments.book(instrument).security_id();
        listener.on_security_status(&SecurityStatus {
            packet,
            transact_time,
            match_event: MatchEvent::NONE,
            scope: StatusScope::Instrument { security_id, instrument: Some(instrument) },
            trading_status,
            halt_reason: None,
            event: None,
            trade_date,
            source: UpdateSource::Snapshot,
        });
    }

    /// Applies the status of a definition. A definition from the incremental feed, in packet
    /// `live`, replaces the status; one from the loop applies only if no status is known.
    pub(crate) fn apply_definition_status(
        &mut self,
        instrument: InstrumentIndex,
        live: Option<u32>,
    ) {
        let definition = &self.instruments.definitions[instrument.as_usize()];
        let known = &mut self.instruments.statuses[instrument.as_usize()];
        let Some(trading_status) = stated_status(definition.trading_status) else { return };
        let status_sequence = &mut self.recovery[instrument.as_usize()].status_sequence;
        match live {
            Some(sequence) if sequence >= *status_sequence => {
                *status_sequence = sequence;
                known.trading_status = Some(trading_status);
            }
            None if known.trading_status.is_none() => known.trading_status = Some(trading_status),
            _ => {}
        }
    }
}

/// Returns the status unless it is null or `NoChange`.
fn stated_status(status: Option<SecurityTradingStatus>) -> Option<SecurityTradingStatus> {
    status.filter(|status| *status != SecurityTradingStatus::NO_CHANGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(security_group: &str, asset: &str) -> StatusScope {
        StatusScope::Group {
            security_group: Text::from_bytes(security_group.as_bytes()),
            asset: Text::from_bytes(asset.as_bytes()),
        }
    }

    #[test]
    fn scope_selects_group_and_product() {
        let mut definition = Definition::undefined(7);
        definition.security_group = Text::from_bytes(b"ES");
        definition.asset = Text::from_bytes(b"MES");
        assert!(group("ES", "").includes(&definition));
        assert!(group("", "MES").includes(&definition));
        assert!(group("ES", "MES").includes(&definition));
        assert!(!group("ES", "ES").includes(&definition));
        assert!(!group("NQ", "MES").includes(&definition));
        assert!(!group("NQ", "").includes(&definition));
        assert!(!group("", "").includes(&definition), "an empty scope includes no instrument");
    }
}
