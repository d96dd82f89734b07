//! What the exchange says of an instrument before it trades.

use core::fmt;

use hairpin_cme_codecs::mdp3 as codec;
use hairpin_cme_codecs::mdp3::SecurityTradingStatus;
use hairpin_sbe::{DecodeError, MessageHeader};
use hairpin_time::Utc;

use crate::Price9;

/// A short text of at most `N` bytes, kept in place: a symbol, a group, a currency.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Text<const N: usize>([u8; N]);

impl<const N: usize> Text<N> {
    /// No text.
    pub const EMPTY: Self = Self([0; N]);

    /// The text up to the first NUL.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        let length = self.0.iter().position(|byte| *byte == 0).unwrap_or(N);
        &self.0[..length]
    }

    /// The text; empty if it is not UTF-8, which CME's always is, being ASCII.
    #[must_use]
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(self.as_bytes()).unwrap_or("")
    }

    /// The first `N` of some bytes.
    fn from_bytes(bytes: &[u8]) -> Self {
        let mut text = [0; N];
        let length = bytes.len().min(N);
        text[..length].copy_from_slice(&bytes[..length]);
        Self(text)
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<const N: usize> PartialEq<str> for Text<N> {
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl<const N: usize> PartialEq<&str> for Text<N> {
    fn eq(&self, other: &&str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

/// SecurityUpdateAction (tag 980): what a definition does to the instrument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DefinitionAction {
    /// `A`: the instrument is there, or new.
    Add,
    /// `M`: it has changed.
    Modify,
    /// `D`: it is gone.
    Delete,
}

/// What all definitions (templates 54 to 58 and 63) say alike. What only some of them say is in
/// the message, which [`crate::Listener::on_message`] is shown first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Definition {
    /// SecurityID (48).
    pub security_id: i32,
    /// Symbol (55), such as `ESZ6`.
    pub symbol: Text<20>,
    /// SecurityGroup (1151).
    pub security_group: Text<6>,
    /// Asset (6937).
    pub asset: Text<6>,
    /// SecurityType (167), such as `FUT`.
    pub security_type: Text<6>,
    /// CFICode (461).
    pub cfi_code: Text<6>,
    /// Currency (15).
    pub currency: Text<3>,
    /// MarketSegmentID (1300): what an order for the instrument is sent to.
    pub market_segment_id: u8,
    /// MinPriceIncrement (969): the tick size. `None` where the tick depends on the price.
    pub min_price_increment: Option<Price9>,
    /// DisplayFactor (9787): multiply a price by this to show it.
    pub display_factor: Price9,
    /// MarketDepth (264) of feed type `GBX`: levels of the direct book, 0 if there is none.
    /// As stated; a book holds at most [`crate::MAX_DEPTH`].
    pub depth: u8,
    /// MarketDepth (264) of feed type `GBI`: levels of the implied book, 0 if there is none.
    pub implied_depth: u8,
    /// HighLimitPrice (1149).
    pub high_limit_price: Option<Price9>,
    /// LowLimitPrice (1148).
    pub low_limit_price: Option<Price9>,
    /// MDSecurityTradingStatus (1682).
    pub trading_status: Option<SecurityTradingStatus>,
    /// LastUpdateTime (779) of the definition.
    pub last_update_time: Utc,
    /// SecurityUpdateAction (980).
    pub action: DefinitionAction,
    /// The template the definition came in.
    pub template_id: u16,
}

impl Definition {
    /// The definition of an instrument that has none.
    pub(crate) const fn none(security_id: i32) -> Self {
        Self {
            security_id,
            symbol: Text::EMPTY,
            security_group: Text::EMPTY,
            asset: Text::EMPTY,
            security_type: Text::EMPTY,
            cfi_code: Text::EMPTY,
            currency: Text::EMPTY,
            market_segment_id: 0,
            min_price_increment: None,
            display_factor: Price9(0),
            depth: 0,
            implied_depth: 0,
            high_limit_price: None,
            low_limit_price: None,
            trading_status: None,
            last_update_time: Utc::EPOCH,
            action: DefinitionAction::Delete,
            template_id: 0,
        }
    }

    /// Whether the instrument is defined and not deleted.
    pub(crate) fn is_in_force(&self) -> bool {
        self.action != DefinitionAction::Delete
    }
}

/// A definition as it came, with what concerns the message and not the instrument.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decoded {
    pub(crate) definition: Definition,
    pub(crate) match_event_indicator: u8,
    /// TotNumReports (911): how many definitions a whole loop has.
    pub(crate) total_reports: Option<u32>,
}

/// Decodes a definition of any template; `None` if the template is not a definition's.
pub(crate) fn decode(header: &MessageHeader, body: &[u8]) -> Option<Result<Decoded, DecodeError>> {
    Some(match header.template_id {
        codec::MDInstrumentDefinitionFuture54::TEMPLATE_ID => future(header, body),
        codec::MDInstrumentDefinitionOption55::TEMPLATE_ID => option(header, body),
        codec::MDInstrumentDefinitionSpread56::TEMPLATE_ID => spread(header, body),
        codec::MDInstrumentDefinitionFixedIncome57::TEMPLATE_ID => fixed_income(header, body),
        codec::MDInstrumentDefinitionRepo58::TEMPLATE_ID => repo(header, body),
        codec::MDInstrumentDefinitionFX63::TEMPLATE_ID => fx(header, body),
        _ => return None,
    })
}

/// One decoder per template; the templates name these fields alike but share no type.
macro_rules! decoder {
    ($name:ident, $message:ident, $module:ident) => {
        fn $name(header: &MessageHeader, body: &[u8]) -> Result<Decoded, DecodeError> {
            let mut scratch = codec::$message::SCRATCH;
            let message = codec::$message::decode(header, body, &mut scratch)?;
            let (mut depth, mut implied_depth) = (0, 0);
            let mut feed_types = message.no_md_feed_types();
            let mut scratch = codec::$module::NoMDFeedTypes::SCRATCH;
            while let Some(feed_type) = feed_types.next(&mut scratch) {
                let levels = u8::try_from(feed_type.market_depth()).unwrap_or(0);
                match feed_type.md_feed_type().as_bytes() {
                    b"GBX" => depth = levels,
                    b"GBI" => implied_depth = levels,
                    _ => {}
                }
            }
            let definition = Definition {
                security_id: message.security_id(),
                symbol: Text::from_bytes(message.symbol().as_bytes()),
                security_group: Text::from_bytes(message.security_group().as_bytes()),
                asset: Text::from_bytes(message.asset().as_bytes()),
                security_type: Text::from_bytes(message.security_type().as_bytes()),
                cfi_code: Text::from_bytes(message.cfi_code().as_bytes()),
                currency: Text::from_bytes(message.currency().as_bytes()),
                market_segment_id: message.market_segment_id(),
                min_price_increment: message.min_price_increment().into(),
                display_factor: message.display_factor(),
                depth,
                implied_depth,
                high_limit_price: message.high_limit_price(),
                low_limit_price: message.low_limit_price(),
                trading_status: message.md_security_trading_status(),
                last_update_time: Utc::from_nanos(message.last_update_time()),
                action: action(message.security_update_action().0),
                template_id: header.template_id,
            };
            Ok(Decoded {
                definition,
                match_event_indicator: message.match_event_indicator().0,
                total_reports: message.tot_num_reports(),
            })
        }
    };
}

decoder!(future, MDInstrumentDefinitionFuture54, md_instrument_definition_future54);
decoder!(option, MDInstrumentDefinitionOption55, md_instrument_definition_option55);
decoder!(spread, MDInstrumentDefinitionSpread56, md_instrument_definition_spread56);
decoder!(
    fixed_income,
    MDInstrumentDefinitionFixedIncome57,
    md_instrument_definition_fixed_income57
);
decoder!(repo, MDInstrumentDefinitionRepo58, md_instrument_definition_repo58);
decoder!(fx, MDInstrumentDefinitionFX63, md_instrument_definition_fx63);

/// `A`, `M` or `D`; anything else is taken for an addition, which states the most.
fn action(wire: u8) -> DefinitionAction {
    match wire {
        b'M' => DefinitionAction::Modify,
        b'D' => DefinitionAction::Delete,
        _ => DefinitionAction::Add,
    }
}
