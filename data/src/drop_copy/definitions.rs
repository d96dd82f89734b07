//! Symbols and display prices, from the instrument definitions in a capture.
//!
//! The display price is the wire price times DisplayFactor (9787): CME Client Systems Wiki
//! 46172721. Both have nine decimal places, so the product is exact with 18.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use anyhow::{Context, Result, bail};
use hairpin_cme_codecs::mdp3;
use hairpin_endpoint::capture::{CaptureReader, Payload};
use hairpin_sbe::{MessageHeader, Value, Visitor};

use crate::export::captures;

/// The header of a packet: its number and its sending time.
const PACKET_HEADER: usize = 12;
/// The size before each message.
const MESSAGE_SIZE: usize = 2;
/// The decimal places of a product of two numbers with nine.
const PLACES: usize = 18;

/// An instrument's names and its display factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Instrument {
    pub(super) symbol: String,
    pub(super) exchange: String,
    /// DisplayFactor in units of 10^-9.
    factor: i64,
}

/// The instruments by SecurityID (48), or no definitions: prices are then wire prices.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    instruments: Option<HashMap<i32, Instrument>>,
    /// Instruments without a definition that were logged.
    logged: HashSet<i32>,
}

impl Definitions {
    /// Reads the definitions of all channels in a capture.
    ///
    /// # Errors
    /// A file that cannot be read, is not a capture, or contains no definition.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let named = || format!("cannot read definitions from {}", path.display());
        let input = captures::open(&[path.to_owned()], &captures::BytesRead::default())?;
        let mut reader = CaptureReader::new(input).with_context(named)?;
        let mut instruments = HashMap::new();
        loop {
            match reader.advance() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) if instruments.is_empty() => return Err(error).with_context(named),
                Err(error) => {
                    // What precedes the error is valid.
                    super::log(format_args!("{}: {error}; what precedes it is used", named()));
                    break;
                }
            }
            let payload = reader.frame().map(|frame| frame.payload());
            if let Some(Ok(Payload::Datagram { bytes, .. })) = payload {
                record(&mut instruments, bytes);
            }
        }
        if instruments.is_empty() {
            bail!("{}: no definition in this capture", named());
        }
        Ok(Self { instruments: Some(instruments), logged: HashSet::new() })
    }

    /// Returns the definition of an instrument, and logs once if it is missing.
    pub(super) fn instrument(&mut self, security_id: i32) -> Option<&Instrument> {
        let found = self.instruments.as_ref()?.get(&security_id);
        if found.is_none() && self.logged.len() < 10_000 && self.logged.insert(security_id) {
            super::log(format_args!(
                "no definition of SecurityID {security_id}: its reports have no prices"
            ));
        }
        found
    }

    /// Returns a price of an instrument as sent: its display price, or its wire price if there are
    /// no definitions at all. `None` if the definition of this instrument is missing.
    pub(super) fn price(&self, security_id: i32, wire: i64) -> Option<String> {
        let factor = match &self.instruments {
            None => 1_000_000_000,
            Some(instruments) => instruments.get(&security_id)?.factor,
        };
        Some(decimal(i128::from(wire) * i128::from(factor)))
    }

    #[cfg(test)]
    pub(super) fn with(security_id: i32, symbol: &str, factor: i64) -> Self {
        let (symbol, exchange) = (symbol.to_owned(), "XCME".to_owned());
        let instrument = Instrument { symbol, exchange, factor };
        let instruments = Some(HashMap::from([(security_id, instrument)]));
        Self { instruments, logged: HashSet::new() }
    }
}

/// Prints a number of 10^-18 without trailing zeros.
fn decimal(value: i128) -> String {
    let digits = format!("{:0>width$}", value.unsigned_abs(), width = PLACES + 1);
    let (whole, places) = digits.split_at(digits.len() - PLACES);
    let places = places.trim_end_matches('0');
    let sign = if value < 0 { "-" } else { "" };
    let point = if places.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{places}")
}

/// Records the definitions in a packet of market data; other datagrams have none.
fn record(instruments: &mut HashMap<i32, Instrument>, packet: &[u8]) {
    let mut rest = packet.get(PACKET_HEADER..).unwrap_or_default();
    while let Some(size) = rest.first_chunk().map(|&size| usize::from(u16::from_le_bytes(size)))
        && let Some(message) = rest.get(MESSAGE_SIZE..size)
        && let Ok((header, body)) = MessageHeader::decode(message)
    {
        let mut found = Definition::default();
        let is_valid = mdp3::visit(&header, body, &mut found).is_ok();
        if let (true, Some(id), Some(factor)) = (is_valid, found.security_id, found.factor) {
            let Definition { symbol, exchange, .. } = found;
            instruments.insert(id, Instrument { symbol, exchange, factor });
        }
        rest = &rest[size..];
    }
}

/// The fields of a definition.
#[derive(Debug, Default)]
struct Definition {
    security_id: Option<i32>,
    factor: Option<i64>,
    symbol: String,
    exchange: String,
    /// The number of open groups and composites.
    depth: u32,
}

impl Visitor for Definition {
    fn field(&mut self, name: &str, value: Value<'_>) {
        match (self.depth, name, value) {
            (0, "SecurityID", Value::Signed(id)) => self.security_id = i32::try_from(id).ok(),
            (0, "DisplayFactor", Value::Number(factor)) => {
                self.factor = Some(factor.mantissa).filter(|&factor| factor > 0);
            }
            (0, "Symbol", Value::Text(text)) => self.symbol = text.to_string(),
            (0, "SecurityExchange", Value::Text(text)) => self.exchange = text.to_string(),
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

    #[test]
    fn display_price_is_the_exact_product() {
        // CME's example: ES at 4500.25 has the wire price 450025 and the display factor 0.01.
        let es = Definitions::with(7, "ESZ6", 10_000_000);
        assert_eq!(es.price(7, 450_025_000_000_000).unwrap(), "4500.25");
        assert_eq!(es.price(7, -25_000_000_000).unwrap(), "-0.25");
        assert_eq!(es.price(7, 0).unwrap(), "0");
        assert_eq!(es.price(8, 1), None);
        let tiny = Definitions::with(7, "X", 1);
        assert_eq!(tiny.price(7, 1).unwrap(), "0.000000000000000001");
        assert_eq!(tiny.price(7, i64::MIN).unwrap(), "-9.223372036854775808");
        let wire = Definitions::default();
        assert_eq!(wire.price(7, 450_025_000_000_000).unwrap(), "450025");
    }

    #[test]
    fn other_datagrams_have_no_definitions() {
        let mut instruments = HashMap::new();
        for length in 0..64 {
            for byte in [0, 1, 2, 10, 54, 255] {
                record(&mut instruments, &vec![byte; length]);
            }
        }
        assert!(instruments.is_empty());
    }
}
