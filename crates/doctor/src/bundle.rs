//! A bundle for others: the report of a host, and `ping` of each protocol over each transport.

use std::fs;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Serialize;
use serde_json::Value;

use crate::redactor::Redactor;
use crate::report::Report;

/// The version of the document.
const FORMAT: &str = "hairpin.bundle/1";
/// The transports of `ping`.
const TRANSPORTS: [&str; 3] = ["kernel", "xdp", "preload"];
/// The protocols of `ping`, with the place of the pong on another host.
const PROTOCOLS: [(&str, Place); 6] = [
    ("udp", Place::Port(9_200)),
    ("multicast", Place::Group("239.255.92.0:9202")),
    ("tcp", Place::Port(9_200)),
    ("raw", Place::Interface),
    ("rds", Place::Port(9_201)),
    ("rds-ethernet", Place::Interface),
];
/// The arguments of each ping: a second or two.
const ARGUMENTS: [&str; 7] = ["--wait", "spin", "--samples", "2100", "--rounds", "3", "--json"];

/// The place of a pong on another host.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// This port of its address.
    Port(u16),
    /// A multicast group.
    Group(&'static str),
    /// Anywhere on the network of the interface.
    Interface,
}

/// Another host, on which pongs run.
#[derive(Debug, Clone, Copy)]
pub struct PongHost<'a> {
    /// Its address.
    pub address: Ipv4Addr,
    /// The interface of this host that it is reached over.
    pub interface: &'a str,
}

/// The reason why a bundle cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// The file cannot be written.
    #[error("cannot write the bundle to {}: {reason}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        reason: io::Error,
    },
    /// The report cannot be written as JSON.
    #[error("cannot write the report as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// A bundle.
#[derive(Debug, Serialize)]
struct Bundle {
    format: &'static str,
    version: &'static str,
    /// `interface` for pings over the interface, otherwise `veth`: between two hosts made for it.
    over: &'static str,
    doctor: Value,
    pings: Vec<Ping>,
}

/// A run of `ping`.
#[derive(Debug, Serialize)]
struct Ping {
    transport: &'static str,
    protocol: &'static str,
    /// The results file.
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Value>,
    /// The reason why there are no results.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Writes a bundle: the report, and the pings that `program`, this command, measures: to the pongs
/// of another host, or between two hosts made for it. Before each ping it calls `progress` with its
/// transport and protocol. Names and addresses are redacted.
///
/// # Errors
/// The file cannot be written. A ping that fails is an entry with its error.
pub fn write_bundle(
    path: &Path,
    report: &Report,
    program: &Path,
    pong: Option<PongHost<'_>>,
    mut progress: impl FnMut(&str, &str),
) -> Result<(), BundleError> {
    let failed = |reason| BundleError::Write { path: path.to_owned(), reason };
    // A file that exists, or a link, is not followed.
    let create = || fs::File::create_new(path).map_err(failed);
    // Before the pings, which take half a minute. An interrupt leaves no file.
    drop(create()?);
    fs::remove_file(path).map_err(failed)?;
    // Only this user can write there.
    let folder = tempfile::tempdir().map_err(failed)?;
    let results = folder.path().join("ping.json");
    let mut pings = Vec::new();
    for transport in TRANSPORTS {
        for (protocol, place) in PROTOCOLS {
            progress(transport, protocol);
            let remote = pong.map_or_else(Vec::new, |pong| pong.arguments(place));
            pings.push(ping(program, &results, (transport, protocol), &remote));
        }
    }
    let doctor = serde_json::to_value(report)?;
    let over = if pong.is_some() { "interface" } else { "veth" };
    let bundle = Bundle { format: FORMAT, version: env!("CARGO_PKG_VERSION"), over, doctor, pings };
    let mut document = serde_json::to_value(&bundle)?;
    Redactor::new().redact(&mut document);
    let text = serde_json::to_string_pretty(&document)? + "\n";
    create()?.write_all(text.as_bytes()).map_err(failed)
}

impl PongHost<'_> {
    /// Returns the arguments of a ping to the pong of a protocol.
    fn arguments(self, place: Place) -> Vec<String> {
        let Self { address, interface } = self;
        let mut arguments = vec!["--interface".to_owned(), interface.to_owned()];
        match place {
            Place::Port(port) => arguments.push(format!("{address}:{port}")),
            Place::Group(group) => arguments.push(group.to_owned()),
            Place::Interface => {}
        }
        arguments
    }
}

