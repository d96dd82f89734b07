//! The grammar of the commands.

use hairpin_order_entry::messages::{PartyDetailRole, SMPI};
use hairpin_order_entry::{
    ClOrdId, InFlightMitigation, OrderTimeInForce, Party, Price9, Pricing, SideReq,
};
use hairpin_time::Duration;

use super::ScriptError;
use super::command::{
    Command, Enter, ExpectedEvent, OrderNaming, PartyTerms, QuoteScope, QuoteTerms, Target,
};
use super::tokens::Tokens;
use super::values;

/// How long `expect` waits by default.
const TIMEOUT: Duration = Duration::from_secs(5);

impl Tokens<'_> {
    /// Parses the command at the beginning of the tokens.
    ///
    /// # Errors
    /// The first wrong word.
    pub(super) fn command(&mut self) -> Result<Command, ScriptError> {
        const COMMANDS: &str = "buy, sell, replace, cancel, orders, positions, status, party, \
                                quote, rfq, cross, sleep, expect, help or quit";
        let name = self.word();
        let word = self.next();
        Ok(match name {
            "buy" => Command::Enter(self.enter(SideReq::BUY)?),
            "sell" => Command::Enter(self.enter(SideReq::SELL)?),
            "replace" => self.replace()?,
            "cancel" => self.cancel()?,
            "status" if self.rest.is_empty() => Command::Status(None),
            "status" if self.take("all") => Command::MassStatus(self.security_id()?),
            "status" => Command::Status(Some(self.target()?)),
            "party" => self.party()?,
            "quote" => self.quote()?,
            "rfq" => self.request_quote()?,
            "cross" => self.cross()?,
            "sleep" => Command::Sleep(self.duration()?),
            "expect" => self.expect()?,
            "orders" => Command::Orders,
            "positions" => Command::Positions,
            "help" | "?" => Command::Help,
            "quit" => Command::Quit,
            _ => return Err(self.wrong(word, COMMANDS)),
        })
    }

    fn enter(&mut self, side: SideReq) -> Result<Enter, ScriptError> {
        const PRICED: &str = "@ PRICE, market, market-limit or stop PRICE";
        let quantity = self.quantity()?;
        let word = self.rest.last().copied();
        let pricing = self.pricing()?.ok_or_else(|| self.wrong(word, PRICED))?;
        let security_id = self.security_id()?;
        let mut enter = Enter {
            side,
            quantity,
            pricing,
            security_id,
            qualifier: self.qualifier()?.unwrap_or_default(),
            min_quantity: None,
            display_quantity: None,
            cl_ord_id: None,
        };
        if self.take("min") {
            enter.min_quantity = Some(self.quantity()?);
        }
        if self.take("show") {
            enter.display_quantity = Some(self.quantity()?);
        }
        if self.take("id") {
            enter.cl_ord_id = Some(self.cl_ord_id()?);
        }
        Ok(enter)
    }

    fn replace(&mut self) -> Result<Command, ScriptError> {
        let target = self.target()?;
        const TERMS: &str = "qty N, @ PRICE, stop PRICE, day, gtc, fak, fok, gtd or show N";
        let quantity = if self.take("qty") { Some(self.quantity()?) } else { None };
        let pricing = self.pricing()?;
        let qualifier = self.qualifier()?;
        let display_quantity = if self.take("show") { Some(self.quantity()?) } else { None };
        if (quantity, pricing, qualifier, display_quantity) == (None, None, None, None) {
            let word = self.next();
            return Err(self.wrong(word, TERMS));
        }
        let mitigation = match self.take("ifm") {
            true => InFlightMitigation::Enabled,
            false => InFlightMitigation::Disabled,
        };
        let naming = self.naming();
        Ok(Command::Replace {
            target,
            quantity,
            pricing,
            qualifier,
            display_quantity,
            mitigation,
            naming,
        })
    }

    fn cancel(&mut self) -> Result<Command, ScriptError> {
        if self.take("quotes") {
            return self.cancel_quotes();
        }
        if !self.take("all") {
            return Ok(Command::Cancel { target: self.target()?, naming: self.naming() });
        }
        let instrument = self.instrument;
        if self.rest.is_empty() {
            return Ok(Command::CancelAll(None));
        }
        let id = self.read("an instrument, or the end of the line", |word| {
            instrument(word).or_else(|| word.parse().ok().filter(|&id: &i32| id > 0))
        })?;
        Ok(Command::CancelAll(Some(id)))
    }

    fn cancel_quotes(&mut self) -> Result<Command, ScriptError> {
        Ok(Command::CancelQuotes(if self.rest.is_empty() {
            QuoteScope::All
        } else if self.take("set") {
            QuoteScope::Set(self.quote_set()?)
        } else {
            QuoteScope::Instrument(self.security_id()?)
        }))
    }

    fn party(&mut self) -> Result<Command, ScriptError> {
        const ID: &str = "the id of party details, or 0 for the next order alone";
        let list_id = self.read(ID, |word| word.parse().ok())?;
        if !self.take("account") {
            let word = self.next();
            return Err(self.wrong(word, "account ACCOUNT"));
        }
        let role = PartyDetailRole::CUSTOMER_ACCOUNT;
        let account =
            self.read("an account of up to 20 characters", |word| Party::new(role, word))?;
        let (mut self_match_id, mut instruction) = (None, None);
        if self.take("smp") {
            self_match_id =
                Some(self.read("a self-match prevention id", |word| word.parse().ok())?);
            instruction = if self.take("oldest") {
                Some(SMPI::CANCEL_OLDEST)
            } else {
                self.take("newest").then_some(SMPI::CANCEL_NEWEST)
            };
        }
        Ok(Command::Party(PartyTerms { list_id, account, self_match_id, instruction }))
    }

    fn quote(&mut self) -> Result<Command, ScriptError> {
        let set = if self.take("set") { self.quote_set()? } else { 1 };
        let mut quotes = Vec::new();
        while quotes.is_empty() || !self.rest.is_empty() {
            let security_id = self.security_id()?;
            let bid = self.quantity_at_price()?;
            let offer = self.quantity_at_price()?;
            quotes.push(QuoteTerms { security_id, bid, offer });
        }
        Ok(Command::Quote { set, quotes })
    }

    fn quote_set(&mut self) -> Result<u16, ScriptError> {
        self.read("a QuoteSetID", |word| word.parse().ok())
    }

    fn request_quote(&mut self) -> Result<Command, ScriptError> {
        let security_id = self.security_id()?;
        let quantity = if self.rest.is_empty() { None } else { Some(self.quantity()?) };
        Ok(Command::RequestQuote { security_id, quantity })
    }

    fn cross(&mut self) -> Result<Command, ScriptError> {
        let (quantity, price) = self.quantity_at_price()?;
        Ok(Command::Cross { quantity, price, security_id: self.security_id()? })
    }

    fn quantity_at_price(&mut self) -> Result<(u32, Price9), ScriptError> {
        let quantity = self.quantity()?;
        if !self.take("@") {
            let word = self.next();
            return Err(self.wrong(word, "@ PRICE"));
        }
        Ok((quantity, self.price()?))
    }

    fn security_id(&mut self) -> Result<i32, ScriptError> {
        let instrument = self.instrument;
        self.read("a SecurityID, or a symbol from [instruments]", |word| {
            instrument(word).or_else(|| word.parse().ok().filter(|&id: &i32| id > 0))
        })
    }

    fn naming(&mut self) -> OrderNaming {
        match self.take("no-order-id") {
            true => OrderNaming::ClOrdId,
            false => OrderNaming::OrderId,
        }
    }

    fn expect(&mut self) -> Result<Command, ScriptError> {
        const HAPPENINGS: &str = "new, fill, cancel, reject, replace, eliminate, status, party, \
                                  quote, quote-cancel or rfq";
        let what = self.read(HAPPENINGS, |word| {
            ExpectedEvent::NAMES.iter().find(|(name, _)| *name == word).map(|&(_, what)| what)
        })?;
        let within = if self.take("within") { self.duration()? } else { TIMEOUT };
        Ok(Command::Expect { what, within })
    }

    /// Parses the pricing of an order, if it is next.
    fn pricing(&mut self) -> Result<Option<Pricing>, ScriptError> {
        Ok(Some(if self.take("@") {
            Pricing::Limit { price: self.price()? }
        } else if self.take("market") {
            Pricing::Market
        } else if self.take("market-limit") {
            Pricing::MarketLimit
        } else if self.take("stop") {
            let stop_price = self.price()?;
            match self.take("@") {
                true => Pricing::StopLimit { stop_price, price: self.price()? },
                false => Pricing::Stop { stop_price },
            }
        } else {
            return Ok(None);
        }))
    }

    /// Parses the time qualifier of an order, if it is next.
    fn qualifier(&mut self) -> Result<Option<OrderTimeInForce>, ScriptError> {
        Ok(Some(if self.take("day") {
            OrderTimeInForce::Day
        } else if self.take("gtc") {
            OrderTimeInForce::GoodTillCancel
        } else if self.take("fak") {
            OrderTimeInForce::FillAndKill
        } else if self.take("fok") {
            OrderTimeInForce::FillOrKill
        } else if self.take("gtd") {
            let expire_date = self.read("a date such as 2026-12-31", values::days)?;
            OrderTimeInForce::GoodTillDate { expire_date }
        } else {
            return Ok(None);
        }))
    }

    fn target(&mut self) -> Result<Target, ScriptError> {
        match self.take("last") {
            true => Ok(Target::Last),
            false => self.cl_ord_id().map(Target::Id),
        }
    }

    fn cl_ord_id(&mut self) -> Result<ClOrdId, ScriptError> {
        const WHAT: &str = "a ClOrdID of up to 20 characters";
        let is_reserved = |word: &str| ["last", "all", "quotes"].contains(&word);
        self.read(WHAT, |word| ClOrdId::new(word).filter(|_| !is_reserved(word)))
    }

    fn quantity(&mut self) -> Result<u32, ScriptError> {
        self.read("a number of contracts, at least 1", |word| {
            word.parse().ok().filter(|&quantity| quantity > 0)
        })
    }

    fn price(&mut self) -> Result<Price9, ScriptError> {
        self.read("a price such as 4500.25", values::price)
    }

    fn duration(&mut self) -> Result<Duration, ScriptError> {
        self.read("a time such as 100ms, 2s or 1m", values::duration)
    }
}
