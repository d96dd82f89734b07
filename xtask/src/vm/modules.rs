//! The modules that a guest loads: those that the tests need, after those that they depend on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

/// A module's name and its uncompressed bytes.
pub(super) struct Module {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// Reads modules and their dependencies below a folder, in an order in which they can be loaded. A
/// kernel that has no module of a name is assumed to contain it.
pub(super) fn read(folder: &Path, names: &[&str]) -> Result<Vec<Module>> {
    let mut files = BTreeMap::new();
    find(folder, &mut files)?;
    let mut reader = Reader { files, seen: BTreeSet::new(), modules: Vec::new() };
    for name in names {
        reader.add(name)?;
    }
    Ok(reader.modules)
}

struct Reader {
    files: BTreeMap<String, PathBuf>,
    seen: BTreeSet<String>,
    modules: Vec<Module>,
}

impl Reader {
    fn add(&mut self, name: &str) -> Result<()> {
        let name = name.replace('-', "_");
        let Some(path) = self.files.get(&name) else { return Ok(()) };
        if !self.seen.insert(name.clone()) {
            return Ok(());
        }
        let bytes = uncompressed(path)?;
        for dependency in dependencies(&bytes) {
            self.add(&dependency)?;
        }
        self.modules.push(Module { name, bytes });
        Ok(())
    }
}

/// Finds the files of modules: `igb.ko`, `igb.ko.xz`.
fn find(folder: &Path, files: &mut BTreeMap<String, PathBuf>) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            find(&path, files)?;
        } else if let Some((name, _)) = entry.file_name().to_string_lossy().split_once(".ko") {
            files.insert(name.replace('-', "_"), path);
        }
    }
    Ok(())
}

fn uncompressed(path: &Path) -> Result<Vec<u8>> {
    let program = match path.extension().and_then(|it| it.to_str()) {
        Some("ko") => return Ok(fs::read(path)?),
        Some("xz") => "xz",
        Some("zst") => "zstd",
        Some("gz") => "gzip",
        _ => bail!("cannot uncompress {}: unknown format", path.display()),
    };
    let output = Command::new(program).arg("-dc").arg(path).output();
    let output = output.with_context(|| format!("cannot run {program}"))?;
    ensure!(output.status.success(), "{program} cannot uncompress {}", path.display());
    Ok(output.stdout)
}

/// Reads the field `depends` of a module's section `.modinfo`, whose strings end with a zero byte.
fn dependencies(bytes: &[u8]) -> Vec<String> {
    const FIELD: &[u8] = b"\0depends=";
    let Some(at) = bytes.windows(FIELD.len()).position(|window| window == FIELD) else {
        return Vec::new();
    };
    let value = bytes[at + FIELD.len()..].split(|byte| *byte == 0).next().unwrap_or_default();
    let value = String::from_utf8_lossy(value);
    value.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_dependencies_first() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, depends: &str| {
            let bytes = format!("ELF\0softdep=pre: x\0depends={depends}\0name=y\0");
            fs::write(folder.path().join(name), bytes).unwrap();
        };
        write("igb.ko", "dca,i2c-algo-bit");
        write("dca.ko", "");
        write("i2c-algo-bit.ko", "dca");
        let modules = read(folder.path(), &["igb", "dca", "built_in"]).unwrap();
        let names: Vec<&str> = modules.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["dca", "i2c_algo_bit", "igb"]);
    }
}
