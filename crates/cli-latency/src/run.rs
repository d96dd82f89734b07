//! `hairpin run`: runs an unmodified program with its UDP sockets and TCP connections accelerated
//! over AF_XDP.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{IsTerminal, Read, Write};
use std::os::fd::{AsFd, AsRawFd, IntoRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use hairpin_cli_harness::preload;
use hairpin_cli_harness::usage::usage_error;
use hairpin_mapped::sealed_copy;
use hairpin_stack::{HostRules, LastLine, RunSummary, SocketRule, inheritable, start_keeper};
use hairpin_xdp::{Device, check_capabilities, drop_capabilities};
use nix::unistd::User;

/// The variable with the path of another library.
const OTHER_LIBRARY: &str = "HAIRPIN_PRELOAD";
/// The variable with the descriptor and inode of the library, if it is in memory.
const LIBRARY: &str = "HAIRPIN_LIBRARY";
/// The variable with the descriptor and inode of the counts for the last line.
const SUMMARY: &str = "HAIRPIN_SUMMARY";
/// The variable with the sockets to accelerate.
const ACCELERATE: &str = "HAIRPIN_ACCELERATE";
/// The longest value of that variable that the library reads.
const RULES_MAX: usize = 4_096;
/// The mode bits that run a program as another user or group.
const SET_ID: u32 = 0o6000;

/// Run an unmodified program with its UDP and TCP sockets over AF_XDP, bypassing the kernel
///
/// CMD replaces this process: process id, terminal and exit status are the program's. A UDP socket
/// is accelerated when the program binds or connects it and its address is on one of the
/// interfaces. A TCP connection is taken over from the kernel after a few messages each way, and
/// handed back when the program or the peer needs the kernel. Everything else stays with the
/// kernel. If acceleration is not possible, one line names the cause and the program runs without
/// it.
#[derive(clap::Args, Debug, Clone)]
pub struct RunCommandArgs {
    /// An interface to accelerate; may be given several times [default: all except loopback]
    #[arg(long = "interface", value_name = "IF")]
    interfaces: Vec<String>,

    /// Accelerate only these sockets: PROTOCOL:PORT or PROTOCOL:ADDRESS:PORT of either end, such as
    /// tcp:9000, udp:*, udp:14310-14319, tcp:10.0.0.0/8:443 or tcp:[fd00::/8]:443, separated by
    /// commas [default: all]
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    accelerate: Vec<SocketRule>,

    /// How long a blocking call busy-polls before it sleeps: latency (100 ms), safe (50 µs), or
    /// auto (as latency while the thread has its core for itself, and not at all while it shares
    /// it)
    #[arg(long, value_enum, default_value_t = Profile::Auto)]
    profile: Profile,

    /// State that forked children use no sockets of their parent, so that the parent's stay
    /// accelerated [default: a fork returns all sockets to the kernel]
    #[arg(long, value_enum, value_name = "parent")]
    fork: Option<Fork>,

    /// Take a software timestamp of each received frame, for sockets that request timestamps
    /// [default: such sockets return to the kernel]
    #[arg(long)]
    timestamps: bool,

    /// Take a TCP connection over after N messages each way
    #[arg(long, value_name = "N", default_value_t = 4)]
    take_after: u32,

    /// Also accelerate processes of this user, a name or a number: programs that start as root and
    /// continue as another user; may be given several times [default: only of the user who runs the
    /// command]
    #[arg(long = "user", value_name = "USER")]
    users: Vec<String>,

    /// Do not start the program if it cannot be accelerated: exit status 1
    #[arg(long)]
    strict: bool,

    /// Print one line about the run when it ends: the sockets accelerated and the share of messages
    /// that bypassed the kernel, or why nothing was accelerated. auto: if standard error is a
    /// terminal
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        default_value_t = Summary::Auto,
        default_missing_value = "always",
        num_args = 0..=1,
        require_equals = true
    )]
    summary: Summary,

    /// The program and its arguments
    #[arg(
        value_name = "CMD",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    command: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Profile {
    /// Busy-poll for 100 ms, except while another thread needs the core
    Auto,
    /// Busy-poll for 100 ms
    Latency,
    /// Busy-poll for 50 µs
    Safe,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Fork {
    /// Only the parent uses its sockets
    Parent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Summary {
    /// If standard error is a terminal
    Auto,
    /// Also to a file or pipe
    Always,
    /// No line
    Never,
}

impl Summary {
    fn is_printed(self) -> bool {
        self == Self::Always || self == Self::Auto && std::io::stderr().is_terminal()
    }
}

/// What a program needs to be accelerated.
struct Prepared {
    library: Library,
    interfaces: Vec<String>,
    keeper: OwnedFd,
    /// The counts for the last line.
    summary: Option<OwnedFd>,
}

/// The library that is preloaded.
enum Library {
    /// A sealed memory file.
    Embedded(OwnedFd),
    File(PathBuf),
}

/// Replaces this process by the program. `library` is the content of the preloaded library.
///
/// # Errors
/// The program cannot be run; under `--strict`, it cannot be accelerated.
pub fn run(arguments: &RunCommandArgs, library: &[u8]) -> Result<ExitCode> {
    let [program, rest @ ..] = &arguments.command[..] else {
        usage_error!("no program given");
    };
    let rules =
        arguments.accelerate.iter().map(SocketRule::to_string).collect::<Vec<_>>().join(",");
    if rules.len() > RULES_MAX {
        usage_error!("--accelerate has {} bytes of rules, {RULES_MAX} at most", rules.len());
    }
    let mut command = Command::new(program);
    command.args(rest);
    match prepare(arguments, Path::new(program), library) {
        Ok(Prepared { library, interfaces, keeper, summary }) => {
            command.env("HAIRPIN_KEEPER", pass_on(keeper)?);
            match summary {
                Some(summary) => command.env(SUMMARY, pass_on(summary)?),
                None => command.env_remove(SUMMARY),
            };
            let mut libraries = match library {
                Library::Embedded(file) => {
                    let path = format!("/proc/self/fd/{}", file.as_raw_fd()).into();
                    command.env(LIBRARY, pass_on(file)?);
                    path
                }
                Library::File(path) => {
                    command.env_remove(LIBRARY);
                    path.into_os_string()
                }
            };
            if let Some(others) = env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
                libraries.push(":");
                libraries.push(others);
            }
            command.env("LD_PRELOAD", libraries).env(preload::INTERFACES, interfaces.join(","));
            match rules.is_empty() {
                true => command.env_remove(ACCELERATE),
                false => command.env(ACCELERATE, rules),
            };
            let profile = match arguments.profile {
                Profile::Auto => "auto",
                Profile::Latency => "latency",
                Profile::Safe => "safe",
            };
            command.env("HAIRPIN_PROFILE", profile);
            command.env("HAIRPIN_FORK", if arguments.fork.is_some() { "parent" } else { "return" });
            command.env("HAIRPIN_TIMESTAMPS", if arguments.timestamps { "1" } else { "0" });
            command.env("HAIRPIN_TAKE_AFTER", arguments.take_after.to_string());
            command.env("HAIRPIN_STRICT", if arguments.strict { "1" } else { "0" });
        }
        Err(error) if arguments.strict => return Err(error.context("strict")),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "hairpin: not accelerated: {error:#}");
        }
    }
    let error = command.exec();
    Err(error).with_context(|| format!("cannot run {}", program.display()))
}

