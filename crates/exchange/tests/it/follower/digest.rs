//! The digest of a book, implemented from its documentation only.

use super::{Instrument, Level, Order};

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)
    })
}

fn levels(book: &Instrument, entry_types: [u8; 2]) -> u64 {
    let mut bytes = Vec::new();
    for entry_type in entry_types {
        for (number, &Level { price, quantity, orders }) in (1_u8..).zip(book.side(entry_type)) {
            bytes.extend([entry_type, number]);
            bytes.extend(price.to_le_bytes());
            bytes.extend(quantity.to_le_bytes());
            bytes.extend(orders.unwrap_or(0).to_le_bytes());
        }
    }
    fnv(&bytes)
}

/// Returns the digests of the book, the implied book and the orders.
pub(crate) fn digest(book: &Instrument) -> [u64; 3] {
    let mut bytes = Vec::new();
    for Order { entry_type, id, priority, price, quantity } in book.sorted_orders() {
        bytes.push(entry_type);
        bytes.extend(id.to_le_bytes());
        bytes.extend(priority.to_le_bytes());
        bytes.extend(price.to_le_bytes());
        bytes.extend(quantity.to_le_bytes());
    }
    [levels(book, *b"01"), levels(book, *b"EF"), fnv(&bytes)]
}
