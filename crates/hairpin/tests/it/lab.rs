//! Runs `hairpin lab` with two programs in Python.

use std::fs;

use crate::support::{assert_done, assert_status, hairpin, turn};

const SERVER: &str = "
import os, socket
socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
socket.bind((os.environ['SERVER'], 7777))
while True:
    data, peer = socket.recvfrom(2000)
    socket.sendto(data, peer)
";

const CLIENT: &str = "
import os, socket, time
socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
socket.connect((os.environ['SERVER'], 7777))
begun, answers = time.monotonic(), 0
for number in range(200):
    socket.send(b'%d' % number)
    answers += socket.recv(2000) == b'%d' % number
print(f'200 pings in {time.monotonic() - begun} s')
print(f'{answers} answers, library {\"HAIRPIN_KEEPER\" in os.environ:d}')
";

#[test]
#[ignore = "needs root"]
fn lab_compares_what_the_client_prints_and_leaves_no_process() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let [server, client] = [("server", SERVER), ("client", CLIENT)].map(|(name, text)| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        format!("/usr/bin/python3 {}", path.display())
    });
    let lab = |server: &str, client: &str| {
        let mut command = hairpin();
        command.args(["lab", "--rounds", "1", server, client]).output().unwrap()
    };
    let output = lab(&server, &client);
    assert_done(&output);
    let table = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<&str> = table.lines().map(str::trim).collect();
    assert_eq!(rows.len(), 4, "{table}");
    assert!(rows[0].starts_with("one round ") && rows[0].ends_with("ratio"), "{table}");
    assert!(rows[1].starts_with("200 pings in … s "), "{table}");
    let words: Vec<&str> = rows[2].split_ascii_whitespace().collect();
    // Equal numbers stay in the text; the kernel's run has no library.
    assert_eq!(words, ["200", "answers,", "library", "…", "0", "1"], "{table}");
    assert!(rows[3].starts_with("seconds until the client ended "), "{table}");

    for (server, client, error) in [
        (
            &*server,
            "echo reason; exit 3",
            "kernel sockets: the client has failed, exit status: 3; it printed last: reason\n",
        ),
        ("exit 4", "true", "kernel sockets: the server has ended, exit status: 4\n"),
    ] {
        let output = lab(server, client);
        assert_status(&output, 1);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.ends_with(error), "{errors}");
    }

    // A daemon has a session of its own, and the client's keeps the pipe of its output open.
    let seconds = format!("{}.5", 1_000_000 + std::process::id());
    let daemon = format!("setsid sh -c 'sleep {seconds} & sleep {seconds}' &");
    let output = lab(&format!("{daemon} {server}"), &format!("{daemon} {client}"));
    assert_done(&output);
    let running = fs::read_dir("/proc").unwrap().flatten();
    let lines = running.filter_map(|it| fs::read_to_string(it.path().join("cmdline")).ok());
    assert_eq!(lines.filter(|it| it.contains(&seconds)).count(), 0, "processes remain");
}
