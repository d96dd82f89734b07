//! Links between Markdown pages: each target exists, and the index reaches each page of `docs/`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::Finding;
use super::source::Source;

/// The page from which every page of `docs/` is reachable.
const INDEX: &str = "docs/README.md";

/// Checks the links of every Markdown page.
pub(super) fn check(root: &Path, sources: &[Source]) -> Vec<Finding> {
    let pages = sources.iter().filter(|source| source.path.ends_with(".md"));
    let mut findings = Vec::new();
    let mut links = BTreeMap::new();
    for page in pages {
        let targets = targets(page);
        for (line, target) in &targets {
            if !root.join(target).exists() {
                findings.push(Finding::new(
                    &page.path,
                    *line,
                    format!("links to nothing: {target}"),
                ));
            }
        }
        links.insert(page.path.as_str(), targets);
    }
    findings.extend(unreachable(&links));
    findings
}

/// Returns a finding for each page of `docs/` that no chain of links from the index reaches.
fn unreachable(links: &BTreeMap<&str, Vec<(usize, String)>>) -> Vec<Finding> {
    let mut reached = BTreeSet::from([INDEX.to_string()]);
    let mut unvisited = vec![INDEX.to_string()];
    while let Some(page) = unvisited.pop() {
        for (_, target) in links.get(page.as_str()).into_iter().flatten() {
            if reached.insert(target.clone()) {
                unvisited.push(target.clone());
            }
        }
    }
    let pages = links.keys().filter(|page| page.starts_with("docs/") && !reached.contains(**page));
    pages.map(|page| Finding::new(page, 0, format!("no link from {INDEX} leads here"))).collect()
}

/// Returns the line and the path, relative to the root, of each link to a file.
fn targets(page: &Source) -> Vec<(usize, String)> {
    let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut targets = Vec::new();
    let mut is_code = false;
    for (number, line) in page.lines() {
        is_code ^= line.trim_start().starts_with("```");
        if is_code {
            continue;
        }
        for rest in line.split("](").skip(1) {
            let target = rest.split([')', '#', ' ']).next().unwrap_or("");
            if !target.is_empty() && !target.contains("://") {
                targets.push((number, join(folder, target)));
            }
        }
    }
    targets
}

/// Joins a folder and a relative path, without `.` and `..`.
fn join(folder: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(path: &str, text: &str) -> Source {
        Source { path: path.to_string(), text: text.to_string() }
    }

    fn findings(pages: &[Source]) -> Vec<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the root");
        check(root, pages).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn finds_links_to_missing_files_but_not_in_code() {
        let text = "[a](missing.md#part) [b](https://example.org)\n```\n[c](missing.md)\n```\n";
        assert_eq!(
            findings(&[page("docs/README.md", text)]),
            ["docs/README.md:1: links to nothing: docs/missing.md"]
        );
    }

    #[test]
    fn finds_pages_that_the_index_does_not_reach() {
        let pages = [
            page("docs/README.md", "[guide](guide/ping.md)"),
            page("docs/guide/ping.md", "[results](../results/fuzzing.md)"),
            page("docs/results/fuzzing.md", ""),
            page("docs/design/journal.md", ""),
        ];
        let expected = ["docs/design/journal.md: no link from docs/README.md leads here"];
        assert_eq!(findings(&pages), expected);
    }
}
