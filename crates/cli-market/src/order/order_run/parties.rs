//! Party details: registered ones, and those of one order.

use anyhow::{Context, Result};
use hairpin_order_entry::messages::PartyDetailRole;
use hairpin_order_entry::{NewOrder, Operator, Party, PartyDetails};
use hairpin_time::Now;

use super::OrderRun;
use crate::order::script::PartyTerms;

impl OrderRun {
    /// Registers party details for the following messages, or keeps those with id 0 for the next
    /// order.
    ///
    /// # Errors
    /// The details cannot be sent.
    pub(super) fn party(&mut self, now: Now, terms: PartyTerms) -> Result<()> {
        if terms.list_id == 0 {
            self.on_demand = Some(terms);
            return Ok(());
        }
        let parties = self.parties(terms)?;
        self.send(now, &details(terms, &parties))?;
        let operator = *self.line.sender(now).operator();
        self.operator = Some(Operator { party_details_list_req_id: terms.list_id, ..operator });
        Ok(())
    }

    /// Sends an order with its own party details, and prints both; returns the order's number.
    ///
    /// # Errors
    /// Neither can be sent.
    pub(super) fn send_on_demand(
        &mut self,
        now: Now,
        terms: PartyTerms,
        order: &NewOrder,
    ) -> Result<u32> {
        let parties = self.parties(terms)?;
        let sent = self.line.sender(now).send_with_party(&details(terms, &parties), order)?;
        self.print_sent(sent, sent.seq_num.saturating_sub(1));
        Ok(sent.seq_num)
    }

    /// Returns the session's firm, and the account.
    fn parties(&self, terms: PartyTerms) -> Result<[Party; 2]> {
        let firm = Party::new(PartyDetailRole::EXECUTING_FIRM, self.settings.firm());
        Ok([firm.context("the firm is not printable")?, terms.account])
    }
}

fn details(terms: PartyTerms, parties: &[Party]) -> PartyDetails<'_> {
    PartyDetails {
        self_match_prevention_id: terms.self_match_id,
        self_match_prevention_instruction: terms.instruction,
        ..PartyDetails::new(terms.list_id, parties)
    }
}
