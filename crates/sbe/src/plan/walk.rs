//! Walking a message by a plan.

use super::Plan;
use super::field::{Step, Surroundings};
use super::message::{Data, Group, Level, Message};
use crate::{CharArray, DecodeError, MessageHeader, Value, Visitor};

/// The most steps in one message: entries without bytes cost a sender nothing. No message as long
/// as a `u16` can say has so many values, unless its blocks are shorter than its schema's.
pub(super) const MOST_WORK: usize = 1 << 22;

/// One walk; without a visitor it only checks.
pub(super) struct Walk<'p, 'x, 'v> {
    plan: &'p Plan<'x>,
    version: u16,
    work: usize,
    visitor: Option<&'v mut dyn Visitor>,
}

impl<'p, 'x, 'v> Walk<'p, 'x, 'v> {
    /// A walk through a message that was written with `version` of the schema.
    pub(super) fn new(
        plan: &'p Plan<'x>,
        version: u16,
        visitor: Option<&'v mut dyn Visitor>,
    ) -> Self {
        Self { plan, version, work: MOST_WORK, visitor }
    }

    /// Walks a message; gives what follows it.
    pub(super) fn message<'a>(
        &mut self,
        message: &Message<'x>,
        header: &MessageHeader,
        body: &'a [u8],
    ) -> Result<&'a [u8], DecodeError> {
        let (block, rest) =
            body.split_at_checked(header.block_length.into()).ok_or(DecodeError::Block)?;
        self.level(&message.level, block, rest)
    }

    /// A block that is known to be whole, and the groups and data behind it.
    fn level<'a>(
        &mut self,
        level: &Level<'x>,
        block: &[u8],
        mut rest: &'a [u8],
    ) -> Result<&'a [u8], DecodeError> {
        self.block(level, block);
        for group in &level.groups {
            rest = self.group(group, rest)?;
        }
        let version = self.version;
        for data in level.data.iter().filter(|data| data.since <= version) {
            rest = self.data(data, rest)?;
        }
        Ok(rest)
    }

    fn block(&mut self, level: &Level<'x>, block: &[u8]) {
        let Some(visitor) = self.visitor.as_deref_mut() else { return };
        let around = Surroundings {
            names: &self.plan.names,
            is_big_endian: self.plan.is_big_endian,
            version: self.version,
        };
        for step in &level.steps {
            match step {
                Step::Field(field) => visitor.field(field.name, field.value(block, around)),
                Step::Composite(name) => visitor.composite(name),
                Step::EndComposite => visitor.end_composite(),
            }
        }
    }

    fn group<'a>(&mut self, group: &Group<'x>, bytes: &'a [u8]) -> Result<&'a [u8], DecodeError> {
        let (mut length, mut count, mut rest) = (0, 0, bytes);
        if group.since <= self.version {
            (length, count, rest) = group
                .dimension
                .split(bytes, self.plan.is_big_endian)
                .ok_or(DecodeError::Group(group.tag))?;
        }
        self.spend(group, count)?;
        if let Some(visitor) = self.visitor.as_deref_mut() {
            visitor.group(group.name, count);
        }
        let rest = if self.visitor.is_none() && group.is_flat() {
            let length = length.checked_mul(count).ok_or(DecodeError::Group(group.tag))?;
            rest.get(length..).ok_or(DecodeError::Group(group.tag))?
        } else {
            self.entries(group, (length, count), rest)?
        };
        if let Some(visitor) = self.visitor.as_deref_mut() {
            visitor.end_group();
        }
        Ok(rest)
    }

    fn entries<'a>(
        &mut self,
        group: &Group<'x>,
        (length, count): (usize, usize),
        mut rest: &'a [u8],
    ) -> Result<&'a [u8], DecodeError> {
        for index in 0..count {
            let block;
            (block, rest) = rest.split_at_checked(length).ok_or(DecodeError::Group(group.tag))?;
            if let Some(visitor) = self.visitor.as_deref_mut() {
                visitor.entry(index);
            }
            rest = self.level(&group.level, block, rest)?;
        }
        Ok(rest)
    }

    /// Takes what a group's entries cost out of what a message may cost.
    fn spend(&mut self, group: &Group<'x>, count: usize) -> Result<(), DecodeError> {
        let cost = count.checked_mul(group.level.steps.len() + 1);
        let left = cost.and_then(|cost| self.work.checked_sub(cost));
        self.work = left.ok_or(DecodeError::Entries(group.tag))?;
        Ok(())
    }

    fn data<'a>(&mut self, data: &Data<'x>, bytes: &'a [u8]) -> Result<&'a [u8], DecodeError> {
        let (bytes, rest) =
            data.length.split(bytes, self.plan.is_big_endian).ok_or(DecodeError::Data(data.tag))?;
        if let Some(visitor) = self.visitor.as_deref_mut() {
            // Text ends at the first NUL when it is shown: if there is one, the bytes are.
            let is_text = data.is_text && !bytes.contains(&0);
            let text = Value::Text(CharArray::new(bytes));
            visitor.field(data.name, if is_text { text } else { Value::Data(bytes) });
        }
        Ok(rest)
    }
}
