//! A child tied to its parent: this binary starts itself as both.

#![allow(clippy::unwrap_used, reason = "this is all tests")]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hairpin_host::{ParentError, die_with_parent};

/// `parent`, or `child <parent's id>`.
const ROLE: &str = "HAIRPIN_TEST_ROLE";

fn start(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "play_role", "--nocapture"]).env(ROLE, role);
    command
}

/// Not a test of its own: what the processes that the tests start do.
#[test]
fn play_role() {
    let Ok(role) = std::env::var(ROLE) else { return };
    match role.split_once(' ') {
        None => parent(),
        Some((_, id)) => child(id.parse().unwrap()),
    }
}

fn parent() {
    let mut child = start(&format!("child {}", std::process::id())).spawn().unwrap();
    child.wait().unwrap();
}

/// Says how it stands with its parent, then lives until it is killed or the tests are over.
fn child(parent: u32) {
    let outcome = match die_with_parent(parent) {
        Ok(()) => "tied",
        Err(ParentError::Gone(_)) => "gone",
        Err(_) => "refused",
    };
    println!("\n{outcome}");
    std::io::stdout().flush().unwrap();
    if outcome == "tied" {
        std::thread::sleep(Duration::from_secs(60));
    }
}

fn lines_of(process: &mut Child) -> BufReader<impl Read + use<>> {
    BufReader::new(process.stdout.take().unwrap())
}

/// Reads until one of the child's words; the test harness prints lines of its own before.
fn outcome(lines: &mut impl BufRead) -> String {
    lines
        .lines()
        .map(Result::unwrap)
        .find(|line| ["tied", "gone", "refused"].contains(&line.as_str()))
        .unwrap_or_default()
}

#[test]
fn a_child_ends_when_its_parent_is_killed() {
    let mut parent = start("parent").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = lines_of(&mut parent);
    assert_eq!(outcome(&mut lines), "tied");
    parent.kill().unwrap();
    parent.wait().unwrap();
    // The child holds the other end of the pipe: it ends before the child's sleep does, or the
    // words of its orderly end come out.
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    assert!(!rest.contains("test result"), "the child lived on: {rest}");
}

#[test]
fn a_process_that_is_not_the_parent_is_gone() {
    let grandparent = std::os::unix::process::parent_id();
    let mut child = start(&format!("child {grandparent}")).stdout(Stdio::piped()).spawn().unwrap();
    assert_eq!(outcome(&mut lines_of(&mut child)), "gone");
    child.wait().unwrap();
}
