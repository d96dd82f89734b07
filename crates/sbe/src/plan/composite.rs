//! Composites: consecutive values, some of which form one value.

use super::field::{Field, FloatLayout, Null, Simple, Step, ValueKind};
use super::types::{Kind, Types};
use crate::number::NumberKind;
use crate::schema::SchemaError;
use crate::schema::element::Element;
use alloc::format;
use alloc::rc::Rc;
use alloc::vec::Vec;

/// The maximum number of steps of a composite or block. Nested composites could otherwise grow
/// without bound.
pub(super) const STEPS_MAX: usize = 4_096;

/// A composite, with offsets from its start.
#[derive(Clone, Debug)]
pub(super) struct Composite<'x> {
    pub(super) steps: Vec<Step<'x>>,
    pub(super) size: u16,
}

impl<'x> Composite<'x> {
    pub(super) fn parse<'a>(
        element: Element<'a, 'x>,
        types: &mut Types<'a, 'x>,
        depth: u8,
    ) -> Result<Kind<'x>, SchemaError> {
        let mut composite = Self { steps: Vec::new(), size: 0 };
        for member in element.elements() {
            let kind = types.kind(member, depth + 1)?;
            let since = member.number_or("sinceVersion", 0)?;
            let place = BlockSteps { name: member.named()?, since, end: composite.size };
            composite.size = place.append(member, &kind, &mut composite.steps)?;
        }
        Ok(composite
            .as_single_value()
            .map_or_else(|| Kind::Composite(Rc::new(composite)), Kind::Simple))
    }

    /// Returns the member `name` if it is a single value.
    pub(super) fn member(&self, name: &str) -> Option<&Field<'x>> {
        self.fields().find(|field| field.name == name)
    }

    fn fields(&self) -> impl Iterator<Item = &Field<'x>> {
        self.steps.iter().filter_map(|step| match step {
            Step::Field(field) => Some(field),
            _ => None,
        })
    }

    /// Returns the composite as a decimal, a floating-point decimal or a month-year, if it is one.
    fn as_single_value(&self) -> Option<Simple> {
        let fields: Vec<_> = self.fields().collect();
        if fields.len() != self.steps.len() || fields.iter().any(|field| field.since > 0) {
            return None;
        }
        let is_called = |names: &[&str]| fields.iter().map(|field| &field.name).eq(names);
        match fields[..] {
            [mantissa, exponent] if is_called(&["mantissa", "exponent"]) => {
                self.number(&mantissa.kind, exponent)
            }
            [year, month, day, week] if is_called(&["year", "month", "day", "week"]) => {
                let parts = [year, month, day, week];
                let sizes = [2, 1, 1, 1];
                let is_part = |(field, size): (&&Field<'_>, &u8)| {
                    let null = NumberKind::Unsigned(*size).default_null();
                    let kind = NumberKind::Unsigned(*size);
                    matches!(field.kind.meaning, ValueKind::Number(other) if other == kind)
                        && field.kind.null == Some(Null::new(null))
                };
                let meaning = ValueKind::MonthYear(parts.map(|part| part.offset));
                parts.iter().zip(&sizes).all(is_part).then(|| Simple::new(meaning, self.size, None))
            }
            _ => None,
        }
    }

    /// Returns the composite as one number, if the mantissa fits in an `i64` and the exponent in an
    /// `i8`.
    fn number(&self, mantissa: &Simple, exponent: &Field<'_>) -> Option<Simple> {
        let ValueKind::Number(kind @ (NumberKind::Signed(_) | NumberKind::Unsigned(1..=4))) =
            mantissa.meaning
        else {
            return None;
        };
        let meaning = match exponent.kind.meaning {
            ValueKind::Constant(exponent, bits) => {
                ValueKind::Decimal(kind, exponent.signed(bits).try_into().ok()?)
            }
            ValueKind::Number(NumberKind::Signed(1)) => ValueKind::Float(FloatLayout {
                mantissa: kind,
                exponent_offset: exponent.offset,
                null_exponent: exponent.kind.null.map(|null| null.bits),
            }),
            _ => return None,
        };
        Some(Simple::new(meaning, self.size, mantissa.null))
    }
}

/// The steps of a block under construction.
pub(super) struct BlockSteps<'x> {
    pub(super) name: &'x str,
    pub(super) since: u16,
    /// The end of the steps so far.
    pub(super) end: u16,
}

impl<'x> BlockSteps<'x> {
    /// Appends the steps of the field or member `element` and returns their end.
    pub(super) fn append(
        self,
        element: Element<'_, 'x>,
        kind: &Kind<'x>,
        steps: &mut Vec<Step<'x>>,
    ) -> Result<u16, SchemaError> {
        let Self { name, since, end } = self;
        let invalid = || element.invalid(format!("offset of {name}"));
        let mut offset = end;
        if kind.size() > 0 {
            offset = element.number_or("offset", end)?;
            if offset < end {
                return Err(invalid());
            }
        }
        let end = offset.checked_add(kind.size()).ok_or_else(invalid)?;
        match kind {
            Kind::Simple(kind) => {
                steps.push(Step::Field(Field { name, offset, since, kind: kind.clone() }));
            }
            Kind::Composite(composite) => {
                steps.push(Step::Composite(name));
                steps.extend(composite.steps.iter().cloned().map(|step| match step {
                    Step::Field(field) => Step::Field(Field {
                        // Below the end, which was checked.
                        offset: field.offset + offset,
                        since: field.since.max(since),
                        ..field
                    }),
                    other => other,
                }));
                steps.push(Step::EndComposite);
            }
        }
        if steps.len() > STEPS_MAX {
            return Err(element.unsupported(format!("more than {STEPS_MAX} values in a block")));
        }
        Ok(end)
    }
}
