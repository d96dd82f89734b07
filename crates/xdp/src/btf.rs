//! What the running kernel says of its own functions (BTF), as far as one must be found by name.
//!
//! ```text
//! header   u16 magic 0xeb9f, u8 version 1, u8 flags, u32 its length,
//!          u32 offset and length of the types, u32 offset and length of the names; from its end
//! type     u32 offset of its name, u32 info (bits 24 to 28 the kind, 0 to 15 a count), u32 more,
//!          then what the kind has; the first has the number 1
//! ```
//! Source: Documentation/bpf/btf.rst.

use std::io;

/// Where the kernel shows it.
const FILE: &str = "/sys/kernel/btf/vmlinux";
const MAGIC: u16 = 0xeb9f;
const FUNCTION: u32 = 12;

/// Why a function is not found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BtfError {
    /// The kernel does not describe itself, or not to this process.
    #[error("{FILE}: {0}")]
    File(#[from] io::Error),
    /// It is described in a form that is not known.
    #[error("{FILE} is not understood")]
    Form,
    /// This kernel has no such function.
    #[error("this kernel has no {0}")]
    Missing(&'static str),
}

/// The number of a function's type.
pub(crate) fn function(name: &'static str) -> Result<i32, BtfError> {
    find(&std::fs::read(FILE)?, name)
}

fn find(bytes: &[u8], name: &'static str) -> Result<i32, BtfError> {
    if bytes.get(..2) != Some(&MAGIC.to_le_bytes()) || bytes.get(2) != Some(&1) {
        return Err(BtfError::Form);
    }
    let part = |field: usize| {
        let start = word(bytes, 4)?.checked_add(word(bytes, field)?)? as usize;
        bytes.get(start..start.checked_add(word(bytes, field + 4)? as usize)?)
    };
    let (types, names) = part(8).zip(part(16)).ok_or(BtfError::Form)?;
    let (mut at, mut number) = (0, 1);
    while at < types.len() {
        let (name_at, info) = word(types, at).zip(word(types, at + 4)).ok_or(BtfError::Form)?;
        let kind = info >> 24 & 0x1f;
        if kind == FUNCTION && is_name(names, name_at as usize, name) {
            return Ok(number);
        }
        at += 12 + trailer(kind, (info & 0xffff) as usize).ok_or(BtfError::Form)?;
        number += 1;
    }
    Err(BtfError::Missing(name))
}

/// Bytes behind the three words that every type has.
fn trailer(kind: u32, count: usize) -> Option<usize> {
    match kind {
        // Integer; variable; declaration tag.
        1 | 14 | 17 => Some(4),
        // Array.
        3 => Some(12),
        // Structure, union; data section; enumeration of 64 bits.
        4 | 5 | 15 | 19 => Some(12 * count),
        // Enumeration; prototype.
        6 | 13 => Some(8 * count),
        // Pointer, forward, typedef, three qualifiers, function, float, type tag.
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
    fn types_are_counted_from_one_past_whatever_they_have_behind() {
        assert_eq!(find(&small(), "f").unwrap(), 3);
        assert!(matches!(find(&small(), "g"), Err(BtfError::Missing("g"))));
        assert!(matches!(find(&small(), ""), Err(BtfError::Missing(""))));
    }

    #[test]
    fn what_is_cut_off_is_an_error_and_no_panic() {
        let whole = small();
        for length in 0..whole.len() {
            assert!(matches!(find(&whole[..length], "f"), Err(BtfError::Form)), "{length}");
        }
    }

    #[test]
    fn the_running_kernel_is_understood_to_the_end() {
        match function("a name that no function has") {
            Err(BtfError::Missing(_)) => {}
            Err(BtfError::File(reason)) => println!("skipped: {FILE}: {reason}"),
            other => panic!("{other:?}"),
        }
    }
}
