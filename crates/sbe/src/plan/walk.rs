//! Decoding of a message by a plan.

use super::Plan;
use super::field::{Step, ValueContext};
use super::message::{Data, Group, Level, Message};
use crate::{CharArray, DecodeError, MessageHeader, Value, Visitor};

/// The work limit: the maximum number of steps in one message. Without a limit, entries of zero
/// bytes would cost the sender nothing. A message whose length fits a `u16` cannot reach it, unless
/// its blocks are shorter than the schema's.
pub(super) const WORK_MAX: usize = 1 << 22;

/// A pass over a message. Without a visitor, it only validates.
pub(super) struct Walk<'p, 'x, 'v> {
    plan: &'p Plan<'x>,
    version: u16,
    work: usize,
    visitor: Option<&'v mut dyn Visitor>,
}

impl<'p, 'x, 'v> Walk<'p, 'x, 'v> {
    /// Creates a pass over a message of schema version `version`.
    pub(super) fn new(
        plan: &'p Plan<'x>,
        version: u16,
        visitor: Option<&'v mut dyn Visitor>,
    ) -> Self {
        Self { plan, version, work: WORK_MAX, visitor }
    }

    /// Visits a message and returns the bytes after it.
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

    /// Visits a validated block, and the groups and data after it.
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
        let context = ValueContext {
            names: &self.plan.names,
            is_big_endian: self.plan.is_big_endian,
            version: self.version,
        };
        for step in &level.steps {
            match step {
                Step::Field(field) => visitor.field(field.name, field.value(block, context)),
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
        self.charge(group, count)?;
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

    /// Subtracts the cost of a group's entries from the work limit.
    fn charge(&mut self, group: &Group<'x>, count: usize) -> Result<(), DecodeError> {
        let cost = count.checked_mul(group.level.steps.len() + 1);
        let left = cost.and_then(|cost| self.work.checked_sub(cost));
        self.work = left.ok_or(DecodeError::Entries(group.tag))?;
        Ok(())
    }

    fn data<'a>(&mut self, data: &Data<'x>, bytes: &'a [u8]) -> Result<&'a [u8], DecodeError> {
        let (bytes, rest) =
            data.length.split(bytes, self.plan.is_big_endian).ok_or(DecodeError::Data(data.tag))?;
        if let Some(visitor) = self.visitor.as_deref_mut() {
            // Text ends at the first NUL. Data with a NUL is therefore passed as bytes.
            let is_text = data.is_text && !bytes.contains(&0);
            let text = Value::Text(CharArray::new(bytes));
            visitor.field(data.name, if is_text { text } else { Value::Data(bytes) });
        }
        Ok(rest)
    }
}
