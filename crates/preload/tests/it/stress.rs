//! Threads, descriptors and processes of an accelerated program.

use crate::peer::with_peer;
use crate::semantics::program;
use crate::support::{alone, installed, output, testbed};

#[test]
#[ignore = "needs root"]
fn nothing_hangs_leaks_or_is_lost_under_stress() {
    let _alone = alone();
    if installed("python3").is_none() {
        return;
    }
    let testbed = testbed(1);
    let [host, other] = testbed.hosts();
    with_peer(other, other.address().into(), |peer| {
        let mut python = program("stress.py", peer, host.address().into(), true);
        python.env("HAIRPIN_LOG", "off");
        let output = output(host, python);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, error) = (text(&output.stdout), text(&output.stderr));
        println!("{out}");
        assert!(output.status.success() && out.ends_with("done\n"), "{out}{error}");
    });
}
