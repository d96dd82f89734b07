//! `docs/reference/cli.md` contains the help of every command.
//!
//! After a change of the help, write the page again with
//! `HAIRPIN_UPDATE_DOCS=1 cargo test -p hairpin-cli --test it cli_reference`.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The page, relative to the package.
const PAGE: &str = "../../docs/reference/cli.md";
/// The variable that makes the test write the page instead of comparing it.
const UPDATE: &str = "HAIRPIN_UPDATE_DOCS";
/// The width of the help, in columns. It keeps the page the same on every terminal.
const COLUMNS: &str = "100";

/// Returns the output of `hairpin COMMAND --help`.
fn help(command: &[String]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_hairpin"))
        .args(command)
        .arg("--help")
        .env_clear()
        .env("COLUMNS", COLUMNS)
        .output()
        .unwrap();
    assert!(output.status.success(), "hairpin {} --help: {output:?}", command.join(" "));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// Returns the names in the section "Commands" of a help text.
fn subcommands(help: &str) -> Vec<&str> {
    help.lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect()
}

/// Appends the section of a command, then the sections of its subcommands.
fn write_sections(page: &mut String, command: &[String]) {
    let help = help(command);
    let name = [&["hairpin".to_owned()], command].concat().join(" ");
    write!(page, "\n## {name}\n\n```text\n{}\n```\n", help.trim_end()).unwrap();
    for subcommand in subcommands(&help) {
        write_sections(page, &[command, &[subcommand.to_owned()]].concat());
    }
}

#[test]
fn page_matches_help_of_every_command() {
    let mut page = String::from(
        "# Command line\n\nThe help of every command, as `hairpin COMMAND --help` prints it.\n",
    );
    write_sections(&mut page, &[]);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    if env::var_os(UPDATE).is_some_and(|value| value == "1") {
        fs::write(&path, page).unwrap();
        return;
    }
    let present = fs::read_to_string(&path).unwrap_or_default();
    let same = page.lines().zip(present.lines()).take_while(|(new, old)| new == old).count();
    assert!(
        present == page,
        "docs/reference/cli.md differs from the help at line {}: write the page with \
         {UPDATE}=1 cargo test -p hairpin-cli --test it cli_reference",
        same + 1
    );
}
