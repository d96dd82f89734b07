//! The language of `hairpin order`: one command a line.
//!
//! `docs/order.md` describes it. An error names line and column, both from 1, what was expected
//! there and what was found.

use std::fmt;

use hairpin_order_entry::{ClOrdId, Decimal, Price9, Pricing, Qualifier, SideReq};
use hairpin_time::Duration;
use jiff::civil::{Date, date};

/// How long `expect` waits unless it says so.
const PATIENCE: Duration = Duration::from_secs(5);
/// Digits behind the point of a price.
const PRICE_DIGITS: usize = 9;

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Command {
    /// `buy` and `sell`.
    Enter(Enter),
    /// `replace`: the order keeps what is not said.
    Replace {
        target: Target,
        quantity: Option<u32>,
        pricing: Option<Pricing>,
        qualifier: Option<Qualifier>,
    },
    /// `cancel` of one order.
    Cancel(Target),
    /// `cancel all`, of one instrument if it is named.
    CancelAll(Option<i32>),
    /// `status`: of one order, asked of the exchange; else of all, from what it has said.
    Status(Option<Target>),
    /// `sleep`.
    Sleep(Duration),
    /// `expect`.
    Expect { what: Happening, within: Duration },
    /// `quit`.
    Quit,
}

/// An order to enter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Enter {
    pub(super) side: SideReq,
    pub(super) quantity: u32,
    pub(super) pricing: Pricing,
    pub(super) security_id: i32,
    pub(super) qualifier: Qualifier,
    pub(super) min_quantity: Option<u32>,
    pub(super) display_quantity: Option<u32>,
    /// One is made if it is not given.
    pub(super) cl_ord_id: Option<ClOrdId>,
}

/// Which order is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// The one that was entered last.
    Last,
    /// The one with this ClOrdID.
    Id(ClOrdId),
}

/// What can be expected of the exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Happening {
    /// An order works.
    New,
    /// It was replaced.
    Replace,
    /// It traded, wholly or in part.
    Fill,
    /// It was cancelled, or orders were cancelled together.
    Cancel,
    /// It ended without a cancel.
    Eliminate,
    /// The exchange has refused something.
    Reject,
    /// It says how an order stands.
    Status,
}

impl Happening {
    const NAMES: [(&'static str, Self); 7] = [
        ("new", Self::New),
        ("fill", Self::Fill),
        ("cancel", Self::Cancel),
        ("reject", Self::Reject),
        ("replace", Self::Replace),
        ("eliminate", Self::Eliminate),
        ("status", Self::Status),
    ];
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Self::NAMES.iter().find(|(_, happening)| happening == self);
        f.write_str(named.map_or("?", |(name, _)| name))
    }
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: expected {expected}, found {found}")]
pub(super) struct ScriptError {
    /// Counted from 1.
    pub(super) line: usize,
    /// Of the first character that is wrong, counted from 1 in characters.
    pub(super) column: usize,
    expected: &'static str,
    found: String,
}

/// Reads the line with this number; `None` if there is nothing on it. `instrument` knows symbols.
///
/// # Errors
/// The first word that is wrong.
pub(super) fn parse(
    text: &str,
    line: usize,
    instrument: &dyn Fn(&str) -> Option<i32>,
) -> Result<Option<Command>, ScriptError> {
    let mut words = Words { rest: words(text), line, end: text.chars().count() + 1, instrument };
    if words.rest.is_empty() {
        return Ok(None);
    }
    let command = words.command()?;
    match words.next() {
        None => Ok(Some(command)),
        Some(surplus) => Err(words.wrong(Some(surplus), "the end of the line")),
    }
}

/// A word and the column it begins at.
type Word<'a> = (usize, &'a str);

/// The words of a line, the last first; `@` is one of its own, and what follows `#` is none.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut begun: Option<(usize, usize)> = None;
    for (column, (at, character)) in (1..).zip(text.char_indices()) {
        let ends = character.is_whitespace() || character == '@' || character == '#';
        if ends && let Some((column, from)) = begun.take() {
            words.push((column, &text[from..at]));
        }
        match character {
            '#' => {
                words.reverse();
                return words;
            }
            '@' => words.push((column, &text[at..=at])),
            _ if !ends && begun.is_none() => begun = Some((column, at)),
            _ => {}
        }
    }
    if let Some((column, from)) = begun {
        words.push((column, &text[from..]));
    }
    words.reverse();
    words
}

