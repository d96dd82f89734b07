//! Party details: registered for later orders, or on demand for the next message.
//!
//! A PartyDetailsDefinitionRequest518 registers party details under an id chosen by the client.
//! Orders refer to this id until it is deleted or the week ends. With the on-demand id, the details
//! apply only to the next business message, which carries the same id. Their acknowledgement
//! precedes the answer to that message, also if the answer rejects an order. A BusinessReject of
//! the message rejects the details too, after it.

use hairpin_cme_codecs::ilink3::party_details_list_request537::{NoPartyIDs, NoRequestingPartyIDs};
use hairpin_cme_codecs::ilink3::{
    PartyDetailsDefinitionRequest518, PartyDetailsListRequest537, ReqResult,
};
use hairpin_sbe::MessageHeader;

use super::Venue;
use super::check::{self, RejectCause};
use super::dispatch::{FrameHandler, number_at, number_offset};
use super::party_details::{ListReport, PartyDetails};
use super::reason_codes::BusinessReason;
use super::request::Request;
use crate::{Listener, Market, SelfMatchPrevention};

/// The maximum number of RequestingPartyIDs in one request.
const REQUESTING_PARTIES_MAX: usize = 10;

/// The state of on-demand party details.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnDemand {
    /// No on-demand party details.
    None,
    /// The details are pending for the next message.
    Pending,
    /// The details were rejected; the next message will be rejected too.
    Rejected,
    /// Another message came first; the message that refers to the details will be rejected.
    Interrupted,
}

/// The progress of the answer to on-demand party details and their message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnDemandAnswer {
    /// No message with on-demand party details is being handled.
    None,
    /// The acknowledgement precedes the next message to the client.
    AckDue,
    /// The message has been rejected as a business message.
    Rejected,
}

/// The party details that a message may refer to.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownParties<'a> {
    pub(super) registered: Option<u64>,
    pub(super) on_demand_id: u64,
    pub(super) on_demand: OnDemand,
    pub(super) party_details: &'a [PartyDetails],
    /// The venue, which decides the format of the operator.
    pub(super) venue: Venue,
}

impl KnownParties<'_> {
    /// Checks that a message may refer to this id.
    pub(super) fn check(&self, id: u64) -> Result<(), RejectCause> {
        if Some(id) == self.registered && self.on_demand == OnDemand::None {
            return Ok(());
        }
        self.check_others(id)
    }

    #[cold]
    fn check_others(&self, id: u64) -> Result<(), RejectCause> {
        let is_on_demand = id == self.on_demand_id;
        let (reason, text) = match (self.on_demand, is_on_demand) {
            (OnDemand::Pending, true) => return Ok(()),
            (OnDemand::Pending, false) => (
                BusinessReason::OnDemandMismatch,
                "PartyDetailsListReqID differs from the on-demand party details",
            ),
            (OnDemand::Rejected, true) => {
                (BusinessReason::OnDemandRejected, "On-demand party details were rejected")
            }
            (OnDemand::Interrupted, true) => (
                BusinessReason::OnDemandInterrupted,
                "Another message followed the on-demand party details",
            ),
            _ if Some(id) == self.registered => return Ok(()),
            _ if self.party_details.iter().any(|known| known.id == id) => return Ok(()),
            _ => (BusinessReason::UnknownPartyDetailsListReqId, "Unknown PartyDetailsListReqID"),
        };
        Err(check::business_reject(reason, Some(check::tag::PARTY_DETAILS_LIST_REQ_ID), text))
    }
}

/// Creates a BusinessReject that names no field.
const fn business_reject(reason: BusinessReason, text: &'static str) -> RejectCause {
    RejectCause::Business { reason, tag: None, text }
}

/// Returns `true` if on-demand party details may apply to this business message.
fn has_parties(template: u16) -> bool {
    matches!(template, 514..=517 | 528..=530 | 533 | 539 | 543 | 560 | 567..=570)
}

