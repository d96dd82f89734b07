//! Party details of orders: PartyDetailsDefinitionRequest518.

use hairpin_cme_codecs::ilink3::{
    ClearingAcctType, CustOrdHandlInst, CustOrderCapacity, ListUpdAct, PartyDetailRole,
    PartyDetailsDefinitionRequest518,
};
use hairpin_sbe::EncodeError;

use crate::RequestError;
use crate::sender::{Outgoing, Stamp};

/// The maximum number of parties in one definition. CME defines five roles.
pub const PARTIES_MAX: usize = 8;

/// A party and its role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Party {
    /// PartyDetailID (1691), NUL-padded.
    pub id: [u8; 20],
    /// PartyDetailRole (1693).
    pub role: PartyDetailRole,
}

impl Party {
    /// Creates a party with id `id`. Returns `None` if `id` is empty, longer than 20 bytes or not
    /// printable ASCII.
    #[must_use]
    pub fn new(role: PartyDetailRole, id: &str) -> Option<Self> {
        let mut padded = [0; 20];
        let fits = !id.is_empty() && crate::ascii::is_printable(id.as_bytes());
        padded.get_mut(..id.len()).filter(|_| fits)?.copy_from_slice(id.as_bytes());
        Some(Self { id: padded, role })
    }
}

/// Party details, either registered or sent on demand with one message.
///
/// Registered details have an id chosen by the caller. Send them
/// ([`Sender::send`](crate::Sender::send)) on the service gateway before the orders that refer to
/// them. The response is
/// [`on_party_details_definition_ack`](crate::Listener::on_party_details_definition_ack). On-demand
/// details precede the message they belong to:
/// [`Sender::send_with_party`](crate::Sender::send_with_party).
///
/// Source: CME's schema, template 518. Use the generated encoder to set other fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartyDetails<'a> {
    /// PartyDetailsListReqID (1505) of the registration. On demand,
    /// [`SessionPolicy`](crate::SessionPolicy) provides the id.
    pub list_req_id: u64,
    /// The parties, 1 to [`PARTIES_MAX`].
    pub parties: &'a [Party],
    /// CustOrderCapacity (582).
    pub capacity: Option<CustOrderCapacity>,
    /// ClearingAccountType (1816).
    pub account_type: Option<ClearingAcctType>,
    /// CustOrderHandlingInst (1031).
    pub handling: Option<CustOrdHandlInst>,
    /// SelfMatchPreventionID (2362).
    pub self_match_prevention_id: Option<u64>,
}

impl<'a> PartyDetails<'a> {
    /// Creates party details with `parties` and no other optional field.
    #[must_use]
    pub const fn new(list_req_id: u64, parties: &'a [Party]) -> Self {
        Self {
            list_req_id,
            parties,
            capacity: None,
            account_type: None,
            handling: None,
            self_match_prevention_id: None,
        }
    }
}

impl Outgoing for PartyDetails<'_> {
    /// The SBE header, the root block, and two groups with three-byte headers.
    const MAX_LENGTH: usize = 8 + 147 + 3 + 22 * PARTIES_MAX + 3;

    fn check(&self) -> Result<(), RequestError> {
        if (1..=PARTIES_MAX).contains(&self.parties.len()) {
            Ok(())
        } else {
            Err(RequestError::Parties)
        }
    }

    fn request_id(&self, _: u32) -> Option<u64> {
        Some(self.list_req_id)
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let (mut root, mut groups) = PartyDetailsDefinitionRequest518::encode(buffer)?;
        root.set_party_details_list_req_id(self.list_req_id)
            .set_sending_time_epoch(stamp.sending_time.as_nanos())
            .set_list_update_action(ListUpdAct::ADD)
            .set_cust_order_capacity(self.capacity)
            .set_clearing_account_type(self.account_type)
            .set_cust_order_handling_inst(self.handling)
            .set_self_match_prevention_id(self.self_match_prevention_id);
        let mut entries = groups.no_party_details()?;
        for party in self.parties {
            entries.push()?.set_party_detail_id(party.id).set_party_detail_role(party.role);
        }
        groups.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn party_id_has_1_to_20_printable_bytes() {
        let party = |id| Party::new(PartyDetailRole::OPERATOR, id);
        assert_eq!(party("ABC").unwrap().id[..4], *b"ABC\0");
        assert!(party("12345678901234567890").is_some());
        assert_eq!(party("123456789012345678901"), None);
        assert_eq!((party(""), party("a\nb")), (None, None));
    }

    #[test]
    fn definition_has_1_to_8_parties() {
        let party = Party::new(PartyDetailRole::OPERATOR, "ABC").unwrap();
        let parties = [party; PARTIES_MAX + 1];
        let check = |count: usize| PartyDetails::new(5, &parties[..count]).check();
        assert_eq!(check(0), Err(RequestError::Parties));
        assert_eq!((check(1), check(PARTIES_MAX)), (Ok(()), Ok(())));
        assert_eq!(check(PARTIES_MAX + 1), Err(RequestError::Parties));
    }
}
