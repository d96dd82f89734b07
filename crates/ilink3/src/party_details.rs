//! Party details of orders: PartyDetailsDefinitionRequest518.

use hairpin_cme_codecs::ilink3::{
    AvgPxInd, ClearingAcctType, CmtaGiveUpCD, CustOrdHandlInst, CustOrderCapacity, ListUpdAct,
    PartyDetailRole, PartyDetailsDefinitionRequest518, SLEDS, SMPI,
};
use hairpin_sbe::EncodeError;

use crate::reassembly::FRAMING_HEADER_LENGTH;
use crate::sender::{Outgoing, Stamp};
use crate::{Operator, RequestError, SendError, Sender, Sent, Text};

/// The maximum number of parties in one definition. CME defines five roles.
pub const PARTIES_MAX: usize = 8;
/// The maximum number of regulatory publications in one definition.
pub const PUBLICATIONS_MAX: usize = 8;

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

/// A regulatory publication of trades (group 2668).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrdRegPublication {
    /// TrdRegPublicationType (2669).
    pub kind: u8,
    /// TrdRegPublicationReason (2670).
    pub reason: u8,
}

/// Party details, either registered or sent on demand with one message.
///
/// Registered details have an id chosen by the caller. Send them
/// ([`Sender::send`](crate::Sender::send)) on the service gateway before the orders that refer to
/// them. The response is
/// [`on_party_details_definition_ack`](crate::Listener::on_party_details_definition_ack). On-demand
/// details precede the message they belong to: [`Sender::send_with_party`].
///
/// CME counts each definition in the limit of common messages, so details on demand halve the order
/// rate. CME acknowledges them before the report on their message, and also if it rejects the
/// message. Accept either order.
///
/// Source: CME's schema, template 518; CME Client Systems Wiki 46209693, 457324477, 457317540.
/// ListUpdateAction (1324) is always A: CME lists D as not defined yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartyDetails<'a> {
    /// PartyDetailsListReqID (1505) of the registration, not 0. On demand,
    /// [`SessionPolicy`](crate::SessionPolicy) provides the id.
    pub list_req_id: u64,
    /// The parties, 1 to [`PARTIES_MAX`].
    pub parties: &'a [Party],
    /// Memo (5149).
    pub memo: Text<75>,
    /// AvgPxGroupID (1731).
    pub avg_px_group_id: Text<20>,
    /// SelfMatchPreventionID (2362), registered at CME.
    pub self_match_prevention_id: Option<u64>,
    /// SelfMatchPreventionInstruction (8000) of the aggressor: cancel its order, or the resting
    /// one. `None` cancels the resting one. It has no effect on a resting order.
    pub self_match_prevention_instruction: Option<SMPI>,
    /// CmtaGiveupCD (9708).
    pub cmta_giveup: Option<CmtaGiveUpCD>,
    /// CustOrderCapacity (582).
    pub capacity: Option<CustOrderCapacity>,
    /// ClearingAccountType (1816).
    pub account_type: Option<ClearingAcctType>,
    /// AvgPxIndicator (819).
    pub avg_px_indicator: Option<AvgPxInd>,
    /// ClearingTradePriceType (1598).
    pub clearing_trade_price_type: Option<SLEDS>,
    /// CustOrderHandlingInst (1031).
    pub handling: Option<CustOrdHandlInst>,
    /// Executor (5290).
    pub executor: Option<u64>,
    /// IDMShortCode (36023).
    pub idm_short_code: Option<u64>,
    /// NoTrdRegPublications (2668), at most [`PUBLICATIONS_MAX`].
    pub publications: &'a [TrdRegPublication],
}

impl<'a> PartyDetails<'a> {
    /// Creates party details with `parties` and no other optional field.
    #[must_use]
    pub const fn new(list_req_id: u64, parties: &'a [Party]) -> Self {
        Self {
            list_req_id,
            parties,
            memo: Text::EMPTY,
            avg_px_group_id: Text::EMPTY,
            self_match_prevention_id: None,
            self_match_prevention_instruction: None,
            cmta_giveup: None,
            capacity: None,
            account_type: None,
            avg_px_indicator: None,
            clearing_trade_price_type: None,
            handling: None,
            executor: None,
            idm_short_code: None,
            publications: &[],
        }
    }

    /// Checks everything except the id.
    fn check_lists(&self) -> Result<(), RequestError> {
        if !(1..=PARTIES_MAX).contains(&self.parties.len()) {
            Err(RequestError::Parties)
        } else if self.publications.len() > PUBLICATIONS_MAX {
            Err(RequestError::Publications)
        } else {
            Ok(())
        }
    }
}

