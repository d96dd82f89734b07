//! Sets `HAIRPIN_COMMIT`, the commit of the build, for results files, and `HAIRPIN_LIBRARY`, the
//! path of the library that the program contains.
//!
//! The script reads git's files and runs no program, so a missing git or a source tree without a
//! repository is not an error. Cargo runs it again only when one of these files has changed.

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let library = library().expect("cargo gives a folder below that of the profile");
    println!("cargo::rustc-env=HAIRPIN_LIBRARY={}", library.display());
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

/// Returns the path that cargo builds the library `hairpin-preload` at. The library is a
/// dependency, so it is complete before the program is compiled. `cargo check` builds no libraries,
/// and finds an empty file.
fn library() -> Option<PathBuf> {
    let own = PathBuf::from(std::env::var_os("OUT_DIR")?);
    let library = own.ancestors().nth(3)?.join("deps/libhairpin_preload.so");
    // An error means that the file exists, or that the program's compilation will report it.
    let _ = fs::File::create_new(&library);
    Some(library)
}

/// Returns the git folder of this working tree; in a linked worktree the file `.git` names it. Only
/// the root of the workspace counts: sources unpacked within another repository have no commit.
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

/// Returns the commit of HEAD, directly or through the branch that it names.
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

/// Finds a name in `packed-refs`, whose lines are a hash, a space and a name.
fn packed(text: &str, name: &str) -> Option<String> {
    let of_name =
        |line: &str| line.split_once(' ').filter(|(_, it)| *it == name).map(|it| it.0.to_owned());
    hash(&text.lines().find_map(of_name)?)
}

/// Returns the text if it is a SHA-1 or SHA-256 hash in hexadecimal digits.
fn hash(text: &str) -> Option<String> {
    let text = text.trim();
    let is_hash = matches!(text.len(), 40 | 64) && text.bytes().all(|it| it.is_ascii_hexdigit());
    is_hash.then(|| text.to_owned())
}
