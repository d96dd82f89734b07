//! Tells the command which commit it is built from, where that is known: results files name it.
//!
//! It reads git's own files and runs no program, so that neither a missing git nor a source tree
//! without a repository is an error. Cargo runs it again when one of the files it read has changed,
//! and else not.

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let Some(folder) = folder() else { return };
    // Every commit, checkout or reset adds a line to the log of HEAD.
    for file in ["HEAD", "logs/HEAD"].map(|name| folder.join(name)) {
        if file.is_file() {
            println!("cargo::rerun-if-changed={}", file.display());
        }
    }
    if let Some(commit) = commit(&folder) {
        println!("cargo::rustc-env=HAIRPIN_COMMIT={commit}");
    }
}

/// Git's folder for this working tree; of a linked one the file `.git` names it. Only the root of
/// the workspace counts: sources unpacked within another repository are of none of its commits.
fn folder() -> Option<PathBuf> {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?);
    let named = here.ancestors().nth(2)?.join(".git");
    if named.is_dir() {
        return Some(named);
    }
    let text = fs::read_to_string(&named).ok()?;
    let folder = text.strip_prefix("gitdir:")?.trim();
    Some(named.parent()?.join(folder))
}

/// What HEAD is, by way of the branch it names.
fn commit(folder: &Path) -> Option<String> {
    let head = fs::read_to_string(folder.join("HEAD")).ok()?;
    let Some(name) = head.strip_prefix("ref:").map(str::trim) else { return hash(&head) };
    // Branches of a linked working tree lie in the folder of the main one.
    let common = fs::read_to_string(folder.join("commondir")).ok();
    let common = common.map_or_else(|| folder.to_path_buf(), |path| folder.join(path.trim()));
    let loose = [folder, &common].into_iter().find_map(|it| fs::read_to_string(it.join(name)).ok());
    match loose {
        Some(text) => hash(&text),
        None => packed(&fs::read_to_string(common.join("packed-refs")).ok()?, name),
    }
}

/// A line of `packed-refs` is a hash, a space and a name.
fn packed(text: &str, name: &str) -> Option<String> {
    let of_name =
        |line: &str| line.split_once(' ').filter(|(_, it)| *it == name).map(|it| it.0.to_owned());
    hash(&text.lines().find_map(of_name)?)
}

/// Hexadecimal digits of SHA-1 or SHA-256, and nothing else.
fn hash(text: &str) -> Option<String> {
    let text = text.trim();
    let is_hash = matches!(text.len(), 40 | 64) && text.bytes().all(|it| it.is_ascii_hexdigit());
    is_hash.then(|| text.to_owned())
}
