//! Test programs that do not go on: shown, and ended.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::shell;

/// Folders of a target folder that hold programs of tests and examples.
const FOLDERS: [&str; 2] = ["deps", "examples"];

/// Ends the test programs that a `cargo test` runs, with all that they have started, and says on
/// `screen` before what each thread of them was doing. The programs; none if it is compiling.
///
/// # Errors
/// There is no `/proc`, or the screen is gone.
pub(super) fn end_programs(cargo: u32, screen: &mut impl Write) -> Result<Vec<u32>> {
    let parents = parents()?;
    let programs: Vec<u32> = children(&parents, cargo).filter(|&id| is_test_program(id)).collect();
    let mut doomed = Vec::new();
    for &program in &programs {
        family(&parents, program, &mut doomed);
    }
    if doomed.is_empty() {
        return Ok(programs);
    }
    writeln!(screen, "hung: no test has ended for long; what its processes were doing:")?;
    doomed.iter().try_for_each(|&id| screen.write_all(describe(id).as_bytes()))?;
    let ids = doomed.iter().map(u32::to_string);
    // One that has ended meanwhile makes it fail; the others are ended all the same.
    let _ = shell::run(Command::new("kill").arg("-KILL").args(ids));
    Ok(programs)
}

/// The parent of each process there is.
fn parents() -> Result<BTreeMap<u32, u32>> {
    let processes = fs::read_dir("/proc")?.filter_map(Result::ok);
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    Ok(ids.filter_map(|id| Some((id, parent(&read(id, "stat"))?))).collect())
}

/// The fourth field of proc_pid_stat(5). The second, in parentheses, may hold anything.
fn parent(stat: &str) -> Option<u32> {
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

fn children(parents: &BTreeMap<u32, u32>, of: u32) -> impl Iterator<Item = u32> + '_ {
    parents.iter().filter(move |&(_, &parent)| parent == of).map(|(&id, _)| id)
}

/// A process and all that come from it, parents first.
fn family(parents: &BTreeMap<u32, u32>, of: u32, into: &mut Vec<u32>) {
    into.push(of);
    for child in children(parents, of) {
        family(parents, child, into);
    }
}

fn is_test_program(id: u32) -> bool {
    let program = fs::read_link(format!("/proc/{id}/exe")).unwrap_or_default();
    let folder = program.parent().and_then(|folder| folder.file_name());
    FOLDERS.iter().any(|&name| folder.is_some_and(|folder| folder == name))
}

/// The command line of a process, and for each thread its name, its state, and where in the kernel
/// it is, as far as this user may know.
fn describe(id: u32) -> String {
    let mut text = format!("  {id}: {}\n", read(id, "cmdline").replace('\0', " ").trim_end());
    let tasks = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten();
    for task in tasks.filter_map(Result::ok) {
        let of = |name: &str| fs::read_to_string(task.path().join(name)).unwrap_or_default();
        let stat = of("stat");
        let state = stat.rsplit_once(") ").map_or("?", |(_, rest)| &rest[..1]);
        let call = of("syscall");
        let call = call.split(' ').next().unwrap_or_default().trim_end();
        text += &format!("    {} {state}, system call {call}\n", of("comm").trim_end());
        for frame in of("stack").lines() {
            text += &format!("      {frame}\n");
        }
    }
    text
}

fn read(id: u32, name: &str) -> String {
    let path: PathBuf = ["/proc", &id.to_string(), name].iter().collect();
    // What has ended has nothing to say. Names are any bytes.
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_found_behind_any_name() {
        assert_eq!(parent("12 (a) 9 (b) S 7 12 12 0"), Some(7));
        assert_eq!(parent("12 (a"), None);
    }

    #[test]
    fn this_process_can_be_described_and_is_one_of_its_parents_children() {
        let this = std::process::id();
        assert!(is_test_program(this));
        let parents = parents().unwrap();
        assert!(children(&parents, parents[&this]).any(|id| id == this));
        let text = describe(this);
        assert!(text.starts_with(&format!("  {this}: ")), "{text}");
        assert!(text.contains(", system call "), "{text}");
    }
}
