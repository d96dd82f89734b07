//! Writes the seed corpora into a folder, with one subfolder per target.

use std::path::PathBuf;
use std::{fs, io};

fn main() -> io::Result<()> {
    let into = std::env::args_os().nth(1).map_or_else(|| "corpus".into(), PathBuf::from);
    for target in hairpin_fuzz::TARGETS {
        let folder = into.join(target.name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        for (name, bytes) in (target.seeds)() {
            fs::write(folder.join(name), bytes)?;
        }
    }
    Ok(())
}
