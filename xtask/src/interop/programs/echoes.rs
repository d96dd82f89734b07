//! Programs in other languages and runtimes that answer with what arrives, over TCP and UDP, and a
//! client in Python. ZeroMQ has its own client.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::interop::case::{Case, Expected, Outcome, await_counters};
use crate::interop::trial::Trial;
use crate::shell::run as shell;

const PORT: u16 = 7_300;
const LIMIT: u64 = 60;

/// A program: its name, its files, the commands that build it, and the command that starts it, to
/// which address and port are added.
struct Echo {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    build: &'static [&'static [&'static str]],
    program: &'static [&'static str],
    /// Arguments after the port.
    last: &'static [&'static str],
    /// The reason why it stays with the kernel.
    kernel: Option<&'static str>,
}

const RUST: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("echo/rust/Cargo.toml")),
    ("src/bin/tokio_echo.rs", include_str!("echo/rust/src/bin/tokio_echo.rs")),
    ("src/bin/smol_echo.rs", include_str!("echo/rust/src/bin/smol_echo.rs")),
];
const CARGO: &[&[&str]] = &[&["cargo", "build", "-q", "--release"]];

const ECHOES: [Echo; 8] = [
    Echo {
        name: "tokio, current_thread",
        files: RUST,
        build: CARGO,
        program: &["target/release/tokio_echo"],
        last: &["1"],
        kernel: None,
    },
    Echo {
        name: "tokio, multi_thread",
        files: RUST,
        build: CARGO,
        program: &["target/release/tokio_echo"],
        last: &["many"],
        kernel: None,
    },
    Echo {
        name: "smol",
        files: RUST,
        build: CARGO,
        program: &["target/release/smol_echo"],
        last: &[],
        kernel: Some("rustix waits by system calls beside the C library"),
    },
    Echo {
        name: "Node.js",
        files: &[("echo.js", include_str!("echo/echo.js"))],
        build: &[],
        program: &["node", "echo.js"],
        last: &[],
        kernel: None,
    },
    Echo {
        name: "Java NIO",
        files: &[("Echo.java", include_str!("echo/Echo.java"))],
        build: &[&["javac", "Echo.java"]],
        program: &["java", "-cp", ".", "Echo"],
        last: &[],
        kernel: None,
    },
    Echo {
        name: "Erlang",
        files: &[("echo.erl", include_str!("echo/echo.erl"))],
        build: &[],
        program: &["escript", "echo.erl"],
        last: &[],
        kernel: None,
    },
    Echo {
        name: "Boost.Asio, two threads",
        files: &[("asio.cpp", include_str!("echo/asio.cpp"))],
        build: &[&["g++", "-std=c++20", "-O1", "asio.cpp", "-o", "asio", "-pthread"]],
        program: &["./asio"],
        last: &[],
        kernel: None,
    },
    Echo {
        name: "libevent",
        files: &[("libevent.c", include_str!("echo/libevent.c"))],
        build: &[&["cc", "-O1", "libevent.c", "-o", "libevent", "-levent"]],
        program: &["./libevent"],
        last: &[],
        kernel: None,
    },
];

pub(super) fn cases() -> Vec<Case> {
    let kinds = [("tcp", Expected::Bytes), ("udp", Expected::Datagrams)];
    let mut cases: Vec<_> = ECHOES
        .iter()
        .flat_map(|echo| kinds.map(|(kind, expected)| (echo, kind, expected)))
        .map(|(echo, kind, expected)| {
            let expected = echo.kernel.map_or(expected, Expected::Kernel);
            let name = format!("{}, {kind}", echo.name);
            Case::new(name, expected, move |trial: &Trial| run(trial, echo, kind))
        })
        .collect();
    cases.push(Case::new("ZeroMQ", Expected::Bytes, zeromq));
    cases
}

/// Builds a program. Returns its folder.
fn build(trial: &Trial, echo: &Echo) -> Result<PathBuf> {
    let folder = trial.builds.join(echo.files[0].0.replace('.', "-"));
    for (name, contents) in echo.files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&folder))?;
        if std::fs::read_to_string(&path).is_ok_and(|there| there == *contents) {
            continue;
        }
        std::fs::write(path, contents)?;
    }
    for command in echo.build {
        shell(Command::new(command[0]).args(&command[1..]).current_dir(&folder))?;
    }
    Ok(folder)
}

fn run(trial: &Trial, echo: &Echo, kind: &str) -> Result<Outcome> {
    let folder = build(trial, echo)?;
    let (address, port) = (trial.server(), PORT.to_string());
    let in_folder = ["env", "-C", folder.to_str().unwrap_or_default()];
    let program = [&in_folder[..], echo.program, &[&address, &port], echo.last].concat();
    let server = match kind {
        "tcp" => trial.serve(&program, PORT)?,
        _ => trial.serve_udp(&program, PORT)?,
    };
    let client = trial.write("client.py", include_str!("echo/client.py"))?;
    let text = trial.run(&["/usr/bin/python3", &client, kind, &address, &port], LIMIT)?;
    await_counters();
    server.stop("KILL")?;
    ensure!(text.starts_with("12000 "), "not all answers: {text}");
    Ok(Outcome::new(text.trim()))
}

fn zeromq(trial: &Trial) -> Result<Outcome> {
    let (address, port) = (trial.server(), PORT.to_string());
    let server = trial.write("server.py", include_str!("echo/zmq_echo.py"))?;
    let client = trial.write("client.py", include_str!("echo/zmq_client.py"))?;
    let server = trial.serve(&["/usr/bin/python3", &server, &address, &port], PORT)?;
    let text = trial.run(&["/usr/bin/python3", &client, &address, &port], LIMIT)?;
    await_counters();
    server.stop("KILL")?;
    ensure!(text.starts_with("12000 "), "not all answers: {text}");
    Ok(Outcome::new(text.trim()))
}
