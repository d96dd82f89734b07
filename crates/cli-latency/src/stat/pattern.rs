//! Patterns that select values by name.

use std::str::FromStr;

/// Part of a name; with `*` (any letters) or `?` (any one letter), a whole name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern(String);

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "" => Err("expected a part of a name, or a pattern such as feed.*".to_owned()),
            text => Ok(Self(text.to_owned())),
        }
    }
}

impl Pattern {
    /// Returns `true` if the name matches.
    pub(super) fn matches(&self, name: &str) -> bool {
        if self.0.contains(['*', '?']) {
            is_like(name.as_bytes(), self.0.as_bytes())
        } else {
            name.contains(&self.0)
        }
    }
}

/// Matches from the left; where a `*` has taken too little, it takes one letter more. Later stars
/// never return letters to earlier ones, so the time is at most the product of the lengths.
fn is_like(name: &[u8], pattern: &[u8]) -> bool {
    let (mut at, mut next) = (0, 0);
    let mut star = None;
    while at < name.len() {
        match pattern.get(next) {
            Some(b'*') => {
                star = Some((next, at));
                next += 1;
            }
            Some(&letter) if letter == b'?' || letter == name[at] => {
                at += 1;
                next += 1;
            }
            _ => {
                let Some((of_star, taken)) = star else { return false };
                star = Some((of_star, taken + 1));
                (next, at) = (of_star + 1, taken + 1);
            }
        }
    }
    pattern[next..].iter().all(|&letter| letter == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        pattern.parse::<Pattern>().unwrap().matches(name)
    }

    #[test]
    fn matches_word_anywhere_in_name() {
        assert!(matches("gaps", "feed.gaps"));
        assert!(matches("feed", "feed.gaps"));
        assert!(matches("d.g", "feed.gaps"));
        assert!(!matches("d?g", "feed.gaps"), "a pattern is all of a name");
        assert!(!matches("gapss", "feed.gaps"));
        assert!("".parse::<Pattern>().is_err());
    }

    #[test]
    fn matches_pattern_against_whole_name() {
        for (pattern, name, is_match) in [
            ("feed.*", "feed.gaps", true),
            ("feed.*", "a.feed.gaps", false),
            ("*.gaps", "feed.gaps", true),
            ("*.gap", "feed.gaps", false),
            ("trader.?.orders", "trader.1.orders", true),
            ("trader.?.orders", "trader.12.orders", false),
            ("trader.*.*s", "trader.12.late_orders", true),
            ("*a*b*c", "aabbabc", true),
            ("*a*b*c", "aabbab", false),
            ("*", "x", true),
            ("?", "xy", false),
            ("feed.gaps*", "feed.gaps", true),
            ("feed.gaps?", "feed.gaps", false),
        ] {
            assert_eq!(matches(pattern, name), is_match, "{pattern} of {name}");
        }
    }
}
