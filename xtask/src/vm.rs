//! `cargo xtask vm`: runs tests on Debian's kernels with the network cards that QEMU emulates.
//!
//! Each kernel boots in a guest without KVM, from an initial RAM file system with our programs. A
//! pair of network cards of each driver makes two hosts, which are network namespaces.
//!
//! | module | contents |
//! |---|---|
//! | `cell` | drivers, devices and tests |
//! | `kernel` | Debian's kernels |
//! | `apt` | Debian's packages |
//! | `tools` | the programs that the command needs |
//! | `modules` | the kernel's modules |
//! | `archive` | the format of the initial RAM file system |
//! | `image` | its contents |
//! | `guest` | a run of QEMU |
//! | `taps` | network devices with several queues |
//! | `report` | the lines of a guest |
//! | `table` | the printed table and the results file |
//! | `guide` | the tables in the docs |
//!
//! `init.sh` is the first process of the guest.

mod apt;
mod archive;
mod cell;
mod guest;
mod guide;
mod image;
mod kernel;
mod modules;
mod report;
mod table;
mod taps;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;

use self::cell::{Cell, Device, Driver, Test};
use self::guest::{Guest, Next};
use self::image::Programs;
use self::kernel::{Kernel, KernelFiles};
use self::report::{CellReport, Line, Outcome};
use self::table::CellResult;
use crate::shell::{cargo, run as shell};
use crate::workspace::Workspace;

/// The arguments of `vm`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Kernels [default: all]
    #[arg(long, value_name = "KERNEL", value_delimiter = ',')]
    kernel: Vec<Kernel>,
    /// Drivers, each with two network cards [default: all]
    #[arg(long, value_name = "DRIVER", value_delimiter = ',')]
    driver: Vec<Driver>,
    /// Devices on top of the network cards [default: none, and all of them on virtio-net]
    #[arg(long, value_name = "DEVICE", value_delimiter = ',')]
    device: Vec<Device>,
    /// Tests [default: all]
    #[arg(long, value_name = "TEST", value_delimiter = ',')]
    test: Vec<Test>,
    /// Write the results to FILE as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Replace the cells that ran in the committed results, and the table of the guide
    #[arg(long, conflicts_with = "hairpin")]
    write: bool,
    /// Keep downloads, images and logs in DIR [default: hairpin-vm in XDG_CACHE_HOME or ~/.cache]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Build the programs with this profile of cargo
    #[arg(long, value_name = "PROFILE", default_value = "release")]
    profile: Profile,
    /// Use this `hairpin`, with the preload library next to it, instead of building one
    #[arg(long, value_name = "FILE", conflicts_with = "profile")]
    hairpin: Option<PathBuf>,
    /// Fail if QEMU is missing, instead of installing it on this machine by apt, which needs root
    #[arg(long)]
    no_install: bool,
}

/// A profile of cargo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Profile {
    Release,
    Dev,
}

/// Runs the selected cells on each selected kernel and prints the table. Fails if a cell failed.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let machine = Machine::prepare(arguments)?;
    let hairpin = hairpin(workspace, arguments, &machine.cells)?;
    let results = machine.run(&hairpin, arguments.json.as_deref())?;
    if arguments.write {
        guide::write(&workspace.root, &results)?;
    }
    finish(&results, &machine.logs())
}

/// Runs the tests that every commit must pass: on the oldest kernel of the table, with each driver.
/// Prints why it is skipped, if QEMU or the kernel cannot be installed.
pub(crate) fn run_ci(workspace: &Workspace) -> Result<()> {
    use Test::{RunTcp, RunUdp, Tcp, Udp};
    let hairpin = workspace.target.join("release/hairpin");
    let arguments = Arguments {
        kernel: vec![Kernel::V6_1],
        driver: Vec::new(),
        device: vec![Device::None],
        test: vec![Udp, Tcp, RunUdp, RunTcp],
        json: None,
        write: false,
        folder: Some(workspace.target.join("vm")),
        profile: Profile::Release,
        hairpin: None,
        no_install: false,
    };
    let mut machine = match Machine::prepare(&arguments) {
        Ok(machine) => machine,
        Err(error) => {
            println!("vm: skipped: {error:#}");
            return Ok(());
        }
    };
    // sockperf runs for ten seconds: not with every driver.
    let has_sockperf = |driver| matches!(driver, Driver::VirtioNet | Driver::Veth);
    machine.cells.retain(|cell| cell.test.programs().is_empty() || has_sockperf(cell.driver));
    let results = machine.run(&hairpin, None)?;
    finish(&results, &machine.logs())?;
    // In a slow guest a connection of a program may go back to the kernel.
    let works = |it: &&CellResult| {
        it.outcome == Outcome::Pass || it.outcome == Outcome::Kernel && it.cell.test == RunTcp
    };
    let refused = results.iter().filter(|it| !works(it)).count();
    ensure!(refused == 0, "{refused} cells are refused: each works on this kernel");
    Ok(())
}

