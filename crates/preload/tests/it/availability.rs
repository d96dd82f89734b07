//! Programs that cannot be accelerated: the interface is taken, or a capability is missing.

use std::fs::Permissions;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use hairpin_testbed::{Capability, Host, become_ordinary_user};

use crate::support::{Running, alone, command, installed, library, output, testbed};

/// Binds a socket, prints its address and waits if requested.
const BIND: &str = "
import socket, sys
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind((sys.argv[1], 0))
print('bound', flush=True)
if sys.argv[2] == 'wait':
    sys.stdin.read()
";

fn python(host: &Host, mode: &str, strict: bool) -> Command {
    let mut python = command("/usr/bin/python3", true);
    python.args(["-S", "-E", "-c", BIND, &host.address().to_string(), mode]);
    python.env("HAIRPIN_STRICT", if strict { "1" } else { "0" }).env("HAIRPIN_LOG", "fallback");
    python
}

/// Checks the output and the one line of a program that runs unaccelerated or, if strict, does not
/// run.
fn check(output: &Output, strict: bool, reason: &str) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, log) = (text(&output.stdout), text(&output.stderr));
    let expected = if strict { (Some(1), "") } else { (Some(0), "bound\n") };
    assert_eq!((output.status.code(), out.as_str()), expected, "{log}");
    assert_eq!(log.lines().count(), 1, "{log}");
    let begin = if strict { "hairpin: strict: " } else { "hairpin: not accelerated: " };
    assert!(log.starts_with(begin) && log.contains(reason), "{log}");
}

#[test]
#[ignore = "needs root"]
fn taken_interface_is_reported_in_one_line() {
    let _alone = alone();
    if installed("python3").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [host, _] = testbed.hosts();
    let mut first = python(host, "wait", true);
    first.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut first = Running(host.spawn(first, &[]).unwrap());
    let mut line = String::new();
    BufReader::new(first.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "bound\n");
    for strict in [false, true] {
        check(&output(host, python(host, "end", strict)), strict, "veth0");
    }
}

#[test]
#[ignore = "needs root"]
fn missing_capability_is_reported_in_one_line() {
    let _alone = alone();
    if installed("python3").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [host, _] = testbed.hosts();
    // An ordinary user may not search the folder that the library is built in.
    let folder = PathBuf::from(format!("/tmp/hairpin-ordinary-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let copy = folder.join("libhairpin_preload.so");
    std::fs::copy(library(), &copy).unwrap();
    std::fs::set_permissions(&copy, Permissions::from_mode(0o755)).unwrap();
    let cases: [(&[Capability], &str); 2] =
        [(&[], "CAP_NET_ADMIN"), (&[Capability::NetAdmin, Capability::NetRaw], "CAP_BPF")];
    for (has, missing) in cases {
        for strict in [false, true] {
            let mut python = python(host, "end", strict);
            python.env("LD_PRELOAD", &copy).current_dir("/");
            let run = || {
                become_ordinary_user(has).unwrap();
                python.output().unwrap()
            };
            check(&host.run(run).unwrap(), strict, missing);
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}
