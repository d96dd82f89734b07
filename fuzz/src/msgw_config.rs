//! CME's MSGW_Config.xml, in any encoding.
//!
//! Checks:
//!
//! - No file makes the reader panic, and every error is one line.
//! - A version that it returns is one that a session can use.
//!
//! Input: the market segment, then the file.

use hairpin_ilink3::Version;

use crate::Seed;
use crate::msgw_config_of_order_entry::msgw_schema_version;

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let Some((&segment, file)) = bytes.split_first() else { return };
    let Ok(text) = hairpin_sbe::xml_text(file) else { return };
    match msgw_schema_version(&text, segment) {
        Ok(version) => {
            let usable = Version::OLDEST.number()..=Version::NEWEST.number();
            assert!(usable.contains(&version.number()), "{version:?}");
        }
        Err(error) => assert!(!error.to_string().contains(['\n', '\r']), "{error}"),
    }
}

/// Returns a file with two segments, one in UTF-16, and one without versions.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let wide: Vec<u8> = FILE.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let without = FILE.replace("5,8", " ");
    let seed =
        |name: &str, segment: u8, file: &[u8]| (name.to_owned(), [&[segment], file].concat());
    vec![
        seed("segment", 70, FILE.as_bytes()),
        seed("no-segment", 71, FILE.as_bytes()),
        seed("no-versions", 70, without.as_bytes()),
        seed("utf-16", 70, &[&[0xFF, 0xFE], &wide[..]].concat()),
    ]
}

const FILE: &str = "<?xml version='1.0' encoding='UTF-8'?>
<configuration environment=\"Production\">
<marketsegment id=\"12\" label=\"Service\"><protocol>TCP/IP</protocol></marketsegment>
<marketsegment id=\"70\" label=\"Futures\"><primary-host-ip>192.0.2.1</primary-host-ip>
<ToCMESchemaVersion>5,8</ToCMESchemaVersion></marketsegment></configuration>";
