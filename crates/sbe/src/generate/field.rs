//! Generates a field's getter, setter and constant, one line each.

use super::types::integer;
use super::{Context, GenerateError, constant_case, since, snake_case};
use crate::schema::{Encoding, Field, Presence, Primitive, Type};
use alloc::format;
use alloc::string::{String, ToString};

/// The parts of a field's getter and setter.
pub(super) struct Accessor {
    /// The return type of the getter.
    pub(super) returns: String,
    /// The getter's expression; `{b}` stands for the block.
    get: String,
    /// The argument type of the setter.
    takes: String,
    /// The setter's statement; `{b}` stands for the block.
    set: String,
}

impl Accessor {
    /// Determines how to read and write a field that is not constant.
    pub(super) fn new(
        context: &Context<'_>,
        field: &Field,
        block_since: u16,
    ) -> Result<Self, GenerateError> {
        let kind = &context.schema.types[&field.kind];
        let is_nullable = is_nullable(kind, field, block_since);
        if is_nullable && !has_greatest_null(kind) {
            let (name, field) = (kind.name.clone(), field.name.clone());
            return Err(GenerateError { name, field });
        }
        let at = field.offset;
        let plain = |returns: &str, get: String, set: String| Self {
            returns: returns.into(),
            takes: returns.into(),
            get,
            set,
        };
        let optional = |inner: &str, get: String, set: String| Self {
            returns: format!("Option<{inner}>"),
            takes: format!("impl Into<Option<{inner}>>"),
            get,
            set,
        };
        Ok(match &kind.encoding {
            Encoding::Scalar(primitive) => scalar(*primitive, at, is_nullable, None),
            Encoding::Enumeration(primitive, _) => {
                scalar(*primitive, at, is_nullable, Some(&kind.name))
            }
            Encoding::Set(primitive, _) => scalar(*primitive, at, false, Some(&kind.name)),
            Encoding::Decimal(Primitive::Int32, exponent) => optional(
                &context.decimals[exponent],
                format!("{{b}}.decimal32::<{exponent}, {at}>()"),
                format!("{{b}}.store_decimal32::<{exponent}, {at}>(value.into())"),
            ),
            Encoding::Decimal(_, exponent) if is_nullable => optional(
                &context.decimals[exponent],
                format!("{{b}}.nullable::<i64, {at}>(i64::MAX).map(Decimal)"),
                format!("{{b}}.store::<i64, {at}>(value.into().map_or(i64::MAX, |v| v.0))"),
            ),
            Encoding::Decimal(_, exponent) => plain(
                &context.decimals[exponent],
                format!("Decimal({{b}}.load::<i64, {at}>())"),
                format!("{{b}}.store::<i64, {at}>(value.0)"),
            ),
            Encoding::Float(primitive) => {
                let (bits, exponent) = (primitive.size() * 8, at + primitive.size());
                optional(
                    "Float",
                    format!("{{b}}.float{bits}::<{at}, {exponent}>()"),
                    format!("{{b}}.store_float{bits}::<{at}, {exponent}>(value.into())"),
                )
            }
            Encoding::MonthYear => plain(
                "MonthYear",
                format!("{{b}}.month_year::<{at}>()"),
                format!("{{b}}.store_month_year::<{at}>(value)"),
            ),
            Encoding::Text => Self {
                returns: "CharArray<'a>".into(),
                takes: "impl AsRef<[u8]>".into(),
                get: format!("{{b}}.chars::<{at}, {}>()", kind.size),
                set: format!("{{b}}.store_chars::<{at}, {}>(value.as_ref())", kind.size),
            },
        })
    }

    /// Returns the getter with its doc comment, reading from `block`.
    pub(super) fn getter(&self, field: &Field, size: u16, block: &str) -> String {
        let Field { name, tag, offset, .. } = field;
        let get = self.get.replace("{b}", block);
        format!(
            "    /// {name} (tag {tag}), bytes {offset}..{}{}.\n    \
             #[inline] pub fn {}(&self) -> {} {{ {get} }}\n",
            offset + size,
            since(field.since),
            snake_case(name),
            self.returns
        )
    }