/// What the guests need but our programs.
struct Machine {
    folder: PathBuf,
    cells: Vec<Cell>,
    kernels: Vec<(Kernel, KernelFiles)>,
}

impl Machine {
    /// Finds or installs QEMU, and the selected kernels.
    fn prepare(arguments: &Arguments) -> Result<Self> {
        let mut cells = cell::select(&arguments.driver, &arguments.device, &arguments.test);
        let needs_taps = |cell: &Cell| cell.driver == Driver::VirtioNetMq;
        if cells.iter().any(needs_taps) && !taps::are_available() {
            println!("vm: virtio-net-mq is skipped: tap devices on a bridge need root");
            cells.retain(|cell| !needs_taps(cell));
        }
        let folder = folder(arguments)?;
        tools::check(&cells, &folder, !arguments.no_install)?;
        let kernels = match &*arguments.kernel {
            [] => Kernel::value_variants(),
            kernels => kernels,
        };
        let fetch = |kernel: &Kernel| Ok((*kernel, kernel.fetch(&folder)?));
        let kernels = kernels.iter().map(fetch).collect::<Result<Vec<_>>>()?;
        Ok(Self { folder, cells, kernels })
    }

    fn logs(&self) -> PathBuf {
        self.folder.join("logs")
    }

    /// Runs all cells on each kernel.
    fn run(&self, hairpin: &Path, json: Option<&Path>) -> Result<Vec<CellResult>> {
        let programs = Programs::find(hairpin, &self.cells, &self.folder)?;
        let logs = self.logs();
        fs::create_dir_all(&logs)?;
        let mut results = Vec::new();
        for (kernel, files) in &self.kernels {
            let run = KernelRun { kernel: *kernel, files, programs: &programs, logs: &logs };
            results.extend(run.run(&cell::of_kernel(*kernel, &self.cells))?);
            // After each kernel, so that an interrupted run keeps what is done.
            if let Some(path) = json {
                let rows: Vec<_> = results.iter().map(table::Row::from).collect();
                table::write(&rows, path)?;
            }
        }
        Ok(results)
    }
}

/// Prints the failures and the table.
fn finish(results: &[CellResult], logs: &Path) -> Result<()> {
    let is_failure = |it: &&CellResult| it.outcome == Outcome::Failed;
    for result in results.iter().filter(is_failure) {
        println!("vm: {}", result.line());
    }
    println!("\n{}", table::format(results));
    let failures = results.iter().filter(is_failure).count();
    ensure!(
        failures == 0,
        "{failures} cells failed: their logs are above; consoles: {}",
        logs.display()
    );
    Ok(())
}

fn folder(arguments: &Arguments) -> Result<PathBuf> {
    let folder = match &arguments.folder {
        Some(folder) => folder.clone(),
        None => match std::env::var_os("XDG_CACHE_HOME") {
            Some(cache) => PathBuf::from(cache).join("hairpin-vm"),
            None => {
                let home = std::env::home_dir().context("cannot find the home: use --folder")?;
                home.join(".cache/hairpin-vm")
            }
        },
    };
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    println!("vm: downloads, images and logs: {}", folder.display());
    Ok(folder.canonicalize()?)
}

/// Builds the programs, unless the arguments name them. Returns the path of `hairpin`.
fn hairpin(workspace: &Workspace, arguments: &Arguments, cells: &[Cell]) -> Result<PathBuf> {
    if let Some(path) = &arguments.hairpin {
        return path.canonicalize().with_context(|| format!("cannot find {}", path.display()));
    }
    let (profile, folder) = match arguments.profile {
        Profile::Release => ("release", "release"),
        Profile::Dev => ("dev", "debug"),
    };
    println!("vm: building hairpin, profile {profile}");
    let build = ["build", "--profile", profile, "-p", "hairpin-cli", "-p", "hairpin-preload"];
    shell(&mut cargo(&workspace.root, build))?;
    for example in image::examples(cells) {
        let build = ["build", "--profile", profile, "-p", "hairpin-endpoint", "--example", example];
        shell(&mut cargo(&workspace.root, build))?;
    }
    Ok(workspace.target.join(folder).join("hairpin"))
}

/// The guests in a row that may report nothing because QEMU has crashed or lost their timer.
const USELESS_MAX: usize = 4;

/// The runs of a kernel's guests.
struct KernelRun<'a> {
    kernel: Kernel,
    files: &'a KernelFiles,
    programs: &'a Programs,
    logs: &'a Path,
}

