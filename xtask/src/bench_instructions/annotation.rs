//! The output of `callgrind_annotate`: a total, and the share of each function.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

/// The instructions of one function in one source file. Code inlined from another file is a share
/// of
/// its own.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// The source of the code: crate and file, or the library.
    pub(super) source: String,
    /// The function that contains the code after inlining.
    pub(super) function: String,
    /// Tenths of instructions per event.
    pub(super) tenths: u64,
}

/// Parses the total, and the shares of at least half an instruction per event, largest first.
pub(super) fn read(text: &str, events: u64) -> Result<(u64, Vec<Share>)> {
    let mut lines = text.lines().filter_map(line);
    let total = lines
        .find(|(_, what)| *what == "PROGRAM TOTALS")
        .context("cannot read the output of callgrind_annotate: no total")?
        .0;
    let mut sums = BTreeMap::new();
    for (count, what) in lines {
        *sums.entry(place(what)).or_insert(0) += count;
    }
    let share = |((source, function), count): (_, u64)| {
        let tenths = (count * 10 + events / 2) / events;
        Share { source, function, tenths }
    };
    let mut shares: Vec<_> = sums.into_iter().map(share).filter(|it| it.tenths >= 5).collect();
    shares.sort_by_key(|share| std::cmp::Reverse(share.tenths));
    Ok((total, shares))
}

/// Parses a line such as `1,234  path/file.rs:function [object]`.
fn line(text: &str) -> Option<(u64, &str)> {
    let (count, what) = text.trim_start().split_once(' ')?;
    let count = count.replace(',', "").parse().ok()?;
    Some((count, what.trim()))
}

/// Returns source and function, without the parts that differ between machines.
fn place(what: &str) -> (String, String) {
    let what = what.split(" [").next().unwrap_or(what);
    let (file, function) = what.split_once(':').unwrap_or(("", what));
    let parts: Vec<&str> = file.split('/').collect();
    let root = parts.iter().rposition(|part| ["crates", "library"].contains(part));
    let first = root.map_or(parts.len() - 1, |root| root + 1);
    // A closure counts as part of the function around it.
    let last = function.trim_end_matches("::{{closure}}").rsplit("::").next();
    (parts[first..].join("/"), last.unwrap_or(function).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_identified_by_source_and_function() {
        let text = "\
Profile data file 'x.out' (creator: callgrind-3.19.0)
--------------------------------------------------------------------------------
Ir
--------------------------------------------------------------------------------
10,400  PROGRAM TOTALS

--------------------------------------------------------------------------------
Ir      file:function
--------------------------------------------------------------------------------
 9,000  /build/crates/mdp3/src/book.rs:hot_path::measured_packets [/build/hot_path]
 1,000  ./string/memmove.S:__memmove_avx [/usr/lib/libc.so.6]
   350  /build/crates/mdp3/src/book.rs:hot_path::measured_packets [/build/other]
    40  /build/crates/mdp3/src/levels.rs:hot_path::measured_packets [/build/hot_path]
";
        let (total, shares) = read(text, 100).expect("an output of callgrind_annotate");
        assert_eq!(total, 10_400);
        let share = |source: &str, function: &str, tenths| Share {
            source: source.to_owned(),
            function: function.to_owned(),
            tenths,
        };
        let expected = [
            share("mdp3/src/book.rs", "measured_packets", 935),
            share("memmove.S", "__memmove_avx", 100),
        ];
        assert_eq!(shares, expected);
    }

    #[test]
    fn closures_are_part_of_their_function() {
        let source_and_function = place("library/core/a.rs:<b::C<_> as d::E>::f::{{closure}} [g]");
        assert_eq!(source_and_function, ("core/a.rs".to_owned(), "f".to_owned()));
    }

    #[test]
    fn rejects_output_without_a_total() {
        assert!(read("no counts", 1).is_err());
    }
}
