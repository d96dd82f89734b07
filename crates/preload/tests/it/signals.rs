//! Signals that arrive while a thread is inside the library.

use crate::support::{Compiled, alone, command, echo, output, testbed};

#[test]
#[ignore = "needs root"]
fn every_signal_is_handled_once_and_in_order() {
    let _alone = alone();
    let testbed = testbed(1);
    let [host, other] = testbed.hosts();
    let (port, program) = (echo(other), Compiled::new("signals.c"));
    for accelerated in [false, true] {
        let mut signals = command(&program.0, accelerated);
        signals.args([other.address().to_string(), port.to_string()]);
        let output = output(host, signals);
        let [printed, log] =
            [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
        let expected = "4000 queued, 0 out of order, 0 nested, 400 and 400, ticks, 0 wrong\n";
        assert_eq!(printed, expected, "{accelerated}: {log}");
        assert_eq!(log.contains("is taken over"), accelerated, "{log}");
    }
}
