//! Books in callbacks: levels from the best on.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support;

use hairpin::prelude::*;
use support::Venue;

#[derive(Default)]
struct Levels {
    books: u64,
}

impl Strategy for Levels {
    fn on_book(&mut self, book: &BookEvent<'_>, ctx: &mut Context<'_>) {
        self.books += 1;
        assert_eq!(ctx.symbol(book.security_id()), book.symbol());
        assert_eq!(book.level(Side::Buy, 0), book.best_bid());
        assert_eq!(book.level(Side::Sell, 0), book.best_ask());
        let prices = |side| (0..usize::MAX).map_while(move |it| Some(book.level(side, it)?.price));
        assert!(prices(Side::Buy).is_sorted_by(|a, b| a > b));
        assert!(prices(Side::Sell).is_sorted_by(|a, b| a < b));
        assert_eq!(prices(Side::Buy).count(), 10, "a full book");
        assert_eq!(book.level(Side::Buy, usize::MAX), None);
    }
}

#[test]
fn level_zero_is_the_best() {
    let mut venue = Venue::open("in_memory = true");
    let mut feed = Feed::open(venue.folder.path().join("config.xml"), 310).unwrap();
    let mut levels = Levels::default();
    while levels.books < 20 {
        venue.step();
        feed.turn(&mut levels).unwrap();
        if feed.is_ready() {
            venue.tick();
        }
    }
}
