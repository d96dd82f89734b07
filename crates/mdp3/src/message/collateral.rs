//! Market values of repo collateral (template 62).

use hairpin_cme_codecs::mdp3 as codec;
use hairpin_cme_codecs::mdp3::{PriceSource, SecurityAltIDSource};
use hairpin_sbe::{DecodeError, Group};
use hairpin_time::Utc;

use crate::market::Market;
use crate::message::entries::Root;
use crate::{Listener, MatchEvent, Message, Packet, Price9, Text};

use codec::collateral_market_value62::NoMDEntries;

/// New market values of collateral.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Collateral<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// TransactTime (60).
    pub transact_time: Utc,
    /// MatchEventIndicator (5799).
    pub match_event: MatchEvent,
    entries: Group<'a, NoMDEntries<'a>>,
}

/// The value of one security as collateral. The security is not an instrument of the channel; repos
/// refer to it as their underlying.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CollateralValue {
    /// UnderlyingSecurityAltID (458).
    pub alt_id: Text<12>,
    /// UnderlyingSecurityAltIDSource (459): CUSIP or ISIN.
    pub alt_id_source: Option<SecurityAltIDSource>,
    /// UnderlyingInstrumentGUID (37519).
    pub instrument_guid: u64,
    /// CollateralMarketPrice (2689).
    pub market_price: Price9,
    /// DirtyPrice (37001): the price including accrued interest.
    pub dirty_price: Price9,
    /// MDStreamID (1500): the source of the price.
    pub price_source: Option<PriceSource>,
}

impl<'a> Collateral<'a> {
    /// Returns the valued securities.
    pub fn values(&self) -> impl Iterator<Item = CollateralValue> + use<'a> {
        let mut entries = self.entries;
        core::iter::from_fn(move || {
            let mut scratch = NoMDEntries::SCRATCH;
            let entry = entries.next(&mut scratch)?;
            Some(CollateralValue {
                alt_id: Text::from_bytes(entry.underlying_security_alt_id().as_bytes()),
                alt_id_source: entry.underlying_security_alt_id_source(),
                instrument_guid: entry.underlying_instrument_guid(),
                market_price: entry.collateral_market_price(),
                dirty_price: entry.dirty_price(),
                price_source: entry.md_stream_id(),
            })
        })
    }
}

impl Market {
    /// Applies a CollateralMarketValue of the incremental feed.
    #[cold]
    pub(crate) fn apply_collateral(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        listener: &mut impl Listener,
    ) -> Result<Root, DecodeError> {
        let mut scratch = codec::CollateralMarketValue62::SCRATCH;
        let decoded =
            codec::CollateralMarketValue62::decode(&message.header, message.body, &mut scratch)?;
        let root = Root {
            transact_time: Utc::from_nanos(decoded.transact_time()),
            match_event: MatchEvent(decoded.match_event_indicator().0),
        };
        self.counters.collaterals += 1;
        listener.on_collateral(&Collateral {
            packet,
            transact_time: root.transact_time,
            match_event: root.match_event,
            entries: decoded.no_md_entries(),
        });
        Ok(root)
    }
}
