//! Completions in a real bash, and the manual pages.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const HAIRPIN: &str = env!("CARGO_BIN_EXE_hairpin");

fn run(command: &mut Command) -> Output {
    command.output().unwrap()
}

/// Returns what bash completes the last word of a line to.
fn completed(words: &[&str]) -> Vec<String> {
    let script = r#"
        source <(hairpin completions bash)
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        COMP_TYPE=9
        _clap_complete_hairpin hairpin "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let mut command = Command::new("bash");
    let folder = Path::new(HAIRPIN).parent().unwrap().display();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    command.args(["--norc", "-c", script, "bash"]).args(words).env("PATH", path);
    let output = run(&mut command);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn bash_completes_commands_flags_choices_and_interfaces() {
    assert_eq!(completed(&["hairpin", "bench-c"]), ["bench-compare"]);
    assert!(completed(&["hairpin", "feed", "--interface"]).contains(&"--interface-a".to_owned()));
    assert_eq!(completed(&["hairpin", "decode", "--format", "j"]), ["json"]);
    assert_eq!(completed(&["hairpin", "ping", "--interface", "l"]), ["lo"]);
}

#[test]
fn bash_completes_the_channels_of_a_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.xml");
    let channel = |id| format!("<channel id=\"{id}\" label=\"label\"></channel>");
    let text = format!("<configuration>{}{}</configuration>", channel(310), channel(318));
    fs::write(&config, text).unwrap();
    let config = config.to_str().unwrap();
    let words = ["hairpin", "feed", "--config", config, "--channel", "31"];
    assert_eq!(completed(&words), ["310", "318"]);
    let none = ["hairpin", "feed", "--config", "/nonexistent", "--channel", ""];
    assert_eq!(completed(&none), [""]);
}

#[test]
fn unknown_shell_is_refused() {
    let output = run(Command::new(HAIRPIN).args(["completions", "tcsh"]));
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("bash, zsh or fish"), "{error}");
}

#[test]
fn manual_has_a_page_for_each_command() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(Command::new(HAIRPIN).arg("man").arg(folder.path().join("man1")));
    assert!(output.status.success(), "{output:?}");
    let page = |name: &str| fs::read_to_string(folder.path().join("man1").join(name)).unwrap();
    assert!(page("hairpin.1").contains("hairpin\\-feed(1)"));
    assert!(page("hairpin-bench-rds.1").contains("\\-\\-rounds"));
    let hidden = folder.path().join("man1/hairpin-t2t-trader.1");
    assert!(!hidden.exists(), "a page for a command that users do not run");

    fs::write(folder.path().join("file"), "").unwrap();
    let output = run(Command::new(HAIRPIN).arg("man").arg(folder.path().join("file")));
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("hairpin: cannot write the pages"));
}
