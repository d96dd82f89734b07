//! CME's `MSGW_Config.xml`: the schema version of each market segment.

use hairpin_ilink3::Version;
use roxmltree::{Document, Node};
use thiserror::Error;

/// The element with the schema versions that a segment accepts from clients.
const TO_CME: &str = "ToCMESchemaVersion";
/// The longest list of versions in an error message.
const VERSIONS_MAX: usize = 20;

/// An error in `MSGW_Config.xml`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MsgwConfigError {
    /// The text is not XML.
    #[error("{0}")]
    Xml(String),
    /// The file does not contain the market segment.
    #[error("no market segment {0}")]
    NoSegment(u8),
    /// The market segment accepts no schema version that a session can use, or lists none.
    #[error(
        "market segment {segment} accepts schema versions `{versions}`, not {} to {}",
        Version::OLDEST.number(),
        Version::NEWEST.number()
    )]
    Version {
        /// The market segment.
        segment: u8,
        /// The versions, as written unless they are long; empty if the file lists none.
        versions: String,
    },
}

/// Returns the newest schema version that the market segment accepts and a session can use.
///
/// `text` is the content of CME's file: a `marketsegment` with its `id` for each segment, and in it
/// `ToCMESchemaVersion`, for example `8` or `5,8`.
///
/// # Errors
/// [`MsgwConfigError`].
pub fn msgw_schema_version(text: &str, segment: u8) -> Result<Version, MsgwConfigError> {
    let document = parse(text)?;
    let has_id = |node: &Node<'_, '_>| segment_id(node) == Some(segment);
    let node = document.descendants().find(has_id).ok_or(MsgwConfigError::NoSegment(segment))?;
    let element = node.children().find(|child| child.has_tag_name(TO_CME));
    let versions = element.and_then(|element| element.text()).unwrap_or_default().trim();
    let printed = if versions.len() > VERSIONS_MAX { "…" } else { versions };
    let usable = versions.split(',').filter_map(|it| Version::new(it.trim().parse().ok()?));
    usable.max().ok_or_else(|| MsgwConfigError::Version { segment, versions: printed.to_owned() })
}

/// Returns the ids of the market segments in CME's file, in the file's order.
///
/// # Errors
/// [`MsgwConfigError::Xml`].
pub fn msgw_segments(text: &str) -> Result<Vec<u8>, MsgwConfigError> {
    Ok(parse(text)?.descendants().filter_map(|node| segment_id(&node)).collect())
}

fn parse(text: &str) -> Result<Document<'_>, MsgwConfigError> {
    // The position only: the parser's message quotes the file, which may be another, with a key.
    Document::parse(text).map_err(|error| {
        let position = error.pos();
        MsgwConfigError::Xml(format!("not XML at line {}, column {}", position.row, position.col))
    })
}

/// Returns the id of a market segment; `None` for another node.
fn segment_id(node: &Node<'_, '_>) -> Option<u8> {
    let id = node.attribute("id").filter(|_| node.has_tag_name("marketsegment"))?;
    id.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a file with segment 70, which accepts `versions`.
    fn file(versions: &str) -> String {
        format!(
            "<?xml version='1.0' encoding='UTF-8'?>
            <configuration environment=\"Production\">
              <marketsegment id=\"12\" label=\"Service\"><protocol>TCP/IP</protocol></marketsegment>
              <marketsegment id=\"70\" label=\"Futures\">
                <primary-host-ip>192.0.2.1</primary-host-ip>
                <ToCMESchemaVersion>{versions}</ToCMESchemaVersion>
                <FromCMESchemaVersion>9</FromCMESchemaVersion>
              </marketsegment>
            </configuration>"
        )
    }

    #[test]
    fn newest_accepted_version_is_used() {
        for (versions, expected) in [("8", 8), ("5,8", 8), (" 7 , 5 ", 7), ("4,9,10", 9)] {
            let version = msgw_schema_version(&file(versions), 70).unwrap();
            assert_eq!(version.number(), expected, "{versions}");
        }
    }

    #[test]
    fn segment_without_a_usable_version_is_an_error() {
        for versions in ["", "4", "10", "eight"] {
            let error = msgw_schema_version(&file(versions), 70).unwrap_err();
            let expected = format!("market segment 70 accepts schema versions `{versions}`, not 5");
            assert!(error.to_string().starts_with(&expected), "{error}");
        }
        let error = msgw_schema_version(&file("8"), 12).unwrap_err();
        assert_eq!(error, MsgwConfigError::Version { segment: 12, versions: String::new() });
    }

    #[test]
    fn segments_are_listed_in_the_order_of_the_file() {
        assert_eq!(msgw_segments(&file("8")).unwrap(), [12, 70]);
        assert!(msgw_segments("<configuration/>").unwrap().is_empty());
        assert!(msgw_segments("no XML").is_err());
    }

    #[test]
    fn missing_segment_is_an_error() {
        let error = msgw_schema_version(&file("8"), 64).unwrap_err();
        assert_eq!(error, MsgwConfigError::NoSegment(64));
        assert!(matches!(msgw_schema_version("<a>", 64), Err(MsgwConfigError::Xml(_))));
    }
}