fn ping(
    program: &Path,
    file: &Path,
    (transport, protocol): (&'static str, &'static str),
    remote: &[String],
) -> Ping {
    let output = Command::new(program)
        .args(["ping", "--transport", transport, "--protocol", protocol])
        .args(remote)
        .args(ARGUMENTS)
        .arg(file)
        .stdin(Stdio::null())
        .output();
    let results = fs::read(file).ok().and_then(|text| serde_json::from_slice(&text).ok());
    // It may not exist.
    let _ = fs::remove_file(file);
    let results = results.map(|mut results: Value| {
        // It has the path of the file.
        if let Some(fields) = results.as_object_mut() {
            fields.remove("command");
        }
        results
    });
    let error = match (&results, output) {
        (Some(_), _) => None,
        (None, Err(error)) => Some(format!("cannot run ping: {error}")),
        (None, Ok(output)) => {
            let text = String::from_utf8_lossy(&output.stderr);
            Some(text.lines().last().unwrap_or("no results").trim().to_owned())
        }
    };
    Ping { transport, protocol, results, error }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::report::HostSummary;

    fn report() -> Report {
        let host = HostSummary {
            kernel: "6.18".to_owned(),
            cpu: "a CPU at 10.1.2.3".to_owned(),
            cores: vec![0],
        };
        Report::new(host, Vec::new(), Vec::new(), Vec::new())
    }

    #[test]
    fn bundle_has_each_protocol_over_each_transport() {
        let folder = tempfile::tempdir().unwrap();
        // A program that has results over the kernel, and errors over others.
        let program = folder.path().join("ping");
        let script = r#"#!/bin/sh
            [ "$3" = kernel ] || { echo "no $5 at 10.0.0.1" >&2; exit 1; }
            for file; do :; done
            echo '{"command": "secret path", "rows": ["10.9.9.9"]}' > "$file"
            "#;
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let path = folder.path().join("bundle.json");
        let mut runs = 0;
        write_bundle(&path, &report(), &program, None, |_, _| runs += 1).unwrap();
        assert_eq!(runs, TRANSPORTS.len() * PROTOCOLS.len());
        let text = fs::read_to_string(&path).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        let pings = document["pings"].as_array().unwrap();
        assert_eq!(pings.len(), runs);
        assert_eq!(pings[0]["results"], serde_json::json!({"rows": ["ADDRESS"]}));
        assert_eq!(pings[17]["error"], "no rds-ethernet at ADDRESS");
        assert_eq!(document["doctor"]["host"]["cpu"], "a CPU at ADDRESS");
        for absent in ["10.", "secret path"] {
            assert!(!text.contains(absent), "{text}");
        }
        // A file that exists is not replaced.
        let again = write_bundle(&path, &report(), &program, None, |_, _| panic!("a ping"));
        assert!(again.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn pings_to_another_host_have_its_address_group_or_only_the_interface() {
        let pong = PongHost { address: Ipv4Addr::new(10, 0, 0, 2), interface: "eth1" };
        let all: Vec<String> =
            PROTOCOLS.iter().map(|(_, place)| pong.arguments(*place)[1..].join(" ")).collect();
        let udp = "eth1 10.0.0.2:9200";
        let expected = [udp, "eth1 239.255.92.0:9202", udp, "eth1", "eth1 10.0.0.2:9201", "eth1"];
        assert_eq!(all, expected);
    }

    #[test]
    fn folder_that_does_not_exist_is_an_error_before_any_ping() {
        let outcome = write_bundle(
            Path::new("/nowhere/bundle.json"),
            &report(),
            Path::new("/bin/false"),
            None,
            |_, _| panic!("a ping"),
        );
        let error = outcome.unwrap_err().to_string();
        assert!(error.starts_with("cannot write the bundle to /nowhere/bundle.json: "), "{error}");
    }
}
