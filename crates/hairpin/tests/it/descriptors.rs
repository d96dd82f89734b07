//! The library's descriptors are hidden from the program, and `TCP_INFO` counts what bypassed.

use std::path::Path;
use std::process::{Command, Stdio};

use hairpin_testbed::{Host, Testbed};

use crate::support::{hairpin, listening_program, turn};

const PORT: &str = "7802";

/// Runs the client on one host, a server on the other. Returns standard output and the log.
fn client(hosts: &[Host; 2], run: bool) -> (String, String) {
    let [host, other] = hosts;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/descriptors.py");
    let address = other.address().to_string();
    let mut server = listening_program(other, &script, &["server", &address, PORT]);
    let mut client = Command::new("/usr/bin/python3");
    if run {
        client = hairpin();
        client.args(["run", "--profile", "latency", "--interface", host.interface(), "--"]);
        client.arg("/usr/bin/python3").env("HAIRPIN_LOG", "all");
    }
    client.arg(&script).args(["client", &address, PORT]);
    client.stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = host.spawn(client, &[]).unwrap().wait_with_output().unwrap();
    let _ = server.kill();
    let _ = server.wait();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, log) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}\n{log}");
    (out, log)
}

#[test]
#[ignore = "needs root"]
fn program_has_its_own_descriptors_and_the_counters_of_the_kernel() {
    let _turn = turn();
    let testbed = Testbed::namespaces().unwrap();
    let (kernel, _) = client(testbed.hosts(), false);
    let (accelerated, log) = client(testbed.hosts(), true);
    assert!(log.contains("is taken over"), "{log}");
    assert_eq!(accelerated, kernel, "{log}");
    assert!(kernel.contains("unread [2096, 2096, 2096, 0]"), "{kernel}");
}
