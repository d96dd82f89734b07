//! Writes a capture for the tests in Python: `market FILE INSTRUMENTS EVENTS [LOST-EVENT]`.

#[path = "../tests/it/market.rs"]
mod market;

use std::path::Path;

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [path, instruments, events, rest @ ..] = &words[..] else {
        return Err(std::io::Error::other("usage: market FILE INSTRUMENTS EVENTS [LOST-EVENT]"));
    };
    let number = |word: &String| word.parse::<u32>().map_err(std::io::Error::other);
    let settings = market::Market {
        instruments: number(instruments)?,
        events: number(events)?,
        lost: rest.first().map(number).transpose()?,
        ..market::Market::SMALL
    };
    market::write(Path::new(path), &settings)
}
