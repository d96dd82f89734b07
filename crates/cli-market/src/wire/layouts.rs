//! The places of the fields of iLink 3 that pair requests with answers.

use hairpin_cme_codecs::ilink3;
use hairpin_sbe::MessageHeader;

/// The kinds of requests that are paired by ClOrdID or QuoteID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Request {
    New,
    Replace,
    Cancel,
    Quote,
    /// Any other request, which only a business reject answers here.
    Other,
}

/// The meaning of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Negotiate or Establish, which name the session.
    Logon,
    Request(Request),
    /// An answer to this kind of request.
    Accept(Request),
    Reject(Request),
    Fill,
    Elimination,
    BusinessReject,
    /// Another message of the exchange.
    Report,
}

/// The offsets of fields in a message's root block.
#[derive(Debug, Clone, Copy)]
struct Layout {
    template: u16,
    role: Role,
    seq_num: Option<u16>,
    ref_seq_num: Option<u16>,
    uuid: Option<u16>,
    sending_time: Option<u16>,
    retransmitted: Option<u16>,
    cl_ord_id: Option<u16>,
    quote_id: Option<u16>,
    session: Option<u16>,
    firm: Option<u16>,
}

/// The layouts of all templates that matter, by template.
#[derive(Debug)]
pub(super) struct Layouts(Vec<Layout>);

/// The fields of a message. A field that the message lacks is `None`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a> {
    pub(super) role: Role,
    pub(super) seq_num: Option<u32>,
    pub(super) ref_seq_num: Option<u32>,
    pub(super) uuid: Option<u64>,
    pub(super) sending_time: Option<u64>,
    /// The exchange sent the message before.
    pub(super) retransmitted: bool,
    /// ClOrdID, or QuoteID.
    pub(super) id: Option<[u8; 20]>,
    /// Session and firm.
    pub(super) session: Option<(&'a [u8], &'a [u8])>,
}

fn role(template: u16) -> Option<Role> {
    Some(match template {
        500 | 503 => Role::Logon,
        514 => Role::Request(Request::New),
        515 => Role::Request(Request::Replace),
        516 => Role::Request(Request::Cancel),
        517 | 567 => Role::Request(Request::Quote),
        518 | 528..=530 | 533 | 537 | 543 | 544 | 560 | 566 | 568..=570 => {
            Role::Request(Request::Other)
        }
        522 => Role::Accept(Request::New),
        531 => Role::Accept(Request::Replace),
        534 => Role::Accept(Request::Cancel),
        545 | 571 => Role::Accept(Request::Quote),
        523 => Role::Reject(Request::New),
        536 => Role::Reject(Request::Replace),
        535 => Role::Reject(Request::Cancel),
        525 | 526 => Role::Fill,
        524 => Role::Elimination,
        521 => Role::BusinessReject,
        519 | 527 | 532 | 538 | 546 | 548..=550 | 561..=565 => Role::Report,
        _ => return None,
    })
}

impl Layouts {
    /// Reads the layouts of CME's schema. Newer versions append fields to blocks, so the offsets
    /// are those of every version.
    pub(super) fn new() -> Self {
        let layout = |message: &&hairpin_sbe::Message| {
            let offset = |name: &str| {
                message.block.fields.iter().find(|field| field.name == name).map(|it| it.offset)
            };
            Some(Layout {
                template: message.template_id,
                role: role(message.template_id)?,
                seq_num: offset("SeqNum"),
                ref_seq_num: offset("RefSeqNum"),
                uuid: offset("UUID"),
                sending_time: offset("SendingTimeEpoch"),
                retransmitted: offset("PossRetransFlag"),
                cl_ord_id: offset("ClOrdID"),
                quote_id: offset("QuoteID"),
                session: offset("Session"),
                firm: offset("Firm"),
            })
        };
        let mut layouts: Vec<Layout> = ilink3::MESSAGES.iter().filter_map(layout).collect();
        layouts.sort_by_key(|layout| layout.template);
        Self(layouts)
    }

    /// Returns the fields of a message: `None` if its template does not matter.
    pub(super) fn fields<'a>(&self, header: &MessageHeader, body: &'a [u8]) -> Option<Fields<'a>> {
        let place = self.0.binary_search_by_key(&header.template_id, |it| it.template).ok()?;
        let layout = &self.0[place];
        let block = body.get(..header.block_length.into())?;
        let bytes = |at: Option<u16>, length: usize| {
            let at = usize::from(at?);
            block.get(at..at + length)
        };
        let number = |at: Option<u16>, length: usize| {
            let bytes = bytes(at, length)?;
            Some(bytes.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)))
        };
        let half = |at| number(at, 4).map(|number| number as u32).filter(|it| *it != u32::MAX);
        let text = |at, length| Some(trimmed(bytes(at, length)?));
        let quote_id = || {
            let mut id = [0; 20];
            id[..4].copy_from_slice(bytes(layout.quote_id, 4)?);
            Some(id)
        };
        Some(Fields {
            role: layout.role,
            seq_num: half(layout.seq_num),
            ref_seq_num: half(layout.ref_seq_num),
            uuid: number(layout.uuid, 8),
            sending_time: number(layout.sending_time, 8).filter(|it| !matches!(*it, 0 | u64::MAX)),
            retransmitted: number(layout.retransmitted, 1) == Some(1),
            id: bytes(layout.cl_ord_id, 20).and_then(|it| it.try_into().ok()).or_else(quote_id),
            session: text(layout.session, 3).zip(text(layout.firm, 5)),
        })
    }
}

/// Returns a text without its padding.
fn trimmed(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    text[..end].trim_ascii()
}
