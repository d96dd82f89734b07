//! The SBE message header.

use crate::DecodeError;

/// The SBE message header, four little-endian `u16`:
///
/// ```text
/// 0            2            4            6            8
/// +------------+------------+------------+------------+
/// |blockLength | templateId |  schemaId  |  version   |  root block …
/// +------------+------------+------------+------------+
/// ```
///
/// Source: FIX SBE 1.0, "Message header schema"; CME's `messageHeader` composite is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageHeader {
    /// The length of the root block on the wire, which may differ from the compiled block.
    pub block_length: u16,
    /// The template id of the message.
    pub template_id: u16,
    /// The schema id.
    pub schema_id: u16,
    /// The schema version used by the sender.
    pub version: u16,
}

impl MessageHeader {
    /// The header's length in bytes.
    pub const LENGTH: usize = 8;

    /// Splits `bytes` into the header and the body after it.
    ///
    /// # Errors
    /// [`DecodeError::Header`] if there are fewer than 8 bytes.
    #[inline]
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let (&[a, b, c, d, e, f, g, h], body) =
            bytes.split_first_chunk::<8>().ok_or(DecodeError::Header)?;
        let header = Self {
            block_length: u16::from_le_bytes([a, b]),
            template_id: u16::from_le_bytes([c, d]),
            schema_id: u16::from_le_bytes([e, f]),
            version: u16::from_le_bytes([g, h]),
        };
        Ok((header, body))
    }

    /// Returns the header in wire format.
    #[inline]
    pub const fn to_bytes(self) -> [u8; 8] {
        let [a, b] = self.block_length.to_le_bytes();
        let [c, d] = self.template_id.to_le_bytes();
        let [e, f] = self.schema_id.to_le_bytes();
        let [g, h] = self.version.to_le_bytes();
        [a, b, c, d, e, f, g, h]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_little_endian_and_returns_the_body() {
        let bytes = [0x0b, 0x00, 0x2e, 0x00, 0x01, 0x00, 0x09, 0x01, 0xaa];
        let (header, body) = MessageHeader::decode(&bytes).unwrap();
        assert_eq!(
            header,
            MessageHeader { block_length: 11, template_id: 46, schema_id: 1, version: 0x109 }
        );
        assert_eq!(body, [0xaa]);
        assert_eq!(header.to_bytes(), bytes[..8]);
    }

    #[test]
    fn rejects_seven_bytes() {
        assert_eq!(MessageHeader::decode(&[0; 7]), Err(DecodeError::Header));
    }
}
