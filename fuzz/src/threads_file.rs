//! The file of `--threads`: the cores that threads are pinned to.
//!
//! Checks:
//!
//! - No text makes the reader panic, and every error is one line that begins with its place.
//! - What was read, written and read again is unchanged.
//!
//! Input: the text.

use hairpin_cli_harness::cores::{Cores, parse};

use crate::Seed;

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    match parse(text) {
        Ok(cores) => {
            let Cores { exchange, trader } = cores;
            let line = |name: &str, core: Option<usize>| {
                core.map_or_else(String::new, |core| format!("{name} = {core}\n"))
            };
            let (exchange, trader) = (line("exchange", exchange), line("trader", trader));
            assert_eq!(parse(&format!("[threads]\n{exchange}{trader}")), Ok(cores));
        }
        Err(error) => {
            assert!(error.starts_with("line ") && !error.contains(['\n', '\r']), "{error}");
        }
    }
}

/// Returns valid files, and some that are not.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let texts = [
        ("both", "[threads]\nexchange = 2\ntrader = 3\n"),
        ("inline", "threads = { trader = 0 }"),
        ("none", "[threads]"),
        ("unknown", "[threads]\nfeed = 1"),
        ("negative", "[threads]\n\ntrader = -1"),
        ("text", "# cores\nthreads = \"0,1\""),
    ];
    texts.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())).into()
}
