//! TCP programs work unchanged in an accelerated process.

use std::process::Stdio;

use crate::support::{Running, alone, command, installed, output, pause, testbed};

#[test]
#[ignore = "needs root"]
fn tcp_programs_work_unchanged() {
    let _alone = alone();
    if installed("python3").is_none() || installed("curl").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [host, other] = testbed.hosts();
    let folder = std::env::temp_dir().join(format!("hairpin-http-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let bytes: Vec<u8> = (0..1_000_000_u32).map(|at| (at * 7 % 251) as u8).collect();
    std::fs::write(folder.join("file"), &bytes).unwrap();
    let mut server = command("/usr/bin/python3", true);
    server.args(["-m", "http.server", "8000", "--directory"]).arg(&folder);
    server.stdout(Stdio::null()).stderr(Stdio::null());
    let server = Running(host.spawn(server, &[]).unwrap());
    let url = format!("http://{}:8000/file", host.address());
    let mut found = Vec::new();
    for _ in 0..1_200 {
        let mut curl = command("curl", true);
        curl.args(["--silent", "--fail", "--max-time", "60", &url]);
        let output = output(other, curl);
        if output.status.success() {
            found = output.stdout;
            break;
        }
        // The server is not listening yet.
        pause(50);
    }
    drop(server);
    std::fs::remove_dir_all(folder).unwrap();
    assert!(found == bytes, "{} of {} bytes", found.len(), bytes.len());
}