impl KernelRun<'_> {
    /// Runs the cells. A guest that ends early is followed by another one for the remaining cells.
    fn run(&self, cells: &[Cell]) -> Result<Vec<CellResult>> {
        let mut results: Vec<CellResult> = Vec::new();
        let (mut boots, mut useless) = (0, 0);
        while results.len() < cells.len() {
            boots += 1;
            let remaining = &cells[results.len()..];
            let found = self.run_guest(remaining, boots, useless)?;
            useless = if found.is_empty() { useless + 1 } else { 0 };
            ensure!(useless < USELESS_MAX, "QEMU has crashed or lost its timer {useless} times");
            results.extend(found);
        }
        Ok(results)
    }

    /// Runs one guest. Returns the results of at least one cell; possibly none if QEMU has crashed
    /// or lost its timer.
    fn run_guest(&self, cells: &[Cell], boot: usize, useless: usize) -> Result<Vec<CellResult>> {
        let name = self.kernel.name();
        let file_system = self.logs.join(format!("{name}.cpio"));
        let console = self.logs.join(format!("{name}-{boot}.console"));
        let messages = self.logs.join(format!("{name}-{boot}.qemu"));
        self.programs.write(&self.files.modules, cells, &file_system)?;
        println!("vm: kernel {name}: booting for {} cells", cells.len());
        let start = Instant::now();
        let guest = Guest::boot(self.files, &file_system, cells, &console, &messages)?;
        let mut results = Vec::new();
        let mut release = String::new();
        let mut report = CellReport::default();
        let end = loop {
            let line = match guest.next() {
                Next::Line(line) => line,
                // A cell that crashes QEMU each time has failed.
                Next::End => match crash(&messages).filter(|_| useless + 1 < USELESS_MAX) {
                    Some(reason) => {
                        println!("vm: kernel {name}: QEMU has crashed, booting again: {reason}");
                        return Ok(results);
                    }
                    None => break "the guest ends during the test",
                },
                Next::Silence => break "the guest reports nothing",
                Next::LostTimer => {
                    println!("vm: kernel {name}: QEMU has lost its timer, booting again");
                    return Ok(results);
                }
            };
            let Some(line) = Line::parse(&line) else { continue };
            match line {
                Line::Release(text) => {
                    println!("vm: kernel {name}: {text} after {} s", start.elapsed().as_secs());
                    text.clone_into(&mut release);
                }
                Line::Note(text) => println!("vm: kernel {name}: {text}"),
                Line::Begin(_) => report = CellReport::default(),
                Line::End(_) => {
                    let report = std::mem::take(&mut report);
                    results.push(self.result(cells[results.len()], &release, &report));
                    if results.len() == cells.len() {
                        break "";
                    }
                }
                line => report.add(&line),
            }
        };
        drop(guest);
        if results.len() < cells.len() {
            report.log.extend(last_lines("console", &console));
            report.log.extend(last_lines("qemu", &messages));
            report.add(&Line::Error(end));
            // A guest that does not boot would not boot for the next cell either.
            let failed = if release.is_empty() { cells } else { &cells[results.len()..][..1] };
            results.extend(failed.iter().map(|cell| self.result(*cell, &release, &report)));
        }
        println!("vm: kernel {name}: ended after {} s", start.elapsed().as_secs());
        Ok(results)
    }

    fn result(&self, cell: Cell, release: &str, report: &CellReport) -> CellResult {
        let (outcome, reason) = report.outcome();
        let result = CellResult {
            kernel: self.kernel,
            release: release.to_owned(),
            cell,
            outcome,
            reason,
            mode: report.mode(),
            share: report.share(),
            log: report.log.clone(),
        };
        println!("vm: {}", result.line());
        if result.shows_log() {
            report.log.iter().for_each(|line| println!("    {line}"));
        }
        result
    }
}

/// Returns the failed assertion of QEMU itself, if its messages contain one.
fn crash(messages: &Path) -> Option<String> {
    let text = String::from_utf8_lossy(&fs::read(messages).ok()?).into_owned();
    text.lines().find(|line| line.contains("Assertion `")).map(str::to_owned)
}

/// Returns the last lines of a file, each with a name in front.
fn last_lines(name: &str, path: &Path) -> Vec<String> {
    let bytes = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.len().saturating_sub(40);
    lines[start..].iter().map(|line| format!("{name}: {}", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crash_of_qemu_is_an_assertion_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let messages = folder.path().join("qemu");
        let warning = "qemu-system-x86_64: warning: hub 3 is not connected to host network\n";
        fs::write(&messages, warning).unwrap();
        assert_eq!(crash(&messages), None);
        let assertion = "qemu-system-x86_64: physmem.c:2678: f: Assertion `index < n' failed.";
        fs::write(&messages, format!("{warning}{assertion}\n")).unwrap();
        assert_eq!(crash(&messages).as_deref(), Some(assertion));
        assert_eq!(crash(&folder.path().join("none")), None);
    }
}
