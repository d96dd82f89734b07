//! A book as people read it.

use core::fmt;

use crate::levels::Level;
use crate::{Book, Definition};

/// A book that prints, with prices as its instrument's definition shows them.
#[derive(Debug, Clone, Copy)]
pub struct BookDisplay<'a> {
    book: Book<'a>,
    definition: &'a Definition,
}

impl<'a> Book<'a> {
    /// The book with prices as people read them, one line a level, best on top: `orders quantity
    /// price | price quantity orders`.
    #[must_use]
    pub const fn display(self, definition: &'a Definition) -> BookDisplay<'a> {
        BookDisplay { book: self, definition }
    }
}

impl fmt::Display for BookDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bids, asks) = (self.book.bids(), self.book.asks());
        for row in 0..bids.len().max(asks.len()) {
            match bids.get(row) {
                Some(Level { price, quantity, orders }) => {
                    let price = self.definition.display_price(*price);
                    write!(f, "{orders:>5} {quantity:>8} {price:>14} | ")?;
                }
                None => write!(f, "{:>29} | ", "")?,
            }
            match asks.get(row) {
                Some(Level { price, quantity, orders }) => {
                    let price = self.definition.display_price(*price);
                    writeln!(f, "{price:<14} {quantity:<8} {orders}")?;
                }
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Price9;
    use crate::cell::DirectCell;
    use alloc::string::ToString;

    fn level(price: i64, quantity: u64, orders: u32) -> Level {
        Level { price: Price9(price), quantity, orders }
    }

    #[test]
    fn a_book_is_shown_with_prices_of_its_definition() {
        let definition = Definition {
            main_fraction: Some(32),
            price_display_format: Some(3),
            ..Definition::none(7)
        };
        let mut cell = DirectCell::VACANT;
        cell.set_depth(10);
        let bids = [level(108_578_125_000, 12, 3), level(108_562_500_000, 5, 1)];
        cell.load(&bids, &[level(108_593_750_000, 7, 2)]);
        let shown = Book::new(&cell).display(&definition).to_string();
        let expected = "    3       12        108'185 | 108'190        7        2\n    \
                        1        5        108'180 | \n";
        assert_eq!(shown, expected);
    }
}
