//! Text output of a book.

use alloc::string::ToString;
use core::fmt;

use crate::book::levels::Level;
use crate::{Book, Definition, Price9};

/// A book that prints with display prices of its definition.
#[derive(Debug, Clone, Copy)]
pub struct BookDisplay<'a> {
    book: Book<'a>,
    definition: &'a Definition,
}

impl<'a> Book<'a> {
    /// Returns the book with display prices for printing, one line per level, best first: `orders
    /// quantity price | price quantity orders`.
    #[must_use]
    pub const fn display(self, definition: &'a Definition) -> BookDisplay<'a> {
        BookDisplay { book: self, definition }
    }
}

impl fmt::Display for BookDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_rows(f, self.book, 14, |price| self.definition.display_price(price))
    }
}

/// Prints one line per level, best first: `orders quantity price | price quantity orders`. Prices
/// are as on the wire, without the display factor.
impl fmt::Display for Book<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_rows(f, *self, 18, Shown)
    }
}

/// A wire price that supports padding.
struct Shown(Price9);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.to_string())
    }
}

/// The width of the fields before a bid's price: orders, quantity and the spaces after them.
const BEFORE_PRICE: usize = 5 + 1 + 8 + 1;

/// Writes a book with prices padded to `width` characters.
fn write_rows<P: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    book: Book<'_>,
    width: usize,
    shown: impl Fn(Price9) -> P,
) -> fmt::Result {
    for row in 0..book.bids().len().max(book.asks().len()) {
        match book.bids().get(row) {
            Some(Level { price, quantity, orders }) => {
                write!(f, "{orders:>5} {quantity:>8} {:>width$} | ", shown(*price))?;
            }
            None => write!(f, "{:1$} | ", "", BEFORE_PRICE + width)?,
        }
        match book.asks().get(row) {
            Some(Level { price, quantity, orders }) => {
                writeln!(f, "{:<width$} {quantity:<8} {orders}", shown(*price))?;
            }
            None => writeln!(f)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::book_slot::DirectBookSlot;

    fn level(price: i64, quantity: u64, orders: u32) -> Level {
        Level { price: Price9(price), quantity, orders }
    }

    #[test]
    fn prints_display_prices() {
        let definition = Definition {
            main_fraction: Some(32),
            price_display_format: Some(3),
            ..Definition::undefined(7)
        };
        let mut slot = DirectBookSlot::EMPTY;
        slot.set_depth(10);
        let bids = [level(108_578_125_000, 12, 3), level(108_562_500_000, 5, 1)];
        slot.load(&bids, &[level(108_593_750_000, 7, 2)]);
        let shown = Book::new(&slot).display(&definition).to_string();
        let expected = "    3       12        108'185 | 108'190        7        2\n    \
                        1        5        108'180 | \n";
        assert_eq!(shown, expected);
    }
}
