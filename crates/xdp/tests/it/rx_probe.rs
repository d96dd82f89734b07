//! The probe for pending packets.

use hairpin_xdp::{BusyPolling, Interface, InterfaceSettings, Mode, SocketSettings};

use crate::support::{RAW, eventually, next, open, raw, send, testbed};

#[test]
#[ignore = "needs root"]
fn rx_probe_is_idle_while_nothing_is_pending() {
    let testbed = testbed(2);
    let mut ends = [0, 1].map(|end| open(&testbed.hosts()[end], Mode::Native));
    let [near, far] = &mut ends;
    far.redirect(&RAW).unwrap();
    let rx_probe = far.rx_probe();
    // Other traffic between the hosts stays with the kernel.
    assert!(far.receive().unwrap().is_none());
    assert!(rx_probe.is_idle() && !far.needs_refill());
    for queue in [0, 1] {
        assert!(send(near, queue, &raw(1, queue)));
        near.flush().unwrap();
        assert!(eventually(|| !rx_probe.is_idle()), "queue {queue}");
        let (_, packet) = next(far).unwrap();
        assert!(!rx_probe.is_idle(), "the frame is not released yet");
        far.release(packet.into_frame());
        assert!(eventually(|| far.receive().unwrap().is_none() && rx_probe.is_idle()));
        assert!(!far.needs_refill());
    }
}

/// Frames that the driver holds are invisible until it is polled.
#[test]
#[ignore = "needs root"]
fn rx_probe_is_never_idle_with_busy_polling() {
    let testbed = testbed(1);
    let host = &testbed.hosts()[0];
    let busy_polling = Some(BusyPolling { microseconds: 20, budget: 16 });
    for (busy_polling, is_idle) in [(None, true), (busy_polling, false)] {
        let socket = SocketSettings { busy_polling, ..SocketSettings::default() };
        let settings = InterfaceSettings { socket, ..InterfaceSettings::default() };
        let interface = host.run(|| Interface::open(host.interface(), &settings)).unwrap();
        assert_eq!(interface.unwrap().rx_probe().is_idle(), is_idle);
    }
}
