//! Finds a kernel function's type id in the running kernel's BTF.
//!
//! ```text
//! header   u16 magic 0xeb9f, u8 version 1, u8 flags, u32 header length,
//!          u32 offset and length of the types, u32 offset and length of the strings,
//!          both offsets from the end of the header
//! type     u32 name offset, u32 info (bits 24 to 28 kind, bits 0 to 15 count), u32 size or type,
//!          then kind-specific data; the first type has id 1
//! ```
//! Source: Documentation/bpf/btf.rst.

use std::io;

/// The kernel's BTF.
const FILE: &str = "/sys/kernel/btf/vmlinux";
const MAGIC: u16 = 0xeb9f;
const FUNCTION: u32 = 12;

/// The reason why a function is not found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BtfError {
    /// The kernel has no BTF, or this process cannot read it.
    #[error("cannot read {FILE}: {0}")]
    File(#[from] io::Error),
    /// The BTF is malformed or of an unknown version.
    #[error("cannot parse {FILE}: unknown format")]
    Format,
    /// The kernel has no such function.
    #[error("cannot find kernel function {0}: missing in {FILE}")]
    Missing(&'static str),
}

/// Returns the type id of a kernel function.
pub(crate) fn function_type_id(name: &'static str) -> Result<i32, BtfError> {
    find(&std::fs::read(FILE)?, name)
}

fn find(bytes: &[u8], name: &'static str) -> Result<i32, BtfError> {
    if bytes.get(..2) != Some(&MAGIC.to_le_bytes()) || bytes.get(2) != Some(&1) {
        return Err(BtfError::Format);
    }
    let part = |field: usize| {
        let start = word(bytes, 4)?.checked_add(word(bytes, field)?)? as usize;
        bytes.get(start..start.checked_add(word(bytes, field + 4)? as usize)?)
    };
    let (types, names) = part(8).zip(part(16)).ok_or(BtfError::Format)?;
    let (mut at, mut number) = (0, 1);
    while at < types.len() {
        let (name_at, info) = word(types, at).zip(word(types, at + 4)).ok_or(BtfError::Format)?;
        let kind = info >> 24 & 0x1f;
        if kind == FUNCTION && is_name(names, name_at as usize, name) {
            return Ok(number);
        }
        at += 12 + trailing_length(kind, (info & 0xffff) as usize).ok_or(BtfError::Format)?;
        number += 1;
    }
    Err(BtfError::Missing(name))
}

/// Returns the number of bytes after the three words that every type has.
fn trailing_length(kind: u32, count: usize) -> Option<usize> {
    match kind {
        // INT, VAR, DECL_TAG.
        1 | 14 | 17 => Some(4),
        // ARRAY.
        3 => Some(12),
        // STRUCT, UNION, DATASEC, ENUM64.
        4 | 5 | 15 | 19 => Some(12 * count),
        // ENUM, FUNC_PROTO.
        6 | 13 => Some(8 * count),
        // PTR, FWD, TYPEDEF, VOLATILE, CONST, RESTRICT, FUNC, FLOAT, TYPE_TAG.
        2 | 7..=12 | 16 | 18 => Some(0),
        _ => None,
    }
}

fn is_name(names: &[u8], at: usize, name: &str) -> bool {
    names
        .get(at..)
        .and_then(|rest| rest.strip_prefix(name.as_bytes()))
        .is_some_and(|rest| rest.first() == Some(&0))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An integer, a structure of one member, and the function `f`.
    fn small() -> Vec<u8> {
        let types: [u32; 15 - 1] = [
            0,
            1 << 24,
            4,
            32, // int
            0,
            4 << 24 | 1,
            4,
            0,
            1,
            0, // struct
            1,
            12 << 24,
            1, // func f
            0,
        ];
        let types = &types[..13];
        let names = b"\0f\0";
        let words = [24, 0, 52, 52, 3].map(u32::to_le_bytes).concat();
        let types: Vec<u8> = types.iter().flat_map(|word| word.to_le_bytes()).collect();
        [&[0x9f, 0xeb, 1, 0][..], &words, &types, names].concat()
    }

    #[test]
    fn type_ids_start_at_one_and_skip_trailing_data() {
        assert_eq!(find(&small(), "f").unwrap(), 3);
        assert!(matches!(find(&small(), "g"), Err(BtfError::Missing("g"))));
        assert!(matches!(find(&small(), ""), Err(BtfError::Missing(""))));
    }

    #[test]
    fn truncated_btf_is_an_error() {
        let whole = small();
        for length in 0..whole.len() {
            assert!(matches!(find(&whole[..length], "f"), Err(BtfError::Format)), "{length}");
        }
    }

    #[test]
    fn running_kernel_btf_is_parsed_to_the_end() {
        match function_type_id("a name that no function has") {
            Err(BtfError::Missing(_)) => {}
            Err(BtfError::File(reason)) => println!("skipped: {FILE}: {reason}"),
            other => panic!("{other:?}"),
        }
    }
}
