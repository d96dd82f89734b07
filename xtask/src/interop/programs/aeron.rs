//! Aeron's Java media driver, in the thread of a client that sends and one that answers.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::interop::Side;
use crate::interop::case::{Case, Expected, Outcome, await_counters};
use crate::interop::trial::Trial;
use crate::shell::run as shell;

const JAR: &str = "aeron-all-1.51.0.jar";
const URL: &str = "https://repo1.maven.org/maven2/io/aeron/aeron-all/1.51.0";
const SHA256: &str = "9686a7c6bb3c464f7ac76ceaf7a0c67249e3499aa8142872a6d1b2f398bca458";
/// The port of the requests in the program.
const PORT: u16 = 20_123;
/// What Aeron uses of Java's own packages.
const OPENED: [&str; 3] = [
    "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.util.zip=ALL-UNNAMED",
];
const COUNT: &str = "20000";
const LIMIT: u64 = 60;

pub(super) fn cases() -> Vec<Case> {
    vec![Case::new("Aeron", Expected::Datagrams, run)]
}

/// Downloads Aeron and builds the program. Returns their folder.
fn build(trial: &Trial) -> Result<PathBuf> {
    let folder = trial.builds.join("aeron");
    std::fs::create_dir_all(&folder)?;
    if !folder.join(JAR).exists() {
        let part = format!("{JAR}.part");
        let url = format!("{URL}/{JAR}");
        let curl = ["--fail", "--silent", "--show-error", "--location", "--output", &part, &url];
        shell(Command::new("curl").args(curl).current_dir(&folder))?;
        std::fs::write(folder.join("sums"), format!("{SHA256}  {part}\n"))?;
        shell(Command::new("sha256sum").args(["--quiet", "-c", "sums"]).current_dir(&folder))?;
        std::fs::rename(folder.join(&part), folder.join(JAR))?;
    }
    let program = include_str!("../../../../examples/aeron/PingPong.java");
    std::fs::write(folder.join("PingPong.java"), program)?;
    let javac = ["-cp", JAR, "PingPong.java"];
    shell(Command::new("javac").args(javac).current_dir(&folder))?;
    Ok(folder)
}

fn run(trial: &Trial) -> Result<Outcome> {
    let folder = build(trial)?;
    let folder = folder.to_str().context("the folder is not UTF-8")?;
    let class_path = format!("{JAR}:.");
    let ends = [Side::Server, Side::Client].map(|side| trial.address(side).to_string());
    let java = ["env", "-C", folder, "java", "-cp", &class_path];
    let program = |role, rest: &[&'static str]| {
        [&java[..], &OPENED, &["PingPong", role], &ends.each_ref().map(String::as_str), rest]
            .concat()
    };
    let (pong, ping) = (program("pong", &[]), program("ping", &[COUNT]));
    let pong = trial.serve_udp(&pong, PORT)?;
    let text = trial.run(&ping, LIMIT)?;
    await_counters();
    pong.stop("INT")?;
    ensure!(text.starts_with("20000 answered"), "not all answers: {text}");
    let median = text.split_once("p50 ").and_then(|(_, rest)| rest.split(' ').next());
    let median: f64 = median.and_then(|it| it.parse().ok()).context("no median")?;
    Ok(Outcome::with_speed("20000 answered", 1e6 / median, "round trips/s"))
}
