//! The initial RAM file system of a guest: the script that runs the tests, the programs with their
//! libraries, and the kernel's modules.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use clap::ValueEnum;

use super::apt::{Apt, Distribution};
use super::archive::Archive;
use super::cell::{Cell, Device, Driver, Test};
use super::guest::mac;
use super::modules;
use super::tools;
use crate::shell::read;

const INIT: &str = include_str!("init.sh");
/// Commands of `hairpin order`.
const ORDERS: &str = include_str!("order.script");
/// The modules that no driver or device names: sockets of AF_XDP and packets, where they are
/// modules.
const MODULES: [&str; 3] = ["xsk_diag", "af_packet", "crc32c_generic"];

/// The programs of every guest.
pub(super) struct Programs {
    /// The paths in the guest and on this machine.
    files: Vec<(String, PathBuf)>,
}

impl Programs {
    /// Finds the programs and their libraries. `hairpin` has the preload library next to it, and
    /// examples of crates in the folder `examples`.
    pub(super) fn find(hairpin: &Path, cells: &[Cell], folder: &Path) -> Result<Self> {
        let preload = hairpin.with_file_name("libhairpin_preload.so");
        let mut files = vec![
            ("bin/hairpin".to_owned(), hairpin.to_owned()),
            ("bin/libhairpin_preload.so".to_owned(), preload),
        ];
        for example in examples(cells) {
            files
                .push((format!("bin/{example}"), hairpin.with_file_name("examples").join(example)));
        }
        for program in tools::of_cells(cells) {
            files.push((format!("bin/{program}"), tools::path(program)?));
        }
        let mut libraries = BTreeSet::new();
        for (_, path) in &files {
            libraries.extend(libraries_of(&read(Command::new("ldd").arg(path))?));
        }
        files.extend(libraries.into_iter().map(|path| (path.clone(), path.into())));
        files.push(("bin/busybox".to_owned(), busybox(folder)?));
        Ok(Self { files })
    }

    /// Writes the file system for the cells to a file.
    pub(super) fn write(&self, modules: &Path, cells: &[Cell], path: &Path) -> Result<()> {
        let out =
            File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
        let mut archive = Archive::new(BufWriter::new(out))?;
        archive.file("init", INIT.as_bytes())?;
        archive.file("vm/plan", plan(cells).as_bytes())?;
        archive.file("vm/order.script", ORDERS.as_bytes())?;
        for (name, path) in &self.files {
            let bytes =
                fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
            archive.file(name, &bytes)?;
        }
        let mut order = String::new();
        for module in modules::read(modules, &module_names(cells))? {
            archive.file(&format!("vm/modules/{}.ko", module.name), &module.bytes)?;
            writeln!(order, "{}", module.name)?;
        }
        archive.file("vm/modules/order", order.as_bytes())?;
        archive.finish()?;
        Ok(())
    }
}

/// Returns the examples that the cells run.
pub(super) fn examples(cells: &[Cell]) -> BTreeSet<&'static str> {
    cells.iter().filter_map(|cell| cell.test.example()).collect()
}

/// Lists the network cards and the cells, one per line.
fn plan(cells: &[Cell]) -> String {
    let mut plan = String::new();
    for driver in Driver::value_variants() {
        let (a, b) = (mac(*driver, 0), mac(*driver, 1));
        let _ = writeln!(plan, "nic {} {a} {b}", super::cell::name_of(*driver));
    }
    for cell in cells {
        let _ = writeln!(plan, "cell {cell}");
    }
    plan
}

fn module_names(cells: &[Cell]) -> Vec<&'static str> {
    let drivers: BTreeSet<Driver> = cells.iter().map(|cell| cell.driver).collect();
    let devices: BTreeSet<Device> = cells.iter().map(|cell| cell.device).collect();
    let tests: BTreeSet<Test> = cells.iter().map(|cell| cell.test).collect();
    let drivers = drivers.into_iter().flat_map(Driver::modules);
    let devices = devices.into_iter().flat_map(Device::modules);
    let tests = tests.into_iter().flat_map(Test::modules);
    MODULES.iter().chain(drivers).chain(devices).chain(tests).copied().collect()
}

/// Reads the paths of the output of ldd.
fn libraries_of(output: &str) -> Vec<String> {
    let words = output.split_whitespace();
    words.filter(|word| word.starts_with('/') && !word.ends_with(':')).map(str::to_owned).collect()
}

/// Returns the path of a busybox that needs no library. Downloads it once.
fn busybox(folder: &Path) -> Result<PathBuf> {
    let home = folder.join("busybox");
    if !home.exists() {
        println!("vm: downloading busybox-static from Debian bookworm");
        let suites = &["bookworm"];
        let apt = Apt::update(&folder.join("apt/bookworm"), Distribution::Debian, suites)?;
        apt.unpack_once(&["busybox-static".to_owned()], &home)?;
    }
    Ok(home.join("bin/busybox"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_output_of_ldd() {
        let output = "\tlinux-vdso.so.1 (0x00007f0e1385a000)\n\
                      \tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f0e10f00000)\n\
                      \t/lib64/ld-linux-x86-64.so.2 (0x00007f0e1385c000)\n";
        let expected = ["/lib/x86_64-linux-gnu/libm.so.6", "/lib64/ld-linux-x86-64.so.2"];
        assert_eq!(libraries_of(output), expected);
    }

    #[test]
    fn plan_names_network_cards_and_cells() {
        let cell = Cell { driver: Driver::Igb, device: Device::Vlan, test: Test::RunTcp };
        let plan = plan(&[cell]);
        assert!(plan.contains("nic igb 52:54:00:00:02:00 52:54:00:00:02:01\n"));
        assert!(plan.ends_with("cell igb vlan run-tcp\n"));
    }
}
