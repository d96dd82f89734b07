//! The schedule of the test programs: side by side, or alone.

use std::collections::VecDeque;
use std::process::Command;
use std::sync::Mutex;
use std::sync::mpsc;
use std::thread;

use anyhow::Result;

use super::programs::TestProgram;
use super::watch::{Limits, ProgramRun, watch};

/// The number of programs that run at a time. Many tests sleep until a timeout or wait for the
/// kernel, so
/// two cores serve more than two programs.
pub(super) const PROGRAMS_AT_ONCE: usize = 3;

/// The programs that need the machine for themselves, with the reason. They run last.
const ALONE: &[(&str, &str)] = &[
    ("hairpin tests/it", "benchmarks with two spinning processes, each pinned to a core"),
    ("hairpin-testbed tests/relay_thread", "measures the CPU time of an idle thread"),
];

/// Returns `true` if the program must not share the machine with other tests.
pub(super) fn runs_alone(program: &TestProgram) -> bool {
    ALONE.iter().any(|(name, _)| program.name == *name)
}

/// Runs named commands, at most `at_once` at a time, and passes each result to `finished` in the
/// order of the commands.
///
/// A program that hangs and cannot be ended also ends the schedule: the programs after it do not
/// run.
pub(super) fn run(
    commands: VecDeque<(String, Command)>,
    at_once: usize,
    limits: &Limits,
    mut finished: impl FnMut(&str, ProgramRun) -> Result<()>,
) -> Result<()> {
    let queue = Mutex::new(commands.into_iter().enumerate());
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..at_once {
            let (queue, sender) = (&queue, sender.clone());
            scope.spawn(move || {
                // The lock is released before the program runs.
                let next = || queue.lock().ok()?.next();
                while let Some((index, (name, command))) = next() {
                    let run = watch(command, limits);
                    if sender.send((index, name, run)).is_err() || limits.is_stuck() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = std::collections::BTreeMap::new();
        let mut next = 0;
        for (index, name, run) in receiver {
            waiting.insert(index, (name, run?));
            while let Some((name, run)) = waiting.remove(&next) {
                finished(&name, run)?;
                next += 1;
            }
        }
        // After a program that cannot be ended, results may be missing in between.
        waiting.into_values().try_for_each(|(name, run)| finished(&name, run))
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn programs_that_run_alone_exist() {
        for (name, _) in ALONE {
            let (package, target) = name.split_once(' ').expect("package and target");
            let folder = package.strip_prefix("hairpin-").unwrap_or(package);
            let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../crates")).join(folder);
            let file = path.join(target);
            assert!(file.with_extension("rs").exists() || file.join("main.rs").exists(), "{name}");
        }
    }

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn results_arrive_in_the_order_of_the_commands() {
        let scripts = ["sleep 0.3; echo a", "echo b", "echo c", "echo d"];
        let commands = scripts.map(|script| (script.to_owned(), shell(script)));
        let mut output = Vec::new();
        let add = |_: &str, run: ProgramRun| {
            output.extend(run.output);
            Ok(())
        };
        run(commands.into(), 2, &Limits::default(), add).expect("`sh` exists");
        assert_eq!(output, b"a\nb\nc\nd\n");
    }
}
