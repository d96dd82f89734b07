//! Location of CME's schema files and packets, if available.

use std::path::PathBuf;

/// Returns the path of a file in the shared data. Prints a notice and returns `None` if the folder
/// does not exist.
pub(crate) fn shared(file: &str) -> Option<PathBuf> {
    let folder = match std::env::var_os("HAIRPIN_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
    };
    if !folder.is_dir() {
        let is_required = std::env::var_os("HAIRPIN_DATA_REQUIRED").is_some();
        assert!(!is_required, "no real data at {}", folder.display());
        println!("skipped: no real data at {}", folder.display());
        return None;
    }
    let path = folder.join(file);
    assert!(path.is_file(), "{} is missing", path.display());
    Some(path)
}
