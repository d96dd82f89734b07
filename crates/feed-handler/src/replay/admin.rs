//! The administrative messages of a replay server.
//!
//! Replayed packets are of the core schema. The session's own messages are either of the core
//! schema (templates 15 and 16) or of the Global TCP Recovery schema (CME Client Systems Wiki,
//! pages 457640512 and 46182625). CME publishes that schema to customers only. Unless the ids are
//! set, its messages are recognized by their root blocks: a heartbeat has none, a logout has a text
//! of 180 bytes, a login has anything between.

use hairpin_cme_codecs::mdp3::{AdminLogin15, AdminLogout16, SCHEMA_ID};
use hairpin_mdp3::Message;

/// The length of a logout's Text (58) in bytes.
const TEXT: usize = 180;

/// The template ids of the Global TCP Recovery schema, from its file
/// `GlobalTCPRecovery/Templates` on CME's SFTP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdminTemplates {
    /// AdminLogin.
    pub login: u16,
    /// AdminLogout.
    pub logout: u16,
}

/// An administrative message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Admin {
    Login,
    /// With its text.
    Logout(String),
    /// A heartbeat or another message of the session, without effect.
    Other,
}

impl Admin {
    /// Returns the administrative message, or `None` for market data.
    pub(super) fn read(message: &Message<'_>, templates: Option<AdminTemplates>) -> Option<Self> {
        let template = message.header.template_id;
        let block = message.body.len().min(usize::from(message.header.block_length));
        let (login, logout) = if message.header.schema_id == SCHEMA_ID {
            (template == AdminLogin15::TEMPLATE_ID, template == AdminLogout16::TEMPLATE_ID)
        } else if let Some(AdminTemplates { login, logout }) = templates {
            (template == login, template == logout)
        } else {
            (block > 0 && block < TEXT, block >= TEXT)
        };
        match (login, logout) {
            (true, _) => Some(Self::Login),
            (_, true) => Some(Self::Logout(logout_text(message.body))),
            _ if message.header.schema_id == SCHEMA_ID => None,
            _ => Some(Self::Other),
        }
    }
}

/// Returns Text (58) of a logout without padding.
fn logout_text(body: &[u8]) -> String {
    let text = &body[..body.len().min(TEXT)];
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    let text = String::from_utf8_lossy(&text[..end]);
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.trim().is_empty() { "no reason given".to_owned() } else { text.trim().to_owned() }
}
