//! `cargo xtask codegen`: writes the codecs from the schemas; with `--check` only compares.

use anyhow::{Context, Result, bail};
use hairpin_sbe::generate::{self, File};
use hairpin_sbe::schema::Schema;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The arguments of `codegen`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write nothing; fail if a committed file differs from the generated one
    #[arg(long)]
    check: bool,
}

/// Each schema file and the module generated from it.
const MODULES: [(&str, &str); 2] =
    [("schemas/mdp3-v13.xml", "mdp3"), ("schemas/ilink3-v9.xml", "ilink3")];

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("cannot find the workspace root")?;
    let codecs = root.join("crates/cme-codecs");
    let mut stale = Vec::new();
    for (source, module) in MODULES {
        let text = fs::read_to_string(root.join(source)).with_context(|| source.to_owned())?;
        let schema = Schema::parse(&text).with_context(|| source.to_owned())?;
        let files = generate::generate(&schema, source).with_context(|| source.to_owned())?;
        let folder = codecs.join("src").join(module);
        stale.extend(differences(&folder, &files)?);
        if !arguments.check {
            write(&folder, &files)?;
        }
    }
    for path in &stale {
        let path = path.strip_prefix(root).unwrap_or(path).display();
        println!("{} {path}", if arguments.check { "differs:" } else { "written:" });
    }
    if arguments.check && !stale.is_empty() {
        bail!("generated code differs from the schemas: run `cargo xtask codegen`");
    }
    Ok(())
}

/// Returns the files that differ from the generated ones, are missing, or are not generated.
fn differences(folder: &Path, files: &[File]) -> Result<Vec<PathBuf>> {
    let mut paths: Vec<_> = files.iter().filter_map(|file| differing(folder, file)).collect();
    paths.extend(unknown_files(folder, files)?);
    Ok(paths)
}

/// Returns the path of a file that differs from the generated one.
fn differing(folder: &Path, file: &File) -> Option<PathBuf> {
    let path = folder.join(&file.name);
    let is_same = fs::read(&path).is_ok_and(|bytes| bytes == file.text.as_bytes());
    (!is_same).then_some(path)
}

/// Returns the files in the folder that are not among `files`.
fn unknown_files(folder: &Path, files: &[File]) -> Result<Vec<PathBuf>> {
    let names: BTreeSet<_> = files.iter().map(|file| file.name.as_str()).collect();
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let is_known = path
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| names.contains(name));
        if !is_known {
            paths.push(path);
        }
    }
    Ok(paths)
}

fn write(folder: &Path, files: &[File]) -> Result<()> {
    fs::create_dir_all(folder)?;
    for file in files {
        fs::write(folder.join(&file.name), &file.text)?;
    }
    for path in unknown_files(folder, files)? {
        fs::remove_file(path)?;
    }
    Ok(())
}
