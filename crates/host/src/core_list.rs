//! Lists of cores as the kernel writes them: `0-3,8`.

/// Parses a list of cores such as `0-3,8`. Words that are not cores are skipped.
#[must_use]
pub fn parse_cores(text: &str) -> Vec<usize> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    };
    text.split(',').filter_map(range).flatten().collect()
}

/// Formats cores in ascending order as the kernel does: `0-3,8`.
#[must_use]
pub fn format_cores(cores: &[usize]) -> String {
    let ranges = cores.chunk_by(|before, after| before + 1 == *after);
    let ranges: Vec<String> = ranges
        .map(|range| match range {
            [first, .., last] => format!("{first}-{last}"),
            _ => range.iter().map(usize::to_string).collect(),
        })
        .collect();
    ranges.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_lists_are_parsed_and_formatted() {
        for (text, cores) in [("0-3,8", vec![0, 1, 2, 3, 8]), ("", vec![]), ("5", vec![5])] {
            assert_eq!(parse_cores(text), cores);
            assert_eq!(format_cores(&cores), text);
        }
        assert_eq!(parse_cores("managed_irq,domain,2-3"), [2, 3]);
    }
}
