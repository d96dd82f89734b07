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
/// kernel, so two cores serve more than two programs.
pub(super) const PROGRAMS_AT_ONCE: usize = 3;

/// Tests that need the machine for themselves. They run last.
struct Alone {
    program: &'static str,
    /// The modules of these tests, as prefixes of test names. Empty: all tests of the program.
    modules: &'static [&'static str],
    #[expect(dead_code, reason = "for the reader of the list")]
    reason: &'static str,
}

const ALONE: &[Alone] = &[
    Alone {
        program: "hairpin-cli tests/it",
        modules: &[
            "bench::",
            "bench_feed::",
            "bench_order::",
            "bench_sockets::",
            "exchange_and_trader::",
            "keeper::",
            "lab::",
            "ping::",
            "ping_raw::",
            "preload::",
            "rds::",
            "rds_hosts::",
            "t2t::",
            "two_hosts::",
            "xdp::",
            "xdp_tcp::",
        ],
        reason: "benchmarks with two processes, each pinned to a core, one of them spinning",
    },
    Alone {
        program: "hairpin-testbed tests/relay_thread",
        modules: &[],
        reason: "measures the CPU time of an idle thread",
    },
];

/// The longest of the programs that run side by side, so that none of them is left for the end.
const SLOWEST: &[&str] = &[
    "hairpin-preload tests/it",
    "hairpin-stack tests/it",
    "hairpin-cli tests/it",
    "hairpin-cli tests/feed_simulation",
    "hairpin-capi tests/it",
    "hairpin-xdp tests/process",
    "hairpin-measure tests/it",
];

/// Returns the programs in the order in which they start.
pub(super) fn slowest_first(programs: &[TestProgram]) -> Vec<&TestProgram> {
    let rank = |it: &&TestProgram| SLOWEST.iter().position(|name| it.name == *name);
    let mut ordered: Vec<&TestProgram> = programs.iter().collect();
    ordered.sort_by_key(|it| rank(it).unwrap_or(SLOWEST.len()));
    ordered
}

/// The tests of a program that share the machine with other programs, and those that do not.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Shares {
    /// libtest's arguments that select the tests of the first kind, if there are any.
    pub(super) side_by_side: Option<Vec<&'static str>>,
    /// libtest's arguments that select the tests of the second kind, if there are any.
    pub(super) alone: Option<Vec<&'static str>>,
}

/// Divides the tests of a program. Every test is in one of the two shares.
pub(super) fn divide(program: &str) -> Shares {
    let Some(Alone { modules, .. }) = ALONE.iter().find(|it| it.program == program) else {
        return Shares { side_by_side: Some(Vec::new()), alone: None };
    };
    // libtest runs a test if its name contains a filter, and excludes it by the same comparison.
    let others = modules.iter().flat_map(|module| ["--skip", module]).collect();
    let has_others = !modules.is_empty();
    Shares { side_by_side: has_others.then_some(others), alone: Some(modules.to_vec()) }
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
    fn listed_programs_exist() {
        let whole = SLOWEST.iter().map(|program| (program, &[][..]));
        let alone = ALONE.iter().map(|it| (&it.program, it.modules));
        for (program, modules) in whole.chain(alone) {
            let (package, target) = program.split_once(' ').expect("package and target");
            let folder = match package {
                "hairpin-cli" => "hairpin",
                "hairpin" => "sdk",
                _ => package.strip_prefix("hairpin-").unwrap_or(package),
            };
            let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../crates")).join(folder);
            let file = path.join(target);
            let is_file = file.with_extension("rs").exists();
            assert!(is_file || file.join("main.rs").exists(), "{program}");
            for module in modules {
                let name = module.strip_suffix("::").expect("a module");
                assert!(file.join(name).with_extension("rs").exists(), "{program} {name}");
            }
        }
    }

    #[test]
    fn tests_run_either_side_by_side_or_alone() {
        let Shares { side_by_side, alone } = divide("hairpin-cli tests/it");
        let alone = alone.expect("benchmarks run alone");
        assert!(alone.contains(&"t2t::"));
        let skipped = alone.iter().flat_map(|module| ["--skip", module]).collect();
        assert_eq!(side_by_side, Some(skipped));
        let whole = Some(Vec::new());
        let expected = Shares { side_by_side: None, alone: whole.clone() };
        assert_eq!(divide("hairpin-testbed tests/relay_thread"), expected);
        let expected = Shares { side_by_side: whole, alone: None };
        assert_eq!(divide("hairpin-testbed tests/it"), expected);
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