impl Outgoing for PartyDetails<'_> {
    /// The SBE header, the root block, and two groups with three-byte headers.
    const MAX_LENGTH: usize = 8 + 147 + 3 + 22 * PARTIES_MAX + 3 + 2 * PUBLICATIONS_MAX;

    fn check(&self) -> Result<(), RequestError> {
        if self.list_req_id == 0 {
            return Err(RequestError::PartyDetailsId);
        }
        self.check_lists()
    }

    fn request_id(&self, _: u32) -> Option<u64> {
        Some(self.list_req_id)
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let (mut root, mut groups) = PartyDetailsDefinitionRequest518::encode(buffer)?;
        root.set_party_details_list_req_id(self.list_req_id)
            .set_sending_time_epoch(stamp.sending_time.as_nanos())
            .set_list_update_action(ListUpdAct::ADD)
            .set_memo(self.memo)
            .set_avg_px_group_id(self.avg_px_group_id)
            .set_self_match_prevention_id(self.self_match_prevention_id)
            .set_cmta_giveup_cd(self.cmta_giveup)
            .set_cust_order_capacity(self.capacity)
            .set_clearing_account_type(self.account_type)
            .set_self_match_prevention_instruction(self.self_match_prevention_instruction)
            .set_avg_px_indicator(self.avg_px_indicator)
            .set_clearing_trade_price_type(self.clearing_trade_price_type)
            .set_cust_order_handling_inst(self.handling)
            .set_executor(self.executor)
            .set_idm_short_code(self.idm_short_code);
        let mut entries = groups.no_party_details()?;
        for party in self.parties {
            entries.push()?.set_party_detail_id(party.id).set_party_detail_role(party.role);
        }
        let mut entries = groups.no_trd_reg_publications()?;
        for publication in self.publications {
            entries
                .push()?
                .set_trd_reg_publication_type(publication.kind)
                .set_trd_reg_publication_reason(publication.reason);
        }
        groups.finish()
    }
}

/// Party details on demand: any id, because the policy provides it.
struct OnDemand<'a>(PartyDetails<'a>);

impl Outgoing for OnDemand<'_> {
    const MAX_LENGTH: usize = PartyDetails::MAX_LENGTH;

    fn check(&self) -> Result<(), RequestError> {
        self.0.check_lists()
    }

    fn request_id(&self, seq_num: u32) -> Option<u64> {
        self.0.request_id(seq_num)
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        self.0.encode(stamp, buffer)
    }
}

impl Sender<'_> {
    /// Sends party details immediately followed by the message they belong to, in one write. Both
    /// carry the on-demand id of [`SessionPolicy`](crate::SessionPolicy).
    ///
    /// # Errors
    /// [`SendError`], like [`send`](Self::send), if both cannot be sent. Neither is sent then. A
    /// throttle needs room for both.
    pub fn send_with_party<M: Outgoing>(
        &mut self,
        party: &PartyDetails<'_>,
        message: &M,
    ) -> Result<Sent, SendError> {
        let list_req_id = self.outbound.on_demand_party_id;
        let details = OnDemand(PartyDetails { list_req_id, ..*party });
        let operator =
            Operator { party_details_list_req_id: list_req_id, ..self.outbound.operator };
        self.outbound.check(self.now, message, false)?;
        self.outbound.check_pair::<OnDemand<'_>, M>(self.now)?;
        let bytes = 2 * FRAMING_HEADER_LENGTH + OnDemand::MAX_LENGTH + M::MAX_LENGTH;
        self.sink.reserve(2, bytes).map_err(|error| {
            self.outbound.counters.refused_by_outlet += 1;
            SendError::Sink(error)
        })?;
        self.encode_for_warm_up(&details)?;
        self.with_operator(&operator, |sender| sender.encode_for_warm_up(message))?;
        let batched = self.batch(|sender| {
            sender.send(&details)?;
            sender.with_operator(&operator, |sender| sender.send(message))
        });
        batched.value.map(|sent| Sent { delivery: batched.delivery, ..sent })
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

    #[test]
    fn zero_cannot_be_registered() {
        let parties = [Party::new(PartyDetailRole::OPERATOR, "ABC").unwrap()];
        let check = |id| PartyDetails::new(id, &parties).check();
        assert_eq!((check(0), check(1)), (Err(RequestError::PartyDetailsId), Ok(())));
    }

    #[test]
    fn definition_has_at_most_8_publications() {
        let parties = [Party::new(PartyDetailRole::OPERATOR, "ABC").unwrap()];
        let publications = [TrdRegPublication { kind: 1, reason: 2 }; PUBLICATIONS_MAX + 1];
        let check = |count: usize| {
            let publications = &publications[..count];
            PartyDetails { publications, ..PartyDetails::new(5, &parties) }.check()
        };
        assert_eq!(check(PUBLICATIONS_MAX), Ok(()));
        assert_eq!(check(PUBLICATIONS_MAX + 1), Err(RequestError::Publications));
    }
}