/// Checks that the program can be accelerated, and starts the keeper.
fn prepare(arguments: &RunCommandArgs, program: &Path, library: &[u8]) -> Result<Prepared> {
    check_program(program)?;
    check_capabilities()?;
    let interfaces = if arguments.interfaces.is_empty() {
        all_interfaces()?
    } else {
        arguments.interfaces.clone()
    };
    if interfaces.is_empty() {
        bail!("there is no interface except loopback");
    }
    for name in &interfaces {
        if name.contains(',') {
            bail!("{name:?} is not an interface name");
        }
        if name == "lo" {
            bail!("lo cannot be accelerated: its packets never leave the kernel");
        }
        let device = Device::from_name(name)?;
        if arguments.strict {
            check_rules(&device)?;
        }
    }
    let users = arguments.users.iter().map(|name| user_id(name)).collect::<Result<Vec<_>>>()?;
    let library = Library::new(library)?;
    let (summary, last_line) = if arguments.summary.is_printed() {
        let (summary, last_line) = last_line(program).context("cannot count the run's messages")?;
        (Some(summary), Some(last_line))
    } else {
        (None, None)
    };
    let keeper = start_keeper(&interfaces, &users, last_line).context("cannot start the keeper")?;
    drop_capabilities().context("cannot drop the capabilities")?;
    Ok(Prepared { library, interfaces, keeper, summary })
}

