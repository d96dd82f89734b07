//! Completions of shells, and manual pages: both are made from the command line itself.
//!
//! A shell asks the program for candidates: after `source <(hairpin completions bash)` it runs
//! `hairpin` with the variable `COMPLETE`, the line and the place of the cursor. So
//! the candidates are those of this version, with the interfaces and processes of this moment.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Arg, Command, ValueEnum, ValueHint};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use hairpin_cli_harness::{completion, stdout};
use hairpin_cli_market::feed;

/// The variable that makes the program print candidates.
const VARIABLE: &str = "COMPLETE";
const PROGRAM: &str = "hairpin";

/// Print a shell's completions, with this host's interfaces, processes and channels
///
/// For bash: add `source <(hairpin completions bash)` to ~/.bashrc. For zsh: the same with zsh in
/// ~/.zshrc. For fish: `hairpin completions fish > ~/.config/fish/completions/hairpin.fish`.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

#[derive(ValueEnum, Debug, Clone, Copy)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Write the manual pages, one for each command
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct ManArgs {
    /// Write them to this folder, for example /usr/local/share/man/man1
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Prints candidates and ends the process if a shell asks for them.
pub(crate) fn answer_shell(command: fn() -> Command) {
    CompleteEnv::with_factory(move || with_values(command())).var(VARIABLE).complete();
}

/// Prints what a shell runs to register the completions.
///
/// # Errors
/// Standard output cannot be written.
pub(crate) fn register(arguments: &CompletionsArgs) -> Result<ExitCode> {
    let name = arguments.shell.to_possible_value().context("unknown shell")?;
    let shells = Shells::builtins();
    let shell = shells.completer(name.get_name()).context("unknown shell")?;
    let mut text = Vec::new();
    shell.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut text)?;
    stdout::lock().write_all(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the manual pages.
///
/// # Errors
/// The folder or a page cannot be written.
pub(crate) fn write_pages(arguments: &ManArgs, command: Command) -> Result<ExitCode> {
    let folder = &arguments.folder;
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(command, folder))
        .with_context(|| format!("cannot write the pages to {}", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Adds candidates to every argument, by the name of its value.
fn with_values(command: Command) -> Command {
    command.mut_args(with_candidates).mut_subcommands(with_values)
}

fn with_candidates(argument: Arg) -> Arg {
    let name = argument.get_value_names().and_then(<[_]>::first).map(ToString::to_string);
    match (name.as_deref(), argument.get_id().as_str()) {
        (Some("IF"), _) => argument.add(ArgValueCompleter::new(interfaces)),
        (Some("PID"), _) => argument.add(ArgValueCompleter::new(processes)),
        (Some("ID"), "channel") => argument.add(ArgValueCompleter::new(channels)),
        (Some("FILE"), _) => argument.value_hint(ValueHint::FilePath),
        (Some("DIR"), _) => argument.value_hint(ValueHint::DirPath),
        (Some("CMD"), _) => argument.value_hint(ValueHint::CommandName),
        _ => argument,
    }
}

fn interfaces(begin: &OsStr) -> Vec<CompletionCandidate> {
    candidates(begin, completion::interfaces())
}

fn processes(begin: &OsStr) -> Vec<CompletionCandidate> {
    candidates(begin, completion::processes())
}

/// Returns the channels of the file after `--config` in the shell's line.
fn channels(begin: &OsStr) -> Vec<CompletionCandidate> {
    let mut words = std::env::args_os().skip_while(|word| word != "--config").skip(1);
    let file = words.next().unwrap_or_default();
    candidates(begin, feed::channels_in(Path::new(&file)))
}

/// Returns the values that begin so, each with its description.
fn candidates(begin: &OsStr, values: Vec<(String, String)>) -> Vec<CompletionCandidate> {
    let begin = begin.to_string_lossy();
    let meant = values.into_iter().filter(|(value, _)| value.starts_with(&*begin));
    meant
        .map(|(value, text)| {
            CompletionCandidate::new(value).help((!text.is_empty()).then(|| text.into()))
        })
        .collect()
}