/// The words that have not been read.
struct Words<'a> {
    rest: Vec<Word<'a>>,
    line: usize,
    /// The column behind the last character.
    end: usize,
    instrument: &'a dyn Fn(&str) -> Option<i32>,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<Word<'a>> {
        self.rest.pop()
    }

    /// Takes the next word if it is this one.
    fn take(&mut self, word: &str) -> bool {
        let is_this = self.rest.last().is_some_and(|(_, next)| *next == word);
        if is_this {
            self.rest.pop();
        }
        is_this
    }

    fn wrong(&self, word: Option<Word<'_>>, expected: &'static str) -> ScriptError {
        let (column, found) = match word {
            Some((column, word)) => (column, format!("`{}`", word.escape_debug())),
            None => (self.end, "the end of the line".to_owned()),
        };
        ScriptError { line: self.line, column, expected, found }
    }

    /// The next word as `read` understands it.
    fn read<T>(
        &mut self,
        expected: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, ScriptError> {
        let word = self.next();
        word.and_then(|(_, word)| read(word)).ok_or_else(|| self.wrong(word, expected))
    }

    fn command(&mut self) -> Result<Command, ScriptError> {
        const COMMANDS: &str = "buy, sell, replace, cancel, status, sleep, expect or quit";
        let word = self.next();
        Ok(match word.map_or("", |(_, word)| word) {
            "buy" => Command::Enter(self.enter(SideReq::BUY)?),
            "sell" => Command::Enter(self.enter(SideReq::SELL)?),
            "replace" => self.replace()?,
            "cancel" => self.cancel()?,
            "status" if self.rest.is_empty() => Command::Status(None),
            "status" => Command::Status(Some(self.target()?)),
            "sleep" => Command::Sleep(self.duration()?),
            "expect" => self.expect()?,
            "quit" => Command::Quit,
            _ => return Err(self.wrong(word, COMMANDS)),
        })
    }

    fn enter(&mut self, side: SideReq) -> Result<Enter, ScriptError> {
        const PRICED: &str = "@ PRICE, market, market-limit or stop PRICE";
        let quantity = self.quantity()?;
        let word = self.rest.last().copied();
        let pricing = self.pricing()?.ok_or_else(|| self.wrong(word, PRICED))?;
        let instrument = self.instrument;
        let security_id = self
            .read("an instrument: a SecurityID, or a symbol that [instruments] has", |word| {
                instrument(word).or_else(|| word.parse().ok().filter(|&id: &i32| id > 0))
            })?;
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
        let quantity = if self.take("qty") { Some(self.quantity()?) } else { None };
        let pricing = self.pricing()?;
        let qualifier = self.qualifier()?;
        if quantity.is_none() && pricing.is_none() && qualifier.is_none() {
            let word = self.next();
            return Err(self.wrong(word, "qty N, @ PRICE, stop PRICE, day, gtc, fak, fok or gtd"));
        }
        Ok(Command::Replace { target, quantity, pricing, qualifier })
    }

    fn cancel(&mut self) -> Result<Command, ScriptError> {
        if !self.take("all") {
            return Ok(Command::Cancel(self.target()?));
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

    fn expect(&mut self) -> Result<Command, ScriptError> {
        const HAPPENINGS: &str = "new, fill, cancel, reject, replace, eliminate or status";
        let what = self.read(HAPPENINGS, |word| {
            Happening::NAMES.iter().find(|(name, _)| *name == word).map(|&(_, what)| what)
        })?;
        let within = if self.take("within") { self.duration()? } else { PATIENCE };
        Ok(Command::Expect { what, within })
    }

    /// How an order is priced, if that is said next.
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

    /// How long an order stands, if that is said next.
    fn qualifier(&mut self) -> Result<Option<Qualifier>, ScriptError> {
        Ok(Some(if self.take("day") {
            Qualifier::Day
        } else if self.take("gtc") {
            Qualifier::GoodTillCancel
        } else if self.take("fak") {
            Qualifier::FillAndKill
        } else if self.take("fok") {
            Qualifier::FillOrKill
        } else if self.take("gtd") {
            let expire_date = self.read("a date such as 2026-12-31", days)?;
            Qualifier::GoodTillDate { expire_date }
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
        self.read(WHAT, |word| ClOrdId::new(word).filter(|_| word != "last" && word != "all"))
    }

    fn quantity(&mut self) -> Result<u32, ScriptError> {
        self.read("a number of contracts, at least 1", |word| {
            word.parse().ok().filter(|&quantity| quantity > 0)
        })
    }

    fn price(&mut self) -> Result<Price9, ScriptError> {
        self.read("a price such as 4500.25", price)
    }

    fn duration(&mut self) -> Result<Duration, ScriptError> {
        self.read("a time such as 100ms, 2s or 1m", duration)
    }
}

/// A decimal number with up to nine digits behind the point.
fn price(text: &str) -> Option<Price9> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || fraction.len() > PRICE_DIGITS {
        return None;
    }
    let fraction: i64 = format!("{fraction:0<PRICE_DIGITS$}").parse().ok()?;
    let whole: i64 = whole.parse().ok()?;
    let mantissa = whole.checked_mul(1_000_000_000)?.checked_add(fraction)?;
    Some(Decimal(sign * mantissa))
}

fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|character: char| !character.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let nanos = match unit {
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(nanos).map(Duration::from_nanos)
}

/// Days from the epoch to a date; the last number stands for no date.
fn days(text: &str) -> Option<u16> {
    let until: Date = text.parse().ok()?;
    let days = date(1970, 1, 1).until(until).ok()?.get_days();
    u16::try_from(days).ok().filter(|&days| days < u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn symbol(word: &str) -> Option<i32> {
        (word == "ESZ6").then_some(12_345)
    }

    fn read(text: &str) -> Command {
        parse(text, 1, &symbol).unwrap().unwrap()
    }

    fn limit(price: i64) -> Pricing {
        Pricing::Limit { price: Decimal(price) }
    }

    const BUY: Enter = Enter {
        side: SideReq::BUY,
        quantity: 10,
        pricing: Pricing::Market,
        security_id: 12_345,
        qualifier: Qualifier::Day,
        min_quantity: None,
        display_quantity: None,
        cl_ord_id: None,
    };

    #[test]
    fn orders_of_every_type_and_qualifier_are_read() {
        let (price, stop_price) = (Decimal(4_500_250_000_000), Decimal(4_499_000_000_000));
        let pricing = Pricing::Limit { price };
        for text in
            ["buy 10 @ 4500.25 ESZ6", "buy 10 @4500.25 ESZ6 day # why", "buy 10@4500.25 12345"]
        {
            assert_eq!(read(text), Command::Enter(Enter { pricing, ..BUY }), "{text}");
        }
        for (words, pricing) in [
            ("market", Pricing::Market),
            ("market-limit", Pricing::MarketLimit),
            ("stop 4499", Pricing::Stop { stop_price }),
            ("stop 4499 @ 4500.25", Pricing::StopLimit { stop_price, price }),
        ] {
            let text = format!("buy 10 {words} ESZ6");
            assert_eq!(read(&text), Command::Enter(Enter { pricing, ..BUY }), "{text}");
        }
        for (words, qualifier) in [
            ("gtc", Qualifier::GoodTillCancel),
            ("fak", Qualifier::FillAndKill),
            ("fok", Qualifier::FillOrKill),
            ("gtd 1970-01-31", Qualifier::GoodTillDate { expire_date: 30 }),
        ] {
            let text = format!("buy 10 market ESZ6 {words}");
            assert_eq!(read(&text), Command::Enter(Enter { qualifier, ..BUY }), "{text}");
        }
        let all = Enter {
            side: SideReq::SELL,
            min_quantity: Some(2),
            display_quantity: Some(3),
            cl_ord_id: ClOrdId::new("mine"),
            ..BUY
        };
        assert_eq!(read("sell 10 market ESZ6 day min 2 show 3 id mine"), Command::Enter(all));
    }

    #[test]
    fn the_other_commands_are_read() {
        let target = Target::Last;
        let (quantity, qualifier) = (Some(5), Some(Qualifier::GoodTillCancel));
        let pricing = Some(limit(4_500_500_000_000));
        let replace = Command::Replace { target, quantity, pricing, qualifier: None };
        assert_eq!(read("replace last qty 5 @ 4500.50"), replace);
        let target = Target::Id(ClOrdId::new("77").unwrap());
        let replace = Command::Replace { target, quantity: None, pricing: None, qualifier };
        assert_eq!(read("replace 77 gtc"), replace);
        assert_eq!(read("cancel last"), Command::Cancel(Target::Last));
        assert_eq!(read("cancel 77"), Command::Cancel(target));
        assert_eq!(read("cancel all"), Command::CancelAll(None));
        assert_eq!(read("cancel all ESZ6"), Command::CancelAll(Some(12_345)));
        assert_eq!(read("status"), Command::Status(None));
        assert_eq!(read("status last"), Command::Status(Some(Target::Last)));
        assert_eq!(read("sleep 100ms"), Command::Sleep(Duration::from_millis(100)));
        assert_eq!(read("sleep 2m"), Command::Sleep(Duration::from_secs(120)));
        let within = Duration::from_secs(2);
        assert_eq!(
            read("expect fill within 2s"),
            Command::Expect { what: Happening::Fill, within }
        );
        let what = Happening::Reject;
        assert_eq!(read("expect reject"), Command::Expect { what, within: PATIENCE });
        assert_eq!(read("\tquit "), Command::Quit);
    }

    #[test]
    fn blank_lines_and_comments_are_no_commands() {
        for text in ["", "  \t", "# buy 1", "  # é"] {
            assert_eq!(parse(text, 1, &symbol), Ok(None), "{text}");
        }
    }

    #[test]
    fn prices_are_exact() {
        for (text, mantissa) in [
            ("0", 0),
            ("-0.5", -500_000_000),
            ("1.000000001", 1_000_000_001),
            ("12", 12_000_000_000),
        ] {
            assert_eq!(price(text), Some(Decimal(mantissa)), "{text}");
        }
        for text in ["", "-", ".5", "5.", "1.0000000001", "1e3", "+1", "9223372037", "--1", "1.2.3"]
        {
            assert_eq!(price(text), None, "{text}");
        }
    }

    #[test]
    fn an_error_says_where_what_was_expected_and_what_was_found() {
        for (text, column, expected, found) in [
            ("hold", 1, "buy, sell", "`hold`"),
            ("buy", 4, "contracts", "the end"),
            ("buy 0 @ 1 ESZ6", 5, "contracts", "`0`"),
            ("buy 10 4500 ESZ6", 8, "@ PRICE", "`4500`"),
            ("buy 10 @ x ESZ6", 10, "a price", "`x`"),
            ("buy 10 @", 9, "a price", "the end"),
            ("buy 10 @ 1 NQZ6", 12, "an instrument", "`NQZ6`"),
            ("buy 10 @ 1 -5", 12, "an instrument", "`-5`"),
            ("buy 10 @ 1 ESZ6 dya", 17, "the end of the line", "`dya`"),
            ("buy 10 @ 1 ESZ6 gtd", 20, "a date", "the end"),
            ("buy 10 @ 1 ESZ6 gtd 1969-12-31", 21, "a date", "`1969-12-31`"),
            ("buy 10 @ 1 ESZ6 gtd 2149-06-06", 21, "a date", "`2149-06-06`"),
            ("buy 10 @ 1 ESZ6 min few", 21, "contracts", "`few`"),
            ("buy 10 @ 1 ESZ6 id last", 20, "ClOrdID", "`last`"),
            ("buy 10 @ 1 ESZ6 id 123456789012345678901", 20, "ClOrdID", "`1234"),
            ("replace last", 13, "qty N", "the end"),
            ("replace last 5", 14, "qty N", "`5`"),
            ("cancel", 7, "ClOrdID", "the end"),
            ("cancel all NQZ6", 12, "an instrument", "`NQZ6`"),
            ("status last now", 13, "the end of the line", "`now`"),
            ("sleep 100", 7, "a time", "`100`"),
            ("sleep 99999999999999999999s", 7, "a time", "`999"),
            ("expect profit", 8, "new, fill", "`profit`"),
            ("expect fill within", 19, "a time", "the end"),
            ("é expect", 1, "buy, sell", "`é`"),
            ("quit é now", 6, "the end of the line", "`é`"),
        ] {
            let error = parse(text, 7, &symbol).unwrap_err();
            assert_eq!((error.line, error.column), (7, column), "{text}: {error}");
            assert!(error.expected.contains(expected), "{text}: {error}");
            assert!(error.found.starts_with(found), "{text}: {error}");
        }
        let error = parse("buy 10 @ x", 3, &symbol).unwrap_err().to_string();
        assert_eq!(error, "line 3, column 10: expected a price such as 4500.25, found `x`");
    }

    proptest! {
        #[test]
        fn no_line_panics(text in ".*") {
            let _ = parse(&text, 1, &symbol);
        }

        #[test]
        fn no_line_of_our_words_panics_and_an_error_is_within_it(
            words in prop::collection::vec(prop::sample::select(vec![
                "buy", "sell", "replace", "cancel", "status", "sleep", "expect", "quit", "last",
                "all", "@", "market", "stop", "ESZ6", "1", "4500.25", "gtd", "2026-12-31", "day",
                "qty", "id", "min", "show", "within", "2s", "new", "é", "#",
            ]), 0..9)
        ) {
            let text = words.join(" ");
            if let Err(error) = parse(&text, 1, &symbol) {
                prop_assert!((1..=text.chars().count() + 1).contains(&error.column));
            }
        }

        #[test]
        fn a_price_is_what_was_written(mantissa in -9_000_000_000_000_000_000_i64..) {
            let price_of = Decimal::<-9>(mantissa);
            prop_assume!(mantissa < 9_000_000_000_000_000_000);
            prop_assert_eq!(price(&price_of.to_string()), Some(price_of));
        }
    }
}
