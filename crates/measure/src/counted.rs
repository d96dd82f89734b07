//! Counts with their nouns.

/// Returns a count with its noun, which is given in the singular: `1 packet`, `2 entries`.
#[must_use]
pub fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count: u64 = count.try_into().unwrap_or(u64::MAX);
    let (stem, ending) = match noun.strip_suffix('y') {
        _ if count == 1 => (noun, ""),
        Some(stem) => (stem, "ies"),
        None if noun.ends_with('s') => (noun, "es"),
        None => (noun, "s"),
    };
    format!("{count} {stem}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        let all = |noun| [0, 1, 2].map(|count| counted(count, noun)).join(", ");
        assert_eq!(all("packet"), "0 packets, 1 packet, 2 packets");
        assert_eq!(all("process"), "0 processes, 1 process, 2 processes");
        assert_eq!(all("entry"), "0 entries, 1 entry, 2 entries");
    }
}
