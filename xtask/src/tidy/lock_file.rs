//! The core's lock file has no runtime, no format of `data/` and no C library.

use std::path::Path;

use anyhow::{Context, Result};

use super::Finding;

/// The lock file of the core.
const LOCK_FILE: &str = "Cargo.lock";
/// Crates that only `data/` may have.
const OF_DATA: [&str; 7] = ["chrono", "dbn", "mio", "parquet", "tokio", "zstd", "zstd-safe"];
/// The beginning of their names.
const FAMILIES: [&str; 3] = ["arrow", "datafusion", "tokio-"];
/// Crates whose names end as those of C libraries, and that contain no C.
const WITHOUT_C: [&str; 4] = ["js-sys", "linux-raw-sys", "netlink-sys", "windows-sys"];

/// Checks the lock file of the core.
pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let text = std::fs::read_to_string(root.join(LOCK_FILE)).context("cannot read Cargo.lock")?;
    Ok(findings(&text))
}

fn findings(text: &str) -> Vec<Finding> {
    let name = |line: &str| Some(line.strip_prefix("name = \"")?.strip_suffix('"')?.to_owned());
    let names = text.lines().enumerate().filter_map(|(index, line)| Some((index, name(line)?)));
    names
        .filter_map(|(index, name)| {
            let what = violation(&name)?;
            Some(Finding::new(LOCK_FILE, index + 1, format!("{name}: {what}")))
        })
        .collect()
}

/// Returns the rule that a crate violates.
fn violation(name: &str) -> Option<&'static str> {
    if OF_DATA.contains(&name) || FAMILIES.iter().any(|family| name.starts_with(family)) {
        return Some("belongs in the workspace data/, not in the core");
    }
    let is_library = name.ends_with("-sys") && !WITHOUT_C.contains(&name);
    is_library.then_some("a C library does not belong in the core")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_runtimes_and_c_libraries_are_found() {
        let text = "[[package]]\nname = \"tokio\"\n\n[[package]]\nname = \"arrow-array\"\n\
                    \n[[package]]\nname = \"zstd-sys\"\n\n[[package]]\nname = \"netlink-sys\"\n";
        let lines: Vec<usize> = findings(text).iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [2, 5, 8]);
    }
}
