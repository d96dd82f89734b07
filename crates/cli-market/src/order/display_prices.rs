//! Display prices in commands, converted by the definitions in a capture.
//!
//! The display price is the wire price times DisplayFactor (9787): CME Client Systems Wiki
//! 46172721. A price displayed in fractions is given as a decimal number.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use hairpin_cme_codecs::mdp3;
use hairpin_order_entry::{Decimal, Price9};
use hairpin_sbe::{MessageHeader, Value, Visitor};

use crate::decode::capture::{self, Payload};

/// The header of a packet: its number and its sending time.
const PACKET_HEADER: usize = 12;
/// The size before each message.
const MESSAGE_SIZE: usize = 2;
/// One in units of a price's mantissa.
const ONE: i128 = 1_000_000_000;

/// The display factor of each instrument.
#[derive(Debug, Default)]
pub(super) struct DisplayPrices {
    /// DisplayFactor in units of 10^-9, by SecurityID.
    factors: HashMap<i32, i64>,
}

impl DisplayPrices {
    /// Reads the definitions of all channels in a capture.
    ///
    /// # Errors
    /// A file that cannot be read, is not a capture, or contains no definition.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let named = || format!("cannot read definitions from {}", path.display());
        let mut prices = Self::default();
        let input = capture::open(path).with_context(named)?;
        let end = capture::read(input, |packet| {
            if let Ok(Payload::Datagram { bytes, .. }) = packet.payload {
                prices.record(bytes);
            }
            Ok(())
        });
        let end = end.with_context(named)?;
        if prices.factors.is_empty() {
            let cause = end.unwrap_or_else(|| "no definition in this capture".to_owned());
            bail!("{}: {cause}", named());
        }
        if let Some(cause) = end {
            eprintln!("hairpin: {}: {cause}; what precedes it is used", named());
        }
        Ok(prices)
    }

    /// Records the definitions in a packet of market data; other datagrams have none.
    fn record(&mut self, packet: &[u8]) {
        let mut rest = packet.get(PACKET_HEADER..).unwrap_or_default();
        while let Some(size) = rest.first_chunk().map(|&size| usize::from(u16::from_le_bytes(size)))
            && let Some(message) = rest.get(MESSAGE_SIZE..size)
            && let Ok((header, body)) = MessageHeader::decode(message)
        {
            let mut definition = DisplayFactor::default();
            let is_valid = mdp3::visit(&header, body, &mut definition).is_ok();
            if let (true, Some(id), Some(factor)) =
                (is_valid, definition.security_id, definition.factor)
            {
                self.factors.insert(id, factor);
            }
            rest = &rest[size..];
        }
    }

    /// Converts a display price of an instrument to its wire price.
    ///
    /// # Errors
    /// No definition of the instrument, or a display price without an exact wire price.
    pub(super) fn wire_price(&self, security_id: i32, price: Price9) -> Result<Price9> {
        let Some(&factor) = self.factors.get(&security_id).filter(|&&factor| factor > 0) else {
            bail!("cannot convert {price}: no definition of {security_id} with a display factor");
        };
        let scaled = i128::from(price.0) * ONE;
        let wire = i64::try_from(scaled / i128::from(factor)).ok();
        match wire.filter(|_| scaled % i128::from(factor) == 0) {
            Some(wire) => Ok(Decimal(wire)),
            None => bail!(
                "cannot convert {price}: not a wire price times the display factor {}",
                Decimal::<-9>(factor)
            ),
        }
    }
}

/// The display factor in a definition.
#[derive(Debug, Default)]
struct DisplayFactor {
    security_id: Option<i32>,
    factor: Option<i64>,
    /// The number of open groups and composites.
    depth: u32,
}

impl Visitor for DisplayFactor {
    fn field(&mut self, name: &str, value: Value<'_>) {
        match (self.depth, name, value) {
            (0, "SecurityID", Value::Signed(id)) => self.security_id = i32::try_from(id).ok(),
            (0, "DisplayFactor", Value::Number(factor)) => self.factor = Some(factor.mantissa),
            _ => {}
        }
    }

    fn composite(&mut self, _: &str) {
        self.depth += 1;
    }

    fn end_composite(&mut self) {
        self.depth -= 1;
    }

    fn group(&mut self, _: &str, _: usize) {
        self.depth += 1;
    }

    fn end_group(&mut self) {
        self.depth -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices(factor: i64) -> DisplayPrices {
        DisplayPrices { factors: HashMap::from([(7, factor)]) }
    }

    #[test]
    fn es_at_4500_25_has_the_wire_price_450025() {
        let display = Decimal(4_500_250_000_000);
        let wire = prices(10_000_000).wire_price(7, display).unwrap();
        assert_eq!(wire, Decimal(450_025_000_000_000));
        assert_eq!(prices(1_000_000_000).wire_price(7, display).unwrap(), display);
    }

    #[test]
    fn price_without_an_exact_wire_price_is_an_error() {
        let error =
            |factor, price| prices(factor).wire_price(7, Decimal(price)).unwrap_err().to_string();
        let expected = "cannot convert 0.000000001: not a wire price times the display factor 3";
        assert_eq!(error(3_000_000_000, 1), expected);
        assert!(error(1, i64::MAX).contains("cannot convert"));
        for factor in [0, -1] {
            assert!(error(factor, 1).ends_with("no definition of 7 with a display factor"));
        }
    }

    #[test]
    fn instrument_without_a_definition_is_an_error() {
        let error = prices(1).wire_price(8, Decimal(1_000_000_000)).unwrap_err().to_string();
        assert_eq!(error, "cannot convert 1: no definition of 8 with a display factor");
    }

    #[test]
    fn other_datagrams_have_no_definitions() {
        let mut prices = DisplayPrices::default();
        for length in 0..64 {
            for byte in [0, 1, 2, 10, 54, 255] {
                prices.record(&vec![byte; length]);
            }
        }
        assert!(prices.factors.is_empty());
    }
}