/// Checks that no rule of the host applies to all packets of an interface. Without `--strict` the
/// flows stay with the kernel.
fn check_rules(device: &Device) -> Result<()> {
    let found = HostRules::open().families(device.index);
    let ([restricting, _], rule) = found.context("cannot read the rules of the host")?;
    match rule {
        Some(rule) if restricting != 0 => {
            bail!("{rule} restricts packets, which bypassed ones would skip")
        }
        _ => Ok(()),
    }
}

/// Returns the id of a user by name or number.
fn user_id(user: &str) -> Result<u32> {
    if let Ok(number) = user.parse() {
        return Ok(number);
    }
    let found = User::from_name(user).with_context(|| format!("cannot look up the user {user}"))?;
    Ok(found.with_context(|| format!("there is no user {user:?}"))?.uid.as_raw())
}

/// Creates the counts of a run: their descriptor for the program, and the line of the keeper.
fn last_line(program: &Path) -> Result<(OwnedFd, LastLine)> {
    let summary = RunSummary::create()?;
    let inherited = inheritable(&summary.fd().try_clone_to_owned()?)?;
    let output = std::io::stderr().as_fd().try_clone_to_owned()?;
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok((inherited, LastLine { summary, program: name, output }))
}

/// Leaves a descriptor to the program. Returns its number and inode: the program may close it, and
/// then use the number for another file.
fn pass_on(descriptor: OwnedFd) -> Result<String> {
    let file = fs::File::from(descriptor);
    let inode = file.metadata().context("cannot read a descriptor's inode")?.ino();
    Ok(format!("{}:{inode}", file.into_raw_fd()))
}

impl Library {
    /// Returns the file that `HAIRPIN_PRELOAD` names; otherwise a memory file with these bytes.
    fn new(bytes: &[u8]) -> Result<Self> {
        if let Some(path) = env::var_os(OTHER_LIBRARY).filter(|path| !path.is_empty()) {
            let path = PathBuf::from(path);
            let found = path.canonicalize();
            let found = found.with_context(|| format!("cannot find {}", path.display()))?;
            return Ok(Self::File(found));
        }
        if bytes.is_empty() {
            bail!("this command was built without the library: set {OTHER_LIBRARY} to its path");
        }
        let create = || inheritable(&sealed_copy(c"hairpin-preload", bytes)?.into());
        Ok(Self::Embedded(create().context("cannot create a memory file for the library")?))
    }
}

/// Checks that the dynamic linker will preload the library into the program.
fn check_program(program: &Path) -> Result<()> {
    let Some(path) = find(program) else {
        // The attempt to run it reports the cause.
        return Ok(());
    };
    let status = fs::metadata(&path).with_context(|| format!("cannot read {}", path.display()))?;
    if status.mode() & SET_ID != 0 {
        bail!("{} is a set-user-ID program, into which nothing is preloaded", path.display());
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
    // The program headers follow the ELF header in all usual files.
    file.take(4_096).read_to_end(&mut bytes)?;
    if is_static(&bytes) {
        bail!("{} is statically linked, so nothing can be preloaded", path.display());
    }
    if is_go(&bytes) {
        bail!("{} is a Go program, which does not use the C library's sockets", path.display());
    }
    Ok(())
}

/// Finds a program as execvp(3) does.
fn find(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return Some(program.to_owned());
    }
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// A segment of an ELF program: its kind, and its place in the file.
struct Segment {
    kind: u32,
    offset: usize,
    length: usize,
}

/// Returns the segments of a 64-bit ELF program (ELF-64 Object File Format, program headers);
/// `None` for other files.
fn segments(bytes: &[u8]) -> Option<Vec<Segment>> {
    if !bytes.starts_with(b"\x7fELF\x02") {
        return None;
    }
    let number = |at: usize, length: usize| {
        let field = bytes.get(at..at.checked_add(length)?)?;
        Some(field.iter().rev().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte)))
    };
    let (offset, size, count) = (number(0x20, 8)?, number(0x36, 2)?, number(0x38, 2)?);
    let segment = |index: u64| {
        let at = usize::try_from(offset.checked_add(index * size)?).ok()?;
        let place = |field: usize| usize::try_from(number(at.checked_add(field)?, 8)?).ok();
        Some(Segment { kind: number(at, 4)? as u32, offset: place(8)?, length: place(32)? })
    };
    (0..count).map(segment).collect()
}

