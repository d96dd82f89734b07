//! A check of every sent message, in builds with debug assertions: enumerations and sets have only
//! values that the schema defines. A client's value that reports repeat is checked before.

use hairpin_cme_codecs::{ilink3, mdp3};
use hairpin_sbe::{DecodeError, MessageHeader, Value, Visitor};

/// Panics if a message, from its SBE header on, has a value that its enumeration lacks. Does
/// nothing without debug assertions, and allocates nothing.
#[inline]
pub(crate) fn debug_assert_defined(message: &[u8]) {
    if cfg!(debug_assertions) && !is_defined(message) {
        panic!("undefined value: {}", describe(message));
    }
}

/// Returns `true` if all values of a message are defined, or if it is of another schema.
fn is_defined(message: &[u8]) -> bool {
    let mut check = Check(true);
    visit(message, &mut check).is_ok() && check.0
}

/// Returns the name of a message, and its first undefined value.
#[cold]
fn describe(message: &[u8]) -> String {
    let mut description = Description { text: String::new(), found: false };
    match visit(message, &mut description) {
        Ok(()) => description.text,
        Err(error) => error.to_string(),
    }
}

fn visit(message: &[u8], visitor: &mut impl Visitor) -> Result<(), DecodeError> {
    let (header, body) = MessageHeader::decode(message)?;
    match header.schema_id {
        ilink3::SCHEMA_ID => ilink3::visit(&header, body, visitor).map(drop),
        mdp3::SCHEMA_ID => mdp3::visit(&header, body, visitor).map(drop),
        _ => Ok(()),
    }
}

fn is_value_defined(value: Value<'_>) -> bool {
    match value {
        Value::Enumeration { name, .. } => name.is_some(),
        Value::Set { bits, choices } => {
            choices.iter().fold(bits, |rest, choice| rest & !(1 << choice.value)) == 0
        }
        _ => true,
    }
}

/// Remains `true` while all values are defined.
struct Check(bool);

impl Visitor for Check {
    fn field(&mut self, _: &str, value: Value<'_>) {
        self.0 &= is_value_defined(value);
    }
}

/// The name of the message, then the first undefined value.
struct Description {
    text: String,
    found: bool,
}

impl Visitor for Description {
    fn message(&mut self, name: &str, _: &MessageHeader) {
        self.text.push_str(name);
    }

    fn field(&mut self, name: &str, value: Value<'_>) {
        if !self.found && !is_value_defined(value) {
            self.found = true;
            self.text.push_str(&format!(" {name} {value}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use hairpin_cme_codecs::ilink3::{
        ExecutionReportReject523, OrderType, OrderTypeReq, SideReq, TimeInForce,
    };
    use hairpin_cme_codecs::mdp3::{
        MDEntryTypeDailyStatistics, MDIncrementalRefreshDailyStatistics49, MDUpdateAction,
        SettlPriceType,
    };

    use super::*;

    fn undefined(message: &[u8]) -> Option<String> {
        (!is_defined(message)).then(|| describe(message))
    }

    fn reject(ord_type: u8) -> Option<String> {
        let mut buffer = [0; ExecutionReportReject523::ENCODED_LENGTH];
        ExecutionReportReject523::encode(&mut buffer)
            .unwrap()
            .set_ord_type(OrderType(ord_type))
            .set_side(SideReq::BUY)
            .set_time_in_force(TimeInForce::DAY);
        undefined(&buffer)
    }

    fn statistic(kind: u8) -> Option<String> {
        let mut buffer = [0; 128];
        let (_, mut groups) = MDIncrementalRefreshDailyStatistics49::encode(&mut buffer).unwrap();
        groups
            .no_md_entries()
            .unwrap()
            .push()
            .unwrap()
            .set_settl_price_type(SettlPriceType(kind))
            .set_md_update_action(MDUpdateAction::NEW)
            .set_md_entry_type(MDEntryTypeDailyStatistics::SETTLEMENT_PRICE);
        let length = groups.finish().unwrap();
        undefined(&buffer[..length])
    }

    #[test]
    fn finds_values_that_the_schema_lacks() {
        assert_eq!(reject(OrderType::STOP_LIMIT.0), None);
        let stop = reject(OrderTypeReq::STOPWITH_PROTECTION.0);
        assert_eq!(stop.as_deref(), Some("ExecutionReportReject523 OrdType ?(3)"));
        assert_eq!(statistic(SettlPriceType::FINAL_DAILY.0), None);
        let found = statistic(0x20);
        let expected = "MDIncrementalRefreshDailyStatistics49 SettlPriceType 0x20";
        assert_eq!(found.as_deref(), Some(expected));
    }
}