impl<L: Listener> FrameHandler<'_, L> {
    /// Returns the party details that messages of an account may refer to.
    pub(super) fn parties(&self, account: usize) -> KnownParties<'_> {
        KnownParties {
            registered: self.rules.registered_party,
            on_demand_id: self.rules.on_demand_party,
            on_demand: self.session.on_demand,
            party_details: &self.accounts[account].party_details,
            venue: self.rules.venue,
        }
    }

    /// Handles a message that follows on-demand party details, then acknowledges or rejects these.
    #[cold]
    pub(super) fn handle_after_on_demand(
        &mut self,
        account: usize,
        header: &MessageHeader,
        body: &[u8],
        market: &mut impl Market,
    ) {
        let offset = number_offset(header.template_id);
        let number = offset.and_then(|offset| number_at(header, body, offset));
        if number != Some(self.accounts[account].next_inbound) {
            // A session message, or a message that is not applied.
            return self.handle_message(account, header, body, market);
        }
        let is_pending = self.session.on_demand == OnDemand::Pending;
        let details = self.session.on_demand_details;
        let ids = (details.id, details.sequence);
        if !has_parties(header.template_id) {
            if is_pending {
                self.session.on_demand = OnDemand::Interrupted;
                let text = "Another message followed the on-demand party details";
                let why = business_reject(BusinessReason::OnDemandDefinitionInterrupted, text);
                self.reject_party_details(account, ids, why);
            }
            return self.handle_message(account, header, body, market);
        }
        if is_pending {
            self.session.on_demand_answer = OnDemandAnswer::AckDue;
        }
        self.handle_message(account, header, body, market);
        self.session.on_demand = OnDemand::None;
        let answer = core::mem::replace(&mut self.session.on_demand_answer, OnDemandAnswer::None);
        if !self.session.is_established() {
            return;
        }
        match answer {
            OnDemandAnswer::None => {}
            // The answer is sent later, such as the reports about many orders.
            OnDemandAnswer::AckDue => self.acknowledge_details(account),
            OnDemandAnswer::Rejected => {
                let text = "Message with the on-demand party details was rejected";
                let why = business_reject(BusinessReason::OnDemandDefinitionRejected, text);
                self.reject_party_details(account, ids, why);
            }
        }
    }

    /// Acknowledges on-demand party details.
    #[cold]
    pub(super) fn acknowledge_details(&mut self, account: usize) {
        self.session.on_demand_answer = OnDemandAnswer::None;
        let details = self.session.on_demand_details;
        self.publish(account, |buffer, stamp| details.encode_ack(buffer, stamp));
    }

    /// Returns the party details that a checked request refers to.
    pub(super) fn details_of(&self, account: usize, id: u64) -> PartyDetails {
        if self.session.on_demand == OnDemand::Pending && id == self.rules.on_demand_party {
            return self.session.on_demand_details;
        }
        let known = &self.accounts[account].party_details;
        let found = known.iter().find(|known| known.id == id);
        found.copied().unwrap_or(PartyDetails::empty(id))
    }

    /// Returns the self-match prevention of an order with these party details.
    pub(super) fn self_match(&self, account: usize, id: u64) -> Option<SelfMatchPrevention> {
        let is_plain = Some(id) == self.rules.registered_party
            && self.accounts[account].party_details.is_empty();
        if is_plain && self.session.on_demand == OnDemand::None {
            return None;
        }
        self.details_of(account, id).self_match(self.accounts[account].firm)
    }

    /// Rejects the definition with this id and SeqNum.
    fn reject_party_details(&mut self, account: usize, (id, number): (u64, u32), why: RejectCause) {
        let request = Request { party_details_list_req_id: id, ..Request::UNDECODED };
        self.reject(account, &request, b"CX", number, why);
    }

    pub(super) fn handle_party_details(
        &mut self,
        account: usize,
        message: &PartyDetailsDefinitionRequest518<'_>,
    ) {
        if !self.consume_number(account, message.seq_num()) {
            return;
        }
        self.counters.party_definitions += 1;
        let is_on_demand = message.party_details_list_req_id() == self.rules.on_demand_party;
        let read = match message.party_details_list_req_id() {
            // The null value is invalid unless it is the on-demand id.
            u64::MAX if !is_on_demand => Err(check::missing(check::tag::PARTY_DETAILS_LIST_REQ_ID)),
            // 0 is the id of on-demand details (CME, page 76841026) and cannot be registered.
            0 if !is_on_demand => Err(check::business_reject(
                BusinessReason::ValueOutOfRange,
                Some(check::tag::PARTY_DETAILS_LIST_REQ_ID),
                "PartyDetailsListReqID 0 cannot be registered",
            )),
            _ => PartyDetails::from_message(message).and_then(|of| self.check_self_match(of)),
        };
        if is_on_demand {
            // On-demand details cannot be deleted: they apply to one message only.
            let is_valid = read.as_ref().is_ok_and(|details| !details.is_deletion());
            self.session.on_demand = if is_valid { OnDemand::Pending } else { OnDemand::Rejected };
        }
        let result = match read {
            Ok(details) if is_on_demand && !details.is_deletion() => {
                self.session.on_demand_details = details;
                return;
            }
            Ok(details) => self.register(account, &details).map(|()| details),
            Err(why) => Err(why),
        };
        match result {
            Ok(details) => {
                self.publish(account, |buffer, stamp| details.encode_ack(buffer, stamp));
            }
            Err(why) => {
                let ids = (message.party_details_list_req_id(), message.seq_num());
                self.reject_party_details(account, ids, why);
            }
        }
    }

    /// Checks that the SelfMatchPreventionID is registered, if the gateway has a list.
    fn check_self_match(&self, details: PartyDetails) -> Result<PartyDetails, RejectCause> {
        let known = self.rules.self_match_ids.as_ref();
        match details.self_match_id() {
            Some(id) if known.is_some_and(|known| !known.contains(&id)) => {
                Err(check::business_reject(
                    BusinessReason::Other,
                    Some(check::tag::SELF_MATCH_PREVENTION_ID),
                    "SelfMatchPreventionID is not registered",
                ))
            }
            _ => Ok(details),
        }
    }

    /// Adds party details to an account, or removes them.
    fn register(&mut self, account: usize, details: &PartyDetails) -> Result<(), RejectCause> {
        let tag = Some(check::tag::PARTY_DETAILS_LIST_REQ_ID);
        let known = &mut self.accounts[account].party_details;
        let slot = known.iter().position(|known| known.id == details.id);
        let why = match slot {
            Some(slot) if details.is_deletion() => {
                known.remove(slot);
                return Ok(());
            }
            None if details.is_deletion() => (
                BusinessReason::UnknownPartyDetailsListReqId,
                "PartyDetailsListReqID is not registered",
            ),
            None if Some(details.id) != self.rules.registered_party => {
                if known.len() < known.capacity() {
                    known.push(*details);
                    return Ok(());
                }
                (BusinessReason::TooManyDefinitions, "Too many party details")
            }
            _ => {
                (BusinessReason::DuplicateDefinition, "PartyDetailsListReqID is already registered")
            }
        };
        Err(check::business_reject(why.0, tag, why.1))
    }

    pub(super) fn handle_list_request(
        &mut self,
        account: usize,
        message: &PartyDetailsListRequest537<'_>,
    ) {
        if !self.consume_number(account, message.seq_num()) {
            return;
        }
        self.counters.party_requests += 1;
        let request = message.party_details_list_req_id();
        match self.check_list(account, message) {
            Ok(result) => self.send_list(account, message, result),
            Err(why) => {
                let request = Request { party_details_list_req_id: request, ..Request::UNDECODED };
                self.reject(account, &request, b"CF", message.seq_num(), why);
            }
        }
    }

    /// Checks that a request names either firms or ids, and that the session may read the firms'
    /// party details.
    fn check_list(
        &self,
        account: usize,
        message: &PartyDetailsListRequest537<'_>,
    ) -> Result<ReqResult, RejectCause> {
        let mut firms = message.no_requesting_party_i_ds();
        match (firms.len(), message.no_party_i_ds().len()) {
            (0, 0) => Err(business_reject(
                BusinessReason::NoPartyRequested,
                "No firm and no PartyDetailsListReqID",
            )),
            (0, _) => Ok(ReqResult::VALID_REQUEST),
            (1..=REQUESTING_PARTIES_MAX, 0) => {
                let mut scratch = NoRequestingPartyIDs::SCRATCH;
                while let Some(firm) = firms.next(&mut scratch) {
                    let firm = firm.requesting_party_id();
                    if !self.accounts[account].has_firm(firm.as_bytes()) {
                        return Ok(ReqResult::NOT_AUTHORIZEDTO_RETRIEVE_DATA);
                    }
                }
                Ok(ReqResult::VALID_REQUEST)
            }
            (_, 0) => Err(business_reject(
                BusinessReason::TooManyRequestingParties,
                "Too many RequestingPartyIDs",
            )),
            _ => Err(business_reject(
                BusinessReason::BothPartiesRequested,
                "Both firms and PartyDetailsListReqIDs",
            )),
        }
    }

    /// Reports the selected party details, or that none were found.
    fn send_list(
        &mut self,
        account: usize,
        message: &PartyDetailsListRequest537<'_>,
        result: ReqResult,
    ) {
        let request = message.party_details_list_req_id();
        let is_selected = |details: &PartyDetails| {
            let (mut wanted, mut scratch) = (message.no_party_i_ds(), NoPartyIDs::SCRATCH);
            let mut is_selected = wanted.is_empty();
            while let Some(entry) = wanted.next(&mut scratch) {
                is_selected |= entry.party_id() == details.id;
            }
            is_selected && result == ReqResult::VALID_REQUEST
        };
        let selected =
            self.accounts[account].party_details.iter().filter(|known| is_selected(known));
        // The capacity limits the count.
        let total = selected.count() as u16;
        let mut reported = 0;
        for slot in 0..self.accounts[account].party_details.len() {
            let details = self.accounts[account].party_details[slot];
            if is_selected(&details) {
                reported += 1;
                let list = ListReport { request, total, last: reported == total, result };
                self.publish(account, |buffer, stamp| details.encode_report(buffer, stamp, list));
            }
        }
        if reported == 0 {
            let result = match result {
                ReqResult::VALID_REQUEST => {
                    ReqResult::NO_DATA_FOUND_THAT_MATCHED_SELECTION_CRITERIA
                }
                refused => refused,
            };
            let list = ListReport { request, total: 0, last: true, result };
            let nothing = PartyDetails::empty(u64::MAX);
            self.publish(account, |buffer, stamp| nothing.encode_report(buffer, stamp, list));
        }
    }
}
