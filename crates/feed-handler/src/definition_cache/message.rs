//! The fields of a definition that the cache uses.

use hairpin_cme_codecs::mdp3::{
    md_instrument_definition_fixed_income57 as fixed_income,
    md_instrument_definition_future54 as future, md_instrument_definition_fx63 as fx,
    md_instrument_definition_option55 as option, md_instrument_definition_repo58 as repo,
    md_instrument_definition_spread56 as spread,
};
use hairpin_mdp3::Message;
use hairpin_sbe::Field;
use hairpin_time::Utc;

/// The bytes before the root block: MsgSize and the SBE header.
const HEADER: usize = 10;
const SECURITY_ID: u16 = 48;
const LAST_UPDATE_TIME: u16 = 779;
const TOT_NUM_REPORTS: u16 = 911;
const SECURITY_UPDATE_ACTION: u16 = 980;
const APPL_ID: u16 = 1_180;

/// The fields of a definition that the cache uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DefinitionInfo {
    pub(super) security_id: i32,
    pub(super) updated: Utc,
    pub(super) deleted: bool,
    /// ApplID.
    pub(super) channel: u16,
}

#[inline]
pub(super) fn is_definition(template_id: u16) -> bool {
    matches!(template_id, 54..=58 | 63)
}

impl DefinitionInfo {
    /// Reads the fields, or returns `None` if the message is too short.
    pub(super) fn read(message: &Message<'_>) -> Option<Self> {
        let (template, block) = (message.header.template_id, message.body);
        let block = &block[..block.len().min(usize::from(message.header.block_length))];
        Some(Self {
            security_id: i32::from_le_bytes(field(template, block, SECURITY_ID)?),
            updated: Utc::from_nanos(u64::from_le_bytes(field(template, block, LAST_UPDATE_TIME)?)),
            deleted: field::<1>(template, block, SECURITY_UPDATE_ACTION)? == *b"D",
            channel: u16::from_le_bytes(field(template, block, APPL_ID)?),
        })
    }
}

/// Sets the number of definitions in a complete loop (TotNumReports, 911) in a message.
pub(super) fn set_total(message: &mut [u8], total: u32) {
    let template = u16::from_le_bytes([message[4], message[5]]);
    if let Some(offset) = offset(template, TOT_NUM_REPORTS) {
        message[HEADER + offset..][..4].copy_from_slice(&total.to_le_bytes());
    }
}

fn field<const N: usize>(template: u16, block: &[u8], tag: u16) -> Option<[u8; N]> {
    let offset = offset(template, tag)?;
    block.get(offset..offset + N)?.try_into().ok()
}

/// Returns the offset of a field in the root block of a definition.
fn offset(template: u16, tag: u16) -> Option<usize> {
    let message = match template {
        54 => &future::MESSAGE,
        55 => &option::MESSAGE,
        56 => &spread::MESSAGE,
        57 => &fixed_income::MESSAGE,
        58 => &repo::MESSAGE,
        63 => &fx::MESSAGE,
        _ => return None,
    };
    let fields: &[Field] = message.block.fields;
    fields.iter().find(|field| field.tag == tag).map(|field| usize::from(field.offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definition_templates_have_the_fields() {
        for template in [54, 55, 56, 57, 58, 63] {
            assert!(is_definition(template));
            for tag in
                [SECURITY_ID, LAST_UPDATE_TIME, TOT_NUM_REPORTS, SECURITY_UPDATE_ACTION, APPL_ID]
            {
                assert!(offset(template, tag).is_some(), "tag {tag} of template {template}");
            }
        }
        assert!(!is_definition(53) && !is_definition(59) && offset(53, SECURITY_ID).is_none());
    }
}