/// Returns `true` for a program without an interpreter, which nothing can be preloaded into.
fn is_static(bytes: &[u8]) -> bool {
    const INTERPRETER: u32 = 3;
    segments(bytes).is_some_and(|found| found.iter().all(|segment| segment.kind != INTERPRETER))
}

/// Returns `true` for a program of the Go linker, which marks it with a note: its name is `Go`, and
/// its type is 4 (`.note.go.buildid`).
fn is_go(bytes: &[u8]) -> bool {
    const NOTE: u32 = 4;
    let has_note = |segment: &Segment| {
        let end = segment.offset.saturating_add(segment.length).min(bytes.len());
        let mut rest = bytes.get(segment.offset..end).unwrap_or_default();
        while let Some((header, after)) = rest.split_first_chunk::<12>() {
            let word = |at: usize| {
                header[at..at + 4].iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte))
            };
            let (name, text) = (word(0), word(4));
            if word(8) == 4 && name == 4 && after.starts_with(b"Go\0\0") {
                return true;
            }
            let length = name.next_multiple_of(4) + text.next_multiple_of(4);
            rest = after.get(length..).unwrap_or_default();
        }
        false
    };
    segments(bytes).is_some_and(|found| found.iter().any(|it| it.kind == NOTE && has_note(it)))
}

/// Returns the interfaces of this network namespace, except loopback.
fn all_interfaces() -> Result<Vec<String>> {
    // Unlike /sys/class/net, this file belongs to the namespace of the process.
    let table = fs::read_to_string("/proc/self/net/dev").context("cannot list the interfaces")?;
    let names = table.lines().filter_map(|line| line.split_once(':'));
    Ok(names.map(|(name, _)| name.trim().to_owned()).filter(|name| name != "lo").collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn static_programs_have_no_interpreter() {
        let mut program = b"\x7fELF\x02".to_vec();
        program.resize(0x40 + 2 * 56, 0);
        (program[0x20], program[0x36], program[0x38]) = (0x40, 56, 2);
        program[0x40] = 1;
        assert!(is_static(&program));
        program[0x40 + 56] = 3;
        assert!(!is_static(&program), "an interpreter");
        assert!(!is_static(b"#!/bin/sh\n") && !is_static(b"\x7fELF\x02") && !is_static(&[]));
    }

    #[test]
    fn go_programs_have_a_note() {
        let mut program = b"\x7fELF\x02".to_vec();
        program.resize(0x40 + 56, 0);
        (program[0x20], program[0x36], program[0x38]) = (0x40, 56, 1);
        (program[0x40], program[0x48], program[0x60]) = (4, 0x78, 0xff);
        let gnu = b"\x04\0\0\0\x05\0\0\0\x03\0\0\0GNU\0abcde\0\0\0";
        let go = b"\x04\0\0\0\x53\0\0\0\x04\0\0\0Go\0\0";
        let with = |notes: &[&[u8]]| [&[&program[..]], notes].concat().concat();
        assert!(is_go(&with(&[go])) && is_go(&with(&[gnu, go])));
        assert!(!is_go(&with(&[gnu])) && !is_go(&with(&[gnu, &go[..13]])));
        assert!(!is_go(&with(&[&[0xff; 24], go])), "a note that is longer than the file");
        assert!(!is_go(b"#!/bin/sh\n") && !is_go(&[]));
    }

    #[test]
    fn find_searches_the_path() {
        assert!(find(Path::new("sh")).is_some_and(|path| path.is_absolute()));
        assert_eq!(find(Path::new("/a/b")), Some(PathBuf::from("/a/b")));
    }
}
