//! Tap devices with several queues on a bridge, in a network namespace of QEMU. They disappear with
//! QEMU, and the machine's network does not change.

use std::process::{Command, Stdio};

/// Prepares the devices, then runs the program that follows.
const SCRIPT: &str = "set -e; PATH=$PATH:/usr/sbin:/sbin
ip link add bridge0 type bridge forward_delay 0 mcast_snooping 0
ip link set bridge0 up
for tap in tap0 tap1; do
    ip tuntap add dev $tap mode tap multi_queue
    ip link set $tap master bridge0
    ip link set $tap up
done
exec \"$@\"";

/// Returns a command that runs a program in a namespace with the devices.
pub(super) fn command(program: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--net", "sh", "-c", SCRIPT, "sh", program]);
    command
}

/// Returns `true` if this process can create the devices. Needs root, and a kernel with tap devices
/// and bridges.
pub(super) fn are_available() -> bool {
    let mut command = command("true");
    command.stdin(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Returns QEMU's description of the first or second device.
pub(super) fn netdev(id: &str, end: u8) -> String {
    format!("tap,id={id},ifname=tap{end},script=no,downscript=no,queues=4")
}
