//! What the two processes of a row stand on: hosts of our own, loopback, or a given interface.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::AsRawFd;
use std::process::{Child, Command};

use anyhow::{Context, Result};
use hairpin_host::interface_address;
use hairpin_mapped::Control;
use hairpin_testbed::{Bed, Host};

use crate::setup::Groups;

/// Which of the two processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Exchange,
    Trader,
}

impl Role {
    /// The subcommand that plays it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Exchange => "exchange",
            Self::Trader => "trader",
        }
    }
}

/// Two hosts and the multicast groups between them.
pub(super) struct Ground {
    bed: Bed,
    addresses: [Ipv4Addr; 2],
    nic: &'static str,
    pub(super) groups: Groups,
}

impl Ground {
    /// Namespaces where they can be had, else loopback; or the interface that is named.
    ///
    /// To be called while the process is single-threaded: an ordinary user's namespaces need that.
    ///
    /// # Errors
    /// The interface does not exist or has no IPv4 address; no thread, no free port.
    pub(super) fn make(interface: Option<&str>) -> Result<Self> {
        let groups = choose_groups().context("no free UDP port")?;
        let Some(name) = interface else {
            let bed = Bed::available().context("neither namespaces nor loopback can be had")?;
            let addresses = [Role::Exchange, Role::Trader].map(|role| host(&bed, role).address());
            let nic = match host(&bed, Role::Exchange).namespace() {
                Some(_) => "veth",
                None => "loopback",
            };
            return Ok(Self { bed, addresses, nic, groups });
        };
        // Both ends are this host: whatever the interface, the kernel turns the packets round.
        let address = interface_address(name)?;
        let bed = Bed::loopback(format_args!("by the address of {name}, {address}"))?;
        Ok(Self { bed, addresses: [address; 2], nic: "loopback", groups })
    }

    /// The address of one side.
    pub(super) fn address(&self, role: Role) -> Ipv4Addr {
        self.addresses[role as usize]
    }

    /// What this is, for a person.
    pub(super) fn describe(&self) -> &str {
        self.bed.describe()
    }

    /// The interface's name in the results file: `veth` or `loopback`.
    pub(super) fn nic(&self) -> &'static str {
        self.nic
    }

    /// Starts a process that plays `role`, with `control` as its last argument.
    ///
    /// # Errors
    /// Those of starting a process.
    pub(super) fn spawn(
        &self,
        role: Role,
        mut command: Command,
        control: &Control,
    ) -> io::Result<Child> {
        let fd = control.fd();
        command.arg("--control").arg(fd.as_raw_fd().to_string());
        host(&self.bed, role).spawn(command, &[fd])
    }
}

fn host(bed: &Bed, role: Role) -> &Host {
    &bed.hosts()[role as usize]
}

/// Six groups of 239.192/16 by process id, on ports that the kernel has just called free: two runs
/// at once do not meet.
fn choose_groups() -> io::Result<Groups> {
    let [_, _, high, low] = std::process::id().wrapping_mul(8).to_be_bytes();
    let group =
        |index: u8, port| SocketAddrV4::new(Ipv4Addr::new(239, 192, high, low + index), port);
    let [incremental, instrument, snapshot] = free_ports()?;
    let sides = |first, port| [group(first, port), group(first + 1, port)];
    Ok(Groups {
        incremental: sides(0, incremental),
        instrument: sides(2, instrument),
        snapshot: sides(4, snapshot),
    })
}

/// Three different ports: all are held until the last is known.
fn free_ports() -> io::Result<[u16; 3]> {
    let reserve = || UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0));
    let held = [reserve()?, reserve()?, reserve()?];
    let mut ports = [0; 3];
    for (port, socket) in ports.iter_mut().zip(&held) {
        *port = socket.local_addr()?.port();
    }
    Ok(ports)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_ports_are_all_different() {
        let groups = choose_groups().unwrap();
        let all = [groups.incremental, groups.instrument, groups.snapshot].concat();
        for (index, one) in all.iter().enumerate() {
            assert_eq!(one.ip().octets()[..2], [239, 192]);
            assert!(all[..index].iter().all(|other| other.ip() != one.ip()));
        }
        assert_ne!(groups.incremental[0].port(), groups.snapshot[0].port());
        assert_ne!(groups.incremental[0].port(), groups.instrument[0].port());
    }
}
