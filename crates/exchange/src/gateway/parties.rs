//! Party details: registered for later, or on demand for the message behind them.
//!
//! A PartyDetailsDefinitionRequest518 under a number of the client's registers it: orders refer to
//! that number from then on, until it is deleted. Under the number that stands for "on demand" it
//! is for the next business message alone, which has that number too; its answer, an
//! acknowledgement or a refusal, depends on what becomes of that message and comes behind it.

use hairpin_cme_codecs::ilink3::party_details_list_request537::{NoPartyIDs, NoRequestingPartyIDs};
use hairpin_cme_codecs::ilink3::{
    PartyDetailsDefinitionRequest518, PartyDetailsListRequest537, ReqResult,
};
use hairpin_sbe::MessageHeader;

use super::check::{self, Refusal};
use super::definition::{Definition, Listed};
use super::dispatch::{Handling, number_at, number_offset};
use super::reason::BusinessReason;
use super::request::Request;
use crate::{Listener, Market};

/// RequestingPartyIDs of one request.
const FIRMS_MAX: usize = 10;

/// What has come of party details on demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnDemand {
    /// There are none.
    Nothing,
    /// They wait for the message they are for.
    Waiting,
    /// They were refused, and the message they are for will be.
    Refused,
    /// Another message came first, and the message they are for will be refused.
    Interrupted,
}

/// What a message may refer to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parties<'a> {
    pub(super) registered: Option<u64>,
    pub(super) on_demand_id: u64,
    pub(super) on_demand: OnDemand,
    pub(super) definitions: &'a [Definition],
}

impl Parties<'_> {
    /// Whether a message may refer to this number.
    pub(super) fn check(&self, id: u64) -> Result<(), Refusal> {
        if Some(id) == self.registered && self.on_demand == OnDemand::Nothing {
            return Ok(());
        }
        self.check_others(id)
    }

    #[cold]
    fn check_others(&self, id: u64) -> Result<(), Refusal> {
        let is_for_demand = id == self.on_demand_id;
        let (reason, text) = match (self.on_demand, is_for_demand) {
            (OnDemand::Waiting, true) => return Ok(()),
            (OnDemand::Waiting, false) => {
                (BusinessReason::OnDemandMismatch, "Not the number of the party details before it")
            }
            (OnDemand::Refused, true) => {
                (BusinessReason::OnDemandRefused, "Its party details were refused")
            }
            (OnDemand::Interrupted, true) => (
                BusinessReason::OnDemandInterrupted,
                "Another message came between its party details and it",
            ),
            _ if Some(id) == self.registered => return Ok(()),
            _ if self.definitions.iter().any(|known| known.id == id) => return Ok(()),
            _ => (BusinessReason::UnknownPartyDetailsListReqId, "Unknown PartyDetailsListReqID"),
        };
        Err(check::business_refusal(reason, Some(check::tag::PARTY_DETAILS_LIST_REQ_ID), text))
    }
}

/// A refusal that is about no field.
const fn refusal(reason: BusinessReason, text: &'static str) -> Refusal {
    Refusal::Business { reason, tag: None, text }
}

/// Whether a business message is one that party details on demand can be for.
fn has_parties(template: u16) -> bool {
    matches!(template, 514..=517 | 528..=530 | 533 | 543 | 567..=570)
}

