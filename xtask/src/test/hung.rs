//! The processes of a hung test program: described, then killed.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::shell;

/// Kills a process and its descendants, after a description of each of their threads in `output`.
///
/// # Errors
/// `/proc` is missing, or `output` fails.
pub(super) fn kill(program: u32, output: &mut impl Write) -> Result<()> {
    let mut processes = Vec::new();
    add_family(&parents()?, program, &mut processes);
    writeln!(output, "hung: no output for too long; the threads of its processes:")?;
    processes.iter().try_for_each(|&id| output.write_all(describe(id).as_bytes()))?;
    let ids = processes.iter().map(u32::to_string);
    // `kill` fails if one of the processes has exited meanwhile, and kills the others all the same.
    let _ = shell::run(Command::new("kill").arg("-KILL").args(ids));
    Ok(())
}

/// Returns the parent of each process.
fn parents() -> Result<BTreeMap<u32, u32>> {
    let processes = fs::read_dir("/proc")?.filter_map(Result::ok);
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    Ok(ids.filter_map(|id| Some((id, parse_parent(&read(id, "stat"))?))).collect())
}

/// Reads the fourth field of proc_pid_stat(5). The second field, in parentheses, may contain
/// anything.
fn parse_parent(stat: &str) -> Option<u32> {
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

fn children(parents: &BTreeMap<u32, u32>, process: u32) -> impl Iterator<Item = u32> + '_ {
    parents.iter().filter(move |&(_, &parent)| parent == process).map(|(&id, _)| id)
}

/// Adds a process and its descendants, parents first.
fn add_family(parents: &BTreeMap<u32, u32>, process: u32, family: &mut Vec<u32>) {
    family.push(process);
    for child in children(parents, process) {
        add_family(parents, child, family);
    }
}

/// Returns the command line of a process, and for each thread its name, state, system call and
/// kernel stack. Some of these are only readable by root.
fn describe(id: u32) -> String {
    let mut text = format!("  {id}: {}\n", read(id, "cmdline").replace('\0', " ").trim_end());
    let tasks = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten();
    for task in tasks.filter_map(Result::ok) {
        let read = |name: &str| fs::read_to_string(task.path().join(name)).unwrap_or_default();
        let stat = read("stat");
        let state = stat.rsplit_once(") ").map_or("?", |(_, rest)| &rest[..1]);
        let call = read("syscall");
        let call = call.split(' ').next().unwrap_or_default().trim_end();
        text += &format!("    {} {state}, system call {call}\n", read("comm").trim_end());
        for frame in read("stack").lines() {
            text += &format!("      {frame}\n");
        }
    }
    text
}

/// Reads a file of a process in `/proc`; empty if the process has exited.
fn read(id: u32, name: &str) -> String {
    let path: PathBuf = ["/proc", &id.to_string(), name].iter().collect();
    // Process names need not be UTF-8.
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_parent_after_any_name() {
        assert_eq!(parse_parent("12 (a) 9 (b) S 7 12 12 0"), Some(7));
        assert_eq!(parse_parent("12 (a"), None);
    }

    #[test]
    fn describes_processes_and_finds_children() {
        let this = std::process::id();
        let parents = parents().unwrap();
        assert!(children(&parents, parents[&this]).any(|id| id == this));
        let text = describe(this);
        assert!(text.starts_with(&format!("  {this}: ")), "{text}");
        assert!(text.contains(", system call "), "{text}");
    }
}
