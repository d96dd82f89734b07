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
//! | `part` | the guests of some cells of a kernel |
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
mod part;
mod report;
mod table;
mod taps;
mod tools;

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;

use self::cell::{Cell, Device, Driver, Test};
use self::image::Programs;
use self::kernel::{Kernel, KernelFiles};
use self::part::Part;
use self::report::Outcome;
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
    /// Run N guests at once [default: a guest for each core]
    #[arg(long, value_name = "N")]
    guests: Option<NonZero<usize>>,
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
        guests: None,
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

/// The most cells of a part of a kernel: a boot takes as long as one or two of them.
const CELLS_OF_PART: usize = 32;

/// What the guests need but our programs.
struct Machine {
    folder: PathBuf,
    /// The guests that run at once.
    guests: usize,
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
        let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
        let guests = arguments.guests.map_or_else(cores, NonZero::get);
        Ok(Self { folder, guests, cells, kernels })
    }

    fn logs(&self) -> PathBuf {
        self.folder.join("logs")
    }

    /// Runs all cells on each kernel: parts of the kernels next to each other, then what measures
    /// times, alone.
    fn run(&self, hairpin: &Path, json: Option<&Path>) -> Result<Vec<CellResult>> {
        let programs = Programs::find(hairpin, &self.cells, &self.folder)?;
        let logs = self.logs();
        fs::create_dir_all(&logs)?;
        let (mut parts, mut alone) = (Vec::new(), Vec::new());
        for (kernel, files) in &self.kernels {
            let cells = cell::of_kernel(*kernel, &self.cells);
            let (measuring, others): (Vec<_>, Vec<_>) =
                cells.into_iter().partition(|cell| cell.test.measures_times());
            let part = |(number, cells): (usize, &[Cell])| Part {
                kernel: *kernel,
                number,
                cells: cells.to_vec(),
                files,
                programs: &programs,
                logs: &logs,
            };
            parts.extend((1..).zip(others.chunks(CELLS_OF_PART)).map(part));
            alone.extend((0..).zip(measuring.chunks(CELLS_OF_PART)).map(part));
        }
        let results = Mutex::new(Vec::new());
        let run = |part: &Part<'_>| -> Result<()> {
            let found = part.run()?;
            let mut results = results.lock().expect("no thread panics");
            results.extend(found);
            results.sort_by_key(|it: &CellResult| (it.kernel, self.place(it.cell)));
            // After each part, so that an interrupted run keeps what is done.
            let rows = || results.iter().map(table::Row::from).collect::<Vec<_>>();
            json.map_or(Ok(()), |path| table::write(&rows(), path))
        };
        let next = AtomicUsize::new(0);
        let work = || {
            let take = || parts.get(next.fetch_add(1, Ordering::Relaxed));
            std::iter::from_fn(take).try_for_each(run)
        };
        std::thread::scope(|scope| {
            let guests = 0..self.guests.min(parts.len());
            let threads: Vec<_> = guests.map(|_| scope.spawn(work)).collect();
            threads.into_iter().try_for_each(|it| it.join().expect("no thread panics"))
        })?;
        alone.iter().try_for_each(run)?;
        Ok(results.into_inner().expect("no thread panics"))
    }

    /// Returns the place of a cell in the order of the table.
    fn place(&self, cell: Cell) -> Option<usize> {
        self.cells.iter().position(|it| *it == cell)
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