impl<L: Listener> Handling<'_, L> {
    /// What messages of an account may refer to.
    pub(super) fn parties(&self, account: usize) -> Parties<'_> {
        Parties {
            registered: self.rules.registered_party,
            on_demand_id: self.rules.on_demand_party,
            on_demand: self.session.on_demand,
            definitions: &self.accounts[account].definitions,
        }
    }

    /// Handles a message behind party details on demand, and answers these.
    #[cold]
    pub(super) fn handle_paired(
        &mut self,
        account: usize,
        header: &MessageHeader,
        body: &[u8],
        market: &mut impl Market,
    ) {
        let offset = number_offset(header.template_id);
        let number = offset.and_then(|offset| number_at(header, body, offset));
        if number != Some(self.accounts[account].next_inbound) {
            // A session message, or one that is not applied.
            return self.handle_message(account, header, body, market);
        }
        let is_waiting = self.session.on_demand == OnDemand::Waiting;
        let definition = self.session.definition;
        let of = (definition.id, definition.number);
        if !has_parties(header.template_id) {
            if is_waiting {
                self.session.on_demand = OnDemand::Interrupted;
                let text = "Another message came between it and the message it is for";
                let why = refusal(BusinessReason::OnDemandDefinitionInterrupted, text);
                self.reject_definition(account, of, why);
            }
            return self.handle_message(account, header, body, market);
        }
        let rejects = |of: &Self| of.counters.business_rejects + of.counters.undecodable;
        let before = rejects(self);
        self.handle_message(account, header, body, market);
        self.session.on_demand = OnDemand::Nothing;
        if !is_waiting || !self.session.is_established() {
            return;
        }
        if rejects(self) == before {
            self.publish(account, |buffer, stamp| definition.encode_ack(buffer, stamp));
        } else {
            let text = "The message it is for was refused";
            let why = refusal(BusinessReason::OnDemandDefinitionRefused, text);
            self.reject_definition(account, of, why);
        }
    }

    /// Refuses the definition of this number that came with that SeqNum.
    fn reject_definition(&mut self, account: usize, (id, number): (u64, u32), why: Refusal) {
        let request = Request { party_details_list_req_id: id, ..Request::UNREAD };
        self.reject(account, &request, b"CX", number, why);
    }

    pub(super) fn handle_definition(
        &mut self,
        account: usize,
        message: &PartyDetailsDefinitionRequest518<'_>,
    ) {
        if !self.take_number(account, message.seq_num()) {
            return;
        }
        self.counters.party_definitions += 1;
        let is_on_demand = message.party_details_list_req_id() == self.rules.on_demand_party;
        let read = match message.party_details_list_req_id() {
            // The null, where that does not stand for party details on demand.
            u64::MAX if !is_on_demand => Err(check::missing(check::tag::PARTY_DETAILS_LIST_REQ_ID)),
            _ => Definition::read(message),
        };
        if is_on_demand {
            // One that deletes what is for one message alone means nothing.
            let is_sound = read.as_ref().is_ok_and(|definition| !definition.is_deletion());
            self.session.on_demand = if is_sound { OnDemand::Waiting } else { OnDemand::Refused };
        }
        let done = match read {
            Ok(definition) if is_on_demand && !definition.is_deletion() => {
                self.session.definition = definition;
                return;
            }
            Ok(definition) => self.register(account, &definition).map(|()| definition),
            Err(why) => Err(why),
        };
        match done {
            Ok(definition) => {
                self.publish(account, |buffer, stamp| definition.encode_ack(buffer, stamp));
            }
            Err(why) => {
                let of = (message.party_details_list_req_id(), message.seq_num());
                self.reject_definition(account, of, why);
            }
        }
    }

    /// Adds a definition to those of an account, or takes one away.
    fn register(&mut self, account: usize, definition: &Definition) -> Result<(), Refusal> {
        let tag = Some(check::tag::PARTY_DETAILS_LIST_REQ_ID);
        let known = &mut self.accounts[account].definitions;
        let place = known.iter().position(|known| known.id == definition.id);
        let why = match place {
            Some(place) if definition.is_deletion() => {
                known.remove(place);
                return Ok(());
            }
            None if definition.is_deletion() => (
                BusinessReason::UnknownPartyDetailsListReqId,
                "No party details are registered under this number",
            ),
            None if Some(definition.id) != self.rules.registered_party => {
                if known.len() < known.capacity() {
                    known.push(*definition);
                    return Ok(());
                }
                (BusinessReason::TooManyDefinitions, "No room for more party details")
            }
            _ => (BusinessReason::DuplicateDefinition, "The number has party details already"),
        };
        Err(check::business_refusal(why.0, tag, why.1))
    }

    pub(super) fn handle_list_request(
        &mut self,
        account: usize,
        message: &PartyDetailsListRequest537<'_>,
    ) {
        if !self.take_number(account, message.seq_num()) {
            return;
        }
        self.counters.party_requests += 1;
        let request = message.party_details_list_req_id();
        match self.check_list(account, message) {
            Ok(result) => self.send_list(account, message, result),
            Err(why) => {
                let request = Request { party_details_list_req_id: request, ..Request::UNREAD };
                self.reject(account, &request, b"CF", message.seq_num(), why);
            }
        }
    }

    /// Whether a request names firms or numbers, and may have what it names.
    fn check_list(
        &self,
        account: usize,
        message: &PartyDetailsListRequest537<'_>,
    ) -> Result<ReqResult, Refusal> {
        let mut firms = message.no_requesting_party_i_ds();
        match (firms.len(), message.no_party_i_ds().len()) {
            (0, 0) => Err(refusal(BusinessReason::NoPartyRequested, "Neither a firm nor a number")),
            (0, _) => Ok(ReqResult::VALID_REQUEST),
            (1..=FIRMS_MAX, 0) => {
                let mut scratch = NoRequestingPartyIDs::SCRATCH;
                while let Some(firm) = firms.next(&mut scratch) {
                    let firm = firm.requesting_party_id();
                    if !self.accounts[account].is_of_firm(firm.as_bytes()) {
                        return Ok(ReqResult::NOT_AUTHORIZEDTO_RETRIEVE_DATA);
                    }
                }
                Ok(ReqResult::VALID_REQUEST)
            }
            (_, 0) => Err(refusal(BusinessReason::TooManyRequestingParties, "Too many firms")),
            _ => Err(refusal(BusinessReason::BothPartiesRequested, "Firms and numbers at once")),
        }
    }

    /// Reports the definitions that are meant, or that there is none.
    fn send_list(
        &mut self,
        account: usize,
        message: &PartyDetailsListRequest537<'_>,
        result: ReqResult,
    ) {
        let request = message.party_details_list_req_id();
        let is_meant = |definition: &Definition| {
            let (mut wanted, mut scratch) = (message.no_party_i_ds(), NoPartyIDs::SCRATCH);
            let mut is_meant = wanted.is_empty();
            while let Some(of) = wanted.next(&mut scratch) {
                is_meant |= of.party_id() == definition.id;
            }
            is_meant && result == ReqResult::VALID_REQUEST
        };
        let meant = self.accounts[account].definitions.iter().filter(|known| is_meant(known));
        // Their number is limited.
        let total = meant.count() as u16;
        let mut told = 0;
        for place in 0..self.accounts[account].definitions.len() {
            let definition = self.accounts[account].definitions[place];
            if is_meant(&definition) {
                told += 1;
                let listed = Listed { request, total, is_last: told == total, result };
                self.publish(account, |buffer, stamp| {
                    definition.encode_report(buffer, stamp, listed)
                });
            }
        }
        if told == 0 {
            let result = match result {
                ReqResult::VALID_REQUEST => {
                    ReqResult::NO_DATA_FOUND_THAT_MATCHED_SELECTION_CRITERIA
                }
                refused => refused,
            };
            let listed = Listed { request, total: 0, is_last: true, result };
            let nothing = Definition::empty(u64::MAX);
            self.publish(account, |buffer, stamp| nothing.encode_report(buffer, stamp, listed));
        }
    }
}