    /// Returns the setter with its doc comment, writing to `self.0`.
    pub(super) fn setter(&self, field: &Field) -> String {
        let set = self.set.replace("{b}", "self.0");
        format!(
            "    /** Writes {}. */ #[inline] pub fn set_{}(&mut self, value: {}) -> &mut Self \
             {{ {set}; self }}\n",
            field.name,
            snake_case(&field.name),
            self.takes
        )
    }
}

/// Creates the accessor of an integer, plain or in the newtype `wrapper`.
fn scalar(primitive: Primitive, at: u16, is_nullable: bool, wrapper: Option<&str>) -> Accessor {
    let integer = integer(primitive);
    let kind = wrapper.unwrap_or(integer);
    let map = wrapper.map_or(String::new(), |wrapper| format!(".map({wrapper})"));
    if is_nullable {
        let is_char = primitive == Primitive::Char;
        let null = if is_char { "0".to_string() } else { format!("{integer}::MAX") };
        let value = match wrapper {
            Some(_) => format!("value.into().map_or({null}, |v| v.0)"),
            None => format!("value.into().unwrap_or({null})"),
        };
        return Accessor {
            returns: format!("Option<{kind}>"),
            takes: format!("impl Into<Option<{kind}>>"),
            get: match is_char {
                true => format!("{{b}}.nullable_char::<{at}>(){map}"),
                false => format!("{{b}}.nullable::<{integer}, {at}>({null}){map}"),
            },
            set: format!("{{b}}.store::<{integer}, {at}>({value})"),
        };
    }
    let load = format!("{{b}}.load::<{integer}, {at}>()");
    let value = if wrapper.is_some() { "value.0" } else { "value" };
    Accessor {
        returns: kind.into(),
        takes: kind.into(),
        get: wrapper.map_or(load.clone(), |wrapper| format!("{wrapper}({load})")),
        set: format!("{{b}}.store::<{integer}, {at}>({value})"),
    }
}

/// Returns `true` if the getter returns an `Option`: the type has a null, or the field is newer
/// than its message and may be absent.
fn is_nullable(kind: &Type, field: &Field, block_since: u16) -> bool {
    match kind.encoding {
        Encoding::Text | Encoding::Set(..) | Encoding::MonthYear => false,
        _ => kind.presence == Presence::Optional || field.since > block_since,
    }
}

/// Returns `true` if a type's null, if any, is its integer's maximum (0 for a character). Generated
/// code compares with this value.
fn has_greatest_null(kind: &Type) -> bool {
    let null = kind.value.as_slice();
    null.is_empty()
        || match kind.encoding {
            Encoding::Scalar(primitive)
            | Encoding::Enumeration(primitive, _)
            | Encoding::Decimal(primitive, _) => null == primitive.implied_null(),
            Encoding::Float(primitive) => {
                null.split_at_checked(usize::from(primitive.size()))
                    == Some((primitive.implied_null(), Primitive::Int8.implied_null()))
            }
            _ => true,
        }
}

/// Returns the associated constant of a constant field, with its doc comment.
pub(super) fn constant(kind: &Type, field: &Field) -> String {
    let (integer, value) = match kind.encoding {
        Encoding::Scalar(Primitive::Char) => ("u8", format!("b'{}'", kind.value.escape_ascii())),
        Encoding::Scalar(primitive) => {
            (integer(primitive), primitive.read(&kind.value).to_string())
        }
        _ => ("&'static str", format!("\"{}\"", kind.value.escape_ascii())),
    };
    let Field { name, tag, .. } = field;
    format!(
        "    /// {name} (tag {tag}), constant{}.\n    pub const {}: {integer} = {value};\n",
        since(field.since),
        constant_case(name)
    )
}
